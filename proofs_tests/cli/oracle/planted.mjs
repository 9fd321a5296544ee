// planted.mjs: plain implementations of some mechanisms, forward and (gla_core) backward, each able to make
// one mistake that people make. For judging.mjs.

const gate = (x, p, t, h, i, fault) => {
    if (p.mode === 'retention') return 1 - 2 ** (-5 - h);
    if (p.mode !== 'head' && p.mode !== 'channel') return 1;
    const row = fault === 'gate of the row before' ? t - 1 : fault === 'gate of the row after' ? t + 1 : t;
    if (row < 0) return 1;
    const at = Math.min(row, p.L - 1) * p.H + h;
    let g = p.mode === 'head' ? x.g[at] : x.g[at * p.dk + i];
    if (fault === 'gates cut off at -5') g = Math.max(g, -5);
    if (fault === 'gates of the heads exchanged' && p.mode === 'head') g = x.g[row * p.H + p.H - 1 - h];
    if (fault === 'gates left out') g = 0;
    return Math.exp(g);
};
const bf16 = new DataView(new ArrayBuffer(4));
const toBf16 = (x) => {
    bf16.setFloat32(0, x);
    bf16.setUint32(0, ((bf16.getUint32(0) + 0x8000) & 0xffff0000) >>> 0);
    return bf16.getFloat32(0);
};

