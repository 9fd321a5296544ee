// hire_inline.ts: a new worker, from text inside the page: in one file there is no other to load.
import Inline from './worker.ts?worker&inline';

export const hire = (): Worker => new Inline();
