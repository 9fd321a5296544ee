// lab.ts: one instance of the module: its config table and kernels, files for tasks, and runs.
import { type Config, configText } from './config.js';
import { SeqmixError } from './error.js';
import { kernelsOf, type Kernels } from './kernels.js';
import type { Memory } from './memory.js';
import { checkBatch, fileBytes } from './numbers.js';
import { Run } from './run.js';
import { threadCount } from './sharing.js';
import type { Team } from './threads.js';
import type { ConfigTable, OpenOptions, ResumeOptions, TableSummary } from './types.js';

/** One instance of the module. */
export class Lab {
    readonly #memory: Memory;
    readonly #team: Team | undefined;
    /** The compiled module, to hand to a worker: `load({ wasm: lab.module })`. */
    readonly module: WebAssembly.Module;
    readonly version: string;
    /** 'wasm' (SIMD) or 'scalar' (the engine has no SIMD; same numbers, slower). */
    readonly isa: string;
    /** What a user should know about this engine: '' or a sentence, such as that it has no SIMD. */
    readonly notice: string;
    /** Every key, mixer, task and preset of the config language. */
    readonly config: ConfigTable;
    /**
     * Every kernel of the engine, on arrays of your own: `lab.kernels.gelu({ x })`. The whole
     * module alone has gla, delta, lstm, gru, taylor and s4d: see `LoadOptions.whole`.
     */
    readonly kernels: Kernels;

    /** For load. */
    constructor(module: WebAssembly.Module, memory: Memory, team?: Team) {
        this.module = module;
        this.#memory = memory;
        this.#team = team;
        this.version = memory.text(memory.x.lab_version());
        this.isa = memory.text(memory.x.lab_isa());
        this.notice =
            this.isa === 'scalar'
                ? 'this engine has no WebAssembly SIMD: seqmix runs its scalar module, with the same numbers but slower'
                : '';
        this.config = JSON.parse(memory.text(memory.x.lab_config_json())) as ConfigTable;
        this.kernels = kernelsOf(memory.x);
    }
    /**
     * Open an experiment: 'mixer=cat&task=mqar&seed=1', or { mixer: 'cat', task: 'mqar', seed: 1 }. With the
     * key 'module' seqmix.wasm refuses what needs the whole one, here, in `load` and in `table`: see
     * `LoadOptions.whole`.
     */
    open(config: string | Config, { batch }: OpenOptions = {}): Run {
        const m = this.#memory;
        checkBatch(batch);
        const text = configText(config);
        const run = new Run(m, m.found(m.withText(text, (at) => m.x.lab_open(at))), batch);
        // (Other keys that a mixer does not read are welcome: runs of a grid share them.)
        const eq = new URLSearchParams(text).get('eq');
        if (!eq || run.value('eq') !== null) return run;
        const mixer = run.value('mixer');
        run.close();
        throw new SeqmixError(
            `eq=${eq.slice(0, 60)} is a text for mixer=equations, and this run has mixer=${mixer}, which does not read it; allowed: mixer=equations`,
            'eq',
            eq,
            'mixer=equations',
        );
    }
    /**
     * Open a checkpoint: with changes such as 'steps=900', and your own batches where it was trained on such.
     */
    load(bytes: Uint8Array | ArrayBuffer, options: string | ResumeOptions = {}): Run {
        const m = this.#memory;
        const { changes = '', batch }: ResumeOptions =
            typeof options === 'string' ? { changes: options } : options;
        checkBatch(batch);
        const file = fileBytes('checkpoint', bytes);
        const run = m.withBytes(file, (at, n) =>
            m.withText(configText(changes), (c) => m.x.lab_load(at, n, c)),
        );
        return new Run(m, m.found(run), batch);
    }
    /**
     * Hand over a file that a task reads, such as MNIST's 'train-images-idx3-ubyte', uncompressed; null:
     * forget it.
     */
    provide(name: string, bytes: Uint8Array | ArrayBuffer | null): void {
        const m = this.#memory;
        const file = bytes && fileBytes(name, bytes);
        const failed = m.withText(name, (at) =>
            file ? m.withBytes(file, (from, n) => m.x.lab_provide(at, from, n)) : m.x.lab_provide(at, 0, 0),
        );
        if (failed) throw m.error();
    }
    /** What is in a table (CSV or TSV, uncompressed), for `task=table&file=NAME` once it is provided. */
    table(bytes: Uint8Array | ArrayBuffer): TableSummary {
        const m = this.#memory;
        const file = fileBytes('table', bytes);
        return JSON.parse(m.owned(m.found(m.withBytes(file, (at, n) => m.x.lab_table(at, n)))));
    }
    /** Every key of the given config with its value; several runs joined by ~ stay several. */
    complete(config: string | Config): string {
        return this.#memory.owned(
            this.#memory.found(
                this.#memory.withText(configText(config), (at) => this.#memory.x.lab_config_complete(at)),
            ),
        );
    }
    /** The same as values by their keys, an object for each run. */
    values(config: string | Config): Record<string, string>[] {
        const m = this.#memory;
        const json = m.owned(m.found(m.withText(configText(config), (at) => m.x.lab_config_values(at))));
        return JSON.parse(json) as Record<string, string>[];
    }
    /** The module's own functions and memory, which checks.ts binds to. */
    get exports(): WebAssembly.Exports {
        return this.#memory.x as unknown as WebAssembly.Exports;
    }
    /** Bytes of memory that the module holds now. */
    get bytes(): number {
        return this.#memory.x.memory.buffer.byteLength;
    }
    /** Threads that share steps of large runs, the caller's counted; 1 unless `load` was asked for more. */
    get threads(): number {
        return this.#team?.threads ?? 1;
    }
    /**
     * So many threads from now on, 1 to 8; the bits stay. Resolves with the number that there is: 1 where
     * `load` was not asked for more or could not share memory.
     */
    async useThreads(threads: number): Promise<number> {
        const most = threadCount(threads);
        return this.#team?.use(most) ?? 1;
    }
    /** End its further threads; what is open goes on in the caller's. A forgotten lab ends them, too. */
    close(): void {
        this.#team?.close();
    }
}