/** Gated linear attention, one row after the other. Gradients where `x.dy` is there. */
export function gla(x, p, fault) {
    const { L, H, dk, dv } = p;
    const scale =
        fault === 'no scale' ? 1 : fault === 'scale of the values' ? dv ** -0.5 : p.scale || dk ** -0.5;
    const y = new Float64Array(L * H * dv);
    const state = new Float64Array(H * dk * dv);
    const back = x.dy && !fault?.startsWith('forward');
    const d = back && {
        q: new Float64Array(L * H * dk),
        k: new Float64Array(L * H * dk),
        v: new Float64Array(L * H * dv),
        g: x.g && new Float64Array(x.g.length),
        s0: x.s0 && new Float64Array(H * dk * dv),
    };
    for (let h = 0; h < H; h++) {
        const S = new Float64Array(dk * dv);
        if (x.s0 && fault !== 'start state left out') S.set(x.s0.subarray(h * dk * dv, (h + 1) * dk * dv));
        const before = back ? new Float64Array(L * dk * dv) : undefined; // of each row
        const overflow = new Float64Array(dk).fill(0); // sum of gates in the chunk
        let chunk = S.slice();
        const kept = [];
        for (let t = 0; t < L; t++) {
            const k = (i) => x.k[(t * H + h) * dk + i];
            const q = (i) => x.q[(t * H + h) * dk + i];
            const v = (j) => x.v[(t * H + h) * dv + j];
            before?.set(S, t * dk * dv);
            if (fault === 'state lost at every 64th row' && t && t % 64 === 0) S.fill(0);
            if (fault === 'output read before the write')
                for (let j = 0; j < dv; j++) {
                    let sum = 0;
                    for (let i = 0; i < dk; i++) sum += q(i) * S[i * dv + j] * 1;
                    y[(t * H + h) * dv + j] = scale * sum;
                }
            if (fault === 'last row of a block misses itself' && t % 64 === 63) kept[0] = S.slice();
            for (let i = 0; i < dk; i++)
                for (let j = 0; j < dv; j++) {
                    const a = gate(
                        x,
                        p,
                        t,
                        h,
                        fault === 'gates on the columns of values' ? j % dk : i,
                        fault,
                    );
                    S[i * dv + j] =
                        fault === 'gate after the write'
                            ? a * (S[i * dv + j] + k(i) * v(j))
                            : a * S[i * dv + j] + k(i) * v(j);
                    if (fault === 'state kept in bfloat16') S[i * dv + j] = toBf16(S[i * dv + j]);
                }
            if (fault === 'quotient of exponentials') {
                // Inside a chunk of 64: q e^G and k e^-G, in float32.
                if (t % 64 === 0) {
                    overflow.fill(0);
                    chunk = before ? before.slice(t * dk * dv, (t + 1) * dk * dv) : chunk;
                    kept.length = 0;
                }
                for (let i = 0; i < dk; i++) overflow[i] += Math.log(gate(x, p, t, h, i));
                kept.push(
                    Float64Array.from({ length: dk }, (_, i) =>
                        Math.fround(k(i) * Math.fround(Math.exp(-overflow[i]))),
                    ),
                );
            }
            for (let j = 0; j < dv && fault !== 'output read before the write'; j++) {
                let sum = 0;
                for (let i = 0; i < dk; i++) {
                    const of = fault === 'last row of a block misses itself' && t % 64 === 63;
                    const s = of ? gate(x, p, t, h, i) * kept[0][i * dv + j] : S[i * dv + j];
                    sum += q(i) * s;
                    if (fault === 'quotient of exponentials') {
                        const e = Math.fround(Math.exp(overflow[i]));
                        let inside = 0;
                        for (let r = 0; r < kept.length; r++)
                            inside += kept[r][i] * x.v[((t - kept.length + 1 + r) * H + h) * dv + j];
                        sum += q(i) * (e * inside + e * chunk[i * dv + j] - s);
                    }
                }
                y[(t * H + h) * dv + j] = scale * sum;
            }
            if (fault === 'last block, not full, left out' && t >= Math.floor(L / 64) * 64)
                y.fill(0, (t * H + h) * dv, (t * H + h + 1) * dv);
            if (fault === 'second head reads the first' && h === 1)
                for (let j = 0; j < dv; j++) y[(t * H + h) * dv + j] = y[t * H * dv + j];
        }
        state.set(S, h * dk * dv);
        if (!back) continue;
        const dS = new Float64Array(dk * dv);
        for (let t = L - 1; t >= 0; t--) {
            const at = (t * H + h) * dk;
            const to = (t * H + h) * dv;
            if (fault === 'backward stops at every 64th row' && t % 64 === 63) dS.fill(0);
            for (let i = 0; i < dk; i++) {
                const a = gate(x, p, t, h, i);
                let dq = 0;
                for (let j = 0; j < dv; j++) {
                    const old = before[t * dk * dv + i * dv + j];
                    const now = a * old + x.k[at + i] * x.v[to + j];
                    dq += scale * (fault === 'd_q from the state before' ? old : now) * x.dy[to + j];
                    dS[i * dv + j] += scale * x.q[at + i] * x.dy[to + j];
                }
                d.q[at + i] = dq;
            }
            for (let i = 0; i < dk; i++) {
                const a = gate(x, p, t, h, i);
                for (let j = 0; j < dv; j++) {
                    const slope = dS[i * dv + j];
                    d.k[at + i] += slope * x.v[to + j];
                    d.v[to + j] += slope * x.k[at + i];
                    if (d.g)
                        d.g[p.mode === 'head' ? t * H + h : at + i] +=
                            a * before[t * dk * dv + i * dv + j] * slope;
                    dS[i * dv + j] = a * slope;
                }
            }
        }
        d.s0?.set(dS, h * dk * dv);
    }
    if (!back) return { y, state };
    if (fault === 'gates without a gradient') d.g?.fill(0);
    if (fault === 'd_v scaled twice') d.v.forEach((value, i) => (d.v[i] = value * scale));
    if (fault === 'd_q and d_k exchanged') [d.q, d.k] = [d.k, d.q];
    if (fault === 'd_s0 left at zero') d.s0?.fill(0);
    return { y, state, d_q: d.q, d_k: d.k, d_v: d.v, ...(d.g && { d_g: d.g }), ...(d.s0 && { d_s0: d.s0 }) };
}

