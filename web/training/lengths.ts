// lengths.ts: at which lengths a run is tried, and what else of its task grows with them. Pure functions.
import type { Values } from '../state/setup.ts';

export interface Trial {
    length: number;
    /** The keys of the task that change with it, as the engine's evaluation takes them. */
    changes: string;
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
    return lengths.map((length) => ({ length, changes: changesAt(values, length) }));
}

// The number of pairs grows with the sequence, else a longer one would only be padded; as many as the vocabulary allows.
function changesAt(values: Values, length: number): string {
    const pairs = Number(values['pairs']);
    if (!pairs) return `length=${length}`;
    const most = Math.max(1, Math.floor(Number(values['vocab']) / 2) - 1);
    const grown = Math.max(1, Math.round((pairs * length) / Number(values['length'])));
    return `length=${length}&pairs=${Math.min(grown, most)}`;
}
