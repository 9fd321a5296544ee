// signal.ts: what views derive from the engine's tensors to draw them: spectra and frequency responses. None
// of it goes back into a model. (Kernels over time come from the engine: views/inside/impulse.ts.)

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
