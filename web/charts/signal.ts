// signal.ts: what views derive from the engine's tensors to draw them: spectra, responses, and LaS's maps without their
// parts. None of it goes back into a model.

const FREQUENCIES = 64;

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

/** Softmax of q k^T / sqrt(d) over the past, one map for each head: [heads][length][length]. */
export function plainMaps(
    q: Float32Array,
    k: Float32Array,
    heads: number,
    length: number,
    width: number,
): Float32Array {
    const size = width / heads;
    const maps = new Float32Array(heads * length * length);
    for (let h = 0; h < heads; h++)
        for (let i = 0; i < length; i++) {
            const row = maps.subarray((h * length + i) * length, (h * length + i + 1) * length);
            let [most, sum] = [-Infinity, 0];
            for (let j = 0; j <= i; j++) {
                let dot = 0;
                for (let c = h * size; c < (h + 1) * size; c++) dot += q[i * width + c]! * k[j * width + c]!;
                row[j] = dot / Math.sqrt(size);
                most = Math.max(most, row[j]!);
            }
            for (let j = 0; j <= i; j++) sum += row[j] = Math.exp(row[j]! - most);
            for (let j = 0; j <= i; j++) row[j]! /= sum;
        }
    return maps;
}
/** LaS's pooling of maps: what column j gets is spread over `window` columns, up to `ahead` of them behind it. */
export function pooled(maps: Float32Array, length: number, window: number, ahead: number): Float32Array {
    const out = new Float32Array(maps.length);
    for (let row = 0; row < maps.length / length; row++)
        for (let j = 0; j < length; j++)
            for (let s = 0; s < window; s++) {
                // (T v)_j averages rows j + ahead - s, so weight on j goes to those columns
                const column = j + ahead - s;
                if (column >= 0 && column < length)
                    out[row * length + column]! += maps[row * length + j]! / window;
            }
    return out;
}
