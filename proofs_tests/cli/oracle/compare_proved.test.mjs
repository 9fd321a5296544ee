// compare_proved.test.mjs: seqmix compare and judge hold float32 rows to what is proved of seqmix's own:
// faults that their tolerance lets pass are past it, sums in another order are not, --tol judges by itself,
// and where a premise fails, or no theorem speaks of an array, the tolerance alone decides.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readNpy, writeNpy } from '../../support/npy.mjs';
import { seqmix } from '../../support/program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-proved-'));
after(() => rmSync(folder, { recursive: true }));
const at = (...names) => join(folder, ...names);
const list = at('set', 'manifest.json');
const MECHANISMS = [
    'softmax_attention',
    'softmax_attention_qkv',
    'attn_core',
    'rms_norm',
    'layer_norm',
    'batch_norm',
];
let cases;
before(() => {
    assert.equal(seqmix('vectors', '--out', at('set')).status, 0);
    const whole = JSON.parse(readFileSync(list, 'utf8'));
    cases = whole.cases
        .filter(({ mechanism }) => MECHANISMS.includes(mechanism))
        .map((one) => (one.mechanism === 'rms_norm' ? one : { ...one, gradients: {} }));
    writeFileSync(list, JSON.stringify({ ...whole, cases }));
    assert.equal(seqmix('oracle', '--manifest', list, '--out', at('right')).status, 0);
});
const compare = (results, ...options) => seqmix('compare', '--manifest', list, results, ...options);
const rowsOf = ({ stdout }) =>
    stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
const array = (file) => readNpy(at('set', file));
/** The right results, some of them in place of others. */
let folders = 0;
function results(change) {
    const to = at(`results-${folders++}`);
    cpSync(at('right'), to, { recursive: true });
    for (const [file, data] of Object.entries(change))
        writeNpy(join(to, file), array(file).shape, data, '<f4');
    return to;
}

// ---- Rows in float32, every sum from first to last ----
const f = Math.fround;
const sum = (n, term) => {
    let s = 0;
    for (let i = 0; i < n; i++) s = f(s + term(i));
    return s;
};
const ROOT = (w) => f(1 / f(Math.sqrt(w)));
function norm({ params, inputs }, { eps = 1e-5, root = ROOT } = {}) {
    const [x, gain, bias] = ['x', 'gain', 'bias'].map(
        (name) => inputs[name] && array(inputs[name].file).data,
    );
    const D = params.D;
    const y = [];
    for (let row = 0; row < x.length; row += D) {
        const mean = bias ? f(sum(D, (i) => x[row + i]) / D) : 0;
        const away = (i) => f(x[row + i] - mean);
        const r = root(f(f(sum(D, (i) => f(away(i) * away(i))) / D) + f(eps)));
        for (let i = 0; i < D; i++) {
            const scaled = f(f(away(i) * r) * gain[i]);
            y.push(bias ? f(scaled + bias[i]) : scaled);
        }
    }
    return y;
}
function attention({ params: { L, H, D, d = D / H, Hkv = H, causal }, inputs }) {
    const [q, k, v] = ['q', 'k', 'v'].map((name) => array(inputs[name].file).data);
    const y = new Float32Array(q.length);
    for (let h = 0; h < H; h++)
        for (let i = 0; i < L; i++) {
            const rows = causal === false ? L : i + 1;
            const own = (i * H + h) * d;
            const other = (j) => (j * Hkv + Math.floor(h / (H / Hkv))) * d;
            const t = Array.from({ length: rows }, (_, j) =>
                f(sum(d, (e) => f(q[own + e] * k[other(j) + e])) * f(1 / Math.sqrt(d))),
            );
            const most = Math.max(...t);
            const weights = t.map((x) => f(Math.exp(f(x - most))));
            const all = sum(rows, (j) => weights[j]);
            for (let e = 0; e < d; e++)
                y[own + e] = sum(rows, (j) => f(f(weights[j] / all) * v[other(j) + e]));
        }
    return y;
}
const named = (name) => cases.find((one) => one.name === name);
const NORMS = ['layer_norm_rows', 'rms_norm_rows', 'layer_norm_batched', 'rms_norm_batched'];
const ATTENTION = ['causal', 'bidirectional', 'long', 'large_logits'].map(
    (mode) => `softmax_attention_qkv_${mode}`,
);
const PROVED = [...NORMS, ...ATTENTION, 'attn_core_grouped'];

test('what is covered is said with its theorem, in float32 alone', () => {
    const found = rowsOf(compare(at('right'), '--f32', '--json'));
    assert.ok(found.length > 25, `${found.length}`);
    const covered = found.filter(({ theorem }) => theorem);
    assert.deepEqual(covered.map((row) => row.array).sort(), PROVED.map((name) => `${name}.y.npy`).sort());
    const listed = readFileSync('proofs_tests/rocq/theorems.txt', 'utf8').split('\n');
    for (const { theorem, proved, past } of covered) {
        assert.ok(listed.includes(theorem.replace('.', ' ')), theorem);
        assert.ok(proved > 0 && !past);
    }
    for (const format of [[], ['--f64'], ['--f16'], ['--bf16']]) {
        const { status, stdout } = compare(at('right'), ...format);
        assert.equal(status, 0);
        assert.ok(!stdout.includes('proved'), stdout);
    }
});

