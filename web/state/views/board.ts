// board.ts: the mission on one board: LaS, CAT, Focus and attention on recall, copying and digits. Each cell
// is a run of a lesson, trained for the board alone; what it should reach is what the lesson claims of it.
import { signal } from '@preact/signals';
import promisedBy from 'virtual:lessons';
import type { Sample } from '../../../wasm/loader/seqmix.ts';
import type { Values } from '../../core/config.ts';
import { judge, type Promised, type Verdict } from '../../core/expect.ts';
import { isProblem, type Look } from '../../training/protocol.ts';
import type { Entry } from '../entry.ts';
import { means, score } from '../history.ts';
import { MARKS, OWNERS } from '../../core/marks.ts';
import { hidden } from '../../core/prefs.ts';
import { newId } from '../members.ts';
import { lab, pool, view } from '../page.ts';
import { isTraining, savedAll, sparingly, trainAll, type Trial } from '../queue.ts';
import { resume } from '../roster.ts';
import { runsOf, textOfAll } from '../setup.ts';
import { openView, setView } from '../viewing.ts';

const ROWS = ['las', 'cat', 'focus', 'attention'] as const;
/** Of each column: what is asked, the mission's first run, and which lesson's run is attention on it. */
const COLUMNS = [
    { name: 'Recall', asks: 'Which value came after this key?', first: 0, attention: ['recall', 1] },
    {
        name: 'Copy',
        asks: 'Repeat the signals in order, leave out the noise.',
        first: 3,
        attention: ['copy', 1],
    },
    { name: 'Digits', asks: 'Which digit is this image, read row by row?', first: 6, attention: ['rows', 4] },
] as const;

export interface Cell extends Trial {
    readonly values: Values;
    readonly promise: Promised;
    /** Held-out score over its steps, as far as it was tried. */
    line: readonly { step: number; value: number }[];
    step: number;
    /** Weights; 0: not yet known. */
    params: number;
    digest: string;
    /** A held-out sequence with its answers, when it was last tried; null: not yet. */
    example: Sample | null;
}
export interface Column {
    readonly name: string;
    readonly asks: string;
    readonly cells: readonly Cell[];
}

function cellOf(lesson: string, run: number): Cell {
    const values = runsOf(lab(), `preset=${lesson}`)[run]!;
    const [, , metric, low, high] = promisedBy[lesson]!.claims.find(
        ([of, length, , , , minus]) => of === run && !length && !minus,
    )!;
    return {
        values,
        mark: MARKS[OWNERS.indexOf(values['mixer']!)]!,
        promise: { metric, low, high },
        why: '',
        entry: null,
        status: 'waiting',
        line: [],
        step: 0,
        params: 0,
        digest: '',
        example: null,
        saved: [],
    };
}
const fresh = (): Column[] =>
    COLUMNS.map(({ name, asks, first, attention }) => ({
        name,
        asks,
        cells: ROWS.map((mixer, i) =>
            mixer === 'attention' ? cellOf(attention[0], attention[1]) : cellOf('mission', first + i),
        ),
    }));

/** The columns; null: the board was not opened yet. */
export const board = signal<readonly Column[] | null>(null);
/** Counts what has happened on it. */
export const news = signal(0);
const changed = sparingly(news);
let stop: (() => void) | null = null;

export const openBoard = (): void => void (board.value ??= fresh());
const cells = (): Cell[] => (board.value ?? []).flatMap((column) => column.cells);
/** Cells that train at the same time. */
export const atOnce = (): number => pool().cores;
export const isRunning = (): boolean => stop !== null && isTraining(cells());
export const verdictOf = ({ promise, line, status }: Cell): Verdict =>
    judge(promise, line, status === 'done');
/** Cells that were trained to the end, and those that are as claimed by now. */
export function tally(): { all: number; judged: number; held: number; fresh: boolean } {
    const ended = cells().filter(({ status }) => status === 'done');
    const held = cells().filter((cell) => verdictOf(cell).state === 'held');
    const fresh = cells().every(({ status }) => status === 'waiting');
    return { all: cells().length, judged: ended.length, held: held.length, fresh };
}

