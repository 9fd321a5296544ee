// page_flow.test.mjs: the picture of one answer's way: its numbers are those of the run, worked out again
// here from the ones before, in every mechanism; its places are worked out on paper. No browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from '../../../build/wasm/seqmix.js';
import { pageModule } from '../in_node.mjs';

const { filtered, outputOf, partOf, reachOf, stagesOf, stateOf, weightOf } = await pageModule('charts/flow');
const { bars, columnAt, columns, copyLinks, inBins, reaching, tapLinks, ENLARGED } =
    await pageModule('charts/flow_shapes');
const lab = await load({ whole: true });

const L = 32;
const HEADS = 2;
/** A run with 20 steps behind it that has looked at a sample, as the page hands it over. */
function looked(config, { row = L - 1, head = 0, more = '' } = {}) {
    const run = lab.open(`${config}&task=mqar&length=${L}&pairs=4&heads=${HEADS}&width=16${more}`);
    run.step(20);
    run.look(3);
    const tensors = new Map(
        run
            .tensors()
            .filter(({ name }) => name.startsWith('block0.mixer.'))
            .map(({ name }) => {
                const { data, shape } = run.tensor(name);
                return [name.slice('block0.mixer.'.length), { data: data.slice(), shape }];
            }),
    );
    const seen = {
        length: L,
        heads: HEADS,
        head,
        row,
        map: tensors.get('map')?.data ?? null,
        of: (name) => tensors.get(name),
        impulse: (a, b, rows) => {
            const x = new Float32Array(rows).fill(1, 0, 1);
            const theta = Float32Array.of(a, b);
            return lab.kernels.iir({ x, theta, L: rows, D: 1, mode: 'causal' }).y;
        },
    };
    run.close();
    return seen;
}
const off = (a, b) => {
    assert.equal(a.length, b.length);
    return a.reduce(
        (most, x, i) => Math.max(most, Number.isNaN(x - b[i]) ? Infinity : Math.abs(x - b[i])),
        0,
    );
};
const kinds = (seen) => stagesOf(seen).map(({ kind, id }) => `${kind} ${id}`);
const bySum = (values) => values.reduce((sum, x) => sum + x, 0);

for (const head of [0, 1])
    test(`the filter makes the run's keys of those before it, head ${head + 1}`, () => {
        const seen = looked('mixer=cat', { head });
        const taps = seen.of('filter_k');
        const [, count] = taps.shape;
        const made = filtered(
            partOf(seen.of('k_raw'), L, head, HEADS),
            L,
            taps.data.subarray(head * count, (head + 1) * count),
        );
        const keys = partOf(seen.of('k'), L, head, HEADS);
        assert.ok(off(made, keys) < 1e-5, `off by ${off(made, keys)}`);
        assert.ok(off(partOf(seen.of('k_raw'), L, head, HEADS), keys) > 1e-3, 'the filter does something');
        // Every filter has what it starts from; what is not filtered has nothing before it.
        for (const name of ['q_raw', 'v_raw']) assert.ok(seen.of(name), name);
        assert.equal(looked('mixer=cat&filters=k').of('v_raw'), undefined);
    });

for (const [mixer, row] of [
    ['attention', 20],
    ['cat', 31],
    ['focus', 27],
    ['las', 30],
    ['las&pool=none&las_decay=none', 30],
])
    for (const head of [0, 1])
        test(`weights and output, worked out again, are the run's: ${mixer}, row ${row}, head ${head + 1}`, () => {
            const seen = looked(`mixer=${mixer}`, { row, head });
            const maps = (seen.of('map_plain') ?? seen.of('map')).data;
            const wanted = maps.subarray((head * L + row) * L, (head * L + row + 1) * L);
            const found = Array.from({ length: row + 1 }, (_, j) => weightOf(seen, j));
            for (const [j, one] of found.entries()) {
                assert.equal(one.found, wanted[j]);
                assert.ok(Math.abs(one.weight - wanted[j]) < 1e-5, `token ${j}: ${one.weight}, ${wanted[j]}`);
                assert.ok(Math.abs(bySum(one.products) - one.sum) < 1e-5);
                assert.equal(one.divisor, Math.sqrt(8), 'the root of the channels of a head');
            }
            // Scores and weights belong together: their ratios are powers of the difference.
            const [a, b] = [found[2], found[row]];
            const ratio = Math.exp((a.sum - b.sum) / a.divisor);
            assert.ok(
                Math.abs(a.weight / b.weight / ratio - 1) < 1e-4,
                `${a.weight / b.weight} and ${ratio}`,
            );
            const output = outputOf(seen);
            const part = partOf(seen.of('o') ?? seen.of('y'), L, head, HEADS);
            assert.deepEqual([...output.found], [...part.subarray(row * 8, (row + 1) * 8)]);
            assert.ok(off(output.computed, output.found) < 1e-5);
        });