/** The delta rule, forward. */
export function delta(x, p, fault) {
    const { L, H, dk, dv } = p;
    const y = new Float64Array(L * H * dv);
    const state = new Float64Array(H * dk * dv);
    const scale = p.scale || dk ** -0.5;
    for (let h = 0; h < H; h++) {
        let S = new Float64Array(dk * dv);
        if (x.s0) S.set(x.s0.subarray(h * dk * dv, (h + 1) * dk * dv));
        for (let t = 0; t < L; t++) {
            const k = (i) => x.k[(t * H + h) * dk + i];
            const beta = fault === 'beta left out' ? 1 : x.beta[t * H + h];
            const gated = (state) => state.map((s, n) => s * gate(x, p, t, h, Math.floor(n / dv), fault));
            const late = fault === 'gate after the write';
            const R = late ? S : gated(S);
            const from = fault === 'erased before the gate' ? S : R;
            const next = R.slice();
            for (let j = 0; j < dv; j++) {
                let held = 0;
                for (let i = 0; i < dk; i++) held += from[i * dv + j] * k(i);
                const v = x.v[(t * H + h) * dv + j];
                const u =
                    fault === 'nothing erased'
                        ? beta * v
                        : fault === 'erased without beta'
                          ? beta * v - held
                          : beta * (v - held);
                for (let i = 0; i < dk; i++) next[i * dv + j] += k(i) * u;
            }
            S = late ? gated(next) : next;
            for (let j = 0; j < dv; j++) {
                let sum = 0;
                for (let i = 0; i < dk; i++) sum += x.q[(t * H + h) * dk + i] * S[i * dv + j];
                y[(t * H + h) * dv + j] = scale * sum;
            }
        }
        state.set(S, h * dk * dv);
    }
    return { y, state };
}

/** Softmax attention, forward. */
export function attention(x, p, fault) {
    const { L, D } = p;
    const H = p.H ?? 1;
    const d = D / H;
    const y = new Float64Array(L * D);
    const causal = p.causal ?? true;
    for (let h = 0; h < H; h++)
        for (let t = 0; t < L; t++) {
            const w = new Float64Array(L);
            let most = -Infinity;
            let first = fault === 'window of 256 rows' ? Math.max(0, t - 255) : 0;
            let end = causal ? t + 1 : L;
            if (causal && fault === 'one row of the future') end = Math.min(L, t + 2);
            if (causal && fault === 'whole block seen') end = Math.min(L, (Math.floor(t / 64) + 1) * 64);
            const tail = Math.floor(L / 64) * 64;
            if (fault === 'keys of the last block dropped' && t >= tail && tail) end = tail;
            for (let s = first; s < end; s++) {
                let sum = 0;
                for (let i = 0; i < d; i++) sum += x.q[t * D + h * d + i] * x.k[s * D + h * d + i];
                w[s] = fault === 'logits without scale' ? sum : sum / Math.sqrt(d);
                most = Math.max(most, w[s]);
            }
            if (fault === 'maximum not taken off') most = 0;
            let all = 0;
            for (let s = first; s < end; s++) {
                w[s] =
                    fault === 'maximum not taken off' ? Math.fround(Math.exp(w[s])) : Math.exp(w[s] - most);
                if (w[s] > 3.4e38) w[s] = Infinity;
                all += w[s];
            }
            for (let s = first; s < end; s++) {
                let weight = w[s] / all;
                if (fault === 'weights rounded to bfloat16') weight = toBf16(weight);
                for (let i = 0; i < d; i++) {
                    const to = fault === 'heads column by column' ? i * H + h : h * d + i;
                    y[t * D + to] += weight * x.v[s * D + h * d + i];
                }
            }
        }
    return { y };
}

/** Mamba's scan, forward. */
export function scan(x, p, fault) {
    const { L, D, S } = p;
    const y = new Float64Array(L * D);
    const [b, c] = fault === 'b and c exchanged' ? [x.c, x.b] : [x.b, x.c];
    for (let n = 0; n < D; n++) {
        const h = new Float64Array(S);
        for (let t = 0; t < L; t++) {
            const dt = x.dt[t * D + n];
            let sum = fault === 'skip left out' || !x.skip ? 0 : x.skip[n] * x.x[t * D + n];
            for (let s = 0; s < S; s++) {
                const a = -Math.exp(x.a_log[n * S + s]) * dt;
                h[s] =
                    (fault === 'Euler step' ? 1 + a : Math.exp(a)) * h[s] +
                    dt * b[t * S + s] * x.x[t * D + n];
                sum += c[t * S + s] * h[s];
            }
            y[t * D + n] = sum;
        }
    }
    return { y };
}

