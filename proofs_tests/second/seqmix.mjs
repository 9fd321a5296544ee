// seqmix.mjs: the arithmetic of seqmix once more, written from docs/BITS.md alone, without a look at the C.
// It trains mixer=cat on recall (mqar) and mixer=attention on text (charlm) to the same bits, slowly.
//
//     node proofs_tests/second/seqmix.mjs CONFIG [TEXT]
//
// prints the loss of each step with its word, then the digest of the weights. TEXT is the file of text=FILE.
// Each part bears the number of its section of that page. f after an operation rounds it to float.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

// ---- 1. Arithmetic ---------------------------------------------------------------------------------------
const f = Math.fround;
const [floats, doubles] = [new Float32Array(1), new Float64Array(1)];
const ints = new Int32Array(floats.buffer);
const longs = new BigUint64Array(doubles.buffer);

function bits(x) {
    floats[0] = x;
    return ints[0];
}
function fromBits(word) {
    ints[0] = word;
    return floats[0];
}
const hex = (x, digits) => x.toString(16).padStart(digits, '0');
export const word = (x) => hex(bits(x) >>> 0, 8);

// ---- 2. Sums ---------------------------------------------------------------------------------------------
const BLOCK = 256;

function S256(n, term) {
    let c = 0;
    for (let from = 0; from < n; from += BLOCK) {
        let s = 0;
        for (let k = from; k < Math.min(n, from + BLOCK); k++) s = f(s + term(k));
        c = f(c + s);
    }
    return c;
}

function S16(n, term) {
    const sums = new Float32Array(16);
    for (let i = 0; i < n; i++) sums[i % 16] += term(i);
    for (let half = 8; half >= 1; half /= 2) for (let i = 0; i < half; i++) sums[i] += sums[i + half];
    return sums[0];
}

// The units of each piece: [from, to).
function pieces(n) {
    const count = Math.min(n, 8);
    return Array.from({ length: count }, (_, p) => [
        Math.floor((n * p) / count),
        Math.floor((n * (p + 1)) / count),
    ]);
}

// A matrix, or a window of one: element (r, c) is data[at + r * down + c * across].
function matrix(rows, cols, data = new Float32Array(rows * cols)) {
    return { data, at: 0, rows, cols, down: cols, across: 1 };
}
function part(a, row, rows, col = 0, cols = a.cols) {
    return { ...a, at: a.at + row * a.down + col * a.across, rows, cols };
}
function transposed(a) {
    return { ...a, rows: a.cols, cols: a.rows, down: a.across, across: a.down };
}

// S256(k: a_rk * b_kc) is added to each out_rc: a row's sums side by side, products with zeros left out.
function addProduct(out, a, b) {
    const [x, y, n, step] = [a.data, b.data, a.cols, b.across];
    const sums = new Float32Array(b.cols);
    for (let r = 0; r < a.rows; r++)
        for (let from = 0; from < n; from += BLOCK) {
            sums.fill(0);
            for (let k = from; k < Math.min(n, from + BLOCK); k++) {
                const factor = x[a.at + r * a.down + k * a.across];
                if (factor === 0) continue;
                for (let c = 0, j = b.at + k * b.down; c < sums.length; c++, j += step)
                    sums[c] += f(factor * y[j]);
            }
            for (let c = 0; c < sums.length; c++) out.data[out.at + r * out.down + c * out.across] += sums[c];
        }
}

// ---- 3. Functions of floats ------------------------------------------------------------------------------
const [LOG2E, MAGIC, LN2_HIGH, LN2_LOW] = [1.44269504, 12582912, 0.693145751953125, 1.42860677e-6].map(f);
const [E5, E4, E3, E2, E1] = [0.00138144334, 0.00836879668, 0.0416683958, 0.1666652, 0.499999934].map(f);
const LOWEST = f(-87.33654);

function E(c) {
    const magic = f(f(c * LOG2E) + MAGIC);
    const k = f(magic - MAGIC);
    const high = f(c - f(k * LN2_HIGH));
    const low = f(k * LN2_LOW);
    const r = f(high - low);
    let p = f(f(E5 * r) + E4);
    p = f(f(p * r) + E3);
    p = f(f(p * r) + E2);
    p = f(f(p * r) + E1);
    const y = f(f(high + f(f(f(p * r) * r) - low)) + 1);
    return f(y * fromBits((bits(magic) + 127) << 23));
}
const expDown = (x) => (x < LOWEST ? 0 : E(x));
const softmaxExp = (x) => (x < -41.5 ? 0 : E(x));