test('sums from first to last are within the bounds, and near them where they are tight', () => {
    const mine = Object.fromEntries(
        PROVED.map((name) => [
            `${name}.y.npy`,
            NORMS.includes(name) ? norm(named(name)) : attention(named(name)),
        ]),
    );
    const to = results(mine);
    const { status, stdout } = compare(to, '--f32');
    assert.equal(status, 0, stdout);
    assert.match(
        stdout,
        /of 9 it is proved how far .*; 0 are within their tolerance and past that; nearest rms_norm/,
    );
    for (const row of rowsOf(compare(to, '--f32', '--json')).filter(({ theorem }) => theorem)) {
        const part = row.proved_difference / row.proved;
        assert.ok(part > 0 && part < 0.6, `${row.array}: ${part} of its bound`);
        if (/norm/.test(row.array))
            assert.ok(part > 0.1 && row.proved < row.allowed / 20, JSON.stringify(row));
    }
});

test('faults that the tolerance lets pass are past the bound', () => {
    for (const [what, fault] of [
        ['another eps', { eps: 1e-6 }],
        ['eps left out', { eps: 0 }],
        ['a reciprocal root of 18 bits', { root: (w) => f(ROOT(w) * (1 + 2 ** -18)) }],
    ]) {
        const to = results(
            Object.fromEntries(NORMS.map((name) => [`${name}.y.npy`, norm(named(name), fault)])),
        );
        const { status, stdout } = compare(to, '--f32');
        assert.equal(status, 1, `${what}: ${stdout}`);
        for (const name of NORMS)
            assert.match(
                stdout,
                new RegExp(`^${name}\\.y\\.npy: \\[.*> \\S+, proved of seqmix's row in float32`, 'm'),
            );
        assert.match(stdout, / 0 past their tolerance/);
        assert.match(
            stdout,
            /; 4 are within their tolerance and past that \(--tol X judges by X alone\); nearest/,
        );
        assert.equal(rowsOf(compare(to, '--f32', '--json')).filter(({ past }) => past).length, 4);
        // who asks for a tolerance is judged by it, and told
        const by = compare(to, '--f32', '--tol', '2e-5');
        assert.equal(by.status, 0, by.stdout);
        assert.match(
            by.stdout,
            /; 4 are within their tolerance and past that \(--tol judges by itself alone\)/,
        );
        const judged = seqmix('judge', '--manifest', list, to, '--f32');
        assert.equal(judged.status, 1);
        for (const name of NORMS)
            assert.match(judged.stdout, new RegExp(`^${name}: y is off by \\S+ of its scale`, 'm'));
    }
});

test('each number has its own bound, and both sides of it are told apart', () => {
    for (const name of ['rms_norm_rows', 'attn_core_grouped']) {
        const file = `${name}.y.npy`;
        const { shape, data } = array(file);
        const to = results({});
        // a row's numbers one after the other: what is told is the bound of the one that is off
        for (const i of [5, data.length - 1]) {
            const off = (by) => {
                const y = data.slice();
                y[i] += by;
                writeNpy(join(to, file), shape, y);
                return rowsOf(compare(to, '--f32', '--only', name, '--json')).find(
                    (row) => row.array === file,
                );
            };
            const { proved } = off(1e-9);
            assert.equal(off(0.999 * proved).past, false, `${name} [${i}]`);
            assert.equal(off(1.001 * proved).past, true, `${name} [${i}]`);
            assert.equal(off(NaN).past, true);
        }
    }
});

test('where a premise fails the tolerance alone decides', () => {
    const covered = (change, inputs = {}) => {
        const own = at('premise');
        cpSync(at('set'), own, { recursive: true });
        const entry = structuredClone(named('rms_norm_rows'));
        change(entry);
        const file = join(own, 'manifest.json');
        writeFileSync(file, JSON.stringify({ cases: [{ ...entry, intermediates: {}, gradients: {} }] }));
        for (const [name, edit] of Object.entries(inputs)) {
            const { shape, data } = array(entry.inputs[name].file);
            writeNpy(join(own, entry.inputs[name].file), shape, edit(data));
        }
        assert.equal(seqmix('oracle', '--manifest', file, '--out', at('premise-right')).status, 0);
        // the reference of these inputs
        if (Object.keys(inputs).length)
            cpSync(at('premise-right', 'rms_norm_rows.y.npy'), join(own, 'rms_norm_rows.y.npy'));
        const { status, stdout } = seqmix('compare', '--manifest', file, at('premise-right'), '--f32');
        rmSync(own, { recursive: true });
        rmSync(at('premise-right'), { recursive: true });
        return [status, stdout.includes('proved')];
    };
    assert.deepEqual(
        covered(() => {}),
        [0, true],
    );
    // eps is a float32 to the kernels, whatever the manifest's is
    assert.deepEqual(
        covered(() => {}, { x: (x) => x.map((each) => each * 2 ** -20) }),
        [0, true],
    );
    // no float32, and one row with squares that overflow
    assert.deepEqual(
        covered(() => {}, { x: (x) => x.map((each) => each / 3) }),
        [0, false],
    );
    assert.deepEqual(
        covered(() => {}, { x: (x) => x.map((each) => each * 2 ** 66) }),
        [0, false],
    );
    // a reference that is not the theorem's row: then the result, the oracle's, is what is wrong
    assert.deepEqual(
        covered((entry) => (entry.params.eps = 0.5)),
        [1, false],
    );
});
