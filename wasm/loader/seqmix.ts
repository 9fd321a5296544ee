// seqmix.ts: loads the WebAssembly module and gives it a typed face. Works in a page, a worker, Node 18 or
// newer and Deno. Knows exports.c and nothing of the page. Arrays handed out are copies, but for those of
// `tensor`: the module's memory moves when it grows, and every view of it ends then, so none is kept here.
/// <reference lib="esnext.disposable" preserve="true" />
import { SeqmixError } from './error.js';
import { kernelsOf, type KernelModule, type Kernels } from './kernels.js';

export { SeqmixError } from './error.js';
export type * from './kernels.js';

/** One key of the config language, from the engine's own table. */
export interface ConfigKey {
    readonly name: string;
    readonly type: 'int' | 'real' | 'word' | 'text';
    readonly default: string;
    readonly min?: number;
    readonly max?: number;
    readonly choices?: readonly string[];
    readonly help: string;
    readonly group: string;
}
/** A mixer or a task, with the keys that only it has. */
export interface ConfigPart {
    readonly name: string;
    readonly title: string;
    readonly help: string;
    readonly source: string;
    readonly defaults: string;
    readonly keys: readonly ConfigKey[];
    /** Mixers only: cost in L. */
    readonly cost?: string;
}
export interface ConfigPreset {
    readonly name: string;
    readonly title: string;
    readonly config: string;
    readonly lesson: string;
    readonly expect: string;
}
export interface ConfigTable {
    /** What every experiment has. */
    readonly keys: readonly ConfigKey[];
    readonly mixers: readonly ConfigPart[];
    readonly tasks: readonly ConfigPart[];
    readonly presets: readonly ConfigPreset[];
}

export interface Metrics {
    /** Steps taken so far. */
    step: number;
    /** Training loss and accuracy of the last step. */
    loss: number;
    accuracy: number;
    /** Learning rate and gradient norm (before clipping) of the last step. */
    rate: number;
    gradientNorm: number;
    /** Number of weights. */
    params: number;
    /** Steps that the config plans. */
    steps: number;
    /** Memory held by the run. */
    bytes: number;
    /** Products of one training step, backward included. */
    flops: number;
}
export interface Evaluation {
    /** Mean over the targets. */
    loss: number;
    /** Share of targets answered right; of sequences with every target right. */
    accuracy: number;
    sequenceAccuracy: number;
    /** Regression only. */
    r2: number;
    /** Where a task's later inputs are the earlier answers: the model reads its own. Otherwise as the two above. */
    freeAccuracy: number;
    freeSequenceAccuracy: number;
    targets: number;
    sequences: number;
}
export interface Tensor {
    name: string;
    /** Row-major, the last index fastest; as many numbers as the product says. */
    shape: number[];
    /**
     * A view of the module's memory, no copy. Of a weight or gradient it shows the new values after each step, and what is
     * written into a weight is the model's. It ends when the module's memory grows, which any call to the lab or a run of
     * it may do: its length is 0 then, and `tensor` gives another. What a sample went through is valid until the run's
     * next `look`, `data`, `predict` or `predictImage`, and everything until its `close`, after which the memory is
     * another's: `data.slice()` is what keeps. From a worker it is such a copy.
     */
    data: Float32Array<ArrayBuffer>;
    /** A trained weight (or its gradient), not something a sample went through. */
    weight: boolean;
}
export interface Sample {
    length: number;
    classes: number;
    channels: number;
    /** [length], or null where the input is real-valued. */
    tokens: Int32Array<ArrayBuffer> | null;
    /** [length][channels], or null where the input is tokens. */
    values: Float32Array<ArrayBuffer> | null;
    /** The wanted class at each row, or one for the whole sequence; -1: none. null in regression. */
    targets: Int32Array<ArrayBuffer> | null;
    /** The model's answers, as many as there are targets, and the probability it gave them; in regression the answers themselves. */
    predicted: Int32Array<ArrayBuffer> | null;
    confidence: Float32Array<ArrayBuffer> | null;
    /** Regression: the wanted number at each row, or one; NaN: none. Otherwise null. */
    targetValues: Float32Array<ArrayBuffer> | null;
}