const [L1, L2, L3, L4] = [0.66666662693, 0.40000972152, 0.28498786688, 0.24279078841].map(f);
const [LOG_HIGH, LOG_LOW] = [0.693138123, 9.05800061e-6].map(f);
function logFloat(x) {
    const b = (bits(x) - 0x3f3504f3) | 0;
    const k = b >> 23;
    const m = fromBits((b & 0x007fffff) + 0x3f3504f3);
    const d = f(m - 1);
    const s = f(d / f(2 + d));
    const z = f(s * s);
    const R = f(z * f(L1 + f(z * f(L2 + f(z * f(L3 + f(z * L4)))))));
    const h = f(f(0.5 * d) * d);
    return f(f(k * LOG_HIGH) - f(f(h - f(f(s * f(h + R)) + f(k * LOG_LOW))) - d));
}

const rsqrt = (x) => f(1 / f(Math.sqrt(x)));

const HIGHEST = f(88.72283);
const sigmoid = (x) => f(1 / f(1 + E(Math.min(HIGHEST, Math.max(LOWEST, -x)))));

const [U1, U3, SLOPE3] = [1.5957691216057308, 0.07135481627362526, 0.21406444882087578].map(f);
const clamp = (x) => Math.max(-12, Math.min(12, x));
const twice = (c) => f(c * f(U1 + f(U3 * f(c * c))));
const gelu = (x) => f(Math.max(-12, x) * sigmoid(twice(clamp(x))));
function geluSlope(x) {
    const c = clamp(x);
    const du = f(U1 + f(SLOPE3 * f(c * c)));
    const e = expDown(-Math.max(-80, twice(c)));
    const s = f(1 / f(1 + e));
    return f(s + f(f(c * du) * f(s * f(e * s))));
}

// ---- 4. Functions of doubles -----------------------------------------------------------------------------
function twoSum(a, b) {
    const s = a + b;
    const t = s - a;
    return [s, a - (s - t) + (b - t)];
}
function twoProd(a, b) {
    const p = a * b;
    const [ta, tb] = [134217729 * a, 134217729 * b];
    const [ah, bh] = [ta - (ta - a), tb - (tb - b)];
    const [al, bl] = [a - ah, b - bh];
    return [p, ah * bh - p + ah * bl + al * bh + al * bl];
}
function add([a, a2], [b, b2]) {
    const [s, s2] = twoSum(a, b);
    return twoSum(s, s2 + (a2 + b2));
}
function mul([a, a2], [b, b2]) {
    const [p, p2] = twoProd(a, b);
    return twoSum(p, p2 + (a * b2 + a2 * b));
}
function div([a, a2], [b, b2]) {
    const q = a / b;
    const [p, p2] = twoProd(q, b);
    return twoSum(q, (a - p - p2 + (a2 - q * b2)) / b);
}

const round = (x) => Math.trunc(x < 0 ? x - 0.5 : x + 0.5);
const factorials = [1];
for (let n = 1; n <= 18; n++) factorials.push(n * factorials[n - 1]);
// first; then p = p * x + term(n) for n = from, from - step, .. to
function horner(first, x, from, step, to, term) {
    let p = first;
    for (let n = from; n >= to; n -= step) p = p * x + term(n);
    return p;
}
function power2(k) {
    longs[0] = BigInt(k + 1023) << 52n;
    return doubles[0];
}
function split(x) {
    doubles[0] = x;
    let k = Number(longs[0] >> 52n) - 1023;
    let m = x / power2(k);
    if (m > 1.4142135623730951) {
        m /= 2;
        k++;
    }
    return [m, k];
}

function exp(x, tail = 0) {
    const k = round(x * 1.4426950408889634);
    const hi = x - k * 0.6931471803691238;
    const lo = k * 1.9082149292705877e-10;
    const r = hi - lo;
    const e = hi - r - lo + tail;
    const q = r * r * horner(1 / factorials[13], r, 12, 1, 2, (n) => 1 / factorials[n]);
    const y = 1 + (r + (q + e * (1 + r + q)));
    return y * power2(k);
}