const sigma = (z) => 1 / (1 + Math.exp(-z));

/** LSTM, order i f g o, forward. */
export function lstm(x, p, fault) {
    const { L, D, E } = p;
    const y = new Float64Array(L * E);
    const c = new Float64Array(E);
    let h = new Float64Array(E);
    const order = fault === 'gates f and o exchanged' ? [0, 3, 2, 1] : [0, 1, 2, 3];
    for (let t = 0; t < L; t++) {
        const z = (gate, n) => {
            const at = order[gate] * E + n;
            let sum = x.b[at];
            for (let i = 0; i < D; i++) sum += x.x[t * D + i] * x.w[i * 4 * E + at];
            for (let i = 0; i < E; i++) sum += h[i] * x.u[i * 4 * E + at];
            return sum;
        };
        const next = new Float64Array(E);
        for (let n = 0; n < E; n++) {
            const forget = sigma(z(1, n) + (fault === 'one more added to the forget gate' ? 1 : 0));
            c[n] = forget * c[n] + sigma(z(0, n)) * Math.tanh(z(2, n));
            next[n] = sigma(z(3, n)) * (fault === 'cell without tanh' ? c[n] : Math.tanh(c[n]));
        }
        h = next;
        y.set(h, t * E);
    }
    return { y, c };
}

/** GRU, order r z n, forward. */
export function gru(x, p, fault) {
    const { L, D, E } = p;
    const y = new Float64Array(L * E);
    let h = new Float64Array(E);
    for (let t = 0; t < L; t++) {
        const from = (bias, weights, row, size, at) => {
            let sum = bias[at];
            for (let i = 0; i < size; i++) sum += row(i) * weights[i * 3 * E + at];
            return sum;
        };
        const r = Float64Array.from({ length: E }, (_, n) =>
            sigma(from(x.bx, x.w, (i) => x.x[t * D + i], D, n) + from(x.bh, x.u, (i) => h[i], E, n)),
        );
        const next = new Float64Array(E);
        for (let n = 0; n < E; n++) {
            const given = (gate) => from(x.bx, x.w, (i) => x.x[t * D + i], D, gate * E + n);
            const held = (gate, row) => from(x.bh, x.u, row, E, gate * E + n);
            let z = sigma(given(1) + held(1, (i) => h[i]));
            if (fault === 'update gate the other way round') z = 1 - z;
            const inside =
                fault === 'reset before the product'
                    ? given(2) + held(2, (i) => r[i] * h[i])
                    : given(2) + r[n] * held(2, (i) => h[i]);
            next[n] = (1 - z) * Math.tanh(inside) + z * h[n];
        }
        h = next;
        y.set(h, t * E);
    }
    return { y };
}

/** Softmax attention over the last W rows, forward. */
export function sliding(x, p, fault) {
    const { L, H, d } = p;
    const W = fault === 'window of one row too many' ? p.W + 1 : p.W;
    const y = new Float64Array(L * H * d);
    for (let h = 0; h < H; h++)
        for (let t = 0; t < L; t++) {
            let first = Math.max(0, t - W + 1);
            if (fault === 'window cut at blocks of 64') first = Math.max(first, Math.floor(t / 64) * 64);
            const dot = (s) => {
                let sum = 0;
                for (let i = 0; i < d; i++) sum += x.q[(t * H + h) * d + i] * x.k[(s * H + h) * d + i];
                return sum / Math.sqrt(d);
            };
            const logits = Array.from({ length: t + 1 - first }, (_, s) => dot(first + s));
            const most = Math.max(...logits);
            const weights = logits.map((l) => Math.exp(l - most));
            const all = weights.reduce((a, b) => a + b, 0);
            for (let s = 0; s < weights.length; s++)
                for (let i = 0; i < d; i++)
                    y[(t * H + h) * d + i] += (weights[s] / all) * x.v[((first + s) * H + h) * d + i];
        }
    return { y };
}

