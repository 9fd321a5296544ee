// page_state.test.mjs: the page's state without a page: which runs there are, what a change changes, what
// comes back, what the address says. The runs are the engine's, stepped by a pool of the test's. No browser.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { load } from '../../build/wasm/seqmix.js';
import { pageModule } from './in_node.mjs';

let pushed = [];
globalThis.location = { hash: '' };
globalThis.history = {
    pushState: (_, __, address) => (pushed.push(address), (location.hash = address)),
    replaceState: (_, __, address) => (location.hash = address),
};
const page = await pageModule(
    'state/address',
    'state/page',
    'state/reports',
    'state/roster',
    'state/setup',
    'state/transport',
    'state/undo',
    'state/url',
    'state/viewing',
    'state/watching',
    'state/wording',
    'training/job',
);
const { runsOf, textOf, textOfAll, changed, changedAll, readAddress, writeAddress, VIEW, runs, view } = page;
const lab = await load({
    wasm: await WebAssembly.compile(
        await readFile(new URL('../../build/wasm/seqmix-whole.wasm', import.meta.url)),
    ),
});
const one = (config) => runsOf(lab, config)[0];
const mixers = lab.config.mixers.map(({ name }) => name);
const RECALL = 'task=mqar&length=16&vocab=16&pairs=2&width=8&batch=4&steps=40';

// ---- Setups as text

/** Setups of each mixer on some task, with one and several keys changed, and stacks. */
const setups = [
    ...mixers.flatMap((mixer, i) => {
        const tasks = lab.config.tasks.filter(({ name }) => !['own', 'table'].includes(name));
        const { name } = tasks[i % tasks.length];
        return [
            `mixer=${mixer}&task=${name}`,
            `mixer=${mixer}&task=${name}&seed=7&rate=0.5&norm=rms&steps=9`,
        ];
    }),
    'mixers=cat,attention&blocks=2&task=mqar&block1.sliding=8&block0.filter=5',
    `mixer=equations&task=mqar&eq=${encodeURIComponent('# a, b & c ~ 100% # !go=1\ny = x @ w + x\n').replace('~', '%7e')}&decay=0.1`,
    ...lab.config.presets.map(({ name }) => `preset=${name}`),
];

