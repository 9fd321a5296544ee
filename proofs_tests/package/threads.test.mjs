// threads.test.mjs: seqmix-threads.wasm in Node: the bits of one thread with any number, also while memory
// grows; where memory cannot be shared a lab of one thread; a thread that breaks, hangs or does not start, an
// end in the middle of a step, no memory: said in a sentence, and nothing waits for ever.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { loadChecks } from '../../build/wasm/checks.js';
import { load } from '../../build/wasm/seqmix.js';
import { THREADS } from '../support/sizes.mjs';
import { configDigest } from './digests/config_digest.mjs';
import { configs } from './digests/digests_native.mjs';

const at = (file) => new URL(`../../${file}`, import.meta.url);
const bytes = (file) => readFileSync(at(`build/wasm/${file}`));
const STEP = 'mixer=attention&task=mqar&length=256&pairs=32&vocab=256&width=64&batch=8';
/** A lab whose smallest runs are shared, too. */
async function labOf(threads, options) {
    const lab = await load({ threads, ...options });
    lab.exports.lab_team_from?.(0);
    return lab;
}

test('the module stays small to fetch, and imports its memory', async () => {
    const { length } = gzipSync(bytes('seqmix-threads.wasm'), { level: 9 });
    assert.ok(length <= THREADS, `${length} bytes gzipped`);
    const said = /seqmix-threads\.wasm, which is whole, (\d+) KB/.exec(
        readFileSync(at('docs/EMBED.md'), 'utf8'),
    );
    assert.ok(Math.abs(1000 * said[1] - length) < 3000, `docs/EMBED.md says ${said[1]} KB: ${length}`);
    const { module } = await load({ threads: 2 });
    const imports = WebAssembly.Module.imports(module).map(({ name }) => name);
    assert.deepEqual(imports.sort(), ['emscripten_notify_memory_growth', 'memory']);
});

for (const threads of [1, 2, 3, 8])
    test(`${threads} threads: every mixer in every mode trains to the committed digest`, async () => {
        const lab = await labOf(2);
        assert.equal(await lab.useThreads(threads), threads);
        assert.equal(lab.threads, threads);
        const before = lab.exports.lab_helped();
        for (const line of configs) assert.equal(configDigest(lab, line), line);
        // What one thread does alone would have these bits anyway.
        const helped = lab.exports.lab_helped() - before;
        assert.ok(threads === 1 ? helped === 0 : helped > 1000, `helpers took ${helped} pieces`);
        lab.close();
        assert.equal(lab.threads, 1);
    });

test('small steps stay on one thread, large ones are shared', async () => {
    const lab = await load({ threads: 2 });
    const helpedBy = (config) => {
        const run = lab.open(config);
        const before = lab.exports.lab_helped();
        run.step(20);
        run.close();
        return lab.exports.lab_helped() - before;
    };
    assert.equal(helpedBy('mixer=cat&task=mqar&length=32&pairs=4&vocab=64'), 0);
    assert.ok(helpedBy(STEP) > 0);
    lab.close();
});

test('an operation of two pieces is shared by two threads', async () => {
    const lab = await labOf(2);
    // Two sequences of 24 rows: forward is cut into two pieces or not at all.
    const run = lab.open('mixer=attention&heads=1&blocks=1&task=mqar&length=24&pairs=2&width=256&batch=2');
    const { tokens, targets } = run.data(0);
    const batch = { tokens: [...tokens, ...tokens], targets: [...targets, ...targets] };
    const before = lab.exports.lab_helped();
    for (let i = 0; i < 200; i++) run.evaluateOn(batch);
    assert.ok(lab.exports.lab_helped() > before);
    lab.close();
});

test('threads without work sleep, those that may take pieces and those that may not', async () => {
    const lab = await labOf(8);
    const run = lab.open(STEP);
    for (const threads of [8, 2]) {
        await lab.useThreads(threads);
        run.step(1);
        let least = Infinity; // of the time in which nothing is asked of them: compilers are at work, too
        for (let i = 0; i < 5; i++) {
            const [begun, used] = [performance.now(), process.cpuUsage()];
            await new Promise((done) => setTimeout(done, 400));
            const { user, system } = process.cpuUsage(used);
            least = Math.min(least, (user + system) / 1000 / (performance.now() - begun));
        }
        assert.ok(least < 0.05, `${threads} threads: ${least} processors are at work`);
    }
    lab.close();
});

