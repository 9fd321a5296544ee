// page_worker.test.mjs: the page's worker without a page: its host is driven in Node by a clock of its own,
// and every number that it tells is compared with one that a run of the test's own gives. No browser.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { load } from '../../build/wasm/seqmix.js';
import { loadVerify } from '../../build/wasm/verify.js';
import { hosting, pageModule } from './in_node.mjs';

const { Host, Writer, connect, listener, recited, runsOf, trainAll, trials } = await pageModule(
    'state/page',
    'state/queue',
    'state/reports',
    'state/setup',
    'training/host',
    'training/lengths',
    'training/remembering',
    'training/writing',
);
const bytes = await readFile(new URL('../../build/wasm/seqmix-whole.wasm', import.meta.url));
const module = await WebAssembly.compile(bytes);
const lab = await load({ wasm: module });
const RECALL = 'mixer=cat&task=mqar&length=16&vocab=16&pairs=2&width=8&batch=4';
const TEXT = 'mixer=gla&task=charlm&length=16&width=8&batch=2';

const hosted = hosting(Host, module);
const words = (losses) => [...losses];
/** A run of the test's own after so many steps. */
function trained(config, steps) {
    const run = lab.open(config);
    run.step(steps);
    return run;
}
/** 512 answers: so many sequences of RECALL, whose 8 first ones have 2 each. */
const SEQUENCES = 256;

for (const steps of [23, 20, 7])
    test(`a training of ${steps} steps is tried at its beginning, every tenth step and its last, and told whole`, async () => {
        const { host, of, last, done } = await hosted();
        const opened = await host.open(1, `${RECALL}&steps=${steps}`);
        host.play([1]);
        await done(1);
        const at = [...new Set([0, ...[10, 20].filter((step) => step <= steps), steps])];
        const points = of(1).flatMap((report) => report.points);
        assert.deepEqual(
            points.map(({ step }) => step),
            at,
        );
        const own = lab.open(`${RECALL}&steps=${steps}`);
        assert.equal(opened.config, own.config);
        assert.equal(opened.params, own.metrics.params);
        assert.deepEqual([opened.steps, opened.step, opened.warning], [steps, 0, '']);
        for (const [i, step] of at.entries()) {
            own.step(step - own.metrics.step);
            const { seconds, step: _, ...found } = points[i];
            assert.deepEqual(found, own.evaluate({ count: SEQUENCES }));
            assert.ok(i === 0 ? seconds === 0 : seconds > points[i - 1].seconds);
        }
        let next = 0;
        for (const { from, losses } of of(1)) {
            assert.equal(from, next);
            next += losses.length;
        }
        assert.deepEqual(
            of(1).flatMap(({ losses }) => words(losses)),
            words(own.losses()),
        );
        assert.equal(last(1).digest, own.digest());
        assert.equal(last(1).step, steps);
        assert.ok(
            of(1)
                .slice(0, -1)
                .every(({ state, digest }) => (state === 'going') === (digest === null)),
        );
        assert.deepEqual(last(1).snapshots, at.slice(1).length ? [0, ...at.slice(1)] : [0]);
        // seconds of training are those of its steps alone: two looks at the clock each
        assert.ok(Math.abs(last(1).seconds - (steps * 0.25) / 1000) < 1e-9, `${last(1).seconds}`);
        own.close();
    });

/** A checkpoint as an earlier version wrote it: without losses, and without a checksum. */
function older(file) {
    const size = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + size)));
    const data = file.subarray(8 + size);
    const kept = [];
    let at = 0;
    for (const [name, tensor] of Object.entries(header)) {
        if (name === '__metadata__') {
            delete tensor.checksum;
            tensor.format = 'seqmix';
            continue;
        }
        if (/loss/.test(name)) {
            delete header[name];
            continue;
        }
        const [from, to] = tensor.data_offsets;
        kept.push(data.subarray(from, to));
        tensor.data_offsets = [at, at + to - from];
        at += to - from;
    }
    let text = JSON.stringify(header);
    text += ' '.repeat(-text.length & 7);
    const made = new Uint8Array(8 + text.length + at);
    new DataView(made.buffer).setBigUint64(0, BigInt(text.length), true);
    made.set(new TextEncoder().encode(text), 8);
    let to = 8 + text.length;
    for (const part of kept) {
        made.set(part, to);
        to += part.length;
    }
    return made;
}

