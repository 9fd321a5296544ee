// wasm.test.mjs: the WebAssembly modules in Node: the same bits as the native program and as each other,
// errors in words, checkpoints, memory. Run by `make test` (node --test); digests of single kernels are
// compared elsewhere.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { MODULE, WHOLE } from '../support/sizes.mjs';
import { loadChecks } from '../../build/wasm/checks.js';
import { load, SeqmixError } from '../../build/wasm/seqmix.js';
import { readNpy } from '../support/npy.mjs';

const built = (file) => new URL(`../../build/${file}`, import.meta.url);
const run = promisify(execFile);
const RECALL = 'mixer=cat&task=mqar&vocab=64&length=64&pairs=8&width=32&seed=1&steps=200';
const ATTENTION =
    'mixer=attention&task=mqar&blocks=2&heads=2&position=learned&norm=rms&mlp=2&seed=3&steps=30';

const simd = await load({ whole: true });
const scalar = await load({ wasm: built('wasm/seqmix-scalar.wasm') });

/** Losses as hexadecimal float32 words, and the digest, of the native program. */
async function native(config) {
    const { stdout } = await run(built('seqmix').pathname, ['train', config, '--json'], {
        maxBuffer: 1 << 26,
    });
    const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    return {
        words: lines.filter(({ word }) => word !== undefined).map(({ word }) => word),
        final: lines.find(({ final }) => final),
    };
}
const words = (losses) =>
    Array.from(new Uint32Array(losses.buffer, losses.byteOffset, losses.length), (word) =>
        word.toString(16).padStart(8, '0'),
    );
function trained(lab, config, steps) {
    const experiment = lab.open(config);
    experiment.step(steps);
    const result = {
        words: words(experiment.losses()),
        digest: experiment.digest(),
        metrics: experiment.metrics,
    };
    experiment.close();
    return result;
}
const refusal = (call, key, value) => {
    try {
        call();
    } catch (error) {
        assert.ok(error instanceof SeqmixError, `${error} is no SeqmixError`);
        assert.equal(error.key, key);
        assert.equal(error.value, value);
        return error;
    }
    return assert.fail('nothing was refused');
};

test('the modules are what they say, and import only the memory-growth notice', () => {
    assert.equal(simd.isa, 'wasm');
    assert.equal(scalar.isa, 'scalar');
    assert.match(simd.version, /^\d+\.\d+\.\d+/);
    for (const { module } of [simd, scalar]) {
        const imports = WebAssembly.Module.imports(module).map((entry) => `${entry.module}.${entry.name}`);
        assert.deepEqual(imports, ['env.emscripten_notify_memory_growth']);
    }
});

test('the module stays small to fetch', async () => {
    const page = await readFile(new URL('../../docs/EMBED.md', import.meta.url), 'utf8');
    for (const [name, most] of [
        ['seqmix.wasm', MODULE],
        ['seqmix-whole.wasm', WHOLE],
    ]) {
        const { length } = gzipSync(await readFile(built(`wasm/${name}`)), { level: 9 });
        assert.ok(length <= most, `${name}: ${length} bytes gzipped`);
        const said = Number(new RegExp(`${name}[^.]*?, (\\d+) KB`).exec(page)?.[1]);
        assert.ok(
            Math.abs(1000 * said - length) < 3000,
            `docs/EMBED.md says ${said} KB of ${name}: ${length}`,
        );
    }
});

