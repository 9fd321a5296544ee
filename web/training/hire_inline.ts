// hire_inline.ts: new workers, from text inside the page: in one file there is no other to load.
import Prover from './verify_worker.ts?worker&inline';
import Inline from './worker.ts?worker&inline';

export const hire = (): Worker => new Inline();
export const hireProver = (): Worker => new Prover();
