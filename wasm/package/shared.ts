// shared.ts: `seqmix/shared`: seqmix-threads.wasm, for `load({ threads, shared })` of `seqmix/lean`.
import type { LazySource } from '../loader/seqmix.js';
import { inflated } from './inflated.js';

const source: LazySource = async () => inflated((await import('./embedded-shared.js')).default);
export default source;
