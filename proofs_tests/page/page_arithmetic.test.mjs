// page_arithmetic.test.mjs: what the page's charts, maps and numbers say, on values written by hand: every
// expectation is worked out here on paper, not by the code that is tested. No browser.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pageModule } from './in_node.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

const page = await pageModule(
    'charts/axes',
    'charts/diverging',
    'charts/grid',
    'charts/heat',
    'charts/layers',
    'charts/scale',
    'charts/series',
    'charts/signal',
    'charts/svg',
    'core/config',
    'core/digit',
    'core/expect',
    'core/figures',
    'core/ghosts',
    'core/marks',
    'core/rate',
    'core/recall',
    'core/tables',
    'core/theme',
    'core/tokens',
    'core/words',
    'state/history',
    'views/frame/follow',
    'views/frame/drawn_again',
);
const { History, lossAt, scoreAt, bitsAt, score } = page;
const near = (found, wanted, within = 1e-6) =>
    found.length === wanted.length &&
    found.every((x, i) => (wanted[i] === null ? x === null : Math.abs(x - wanted[i]) <= within));
const assertNear = (found, wanted, within) =>
    assert.ok(
        near(found, wanted, within),
        `${JSON.stringify(found)} where ${JSON.stringify(wanted)} is right`,
    );

const tried = (step, accuracy, seconds, more = {}) => ({
    step,
    accuracy,
    seconds,
    loss: 2 * Math.LN2,
    targets: 8,
    r2: 0,
    regression: false,
    text: true,
    ...more,
});
function lived(losses, points, from = 0) {
    const history = new History();
    history.add({ from, losses: Float32Array.from(losses), points });
    return history;
}
/** One run of three seeds: losses 4 3 2 1, 8 6 4 2 and 6 6 6 6, tried at steps 0, 2 and 4. */
const seeds = () => [
    lived([4, 3, 2, 1], [tried(0, 0, 0), tried(2, 0.5, 1), tried(4, 1, 4)]),
    lived([8, 6, 4, 2], [tried(0, 0.1, 0), tried(2, 0.2, 2), tried(4, 0.4, 4)]),
    lived([6, 6, 6, 6], [tried(0, 0.2, 0), tried(2, 0.2, 3), tried(4, 0.1, 8)]),
];
const track = (histories, flops = 100) => ({ histories, flops });

test('the loss of a step is the one of that step, not of its neighbour', () => {
    const run = { members: seeds().map((history) => ({ history })) };
    assertNear(
        [1, 2, 3, 4].map((step) => lossAt(run, step)),
        [6, 5, 4, 3],
    );
    assert.equal(lossAt(run, 0), undefined);
    assert.equal(lossAt(run, 5), undefined);
});

test('the accuracy that is read is of the last try by then; bits are nats over ln 2', () => {
    const run = {
        members: seeds()
            .slice(0, 2)
            .map((history) => ({ history })),
    };
    assertNear(
        [0, 1, 2, 3, 4].map((step) => scoreAt(run, step)),
        [0.05, 0.05, 0.35, 0.35, 0.7],
    );
    assert.ok(Math.abs(bitsAt(run, 4) - 2) < 1e-12);
    assert.equal(scoreAt({ members: [{ history: lived([], []) }] }, 4), undefined);
    assert.equal(score(tried(1, 0, 1, { r2: 0.75, regression: true })), 0.75, 'a regression is judged by R²');
});

test('seconds between two tries go along the straight line', () => {
    const [history] = seeds();
    assertNear(
        [0, 1, 2, 3, 4].map((step) => history.secondsAt(step)),
        [0, 0.5, 1, 2.5, 4],
    );
});

test('when a run solved its task is its first try of 99 %; of a loaded one only by when', () => {
    const history = lived([1, 1], [tried(1, 0.989, 1), tried(2, 0.991, 2), tried(3, 1, 3)]);
    assert.equal(history.solved.step, 2);
    assert.equal(history.solvedBefore, false);
    const loaded = lived([], [tried(40, 1, 0)], 40);
    assert.equal(loaded.solved.step, 40);
    assert.equal(loaded.solvedBefore, true);
});

test('losses that come in pieces are in their places, unknown ones are no number', () => {
    const history = lived([5, 4], []);
    history.add({ from: 4, losses: Float32Array.of(2, 1), points: [] });
    assertNear([...history.losses.slice(0, 2), ...history.losses.slice(4)], [5, 4, 2, 1]);
    assert.ok(history.losses.slice(2, 4).every(Number.isNaN));
    assert.deepEqual(lived([1, -2], []).words(), ['3f800000', 'c0000000']);
});

test('curves stand over steps, seconds of the first seed, and products of one run', () => {
    const at = (axis) => page.lossCurves([track(seeds())], axis, 1)[0].xs;
    assertNear(at('step'), [1, 2, 3, 4]);
    assertNear(at('flop'), [100, 200, 300, 400]);
    assertNear(at('second'), [0.5, 1, 2.5, 4]);
    const scores = (axis) => page.scoreCurves([track(seeds())], axis, score)[0].xs;
    assertNear(scores('step'), [0, 2, 4]);
    assertNear(scores('flop'), [0, 200, 400]);
    assertNear(scores('second'), [0, 1, 4]);
});

test('where the pointer stands on an axis, the step is the last that is not beyond', () => {
    const run = track(seeds());
    assertNear(
        [0, 1.4, 2.6, 9].map((x) => page.stepAt(run, 'step', x)),
        [0, 1, 3, 4],
    );
    assertNear(
        [0, 290, 1e9].map((x) => page.stepAt(run, 'flop', x)),
        [0, 3, 4],
    );
    assertNear(
        [0, 0.5, 0.99, 1, 2.6, 9].map((x) => page.stepAt(run, 'second', x)),
        [0, 1, 1, 2, 3, 4],
    );
});

test('several seeds are their mean, between the lowest and the highest', () => {
    const [loss] = page.lossCurves([track(seeds())], 'step', 1);
    assertNear(loss.line, [6, 5, 4, 3]);
    assertNear(loss.low, [4, 3, 2, 1]);
    assertNear(loss.high, [8, 6, 6, 6]);
    assertNear(loss.raw, [null, null, null, null]);
    const [accuracy] = page.scoreCurves([track(seeds())], 'step', score);
    assertNear(accuracy.line, [0.1, 0.3, 0.5]);
    assertNear(accuracy.low, [0, 0.2, 0.1]);
    assertNear(accuracy.high, [0.2, 0.5, 1]);
});

test('seeds that have not come as far end the band, and one seed has none', () => {
    const [a, b] = seeds();
    const short = lived([8, 6], [tried(0, 0.1, 0)]);
    const [loss] = page.lossCurves([track([a, short])], 'step', 1);
    assertNear(loss.line, [6, 4.5, null, null]);
    assertNear(loss.high, [8, 6, null, null]);
    const [accuracy] = page.scoreCurves([track([short, a])], 'step', score);
    assertNear(accuracy.xs, [0, 2, 4]);
    assertNear(accuracy.line, [0.05, null, null]);
    const [alone] = page.lossCurves([track([b])], 'step', 1);
    assertNear(alone.line, [8, 6, 4, 2]);
    assertNear(alone.low, [null, null, null, null]);
});

