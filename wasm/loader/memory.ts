// memory.ts: what exports.c exports, and the module's memory: text, numbers and arrays in and out. That
// memory moves when it grows, and every view of it ends then, so none is kept here.
import { SeqmixError } from './error.js';
import type { KernelModule } from './kernels.js';
import { TENSOR } from './records.js';

export type Pointer = number;

const forgotten = new FinalizationRegistry<Held>((held) => held.free());

/** What the module holds for an object here; freed once: by `free`, or after nobody can reach the object. */
export class Held {
    at: Pointer;
    readonly #release: (at: Pointer) => void;
    readonly #outer: Held | undefined;
    /** What goes with it: a run's states. */
    readonly #inner = new Set<Held>();
    /** `release` knows nothing of the owner, or the owner would never be forgotten. */
    constructor(owner: object, at: Pointer, release: (at: Pointer) => void, outer?: Held) {
        this.at = at;
        this.#release = release;
        this.#outer = outer;
        if (outer) outer.#inner.add(this);
        forgotten.register(owner, this, this);
    }
    free(): void {
        const { at } = this;
        this.at = 0;
        forgotten.unregister(this);
        if (this.#outer) this.#outer.#inner.delete(this);
        for (const held of [...this.#inner]) held.free();
        if (at) this.#release(at);
    }
}
/** Of tokens, values, targets, target values, 0: none; and the number of sequences. */
export type BatchPointers = [Pointer, Pointer, Pointer, Pointer, number];
export interface Exports extends KernelModule {
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
    lab_override(run: Pointer, name: Pointer, at: number, data: Pointer, count: number): number;
    lab_look(run: Pointer, stream: number, index: number, length: number): Pointer;
    lab_predict(run: Pointer, tokens: Pointer, values: Pointer, pixels: Pointer, length: number): Pointer;
    lab_saliency(run: Pointer, answer: number): Pointer;
    lab_reading(run: Pointer): Pointer;
    lab_provide(name: Pointer, bytes: Pointer, size: number): number;
    lab_table(bytes: Pointer, size: number): Pointer;
    lab_save(run: Pointer): Pointer;
    lab_saved_size(): number;
    lab_state_open(run: Pointer, sequences: number, most: number): Pointer;
    lab_state_close(state: Pointer): void;
    lab_state_form(state: Pointer): Pointer;
    lab_state_push(state: Pointer, tokens: Pointer, values: Pointer, rows: number, answers: Pointer): number;
    lab_state_answers(state: Pointer): Pointer;
    lab_state_tensor(state: Pointer, i: number): Pointer;
    lab_state_copy(state: Pointer): Pointer;
    lab_state_draw(
        state: Pointer,
        temperature: number,
        topK: number,
        topP: number,
        seed: number,
        tokens: Pointer,
    ): number;
    lab_state_odds(state: Pointer, b: number, odds: Pointer): number;
    lab_state_save(state: Pointer): Pointer;
    lab_state_load(run: Pointer, bytes: Pointer, size: number): Pointer;
}

/** One of the lists of records.ts. */
type Fields = Readonly<Record<string, 'number' | 'flag' | 'address'>>;
type RecordOf<F extends Fields> = { -readonly [K in keyof F]: F[K] extends 'flag' ? boolean : number };

function named<F extends Fields>(fields: F, values: ArrayLike<number>): RecordOf<F> {
    const entries = Object.entries(fields).map(([name, kind], i) => [
        name,
        kind === 'flag' ? values[i] !== 0 : values[i],
    ]);
    return Object.fromEntries(entries) as RecordOf<F>;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Reading and writing the module's memory; every view is made anew, since growth detaches the old ones. */
export class Memory {
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
        const bytes = encoder.encode(`${text}\0`);
        if (bytes.indexOf(0) < bytes.length - 1)
            throw new SeqmixError(`a text has the character 0 in it: ${JSON.stringify(text).slice(0, 80)}`);
        return this.withBytes(bytes, call);
    }
    withBytes<T>(bytes: Uint8Array, call: (at: Pointer, n: number) => T): T {
        const n = bytes.length; // as it is now: what it is a view of may grow
        const at = this.x.lab_alloc(n);
        if (!at) throw new SeqmixError(`out of memory: ${n} bytes were asked for`);
        try {
            new Uint8Array(this.x.memory.buffer).set(bytes, at);
            return call(at, n);
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
    doubles(at: Pointer, n: number): Float64Array {
        return new Float64Array(this.x.memory.buffer, at, n);
    }
    /** A record of doubles, by the names of its fields. */
    record<F extends Fields>(fields: F, at: Pointer): RecordOf<F> {
        return named(fields, this.doubles(at, Object.keys(fields).length));
    }
    /** The same of 32-bit words. */
    wordRecord<F extends Fields>(fields: F, at: Pointer): RecordOf<F> {
        return named(fields, new Uint32Array(this.x.memory.buffer, at, Object.keys(fields).length));
    }
    /** What a tensor is, and where. */
    tensor(at: Pointer) {
        const { name, data, rank, isWeight, ...sizes } = this.wordRecord(TENSOR, at);
        return {
            name: this.text(name),
            data,
            shape: Object.values(sizes).slice(0, rank),
            weight: isWeight,
        };
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
    /** Bytes that the module allocated, `size()` of them: read, then freed. */
    taken(at: Pointer, size: () => number): Uint8Array<ArrayBuffer> {
        try {
            return this.bytes(this.found(at), size());
        } finally {
            this.x.lab_free(at);
        }
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