function log(x) {
    const [m, k] = split(x);
    const d = m - 1;
    const s = d / (2 + d);
    const z = s * s;
    const h = 0.5 * d * d;
    const r = horner(2 / 23, z, 21, 2, 3, (n) => 2 / n) * z;
    const small = s * (h + r) + k * 1.9082149292705877e-10;
    return k * 0.6931471803691238 - (h - small - d);
}

function pow(x, y) {
    if (x === 1 || y === 0) return 1;
    const [m, k] = split(x);
    const s = div([m - 1, 0], twoSum(m, 1));
    const z = mul(s, s);
    let sum = mul(z, [horner(2 / 29, z[0], 27, 2, 9, (n) => 2 / n), 0]);
    for (const n of [7, 5, 3]) sum = mul(z, add(div([2, 0], [n, 0]), sum));
    sum = mul(s, add([2, 0], sum));
    const l = add(mul([k, 0], [0.6931471805599453, 2.3190468138462996e-17]), sum);
    return exp(...mul(l, [y, 0]));
}

// 1/n!, with the signs of the series of sine and cosine
const series = (n) => (n & 2 ? -1 : 1) / factorials[n];
function sinSmall(r, tail) {
    const z = r * r;
    const p = horner(1 / factorials[17], z, 15, 2, 3, series);
    return r + (r * z * p + tail * (1 - 0.5 * z));
}
function cosSmall(r, tail) {
    const z = r * r;
    const p = horner(-1 / factorials[18], z, 16, 2, 4, series);
    const h = 0.5 * z;
    const w = 1 - h;
    return w + (1 - w - h + (z * z * p - r * tail));
}

function turn(a) {
    let quadrant = Number((4n * a) >> 53n);
    let rest = Number((4n * a) & (2n ** 53n - 1n));
    const mirrored = rest > 2 ** 52;
    if (mirrored) {
        rest = 2 ** 53 - rest;
        quadrant++;
    }
    const t = Math.floor(rest / 2) * 2 ** -52;
    const [a1, a2] = twoProd(t, 1.5707963267948966);
    const [r, tail] = twoSum(a1, a2 + t * 6.123233995736766e-17);
    let [s, c] = [sinSmall(r, tail), cosSmall(r, tail)];
    if (rest === 2 ** 52) s = c = 0.7071067811865476;
    if (mirrored) s = -s;
    const [sine, cosine] = quadrant & 1 ? [c, 0 - s] : [s, c];
    return quadrant & 2 ? [0 - sine, 0 - cosine] : [sine, cosine];
}

function cosine(x) {
    const n = round(x * 0.6366197723675814);
    const [a, a2] = twoSum(x - n * 1.5707963267341256, -(n * 6.077100506303966e-11));
    const [b, b2] = twoSum(a, -(n * 2.0222662487111665e-21));
    const [r, tail] = twoSum(b, a2 + b2 - n * 8.4784276603689e-32);
    const value = n & 1 ? sinSmall(r, tail) : cosSmall(r, tail);
    return (n + 1) & 2 ? -value : value;
}

// ---- 5. Random numbers -----------------------------------------------------------------------------------
const [LOW, WORD] = [0xffffffffn, 2 ** 32];

export function philox([c0, c1, c2, c3], [k0, k1]) {
    for (let n = 0; n < 10; n++) {
        const a = 0xd2511f53n * BigInt(c0);
        const b = 0xcd9e8d57n * BigInt(c2);
        c0 = (Number(b >> 32n) ^ c1 ^ k0) >>> 0;
        c1 = Number(b & LOW);
        c2 = (Number(a >> 32n) ^ c3 ^ k1) >>> 0;
        c3 = Number(a & LOW);
        k0 = (k0 + 0x9e3779b9) >>> 0;
        k1 = (k1 + 0xbb67ae85) >>> 0;
    }
    return [c0, c1, c2, c3];
}

