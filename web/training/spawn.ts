// spawn.ts: new workers, each from a file of its own. (The page in one file has spawn_inline.ts in its
// place.)
export const spawnTrainer = (): Worker =>
    new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
export const spawnProver = (): Worker =>
    new Worker(new URL('./verify_worker.ts', import.meta.url), { type: 'module' });
