// vectors_text.test.mjs: seqmix vectors CONFIG: sets of a text of equations, against a recurrence written
// here in float64 and differences of it; judged by the text itself and as files; wrong ones are told.
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readNpy, writeNpy } from '../../support/npy.mjs';
import { seqmix } from '../../support/program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-vectors-text-'));
after(() => rmSync(folder, { recursive: true }));

// A gated delta rule, the gate one a head.
const TEXT = `q = x @ w_q
k = unitnorm_heads(x @ w_k)
v = x @ w_v
b = sigmoid(x @ w_b[heads])
g = -softplus(x @ w_g[heads])
scan S[k][v] over q, k, v, b, g
    R = exp(g) * S
    S = R + outer(k, b * (v - k @ R))
    o = q @ S
y = o`;
const config = (text, more = '&width=8&heads=2') => `mixer=equations&eq=${encodeURIComponent(text)}${more}`;
function made(name, of, ...more) {
    const to = join(folder, name);
    const { status, stdout, stderr } = seqmix('vectors', of, '--out', to, ...more);
    assert.equal(status, 0, stdout + stderr);
    return { to, manifest: JSON.parse(readFileSync(join(to, 'manifest.json'), 'utf8')), stderr };
}
const easy = made('easy', config(TEXT));
const array = (c, part, name, to = easy.to) => readNpy(join(to, c[part][name].file));
const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);

// y and the last state of one sequence by that recurrence; x [L][D], W [D][n] each.
function recurrence(x, w, L, D, H, start) {
    const d = D / H,
        times = (row, m, n) =>
            Array.from({ length: n }, (_, j) => row.reduce((sum, v, i) => sum + v * m[i * n + j], 0));
    const S = Array.from({ length: H }, (_, h) =>
        Array.from({ length: d }, (_, i) =>
            Array.from({ length: d }, (_, j) => (start ? start[(h * d + i) * d + j] : 0)),
        ),
    );
    const y = [];
    for (let t = 0; t < L; t++) {
        const row = [...x.slice(t * D, (t + 1) * D)];
        const [q, k, v] = ['w_q', 'w_k', 'w_v'].map((name) => times(row, w[name], D));
        const [b, g] = ['w_b', 'w_g'].map((name) => times(row, w[name], H));
        for (let h = 0; h < H; h++) {
            const of = (z) => z.slice(h * d, (h + 1) * d);
            const size = Math.hypot(...of(k)) || 1,
                key = of(k).map((z) => z / size);
            const keep = 1 / (1 + Math.exp(g[h])),
                beta = 1 / (1 + Math.exp(-b[h]));
            for (let j = 0; j < d; j++) {
                for (let i = 0; i < d; i++) S[h][i][j] *= keep;
                const held = key.reduce((sum, z, i) => sum + z * S[h][i][j], 0);
                for (let i = 0; i < d; i++) S[h][i][j] += key[i] * beta * (of(v)[j] - held);
                y.push(of(q).reduce((sum, z, i) => sum + z * S[h][i][j], 0));
            }
        }
    }
    return { y, S: S.flat(2) };
}

