// planted_cores.mjs: plain implementations of the newer mechanisms, forward, each able to make one mistake
// that people make. For judging.mjs, beside planted.mjs.

const sigma = (z) => 1 / (1 + Math.exp(-z));
const softplus = (z) => Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z)));

/**
 * States S [H][dk][dv] row by row: `write` changes S at a row, then y = scale S^T q. Head h reads queries of
 * head keys(h).
 */
function states(x, p, fault, { query = 'q', scale = p.dk ** -0.5, H = p.H, write, keys = (h) => h }) {
    const { L, dk, dv } = p;
    const y = new Float64Array(L * H * dv);
    const state = new Float64Array(H * dk * dv);
    for (let h = 0; h < H; h++) {
        const S = new Float64Array(dk * dv);
        if (x.s0 && fault !== 'start state left out') S.set(x.s0.subarray(h * dk * dv, (h + 1) * dk * dv));
        for (let t = 0; t < L; t++) {
            if (fault === 'state lost at every 64th row' && t % 64 === 0 && t) S.fill(0);
            write(S, t, h);
            for (let j = 0; j < dv; j++) {
                let sum = 0;
                const q = (t * (x[query].length / (L * dk)) + keys(h)) * dk;
                for (let i = 0; i < dk; i++) sum += x[query][q + i] * S[i * dv + j];
                y[(t * H + h) * dv + j] = (fault === 'no scale' ? 1 : p.scale || scale) * sum;
            }
        }
        state.set(S, h * dk * dv);
    }
    return { y, state };
}
/** b^T S */
const read = (S, b, dk, dv) =>
    Float64Array.from({ length: dv }, (_, j) => {
        let sum = 0;
        for (let i = 0; i < dk; i++) sum += b(i) * S[i * dv + j];
        return sum;
    });
/** S = decay S + a w^T + k v^T */
const update = (S, decay, a, w, k, v, dk, dv) => {
    for (let i = 0; i < dk; i++)
        for (let j = 0; j < dv; j++) S[i * dv + j] = decay(i) * S[i * dv + j] + a(i) * w[j] + k(i) * v(j);
};

/** Diagonal plus low rank. */
export function dplr(x, p, fault) {
    const { H, dk, dv } = p;
    const mode = p.mode ?? 'channel';
    return states(x, p, fault, {
        write(S, t, h) {
            const at = (name, n) => (i) => x[name][(t * H + h) * n + i];
            const decay = (i) =>
                mode === 'none' ? 1 : Math.exp(mode === 'head' ? x.g[t * H + h] : at('g', dk)(i));
            let [a, b] = [at('a', dk), at('b', dk)];
            if (fault === 'a and b exchanged') [a, b] = [b, a];
            const from =
                fault === 'the read after the decay' ? S.map((s, n) => s * decay(Math.floor(n / dv))) : S;
            update(S, decay, a, read(from, b, dk, dv), at('k', dk), at('v', dv), dk, dv);
        },
    });
}

/** Kimi delta attention, also with grouped values. */
export function kda(x, p, fault) {
    const { H, dk, dv } = p;
    const HV = p.mode === 'grouped' ? p.HV : H;
    const keys = (h) => (fault === 'heads of keys by turns' ? h % H : Math.floor(h / (HV / H)));
    return states(x, p, fault, {
        H: HV,
        keys,
        write(S, t, h) {
            const k = (i) => x.k[(t * H + keys(h)) * dk + i];
            const gate = (i) => {
                const g = x.g[(t * HV + h) * dk + i];
                return Math.exp(fault === 'gates cut off at -5' ? Math.max(g, -5) : g);
            };
            let beta = x.beta[t * HV + h];
            if (fault === 'beta cut off at 1') beta = Math.min(beta, 1);
            const from =
                fault === 'erased before the gate'
                    ? S.slice()
                    : S.map((s, n) => s * gate(Math.floor(n / dv)));
            const held = read(from, k, dk, dv);
            const miss = held.map((old, j) => beta * (x.v[(t * HV + h) * dv + j] - old));
            update(
                S,
                gate,
                k,
                miss,
                () => 0,
                () => 0,
                dk,
                dv,
            );
        },
    });
}

