// kernels.test.mjs: every kernel of kernels.ts as its callers have it, in Node: kernels.txt says what
// smx.h says; every backward pass is the derivative of its forward pass; SIMD and scalar
// modules give the same bits, and a mixer's own activations come back; what is wrong is refused in a
// sentence; memory stays flat. Run by `make test` (node --test).
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readNpy, writeNpy } from '../support/npy.mjs';
import { KERNELS, kernelsOf } from '../../build/wasm/kernels.js';
import { load, SeqmixError } from '../../build/wasm/seqmix.js';

const at = (file) => new URL(`../../${file}`, import.meta.url);
const simd = await load({ whole: true });
const scalar = await load({ wasm: at('build/wasm/seqmix-scalar.wasm') });

// ---- The lines, read once more ----------------------------------------------------------------------------

const head = (name) => KERNELS[name].split(': ')[0].split('>')[0];
const tokens = (name) => KERNELS[name].split(': ')[1].split(' ');
const bare = (token) => /^[&>+~-]?(\w+)/.exec(token)?.[1];
const given = (name) =>
    tokens(name)
        .filter((token) => /^[\w&~-]/.test(token))
        .map(bare);
const results = (name) =>
    tokens(name)
        .filter((token) => /^[>&]/.test(token))
        .map(bare);
const arrays = (name) =>
    tokens(name)
        .filter((token) => /^[\w&][^=]*\[/.test(token))
        .map(bare);
const take = (names, from) =>
    Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]));
const forwards = Object.keys(KERNELS).filter((name) => !name.endsWith('Backward'));
// ---- Cases: arguments of every kernel that is not a backward pass -----------------------------------------

let seed = 1;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
const floats = (n, low = -1, high = 1) =>
    Float32Array.from({ length: n }, () => low + (high - low) * random());
const ints = (...values) => Int32Array.from(values);
const qkv = (n) => ({ q: floats(n), k: floats(n), v: floats(n) });
const sizes = { B: 2, L: 7, D: 6 };
const x = () => ({ x: floats(84), ...sizes });
const USUAL = { ...sizes, H: 3, N: 3, M: 2, V: 5, S: 3, W: 4, E: 3, m: 2, k: 3, n: 5, taps: 4, s: 3 };
/** What a line asks for: arrays of its shapes, sizes of the list above, and in their place what is given. */
function usual(name, own = {}) {
    // (Each kernel draws for itself: a new one moves no other. Landmark's choice is nowhere near a tie.)
    seed = [...name].reduce((sum, letter) => (31 * sum + letter.charCodeAt(0)) % 2147483647, 2);
    const known = { ...USUAL, ...own };
    const factor = (size) =>
        (Number(size) || known[size]) ??
        { span: 2 * known.L - 1, E3: 3 * known.E, E4: 4 * known.E }[size] ??
        assert.fail(`${name}: how large is ${size}?`);
    const all = {};
    for (const token of tokens(name).filter((each) => /^[\w&~]/.test(each))) {
        const [key, shape] = [bare(token), /\[(.*)\]/.exec(token)?.[1].split(',')];
        if (key in own || own.without?.includes(key)) continue;
        if (shape) all[key] = floats(shape.map(factor).reduce((a, b) => a * b, 1));
        else if (key in USUAL) all[key] = USUAL[key];
    }
    const { without: _, ...others } = own;
    return { ...all, ...others };
}
/** What is not as usual, and which optional arrays are left out. */
const OWN = {
    gemm: { n: 4 },
    log: { x: floats(5, 0.5, 2) },
    attention: { causal: true, decayTable: floats(39, 0.5, 1), chunk: 5, poolWindow: 3, scale: 0.7 },
    attentionMap: { without: 'decayTable bias', B: 1, b: 0, head: 2 },
    attentionMaps: { without: 'decayTable bias', causal: true },
    linearAttention: { q: floats(84, -0.2, 1), k: floats(84, -0.2, 1), C: 3, norm: 'rms' },
    blockFilter: { block: 3, forget: 0.2 },
    landmark: { block: 2 },
    conv: { groups: 2, future: 1 },
    rope: { D: 4, cs: floats(14), H: 2 },
    embedding: { tokens: ints(0, 4, 4, -1), N: 4 },
    gather: { rows: ints(2, -1) },
    crossEntropy: { target: ints(0, 4, -1), scale: 0.5 },
    mse: { scale: 0.5 },
    adamw: { v: floats(5, 0.1, 1), lr: 0.1, c1: 0.1, c2: 0.001 },
    rfft: { N: 8, D: 3 },
    irfft: { spectrum: floats(60), N: 8, D: 3 },
    longConv: { lambda: 0.01 },
    iir: { L: 6, theta: floats(96, -0.4, 0.4), bins: 2, F: 2, mode: 'carry' },
    theta: { n: 6, triangle: true },
    maxpool: { bins: 2, O: 2 },
    scan: { dt: floats(84, 0.1, 1) },
    s4d: { logDt: floats(3, -2, -1), aIm: floats(6, 0, 3), C: floats(12), D: 3, S: 2 },
    gla: {
        q: floats(56),
        k: floats(56),
        beta: floats(28, 0, 1),
        g: floats(56, -1, 0),
        ...{ H: 2, keys: 2, values: 3, gates: 'channel' },
        without: 'erase', // the delta rule's
    },
    delta: {
        q: floats(28),
        k: floats(28, -0.5, 0.5),
        beta: floats(28, 0, 1),
        g: floats(28, -1, 0),
        erase: floats(28, -0.5, 0.5),
        ...{ H: 2, keys: 2, values: 3, gates: 'head', shared: true },
    },
    taylor: { d: 4 },
    lasDecay: { alphas: floats(3, 0, 1) },
};
const CASES = Object.fromEntries(forwards.map((name) => [name, usual(name, OWN[name])]));
/** Where another setting takes another path. */
const VARIANTS = [
    ['attention', { ...qkv(84), ...sizes, H: 2, causal: true, sliding: 3 }],
    ['attention', { ...qkv(84), ...sizes, H: 2 }],
    [
        'linearAttention',
        { q: floats(84, 0.1, 1), k: floats(84, 0.1, 1), v: floats(84), ...sizes, H: 2, norm: 'sum' },
    ],
    ['iir', { ...CASES.iir, mode: 'literal' }],
    ['iir', { ...CASES.iir, mode: 'causal' }],
    ['s4d', { logDt: floats(3, -2, -1), logA: floats(6), C: floats(6), L: 7, D: 3, S: 2 }],
    ['longConv', { ...x(), k: floats(24), taps: 4 }],
    ['theta', { raw: floats(6), n: 6 }],
    ['gla', { q: floats(14), k: floats(14), v: floats(21), start: floats(6), L: 7, keys: 2, values: 3 }],
    [
        'gla',
        {
            q: floats(14),
            k: floats(14),
            v: floats(21),
            g: floats(1, -1, 0),
            start: floats(6),
            L: 7,
            keys: 2,
            values: 3,
            gates: 'fixed',
        },
    ],
    // Every length of a last register that is not full, alone and after a full one.
    ...Array.from({ length: 31 }, (_, i) => i + 1).flatMap((n) => [
        ['add', { a: floats(n), b: floats(n), n }],
        ['layernorm', usual('layernorm', { N: 2, D: 2 + n })], // of two it is constant
    ]),
];

