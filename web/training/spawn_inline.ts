// spawn_inline.ts: new workers, from text inside the page: in one file there is no other to load.
import Prover from './verify_worker.ts?worker&inline';
import Trainer from './worker.ts?worker&inline';

export const spawnTrainer = (): Worker => new Trainer();
export const spawnProver = (): Worker => new Prover();
