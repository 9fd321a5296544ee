// oracle.test.mjs: the oracle as its users meet it: on folders of arrays, batched and by heads, on the set
// of test vectors that it makes, and its judgements; and the page docs/ORACLE.md, run as it stands.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
    cpSync,
    existsSync,
    linkSync,
    mkdirSync,
    mkdtempSync,
    readFileSync,
    readdirSync,
    rmSync,
    symlinkSync,
    writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { program, pythonWith, run, seqmix } from '../../support/program.mjs';
import { readNpy, writeNpy } from '../../support/npy.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-oracle-'));
after(() => rmSync(folder, { recursive: true }));
const at = (...names) => join(folder, ...names);

function works(...args) {
    const result = seqmix(...args);
    assert.equal(result.status, 0, result.stderr + result.stdout);
    return result.stdout;
}
/** The sentence that it refuses with. */
function refuses(pattern, ...args) {
    const { status, stderr, stdout } = seqmix(...args);
    assert.equal(status, 2, stdout);
    assert.match(stderr, /^seqmix: .*\n$/);
    assert.match(stderr, pattern);
}
let folders = 0;
function newFolder(arrays = {}) {
    const name = at(`folder${folders++}`);
    mkdirSync(name);
    for (const [id, { shape, data, dtype }] of Object.entries(arrays))
        writeNpy(join(name, `${id}.npy`), shape, data, dtype);
    return name;
}
const array = (shape, value) => ({
    shape,
    data: Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => value(i)),
});
const wave = (shape, pitch) => array(shape, (i) => Math.sin(pitch * (i + 1)) + Math.cos(0.37 * i * pitch));

works('vectors', '--out', at('vectors'));
const manifest = JSON.parse(readFileSync(at('vectors', 'manifest.json'), 'utf8'));
const vector = (file) => readNpy(at('vectors', file));
const results = ({ outputs, intermediates, gradients }) =>
    [outputs, intermediates, gradients].flatMap((part) => Object.values(part));
const params = (all) => Object.entries(all).flatMap(([name, value]) => ['--param', `${name}=${value}`]);

// ---- Single runs
// ---------------------------------------------------------------------------------------------------

test('every case, given by hand, is what the manifest has, to the bit', () => {
    for (const {
        name,
        mechanism,
        params: all,
        inputs,
        outputs,
        intermediates,
        gradients,
    } of manifest.cases) {
        const input = newFolder();
        for (const [id, { file }] of Object.entries(inputs))
            cpSync(at('vectors', file), join(input, `${id}.npy`));
        const { mode, ...rest } = all;
        works(
            'oracle',
            mechanism,
            ...params(rest),
            ...(mode ? ['--mode', mode] : []),
            '--in',
            input,
            '--out',
            at('by-hand', name),
        );
        const wanted = [
            ...Object.entries(outputs),
            ...Object.entries(intermediates).map(([id, a]) => [`mid_${id}`, a]),
            ...Object.entries(gradients).map(([id, a]) => [`d_${id}`, a]),
        ];
        for (const [id, { file }] of wanted)
            assert.deepEqual(
                readFileSync(at('by-hand', name, `${id}.npy`)),
                readFileSync(at('vectors', file)),
                `${name} ${id}`,
            );
        assert.equal(readdirSync(at('by-hand', name)).length, wanted.length, name);
    }
});

test('a batch is its pieces; what is shared gets the sum of the gradients', () => {
    const [L, D] = [7, 6];
    const x = wave([2, 3, L, D], 0.7);
    const dy = wave([2, 3, L, D], 1.3);
    const shared = Object.fromEntries(
        ['wq', 'wk', 'wv', 'wo'].map((id, i) => [id, wave([D, D], 0.2 + 0.3 * i)]),
    );
    const filter_k = wave([2, 3, 3, 4], 0.9); // of its own for each piece
    const common = ['cat_attention', '--param', 'H=3'];
    works('oracle', ...common, '--in', newFolder({ x, dy, ...shared, filter_k }), '--out', at('batch'));
    const sums = Object.fromEntries(Object.keys(shared).map((id) => [id, new Float64Array(D * D)]));
    for (let b = 0; b < 6; b++) {
        const piece = ({ data }, shape, n) => ({ shape, data: data.slice(b * n, (b + 1) * n) });
        const input = newFolder({
            x: piece(x, [L, D], L * D),
            dy: piece(dy, [L, D], L * D),
            ...shared,
            filter_k: piece(filter_k, [3, 4], 12),
        });
        works('oracle', ...common, '--in', input, '--out', at(`piece${b}`));
        for (const [id, n] of [
            ['y', L * D],
            ['d_x', L * D],
            ['d_filter_k', 12],
        ]) {
            const whole = readNpy(at('batch', `${id}.npy`));
            assert.deepEqual(whole.shape.slice(0, 2), [2, 3]);
            assert.deepEqual(
                whole.data.slice(b * n, (b + 1) * n),
                readNpy(at(`piece${b}`, `${id}.npy`)).data,
                `${id} of ${b}`,
            );
        }
        for (const id of Object.keys(shared))
            readNpy(at(`piece${b}`, `d_${id}.npy`)).data.forEach((v, i) => (sums[id][i] += v));
    }
    for (const id of Object.keys(shared)) {
        const { shape, data } = readNpy(at('batch', `d_${id}.npy`));
        assert.deepEqual(shape, [D, D]);
        assert.deepEqual(data, sums[id]);
    }
});

test('targets are whole numbers in a batch, too', () => {
    const logits = wave([2, 4, 5], 1.1);
    const target = { shape: [2, 4], data: [0, -1, 4, 2, 1, 1, 3, 0], dtype: '<i4' };
    works('oracle', 'cross_entropy', '--in', newFolder({ logits, target }), '--out', at('loss'));
    const { shape, data } = readNpy(at('loss', 'y.npy'));
    assert.deepEqual(shape, [2, 1]);
    const mean = (b) => {
        const rows = [0, 1, 2, 3].filter((t) => target.data[b * 4 + t] >= 0);
        const loss = (t) => {
            const row = logits.data.slice((b * 4 + t) * 5, (b * 4 + t + 1) * 5);
            return Math.log(row.reduce((sum, v) => sum + Math.exp(v), 0)) - row[target.data[b * 4 + t]];
        };
        return rows.reduce((sum, t) => sum + loss(t), 0) / rows.length;
    };
    for (const b of [0, 1]) assert.ok(Math.abs(data[b] - mean(b)) < 1e-12);
});

const [B, H, L, d] = [2, 3, 9, 4];
/** [B][H][L][d] as [B][L][H*d]. */
const joined = ({ data }) =>
    array([B, L, H * d], (i) => {
        const [e, h, t, b] = [
            i % d,
            Math.floor(i / d) % H,
            Math.floor(i / (d * H)) % L,
            Math.floor(i / (d * H * L)),
        ];
        return data[((b * H + h) * L + t) * d + e];
    });

test('--layout bhld is the same numbers with the heads apart', () => {
    const arrays = {
        q: wave([B, H, L, d], 0.7),
        k: wave([B, H, L, d], 0.5),
        v: wave([B, H, L, d], 0.3),
        dy: wave([B, H, L, d], 1.7),
    };
    for (const [mechanism, extra] of [
        ['softmax_attention_qkv', {}],
        ['las_attention_qkv', {}],
        ['linear_attention', {}],
        ['landmark_attention_qkv', { marks: wave([B, H, L, d], 0.9) }],
    ]) {
        const apart = { ...arrays, ...extra };
        const flat = Object.fromEntries(Object.entries(apart).map(([id, a]) => [id, joined(a)]));
        const block = mechanism === 'landmark_attention_qkv' ? ['--param', 'B=3'] : [];
        works(
            'oracle',
            mechanism,
            ...block,
            '--layout',
            'bhld',
            '--in',
            newFolder(apart),
            '--out',
            at(mechanism, 'bhld'),
        );
        works(
            'oracle',
            mechanism,
            ...block,
            '--param',
            `H=${H}`,
            '--in',
            newFolder(flat),
            '--out',
            at(mechanism, 'bld'),
        );
        const names = readdirSync(at(mechanism, 'bld'));
        assert.deepEqual(names.sort(), ['d_k.npy', 'd_q.npy', 'd_v.npy', 'y.npy']);
        for (const name of names) {
            const a = readNpy(at(mechanism, 'bhld', name));
            assert.deepEqual(a.shape, [B, H, L, d]);
            assert.deepEqual(
                joined(a).data,
                [...readNpy(at(mechanism, 'bld', name)).data],
                `${mechanism} ${name}`,
            );
        }
    }
});

