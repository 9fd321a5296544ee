// page_host.test.mjs: what a worker's host gives how much of its time and memory to, which files it hands to
// whom, what it keeps of earlier steps. Driven in Node by a clock of the test's. No browser.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { load } from '../../build/wasm/seqmix.js';
import { hosting, pageModule } from './in_node.mjs';

const { Host, Run, Snapshots, Writer } = await pageModule(
    '../wasm/loader/run',
    'training/host',
    'training/seeing',
    'training/writing',
);
const bytes = await readFile(new URL('../../build/wasm/seqmix-whole.wasm', import.meta.url));
const module = await WebAssembly.compile(bytes);
const lab = await load({ wasm: module });
const hosted = hosting(Host, module);
const RECALL = 'mixer=cat&task=mqar&length=16&vocab=16&pairs=2&width=8&batch=4';
function trained(config, steps, of = lab) {
    const run = of.open(config);
    run.step(steps);
    return run;
}

test('a try takes as many sequences as give 512 answers, or can be afforded, and 16 at least', async () => {
    const found = new Set();
    for (const [config, bound] of [
        [RECALL, 'answers'],
        ['mixer=cat&task=mqar&length=256&width=64&blocks=2&batch=2', 'products'],
        ['mixer=attention&task=mqar&length=512&width=256&blocks=2&batch=1', 'least'],
        ['mixer=ema&task=listops&width=8&batch=2&length=64', 'most'],
    ]) {
        const { host, of, until } = await hosted();
        await host.open(1, config);
        await until(() => of(1).length > 0);
        const own = lab.open(config);
        const { targets, sequences } = own.evaluate({ count: 8 });
        const answers = Math.ceil((512 * sequences) / targets);
        const products = Math.floor(1e9 / (own.metrics.flops / (3 * own.batch.sequences)));
        const wanted = Math.max(16, Math.min(512, answers, products));
        assert.equal({ answers, products, least: 16, most: 512 }[bound], wanted, config);
        const [{ sequences: tried, loss }] = of(1)[0].points;
        assert.equal(tried, wanted, config);
        assert.equal(loss, own.evaluate({ count: wanted }).loss);
        found.add(wanted);
        own.close();
    }
    assert.equal(found.size, 4);
});
test('a run of a queue is tried some thirty times, at whole tens of steps, and at its end', async () => {
    for (const [steps, every] of [
        [300, 10],
        [301, 20],
        [1000, 40],
        [45, 10],
    ]) {
        const { host, of, done } = await hosted({ tick: 0.01 });
        await host.open(1, `${RECALL}&steps=${steps}`);
        host.play([1], Infinity, Infinity);
        await done(1);
        const at = Array.from({ length: Math.floor(steps / every) + 1 }, (_, i) => i * every);
        if (steps % every) at.push(steps);
        assert.deepEqual(
            of(1).flatMap(({ points }) => points.map(({ step }) => step)),
            at,
        );
    }
});
test('a length that is refused is tried once, and said; the others again as the run goes on', async () => {
    const all = [16, 32, 64, 128, 256, 512, 1024];
    for (const [position, refused] of [
        ['none', [16]],
        ['learned', [16, 128, 256, 512, 1024]],
    ]) {
        const config = `mixer=ema&task=sc&length=64&position=${position}&width=8&batch=4&steps=9`;
        const { host, of, done, until, last } = await hosted();
        await host.open(1, config);
        host.play([1], 4);
        await until(() => last(1)?.state === 'still');
        host.tryLengths(true);
        const tried = () => of(1).flatMap(({ lengths }) => lengths);
        await until(() => tried().length >= all.length);
        host.play([1]);
        await done(1);
        const taken = all.filter((length) => !refused.includes(length));
        await until(() => tried().filter(({ step }) => step === 9).length >= taken.length);
        await new Promise((soon) => setTimeout(soon, 50));
        for (const length of all) {
            const own = tried().filter((one) => one.length === length);
            const steps = own.map(({ step }) => step);
            assert.equal(new Set(steps).size, steps.length, 'none twice at one step');
            if (refused.includes(length)) {
                assert.deepEqual([steps.length, own[0].result], [1, null], `${length}`);
                assert.match(own[0].problem, /length=16 does not fit|position=learned does not fit/);
            } else {
                assert.ok(
                    own.length >= 2 && own.every(({ problem, result }) => !problem && result),
                    `${length}`,
                );
                assert.equal(own.at(-1).step, 9);
            }
        }
    }
});
test('trying lengths takes three tenths of the time of a run that trains, looking a tenth', async () => {
    for (const [what, share] of [
        ['lengths', 0.3],
        ['looks', 0.1],
    ]) {
        const { host, clock, until, last } = await hosted({ tick: 0.2 });
        const { evaluate, look } = Run.prototype;
        let spent = 0;
        const takes = (ms) => ((clock.t += ms), (spent += ms));
        Run.prototype.evaluate = function (options) {
            if (/length=/.test(options.changes ?? '')) takes(70);
            return evaluate.call(this, options);
        };
        Run.prototype.look = function (...options) {
            takes(60);
            return look.apply(this, options);
        };
        try {
            await host.open(1, `${RECALL}&steps=1000000`);
            const start = clock.t;
            if (what === 'lengths') host.tryLengths(true);
            else host.watch({ id: 1, index: 0, tokens: null, block: 0, detail: false, at: null, edits: [] });
            host.play([1]);
            await until(() => clock.t - start > 3000);
            host.pause();
            const part = spent / (clock.t - start);
            assert.ok(part > 0.6 * share && part < 1.25 * share, `${what}: ${part}`);
            assert.ok(last(1).step > 100);
        } finally {
            Object.assign(Run.prototype, { evaluate, look });
            host.close(1);
        }
    }
});
test('a run that is told to stand still says so, and with which weights', async () => {
    const { host, clock, last, until } = await hosted();
    await host.open(1, `${RECALL}&steps=100000`);
    host.play([1], Infinity, 1); // a step a second
    await until(() => last(1)?.step === 2);
    await until(() => last(1).state === 'going');
    clock.t += 500; // between two steps
    host.pause([1]);
    await until(() => last(1).state === 'still');
    assert.equal(last(1).digest, trained(`${RECALL}&steps=100000`, last(1).step).digest());
});
test('files are handed to the runs that read them, and to no others', async () => {
    const encode = (text) => new TextEncoder().encode(text);
    const table = encode(
        `a,b\n${Array.from({ length: 400 }, (_, i) => `${i % 7},${(i * i) % 5}`).join('\n')}\n`,
    );
    const text = encode('It was the best of times, it was the worst of times. '.repeat(60));
    const configs = {
        'mine.csv': 'mixer=cat&task=table&file=mine.csv&length=8&width=4&batch=2&steps=3',
        'mine.txt': 'mixer=cat&task=charlm&text=mine.txt&length=8&width=4&batch=2&steps=3',
    };
    const files = new Map([
        ['mine.csv', table],
        ['mine.txt', text],
    ]);
    for (const [name, config] of Object.entries(configs)) {
        const { host, done, last } = await hosted();
        assert.match((await host.open(1, config)).problem.message, new RegExp(name.replace('.', '\\.')));
        host.files(files);
        const opened = await host.open(2, config);
        assert.equal(opened.problem, undefined, JSON.stringify(opened));
        host.play([2]);
        await done(2);
        const own = await load({ wasm: module });
        own.provide(name, files.get(name));
        const run = trained(config, 3, own);
        assert.equal(last(2).digest, run.digest());
        const again = await host.load(3, run.save());
        assert.equal(again.step, 3, JSON.stringify(again));
        // Another run's worker has no use for it.
        const provided = [];
        const { host: other } = await hosted();
        const untouched = {
            get length() {
                return (provided.push(name), 0);
            },
        };
        other.files(new Map([[name, untouched]]));
        await other.open(1, RECALL);
        assert.deepEqual(provided, []);
    }
});
test('a large instance is given back, a small one is used again', async () => {
    const { host } = await hosted();
    await host.open(1, RECALL);
    const small = host.bytes;
    host.close(1);
    assert.equal(host.bytes, small);
    await host.open(2, RECALL);
    assert.equal(host.bytes, small);
    await host.open(3, 'mixer=cat&task=mqar&length=256&width=64&batch=64&blocks=2');
    assert.ok(host.bytes - small > 64 << 20, `${host.bytes}`);
    host.close(3);
    assert.equal(host.bytes, small);
});
test('snapshots: of as many steps as fit, at even distances, and the nearest is shown', () => {
    const runAt = (step, size) => ({ metrics: { step }, save: () => new Uint8Array(size) });
    for (const [size, most] of [
        [10, 48],
        [1 << 20, 24],
        [5 << 20, 4],
        [20 << 20, 2],
    ]) {
        const kept = new Snapshots();
        for (let n = 0; n < 300; n++) {
            kept.take(runAt(10 * n, size));
            const { steps } = kept;
            assert.ok(steps.length <= most, `${steps.length} of ${size} bytes`);
            const every = steps[1] - steps[0] || 0;
            assert.deepEqual(steps, steps.map((_, i) => i * every)); // prettier-ignore
            assert.ok(n < 2 || (steps.length + 1) * every > 10 * n, `up to ${steps.at(-1)} of ${10 * n}`);
        }
        assert.ok(kept.steps.length >= most / 2);
    }
    const kept = new Snapshots();
    const run = lab.open(`${RECALL}&steps=99`);
    assert.equal(kept.at(lab, 5), null);
    const digests = new Map();
    for (const step of [0, 10, 20]) {
        run.step(step - run.metrics.step);
        kept.take(run);
        digests.set(step, run.digest());
    }
    for (const [asked, step] of [
        [0, 0],
        [4, 0],
        [5, 0],
        [6, 10],
        [15, 10],
        [16, 20],
        [99, 20],
    ]) {
        const early = kept.at(lab, asked);
        assert.deepEqual([early.metrics.step, early.digest()], [step, digests.get(step)], `${asked}`);
    }
    kept.close();
});
test('a look: the block that is asked for, or the first with a map; numbers in place of weights where they stand', async () => {
    for (const [mixers, has] of [
        ['mixer=cat&blocks=3', [0, 1, 2]],
        ['mixers=gla,cat,gla&blocks=3', [1]],
    ]) {
        const config = `${mixers}&task=mqar&length=16&vocab=16&pairs=2&width=8&batch=4&steps=4`;
        const { host, done } = await hosted();
        await host.open(1, config);
        host.play([1]);
        await done(1);
        const own = trained(config, 4);
        for (const detail of [false, true])
            for (const block of [0, 1, 2]) {
                const name = 'block1.mixer.filter_q';
                const edits = [{ name, at: 2, data: new Float32Array([0.5]) }];
                const look = host.ask({ id: 1, index: 3, tokens: null, block, detail, at: null, edits });
                own.override(edits);
                own.look(3);
                const shown = detail || has.includes(block) ? block : has[0];
                assert.deepEqual([look.block, look.blocks], [shown, detail ? [0, 1, 2] : has]);
                const map = has.includes(shown) ? [...own.tensor(`block${shown}.mixer.map`).data] : null;
                assert.deepEqual(look.map && [...look.map], map);
                const names = own.tensors().map((one) => one.name);
                const wanted = (one) =>
                    !/\.map$/.test(one) && (!/^block/.test(one) || one.startsWith(`block${shown}.`));
                const found = look.tensors.map((one) => one.name);
                if (detail)
                    for (const one of names.filter((one) => /^block\d\.mixer\.(q|y|o)$/.test(one)))
                        assert.equal(found.includes(one), wanted(one), one);
                for (const { name: of, data } of look.tensors) {
                    const right = own.tensor(of).data.slice();
                    if (of === name) right.set(edits[0].data, 2);
                    assert.deepEqual(data, right, of);
                }
                own.override([]);
            }
    }
});
test('a text that outgrows the room of its state goes on in a larger one', () => {
    const run = trained('mixer=attention&task=charlm&length=16&width=8&batch=2&steps=5', 2);
    const writer = new Writer();
    let read = Array.from({ length: 250 }, (_, i) => 65 + (i % 26));
    const mosts = [];
    for (const count of [3, 3, 3, 400]) {
        const written = writer.go(run, { read, count, temperature: 1, seed: 5 });
        mosts.push(written.most);
        const state = run.state({ most: 2000 });
        state.push(read);
        for (const token of written.tokens) {
            assert.equal(token, state.draw({ temperature: 1, seed: 5 })[0]);
            state.push([token]);
        }
        assert.equal(written.rows, read.length + count);
        read = [...read, ...written.tokens];
        state.close();
    }
    assert.deepEqual(mosts, [506, 506, 506, 2 * (259 + 400)]);
    writer.close();
});