const CALLS = [...Object.entries(CASES), ...VARIANTS];
const forward = (lab, name, all) => lab.kernels[name](take(given(name), all));
/** Of the backward pass: what the call was given, what it gave, a gradient of its first result. */
function backwardArguments(name, all, found) {
    const back = `${name}Backward`;
    const gradient = `d${results(name)[0]}`;
    const size = (found[results(name)[0]] ?? []).length;
    const weights = Float32Array.from({ length: size }, (_, i) => 0.3 + ((i * 7) % 5) / 4);
    return { weights, args: take(given(back), { ...all, ...found, [gradient]: weights, dout: weights }) };
}
const words = (array) => [...new Uint32Array(array.buffer, array.byteOffset, array.length)];
function same(one, other, what) {
    assert.deepEqual(Object.keys(one).sort(), Object.keys(other).sort(), what);
    for (const [name, value] of Object.entries(one))
        if (typeof value === 'number') assert.equal(other[name], value, `${what}: ${name}`);
        else assert.deepEqual(words(other[name]), words(value), `${what}: ${name}`);
}
function refused(call, key) {
    try {
        call();
    } catch (error) {
        assert.ok(error instanceof SeqmixError, `${error.stack} is no SeqmixError`);
        assert.match(error.message, /^\w+[ :].*allowed: |is missing and does not follow/);
        assert.ok(!error.message.includes('\n'));
        if (key) assert.equal(error.key, key);
        return error;
    }
    return assert.fail('nothing was refused');
}

// ---- Tests ------------------------------------------------------------------------------------------------

const text = (file) => readFile(at(file), 'utf8');
/** What scripts/kernels.awk makes of a table. */
const made = (make, table) =>
    spawnSync('awk', ['-v', `make=${make}`, '-f', 'scripts/kernels.awk', table], { encoding: 'utf8' });

