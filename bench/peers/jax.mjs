// jax.mjs: W1 to W4 in jax-js (WebAssembly device): a whole training step, loss, gradients and AdamW, is
// one compiled function.
// jax-js counts references: each use of an array consumes it, `.ref` keeps it.
import { blockUntilReady, defaultDevice, init, jit, nn, numpy as np, tree, valueAndGrad } from '@jax-js/jax';
import { multiply, transforms } from './jax_transform.mjs';
import { causalBias, decays, oneHot, sharedValue } from './shared.mjs';

const floats = (data, shape) => np.array(data, { dtype: np.float32 }).reshape(shape);
const norm = (x, w, stem) =>
    nn.standardize(x, -1, { epsilon: 1e-5 }).mul(w[`${stem}.gain`]).add(w[`${stem}.bias`]);
/** The same from rows' means: in W1 jax-js takes twice as long with its own nn.standardize. */
const normOfMeans = (x, w, stem) => {
    const centred = x.ref.sub(np.mean(x, -1, { keepdims: true }));
    const variance = np.mean(np.square(centred.ref), -1, { keepdims: true });
    const scaled = centred.mul(np.reciprocal(np.sqrt(variance.add(1e-5))));
    return scaled.mul(w[`${stem}.gain`]).add(w[`${stem}.bias`]);
};
const gelu = (x) => {
    const inner = x.ref.add(x.ref.mul(x.ref).mul(x.ref).mul(0.044715)).mul(Math.sqrt(2 / Math.PI));
    return x.mul(0.5).mul(np.tanh(inner).add(1));
};
/** q, k, v [B, H, L, d] */
const attention = (q, k, v, bias) => {
    const d = q.shape.at(-1);
    const scores = np
        .matmul(q, np.swapaxes(k, -1, -2))
        .mul(d ** -0.5)
        .add(bias);
    return np.matmul(nn.softmax(scores, -1), v);
};
const crossEntropy = (logits, target) => nn.logSoftmax(logits, -1).mul(target).sum().neg();
/** [B*L, 3D] -> q, k, v [B, H, L, d] */
const split = (z, B, L, H, d) => {
    const all = np.transpose(z.reshape([B, L, 3, H, d]), [2, 0, 3, 1, 4]);
    return [all.ref.slice(0), all.ref.slice(1), all.slice(2)];
};

const models = {
    W1:
        ({ B, L, D }) =>
        (w, x) => {
            const e = np.matmul(x.input, w.embedding);
            const projected = np
                .matmul(normOfMeans(e.ref, w, 'block0.norm_1'), w['block0.mixer.w_qkv'])
                .reshape([B, L, 3, 1, D]);
            const filters = w['block0.mixer.filter_qkv'].reshape([1, 1, 3, 1, 1, 3]);
            const tap = (i) => filters.ref.slice([], [], [], [], [], i);
            const padded = np.pad(projected, [
                [0, 0],
                [2, 0],
                [0, 0],
                [0, 0],
                [0, 0],
            ]);
            const z = padded.ref
                .slice([], [2, L + 2])
                .mul(tap(0))
                .add(padded.ref.slice([], [1, L + 1]).mul(tap(1)))
                .add(padded.slice([], [0, L]).mul(tap(2)));
            filters.dispose();
            const [q, k, v] = split(z, B, L, 1, D);
            const o = np.transpose(attention(q, k, v, x.bias), [0, 2, 1, 3]).reshape([B * L, D]);
            const h = normOfMeans(e.add(np.matmul(o, w['block0.mixer.w_o'])), w, 'norm');
            return crossEntropy(np.matmul(h, w.head).add(w.head_bias), x.target);
        },
    W2:
        ({ B, L, D, H, blocks }) =>
        (w, x) => {
            let h = np
                .matmul(x.input, w.input_w)
                .add(w.input_bias)
                .reshape([B, L, D])
                .add(w.position)
                .reshape([B * L, D]);
            for (let i = 0; i < blocks; i++) {
                const b = `block${i}.`;
                const [q, k, v] = split(
                    np.matmul(norm(h.ref, w, `${b}norm_1`), w[`${b}mixer.w_qkv`]),
                    B,
                    L,
                    H,
                    D / H,
                );
                const o = attention(q, k, v, i === blocks - 1 ? x.bias : x.bias.ref);
                h = h.add(np.matmul(np.transpose(o, [0, 2, 1, 3]).reshape([B * L, D]), w[`${b}mixer.w_o`]));
                const inner = gelu(
                    np.matmul(norm(h.ref, w, `${b}norm_2`), w[`${b}mlp.w_1`]).add(w[`${b}mlp.b_1`]),
                );
                h = h.add(np.matmul(inner, w[`${b}mlp.w_2`]).add(w[`${b}mlp.b_2`]));
            }
            const mean = norm(h, w, 'norm').reshape([B, L, D]).mean(1);
            return crossEntropy(np.matmul(mean, w.head).add(w.head_bias), x.target);
        },
};

