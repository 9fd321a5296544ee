// no_kernels.ts: stands in the page for wasm/kernels.ts, whose table of every kernel the page has no use for.
import type { Kernels } from '../wasm/kernels.ts';

export const kernelsOf = (): Kernels => ({}) as Kernels;
