// states.test.mjs: runs that read on and write, in JavaScript: the words of the whole sequence and of the
// native program, bytes that move between both, what is refused, and the same across a worker.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createWorker } from '../../build/package/package/index.js';
import { load, SeqmixError } from '../../build/wasm/seqmix.js';

const built = (file) => new URL(`../../build/${file}`, import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'seqmix-states-'));
after(() => rmSync(folder, { recursive: true }));
const simd = await load({ whole: true });
const scalar = await load({ wasm: built('wasm/seqmix-scalar.wasm') });
const words = (x) => [...new Uint32Array(x.buffer, x.byteOffset, x.length)];
/** The options of `seqmix generate`, by the names of JavaScript. */
const OPTIONS = { temperature: '--temperature', topK: '--top-k', topP: '--top-p', seed: '--seed' };

function trained(config) {
    const file = join(folder, 'text.safetensors');
    execFileSync(built('seqmix').pathname, ['train', config, '--save', file]);
    return file;
}
async function writtenBy(run, options) {
    const pieces = [];
    for await (const piece of run.generate(options)) pieces.push(piece);
    const bits = pieces.reduce((sum, piece) => sum + piece.bits, 0);
    return { pieces, bits, text: pieces.map(({ text }) => text).join('') };
}

test('the same seed writes the same text natively and in both modules, whatever bytes come', async () => {
    // After so few steps many bytes are no characters.
    for (const [mixer, steps] of [
        ['gla', 20],
        ['cat&heads=2', 3],
        ['las&heads=2', 1],
    ]) {
        const file = trained(`task=charlm&mixer=${mixer}&width=32&blocks=2&length=48&batch=4&steps=${steps}`);
        const bytes = readFileSync(file);
        for (const draw of [
            { temperature: 0 },
            { temperature: 1.5, seed: 2 ** 53 - 1 },
            { topK: 5, seed: 9 },
            { topP: 0.7 },
        ]) {
            const given = Object.entries(draw).flatMap(([name, value]) => [OPTIONS[name], String(value)]);
            const args = [
                'generate',
                file,
                '--prompt',
                'First Citizen:',
                '--tokens',
                '90',
                '--json',
                ...given,
            ];
            const lines = execFileSync(built('seqmix').pathname, args).toString().trim().split('\n');
            const native = lines.map((line) => JSON.parse(line));
            const { bits: mean } = native.pop();
            for (const lab of [simd, scalar]) {
                const run = lab.load(bytes);
                const { text, bits } = await writtenBy(run, {
                    prompt: 'First Citizen:',
                    tokens: 90,
                    ...draw,
                });
                assert.equal(text, native.map((line) => line.text).join(''), `${mixer} ${given}`);
                assert.ok(Math.abs(bits / 90 - mean) < 1e-4);
                run.close();
            }
        }
    }
});

test('pieces of any size give the words of the whole, for every mixer that has a state', () => {
    const tokens = Array.from({ length: 90 }, (_, i) => (i * 37) % 256);
    for (const { name } of simd.config.mixers.filter(({ name }) => name !== 'equations')) {
        const run = simd.open(`task=charlm&mixer=${name}&length=90&batch=2&width=32`);
        const state = run.state({ most: 90 });
        run.predict(tokens);
        const whole = run.tensor('logits').data.slice();
        const most = Math.max(...whole.map(Math.abs));
        const same = (some, at) => {
            const wanted = whole.subarray(256 * at, 256 * at + some.length);
            if (['longconv', 's4d', 'chela', 'hyena', 'focus'].includes(name))
                // sums without an FFT: docs/STATES.md
                assert.ok(
                    some.every((x, i) => Math.abs(x - wanted[i]) <= 3e-5 * most),
                    `${name}, row ${at}`,
                );
            else assert.deepEqual(words(some), words(wanted.slice()), `${name}, row ${at}`);
        };
        let at = 0;
        for (const rows of [1, 1, 23, 2, 40, 23]) {
            same(state.push(tokens.slice(at, at + rows)), at);
            at += rows;
            if (at !== 25) continue;
            const copy = state.copy();
            const moved = scalar.load(run.save()).loadState(state.save()); // another module
            assert.equal(copy.form.rows, 25);
            for (const other of [copy, moved]) same(other.push(tokens.slice(25, 60)), 25);
            copy.close();
        }
        same(state.answers, 89);
        run.close();
    }
});

