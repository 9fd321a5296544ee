// watching.ts: what the page asks of runs besides training: the sample that is looked into, other lengths,
// one image, a confusion matrix, a checkpoint.
import { signal } from '@preact/signals';
import type { Problem, Seen } from '../training/protocol.ts';
import type { Entry, Member } from './entry.ts';
import { pool, selected, view } from './page.ts';

/** Something besides the first view looks inside: every tensor is wanted, and perhaps an earlier step. */
export const inspecting = signal<{ at: number | null } | null>(null);
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
            tokens: null,
            edits: {},
            block,
            at: detail?.at ?? null,
            detail: detail !== null,
        });
}

export const seeImage = (
    entry: Entry,
    what: Uint8Array | number,
): Promise<Seen | { problem: Problem } | null> => pool().see(entry.ticket, what);
export const confusionOf = (entry: Entry, count: number) => pool().confusion(entry.ticket, count);
export const checkpointOf = (member: Member): Promise<Uint8Array | null> => pool().save(member.ticket);