function generator(seed, stream, index) {
    const halves = (x) => [Number(BigInt(x) & LOW), Number(BigInt(x) >> 32n)];
    let [block, words, kept] = [0, [], null];
    const next = () => {
        if (!words.length) words = philox([block++, stream, ...halves(index)], halves(seed));
        return words.shift();
    };
    const u53 = () => {
        const high = next() >>> 5;
        return high * 2 ** 26 + (next() >>> 6);
    };
    const below = (n) => {
        let m;
        do m = BigInt(next()) * BigInt(n);
        while (Number(m & LOW) < WORD % n);
        return Number(m >> 32n);
    };
    const uniform = () => u53() * 2 ** -53;
    const normal = () => {
        if (kept !== null) {
            const second = kept;
            kept = null;
            return second;
        }
        const u = 1 - uniform();
        const [s, c] = turn(BigInt(u53()));
        const radius = Math.sqrt(-2 * log(u));
        kept = radius * s;
        return radius * c;
    };
    return { below, uniform, normal };
}

// ---- 6. Weights and how they start; 12. The digest: both hash -------------------------------------------
const hashed = (numbers) =>
    numbers.reduce((hash, x) => BigInt.asUintN(64, (hash ^ BigInt(x)) * 0x100000001b3n), 0xcbf29ce484222325n);

function shapes({ D, V, L, H, M, W, blocks, filters, norm, position }) {
    const all = { embedding: [V, D], head: [D, V], head_bias: [V] };
    if (position) all.position = [L, D];
    if (norm) all['norm.gain'] = [D];
    for (let b = 0; b < blocks; b++) {
        for (const x of 'qkvo') all[`block${b}.mixer.w_${x}`] = [D, D];
        if (filters) for (const x of 'qkv') all[`block${b}.mixer.filter_${x}`] = [H, W];
        if (norm) all[`block${b}.norm_1.gain`] = [D];
        if (norm && M) all[`block${b}.norm_2.gain`] = [D];
        if (!M) continue;
        all[`block${b}.mlp.w_1`] = [D, M];
        all[`block${b}.mlp.b_1`] = [M];
        all[`block${b}.mlp.w_2`] = [M, D];
        all[`block${b}.mlp.b_2`] = [D];
    }
    return all;
}

function started(name, [rows, cols = 1], { seed, blocks }) {
    const x = new Float32Array(rows * cols);
    const kind = name.split('.').at(-1);
    if (kind === 'gain') return x.fill(1);
    if (kind.startsWith('b_') || kind === 'head_bias') return x;
    const { normal } = generator(seed, 0, hashed(Buffer.from(name)));
    if (kind.startsWith('filter')) return x.map((_, i) => 0.02 * normal() + (i % cols ? 0 : 1));
    let scale = 1 / Math.sqrt(rows);
    if (kind === 'w_o' || kind === 'w_2') scale /= Math.sqrt(2 * blocks);
    if (kind === 'embedding') scale = 1;
    if (kind === 'position') scale = 0.1;
    return x.map(() => scale * normal());
}

// {name: its matrix x, the gradient g, and m and v}, in the order of the names as bytes
function weightsOf(model) {
    const all = Object.entries(shapes(model)).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(
        all.map(([name, shape]) => {
            const [rows, cols] = shape.length > 1 ? shape : [1, ...shape];
            const of = (data) => matrix(rows, cols, data);
            return [name, { x: of(started(name, shape, model)), g: of(), m: of(), v: of() }];
        }),
    );
}

// ---- 7. Samples ------------------------------------------------------------------------------------------
function mqar({ L, V, P }, { below, uniform }) {
    const half = Math.floor(V / 2);
    const [tokens, targets] = [new Int32Array(L), new Int32Array(L).fill(-1)];
    const distinct = (n, first) => {
        const had = new Set();
        while (had.size < P) had.add(first + below(n));
        return [...had];
    };
    const keys = distinct(half - 1, 1);
    const values = distinct(V - half, half);
    const weights = Array.from({ length: Math.floor(L / 2) - P }, (_, g) => pow(g + 1, 0.01 - 1));
    let total = weights.reduce((sum, weight) => sum + weight, 0);
    const free = new Set(weights.keys());
    keys.forEach((key, i) => {
        tokens[2 * i] = key;
        tokens[2 * i + 1] = values[i];
        let rest = uniform() * total;
        let slot;
        for (slot of free) if ((rest -= weights[slot]) < 0) break;
        total -= weights[slot];
        free.delete(slot);
        tokens[2 * P + 2 * slot] = key;
        targets[2 * P + 2 * slot] = values[i];
    });
    return { tokens, targets };
}