test('where scores hold more than query times key, nothing else is passed off as the weight', () => {
    assert.equal(weightOf(looked('mixer=attention&position=rope'), 4), null);
    // ALiBi's bias comes after the scores: the weight is that of the map before it.
    const seen = looked('mixer=attention&position=alibi');
    const [plain, biased] = ['map_plain', 'map_decayed'].map((name) => seen.of(name).data[(L - 1) * L + 4]);
    const { weight } = weightOf(seen, 4);
    assert.ok(Math.abs(weight - plain) < 1e-5 && Math.abs(weight - biased) > 1e-3, `${weight}`);
    assert.deepEqual(
        kinds(seen).filter((kind) => /^bars/.test(kind)),
        ['bars map_plain', 'bars map_decayed'],
    );
    assert.equal(weightOf(looked('mixer=gla'), 4), null);
    assert.equal(outputOf(looked('mixer=gla')), null);
});

for (const [config, rows, columns] of [
    ['mixer=gla', 8, 8],
    ['mixer=retnet', 8, 8],
    ['mixer=deltanet', 8, 8],
    ['mixer=gated_deltanet', 8, 8],
    ['mixer=linear', 8, 8],
    ['mixer=linear&normaliser=none', 8, 8],
    ['mixer=linear&normaliser=rms', 8, 8],
    ['mixer=chela', 8, 8],
    ['mixer=mamba2', 16, 16],
])
    for (const head of [0, 1])
        test(`the state that fills gives what the run reads from it: ${config}, head ${head + 1}`, () => {
            const seen = looked(config, { head });
            const state = stateOf(seen);
            assert.ok(state, 'what it reads differs from what the run has');
            assert.deepEqual([state.rows, state.columns], [rows, columns]);
            for (const t of [0, 1, L - 1]) {
                const whole = state.at(t);
                assert.equal(whole.length, rows * columns);
                const size = Math.hypot(...whole);
                assert.ok(Math.abs(size - state.sizes[t]) < 1e-4 * size, `after token ${t}`);
            }
            assert.ok(new Set(state.sizes).size > L / 2, 'it changes with every token');
        });

test('a state is not shown where it would not be the run’s', () => {
    const seen = looked('mixer=gla');
    const other = { ...seen, of: (name) => (name === 'gates' ? undefined : seen.of(name)) };
    assert.equal(stateOf(other), null);
    assert.equal(stateOf(looked('mixer=attention')), null, 'softmax attention has none');
    assert.equal(
        stateOf({
            ...seen,
            head: 1,
            of: (name) => (name === 'o' ? looked('mixer=gla').of('v') : seen.of(name)),
        }),
        null,
    );
});

test('each mechanism has stages of its own, where they act', () => {
    assert.deepEqual(kinds(looked('mixer=attention')), ['strip k', 'bars map', 'strip v', 'strip output']);
    assert.deepEqual(kinds(looked('mixer=cat')), [
        'strip k_raw',
        'taps filter_k',
        'strip k',
        'bars map',
        'strip v',
        'strip output',
    ]);
    assert.deepEqual(kinds(looked('mixer=las', { head: 1 })), [
        'strip k',
        'bars map_plain',
        'bars map_decayed',
        'bars map_acting',
        'strip v',
        'strip output',
    ]);
    assert.deepEqual(kinds(looked('mixer=focus&bins=8')), [
        'bins theta',
        'strip x_f',
        'strip k',
        'bars map',
        'strip v',
        'strip output',
    ]);
    assert.deepEqual(kinds(looked('mixer=chela')), [
        'reach short_3',
        'reach short_n',
        'reach conv_k',
        'strip k',
        'strip v',
        'states state',
        'strip output',
    ]);
    assert.deepEqual(kinds(looked('mixer=gla')), ['strip k', 'strip v', 'states state', 'strip output']);
    assert.deepEqual(kinds(looked('mixer=lstm')).slice(0, 1), ['strip h']);
});

