// pool.ts: the page's workers. The only file that talks to them: it spreads runs over as many as there are
// cores but one, which the page draws with, and over the last core, too, what a queue trains (a view that
// draws little); cores that have no worker over the threads of each. It passes commands on, and replaces a
// worker that dies.
import * as Comlink from 'comlink';
import type { Evaluation, Lab, TableSummary } from '../../wasm/loader/seqmix.ts';
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
    Watch,
    Writing,
    Written,
} from './protocol.ts';
import { sharedFor } from './shared.ts';
import { spawnTrainer } from './spawn.ts';
import { wholeFor } from './whole.ts';
import type { Host } from './host.ts';

export interface Listener {
    reports(reports: Report[]): void;
    look(look: Look): void;
    /** The worker of these runs died. */
    lost(ids: number[], message: string): void;
}

interface Seat {
    worker: Worker;
    host: Comlink.Remote<Host>;
    ready: Promise<unknown>;
    ids: Set<number>;
}

let early: Worker | null = null;
/** Begin to start the first worker, before there is an engine for it. (Where it cannot be, a later one is
 * heard to say so.) */
export function startEarly(): void {
    early = spawnTrainer();
    early.onerror = () => (early = null);
}

export class Pool {
    readonly #lab: Lab;
    readonly #listener: Listener;
    /** Runs of a queue that train at once. */
    readonly cores: number;
    readonly #seats: Seat[] = [];
    #pace = Infinity;
    #lengths = false;
    #files: ReadonlyMap<string, Uint8Array> = new Map();

    /** `lab`: whose module the workers take. */
    constructor(lab: Lab, listener: Listener, cores = navigator.hardwareConcurrency || 2) {
        this.#lab = lab;
        this.#listener = listener;
        this.cores = cores;
    }

