// url.ts: `seqmix/url`: as the default entry, with the modules as files beside it, for what knows `new
// URL(…, import.meta.url)`: Vite, webpack, pages without a bundler, Node and Deno.
import { type Lab, load as loadFrom, type LoadOptions } from '../loader/seqmix.js';
import { startWorker, type WorkerLab, type WorkerOptions } from './remote.js';

export * from '../loader/seqmix.js';
export type { StepOptions, WorkerLab, WorkerOptions, WorkerRun } from './remote.js';

/** Load the module from beside this file, or from where `wasm` says. */
export async function load(options: LoadOptions = {}): Promise<Lab> {
    const wasm = new URL('./seqmix.wasm', import.meta.url);
    const whole = new URL('./seqmix-whole.wasm', import.meta.url);
    const scalar = new URL('./seqmix-scalar.wasm', import.meta.url);
    return loadFrom({ wasm, scalar, ...options, ...(options.whole === true && { whole }) });
}
/** The same lab in a worker of its own: every call and property is a promise. `close` ends the worker. */
export async function createWorker(options: WorkerOptions = {}): Promise<WorkerLab> {
    return startWorker((await load(options)).module, options.worker);
}
