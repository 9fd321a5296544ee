// tensorflow.mjs: W1, W2 and one product in TensorFlow.js (WebAssembly backend, one thread):
// eager, with hand-written AdamW.
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops.js';
import '@tensorflow/tfjs-core/dist/register_all_gradients.js';
import { causalBias, decays, oneHot, sharedValue } from './shared.mjs';

const norm = (x, w, stem) => {
    const centred = tf.sub(x, tf.mean(x, -1, true));
    const variance = tf.mean(tf.mul(centred, centred), -1, true);
    return tf.add(
        tf.mul(tf.mul(centred, tf.rsqrt(tf.add(variance, 1e-5))), w[`${stem}.gain`]),
        w[`${stem}.bias`],
    );
};
const gelu = (x) => {
    const inner = tf.mul(tf.add(x, tf.mul(tf.mul(tf.mul(x, x), x), 0.044715)), Math.sqrt(2 / Math.PI));
    return tf.mul(tf.mul(x, 0.5), tf.add(tf.tanh(inner), 1));
};
const attention = (q, k, v, bias) => {
    const scores = tf.mul(tf.matMul(q, k, false, true), q.shape[2] ** -0.5);
    return tf.matMul(tf.softmax(tf.add(scores, bias)), v);
};
const crossEntropy = (logits, target) => tf.neg(tf.sum(tf.mul(tf.logSoftmax(logits), target)));

const models = {
    W1:
        ({ B, L, D }) =>
        (w, x) => {
            const e = tf.matMul(x.input, w.embedding);
            const z = tf.split(tf.matMul(norm(e, w, 'block0.norm_1'), w['block0.mixer.w_qkv']), 3, 1);
            const filters = tf.split(w['block0.mixer.filter_qkv'], 3, 0);
            const [q, k, v] = z.map((rows, i) => {
                const taps = tf.split(tf.reshape(filters[i], [3]), 3).map((tap) => tf.reshape(tap, []));
                const padded = tf.pad(tf.reshape(rows, [B, L, D]), [
                    [0, 0],
                    [2, 0],
                    [0, 0],
                ]);
                const shifted = (s) => tf.slice(padded, [0, 2 - s, 0], [B, L, D]);
                return tf.add(
                    tf.add(tf.mul(shifted(0), taps[0]), tf.mul(shifted(1), taps[1])),
                    tf.mul(shifted(2), taps[2]),
                );
            });
            const o = tf.reshape(attention(q, k, v, x.bias), [B * L, D]);
            const h = norm(tf.add(e, tf.matMul(o, w['block0.mixer.w_o'])), w, 'norm');
            return crossEntropy(tf.add(tf.matMul(h, w.head), w.head_bias), x.target);
        },
    W2:
        ({ B, L, D, H, blocks }) =>
        (w, x) => {
            const d = D / H;
            const heads = (t) =>
                tf.reshape(tf.transpose(tf.reshape(t, [B, L, H, d]), [0, 2, 1, 3]), [B * H, L, d]);
            let h = tf.add(tf.matMul(x.input, w.input_w), w.input_bias);
            h = tf.reshape(tf.add(tf.reshape(h, [B, L, D]), w.position), [B * L, D]);
            for (let i = 0; i < blocks; i++) {
                const b = `block${i}.`;
                const z = tf.matMul(norm(h, w, `${b}norm_1`), w[`${b}mixer.w_qkv`]);
                const [q, k, v] = tf.split(z, 3, 1).map(heads);
                const o = tf.transpose(tf.reshape(attention(q, k, v, x.bias), [B, H, L, d]), [0, 2, 1, 3]);
                h = tf.add(h, tf.matMul(tf.reshape(o, [B * L, D]), w[`${b}mixer.w_o`]));
                const inner = gelu(
                    tf.add(tf.matMul(norm(h, w, `${b}norm_2`), w[`${b}mlp.w_1`]), w[`${b}mlp.b_1`]),
                );
                h = tf.add(h, tf.add(tf.matMul(inner, w[`${b}mlp.w_2`]), w[`${b}mlp.b_2`]));
            }
            const mean = tf.mean(tf.reshape(norm(h, w, 'norm'), [B, L, D]), 1);
            return crossEntropy(tf.add(tf.matMul(mean, w.head), w.head_bias), x.target);
        },
};

function training(name, spec) {
    const { meta, adamw, weights, data } = spec;
    const { B, L, classes } = meta;
    const loss = models[name](meta);
    const tensor = (a) => tf.tensor(a.data, a.shape);
    const w = {};
    const m = {};
    const v = {};
    for (const [key, a] of Object.entries(weights)) {
        w[key] = tf.variable(tensor(a));
        m[key] = tf.zerosLike(w[key]);
        v[key] = tf.zerosLike(w[key]);
    }
    const bias = tf.tensor(causalBias(L), [1, L, L]);
    const batches = Array.from({ length: 10 }, (_, i) => {
        const rows = name === 'W1' ? B * L : B;
        let input;
        if (data.tokens) {
            const V = weights.embedding.shape[0];
            const picked = new Float32Array(B * L * V);
            for (let t = 0; t < B * L; t++) picked[t * V + data.tokens.data[i * B * L + t]] = 1;
            input = tf.tensor(picked, [B * L, V]);
        } else input = tf.tensor(data.values.data.slice(i * B * L, (i + 1) * B * L), [B * L, 1]);
        return { input, bias, target: tf.tensor(oneHot(spec, i), [rows, classes]) };
    });
    let step = 0;
    return () => {
        const x = batches[step++ % 10];
        return tf.tidy(() => {
            const { value, grads } = tf.variableGrads(() => loss(w, x), Object.values(w));
            const { rate, b1, b2, eps, decay } = adamw;
            for (const key of Object.keys(w)) {
                const g = grads[w[key].name];
                const next = tf.add(tf.mul(m[key], b1), tf.mul(g, 1 - b1));
                const square = tf.add(tf.mul(v[key], b2), tf.mul(tf.mul(g, g), 1 - b2));
                const scaled = tf.div(
                    tf.div(next, 1 - b1 ** step),
                    tf.add(tf.sqrt(tf.div(square, 1 - b2 ** step)), eps),
                );
                const kept = tf.mul(w[key], decays(key, w[key].shape) ? 1 - rate * decay : 1);
                w[key].assign(tf.sub(kept, tf.mul(scaled, rate)));
                tf.dispose([m[key], v[key]]);
                m[key] = tf.keep(next);
                v[key] = tf.keep(square);
            }
            return value.dataSync()[0];
        });
    };
}

export async function tensorflowWorks(specs, folder) {
    setWasmPaths(folder);
    await tf.setBackend('wasm');
    await tf.ready();
    const shared = (which, rows, columns) =>
        tf.tensor(
            Float32Array.from({ length: rows * columns }, (_, i) => sharedValue(which, i)),
            [rows, columns],
        );
    const a = shared(1, 2048, 64);
    const b = shared(2, 64, 64);
    return {
        W1: { losses: 10, step: training('W1', specs.W1) },
        W2: { losses: 10, step: training('W2', specs.W2) },
        'sgemm 2048x64x64': {
            step: () => tf.matMul(a, b).dispose(),
            check: () =>
                tf
                    .matMul(a, b)
                    .dataSync()
                    .reduce((sum, x, i) => sum + x * sharedValue(0, i), 0),
        },
    };
}
