// shared.mjs: what every peer in the browser is given: the same targets, bias, values,
// and which weights decay.

/** Batch i of the targets as rows that already carry 1 / count, so that the loss is a sum. */
export function oneHot(spec, i) {
    const { data, meta } = spec;
    const n = data.targets.data.length / data.targets.shape[0];
    const targets = data.targets.data.subarray(i * n, (i + 1) * n);
    const count = targets.reduce((s, t) => s + (t >= 0), 0);
    const out = new Float32Array(n * meta.classes);
    targets.forEach((t, r) => {
        if (t >= 0) out[r * meta.classes + t] = 1 / count;
    });
    return out;
}
/** [L][L]: -1e9 above the diagonal. */
export function causalBias(L) {
    const bias = new Float32Array(L * L);
    for (let i = 0; i < L; i++) for (let j = i + 1; j < L; j++) bias[i * L + j] = -1e9;
    return bias;
}
/** Which weights decay: matrices. */
export const decays = (key, shape) => shape.length === 2 && !key.includes('filter');
/** Element i of array `which`, as bench/kernel_rows.c makes it. */
export function sharedValue(which, i) {
    const h = Math.imul((i + Math.imul(0x9e3779b9, which + 1)) | 0, 2654435761) >>> 0;
    return (h >>> 8) / 8388608 - 1;
}
