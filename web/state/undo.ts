// undo.ts: the one place where the page's runs are replaced, so that the last replacement, whatever it was,
// can be taken back.
import { batch, signal } from '@preact/signals';
import { remember } from './address.ts';
import { sameValues, type Values } from '../core/config.ts';
import { membersOf, ticketsOf, type Entry, type Member } from './entry.ts';
import { afresh } from './members.ts';
import type { Speed } from './url.ts';
import { guests, playing, pool, runs, said, view } from './page.ts';

interface Before {
    entries: readonly Entry[];
    seeds: number;
    speed: Speed;
    /** What would be taken back: 'the reset'. */
    what: string;
    /** It was taken back, and would be done again. */
    redo: boolean;
}
export const undoable = signal<Before | null>(null);

const MOST_KEPT = 256 << 20; // bytes of runs that are kept open for undo; beyond it only their setups are
const closed = new Set<number>(); // tickets in `undoable` that are no longer open

/** Every run that is open: the page's, a view's own, and those that undo brings back. */
export const allEntries = (): readonly Entry[] => [
    ...runs.value,
    ...guests.peek(),
    ...(undoable.peek()?.entries ?? []),
];

/** A run of this setup that undo would bring back as it was left. */
export const restingWith = (values: Values): Entry | undefined =>
    undoable
        .peek()
        ?.entries.find(
            (entry) =>
                !runs.peek().includes(entry) &&
                sameValues(entry.values, values) &&
                !entry.members.some(({ ticket }) => closed.has(ticket)),
        );

const without = (entries: readonly Entry[], kept: readonly Entry[]): Member[] => {
    const tickets = new Set(ticketsOf(kept));
    return membersOf(entries).filter(({ ticket }) => !tickets.has(ticket));
};
function close(members: readonly Member[]): void {
    for (const { ticket } of members) if (!closed.delete(ticket)) pool().close(ticket);
}
/** Hold what left the page still, or close it where that is too much to keep. */
function rest(members: readonly Member[]): void {
    const bytes = members.reduce((sum, { live }) => sum + live.peek().bytes, 0);
    if (bytes <= MOST_KEPT) return pool().pause(members.map(({ ticket }) => ticket));
    close(members);
    for (const { ticket } of members) closed.add(ticket);
}

/** Let the page train these runs instead of those it has. `what`: how that is called; null: not to be taken
 * back. `seeds`: of the runs that it had. */
export function replaceRuns(next: readonly Entry[], what: string | null, seeds = view.value.seeds): void {
    const entries = runs.value;
    const before = undoable.value?.entries ?? [];
    batch(() => {
        if (what === null) close(without(entries, [...next, ...before]));
        else {
            close(without(before, [...entries, ...next]));
            rest(without(entries, next));
            const { speed } = view.value;
            undoable.value = entries.length ? { entries, seeds, speed, what, redo: false } : null;
        }
        const same = (entry: Entry, i: number) => entry.values === entries[i]?.values;
        if (view.value.ghost && entries.length && !(next.length === entries.length && next.every(same)))
            view.value = { ...view.value, ghost: '' }; // the curves of other runs
        runs.value = next;
        const run = Math.max(0, Math.min(view.value.run, next.length - 1));
        if (run !== view.value.run) view.value = { ...view.value, run };
    });
}
/** Take the last replacement back; once more: do it again. */
export function undo(): void {
    const before = undoable.value;
    if (!before) return;
    const { what, redo, seeds, speed } = before;
    const entries = runs.value;
    batch(() => {
        playing.value = false;
        pool().pause();
        undoable.value = { entries, seeds: view.value.seeds, speed: view.value.speed, what, redo: !redo };
        const run = Math.min(view.value.run, before.entries.length - 1);
        view.value = { ...view.value, seeds, speed, run };
        runs.value = before.entries.map((entry) => {
            const lost = entry.members.filter(({ ticket }) => closed.delete(ticket));
            return lost.length ? afresh(entry) : entry;
        });
        rest(without(entries, runs.value));
    });
    remember('push');
    said.value = redo ? `${what} was done again.` : 'The runs are back where they were.';
}