/** Each head of [H][L][d] as often as `times`. */
const repeated = ({ shape, data }, times) => {
    const head = data.length / shape[0];
    return {
        shape: [shape[0] * times, ...shape.slice(1)],
        data: Array.from({ length: shape[0] * times }, (_, h) => {
            const from = Math.floor(h / times) * head;
            return [...data.slice(from, from + head)];
        }).flat(),
    };
};
/** What the oracle gives on arrays by heads. */
const byHeads = (mechanism, arrays, ...more) => inLayout('bhld', mechanism, arrays, ...more);
function inLayout(layout, mechanism, arrays, ...more) {
    const out = at(`by-heads${folders++}`);
    works('oracle', mechanism, '--layout', layout, ...more, '--in', newFolder(arrays), '--out', out);
    return Object.fromEntries(readdirSync(out).map((file) => [file.slice(0, -4), readNpy(join(out, file))]));
}
/** A case of [4][9][3] with two heads of keys, values and what erases, and one of gates. */
const few = () => ({
    q: wave([4, 9, 3], 0.7),
    k: wave([2, 9, 3], 0.5),
    v: wave([2, 9, 3], 0.3),
    a: wave([2, 9, 3], 0.11),
    b: wave([2, 9, 3], 0.05),
    g: array([1, 9, 3], (i) => -Math.abs(Math.sin(i))),
    dy: wave([4, 9, 3], 1.7),
});
const each = (arrays) =>
    Object.fromEntries(Object.entries(arrays).map(([id, a]) => [id, repeated(a, 4 / a.shape[0])]));

test('--layout bhld: an array with fewer heads has them shared, its gradient is the sum', () => {
    const shared = byHeads('dplr_core', few());
    const alone = byHeads('dplr_core', each(few()));
    assert.deepEqual([...shared.y.data], [...alone.y.data]);
    assert.deepEqual([...shared.state.data], [...alone.state.data]);
    for (const [id, { shape }] of Object.entries(few())) {
        if (id === 'dy') continue;
        const mine = shared[`d_${id}`];
        const theirs = alone[`d_${id}`].data;
        assert.deepEqual(mine.shape, shape);
        const times = 4 / shape[0];
        for (let i = 0; i < mine.data.length; i++) {
            let sum = 0;
            for (let e = 0; e < times; e++) sum += theirs[(Math.floor(i / 27) * times + e) * 27 + (i % 27)];
            assert.ok(Math.abs(mine.data[i] - sum) < 1e-12 * Math.max(1, Math.abs(sum)), id);
        }
    }
    const rows = { r: 'q', g: 'a', k: 'k', v: 'v', kk: 'b', a: 'a' };
    const { d_r } = byHeads('rwkv7_core', {
        ...Object.fromEntries(Object.entries(rows).map(([id, from]) => [id, few()[from]])),
        dy: few().dy,
    });
    assert.deepEqual(d_r.shape, [4, 9, 3]);
    const { q, k, v, dy } = few();
    assert.deepEqual(byHeads('attn_core', { q, k, v, dy }).d_k.shape, [2, 9, 3]);
    const three = { ...few(), k: wave([3, 9, 3], 0.5) };
    const by = (arrays, ...more) => [
        'oracle',
        'dplr_core',
        '--layout',
        'bhld',
        ...more,
        '--in',
        newFolder(arrays),
        '--out',
        at('refused'),
    ];
    refuses(/k has 3 heads, which do not divide H = 4, the most that an array has/, ...by(three));
    refuses(/q has 4 heads, which do not divide H = 2, the parameter/, ...by(few(), '--param', 'H=2'));
    refuses(/dy has 2 heads; it must have H = 4, as y/, ...by({ ...few(), dy: wave([2, 9, 3], 1) }));
    refuses(/g.npy has the shape \[9\]; --layout bhld wants/, ...by({ ...few(), g: wave([9], 1) }));
});

/** [..][9][3] of [H][L][d] as [L][H][d], or back. */
const turned = ({ shape: [a, b, c], data }) => ({
    shape: [b, a, c],
    data: Array.from({ length: data.length }, (_, i) => {
        const [x, y, e] = [Math.floor(i / (a * c)), Math.floor(i / c) % a, i % c];
        return data[(y * b + x) * c + e];
    }),
});

test('--layout blhd is the same numbers with the rows first, and DeltaProduct has n rows of keys for one', () => {
    const arrays = {
        q: wave([4, 9, 3], 0.7),
        k: wave([2, 18, 3], 0.5),
        v: wave([2, 18, 3], 0.3),
        beta: array([4, 18, 1], (i) => Math.abs(Math.sin(i))),
        g: array([1, 9, 1], (i) => -Math.abs(Math.sin(i))),
        dy: wave([4, 9, 3], 1.7),
    };
    const numbers = (all) =>
        Object.fromEntries(
            Object.entries(all).map(([id, a]) => [
                id,
                a.shape[2] === 1 ? { ...a, shape: a.shape.slice(0, 2) } : a,
            ]),
        );
    const heads = byHeads('deltaproduct_core', numbers(arrays));
    const rows = inLayout(
        'blhd',
        'deltaproduct_core',
        numbers(Object.fromEntries(Object.entries(arrays).map(([id, a]) => [id, turned(a)]))),
    );
    assert.deepEqual(Object.keys(heads).sort(), ['d_beta', 'd_g', 'd_k', 'd_q', 'd_v', 'state', 'y']);
    assert.deepEqual(heads.d_k.shape, [2, 18, 3]);
    assert.deepEqual(rows.d_k.shape, [18, 2, 3]);
    for (const [id, a] of Object.entries(heads)) {
        if (id === 'state') assert.deepEqual([...rows[id].data], [...a.data]);
        else {
            const all = turned({ ...rows[id], shape: [...rows[id].shape, 1].slice(0, 3) });
            for (let i = 0; i < a.data.length; i++)
                assert.ok(Math.abs(all.data[i] - a.data[i]) < 1e-14 * Math.max(1, Math.abs(a.data[i])), id);
        }
    }
    const alone = byHeads(
        'deltaproduct_core',
        numbers({ ...arrays, k: repeated(arrays.k, 2), v: repeated(arrays.v, 2), g: repeated(arrays.g, 4) }),
    );
    assert.deepEqual([...heads.y.data], [...alone.y.data]);
    // [L][n][H] of the mechanism's own layout
    const flat = ({ shape, data }, n) => ({
        shape: [9, n * shape[0] * shape[2]],
        data: turned({ shape, data }).data,
    });
    const four = (id) =>
        arrays[id].shape[0] === 4 ? arrays[id] : repeated(arrays[id], 4 / arrays[id].shape[0]);
    const n = { k: 2, v: 2, beta: 2 };
    const out = at('steps');
    works(
        ...['oracle', 'deltaproduct_core', '--param', 'H=4', '--param', 'dk=3', '--param', 'dv=3', '--in'],
        newFolder(Object.fromEntries(Object.keys(arrays).map((id) => [id, flat(four(id), n[id] ?? 1)]))),
        ...['--out', out],
    );
    assert.deepEqual(turned(heads.y).data, [...readNpy(join(out, 'y.npy')).data]);
    const odd = newFolder(numbers({ ...arrays, k: wave([2, 17, 3], 0.5) }));
    refuses(
        /k.npy has the shape \[2\]\[17\]\[3\]: 17 rows, which are no whole number of n = 2/,
        ...['oracle', 'deltaproduct_core', '--layout', 'bhld', '--in', odd, '--out', at('refused')],
    );
});

