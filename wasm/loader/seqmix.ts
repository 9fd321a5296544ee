// seqmix.ts: the loader's entry: loads the WebAssembly module and gives it a typed face. Works in a page, a
// worker, Node 18 or newer and Deno. Knows exports.c and nothing of the page. Arrays handed out are copies,
// but for those of `tensor`: the module's memory moves when it grows, and every view of it ends then.
export { load, type LazySource, type LoadOptions } from './load.js';
export type { WasmSource } from './source.js';
export { hasRelaxedSimd, hasSimd } from './source.js';
export { Lab } from './lab.js';
export { Run } from './run.js';
export { State } from './state.js';
export type { Config } from './config.js';
export type * from './types.js';
export { SeqmixError } from './error.js';
export type * from './kernels.js';
