// run.ts: one experiment of a lab: train, evaluate, look inside, save.
/// <reference lib="esnext.disposable" preserve="true" />
import { type Config, configText } from './config.js';
import { SeqmixError } from './error.js';
import { count, fileBytes, lengthOf, numbers, overridesOf, pixelsOf } from './numbers.js';
import { type BatchPointers, Held, type Memory, type Pointer } from './memory.js';
import { BATCH_FORM, EVALUATION, METRICS, SAMPLE } from './records.js';
import { generated, State } from './state.js';
import type {
    Batch,
    BatchForm,
    Evaluation,
    GenerateOptions,
    Metrics,
    OpenOptions,
    Override,
    Piece,
    Sample,
    StateOptions,
    Tensor,
} from './types.js';

/** A view of a run's memory keeps its run. */
const viewed = new WeakMap<object, Run>();

/**
 * One experiment: a model, its task and its optimiser. `close` it (or use `using`) when done; one that is
 * forgotten is freed some time later.
 */
export class Run {
    readonly #memory: Memory;
    readonly #held: Held;
    readonly #batch: OpenOptions['batch'];
    /** Sizes of the sample looked at last. */
    #looked = { length: 0, classes: 0, channels: 0 };

    /** For Lab; use `lab.open` or `lab.load`. */
    constructor(memory: Memory, run: Pointer, batch?: OpenOptions['batch']) {
        this.#memory = memory;
        this.#held = new Held(this, run, memory.x.lab_close);
        this.#batch = batch;
    }
    /** Its address, for the call that is next: code of the caller's between the two may close it. */
    get #open(): Pointer {
        if (!this.#held.at) throw new SeqmixError('this run was closed');
        return this.#held.at;
    }