test('packed sequences give what each alone gives, in a batch too', () => {
    const cu = (...at) => ({ shape: [at.length], data: at, dtype: '<i4' });
    const whole = each(few());
    const batch = 2;
    const twice = (a, size) => ({ shape: [batch, ...size], data: [...a.data, ...a.data.map((x) => -x / 2)] });
    const arrays = Object.fromEntries(
        Object.entries(whole).map(([id, a]) => [id, id === 'g' ? a : twice(a, a.shape)]),
    );
    const s0 = wave([batch, 3, 4, 3, 3], 0.9);
    const packed = byHeads('dplr_core', { ...arrays, s0, cu: cu(0, 2, 3, 9) });
    assert.deepEqual(packed.state.shape, [batch, 3, 4, 3, 3]);
    assert.deepEqual(packed.d_g.shape, [4, 9, 3]);
    const cut = ({ shape, data }, from, to) => {
        const [L, d] = shape.slice(-2);
        const heads = data.length / (L * d);
        return {
            shape: [...shape.slice(0, -2), to - from, d],
            data: Array.from({ length: heads }, (_, h) => [
                ...data.slice((h * L + from) * d, (h * L + to) * d),
            ]).flat(),
        };
    };
    const nth = ({ data }, n) => ({
        shape: [batch, 4, 3, 3],
        data: [0, 1].flatMap((b) => [...data.slice((b * 3 + n) * 36, (b * 3 + n + 1) * 36)]),
    });
    [0, 2, 3].forEach((from, n) => {
        const to = [2, 3, 9][n];
        const one = byHeads('dplr_core', {
            ...Object.fromEntries(Object.entries(arrays).map(([id, a]) => [id, cut(a, from, to)])),
            s0: nth(s0, n),
        });
        for (const [id, mine] of Object.entries(packed)) {
            const part = id === 'state' || id === 'd_s0' ? nth(mine, n) : cut(mine, from, to);
            assert.deepEqual(part.data, [...one[id].data], id);
        }
    });
    const args = (bad, more = {}) => [
        'oracle',
        'dplr_core',
        '--layout',
        'bhld',
        '--in',
        newFolder({ ...whole, ...more, cu: bad }),
        '--out',
        at('refused'),
    ];
    refuses(/cu ends with 8; it must end with L = 9/, ...args(cu(0, 8)));
    refuses(/cu goes from 3 to 3; each sequence must have a row or more/, ...args(cu(0, 3, 3, 9)));
    refuses(/cu begins with 1/, ...args(cu(1, 9)));
    refuses(/cu is <f8 of the shape \[2\]; it must be <i4 \[N\+1\]/, ...args(array([2], (i) => 9 * i)));
    refuses(
        /s0 must be one for each of the packed sequences/,
        ...args(cu(0, 9), { s0: wave([2, 4, 3, 3], 1) }),
    );
    refuses(
        /cu.npy is no array of long_conv/,
        'oracle',
        'long_conv',
        '--in',
        newFolder({ x: wave([9, 2], 1), conv_k: wave([2, 9], 1), cu: cu(0, 9) }),
        '--out',
        at('refused'),
    );
});

test('attention by heads is attention', () => {
    const arrays = { q: wave([H, L, d], 0.7), k: wave([H, L, d], 0.5), v: wave([H, L, d], 0.3) };
    works(
        'oracle',
        'softmax_attention_qkv',
        '--layout',
        'bhld',
        '--in',
        newFolder(arrays),
        '--out',
        at('plain'),
    );
    const y = readNpy(at('plain', 'y.npy')).data;
    const row = ({ data }, h, t) => data.slice((h * L + t) * d, (h * L + t + 1) * d);
    for (let h = 0; h < H; h++)
        for (let i = 0; i < L; i++) {
            const dot = (j) =>
                row(arrays.q, h, i).reduce((sum, v, e) => sum + v * row(arrays.k, h, j)[e], 0) / Math.sqrt(d);
            const weights = Array.from({ length: i + 1 }, (_, j) => Math.exp(dot(j)));
            const all = weights.reduce((a, b) => a + b);
            for (let e = 0; e < d; e++) {
                const wanted = weights.reduce((sum, w, j) => sum + (w / all) * row(arrays.v, h, j)[e], 0);
                assert.ok(Math.abs(y[(h * L + i) * d + e] - wanted) < 1e-14);
            }
        }
});

// The first test holds the program to itself; here the equations are written out once more.
test('attention with positions, CAT and LaS: what their equations give, gradients too', () => {
    const [n, width, heads] = [9, 8, 2];
    const columns = width / heads;
    const weights = Object.fromEntries(
        ['wq', 'wk', 'wv', 'wo'].map((id, i) => [id, wave([width, width], 0.23 + 0.31 * i)]),
    );
    const filters = {
        filter_q: wave([heads, 3], 0.8),
        filter_k: wave([heads, 3], 1.7),
        filter_v: wave([heads, 3], 2.9),
    };
    const product = (x, w) =>
        Float64Array.from({ length: n * width }, (_, i) => {
            const [t, c] = [Math.floor(i / width), i % width];
            let sum = 0;
            for (let e = 0; e < width; e++) sum += x[t * width + e] * w[e * width + c];
            return sum;
        });
    const filtered = (x, f) =>
        f
            ? x.map((_, i) => {
                  const [t, h] = [Math.floor(i / width), Math.floor((i % width) / columns)];
                  let sum = 0;
                  for (let w = 0; w <= Math.min(t, 2); w++) sum += f[h * 3 + w] * x[i - w * width];
                  return sum;
              })
            : x;
    /** Pair m of a head of row t turned by t 10000^(-2m/d). */
    const turned = (x, on) =>
        on
            ? x.map((v, i) => {
                  const [t, e] = [Math.floor(i / width), i % columns];
                  const angle = t / 100 ** (Math.floor(e / 2) * (4 / columns));
                  const other = e % 2 ? x[i - 1] : -x[i + 1];
                  return v * Math.cos(angle) + other * Math.sin(angle);
              })
            : x;
    const slope = (h) => 2 ** ((-8 * (h + 1)) / heads);
    function attended(
        { x, wq, wk, wv, wo, filter_q, filter_k, filter_v },
        { pos = 'none', causal = true, alphas, P = 1 },
    ) {
        const q = turned(filtered(product(x, wq), filter_q), pos === 'rope');
        const k = turned(filtered(product(x, wk), filter_k), pos === 'rope');
        const v = filtered(product(x, wv), filter_v);
        const o = new Float64Array(n * width);
        for (let h = 0; h < heads; h++)
            for (let i = 0; i < n; i++) {
                const row = Array.from({ length: n }, (_, j) => {
                    if (causal && j > i) return 0;
                    let dot = 0;
                    for (let e = h * columns; e < (h + 1) * columns; e++)
                        dot += q[i * width + e] * k[j * width + e];
                    dot /= Math.sqrt(columns);
                    const away = Math.abs(i - j);
                    if (alphas) dot *= Math.exp(-alphas[h] * away);
                    if (pos === 'alibi') dot -= slope(h) * away;
                    if (pos === 'alibi_scaled') dot -= (slope(h) / Math.sqrt(columns)) * away;
                    return Math.exp(dot);
                });
                const all = row.reduce((a, b) => a + b);
                for (let j = 0; j < n; j++)
                    for (let e = h * columns; e < (h + 1) * columns; e++)
                        for (let r = 0; r < P && r <= j; r++)
                            // pooled over the past: P rows of v
                            o[i * width + e] += ((row[j] / all) * v[(j - r) * width + e]) / P;
            }
        return product(o, wo);
    }
    const dy = wave([n, width], 1.9);
    const cases = [
        ...['none', 'alibi', 'alibi_scaled', 'rope'].flatMap((pos) =>
            [true, false].map((causal) => ['softmax_attention', weights, { pos, causal }, { pos, causal }]),
        ),
        ['cat_attention', { ...weights, ...filters }, { W: 3 }, {}],
        ['cat_attention', { ...weights, filter_k: filters.filter_k }, { W: 3, pos: 'rope' }, { pos: 'rope' }],
        // e^-alpha evenly from 1 to e^-2: of two heads 1 and e^-2
        ['las_attention', weights, { B: 2, P: 3 }, { alphas: [0, 2], P: 3 }],
        ['las_attention', weights, { B: 0.5, P: 1 }, { alphas: [0, 0.5] }],
    ];
    for (const [mechanism, arrays, said, meant] of cases) {
        const what = `${mechanism} ${JSON.stringify(said)}`;
        const all = { x: wave([n, width], 0.61), ...arrays };
        const to = at(`equation${cases.findIndex(([, , one]) => one === said)}`);
        works(
            'oracle',
            mechanism,
            '--param',
            `H=${heads}`,
            ...params(said),
            '--in',
            newFolder({ ...all, dy }),
            '--out',
            to,
        );
        const numbers = Object.fromEntries(
            Object.entries(all).map(([id, { data }]) => [id, Float64Array.from(data)]),
        );
        const wanted = attended(numbers, meant);
        readNpy(join(to, 'y.npy')).data.forEach((y, i) =>
            assert.ok(Math.abs(y - wanted[i]) < 1e-11, `${what}: y[${i}] is ${y}, not ${wanted[i]}`),
        );
        for (const id of Object.keys(all)) {
            const gradient = readNpy(join(to, `d_${id}.npy`)).data;
            for (const i of [0, 5, gradient.length - 1]) {
                const objective = (step) => {
                    const moved = { ...numbers, [id]: Float64Array.from(numbers[id]) };
                    moved[id][i] += step;
                    return attended(moved, meant).reduce((sum, y, e) => sum + y * dy.data[e], 0);
                };
                const h = 1e-3; // to fourth order
                const near = (objective(h) - objective(-h)) / (2 * h);
                const far = (objective(2 * h) - objective(-2 * h)) / (4 * h);
                const along = (4 * near - far) / 3;
                assert.ok(
                    Math.abs(gradient[i] - along) < 1e-6 * (1 + Math.abs(along)),
                    `${what}: d_${id}[${i}] is ${gradient[i]}, not ${along}`,
                );
            }
        }
    }
});