test('a run that is loaded goes on from its step, its seconds and its losses', async () => {
    const saved = trained(`${RECALL}&steps=12`, 7);
    const whole = trained(`${RECALL}&steps=12`, 12);
    for (const [file, base] of [
        [saved.save(), 0],
        [older(saved.save()), 7],
    ]) {
        const { host, of, last, done } = await hosted();
        const opened = await host.load(3, file, 5);
        assert.equal(opened.step, 7, JSON.stringify(opened));
        host.play([3]);
        await done(3);
        assert.equal(of(3)[0].from, base);
        const losses = of(3).flatMap((report) => words(report.losses));
        assert.deepEqual(losses, words(whole.losses()).slice(base));
        assert.deepEqual(
            of(3).flatMap(({ points }) => points.map(({ step }) => step)),
            [7, 10, 12],
        );
        assert.equal(of(3)[0].points[0].seconds, 5);
        assert.ok(Math.abs(last(3).seconds - 5 - (5 * 0.25) / 1000) < 1e-9);
        assert.equal(last(3).digest, whole.digest());
    }
});

test('so many steps, and then it stands still; a pause, and on', async () => {
    const { host, last, until } = await hosted();
    await host.open(1, `${RECALL}&steps=100000`);
    host.play([1], 3);
    await until(() => last(1)?.state === 'still' && last(1).step === 3);
    assert.equal(last(1).digest, trained(`${RECALL}&steps=100000`, 3).digest());
    host.play([1], 1);
    await until(() => last(1).step === 4 && last(1).state === 'still');
    host.play([1]);
    host.pause([2]); // another's
    await until(() => last(1).step > 4);
    host.pause();
    await until(() => last(1).state === 'still');
    const { step } = last(1);
    await new Promise((soon) => setTimeout(soon, 20));
    assert.equal(last(1).step, step);
    host.play([1]);
    await until(() => last(1).step > step);
    host.close(1);
});

test('a pace is kept: of one run, of all, and none is made up for', async () => {
    for (const [all, own, wanted] of [
        [100, null, 100],
        [100, 50, 50],
        [Infinity, 200, 200],
    ]) {
        const { host, clock, last, until } = await hosted({ tick: 0.01 });
        await host.open(1, `${RECALL}&steps=100000`);
        host.pace(all);
        const start = clock.t;
        host.play([1], Infinity, own);
        await until(() => clock.t - start > 1000);
        host.pause();
        await until(() => last(1)?.state === 'still');
        const pace = (1000 * last(1).step) / (clock.t - start);
        assert.ok(pace > 0.85 * wanted && pace < 1.1 * wanted, `${pace} steps a second for ${wanted}`);
    }
});

test('runs take turns by the time that they had, and a late one is not owed any', async () => {
    const { host, last, until } = await hosted();
    await host.open(1, `${RECALL}&steps=100000`);
    host.play([1]);
    await until(() => last(1)?.step >= 300);
    await host.open(2, `${RECALL}&steps=100000&seed=2`);
    const before = last(1).step;
    host.play([2]);
    await until(() => last(2)?.step >= 300);
    const had = last(1).step - before;
    assert.ok(had > 150 && had < 600, `${had} steps beside 300`);
    host.pause();
});

test('no more than one report in 100 ms', async () => {
    const { host, of, done } = await hosted();
    await host.open(1, `${RECALL}&steps=200`);
    host.play([1]);
    await done(1);
    const at = of(1).map((report) => report.at);
    assert.ok(at.length > 2);
    for (let i = 1; i < at.length; i++) assert.ok(at[i] - at[i - 1] >= 100, `${at[i] - at[i - 1]} ms`);
});

