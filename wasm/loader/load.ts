// load.ts: chooses the module for this engine and starts a lab with it.
import { SeqmixError } from './error.js';
import { Lab } from './lab.js';
import { type Exports, Memory } from './memory.js';
import { hasRelaxedSimd, hasSimd } from './simd.js';
import { moduleOf, type WasmSource } from './source.js';

/** A source, or what fetches it when it is wanted. */
export type LazySource = WasmSource | (() => Promise<WasmSource>);
export interface LoadOptions {
    /** The module: its address, its bytes, or compiled. Default: seqmix.wasm beside this file. */
    wasm?: LazySource;
    /** The module for engines without WebAssembly SIMD. Default: seqmix-scalar.wasm beside this file. */
    scalar?: LazySource;
    /**
     * Everything, for mixers and tasks that seqmix.wasm, kept small to be fetched, refuses with the key
     * 'module': true where seqmix-whole.wasm lies beside this file, or a source. The scalar module is whole.
     */
    whole?: boolean | LazySource;
    /**
     * The module for `fast=1`, with relaxed SIMD: true where seqmix-relaxed.wasm lies beside this file, or a
     * source. Configs without `fast=1` keep their bits in it. Refused where the engine has no relaxed SIMD;
     * ask `hasRelaxedSimd` first.
     */
    relaxed?: boolean | LazySource;
}

/** Load the module; `await load()` is enough where seqmix.wasm lies beside this file. */
export async function load(options: LoadOptions = {}): Promise<Lab> {
    const beside = (file: string) =>
        new URL(/* @vite-ignore */ /* webpackIgnore: true */ file, import.meta.url);
    const { relaxed, whole } = options;
    if (relaxed && !hasRelaxedSimd())
        throw new SeqmixError(
            'this engine has no relaxed SIMD; without `relaxed` the same configs run, exactly',
            'relaxed',
            'no relaxed SIMD',
            'an engine where hasRelaxedSimd() is true',
        );
    const chosen = (): LazySource => {
        if (relaxed) return relaxed === true ? beside('seqmix-relaxed.wasm') : relaxed;
        if (!hasSimd()) return options.scalar ?? beside('seqmix-scalar.wasm');
        if (whole) return whole === true ? beside('seqmix-whole.wasm') : whole;
        return options.wasm ?? beside('seqmix.wasm');
    };
    const source = chosen();
    const module = await moduleOf(typeof source === 'function' ? await source() : source);
    // Emscripten's one import; it tells that memory grew, which `Memory` never relies on.
    const imports = { env: { emscripten_notify_memory_growth() {} } };
    const instance = await WebAssembly.instantiate(module, imports);
    const x = instance.exports as unknown as Exports;
    x._initialize();
    return new Lab(module, new Memory(x));
}
