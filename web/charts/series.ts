// series.ts: from runs' histories to the points of curves. Pure functions.

/** What curves stand over: training steps, seconds of training, FLOPs. */
export const AXES = ['step', 'second', 'flop'] as const;
export type Axis = (typeof AXES)[number];

/** One training as it went: the loss of each step, and its tries on held-out draws. */
export interface Trace<Try extends { readonly step: number }> {
    readonly losses: Float32Array;
    readonly points: readonly Try[];
    secondsAt(step: number): number;
}
/** What a chart needs of one run: the training from each of its seeds, and the FLOPs of one step. */
export interface Track<Try extends { readonly step: number } = { readonly step: number }> {
    histories: readonly Trace<Try>[];
    flops: number;
}

/** Curves of one run over their own points; null: nothing there. `low` and `high` bound several seeds. */
export interface Curve {
    xs: number[];
    /** Without smoothing, to be drawn faintly. */
    raw: (number | null)[];
    low: (number | null)[];
    high: (number | null)[];
    line: (number | null)[];
}

const MOST = 1200; // points of a curve; beyond that neighbours share one

export function xOf({ histories, flops }: Track, axis: Axis, step: number): number {
    if (axis === 'step') return step;
    return axis === 'flop' ? step * flops : (histories[0]?.secondsAt(step) ?? 0);
}
/** The last step of the run that is not beyond x. */
export function stepAt(track: Track, axis: Axis, x: number): number {
    const end = Math.max(0, ...track.histories.map(({ losses }) => losses.length));
    if (axis === 'step') return Math.min(end, Math.round(x));
    if (axis === 'flop') return Math.min(end, Math.round(x / Math.max(1, track.flops)));
    let [low, high] = [0, end];
    while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (xOf(track, axis, middle) <= x) low = middle;
        else high = middle - 1;
    }
    return low;
}

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

/** Several seeds' curves as one: their mean and their bounds, as far as all of them have come. */
function together(xs: number[], lines: (number | null)[][], raw: (number | null)[]): Curve {
    const none = xs.map(() => null);
    if (lines.length === 1) return { xs, raw, low: none, high: none, line: lines[0]! };
    const at = (i: number, of: (values: number[]) => number) => {
        const values = lines.flatMap((line) => (line[i] === null || line[i] === undefined ? [] : [line[i]!]));
        return values.length === lines.length ? of(values) : null;
    };
    return {
        xs,
        raw: none,
        low: xs.map((_, i) => at(i, (values) => Math.min(...values))),
        high: xs.map((_, i) => at(i, (values) => Math.max(...values))),
        line: xs.map((_, i) => at(i, mean)),
    };
}

/** The curve with an earlier one drawn faintly behind it. */
export function withGhost(curve: Curve, xs: readonly number[], ys: readonly number[]): Curve {
    const all = [...new Set([...curve.xs, ...xs])].sort((a, b) => a - b);
    const [own, its] = [new Map(curve.xs.map((x, i) => [x, i])), new Map(xs.map((x, i) => [x, i]))];
    const of = (values: readonly (number | null)[]) => all.map((x) => values[own.get(x) ?? -1] ?? null);
    return {
        xs: all,
        raw: all.map((x) => ys[its.get(x) ?? -1] ?? null),
        low: of(curve.low),
        high: of(curve.high),
        line: of(curve.line),
    };
}

/** Training loss of each run, smoothed over `span` steps. */
export function lossCurves(tracks: readonly Track[], axis: Axis, span: number): Curve[] {
    const longest = Math.max(0, ...tracks.flatMap(({ histories }) => histories.map((h) => h.losses.length)));
    const stride = Math.max(1, Math.ceil(longest / MOST));
    return tracks.map((track) => {
        const own = Math.max(0, ...track.histories.map(({ losses }) => losses.length));
        const steps = Array.from({ length: Math.ceil(own / stride) }, (_, i) =>
            Math.min(own, (i + 1) * stride),
        );
        const raws = track.histories.map(({ losses }) =>
            steps.map((_, i) => meanOf(losses, i * stride, (i + 1) * stride)),
        );
        const lines = raws.map((raw) => smooth(raw, span / stride));
        const xs = steps.map((step) => xOf(track, axis, step));
        return together(xs, lines, span / stride > 1 ? raws[0]! : xs.map(() => null));
    });
}

/** Mean of the losses that are known, steps `from` to `end`; null: none is. (Asked a thousand times a frame:
 * it makes nothing.) */
function meanOf(losses: Float32Array, from: number, end: number): number | null {
    let [sum, known] = [0, 0];
    for (let i = from; i < end && i < losses.length; i++) {
        const loss = losses[i]!;
        if (Number.isNaN(loss)) continue;
        sum += loss;
        known++;
    }
    return known ? sum / known : null;
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

/** What `score` makes of each try of a run, at the steps where it was tried. */
export function scoreCurves<Try extends { readonly step: number }>(
    tracks: readonly Track<Try>[],
    axis: Axis,
    score: (tried: Try) => number,
): Curve[] {
    return tracks.map((track) => {
        const lines = track.histories.map(({ points }) => points.map(score));
        const longest = track.histories.reduce((a, b) => (b.points.length > a.points.length ? b : a));
        const xs = longest.points.map(({ step }) => xOf(track, axis, step));
        const none = xs.map(() => null);
        return together(
            xs,
            lines.map((line) => xs.map((_, i) => line[i] ?? null)),
            none,
        );
    });
}
