// impulse.ts: kernels over time as the engine computes them: an impulse goes through its own recurrences.
import type { Kernels } from '../../../wasm/loader/seqmix.ts';

export interface Averages {
    /** [channels][states] each, before their sigmoids where MEGA has them. */
    alpha: Float32Array;
    delta: Float32Array;
    beta: Float32Array;
    eta: Float32Array;
    /** [channels] */
    skip: Float32Array;
}
/** MEGA's moving averages as the kernel that each channel is convolved with, [channels][length]. */
export function averageKernel(
    kernels: Pick<Kernels, 'ema'>,
    weights: Averages,
    length: number,
): Float32Array {
    const channels = weights.skip.length;
    const x = new Float32Array(length * channels).fill(1, 0, channels);
    const { y } = kernels.ema({ x, ...weights, L: length, D: channels });
    return Float32Array.from(y, (_, i) => y[(i % length) * channels + Math.floor(i / length)]!);
}

/** The impulse response of one of Focus's filters, of coefficients a and b. */
export function impulse(kernels: Pick<Kernels, 'iir'>, a: number, b: number, length = 24): Float32Array {
    const x = new Float32Array(length).fill(1, 0, 1);
    return kernels.iir({ x, theta: Float32Array.of(a, b), L: length, D: 1, mode: 'causal' }).y;
}
