// worker.ts: trains the runs that the page gives it, a slice of time each in turn, and reports. One instance
// of the module per run, so that a closed run leaves nothing behind and a broken one takes no other with it.
// The page's side is pool.ts.
import * as Comlink from 'comlink';
import { load, SeqmixError, type Lab, type Run } from '../wasm/seqmix.ts';
import { EVALUATE_ANSWERS, EVALUATE_EVERY, EVALUATE_PRODUCTS, REPORT_EVERY, SLICE } from './protocol.ts';
import type { Look, Opened, Point, Problem, Report, Told } from './protocol.ts';

interface Job {
    id: number;
    lab: Lab;
    run: Run;
    steps: number;
    /** Steps that may be taken before the run stands still; Infinity while it plays. */
    wanted: number;
    /** When the next step is due (performance.now()), where a pace is set. */
    due: number;
    /** Held-out sequences of one try; 0: not yet known. */
    sequences: number;
    /** Time had in this worker, milliseconds: who had least comes next. */
    spent: number;
    /** Own training time, seconds. */
    seconds: number;
    reported: number;
    points: Point[];
    /** What stopped it. */
    fault: unknown;
    /** Something happened since the last report. */
    news: boolean;
}

interface Watch {
    id: number;
    index: number;
    block: number;
}

function problem(error: unknown): Problem {
    if (error instanceof SeqmixError)
        return { message: error.message, key: error.key, value: error.value, allowed: error.allowed };
    return {
        message: `the run broke: ${(error as Error)?.message ?? String(error)}`,
        key: '',
        value: '',
        allowed: '',
    };
}

const MOST_SPARE = 64 << 20; // bytes of an instance that is kept for the next run

/** Held-out sequences to try: the same on every machine, so that curves are. */
function sequencesFor(run: Run): number {
    const { targets, sequences } = run.evaluate({ count: 8 });
    const batch = Number(/(?:^|&)batch=(\d+)/.exec(run.config)?.[1] ?? 1);
    const products = run.metrics.flops / (3 * batch); // forward, one sequence
    const wanted = Math.ceil((EVALUATE_ANSWERS * sequences) / Math.max(1, targets));
    return Math.max(
        16,
        Math.min(EVALUATE_ANSWERS, wanted, Math.floor(EVALUATE_PRODUCTS / Math.max(1, products))),
    );
}

// A turn of the event loop: messages are read, timers fire. setTimeout would wait 4 ms.
const turns = new MessageChannel();
const waiting: (() => void)[] = [];
turns.port1.onmessage = () => waiting.shift()?.();
const turn = () => new Promise<void>((done) => (waiting.push(done), turns.port2.postMessage(0)));
const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

export class Host {
    #module: WebAssembly.Module | null = null;
    #tell: (told: Told) => unknown = () => {};
    #jobs = new Map<number, Job>();
    #spare: Lab[] = [];
    #pace = Infinity;
    #looping = false;
    #telling = false;
    #told = 0;
    #watch: Watch | null = null;
    #look: Look | null = null;
    #lookDue = 0;
    #lookStale = false;

    init(module: WebAssembly.Module, tell: (told: Told) => unknown): void {
        this.#module = module;
        this.#tell = tell;
    }

