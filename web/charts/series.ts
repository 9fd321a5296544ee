// series.ts: from a run's history to the points of a curve. Pure functions.
import { score, type History } from '../history.ts';

/** Points of a chart; gaps are null. uPlot wants all curves on the same steps. */
export interface Table {
    steps: number[];
    curves: (number | null)[][];
}

const MOST = 1200; // points of a curve; beyond that neighbours share one

/** Loss of each run: as it was (mean over the steps that share a point), and smoothed. */
export function lossTable(histories: readonly History[]): Table {
    const longest = Math.max(0, ...histories.map((history) => history.losses.length));
    const stride = Math.max(1, Math.ceil(longest / MOST));
    const length = Math.ceil(longest / stride);
    const steps = Array.from({ length }, (_, i) => Math.min(longest, (i + 1) * stride));
    const raw = histories.map(({ losses }) => {
        const curve: (number | null)[] = new Array<number | null>(length).fill(null);
        for (let i = 0; i * stride < losses.length; i++) {
            const part = losses.subarray(i * stride, (i + 1) * stride);
            curve[i] = part.reduce((a, b) => a + b, 0) / part.length;
        }
        return curve;
    });
    return { steps, curves: raw.flatMap((curve) => [curve, smooth(curve, 6 / stride)]) };
}

/** Running mean that forgets within about `span` points, corrected for its start. */
function smooth(curve: readonly (number | null)[], span: number): (number | null)[] {
    const keep = span > 1 ? 1 - 1 / span : 0;
    let sum = 0;
    let weight = 0;
    return curve.map((value) => {
        if (value === null) return null;
        sum = keep * sum + (1 - keep) * value;
        weight = keep * weight + (1 - keep);
        return sum / weight;
    });
}

/** Held-out accuracy of each run at the steps where it was tried. */
export function scoreTable(histories: readonly History[]): Table {
    const steps = [...new Set(histories.flatMap(({ points }) => points.map(({ step }) => step)))].sort(
        (a, b) => a - b,
    );
    const place = new Map(steps.map((step, i) => [step, i]));
    const curves = histories.map(({ points }) => {
        const curve: (number | null)[] = new Array<number | null>(steps.length).fill(null);
        for (const point of points) curve[place.get(point.step)!] = score(point);
        return curve;
    });
    return { steps, curves };
}

/** The end of the step axis: round, and not further than it must be. */
export function roundEnd(step: number): number {
    if (step <= 100) return 100;
    const unit = 10 ** Math.floor(Math.log10(step));
    return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((m) => m * unit).find((end) => end >= step)!;
}
