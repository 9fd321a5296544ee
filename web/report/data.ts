// data.ts: what `seqmix report` writes into the page (cli/commands/grid/report.c), and the names of its
// settings.
import { MARKS, type Mark } from '../core/marks.ts';

export type Keys = Record<string, string | undefined>;
/** One setting over its seeds; curves of the best only. */
export interface Setting {
    keys: Keys;
    metric: string;
    seeds: number;
    stopped: number;
    steps: number;
    mean: number | null;
    low: number | null;
    high: number | null;
    deviation: number | null;
    weights: number;
    seconds: number | null; // of a processor
    eval: number;
    best: boolean;
    note: string; // "the largest rate tried: ...", ""
    stride?: number; // training loss: a point for so many steps
    curves?: number[][];
    every?: number; // the measure on other held-out sequences: a point for so many steps
    held_out?: (number | null)[][];
}
export interface Pair {
    setting: Keys;
    baseline: Keys;
    pairs: number;
    better: number;
    difference: number | null;
    p: number;
    holm: number;
    low: number | null;
    high: number | null;
}
export interface Report {
    folder: string;
    version: string;
    results: number;
    begun: number;
    columns: string[];
    over: string[]; // keys that the best was chosen of
    baseline: string | null;
    settings: Setting[];
    pairs: Pair[];
    remarks: string[]; // on what could not be compared
}

export const report = JSON.parse(document.getElementById('results')!.textContent!) as Report;

/** A setting by these keys: "cat, width 16". */
export const nameBy = (keys: Keys, names: readonly string[]): string =>
    names
        .filter((key) => keys[key] !== undefined)
        .map((key) => (key === 'mixer' ? keys[key] : `${key} ${keys[key]}`))
        .join(', ');

/** The fewest of these columns that tell apart, within each task, what all of them do: many a key only
 * follows the mixer or the task. */
function fewest(names: readonly string[]): string[] {
    const told = (some: readonly string[]) =>
        new Set(report.settings.map(({ keys }) => `${keys['task']}: ${nameBy(keys, some)}`)).size;
    const all = told(names);
    let left = names.slice();
    for (const key of names.slice().reverse()) {
        const others = left.filter((other) => other !== key);
        if (key !== 'mixer' && told(others) === all) left = others;
    }
    return left;
}
/** Columns that tell runs apart: neither the task nor what the best was chosen of. */
export const telling = fewest(report.columns.filter((key) => key !== 'task' && !report.over.includes(key)));

/** The run that a setting belongs to, by name: what can be hidden, in one colour and shape everywhere. */
export const runOf = (keys: Keys): string => nameBy(keys, telling);
export const runs = [...new Set(report.settings.map(({ keys }) => runOf(keys)))];

/** As many colours as there are, then the same with other shapes. */
export function markOf(run: string): Pick<Mark, 'colour' | 'path'> {
    const [at, n] = [Math.max(0, runs.indexOf(run)), MARKS.length];
    return { colour: MARKS[at % n]!.colour, path: MARKS[(at + Math.floor(at / n)) % n]!.path };
}

/** In order of first appearance. */
export function grouped<T>(list: readonly T[], nameOf: (one: T) => string): Map<string, T[]> {
    const found = new Map<string, T[]>();
    for (const one of list) {
        const name = nameOf(one);
        const those = found.get(name);
        if (those) those.push(one);
        else found.set(name, [one]);
    }
    return found;
}

export const numbersOnly = (texts: readonly (string | undefined)[]): boolean =>
    texts.every((text) => text !== undefined && text !== '' && Number.isFinite(Number(text)));