test("the modules export exports.c, what smx.h has of kernels.txt, and Emscripten's own", async () => {
    const lines = async (file) => (await readFile(built(`obj/emcc/${file}`), 'utf8')).trim().split('\n');
    const [listed, all] = [await lines('exports.txt'), await lines('exports-whole.txt')];
    const source = (file) => readFile(new URL(`../../${file}`, import.meta.url), 'utf8');
    const declared = (await source('include/seqmix/smx.h')).matchAll(/\b(smx_\w+)\(/g);
    const flat = (await source('wasm/exports.c')).matchAll(/\b(lab_\w+)\(/g);
    const known = new Set([...declared, ...flat].map(([, name]) => `_${name}`));
    assert.deepEqual(
        all.filter((name) => !known.has(name)),
        ['_smx_program_plan'],
    );
    assert.deepEqual(
        [...known].filter(
            (name) => /_lab_|_fwd$|_bwd$|_push$|_scratch_bytes$/.test(name) && !all.includes(name),
        ),
        [],
    );
    const own = [
        'memory',
        '_initialize',
        '__indirect_function_table',
        '__errno_location',
        'stackSave',
        'stackRestore',
        'stackAlloc',
        '_emscripten_stack_restore',
        '_emscripten_stack_alloc',
        'emscripten_stack_get_current',
    ];
    for (const [{ module }, expected] of [
        [await load(), listed],
        [simd, all],
        [scalar, all],
    ]) {
        const names = WebAssembly.Module.exports(module)
            .map(({ name }) => name)
            .filter((name) => !own.includes(name));
        assert.deepEqual(names.map((name) => `_${name}`).sort(), expected.sort());
    }
});

for (const [name, config, steps] of [
    ['recall with CAT', RECALL, 200],
    ['two blocks of attention', ATTENTION, 30],
])
    test(`${name}: native, SIMD and scalar train the same loss words and weights`, async () => {
        const expected = await native(config);
        assert.equal(expected.words.length, steps);
        for (const lab of [simd, scalar]) {
            const got = trained(lab, config, steps);
            const differs = got.words.findIndex((word, i) => word !== expected.words[i]);
            assert.equal(
                differs,
                -1,
                `${lab.isa}: step ${differs + 1}: ${got.words[differs]}, native ${expected.words[differs]}`,
            );
            assert.equal(got.digest, expected.final.digest, lab.isa);
            assert.equal(got.metrics.params, expected.final.params);
        }
    });

test('another seed gives other words (the comparison above can fail)', () => {
    const one = trained(simd, RECALL, 3);
    const other = trained(simd, RECALL.replace('seed=1', 'seed=2'), 3);
    assert.notDeepEqual(other.words, one.words);
    assert.notEqual(other.digest, one.digest);
});

test('CAT learns recall, one block of attention does not', () => {
    for (const [mixer, low, high] of [
        ['cat', 0.99, 1],
        ['attention', 0, 0.2],
    ]) {
        const experiment = simd.open(`mixer=${mixer}&task=mqar`);
        experiment.step(300);
        const { accuracy, targets, sequences } = experiment.evaluate({ count: 200 });
        assert.ok(accuracy >= low && accuracy <= high, `${mixer}: ${accuracy}`);
        assert.deepEqual([targets, sequences], [1600, 200]);
        experiment.close();
    }
});

test('a wrong config is refused in words', () => {
    const wrong = refusal(() => simd.open('mixer=cta'), 'mixer', 'cta');
    assert.match(wrong.allowed, /cat.*attention/);
    assert.match(wrong.message, /cta/);
    const { lab_error, memory } = simd.exports;
    assert.equal(lab_error(4), lab_error(-1)); // of four fields, 0 to 3
    assert.equal(new Uint8Array(memory.buffer)[lab_error(4)], 0);
    refusal(() => simd.open('mixer=cat&widht=8'), 'widht', '8');
    refusal(() => simd.complete('length=0'), 'length', '0');
    refusal(() => simd.complete('mixer=cat~length=x'), 'length', 'x');
    refusal(() => simd.open('width=30&heads=4'), 'heads', '4');
    refusal(() => simd.open('mixer=cat&&=3'), '', '=3');
    assert.equal(simd.open('mixer=cat').metrics.step, 0); // and nothing is left behind
});

test('wrong calls are refused in words', () => {
    const experiment = simd.open(RECALL);
    refusal(() => experiment.step(-1), 'steps', '-1');
    refusal(() => experiment.step(0.5), 'steps', '0.5');
    refusal(() => experiment.look(-1), 'index', '-1');
    assert.throws(
        () => experiment.tensor('block7.mixer.w_q'),
        (error) => error instanceof SeqmixError && /block7/.test(error.message),
    );
    const strange = new Int32Array(64).fill(1);
    strange[9] = 6464;
    assert.throws(
        () => experiment.predict(strange),
        (error) => error instanceof SeqmixError && /6464/.test(error.message),
    );
    assert.throws(() => experiment.predict([1, 2, 3]), SeqmixError);
    for (const wrong of [undefined, null, 5]) {
        refusal(() => experiment.predict(wrong), 'tokens', String(wrong));
        refusal(() => experiment.setWeight('embedding', wrong), 'embedding', String(wrong));
        refusal(() => experiment.override([{ name: 'embedding', data: wrong }]), 'embedding', String(wrong));
        refusal(() => experiment.override(wrong), 'overrides', String(wrong));
        refusal(() => experiment.stepOn({ tokens: wrong ?? 5, targets: [] }), 'tokens', String(wrong ?? 5));
        refusal(
            () => experiment.loadState(wrong),
            'state',
            { undefined: 'Undefined', null: 'Null', 5: 'Number' }[wrong],
        );
    }
    refusal(() => experiment.predict(new BigInt64Array(64)), 'tokens', 'bigint');
    refusal(() => experiment.stepOn(undefined), 'batch', '');
    refusal(() => experiment.look(0, { stream: 'test' }), 'stream', 'test');
    refusal(() => simd.load('safetensors'), 'checkpoint', 'String');
    refusal(() => simd.open(RECALL, { batch: 5 }), 'batch', '5');
    refusal(() => simd.open(`${RECALL}\0&width=x`), '', ''); // and not what stands before it alone
    const state = experiment.state({ most: 4 });
    refusal(() => state.push(undefined), 'tokens', 'undefined');
    assert.equal(state.push(Uint8Array.of(1, 2)).length, 2 * 64);
    experiment.close();
    experiment.close();
    assert.throws(() => experiment.step(), /closed/);
    if (!Symbol.dispose) return;
    const used = simd.open(RECALL);
    used[Symbol.dispose](); // what `using` calls
    assert.throws(() => used.step(), /closed/);
});

test('values are those of the complete text, of each run, and a run tells one', () => {
    const text = 'mixer=cat&seed=7&rate=0.02~task=charlm&text=a%22b%26c&mixer=attention';
    const runs = simd.values(text);
    assert.equal(runs.length, 2);
    const plain = (one) =>
        Object.fromEntries(one.split('&').map((pair) => pair.split('=').map(decodeURIComponent)));
    assert.deepEqual(runs, simd.complete(text).split('~').map(plain));
    assert.equal(runs[1].text, 'a"b&c');
    refusal(() => simd.values('mixer=cat~length=x'), 'length', 'x');
    const run = simd.open('mixer=cat&rate=0.02');
    assert.equal(run.value('rate'), '0.02');
    assert.equal(run.value('batch'), simd.values('mixer=cat&rate=0.02')[0].batch);
    assert.equal(run.value('window'), null);
    assert.equal(run.value('no key'), null);
    run.close();
});

test('complete says every key, and several runs stay several', () => {
    const [first, second, ...more] = simd.complete('mixer=cat&seed=7~mixer=attention').split('~');
    assert.equal(more.length, 0);
    assert.match(first, /(^|&)mixer=cat&/);
    assert.match(second, /(^|&)mixer=attention&/);
    for (const one of [first, second]) assert.match(one, /(^|&)seed=7(&|$)/);
    assert.equal(simd.complete(first), first);
    const experiment = simd.open(first);
    assert.equal(experiment.config, first);
    experiment.close();
});

test('the table describes every key', () => {
    const { keys, mixers, tasks, presets } = simd.config;
    assert.ok(mixers.some(({ name }) => name === 'cat') && tasks.some(({ name }) => name === 'mqar'));
    const all = [...keys, ...mixers.flatMap((part) => part.keys), ...tasks.flatMap((part) => part.keys)];
    for (const key of all) {
        assert.ok(key.help && key.group, key.name);
        assert.ok(['int', 'real', 'word', 'text', 'lines'].includes(key.type), key.name);
        if (key.type === 'word') assert.ok(key.choices.includes(key.default), key.name);
    }
    for (const { name, config, lesson } of presets) {
        assert.ok(lesson, name);
        assert.ok(simd.complete(config), name);
        assert.equal(simd.complete(`preset=${name}`), simd.complete(config));
    }
});

test('tensors, looking and predicting give what they say, with shapes', () => {
    const experiment = simd.open(RECALL);
    const names = experiment
        .tensors()
        .filter(({ weight }) => weight)
        .map(({ name }) => name);
    assert.ok(names.includes('embedding') && names.includes('block0.mixer.filter_q'));
    const before = experiment.tensor('embedding');
    assert.deepEqual(before.shape, [64, 32]);
    assert.equal(before.data.length, 64 * 32);
    experiment.step(100);

    const sample = experiment.look(5);
    assert.equal(sample.tokens.length, 64);
    assert.equal([...sample.targets].filter((target) => target >= 0).length, 8);
    const map = experiment.tensor('block0.mixer.map');
    assert.deepEqual(map.shape, [1, 64, 64]);
    for (let row = 0; row < 64; row++) {
        const weights = map.data.subarray(64 * row, 64 * row + 64);
        const total = weights.reduce((a, b) => a + b, 0);
        assert.ok(Math.abs(total - 1) < 1e-5, `row ${row} of the attention map sums to ${total}`);
        assert.ok(
            weights.subarray(row + 1).every((weight) => weight === 0),
            `row ${row} sees the future`,
        );
    }
    const again = experiment.predict(sample.tokens);
    const asked = [...sample.targets.keys()].filter((i) => sample.targets[i] >= 0);
    for (const i of asked) {
        assert.equal(again.predicted[i], sample.predicted[i]);
        assert.equal(again.confidence[i], sample.confidence[i]);
    }
    // Looking and evaluating leave training alone.
    experiment.evaluate({ count: 16 });
    experiment.step(10);
    const plain = trained(simd, RECALL, 110);
    assert.equal(experiment.digest(), plain.digest);
    experiment.close();
});

test('every task: the samples of the native program, to the bit, on both streams', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'seqmix-wasm-'));
    const bits = (x) => Array.from(new Uint32Array(x.buffer, x.byteOffset, x.length));
    for (const { name } of simd.config.tasks)
        for (const [stream, first] of [
            ['eval', 0],
            ['train', 99999999],
        ]) {
            const config = `task=${name}&mixer=attention&width=8&heads=1&batch=1&seed=77`;
            const options = ['--count', '2', '--first', `${first}`, '--stream', stream, '--out', folder];
            await run(built('seqmix').pathname, ['data', config, ...options]);
            for (const lab of [simd, scalar]) {
                const experiment = lab.open(config);
                for (const i of [0, 1]) {
                    const sample = experiment.look(first + i, { stream });
                    const own = {
                        [sample.values ? 'values' : 'tokens']: sample.values ?? sample.tokens,
                        targets: sample.targetValues ?? sample.targets,
                    };
                    for (const [array, got] of Object.entries(own)) {
                        const { data } = readNpy(join(folder, `${array}.npy`));
                        const part = data.subarray((i * data.length) / 2, ((i + 1) * data.length) / 2);
                        assert.deepEqual(
                            bits(got),
                            bits(part),
                            `${config}, ${stream} ${first + i}: ${array}`,
                        );
                    }
                }
                experiment.close();
            }
        }
    await rm(folder, { recursive: true });
});

