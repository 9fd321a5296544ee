// scalar.ts: `seqmix/scalar`: seqmix-scalar.wasm, for engines without WebAssembly SIMD:
// `load({ scalar })` of `seqmix/lean`.
import type { LazySource } from '../loader/seqmix.js';
import { inflated } from './inflated.js';

const source: LazySource = async () => inflated((await import('./embedded-scalar.js')).default);
export default source;
