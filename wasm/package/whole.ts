// whole.ts: `seqmix/whole`: seqmix-whole.wasm, everything, for `load({ whole })` of `seqmix/lean`.
import type { LazySource } from '../loader/seqmix.js';
import { inflated } from './inflated.js';

const source: LazySource = async () => inflated((await import('./embedded-whole.js')).default);
export default source;