test('the text of a setup is that setup, and its shortest: no key of it can be left out', () => {
    for (const setup of setups)
        for (const values of runsOf(lab, setup)) {
            const text = textOf(lab, values);
            assert.deepEqual(one(text), values, setup);
            const parts = text.split('&');
            for (const [i, part] of parts.entries()) {
                if (/^(mixer|mixers|blocks|task)=/.test(part)) continue;
                const less = one(parts.filter((_, k) => k !== i).join('&'));
                assert.notDeepEqual(less, values, `${setup}: ${part}`);
            }
        }
});
test('the text of several setups is those, in their order, whatever the first of them changes', () => {
    const all = setups.flatMap((setup) => runsOf(lab, setup)).filter(({ task }) => task === 'mqar');
    assert.ok(all.length >= 6);
    for (let from = 0; from + 3 <= all.length; from++) {
        const some = [all[from], all[from + 2], all[from + 1]];
        for (const these of [some, [...some].reverse(), [some[0], some[0]]])
            if (these.every(({ mixers }) => mixers === these[0].mixers)) {
                assert.equal(page.unsaid(lab, these), null);
                assert.deepEqual(runsOf(lab, textOfAll(lab, these)), these);
            } else assert.match(page.unsaid(lab, these), /^no address holds these runs side by side/);
    }
    // What a run has of the first alone, it cannot take off.
    for (const [first, other, said] of [
        ['mixer=gla', 'mixers=cat,attention&blocks=2', false],
        ['mixers=cat,attention&blocks=2', 'mixer=gla', false],
        ['mixer=attention&blocks=2&block1.sliding=8', 'mixer=cat', false],
        ['mixers=cat,attention&blocks=2', 'mixers=attention,cat&blocks=2', true],
        ['mixer=gla&rate=0.5', 'mixer=cat', true],
    ])
        assert.equal(page.unsaid(lab, [one(first), one(other)]) === null, said, `${first} ~ ${other}`);
    const second = textOfAll(lab, runsOf(lab, `mixer=cat&${RECALL}&rate=0.5~rate=0.25~mixer=las`)).split('~');
    assert.equal(second[1], 'rate=0.25'); // what differs, no more
    assert.equal(second[2], 'mixer=las');
    assert.equal(textOfAll(lab, []), '');
});
test('a key that is set and taken back leaves nothing; another mixer keeps what was changed and knows the key', () => {
    const start = one(`mixer=cat&${RECALL}&seed=3`);
    for (const [key, value] of Object.entries({
        rate: '0.5',
        pairs: '3',
        norm: 'rms',
        filter: '5',
        steps: '7',
    })) {
        const other = changed(lab, start, key, value);
        assert.equal(other[key], value);
        const again = changed(lab, other, key, null);
        assert.equal(again[key], one('mixer=cat&task=mqar')[key], key);
        assert.deepEqual({ ...again, [key]: start[key] }, start, key);
    }
    const own = changed(lab, start, 'filter', '5');
    const las = changed(lab, own, 'mixer', 'las');
    assert.deepEqual(las, one(`mixer=las&${RECALL}&seed=3&filter=5`));
    const attention = changed(lab, own, 'mixer', 'attention');
    assert.deepEqual(attention, one(`mixer=attention&${RECALL}&seed=3`));
    const both = changedAll(lab, start, { mixer: 'las', rate: '0.125', seed: null });
    assert.deepEqual(both, one(`mixer=las&${RECALL}&rate=0.125`));
});
test('what tells runs apart: keys of their own, what all share once, and what is unlike in training', () => {
    const names = (all) => all.map((values) => page.badges(lab, all, values));
    let all = runsOf(lab, `mixer=cat&${RECALL}&filter=5&rate=0.5~mixer=las~rate=0.25`);
    assert.deepEqual(names(all), [['rate', 'filter'], ['rate'], ['rate', 'filter']]);
    assert.deepEqual(page.sharedChanges(lab, all), ['width', 'batch', 'steps']);
    assert.deepEqual(page.unlike(lab, all), ['rate']);
    assert.deepEqual(page.unlikeModels(lab, all), ['blocks', 'heads']); // LaS's recipe for recall
    all = runsOf(lab, `mixer=cat&${RECALL}&filter=5~mixer=las&width=16&decay=0.5~task=ar&mixer=attention`);
    assert.deepEqual(names(all), [
        ['width', 'filter'],
        ['width', 'decay'],
        ['width', 'batch', 'steps'],
    ]);
    assert.deepEqual(page.sharedChanges(lab, all.slice(0, 2)), ['batch', 'steps']);
    assert.deepEqual(page.sharedChanges(lab, all.slice(0, 1)), []);
    assert.deepEqual(page.unlike(lab, all.slice(0, 2)), ['rate', 'decay']);
    assert.deepEqual(page.unlikeModels(lab, all.slice(0, 2)), ['width', 'blocks', 'heads']);
});
test('as many runs as the page trains: six on a task, nine in all', () => {
    const of = (...counts) =>
        counts.flatMap((n, i) => Array(n).fill({ task: ['mqar', 'ar', 'nar'][i], mixer: 'cat' }));
    for (const fits of [of(), of(1), of(6), of(6, 3), of(3, 3, 3)]) assert.equal(page.tooMany(fits), null);
    assert.match(page.tooMany(of(7)), /^7 runs on one task were asked .* up to 6 on a task and 9 in all$/);
    assert.match(page.tooMany(of(1, 7)), /^7 runs on one task/);
    assert.match(page.tooMany(of(4, 3, 3)), /^10 runs were asked/);
});
test('MNIST: which key asks for it, what of it is here, and what stands in its place', () => {
    const digits = (more) => one(`mixer=cat&task=smnist${more}`);
    const known = [
        ['&data=mnist&images=6000', 'data', false],
        ['&data=mnist&images=6001', 'data', true],
        ['&data=mnist&images=1', 'data', false],
        ['&data=mnist&images=0', 'data', true],
        ['&data=digits&test=mnist', 'test', false],
        ['&data=digits', null, false],
        ['&data=digits&images=9000', null, false],
    ];
    for (const [more, key, beyond] of known) {
        const values = digits(more);
        assert.deepEqual([page.mnistKey(values), page.beyondPart(values)], [key, beyond], more);
        const part = page.partInstead(lab, values);
        assert.deepEqual(part, beyond ? { ...values, images: '6000' } : values, more);
        const drawn = page.drawnInstead(lab, values);
        assert.deepEqual([drawn.data, drawn.test, page.mnistKey(drawn)], ['digits', 'same', null], more);
        assert.deepEqual({ ...drawn, data: values.data, test: values.test }, values, more);
    }
    assert.ok(!page.offeredTasks(lab, digits('')).some(({ own }) => own));
    assert.ok(page.offeredTasks(lab, one('mixer=cat&task=own')).some(({ name }) => name === 'own'));
});