test('smoothing forgets by 1 - 1/span a step, and is no average with zero at its start', () => {
    const [curve] = page.lossCurves([track([lived([4, 8, 0], [])])], 'step', 2);
    assertNear(curve.line, [4, (4 / 4 + 8 / 2) / (3 / 4), (4 / 8 + 8 / 4 + 0) / (7 / 8)]);
    assertNear(curve.raw, [4, 8, 0], 0);
    const [constant] = page.lossCurves([track([lived(Array(50).fill(3), [])])], 'step', 20);
    assertNear(constant.line, Array(50).fill(3));
});

test('a long curve shows the mean of each stretch, at the last step of it', () => {
    const losses = Array.from({ length: 3001 }, (_, i) => i);
    const [curve] = page.lossCurves([track([lived(losses, [])])], 'step', 1); // three steps a point
    assert.equal(curve.xs.length, 1001);
    assertNear(curve.xs.slice(0, 2), [3, 6]);
    assertNear(curve.line.slice(0, 2), [1, 4]);
    assertNear([curve.xs.at(-1), curve.line.at(-1)], [3001, 3000]);
});

test("the pace of runs is one number where it is each one's, and two where none has their mean", () => {
    const { paceText } = page;
    assert.equal(paceText([4.02]), '4.0 steps/s');
    assert.equal(paceText([23.9, 24.1, 24]), '24.0 steps/s each');
    assert.equal(paceText([8, 12]), '10.0 steps/s each');
    assert.equal(paceText([184.9, 35, 8.7]), '8.7 to 185 steps/s');
});

test('axes end at round places, and say their values in three figures', () => {
    assertNear(
        [0, 100, 101, 160, 599, 600, 601, 1000].map((end) => page.endOfAxis('step', end)),
        [100, 100, 150, 200, 600, 600, 800, 1000],
    );
    assert.equal(page.endOfAxis('flop', 2.1e9), 3e9);
    assert.equal(page.endOfAxis('second', 0.04), 0.1);
    assert.deepEqual(
        [0, 950, 1500, 2.5e6, 3e9, 4e12].map((x) => page.formatX('flop', x)),
        ['0', '950', '1.5 k', '2.5 M', '3 G', '4 T'],
    );
    assert.equal(page.formatX('second', 1.2345), '1.23');
    assert.equal(page.formatX('flop', 1.2345e6), '1.23 M');
    assert.equal(page.xOf({ histories: [], flops: 7 }, 'second', 5), 0, 'nothing has been trained');
    assert.equal(page.lossTick(false)(0.25), '0.25');
    assert.deepEqual([0.001, 0.1, 100, 10_000].map(page.lossTick(true)), ['10⁻³', '0.1', '100', '10⁴']);
    assert.equal(page.shareTick(0.25), '25 %');
    assertNear(page.decades(0.05, 20), [0.1, 1, 10]);
    assertNear(page.ticks(0, 100), [0, 20, 40, 60, 80, 100]);
    assert.deepEqual(page.fromZero(2, 4), [0, 4.2]);
    assert.deepEqual(page.fromZero(-1, -0.5), [-1, 1]);
    for (const [low, high] of [
        [null, 1],
        [0, null],
        [0, Infinity],
    ])
        assert.deepEqual(page.fromZero(low, high), [0, 1]);
    assert.deepEqual(page.fromZero(-2, 0), [-2, 1]);
    // Never more than seven, at 1, 2, 2.5, 5 or 10 times a power of ten.
    assertNear(page.ticks(0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1]);
    assertNear(page.ticks(0, 15), [0, 2.5, 5, 7.5, 10, 12.5, 15]);
    assertNear(page.ticks(0, 30), [0, 5, 10, 15, 20, 25, 30]);
    assertNear(page.ticks(0.11, 0.35), [0.15, 0.2, 0.25, 0.3, 0.35]);
    assertNear(page.ticks(-3, 3), [-3, -2, -1, 0, 1, 2, 3]);
    assert.deepEqual(page.ticks(2, 2), [2]);
    assertNear(page.decades(1e-3, 1e3), [1e-3, 1e-1, 1e1, 1e3]);
    assertNear(page.decades(1, 1e5), [1, 10, 100, 1e3, 1e4, 1e5]);
    assertNear(page.decades(2, 5), []);
    assert.deepEqual(
        [999, 1000, 999e3, 1e6, 1e9, 1e12].map((x) => page.formatX('flop', x)),
        ['999', '1 k', '999 k', '1 M', '1 G', '1 T'],
    );
    assert.deepEqual([0.01, 1000].map(page.lossTick(true)), ['0.01', '1000']);
    assert.equal(page.lossTick(false)(0.0012345), '0.00123');
    assert.deepEqual(
        [1e6, 1.2e6].map((end) => page.endOfAxis('flop', end)),
        [1e6, 1.5e6],
    );
    assert.deepEqual(
        [1.5, 2, 2.5, 3.5, 4.5, 5.5, 7, 9].map((x) => page.endOfAxis('step', 1000 * x)),
        [1.5, 2, 3, 4, 5, 6, 8, 10].map((x) => 1000 * x),
    );
});

test('a kernel of one tap is as strong at every frequency, two that differ only at high ones', () => {
    const close = (found, wanted) => assert.ok(Math.abs(found - wanted) < 1e-6, `${found}, not ${wanted}`);
    assert.equal(page.FREQUENCIES, 64);
    const flat = page.spectrum([0, 0, -3]);
    assert.equal(flat.length, 64);
    flat.forEach((size) => close(size, 3));
    // |1 - e^-jw| = 2 sin(w/2), w = pi k / 64; |1 + 2 e^-jw| at w = pi/2 is sqrt 5.
    page.spectrum([1, -1]).forEach((size, k) => close(size, 2 * Math.sin((Math.PI * k) / 128)));
    close(page.spectrum([1, 2])[32], Math.sqrt(5));
    // 1 / (1 + a e^-jw + b e^-2jw): at 0 1 / (1 + a + b), at pi/2 1 / |1 - b - ja|.
    const filter = page.response(0.5, 0.25);
    assert.equal(filter.length, 64);
    close(filter[0], 1 / 1.75);
    close(filter[32], 1 / Math.hypot(0.75, 0.5));
    const [c, s] = [Math.cos(Math.PI / 4), Math.sin(Math.PI / 4)];
    close(filter[16], 1 / Math.hypot(1 + 0.5 * c, 0.5 * s + 0.25));
    close(page.response(-2, 1)[0] / 1e6, 1); // a pole on the circle
});

