// whole.ts: seqmix-whole.wasm, which has what seqmix.wasm leaves out to be small: fetched and compiled once,
// when a run first needs it. Here and not in the workers, since a worker of the page in one file cannot read
// the page's addresses. (That page has only this module, under both names.)
import address from '../../build/wasm/seqmix-whole.wasm?url';
import type { Lab } from '../../wasm/loader/seqmix.ts';
import { moduleOf } from '../../wasm/loader/source.ts';

/** The module at an address of the page's build. */
export const compiledAt = (file: string): Promise<WebAssembly.Module> =>
    moduleOf(new URL(file, document.baseURI));
let compiled: Promise<WebAssembly.Module> | null = null;

/** For an engine like the lab's; without SIMD the lab's own, which is whole. */
export function wholeFor(lab: Lab): Promise<WebAssembly.Module> {
    if (lab.isa !== 'wasm') return Promise.resolve(lab.module);
    compiled ??= compiledAt(address);
    compiled.catch(() => (compiled = null));
    return compiled;
}
