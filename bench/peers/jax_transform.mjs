// jax_transform.mjs: discrete Fourier transforms of 8,192 points of rows of 4,096 and zeros, as matrix
// products: jax-js's own take seven times as long for W3. n = 128 n1 + n2 and k = k1 + 64 k2, so
//   X(k) = sum_n2 w128^(n2 k2) [ w8192^(n2 k1) sum_n1 w64^(n1 k1) x(n) ];
// n1 < 32, as the rest is zero, and k1 <= 32, as x is real.
import { jit, numpy as np } from '@jax-js/jax';

const [S, T] = [64, 128];
const [N, HALF, F] = [S * T, S / 2, S / 2 + 1];

const cos = (a, n) => Math.cos((2 * Math.PI * (a % n)) / n);
const sin = (a, n) => Math.sin((2 * Math.PI * (a % n)) / n);
function table(rows, columns, at) {
    const values = Float32Array.from({ length: rows * columns }, (_, i) =>
        at(Math.floor(i / columns), i % columns),
    );
    return np.array(values, { dtype: np.float32 }).reshape([rows, columns]);
}
/** (re | im) times exp(sign 2 pi i r c / T), both as (re | im). */
const turned = (sign) =>
    table(2 * T, 2 * T, (r, c) => {
        const [a, real] = [(r % T) * (c % T), r < T === c < T];
        return real ? cos(a, T) : (r < T ? sign : -sign) * sin(a, T);
    });

// Each step is compiled apart: what stands inside a product would be computed anew for each of its columns.
const product = jit((a, m) => np.matmul(a, m));
const columnsFirst = jit((a) => np.swapaxes(a.reshape([-1, HALF, T]), -1, -2).reshape([-1, HALF]));
const rowsFirst = jit((a) => np.swapaxes(a.reshape([-1, T, HALF]), -1, -2).reshape([-1, HALF * T]));
/** [R T, re | im of F] to [R F, re | im of T], times exp(-2 pi i n2 k1 / N). */
const down = jit((z, c, s) => {
    const all = z.reshape([-1, T, 2 * F]);
    const [re, im] = [all.ref.slice([], [], [0, F]), all.slice([], [], [F, 2 * F])];
    const real = re.ref.mul(c.ref).add(im.ref.mul(s.ref));
    const imaginary = im.mul(c).sub(re.mul(s));
    return np
        .concatenate([np.swapaxes(real, -1, -2), np.swapaxes(imaginary, -1, -2)], -1)
        .reshape([-1, 2 * T]);
});
/** The way back, times exp(+2 pi i n2 k1 / N). */
const up = jit((z, c, s) => {
    const all = z.reshape([-1, F, 2 * T]);
    const re = np.swapaxes(all.ref.slice([], [], [0, T]), -1, -2);
    const im = np.swapaxes(all.slice([], [], [T, 2 * T]), -1, -2);
    const real = re.ref.mul(c.ref).sub(im.ref.mul(s.ref));
    return np.concatenate([real, im.mul(c).add(re.mul(s))], -1).reshape([-1, 2 * F]);
});

/** { spectrum, rows }: rows [R, 4096] to [R 33, re | im of 128], and back without what lies beyond 4096. */
export function transforms() {
    const twist = [table(T, F, (n, k) => cos(n * k, N)), table(T, F, (n, k) => sin(n * k, N))];
    const [forth, back] = [turned(-1), turned(1)];
    const first = table(HALF, 2 * F, (n, c) => (c < F ? cos(n * c, S) : -sin(n * (c - F), S)));
    // Every k1 but 0 and 32 stands for its mirror image as well.
    const last = table(2 * F, HALF, (r, n) => {
        const k = r % F;
        return ((k % HALF ? 2 : 1) / N) * (r < F ? cos(k * n, S) : -sin(k * n, S));
    });
    const of = () => twist.map((t) => t.ref);
    return {
        spectrum: (x) => product(down(product(columnsFirst(x), first.ref), ...of()), forth.ref),
        rows: (z) => rowsFirst(product(up(product(z, back.ref), ...of()), last.ref)),
    };
}

/** sum over the batch or not of a b, or of a conj(b): a [B D 33, re | im], b as many or one of D 33. */
export const multiply = (D, { conjugate = false, sum = false } = {}) =>
    jit((a, b) => {
        const parts = (z) => {
            const all = z.reshape([-1, D, F, 2, T]);
            return [all.ref.slice([], [], [], 0), all.slice([], [], [], 1)];
        };
        const [[ar, ai], [br, bi]] = [parts(a), parts(b)];
        const [rr, ii] = [ar.ref.mul(br.ref), ai.ref.mul(bi.ref)];
        const [ir, ri] = [ai.mul(br), ar.mul(bi)];
        const product = conjugate ? [rr.add(ii), ir.sub(ri)] : [rr.sub(ii), ir.add(ri)];
        const summed = sum ? product.map((z) => z.sum(0, { keepdims: true })) : product;
        return np.stack(summed, -2).reshape([-1, 2 * T]);
    });
