// sweep.ts: a grid small enough for a tab: each of the page's runs with several values of one setting,
// trained by the workers a few at a time, beside the page's runs; and the same grid as a command for a
// cluster.
import { computed, signal } from '@preact/signals';
import type { Values } from '../../core/config.ts';
import type { Metric } from '../../core/expect.ts';
import type { Mark } from '../../core/marks.ts';
import type { Entry } from '../entry.ts';
import { means, metricOf, score } from '../history.ts';
import { lab, runs, view } from '../page.ts';
import { isTraining, sparingly, trainAll, type Trial } from '../queue.ts';
import { changed, ownKeys, sharedKeys, textOfAll } from '../setup.ts';

/** Trainings of one grid, a run's seeds counted. */
export const MOST = 72;

/** A run with one value, and its tries. */
export interface Cell extends Trial {
    readonly value: string;
    /** Score over the share of its steps, as far as it was tried. */
    line: { x: number; y: number }[];
    /** What the score is. */
    metric: Metric;
}
export interface Row {
    readonly id: number;
    readonly mark: Mark;
    readonly values: Values;
    readonly cells: readonly Cell[];
}
export interface Sweep {
    readonly key: string;
    readonly rows: readonly Row[];
    readonly command: string;
    readonly steps: number;
}
export const sweep = signal<Sweep | null>(null);
/** Counts what has happened in it. */
export const news = signal(0);

/** Settings of which several values make a grid: numbers, the learning rate first. */
export const keysToTry = computed((): string[] => {
    const first = runs.value[0];
    if (!first) return [];
    const keys = [
        ...ownKeys(lab(), first.values).flatMap(({ keys }) => keys),
        ...sharedKeys(lab(), first.values),
    ];
    const names = keys
        .filter(
            ({ name, type }) => (type === 'int' || type === 'real') && name !== 'seed' && name !== 'steps',
        )
        .map(({ name }) => name);
    return [...new Set(['rate', ...names])];
});

/** The mean of a cell's seeds, as they were last tried; undefined: not yet. */
export const reached = ({ line }: Cell): number | undefined => line[line.length - 1]?.y;
/** The cells of a row that came out best, once all have ended. */
export function best({ cells }: Row): readonly Cell[] {
    const known = cells.filter(({ status }) => status === 'done');
    if (!known.length || cells.some(({ status }) => status === 'waiting' || status === 'going')) return [];
    const top = Math.max(...known.map((cell) => reached(cell) ?? -Infinity));
    return known.filter((cell) => reached(cell) === top);
}

function hear(cell: Cell, entry: Entry): void {
    const steps = entry.live.peek().steps || 1;
    cell.line = means(entry, score).map(({ step, value }) => ({ x: step / steps, y: value }));
    const last = entry.history.points.at(-1);
    if (last) cell.metric = metricOf(last);
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
/** The same grid as the program's command. */
function commandOf(entries: readonly Entry[], key: string, values: readonly string[]): string {
    const config = textOfAll(
        lab(),
        entries.map((entry) => entry.values),
    );
    const seeds = view.value.seeds > 1 ? ` --seeds ${view.value.seeds}` : '';
    return `seqmix grid ${quoted(config)} ${quoted(`${key}=${values.join(',')}`)}${seeds} --out results >jobs.txt`;
}

function cellOf(entry: Entry, key: string, value: string): Cell {
    const start = { value, mark: entry.mark, entry: null, saved: [], line: [], metric: 'accuracy' as Metric };
    try {
        const values = changed(lab(), entry.values, key, value);
        if (!(key in values)) throw Error(`${values['mixer']} has no ${key}`);
        return { ...start, values, why: '', status: 'waiting' };
    } catch (error) {
        return { ...start, values: null, why: (error as Error).message, status: 'failed' };
    }
}

/** Values from what was typed; the reason where it is no grid. */
export function planned(key: string, text: string): { values: string[] } | { why: string } {
    const values = [...new Set(text.split(/[\s,]+/).filter(Boolean))];
    if (values.length < 2) return { why: 'at least two values are needed, separated by commas' };
    const count = values.length * runs.value.length * view.value.seeds;
    if (count > MOST)
        return {
            why: `${count} trainings are more than ${MOST}, the most for one tab: use fewer values, or the command`,
        };
    const refused = runs.value.map((entry) => values.map((value) => cellOf(entry, key, value).why));
    if (refused.every((row) => row.some(Boolean))) return { why: refused.flat().find(Boolean)! };
    return { values };
}

let stop = (): void => {};
const redrawn = sparingly(news);
/** Train the grid in place of the one before. */
export function startSweep(key: string, values: readonly string[]): void {
    stop();
    const entries = runs.value;
    const rows = entries.map((entry) => ({
        id: entry.id,
        mark: entry.mark,
        values: entry.values,
        cells: values.map((value) => cellOf(entry, key, value)),
    }));
    const steps = Number(entries[0]?.values['steps']);
    sweep.value = { key, rows, command: commandOf(entries, key, values), steps };
    stop = trainAll(
        values.flatMap((_, i) => rows.map((row) => row.cells[i]!)),
        {
            news: (cell, entry) => hear(cell as Cell, entry),
            changed: redrawn,
        },
    );
}
/** What has ended stays to be read. */
export const stopSweep = (): void => stop();
export const isSweeping = (): boolean => !!sweep.value?.rows.some(({ cells }) => isTraining(cells));