function charlm({ L, text }, { below }) {
    const j = below(text.length - Math.floor(text.length / 10) - L);
    return { tokens: text.subarray(j, j + L), targets: text.subarray(j + 1, j + L + 1) };
}

export function sample(model, i) {
    return (model.task === 'mqar' ? mqar : charlm)(model, generator(model.seed, 1, i));
}

// The string literals of text_sample.h.
export function sampleText(header) {
    const literals = header.match(/^\s*".*"/gm).map((literal) => JSON.parse(literal));
    return Buffer.from(literals.join(''));
}

// ---- 8. The model, forward -------------------------------------------------------------------------------
const combined = (a, b, of) =>
    matrix(
        a.rows,
        a.cols,
        a.data.map((x, i) => of(x, b.data[i])),
    );
const sum = (a, b) => combined(a, b, (x, y) => x + y);

function linear(x, w, bias) {
    const y = matrix(x.rows, w.cols);
    addProduct(y, x, w);
    if (bias) y.data.forEach((_, i) => (y.data[i] += bias.data[i % w.cols]));
    return y;
}

function norm({ data, rows, cols }, gain) {
    const [y, h, rstd] = [matrix(rows, cols), matrix(rows, cols), new Float32Array(rows)];
    for (let r = 0; r < rows; r++) {
        const at = r * cols;
        const squares = S16(cols, (i) => f(data[at + i] * data[at + i]));
        rstd[r] = rsqrt(f(f(squares / cols) + f(0.00001)));
        for (let i = 0; i < cols; i++) {
            h.data[at + i] = data[at + i] * rstd[r];
            y.data[at + i] = h.data[at + i] * gain.data[i];
        }
    }
    return { y, h, rstd };
}

// The filter, and (direction -1) what comes back through it: the rows t - w, or t + w, of the same sequence.
function filter({ L, W, d }, x, taps, direction = 1) {
    const y = matrix(x.rows, x.cols);
    for (let r = 0; r < x.rows; r++)
        for (let c = 0; c < x.cols; c++) {
            const reach = direction > 0 ? r % L : L - 1 - (r % L);
            let s = 0;
            for (let w = 0; w <= Math.min(W - 1, reach); w++)
                s = f(s + f(taps.data[Math.floor(c / d) * W + w] * x.data[(r - direction * w) * x.cols + c]));
            y.data[r * x.cols + c] = s;
        }
    return y;
}

// Above the diagonal e, p and ds are 0 (products with zeros may be left out, or stay).
function attention({ B, L, H, d }, q, k, v) {
    const scale = f(1 / Math.sqrt(d));
    const scaled = matrix(
        q.rows,
        q.cols,
        q.data.map((x) => x * scale),
    );
    const o = matrix(q.rows, q.cols);
    const heads = [];
    for (let n = 0; n < B * H; n++) {
        const window = (x) => part(x, Math.floor(n / H) * L, L, (n % H) * d, d);
        const [e, inv] = [matrix(L, L), new Float32Array(L)]; // (e holds s at first)
        addProduct(e, window(scaled), transposed(window(k)));
        for (let i = 0; i < L; i++) {
            const row = e.data.subarray(i * L, i * L + i + 1);
            const max = row.reduce((a, b) => Math.max(a, b));
            row.forEach((x, j) => (row[j] = softmaxExp(f(x - max))));
            e.data.fill(0, i * L + i + 1, i * L + L);
            inv[i] = f(1 / S16(i + 1, (j) => row[j]));
        }
        const out = window(o);
        addProduct(out, e, window(v));
        for (let i = 0; i < L; i++) for (let c = 0; c < d; c++) out.data[out.at + i * out.down + c] *= inv[i];
        heads.push({ e, inv, window });
    }
    return { o, scaled, scale, heads, k, v };
}

