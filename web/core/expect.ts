// expect.ts: what a lesson promises of a run, in words, and whether what was seen keeps it. Pure functions.
import { fixed, round } from './figures.ts';

export type Metric = 'accuracy' | 'r2' | 'bits';
/** A number that lies between two others in the end. */
export interface Promised {
    metric: Metric;
    low: number;
    high: number;
}
export interface Tried {
    step: number;
    value: number;
}
export interface Verdict {
    state: 'open' | 'held' | 'broken';
    /** Since when it has been good enough, where that is what is promised. */
    step: number | null;
    /** What it was when it was last tried. */
    value: number | null;
}

/** Only too little would break it. */
const atLeast = ({ metric, high }: Promised): boolean => metric !== 'bits' && high >= 1;

/**
 * `tries`: in order; `done`: there will be no more. While it trains, a promise to reach something is held
 * once two tries in a row have kept it, up to the last: one try may be luck.
 */
export function judge(promise: Promised, tries: readonly Tried[], done: boolean): Verdict {
    const last = tries[tries.length - 1];
    if (!last) return { state: 'open', step: null, value: null };
    const { value } = last;
    const within = value >= promise.low && value <= promise.high;
    let since = tries.length;
    while (since > 0 && tries[since - 1]!.value >= promise.low) since--;
    const lasts = atLeast(promise) && tries.length - since >= (done ? 1 : 2);
    const step = lasts ? tries[since]!.step : null;
    if (done) return { state: within ? 'held' : 'broken', step, value };
    return { state: lasts ? 'held' : 'open', step, value };
}

/** A value as its metric is written. */
export function measured(metric: Metric, value: number): string {
    if (metric === 'bits') return `${fixed(value, 2)} bits`;
    return metric === 'r2' ? `R² ${fixed(value, 2)}` : `${fixed(100 * value, 1)} %`;
}
/** What is promised: '≥ 99 %', '≤ 20 %', '65 to 80 %', 'R² ≥ 0.98'. */
export function promised(promise: Promised): string {
    const { metric, low, high } = promise;
    const number = (value: number) => (metric === 'accuracy' ? round(100 * value, 3) : round(value, 3));
    const unit = metric === 'accuracy' ? ' %' : metric === 'bits' ? ' bits' : '';
    const head = metric === 'r2' ? 'R² ' : '';
    if (atLeast(promise)) return `${head}≥ ${number(low)}${unit}`;
    // What lies at the bottom of its scale is a guess: only the upper end says something.
    if (metric === 'accuracy' && low <= 0.05) return `≤ ${number(high)}${unit}`;
    return `${head}${number(low)} to ${number(high)}${unit}`;
}
/** What is promised of a difference to another run: '1 to 15 points ahead of'. */
export function promisedApart({ metric, low, high }: Promised): string {
    const behind = high <= 0;
    const [near, far] = behind ? [-high, -low] : [low, high];
    const number = (value: number) => round(metric === 'accuracy' ? 100 * value : value, 2);
    const unit = metric === 'accuracy' ? 'points' : metric === 'r2' ? 'of R²' : 'bits';
    return `${number(near)} to ${number(far)} ${unit} ${behind ? 'behind' : 'ahead of'}`;
}