function hear(cell: Cell, entry: Entry): void {
    const { step, params, digest } = entry.live.value;
    Object.assign(cell, { step, params: params || cell.params, digest: digest ?? '' });
    const tried = means(entry, score);
    if (tried.length > cell.line.length) void answer(cell, entry);
    cell.line = tried;
}
const EXAMPLE = 0; // the held-out sequence that Inside opens with
const answering = new Set<Cell>();
/** What it answers now; not asked again before it has said so. */
async function answer(cell: Cell, { ticket }: Entry): Promise<void> {
    if (answering.has(cell)) return;
    answering.add(cell);
    const watch = { id: ticket, index: EXAMPLE, tokens: null, edits: [], block: 0, at: null, detail: false };
    const told = await pool()
        .ask(watch)
        .catch(() => null); // its worker went: the run says so
    answering.delete(cell);
    if (!told || isProblem(told)) return;
    cell.example = told.sample;
    changed();
}
async function keep(cell: Cell, entry: Entry): Promise<void> {
    cell.saved = await savedAll(entry);
    await answer(cell, entry);
}
/** Recall with the filter and without, which differ most; the mission; attention on the other two. */
function stage({ values: { mixer, task } }: Cell): number {
    if (mixer === 'attention') return task === 'mqar' ? 0 : 2;
    return mixer === 'cat' && task === 'mqar' ? 0 : 1;
}
const WORTH = 2; // seconds of training
/** It is as claimed, and much is left of it: the other cells come first. */
function mayWait(cell: Cell, entry: Entry): boolean {
    const { step, steps, seconds } = entry.live.peek();
    return verdictOf(cell).state === 'held' && (seconds / step) * (steps - step) > WORTH;
}
const stepsOf = ({ values }: Cell): number => Number(values['steps']);

/** Nobody has asked for it: it trains while it can be seen, and otherwise leaves the cores to who did. */
const unasked = signal(false);
const isSeen = (): boolean => !hidden.value && ['start', 'board'].includes(view.value.view);
/** Pointer or focus is on the button that trains it: then it does not begin by itself. */
export const atRun = signal(false);
/** Train every cell from its start. */
export function runBoard(asked: boolean): void {
    stop?.();
    unasked.value = !asked;
    board.value = fresh();
    lookInto(null);
    const order = cells().sort((a, b) => stage(a) - stage(b) || stepsOf(a) - stepsOf(b));
    stop = trainAll(order, {
        news: (cell, entry) => hear(cell as Cell, entry),
        mayWait: (cell, entry) => mayWait(cell as Cell, entry),
        ended: (cell, entry) => keep(cell as Cell, entry),
        rests: () => unasked.value && !isSeen(),
        changed,
    });
}
/** What began by itself is asked for now. */
export const takeOver = (): void => void (unasked.value = false);
export const stopBoard = (): void => stop?.();

/** What a cell is called in the address: task and mixer. */
export const cellKey = ({ values }: Cell): string => `${values['task']}.${values['mixer']}`;
/** The cell whose inside is shown below the board. */
export const insideOf = signal<Cell | null>(null);
/** Show a cell's inside, or none; where the board is the view, the address says which. */
export function lookInto(cell: Cell | null): void {
    insideOf.value = cell;
    if (view.peek().view === 'board') setView({ detail: cell ? cellKey(cell) : '' });
}
/** Show the inside of the cell that the address names. */
export function lookIntoNamed(detail: string): void {
    insideOf.value = cells().find((cell) => cellKey(cell) === detail) ?? null;
}
/** How it answers that sequence, with every tensor: as it trains, as it was when it made way or was done,
 * or untrained. */
export async function seenInside(cell: Cell): Promise<Look | null> {
    const {
        entry,
        saved: [saved],
        values,
    } = cell;
    const ticket = entry?.ticket ?? newId();
    if (!entry) {
        const opened = saved
            ? await pool().load(ticket, saved.bytes, saved.seconds)
            : await pool().open(ticket, textOfAll(lab(), [values]));
        if (isProblem(opened)) return null;
    }
    const watch = { id: ticket, index: EXAMPLE, tokens: null, edits: [], block: 0, at: null, detail: true };
    const told = await pool()
        .ask(watch)
        .catch(() => null); // its worker went
    if (!entry) pool().close(ticket);
    return told && !isProblem(told) ? told : null;
}

/** Open a cell's run among the page's own, where the board has brought it: as it is now, or was at last. */
export async function openCell({ entry, values, saved: left }: Cell): Promise<void> {
    const [saved] = entry ? await savedAll(entry) : left;
    resume(textOfAll(lab(), [values]), 1, saved ? [[saved]] : []);
    openView('experiment');
}