/** Gated DeltaNet-2. */
export function gdn2(x, p, fault) {
    const { H, dk, dv } = p;
    return states(x, p, fault, {
        write(S, t, h) {
            const at = (name, n) => (i) => x[name][(t * H + h) * n + i];
            const [k, v, g, b, w] = [at('k', dk), at('v', dv), at('g', dk), at('b', dk), at('w', dv)];
            const gate = (i) => Math.exp(g(i));
            const key = fault === 'erased without its gate' ? k : (i) => b(i) * k(i);
            const held = read(S, (i) => gate(i) * key(i), dk, dv);
            const write =
                fault === 'the gate of writing on the whole error'
                    ? held.map((old, j) => w(j) * (v(j) - old))
                    : held.map((old, j) => w(j) * v(j) - old);
            update(
                S,
                gate,
                k,
                write,
                () => 0,
                () => 0,
                dk,
                dv,
            );
        },
    });
}

/** Gated DeltaProduct. */
export function deltaproduct(x, p, fault) {
    const { H, dk, dv, n } = p;
    return states(x, p, fault, {
        write(S, t, h) {
            for (let s = 0; s < n; s++) {
                const row =
                    fault === 'steps beside each other in a head' ? (t * H + h) * n + s : (t * n + s) * H + h;
                const gated = s === 0 || fault === 'the gate at each step';
                const gate = () => (x.g && gated ? Math.exp(x.g[t * H + h]) : 1);
                for (let i = 0; i < S.length; i++) S[i] *= gate();
                const k = (i) => x.k[row * dk + i];
                const held = read(S, k, dk, dv);
                const miss = held.map((old, j) => x.beta[row] * (x.v[row * dv + j] - old));
                update(
                    S,
                    () => 1,
                    k,
                    miss,
                    () => 0,
                    () => 0,
                    dk,
                    dv,
                );
            }
        },
    });
}

/** RWKV-7. */
export function rwkv7(x, p, fault) {
    const { H, dk, dv } = p;
    return states(x, p, fault, {
        query: 'r',
        scale: fault === 'scaled like attention' ? dk ** -0.5 : 1,
        write(S, t, h) {
            const at = (name, n) => (i) => x[name][(t * H + h) * n + i];
            const [k, v, g, kk, a] = [at('k', dk), at('v', dv), at('g', dk), at('kk', dk), at('a', dk)];
            const gate = (i) =>
                Math.exp(fault === 'the decay taken for its logarithm' ? -Math.exp(g(i)) : g(i));
            const held = read(S, kk, dk, dv);
            const share =
                fault === 'a on the read, not the write' ? read(S, (i) => a(i) * kk(i), dk, dv) : held;
            const away = (i) => -(fault === 'a on the read, not the write' ? 1 : a(i)) * kk(i);
            update(S, gate, away, share, k, v, dk, dv);
        },
    });
}

/** Comba. */
export function comba(x, p, fault) {
    const { H, dk, dv } = p;
    return states(x, p, fault, {
        write(S, t, h) {
            const at = (name, n) => (i) => x[name][(t * H + h) * n + i];
            const gate = Math.exp(x.g[t * H + h]);
            const from = fault === 'the decay before the read' ? S.map((s) => s * gate) : S;
            const held = read(from, at(fault === 'reads with k' ? 'k' : 'p', dk), dk, dv);
            const miss = held.map((old, j) => x.beta[t * H + h] * (at('v', dv)(j) - old));
            update(
                S,
                () => gate,
                at('k', dk),
                miss,
                () => 0,
                () => 0,
                dk,
                dv,
            );
        },
    });
}

/** HGRN2. */
export function hgrn2(x, p, fault) {
    const { H, dk, dv } = p;
    return states(x, p, fault, {
        scale: fault === 'scaled like attention' ? dk ** -0.5 : 1,
        write(S, t, h) {
            const gate = (i) => Math.exp(x.g[(t * H + h) * dk + i]);
            const key = (i) => (fault === 'the key is the gate' ? gate(i) : 1 - gate(i));
            const v = (j) => x.v[(t * H + h) * dv + j];
            update(S, gate, () => 0, new Float64Array(dv), key, v, dk, dv);
        },
    });
}