test('LaS’s bars are its maps, and each of the question’s row', () => {
    const [row, head] = [25, 1];
    const seen = looked('mixer=las', { row, head });
    for (const stage of stagesOf(seen).filter(({ kind }) => kind === 'bars')) {
        const map = seen.of(stage.id).data;
        assert.deepEqual(
            [...stage.values],
            Array.from({ length: L }, (_, j) => map[head * L * L + row * L + j]),
        );
    }
    const [plain, decayed, acting] = stagesOf(seen).filter(({ kind }) => kind === 'bars');
    assert.ok(off(plain.values, decayed.values) > 1e-4 && off(decayed.values, acting.values) > 1e-4);
});

test('Focus’s bins answer an impulse as the recurrence of their coefficients says', () => {
    const seen = looked('mixer=focus&bins=8', { head: 1 });
    const { size, answers } = stagesOf(seen).find(({ kind }) => kind === 'bins');
    assert.deepEqual([size, answers.length], [4, 8]);
    const { data, shape } = seen.of('theta');
    for (const [bin, answer] of answers.entries()) {
        const at = (bin * shape[2] + 8) * (data.length / (shape[1] * shape[2])); // the head's first channel
        const [a, b] = [data[at], data[at + 1]];
        const rung = [1];
        for (let t = 1; t < size; t++) rung[t] = -a * rung[t - 1] - b * (rung[t - 2] ?? 0);
        assert.ok(off([...answer], rung) < 1e-5, `bin ${bin}: ${answer}, ${rung}`);
    }
});

test('the reach of kernels is the mean size of a tap over channels', () => {
    const data = Float32Array.of(1, -2, 0, 3, 4, -1);
    assert.deepEqual([...reachOf({ data, shape: [2, 3] })], [2, 3, 0.5]);
    assert.deepEqual([...reaching([2, 3, 0.5], 4, 6)], [0, 0, 0.5, 3, 2, 0]);
});

test('columns fill the width in order, and the one that is pointed at is wider', () => {
    assert.deepEqual(
        columns(4, 200, null).map(({ x, width }) => [x, width]),
        [
            [0, 50],
            [50, 50],
            [100, 50],
            [150, 50],
        ],
    );
    for (const pointed of [0, 7, 15]) {
        const all = columns(16, 160, pointed);
        assert.equal(all[pointed].width, ENLARGED);
        let x = 0;
        for (const column of all) {
            assert.ok(Math.abs(column.x - x) < 1e-9 && column.width > 0);
            x += column.width;
        }
        assert.ok(Math.abs(x - 160) < 1e-9, `${x}`);
        assert.ok(all.every(({ width }, i) => i === pointed || width < ENLARGED));
        for (const [i, { x: left, width }] of all.entries()) assert.equal(columnAt(all, left + width / 2), i);
        assert.deepEqual([columnAt(all, -5), columnAt(all, 999)], [0, 15]);
    }
    // Where there is no room, nothing is enlarged and nothing sticks out.
    const narrow = columns(3, 30, 1);
    assert.ok(Math.abs(narrow[2].x + narrow[2].width - 30) < 1e-9);
});

test('bars, cells and links stand at their columns, as tall and thick as their numbers', () => {
    const all = columns(4, 16, null);
    assert.deepEqual(bars([0.5, 0, 1, -0.25], all, 40, 1), [
        { token: 0, x: 0, width: 4, y: 20, height: 20 },
        { token: 2, x: 8, width: 4, y: 0, height: 40 },
        { token: 3, x: 12, width: 4, y: 30, height: 10 },
    ]);
    assert.deepEqual(
        tapLinks([1, -0.5, 0.01], all, 30).map(({ from, to, d, wide, negative }) => [
            from,
            to,
            d,
            wide,
            negative,
        ]),
        [
            [0, 0, 'M2 0L2 30', 3, false],
            [1, 1, 'M6 0L6 30', 3, false],
            [0, 1, 'M2 0L6 30', 1.75, true],
            [2, 2, 'M10 0L10 30', 3, false],
            [1, 2, 'M6 0L10 30', 1.75, true],
            [3, 3, 'M14 0L14 30', 3, false],
            [2, 3, 'M10 0L14 30', 1.75, true],
        ],
    );
    assert.deepEqual(
        copyLinks([0.001, 0.75, 0.2, 0], all, 3, 20).map(({ from, to, d, wide }) => [from, to, d, wide]),
        [
            [1, 3, 'M6 0C6 10 14 10 14 20', 0.75 + 9 * 0.75],
            [2, 3, 'M10 0C10 10 14 10 14 20', 0.75 + 9 * 0.2],
        ],
    );
    assert.deepEqual(
        [
            ...inBins(
                [
                    [1, 2, 9],
                    [3, 4, 9],
                ],
                2,
            ),
        ],
        [1, 2, 3, 4],
    );
});