test('kernels.txt has every kernel of smx.h, its arguments in order and by their names', async () => {
    const header = (await text('include/seqmix/smx.h')).replace(/\/\/.*/g, '');
    const parameters = (list) => list.split(',').map((one) => one.replaceAll('SMX_RESTRICT', '').trim());
    // A struct is known by its type; `norm` is what linearAttention calls its setting.
    const named = (one) => /(smx_\w+) \*/.exec(one)?.[1] ?? /\w+$/.exec(one)[0].replace(/^norms$/, 'norm');
    const lists = [
        ...(await text('build/kernels.def')).matchAll(/^SMX_KERNEL\w*\(\w+, (\w+), \((.*?)\), /gm),
    ];
    const said = new Map(lists.map(([, name, list]) => [name, parameters(list).map(named)]));
    assert.ok(said.size >= 90, `${said.size} kernels`);
    for (const [name, own] of said) {
        const [, list] =
            new RegExp(`\\bsmx_${name}\\(([^)]*)\\);`).exec(header) ?? assert.fail(`${name} is not in smx.h`);
        assert.deepEqual(own, parameters(list).map(named), name);
    }
    const declared = [...header.matchAll(/\bsmx_(\w+(?:_fwd|_bwd|_push))\(/g)].map(([, name]) => name);
    assert.deepEqual(
        declared.filter((name) => !said.has(name)),
        [],
    );
    assert.equal(await text('wasm/loader/kernel_table.ts'), made('table', 'kernels/kernels.txt').stdout);
    // (lasDecay is no kernel of smx.h.)
    assert.equal(Object.keys(KERNELS).length, lists.filter(([line]) => !line.includes('_PUSH')).length + 1);
});

test('a row of kernels.txt that is wrong does not compile', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'seqmix-kernels-'));
    const table = await text('kernels/kernels.txt');
    mkdirSync(join(folder, 'build'));
    const compiled = (...line) =>
        spawnSync(
            line[0],
            [...line.slice(1), '-std=gnu11', '-fsyntax-only', `-I${folder}`, '-Iinclude', '-I.'],
            {
                encoding: 'utf8',
            },
        );
    const native = () => compiled('gcc', '-DSMX_HAVE_scalar', 'kernels/dispatch.c');
    const digest = () => compiled('gcc', 'kernels/digest.c');
    const flat = () => compiled('emcc', '-DSMX_ONLY', 'wasm/exports.c');
    const tried = (from, to, compile) => {
        assert.ok(table.includes(from), from);
        writeFileSync(join(folder, 'kernels.txt'), table.replace(from, to));
        const { stdout, stderr, status } = made('c', join(folder, 'kernels.txt'));
        if (status !== 0) return stderr;
        writeFileSync(join(folder, 'build/kernels.def'), stdout);
        return compile().stderr;
    };
    for (const [from, to, compile, expected] of [
        ['', '', native, /^$/],
        ['', '', flat, /^$/],
        ['scale: >y[n] x[n] ~s n', 'scale: >y[n] ~s x[n] n', native, /conflicting types for .smx_scale/],
        ['argmax: >best#', 'argmax: >best', native, /conflicting types for .smx_argmax/],
        ['axpy: &y[n]', 'axpy: y[n]', native, /conflicting types for .smx_axpy/],
        ['sumsq > double', 'sumsq > float', native, /conflicting types for .smx_sumsq/],
        ['taylor_fwd:', 'taylors_fwd:', digest, /taylors_fwd/],
        ['usual: n is', 'usual: m is', native, /sum has sizes n: say its cases, or 'by hand: why'/],
        ['x(1,2) gain', 'x(1,2) gains', native, /kernels\.txt:\d+: layernorm_fwd has no array gains/],
        ['in place: last=start', 'in place: last', native, /what is 'last'\? allowed: result=argument/],
        [
            'cases $IIRS: x theta',
            'cases later: x theta',
            native,
            /what are 'later'\? allowed: sizes = values/,
        ],
        ['target(integers,-1,V)', 'target', native, /target are whole numbers; allowed: integers, picks/],
        [
            '$CELLS = recurrent{ B=1',
            '$CELLS = recurrent{ N=1',
            native,
            /smx_recurrent.* has no member named .N/,
        ],
        ['causal! ~scale', '~scale causal!', flat, /kernels.txt has smx_attention.causal in another place/],
        ['chunk=0\n        pool_window=0', 'chunk=0', flat, /has not every field of smx_attention/],
        ['causal! ~scale', 'causal ~scale', native, /another kind of smx_attention.causal/],
        ['gelu_fwd: >y[n]', 'gelu_fwd: >y(n)', native, /kernels\.txt:\d+: what is '>y\(n\)'/],
        [
            '$QKV @attention_fwd',
            '$QVK @attention_fwd',
            native,
            /kernels\.txt:\d+: \$QVK is said nowhere above/,
        ],
        ['mul: >y', 'add: >y', native, /kernels\.txt:\d+: add is said twice/],
        ['ulp terms: 4 1 0.8', 'ulp terms: 4 1', native, /kernels\.txt:\d+: what is 'ulp terms: 4 1'/],
    ])
        assert.match(tried(from, to, compile), expected, `${from} -> ${to}`);
    rmSync(folder, { recursive: true });
});