function forward(model, tokens, asked) {
    const { D, L, blocks, filters, position, M, weights } = model;
    const at = (name) => weights[name]?.x;
    let x = matrix(tokens.length, D);
    tokens.forEach((token, r) => x.data.set(part1(at('embedding'), token), r * D));
    if (position) x.data.forEach((_, i) => (x.data[i] += at('position').data[i % (L * D)]));
    const kept = [];
    for (let b = 0; b < blocks; b++) {
        const w = (name) => at(`block${b}.${name}`);
        const norm1 = model.norm && norm(x, w('norm_1.gain'));
        const h = norm1 ? norm1.y : x;
        const projected = [...'qkv'].map((name) => linear(h, w(`mixer.w_${name}`)));
        const qkv = filters
            ? projected.map((y, i) => filter(model, y, w(`mixer.filter_${'qkv'[i]}`)))
            : projected;
        const a = attention(model, ...qkv);
        x = sum(x, linear(a.o, w('mixer.w_o')));
        kept.push({ norm1, h, projected, a });
        if (!M) continue;
        const norm2 = model.norm && norm(x, w('norm_2.gain'));
        const h2 = norm2 ? norm2.y : x;
        const u = linear(h2, w('mlp.w_1'), w('mlp.b_1'));
        const g = matrix(u.rows, u.cols, u.data.map(gelu));
        x = sum(x, linear(g, w('mlp.w_2'), w('mlp.b_2')));
        Object.assign(kept[b], { norm2, h2, u, g });
    }
    const taken = matrix(asked.length, D);
    asked.forEach((r, i) => taken.data.set(part1(x, r), i * D));
    const last = model.norm && norm(taken, at('norm.gain'));
    const h = last ? last.y : taken;
    return { kept, last, h, logits: linear(h, at('head'), at('head_bias')) };
}
const part1 = (a, row) => a.data.subarray(row * a.cols, (row + 1) * a.cols);

// ---- 9. The loss -----------------------------------------------------------------------------------------
function lossOf(logits, targets) {
    const R = targets.length;
    const losses = new Float32Array(R);
    const dx = matrix(R, logits.cols);
    const g = f(1 / R);
    targets.forEach((y, r) => {
        const [x, out] = [part1(logits, r), part1(dx, r)];
        const max = x.reduce((a, b) => Math.max(a, b));
        const e = x.map((value) => softmaxExp(f(value - max)));
        const total = S16(e.length, (i) => e[i]);
        losses[r] = f(logFloat(total) - f(x[y] - max));
        const w = f(g * f(1 / total));
        out.set(e.map((value) => value * w));
        out[y] -= g;
    });
    return { loss: f(S16(R, (r) => losses[r]) / R), dx };
}

// ---- 10. Backward ----------------------------------------------------------------------------------------
// The gradients of weight and bias, and dx, to which the sums are added.
function linearBack(x, w, dy, bias, dx = matrix(x.rows, x.cols)) {
    addProduct(dx, dy, transposed(w.x));
    addProduct(w.g, transposed(x), dy);
    if (bias) addProduct(bias.g, matrix(1, dy.rows, new Float32Array(dy.rows).fill(1)), dy);
    return dx;
}

function normBack({ h, rstd }, gain, dy) {
    const { rows, cols } = dy;
    const dx = matrix(rows, cols);
    for (let r = 0; r < rows; r++) {
        const at = r * cols;
        const u = part1(dy, r).map((value, i) => value * gain.x.data[i]);
        const m = f(S16(cols, (i) => f(u[i] * h.data[at + i])) / cols);
        for (let i = 0; i < cols; i++) dx.data[at + i] = rstd[r] * f(u[i] - f(h.data[at + i] * m));
    }
    for (const [from, to] of pieces(Math.ceil(rows / 24)))
        for (let i = 0; i < cols; i++) {
            const term = (r) => f(dy.data[(from * 24 + r) * cols + i] * h.data[(from * 24 + r) * cols + i]);
            gain.g.data[i] += S256(Math.min(rows, to * 24) - from * 24, term);
        }
    return dx;
}

function filterBack(model, x, taps, dy) {
    const { B, L, H, W, d } = model;
    const D = H * d;
    for (let n = 0; n < H * W; n++) {
        const [head, w] = [Math.floor(n / W), n % W];
        for (const [from, to] of pieces(B)) {
            let piece = 0;
            for (let b = from; b < to; b++) {
                const T = (c) =>
                    S256(L, (t) =>
                        t < w ? 0 : f(dy.data[(b * L + t) * D + c] * x.data[(b * L + t - w) * D + c]),
                    );
                piece = f(piece + S16(d, (c) => T(head * d + c)));
            }
            taps.g.data[n] += piece;
        }
    }
    return filter(model, dy, taps.x, -1);
}

