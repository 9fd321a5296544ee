// numbers.ts: what callers give, numbers and files, as the module takes it. Reading it may run code of theirs
// (getters, proxies, toString), which may close a run or grow the memory: everything is read once, by index,
// into arrays of our own, before anybody asks for a run's address.
import { SeqmixError } from './error.js';
import type { Override } from './types.js';

const MOST = 2 ** 29 - 1; // numbers of 32 bits that a module's memory can hold

/** `n`, if it is a count of at most `most`. */
export function count(n: number, what: string, most = 0xffffffff): number {
    if (!Number.isInteger(n) || n < 0 || n > most)
        throw new SeqmixError(
            `${what} is ${n}; it must be a whole number from 0 to ${most}`,
            what,
            String(n),
        );
    return n;
}

/** `x`, if it is a number: anything else would become one on its way to the module, by its valueOf. */
export function real(x: number, what: string): number {
    if (typeof x === 'number') return x;
    throw new SeqmixError(`${what} is ${String(x)}; it must be a number`, what, String(x), 'a number');
}

/** How many numbers there are, if they are in an array. */
export function lengthOf(what: string, x: ArrayLike<number>): number {
    const n: unknown = (x as ArrayLike<number> | null | undefined)?.length;
    if (typeof n === 'number') return count(n, `the length of the ${what}`, MOST);
    const allowed = 'an array of numbers';
    throw new SeqmixError(`${what}: there is ${String(x)}; allowed: ${allowed}`, what, String(x), allowed);
}

/** An image of so many pixels, 0 to 255 each. */
export function pixelsOf(x: ArrayLike<number>, n: number): Uint8Array {
    const given = lengthOf('image', x);
    if (given !== n)
        throw new SeqmixError(`the image has ${given} pixels; it must have 28 x 28`, 'pixels', String(given));
    const own = new Uint8Array(n);
    for (let i = 0; i < n; i++) {
        const value = x[i]!;
        if (typeof value === 'number') own[i] = value;
        if (own[i] !== value)
            throw new SeqmixError(
                `pixel ${i} is ${String(value)}; it must be a whole number from 0 to 255`,
                'pixels',
                String(value),
                '0 to 255',
            );
    }
    return own;
}

/** A file's bytes, as `fetch`, a file picker or Node hand them over. */
export function fileBytes(what: string, x: Uint8Array | ArrayBuffer): Uint8Array {
    if (ArrayBuffer.isView(x)) return new Uint8Array(x.buffer, x.byteOffset, x.byteLength);
    // By its name: a test environment for pages has an ArrayBuffer of its own.
    const kind = Object.prototype.toString.call(x).slice(8, -1);
    if (kind === 'ArrayBuffer' || kind === 'SharedArrayBuffer') return new Uint8Array(x);
    const allowed = 'its bytes, a Uint8Array or an ArrayBuffer';
    throw new SeqmixError(`${what}: there is ${kind}; allowed: ${allowed}`, what, kind, allowed);
}

/** A function that gives batches, or none. */
export function checkBatch(batch: unknown): void {
    if (batch === undefined || typeof batch === 'function') return;
    const allowed = 'a function of the step';
    throw new SeqmixError(
        `batch is ${String(batch)}: it must be ${allowed}`,
        'batch',
        String(batch),
        allowed,
    );
}

/** The bytes of `n` numbers for the module: floats, or whole numbers of 32 bits. */
export function numbers(
    what: string,
    x: ArrayLike<number> | undefined,
    n: number,
    real: boolean,
): Uint8Array {
    const refuse = (value: string, allowed: string, is = `there are ${value} ${what}`) =>
        new SeqmixError(`${is}; allowed: ${allowed}`, what, value, allowed);
    if (!x) throw refuse('no', `${n} ${real ? 'real' : 'whole'} numbers`);
    const given = lengthOf(what, x);
    if (given !== n) throw refuse(String(given), String(n));
    const own = real ? new Float32Array(n) : new Int32Array(n);
    for (let i = 0; i < n; i++) {
        const value: unknown = x[i];
        if (typeof value !== 'number')
            throw refuse(typeof value, 'numbers', `number ${i} of the ${what} is of type ${typeof value}`);
        own[i] = value;
        if (!real && own[i] !== value)
            throw refuse(String(value), 'whole numbers', `number ${i} of the ${what} is ${value}`);
    }
    return new Uint8Array(own.buffer);
}

/** What is to stand in place of weights: all of it read, nothing of it checked against the weights. */
export function overridesOf(list: Iterable<Override>) {
    if (typeof (list as Iterable<Override> | null | undefined)?.[Symbol.iterator] !== 'function') {
        const allowed = 'a list of { name, at, data }';
        throw new SeqmixError(
            `overrides: there is ${String(list)}; allowed: ${allowed}`,
            'overrides',
            String(list),
            allowed,
        );
    }
    return [...list].map((one: Partial<Override> | null | undefined) => {
        const { name, at = 0, data } = one ?? {};
        const text = String(name);
        const n = lengthOf(text, data as ArrayLike<number>);
        return { name: text, at: count(at, `${text}: at`), n, bytes: numbers(text, data, n, true) };
    });
}