/** Attention with norms, groups, soft cap, window and sinks; with g, the forgetting transformer's. */
export function attn(x, p, fault) {
    const { L, H, Hkv, d } = p;
    const y = new Float64Array(L * H * d);
    const normed = (name, heads) => {
        const gain = x[`${name}_gain`];
        if (!gain || fault === 'norms left out') return x[name];
        const to = new Float64Array(x[name].length);
        for (let r = 0; r < L * heads; r++) {
            const row = x[name].subarray(r * d, (r + 1) * d);
            const square = row.reduce((a, b) => a + b * b, 0);
            const over =
                fault === 'norms to length 1' ? Math.sqrt(square) : Math.sqrt(square / d + (p.eps ?? 1e-6));
            for (let i = 0; i < d; i++) to[r * d + i] = (row[i] / over) * gain[i];
        }
        return to;
    };
    const [q, k] = [normed('q', H), normed('k', Hkv)];
    for (let h = 0; h < H; h++)
        for (let t = 0; t < L; t++) {
            const kv = fault === 'groups by turns' ? h % Hkv : Math.floor(h / (H / Hkv));
            const end = (p.causal ?? true) ? t + 1 : L;
            const window = (p.window ?? 0) + (fault === 'window of one row too many' ? 1 : 0);
            const first = p.window ? Math.max(0, t + 1 - window) : 0;
            const logits = new Float64Array(L).fill(-Infinity);
            for (let s = end - 1, gates = 0; s >= first; s--) {
                let sum = 0;
                for (let i = 0; i < d; i++) sum += q[(t * H + h) * d + i] * k[(s * Hkv + kv) * d + i];
                const cap = p.softcap || 0;
                if (fault === 'cap before the scale' && cap)
                    sum = (cap * Math.tanh(sum / cap)) / Math.sqrt(d);
                else {
                    sum /= Math.sqrt(d);
                    if (cap && fault !== 'no soft cap') sum = cap * Math.tanh(sum / cap);
                }
                if (x.g && fault === "the key's own gate too") gates += x.g[s * H + h];
                logits[s] = sum + (fault === 'gates scaled too' ? gates / Math.sqrt(d) : gates);
                if (x.g && fault !== "the key's own gate too") gates += x.g[s * H + h];
            }
            const sink = x.sinks && fault !== 'sinks left out' ? x.sinks[h] : -Infinity;
            const most = logits.reduce((a, b) => Math.max(a, b), sink);
            const weights = logits.map((l) => Math.exp(l - most));
            let all = weights.reduce((a, b) => a + b, 0);
            all += fault === 'sinks scaled' ? Math.exp(sink / Math.sqrt(d) - most) : Math.exp(sink - most);
            for (let s = first; s < end; s++)
                for (let i = 0; i < d; i++)
                    y[(t * H + h) * d + i] += (weights[s] / all) * x.v[(s * Hkv + kv) * d + i];
        }
    return { y };
}

/** xLSTM's matrix memory. */
export function mlstm(x, p, fault) {
    const { L, H, dk, dv } = p;
    const y = new Float64Array(L * H * dv);
    const [state, n, m] = [new Float64Array(H * dk * dv), new Float64Array(H * dk), new Float64Array(H)];
    for (let h = 0; h < H; h++) {
        const C = state.subarray(h * dk * dv, (h + 1) * dk * dv);
        const N = n.subarray(h * dk, (h + 1) * dk);
        if (x.s0) C.set(x.s0.subarray(h * dk * dv, (h + 1) * dk * dv));
        if (x.n0) N.set(x.n0.subarray(h * dk, (h + 1) * dk));
        if (x.m0) m[h] = x.m0[h];
        for (let t = 0; t < L; t++) {
            const f = x.f[t * H + h];
            const forget =
                p.mode === 'exp' || fault === 'forget gate without its sigmoid' ? f : -softplus(-f);
            const most = Math.max(forget + m[h], x.i[t * H + h]);
            const [keep, take] = [Math.exp(forget + m[h] - most), Math.exp(x.i[t * H + h] - most)];
            m[h] = most;
            for (let i = 0; i < dk; i++) {
                const k = x.k[(t * H + h) * dk + i];
                N[i] = keep * N[i] + take * k;
                for (let j = 0; j < dv; j++)
                    C[i * dv + j] = keep * C[i * dv + j] + take * k * x.v[(t * H + h) * dv + j];
            }
            const q = (i) =>
                x.q[(t * H + h) * dk + i] / (fault === 'queries without scale' ? 1 : Math.sqrt(dk));
            let dot = 0;
            for (let i = 0; i < dk; i++) dot += N[i] * q(i);
            const floor = fault === 'denominator at least 1' ? 1 : Math.exp(-most);
            const below =
                fault === 'denominator without its magnitude'
                    ? Math.max(dot, floor)
                    : Math.max(Math.abs(dot), floor);
            for (let j = 0; j < dv; j++) {
                let sum = 0;
                for (let i = 0; i < dk; i++) sum += C[i * dv + j] * q(i);
                y[(t * H + h) * dv + j] = sum / below;
            }
        }
    }
    return { y, state, n, m };
}