function attentionBack({ L, d }, { o, scaled, scale, heads, k, v }, dy) {
    const [dq, dk, dv] = [0, 0, 0].map(() => matrix(o.rows, o.cols));
    for (const { e, inv, window } of heads) {
        const [p, ds] = [matrix(L, L), matrix(L, L)]; // (ds holds g at first)
        const [dout, out] = [window(dy), window(o)];
        addProduct(ds, dout, transposed(window(v)));
        for (let i = 0; i < L; i++) {
            const at = out.at + i * out.down;
            const delta = S16(d, (c) => f(dout.data[at + c] * out.data[at + c]));
            for (let n = i * L; n < i * L + L; n++) {
                p.data[n] = e.data[n] * inv[i];
                ds.data[n] = p.data[n] * f(ds.data[n] - delta);
            }
        }
        addProduct(window(dq), ds, window(k));
        for (let from = 0; from < L; from += 24) {
            const group = (x) => part(x, from, Math.min(24, L - from));
            addProduct(window(dv), transposed(group(p)), group(dout));
            addProduct(window(dk), transposed(group(ds)), group(window(scaled)));
        }
    }
    dq.data.forEach((_, i) => (dq.data[i] *= scale));
    return [dq, dk, dv];
}

function backward(model, { kept, last, h, logits }, dlogits, tokens, asked) {
    const { B, L, D, blocks, filters, position, M, weights } = model;
    let taken = linearBack(h, weights.head, dlogits, weights.head_bias);
    if (last) taken = normBack(last, weights['norm.gain'], taken);
    let dx = matrix(tokens.length, D);
    asked.forEach((r, i) => part1(dx, r).set(part1(taken, i)));
    for (let b = blocks - 1; b >= 0; b--) {
        const w = (name) => weights[`block${b}.${name}`];
        const { norm1, h, projected, a, norm2, h2, u, g } = kept[b];
        // x + part(x): behind a norm what comes back begins at 0, without one it is added to dy
        const start = (norm) => (norm ? matrix(dx.rows, D) : matrix(dx.rows, D, dx.data.slice()));
        const joined = (norm, gain, dh) => (norm ? sum(dx, normBack(norm, w(gain), dh)) : dh);
        if (M) {
            const dg = linearBack(g, w('mlp.w_2'), dx, w('mlp.b_2'));
            const du = combined(dg, u, (dy, value) => dy * geluSlope(value));
            const dh = linearBack(h2, w('mlp.w_1'), du, w('mlp.b_1'), start(norm2));
            dx = joined(norm2, 'norm_2.gain', dh);
        }
        const dqkv = attentionBack(model, a, linearBack(a.o, w('mixer.w_o'), dx));
        const dh = start(norm1);
        for (const i of [2, 1, 0]) {
            const [name, taps] = [`mixer.w_${'qkv'[i]}`, `mixer.filter_${'qkv'[i]}`];
            const dy = filters ? filterBack(model, projected[i], w(taps), dqkv[i]) : dqkv[i];
            linearBack(h, w(name), dy, null, dh);
        }
        dx = joined(norm1, 'norm_1.gain', dh);
    }
    if (position) {
        const dposition = weights.position.g.data;
        dposition.forEach((_, i) => (dposition[i] = S256(B, (b) => dx.data[b * L * D + i])));
    }
    tokens.forEach((token, r) => {
        const row = part1(weights.embedding.g, token);
        row.forEach((_, i) => (row[i] += dx.data[r * D + i]));
    });
}

// ---- 11. The step ----------------------------------------------------------------------------------------
function rateOf({ rate, warmup, steps, schedule }, t) {
    if (t < warmup) return (rate * t) / warmup;
    if (schedule === 'constant') return rate;
    const done = Math.min(1, (t - warmup) / (steps - warmup));
    return rate * 0.5 * (1 + cosine(3.141592653589793 * done));
}