/** Layer norm, forward. */
export function layerNorm(x, p, fault) {
    const { L, D } = p;
    const y = new Float64Array(L * D);
    const eps = fault === 'eps 1e-3' ? 1e-3 : (p.eps ?? 1e-5);
    for (let t = 0; t < L; t++) {
        const row = x.x.subarray(t * D, (t + 1) * D);
        const mean = row.reduce((a, b) => a + b, 0) / D;
        const squares = row.reduce((a, b) => a + (b - mean) ** 2, 0);
        const variance = squares / (fault === 'variance over D - 1' ? D - 1 : D);
        const root = fault === 'eps outside the root' ? Math.sqrt(variance) + eps : Math.sqrt(variance + eps);
        for (let i = 0; i < D; i++) y[t * D + i] = (x.gain[i] * (row[i] - mean)) / root + x.bias[i];
    }
    return { y };
}

/** Batch norm, forward and backward; by the batch's statistics or by those given. */
export function batchNorm(x, p, fault) {
    const { N, D } = p;
    const given = p.mode === 'running' || fault === 'running statistics in a step of training';
    const d = { x: new Float64Array(N * D), gain: new Float64Array(D), bias: new Float64Array(D) };
    const y = new Float64Array(N * D);
    const [mean_new, variance_new] = [new Float64Array(D), new Float64Array(D)];
    const momentum = fault === 'momentum the other way round' ? 1 - (p.momentum ?? 0.1) : (p.momentum ?? 0.1);
    for (let c = 0; c < D; c++) {
        const column = Float64Array.from({ length: N }, (_, r) => x.x[r * D + c]);
        const mean = column.reduce((a, b) => a + b, 0) / N;
        const squares = column.reduce((a, b) => a + (b - mean) ** 2, 0);
        const over = fault === 'running variance over N' ? N : N - 1;
        mean_new[c] = x.mean[c] + momentum * (mean - x.mean[c]);
        variance_new[c] = x.variance[c] + momentum * (squares / over - x.variance[c]);
        const by = given ? x.mean[c] : mean;
        const variance = given ? x.variance[c] : squares / (fault === 'variance over N - 1' ? N - 1 : N);
        const scale = 1 / Math.sqrt(variance + (p.eps ?? 1e-5));
        const hat = column.map((v) => (v - by) * scale);
        const dy = Float64Array.from({ length: N }, (_, r) => x.dy[r * D + c]);
        d.gain[c] = dy.reduce((a, b, r) => a + b * hat[r], 0);
        d.bias[c] = dy.reduce((a, b) => a + b, 0);
        const fixed = given || fault === 'statistics without a gradient';
        for (let r = 0; r < N; r++) {
            y[r * D + c] = hat[r] * x.gain[c] + x.bias[c];
            d.x[r * D + c] = x.gain[c] * scale * (dy[r] - (fixed ? 0 : (d.bias[c] + hat[r] * d.gain[c]) / N));
        }
    }
    const gradients = { d_x: d.x, d_gain: d.gain, d_bias: d.bias };
    return p.mode === 'running' ? { y, ...gradients } : { y, mean_new, variance_new, ...gradients };
}

const words = (counter, key) => {
    let [a, b, c, d] = counter.map(BigInt);
    let [k, l] = key.map(BigInt);
    const [low, high] = [(v) => v & 0xffffffffn, (v) => v >> 32n];
    for (let round = 0; round < 10; round++) {
        const [m, n] = [0xd2511f53n * a, 0xcd9e8d57n * c];
        [a, b, c, d] = [high(n) ^ b ^ k, low(n), high(m) ^ d ^ l, low(m)];
        [k, l] = [low(k + 0x9e3779b9n), low(l + 0xbb67ae85n)];
    }
    return [a, b, c, d].map(Number);
};
/** Dropout, forward and backward. */
export function dropout(x, p, fault) {
    const { N, D, seed = 0, step = 0, place = 0 } = p;
    const below = Math.round(p.p * 65536);
    const drawn = (i) => {
        const word = words([Math.floor(i / 8), 5 + 256 * place, step, 0], [seed, 0])[(i % 8) >> 1];
        return (i % 2 ? word >>> 16 : word & 0xffff) < below;
    };
    const dropped = Array.from({ length: N * D }, (_, i) =>
        fault === 'drawn once for all rows'
            ? drawn(i % D)
            : fault === 'drawn for whole rows'
              ? drawn(Math.floor(i / D))
              : drawn(i) !== (fault === 'what should stay is dropped'),
    );
    const factor = fault === 'not divided by 1 - p' ? 1 : 1 / (1 - below / 65536);
    const y = x.x.map((v, i) => (dropped[i] ? 0 : v * factor));
    const back = fault === 'gradient of what was dropped too' ? () => false : (i) => dropped[i];
    return { y, d_x: x.dy.map((v, i) => (back(i) ? 0 : v * factor)) };
}

