// entry.ts: one run of the page as data: its setup, its sign, and one member for each seed that it is trained
// from.
import type { Signal } from '@preact/signals';
import type { History } from './history.ts';
import type { Mark } from '../core/marks.ts';
import type { Values } from '../core/config.ts';
import type { Point, Problem } from '../training/protocol.ts';

export type Status = 'opening' | 'ready' | 'going' | 'paused' | 'done' | 'failed';
export interface Live {
    status: Status;
    step: number;
    steps: number;
    params: number;
    /** FLOPs of one training step. */
    flops: number;
    /** Memory held by the run. */
    bytes: number;
    /** What should be known of a run that is allowed but may mislead; '': nothing. */
    warning: string;
    /** Own training time, seconds, and the steps of the last second by the clock on the wall. */
    seconds: number;
    rate: number;
    digest: string | null;
    problem: Problem | null;
}
/** Of a run that its worker has not opened yet. */
export const OPENING: Live = {
    status: 'opening',
    step: 0,
    steps: 0,
    params: 0,
    flops: 0,
    bytes: 0,
    warning: '',
    seconds: 0,
    rate: 0,
    digest: null,
    problem: null,
};

/** A run as it was kept: its checkpoint, and what it had gone through. */
export interface Saved {
    bytes: Uint8Array;
    losses: Float32Array<ArrayBuffer>;
    points: Point[];
    /** Of training. */
    seconds: number;
}
/** The file that a run was loaded from: what it starts with. */
export interface RunFile {
    readonly name: string;
    readonly saved: Saved;
}

/** The run from one seed. `ticket` names it in the pool: a new one whenever it starts over. */
export interface Member {
    readonly ticket: number;
    readonly values: Values;
    readonly history: History;
    readonly live: Signal<Live>;
}

/** `id` names the run in the views; the first member is the run itself, the others its repeats. */
export interface Entry {
    readonly id: number;
    readonly mark: Mark;
    readonly values: Values;
    readonly members: readonly Member[];
    readonly file: RunFile | null;
    readonly ticket: number;
    readonly history: History;
    readonly live: Signal<Live>;
}

export function entryOf(
    id: number,
    mark: Mark,
    values: Values,
    members: readonly Member[],
    file: RunFile | null,
): Entry {
    const { ticket, history, live } = members[0]!;
    return { id, mark, values, members, file, ticket, history, live };
}
export const ticketsOf = (entries: readonly Entry[]): number[] =>
    entries.flatMap(({ members }) => members.map(({ ticket }) => ticket));
export const membersOf = (entries: readonly Entry[]): Member[] => entries.flatMap(({ members }) => members);

export const over = ({ live }: Member): boolean => ['done', 'failed'].includes(live.value.status);
