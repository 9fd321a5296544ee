// axes.ts: what stands at the axes of curves: their names, their ends, how a value on them is written. Pure
// functions.
import { powerOfTen } from '../core/figures.ts';
import type { Axis } from './series.ts';

export const AXIS_NAMES: Record<Axis, string> = {
    step: 'training steps',
    second: 'seconds of training',
    flop: 'FLOPs',
};
const LEAST: Record<Axis, number> = { step: 100, second: 0.1, flop: 1e6 };
const UNITS: readonly (readonly [number, string])[] = [
    [1e12, 'T'],
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
];

/** A value on the horizontal axis: three figures, FLOPs in thousands, millions … */
export function formatX(axis: Axis, value: number): string {
    if (axis !== 'flop') return String(Number(value.toPrecision(3)));
    const [unit, letter] = UNITS.find(([least]) => value >= least) ?? [1, ''];
    return `${Number((value / unit).toPrecision(3))}${letter ? ` ${letter}` : ''}`;
}
/** A loss on its axis. */
export const lossTick =
    (log: boolean) =>
    (value: number): string =>
        log && (value < 0.01 || value > 1000)
            ? powerOfTen(Math.round(Math.log10(value)))
            : String(Number(value.toPrecision(3)));
/** A share on its axis. */
export const shareTick = (value: number): string => `${Math.round(100 * value)} %`;

/** The end of the horizontal axis where the farthest curve ends there: round, and not further than it must
 * be. */
export function endOfAxis(axis: Axis, farthest: number): number {
    const least = LEAST[axis];
    if (farthest <= least) return least;
    const unit = 10 ** Math.floor(Math.log10(farthest));
    return [1, 1.5, 2, 3, 4, 5, 6, 8, 10]
        .map((m) => m * unit)
        .find((round) => round >= farthest * (1 - 1e-9))!;
}

/** Powers of ten from low to high, six of them at most. */
export function decades(low: number, high: number): number[] {
    const first = Math.ceil(Math.log10(low) - 1e-9);
    const count = Math.floor(Math.log10(high) + 1e-9) - first + 1;
    const every = Math.max(1, Math.ceil(count / 6));
    return Array.from({ length: Math.max(0, Math.ceil(count / every)) }, (_, i) => 10 ** (first + i * every));
}
/** The vertical range of numbers between low and high: from zero, a little above the highest. */
export function fromZero(low: number | null, high: number | null): [number, number] {
    if (low === null || high === null || !Number.isFinite(high)) return [0, 1];
    return [Math.min(0, low), high > 0 ? high * 1.05 : 1];
}
/** About five round values from low to high. */
export function ticks(low: number, high: number): number[] {
    const span = high - low;
    if (!(span > 0)) return [low];
    const unit = 10 ** Math.floor(Math.log10(span / 4));
    const step = [1, 2, 2.5, 5, 10].map((m) => m * unit).find((s) => span / s <= 6)!;
    const first = Math.ceil(low / step - 1e-9);
    const count = Math.floor(high / step + 1e-9) - first + 1;
    return Array.from({ length: count }, (_, i) => (first + i) * step);
}
/** Heights as near to these as can be, at least `gap` apart and between low and high, in the same order. */
export function apart(ys: readonly number[], gap: number, low: number, high: number): number[] {
    const order = ys.map((_, i) => i).sort((a, b) => ys[a]! - ys[b]! || a - b);
    const placed = ys.slice();
    let least = low;
    for (const i of order) {
        placed[i] = Math.max(least, ys[i]!);
        least = placed[i]! + gap;
    }
    let most = high;
    for (const i of order.reverse()) {
        placed[i] = Math.min(most, placed[i]!);
        most = placed[i]! - gap;
    }
    return placed;
}
