// url.ts: `seqmix/url`: as the default entry, with the modules as files beside it, for what knows `new
// URL(…, import.meta.url)`: Vite, webpack, pages without a bundler, Node and Deno.
import { type Lab, load as loadFrom, type LoadOptions } from '../loader/seqmix.js';
import { startWorker, withThread, type WorkerLab, type WorkerOptions } from './remote.js';

export * from '../loader/seqmix.js';
export type { StepOptions, WorkerLab, WorkerOptions, WorkerRun } from './remote.js';

const withOwn = <O extends LoadOptions>(options: O): O => {
    const wasm = new URL('./seqmix.wasm', import.meta.url);
    const whole = new URL('./seqmix-whole.wasm', import.meta.url);
    const scalar = new URL('./seqmix-scalar.wasm', import.meta.url);
    const shared = new URL('./seqmix-threads.wasm', import.meta.url);
    return { wasm, scalar, shared, ...withThread(options), ...(options.whole === true && { whole }) };
};

/** Load the module from beside this file, or from where `wasm` says. */
export const load = (options: LoadOptions = {}): Promise<Lab> => loadFrom(withOwn(options));
/** The same lab in a worker of its own: every call and property is a promise. `close` ends the worker. */
export const createWorker = (options: WorkerOptions = {}): Promise<WorkerLab> =>
    startWorker(withOwn(options));