// ---- The address
test('the address says each thing that is looked at, and comes back; what it may not be is left out', () => {
    const two = {
        view: ['board', 'experiment'],
        speed: ['slow', 'full'],
        seeds: [3, 1],
        x: ['second', 'flop'],
        log: [1, 0],
        smooth: [0, 250],
        run: [5, 11],
        sample: [1, 123456789],
        block: [1, 10],
        head: [2, 100],
        detail: ['a.b,c:d;e-f_1', ''],
        draft: ['y = x @ w & 1 # a~b !go=1 %41 +\n', 'y = x'],
        residual: [0, 1],
        ghost: ['a.1e.ABab-_', ''],
        go: [1, 0],
        projector: [1, 0],
    };
    assert.deepEqual(Object.keys(two).sort(), Object.keys(VIEW).sort());
    const config = 'v=1&mixer=cat&task=mqar~rate=0.5';
    const read = (hash) => readAddress(hash);
    for (const [key, values] of Object.entries(two))
        for (const value of values) {
            const address = { config, view: { ...VIEW, [key]: value } };
            const text = writeAddress(address);
            assert.deepEqual(read(text), address, text);
            assert.deepEqual(read(text.replaceAll('!', '%21').replaceAll('~', '%7E')).config, config);
            assert.equal(text.includes(`!${key}=`), value !== VIEW[key], text);
        }
    const all = Object.fromEntries(Object.entries(two).map(([key, [value]]) => [key, value]));
    assert.deepEqual(read(writeAddress({ config, view: all })), { config, view: all });
    assert.equal(writeAddress({ config, view: VIEW }), `#${config}`);
    for (const wrong of [
        'view=A1',
        'speed=fast',
        'seeds=2',
        'x=years',
        'log=2',
        'smooth=1000',
        'run=100',
        'sample=-1',
        'block=x',
        'head=1e3',
        `detail=${'a'.repeat(401)}`,
        'detail=<b>',
        'draft=',
        'ghost=a b',
        'go=yes',
        'projector=2',
        'log=2&__proto__=1',
        'nothing=1',
    ])
        assert.deepEqual(
            read(`#${config}!${wrong}&residual=0`),
            { config, view: { ...VIEW, residual: 0 } },
            wrong,
        );
    assert.deepEqual(read(''), { config: '', view: VIEW });
    assert.deepEqual(read('#eq=a! b'), { config: 'eq=a! b', view: VIEW });
});

// ---- The runs