test('other lengths are those of the task, with the numbers of an evaluation at each', async () => {
    const { host, of, done, until } = await hosted();
    await host.open(1, `${RECALL}&steps=6`);
    host.play([1]);
    await done(1);
    host.tryLengths(true);
    const own = trained(`${RECALL}&steps=6`, 6);
    const wanted = trials(lab.values(own.config)[0]);
    assert.deepEqual(
        wanted.map(({ length }) => length),
        [8, 16, 32, 64, 128, 256, 512, 1024],
    );
    assert.deepEqual(wanted.map(({ changes }) => changes).slice(0, 3), [
        'length=8&pairs=1',
        'length=16&pairs=2',
        'length=32&pairs=4',
    ]);
    const found = () => of(1).flatMap(({ lengths }) => lengths);
    await until(() => found().length >= wanted.length);
    for (const [i, { length, changes, answers }] of wanted.entries()) {
        const point = found()[i];
        assert.deepEqual([point.length, point.step, point.problem], [length, 6, null]);
        const count = 32 * Math.max(1, Math.round(256 / (32 * answers)));
        assert.deepEqual(point.result, own.evaluate({ count, changes }));
    }
    await new Promise((soon) => setTimeout(soon, 50));
    assert.equal(found().length, wanted.length); // none twice at one step
});

test('what is asked of a run is what the run says: samples, other weights, confusion, tries', async () => {
    const { host, told, until } = await hosted();
    await host.open(1, `${RECALL}&steps=12`);
    host.play([1], 12);
    await until(() => told.at(-1)?.reports.at(-1)?.state === 'done');
    const own = trained(`${RECALL}&steps=12`, 12);
    const watch = { id: 1, index: 3, tokens: null, block: 0, detail: true, at: null, edits: [] };
    const plain = (look) => ({ ...look.sample, map: look.map && [...look.map] });
    const mine = (run) => {
        const sample = run.look(3);
        return { ...sample, map: [...run.tensor('block0.mixer.map').data] };
    };
    assert.deepEqual(plain(host.ask(watch)), mine(own));
    assert.equal(host.ask(watch).step, 12);
    const names = host.ask(watch).tensors.map(({ name }) => name);
    assert.ok(
        names.includes('embedding') && names.includes('grad:embedding') && names.includes('block0.mixer.q'),
    );
    // with other weights, and then its own again
    const edited = new Float32Array(own.tensor('block0.mixer.filter_q').data.length).fill(0.5);
    const digest = own.digest();
    const edits = [{ name: 'block0.mixer.filter_q', at: 0, data: edited }];
    const found = host.try(1, 40, 'pairs=1', edits);
    const usual = host.try(1, 40, '', []);
    const kept = own.tensor('block0.mixer.filter_q').data.slice();
    assert.deepEqual(usual, own.evaluate({ count: 40 }));
    own.setWeight('block0.mixer.filter_q', edited);
    assert.deepEqual(found, own.evaluate({ count: 40, changes: 'pairs=1' }));
    assert.deepEqual(plain(host.ask({ ...watch, edits })), mine(own));
    own.setWeight('block0.mixer.filter_q', kept);
    assert.equal(lab.load(host.save(1)).digest(), digest);
    // confusion
    own.evaluate({ count: 50 });
    assert.deepEqual(host.confusion(1, 50), { counts: own.confusion(), step: 12 });
    // an earlier step
    told.length = 0;
    host.watch({ ...watch, at: 9 });
    await until(() => told.at(-1)?.look);
    const early = trained(`${RECALL}&steps=12`, 10); // the kept step nearest to it
    assert.equal(told.at(-1).look.step, 10);
    assert.deepEqual(plain(told.at(-1).look), mine(early));
    for (const ask of [
        () => host.ask({ ...watch, id: 9 }),
        () => host.try(9, 1, '', []),
        () => host.see(9, 0),
        () => host.write(9, {}),
        () => host.recite(9, 0),
    ])
        assert.equal(ask().problem.message, 'this run is not open');
    assert.equal(host.confusion(9, 1), null);
    assert.match((await host.open(2, `${RECALL}&width=0`)).problem.message, /width/);
    host.close(1);
    assert.equal(host.ask(watch).problem.message, 'this run is not open');
});