test('a set of a text is what its recurrence gives in float64: y, the last state, gradients by differences', () => {
    let gradients = 0;
    for (const c of easy.manifest.cases) {
        const { L, D, H } = c.params,
            B = c.batch ? c.batch[0] : 1;
        const weights = Object.fromEntries(
            ['w_q', 'w_k', 'w_v', 'w_b', 'w_g'].map((n) => [n, [...array(c, 'inputs', n).data]]),
        );
        const start = c.inputs.S_start && [...array(c, 'inputs', 'S_start').data];
        const x = [...array(c, 'inputs', 'x').data],
            dy = array(c, 'inputs', 'dy').data;
        const run = () => {
            const parts = Array.from({ length: B }, (_, s) =>
                recurrence(x.slice(s * L * D, (s + 1) * L * D), weights, L, D, H, start),
            );
            return { y: parts.flatMap((p) => p.y), S: parts.flatMap((p) => p.S) };
        };
        const { y, S } = run();
        const near = (got, want, of) =>
            assert.ok(
                want.length === got.length && want.every((v, i) => Math.abs(v - got[i]) <= 1e-12 * of.scale),
                `${c.name} ${of.file}`,
            );
        near(array(c, 'outputs', 'y').data, y, c.outputs.y);
        near(array(c, 'outputs', 'S_last').data, S, c.outputs.S_last);
        for (const [name, values] of Object.entries({ x, ...weights, ...(start && { S_start: start }) })) {
            const given = array(c, 'gradients', name).data;
            for (const at of [0, (values.length * 0.618) | 0, values.length - 1]) {
                if (c.mode === 'zeros' && name === 'x' && !values[at]) continue; // a key of 0: none
                const was = values[at],
                    h = 1e-4 * Math.max(1e-2, Math.abs(was));
                const at_h = (by) => ((values[at] = was + by), dot(dy, run().y));
                const slope = (8 * (at_h(h) - at_h(-h)) - (at_h(2 * h) - at_h(-2 * h))) / (12 * h);
                values[at] = was;
                const off = Math.abs(slope - given[at]) / c.gradients[name].scale;
                assert.ok(off < 1e-6, `${c.name} d_${name}[${at}]: ${given[at]}, by differences ${slope}`);
                gradients++;
            }
        }
    }
    assert.ok(easy.manifest.cases.some((c) => c.inputs.S_start) && easy.manifest.cases.some((c) => c.batch));
    assert.ok(gradients > 200);
});

test('tolerances of a text: near what rounding moves, in as many formats as it lets', () => {
    const counts = { f64: 0, f32: 0, f16: 0, bf16: 0 };
    for (const c of easy.manifest.cases) {
        for (const format of c.formats) counts[format]++;
        for (const a of [...Object.values(c.outputs), ...Object.values(c.gradients)]) {
            const within = (tol, low, high) =>
                assert.ok(tol >= 0.99 * low && tol <= high, `${c.name} ${a.file}: ${tol}`);
            within(a.f32_tol, 2e-5, 6e-5);
            within(a.f16_tol, 2 ** -8, 0.02);
            if (!c.formats.includes('bf16')) assert.equal(a.bf16_tol, undefined);
            else within(a.bf16_tol, 2 ** -5, 9 * a.f16_tol);
        }
    }
    const n = easy.manifest.cases.length;
    assert.ok(counts.f64 === n && counts.f32 === n && counts.f16 === n, JSON.stringify(counts));
    assert.ok(counts.bf16 >= 0.7 * n && counts.bf16 < n, JSON.stringify(counts));
});

test('the text is right by its own set, easy and hard, and one of other equations is not', () => {
    const judge = (set, text, ...more) =>
        seqmix('judge', '--manifest', join(set.to, 'manifest.json'), '--text', config(text), ...more);
    const hard = made('hard', config(TEXT), '--hard', '--length', '300');
    for (const set of [easy, hard]) {
        const { status, stdout, stderr } = judge(set, TEXT);
        assert.equal(status, 0, stdout + stderr);
        const [, arrays, cases] = /judge: (\d+) arrays of (\d+) cases, 0 past/.exec(stdout);
        assert.equal(Number(cases), set.manifest.cases.length);
        assert.ok(Number(arrays) >= 7 * Number(cases)); // y, and the gradients of x and five weights
    }
    const kinds = new Set(hard.manifest.cases.map((c) => c.mode));
    for (const kind of ['rows', 'batch', 'started', 'loud', 'quiet', 'zeros', 'steady'])
        assert.ok(kinds.has(kind), kind);
    const wrong = [
        [
            'gate after the write',
            TEXT.replace('R = exp(g) * S', 'R = S').replace('S = R +', 'S = exp(g) * R +'),
        ],
        ['no key in the error', TEXT.replace('(v - k @ R)', 'v')],
        [
            'its own row is not heard',
            TEXT.replace('    S = R +', '    o = q @ R\n    S = R +').replace('    o = q @ S\n', ''),
        ],
        ['a gate a hundredth too open', TEXT.replace('g = -softplus', 'g = -0.99 * softplus')],
    ];
    for (const [name, text] of wrong)
        assert.equal(judge(easy, text, '--only', 'equations_rows_6').status, 1, name);
});