test('of what a question of recall looks at: its answer, its key, and an even share', () => {
    // 5 8 | 6 9 | 5 ? : the question at row 4 asks for 8, which stood behind the first 5.
    const tokens = [5, 8, 6, 9, 5];
    const targets = [-1, -1, -1, -1, 8];
    const map = new Float32Array(25);
    map.set([0.1, 0.6, 0.05, 0.05, 0.2], 20);
    const one = page.sharesOf(tokens, targets, map);
    assert.equal(one.questions, 1);
    assertNear([one.answers, one.keys, one.even], [0.6, 0.3, 1 / 5]);
    assertNear([one.again, one.evenAgain], [0.1, 1 / 5]); // itself is no place where the key stood before
    // A second question, 6: its answer stood at row 3. The means of both.
    const wider = new Float32Array(36);
    wider.set([0.1, 0.6, 0.05, 0.05, 0.2], 24);
    wider.set([0, 0, 0.25, 0.5, 0, 0.25], 30);
    const two = page.sharesOf([...tokens, 6], [...targets, 9], wider);
    assert.equal(two.questions, 2);
    assertNear([two.answers, two.keys, two.even], [0.55, 0.4, (1 / 5 + 1 / 6) / 2]);
    // The answer stood twice: both are right, and twice as much is even.
    const twice = page.sharesOf([5, 8, 5, 8, 5], [-1, -1, -1, -1, 8], map);
    assertNear([twice.answers, twice.keys, twice.even], [0.65, 0.35, 2 / 5]);
    assertNear([twice.again, twice.evenAgain], [0.15, 2 / 5]);
    // Never asked; asked for what never stood there; asked where it is answered in the same row.
    assert.equal(page.sharesOf(tokens, [-1, -1, -1, -1, -1], map), null);
    assert.equal(page.sharesOf(tokens, [-1, -1, -1, -1, 9], map), null);
    assert.equal(page.sharesOf([5, 5], [-1, 5], Float32Array.of(1, 0, 0.5, 0.5)), null);
    // Token 0 may be asked for too.
    assert.equal(page.sharesOf([5, 0, 6, 9, 5], [-1, -1, -1, -1, 0], map).questions, 1);
});

test('a drawing is scaled to 20 pixels and its centre of mass to the middle of 28', () => {
    const size = 80;
    const drawn = (inside) =>
        Uint8Array.from({ length: size * size }, (_, i) => inside(i % size, Math.floor(i / size)));
    assert.equal(page.fitted(new Uint8Array(size * size), size), null);
    // A full square of 40: a square of 20 in the middle, rows and columns 4 to 23.
    const square = page.fitted(
        drawn((x, y) => (x >= 5 && x < 45 && y >= 30 && y < 70 ? 200 : 0)),
        size,
    );
    assert.deepEqual([square.box.width, square.box.height, ...square.moved], [20, 20, 0, 0]);
    square.image.forEach((ink, i) => {
        const [x, y] = [i % 28, Math.floor(i / 28)];
        assert.equal(ink, x >= 4 && x < 24 && y >= 4 && y < 24 ? 200 : 0, `${x}, ${y}`);
    });
    // An upright bar of 10 x 40: 5 x 20; all of it 200, its middle between columns 13 and 14.
    const bar = page.fitted(
        drawn((x, y) => (x >= 60 && x < 70 && y >= 2 && y < 42 ? 200 : 0)),
        size,
    );
    assert.deepEqual([bar.box.width, bar.box.height], [5, 20]);
    assert.ok(bar.box.pixels.every((ink) => ink === 200));
    assert.equal(bar.image.filter((ink) => ink === 200).length, 100);
    assert.equal(bar.image[4 * 28 + 12], 200);
    assert.equal(bar.image[3 * 28 + 12], 0);
    assert.deepEqual(
        [11, 12, 16, 17].map((x) => bar.image[14 * 28 + x]),
        [0, 200, 200, 0],
    );
    // Lying: the same, turned; a shade: three quarters of each pixel's ink.
    const lying = page.fitted(
        drawn((x, y) => (y >= 60 && y < 70 && x >= 2 && x < 42 ? (x % 2 ? 100 : 200) : 0)),
        size,
    );
    assert.deepEqual([lying.box.width, lying.box.height], [20, 5]);
    assert.ok(lying.box.pixels.every((ink) => ink === 150));
    assert.deepEqual(
        [11, 12, 16, 17].map((y) => lying.image[y * 28 + 14]),
        [0, 150, 150, 0],
    );
    // Heavier on the left: the mean column of 20, of which 10 weigh 200 and 10 weigh 40, is
    // (5 x 200 + 15 x 40) / 240 = 6 2/3, so the box begins at round(14 - 6 2/3) = 7 instead of 4.
    const heavy = page.fitted(
        drawn((x, y) => (x < 40 && y < 40 ? (x < 20 ? 200 : 40) : 0)),
        size,
    );
    assert.deepEqual(heavy.moved, [3, 0]);
    assert.equal(heavy.image[14 * 28 + 7], 200);
    assert.equal(heavy.image[14 * 28 + 6], 0);
    assert.equal(heavy.image[14 * 28 + 17], 40);
    // The same downwards: heavier at the bottom moves up by three.
    const low = page.fitted(
        drawn((x, y) => (x < 40 && y < 40 ? (y < 20 ? 40 : 200) : 0)),
        size,
    );
    assert.deepEqual(low.moved, [0, -3]);
    // A line thinner than a pixel of its box is one pixel thick.
    const [level, upright] = [(x, y) => y === 40 && x < 60, (x, y) => x === 40 && y < 60].map((line) =>
        page.fitted(
            drawn((x, y) => (line(x, y) ? 255 : 0)),
            size,
        ),
    );
    assert.deepEqual([level.box.width, level.box.height], [20, 1]);
    assert.deepEqual([upright.box.width, upright.box.height], [1, 20]);
    // All that is left of two dots in opposite corners is the stronger one: 9 of 16 rounds to 1, 1 to 0.
    const dots = page.fitted(
        drawn((x, y) => (x === 79 && y === 79 ? 9 : x === 0 && y === 0 ? 1 : 0)),
        size,
    );
    assert.deepEqual(dots.moved, [-9, -9]);
    assert.equal(dots.image[14 * 28 + 14], 1);
    // One dot fills its box; a picture smaller than 20 grows, by shares of pixels at its edges.
    assert.equal(page.fitted(Uint8Array.of(9), 1).box.pixels.length, 400);
    const grown = page.fitted(Uint8Array.of(100, 0, 0, 0, 0, 0, 0, 0, 200), 3);
    assert.deepEqual([grown.box.width, grown.box.height], [20, 20]);
    assert.equal(grown.box.pixels[0], 100);
    assert.equal(grown.box.pixels[6], 67); // its pixel ends at 6 2/3: two thirds of 100
    assert.equal(grown.box.pixels[7], 0);
    assert.equal(grown.box.pixels[399], 200);
});

test('columns of a table: how they are called, what is read and predicted at first', () => {
    const column = (name, more = {}) => ({ name, numbers: 10, words: 0, missing: 0, ...more });
    const table = {
        rows: 100,
        columns: [column('a'), column('b,c'), column('a'), column('', { words: 3 }), column('y')],
    };
    assert.deepEqual(
        table.columns.map((_, i) => page.columnKey(table, i)),
        ['a', '2', '3', '4', 'y'],
    );
    assert.deepEqual(
        ['a', '2', '3', 'y', '5', '6', '0', 'no', '1x'].map((key) => page.columnOf(table, key)),
        [0, 1, 2, 4, 4, -1, -1, -1, -1],
    );
    assert.deepEqual(page.chosen(table, {}), { inputs: [0, 1, 2], target: 4 });
    const few = [column('n', { numbers: 1 }), column('w', { words: 1 }), column('y')];
    assert.deepEqual(page.chosen({ rows: 10, columns: few }, {}), { inputs: [0], target: 2 });
    assert.deepEqual(page.chosen(table, { ahead: '1' }), { inputs: [0, 1, 2, 4], target: 4 });
    assert.deepEqual(page.chosen(table, { target: 'a' }), { inputs: [1, 2, 4], target: 0 });
    assert.deepEqual(page.chosen(table, { inputs: 'y,2', target: '3' }), { inputs: [4, 1], target: 2 });
    const none = { rows: 4, columns: [column('w', { numbers: 0 }), column('y', { missing: 1 })] };
    assert.deepEqual(page.firstChoice(table), { target: 'y', inputs: 'a,2,3', length: '20' });
    assert.deepEqual(page.firstChoice({ ...table, rows: 1000 }).length, '32');
    assert.deepEqual(page.firstChoice(none), { target: 'y', inputs: '', length: '1', missing: 'last' });
});

