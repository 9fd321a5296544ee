// sweep.ts: a grid small enough for a tab: each of the page's runs with several values of one setting,
// trained by the workers a few at a time, beside the page's runs; and the same grid as a command for a
// cluster.
import { computed, effect, signal } from '@preact/signals';
import type { Values } from '../core/config.ts';
import type { Mark } from '../core/marks.ts';
import { ticketsOf, type Entry } from './entry.ts';
import { means, score } from './history.ts';
import { createEntry } from './members.ts';
import { guests, lab, pool, runs, view } from './page.ts';
import { changed, ownKeys, sharedKeys, textOfAll } from './setup.ts';

/** Trainings of one grid, a run's seeds counted. */
export const MOST = 72;
const AT_ONCE = Math.max(1, (navigator.hardwareConcurrency || 2) - 1);

/** Where a training has come: its tries, and how it ended. */
export interface Cell {
    readonly value: string;
    /** null: the run cannot have this value, for the reason in `why`. */
    readonly values: Values | null;
    why: string;
    entry: Entry | null;
    /** Score over the share of its steps, as far as it was tried. */
    line: { x: number; y: number }[];
    status: 'waiting' | 'going' | 'done' | 'failed';
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

function lineOf(entry: Entry): { x: number; y: number }[] {
    const steps = entry.live.peek().steps || 1;
    return means(entry, score).map(({ step, value }) => ({ x: step / steps, y: value }));
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
    const start = { value, entry: null, line: [] };
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
            why: `${count} trainings are more than ${MOST}, which is what a tab should do: take fewer values, or the command`,
        };
    const refused = runs.value.map((entry) => values.map((value) => cellOf(entry, key, value).why));
    if (refused.every((row) => row.some(Boolean))) return { why: refused.flat().find(Boolean)! };
    return { values };
}

let current = 0;
/** Train the grid in place of the one before. */
export function startSweep(key: string, values: readonly string[]): void {
    stopSweep();
    const number = ++current;
    const entries = runs.value;
    const rows = entries.map((entry) => ({
        id: entry.id,
        mark: entry.mark,
        values: entry.values,
        cells: values.map((value) => cellOf(entry, key, value)),
    }));
    const steps = Number(entries[0]?.values['steps']);
    sweep.value = { key, rows, command: commandOf(entries, key, values), steps };
    const queue = values.flatMap((_, i) => rows.map((row) => ({ row, cell: row.cells[i]! })));
    const next = (): void => {
        if (number !== current) return;
        const job = queue.find(({ cell }) => cell.status === 'waiting');
        if (job) train(job.row, job.cell, next);
    };
    for (let i = 0; i < AT_ONCE; i++) next();
}
/** Leave off: what has ended stays to be read. */
export function stopSweep(): void {
    current++;
    for (const { cells } of sweep.peek()?.rows ?? [])
        for (const cell of cells) {
            if (cell.entry) leave(cell.entry);
            if (cell.status === 'going' || cell.status === 'waiting') cell.status = 'failed';
            cell.entry = null;
        }
    news.value++;
}
export const isSweeping = (): boolean =>
    !!sweep.value?.rows.some(({ cells }) =>
        cells.some(({ status }) => status === 'waiting' || status === 'going'),
    );

function leave(entry: Entry): void {
    guests.value = guests.peek().filter((other) => other !== entry);
    for (const ticket of ticketsOf([entry])) pool().close(ticket);
}

function train({ mark }: Row, cell: Cell, then: () => void): void {
    const entry = (cell.entry = createEntry(cell.values!, mark));
    cell.status = 'going';
    guests.value = [...guests.peek(), entry];
    const stop = effect(() => {
        const states = entry.members.map(({ live }) => live.value.status);
        if (cell.entry !== entry) return; // left off
        // (Also after the page's own runs were paused, and these with them.)
        for (const [i, { ticket }] of entry.members.entries())
            if (states[i] === 'ready' || states[i] === 'paused') pool().play([ticket], undefined, Infinity);
        cell.line = lineOf(entry);
        if (states.includes('failed')) {
            cell.status = 'failed';
            cell.why = entry.members.map(({ live }) => live.value.problem?.message).find(Boolean) ?? '';
        } else if (states.every((state) => state === 'done')) cell.status = 'done';
        queueMicrotask(() => news.value++);
        if (cell.status === 'going') return;
        queueMicrotask(() => {
            stop();
            cell.entry = null;
            leave(entry);
            then();
        });
    });
}