test('tensor gives a view: it shows each step, writes the model, ends when memory grows', async () => {
    const lab = await load();
    const experiment = lab.open(RECALL);
    const [weight, gradient] = [experiment.tensor('embedding'), experiment.tensor('grad:embedding')];
    const before = weight.data.slice();
    const held = lab.bytes;
    experiment.step(3);
    assert.equal(lab.bytes, held, 'stepping grows no memory');
    assert.ok(weight.data.some((x, i) => x !== before[i]) && gradient.data.some((x) => x !== 0));
    assert.deepEqual(words(experiment.tensor('embedding').data), words(weight.data));
    const [first, digest] = [weight.data[5], experiment.digest()];
    weight.data[5] = first + 1;
    assert.notEqual(experiment.digest(), digest);
    weight.data[5] = first;
    assert.equal(experiment.digest(), digest);

    // A kernel takes the view itself, though its own memory may make the module's grow.
    const D = 32;
    const { y } = lab.kernels.bias({ x: weight.data, bias: new Float32Array(D), N: 64, D });
    assert.deepEqual(words(y), words(experiment.tensor('embedding').data));

    const others = [];
    while (lab.bytes === held) others.push(lab.open(RECALL));
    assert.equal(weight.data.length, 0);
    assert.equal(gradient.data.length, 0);
    const again = experiment.tensor('embedding');
    assert.deepEqual(words(again.data), words(y));
    assert.deepEqual(again.shape, weight.shape);
    const ended = weight.data;
    assert.throws(
        () => lab.kernels.gelu({ x: ended }),
        (error) => error.key === 'x',
    );
    for (const other of others) other.close();
    experiment.close();
});

