// state.ts: what a model remembers of what it has read, and text that it writes on.
/// <reference lib="esnext.disposable" preserve="true" />
import { SeqmixError } from './error.js';
import { Held, type Memory, type Pointer } from './memory.js';
import { STATE_FORM } from './records.js';
import { count, lengthOf, numbers, real } from './numbers.js';
import type { DrawOptions, GenerateOptions, Piece, StateForm, Tensor } from './types.js';

const REST = 16; // milliseconds of writing after which whoever else waits has a turn

/**
 * A run that reads on: rows in pieces of any size, to the bits of the whole sequence (docs/STATES.md). Its
 * run closes it, and refuses it once it has been trained further.
 */
export class State {
    readonly #memory: Memory;
    /** Its run, which lives as long as it does, and what that holds. */
    readonly #run: object;
    readonly #outer: Held;
    readonly #held: Held;
    readonly #opened: StateForm;

    /** For Run; use `run.state`. */
    constructor(memory: Memory, state: Pointer, run: object, outer: Held) {
        this.#memory = memory;
        this.#run = run;
        this.#outer = outer;
        this.#held = new Held(this, state, memory.x.lab_state_close, outer);
        this.#opened = this.form;
    }
    get #open(): Pointer {
        if (!this.#held.at) throw new SeqmixError('this state was closed');
        return this.#held.at;
    }
    get form(): StateForm {
        return this.#memory.record(STATE_FORM, this.#memory.x.lab_state_form(this.#open));
    }
    /** `call` with room for `n` numbers of 32 bits; -1 is a failure. */
    #filled<T>(n: number, call: (to: Pointer) => number, read: (at: Pointer, n: number) => T): T {
        const m = this.#memory;
        return m.withBytes(new Uint8Array(4 * n), (to) => {
            if (call(to)) throw m.error();
            return read.call(m, to, n);
        });
    }
    /**
     * More rows of each sequence: tokens [sequences][rows], or values [sequences][rows][channels]. Returns
     * the answers at each of these rows, [sequences][rows][answers].
     */
    push(input: ArrayLike<number>): Float32Array<ArrayBuffer> {
        const m = this.#memory;
        const { sequences, channels, answers } = this.#opened;
        const what = channels ? 'values' : 'tokens';
        const n = lengthOf(what, input);
        const rows = n / (sequences * (channels || 1));
        if (!Number.isInteger(rows))
            throw new SeqmixError(
                `there are ${n} numbers; allowed: whole rows of ${sequences} sequences`,
                'input',
                String(n),
            );
        const bytes = numbers(what, input, n, channels > 0);
        return m.withBytes(bytes, (from) =>
            this.#filled(
                sequences * rows * answers,
                (to) => m.x.lab_state_push(this.#open, channels ? 0 : from, channels ? from : 0, rows, to),
                m.floats,
            ),
        );
    }
    /** The answers at the last row, [sequences][answers]; null before the first. */
    get answers(): Float32Array<ArrayBuffer> | null {
        const at = this.#memory.x.lab_state_answers(this.#open);
        const { sequences, answers } = this.#opened;
        return at ? this.#memory.floats(at, sequences * answers) : null;
    }
    /** Names and shapes of what the model's operations carry from row to row: the names of their results. */
    tensors(): { name: string; shape: number[] }[] {
        return [...this.#carried()].map(({ name, shape }) => ({ name, shape }));
    }
    *#carried() {
        const m = this.#memory;
        for (let i = 0, at; (at = m.x.lab_state_tensor(this.#open, i)); i++) yield m.tensor(at);
    }
    /**
     * One of them: the numbers of all sequences, one after another (a scan's order: docs/STATES.md). `data`
     * is a view, as that of `run.tensor`, of zeros before the first row.
     */
    tensor(name: string): Tensor {
        for (const one of this.#carried())
            if (one.name === name) return { ...one, data: this.#memory.view(one.data, one.shape[0]!) };
        throw new SeqmixError(
            `there is no tensor ${name} here; allowed: a name that tensors() lists`,
            'name',
            name,
        );
    }
    /** The next token of each sequence; sequence b draws as seed + b. */
    draw({ temperature = 1, topK = 0, topP = 1, seed = 1 }: DrawOptions = {}): Int32Array<ArrayBuffer> {
        const { x, ints } = this.#memory;
        real(temperature, 'temperature');
        real(topP, 'topP');
        count(topK, 'topK');
        count(seed, 'seed', Number.MAX_SAFE_INTEGER);
        const draw = (to: Pointer) => x.lab_state_draw(this.#open, temperature, topK, topP, seed, to);
        return this.#filled(this.#opened.sequences, draw, ints);
    }
    /** The model's own probabilities of what comes next in sequence b, at temperature 1. */
    odds(b = 0): Float32Array<ArrayBuffer> {
        const { x, floats } = this.#memory;
        count(b, 'the sequence');
        return this.#filled(this.#opened.answers, (to) => x.lab_state_odds(this.#open, b, to), floats);
    }
    /** Another state that has read the same and goes its own way from there. */
    copy(): State {
        const m = this.#memory;
        return new State(m, m.found(m.x.lab_state_copy(this.#open)), this.#run, this.#outer);
    }
    /** As bytes, for `run.loadState` here or on any other machine. */
    save(): Uint8Array<ArrayBuffer> {
        const { x } = this.#memory;
        return this.#memory.taken(x.lab_state_save(this.#open), x.lab_saved_size);
    }
    /** Free it. Twice is once. */
    close(): void {
        this.#held.free();
    }
    [Symbol.dispose](): void {
        this.close();
    }
}

const rest = () => new Promise<void>((done) => setTimeout(done));

/** For Run: goes on from the prompt; `open(most)` makes a state. */
export async function* generated(
    open: (most: number) => State,
    { prompt, tokens: most = 400, temperature = 0.8, topK = 0, topP = 1, seed = 1, signal }: GenerateOptions,
): AsyncGenerator<Piece, void, undefined> {
    signal?.throwIfAborted();
    const given = typeof prompt === 'string' ? [...new TextEncoder().encode(prompt)] : prompt;
    if (given?.length === 0)
        throw new SeqmixError('the prompt is empty; allowed: at least one token', 'prompt', '');
    const state = open((given?.length ?? 1) + most);
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    let piece: Piece = { text: '', tokens: [], bits: 0 };
    try {
        const { text, vocab, answers } = state.form;
        if (vocab !== answers)
            throw new SeqmixError(
                "this model's answers are not its tokens; allowed: task=charlm, or task=own with vocab=classes",
                'task',
            );
        if (typeof prompt === 'string' && !text)
            throw new SeqmixError('this model writes no text; allowed: a prompt of tokens', 'prompt', prompt);
        state.push(given ?? [text ? 10 : 0]);
        let since = performance.now();
        for (let i = 0; i < most; i++) {
            if (performance.now() - since > REST) {
                await rest();
                since = performance.now();
            }
            signal?.throwIfAborted();
            const [token] = state.draw({ temperature, topK, topP, seed });
            piece.bits -= Math.log2(state.odds()[token!]!);
            piece.tokens.push(token!);
            if (text) piece.text += decoder.decode(Uint8Array.of(token!), { stream: true });
            if (!text || piece.text) {
                yield piece;
                piece = { text: '', tokens: [], bits: 0 };
            }
            if (i + 1 < most) state.push([token!]);
        }
        if (piece.tokens.length) yield { ...piece, text: decoder.decode() };
    } finally {
        state.close();
    }
}
