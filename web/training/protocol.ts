// protocol.ts: what the page and its workers tell each other. Types and the few numbers both must know.
import type { Evaluation, Sample, Tensor } from '../../wasm/loader/seqmix.ts';
import type { ScanState } from '../../wasm/loader/verify.ts';

/** A worker trains one run no longer than this before it looks at the next and at its messages
 * (milliseconds). */
export const SLICE = 16;
/** A worker reports no more often than this (milliseconds). */
export const REPORT_EVERY = 100;
/** It looks at the sample that is watched no more often than this (milliseconds). */
export const LOOK_EVERY = 120;
/** Held-out draws are tried every so many steps, with so many answers where the FLOPs that takes allow
 * it. */
export const EVALUATE_EVERY = 10;
export const EVALUATE_ANSWERS = 512;
export const EVALUATE_FLOPS = 1e9;
/** What trains at a pace of its own (a cell of the board, a sweep, Digits) is tried so many times at most. */
export const TRIES = 30;
/** A run has solved its task from this held-out accuracy on. */
export const SOLVED = 0.99;

/** Other lengths are tried for this share of a worker's time while a view shows them, with so many answers
 * (half of them where a sequence has one). */
export const LENGTH_SHARE = 0.3;
export const LENGTH_ANSWERS = 256;
/** Snapshots of a run that are kept to look back at, and the bytes that they may take together. */
export const SNAPSHOTS = 48;
export const SNAPSHOT_BYTES = 24 << 20;

/** Rows and columns of a state that can be told apart in a picture. */
export const STATE_SIDE = 64;

/** What several threads share a run by. */
export interface Shared {
    module: WebAssembly.Module;
    /** The address of a thread's script. */
    thread: string;
}

/** An error that survives the way between threads. */
export interface Problem {
    message: string;
    key: string;
    value: string;
    allowed: string;
}

/** What was asked could not be answered. (A look has a problem of its own, null where there is none.) */
export const isProblem = <T extends object>(
    answer: T | { problem: Problem },
): answer is { problem: Problem } => 'problem' in answer && answer.problem !== null;

export interface Opened {
    config: string;
    params: number;
    steps: number;
    /** FLOPs of one training step, backward included. */
    flops: number;
    /** Memory that the run holds. */
    bytes: number;
    /** What should be known of a run that is allowed but may mislead; '': nothing. */
    warning: string;
    /** Of a loaded run: the steps that it had taken. */
    step: number;
}

export interface Point extends Evaluation {
    step: number;
    /** Seconds of this run's own training so far, evaluations left out. */
    seconds: number;
}

/** A try at another length: what came of it, or why it cannot be. */
export interface LengthPoint {
    length: number;
    step: number;
    result: Evaluation | null;
    problem: string | null;
}

/** What happened to one run since its last report. */
export interface Report {
    id: number;
    /** When, by the worker's clock (milliseconds): a busy page hears of it late. */
    at: number;
    step: number;
    /** Losses of the steps since the last report, the first of them step number `from` + 1. */
    from: number;
    losses: Float32Array<ArrayBuffer>;
    points: Point[];
    lengths: LengthPoint[];
    /** Steps that can be looked back at, oldest first. */
    snapshots: number[];
    seconds: number;
    /** The hash of the weights; given whenever the run stands still. */
    digest: string | null;
    state: 'going' | 'still' | 'done' | 'failed';
    problem: Problem | null;
}

/** Numbers in place of some of a run's weights while one question is asked of it; later ones win. */
export type Edits = readonly {
    readonly name: string;
    /** The first of them, row-major. */
    readonly at: number;
    readonly data: readonly number[];
}[];

/** What is to be followed: a sample of a run, now or as it was at an earlier step. */
export interface Watch {
    id: number;
    index: number;
    /** Tokens of the visitor's own, in place of the sample. */
    tokens: readonly number[] | null;
    edits: Edits;
    block: number;
    /** The snapshot to look at; null: the run as it is. */
    at: number | null;
    /** Every tensor of the block is wanted, and the weights of the run. */
    detail: boolean;
}

/** A text that a run is to go on with: what stands there, as bytes, and how many more. */
export interface Writing {
    readonly read: readonly number[];
    readonly count: number;
    readonly temperature: number;
    readonly seed: number;
}
/** What a state is. */
export interface Remembered {
    /** The run's step, and the rows read. */
    step: number;
    rows: number;
    /** Bytes that it holds; for at most so many rows, or null: for any number. */
    bytes: number;
    most: number | null;
}
export interface Written extends Remembered {
    tokens: number[];
    /** How surprised the model was by each. */
    bits: number[];
    /** What may come next. */
    likeliest: { token: number; odds: number }[];
}
/** A sample that was answered row by row. */
export interface Recited extends Remembered {
    /** What was read, and where that was the answer before. */
    read: number[];
    own: boolean[];
    answers: number[];
    /** -1: nothing is asked there. */
    targets: number[];
}
/** A scan of a mixer's text that is asked for, on a sample. */
export interface ScanAsked {
    id: number;
    index: number;
    /** The last block where there are fewer. */
    block: number;
    head: number;
    /** What the text calls the scan's result; '': several results, and it is number `nth` of such scans. */
    name: string;
    nth: number;
    states: readonly ScanState[];
}
/** What it holds after each row, as far as it is shown. */
export interface ScanRead {
    step: number;
    /** Of the sample; null: its rows are real numbers. */
    tokens: number[] | null;
    length: number;
    /** The rows that were read. */
    rows: number;
    blocks: number;
    block: number;
    /** Of each state the first rows and columns of that head (of scalars a row of all heads):
     * [rows][down][across]. */
    states: { down: number; across: number; data: Float32Array<ArrayBuffer> }[];
}
/** How often each class was taken for which ([shown][answered]), and the run's step then. */
export interface Confusion {
    counts: number[][];
    step: number;
}
/** One image through the eyes of a run. */
export interface Seen {
    sample: Sample;
    /** [length][classes]: class probabilities when that many rows have been read. */
    reading: Float32Array<ArrayBuffer>;
    /** [length][channels]: gradient of ln p(answer) by the input. */
    saliency: Float32Array<ArrayBuffer>;
    step: number;
}

/** One sample as the watched run sees it now. */
export interface Look {
    id: number;
    index: number;
    step: number;
    sample: Sample;
    /** Blocks that show an attention map, and the map of the one asked for: [heads][length][length]. */
    blocks: number[];
    block: number;
    heads: number;
    map: Float32Array<ArrayBuffer> | null;
    /** With `detail`: the block's tensors, the weights and their gradients. */
    tensors: Tensor[];
    problem: string | null;
}

export interface Told {
    reports: Report[];
    look: Look | null;
}