test('a text goes on as the state of a run does, token by token, with the surprise of each', async () => {
    const run = trained(`${TEXT}&steps=9`, 3);
    const writer = new Writer();
    let read = [...new TextEncoder().encode('First')];
    for (let round = 0; round < 3; round++) {
        const seed = 11;
        const written = writer.go(run, { read, count: 4, temperature: 0.7, seed });
        const state = run.state();
        state.push(read);
        const tokens = [];
        const bits = [];
        for (let i = 0; i < 4; i++) {
            const [token] = state.draw({ temperature: 0.7, seed });
            tokens.push(token);
            bits.push(-Math.log2(state.odds()[token]));
            state.push([token]);
        }
        assert.deepEqual(written.tokens, tokens);
        assert.deepEqual(written.bits, bits);
        const odds = state.odds();
        const likeliest = [...odds.keys()].sort((a, b) => odds[b] - odds[a]).slice(0, 5);
        assert.deepEqual(
            written.likeliest,
            likeliest.map((token) => ({ token, odds: odds[token] })),
        );
        const { rows, bytes } = state.form;
        assert.deepEqual(
            [written.rows, written.bytes, written.step, written.most],
            [rows, bytes, 3 + round, null],
        );
        state.close();
        read = [...read, ...tokens];
        if (round === 1) read = [...read, 65, 66]; // somebody wrote into it
        run.step(1); // and the weights moved on
    }
    writer.close();
    assert.equal(
        new Set(
            [1, 2, 3, 4].map((seed) =>
                new Writer().go(run, { read, count: 8, temperature: 1, seed }).tokens.join(),
            ),
        ).size,
        4,
    );
    assert.notDeepEqual(
        new Writer().go(run, { read, count: 12, temperature: 2, seed: 1 }).tokens,
        new Writer().go(run, { read, count: 12, temperature: 0.2, seed: 1 }).tokens,
    );
    run.close();
});

test('a text of a model whose memory grows, and of one whose positions end', () => {
    const grows = trained('mixer=attention&task=charlm&length=16&width=8&batch=2&steps=5', 2);
    const text = [...new TextEncoder().encode('First Citizen')];
    const written = new Writer().go(grows, { read: text, count: 3, temperature: 1, seed: 5 });
    assert.deepEqual([written.rows, written.most], [16, 256]);
    const ends = trained('mixer=attention&position=learned&task=charlm&length=16&width=8&batch=2&steps=5', 2);
    const long = Array.from({ length: 40 }, (_, i) => 65 + (i % 26));
    const last = new Writer().go(ends, { read: long, count: 5, temperature: 1, seed: 5 });
    assert.deepEqual([last.rows, last.most, last.tokens.length], [16, 16, 5]);
    const state = ends.state({ most: 16 });
    state.push(long.slice(-11));
    assert.equal(last.tokens[0], state.draw({ temperature: 1, seed: 5 })[0]);
});

test('a sample out of its own answers: each row reads the answer before where it was to be that', () => {
    const run = trained('mixer=cat&task=sc&length=24&vocab=8&width=8&batch=4&steps=5&slots=emitted', 3);
    const { read, own, answers, targets, rows } = recited(run, 2);
    const { tokens, targets: wanted, length, classes } = run.look(2);
    assert.deepEqual([rows, targets], [length, [...wanted]]);
    assert.ok(own.some(Boolean) && !own.every(Boolean));
    for (let i = 0; i < length; i++) {
        assert.equal(own[i], i > 0 && wanted[i - 1] >= 0 && tokens[i] === wanted[i - 1], `row ${i}`);
        assert.equal(read[i], own[i] ? answers[i - 1] : tokens[i], `row ${i}`);
    }
    run.predict(read);
    const logits = run.tensor('logits').data;
    for (let i = 0; i < length; i++) {
        const row = [...logits.slice(i * classes, (i + 1) * classes)];
        assert.equal(answers[i], row.indexOf(Math.max(...row)), `row ${i}`);
    }
});

