// page.ts: everything the page shows, as signals, with the engine and the workers behind it. Views read the
// signals; the other files of this room change them.
import { computed, signal } from '@preact/signals';
import type { Lab } from '../../wasm/loader/seqmix.ts';
import type { Pool } from '../training/pool.ts';
import type { Look, Problem } from '../training/protocol.ts';
import { membersOf, over, type Entry } from './entry.ts';
import { VIEW, type View } from './url.ts';

export interface Trouble {
    /** Where the request came from. */
    from: 'address' | 'control' | 'worker';
    problem: Problem;
}

let engine: Lab;
let workers: Pool;
export const lab = (): Lab => engine;
export const pool = (): Pool => workers;
/** Once, before anything else is asked of this room. */
export function connect(loaded: Lab, trainers: Pool): void {
    engine = loaded;
    workers = trainers;
}

export const runs = signal<readonly Entry[]>([]);
/** Runs that a view has for itself, beside those. */
export const guests = signal<readonly Entry[]>([]);
export const view = signal<View>(VIEW);
/** Counts the views that were opened by hand; Back and links do not count. */
export const opened = signal(0);
export const playing = signal(false);
export const trouble = signal<Trouble | null>(null);
export const look = signal<Look | null>(null);
/** Said to screen readers. */
export const said = signal('');
/** Counts what the visitor has set going; 0 while only the first lesson runs by itself. */
export const engaged = signal(0);

export const selected = computed(() => runs.value[Math.min(view.value.run, runs.value.length - 1)] ?? null);
export const finished = computed(() => runs.value.length > 0 && membersOf(runs.value).every(over));
/** The engine refused every one of them: there is nothing to train. */
export const refused = computed(
    () =>
        runs.value.length > 0 &&
        membersOf(runs.value).every(({ live }) => live.value.status === 'failed' && live.value.problem?.key),
);
export const begun = computed(() => membersOf(runs.value).some(({ live }) => live.value.step > 0));
/** The runs of each task, in the order in which tasks appear. */
export const groups = computed(() => {
    const found = new Map<string, Entry[]>();
    for (const entry of runs.value) {
        const task = entry.values['task'] ?? '';
        found.set(task, [...(found.get(task) ?? []), entry]);
    }
    return [...found.values()];
});
/** Seconds that training will still take at the pace of now; null: not training, or not yet known. */
export const remaining = computed(() => {
    const left = membersOf(runs.value).flatMap(({ live: { value: live } }) =>
        live.status === 'going' && live.rate > 0 ? [(live.steps - live.step) / live.rate] : [],
    );
    return playing.value && left.length ? Math.max(...left) : null;
});