    #spawn(): Seat {
        const worker = early ?? spawnTrainer();
        early = null;
        const host = Comlink.wrap<Host>(worker);
        const seat: Seat = { worker, host, ids: new Set(), ready: Promise.resolve() };
        const lost = (message: string) => {
            const at = this.#seats.indexOf(seat);
            if (at < 0) return;
            this.#seats.splice(at, 1);
            worker.terminate();
            const ids = [...seat.ids];
            seat.ids.clear(); // reports that are still on their way are not heard
            this.#shareCores();
            this.#listener.lost(ids, message);
        };
        worker.onerror = (event) => {
            event.preventDefault();
            lost(event.message || 'it could not be started');
        };
        worker.onmessageerror = () => lost('a message from it could not be read');
        const tell = Comlink.proxy((told: { reports: Report[]; look: Look | null }) => {
            this.#listener.reports(told.reports.filter(({ id }) => seat.ids.has(id)));
            if (told.look && seat.ids.has(told.look.id)) this.#listener.look(told.look);
        });
        const whole = Comlink.proxy(() => wholeFor(this.#lab));
        const shared = sharedFor(this.#lab);
        // A worker may end without a word (memory taken away by the system): its lock tells.
        // (From disk there are none.)
        const lock = navigator.locks ? `seqmix worker ${crypto.randomUUID()}` : '';
        const watch = () =>
            lock && void navigator.locks.request(lock, () => lost('it ended without a message'));
        // (It does what it is told in that order: no answer is waited for before the next is asked.)
        seat.ready = host
            .init(this.#lab.module, whole, tell, lock, shared && Comlink.proxy(shared))
            .then(watch);
        void host.files(this.#files);
        void host.tryLengths(this.#lengths);
        void host.pace(this.#pace);
        this.#seats.push(seat);
        return seat;
    }
    /** Workers that have runs, times the threads of each: no more than there are cores. */
    #shareCores(): void {
        const busy = this.#seats.filter(({ ids }) => ids.size > 0).length;
        const threads = Math.max(1, Math.floor(this.cores / Math.max(1, busy)));
        for (const { host } of this.#seats) void host.threads(threads);
    }
    #seat(id: number): Seat | undefined {
        return this.#seats.find(({ ids }) => ids.has(id));
    }

    /** `queued`: it may have the core that is kept for the page. */
    open(id: number, config: string, queued = false): Promise<Opened | { problem: Problem }> {
        return this.#admit(id, (host) => host.open(id, config), queued ? this.cores : undefined);
    }
    /** Go on with a saved run that has been trained for so many seconds; `queued`: as above. */
    load(
        id: number,
        bytes: Uint8Array,
        seconds: number,
        queued = false,
    ): Promise<Opened | { problem: Problem }> {
        return this.#admit(id, (host) => host.load(id, bytes, seconds), queued ? this.cores : undefined);
    }
    async #admit(
        id: number,
        make: (host: Comlink.Remote<Host>) => Promise<Opened | { problem: Problem }>,
        most = Math.max(1, this.cores - 1),
    ): Promise<Opened | { problem: Problem }> {
        const seats = this.#seats.slice(0, most);
        const least = seats.length ? seats.reduce((a, b) => (b.ids.size < a.ids.size ? b : a)) : null;
        const seat = !least || (least.ids.size > 0 && seats.length < most) ? this.#spawn() : least;
        seat.ids.add(id);
        this.#shareCores();
        // A file that it lacked may have come after it was asked for and before the answer is here.
        let opened, files;
        do {
            files = this.#files;
            [opened] = await Promise.all([make(seat.host), seat.ready]);
        } while ('problem' in opened && files !== this.#files && seat.ids.has(id));
        if ('problem' in opened) {
            seat.ids.delete(id);
            this.#shareCores();
        }
        // Closed while it was being opened: the worker must not keep it.
        else if (!seat.ids.has(id)) void seat.host.close(id);
        return opened;
    }
    close(id: number): void {
        const seat = this.#seat(id);
        seat?.ids.delete(id);
        this.#shareCores();
        void seat?.host.close(id);
    }
    /** Train these runs on, or `steps` steps each; `pace`: steps a second of these, whatever others have. */
    play(ids: readonly number[], steps?: number, pace?: number): void {
        for (const seat of this.#seats) {
            const own = ids.filter((id) => seat.ids.has(id));
            if (own.length) void seat.host.play(own, steps, pace);
        }
    }
    /** Let these runs stand still; without `ids` all of them. */
    pause(ids?: readonly number[]): void {
        for (const { host } of this.#seats) void host.pause(ids);
    }
    pace(stepsPerSecond: number): void {
        this.#pace = stepsPerSecond;
        for (const { host } of this.#seats) void host.pace(stepsPerSecond);
    }
    /** Follow one sample of one run; no other is followed. */
    watch(watch: Watch): void {
        for (const { host, ids } of this.#seats) void host.watch(ids.has(watch.id) ? watch : null);
    }
    /** Whether runs are tried at other lengths, too. */
    tryLengths(on: boolean): void {
        this.#lengths = on;
        for (const { host } of this.#seats) void host.tryLengths(on);
    }
    /** Data files for the runs that are opened from now on. */
    files(files: ReadonlyMap<string, Uint8Array>): void {
        this.#files = files;
        for (const { host } of this.#seats) void host.files(files);
    }
    /** An image through the eyes of a run: drawn, or a held-out sample by its number. */
    async see(id: number, what: Uint8Array | number): Promise<Seen | { problem: Problem } | null> {
        return (await this.#seat(id)?.host.see(id, what)) ?? null;
    }
    /** What a run makes of a sample or of tokens, perhaps with other weights; null: it is not here. */
    async ask(watch: Watch): Promise<Look | { problem: Problem } | null> {
        return (await this.#seat(watch.id)?.host.ask(watch)) ?? null;
    }
    /** The run tried on so many held-out sequences, with changes to the task's keys and other weights. */
    async try(
        id: number,
        count: number,
        changes = '',
        edits: Edits = [],
    ): Promise<Evaluation | { problem: Problem } | null> {
        return (await this.#seat(id)?.host.try(id, count, changes, edits)) ?? null;
    }
    /** The run of a text goes on. */
    async write(id: number, what: Writing): Promise<Written | { problem: Problem } | null> {
        return (await this.#seat(id)?.host.write(id, what)) ?? null;
    }
    /** A held-out sample, answered row by row. */
    async recite(id: number, index: number): Promise<Recited | { problem: Problem } | null> {
        return (await this.#seat(id)?.host.recite(id, index)) ?? null;
    }
    async scan(asked: ScanAsked): Promise<ScanRead | { problem: Problem } | null> {
        return (await this.#seat(asked.id)?.host.scan(asked)) ?? null;
    }
    async confusion(id: number, count: number): Promise<Confusion | null> {
        return (await this.#seat(id)?.host.confusion(id, count)) ?? null;
    }
    /** What is in a table, read in a worker. */
    async table(bytes: Uint8Array): Promise<TableSummary | { problem: Problem }> {
        return (this.#seats[0] ?? this.#spawn()).host.table(bytes);
    }
    async save(id: number): Promise<Uint8Array | null> {
        return (await this.#seat(id)?.host.save(id)) ?? null;
    }
    /** End the worker of a run as a crash would; for tests. */
    crash(id: number): void {
        this.#seat(id)?.worker.dispatchEvent(new ErrorEvent('error', { message: 'ended on request' }));
    }
}