test('a saved run goes on bit for bit, in the other module too', () => {
    const expected = trained(simd, RECALL, 80);
    const experiment = simd.open(RECALL);
    experiment.step(50);
    const bytes = experiment.save();
    experiment.close();
    for (const lab of [simd, scalar]) {
        const resumed = lab.load(bytes);
        assert.equal(resumed.metrics.step, 50);
        resumed.step(30);
        assert.equal(resumed.digest(), expected.digest, lab.isa);
        assert.deepEqual(words(resumed.losses()).slice(-30), expected.words.slice(50));
        resumed.close();
    }
    // As fetch, a file picker and a part of something larger hand it over.
    const larger = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, ...bytes);
    for (const held of [bytes.slice().buffer, new DataView(larger.buffer, 8), larger.subarray(8)]) {
        const same = simd.load(held);
        assert.equal(same.metrics.step, 50);
        same.close();
    }
    const longer = simd.load(bytes, 'steps=900');
    assert.equal(longer.metrics.steps, 900);
    longer.close();
});

test('sizes whose products pass 32 bits are refused in words', async () => {
    const SMALL = 'width=1&heads=1&batch=1&length=';
    for (const [config, key] of [
        [`mixer=las&task=own&channels=4096&${SMALL}1048576`, 'length'],
        [`mixer=attention&task=lcat&lcat_width=4096&lcat_block=65536&${SMALL}1048576`, 'length'],
        [`mixer=linear&task=own&classes=65536&${SMALL}65536`, ''],
        [`mixer=linear&task=own&classes=4096&batch=4&width=1&heads=1&length=1048576`, ''],
        ['mixer=linear&task=own&channels=0&vocab=1048576&classes=65536&width=4096&length=1', ''],
        ['mixer=linear&task=own&channels=4096&width=4096&blocks=64&mlp=16&length=1', ''],
    ]) {
        const lab = await load();
        assert.match(refusal(() => lab.open(config), key, key && '1048576').message, /memory/);
    }
    // The map of 65536 rows has 2^32 entries.
    const lab = await load();
    const long = lab.open(`mixer=attention&task=own&channels=0&vocab=2&${SMALL}8`);
    assert.throws(
        () => long.predict(new Int32Array(65536)),
        /out of memory for the attention maps at length 65536/,
    );
    long.close();
});

