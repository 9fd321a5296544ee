// job.ts: one run in a worker: what is known of it there, its tries on held-out draws and at other lengths,
// its reports.
import { SeqmixError, type Lab, type Run } from '../../wasm/loader/seqmix.ts';
import { trials, type Trial } from './lengths.ts';
import { EVALUATE_ANSWERS, EVALUATE_EVERY, EVALUATE_FLOPS, LENGTH_ANSWERS, TRIES } from './protocol.ts';
import type { LengthPoint, Point, Problem, Report } from './protocol.ts';
import { Snapshots } from './seeing.ts';
import { Writer } from './writing.ts';

export interface Job {
    id: number;
    lab: Lab;
    run: Run;
    steps: number;
    /** Steps that may be taken before the run stands still; Infinity while it plays. */
    wanted: number;
    /** Steps a second of this run alone; null: as of all. */
    pace: number | null;
    /** When the next step is due (performance.now()), where a pace is set. */
    due: number;
    /** Held-out sequences of one try; 0: not yet known. */
    sequences: number;
    /** Time had in this worker, milliseconds: who had least comes next. */
    spent: number;
    /** Own training time, seconds. */
    seconds: number;
    /** Losses told so far, and the steps before the first that it knows the loss of. */
    reported: number;
    base: number;
    points: Point[];
    snapshots: Snapshots;
    writer: Writer;
    /** Other lengths to try, the one that comes next, the step of its last try, and what came of them. */
    trials: Trial[];
    trial: number;
    tried: Map<number, number>;
    lengths: LengthPoint[];
    /** What stopped it. */
    fault: unknown;
    /** Something happened since the last report. */
    news: boolean;
}

export function jobOf(id: number, lab: Lab, run: Run, seconds: number): Job {
    const { steps, step } = run.metrics;
    return {
        id,
        lab,
        run,
        steps,
        wanted: 0,
        pace: null,
        due: 0,
        spent: 0,
        sequences: 0,
        seconds,
        reported: 0,
        base: step - run.losses().length,
        points: [],
        snapshots: new Snapshots(),
        writer: new Writer(),
        trials: trials(lab.values(run.config)[0]!),
        trial: 0,
        tried: new Map(),
        lengths: [],
        fault: null,
        news: true,
    };
}

/** An error as the page is told of it. */
export function problemOf(error: unknown): Problem {
    if (error instanceof SeqmixError)
        return { message: error.message, key: error.key, value: error.value, allowed: error.allowed };
    return {
        message: `the run broke: ${(error as Error)?.message ?? String(error)}`,
        key: '',
        value: '',
        allowed: '',
    };
}

/** Held-out sequences to try: the same on every machine, so that curves are. */
function sequencesFor(run: Run): number {
    const { targets, sequences } = run.evaluate({ count: 8 });
    const batch = Number(run.value('batch'));
    const flops = run.metrics.flops / (3 * batch); // forward, one sequence
    const wanted = Math.ceil((EVALUATE_ANSWERS * sequences) / Math.max(1, targets));
    const affordable = Math.floor(EVALUATE_FLOPS / Math.max(1, flops));
    return Math.max(16, Math.min(EVALUATE_ANSWERS, wanted, affordable));
}

/** Steps from one try to the next, whole tens. */
export function every({ pace, steps }: Job): number {
    return pace === null ? EVALUATE_EVERY : EVALUATE_EVERY * Math.ceil(steps / TRIES / EVALUATE_EVERY);
}

/** Try it on held-out draws, and keep it as it is now. */
export function evaluate(job: Job): void {
    job.sequences ||= sequencesFor(job.run);
    const result = job.run.evaluate({ count: job.sequences });
    const { step } = job.run.metrics;
    job.points.push({ ...result, step, seconds: job.seconds });
    if (step > 0) job.snapshots.take(job.run);
    job.news = true;
}

/** Steps since its next length was tried; 0: there is nothing to try. */
export function stepsBehind(job: Job): number {
    const step = job.tried.get(job.trials[job.trial]?.length ?? 0) ?? -1;
    return job.fault === null && job.trials.length > 0 ? job.run.metrics.step - step : 0;
}
export function tryNextLength(job: Job): void {
    const { length, changes, answers } = job.trials[job.trial]!;
    const { step } = job.run.metrics;
    job.tried.set(length, step);
    try {
        const count = 32 * Math.max(1, Math.round(LENGTH_ANSWERS / (32 * answers)));
        const result = job.run.evaluate({ count, changes });
        job.lengths.push({ length, step, result, problem: null });
    } catch (error) {
        if (!(error instanceof SeqmixError)) job.fault = error;
        // A length that the model or the task refuses is refused for good.
        else job.tried.set(length, Infinity);
        job.lengths.push({ length, step, result: null, problem: problemOf(error).message });
    }
    // The next that is not refused, or the worker would wait for one that never comes.
    const refused = () => job.tried.get(job.trials[job.trial]!.length) === Infinity;
    let left = job.trials.length;
    do job.trial = (job.trial + 1) % job.trials.length;
    while (--left > 0 && refused());
    job.news = true;
}

/** What happened since its last report; `going`: it trains on; `now`: of the worker's clock. */
export function reportOf(job: Job, going: boolean, now: number): Report {
    const losses = job.run.losses(job.reported);
    const { step } = job.run.metrics;
    const state = job.fault !== null ? 'failed' : step >= job.steps ? 'done' : going ? 'going' : 'still';
    const report: Report = {
        id: job.id,
        at: now,
        step,
        from: job.base + job.reported,
        losses,
        points: job.points,
        lengths: job.lengths,
        snapshots: job.snapshots.steps,
        seconds: job.seconds,
        digest: state === 'going' ? null : job.run.digest(),
        state,
        problem: job.fault === null ? null : problemOf(job.fault),
    };
    job.reported += losses.length;
    job.points = [];
    job.lengths = [];
    job.news = false;
    return report;
}