/** What the view Equations asks of each scan of a text. */
async function scansOf(config) {
    const verify = await loadVerify(await readFile(new URL('../../build/wasm/verify.wasm', import.meta.url)));
    const scans = verify.equationSteps(config).steps.filter(({ states }) => states.length > 0);
    return scans.map(({ name, states }, i) => ({
        name,
        states,
        nth: scans.slice(0, i).filter((s) => !s.name).length,
    }));
}
const asText = (text) => `mixer=equations&eq=${encodeURIComponent(text)}`;
const near = (found, wanted, what) => {
    assert.equal(found.length, wanted.length, what);
    const most = Math.max(...wanted.map(Math.abs));
    assert.ok(most > 0, what);
    wanted.forEach((v, i) =>
        assert.ok(Math.abs(found[i] - v) <= 2e-6 * most, `${what}, number ${i}: ${found[i]}, not ${v}`),
    );
};

// Matrices whose rows lie apart from each other, a vector, a scalar, heads that lie side by side, scans with
// and without a name, in two blocks: against loops in double over what the model's own tensors say.
const STATES = `k = unitnorm_heads(conv(x @ w_k, f))
v = x @ w_v[2 * 19]
b = sigmoid(x @ w_b[heads])
scan S[k][v], n[k], m over k, v, b
    S = S + outer(k, b * (v - k @ S))
    n = 0.5 * n + k
    m = max(m, b)
    o = k @ S
    u = dot(n, k) + m
scan h over o by columns
    h = 0.75 * h + o
scan c over u
    c = 0.5 * c + u
y = h @ w_o[width] + u @ w_u[width] + c @ w_c[width]`;
const MODEL = 'task=mqar&length=16&vocab=16&pairs=2&width=12&heads=2&blocks=2&batch=4';

/** [rows][heads][..] of each state of the three scans, in double. */
function statesInDouble({ k, v, b }, length, [H, K, V]) {
    const all = { S: [], n: [], m: [], h: [], c: [] };
    const zeros = (n) => new Array(n).fill(0);
    let [S, n, m, h, c] = [zeros(H * K * V), zeros(H * K), zeros(H), zeros(H * V), zeros(H)];
    for (let t = 0; t < length; t++) {
        [S, n, m, h, c] = [[...S], [...n], [...m], [...h], [...c]];
        for (let head = 0; head < H; head++) {
            const key = (i) => k[(t * H + head) * K + i];
            const beta = b[t * H + head];
            const read = (j) => zeros(K).reduce((sum, _, i) => sum + key(i) * S[(head * K + i) * V + j], 0);
            const said = zeros(V).map((_, j) => read(j));
            for (let i = 0; i < K; i++)
                for (let j = 0; j < V; j++)
                    S[(head * K + i) * V + j] += key(i) * beta * (v[(t * H + head) * V + j] - said[j]);
            for (let i = 0; i < K; i++) n[head * K + i] = 0.5 * n[head * K + i] + key(i);
            m[head] = Math.max(m[head], beta);
            for (let j = 0; j < V; j++) h[head * V + j] = 0.75 * h[head * V + j] + read(j);
            const u = zeros(K).reduce((sum, _, i) => sum + n[head * K + i] * key(i), m[head]);
            c[head] = 0.5 * c[head] + u;
        }
        Object.entries({ S, n, m, h, c }).forEach(([name, now]) => all[name].push(now));
    }
    return all;
}

