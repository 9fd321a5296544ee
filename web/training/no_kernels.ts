// no_kernels.ts: stands in the page for wasm/loader/kernels.ts, whose table of every kernel the page has no
// use for.
import type { Kernels } from '../../wasm/loader/kernels.ts';

export const kernelsOf = (): Kernels => ({}) as Kernels;
