// remote.ts: the page's end of a lab in a worker: the same names, every result a promise. For pages,
// workers, Node and Deno.
import {
    type Config,
    type ConfigTable,
    type GenerateOptions,
    type Kernels,
    type Lab,
    type LoadOptions,
    type Metrics,
    type OpenOptions,
    type Piece,
    type ResumeOptions,
    Run,
    SeqmixError,
    State,
    type StateOptions,
} from '../loader/seqmix.js';
import { chosenModule } from '../loader/load.js';
import { checkBatch, count } from '../loader/numbers.js';
import thread from './thread-source.js';
import source from './worker-source.js';

type Promised<T> = {
    [K in keyof T]: T[K] extends (...args: infer A) => infer R
        ? (...args: A) => Promise<Awaited<R>>
        : Promise<T[K]>;
};
export interface StepOptions {
    /** Aborted: the step under way is the last, and the promise is rejected with the signal's reason. */
    signal?: AbortSignal;
    /** Called after each step. */
    onStep?: (metrics: Metrics) => void;
}
/** A state in a worker: each result a promise. */
export interface WorkerState extends Promised<Omit<State, typeof Symbol.dispose | 'copy'>>, AsyncDisposable {
    copy(): Promise<WorkerState>;
}
/** A run in a worker: `await run.step(10)`, `(await run.metrics).loss`, `await using run = …`. */
export interface WorkerRun
    extends
        Promised<Omit<Run, typeof Symbol.dispose | 'step' | 'state' | 'loadState' | 'generate'>>,
        AsyncDisposable {
    state(options?: StateOptions): Promise<WorkerState>;
    loadState(bytes: Uint8Array | ArrayBuffer): Promise<WorkerState>;
    /** As `run.generate`: the worker writes what is asked for, some 20 ms ahead at most. */
    generate(options?: GenerateOptions): AsyncGenerator<Piece, void, undefined>;
    /** As `run.step`; other calls of the run are answered meanwhile where there is a signal or `onStep`. */
    step(n?: number, options?: StepOptions): Promise<void>;
}
/** A lab in a worker. */
export interface WorkerLab extends Promised<
    Pick<Lab, 'provide' | 'complete' | 'bytes' | 'threads' | 'useThreads'>
> {
    readonly version: string;
    readonly isa: string;
    readonly notice: string;
    readonly config: ConfigTable;
    /** As `lab.kernels`, each result a promise. */
    readonly kernels: Promised<Kernels>;
    /** As `lab.open`; the function for batches stays on this side. */
    open(config: string | Config, options?: OpenOptions): Promise<WorkerRun>;
    load(bytes: Uint8Array | ArrayBuffer, options?: string | ResumeOptions): Promise<WorkerRun>;
    /** End the worker; calls that wait are refused. */
    close(): void;
}

interface Port {
    post(message: unknown): void;
    listen(heard: (data: unknown) => void, broke: (why: string) => void): void;
    end(): void;
}
/** Node's own kind of worker; it keeps the program alive while an answer is awaited, and no longer. */
async function startInNode(): Promise<Port> {
    const name = 'node:worker_threads'; // a variable, so that bundlers for the page do not look for it
    const threads = (await import(
        /* @vite-ignore */ /* webpackIgnore: true */ name
    )) as typeof import('node:worker_threads');
    const worker = new threads.Worker(
        `const seqmixPort = require('node:worker_threads').parentPort;\n${source}`,
        { eval: true },
    );
    let awaited = 0;
    worker.unref();
    return {
        post(message) {
            worker.postMessage(message); // throws where what was given cannot be handed over
            if (awaited++ === 0) worker.ref();
        },
        listen(heard, broke) {
            worker.on('message', (data) => {
                if (--awaited === 0) worker.unref();
                heard(data);
            });
            worker.on('error', (error) => broke(error.message));
        },
        end: () => void worker.terminate(),
    };
}
/**
 * `script`: the address of the package's worker.js; without, the worker is made of text,
 * which needs `worker-src blob:`.
 */