test('--list names every mechanism with its inputs', () => {
    const text = works('oracle', '--list');
    for (const { mechanism, inputs } of manifest.cases) {
        const part = text.slice(text.indexOf(`\n${mechanism}: `) + 1).split('\n\n')[0];
        assert.ok(part.startsWith(mechanism), mechanism);
        for (const id of Object.keys(inputs))
            assert.match(part, new RegExp(`^  input  ${id} +\\[`, 'm'), `${mechanism} ${id}`);
        const [alone, ...equations] = works('oracle', '--list', mechanism).split('\n\n');
        assert.equal(alone.trim(), part.trim());
        if (mechanism.endsWith('_core'))
            assert.ok(equations.join('').includes(`\`${mechanism}\``), mechanism);
    }
    const listed = [...text.matchAll(/^(\w+): /gm)].map((match) => match[1]);
    assert.deepEqual(
        listed.sort(),
        [...new Set(manifest.cases.map(({ mechanism }) => mechanism))].sort(),
        'each has vectors',
    );
});

test('one sentence for each wrong request, and nothing written', () => {
    const qkv = { q: wave([L, 4], 1), k: wave([L, 4], 2), v: wave([L, 4], 3) };
    const good = newFolder(qkv);
    const out = ['--out', at('never')];
    const from = (arrays) => ['--in', newFolder(arrays), ...out];
    const attention = ['oracle', 'softmax_attention_qkv'];
    refuses(/no mechanism 'softmax'.*--list/, 'oracle', 'softmax', '--in', good, ...out);
    refuses(/no mechanism 'softmax': near it are softmax_attention, softmax_/, 'oracle', '--list', 'softmax');
    refuses(/no mechanism 'Gated-Delta': near it are delta_core, /, 'oracle', '--list', 'Gated-Delta');
    refuses(/no mechanism 'zzz'; seqmix oracle --list/, 'oracle', '--list', 'zzz');
    refuses(/needs --in DIR and --out DIR/, ...attention, '--in', good);
    refuses(/--in is given twice/, ...attention, '--in', good, '--in', good);
    refuses(/--out needs DIR/, ...attention, '--in', good, '--out');
    refuses(
        /no option '--output'; the nearest is --out/,
        ...attention,
        '--in',
        good,
        '--output',
        at('never'),
    );
    refuses(
        /no parameter 'P'; it takes L, D, H, causal, pos, rope_base/,
        ...attention,
        '--param',
        'P=3',
        '--in',
        good,
        ...out,
    );
    refuses(/no parameter 'mode'/, ...attention, '--mode', 'causal', '--in', good, ...out);
    refuses(/--param is 'H'; it must be NAME=VALUE/, ...attention, '--param', 'H', '--in', good, ...out);
    refuses(/H is given twice/, ...attention, '--param', 'H=1', '--param', 'H=1', '--in', good, ...out);
    refuses(/H is 'two'; it must be a whole number/, ...attention, '--param', 'H=two', '--in', good, ...out);
    refuses(/H must be a whole number from 1/, ...attention, '--param', 'H=1.5', '--in', good, ...out);
    refuses(/H = 3 does not divide D = 4/, ...attention, '--param', 'H=3', '--in', good, ...out);
    refuses(
        /causal is 'yes'; it must be true or false/,
        ...attention,
        '--param',
        'causal=yes',
        '--in',
        good,
        ...out,
    );
    refuses(
        /pos is left; it must be one of none\|rope/,
        ...attention,
        '--param',
        'pos=left',
        '--in',
        good,
        ...out,
    );
    refuses(/pos is 'a"b'/, ...attention, '--param', 'pos=a"b', '--in', good, ...out);
    refuses(/H is 'x'; it must be/, 'oracle', '--param', 'H=x', attention[1], '--in', good, ...out);
    refuses(/nowhere is not a folder/, ...attention, '--in', at('nowhere'), ...out);
    refuses(
        /--layout bhdl is not allowed: it must be one of bld\|bhld/,
        ...attention,
        '--layout',
        'bhdl',
        '--in',
        good,
        ...out,
    );
    refuses(
        /q\.npy has the shape \[9\]\[4\]; --layout bhld wants/,
        ...attention,
        '--layout',
        'bhld',
        '--in',
        good,
        ...out,
    );
    refuses(
        /layer_norm has none, but softmax_attention_qkv/,
        'oracle',
        'layer_norm',
        '--layout',
        'bhld',
        '--in',
        good,
        ...out,
    );
    refuses(/v\.npy.*cannot be opened/, ...attention, ...from({ q: qkv.q, k: qkv.k }));
    refuses(/qq\.npy is no array of softmax_attention_qkv/, ...attention, ...from({ ...qkv, qq: qkv.q }));
    refuses(
        /k has the shape \[8\]\[4\]; it must be \[9\]\[4\]/,
        ...attention,
        ...from({ ...qkv, k: wave([8, 4], 1) }),
    );
    refuses(
        /\bk has the batch \[3\]; another array has \[2\]/,
        ...attention,
        ...from({ ...qkv, q: wave([2, L, 4], 1), k: wave([3, L, 4], 1) }),
    );
    refuses(
        /\bdy has no batch dimensions/,
        ...attention,
        ...from({ ...qkv, q: wave([2, L, 4], 1), dy: qkv.q }),
    );
    refuses(/the batch has no entries/, ...attention, ...from({ ...qkv, q: wave([0, L, 4], 1) }));
    refuses(
        /q is <i4; it must be <f8 or <f4/,
        ...attention,
        ...from({ ...qkv, q: { ...qkv.q, dtype: '<i4' } }),
    );
    refuses(/filter_k\.npy is no array of s4d/, 'oracle', 's4d', ...from({ filter_k: qkv.q }));
    refuses(
        /a_im\.npy is no array of s4d with these parameters/,
        'oracle',
        's4d',
        '--param',
        'diagonal=real',
        ...from({ a_im: qkv.q }),
    );
    writeFileSync(at('file'), '');
    refuses(/cannot be made a folder/, ...attention, '--in', good, '--out', at('file', 'sub'));
    assert.equal(existsSync(at('never')), false);
});

// ---- Malformed arrays
// ------------------------------------------------------------------------------------------------

test('malformed arrays are refused in a sentence, whatever they promise', () => {
    const good = { k: wave([2, 4], 2), v: wave([2, 4], 3) };
    const tries = [
        [/is not a \.npy file/, () => 'not an array, by far'],
        [/is not a \.npy file/, () => ''],
        [/Fortran order/, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 4), }"],
        [
            /'>f8'; <f8, <f4, <f2 and <i4 are read/,
            "{'descr': '>f8', 'fortran_order': False, 'shape': (2, 4), }",
        ],
        [/'<c16'/, "{'descr': '<c16', 'fortran_order': False, 'shape': (2, 4), }"],
        [/'\|O'/, "{'descr': '|O', 'fortran_order': False, 'shape': (2, 4), }"],
        [
            /needs 72 bytes of data, the file has 64/,
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }",
        ],
        [
            /needs 8000000000000 bytes/,
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }",
        ],
        [
            /more elements than fit/,
            "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296), }",
        ],
        [/not a tuple/, "{'descr': '<f8', 'fortran_order': False, 'shape': 8, }"],
        [/malformed/, "{'descr': '<f8', 'fortran_order': False, }"],
        [/malformed/, 'import os'],
    ];
    for (const [sentence, what] of tries) {
        const input = newFolder(good);
        if (typeof what === 'string') writeNpy(join(input, 'q.npy'), [2, 4], Array(8).fill(1), '<f8', what);
        else writeFileSync(join(input, 'q.npy'), what());
        refuses(sentence, 'oracle', 'softmax_attention_qkv', '--in', input, '--out', at('never'));
        refuses(sentence, 'compare', join(input, 'q.npy'), join(input, 'k.npy'));
    }
});

