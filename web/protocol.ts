// protocol.ts: what the page and its workers tell each other. Types and the few numbers both must know.
import type { Evaluation, Sample } from '../wasm/seqmix.ts';

/** A worker trains one run no longer than this before it looks at the next and at its messages (milliseconds). */
export const SLICE = 16;
/** A worker reports no more often than this (milliseconds). */
export const REPORT_EVERY = 60;
/** Held-out draws are tried every so many steps, with so many answers where the products that takes allow it. */
export const EVALUATE_EVERY = 10;
export const EVALUATE_ANSWERS = 512;
export const EVALUATE_PRODUCTS = 1e9;
/** A run has solved its task from this held-out accuracy on. */
export const SOLVED = 0.99;

/** An error that survives the way between threads. */
export interface Problem {
    message: string;
    key: string;
    value: string;
    allowed: string;
}

export interface Opened {
    config: string;
    params: number;
    steps: number;
    /** Products of one training step, backward included. */
    flops: number;
}

export interface Point extends Evaluation {
    step: number;
    /** Seconds of this run's own training so far, evaluations left out. */
    seconds: number;
}

/** What happened to one run since its last report. */
export interface Report {
    id: number;
    step: number;
    /** Losses of the steps since the last report, the first of them step number `from` + 1. */
    from: number;
    losses: Float32Array<ArrayBuffer>;
    points: Point[];
    seconds: number;
    /** The hash of the weights; given whenever the run stands still. */
    digest: string | null;
    state: 'going' | 'still' | 'done' | 'failed';
    problem: Problem | null;
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
    problem: string | null;
}

export interface Told {
    reports: Report[];
    look: Look | null;
}