test("a scan's states after each row are those of loops in double, in each block, head and scan", async () => {
    const config = `${MODEL}&steps=9&${asText(STATES)}`;
    const { host, done } = await hosted();
    assert.equal((await host.open(1, config)).problem, undefined);
    host.play([1]);
    await done(1);
    const scans = await scansOf(config);
    assert.deepEqual(
        scans.map(({ name, nth, states }) => [name, nth, ...states.map(({ shape }) => shape)]),
        [
            ['', 0, [2, 6, 19], [2, 6], [2]],
            ['h', 1, [38]],
            ['c', 1, [2]],
        ],
    );
    for (const block of [0, 1]) {
        const look = { id: 1, index: 3, tokens: null, edits: [], block, at: null, detail: true };
        const { tensors, sample } = host.ask(look);
        const at = (name) => tensors.find((one) => one.name === `block${block}.mixer.${name}`).data;
        const wanted = statesInDouble({ k: at('k'), v: at('v'), b: at('b') }, 16, [2, 6, 19]);
        for (const head of [0, 1])
            for (const scan of scans) {
                const read = host.scan({ id: 1, index: 3, block, head, ...scan });
                assert.deepEqual(read.tokens, [...sample.tokens]);
                assert.deepEqual(
                    [read.step, read.rows, read.length, read.blocks, read.block],
                    [9, 16, 16, 2, block],
                );
                scan.states.forEach(({ name, shape }, i) => {
                    const size = shape.slice(1).reduce((a, b) => a * b, 1);
                    const own = (now) =>
                        shape.length === 1 ? now : now.slice(head * size, (head + 1) * size);
                    near(
                        read.states[i].data,
                        wanted[name].flatMap(own),
                        `${name}, block ${block}, head ${head}`,
                    );
                });
            }
    }
    const [first] = scans;
    assert.equal(host.scan({ id: 1, index: 3, block: 7, head: 0, ...first }).block, 1);
    assert.match(host.scan({ id: 2, index: 3, block: 0, head: 0, ...first }).problem.message, /not open/);
});

test('of a large state the first rows and columns, of a long sample the first rows; what sees ahead has none', async () => {
    // Every input is 1: h_t = 2 - 2^-t, to the bit.
    const text = (more) => `one = exp(x * 0)
scan h[one], S[one][one], T[one][one], U[one][one] over one
    h = 0.5 * h + one
    S = S + outer(one, one)
    T = S + S
    U = T + S
y = h @ w_o${more}`;
    const model = 'task=charlm&length=360&width=72&heads=1&batch=1';
    const { host } = await hosted();
    const [scan] = await scansOf(`${model}&${asText(text(''))}`);
    await host.open(1, `${model}&${asText(text(''))}`);
    const { rows, length, states } = host.scan({ id: 1, index: 0, block: 0, head: 0, ...scan });
    const most = Math.floor(2 ** 22 / (64 + 3 * 64 * 64)); // numbers that are handed over
    assert.deepEqual([rows, length], [most, 360]);
    assert.deepEqual(
        states.map(({ down, across }) => [down, across]),
        [
            [1, 64],
            [64, 64],
            [64, 64],
            [64, 64],
        ],
    );
    for (let t = 0; t < rows; t++) {
        assert.equal(states[0].data[t * 64 + 63], Math.fround(2 - 2 ** -t), `row ${t}`);
        for (const i of [1, 2, 3])
            assert.equal(states[i].data[(t * 64 + 63) * 64 + 63], i * (t + 1), `row ${t}`);
    }
    const ahead = asText(text(' + attention(one, one, one, causal=no)'));
    await host.open(2, `${model.replace('360', '16')}&${ahead}`);
    assert.match(host.scan({ id: 2, index: 0, block: 0, head: 0, ...scan }).problem.message, /causal/);
});

