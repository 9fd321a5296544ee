// hire.ts: a new worker, from a file of its own. (The page in one file has hire_inline.ts in its place.)
export const hire = (): Worker => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