test('every kernel has a case, and gives the same bits in the SIMD and the scalar module', () => {
    assert.deepEqual(
        Object.keys(OWN).filter((name) => !forwards.includes(name)),
        [],
    );
    for (const [name, all] of CALLS) {
        const found = forward(simd, name, all);
        same(found, forward(scalar, name, all), name);
        const back = `${name}Backward`;
        if (!KERNELS[back]) continue;
        const { args } = backwardArguments(name, all, found);
        same(simd.kernels[back](args), scalar.kernels[back](args), back);
    }
});

/** Entries that are not read, or count for nothing, so that a NaN there is nowhere in the results. */
const UNSEEN = {
    attention: { decayTable: 24, bias: 24 }, // of later rows and other chunks
    attentionBackward: { decayTable: 24, bias: 24 },
    attentionMap: { q: 28, k: 28 }, // of other heads
    elu1Backward: { y: 5 }, // forward's result; dy says it
    landmark: { marks: 48 }, // inside a block
    embedding: { table: 18 }, // of tokens that are not there
    embeddingBackward: { dy: 6 },
    gather: { x: 12 },
    gatherBackward: { dy: 6 },
    crossEntropy: { logits: 5 }, // without a target
    crossEntropyBackward: { logits: 5, stats: 2 },
    mse: { target: 3 }, // a target that is NaN is none
    mseBackward: { target: 3 },
    argmax: { x: 15 }, // gives whole numbers
    irfft: { spectrum: 12 }, // imaginary parts of what is real
    longConvBackward: { k: 24, spectrum: 160 }, // its signs alone; channels that are not there
    iirBackward: { x: 12 }, // the last row
    emaBackward: { states: 60 }, // channels that are not there
    lstmBackward: { y: 6 }, // the last row
    gruBackward: { y: 6 },
    taylorBackward: { dy: 3 }, // of the 1
    'iirBackward 4': { x: 24 },
    'longConvBackward 6': { k: 24, spectrum: 160 },
    'glaBackward 8': { states: 26 }, // room
};
/** Each entry of each array in turn is NaN: of how many no result says so. */
function unseen(name, args) {
    const count = {};
    for (const key of Object.keys(args).filter((each) => args[each] instanceof Float32Array))
        for (let i = 0; i < args[key].length; i++) {
            const own = { ...args, [key]: args[key].with(i, NaN) };
            // (As plain numbers: which NaN it is, no machine promises.)
            const [one, other] = [simd, scalar].map((lab) =>
                Object.values(lab.kernels[name](own)).map((all) =>
                    typeof all === 'number' ? [all] : [...all],
                ),
            );
            assert.deepEqual(one, other, `${name} where ${key}[${i}] is NaN`);
            if (!one.flat().some(Number.isNaN)) count[key] = (count[key] ?? 0) + 1;
        }
    return count;
}
test('a NaN is seen: in any entry of any array, forward and backward, in the SIMD and the scalar module', () => {
    const found = {};
    for (const [i, [name, all]] of CALLS.entries()) {
        const called = i < forwards.length ? '' : ` ${i - forwards.length}`,
            back = `${name}Backward`;
        found[name + called] = unseen(name, take(given(name), all));
        if (KERNELS[back])
            found[back + called] = unseen(back, backwardArguments(name, all, forward(simd, name, all)).args);
    }
    const some = Object.entries(found).filter(([, count]) => Object.keys(count).length);
    assert.deepEqual(Object.fromEntries(some), UNSEEN);
});

test('results are overwritten, whatever is there, and those with a + in kernels.txt added to it', () => {
    const marks = Object.fromEntries(
        [...made('marks', 'kernels/kernels.txt').stdout.matchAll(/^ {4}(\w+): `.*?: (.*)`,$/gm)].map(
            ([, name, line]) => [name, line.split(' ').filter((token) => token.includes('['))],
        ),
    );
    let held = [];
    let before = () => {};
    // The module, but that results are full of ones when a kernel is called.
    const filled = kernelsOf(
        new Proxy(
            {},
            {
                get: (_, key) => {
                    const own = simd.exports[key];
                    if (key === 'lab_alloc')
                        return (bytes) => {
                            held.push([own(bytes), bytes]);
                            return held.at(-1)[0];
                        };
                    if (typeof own !== 'function' || !/^smx_/.test(key)) return own;
                    return (...args) => {
                        before(key);
                        return own(...args);
                    };
                },
            },
        ),
    );
    let added = 0;
    const tried = (name, args) => {
        const plain = simd.kernels[name](args);
        // Memory is asked for array by array, in the order of the line.
        const there = marks[name].filter((token) => bare(token) in (/^[>+]/.test(token) ? plain : args));
        held = [];
        before = (call) => {
            if (call !== `smx_${head(name)}`) return;
            for (const [i, token] of there.entries())
                if (/^[>+]/.test(token))
                    new Float32Array(
                        simd.exports.memory.buffer,
                        Math.ceil(held[i][0] / 64) * 64,
                        held[i][1] / 4 - 16,
                    ).fill(1);
        };
        const found = filled[name](args);
        for (const token of there.filter((each) => /^[>+]/.test(each))) {
            const [result, what] = [bare(token), `${name}: ${token}`];
            // (Gates that are the same for every row are weights: smx.h.)
            if (!token.startsWith('+') && !(result === 'dg' && args.gates === 'fixed')) {
                assert.deepEqual(words(found[result]), words(plain[result]), what);
                continue;
            }
            added++;
            for (const [i, value] of found[result].entries())
                assert.ok(
                    Math.abs(value - 1 - plain[result][i]) <= 1e-5 * (1 + Math.abs(value)),
                    `${what}[${i}]`,
                );
        }
    };
    for (const [name, all] of CALLS) {
        if (!marks[name]) continue; // lasDecay
        tried(name, take(given(name), all));
        if (KERNELS[`${name}Backward`])
            tried(`${name}Backward`, backwardArguments(name, all, forward(simd, name, all)).args);
    }
    assert.ok(added >= 30, `${added} were added to`);
});