test('what is refused, and how: nothing has changed afterwards', async () => {
    const run = simd.open('task=charlm&mixer=las&heads=2&length=64&batch=2');
    const state = run.state({ most: 90, sequences: 2 });
    assert.equal(state.answers, null);
    assert.throws(() => state.draw(), /nothing has been read/);
    state.push([1, 2, 3, 4]);
    const before = words(state.answers);
    assert.throws(() => state.push([1]), /whole rows of 2 sequences/);
    assert.throws(() => state.push([0.5, 1]), /0.5; allowed: whole numbers/);
    assert.throws(() => state.push([256, 1]), /256/);
    assert.throws(() => state.push(Array(178).fill(1)), /at most 90/);
    for (const draw of [{ seed: -1 }, { seed: NaN }, { topK: 0.5 }, { temperature: NaN }, { topP: 0 }])
        assert.throws(() => state.draw(draw), SeqmixError, JSON.stringify(draw));
    assert.throws(() => state.odds(2), /sequence 2 of 2/);
    assert.deepEqual(words(state.answers), before);
    assert.equal(state.form.rows, 2);
    const sum = state.odds(1).reduce((all, p) => all + p, 0);
    assert.ok(Math.abs(sum - 1) < 1e-6);
    assert.throws(() => run.state(), /memory grows/);
    assert.throws(() => run.state({ most: 2.5 }), /most is 2.5/);

    const saved = state.save();
    assert.throws(() => run.loadState(saved.subarray(0, 100)), /truncated/);
    assert.throws(() => run.loadState(new Uint8Array(9)), /not a state/);
    const damaged = saved.slice();
    damaged[200] ^= 1;
    assert.throws(() => run.loadState(damaged), /damaged/);
    const other = simd.open('task=charlm&mixer=las&heads=2&length=64&batch=2&seed=2');
    assert.throws(() => other.loadState(saved), /another model/);
    await assert.rejects(run.generate({ prompt: '' }).next(), /the prompt is empty/);
    await assert.rejects(run.generate({ prompt: [1, 256] }).next(), /256/);
    const pixels = simd.open('task=own&channels=2&classes=3&length=8&mixer=gla');
    await assert.rejects(pixels.generate().next(), /answers are not its tokens/);
    const values = pixels.state();
    assert.throws(() => values.push([NaN, 1]), /NaN|nan|finite/);
    run.step(1);
    assert.throws(() => state.push([1, 1]), /trained since/);
    run.close();
    assert.throws(() => state.push([1, 1]), /this state was closed/);
    state.close(); // twice is once
});

/** A file of so many rows at most, with as many numbers as a size of 32 bits had wrapped to: the answers. */
function claimed(bytes, most) {
    const file = bytes.slice(0, 56 + 4 * 256 + 8);
    const view = new DataView(file.buffer, file.byteOffset, file.length);
    view.setBigUint64(32, most, true);
    view.setBigUint64(48, 256n, true); // numbers
    let sum = 0xcbf29ce484222325n;
    for (const byte of file.subarray(0, -8)) sum = BigInt.asUintN(64, (sum ^ BigInt(byte)) * 0x100000001b3n);
    view.setBigUint64(file.length - 8, sum, true);
    return file;
}
test('a file that claims 2^22 rows is refused before any memory is taken for them', async () => {
    const lab = await load({ whole: true });
    const taken = (run) => run.tensor(run.tensors()[0].name).data.buffer.byteLength;
    for (const { name } of lab.config.mixers.filter(({ name }) => name !== 'equations')) {
        const run = lab.open(`task=charlm&mixer=${name}&length=64&batch=1&width=32`);
        const small = run.state({ most: 64 });
        small.push([1, 2, 3]);
        const file = claimed(small.save(), 2n ** 22n);
        small.close();
        const before = taken(run);
        assert.throws(() => run.loadState(file), /out of memory|the state holds 256 numbers/, name);
        assert.ok(taken(run) - before < 2 ** 24, `${name}: ${taken(run) - before} bytes`);
        run.close();
    }
});
test('a state too large for 32 bits is refused, by a number or by a file, and nobody else is written over', () => {
    const other = simd.open('task=charlm&mixer=gla&width=16&length=16&batch=1');
    const digest = other.digest();
    let refused = 0;
    let opened = 0;
    for (const { name } of simd.config.mixers.filter(({ name }) => name !== 'equations')) {
        const run = simd.open(`task=charlm&mixer=${name}&length=64&batch=1&width=32`);
        const small = run.state({ most: 64 });
        small.push([1, 2, 3]);
        const bytes = small.save();
        for (const form of [
            { most: 2 ** 24 },
            { most: 2 ** 25 },
            { most: 2 ** 26 - 1 },
            { most: 2 ** 26 },
            { most: 2 ** 20, sequences: 64 },
        ])
            try {
                const state = run.state(form);
                assert.ok(state.form.bytes >= 4 * 256, `${name} ${JSON.stringify(form)}`); // its answers
                state.push(Array(2 * (form.sequences ?? 1)).fill(7));
                state.close();
                opened++;
            } catch (error) {
                assert.match(error.message, /out of memory/, name);
                refused++;
            }
        const file = claimed(bytes, 2n ** 26n);
        assert.throws(() => run.loadState(file), /out of memory|the state holds 256 numbers/, name);
        run.close();
    }
    assert.equal(other.digest(), digest);
    other.close();
    assert.ok(refused > 20 && opened > 20, `${refused} refused, ${opened} opened`);
});