// ---- Test vectors
// ------------------------------------------------------------------------------------------------------

test('the same seed makes the same set; another seed another', () => {
    works('vectors', '--out', at('again'), '--seed', '1');
    const names = readdirSync(at('vectors'));
    assert.deepEqual(readdirSync(at('again')), names);
    for (const name of names)
        assert.deepEqual(readFileSync(at('again', name)), readFileSync(at('vectors', name)), name);
    works('vectors', '--out', at('other'), '--seed', '2');
    const { cases } = JSON.parse(readFileSync(at('other', 'manifest.json'), 'utf8'));
    const file = cases[0].inputs.x.file;
    assert.notDeepEqual(readFileSync(at('other', file)), readFileSync(at('vectors', file)));
    refuses(/--seed is '-1'/, 'vectors', '--out', at('never'), '--seed', '-1');
    refuses(/needs --out DIR/, 'vectors');
    refuses(/no option '--to'/, 'vectors', '--to', at('never'));
});

test('inputs have eight significant bits; scales and tolerances are what they are said to be', () => {
    for (const { name, inputs, outputs, intermediates, gradients } of manifest.cases) {
        for (const { file, dtype } of Object.values(inputs))
            for (const x of vector(file).data) {
                const n = x === 0 ? 0 : x / 2 ** (Math.floor(Math.log2(Math.abs(x))) - 7);
                assert.ok(dtype === '<i4' || (Number.isInteger(n) && Math.abs(n) < 256), `${file}: ${x}`);
            }
        const largest = (file) => vector(file).data.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
        const most = Math.max(0, ...Object.values(gradients).map(({ file }) => largest(file)));
        for (const [part, least] of [
            [outputs, 0],
            [intermediates, 0],
            [gradients, 0.01 * most],
        ])
            for (const { file, shape, scale, f32_tol, f16_tol, bf16_tol } of Object.values(part)) {
                assert.deepEqual(vector(file).shape, shape);
                assert.equal(scale, Math.max(largest(file), least), file);
                assert.ok(scale > 0 && Number.isFinite(scale), file);
                const within = (tol, low) =>
                    assert.ok(tol >= low * 0.99 && tol <= 2 ** -4, `${name} ${file}: ${tol}`);
                within(f32_tol, 2e-5);
                within(f16_tol, 2 ** -8);
                within(bf16_tol, 2 ** -5);
                assert.ok(f32_tol < 1e-4, file);
            }
    }
});

const judged = (text) =>
    /(\d+) arrays, (\d+) past their tolerance, (\d+) unreadable/.exec(text).slice(1).map(Number);
const everything = manifest.cases.flatMap(results);

test('the oracle passes on its own set, in every format', () => {
    works('oracle', '--manifest', at('vectors', 'manifest.json'), '--out', at('right'));
    for (const format of ['--f64', '--f32', '--f16', '--bf16'])
        assert.deepEqual(
            judged(works('compare', '--manifest', at('vectors', 'manifest.json'), at('right'), format)),
            [everything.length, 0, 0],
        );
});

/** Every result of the set, changed, into a folder. */
function changedSet(change) {
    const results = newFolder();
    for (const entry of everything) {
        const { shape, data } = vector(entry.file);
        writeNpy(join(results, entry.file), shape, change(data, entry));
    }
    return results;
}
const compare = (results, ...options) =>
    seqmix('compare', '--manifest', at('vectors', 'manifest.json'), results, ...options);

test('garbage passes in no format', () => {
    // only a gradient that is far below all others of its case may be anything of its own size
    const negligible = ({ file, scale, bf16_tol }) =>
        vector(file).data.every((x) => Math.abs(x) <= bf16_tol * scale);
    const real = everything.filter((entry) => !negligible(entry)).length;
    assert.ok(real > 0.97 * everything.length, `${real} of ${everything.length}`);
    const large = everything.filter(({ file, scale }) =>
        vector(file).data.some((x) => Math.abs(x) === scale),
    ).length;
    for (const [what, wanted, change] of [
        ['zeros', real, (data) => data.map(() => 0)],
        ['the opposite sign', real, (data) => data.map((x) => -x)],
        ['a tenth more', large, (data) => data.map((x) => x * 1.1)],
    ]) {
        const { status, stdout } = compare(changedSet(change), '--bf16');
        assert.equal(status, 1, what);
        assert.ok(judged(stdout)[1] >= wanted, `${what}: ${judged(stdout)} of ${wanted}`);
    }
    for (const [what, value] of [
        ['NaN', NaN],
        ['infinity', Infinity],
    ]) {
        const { status, stdout } = compare(
            changedSet((data) => data.map((x, i) => (i ? x : value))),
            '--bf16',
        );
        assert.equal(status, 1, what);
        assert.equal(judged(stdout)[1], everything.length, what);
    }
});

test('one wrong number in one array is found and named', () => {
    const wrong = at('one-wrong');
    cpSync(at('right'), wrong, { recursive: true });
    const { file, scale, f32_tol } = manifest.cases.find(({ name }) => name === 'cat_attention_qkv').gradients
        .filter_k;
    const { shape, data } = vector(file);
    for (const [times, past] of [
        [0.9, 0],
        [1.1, 1],
    ]) {
        const off = data.slice();
        off[4] += times * f32_tol * scale;
        writeNpy(join(wrong, file), shape, off);
        const { status, stdout } = compare(wrong, '--f32');
        assert.equal(status, past);
        assert.equal(judged(stdout)[1], past);
        if (past) assert.match(stdout, /cat_attention_qkv\.d_filter_k\.npy: \[1\]\[1\]: got /);
    }
    assert.equal(compare(wrong, '--f32', '--only', 'cat_attention_qkv').status, 1);
    assert.equal(compare(wrong, '--f32', '--only', 'las_attention').status, 0);
    refuses(
        /no case of .* begins with 'dog'/,
        'compare',
        '--manifest',
        at('vectors', 'manifest.json'),
        wrong,
        '--only',
        'dog',
    );
    rmSync(join(wrong, file));
    assert.equal(compare(wrong, '--f32').status, 2);
});

// What an implementer may mistake: each must show even at bfloat16's tolerance.
test('another formula fails in every format', () => {
    const mistakes = [
        ['softmax_attention_causal', { causal: false }],
        ['softmax_attention_alibi', { pos: 'alibi_scaled' }],
        ['softmax_attention_rope', { rope_base: 100 }],
        ['softmax_attention_qkv_causal', { H: 1 }],
        ['las_attention_trailing', { pool: 'centred' }],
        ['las_attention_masked', { pool: 'centred' }],
        ['las_attention_qkv_trailing', { P: 4 }],
        ['las_attention_chunk8', { chunk: 0 }],
        ['las_attention_decay_alone', { alphas: [0, 1] }],
        ['cat_attention_norm', { norm: false }],
        ['lcat_box', { filter: 'rho' }],
        ['lcat_filtered_keys', { dense_keys: 'plain' }],
        ['focus_filter_causal', { mode: 'carry' }],
        ['focus_filter_carry', { mode: 'literal' }],
        ['focus_layer_causal', { theta: 'triangle' }],
        ['short_conv_two_sided', { future: 0 }],
        ['long_conv_squash', { lambda: 0 }],
        ['linear_attention_rms', { normaliser: 'none' }],
        ['chela_block_as_printed', { residual: true }],
        ['mlp_gelu', { act: 'silu' }],
    ];
    for (const [name, wrong] of mistakes) {
        const entry = manifest.cases.find((one) => one.name === name);
        assert.ok(entry, name);
        const { gradients, intermediates, ...rest } = entry;
        const changed = {
            ...manifest,
            cases: [{ ...rest, params: { ...entry.params, ...wrong }, intermediates: {}, gradients: {} }],
        };
        writeFileSync(at('vectors', 'mistaken.json'), JSON.stringify(changed));
        works('oracle', '--manifest', at('vectors', 'mistaken.json'), '--out', at('mistaken'));
        for (const format of ['--f64', '--f32', '--f16', '--bf16'])
            assert.equal(
                seqmix('compare', '--manifest', at('vectors', 'mistaken.json'), at('mistaken'), format)
                    .status,
                1,
                `${name} ${format}`,
            );
    }
    rmSync(at('vectors', 'mistaken.json'));
});