/** A pool whose runs are the engine's, here: `tell` lets those that play take so many steps, and reports. */
function pooled() {
    const jobs = new Map();
    const asked = { watched: null, closed: [], bytes: null };
    const admit = (id, make) => {
        try {
            const run = make();
            jobs.set(id, { ...page.jobOf(id, lab, run, 0), left: 0 });
            const { params, steps, flops, bytes, step } = run.metrics;
            return Promise.resolve({
                config: run.config,
                params,
                steps,
                flops,
                bytes: asked.bytes ?? bytes,
                step,
                warning: run.warning,
            });
        } catch (error) {
            return Promise.resolve({ problem: page.problemOf(error) });
        }
    };
    const pool = {
        cores: 2,
        open: (id, config) => admit(id, () => lab.open(config)),
        load: (id, bytes) => admit(id, () => lab.load(bytes)),
        close(id) {
            asked.closed.push(id);
            jobs.get(id)?.run.close();
            jobs.delete(id);
        },
        play: (ids, steps = Infinity) => ids.forEach((id) => jobs.has(id) && (jobs.get(id).left = steps)),
        pause: (ids) => (ids ?? [...jobs.keys()]).forEach((id) => jobs.has(id) && (jobs.get(id).left = 0)),
        save: (id) => Promise.resolve(jobs.get(id)?.run.save() ?? null),
        watch: (watch) => (asked.watched = watch),
        pace() {},
    };
    const tell = (n) => {
        const reports = [];
        for (const job of jobs.values()) {
            const steps = Math.min(n, job.left, job.steps - job.run.metrics.step);
            if (steps > 0) (job.run.step(steps), (job.left -= steps), (job.seconds += steps));
            page.evaluate(job);
            reports.push(page.reportOf(job, job.left > 0 && job.run.metrics.step < job.steps, 0));
        }
        page.listener.reports(reports);
    };
    return { pool, jobs, asked, tell };
}
const settled = () => new Promise(setImmediate);
/** The page with these runs, and nothing to be taken back. */
async function begun(config) {
    const made = pooled();
    page.connect(lab, made.pool);
    view.value = VIEW;
    page.undoable.value = null;
    runs.value = [];
    page.playing.value = false;
    assert.equal(
        page.attempt(() => runsOf(lab, config), 'the beginning'),
        null,
    );
    page.undoable.value = null;
    pushed = [];
    await settled();
    return made;
}
const tickets = () => runs.value.flatMap(({ members }) => members.map(({ ticket }) => ticket));
const steps = () => runs.value.flatMap(({ members }) => members.map(({ live }) => live.value.step));
const marksDiffer = () => {
    for (const group of page.groups.value)
        assert.equal(new Set(group.map(({ mark }) => mark)).size, group.length, 'marks on one task differ');
};
const inAddress = () => runsOf(lab, readAddress(location.hash).config);
const setupsNow = () => runs.value.map(({ values }) => values);
const THREE = `mixer=cat&${RECALL}~mixer=las~task=ar&mixer=attention`;

