// signal.ts: what views derive from the engine's tensors to draw them: kernels over time, spectra, responses.
// None of it goes back into a model.

export const FREQUENCIES = 64;

/** Magnitudes of the Fourier transform of a kernel at 0 to pi (64 frequencies, the last just below pi). */
export function spectrum(kernel: ArrayLike<number>): Float32Array {
    return Float32Array.from({ length: FREQUENCIES }, (_, k) => {
        const angle = (Math.PI * k) / FREQUENCIES;
        let [re, im] = [0, 0];
        for (let t = 0; t < kernel.length; t++) {
            re += kernel[t]! * Math.cos(angle * t);
            im -= kernel[t]! * Math.sin(angle * t);
        }
        return Math.hypot(re, im);
    });
}

/** |H| of Focus's filter 1 / (1 + a z^-1 + b z^-2) at the same frequencies. */
export function response(a: number, b: number): Float32Array {
    return Float32Array.from({ length: FREQUENCIES }, (_, k) => {
        const angle = (Math.PI * k) / FREQUENCIES;
        const re = 1 + a * Math.cos(angle) + b * Math.cos(2 * angle);
        const im = a * Math.sin(angle) + b * Math.sin(2 * angle);
        return 1 / Math.max(1e-6, Math.hypot(re, im));
    });
}
/** Its impulse response: y_t = x_t - a y_{t-1} - b y_{t-2}. */
export function impulse(a: number, b: number, length = 24): Float32Array {
    const y = new Float32Array(length);
    for (let t = 0; t < length; t++)
        y[t] = (t === 0 ? 1 : 0) - a * (t > 0 ? y[t - 1]! : 0) - b * (t > 1 ? y[t - 2]! : 0);
    return y;
}

export interface Averages {
    /** [channels][states] each, before their sigmoids where MEGA has them. */
    alpha: Float32Array;
    delta: Float32Array;
    beta: Float32Array;
    eta: Float32Array;
    /** [channels] */
    skip: Float32Array;
}
/** MEGA's moving averages as the kernel that each channel is convolved with, [channels][length]:
 * K_0 = skip + sum eta a beta, K_t = sum eta a beta (1 - a d)^t, a = sigma(alpha), d = sigma(delta). */
export function averageKernel({ alpha, delta, beta, eta, skip }: Averages, length: number): Float32Array {
    const sigma = (x: number) => 1 / (1 + Math.exp(-x));
    const channels = skip.length;
    const states = alpha.length / channels;
    const kernel = new Float32Array(channels * length);
    for (let c = 0; c < channels; c++) {
        kernel[c * length] = skip[c]!;
        for (let i = c * states; i < (c + 1) * states; i++) {
            const a = sigma(alpha[i]!);
            const keep = 1 - a * sigma(delta[i]!);
            let share = eta[i]! * a * beta[i]!;
            for (let t = 0; t < length; t++, share *= keep) kernel[c * length + t]! += share;
        }
    }
    return kernel;
}