/** RG-LRU. */
export function rglru(x, p, fault) {
    const { L, D } = p;
    const y = new Float64Array(L * D);
    const state = x.h0 ? Float64Array.from(x.h0) : new Float64Array(D);
    for (let t = 0; t < L; t++)
        for (let c = 0; c < D; c++) {
            const at = t * D + c;
            const rate = fault === 'the rate without its 8' ? 1 : (p.c ?? 8);
            const log = -rate * softplus(x.lam[c]) * sigma(x.ga[at]);
            const whole = (p.mode === 'reset') !== (fault === 'the first row otherwise') && t === 0;
            const root = whole || fault === 'input not scaled' ? 1 : Math.sqrt(-Math.expm1(2 * log));
            state[c] = Math.exp(log) * state[c] + root * sigma(x.gi[at]) * x.x[at];
            y[at] = state[c];
        }
    return { y, state };
}

/** [mechanism, implementation, fault, what judge says of it]. */
export const PLANTED_CORES = [
    ['dplr_core', dplr, 'the read after the decay', /./],
    ['dplr_core', dplr, 'a and b exchanged', /with a and b exchanged|./],
    ['dplr_core', dplr, 'start state left out', /without s0/],
    ['dplr_core', dplr, 'no scale', /times 2(\.82843)? = sqrt\(dk\)/],
    ['kda_core', kda, 'erased before the gate', /./],
    ['kda_core', kda, 'beta cut off at 1', /./],
    ['kda_core', kda, 'gates cut off at -5', /with g cut off at -5/],
    ['kda_core', kda, 'heads of keys by turns', /by turns/],
    ['kda_core', kda, 'state lost at every 64th row', /the history begins anew at row 64/],
    ['gdn2_core', gdn2, 'erased without its gate', /with b=1 everywhere|./],
    ['gdn2_core', gdn2, 'the gate of writing on the whole error', /./],
    ['deltaproduct_core', deltaproduct, 'steps beside each other in a head', /./],
    ['deltaproduct_core', deltaproduct, 'the gate at each step', /./],
    ['rwkv7_core', rwkv7, 'scaled like attention', /times 0\.353553/],
    ['rwkv7_core', rwkv7, 'the decay taken for its logarithm', /./],
    ['rwkv7_core', rwkv7, 'a on the read, not the write', /./],
    ['comba_core', comba, 'the decay before the read', /./],
    ['comba_core', comba, 'reads with k', /./],
    ['hgrn2_core', hgrn2, 'scaled like attention', /times 0\.353553/],
    ['hgrn2_core', hgrn2, 'the key is the gate', /./],
    ['attn_core', attn, 'groups by turns', /by turns/],
    ['attn_core', attn, 'window of one row too many', /with window=\d+, not \d+/],
    ['attn_core', attn, 'cap before the scale', /./],
    ['attn_core', attn, 'no soft cap', /with softcap=0/],
    ['attn_core', attn, 'sinks left out', /without sinks/],
    ['attn_core', attn, 'sinks scaled', /each sink times 1.sqrt\(d\)/],
    ['attn_core', attn, 'norms left out', /./],
    ['attn_core', attn, 'norms to length 1', /./],
    ['fox_core', attn, "the key's own gate too", /./],
    ['fox_core', attn, 'gates scaled too', /./],
    ['mlstm_core', mlstm, 'forget gate without its sigmoid', /with mode=exp|./],
    ['mlstm_core', mlstm, 'queries without scale', /./],
    ['mlstm_core', mlstm, 'denominator at least 1', /./],
    ['mlstm_core', mlstm, 'denominator without its magnitude', /./],
    ['rglru_core', rglru, 'the rate without its 8', /./],
    ['rglru_core', rglru, 'input not scaled', /./],
    ['rglru_core', rglru, 'the first row otherwise', /with mode=(paper|reset)|./],
];
export const CORES = {
    dplr_core: dplr,
    kda_core: kda,
    gdn2_core: gdn2,
    deltaproduct_core: deltaproduct,
    rwkv7_core: rwkv7,
    comba_core: comba,
    hgrn2_core: hgrn2,
    attn_core: attn,
    fox_core: attn,
    mlstm_core: mlstm,
    rglru_core: rglru,
};