test('every backward pass is the derivative of its forward pass', () => {
    const checked = new Set();
    for (const [name, all] of CALLS) {
        const back = `${name}Backward`;
        if (!KERNELS[back]) continue;
        const out = results(name)[0];
        const found = forward(simd, name, all);
        const { weights, args } = backwardArguments(name, all, found);
        const scale = args.scale ?? 1; // the losses take one weight for all rows
        const total = (changed) => {
            const y = forward(simd, name, changed)[out];
            if (out === 'loss') return y.reduce((sum, value) => sum + scale * value, 0);
            return y.reduce((sum, value, i) => sum + weights[i] * value, 0);
        };
        for (const [gradient, values] of Object.entries(simd.kernels[back](args))) {
            const of = arrays(name).find((key) => `d${key}`.toLowerCase() === gradient.toLowerCase());
            assert.ok(of, `${back}: ${gradient} is the gradient of nothing`);
            assert.equal(values.length, all[of].length, `${back}: ${gradient}`);
            const largest = Math.max(...values.map(Math.abs));
            assert.ok(largest > 1e-3, `${back}: ${gradient} is 0`);
            for (let i = 0; i < values.length; i += Math.ceil(values.length / 9)) {
                const difference = (h) => {
                    const moved = (by) => {
                        const copy = all[of].slice();
                        copy[i] += by;
                        return total({ ...all, [of]: copy });
                    };
                    return (moved(h) - moved(-h)) / (2 * h);
                };
                // Richardson: what is left is of fourth order in h, beside rounding over h.
                const expected = (4 * difference(1 / 64) - difference(1 / 32)) / 3;
                assert.ok(
                    Math.abs(values[i] - expected) <= 1e-3 * Math.max(1, largest),
                    `${back}: ${gradient}[${i}] is ${values[i]}, by differences ${expected}`,
                );
            }
        }
        checked.add(back);
    }
    const backs = Object.keys(KERNELS).filter((name) => name.endsWith('Backward'));
    assert.deepEqual([...checked].sort(), backs.sort());
});

