// writing.ts: a worker's run goes on from a beginning, or answers a sample out of its own answers.
import { SeqmixError, type Run, type State } from '../../wasm/loader/seqmix.ts';
import type { Recited, Writing, Written } from './protocol.ts';

const TELL = 5; // of the likeliest
const LEAST = 256; // rows that memory is reserved for where it grows

/** A state of the run: one that reads on for ever, or, where its memory grows, one of `most` rows. */
export function opened(run: Run, most: number): { state: State; grows: boolean } {
    try {
        return { state: run.state(), grows: false };
    } catch {
        return { state: run.state({ most }), grows: true };
    }
}

/**
 * A text that goes on. The state is kept between two calls, and made anew where the weights have moved on,
 * the text is another, or there is no room.
 */
export class Writer {
    #state: State | null = null;
    #grows = false;
    /** What the state has read, and at which step. */
    #read: readonly number[] = [];
    #step = -1;

    /** After `read`, `count` tokens more. */
    go(run: Run, { read, count, temperature, seed }: Writing): Written {
        const { step } = run.metrics;
        const room = this.#grows && this.#state ? this.#state.form.most : Infinity;
        const kept =
            this.#state &&
            step === this.#step &&
            read.length + count <= room &&
            this.#read.length <= read.length &&
            this.#read.every((token, i) => token === read[i]);
        const all = kept ? read : this.#begin(run, read, count);
        const state = this.#state!;
        state.push(all.slice(this.#read.length));
        const tokens: number[] = [];
        const bits: number[] = [];
        for (let i = 0; i < count; i++) {
            const [token] = state.draw({ temperature, seed });
            tokens.push(token!);
            bits.push(-Math.log2(state.odds()[token!]!));
            state.push([token!]);
        }
        this.#read = [...all, ...tokens];
        this.#step = step;
        const odds = state.odds();
        const likeliest = [...odds.keys()].sort((a, b) => odds[b]! - odds[a]!).slice(0, TELL);
        const { rows, bytes, most } = state.form;
        return {
            tokens,
            bits,
            likeliest: likeliest.map((token) => ({ token, odds: odds[token]! })),
            step,
            rows,
            bytes,
            most: this.#grows ? most : null,
        };
    }
    /** A new state. Returns what it is to read: the end of the text where the model has no positions for all.
     * */
    #begin(run: Run, read: readonly number[], count: number): readonly number[] {
        this.close();
        const most = Math.max(LEAST, 2 * (read.length + count));
        try {
            const { state, grows } = opened(run, most);
            this.#state = state;
            this.#grows = grows;
            return read;
        } catch {
            const { length } = run.batch;
            this.#state = run.state({ most: length });
            this.#grows = true;
            return read.slice(-Math.max(1, length - count));
        }
    }
    close(): void {
        this.#state?.close();
        this.#state = null;
        this.#read = [];
    }
}

/** A held-out sample, row by row: where the next row is the answer before, it reads its own. */
export function recited(run: Run, index: number): Recited {
    const { tokens, targets, classes, length } = run.look(index);
    if (!tokens || classes === 0 || targets?.length !== length)
        throw new SeqmixError('this task has no answer at each row to go on from');
    const { state, grows } = opened(run, length);
    try {
        const read: number[] = [];
        const answers: number[] = [];
        const own: boolean[] = [];
        for (let i = 0; i < length; i++) {
            own.push(i > 0 && targets[i - 1]! >= 0 && tokens[i] === targets[i - 1]);
            read.push(own[i] ? answers[i - 1]! : tokens[i]!);
            const logits = state.push([read[i]!]);
            answers.push(logits.indexOf(Math.max(...logits)));
        }
        const { bytes, most } = state.form;
        return {
            read,
            own,
            answers,
            targets: [...targets],
            step: run.metrics.step,
            rows: length,
            bytes,
            most: grows ? most : null,
        };
    } finally {
        state.close();
    }
}