// ---- Two files
// -----------------------------------------------------------------------------------------------------------

test('compare: both sides of each tolerance', () => {
    for (const [format, tol] of [
        ['f64', 1e-12],
        ['f32', 2e-5],
        ['f16', 2 ** -8],
        ['bf16', 2 ** -5],
    ])
        for (const [times, past] of [
            [0.99, 0],
            [1.01, 1],
        ]) {
            const dir = newFolder({
                got: { shape: [2, 2], data: [1, -4, 0.5, tol * 4 * times] },
                ref: { shape: [2, 2], data: [1, -4, 0.5, 0] },
            });
            const { status, stdout } = seqmix(
                'compare',
                join(dir, 'got.npy'),
                join(dir, 'ref.npy'),
                `--${format}`,
            );
            assert.equal(status, past, stdout);
            assert.match(stdout, past ? /first past tolerance at +\[1\]\[1\].*\n.*\n +FAIL/ : /pass/);
        }
});

test('compare: absolute, relative, units in the last place, the first place', () => {
    const dir = newFolder({
        got: { shape: [3], data: [2, 1 + 3 * 2 ** -23, 1000] },
        ref: { shape: [3], data: [2, 1, 1000 + 2 ** -14] },
    });
    const { status, stdout } = seqmix('compare', join(dir, 'got.npy'), join(dir, 'ref.npy'), '--f32');
    assert.equal(status, 0);
    assert.match(stdout, /3 numbers \[3\], judged as f32/);
    assert.match(stdout, /largest difference +6\.1e-05\n/);
    assert.match(stdout, /relative to the scale +6\.1e-08 of 1000,/);
    assert.match(stdout, /relative by element +3\.58e-07\n/);
    assert.match(stdout, /units in the last place +3 of f32\n/);
    assert.match(stdout, /largest difference at +\[2\]: got 1000, reference 1000\.00006/);
    assert.match(stdout, /first difference at +\[1\]/);
    assert.match(stdout, /2 of 3 numbers differ, 0 are past/);
    assert.equal(
        seqmix('compare', join(dir, 'got.npy'), join(dir, 'ref.npy')).status,
        1,
        'float64 by its elements',
    );
    assert.equal(seqmix('compare', join(dir, 'got.npy'), join(dir, 'ref.npy'), '--tol', '1e-6').status, 0);
    // by each number's own size: three units are off where the number is 1, one where it is 1000
    for (const [allowed, past] of [
        ['3', 0],
        ['2.5', 1],
        ['0.5', 2],
    ]) {
        const by = seqmix('compare', join(dir, 'got.npy'), join(dir, 'ref.npy'), '--f32', '--ulp', allowed);
        assert.equal(by.status, past ? 1 : 0, by.stdout);
        assert.match(by.stdout, new RegExp(`last place +3 of f32; ${allowed} are allowed\\n`));
        assert.match(by.stdout, new RegExp(`, ${past} are past the tolerance`));
    }
    // the format's spacing: 2^-7 at 1 in bfloat16, 2^-10 in float16, the subnormals' at 0
    const units = (format, got, ref) => {
        const pair = newFolder({ got: { shape: [1], data: [got] }, ref: { shape: [1], data: [ref] } });
        return Number(
            /last place +(\S+) of/.exec(
                seqmix('compare', join(pair, 'got.npy'), join(pair, 'ref.npy'), format).stdout,
            )[1],
        );
    };
    assert.equal(units('--bf16', 1 + 2 ** -7, 1), 1);
    assert.equal(units('--f16', 1 + 2 ** -10, 1), 1);
    assert.equal(units('--f16', 5 * 2 ** -24, 0), 5);
    assert.equal(units('--f64', 1 + 2 ** -50, 1), 4);
});

test('compare: kinds of numbers, shapes, NaN', () => {
    const dir = newFolder({
        f8: { shape: [2], data: [1, 65504] },
        f2: { shape: [2], data: [0x3c00, 0x7bff], dtype: '<f2' },
        tiny: { shape: [2], data: [2 ** -24, -1023 * 2 ** -24] },
        tiny2: { shape: [2], data: [0x0001, 0x83ff], dtype: '<f2' },
        f4: { shape: [2], data: [1, 65504], dtype: '<f4' },
        i4: { shape: [2], data: [1, 65504], dtype: '<i4' },
        j4: { shape: [2], data: [1, 65505], dtype: '<i4' },
        nan: { shape: [2], data: [1, NaN] },
        inf: { shape: [2], data: [1, Infinity] },
        column: { shape: [2, 1], data: [1, 65504] },
        none: { shape: [0], data: [] },
    });
    const pair = (a, b, ...options) =>
        seqmix('compare', join(dir, `${a}.npy`), join(dir, `${b}.npy`), ...options);
    assert.match(pair('f2', 'f8').stdout, /judged as f16[^]*equal in every number[^]*pass/);
    assert.match(pair('f4', 'f8').stdout, /judged as f32/);
    assert.equal(pair('i4', 'i4').status, 0);
    assert.equal(pair('j4', 'i4').status, 1);
    for (const more of [[], ['--ulp', '9']]) assert.equal(pair('j4', 'i4', '--bf16', ...more).status, 1);
    assert.match(pair('tiny2', 'tiny').stdout, /equal in every number/);
    assert.equal(pair('nan', 'f8', '--tol', '1e300').status, 1);
    assert.equal(pair('nan', 'nan').status, 1);
    assert.equal(pair('none', 'none').status, 2); // nothing is compared
    assert.equal(pair('nan', 'inf', '--tol', '1e300').status, 1);
    assert.equal(pair('inf', 'inf').status, 0);
    const of = (name) => join(dir, `${name}.npy`);
    refuses(/holds <i4, .* holds <f8/, 'compare', of('i4'), of('f8'));
    refuses(/has the shape \[2\], .* has \[2\]\[1\]/, 'compare', of('f8'), of('column'));
    refuses(/a second format, --f16/, 'compare', of('f8'), of('f8'), '--f32', '--f16');
    refuses(/needs A\.npy B\.npy, or --manifest/, 'compare', of('f8'));
    refuses(/needs A\.npy B\.npy, or --manifest/, 'compare', of('f8'), of('f8'), '--only', 'cat');
    refuses(
        /--ulp is for two files, and stands in/,
        'compare',
        of('f8'),
        of('f8'),
        '--ulp',
        '1',
        '--tol',
        '1',
    );
    refuses(/--tol 'x' is not allowed/, 'compare', of('f8'), of('f8'), '--tol', 'x');
});

// ---- The page
// ----------------------------------------------------------------------------------------------------------

const blocks = [...readFileSync('docs/ORACLE.md', 'utf8').matchAll(/^```(python|sh)\n([^]*?)^```/gm)].map(
    ([, language, code]) => ({ language, code }),
);
const python = pythonWith('numpy, torch');

function runPage(chosen) {
    const dir = newFolder();
    const env = { ...process.env, PATH: `${resolve('build')}${delimiter}${process.env.PATH}` };
    let said = '';
    for (const { language, code } of chosen) {
        const { status, stdout, stderr } = run(
            ...(language === 'sh' ? ['bash', ['-euc', code]] : [python, ['-c', code]]),
            { cwd: dir, env },
        );
        assert.equal(status, 0, `${code}\n${stdout}${stderr}`);
        said += stdout;
    }
    return said;
}