test('what has no backward pass, against its definition', () => {
    const near = (got, wanted, what) => {
        assert.equal(got.length, wanted.length, what);
        for (const [i, value] of wanted.entries())
            assert.ok(Math.abs(got[i] - value) < 1e-5, `${what}[${i}]: ${got[i]}`);
    };
    const {
        gemm,
        add,
        mul,
        scale,
        axpy,
        exp,
        log,
        sincos,
        sum,
        dot,
        rfft,
        irfft,
        argmax,
        adamw,
        sumsq,
        lasDecay,
    } = CASES;
    const k = simd.kernels;
    const product = (turnA, turnB) =>
        Array.from({ length: 8 }, (_, at) => {
            const [i, j] = [Math.floor(at / 4), at % 4];
            let total = 0;
            for (let l = 0; l < 3; l++)
                total += gemm.a[turnA ? l * 2 + i : i * 3 + l] * gemm.b[turnB ? j * 3 + l : l * 4 + j];
            return total;
        });
    for (const transA of [false, true])
        for (const transB of [false, true])
            near(k.gemm({ ...gemm, transA, transB }).c, product(transA, transB), `gemm ${transA} ${transB}`);
    near(
        k.add(add).y,
        add.a.map((a, i) => a + add.b[i]),
        'add',
    );
    near(
        k.mul(mul).y,
        mul.a.map((a, i) => a * mul.b[i]),
        'mul',
    );
    near(
        k.scale(scale).y,
        scale.x.map((a) => 3 * a),
        'scale',
    );
    near(
        k.axpy(axpy).y,
        axpy.x.map((a, i) => axpy.y[i] + 3 * a),
        'axpy',
    );
    near(k.exp(exp).y, exp.x.map(Math.exp), 'exp');
    near(k.log(log).y, log.x.map(Math.log), 'log');
    near(k.sincos(sincos).s, sincos.x.map(Math.sin), 'sin');
    near(k.sincos(sincos).c, sincos.x.map(Math.cos), 'cos');
    near([k.sum(sum).sum], [sum.x.reduce((a, b) => a + b)], 'sum');
    near([k.dot(dot).dot], [dot.x.reduce((a, b, i) => a + b * dot.y[i], 0)], 'dot');
    near([k.sumsq(sumsq).sum], [sumsq.g.reduce((a, b) => a + b * b, 0)], 'sumsq');
    near(
        k.argmax(argmax).best,
        [0, 1, 2].map((n) => {
            const row = argmax.x.slice(5 * n, 5 * n + 5);
            return row.indexOf(Math.max(...row));
        }),
        'argmax',
    );
    const first = Array.from({ length: 5 }, (_, bin) =>
        [Math.cos, (angle) => -Math.sin(angle)].map((wave) =>
            Array.from({ length: 8 }, (_, t) => rfft.x[3 * t] * wave((2 * Math.PI * bin * t) / 8)).reduce(
                (a, b) => a + b,
            ),
        ),
    ).flat();
    const { spectrum } = k.rfft(rfft);
    near(
        Array.from({ length: 10 }, (_, i) => spectrum[3 * i]),
        first,
        'rfft',
    );
    near(k.irfft({ ...irfft, spectrum }).x, rfft.x, 'irfft');
    const step = k.adamw(adamw);
    near(
        step.m,
        adamw.m.map((m, i) => 0.9 * m + 0.1 * adamw.g[i]),
        'adamw m',
    );
    near(
        step.v,
        adamw.v.map((v, i) => 0.999 * v + 0.001 * adamw.g[i] ** 2),
        'adamw v',
    );
    near(
        step.p,
        adamw.p.map((p, i) => p - (0.1 * step.m[i]) / 0.1 / (Math.sqrt(step.v[i] / 0.001) + 1e-8)),
        'adamw p',
    );
    near(
        k.lasDecay(lasDecay).decayTable,
        Array.from({ length: 39 }, (_, i) =>
            Math.exp(-lasDecay.alphas[Math.floor(i / 13)] * Math.abs(6 - (i % 13))),
        ),
        'lasDecay',
    );
    const { q, k: keys } = CASES.attentionMap;
    const score = Array.from({ length: 7 }, (_, j) =>
        Math.exp((q[4] * keys[6 * j + 4] + q[5] * keys[6 * j + 5]) / Math.SQRT2),
    );
    const whole = score.reduce((a, b) => a + b);
    near(
        k.attentionMap(CASES.attentionMap).map.slice(0, 7),
        score.map((s) => s / whole),
        'attentionMap',
    );
});

const POOLS = [
    ['trailing', 4],
    ['centred', 5],
    ['masked', 3],
    ['none', 3],
];
for (const [pool, window] of POOLS)
    test(`lasAttention, pool ${pool}: the bits of the mixer, and its own derivative`, () => {
        const run = simd.open(
            'mixer=las&task=mqar&length=32&seed=2&blocks=1&heads=4&decay_range=2' +
                `&pool=${pool}&window=${window}`,
        );
        run.look(0);
        const data = (name) => run.tensor(`block0.mixer.${name}`).data.slice();
        const [q, k, v] = ['q', 'k', 'v'].map(data);
        const { las, back } = { las: simd.kernels.lasAttention, back: simd.kernels.lasAttentionBackward };
        const all = { q, k, v, L: 32, H: 4, range: 2, pool, window };
        const found = las(all);
        assert.deepEqual(words(found.o), words(data('o')));
        run.close();
        const dout = floats(q.length);
        const gradients = back({ ...all, ...found, dout });
        const total = (changed) => las(changed).o.reduce((sum, value, i) => sum + dout[i] * value, 0);
        for (const name of ['q', 'k', 'v'])
            for (const i of [5, 300, 777]) {
                const moved = (by) => {
                    const copy = all[name].slice();
                    copy[i] += by;
                    return total({ ...all, [name]: copy });
                };
                const expected = (moved(1 / 64) - moved(-1 / 64)) * 32;
                assert.ok(Math.abs(gradients[`d${name}`][i] - expected) < 2e-3, `${name}[${i}]: ${expected}`);
            }
        refused(() => las({ ...all, window: 2.5 }), 'window');
        refused(() => las({ ...all, pool: 'some' }), 'pool');
        refused(() => las({ ...all, colour: 1 }), 'colour');
        refused(() => las({ ...all, causal: false }), 'causal');
        refused(() => las({ ...all, chunk: -1 }), 'chunk');
    });

