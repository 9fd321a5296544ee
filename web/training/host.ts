// host.ts: what a worker does: it trains the runs that the page gives it, a slice of time each in turn, and
// reports. One instance of the module per run, so that a closed run leaves nothing behind and a broken one
// takes no other with it. One run in it is job.ts; the page's side is pool.ts. The worker, and with it the
// time, is worker.ts: tests drive a host in Node by a clock of their own.
import * as Comlink from 'comlink';
import {
    load,
    SeqmixError,
    type Evaluation,
    type Lab,
    type Run,
    type TableSummary,
} from '../../wasm/loader/seqmix.ts';
import { MOST_THREADS } from '../../wasm/loader/sharing.ts';
import { evaluate, every, jobOf, problemOf, reportOf, stepsBehind, tryNextLength, type Job } from './job.ts';
import { LENGTH_SHARE, LOOK_EVERY, REPORT_EVERY, SLICE } from './protocol.ts';
import type {
    Confusion,
    Edits,
    Look,
    Opened,
    Problem,
    Recited,
    Report,
    ScanAsked,
    ScanRead,
    Seen,
    Shared,
    Told,
    Watch,
    Writing,
    Written,
} from './protocol.ts';
import { scanRead } from './remembering.ts';
import { lookAt, noLook, seeImage, transfers, withWeights } from './seeing.ts';
import { widened } from './wide.ts';
import { recited } from './writing.ts';

const MOST_SPARE = 64 << 20; // bytes of an instance that is kept for the next run

/** What tells the time and lets it pass. */
export interface Clock {
    /** Milliseconds. */
    now(): number;
    /** A turn of the event loop: messages are read, timers fire. */
    turn(): Promise<void>;
    sleep(ms: number): Promise<void>;
}

export class Host {
    #module: WebAssembly.Module | null = null;
    #whole: () => Promise<WebAssembly.Module> = () => Promise.reject(new Error('there is no page'));
    #shared: (() => Promise<Shared>) | null = null;
    #threads = 1;
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
    #files: ReadonlyMap<string, Uint8Array> = new Map();
    #lengths = false;
    #lengthDue = 0;
    readonly #clock: Clock;

    constructor(clock: Clock) {
        this.#clock = clock;
    }

