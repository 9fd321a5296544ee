// remote.ts: the page's end of a lab in a worker: the same names, every result a promise. For pages,
// workers, Node and Deno.
import {
    type ConfigTable,
    type Kernels,
    type Lab,
    type OpenOptions,
    Run,
    SeqmixError,
} from '../loader/seqmix.js';
import source from './worker-source.js';

type Promised<T> = {
    [K in keyof T]: T[K] extends (...args: infer A) => infer R
        ? (...args: A) => Promise<Awaited<R>>
        : Promise<T[K]>;
};
/** A run in a worker: `await run.step(10)`, `(await run.metrics).loss`, `await using run = …`. */
export interface WorkerRun extends Promised<Omit<Run, typeof Symbol.dispose>>, AsyncDisposable {}
/** A lab in a worker. */
export interface WorkerLab extends Promised<Pick<Lab, 'provide' | 'complete' | 'bytes'>> {
    readonly version: string;
    readonly isa: string;
    readonly notice: string;
    readonly config: ConfigTable;
    /** As `lab.kernels`, each result a promise. */
    readonly kernels: Promised<Kernels>;
    /** As `lab.open`; the function for batches stays on this side. */
    open(config: string, options?: OpenOptions): Promise<WorkerRun>;
    load(bytes: Uint8Array, changes?: string): Promise<WorkerRun>;
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
            if (awaited++ === 0) worker.ref();
            worker.postMessage(message);
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
function startInPage(): Port {
    const text = `const seqmixPort = self;\n${source}`;
    const address = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
    const worker = new Worker(address, { type: 'module' });
    return {
        post: (message) => worker.postMessage(message),
        listen(heard, broke) {
            worker.addEventListener('message', ({ data }) => heard(data));
            worker.addEventListener('error', (event) => broke(event.message || 'the worker did not start'));
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

/** For index.ts and url.ts. */
export async function startWorker(module: WebAssembly.Module): Promise<WorkerLab> {
    const port = typeof Worker === 'undefined' ? await startInNode() : startInPage();
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
            waiting.set(++calls, { done: done as (result: unknown) => void, failed });
            return port.post({ id: calls, target, name, args });
        });

    const members = Object.entries(Object.getOwnPropertyDescriptors(Run.prototype));
    const remoteRun = ({ run: number }: { run: number }, batch?: OpenOptions['batch']): WorkerRun => {
        const run = {};
        for (const [name, { get }] of members)
            if (get) Object.defineProperty(run, name, { get: () => ask(number, name) });
            else if (name !== 'constructor' && !(batch && name === 'step'))
                Object.defineProperty(run, name, { value: (...args: unknown[]) => ask(number, name, args) });
        if (batch)
            Object.defineProperty(run, 'step', {
                value: async (n = 1) => {
                    for (let i = 0; i < n; i++) {
                        const { step } = await ask<{ step: number }>(number, 'metrics');
                        await ask(number, 'stepOn', [batch(step)]);
                    }
                },
            });
        if (Symbol.asyncDispose)
            Object.defineProperty(run, Symbol.asyncDispose, { value: () => ask(number, 'close', []) });
        return run as WorkerRun;
    };
    type Known = Pick<WorkerLab, 'version' | 'isa' | 'notice' | 'config'>;
    const { names, ...known } = await ask<Known & { names: string[] }>(0, 'start', [module]);
    const kernels = Object.fromEntries(
        names.map((name) => [name, (given: unknown) => ask(0, 'kernels', [name, given])]),
    );
    return {
        ...known,
        kernels: kernels as WorkerLab['kernels'],
        get bytes() {
            return ask<number>(0, 'bytes');
        },
        open: async (config, options = {}) => remoteRun(await ask(0, 'open', [config]), options.batch),
        load: async (bytes, changes = '') => remoteRun(await ask(0, 'load', [bytes, changes])),
        provide: (name, bytes) => ask(0, 'provide', [name, bytes]),
        complete: (config) => ask(0, 'complete', [config]),
        close: () => end('this worker was closed'),
    };
}