test('lasAttention against the oracle in double precision, every pool, with gradients', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'seqmix-kernels-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const [L, D, H] = [19, 12, 3];
    const all = { ...qkv(L * D), L, H };
    const dout = floats(L * D);
    for (const [name, data] of Object.entries({ q: all.q, k: all.k, v: all.v, dy: dout }))
        writeNpy(join(folder, `${name}.npy`), [L, D], data);
    const CHUNKS = [0, 8, 30]; // of 19 rows: off, two and a short one, more than all
    for (const [pool, window, chunk] of POOLS.flatMap((one) => CHUNKS.map((chunk) => [...one, chunk]))) {
        const habits = { pool, window, range: 2, chunk };
        const out = join(folder, `${pool}${chunk}`);
        const params = [`H=${H}`, `P=${window}`, 'B=2', `pool=${pool}`, `chunk=${chunk}`].flatMap((one) => [
            '--param',
            one,
        ]);
        const folders = ['--in', folder, '--out', out];
        execFileSync(at('build/seqmix').pathname, ['oracle', 'las_attention_qkv', ...params, ...folders]);
        const found = simd.kernels.lasAttention({ ...all, ...habits });
        const gradients = simd.kernels.lasAttentionBackward({ ...all, ...habits, ...found, dout });
        for (const [name, got] of Object.entries({ y: found.o, ...gradients })) {
            const { data } = readNpy(join(out, `${name.replace(/^d/, 'd_')}.npy`));
            assert.equal(got.length, data.length);
            const worst = Math.max(...got.map((value, i) => Math.abs(value - data[i])));
            // Some 8 units of the last place of 1.
            assert.ok(worst < 1e-6, `${pool}, chunk ${chunk}: ${name} differs by ${worst}`);
        }
    }
});

test('lasAttention: the chunks of a batch are sequences of their own', () => {
    const [B, L, D, H, chunk] = [3, 24, 6, 2, 8];
    const all = qkv(B * L * D);
    for (const [pool, window] of POOLS) {
        const habits = { H, pool, window, alphas: Float32Array.of(0.1, 0.4) };
        const together = simd.kernels.lasAttention({ ...all, ...habits, B, L, chunk });
        same(
            { o: simd.kernels.lasAttention({ ...all, ...habits, B: (B * L) / chunk, L: chunk }).o },
            { o: together.o },
            pool,
        );
        const short = simd.kernels.lasAttention({ ...all, ...habits, B, L, chunk: 7 });
        const row = (of, b) => of.slice(b * L * D, (b + 1) * L * D);
        const last = ['q', 'k', 'v'].map((name) => [name, row(all[name], B - 1)]);
        const alone = simd.kernels.lasAttention({ ...Object.fromEntries(last), ...habits, L, chunk: 7 });
        same({ o: row(short.o, B - 1) }, { o: alone.o }, `${pool}, a short last chunk`);
    }
});

test('sizes that are left out follow from the arrays, or the refusal names one', () => {
    let inferred = 0;
    for (const [name, all] of CALLS) {
        const args = take(given(name), all);
        const full = simd.kernels[name](args);
        for (const key of Object.keys(args)) {
            if (!Number.isInteger(args[key]) || tokens(name).some((token) => token.startsWith(`${key}=`)))
                continue;
            const { [key]: _, ...rest } = args;
            if (tokens(name).includes(`~${key}`)) continue;
            try {
                same(simd.kernels[name](rest), full, `${name} without ${key}`);
                inferred++;
            } catch (error) {
                assert.ok(error instanceof SeqmixError, `${error.stack}`);
                assert.ok(given(name).includes(error.key), error.message);
            }
        }
    }
    assert.ok(inferred > 60, `${inferred}`);
    const { q, k, v } = qkv(64);
    assert.equal(simd.kernels.attention({ q, k, v, D: 8 }).stats.length, 16); // one sequence, one head
});

