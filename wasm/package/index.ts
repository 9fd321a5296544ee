// index.ts: the package's default entry: the modules lie inside, gzipped, so that it works wherever
// JavaScript runs, bundled or not. `seqmix/url` keeps them as files.
import { type Lab, load as loadFrom, type LoadOptions } from '../loader/seqmix.js';
import { inflated } from './inflated.js';
import { startWorker, withThread, type WorkerLab, type WorkerOptions } from './remote.js';

export * from '../loader/seqmix.js';
export type { StepOptions, WorkerLab, WorkerOptions, WorkerRun } from './remote.js';

const wasm = async () => inflated((await import('./embedded.js')).default);
const whole = async () => inflated((await import('./embedded-whole.js')).default);
const scalar = async () => inflated((await import('./embedded-scalar.js')).default);

const shared = async () => inflated((await import('./embedded-shared.js')).default);
const withOwn = <O extends LoadOptions>(options: O): O => ({
    wasm,
    scalar,
    shared,
    ...withThread(options),
    ...(options.whole === true && { whole }),
});

/** Load the module. Nothing has to be given; `wasm`: a module of your own, or one compiled already. */
export const load = (options: LoadOptions = {}): Promise<Lab> => loadFrom(withOwn(options));
/** The same lab in a worker of its own: every call and property is a promise. `close` ends the worker. */
export const createWorker = (options: WorkerOptions = {}): Promise<WorkerLab> =>
    startWorker(withOwn(options));
