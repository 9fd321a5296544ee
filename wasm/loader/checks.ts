// checks.ts: binds checks.wasm (checks.c), the self-check, to a loaded module: a side module with no memory
// of its own, whose kernels are that module's: seqmix-whole.wasm or seqmix-scalar.wasm. Works in a page, a
// worker and Node. What it takes from memory is freed with the instance.
import { notInSmall, SeqmixError } from './error.js';
import type { Lab } from './lab.js';
import { moduleOf, type WasmSource } from './source.js';

type Pointer = number;
interface Host extends Record<string, unknown> {
    memory: WebAssembly.Memory;
    lab_alloc(bytes: number): Pointer;
    lab_free(at: Pointer): void;
}
interface Exports {
    __wasm_call_ctors(): void;
    check_count(): number;
    check_name(i: number): Pointer;
    check_digest(i: number): bigint;
}

const STACK_BYTES = 1 << 16;
const decoder = new TextDecoder();

/**
 * How much memory and table the side module wants: the first two and third numbers of its section "dylink.0".
 */
function wanted(module: WebAssembly.Module): { bytes: number; functions: number } {
    const section = new Uint8Array(WebAssembly.Module.customSections(module, 'dylink.0')[0]!);
    let at = 2; // behind the subsection's kind and length
    const number = () => {
        let n = 0;
        for (let shift = 0; ; shift += 7) {
            const byte = section[at++]!;
            n |= (byte & 127) << shift;
            if (byte < 128) return n;
        }
    };
    const [bytes, , functions] = [number(), number(), number()];
    return { bytes, functions };
}

/** Every kernel, and short trainings of every mixer, each with a hash of its results on fixed inputs. */
export class Checks {
    /** What `digest` hashes. */
    readonly names: readonly string[];
    readonly #x: Exports;

    constructor(lab: Lab, module: WebAssembly.Module) {
        const host = lab.exports as unknown as Host;
        const { memory, lab_alloc: alloc } = host;
        if (!(memory.buffer instanceof ArrayBuffer))
            throw new SeqmixError(
                'the self-check is for labs of one thread: load another without `threads`',
                'threads',
            );
        const imports = WebAssembly.Module.imports(module);
        if (imports.some(({ name }) => name.startsWith('smx_') && !host[name]))
            throw notInSmall('the self-check of every kernel');
        const { bytes, functions } = wanted(module);
        const data = alloc(bytes + 16);
        const stack = alloc(STACK_BYTES);
        if (!data || !stack) throw new SeqmixError('out of memory for the self-check');
        const global = (value: number, mutable = false) =>
            new WebAssembly.Global({ value: 'i32', mutable }, value);
        const table = new WebAssembly.Table({ initial: functions, element: 'anyfunc' });
        const all = () => new Uint8Array(memory.buffer);
        const env = {
            ...host,
            malloc: alloc,
            free: host.lab_free,
            memcpy: (to: Pointer, from: Pointer, n: number) => (all().copyWithin(to, from, from + n), to),
            memset: (to: Pointer, byte: number, n: number) => (all().fill(byte, to, to + n), to),
            __indirect_function_table: table,
            __table_base: global(0),
            __memory_base: global((data + 15) & ~15),
            __stack_pointer: global((stack + STACK_BYTES) & ~15, true),
        };
        // A kernel whose address is taken gets a place in the table.
        const places: Record<string, WebAssembly.Global> = {};
        for (const { module: from, name } of imports)
            if (from === 'GOT.func') {
                places[name] = global(table.grow(1), true);
                table.set(table.length - 1, host[name] as () => void);
            }
        const instance = new WebAssembly.Instance(module, { env, 'GOT.func': places } as WebAssembly.Imports);
        this.#x = instance.exports as unknown as Exports;
        this.#x.__wasm_call_ctors();
        this.names = Array.from({ length: this.#x.check_count() }, (_, i) => {
            const at = this.#x.check_name(i);
            return decoder.decode(all().slice(at, all().indexOf(0, at)));
        });
    }
    /** Hash of the results of check `i`, 16 hex digits: the same on every machine, or something is wrong. */
    digest(i: number): string {
        if (!(i in this.names)) {
            const allowed = `0 to ${this.names.length - 1}`;
            throw new SeqmixError(
                `check ${i} is not there; allowed: ${allowed}`,
                'check',
                String(i),
                allowed,
            );
        }
        return BigInt.asUintN(64, this.#x.check_digest(i)).toString(16).padStart(16, '0');
    }
    /** Every check with its digest; takes about a second. */
    digests(): { name: string; digest: string }[] {
        return this.names.map((name, i) => ({ name, digest: this.digest(i) }));
    }
}

/**
 * The self-check for a loaded module, the whole or the scalar one; `source`: checks.wasm's address, its
 * bytes, or compiled.
 */
export async function loadChecks(lab: Lab, source: WasmSource): Promise<Checks> {
    return new Checks(lab, await moduleOf(source));
}