test('wrong lengths, sizes, kinds and names are refused in a sentence', () => {
    for (const [name, all] of CALLS) {
        const call = simd.kernels[name];
        const args = take(given(name), all);
        for (const array of arrays(name)) {
            if (!(array in args)) continue;
            const n = args[array].length;
            for (const length of [0, n - 1, n + 1, 2 * n])
                refused(() => call({ ...args, [array]: new args[array].constructor(length) }));
            refused(() => call({ ...args, [array]: [...args[array]] }), array);
            refused(() => call({ ...args, [array]: new Float64Array(n) }), array);
            const { [array]: _, ...rest } = args;
            if (!tokens(name).some((token) => token.startsWith(`${array}?`)))
                refused(() => call(rest), array);
        }
        for (const [key, value] of Object.entries(args))
            if (typeof value === 'number')
                for (const bad of [NaN, Infinity, '3', null])
                    refused(() => call({ ...args, [key]: bad }), key);
        for (const size of tokens(name).filter((token) => /^[A-Za-z]\w*$/.test(token)))
            for (const bad of [0, -1, 1.5, 2 ** 31, 2 ** 32 + args[size]])
                refused(() => call({ ...args, [size]: bad }), size);
        refused(() => call({ ...args, colour: 1 }), 'colour');
        refused(() => call());
    }
    const k = simd.kernels;
    refused(() => k.attention({ ...CASES.attention, H: 4, decayTable: undefined, bias: undefined }), 'H');
    refused(() => k.attention({ ...CASES.attention, poolWindow: 2 }), 'poolWindow');
    refused(() => k.gla({ ...CASES.gla, erase: floats(56) }), 'erase');
    refused(() => k.attention({ ...CASES.attention, causal: 1 }), 'causal');
    refused(() => k.linearAttention({ ...CASES.linearAttention, norm: 'some' }), 'norm');
    refused(() => k.attentionMap({ ...CASES.attentionMap, head: 3 }), 'head');
    refused(() => k.conv({ ...CASES.conv, future: 4 }), 'future');
    refused(() => k.rfft({ x: floats(18), B: 1, N: 6, D: 3 }), 'N');
    refused(() => k.gather({ ...CASES.gather, rows: ints(0, 3) }), 'rows');
    refused(() => k.landmark({ ...CASES.landmark, block: 8 }), 'block');
    refused(() => k.gla({ ...CASES.gla, gates: 'none' }), 'gates');
    refused(() => k.gla({ ...CASES.gla, gates: 'head' }), 'g');
    refused(() => k.delta({ ...CASES.delta, beta: undefined }), 'beta');
    const wide = new Float32Array(2 ** 20);
    refused(() => k.gla({ q: wide, k: wide, v: wide, L: 1, keys: 2 ** 20, values: 2 ** 20 }), 'keys');
    const pooled = k.maxpool(CASES.maxpool);
    pooled.where[3] = 7;
    refused(() => k.maxpoolBackward({ de: pooled.e, where: pooled.where, ...sizes, bins: 2, O: 2 }), 'where');
    refused(() => k.bias({ x: new Float32Array(0), bias: new Float32Array(0), N: 1, D: 1 }));
    refused(() => k.lasAttention(), 'q');
    assert.equal(k.rfft({ x: floats(3), N: 1, D: 3 }).spectrum.length, 6);
    assert.throws(() => k.s4d({ ...CASES.s4d, L: 2 ** 31 - 1 }), /out of memory/);
});

test('settings at their ends leave the module as it was', () => {
    const run = simd.open('mixer=cat&task=mqar&length=16&pairs=2');
    run.step(2);
    const before = run.digest();
    const most = 2 ** 31 - 1;
    const k = simd.kernels;
    const all = { ...qkv(84), ...sizes, H: 3 };
    const plain = k.attention({ ...all, causal: true });
    same(k.attention({ ...all, causal: true, chunk: most }), plain, 'a chunk of everything');
    same(
        k.linearAttention({ ...all, C: most }),
        k.linearAttention({ ...all, C: 7 }),
        'a block of everything',
    );
    const masked = k.attention({ ...all, causal: true, poolWindow: most });
    assert.ok(masked.o.every((value) => Math.abs(value) < 1e-6)); // averages over 2^31 columns
    for (const block of [1, 7]) k.landmark({ ...all, marks: floats(84), block });
    k.blockFilter({ ...x(), block: 7 });
    k.maxpool({ ...x(), bins: 1, O: 100 });
    refused(() => k.maxpool({ ...x(), bins: 1, O: most }), 'O');
    k.conv({ ...x(), f: floats(1000), groups: 1, W: 1000, future: 999 });
    k.convHeads({ ...x(), f: floats(450), H: 3, W: 50 });
    k.longConv({ ...x(), k: floats(600), taps: 100 });
    for (const bins of [1, 7]) k.iir({ ...x(), theta: floats(24 * bins), bins, F: 1, mode: 'literal' });
    k.embedding({ table: floats(20), tokens: ints(most, -most - 1), N: 2, D: 4, V: 5 });
    for (const window of [1, 65535]) k.lasAttention({ ...all, window, pool: 'masked' });
    assert.throws(() => k.attentionMap({ q: floats(40000), k: floats(40000), D: 1 }), /out of memory/);
    assert.equal(run.digest(), before);
    run.step(2);
    run.close();
});

test('memory stays flat over 10,000 calls, refused ones among them', () => {
    const names = forwards.slice(0, 50);
    const round = () => {
        for (const name of names) {
            const all = CASES[name];
            const found = forward(simd, name, all);
            if (!KERNELS[`${name}Backward`])
                refused(() => simd.kernels[name]({ ...take(given(name), all), colour: 1 }));
            else simd.kernels[`${name}Backward`](backwardArguments(name, all, found).args);
        }
    };
    round();
    const before = simd.bytes;
    for (let i = 0; i < 10_000 / (2 * names.length); i++) round();
    assert.equal(simd.bytes, before);
});
