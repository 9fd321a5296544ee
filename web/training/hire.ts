// hire.ts: new workers, each from a file of its own. (The page in one file has hire_inline.ts in its place.)
export const hire = (): Worker => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
export const hireProver = (): Worker =>
    new Worker(new URL('./verify_worker.ts', import.meta.url), { type: 'module' });
