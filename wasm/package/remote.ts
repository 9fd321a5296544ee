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

/** For the entries, which have put their own modules into the options. */
export async function startWorker(options: WorkerOptions): Promise<WorkerLab> {
    const module = await chosenModule(options, true);
    const port = typeof Worker === 'undefined' ? await startInNode() : startInPage(options.worker);
    const waiting = new Map<number, Waiting>();
    let calls = 0;
    let ended = '';
    const end = (why: string) => {
        ended ||= why;
        port.end();
        for (const { failed } of waiting.values()) failed(new SeqmixError(ended));
        waiting.clear();
    };
    port.listen((data) => {
        const { id, result, error } = data as Answer;
        const call = waiting.get(id);
        waiting.delete(id);
        if (error) call?.failed(new SeqmixError(error.message, error.key, error.value, error.allowed));
        else call?.done(result);
    }, end);
    const ask = <T>(target: number, name: string, args?: unknown[]) =>
        new Promise<T>((done, failed) => {
            if (ended) return failed(new SeqmixError(ended));
            const id = ++calls;
            try {
                port.post({ id, target, name, args });
            } catch (error) {
                const { message } = error as Error;
                return failed(
                    new SeqmixError(`${name}: an argument cannot be handed to a worker: ${message}`, name),
                );
            }
            return waiting.set(id, { done: done as (result: unknown) => void, failed });
        });

    // What is forgotten here is closed there. What still works for it keeps it until then: a call that waits,
    // a text that is written, a state its run.
    const forgotten = new FinalizationRegistry<number>((number) => {
        if (!ended) void ask(number, 'close', []).catch(() => {});
    });
    const working = new Map<object, object>();
    const kept = new WeakMap<object, object>();
    const keeping = async <T>(object: object, call: Promise<T>): Promise<T> => {
        const key = {};
        working.set(key, object);
        try {
            return await call;
        } finally {
            working.delete(key);
        }
    };
    /** An object in the worker, member by member: each result a promise. */
    const remote = (prototype: object, number: number, own: Record<string, unknown>): object => {
        const object = {};
        forgotten.register(object, number);
        for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
            if (get) Object.defineProperty(object, name, { get: () => ask(number, name) });
            else if (name !== 'constructor')
                Object.defineProperty(object, name, {
                    value: own[name] ?? ((...args: unknown[]) => ask(number, name, args)),
                });
        if (Symbol.asyncDispose)
            Object.defineProperty(object, Symbol.asyncDispose, { value: () => ask(number, 'close', []) });
        return object;
    };
    interface Opened {
        opened: number;
    }
    /** `of`: the run, which lives as long as its states. */
    const remoteState = async (
        of: object,
        from: number,
        name: string,
        ...args: unknown[]
    ): Promise<WorkerState> => {
        const { opened } = await keeping(of, ask<Opened>(from, name, args));
        const copy = () => remoteState(of, opened, 'copy');
        const state = remote(State.prototype, opened, { copy }) as WorkerState;
        kept.set(state, of);
        return state;
    };
    async function* remoteText(run: object, from: number, { signal, ...options }: GenerateOptions = {}) {
        signal?.throwIfAborted();
        const { opened } = await keeping(run, ask<Opened>(from, 'generate', [options]));
        const key = {};
        try {
            working.set(key, run);
            for (let done = false; !done;) {
                const next = await ask<{ pieces: Piece[]; done: boolean }>(opened, 'next', []);
                for (const piece of next.pieces) {
                    signal?.throwIfAborted();
                    yield piece;
                }
                done = next.done;
            }
        } finally {
            working.delete(key);
            if (!ended) await ask(opened, 'return', []);
        }
    }
    const remoteRun = ({ opened: number }: Opened, batch?: OpenOptions['batch']): WorkerRun => {
        const takeSteps = async (n: number, { signal, onStep }: StepOptions) => {
            let { step } = await ask<Metrics>(number, 'metrics');
            // As many steps a call as take some 20 ms; one where each is told of, or has its data here.
            let most = 1;
            for (let left = count(n, 'steps'); left > 0;) {
                signal?.throwIfAborted();
                const now = Math.min(left, most);
                const start = performance.now();
                if (batch) await ask(number, 'stepOn', [batch(step)]);
                else await ask(number, 'step', [now]);
                step += now;
                left -= now;
                if (onStep) onStep(await ask<Metrics>(number, 'metrics'));
                else if (!batch) most = performance.now() - start < 20 ? 2 * most : Math.max(1, most >> 1);
            }
        };
        // Functions, not arrows: `this` is the run, which nothing else here may hold.
        return remote(Run.prototype, number, {
            step(this: object, n = 1, options: StepOptions = {}) {
                return batch || options.signal || options.onStep
                    ? keeping(this, takeSteps(n, options))
                    : ask(number, 'step', [n]);
            },
            state(this: object, options: StateOptions = {}) {
                return remoteState(this, number, 'state', options);
            },
            loadState(this: object, bytes: Uint8Array | ArrayBuffer) {
                return remoteState(this, number, 'loadState', bytes);
            },
            generate(this: object, options?: GenerateOptions) {
                return remoteText(this, number, options);
            },
        }) as WorkerRun;
    };
    type Known = Pick<WorkerLab, 'version' | 'isa' | 'notice' | 'config'>;
    const { names, ...known } = await ask<Known & { names: string[] }>(0, 'start', [
        module,
        options.threads,
        options.thread && String(options.thread),
    ]);
    const kernels = Object.fromEntries(
        names.map((name) => [name, (given: unknown) => ask(0, 'kernels', [name, given])]),
    );
    return {
        ...known,
        kernels: kernels as WorkerLab['kernels'],
        get bytes() {
            return ask<number>(0, 'bytes');
        },
        get threads() {
            return ask<number>(0, 'threads');
        },
        useThreads: (threads) => ask(0, 'useThreads', [threads]),
        open: async (config, { batch } = {}) => {
            checkBatch(batch);
            return remoteRun(await ask(0, 'open', [config]), batch);
        },
        load: async (bytes, options = {}) => {
            const { changes = '', batch } = typeof options === 'string' ? { changes: options } : options;
            checkBatch(batch);
            return remoteRun(await ask(0, 'load', [bytes, changes]), batch);
        },
        provide: (name, bytes) => ask(0, 'provide', [name, bytes]),
        complete: (config) => ask(0, 'complete', [config]),
        close: () => end('this worker was closed'),
    };
}