/** What a batch of your own has to be; the config's task settles it. */
export interface BatchForm {
    /** Sequences of a batch, and rows of a sequence. */
    sequences: number;
    length: number;
    /** Targets of a sequence: as many as rows, or one; and how many of them may be asked for. */
    targets: number;
    most: number;
    /** Tokens are whole numbers below this; 0: rows are real numbers. */
    vocab: number;
    /** Numbers of a row; 0: tokens. */
    channels: number;
    /** Answers are whole numbers below this; 0: real numbers (regression). */
    classes: number;
}
/** One batch: as many sequences as the config's batch says, one after another, and the wanted answers. */
export interface Batch {
    /** [sequences][length], where the task reads tokens. */
    tokens?: ArrayLike<number>;
    /** [sequences][length][channels], where it reads real numbers. */
    values?: ArrayLike<number>;
    /** [sequences][targets]: classes, -1 for none; in regression numbers, NaN for none. */
    targets: ArrayLike<number>;
}
export interface OpenOptions {
    /** Data of your own instead of the task's: the batch for a step, counted from 0. The config's task gives its form. */
    batch?: (step: number) => Batch;
}

export type WasmSource = URL | string | BufferSource | WebAssembly.Module;
/** A source, or what fetches it when it is wanted. */
export type LazySource = WasmSource | (() => Promise<WasmSource>);
export interface LoadOptions {
    /** The module: its address, its bytes, or compiled. Default: seqmix.wasm beside this file. */
    wasm?: LazySource;
    /** The module for engines without WebAssembly SIMD. Default: seqmix-scalar.wasm beside this file. */
    scalar?: LazySource;
    /**
     * The module for `fast=1`, with relaxed SIMD: true where seqmix-relaxed.wasm lies beside this file, or a source. Configs without
     * `fast=1` keep their bits in it. Refused where the engine has no relaxed SIMD; ask `hasRelaxedSimd` first.
     */
    relaxed?: boolean | LazySource;
}

type Pointer = number;
/** Of tokens, values, targets, target values; 0: none. */
type BatchPointers = [Pointer, Pointer, Pointer, Pointer];
interface Exports extends KernelModule {
    _initialize(): void;
    lab_error(field: number): Pointer;
    lab_version(): Pointer;
    lab_isa(): Pointer;
    lab_config_json(): Pointer;
    lab_config_complete(config: Pointer): Pointer;
    lab_config_values(config: Pointer): Pointer;
    lab_open(config: Pointer): Pointer;
    lab_load(bytes: Pointer, size: number, changes: Pointer): Pointer;
    lab_close(run: Pointer): void;
    lab_step(run: Pointer, n: number): number;
    lab_step_on(run: Pointer, ...batch: BatchPointers): number;
    lab_batch(run: Pointer): Pointer;
    lab_config(run: Pointer): Pointer;
    lab_config_value(run: Pointer, key: Pointer): Pointer;
    lab_warning(run: Pointer): Pointer;
    lab_evaluate(run: Pointer, count: number, changes: Pointer): Pointer;
    lab_evaluate_on(run: Pointer, ...batch: BatchPointers): Pointer;
    lab_confusion(run: Pointer): Pointer;
    lab_metrics(run: Pointer): Pointer;
    lab_loss_count(run: Pointer): number;
    lab_losses(run: Pointer): Pointer;
    lab_digest(run: Pointer): Pointer;
    lab_tensor_count(run: Pointer): number;
    lab_tensor_at(run: Pointer, i: number): Pointer;
    lab_tensor(run: Pointer, name: Pointer): Pointer;
    lab_look(run: Pointer, stream: number, index: number, length: number): Pointer;
    lab_predict(run: Pointer, tokens: Pointer, length: number): Pointer;
    lab_predict_values(run: Pointer, values: Pointer, length: number): Pointer;
    lab_predict_image(run: Pointer, pixels: Pointer): Pointer;
    lab_saliency(run: Pointer, answer: number): Pointer;
    lab_reading(run: Pointer): Pointer;
    lab_provide(name: Pointer, bytes: Pointer, size: number): number;
    lab_save(run: Pointer): Pointer;
    lab_saved_size(): number;
}