test('a change of a key is one of its run, of the runs on its task, or of all, as the key is; others go on', async () => {
    for (const [key, value, whose] of [
        ['rate', '0.5', [0]],
        ['width', '16', [0]],
        ['filter', '5', [0]],
        ['pairs', '3', [0, 1]],
        ['length', '32', [0, 1]],
        ['seed', '9', [0, 1, 2]],
    ]) {
        const { tell, jobs } = await begun(THREE);
        page.play();
        tell(5);
        const [before, was, marks] = [tickets(), setupsNow(), runs.value.map(({ mark }) => mark)];
        assert.deepEqual(steps(), [5, 5, 5]);
        assert.equal(page.setKey(runs.value[0], key, value), null);
        await settled();
        const wanted = was.map((values, i) =>
            whose.includes(i) ? changed(lab, values, key, value) : values,
        );
        assert.deepEqual(setupsNow(), wanted, key);
        assert.deepEqual(inAddress(), wanted);
        assert.equal(pushed.length, 1);
        for (const i of [0, 1, 2]) {
            assert.equal(tickets()[i] === before[i], !whose.includes(i), `${key}, run ${i}`);
            assert.equal(runs.value[i].mark, marks[i], 'an edited run keeps its mark');
        }
        tell(5);
        assert.deepEqual(
            steps(),
            [0, 1, 2].map((i) => (whose.includes(i) ? 5 : 10)),
            key,
        ); // also new ones play
        // Back, and done again: each as it was left.
        const after = tickets();
        page.undo();
        assert.deepEqual([setupsNow(), tickets()], [was, before]);
        assert.deepEqual(inAddress(), was);
        tell(5);
        assert.ok(steps().every((step) => step === 5 || step === 10));
        page.undo();
        assert.deepEqual([setupsNow(), tickets()], [wanted, after]);
        // Open are the runs and what can be taken back, nothing else, however often they change.
        const open = () => [...jobs.keys()].sort((a, b) => a - b);
        const held = () => [...new Set([...tickets(), ...before, ...after])].sort((a, b) => a - b);
        assert.deepEqual(open(), held());
        page.setKey(runs.value[1], 'rate', '0.125');
        await settled();
        assert.deepEqual(
            open(),
            [...new Set([...tickets(), ...after])].sort((a, b) => a - b),
        );
    }
});
test('runs that are too large to be kept beside others begin anew when they come back', async () => {
    for (const [bytes, step] of [
        [(256 << 20) / 2, 4],
        [(256 << 20) / 2 + 1, 0],
    ]) {
        const { tell, jobs, asked } = await begun(`mixer=cat&${RECALL}~mixer=las`);
        for (const { live } of runs.value) live.value = { ...live.value, bytes };
        asked.bytes = bytes;
        page.play();
        tell(4);
        page.reset();
        await settled();
        assert.equal(jobs.size, step ? 4 : 2);
        page.undo();
        await settled();
        assert.deepEqual(steps(), [step, step], `${bytes} bytes`);
        page.play();
        tell(2);
        assert.deepEqual(steps(), [step + 2, step + 2]);
        assert.ok(tickets().every((ticket) => jobs.has(ticket)));
    }
});
test('what is wrong changes nothing, and says so', async () => {
    const { asked } = await begun(THREE);
    const before = runs.value;
    assert.match(page.setKey(runs.value[0], 'width', '0').message, /width=0/);
    assert.match(page.addValues('mixer=nothing', 'it').message, /nothing/);
    for (let i = 0; i < 4; i++) assert.equal(page.addValues(`mixer=cat&${RECALL}&seed=${i + 2}`, 'it'), null);
    assert.match(page.addValues(`mixer=cat&${RECALL}&rate=0.5`, 'it').message, /^7 runs on one task/);
    assert.match(page.addValues('mixers=cat,gla&blocks=2&task=ar', 'it').message, /^no address holds/);
    assert.equal(runs.value.length, 7);
    assert.deepEqual(runs.value.slice(0, 3), before);
    assert.deepEqual(asked.closed, []);
    marksDiffer();
});
test('runs that are added, removed, moved to a task and trained alike: the others go on, marks differ, all comes back', async () => {
    const { tell } = await begun(`mixer=cat&${RECALL}&rate=0.5~mixer=las&rate=0.25&decay=0.5`);
    page.play();
    tell(4);
    const [cat, las] = runs.value;
    page.addRun();
    await settled();
    assert.deepEqual(runs.value.slice(0, 2), [cat, las]);
    assert.equal(runs.value[2].values.mixer, 'attention'); // the first mechanism that is not there
    assert.equal(runs.value[2].values.rate, las.values.rate);
    marksDiffer();
    page.setOwnTask(runs.value[2], 'ar');
    assert.deepEqual(
        runs.value.map(({ values }) => values.task),
        ['mqar', 'mqar', 'ar'],
    );
    assert.deepEqual(
        page.groups.value.map((group) => group.length),
        [2, 1],
    );
    view.value = { ...view.value, run: 2, ghost: 'a.1e.ABab' };
    page.removeRun(runs.value[2]);
    assert.deepEqual([view.value.run, view.value.ghost], [1, '']);
    assert.deepEqual(runs.value, [cat, las]);
    page.removeRun(cat);
    assert.deepEqual([runs.value, view.value.run], [[las], 0]);
    page.removeRun(las); // the last one stays
    assert.deepEqual(runs.value, [las]);
    page.undo();
    assert.deepEqual(runs.value, [cat, las]);
    assert.deepEqual(steps(), [4, 4]);
    page.trainAlike(runs.value);
    assert.equal(runs.value[0], cat);
    assert.deepEqual(
        runs.value[1].values,
        changedAll(lab, las.values, { rate: '0.5', decay: cat.values.decay }),
    );
    assert.deepEqual(page.unlike(lab, setupsNow()), []);
    assert.deepEqual(inAddress(), setupsNow());
});
test('more seeds: the first goes on, the others follow it; fewer; and back', async () => {
    const { tell } = await begun(`mixer=cat&${RECALL}&seed=4~mixer=las`);
    page.play();
    tell(3);
    const first = tickets();
    page.setView({ seeds: 3 });
    await settled();
    const seeds = () => runs.value.map(({ members }) => members.map(({ values }) => values.seed));
    assert.deepEqual(seeds(), [
        ['4', '5', '6'],
        ['4', '5', '6'],
    ]);
    assert.deepEqual(
        runs.value.map(({ ticket }) => ticket),
        first,
    );
    tell(3);
    assert.deepEqual(steps(), [6, 3, 3, 6, 3, 3]);
    // (While they go no digest is told.)
    assert.deepEqual(
        runs.value[0].members.map(({ live }) => live.value.digest),
        [null, null, null],
    );
    page.setView({ seeds: 1 });
    assert.deepEqual([seeds(), steps(), tickets()], [[['4'], ['4']], [6, 6], first]);
    page.undo();
    assert.deepEqual([view.value.seeds, steps()], [3, [6, 3, 3, 6, 3, 3]]);
});
test('start, pause, one step, the end and a reset: what trains, and to which bits', async () => {
    const { tell } = await begun(`mixer=cat&${RECALL}~mixer=las`);
    const own = runs.value.map(({ values }) => lab.open(textOf(lab, values)));
    const digests = () => runs.value.map(({ live }) => live.value.digest);
    const status = () => runs.value.map(({ live }) => live.value.status);
    assert.deepEqual(status(), ['ready', 'ready']);
    page.stepOnce();
    tell(9);
    for (const run of own) run.step(1);
    assert.deepEqual(
        [steps(), status()],
        [
            [1, 1],
            ['paused', 'paused'],
        ],
    );
    assert.deepEqual(
        digests(),
        own.map((run) => run.digest()),
    );
    page.play();
    tell(4);
    assert.deepEqual([steps(), status(), page.playing.value], [[5, 5], ['going', 'going'], true]);
    assert.deepEqual(digests(), [null, null]); // of which step?

    page.pause();
    tell(9);
    assert.deepEqual([steps(), status(), page.playing.value], [[5, 5], ['paused', 'paused'], false]);
    page.play();
    tell(100);
    for (const run of own) run.step(39);
    assert.deepEqual(
        [steps(), status()],
        [
            [40, 40],
            ['done', 'done'],
        ],
    );
    assert.deepEqual(
        digests(),
        own.map((run) => run.digest()),
    );
    assert.deepEqual([page.playing.value, page.said.value], [false, 'All runs are done.']);
    assert.deepEqual(runs.value[1].history.losses, own[1].losses());
    const kept = await Promise.all(runs.value.map(({ members }) => page.savedOf(members[0])));
    for (const [i, { bytes, losses, points, seconds }] of kept.entries()) {
        assert.equal(lab.load(bytes).digest(), own[i].digest());
        assert.deepEqual([losses, points.at(-1).step, seconds], [own[i].losses(), 40, 40]);
    }
    const done = tickets();
    page.play(); // beyond the end: from the start
    await settled();
    assert.deepEqual(
        [steps(), runs.value.map(({ history }) => history.losses.length)],
        [
            [0, 0],
            [0, 0],
        ],
    );
    page.undo();
    assert.deepEqual([tickets(), steps()], [done, [40, 40]]);
    // Saved runs in the place of all: from where they were, with what they had gone through.
    const config = textOfAll(lab, setupsNow().reverse());
    assert.equal(
        page.resume(
            config,
            1,
            kept.reverse().map((one) => [one]),
        ),
        null,
    );
    await settled();
    assert.deepEqual(
        [steps(), status()],
        [
            [40, 40],
            ['done', 'done'],
        ],
    );
    assert.deepEqual(
        runs.value.map(({ history }) => history.losses),
        own.map((run) => run.losses()).reverse(),
    );
    marksDiffer();
    // A file: one run more, and a reset leads to it.
    const early = lab.open(`mixer=gla&${RECALL}`);
    early.step(7);
    assert.equal(await page.addSaved(early.save(), 'mine.safetensors'), null);
    await settled();
    assert.deepEqual([view.value.run, runs.value[2].live.value.step], [2, 7]);
    assert.match(page.nameOf(runs.value[2]), /mine\.safetensors$/);
    marksDiffer();
    page.play();
    tell(3);
    assert.equal(runs.value[2].live.value.step, 10);
    page.reset();
    await settled();
    assert.deepEqual(steps(), [0, 0, 7]);
    assert.match(await page.addSaved(new Uint8Array(9), 'x'), /./);
    assert.equal(runs.value.length, 3);
});
test('a worker that dies takes its runs, and no others', async () => {
    const { tell } = await begun(THREE);
    page.play();
    tell(2);
    page.listener.lost([tickets()[1]], 'it ended');
    assert.deepEqual(
        runs.value.map(({ live }) => live.value.status),
        ['going', 'failed', 'going'],
    );
    assert.match(page.said.value, /stopped: its worker stopped: it ended$/);
    page.restart([runs.value[1]]);
    await settled();
    assert.deepEqual(steps(), [2, 0, 2]);
    tell(2);
    assert.deepEqual(steps(), [4, 2, 4]); // it goes where the others do
});
test('what is said: names that differ, the first seed that is there, and what is watched', async () => {
    const { asked } = await begun(`mixer=cat&${RECALL}~mixer=cat~mixer=las`);
    const names = runs.value.map((entry) => page.nameOf(entry));
    assert.equal(new Set(names).size, 3);
    assert.equal(names[1], `${names[0]} (2)`);
    page.setView({ seeds: 3 });
    await settled();
    const right = {
        ...lab.open(`mixer=cat&${RECALL}`).evaluate({ count: 4 }),
        accuracy: 1,
        step: 10,
        seconds: 1,
    };
    const told = ({ ticket }) =>
        page.listener.reports([
            {
                id: ticket,
                at: 0,
                step: 10,
                from: 10,
                losses: new Float32Array(0),
                points: [right],
                seconds: 1,
                digest: null,
                state: 'still',
                problem: null,
            },
        ]);
    page.said.value = '';
    const [first, second] = runs.value[2].members;
    told(second);
    assert.equal(page.said.value, '');
    told(first);
    assert.equal(page.said.value, `${names[2]} reached 100.0 % at step 10.`);
    // What is looked into: outside the views of the inside, the run as it is.
    const change = [{ name: 'embedding', at: 0, data: new Float32Array(1) }];
    view.value = { ...view.value, run: 1, sample: 5, block: 1 };
    page.edits.value = change;
    page.typed.value = [1, 2];
    const { ticket: id } = runs.value[1];
    const plain = { id, index: 5, tokens: null, edits: [], block: 1, at: null, detail: false };
    page.follow();
    assert.deepEqual(asked.watched, plain);
    for (const at of [null, 7]) {
        page.inspecting.value = { at };
        page.follow();
        assert.deepEqual(asked.watched, { ...plain, tokens: [1, 2], edits: change, at, detail: true });
    }
    page.inspecting.value = null;
    for (const [of, shown] of [
        [id, true],
        [runs.value[0].ticket, false],
    ]) {
        page.look.value = null;
        page.listener.look({ id: of });
        assert.equal(page.look.value !== null, shown);
    }
});