function update(model, t) {
    const weights = Object.entries(model.weights);
    const all = new Float32Array(weights.reduce((n, [, { g }]) => n + padded(g), 0));
    let at = 0;
    for (const [, { g }] of weights) {
        all.set(g.data, at);
        at += padded(g);
    }
    let squares = 0;
    for (let from = 0; from < all.length; from += 4096)
        squares += S16(Math.min(4096, all.length - from), (i) => f(all[from + i] * all[from + i]));
    const length = Math.sqrt(squares);
    const clip = length > model.clip ? f(model.clip / length) : 1;

    const [b1, b2, eps, lr] = [0.9, 0.98, 1e-8, rateOf(model, t)].map(f);
    const [rest1, rest2] = [f(1 - b1), f(1 - b2)];
    const [c1, c2] = [b1, b2].map((b) => f(1 - exp(t * log(b))));
    const r = f(lr / c1);
    const unbias = f(1 / c2);
    for (const [name, { x, g, m, v }] of weights) {
        const wd = /^(embedding|position|head)$|\.w_.$/.test(name) ? f(model.decay) : 0;
        const shrink = f(lr * wd);
        for (let i = 0; i < x.data.length; i++) {
            const s = f(g.data[i] * clip);
            m.data[i] = f(b1 * m.data[i]) + f(rest1 * s);
            v.data[i] = f(b2 * v.data[i]) + f(rest2 * f(s * s));
            const down = f(f(r * m.data[i]) / f(f(Math.sqrt(f(v.data[i] * unbias))) + eps));
            x.data[i] = f(x.data[i] - f(shrink * x.data[i])) - down;
        }
    }
}
const padded = ({ data }) => Math.ceil(data.length / 16) * 16;

// ---- 12. The digest --------------------------------------------------------------------------------------
export function hashOf(data) {
    return hex(hashed([...data].map((x) => (Number.isNaN(x) ? 0x7fc00000 : bits(x) >>> 0))), 16);
}
export function digest({ weights }) {
    return hashOf(Object.values(weights).flatMap(({ x }) => [...x.data]));
}

// ---- A training ------------------------------------------------------------------------------------------
// What a key may be: words, or a number. A key that is left out has the first word, or null.
const KEYS = {
    ...{ mixer: ['cat', 'attention'], task: ['mqar', 'charlm'], filters: ['qkv', 'none'] },
    ...{ norm: ['none', 'rms'], activation: ['gelu'], position: ['none', 'learned'] },
    ...{ schedule: ['constant', 'cosine'], text: null },
};
const NUMBERS =
    'length vocab pairs width blocks heads mlp filter batch rate warmup decay clip seed steps'.split(' ');

export function open(config, text) {
    const given = Object.fromEntries(new URLSearchParams(config));
    for (const [key, value] of Object.entries(given)) {
        const fine =
            key in KEYS ? (KEYS[key]?.includes(value) ?? true) : NUMBERS.includes(key) && +value >= 0;
        if (!fine) throw new Error(`${key}=${value} is not on docs/BITS.md`);
    }
    const word = (key) => given[key] ?? KEYS[key][0];
    const number = Object.fromEntries(NUMBERS.map((key) => [key, Number(given[key])]));
    const { length: L, width: D, heads: H, batch: B, filter: W, pairs: P } = number;
    const model = { ...number, L, D, H, B, W, P, M: number.mlp * D, d: D / H, text };
    model.task = word('task');
    model.V = model.task === 'charlm' ? 256 : number.vocab;
    model.filters = word('mixer') === 'cat' && word('filters') === 'qkv';
    model.norm = word('norm') === 'rms';
    model.position = word('position') === 'learned';
    model.schedule = word('schedule');
    model.weights = weightsOf(model);
    return model;
}

export function step(model, t) {
    const { B, L, weights } = model;
    const samples = Array.from({ length: B }, (_, b) => sample(model, (t - 1) * B + b));
    const tokens = samples.flatMap((one) => [...one.tokens]);
    const targets = samples.flatMap((one) => [...one.targets]);
    const asked = [...targets.keys()].filter((r) => targets[r] >= 0);
    for (const { g } of Object.values(weights)) g.data.fill(0);
    const run = forward(model, tokens, asked);
    const { loss, dx } = lossOf(
        run.logits,
        asked.map((r) => targets[r]),
    );
    backward(model, run, dx, tokens, asked);
    update(model, t);
    return loss;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
    const [config, file] = process.argv.slice(2);
    const text = file && readFileSync(file);
    const model = open(config, file?.endsWith('.h') ? sampleText(text.toString()) : text);
    for (let t = 1; t <= model.steps; t++) {
        const loss = step(model, t);
        console.log(`${t} ${Number(loss.toPrecision(9))} ${word(loss)}`);
    }
    console.log(digest(model));
}