// ---- The module's memory ------------------------------------------------------------------------------------------

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Reading and writing the module's memory; every view is made anew, since growth detaches the old ones. */
class Memory {
    readonly x: Exports;
    constructor(x: Exports) {
        this.x = x;
    }
    text(at: Pointer): string {
        const bytes = new Uint8Array(this.x.memory.buffer);
        return decoder.decode(bytes.slice(at, bytes.indexOf(0, at)));
    }
    /** Copy text in, call with its address, free it. */
    withText<T>(text: string, call: (at: Pointer) => T): T {
        return this.withBytes(encoder.encode(`${text}\0`), call);
    }
    withBytes<T>(bytes: Uint8Array, call: (at: Pointer) => T): T {
        const at = this.x.lab_alloc(bytes.length);
        if (!at) throw new SeqmixError(`out of memory: ${bytes.length} bytes were asked for`);
        try {
            new Uint8Array(this.x.memory.buffer).set(bytes, at);
            return call(at);
        } finally {
            this.x.lab_free(at);
        }
    }
    /** Text that the module allocated: read, then freed. */
    owned(at: Pointer): string {
        try {
            return this.text(at);
        } finally {
            this.x.lab_free(at);
        }
    }
    words(at: Pointer, n: number): Uint32Array {
        return new Uint32Array(this.x.memory.buffer, at, n);
    }
    doubles(at: Pointer, n: number): Float64Array {
        return new Float64Array(this.x.memory.buffer, at, n);
    }
    view(at: Pointer, n: number): Float32Array<ArrayBuffer> {
        return new Float32Array(this.x.memory.buffer, at, n) as Float32Array<ArrayBuffer>;
    }
    floats(at: Pointer, n: number): Float32Array<ArrayBuffer> {
        return this.view(at, n).slice();
    }
    ints(at: Pointer, n: number): Int32Array<ArrayBuffer> {
        return new Int32Array(this.x.memory.buffer, at, n).slice() as Int32Array<ArrayBuffer>;
    }
    bytes(at: Pointer, n: number): Uint8Array<ArrayBuffer> {
        return new Uint8Array(this.x.memory.buffer, at, n).slice() as Uint8Array<ArrayBuffer>;
    }
    error(): SeqmixError {
        const field = (i: number) => this.text(this.x.lab_error(i));
        return new SeqmixError(field(0), field(1), field(2), field(3));
    }
    /** `at`, or the module's error when it is 0. */
    found(at: Pointer): Pointer {
        if (!at) throw this.error();
        return at;
    }
}

// ---- Runs ---------------------------------------------------------------------------------------------------------

function count(n: number, what: string): number {
    if (!Number.isInteger(n) || n < 0 || n > 0xffffffff)
        throw new SeqmixError(
            `${what} is ${n}; it must be a whole number from 0 to 4294967295`,
            what,
            String(n),
        );
    return n;
}

/** The bytes of `n` numbers for the module: floats, or whole numbers of 32 bits. */
function numbers(what: string, x: ArrayLike<number> | undefined, n: number, real: boolean): Uint8Array {
    const refuse = (value: string, allowed: string, is = `there are ${value} ${what}`) =>
        new SeqmixError(`${is}; allowed: ${allowed}`, what, value, allowed);
    if (!x) throw refuse('no', `${n} ${real ? 'real' : 'whole'} numbers`);
    if (x.length !== n) throw refuse(String(x.length), String(n));
    if (real) return new Uint8Array(Float32Array.from(x).buffer);
    const whole = Int32Array.from(x);
    for (let i = 0; i < n; i++)
        if (whole[i] !== x[i])
            throw refuse(String(x[i]), 'whole numbers', `number ${i} of the ${what} is ${x[i]}`);
    return new Uint8Array(whole.buffer);
}

/** One experiment: a model, its task and its optimiser. `close` it (or use `using`) when done. */
export class Run {
    readonly #memory: Memory;
    #run: Pointer;
    readonly #batch: OpenOptions['batch'];

    /** For Lab; use `lab.open` or `lab.load`. */
    constructor(memory: Memory, run: Pointer, options: OpenOptions = {}) {
        this.#memory = memory;
        this.#run = run;
        this.#batch = options.batch;
    }
    get #open(): Pointer {
        if (!this.#run) throw new SeqmixError('this run was closed');
        return this.#run;
    }