/** Four short trainings in a queue of two workers. `lost`: no checkpoint of the first is to be had. */
async function queued({ mayWait, lost = false }) {
    const seats = [];
    for (let i = 0; i < 2; i++) {
        const { host, until } = await hosted({ tick: 10, hears: ({ reports }) => listener.reports(reports) });
        seats.push({ host, until, ids: new Set() });
    }
    const seat = (id) => seats.find(({ ids }) => ids.has(id));
    const admit = (id, open) => {
        const [one] = seats.toSorted((a, b) => a.ids.size - b.ids.size);
        one.ids.add(id);
        return open(one.host);
    };
    let [saves, loads] = [0, 0];
    connect(lab, {
        cores: 2,
        open: (id, config) => admit(id, (host) => host.open(id, config)),
        load(id, bytes, seconds) {
            assert.ok(
                all.every(({ status, saved }) => status !== 'waiting' || saved.length),
                'all others have begun',
            );
            loads++;
            return admit(id, (host) => host.load(id, bytes, seconds));
        },
        play: (ids, steps, pace) => ids.forEach((id) => void seat(id).host.play([id], steps, pace)),
        pause: (ids) => ids.forEach((id) => seat(id).host.pause([id])),
        save: (id) => Promise.resolve(lost && saves++ === 0 ? null : (seat(id)?.host.save(id) ?? null)),
        close: (id) => (seat(id)?.host.close(id), seat(id)?.ids.delete(id)),
        watch() {},
    });
    const most = { going: 0 };
    const all = [1, 2, 3, 4].map((seed) => ({
        values: runsOf(lab, `${RECALL}&steps=60&seed=${seed}`)[0],
        mark: { colour: '--run-1', dash: [], shape: 'circle' },
        why: '',
        entry: null,
        saved: [],
        status: 'waiting',
        steps: [],
    }));
    const stop = trainAll(all, {
        news(trial, { live, history }) {
            most.going = Math.max(most.going, all.filter(({ status }) => status === 'going').length);
            trial.steps.push(live.value.step);
            trial.digest = live.value.digest;
            trial.losses = [...history.losses];
        },
        mayWait,
        changed() {},
    });
    return { all, most, seats, stop, loads: () => loads, until: seats[0].until };
}
const own = (seed) => trained(`${RECALL}&steps=60&seed=${seed}`, 60);

for (const lost of [false, true])
    test(`a queue: what may wait makes way for what has not begun, and ends in the same bits${lost ? '; begins anew where its worker went' : ''}`, async () => {
        let asked = 0; // (were it asked of one again and again, the queue would never end)
        const mayWait = (_, { live }) => live.value.step >= 20 && asked++ < 12;
        const { all, most, seats, loads, until } = await queued({ mayWait, lost });
        await until(() => all.every(({ steps }) => steps.at(-1) > 0));
        const early = all.filter(({ status, saved }) => status === 'waiting' && saved.length);
        assert.ok(early.length >= 1 && early.every(({ steps }) => steps.at(-1) < 60), 'they made way');
        await until(() => all.every(({ status }) => status === 'done'));
        assert.equal(most.going, 2, 'two at a time');
        assert.ok(loads() >= early.length && loads() < 4, `${loads()} went on`);
        for (const [i, { digest, losses, steps }] of all.entries()) {
            assert.equal(digest, own(i + 1).digest());
            assert.equal(losses.length, 60);
            assert.equal(steps.at(-1), 60);
            const again = steps.some((step, at) => at > 0 && step < steps[at - 1]);
            assert.equal(again, lost && i === 0, `${steps}`);
        }
        for (const { ids } of seats) assert.equal(ids.size, 0, 'none is left in a worker');
    });

for (const when of ['waits', 'makes way'])
    test(`a queue: what ${when}, too, is stopped`, async () => {
        let asked = () => {};
        const { all, seats, stop, until } = await queued({
            mayWait(_, { live }) {
                if (live.value.step < 20) return false;
                asked();
                return true;
            },
        });
        if (when === 'waits')
            await until(() => all.some(({ status, saved }) => status === 'waiting' && saved.length));
        else await new Promise((heard) => (asked = () => heard(stop())));
        stop();
        const then = all.map(({ steps }) => steps.at(-1) ?? 0);
        for (let i = 0; i < 200; i++) await new Promise(setImmediate);
        assert.ok(all.every(({ status, entry }) => ['failed', 'done'].includes(status) && entry === null));
        assert.deepEqual(
            all.map(({ steps }) => steps.at(-1) ?? 0),
            then,
        );
        for (const { ids } of seats) assert.equal(ids.size, 0);
    });