test('broken checkpoints are refused in words', () => {
    const experiment = simd.open(RECALL);
    const bytes = experiment.save();
    experiment.close();
    const broken = [
        new Uint8Array(),
        bytes.slice(0, 7),
        bytes.slice(0, 100),
        bytes.slice(0, -1),
        new Uint8Array(500).fill(255),
    ];
    for (const part of broken)
        assert.throws(
            () => simd.load(part),
            (error) => error instanceof SeqmixError && error.message.length > 10,
        );
    assert.throws(
        () => simd.load(bytes, 'steps=-1'),
        (error) => error.key === 'steps',
    );
});

test('no module, or a broken one, is said in words', async () => {
    await assert.rejects(load({ wasm: Uint8Array.of(1, 2, 3) }), SeqmixError);
    const absent = (error) =>
        error instanceof SeqmixError && /absent\.wasm cannot be read: /.test(error.message);
    await assert.rejects(load({ wasm: built('wasm/absent.wasm') }), absent);
    const server = createServer((_, answer) => answer.writeHead(404).end()).listen(0);
    const { port } = server.address();
    await assert.rejects(load({ wasm: `http://localhost:${port}/absent.wasm` }), /the answer was 404/);
    server.close().closeAllConnections();
    await assert.rejects(load({ wasm: `http://localhost:${port}/absent.wasm` }), absent);
});

