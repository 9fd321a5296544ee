// load.ts: chooses the module for this engine and starts a lab with it.
import { SeqmixError } from './error.js';
import { Lab } from './lab.js';
import { type Exports, Memory } from './memory.js';
import { hasRelaxedSimd, hasSimd, moduleOf, type WasmSource } from './source.js';
import { canShare, isShared, mayWait, threadCount } from './sharing.js';

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
    /**
     * Share the steps of large runs between so many threads, at most 8, the caller's own counted: the bits
     * stay. By seqmix-threads.wasm, which is whole, where the engine lets workers share memory (a page has to
     * be isolated from other sites, and the lab in a worker of it); elsewhere as without, and `lab.threads`
     * tells.
     */
    threads?: number;
    /** The module for threads. Default: seqmix-threads.wasm beside this file. */
    shared?: LazySource;
    /** The script that each further thread runs. Default: thread.js beside this file. */
    thread?: URL | string;
}

const beside = (file: string) => new URL(/* @vite-ignore */ /* webpackIgnore: true */ file, import.meta.url);

/** The module that the options ask for; `wait`: the lab's thread may wait for others. */
export async function chosenModule(options: LoadOptions, wait: boolean): Promise<WebAssembly.Module> {
    const { relaxed, whole, threads = 1 } = options;
    const share = threadCount(threads) > 1 && wait && canShare();
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
        if (share) return options.shared ?? beside('seqmix-threads.wasm');
        if (whole) return whole === true ? beside('seqmix-whole.wasm') : whole;
        return options.wasm ?? beside('seqmix.wasm');
    };
    const source = chosen();
    return moduleOf(typeof source === 'function' ? await source() : source);
}
/** Load the module; `await load()` is enough where seqmix.wasm lies beside this file. */
export async function load(options: LoadOptions = {}): Promise<Lab> {
    const module = await chosenModule(options, mayWait());
    if (isShared(module)) {
        const { openTeam } = await import('./threads.js');
        const team = await openTeam(module, options.thread ?? beside('thread.js'));
        const { threads = 1 } = options;
        if (!team && threads > 1) return load({ ...options, threads: 1 });
        if (!team) throw new SeqmixError('the engine gives no memory that threads can share', 'threads');
        await team.use(threads);
        return new Lab(module, new Memory(team.exports), team);
    }
    // Emscripten's one import; it tells that memory grew, which `Memory` never relies on.
    const imports = { env: { emscripten_notify_memory_growth() {} } };
    const instance = await WebAssembly.instantiate(module, imports);
    const x = instance.exports as unknown as Exports;
    x._initialize();
    return new Lab(module, new Memory(x));
}