test('compare: a set that cannot fail is refused', () => {
    const set = (name, change) => {
        const { cases, ...head } = structuredClone(manifest);
        const one = cases.find((c) => c.name === 'focus_filter_causal');
        const dir = at(name);
        mkdirSync(dir);
        for (const file of readdirSync(at('vectors')).filter((f) => f.startsWith(one.name)))
            cpSync(at('vectors', file), join(dir, file));
        change(one, dir);
        writeFileSync(join(dir, 'manifest.json'), JSON.stringify({ ...head, cases: [one] }));
        const results = `${dir}-results`;
        cpSync(dir, results, { recursive: true });
        return seqmix('compare', '--manifest', join(dir, 'manifest.json'), results);
    };
    assert.equal(set('whole', () => {}).status, 0);
    // The set as its own result, in the same folder, by another path, by links of both kinds.
    const own = at('whole', 'manifest.json');
    const itself = (...args) => {
        const { status, stderr } = seqmix(...args);
        assert.equal(status, 2, stderr);
        assert.match(stderr, /is the reference's own file/);
    };
    itself('compare', '--manifest', own, at('whole'));
    itself('compare', '--manifest', own, `${at('whole')}/../whole`);
    for (const link of [symlinkSync, linkSync]) {
        const dir = newFolder();
        for (const file of readdirSync(at('whole')).filter((f) => f.endsWith('.npy')))
            link(at('whole', file), join(dir, file));
        itself('compare', '--manifest', own, dir);
    }
    // Tolerances by which anything would be right.
    for (const [key, value] of [
        ['f32_tol', 0.011],
        ['f16_tol', 0.13],
        ['bf16_tol', 1e300],
        ['scale', 1e999],
    ]) {
        const loose = set(`loose-${key}`, (one) => (one.outputs.y[key] = value));
        assert.equal(loose.status, value === 1e999 ? 0 : 2, key); // (JSON has no infinity: null is none)
    }
    const version = [{ version: 2 }, { version: '1' }, { version: null }];
    for (const changed of [0, -1, 1.1e-6, 1e300].map((f64_tol) => ({ f64_tol })).concat(version)) {
        const told = join(newFolder(), 'manifest.json');
        writeFileSync(told, JSON.stringify({ ...manifest, ...changed }));
        const why =
            'version' in changed
                ? /"version" must be 1, the only one/
                : /"f64_tol" must be above 0 and at most 1e-6/;
        refuses(why, 'compare', '--manifest', told, at('whole'));
        refuses(why, 'judge', '--manifest', told, at('whole'));
    }
    // Nothing against nothing.
    const nothing = newFolder({ a: { shape: [0, 3], data: [] }, b: { shape: [0, 3], data: [] } });
    refuses(
        /hold no number: nothing can be compared/,
        'compare',
        join(nothing, 'a.npy'),
        join(nothing, 'b.npy'),
    );
    const bare = set('bare', (one) => {
        for (const part of ['outputs', 'intermediates', 'gradients']) delete one[part];
    });
    assert.equal(bare.status, 2);
    assert.match(bare.stderr, /case focus_filter_causal: it has no outputs/);
    assert.equal(set('empty', (one) => (one.outputs = {})).status, 2);
    assert.equal(set('gone', (one, dir) => rmSync(join(dir, one.outputs.y.file))).status, 2);
    // The reference holds an infinity, the results a NaN there:
    // with a scale of its own, and with the array's largest.
    for (const scale of [undefined, 1, 1e308]) {
        const dir = newFolder();
        const { status, stdout } = set(`inf${scale}`, (one, from) => {
            const file = one.outputs.y.file,
                { shape, data } = readNpy(join(from, file));
            writeNpy(
                join(from, file),
                shape,
                data.map((x, i) => (i === 3 ? Infinity : x)),
            );
            one.outputs.y.scale = scale;
            for (const f of readdirSync(from)) cpSync(join(from, f), join(dir, f));
            writeNpy(
                join(dir, file),
                shape,
                data.map((x, i) => (i === 3 ? NaN : x)),
            );
        });
        assert.equal(status, 0, stdout); // the set against a copy of itself
        const judged = seqmix(
            'compare',
            '--manifest',
            at(`inf${scale}`, 'manifest.json'),
            dir,
            '--tol',
            '1e300',
        );
        assert.equal(judged.status, 1, judged.stdout);
        assert.match(judged.stdout, /got nan, ref inf/);
    }
});

test('a softmax without its maximum fails on large logits, in float32 and below, and nowhere else', () => {
    // float32 throughout, but for the sums' order: exp(x) / sum of exp(x).
    const naive = ({ params: { L, D, H, causal = true }, inputs }, keepMaximum) => {
        const [q, k, v] = ['q', 'k', 'v'].map((name) => vector(inputs[name].file).data),
            d = D / H,
            y = new Array(L * D).fill(0);
        for (let h = 0; h < H; h++)
            for (let i = 0; i < L; i++) {
                const keys = causal ? i + 1 : L,
                    logit = Array.from({ length: keys }, (_, j) => {
                        let sum = 0;
                        for (let c = h * d; c < h * d + d; c++) sum += q[i * D + c] * k[j * D + c];
                        return sum / Math.sqrt(d);
                    }),
                    most = keepMaximum ? Math.max(...logit) : 0,
                    weight = logit.map((x) => Math.fround(Math.exp(Math.fround(x - most)))),
                    all = Math.fround(weight.reduce((a, b) => Math.fround(a + b), 0));
                for (let c = h * d; c < h * d + d; c++) {
                    for (let j = 0; j < keys; j++) y[i * D + c] += (weight[j] / all) * v[j * D + c];
                }
            }
        return y;
    };
    const cases = manifest.cases.filter(
        ({ mechanism, params, batch }) => mechanism === 'softmax_attention_qkv' && !params.pos && !batch,
    );
    const failing = [];
    for (const one of cases.filter(({ inputs }) => !inputs.filter_maps))
        for (const keepMaximum of [true, false]) {
            const dir = newFolder();
            for (const entry of results(one)) cpSync(at('vectors', entry.file), join(dir, entry.file));
            writeNpy(join(dir, one.outputs.y.file), one.outputs.y.shape, naive(one, keepMaximum));
            const judged = compare(dir, '--only', one.name, '--f32');
            if (judged.status !== 0) failing.push(`${one.name} ${keepMaximum}`);
        }
    assert.deepEqual(failing, ['softmax_attention_qkv_large_logits false']);
});

test('vectors: other lengths, widths and batches, where a mechanism can have them', () => {
    works('vectors', '--out', at('sized'), '--length', '23', '--width', '24', '--batch', '2');
    const sized = JSON.parse(readFileSync(at('sized', 'manifest.json'), 'utf8'));
    assert.ok(sized.cases.length > manifest.cases.length / 2, `${sized.cases.length} cases`);
    for (const { name, params } of sized.cases)
        for (const [key, size] of [
            ['L', 23],
            ['D', 24],
        ])
            assert.ok(!(key in params) || params[key] === size, name);
    for (const { name, mechanism, batch, outputs } of sized.cases) {
        // they read no sequence, or the rows of all at once
        const alone = ['adamw', 'las_alphas', 'sinusoidal', 'batch_norm', 'dropout'].includes(mechanism);
        assert.deepEqual(batch, alone ? undefined : [2], name);
        assert.equal(alone || outputs.y.shape[0] === 2, true, name);
    }
    works('oracle', '--manifest', at('sized', 'manifest.json'), '--out', at('sized-again'));
    works('compare', '--manifest', at('sized', 'manifest.json'), at('sized-again'));
    refuses(/--length 0 is not allowed/, 'vectors', '--out', at('never'), '--length', '0');
    refuses(/--batch 257 is not allowed/, 'vectors', '--out', at('never'), '--batch', '257');
});

test('a state that is detached every 64 rows fails in every format', () => {
    const cases = manifest.cases.filter(
        ({ name }) => /_long(_carry)?$/.test(name) && !name.startsWith('long_conv'),
    );
    assert.equal(cases.length, 7);
    for (const one of cases.filter(({ mechanism }) => mechanism !== 'focus_filter')) {
        const dir = newFolder();
        for (const entry of results(one)) cpSync(at('vectors', entry.file), join(dir, entry.file));
        const pieces = [0, 64, 128].map((from) => {
            // Arrays whose first size is L are cut, the others are everybody's; the forward pass alone.
            const rows = ({ shape, data }) => {
                const to = Math.min(from + 64, shape[0]),
                    n = data.length / shape[0];
                return {
                    shape: [to - from, ...shape.slice(1)],
                    data: Array.from(data.slice(from * n, to * n)),
                };
            };
            const inputs = Object.entries(one.inputs)
                .filter(([name]) => name !== 'dy')
                .map(([name, { file, shape }]) => [
                    name,
                    shape[0] === one.params.L ? rows(vector(file)) : vector(file),
                ]);
            const part = newFolder(Object.fromEntries(inputs)),
                { L, ...others } = one.params;
            works('oracle', one.mechanism, ...params(others), '--in', part, '--out', part);
            return Array.from(readNpy(join(part, 'y.npy')).data);
        });
        const { file, shape } = one.outputs.y;
        writeNpy(join(dir, file), shape, pieces.flat());
        for (const format of ['--f64', '--f32', '--f16', '--bf16']) {
            const judged = seqmix(
                'compare',
                ...['--manifest', at('vectors', 'manifest.json'), dir, '--only', one.name, format],
            );
            assert.equal(judged.status, 1, `${one.name} ${format}: ${judged.stdout}${judged.stderr}`);
        }
    }
});

const batched = manifest.cases.filter(({ batch }) => batch);
/** Fails unless each case, with those results of it changed, is past its tolerance in every format. */
function everyFormatFails(changed) {
    const dir = newFolder();
    const cases = changed.map(([one]) => one);
    for (const [one, change] of changed) {
        for (const entry of results(one)) cpSync(at('vectors', entry.file), join(dir, entry.file));
        for (const { file } of Object.values(one.inputs)) cpSync(at('vectors', file), join(dir, file));
        for (const [{ file, shape }, data] of change) writeNpy(join(dir, file), shape, data);
    }
    const list = at('vectors', 'some.json');
    writeFileSync(list, JSON.stringify({ ...manifest, cases }));
    for (const format of ['--f64', '--f32', '--f16', '--bf16']) {
        const { status, stdout } = seqmix('compare', '--manifest', list, dir, format);
        assert.equal(status, 1, stdout);
        const passed = cases.filter(
            ({ name }) => !stdout.includes(`\n${name}.`) && !stdout.startsWith(`${name}.`),
        );
        assert.deepEqual(
            passed.map(({ name }) => name),
            [],
            format,
        );
    }
}

test('every mechanism that reads sequences has a batched case; its batch is that of its arrays', () => {
    const with_rows = (c) => Object.values(c.inputs).some(({ shape }) => shape[0] === c.params.L);
    const reads = new Set(manifest.cases.filter((c) => c.params.L && with_rows(c)).map((c) => c.mechanism));
    reads.delete('cross_entropy'); // one number for each sequence; elsewhere one for all
    reads.delete('short_fuse'); // nor a result that no sequence has a part in
    for (const c of batched) {
        assert.deepEqual(c.batch, [3], c.name);
        assert.equal(c.outputs.y.shape[0], 3, c.name);
        reads.delete(c.mechanism);
    }
    assert.deepEqual([...reads], []);
    const wrong = batched.map((c) => ({ ...c, name: `${c.name}_wrong`, batch: [2] }));
    assert.equal(attempt('batch-of-two', wrong).length, wrong.length);
});

test("a weight's gradient that is the batch's mean, or its last sequence's, fails in every format", () => {
    const mean = [],
        last = [];
    for (const one of batched) {
        const weights = Object.entries(one.gradients).filter(([, { shape }]) => shape[0] !== 3);
        if (!weights.length) continue;
        mean.push([one, weights.map(([, a]) => [a, Array.from(vector(a.file).data, (x) => x / 3)])]);
        const third = Object.entries(one.inputs).map(([name, { file, dtype }]) => {
            const { shape, data } = vector(file);
            if (shape[0] !== 3) return [name, { shape, data, dtype }];
            return [name, { shape: shape.slice(1), data: data.slice((2 * data.length) / 3), dtype }];
        });
        const part = newFolder(Object.fromEntries(third));
        works('oracle', one.mechanism, ...params(one.params), '--in', part, '--out', part);
        last.push([one, weights.map(([id, a]) => [a, Array.from(readNpy(join(part, `d_${id}.npy`)).data)])]);
    }
    assert.ok(mean.length >= 19, `${mean.length} cases have weights`);
    everyFormatFails(mean);
    everyFormatFails(last);
});

test('a state, or the history of a filter, that runs on into the next sequence fails in every format', () => {
    const runs = ['short_conv', 'mega_ema', 's4d', 'selective_scan', 's6_layer', 'gla_core', 'delta_core'];
    const cases = batched.filter(({ mechanism }) => runs.includes(mechanism));
    assert.equal(cases.length, runs.length);
    const changed = cases.map((one) => {
        const { L, ...others } = one.params;
        const inputs = Object.entries(one.inputs).filter(([name]) => name !== 'dy');
        const flat = inputs.map(([name, { file }]) => {
            const { shape, data } = vector(file);
            if (name === 's0') return [name, { shape: shape.slice(1), data: data.slice(0, data.length / 3) }];
            const rows = shape[0] === 3 && shape[1] === L;
            return [name, { shape: rows ? [3 * L, ...shape.slice(2)] : shape, data }];
        });
        const dir = newFolder(Object.fromEntries(flat));
        works('oracle', one.mechanism, ...params(others), '--in', dir, '--out', dir);
        return [one, [[one.outputs.y, Array.from(readNpy(join(dir, 'y.npy')).data)]]];
    });
    everyFormatFails(changed);
});

/**
 * All these cases in one run of the program: how many failed, each with its sentence;
 * no signal, no sanitizer.
 */
function attempt(name, cases) {
    const dir = at(name);
    cpSync(at('vectors'), dir, { recursive: true });
    writeFileSync(join(dir, 'manifest.json'), JSON.stringify({ ...manifest, cases }));
    const { status, stderr, stdout } = seqmix(
        'oracle',
        '--manifest',
        join(dir, 'manifest.json'),
        '--out',
        dir,
    );
    assert.doesNotMatch(stderr, /Sanitizer/);
    const failed = stderr.split('\n').filter((line) => /^seqmix: case /.test(line));
    assert.equal(status, failed.length ? 2 : 0, stdout);
    for (const line of failed) assert.match(line, /^seqmix: case [^:]+: .{12,}/);
    return failed;
}

test('an input or a parameter that is left out is missed in a sentence, in every case', () => {
    const cases = [];
    for (const c of manifest.cases)
        for (const part of ['inputs', 'params'])
            for (const name of Object.keys(c[part])) {
                const less = structuredClone(c);
                delete less[part][name];
                cases.push({ ...less, name: `${c.name}_without_${part}_${name}` });
            }
    assert.ok(cases.length > 700, `${cases.length}`);
    const failed = attempt('dropped', cases);
    assert.ok(failed.length > 300, `${failed.length}`);
    assert.ok(
        failed.some((line) => /focus_h.*without_params_n_bins: the parameter n_bins is missing/.test(line)),
    );
});

test('parameters and arrays that mean nothing are refused or computed, in every case', () => {
    // Nothing whose memory or time a test could not afford: what is large must not fit the arrays.
    const values = [0, 1, 2, 3, 5, -1, 1.5, 2 ** 31, 1e300, 'word', '', null, true, [], [1], {}];
    let at = 0; // a walk through the values and arrays: other ones for each case
    const cases = manifest.cases.flatMap((c) => {
        const mutants = [];
        const mutate = (change) => {
            const other = structuredClone(c);
            if (change(other) !== false)
                mutants.push({ ...other, name: `${c.name}_mutant${mutants.length}` });
        };
        for (const name of Object.keys(c.params))
            for (let i = 0; i < 6; i++) mutate((o) => (o.params[name] = values[(at += 5) % values.length]));
        for (const name of Object.keys(c.inputs)) {
            const inputs = Object.values(c.inputs);
            mutate((o) => (o.inputs[name] = inputs[at++ % inputs.length])); // another array's file
            mutate((o) => o.inputs[name].shape.reverse());
            mutate((o) => (o.inputs[name].dtype = '<i4'));
        }
        return mutants;
    });
    assert.ok(cases.length > 2400, `${cases.length}`);
    const failed = attempt('mutated', cases);
    assert.ok(failed.length > cases.length / 2, `${failed.length} of ${cases.length}`);
});

test('docs/ORACLE.md: its blocks, one after another (without Python: those that need none)', () => {
    assert.ok(blocks.length >= 7);
    const alone = blocks.filter(({ language, code }) => language === 'sh' && !/case|results/.test(code));
    assert.ok(alone.length >= 3);
    const said = runPage(python ? blocks : alone);
    assert.match(said, /compare: \d{3,4} arrays, 0 past/);
    if (!python) return;
    assert.equal(said.match(/^ {2}pass$/gm)?.length, 4);
    assert.match(said, /compare: 4 arrays, 0 past/);
});