    /** Bytes that all instances of the module hold. */
    get bytes(): number {
        const labs = [...this.#spare, ...[...this.#jobs.values()].map(({ lab }) => lab)];
        return labs.reduce((sum, lab) => sum + lab.bytes, 0);
    }
    /**
     * `whole`: gives the module that has everything; `lock`: held as long as this worker lives, by which the
     * page hears of its end; '': there are no locks; `shared`: gives the module for runs that several threads
     * share, null where none may.
     */
    init(
        module: WebAssembly.Module,
        whole: () => Promise<WebAssembly.Module>,
        tell: (told: Told) => unknown,
        lock: string,
        shared: (() => Promise<Shared>) | null = null,
    ): Promise<void> {
        this.#module = module;
        this.#shared = shared;
        this.#whole = whole;
        this.#tell = tell;
        return new Promise((held) => {
            if (!lock) return held();
            const hold = () => (held(), new Promise<void>(() => {}));
            return void navigator.locks.request(lock, hold);
        });
    }

    open(id: number, config: string): Promise<Opened | { problem: Problem }> {
        return this.#admit(id, config, (lab) => lab.open(config));
    }
    /** Go on with a saved run. `seconds` it has been trained, `losses` it has reported. */
    load(id: number, bytes: Uint8Array, seconds = 0): Promise<Opened | { problem: Problem }> {
        return this.#admit(
            id,
            new TextDecoder().decode(bytes.subarray(0, 4096)),
            (lab) => lab.load(bytes),
            seconds,
        );
    }
    async #admit(
        id: number,
        config: string,
        make: (lab: Lab) => Run,
        seconds = 0,
    ): Promise<Opened | { problem: Problem }> {
        try {
            const ready = (lab: Lab) => {
                const digits = /(data|test)=mnist/.test(config);
                for (const [name, bytes] of this.#files)
                    if (
                        (digits && name.endsWith('-ubyte')) ||
                        config.includes(`text=${name}`) ||
                        config.includes(`file=${name}`)
                    )
                        lab.provide(name, bytes);
                return make(lab);
            };
            let [run, lab] = await this.#within(ready);
            const wide = this.#shared && (await widened(run, ready, this.#shared));
            if (wide) {
                run.close();
                this.#keep(lab, null);
                [run, lab] = wide;
            }
            const { params, steps, flops, bytes, step } = run.metrics;
            const job = jobOf(id, lab, run, seconds);
            this.#jobs.set(id, job);
            void lab.useThreads(this.#threads);
            evaluate(job);
            job.snapshots.take(run);
            void this.#loop();
            return { config: run.config, params, steps, flops, bytes, step, warning: run.warning };
        } catch (error) {
            return { problem: problemOf(error) };
        }
    }
    /** So many threads for each run that is large enough: they take turns. */
    threads(threads: number): void {
        this.#threads = Math.min(threads, MOST_THREADS);
        for (const { lab } of this.#jobs.values()) void lab.useThreads(this.#threads);
    }
    /**
     * What `ask` makes of an instance, and that instance. Once one has lacked something, new ones are of the
     * whole module.
     */
    async #within<T>(ask: (lab: Lab) => T, again = true): Promise<[T, Lab]> {
        const module = this.#module!;
        const lab = this.#spare.pop() ?? (await load({ wasm: module, scalar: module }));
        try {
            return [ask(lab), lab];
        } catch (error) {
            this.#keep(lab, error);
            if (!again || !(error instanceof SeqmixError && error.key === 'module')) throw error;
            if (module === this.#module) {
                this.#module = await this.#whole();
                this.#spare = [];
            }
            return this.#within(ask, false);
        }
    }
    /** What is in a table. */
    async table(bytes: Uint8Array): Promise<TableSummary | { problem: Problem }> {
        try {
            const [summary, lab] = await this.#within((lab) => lab.table(bytes));
            this.#keep(lab, null);
            return summary;
        } catch (error) {
            return { problem: problemOf(error) };
        }
    }
    /** Data files for the runs that will read them. */
    files(files: ReadonlyMap<string, Uint8Array>): void {
        this.#files = files;
    }
    /** Whether other lengths are tried while runs train. */
    tryLengths(on: boolean): void {
        this.#lengths = on;
        void this.#loop();
    }
    /** What `ask` gives of a run, or why there is none. */
    #of<T>(id: number, ask: (job: Job) => T): T | { problem: Problem } {
        const job = this.#jobs.get(id);
        if (!job) return { problem: problemOf(new SeqmixError('this run is not open')) };
        try {
            return ask(job);
        } catch (error) {
            return { problem: problemOf(error) };
        }
    }
    see(id: number, what: Uint8Array | number): Seen | { problem: Problem } {
        return this.#of(id, ({ run }) => seeImage(run, what));
    }
    /** The run of a text goes on with it. */
    write(id: number, what: Writing): Written | { problem: Problem } {
        return this.#of(id, ({ run, writer }) => {
            try {
                return writer.go(run, what);
            } catch (error) {
                writer.close();
                throw error;
            }
        });
    }
    recite(id: number, index: number): Recited | { problem: Problem } {
        return this.#of(id, ({ run }) => recited(run, index));
    }
    /** What a scan of a mixer's text holds after each row of a sample. */
    scan(asked: ScanAsked): ScanRead | { problem: Problem } {
        return this.#of(asked.id, ({ run }) => {
            const read = scanRead(run, asked);
            return Comlink.transfer(
                read,
                read.states.map(({ data }) => data.buffer),
            );
        });
    }
    /** How often row was wanted and column answered, over so many held-out sequences. */
    confusion(id: number, count: number): Confusion | null {
        const run = this.#jobs.get(id)?.run;
        run?.evaluate({ count });
        const counts = run?.confusion();
        return run && counts ? { counts, step: run.metrics.step } : null;
    }
    close(id: number): void {
        const job = this.#jobs.get(id);
        if (!job) return;
        this.#jobs.delete(id);
        if (this.#watch?.id === id) this.#watch = null;
        try {
            job.snapshots.close();
            job.writer.close();
            job.run.close();
            this.#keep(job.lab, job.fault);
        } catch {
            job.lab.close(); // a broken instance is left to the garbage collector
        }
    }
    /** Use the instance again, unless something other than a refused request happened in it, it grew large,
     * or new ones are of another module. */
    #keep(lab: Lab, fault: unknown): void {
        const refused = fault === null || fault instanceof SeqmixError;
        if (refused && lab.bytes <= MOST_SPARE && lab.module === this.#module) this.#spare.push(lab);
        else lab.close();
    }
    /** What a run makes of a sample or of tokens, perhaps with other weights, now. */
    ask(watch: Watch): Look | { problem: Problem } {
        return this.#of(watch.id, ({ run }) => lookAt(run, watch, run.metrics.step));
    }
    /** The run tried on so many held-out sequences, with changes to the task's keys and other weights. */
    try(id: number, count: number, changes: string, edits: Edits): Evaluation | { problem: Problem } {
        return this.#of(id, ({ run }) => withWeights(run, edits, () => run.evaluate({ count, changes })));
    }
    /** Train these runs on, or `steps` steps each; `pace`: steps a second of these, whatever others have. */
    play(ids: readonly number[], steps = Infinity, pace: number | null = null): void {
        const most = Math.max(0, ...[...this.#jobs.values()].map(({ spent }) => spent));
        for (const job of this.#jobs.values()) {
            if (!ids.includes(job.id)) continue;
            // Who comes late, or was at rest, is not owed the time that the others had.
            if (job.wanted === 0) job.spent = most;
            job.wanted = steps;
            job.pace = pace;
            job.due = this.#clock.now();
        }
        void this.#loop();
    }
    /** Let these runs stand still; without `ids` all of them. */
    pause(ids?: readonly number[]): void {
        for (const job of this.#jobs.values()) {
            if (ids && !ids.includes(job.id)) continue;
            if (job.wanted > 0) job.news = true;
            job.wanted = 0;
        }
    }
    /** Steps per second of each run; Infinity: as fast as it goes. */
    pace(stepsPerSecond: number): void {
        this.#pace = stepsPerSecond;
        for (const job of this.#jobs.values()) job.due = this.#clock.now();
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
                const due = going.filter((job) => job.due <= this.#clock.now());
                // Whose turn: the one that has had the least time.
                if (due.length > 0) this.#slice(due.reduce((a, b) => (b.spent < a.spent ? b : a)));
                const tried = this.#tryLength();
                this.#see();
                const told = this.#report();
                if (going.length === 0 && !this.#news() && !this.#lookStale && !tried) return;
                const next = Math.min(...going.map((job) => job.due)); // when there is something to do
                const wait = going.length > 0 ? next - this.#clock.now() : told ? 0 : REPORT_EVERY / 4;
                if (wait > 1) await this.#clock.sleep(Math.min(wait, REPORT_EVERY));
                else await this.#clock.turn();
            }
        } finally {
            this.#looping = false;
        }
    }

    #slice(job: Job): void {
        const start = this.#clock.now();
        try {
            do {
                const before = this.#clock.now();
                job.run.step(1);
                job.seconds += (this.#clock.now() - before) / 1000;
                job.wanted--;
                job.news = true;
                if (job.id === this.#watch?.id && this.#watch.at === null) this.#lookStale = true;
                const { step } = job.run.metrics;
                if (step % every(job) === 0 || step === job.steps) evaluate(job);
                // A pace that cannot be held does not pile up a debt.
                const pace = job.pace ?? this.#pace;
                if (pace < Infinity) job.due = Math.max(job.due + 1000 / pace, start - 1000 / pace);
            } while (this.#goes(job) && job.due <= this.#clock.now() && this.#clock.now() - start < SLICE);
        } catch (error) {
            job.fault = error;
            job.news = true;
        }
        job.spent += this.#clock.now() - start;
    }

    /** Try the run whose curve over lengths is oldest at its next length; false: they are all as new as can
     * be. */
    #tryLength(): boolean {
        if (!this.#lengths) return false;
        const job = [...this.#jobs.values()].reduce<Job | null>(
            (most, one) => (stepsBehind(one) > (most ? stepsBehind(most) : 0) ? one : most),
            null,
        );
        if (!job) return false;
        const start = this.#clock.now();
        if (start < this.#lengthDue) return true;
        tryNextLength(job);
        const share = LENGTH_SHARE;
        const rest = this.#goes(job) ? (1 - share) / share : 0;
        this.#lengthDue = this.#clock.now() + rest * (this.#clock.now() - start);
        return true;
    }

    #news(): boolean {
        return this.#look !== null || [...this.#jobs.values()].some((job) => job.news);
    }

    /** Look at the watched sample again, at most a tenth of the time. */
    #see(): void {
        const job = this.#watch && this.#jobs.get(this.#watch.id);
        if (!job || !this.#watch) this.#lookStale = false;
        if (!job || !this.#watch || !this.#lookStale || this.#clock.now() < this.#lookDue) return;
        const start = this.#clock.now();
        const { at } = this.#watch;
        const step = job.run.metrics.step;
        try {
            const run = (at !== null && at < step && job.snapshots.at(job.lab, at)) || job.run;
            this.#look = lookAt(run, this.#watch, run.metrics.step);
        } catch (error) {
            this.#look = noLook(this.#watch, step, problemOf(error).message);
        }
        this.#lookStale = false;
        this.#lookDue = this.#clock.now() + Math.max(LOOK_EVERY, 9 * (this.#clock.now() - start));
    }

    /** Tell the page what is new, unless it was told just now or has not taken the last telling yet. */
    #report(): boolean {
        const now = this.#clock.now();
        if (this.#telling || now - this.#told < REPORT_EVERY || !this.#news()) return false;
        const reports: Report[] = [];
        const transfer: Transferable[] = [];
        for (const job of this.#jobs.values()) {
            if (!job.news) continue;
            const report = reportOf(job, this.#goes(job), now);
            transfer.push(report.losses.buffer);
            reports.push(report);
        }
        if (this.#look) transfer.push(...transfers(this.#look));
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