/** Long convolution, forward; with causal=false of the rows after each too. */
export function longConv(x, p, fault) {
    const { L, D, lambda = 0 } = p;
    const squash = (k) => (lambda ? Math.sign(k) * Math.max(Math.abs(k) - lambda, 0) : k);
    const y = new Float64Array(L * D);
    const from = fault === 'the row itself in both kernels' ? 0 : 1;
    for (let c = 0; c < D; c++)
        for (let t = 0; t < L; t++) {
            let sum = (x.conv_skip?.[c] ?? 0) * x.x[t * D + c];
            for (let s = 0; s <= t; s++) sum += squash(x.conv_k[c * L + s]) * x.x[(t - s) * D + c];
            for (let s = 0; x.conv_ahead && fault !== 'nothing ahead' && t + from + s < L; s++)
                sum += squash(x.conv_ahead[c * L + s]) * x.x[(t + from + s) * D + c];
            y[t * D + c] = sum;
        }
    return { y };
}

/** [mechanism, implementation, fault, what judge says of it (in the set that is named), format]. */
export const PLANTED = [
    ['gla_core', gla, 'no scale', /times 2\.82843 = sqrt\(dk\): a scale is missing/],
    ['gla_core', gla, 'scale of the values', /times 1\.1547: a scale is missing or taken twice/],
    ['gla_core', gla, 'gate of the row before', /with g of the row before: the gate is one row late/],
    ['gla_core', gla, 'gate of the row after', /with g of the row after: the gate is one row early/],
    ['gla_core', gla, 'gates left out', /with mode=none|with g=0 everywhere/],
    ['gla_core', gla, 'gates cut off at -5', /with g cut off at -5/],
    ['gla_core', gla, 'gates of the heads exchanged', /with the columns of g swapped/],
    ['gla_core', gla, 'gates on the columns of values', /./],
    ['gla_core', gla, 'gate after the write', /the gate also meets what the row writes/],
    ['gla_core', gla, 'output read before the write', /the state is read before it is written/],
    ['gla_core', gla, 'start state left out', /without s0: the state that is handed on is not used/],
    [
        'gla_core',
        gla,
        'state lost at every 64th row',
        /the history begins anew at row 64: the state is not handed on/,
    ],
    ['gla_core', gla, 'last row of a block misses itself', /only row 63 of every 64 is wrong/],
    ['gla_core', gla, 'last block, not full, left out', /only rows 256 to 299 are wrong: the last block of/],
    ['gla_core', gla, 'second head reads the first', /head 1 of 2 has those of head 0/],
    ['gla_core', gla, 'state kept in bfloat16', /lower precision/],
    ['gla_core', gla, 'quotient of exponentials', /NaN or infinite/, 'f32'],
    [
        'gla_core',
        gla,
        'backward stops at every 64th row',
        /gradient only.*the gradient stops at a block's edge/,
    ],
    ['gla_core', gla, 'd_q from the state before', /gradient only/],
    ['gla_core', gla, 'd_v scaled twice', /gradient only.*times 0\.353553 = 1\/sqrt\(dk\)/],
    ['gla_core', gla, 'd_q and d_k exchanged', /gradient only.*it is the gradient by k/],
    ['gla_core', gla, 'gates without a gradient', /gradient only.*all zero: is the graph cut/],
    ['gla_core', gla, 'd_s0 left at zero', /gradient only.*all zero/],
    ['delta_core', delta, 'nothing erased', /right in row 0 alone: what is handed on/],
    ['delta_core', delta, 'erased without beta', /right in row 0 alone: what is handed on/],
    ['delta_core', delta, 'erased before the gate', /./],
    ['delta_core', delta, 'gate after the write', /the gate also meets what the row writes/],
    ['delta_core', delta, 'beta left out', /with beta=1 everywhere/],
    ['delta_core', delta, 'norms of q and k left out', /with qk_norm=none/],
    [
        'softmax_attention_qkv',
        attention,
        'logits without scale',
        /without the factor 1\/sqrt\(d\) of the logits/,
    ],
    [
        'softmax_attention_qkv',
        attention,
        'one row of the future',
        /right in the last row alone: rows depend on later ones/,
    ],
    ['softmax_attention_qkv', attention, 'whole block seen', /rows see to the end of their block/],
    ['softmax_attention_qkv', attention, 'window of 256 rows', /depends only on the last 256 rows/],
    ['softmax_attention_qkv', attention, 'keys of the last block dropped', /the last block of/],
    ['softmax_attention_qkv', attention, 'maximum not taken off', /NaN or infinite/],
    ['softmax_attention_qkv', attention, 'weights rounded to bfloat16', /lower precision/],
    ['softmax_attention_qkv', attention, 'heads column by column', /heads are laid out column by column/],
    ['sliding_core', sliding, 'window of one row too many', /with W=10, not 9/],
    ['sliding_core', sliding, 'window cut at blocks of 64', /the history begins anew at row 64/],
    ['lstm', lstm, 'gates f and o exchanged', /with the gates f and o swapped \(the order is ifgo\)/],
    ['lstm', lstm, 'one more added to the forget gate', /right in row 0 alone/],
    ['lstm', lstm, 'cell without tanh', /./],
    ['gru', gru, 'update gate the other way round', /./],
    ['gru', gru, 'reset before the product', /./],
    ['layer_norm', layerNorm, 'eps 1e-3', /lower precision, or approximated/],
    ['layer_norm', layerNorm, 'eps outside the root', /lower precision, or approximated/],
    ['layer_norm', layerNorm, 'variance over D - 1', /./],
    ['batch_norm', batchNorm, 'running variance over N', /with unbiased=false/],
    ['batch_norm', batchNorm, 'variance over N - 1', /./],
    ['batch_norm', batchNorm, 'momentum the other way round', /with momentum=0\.9: the share of what was/],
    ['batch_norm', batchNorm, 'running statistics in a step of training', /with mode=running/],
    ['batch_norm', batchNorm, 'statistics without a gradient', /gradient only/],
    ['dropout', dropout, 'not divided by 1 - p', /the reference times 0\.[67]\d*: a scale is missing/],
    ['dropout', dropout, 'drawn once for all rows', /the same columns are dropped in each row: drawn once/],
    ['dropout', dropout, 'drawn for whole rows', /whole rows are dropped/],
    ['dropout', dropout, 'what should stay is dropped', /dropped is what should stay/],
    ['dropout', dropout, 'gradient of what was dropped too', /gradient only.*nothing is dropped/],
    ['long_conv', longConv, 'nothing ahead', /without conv_ahead/],
    ['long_conv', longConv, 'the row itself in both kernels', /./],
    ['selective_scan', scan, 'b and c exchanged', /with b and c exchanged/],
    ['selective_scan', scan, 'Euler step', /right in row 0 alone: what is handed on/],
    ['selective_scan', scan, 'skip left out', /without skip/],
];
export const IMPLEMENTATIONS = {
    gla_core: gla,
    delta_core: delta,
    softmax_attention_qkv: attention,
    selective_scan: scan,
    layer_norm: layerNorm,
    batch_norm: batchNorm,
    dropout,
    long_conv: longConv,
    sliding_core: sliding,
    lstm,
    gru,
};