test('memory grows while threads are there; evaluations, states and saved runs have the same bits', async () => {
    const lives = async (lab) => {
        const run = lab.open(STEP);
        run.step(3);
        const before = lab.bytes;
        const large = lab.open('mixer=attention&task=mqar&length=1024&pairs=64&vocab=256&batch=16');
        assert.ok(lab.bytes > before, 'memory did not grow');
        large.step(1);
        run.step(2);
        const { loss } = run.evaluate({ count: 16 });
        const again = lab.load(run.save());
        again.step(2);
        const state = again.state({ most: 64 });
        const answers = state.push(Int32Array.from({ length: 40 }, (_, i) => i));
        return [large.digest(), run.digest(), loss, again.digest(), Array.from(answers)];
    };
    const lab = await labOf(3);
    assert.deepEqual(await lives(lab), await lives(await load()));
    lab.close();
});

test('what does not fit into memory is refused in a sentence, and the lab goes on', async () => {
    const lab = await labOf(2);
    assert.throws(
        () => lab.open('mixer=attention&task=mqar&length=65536&batch=64&width=256'),
        /out of memory/,
    );
    const line = configs[0];
    assert.equal(configDigest(lab, line), line);
    lab.close();
});

test('without shared memory, or where it is refused, there is one thread', async () => {
    const whole = bytes('seqmix.wasm');
    const plain = async () => {
        const lab = await load({ threads: 4, wasm: whole });
        assert.equal(lab.threads, 1);
        assert.equal(await lab.useThreads(3), 1);
        assert.ok(lab.exports.memory.buffer instanceof ArrayBuffer);
        assert.throws(() => lab.open('mixer=gla'), { key: 'module' }); // the small module
        lab.close();
    };
    const hidden = (object, name, value) => {
        const own = Object.getOwnPropertyDescriptor(object, name);
        Object.defineProperty(object, name, { value, configurable: true, writable: true });
        return () => (own ? Object.defineProperty(object, name, own) : delete object[name]);
    };
    const { Memory } = WebAssembly;
    for (const [object, name, value] of [
        [globalThis, 'SharedArrayBuffer', undefined],
        [globalThis, 'crossOriginIsolated', false],
        [Atomics, 'wait', () => assert.fail("a page's own thread may not wait")],
        [
            WebAssembly,
            'Memory',
            class extends Memory {
                constructor(asked) {
                    if (asked.shared) throw new RangeError('out of addresses');
                    super(asked);
                }
            },
        ],
    ]) {
        const back = hidden(object, name, value);
        try {
            await plain();
        } finally {
            back();
        }
    }
});

test('wrong numbers of threads, and the self-check of a lab with threads, are refused in a sentence', async () => {
    for (const threads of [0, 9, 1.5, '2', null])
        await assert.rejects(load({ threads }), { key: 'threads', allowed: 'a whole number from 1 to 8' });
    const lab = await load({ threads: 2 });
    await assert.rejects(lab.useThreads(9), { key: 'threads' });
    await assert.rejects(loadChecks(lab, bytes('checks.wasm')), { key: 'threads' });
    lab.close();
});

const { createWorker } = await import('../../build/package/package/index.js');
const files = await import('../../build/package/package/url.js');
const lean = await import('../../build/package/package/lean.js');

test('the npm package: in a worker and beside it, the module inside, as a file, or named', async () => {
    const plain = (await load()).open(STEP);
    plain.step(3);
    for (const create of [createWorker, files.createWorker]) {
        const worker = await create({ threads: 3 });
        assert.equal(await worker.threads, 3);
        assert.equal(await worker.useThreads(2), 2);
        const run = await worker.open(STEP);
        await run.step(3);
        assert.equal(await run.digest(), plain.digest());
        worker.close();
    }
    const shared = (await import('../../build/package/package/shared.js')).default;
    const lab = await lean.load({ threads: 2, shared });
    assert.equal(lab.threads, 2);
    lab.close();
    await assert.rejects(lean.load({ threads: 2 }), /seqmix\/lean has no shared module/);
});

const tasks = existsSync('/proc/self/task') ? () => readdirSync('/proc/self/task').length : null;
const pause = () => new Promise((done) => setTimeout(done, 100));
test('an end in the middle of a step ends the threads', { skip: !tasks && 'no /proc' }, async () => {
    const least = async (most, last) => {
        for (let i = 0; i < last && tasks() > most; i++) await pause();
        return tasks();
    };
    const before = await least(0, 20); // those of the tests above have ended
    const worker = await createWorker({ threads: 4 });
    try {
        const run = await worker.open(STEP);
        assert.ok(tasks() >= before + 4, `${tasks()} threads, ${before} before`);
        setTimeout(() => worker.close(), 200);
        await assert.rejects(run.step(1_000_000), /this worker was closed/);
    } finally {
        worker.close();
    }
    assert.ok((await least(before, 300)) <= before, `${tasks()} threads, ${before} before`);
});

