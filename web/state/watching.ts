// watching.ts: what the page asks of runs besides training: the sample that is looked into, other lengths,
// one image, a confusion matrix, a checkpoint.
import { signal } from '@preact/signals';
import {
    isProblem,
    type Edits,
    type Look,
    type Problem,
    type Recited,
    type Seen,
    type Writing,
    type Written,
} from '../training/protocol.ts';
import type { Entry, Member, Saved } from './entry.ts';
import { score } from './history.ts';
import { pool, selected, view } from './page.ts';

/** Something besides the first view looks inside: every tensor is wanted, and perhaps an earlier step. */
export const inspecting = signal<{ at: number | null } | null>(null);
/** In the view Inside: numbers tried in place of a run's own; tokens asked in place of a
 * sample. */
export const edits = signal<Edits>([]);
export const typed = signal<readonly number[] | null>(null);
/** Whether a view shows other lengths, so that they are tried. */
export const measuring = signal(false);

/** Ask for the sample that is looked into, through the run that is selected. */
export function follow(): void {
    const entry = selected.value;
    const { sample: index, block } = view.value;
    const detail = inspecting.value;
    if (entry)
        pool().watch({
            id: entry.ticket,
            index,
            tokens: detail ? typed.value : null,
            edits: detail ? edits.value : [],
            block,
            at: detail?.at ?? null,
            detail: detail !== null,
        });
}

export const seeImage = (
    entry: Entry,
    what: Uint8Array | number,
): Promise<Seen | { problem: Problem } | null> => pool().see(entry.ticket, what);
/** What a run makes of these tokens, with its own weights. */
export async function answersOf({ ticket }: Entry, tokens: readonly number[]): Promise<Look | Problem> {
    const watch = { id: ticket, index: 0, tokens, edits: [], block: 0, at: null, detail: false };
    const told = await pool().ask(watch);
    if (told && !isProblem(told)) return told;
    return told?.problem ?? { message: 'this run is not open', key: '', value: '', allowed: '' };
}
/** Share of so many held-out sequences' answers that are right with these weights; null: it cannot be. */
export async function shareWith({ ticket }: Entry, changes: Edits, count: number): Promise<number | null> {
    const told = await pool().try(ticket, count, '', changes);
    return told && !isProblem(told) ? score(told) : null;
}
/** The run of a text goes on with it. */
export const writeOn = (entry: Entry, what: Writing): Promise<Written | { problem: Problem } | null> =>
    pool().write(entry.ticket, what);
export const recite = ({ ticket }: Entry, index: number): Promise<Recited | { problem: Problem } | null> =>
    pool().recite(ticket, index);
export const confusionOf = (entry: Entry, count: number) => pool().confusion(entry.ticket, count);
export const checkpointOf = (member: Member): Promise<Uint8Array | null> => pool().save(member.ticket);
/** A member as it is now; null: its worker went. (The checkpoint may be a few steps ahead of what was
 * reported by now: what is missing is told again.) */
export async function savedOf(member: Member): Promise<Saved | null> {
    const bytes = await checkpointOf(member);
    const { history, live } = member;
    if (!bytes) return null;
    const { losses, points } = history;
    return { bytes, losses: losses.slice(), points: [...points], seconds: live.peek().seconds };
}