test("a host's page in the module's place is named, here and for the self-check", async () => {
    const page = '<!doctype html><title>My app</title>';
    const server = createServer((_, answer) => answer.writeHead(200).end(page)).listen(0);
    const address = `http://localhost:${server.address().port}/seqmix.wasm`;
    const named = (error) =>
        error instanceof SeqmixError &&
        error.value === address &&
        error.message.startsWith(`${address} is no WebAssembly module: it begins with "<!doctype html>`);
    try {
        await assert.rejects(load({ wasm: address }), named);
        await assert.rejects(loadChecks(simd, address), named);
    } finally {
        server.close().closeAllConnections();
    }
});

test('an error as JSON keeps its sentence', () => {
    const error = refusal(() => simd.open('mixer=cta'), 'mixer', 'cta');
    const { name, message, key, value, allowed } = JSON.parse(JSON.stringify({ error })).error;
    assert.deepEqual([name, message, key, value], ['SeqmixError', error.message, 'mixer', 'cta']);
    assert.ok(message.includes('cta') && allowed.includes('cat'));
});

test('opening and closing leaves memory flat', async () => {
    const lab = await load();
    const cycle = () => {
        const experiment = lab.open(RECALL);
        experiment.step(1);
        experiment.evaluate({ count: 4 });
        experiment.look(0);
        experiment.save();
        experiment.close();
        assert.throws(() => lab.open('mixer=cta'));
        assert.throws(() => lab.open('width=30&heads=4'));
        lab.complete('mixer=cat~mixer=attention');
    };
    for (let i = 0; i < 10; i++) cycle();
    const before = lab.bytes;
    for (let i = 0; i < 200; i++) cycle();
    assert.equal(lab.bytes, before);
    assert.ok(before < 64 << 20, `${before} bytes for one small run`);
});

test('the self-check gives back what its trainings took', async () => {
    const lab = await load({ whole: true });
    const checks = await loadChecks(lab, await readFile(built('wasm/checks.wasm')));
    const trainings = [...checks.names.keys()].filter((i) => checks.names[i].startsWith('train '));
    assert.ok(trainings.length > 10);
    const again = () => trainings.map((i) => checks.digest(i));
    const digests = again();
    const held = lab.bytes;
    for (let i = 0; i < 3; i++) assert.deepEqual(again(), digests);
    assert.equal(lab.bytes, held);
});

test('evaluation with changes, confusion and warning', async () => {
    const experiment = simd.open(RECALL);
    experiment.step(200);
    const longer = experiment.evaluate({ count: 64, changes: 'length=256&pairs=16' });
    assert.ok(longer.accuracy > 0.98 && longer.targets === 64 * 16, JSON.stringify(longer));
    assert.equal(
        experiment.evaluate({ count: 64, changes: 'length=256' }).accuracy,
        experiment.evaluate({ count: 64, length: 256 }).accuracy,
    );
    assert.deepEqual(experiment.evaluate({ count: 64, length: 256, changes: 'pairs=16' }), longer);
    refusal(() => experiment.evaluate({ changes: 'width=16' }), 'width', '16');
    const plain = experiment.evaluate({ count: 64 });
    const table = experiment.confusion();
    const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
    assert.equal(table.length, 64);
    assert.equal(sum(table.map(sum)), plain.targets);
    assert.equal(sum(table.map((row, i) => row[i])), Math.round(plain.accuracy * plain.targets));
    assert.equal(experiment.warning, '');
    experiment.close();
    const ahead = simd.open('mixer=las&task=mqar&pool=centred');
    assert.match(ahead.warning, /las sees 1 token ahead/);
    assert.equal(ahead.confusion(), null, 'nothing was evaluated yet');
    ahead.close();
    const fast = simd.open('mixer=cat&task=mqar&fast=1');
    assert.match(fast.warning, /^fast=1 runs exactly here: /);
    fast.close();
});