test('a config is text that its values cannot break out of', () => {
    assert.equal(
        page.format({ task: 'own', text: 'a&b=c ~#%!\n' }),
        'task=own&text=a%26b%3dc%20%7e%23%25%21%0a',
    );
    assert.ok(page.sameValues({ a: '1', b: '2' }, { b: '2', a: '1' }));
    assert.ok(!page.sameValues({ a: '1' }, { a: '1', b: '2' }));
    assert.ok(!page.sameValues({ a: '1', b: '2' }, { a: '1', b: '3' }));
});

test('marks are shapes about the middle, each of its own; colours of maps go through their stops', () => {
    assert.equal(page.MARKS.length, page.OWNERS.length);
    assert.equal(new Set(page.MARKS.flatMap(({ colour, path, name }) => [colour, path, name])).size, 18);
    for (const { path } of page.MARKS) for (const n of path.match(/[\d.]+/g)) assert.ok(n <= 13, path);
    assert.equal(page.HEAT.length, 256);
    assert.deepEqual(
        [page.HEAT[0], page.HEAT[255]],
        [
            [0, 34, 78],
            [254, 232, 56],
        ],
    );
    // Where the nine stops lie, to the nearest of 255 steps (32 is 1.0039 stops on).
    const stops = [
        [26, 56, 111],
        [67, 78, 108],
        [97, 101, 112],
        [125, 124, 120],
        [154, 149, 120],
        [186, 174, 108],
        [220, 203, 86],
    ];
    assert.deepEqual(
        [32, 64, 96, 128, 159, 191, 223].map((i) => page.HEAT[i]),
        stops,
    );
    // 100 lies 3.137 on; 230 lies 7.216 on.
    assert.deepEqual(page.HEAT[100], [101, 104, 113]);
    assert.deepEqual(page.HEAT[230], [227, 209, 80]);
});