function startInPage(script?: URL | string): Port {
    const text = `const seqmixPort = self;\n${source}`;
    const address = script ? '' : URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
    const unstarted = script
        ? `the worker did not start: is ${String(script)} the package's seqmix/worker.js, and does the page's policy allow it?`
        : "the worker did not start: a page whose policy has no worker-src blob: gives `worker`, its own copy's address of seqmix/worker.js";
    let worker: Worker;
    try {
        worker = new Worker(script ?? address, { type: 'module' });
    } catch {
        throw new SeqmixError(unstarted, 'worker', String(script ?? ''));
    }
    return {
        post: (message) => worker.postMessage(message),
        listen(heard, broke) {
            worker.addEventListener('message', ({ data }) => heard(data));
            worker.addEventListener('error', (event) => broke(event.message || unstarted));
        },
        end() {
            worker.terminate();
            URL.revokeObjectURL(address);
        },
    };
}

interface Answer {
    id: number;
    result?: unknown;
    error?: { message: string; key: string; value: string; allowed: string };
}
interface Waiting {
    done(result: unknown): void;
    failed(error: Error): void;
}

export interface WorkerOptions extends LoadOptions {
    /**
     * In pages: the address of your copy of `seqmix/worker.js`, where a policy asks for `worker-src 'self'`.
     */
    worker?: URL | string;
}

let threadAddress = '';
/** The script of further threads, made of text, where they are asked for and no file of it is named. */
export function withThread<O extends LoadOptions>(options: O): O {
    if (options.thread || !((options.threads ?? 1) > 1)) return options;
    threadAddress ||=
        typeof Worker === 'undefined'
            ? `data:text/javascript,${encodeURIComponent(thread)}`
            : URL.createObjectURL(new Blob([thread], { type: 'text/javascript' }));
    return { ...options, thread: threadAddress };
}

interface Opened {
    opened: number;
}
/** The worker as seen from here: calls that wait for an answer, and the objects that stand for its own. */
class Remote {
    readonly #port: Port;
    readonly #waiting = new Map<number, Waiting>();
    #calls = 0;
    #ended = '';
    // What is forgotten here is closed there. What still works for it keeps it until then: a call that waits,
    // a text that is written, a state its run.
    readonly #forgotten = new FinalizationRegistry<number>((number) => {
        if (!this.#ended) void this.ask(number, 'close', []).catch(() => {});
    });
    readonly #working = new Map<object, object>();
    readonly #kept = new WeakMap<object, object>();

    constructor(port: Port) {
        this.#port = port;
        port.listen(
            (data) => {
                const { id, result, error } = data as Answer;
                const call = this.#waiting.get(id);
                this.#waiting.delete(id);
                if (error)
                    call?.failed(new SeqmixError(error.message, error.key, error.value, error.allowed));
                else call?.done(result);
            },
            (why) => this.end(why),
        );
    }

    end(why: string): void {
        this.#ended ||= why;
        this.#port.end();
        for (const { failed } of this.#waiting.values()) failed(new SeqmixError(this.#ended));
        this.#waiting.clear();
    }

    ask<T>(target: number, name: string, args?: unknown[]): Promise<T> {
        return new Promise<T>((done, failed) => {
            if (this.#ended) return failed(new SeqmixError(this.#ended));
            const id = ++this.#calls;
            try {
                this.#port.post({ id, target, name, args });
            } catch (error) {
                const { message } = error as Error;
                return failed(
                    new SeqmixError(`${name}: an argument cannot be handed to a worker: ${message}`, name),
                );
            }
            return this.#waiting.set(id, { done: done as (result: unknown) => void, failed });
        });
    }

    async #keeping<T>(object: object, call: Promise<T>): Promise<T> {
        const key = {};
        this.#working.set(key, object);
        try {
            return await call;
        } finally {
            this.#working.delete(key);
        }
    }

    /** An object in the worker, member by member: each result a promise. */
    #object(prototype: object, number: number, own: Record<string, unknown>): object {
        const object = {};
        this.#forgotten.register(object, number);
        for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
            if (get) Object.defineProperty(object, name, { get: () => this.ask(number, name) });
            else if (name !== 'constructor')
                Object.defineProperty(object, name, {
                    value: own[name] ?? ((...args: unknown[]) => this.ask(number, name, args)),
                });
        if (Symbol.asyncDispose)
            Object.defineProperty(object, Symbol.asyncDispose, {
                value: () => this.ask(number, 'close', []),
            });
        return object;
    }

    /** `of`: the run, which lives as long as its states. */
    async #state(of: object, from: number, name: string, ...args: unknown[]): Promise<WorkerState> {
        const { opened } = await this.#keeping(of, this.ask<Opened>(from, name, args));
        const copy = () => this.#state(of, opened, 'copy');
        const state = this.#object(State.prototype, opened, { copy }) as WorkerState;
        this.#kept.set(state, of);
        return state;
    }

    async *#text(run: object, from: number, { signal, ...options }: GenerateOptions = {}) {
        signal?.throwIfAborted();
        const { opened } = await this.#keeping(run, this.ask<Opened>(from, 'generate', [options]));
        const key = {};
        try {
            this.#working.set(key, run);
            for (let done = false; !done;) {
                const next = await this.ask<{ pieces: Piece[]; done: boolean }>(opened, 'next', []);
                for (const piece of next.pieces) {
                    signal?.throwIfAborted();
                    yield piece;
                }
                done = next.done;
            }
        } finally {
            this.#working.delete(key);
            if (!this.#ended) await this.ask(opened, 'return', []);
        }
    }

    async #steps(number: number, n: number, { signal, onStep }: StepOptions, batch?: OpenOptions['batch']) {
        let { step } = await this.ask<Metrics>(number, 'metrics');
        // As many steps a call as take some 20 ms; one where each is told of, or has its data here.
        let most = 1;
        for (let left = count(n, 'steps'); left > 0;) {
            signal?.throwIfAborted();
            const now = Math.min(left, most);
            const start = performance.now();
            if (batch) await this.ask(number, 'stepOn', [batch(step)]);
            else await this.ask(number, 'step', [now]);
            step += now;
            left -= now;
            if (onStep) onStep(await this.ask<Metrics>(number, 'metrics'));
            else if (!batch) most = performance.now() - start < 20 ? 2 * most : Math.max(1, most >> 1);
        }
    }

    run({ opened: number }: Opened, batch?: OpenOptions['batch']): WorkerRun {
        const remote = this;
        // Functions, not arrows: `this` is the run, which nothing else here may hold.
        return this.#object(Run.prototype, number, {
            step(this: object, n = 1, options: StepOptions = {}) {
                return batch || options.signal || options.onStep
                    ? remote.#keeping(this, remote.#steps(number, n, options, batch))
                    : remote.ask(number, 'step', [n]);
            },
            state(this: object, options: StateOptions = {}) {
                return remote.#state(this, number, 'state', options);
            },
            loadState(this: object, bytes: Uint8Array | ArrayBuffer) {
                return remote.#state(this, number, 'loadState', bytes);
            },
            generate(this: object, options?: GenerateOptions) {
                return remote.#text(this, number, options);
            },
        }) as WorkerRun;
    }
}

