// lengths.ts: at which lengths a run is tried, and what else of its task grows with them. Pure functions.
import type { Values } from '../core/config.ts';

export interface Trial {
    length: number;
    /** The keys of the task that change with it, as the engine's evaluation takes them. */
    changes: string;
    /** Answers that a sequence of that length has, about: pairs where the task has them. */
    answers: number;
}

export const LONGEST = 1024;

/** Halves and doubles of the length of training, up to LONGEST (or twice the length where that is more). */
export function trials(values: Values): Trial[] {
    const trained = Number(values['length']);
    const most = Math.max(LONGEST, 2 * trained);
    const lengths: number[] = [];
    for (let length = trained; length >= Math.max(8, trained / 4) && length % 1 === 0; length /= 2)
        lengths.unshift(length);
    for (let length = 2 * trained; length <= most; length *= 2) lengths.push(length);
    return lengths.map((length) => {
        const pairs = pairsAt(values, length);
        const changes = `length=${length}${pairs ? `&pairs=${pairs}` : ''}`;
        return { length, changes, answers: pairs ?? 2 };
    });
}

// The number of pairs grows with the sequence, else a longer one would only be padded; as many as the
// vocabulary allows.
function pairsAt(values: Values, length: number): number | null {
    const pairs = Number(values['pairs']);
    if (!pairs) return null;
    const most = Math.max(1, Math.floor(Number(values['vocab']) / 2) - 1);
    const grown = Math.max(1, Math.round((pairs * length) / Number(values['length'])));
    return Math.min(grown, most);
}
