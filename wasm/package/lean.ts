// lean.ts: `seqmix/lean`: as the default entry, with seqmix.wasm alone inside. What else is wanted is named,
// and so bundled: `import whole from 'seqmix/whole'`, `import scalar from 'seqmix/scalar'`.
import { hasSimd, type Lab, load as loadFrom, type LoadOptions, SeqmixError } from '../loader/seqmix.js';
import { inflated } from './inflated.js';
import { startWorker, withThread, type WorkerLab, type WorkerOptions } from './remote.js';

export * from '../loader/seqmix.js';
export type { StepOptions, WorkerLab, WorkerOptions, WorkerRun } from './remote.js';

const wasm = async () => inflated((await import('./embedded.js')).default);
const absent = (name: string, file: string) => () => {
    throw new SeqmixError(
        `seqmix/lean has no ${name} module; allowed: load({ ${name} }), where ${name} is the default export of seqmix/${name}, or the address of ${file}`,
        name,
    );
};

const withOwn = <O extends LoadOptions>(options: O): O => {
    if (options.whole === true && hasSimd()) absent('whole', 'seqmix-whole.wasm')();
    const [scalar, shared] = [
        absent('scalar', 'seqmix-scalar.wasm'),
        absent('shared', 'seqmix-threads.wasm'),
    ];
    return { wasm, scalar, shared, ...withThread(options) };
};

/** Load the module that lies inside, or what the options name. */
export const load = async (options: LoadOptions = {}): Promise<Lab> => loadFrom(withOwn(options));
/** The same lab in a worker of its own: every call and property is a promise. `close` ends the worker. */
export const createWorker = async (options: WorkerOptions = {}): Promise<WorkerLab> =>
    startWorker(withOwn(options));