    async open(id: number, config: string): Promise<Opened | { problem: Problem }> {
        try {
            const lab = this.#spare.pop() ?? (await load({ wasm: this.#module!, scalar: this.#module! }));
            let run: Run;
            try {
                run = lab.open(config);
            } catch (error) {
                this.#keep(lab, error);
                throw error;
            }
            const { params, steps, flops } = run.metrics;
            const job: Job = {
                id,
                lab,
                run,
                steps,
                wanted: 0,
                due: 0,
                spent: 0,
                sequences: 0,
                seconds: 0,
                reported: 0,
                points: [],
                fault: null,
                news: true,
            };
            this.#jobs.set(id, job);
            this.#evaluate(job);
            void this.#loop();
            return { config: run.config, params, steps, flops };
        } catch (error) {
            return { problem: problem(error) };
        }
    }
    close(id: number): void {
        const job = this.#jobs.get(id);
        if (!job) return;
        this.#jobs.delete(id);
        if (this.#watch?.id === id) this.#watch = null;
        try {
            job.run.close();
            this.#keep(job.lab, job.fault);
        } catch {
            // a broken instance is left to the garbage collector
        }
    }
    /** Use the instance again, unless something other than a refused request happened in it, or it grew large. */
    #keep(lab: Lab, fault: unknown): void {
        if ((fault === null || fault instanceof SeqmixError) && lab.bytes <= MOST_SPARE)
            this.#spare.push(lab);
    }
    /** Train on, all runs; or `steps` steps each. */
    play(steps = Infinity): void {
        const most = Math.max(0, ...[...this.#jobs.values()].map(({ spent }) => spent));
        for (const job of this.#jobs.values()) {
            // Who comes late, or was at rest, is not owed the time that the others had.
            if (job.wanted === 0) job.spent = most;
            job.wanted = steps;
            job.due = performance.now();
        }
        void this.#loop();
    }
    pause(): void {
        for (const job of this.#jobs.values()) {
            if (job.wanted > 0) job.news = true;
            job.wanted = 0;
        }
    }
    /** Steps per second of each run; Infinity: as fast as it goes. */
    pace(stepsPerSecond: number): void {
        this.#pace = stepsPerSecond;
        for (const job of this.#jobs.values()) job.due = performance.now();
    }
    watch(watch: Watch | null): void {
        this.#watch = watch;
        this.#lookStale = true;
        this.#lookDue = 0;
        void this.#loop();
    }
    save(id: number): Uint8Array {
        const job = this.#jobs.get(id);
        if (!job) throw new SeqmixError('this run is not open');
        const bytes = job.run.save();
        return Comlink.transfer(bytes, [bytes.buffer]);
    }

    #goes(job: Job): boolean {
        return job.wanted > 0 && job.fault === null && job.run.metrics.step < job.steps;
    }

    async #loop(): Promise<void> {
        if (this.#looping) return;
        this.#looping = true;
        try {
            for (;;) {
                const going = [...this.#jobs.values()].filter((job) => this.#goes(job));
                const due = going.filter((job) => job.due <= performance.now());
                // Whose turn: the one that has had the least time.
                if (due.length > 0) this.#slice(due.reduce((a, b) => (b.spent < a.spent ? b : a)));
                this.#see();
                const told = this.#report();
                if (going.length === 0 && !this.#news() && !this.#lookStale) return;
                const next = Math.min(...going.map((job) => job.due)); // when there is something to do
                const wait = going.length > 0 ? next - performance.now() : told ? 0 : REPORT_EVERY / 4;
                if (wait > 1) await sleep(Math.min(wait, REPORT_EVERY));
                else await turn();
            }
        } finally {
            this.#looping = false;
        }
    }

    #slice(job: Job): void {
        const start = performance.now();
        try {
            do {
                const before = performance.now();
                job.run.step(1);
                job.seconds += (performance.now() - before) / 1000;
                job.wanted--;
                job.news = true;
                if (job.id === this.#watch?.id) this.#lookStale = true;
                const { step } = job.run.metrics;
                if (step % EVALUATE_EVERY === 0 || step === job.steps) this.#evaluate(job);
                // A pace that cannot be held does not pile up a debt.
                if (this.#pace < Infinity)
                    job.due = Math.max(job.due + 1000 / this.#pace, start - 1000 / this.#pace);
            } while (this.#goes(job) && job.due <= performance.now() && performance.now() - start < SLICE);
        } catch (error) {
            job.fault = error;
            job.news = true;
        }
        job.spent += performance.now() - start;
    }

    #evaluate(job: Job): void {
        job.sequences ||= sequencesFor(job.run);
        const result = job.run.evaluate({ count: job.sequences });
        job.points.push({ ...result, step: job.run.metrics.step, seconds: job.seconds });
        job.news = true;
    }

    #news(): boolean {
        return this.#look !== null || [...this.#jobs.values()].some((job) => job.news);
    }

    /** Look at the watched sample again, at most a tenth of the time. */
    #see(): void {
        const job = this.#watch && this.#jobs.get(this.#watch.id);
        if (!job || !this.#watch) this.#lookStale = false;
        if (!job || !this.#watch || !this.#lookStale || performance.now() < this.#lookDue) return;
        const start = performance.now();
        const { index } = this.#watch;
        const step = job.run.metrics.step;
        try {
            const sample = job.run.look(index);
            const maps = new Map<number, string>(); // block -> name of its attention map
            for (const { name } of job.run.tensors()) {
                const block = /^block(\d+)\.(?:.*\.)?map$/.exec(name)?.[1];
                if (block !== undefined) maps.set(Number(block), name);
            }
            const blocks = [...maps.keys()];
            const block = maps.has(this.#watch.block) ? this.#watch.block : (blocks[0] ?? 0);
            const name = maps.get(block);
            const map = name === undefined ? null : job.run.tensor(name);
            this.#look = {
                id: job.id,
                index,
                step,
                sample,
                blocks,
                block,
                heads: map?.shape[0] ?? 0,
                map: map?.data ?? null,
                problem: null,
            };
        } catch (error) {
            this.#look = {
                id: job.id,
                index,
                step,
                blocks: [],
                block: 0,
                heads: 0,
                map: null,
                problem: problem(error).message,
                sample: {
                    length: 0,
                    classes: 0,
                    channels: 0,
                    tokens: null,
                    values: null,
                    targets: null,
                    predicted: null,
                    confidence: null,
                },
            };
        }
        this.#lookStale = false;
        this.#lookDue = performance.now() + Math.max(2 * REPORT_EVERY, 9 * (performance.now() - start));
    }

    /** Tell the page what is new, unless it was told just now or has not taken the last telling yet. */
    #report(): boolean {
        const now = performance.now();
        if (this.#telling || now - this.#told < REPORT_EVERY || !this.#news()) return false;
        const reports: Report[] = [];
        const transfer: Transferable[] = [];
        for (const job of this.#jobs.values()) {
            if (!job.news) continue;
            const losses = job.run.losses(job.reported);
            const { step } = job.run.metrics;
            const state =
                job.fault !== null
                    ? 'failed'
                    : step >= job.steps
                      ? 'done'
                      : this.#goes(job)
                        ? 'going'
                        : 'still';
            transfer.push(losses.buffer);
            reports.push({
                id: job.id,
                step,
                from: job.reported,
                losses,
                points: job.points,
                seconds: job.seconds,
                digest: state === 'going' ? null : job.run.digest(),
                state,
                problem: job.fault === null ? null : problem(job.fault),
            });
            job.reported += losses.length;
            job.points = [];
            job.news = false;
        }
        if (this.#look?.map) transfer.push(this.#look.map.buffer);
        const told: Told = { reports, look: this.#look };
        this.#look = null;
        this.#told = now;
        this.#telling = true;
        void Promise.resolve(this.#tell(Comlink.transfer(told, transfer))).finally(
            () => (this.#telling = false),
        );
        return true;
    }
}

// What breaks outside a call ends the worker, and the page hears of it.
self.addEventListener('unhandledrejection', (event) => {
    setTimeout(() => {
        throw event.reason;
    });
});
Comlink.expose(new Host());