test('drawn images: the answer while reading, and what it hangs on', async () => {
    for (const config of ['mixer=chela&task=smnist', 'mixer=cat&task=pmnist&blocks=1']) {
        const experiment = simd.open(config);
        experiment.step(20);
        const image = Uint8Array.from({ length: 784 }, (_, i) =>
            i % 28 > 9 && i % 28 < 16 ? (i * 37) % 200 : 0,
        );
        const answer = (pixels, of) => {
            const sample = experiment.predictImage(pixels);
            return experiment.reading(sample).at(of - 10);
        };
        const sample = experiment.predictImage(image);
        const [own] = sample.predicted;
        const reading = experiment.reading(sample);
        assert.equal(reading.length, sample.length * 10);
        for (let t = 0; t < sample.length; t++) {
            const total = reading.subarray(10 * t, 10 * t + 10).reduce((a, b) => a + b, 0);
            assert.ok(Math.abs(total - 1) < 1e-6, `row ${t} sums to ${total}`);
        }
        // After the last row it is the model's own answer: two roundings of the same mean apart.
        assert.ok(Math.abs(answer(image, own) / sample.confidence[0] - 1) < 1e-4);
        experiment.predictImage(image);
        const before = experiment.tensor('grad:head').data.slice();
        const saliency = experiment.saliency(sample, 3);
        assert.deepEqual(experiment.tensor('grad:head').data, before, 'the gradients of training are kept');
        if (sample.length !== 28) continue; // of the others a value is no single pixel
        // Central differences over 8 levels of grey: their error is the third derivative's,
        // far below the half allowed.
        let against = 0;
        let size = 0;
        for (let i = 10; i < 784; i += 28) {
            const [up, down] = [image.slice(), image.slice()];
            up[i] += 4;
            down[i] -= Math.min(4, down[i]);
            const slope = Math.log(answer(up, 3) / answer(down, 3)) / ((up[i] - down[i]) / 255 / 0.3081);
            against += (slope - saliency[i]) ** 2;
            size += slope ** 2;
        }
        assert.ok(size > 0 && Math.sqrt(against / size) < 0.05, `off by ${Math.sqrt(against / size)}`);
        experiment.close();
    }
    const tokens = simd.open(RECALL);
    const seen = tokens.look(0);
    refusal(() => tokens.saliency(seen), 'task', 'mqar');
    refusal(() => tokens.predictImage(new Uint8Array(784)), 'task', 'mqar');
    assert.throws(() => tokens.predictImage(new Uint8Array(3)), /3 pixels/);
    tokens.close();
});

test('MNIST files handed over are read, and refused in words', async () => {
    const lab = await load();
    const config = 'mixer=cat&task=smnist&data=mnist&blocks=1';
    assert.throws(() => lab.open(config), /train-images-idx3-ubyte: has not been loaded/);
    const idx = (magic, sizes, body) => {
        const bytes = new Uint8Array(4 + 4 * sizes.length + body.length);
        const view = new DataView(bytes.buffer);
        view.setUint32(0, magic);
        sizes.forEach((size, i) => view.setUint32(4 + 4 * i, size));
        bytes.set(body, 4 + 4 * sizes.length);
        return bytes;
    };
    const pixels = Uint8Array.from({ length: 4 * 784 }, (_, i) => i % 251);
    for (const part of ['train', 't10k']) {
        lab.provide(`${part}-images-idx3-ubyte`, idx(0x803, [4, 28, 28], pixels));
        lab.provide(`${part}-labels-idx1-ubyte`, idx(0x801, [4], Uint8Array.of(7, 1, 4, 9)));
    }
    const experiment = lab.open(config);
    const sample = experiment.look(0);
    assert.deepEqual([...sample.targets], [7]);
    assert.ok(Math.abs(sample.values[250] * 0.3081 + 0.1307 - 250 / 255) < 1e-6);
    experiment.close();
    lab.provide('t10k-labels-idx1-ubyte', idx(0x801, [3], Uint8Array.of(7, 1, 4)));
    assert.throws(() => lab.open(config), /3 labels for the 4 images/);
    lab.provide('train-images-idx3-ubyte', null);
    assert.throws(() => lab.open(config), /has not been loaded/);
});
