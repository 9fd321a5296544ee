// history.ts: what a run has lived through: the loss of every step (the very float32 words) and its tries on
// held-out draws. Knows nothing of how it is drawn.
import type { Evaluation } from '../../wasm/loader/seqmix.ts';
import type { Metric } from '../core/expect.ts';
import { SOLVED, type LengthPoint, type Point, type Report } from '../training/protocol.ts';

export class History {
    #losses = new Float32Array(1024);
    #count = 0;
    readonly points: Point[] = [];
    /** The last try at each length. */
    readonly lengths = new Map<number, LengthPoint>();
    snapshots: readonly number[] = [];
    /** The first try that was good enough; it is when the run got there unless nothing is known of it
     * before. */
    solved: Point | null = null;
    get solvedBefore(): boolean {
        return this.solved !== null && this.solved.step > 0 && this.solved === this.points[0];
    }

    get losses(): Float32Array {
        return this.#losses.subarray(0, this.#count);
    }
    add(
        news: Pick<Report, 'from' | 'losses' | 'points'> & Partial<Pick<Report, 'lengths' | 'snapshots'>>,
    ): void {
        const { from, losses, points, lengths, snapshots } = news;
        for (const point of lengths ?? []) this.lengths.set(point.length, point);
        if (snapshots) this.snapshots = snapshots;
        const end = from + losses.length;
        if (end > this.#losses.length) {
            const larger = new Float32Array(Math.max(end, 2 * this.#losses.length));
            larger.set(this.losses);
            this.#losses = larger;
        }
        if (from > this.#count) this.#losses.fill(NaN, this.#count, from); // of a loaded run: not known
        this.#losses.set(losses, from);
        this.#count = Math.max(this.#count, end);
        for (const point of points) {
            this.points.push(point);
            if (!this.solved && score(point) >= SOLVED) this.solved = point;
        }
    }
    /** Seconds of training up to a step, between the tries by the straight line. */
    secondsAt(step: number): number {
        const after = this.points.findIndex((point) => point.step >= step);
        const right = this.points[after < 0 ? this.points.length - 1 : after];
        const left = this.points[(after < 0 ? this.points.length - 1 : after) - 1];
        if (!right) return 0;
        const [from, since] = left ? [left.seconds, left.step] : [0, 0];
        if (right.step === since) return right.seconds;
        return from + ((right.seconds - from) * (step - since)) / (right.step - since);
    }
    /** Loss words in hexadecimal, as the native program prints them. */
    words(): string[] {
        const words = new Uint32Array(this.losses.slice().buffer);
        return Array.from(words, (word) => word.toString(16).padStart(8, '0'));
    }
}

interface Lived {
    readonly members: readonly { readonly history: History }[];
}
function mean(values: readonly (number | undefined)[]): number | undefined {
    const known = values.filter((value) => value !== undefined && !Number.isNaN(value)) as number[];
    return known.length === values.length ? known.reduce((a, b) => a + b, 0) / known.length : undefined;
}
/** The mean loss of a run's seeds at a step, and their mean score when they were last tried by then. */
export const lossAt = ({ members }: Lived, step: number): number | undefined =>
    mean(members.map(({ history }) => history.losses[step - 1]));
const triedBy = (
    step: number,
    of: (point: Point) => number | undefined,
    { members }: Lived,
): number | undefined =>
    mean(
        members.map(({ history: { points } }) => {
            const point = points.filter((tried) => tried.step <= step).at(-1);
            return point && of(point);
        }),
    );
export const scoreAt = (run: Lived, step: number): number | undefined => triedBy(step, score, run);
/** Held-out bits per character, where the task is a text. */
export const bitsAt = (run: Lived, step: number): number | undefined =>
    triedBy(step, ({ loss, text }) => (text ? loss / Math.LN2 : undefined), run);

/** What the tries of a run's seeds come to, as far as all of them were tried. */
export function means({ members }: Lived, of: (point: Point) => number): { step: number; value: number }[] {
    const tries = members.map(({ history }) => history.points);
    const least = Math.min(...tries.map((points) => points.length));
    return Array.from({ length: least }, (_, i) => ({
        step: tries[0]![i]!.step,
        value: tries.reduce((sum, points) => sum + of(points[i]!), 0) / tries.length,
    }));
}

/** The share of answers that are right; for regression the share of variance explained. */
export function score(point: Evaluation): number {
    return point.regression ? point.r2 : point.accuracy;
}
export const metricOf = ({ regression }: Evaluation): Metric => (regression ? 'r2' : 'accuracy');