test('a signal ends a text while the page has its turns; leaving the loop frees its state', async () => {
    const run = simd.open('task=charlm&mixer=gla&width=16&length=16&batch=1');
    const ended = new Error('enough');
    const abort = new AbortController();
    let pieces = 0;
    await assert.rejects(async () => {
        for await (const piece of run.generate({ tokens: 2 ** 32 - 1, signal: abort.signal }))
            if (piece && !pieces++) setTimeout(() => abort.abort(ended));
    }, ended);
    assert.ok(pieces > 0);
    await assert.rejects(run.generate({ signal: AbortSignal.abort(ended) }).next(), ended);
    const bytes = simd.bytes;
    for (let i = 0; i < 300; i++) for await (const piece of run.generate({ tokens: 9 })) if (piece) break;
    assert.equal(simd.bytes, bytes);
    // (300 of those fit into what the memory has to spare; one of these has 2 MB and more.)
    const long = simd.open('task=charlm&mixer=attention&width=16&length=16&batch=1');
    const opened = () => {
        const state = long.state({ most: 2 ** 14 });
        assert.ok(state.form.bytes > 2 ** 21);
        state.close();
    };
    opened();
    const held = simd.bytes;
    for (let i = 0; i < 300; i++) opened();
    assert.equal(simd.bytes, held);
    long.close();
    run.close();
});

test('across a worker: the same text and words, no further than asked for, and a signal ends it', async () => {
    const config = 'task=charlm&mixer=gla&width=16&length=16&batch=1&seed=5';
    const here = simd.open(config);
    const worker = await createWorker({ whole: true });
    const there = await worker.open(config);
    const options = { prompt: 'The ', tokens: 3000, seed: 4 };
    const { text, pieces } = await writtenBy(here, options);
    const crossed = await writtenBy(there, options);
    assert.equal(crossed.text, text);
    assert.deepEqual(crossed.pieces, pieces);

    const state = await there.state();
    const own = here.state();
    const tokens = [1, 2, 3, 200];
    assert.deepEqual(words(await state.push(tokens)), words(own.push(tokens)));
    const copy = await state.copy();
    await state.push([7]);
    assert.equal((await copy.form).rows, 4);
    assert.deepEqual(await copy.draw({ seed: 3 }), own.draw({ seed: 3 }));
    const moved = await there.loadState(own.save());
    assert.deepEqual(words(await moved.answers), words(own.answers));
    await moved.close();
    await assert.rejects(moved.push([1]), /closed/);
    await assert.rejects(state.push([300]), /300/);

    // Asked for one piece, the worker stands still: it answers what comes after at once.
    const endless = there.generate({ prompt: 'A', tokens: 2 ** 32 - 1 });
    await endless.next();
    assert.equal((await there.metrics).step, 0);
    await endless.return();
    const abort = new AbortController();
    const ended = new Error('enough');
    let count = 0;
    await assert.rejects(async () => {
        for await (const piece of there.generate({ tokens: 2 ** 32 - 1, signal: abort.signal }))
            if ((count += piece.tokens.length) > 100) abort.abort(ended);
    }, ended);
    assert.ok(count < 110);
    worker.close();
});
