// history.ts: what a run has lived through: the loss of every step (the very float32 words) and its tries on
// held-out draws. Knows nothing of how it is drawn.
import { SOLVED, type Point, type Report } from './protocol.ts';

export class History {
    #losses = new Float32Array(1024);
    #count = 0;
    readonly points: Point[] = [];
    /** The first try that was good enough. */
    solved: Point | null = null;

    get losses(): Float32Array {
        return this.#losses.subarray(0, this.#count);
    }
    add({ from, losses, points }: Pick<Report, 'from' | 'losses' | 'points'>): void {
        const end = from + losses.length;
        if (end > this.#losses.length) {
            const larger = new Float32Array(Math.max(end, 2 * this.#losses.length));
            larger.set(this.losses);
            this.#losses = larger;
        }
        this.#losses.set(losses, from);
        this.#count = Math.max(this.#count, end);
        for (const point of points) {
            this.points.push(point);
            if (!this.solved && score(point) >= SOLVED) this.solved = point;
        }
    }
    /** Loss words in hexadecimal, as the native program prints them. */
    words(): string[] {
        const words = new Uint32Array(this.losses.slice().buffer);
        return Array.from(words, (word) => word.toString(16).padStart(8, '0'));
    }
}

/** The share of answers that are right; for regression the share of variance explained. */
export function score(point: Point): number {
    return point.targets > 0 && point.accuracy === 0 && point.r2 !== 0 ? point.r2 : point.accuracy;
}