test('an exported chart has its points where its axes say', () => {
    const curve = {
        xs: [0, 50, 100],
        raw: [null, null, null],
        line: [0, 0.5, 1],
        low: [0, 0.25, 0.5],
        high: [0.5, 0.75, 1],
        name: 'a < b',
        colour: 'rgb(1, 2, 3)',
        path: 'M0 0Z',
    };
    const chart = {
        title: 'T',
        xLabel: 'steps',
        xEnd: 100,
        yRange: [0, 1],
        log: false,
        formatX: String,
        formatY: page.shareTick,
        colours: { sheet: 'white', ink: 'rgb(4, 5, 6)', rule: 'rgb(7, 8, 9)' },
        curves: [curve],
    };
    const svg = page.svgOf(chart);
    // 720 x 400 less 64 left, 24 right, 48 above, 56 below: 632 x 296.
    assert.match(svg, /<polyline points="64,344 380,196 696,48" fill="none" stroke="rgb\(1, 2, 3\)"/);
    assert.match(svg, /<polygon points="64,196 380,122 696,48 696,196 380,270 64,344"/);
    assert.match(svg, /<text x="56" y="348" text-anchor="end">0 %<\/text>/);
    assert.match(svg, /<text x="56" y="52" text-anchor="end">100 %<\/text>/);
    assert.match(
        svg,
        /<text x="380" y="362" text-anchor="middle">50?<\/text>|<text x="316.8" y="362" [^>]*>40</,
    );
    assert.match(svg, /a &lt; b/);
    // The line's end and, below the axis, its place in the legend.
    assert.match(
        svg,
        /<path d="M0 0Z" transform="translate\(696 48\) scale\(0.75\)" fill="rgb\(1, 2, 3\)"\/>/,
    );
    assert.match(svg, /transform="translate\(70 404\)[^>]*><text x="84" y="408">a &lt; b<\/text>/);
    assert.match(svg, /<text x="696" y="382" text-anchor="end">steps<\/text>/);
    assert.match(svg, /<text x="64" y="362" text-anchor="middle">0<\/text>/);
    assert.match(svg, /viewBox="0 0 720 428" width="720" height="428"/);
    assert.match(svg, /<text x="64" y="26" [^>]*>T<\/text>/);
    // Two curves on a scale of powers of ten: 0.01 to 100 in 296, what is not above zero left out.
    const two = page.svgOf({
        title: '"T" & more',
        xLabel: 'x',
        xEnd: 10,
        yRange: [0.01, 100],
        log: true,
        formatX: String,
        formatY: page.lossTick(true),
        colours: { sheet: 'white', ink: 'black', rule: 'grey' },
        curves: [curve, { ...curve, name: 'c', xs: [0, 5, 10], line: [1, null, 0.1], low: [], high: [] }],
    });
    for (const [label, y] of [
        ['0.01', 344],
        ['0.1', 270],
        ['1', 196],
        ['10', 122],
        ['100', 48],
    ])
        assert.match(two, new RegExp(`<text x="56" y="${y + 4}" text-anchor="end">${label}</text>`));
    assert.match(two, /<polyline points="64,196 696,270"/);
    // The legend: beside the first, and below it where there is no place.
    assert.match(two, /<text x="153" y="408">c<\/text>/);
    const slim = page.svgOf({
        ...chart,
        width: 200,
        curves: [curve, { ...curve, name: 'far too long for it' }],
    });
    assert.match(slim, /<text x="84" y="408">a &lt; b<\/text>[^]*<text x="84" y="428">far too long…<\/text>/);
    assert.match(slim, /viewBox="0 0 200 448"/);
    assert.match(slim, /<polyline points="64,344 120,196 176,48"/);
    // Given ticks: those that find a place; every point with its values; bands lie below all lines.
    const xTicks = [0, 1, 50, 100].map((at) => ({ at, label: `at ${at}` }));
    const marked = page.svgOf({ ...chart, xTicks, everyPoint: true, curves: [curve, curve] });
    assert.deepEqual(
        [...marked.matchAll(/>(at \d+)</g)].map(([, label]) => label),
        ['at 0', 'at 50', 'at 100'],
    );
    assert.match(marked, /translate\(380 196\)[^>]*><title>a &lt; b: 50, 50 %<\/title><\/path>/);
    assert.equal(marked.match(/<title>/g).length, 6);
    assert.ok(marked.lastIndexOf('<polygon') < marked.indexOf('<polyline'));
    assert.match(two, /&quot;T&quot; &amp; more/);
    assert.equal(two.match(/<line /g).length, 5);
    assert.match(two, /<line x1="64" x2="696" y1="48" y2="48"/);
    assert.doesNotMatch(two, /NaN|Infinity/);
    // Between 2 and 5 stands no power of ten, between 3.1 and 4.9 nothing that begins with 1, 2 or 5.
    const few = { log: true, xEnd: 1, formatX: String, formatY: String, curves: [], colours: {} };
    for (const [yRange, wanted] of [
        [
            [2, 5],
            ['2', '5'],
        ],
        [
            [3.1, 4.9],
            ['3.5', '4', '4.5'],
        ],
    ])
        assert.deepEqual(
            [...page.svgOf({ ...few, yRange, title: '', xLabel: '' }).matchAll(/"end">([\d.]+)</g)].map(
                ([, label]) => label,
            ),
            wanted,
        );
    assert.match(svg, /^<svg [^>]*fill="rgb\(4, 5, 6\)"><rect [^>]*fill="white"\/>/);
    assert.match(svg, /<line [^>]*stroke="rgb\(7, 8, 9\)"/);
});

test('a map is drawn row by row from the top, dark at 0, bright at its top', () => {
    const map = Float32Array.of(1, 0, 0.25, 0.75); // row 0 looks at column 0, row 1 mostly at column 1
    const bytes = page.pixelsOf(4, (i) => page.heatColour(map[i], 1));
    const light = [0, 1, 2, 3].map((i) => bytes[4 * i] + bytes[4 * i + 1] + bytes[4 * i + 2]);
    assert.ok(light[0] > light[3] && light[3] > light[2] && light[2] > light[1], `${light}`);
    assert.deepEqual([...bytes.slice(0, 4)], [254, 232, 56, 255]);
    assert.deepEqual([...bytes.slice(4, 8)], [0, 34, 78, 255]);
    assert.deepEqual(page.heatColour(NaN, 1), [0, 0, 0, 0]);
    assert.deepEqual(page.heatColour(0, 0), [0, 34, 78, 255], 'a scale of nothing');
    assert.deepEqual(page.heatColour(-1, 1), [0, 34, 78, 255]);
    assert.deepEqual(page.heatColour(1.5, 2), [186, 174, 108, 255], 'three quarters of 255 is 191');
    assert.equal(bytes.length, 16);
    assert.deepEqual(
        page.heatColour(2, 0.5),
        page.heatColour(0.5, 0.5),
        'what is above the scale is its end',
    );
});

test('the scale of maps goes evenly from dark to bright, over grey in its middle', () => {
    const { HEAT } = page;
    assert.equal(HEAT.length, 256);
    // CIE lightness.
    const linear = (part) => (part <= 10.31 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
    const light = HEAT.map(([red, green, blue]) => {
        const luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
        return 116 * Math.cbrt(luminance) - 16;
    });
    const [first, last] = [light[0], light[255]];
    assert.ok(first < 15 && last > 90, `${first} to ${last}`);
    for (const [i, lightness] of light.entries()) {
        const even = first + ((last - first) * i) / 255;
        assert.ok(Math.abs(lightness - even) < 2.5, `step ${i} has lightness ${lightness}, evenly ${even}`);
    }
    assert.ok(Math.max(...HEAT[127]) - Math.min(...HEAT[127]) <= 6, `${HEAT[127]} is no grey`);
    for (const [i, [red, green, blue]] of HEAT.entries())
        assert.ok(i < 110 ? blue >= green && green >= red : i < 150 || (red > green && green > blue), `${i}`);
});

test('a graph of steps stands in layers: boxes apart, edges from foot to head and clear of boxes', () => {
    // A chain: one under the other by the height and 46, each over the middle of the next.
    const chain = page.layers([[-1], [0]], [40, 20, 30], 20);
    assert.deepEqual(chain.boxes, [
        { x: 0, y: 0, width: 40, height: 20 },
        { x: 10, y: 66, width: 20, height: 20 },
        { x: 5, y: 132, width: 30, height: 20 },
    ]);
    assert.deepEqual([chain.width, chain.height], [40, 152]);
    assert.deepEqual(chain.edges, [
        {
            from: 0,
            to: 1,
            points: [
                { x: 20, y: 20 },
                { x: 20, y: 66 },
            ],
        },
        {
            from: 1,
            to: 2,
            points: [
                { x: 20, y: 86 },
                { x: 20, y: 132 },
            ],
        },
    ]);
    // The last step takes the input too: its edge passes the layer between beside the box that stands there.
    const past = page.layers([[-1], [0, -1]], [40, 40, 40], 20);
    const edge = past.edges.find(({ from, to }) => from === 0 && to === 2);
    assert.deepEqual(
        edge.points.map(({ y }) => y),
        [20, 66, 86, 132],
    );
    const [lane] = edge.points.slice(1).map(({ x }) => x);
    assert.equal(edge.points[2].x, lane);
    const { x } = past.boxes[1];
    assert.ok(lane <= x - 14 - 4 || lane >= x + 40 + 14 + 4, `the edge at ${lane}, the box from ${x}`);
    // What takes the right step stands on the right, whichever was written first; a step that takes one twice
    // has one edge.
    for (const [third, fourth] of [
        [0, 1],
        [1, 0],
    ]) {
        const { boxes, edges, width } = page.layers(
            [[-1], [-1], [third, third], [fourth]],
            [9, 40, 40, 40, 40],
            20,
        );
        assert.equal(edges.length, 4);
        assert.equal(boxes[3].x < boxes[4].x, boxes[1 + third].x < boxes[1 + fourth].x);
        assert.ok(Math.abs(boxes[1].x - boxes[2].x) >= 54 && Math.abs(boxes[3].x - boxes[4].x) >= 54);
        const ends = boxes.flatMap((box) => [box.x, box.x + box.width]);
        assertNear([Math.min(...ends), Math.max(...ends)], [0, width]);
    }
    assert.equal(
        page.curve([
            { x: 0, y: 0 },
            { x: 0, y: 10 },
            { x: 6, y: 20 },
        ]),
        'M0 0L0 10C0 15 6 15 6 20',
    );
});

test('signed values are teal below zero and brown above, as strong as they are large', () => {
    assert.deepEqual(page.signedColour(-2, 2, false), [0, 122, 120, 255]);
    assert.deepEqual(page.signedColour(1, 2, false), [150, 86, 10, 128]);
    assert.deepEqual(page.signedColour(1, 2, true), [224, 168, 80, 128]);
    assert.equal(page.signedColour(0, 2, false)[3], 0);
    assert.equal(page.signedColour(NaN, 2, false)[3], 0);
    assert.deepEqual(
        page.signedColour(-5, 2, true),
        [70, 200, 190, 255],
        'what is beyond the scale is its end',
    );
    assert.deepEqual(page.signedColour(NaN, 2, false), [0, 0, 0, 0]);
    for (const top of [0, -1]) assert.equal(page.signedColour(0, top, false)[3], 0, 'a scale of nothing');
});

test('rows of maps, what is pointed at, what is looked at most', () => {
    // Two heads of three rows: entry = 100 head + 10 row + column.
    const maps = Float32Array.from(
        { length: 18 },
        (_, i) => 100 * Math.floor(i / 9) + 10 * Math.floor((i % 9) / 3) + (i % 3),
    );
    assertNear([...page.mapRows(maps, 3, 1, 2)], [120, 121, 122]);
    assertNear([...page.mapRows(maps, 3, 0, 1)], [10, 11, 12]);
    assertNear([...page.mapRows(maps, 3, 0, 1, 2)], [10, 11, 12, 20, 21, 22]);
    const at = (x, y) => page.cellAt({ x, y, width: 90, height: 30 }, 3, 9);
    assert.deepEqual(at(0, 0), { row: 0, column: 0 });
    assert.deepEqual(at(89, 29), { row: 2, column: 8 });
    assert.deepEqual(at(15, 25), { row: 2, column: 1 });
    assert.equal(at(90, 0), null);
    assert.equal(at(0, -1), null);
    assert.equal(page.mostLookedAt(Float32Array.of(0.1, 0.2, 0.6, 0.1)), 2);
    assert.equal(page.mostLookedAt(Float32Array.of(0.1, 0.4, 0.4, 0.1)), 1, 'of equals the first');
    assertNear([...page.turned(Float32Array.of(1, 2, 3, 4, 5, 6), 3, 2)], [1, 3, 5, 2, 4, 6]);
});

test('what no row may look at is left clear, and the scale ends at a round number', () => {
    const causal = page.futureClear(Float32Array.of(1, 0, 0.5, 0.5), 2);
    assert.ok(Number.isNaN(causal[1]) && causal[0] === 1 && causal[3] === 0.5);
    const both = Float32Array.of(0.5, 0.5, 0.5, 0.5);
    assert.equal(page.futureClear(both, 2), both);
    const map = new Float32Array(64 * 64).fill(0.03);
    map[0] = 1; // the first rows have few to share
    assert.equal(page.roundTop(map, 64), 0.05);
    map[64 * 64 - 1] = 0.3;
    assert.equal(page.roundTop(map, 64), 0.5);
    map[64 * 64 - 1] = 0.5; // a round number itself
    assert.equal(page.roundTop(map, 64), 0.5);
    map[64 * 64 - 1] = 0.6;
    assert.equal(page.roundTop(map, 64), 1);
});

test('numbers as they are written', () => {
    assert.deepEqual([0, 1.23456, -1234.5, 0.000123, 1e6, Infinity, NaN].map(page.show), [
        '0',
        '1.23',
        '−1230',
        '1.2·10⁻⁴',
        '1.0·10⁶',
        '∞',
        'no number',
    ]);
    assert.deepEqual([0.001, 0.000999, 99_999, 1e5, -Infinity].map(page.show), [
        '0.001',
        '1.0·10⁻³',
        '100000',
        '1.0·10⁵',
        '−∞',
    ]);
    assert.equal(page.percent(0.12345), '12.3 %');
    assert.deepEqual(
        [-0.0004, -0, -1.235].map((value) => page.fixed(value, 2)),
        ['0.00', '0.00', '−1.24'],
    );
    assert.deepEqual([undefined, 2, 0, 0.00012].map(page.lossText), ['–', '2.0000', '0.0000', '1.2·10⁻⁴']);
    assert.deepEqual([0.001, 0.5, -0.0002].map(page.lossText), ['0.0010', '0.5000', '−2.0·10⁻⁴']);
    assert.deepEqual([9999, 12_345, 654_321, 1.25e6].map(page.brief), ['9999', '12 k', '654 k', '1.3 M']);
    assert.deepEqual([0.2, 89.5, 600, 7200].map(page.duration), ['1 s', '90 s', '10 min', '2.0 h']);
});

test('what a lesson promises is judged by its end, and ticked when it is first reached', () => {
    const { judge, promised, promisedApart, measured } = page;
    const tries = (...values) => values.map((value, i) => ({ step: 10 * i, value }));
    const learns = { metric: 'accuracy', low: 0.99, high: 1 };
    assert.equal(promised(learns), '≥ 99 %');
    assert.deepEqual(judge(learns, [], false), { state: 'open', step: null, value: null });
    assert.deepEqual(judge(learns, tries(0.1, 0.5), false), { state: 'open', step: null, value: 0.5 });
    // While it trains one try may be luck, and what was lost again is not ticked.
    assert.deepEqual(judge(learns, tries(0.1, 0.99), false), { state: 'open', step: null, value: 0.99 });
    assert.deepEqual(judge(learns, tries(0.1, 0.99, 0.98), false), {
        state: 'open',
        step: null,
        value: 0.98,
    });
    assert.deepEqual(judge(learns, tries(1, 0.1, 0.99, 1), false), { state: 'held', step: 20, value: 1 });
    assert.equal(judge(learns, tries(0.1, 0.99, 0.98), true).state, 'broken', 'it did not last');
    assert.deepEqual(judge(learns, tries(0.1, 0.99, 1), true), { state: 'held', step: 10, value: 1 });
    const guesses = { metric: 'accuracy', low: 0.05, high: 0.2 };
    assert.equal(promised(guesses), '≤ 20 %');
    assert.equal(judge(guesses, tries(0.1, 0.12), false).state, 'open', 'it may yet rise');
    assert.equal(judge(guesses, tries(0.1, 0.12), true).state, 'held');
    assert.equal(judge(guesses, tries(0.1, 0.21), true).state, 'broken');
    assert.equal(judge(guesses, [], true).state, 'open', 'what was never tried is not judged');
    const bits = { metric: 'bits', low: 3.3, high: 3.7 };
    assert.equal(promised(bits), '3.3 to 3.7 bits');
    assert.equal(judge(bits, tries(8, 3.5), false).state, 'open');
    assert.equal(judge(bits, tries(8, 3.5), true).state, 'held');
    assert.equal(promised({ metric: 'accuracy', low: 0.65, high: 0.8 }), '65 to 80 %');
    assert.equal(promised({ metric: 'r2', low: 0.98, high: 1 }), 'R² ≥ 0.98');
    assert.equal(promisedApart({ metric: 'accuracy', low: 0.02, high: 0.15 }), '2 to 15 points ahead of');
    assert.equal(promisedApart({ metric: 'r2', low: -0.9, high: -0.2 }), '0.2 to 0.9 of R² behind');
    assert.equal(measured('accuracy', 0.1234), '12.3 %');
    assert.equal(measured('r2', -0.5), 'R² −0.50');
    assert.equal(measured('bits', 3.456), '3.46 bits');
    assert.deepEqual([measured('accuracy', -0.0002), measured('r2', -0.004)], ['0.0 %', 'R² 0.00']);
});

test('the mean of several seeds goes as far as all of them were tried', () => {
    const members = seeds().map((history) => ({ history }));
    members[2].history.points.pop();
    const found = page.means({ members }, ({ accuracy }) => accuracy);
    assert.deepEqual(
        found.map(({ step }) => step),
        [0, 2],
    );
    assertNear(
        found.map(({ value }) => value),
        [0.1, 0.3],
    );
});

test('every claim of the presets reaches the page, but for answers that are fed back', async () => {
    const { lessons } = await import('../../scripts/page-data.mjs');
    const source = await readFile(new URL('../../model/run/language/presets.c', import.meta.url), 'utf8');
    const lines = source.slice(source.indexOf('claim claims[]')).match(/^ {4}\{"/gm).length;
    const fed = source.match(/, "free", /g).length;
    const all = Object.values(lessons());
    assert.equal(all.flatMap(({ claims }) => claims).length, lines - fed);
    assert.ok(all.every(({ steps, seconds }) => steps > 0 && seconds > 0));
    const { length, sums, recall } = lessons();
    // No run is promised something only when it is fed its own answers: nothing would be judged on the page.
    const rows = [...source.matchAll(/^ {4}\{"([\w-]+)", (\d+), "[^"]*", "(\w+)"/gm)].map((found) =>
        found.slice(1),
    );
    for (const [name, run] of rows.filter(([, , metric]) => metric === 'free'))
        assert.ok(
            lessons()[name].claims.some(([of]) => of === Number(run)),
            `${name}, run ${run}: nothing is judged on the page`,
        );
    assert.equal(lessons().mission.claims.length, 9);
    const claimed = (lesson, i) => lesson.claims[i].slice(0, 6);
    assert.deepEqual(claimed(recall, 0), [0, 0, 'accuracy', 0.99, 1, 0]);
    assert.deepEqual(claimed(length, 4), [0, 1024, 'accuracy', 0.99, 1, 0]);
    assert.deepEqual(claimed(sums, 1), [1, 0, 'r2', -0.9, -0.2, 1]);
    assert.equal(recall.steps, 600);
    // Each says on how many of 16 seeds it holds.
    for (const [name, { claims }] of Object.entries(lessons()))
        for (const [, , , , , , held, of] of claims)
            assert.ok(of === 16 && held >= of / 2 && held <= of, `${name}: ${held} of ${of}`);
    const claim = { preset: 'a', run: 1, metric: 'accuracy', changes: '', minus: 0 };
    const [rates, measured] = [
        [{ ...claim, values: [0.6, 0.4, 0.5] }],
        [{ ...claim, seed: 1, value: 0.7, steps: 1, seconds: 1 }],
    ];
    const row = '    {"a", 1, "", "accuracy", 0.5, 1, 1, 0},';
    const rateOf = (stored) => lessons(row, stored).a.claims[0].slice(6);
    assert.deepEqual(rateOf({ measured, rates }), [2, 3]);
    assert.deepEqual(rateOf({ measured, rates: [{ ...rates[0], run: 0 }] }), [1, 1]);
    // How long its runs take in a browser: steps of the time of one, unless one of them was not timed there.
    const two = [
        { ...measured[0], steps: 30 },
        { ...measured[0], run: 0, steps: 20 },
    ];
    const inChromium = (...timed) => lessons(row, { measured: two, rates }, timed).a.chromium;
    const [first, second] = [1, 2].map((run) => ({ name: `preset/a/${run} cat`, median: 100 * run }));
    assert.equal(inChromium(first, second), 8);
    assert.equal(inChromium(second), null);
    assert.equal(inChromium({ name: 'preset/a/1 cat', skipped: 'no files' }, second), null);
});

test('each task of the page has a picture: of its example, what is read above what is asked', async () => {
    const { tasks } = await import('../../scripts/page-data.mjs');
    const made = tasks();
    const source = await readFile(new URL('../../docs/TASKS.md', import.meta.url), 'utf8');
    const drawn = source.split('\n## ').filter((part) => /```text/.test(part)).length;
    assert.equal(Object.keys(made).length, drawn);
    // A value that is asked is as tall as where it was read.
    const { rows, asked, signed } = made.mqar;
    assert.equal(signed, false);
    const at = asked.flatMap((value, i) => (value === null ? [] : [i]));
    assert.ok(at.length === 3, at.join());
    for (const i of at) assert.equal(rows[0][rows[0].indexOf(rows[0][i]) + 1], asked[i]);
    assert.ok(made.cumsum.signed && Math.min(...made.cumsum.rows[0]) < 0);
    assert.deepEqual(made.cummax.rows[0][0], made.cummax.asked[0]);
    assert.equal(made.listops.asked.length, 0);
    assert.equal(made.smnist.image.length, 28);
    assert.ok(
        made.smnist.image.some((row) => /9/.test(row)) && made.smnist.image.every((row) => row.length <= 28),
    );
    assert.equal(made.pmnist.image.length, 14);
});

test('a term is explained once in a sentence, by the longest name that it has, and never inside a word', () => {
    const { pieces, lineOf } = page;
    const marked = (text) =>
        pieces(text)
            .map(({ text: piece, term }) => (term ? `[${piece}]` : piece))
            .join('');
    assert.equal(
        marked('A filter filters; softmax attention, a Filter, attention-free blocks.'),
        'A [filter] filters; [softmax attention], a Filter, attention-free blocks.',
    );
    assert.equal(marked('nothing here'), 'nothing here');
    assert.equal(marked(''), '');
    assert.deepEqual(pieces('filter'), [{ text: 'filter', term: true }], 'no piece is empty');
    assert.match(lineOf('Filter'), /^A weighted sum/);
    assert.equal(lineOf('nothing'), '');
});

test('what keys are called is of keys that the engine has', () => {
    const run = spawnSync('build/seqmix', ['help', '--json'], { encoding: 'utf8', cwd: root });
    const { keys, mixers, tasks } = JSON.parse(run.stdout);
    const all = [...keys, ...[...mixers, ...tasks].flatMap((one) => one.keys)];
    const known = new Map(all.map((key) => [key.name, key]));
    assert.ok(known.size > 60);
    for (const name of Object.keys(page.NAMES)) assert.ok(known.has(name), name);
    assert.ok(known.get('beta1').rare && !('rare' in known.get('filter')));
    // (one name is one control, whoever has the key)
    for (const { name, rare } of all) assert.equal(rare, known.get(name).rare, name);
});

test('curves of an earlier training survive an address, at even distances and to a part in 4,095', () => {
    const { writeGhosts, readGhosts, withGhost } = page;
    const curve = (end, f) => {
        const steps = [...Array(Math.ceil(end / 10)).keys()].map((i) => 10 * i).concat(end);
        return steps.map((step) => ({ step, score: f(step) }));
    };
    const short = curve(35, (step) => step / 35);
    const long = curve(3001, (step) => Math.sin(step / 500) ** 2);
    const text = writeGhosts([short, [], long, [{ step: 50, score: 1 }]]);
    assert.match(text, /^[\w.,-]+$/);
    assert.equal(writeGhosts([[], []]), '', 'where nothing was trained there is nothing to show');
    const [first, none, third, late] = readGhosts(text);
    assert.equal(none, null);
    assert.equal(late, null, 'a run that was not tried from its start on');
    assert.deepEqual(first.steps, [0, 10, 20, 30, 35]);
    assertNear(
        first.scores,
        short.map(({ score }) => score),
        1 / 8190 + 1e-9,
    );
    assert.ok(third.steps.length <= 41);
    assert.equal(third.steps.at(-1), 3001);
    for (const [i, step] of third.steps.entries())
        assert.ok(Math.abs(third.scores[i] - Math.sin(step / 500) ** 2) <= 1 / 8190 + 1e-9, `${step}`);
    assertNear(
        readGhosts(
            writeGhosts([
                [
                    { step: 0, score: -3 },
                    { step: 10, score: 7 },
                ],
            ]),
        )[0].scores,
        [0, 1],
    );
    for (const bad of ['x', 'a.b', 'a.b.ABC', 'a.b.A?AB', '0.5.AAAA', `a.8c.${'A'.repeat(4000)}`])
        assert.deepEqual(readGhosts(bad), [null], bad);
    assert.deepEqual(readGhosts(''), []);
    const own = { xs: [0, 10, 15], raw: [9, 9, 9], low: [1, null, 3], high: [2, null, 4], line: [5, 6, 7] };
    assert.deepEqual(withGhost(own, [0, 10, 20], [0.1, 0.2, 0.3]), {
        xs: [0, 10, 15, 20],
        raw: [0.1, 0.2, null, 0.3],
        low: [1, null, 3, null],
        high: [2, null, 4, null],
        line: [5, 6, 7, null],
    });
});

test('several pictures make one, beside each other over their caption', () => {
    const of = (width, height) =>
        `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect/></svg>`;
    const caption = ['one & two', 'x'.repeat(120)];
    const svg = page.composed([of(300, 200), of(100, 250)], caption, { sheet: '#fff', ink: '#000' });
    assert.match(svg, /^<svg [^>]*viewBox="0 0 448 386" width="448" height="386"/); // 16+300+16+100+16
    assert.match(svg, /<svg x="16" y="16" [^>]*width="300"/);
    assert.match(svg, /<svg x="332" y="16" [^>]*width="100"/);
    const lines = [...svg.matchAll(/<text x="16" y="(\d+)">([^<]*)<\/text>/g)].map(([, y, text]) => [
        y,
        text,
    ]);
    assert.deepEqual(lines, [
        ['290', 'one &amp; two'],
        ['310', 'x'.repeat(55)],
        ['330', 'x'.repeat(55)],
        ['350', 'x'.repeat(10)],
    ]);
});

test('grey values are those that were scaled for the model', () => {
    // Inputs are (grey / 255 - 0.1307) / 0.3081.
    const scaled = [0, 51, 255].map((grey) => (grey / 255 - 0.1307) / 0.3081);
    assert.ok(near([...page.greys(scaled)], [0, 51, 255], 1));
    assert.deepEqual([...page.greys([-9, 9])], [0, 255]);
});

test('steps a second: what passed before training began is not counted, and nothing jumps', () => {
    const rate = new page.Rate(1000, 0);
    rate.add(1400, 12);
    assert.equal(rate.value, 0, 'within half a second nothing is known');
    rate.add(2000, 24);
    assert.equal(rate.value, 24, 'the first second');
    rate.add(3000, 124);
    assert.equal(rate.value, 24 + 0.4 * (100 - 24), 'a burst counts in part');
    rate.begin(60_000, 124); // paused for a minute, or another speed was chosen
    assert.equal(rate.value, 0);
    rate.add(61_000, 148);
    assert.equal(rate.value, 24);
    rate.add(61_900, 0); // reset
    assert.equal(rate.value, 0);
});

test('names at the ends of curves: apart, in order, between the edges, and otherwise where they belong', () => {
    assert.deepEqual(page.apart([100, 10], 15, 0, 200), [100, 10]);
    assert.deepEqual(page.apart([100, 104, 98], 15, 0, 200), [113, 128, 98]);
    assert.deepEqual(page.apart([198, 199], 15, 0, 200), [185, 200]);
    assert.deepEqual(page.apart([-5], 15, 0, 200), [0]);
    assert.deepEqual(page.apart([], 15, 0, 200), []);
});

test('what is drawn again takes turns: one part after each frame, in a task of its own, each once', async (t) => {
    const frames = [];
    const { requestAnimationFrame } = globalThis;
    globalThis.requestAnimationFrame = (part) => frames.push(part);
    t.after(() => (globalThis.requestAnimationFrame = requestAnimationFrame));
    const { inTurn, callOff } = await pageModule('core/turns');
    const done = [];
    const [a, b, c] = ['a', 'b', 'c'].map((name) => () => done.push(name));
    const frame = async () => {
        const before = done.length;
        frames.splice(0).forEach((part) => part());
        assert.equal(done.length, before, 'nothing in the frame itself');
        await new Promise((after) => setTimeout(after, 5));
        return done.slice(before).join('');
    };
    [a, b, a, c].forEach(inTurn);
    callOff(c);
    assert.equal(done.length, 0);
    assert.equal((await frame()) + (await frame()) + (await frame()), 'ab');
    assert.equal(frames.length, 0, 'no frame is asked for where nothing waits');
    inTurn(() => inTurn(b));
    assert.deepEqual([await frame(), await frame(), await frame()], ['', 'b', '']);
});

test('what is followed a task behind: the value of then, and the last of several', async () => {
    const { behind, theme: followed } = page;
    followed.value = 'auto';
    const shown = behind(followed);
    const task = () => new Promise((done) => setTimeout(done, 5));
    assert.equal(shown.value, 'auto');
    followed.value = 'dark';
    await null;
    assert.equal(shown.value, 'auto', 'not in this task');
    followed.value = 'light';
    await task();
    assert.equal(shown.value, 'light');
    followed.value = 'auto';
    await task();
    assert.equal(shown.value, 'auto', 'and so on');
});

test('a chart is drawn at most every 120 ms, and takes at most a twentieth of the time', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let now = 0;
    const go = (ms) => {
        now += ms;
        t.mock.timers.tick(ms);
    };
    t.mock.method(performance, 'now', () => now);
    globalThis.requestAnimationFrame = (then) => setTimeout(then, 1);
    t.after(() => delete globalThis.requestAnimationFrame);
    const [at, takes] = [[], { ms: 0 }];
    const draw = () => {
        at.push(now);
        now += takes.ms; // (timers that fall due meanwhile come late, as they do)
    };
    const end = page.keepDrawn(
        () => ({ close() {} }),
        draw,
        () => void page.theme.value,
    );
    /** What follows its runs is told of news every millisecond, so long; the gaps between its drawings. */
    const told = (ms) => {
        at.length = 0;
        for (let i = 0; i < ms; i++) {
            page.theme.value = i % 2 ? 'dark' : 'light';
            go(1);
        }
        return at.slice(1).map((one, i) => one - at[i]);
    };
    const often = told(3000);
    assert.ok(often.length > 15, `${often}`);
    assert.ok(Math.min(...often) >= 120 && Math.max(...often) < 130, `${often}`);
    takes.ms = 20;
    told(1000);
    const seldom = told(5000);
    assert.ok(seldom.length > 8, `${seldom}`);
    assert.ok(Math.min(...seldom) >= 400 && Math.max(...seldom) < 430, `${seldom}`);
    at.length = 0;
    page.painted.value++;
    assert.equal(at.length, 1, 'drawn at once in new colours');
    go(1000);
    page.theme.value = 'auto';
    go(1); // it waits for its turn
    end();
    assert.deepEqual(told(2000), []);
    assert.deepEqual(at, [], 'drawn after its end');
});

test('keys of recall are letters, each of its own, and are read back; other tokens are numbers', () => {
    const task = { task: 'mqar', vocab: '2000', filler: 'zero' };
    const keys = Array.from({ length: 999 }, (_, i) => page.written(i + 1, task));
    assert.deepEqual(
        [1, 2, 26, 27, 52, 53, 702, 703].map((key) => keys[key - 1]),
        ['A', 'B', 'Z', 'AA', 'AZ', 'BA', 'ZZ', 'AAA'],
    );
    assert.deepEqual(
        keys.map((letters) => page.tokenOf(letters, task)),
        keys.map((_, i) => i + 1),
    );
    assert.equal(page.tokenOf('b', task), 2);
    assert.equal(page.written(1000, task), '1000');
    assert.equal(page.tokenOf('1000', task), 1000);
    assert.equal(page.written(0, task), '·');
    // No key: beyond the lower half, of another task, or no token at all.
    assert.equal(page.tokenOf('AF', { task: 'mqar', vocab: '64' }), null);
    assert.equal(page.tokenOf('A', { task: 'sc_unique', vocab: '64' }), null);
    for (const none of ['', '-1', '1.5', 'A1', 'é']) assert.equal(page.tokenOf(none, task), null, none);
    assert.equal(page.written(3, { task: 'sc_unique', vocab: '64' }), '3');
});