/** thread.js, changed. */
function thread(...changes) {
    let text = readFileSync(at('build/wasm/thread.js'), 'utf8');
    for (const [from, to] of changes) {
        assert.ok(text.includes(from), `thread.js has no ${from}`);
        text = text.replace(from, to);
    }
    return `data:text/javascript,${encodeURIComponent(text)}`;
}
test('what pieces need of a stack is a small part of it', async () => {
    const STACK = 1 << 18; // of threads.ts
    const paint = `new Uint8Array(memory.buffer).fill(0xa5, stack - ${STACK}, stack);
        x.stackRestore(stack)`;
    const lab = await labOf(2, { thread: thread(['x.stackRestore(stack)', paint]) });
    assert.equal(lab.threads, 2);
    const before = lab.exports.lab_helped();
    for (const line of [...configs, `${' '.repeat(18)}${STEP}`]) configDigest(lab, line);
    assert.ok(lab.exports.lab_helped() > before + 1000);
    let [unused, painted] = [0, 0];
    for (const word of new Uint32Array(lab.exports.memory.buffer)) {
        painted = word === 0xa5a5a5a5 ? painted + 4 : 0;
        unused = Math.max(unused, painted);
    }
    assert.ok(unused < STACK, 'nothing was on the stack');
    assert.ok(unused > 0.75 * STACK, `${STACK - unused} bytes of a stack were used`);
    lab.close();
});

/** Trains until the lab breaks: why, and how long the last step took. */
function untilBroken(lab) {
    const run = lab.open(STEP);
    const start = performance.now();
    while (performance.now() - start < 60_000) {
        const begun = performance.now();
        try {
            run.step(1);
        } catch (error) {
            return { error, seconds: (performance.now() - begun) / 1000 };
        }
    }
    return {};
}
const LOST = {
    name: 'SeqmixError',
    key: 'threads',
    message: /one of its threads ended in the middle of a step; .* load another lab/,
};

test('threads that do not start are done without', async () => {
    const silent = 'data:text/javascript,setInterval(() => {}, 1000)'; // for ever
    for (const script of [
        'data:text/javascript,throw new Error("no")',
        'file:///nowhere/thread.js',
        silent,
    ]) {
        const lab = await labOf(3, { thread: script });
        assert.equal(lab.threads, 1);
        assert.equal(configDigest(lab, configs[0]), configs[0]);
    }
});

test('a thread whose piece breaks takes the lab with it, in a sentence', async () => {
    const lab = await labOf(2, { thread: thread(['x.stackRestore(stack)', 'x.stackRestore(16)']) });
    assert.equal(lab.threads, 2);
    const { error } = untilBroken(lab);
    assert.throws(() => {
        throw error;
    }, LOST);
    assert.throws(() => lab.open(STEP), LOST); // from now on
    lab.close();
});

// Of (i32, i32) -> (): a loop without end.
const HANG = '0061736d01000000010601 60027f7f00 0302 0100 0705 01 01 66 00 00 0a09 01 07 00 0340 0c00 0b 0b';
test('a thread that never finishes its piece is not waited for for ever', async (t) => {
    const hang = `const endless = new WebAssembly.Module(Uint8Array.from('${HANG.replaceAll(' ', '')}'.match(/../g), (b) => parseInt(b, 16)));
        const { f } = new WebAssembly.Instance(endless).exports;
        const table = x.__indirect_function_table;
        for (let i = 1; i < table.length; i++) table.set(i, f);
        x.stackRestore(stack)`;
    // (A wait without end would keep this thread from saying so.)
    const END = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), 60_000)`;
    const watch = new Worker(END, { eval: true });
    t.after(() => watch.terminate());
    const PATIENCE = 2; // seconds
    let least = Infinity; // of three: a busy machine may be late
    for (let tries = 0; tries < 3 && least >= PATIENCE + 0.9; tries++) {
        const lab = await labOf(2, { thread: thread(['x.stackRestore(stack)', hang]) });
        assert.equal(lab.threads, 2);
        lab.exports.lab_patience(PATIENCE);
        const { error, seconds } = untilBroken(lab);
        assert.throws(() => {
            throw error;
        }, LOST);
        assert.ok(seconds > PATIENCE - 0.05 && seconds < 20, `${seconds} s`);
        least = Math.min(least, seconds);
        lab.close();
    }
    assert.ok(least < PATIENCE + 0.9, `${least} s, a wait more than it should`);
});