test('files are judged: the first wrong row, a factor, formats that a case is not judged in', () => {
    const to = join(folder, 'results');
    mkdirSync(to);
    const cases = easy.manifest.cases;
    for (const c of cases)
        for (const part of ['outputs', 'gradients'])
            for (const a of Object.values(c[part])) copyFileSync(join(easy.to, a.file), join(to, a.file));
    const judge = (...more) => seqmix('judge', '--manifest', join(easy.to, 'manifest.json'), to, ...more);
    assert.equal(judge().status, 0);
    const half = cases.filter((c) => !c.formats.includes('bf16')).length;
    const bf16 = judge('--bf16');
    assert.equal(bf16.status, 0);
    if (half)
        assert.match(bf16.stderr, new RegExp(`${half} of ${cases.length} cases are not judged as bf16`));
    const spoil = (file, change) => {
        const a = readNpy(join(to, file)),
            data = Float64Array.from(a.data, change);
        writeNpy(join(to, file), a.shape, data);
    };
    spoil('equations_rows_65.y.npy', (v, i) => (i >= 33 * 8 ? 1.5 * v : v));
    spoil('equations_batch_24.y.npy', (v, i) => (i >= 24 * 8 + 40 ? v + 1 : v));
    spoil('equations_rows_64.d_w_v.npy', (v) => 2 * v);
    const { status, stdout } = judge();
    assert.equal(status, 1);
    assert.match(stdout, /equations_rows_65: y is off .*right up to row 32, wrong from row 33 on/);
    assert.match(stdout, /equations_batch_24: y is off .*right up to row 4, wrong from row 5 on/);
    assert.match(stdout, /equations_rows_64: d_w_v is off .*the reference times 2/);
    const page = join(folder, 'report.html');
    assert.equal(judge('--report', page).status, 1);
    assert.match(readFileSync(page, 'utf8'), /equations/);
    assert.equal(seqmix('compare', '--manifest', join(easy.to, 'manifest.json'), to).status, 1);
    // A set that is not judged in a format at all does not pass in it.
    const none = made('none', config(TEXT), '--hard', '--length', '20');
    for (const command of ['judge', 'compare']) {
        const said = seqmix(command, '--manifest', join(none.to, 'manifest.json'), to, '--bf16');
        assert.equal(said.status, 2);
        assert.match(said.stderr, /no case of .* is judged as bf16/);
    }
});

test('the same seed gives the same inputs, another one others; a built-in mixer is its text', () => {
    const again = made('again', config(TEXT), '--length', '5');
    const other = made('other', config(TEXT), '--length', '5', '--seed', '2');
    const x = (set) => readFileSync(join(set.to, 'equations_rows_5.x.npy'));
    assert.deepEqual(x(made('third', config(TEXT), '--length', '5')), x(again));
    assert.notDeepEqual(x(other), x(again));
    const named = made('named', 'mixer=gla&width=8&heads=2', '--length', '7', '--batch', '2');
    assert.deepEqual(named.manifest.cases[0].batch, [2]);
    assert.match(named.manifest.text, /gla\(/);
    assert.match(readFileSync(join(named.to, 'README.md'), 'utf8'), /gla\(/);
});

test('what cannot be made is a sentence, and leaves no manifest', () => {
    const refused = (words, of, ...more) => {
        const to = join(folder, 'refused');
        const { status, stderr } = seqmix('vectors', of, '--out', to, ...more);
        assert.equal(status, 2);
        assert.match(stderr, words);
        assert.ok(!existsSync(join(to, 'manifest.json')));
    };
    refused(/there is no function relux/, config('y = relux(x)'));
    refused(/without --only/, config(TEXT), '--only', 'gla_core');
    refused(/without --width: width is a key of the config/, config(TEXT), '--width', '8');
    refused(/two arrays of the set would be called d_x/, config('y = x @ d_x + x @ w'));
    const bins = 'mixer=equations&width=16&eq=@examples/equations/focus_cat.eq'; // in bins of 8 rows
    const told = made('bins', bins);
    assert.match(told.stderr, /case equations_rows_1 is left out: .*bin=8 does not divide the length 1/);
    assert.ok(told.manifest.cases.some((c) => c.params.L === 64));
    refused(/no case of this text/, bins, '--length', '9');
    refused(/eq/, 'mixer=equations&eq=@no-such-file.eq');
    refused(/vectors.*one/, `${config(TEXT)}~${config(TEXT)}`);
});