/** For the entries, which have put their own modules into the options. */
export async function startWorker(options: WorkerOptions): Promise<WorkerLab> {
    const module = await chosenModule(options, true);
    const remote = new Remote(
        typeof Worker === 'undefined' ? await startInNode() : startInPage(options.worker),
    );
    const ask = <T>(name: string, ...args: unknown[]) => remote.ask<T>(0, name, args);
    type Known = Pick<WorkerLab, 'version' | 'isa' | 'notice' | 'config'>;
    const { names, ...known } = await ask<Known & { names: string[] }>(
        'start',
        module,
        options.threads,
        options.thread && String(options.thread),
    );
    const kernels = Object.fromEntries(
        names.map((name) => [name, (given: unknown) => ask('kernels', name, given)]),
    );
    return {
        ...known,
        kernels: kernels as WorkerLab['kernels'],
        get bytes() {
            return remote.ask<number>(0, 'bytes');
        },
        get threads() {
            return remote.ask<number>(0, 'threads');
        },
        useThreads: (threads) => ask('useThreads', threads),
        open: async (config, { batch } = {}) => {
            checkBatch(batch);
            return remote.run(await ask('open', config), batch);
        },
        load: async (bytes, options = {}) => {
            const { changes = '', batch } = typeof options === 'string' ? { changes: options } : options;
            checkBatch(batch);
            return remote.run(await ask('load', bytes, changes), batch);
        },
        provide: (name, bytes) => ask('provide', name, bytes),
        complete: (config) => ask('complete', config),
        close: () => remote.end('this worker was closed'),
    };
}