    /** Train n steps. Throws where the loss is no longer finite, naming step and tensor. */
    step(n = 1): void {
        count(n, 'steps');
        if (this.#batch) for (let i = 0; i < n; i++) this.stepOn(this.#batch(this.metrics.step));
        else if (this.#memory.x.lab_step(this.#open, n)) throw this.#memory.error();
    }
    /** What a batch of your own has to be. */
    get batch(): BatchForm {
        const w = this.#memory.words(this.#memory.x.lab_batch(this.#open), 7);
        return {
            sequences: w[0]!,
            length: w[1]!,
            targets: w[2]!,
            most: w[3]!,
            vocab: w[4]!,
            channels: w[5]!,
            classes: w[6]!,
        };
    }
    /** Call with the addresses of a batch, once its lengths and kinds of numbers are right. */
    #withBatch<T>({ tokens, values, targets }: Batch, call: (...at: BatchPointers) => T): T {
        const { sequences, length, targets: each, channels, classes } = this.batch;
        const inputs = channels
            ? numbers('values', values, sequences * length * channels, true)
            : numbers('tokens', tokens, sequences * length, false);
        const wanted = numbers('targets', targets, sequences * each, !classes);
        const m = this.#memory;
        return m.withBytes(inputs, (from) =>
            m.withBytes(wanted, (to) =>
                call(channels ? 0 : from, channels ? from : 0, classes ? to : 0, classes ? 0 : to),
            ),
        );
    }
    /** Train one step on a batch of your own. */
    stepOn(batch: Batch): void {
        const run = this.#open;
        if (this.#withBatch(batch, (...at) => this.#memory.x.lab_step_on(run, ...at)))
            throw this.#memory.error();
    }
    /** Try the model on a batch of your own; nothing is learnt. */
    evaluateOn(batch: Batch): Evaluation {
        const run = this.#open;
        return this.#evaluation(
            this.#withBatch(batch, (...at) => this.#memory.x.lab_evaluate_on(run, ...at)),
        );
    }
    /**
     * Try the model on `count` held-out sequences, at `length` rows (default: the config's), or with other changes to the
     * task's keys: 'length=256&pairs=32'.
     */
    evaluate(options: { count?: number; length?: number; changes?: string } = {}): Evaluation {
        const run = this.#open;
        const sequences = count(options.count ?? 128, 'count');
        const length = options.length ? [`length=${count(options.length, 'length')}`] : [];
        const changes = [...length, ...(options.changes ? [options.changes] : [])].join('&');
        const at = this.#memory.withText(changes, (text) =>
            this.#memory.x.lab_evaluate(run, sequences, text),
        );
        return this.#evaluation(at);
    }
    #evaluation(at: Pointer): Evaluation {
        const d = this.#memory.doubles(this.#memory.found(at), 8);
        return {
            loss: d[0]!,
            accuracy: d[1]!,
            sequenceAccuracy: d[2]!,
            r2: d[3]!,
            targets: d[4]!,
            sequences: d[5]!,
            freeAccuracy: d[6]!,
            freeSequenceAccuracy: d[7]!,
        };
    }
    /** Of the last evaluation: how often class `row` was wanted and `column` answered; null beyond 256 classes. */
    confusion(): number[][] | null {
        const at = this.#memory.x.lab_confusion(this.#open);
        if (!at) return null;
        const n = this.#memory.doubles(at, 1)[0]!;
        const counts = [...this.#memory.doubles(at + 8, n * n)];
        return Array.from({ length: n }, (_, i) => counts.slice(i * n, (i + 1) * n));
    }
    /** A sentence to show beside the run ('': none): its mixer sees tokens ahead of the targets. */
    get warning(): string {
        return this.#memory.text(this.#memory.x.lab_warning(this.#open));
    }
    get metrics(): Metrics {
        const d = this.#memory.doubles(this.#memory.x.lab_metrics(this.#open), 9);
        return {
            step: d[0]!,
            loss: d[1]!,
            accuracy: d[2]!,
            rate: d[3]!,
            gradientNorm: d[4]!,
            params: d[5]!,
            steps: d[6]!,
            bytes: d[7]!,
            flops: d[8]!,
        };
    }
    /** Training loss of every step since open or load, from step number `from` of them on. */
    losses(from = 0): Float32Array<ArrayBuffer> {
        const { x } = this.#memory;
        const n = x.lab_loss_count(this.#open);
        const start = Math.min(count(from, 'from'), n);
        return this.#memory.floats(x.lab_losses(this.#open) + 4 * start, n - start);
    }
    /** The full config, every key in the table's order. */
    get config(): string {
        return this.#memory.text(this.#memory.x.lab_config(this.#open));
    }
    /** The value of one key of the full config; null where the key says nothing about this run. */
    value(key: string): string | null {
        const run = this.#open;
        const at = this.#memory.withText(key, (name) => this.#memory.x.lab_config_value(run, name));
        return at ? this.#memory.text(at) : null;
    }
    /** 64-bit hash of all weights, 16 hex digits: equal exactly when the models are equal, on any machine. */
    digest(): string {
        return this.#memory.text(this.#memory.x.lab_digest(this.#open));
    }
    /** A weight, its gradient ('grad:NAME'), or, after look or predict, what the sample went through: a view, see `Tensor`. */
    tensor(name: string): Tensor {
        const run = this.#open;
        return this.#tensorFrom(
            this.#memory.found(this.#memory.withText(name, (at) => this.#memory.x.lab_tensor(run, at))),
        );
    }
    /** Names and shapes of all tensors that `tensor` can read now. */
    tensors(): { name: string; shape: number[]; weight: boolean }[] {
        const all = [];
        for (let i = 0; i < this.#memory.x.lab_tensor_count(this.#open); i++) {
            const { name, shape, weight } = this.#describe(
                this.#memory.found(this.#memory.x.lab_tensor_at(this.#open, i)),
            );
            all.push({ name, shape, weight });
        }
        return all;
    }
    #describe(at: Pointer) {
        const w = this.#memory.words(at, 8).slice();
        return {
            name: this.#memory.text(w[0]!),
            data: w[1]!,
            shape: [...w.slice(3, 3 + w[2]!)],
            weight: w[7] === 1,
        };
    }
    #tensorFrom(at: Pointer): Tensor {
        const t = this.#describe(at);
        return {
            ...t,
            data: this.#memory.view(
                t.data,
                t.shape.reduce((a, b) => a * b, 1),
            ),
        };
    }
    /** Sample `index` of the task's held-out (or training) stream, with the model's answers: another name of `look`. */
    data(index: number, options: { stream?: 'eval' | 'train'; length?: number } = {}): Sample {
        return this.look(index, options);
    }
    /** Run the model on one held-out (or training) sample and keep what happened inside for `tensor`. */
    look(index: number, options: { stream?: 'eval' | 'train'; length?: number } = {}): Sample {
        if (!Number.isSafeInteger(index) || index < 0)
            throw new SeqmixError(
                `the sample is ${index}; it must be a whole number from 0`,
                'index',
                String(index),
            );
        const stream = options.stream === 'train' ? 1 : 0;
        return this.#sample(
            this.#memory.x.lab_look(this.#open, stream, index, count(options.length ?? 0, 'length')),
        );
    }
    /** The same on inputs of your own: tokens [length], or values [length][channels] where the task reads those. */
    predict(input: ArrayLike<number>): Sample {
        const run = this.#open;
        const { x } = this.#memory;
        const { channels } = this.batch;
        if (channels && input.length % channels)
            throw new SeqmixError(
                `there are ${input.length} values; allowed: whole rows of ${channels}`,
                'values',
                String(input.length),
                `whole rows of ${channels}`,
            );
        const bytes = numbers(channels ? 'values' : 'tokens', input, input.length, channels > 0);
        return this.#sample(
            this.#memory.withBytes(bytes, (at) =>
                channels
                    ? x.lab_predict_values(run, at, input.length / channels)
                    : x.lab_predict(run, at, input.length),
            ),
        );
    }
    /** The same on a drawn image: 28 x 28 bytes, ink bright; for tasks on images. */
    predictImage(pixels: Uint8Array): Sample {
        if (pixels.length !== 784)
            throw new SeqmixError(`the image has ${pixels.length} pixels; it must have 28 x 28`, 'pixels');
        const run = this.#open;
        return this.#sample(
            this.#memory.withBytes(pixels, (at) => this.#memory.x.lab_predict_image(run, at)),
        );
    }
    /**
     * Of the sample looked at last, where a task reads real values and names one class: the gradient of ln p(answer) by
     * the input values, [length][channels]. Default: the model's own answer.
     */
    saliency(sample: Sample, answer = -1): Float32Array<ArrayBuffer> {
        const at = this.#memory.found(this.#memory.x.lab_saliency(this.#open, answer));
        return this.#memory.floats(at, sample.length * sample.channels);
    }
    /** Of the same sample: the class probabilities when only the first t + 1 rows have been read, [length][classes]. */
    reading(sample: Sample): Float32Array<ArrayBuffer> {
        const at = this.#memory.found(this.#memory.x.lab_reading(this.#open));
        return this.#memory.floats(at, sample.length * sample.classes);
    }
    #sample(at: Pointer): Sample {
        const w = this.#memory.words(this.#memory.found(at), 10).slice();
        const [length, classes, channels, targets] = w as unknown as [number, number, number, number];
        const ints = (i: number, n: number) => (w[i] ? this.#memory.ints(w[i], n) : null);
        const floats = (i: number, n: number) => (w[i] ? this.#memory.floats(w[i], n) : null);
        return {
            length,
            classes,
            channels,
            tokens: ints(4, length),
            values: floats(5, length * channels),
            targets: ints(6, targets),
            predicted: ints(7, targets),
            confidence: floats(8, targets),
            targetValues: floats(9, targets),
        };
    }
    /** A checkpoint (safetensors): weights, config, step and optimiser. A loaded run goes on bit for bit. */
    save(): Uint8Array<ArrayBuffer> {
        const at = this.#memory.found(this.#memory.x.lab_save(this.#open));
        try {
            return this.#memory.bytes(at, this.#memory.x.lab_saved_size());
        } finally {
            this.#memory.x.lab_free(at);
        }
    }
    /** Free the run. Twice is once. */
    close(): void {
        if (this.#run) this.#memory.x.lab_close(this.#run);
        this.#run = 0;
    }
    [Symbol.dispose](): void {
        this.close();
    }
}

/** One instance of the module. */
export class Lab {
    readonly #memory: Memory;
    /** The compiled module, to hand to a worker: `load({ wasm: lab.module })`. */
    readonly module: WebAssembly.Module;
    readonly version: string;
    /** 'wasm' (SIMD) or 'scalar' (the engine has no SIMD; same numbers, slower). */
    readonly isa: string;
    /** What a user should know about this engine: '' or a sentence, such as that it has no SIMD. */
    readonly notice: string;
    /** Every key, mixer, task and preset of the config language. */
    readonly config: ConfigTable;
    /** Every kernel of the engine, on arrays of your own: `lab.kernels.gelu({ x })`. */
    readonly kernels: Kernels;

    /** For load. */
    constructor(module: WebAssembly.Module, memory: Memory) {
        this.module = module;
        this.#memory = memory;
        this.version = memory.text(memory.x.lab_version());
        this.isa = memory.text(memory.x.lab_isa());
        this.notice =
            this.isa === 'scalar'
                ? 'this engine has no WebAssembly SIMD: seqmix runs its scalar module, with the same numbers but slower'
                : '';
        this.config = JSON.parse(memory.text(memory.x.lab_config_json())) as ConfigTable;
        this.kernels = kernelsOf(memory.x);
    }
    /** Open an experiment: 'mixer=cat&task=mqar&seed=1'. */
    open(config: string, options: OpenOptions = {}): Run {
        const { x } = this.#memory;
        return new Run(
            this.#memory,
            this.#memory.found(this.#memory.withText(config, (at) => x.lab_open(at))),
            options,
        );
    }
    /** Open a checkpoint, with changes such as 'steps=900'. */
    load(bytes: Uint8Array, changes = ''): Run {
        const m = this.#memory;
        const run = m.withBytes(bytes, (at) => m.withText(changes, (c) => m.x.lab_load(at, bytes.length, c)));
        return new Run(m, m.found(run));
    }
    /** Hand over a file that a task reads, such as MNIST's 'train-images-idx3-ubyte', uncompressed; null: forget it. */
    provide(name: string, bytes: Uint8Array | null): void {
        const m = this.#memory;
        const failed = m.withText(name, (at) =>
            bytes
                ? m.withBytes(bytes, (from) => m.x.lab_provide(at, from, bytes.length))
                : m.x.lab_provide(at, 0, 0),
        );
        if (failed) throw m.error();
    }
    /** Every key of the given config with its value; several runs joined by ~ stay several. */
    complete(config: string): string {
        return this.#memory.owned(
            this.#memory.found(this.#memory.withText(config, (at) => this.#memory.x.lab_config_complete(at))),
        );
    }
    /** The same as values by their keys, an object for each run. */
    values(config: string): Record<string, string>[] {
        const m = this.#memory;
        const json = m.owned(m.found(m.withText(config, (at) => m.x.lab_config_values(at))));
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
}

// ---- Loading ------------------------------------------------------------------------------------------------------

// The smallest module with a SIMD instruction: () -> v128, i32.const 0, i8x16.splat.
const SIMD_PROBE = Uint8Array.of(
    0,
    97,
    115,
    109,
    1,
    0,
    0,
    0,
    1,
    5,
    1,
    96,
    0,
    1,
    123,
    3,
    2,
    1,
    0,
    10,
    8,
    1,
    6,
    0,
    65,
    0,
    253,
    15,
    11,
);
/** Whether this engine has WebAssembly SIMD. */
export function hasSimd(): boolean {
    return WebAssembly.validate(SIMD_PROBE);
}

// The smallest module with relaxed SIMD: (v128, v128, v128) -> v128, f32x4.relaxed_madd of its arguments.
const RELAXED_PROBE = Uint8Array.from(
    '0061736d 01000000 0108 01 60 037b7b7b 017b 0302 0100 0a0d 01 0b 00 2000 2001 2002 fd8502 0b'
        .replaceAll(' ', '')
        .match(/../g)!
        .map((byte) => parseInt(byte, 16)),
);
/** Whether this engine has relaxed SIMD: fused multiply-add, for `fast=1`. */
export function hasRelaxedSimd(): boolean {
    return WebAssembly.validate(RELAXED_PROBE);
}

async function bytesOf(address: URL | string): Promise<BufferSource> {
    const here = (globalThis as { location?: { href: string } }).location?.href ?? import.meta.url;
    try {
        const url = new URL(address, here);
        if (url.protocol === 'file:' && typeof process === 'object' && process.versions?.node) {
            const fs = 'node:fs/promises'; // a variable, so that bundlers for the page do not look for it
            const { readFile } = (await import(
                /* @vite-ignore */ /* webpackIgnore: true */ fs
            )) as typeof import('node:fs/promises');
            return await readFile(url);
        }
        const response = await fetch(url);
        if (!response.ok) throw new Error(`the answer was ${response.status} ${response.statusText}`);
        return await response.arrayBuffer();
    } catch (error) {
        const why = (error as Error).message;
        throw new SeqmixError(`${String(address)} cannot be read: ${why}`, 'wasm', String(address));
    }
}

async function compile(lazy: LazySource): Promise<WebAssembly.Module> {
    const source = typeof lazy === 'function' ? await lazy() : lazy;
    if (source instanceof WebAssembly.Module) return source;
    const bytes = typeof source === 'string' || source instanceof URL ? await bytesOf(source) : source;
    try {
        return await WebAssembly.compile(bytes);
    } catch (error) {
        throw new SeqmixError(
            `the WebAssembly module cannot be compiled: ${(error as Error).message}`,
            'wasm',
        );
    }
}

/** Load the module; `await load()` is enough where seqmix.wasm lies beside this file. */
export async function load(options: LoadOptions = {}): Promise<Lab> {
    const beside = (file: string) =>
        new URL(/* @vite-ignore */ /* webpackIgnore: true */ file, import.meta.url);
    const { relaxed } = options;
    if (relaxed && !hasRelaxedSimd())
        throw new SeqmixError(
            'this engine has no relaxed SIMD; without `relaxed` the same configs run, exactly',
            'relaxed',
            'no relaxed SIMD',
            'an engine where hasRelaxedSimd() is true',
        );
    const source = relaxed
        ? relaxed === true
            ? beside('seqmix-relaxed.wasm')
            : relaxed
        : hasSimd()
          ? (options.wasm ?? beside('seqmix.wasm'))
          : (options.scalar ?? beside('seqmix-scalar.wasm'));
    const module = await compile(source);
    // Emscripten's one import; it tells that memory grew, which `Memory` never relies on.
    const imports = { env: { emscripten_notify_memory_growth() {} } };
    const instance = await WebAssembly.instantiate(module, imports);
    const x = instance.exports as unknown as Exports;
    x._initialize();
    return new Lab(module, new Memory(x));
}