function training(name, spec) {
    const { meta, adamw, weights, data } = spec;
    const { B, L, classes } = meta;
    const { rate, b1, b2, eps, decay } = adamw;
    const gradient = valueAndGrad(models[name](meta));
    const compiled = jit((w, m, v, c1, c2, x) => {
        const [loss, g] = gradient(tree.ref(w), x);
        const out = [{}, {}, {}];
        for (const key of Object.keys(w)) {
            const next = m[key].mul(b1).add(g[key].ref.mul(1 - b1));
            const square = v[key].mul(b2).add(g[key].ref.mul(g[key]).mul(1 - b2));
            const scaled = next.ref.div(c1.ref).div(np.sqrt(square.ref.div(c2.ref)).add(eps));
            const kept = decays(key, weights[key].shape) ? w[key].mul(1 - rate * decay) : w[key];
            out[0][key] = kept.sub(scaled.mul(rate));
            out[1][key] = next;
            out[2][key] = square;
        }
        c1.dispose();
        c2.dispose();
        return [loss, ...out];
    });
    const each = (make) => Object.fromEntries(Object.entries(weights).map(([key, a]) => [key, make(a)]));
    let w = each((a) => floats(a.data.slice(), a.shape));
    let m = each((a) => np.zeros(a.shape));
    let v = each((a) => np.zeros(a.shape));
    const bias = floats(causalBias(L), [L, L]);
    const batches = Array.from({ length: 10 }, (_, i) => {
        let input;
        if (data.tokens) {
            const V = weights.embedding.shape[0];
            const picked = new Float32Array(B * L * V);
            for (let t = 0; t < B * L; t++) picked[t * V + data.tokens.data[i * B * L + t]] = 1;
            input = floats(picked, [B * L, V]);
        } else input = floats(data.values.data.slice(i * B * L, (i + 1) * B * L), [B * L, 1]);
        return { input, target: floats(oneHot(spec, i), [name === 'W1' ? B * L : B, classes]) };
    });
    let step = 0;
    return async () => {
        const batch = batches[step++ % 10];
        const x = { input: batch.input.ref, target: batch.target.ref, bias: bias.ref };
        let loss;
        [loss, w, m, v] = compiled(w, m, v, np.array(1 - b1 ** step), np.array(1 - b2 ** step), x);
        await blockUntilReady([w, m, v]);
        return loss.dataSync()[0];
    };
}

/** W3: y = k * x for every channel by transforms of 2 L, gradients of x and k. */
function longConvolution() {
    const [B, D, L] = [4, 64, 4096];
    const shared = (which, scale, rows) =>
        floats(
            Float32Array.from({ length: rows * L }, (_, i) => Math.fround(sharedValue(which, i)) * scale),
            [rows, L],
        );
    const [x, k, g] = [shared(0, 1, B * D), shared(2, 0.0625, D), shared(1, 0.01, B * D)];
    const { spectrum, rows } = transforms();
    const forward = multiply(D);
    const toX = multiply(D, { conjugate: true });
    const toK = multiply(D, { conjugate: true, sum: true });
    const weighted = jit((y, weights) => y.mul(weights).sum());
    return async () => {
        const [X, K, G] = [x, k, g].map((a) => spectrum(a.ref));
        const loss = weighted(rows(forward(X.ref, K.ref)), g.ref);
        const gradients = [rows(toX(G.ref, K)), rows(toK(G, X))];
        await blockUntilReady([loss, ...gradients]);
        for (const a of gradients) a.dispose();
        return loss.dataSync()[0];
    };
}

function linearAttention(C) {
    const [B, H, L, d] = [4, 4, 4096, 16];
    const N = L / C;
    const shared = (which, scale) => {
        const all = new Float32Array(B * H * L * d);
        for (let bh = 0; bh < B * H; bh++)
            for (let e = 0; e < d; e++)
                for (let t = 0; t < L; t++)
                    all[(bh * L + t) * d + e] = Math.fround(sharedValue(which, (bh * d + e) * L + t)) * scale;
        return floats(all, [B * H, N, C, d]);
    };
    const lower = new Float32Array(C * C);
    for (let i = 0; i < C; i++) for (let j = 0; j <= i; j++) lower[i * C + j] = 1;
    const before = new Float32Array(N * N);
    for (let i = 0; i < N; i++) for (let j = 0; j < i; j++) before[i * N + j] = 1;
    const inputs = { q: shared(0, 1 / d), k: shared(1, 1), v: shared(2, 1) };
    const fixed = { g: shared(3, 1e-3), lower: floats(lower, [C, C]), before: floats(before, [N, N]) };
    const run = jit(
        valueAndGrad((p, x) => {
            const states = np.matmul(np.swapaxes(p.k.ref, -1, -2), p.v.ref).reshape([B * H, N, d * d]);
            const sums = np.matmul(np.broadcastTo(x.before, [B * H, N, N]), states).reshape([B * H, N, d, d]);
            const near = np.matmul(np.matmul(p.q.ref, np.swapaxes(p.k, -1, -2)).mul(x.lower), p.v);
            return near.add(np.matmul(p.q, sums)).mul(x.g).sum();
        }),
    );
    return async () => {
        const [loss, gradients] = run(tree.ref(inputs), tree.ref(fixed));
        await blockUntilReady([loss, gradients]);
        for (const g of Object.values(gradients)) g.dispose();
        return loss.dataSync()[0];
    };
}

export async function jaxWorks(specs) {
    await init('wasm');
    defaultDevice('wasm');
    return {
        W1: { losses: 10, step: training('W1', specs.W1) },
        W2: { losses: 10, step: training('W2', specs.W2) },
        W3: { losses: 1, step: longConvolution() },
        W4: { losses: 1, step: linearAttention(32) },
    };
}