    /**
     * Train n steps. Throws where loss, gradient or a weight is no longer finite, naming step and tensor, and
     * leaves the weights as before that step; and for `task=own` without `batch`, whose own samples are
     * noise.
     */
    step(n = 1): void {
        count(n, 'steps');
        if (this.#batch) for (let i = 0; i < n; i++) this.stepOn(this.#batch(this.metrics.step));
        else if (this.#memory.x.lab_step(this.#open, n)) throw this.#memory.error();
    }
    /** What a batch of your own has to be. */
    get batch(): BatchForm {
        return this.#memory.wordRecord(BATCH_FORM, this.#memory.x.lab_batch(this.#open));
    }
    /** Call with the addresses of a batch, once its lengths and kinds of numbers are right. */
    #withBatch<T>(batch: Batch, call: (...at: BatchPointers) => T): T {
        if (!batch)
            throw new SeqmixError(`the batch is ${batch}; allowed: { tokens or values, targets }`, 'batch');
        const { tokens, values, targets } = batch;
        const { sequences: most, length, targets: each, channels, classes } = this.batch;
        const given = (targets?.length ?? 0) / each; // a last batch may be smaller
        const sequences = Number.isInteger(given) && given > 0 && given < most ? given : most;
        const inputs = channels
            ? numbers('values', values, sequences * length * channels, true)
            : numbers('tokens', tokens, sequences * length, false);
        const wanted = numbers('targets', targets, sequences * each, !classes);
        const m = this.#memory;
        return m.withBytes(inputs, (from) =>
            m.withBytes(wanted, (to) =>
                call(channels ? 0 : from, channels ? from : 0, classes ? to : 0, classes ? 0 : to, sequences),
            ),
        );
    }
    /** Train one step on a batch of your own. */
    stepOn(batch: Batch): void {
        if (this.#withBatch(batch, (...at) => this.#memory.x.lab_step_on(this.#open, ...at)))
            throw this.#memory.error();
    }
    /** Try the model on a batch of your own; nothing is learnt. */
    evaluateOn(batch: Batch): Evaluation {
        return this.#evaluation(
            this.#withBatch(batch, (...at) => this.#memory.x.lab_evaluate_on(this.#open, ...at)),
        );
    }
    /**
     * Try the model on `count` held-out sequences, at `length` rows (default: the config's), or with other
     * changes to the task's keys: 'length=256&pairs=32' or { length: 256, pairs: 32 }.
     */
    evaluate(options: { count?: number; length?: number; changes?: string | Config } = {}): Evaluation {
        const { count: sequences = 128, length = 0, changes = '' } = options;
        count(sequences, 'count');
        const text = configText(changes);
        const all = [count(length, 'length') ? `length=${length}` : '', text].filter(Boolean).join('&');
        const at = this.#memory.withText(all, (from) =>
            this.#memory.x.lab_evaluate(this.#open, sequences, from),
        );
        return this.#evaluation(at);
    }
    #evaluation(at: Pointer): Evaluation {
        return this.#memory.record(EVALUATION, this.#memory.found(at));
    }
    /**
     * Of the last evaluation: how often class `row` was wanted and `column` answered;
     * null beyond 256 classes.
     */
    confusion(): number[][] | null {
        const at = this.#memory.x.lab_confusion(this.#open);
        if (!at) return null;
        const n = this.#memory.doubles(at, 1)[0]!;
        const counts = [...this.#memory.doubles(at + 8, n * n)];
        return Array.from({ length: n }, (_, i) => counts.slice(i * n, (i + 1) * n));
    }
    /**
     * A sentence to show beside the run ('': none): its mixer sees tokens ahead of the targets, or it comes
     * from a checkpoint without a checksum.
     */
    get warning(): string {
        return this.#memory.text(this.#memory.x.lab_warning(this.#open));
    }
    get metrics(): Metrics {
        return this.#memory.record(METRICS, this.#memory.x.lab_metrics(this.#open));
    }
    /**
     * Training loss of every step, also before a load, from number `from` of them on. (Fewer than
     * `metrics.step` where the checkpoint that was loaded held none: the last ones.)
     */
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
        const at = this.#memory.withText(key, (name) => this.#memory.x.lab_config_value(this.#open, name));
        return at ? this.#memory.text(at) : null;
    }
    /** 64-bit hash of all weights, 16 hex digits: equal exactly when the models are equal, on any machine. */
    digest(): string {
        return this.#memory.text(this.#memory.x.lab_digest(this.#open));
    }
    /**
     * A weight, its gradient ('grad:NAME'), or, after look or predict, what the sample went through:
     * a view, see `Tensor`.
     */
    tensor(name: string): Tensor {
        return this.#tensorFrom(
            this.#memory.found(
                this.#memory.withText(name, (at) => this.#memory.x.lab_tensor(this.#open, at)),
            ),
        );
    }
    /**
     * Write a weight: as many finite numbers as it has, in its layout. The optimiser's moments stay; throws
     * where they do not fit, and nothing has changed then.
     */
    setWeight(name: string, data: ArrayLike<number>): void {
        const n = lengthOf(name, data);
        const own = new Float32Array(numbers(name, data, n, true).buffer);
        const weight = this.tensor(name);
        const size = weight.weight ? weight.data.length : 0;
        const finite = own.findIndex((value) => !Number.isFinite(value));
        if (finite >= 0 || n !== size)
            throw new SeqmixError(
                `${name} takes ${size} finite numbers; it was given ${finite < 0 ? n : finite} of ${n}`,
                name,
            );
        weight.data.set(own);
    }
    /**
     * What if: numbers in place of weights', for look, predict, saliency, reading and evaluations only, until
     * the next call of this (an empty list: none). Training, states, checkpoints, the digest and `tensor` go
     * on with the weights as trained. Throws where one does not fit; then there are none.
     */
    override(list: Iterable<Override>): void {
        const m = this.#memory;
        const drop = () => m.x.lab_override(this.#open, 0, 0, 0, 0);
        drop();
        try {
            for (const { name, at, n, bytes } of overridesOf(list))
                m.withText(name, (text) =>
                    m.withBytes(bytes, (data) => {
                        if (m.x.lab_override(this.#open, text, at, data, n)) throw m.error();
                    }),
                );
        } catch (error) {
            drop();
            throw error;
        }
    }
    /** Names and shapes of all tensors that `tensor` can read now. */
    tensors(): { name: string; shape: number[]; weight: boolean }[] {
        const all = [];
        for (let i = 0; i < this.#memory.x.lab_tensor_count(this.#open); i++) {
            const { name, shape, weight } = this.#memory.tensor(
                this.#memory.found(this.#memory.x.lab_tensor_at(this.#open, i)),
            );
            all.push({ name, shape, weight });
        }
        return all;
    }
    #tensorFrom(at: Pointer): Tensor {
        const t = this.#memory.tensor(at);
        const n = t.shape.reduce((a, b) => a * b, 1);
        const data = this.#memory.view(t.data, n);
        viewed.set(data, this);
        return { ...t, data };
    }
    /**
     * Sample `index` of the task's held-out (or training) stream, with the model's answers:
     * another name of `look`.
     */
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
        const { stream: name = 'eval', length = 0 } = options;
        const stream = ['eval', 'train'].indexOf(name);
        if (stream < 0)
            throw new SeqmixError(
                `stream is ${name}; it must be eval or train`,
                'stream',
                name,
                'eval or train',
            );
        count(length, 'length');
        return this.#sample(this.#memory.x.lab_look(this.#open, stream, index, length));
    }
    /**
     * The same on inputs of your own: tokens [length], or values [length][channels] where the task reads
     * those.
     */
    predict(input: ArrayLike<number>): Sample {
        const { x } = this.#memory;
        const { channels } = this.batch;
        const what = channels ? 'values' : 'tokens';
        const n = lengthOf(what, input);
        if (channels && n % channels)
            throw new SeqmixError(
                `there are ${n} values; allowed: whole rows of ${channels}`,
                'values',
                String(n),
                `whole rows of ${channels}`,
            );
        const bytes = numbers(what, input, n, channels > 0);
        return this.#sample(
            this.#memory.withBytes(bytes, (at) =>
                channels
                    ? x.lab_predict(this.#open, 0, at, 0, n / channels)
                    : x.lab_predict(this.#open, at, 0, 0, n),
            ),
        );
    }
    /** The same on a drawn image: 28 x 28 bytes, ink bright; for tasks on images. */
    predictImage(pixels: Uint8Array): Sample {
        return this.#sample(
            this.#memory.withBytes(pixelsOf(pixels, 784), (at) =>
                this.#memory.x.lab_predict(this.#open, 0, 0, at, 0),
            ),
        );
    }
    /** The sizes of the sample looked at last, which `sample` has to have. */
    #sizes(sample: Sample) {
        const { length, classes, channels } = this.#looked;
        const given = [sample.length, sample.classes, sample.channels].map(String);
        const right = [length, classes, channels].map(String);
        if (given.join() !== right.join())
            throw new SeqmixError(
                `the sample has ${given.join(' x ')} rows, classes and channels; allowed: the one looked at last, of ${right.join(' x ')}`,
                'sample',
                given.join(' x '),
                right.join(' x '),
            );
        return this.#looked;
    }
    /**
     * Of the sample looked at last, where a task reads real values and names one class: the gradient of ln
     * p(answer) by the input values, [length][channels]. Default: the model's own answer.
     */
    saliency(sample: Sample, answer = -1): Float32Array<ArrayBuffer> {
        const { length, classes, channels } = this.#sizes(sample);
        if (answer !== -1) count(answer, 'the answer', Math.max(0, classes - 1));
        const at = this.#memory.found(this.#memory.x.lab_saliency(this.#open, answer));
        return this.#memory.floats(at, length * channels);
    }
    /**
     * Of the same sample: the class probabilities when only the first t + 1 rows have been read,
     * [length][classes].
     */
    reading(sample: Sample): Float32Array<ArrayBuffer> {
        const { length, classes } = this.#sizes(sample);
        const at = this.#memory.found(this.#memory.x.lab_reading(this.#open));
        return this.#memory.floats(at, length * classes);
    }
    #sample(at: Pointer): Sample {
        const record = this.#memory.wordRecord(SAMPLE, this.#memory.found(at));
        const { length, classes, channels, targetCount } = record;
        this.#looked = { length, classes, channels };
        const ints = (from: Pointer, n: number) => (from ? this.#memory.ints(from, n) : null);
        const floats = (from: Pointer, n: number) => (from ? this.#memory.floats(from, n) : null);
        return {
            length,
            classes,
            channels,
            tokens: ints(record.tokens, length),
            values: floats(record.values, length * channels),
            targets: ints(record.targets, targetCount),
            predicted: ints(record.predicted, targetCount),
            confidence: floats(record.confidence, targetCount),
            targetValues: floats(record.targetValues, targetCount),
        };
    }
    /** A checkpoint (safetensors): weights, config, step and optimiser. A loaded run goes on bit for bit. */
    save(): Uint8Array<ArrayBuffer> {
        const { x } = this.#memory;
        return this.#memory.taken(x.lab_save(this.#open), x.lab_saved_size);
    }
    /** What the model remembers of a sequence that comes in pieces, before its first row. */
    state({ sequences = 1, most = 0 }: StateOptions = {}): State {
        count(sequences, 'sequences');
        count(most, 'most');
        return this.#state(this.#memory.x.lab_state_open(this.#open, sequences, most));
    }
    /** A state that `state.save()` wrote, of this very model. */
    loadState(bytes: Uint8Array | ArrayBuffer): State {
        const { x } = this.#memory;
        const file = fileBytes('state', bytes);
        return this.#state(this.#memory.withBytes(file, (at, n) => x.lab_state_load(this.#open, at, n)));
    }
    #state(at: Pointer): State {
        return new State(this.#memory, this.#memory.found(at), this, this.#held);
    }
    /**
     * Goes on from the prompt, character by character, as fast as it is asked:
     * `for await (const { text } of run.generate({ prompt: 'First' })) …`. For models whose answers are
     * their own tokens. The run is not to be trained meanwhile: its states end then.
     */
    generate(options: GenerateOptions = {}): AsyncGenerator<Piece, void, undefined> {
        const asked = { ...options }; // as it is now: each is read once
        count(asked.tokens ?? 0, 'tokens');
        const open = (most: number) => {
            try {
                return this.state();
            } catch {
                return this.state({ most }); // its memory grows, or it says why there is none
            }
        };
        return generated(open, asked);
    }
    /** Free the run and its states. Twice is once. */
    close(): void {
        this.#held.free();
    }
    [Symbol.dispose](): void {
        this.close();
    }
}
