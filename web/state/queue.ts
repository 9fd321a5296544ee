// queue.ts: trainings that a view has for itself, a few at a time, at full speed beside the page's runs: the
// grid of a sweep, the cells of the board.
import { effect, type Signal } from '@preact/signals';
import type { Values } from '../core/config.ts';
import type { Mark } from '../core/marks.ts';
import { resting } from '../core/prefs.ts';
import { ticketsOf, type Entry, type Saved } from './entry.ts';
import { createEntry } from './members.ts';
import { guests, pool } from './page.ts';
import { savedOf } from './watching.ts';

/** One of them, and how it ended. */
export interface Trial {
    /** null: there is nothing to train, for the reason in `why`. */
    readonly values: Values | null;
    readonly mark: Mark;
    why: string;
    /** While it trains. */
    entry: Entry | null;
    /** Its members as they were when it made way for others: what it goes on from. (The board keeps them of
     * those that are done, too.) */
    saved: readonly Saved[];
    status: 'waiting' | 'going' | 'done' | 'failed';
}

function leave(entry: Entry): void {
    guests.value = guests.peek().filter((other) => other !== entry);
    for (const ticket of ticketsOf([entry])) pool().close(ticket);
}

/** Every member; empty: a worker went, and it has to begin anew. */
export async function savedAll({ members }: Entry): Promise<Saved[]> {
    const all = await Promise.all(members.map(savedOf));
    return all.every((one) => one !== null) ? all : [];
}

/** `othersWait`: some have not begun. */
function train(trial: Trial, hears: Hears, othersWait: () => boolean, then: () => void): void {
    const { saved } = trial;
    const entry = (trial.entry = createEntry(trial.values!, trial.mark, { queued: true, saved }));
    trial.status = 'going';
    guests.value = [...guests.peek(), entry];
    const stop = effect(() => {
        const states = entry.members.map(({ live }) => live.value.status);
        if (trial.entry !== entry) return; // it was stopped
        // (Also after the page's own runs were paused, and these with them.)
        for (const [i, { ticket }] of entry.members.entries())
            if (resting.value || hears.rests?.()) {
                if (states[i] === 'going') pool().pause([ticket]);
            } else if (states[i] === 'ready' || states[i] === 'paused')
                pool().play([ticket], undefined, Infinity);
        hears.news(trial, entry);
        if (states.includes('failed')) {
            trial.status = 'failed';
            trial.why = entry.members.map(({ live }) => live.value.problem?.message).find(Boolean) ?? '';
        } else if (states.every((state) => state === 'done')) trial.status = 'done';
        queueMicrotask(hears.changed);
        const going = trial.status === 'going';
        if (going && !(othersWait() && hears.mayWait?.(trial, entry))) return;
        queueMicrotask(() => {
            stop();
            void (async () => {
                if (going) {
                    const saved = await savedAll(entry);
                    if (trial.entry === entry) Object.assign(trial, { saved, status: 'waiting' });
                }
                if (trial.status === 'done') await hears.ended?.(trial, entry);
                if (trial.entry === entry) trial.entry = null;
                leave(entry);
                hears.changed();
                then();
            })();
        });
    });
}

interface Hears {
    /** Something was reported of it. */
    news(trial: Trial, entry: Entry): void;
    /** The rest of its steps may come when all others have begun. */
    mayWait?(trial: Trial, entry: Entry): boolean;
    /** It is done, and about to be closed. */
    ended?(trial: Trial, entry: Entry): Promise<void>;
    /** All of them stand still for now. */
    rests?(): boolean;
    /** Something is to be drawn anew. */
    changed(): void;
}

const REDRAWN_EVERY = 200; // milliseconds
/** Counts `news` up, no more often than an eye follows: drawing takes time from training. */
export function sparingly(news: Signal<number>): () => void {
    let due: ReturnType<typeof setTimeout> | null = null;
    return () => {
        due ??= setTimeout(() => {
            due = null;
            news.value++;
        }, REDRAWN_EVERY);
    };
}

/** Train them in this order; those that may wait go on in the end. What is given back stops those that have
 * not ended. */
export function trainAll(trials: readonly Trial[], hears: Hears): () => void {
    let stopped = false;
    const isNew = ({ status, saved }: Trial) => status === 'waiting' && !saved.length;
    const next = (): void => {
        if (stopped) return;
        const trial = trials.find(isNew) ?? trials.find(({ status }) => status === 'waiting');
        if (trial) train(trial, hears, () => trials.some(isNew), next);
    };
    for (let i = 0; i < pool().cores; i++) next();
    return () => {
        if (stopped) return;
        stopped = true;
        for (const trial of trials) {
            if (trial.entry) leave(trial.entry);
            if (trial.status === 'going' || trial.status === 'waiting') trial.status = 'failed';
            trial.entry = null;
        }
        hears.changed();
    };
}
export const isTraining = (trials: readonly Trial[]): boolean =>
    trials.some(({ status }) => status === 'waiting' || status === 'going');
