// numbers.ts: what callers give, numbers and files, as the module takes it.
import { SeqmixError } from './error.js';

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

/** How many numbers there are, if they are in an array. */
export function lengthOf(what: string, x: ArrayLike<number>): number {
    const n: unknown = (x as ArrayLike<number> | null | undefined)?.length;
    if (typeof n === 'number') return n;
    const allowed = 'an array of numbers';
    throw new SeqmixError(`${what}: there is ${String(x)}; allowed: ${allowed}`, what, String(x), allowed);
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
    if (lengthOf(what, x) !== n) throw refuse(String(x.length), String(n));
    if (typeof x[0] === 'bigint') throw refuse('bigint', 'numbers', `number 0 of the ${what} is a bigint`);
    if (real) return new Uint8Array(Float32Array.from(x).buffer);
    const whole = Int32Array.from(x);
    for (let i = 0; i < n; i++)
        if (whole[i] !== x[i])
            throw refuse(String(x[i]), 'whole numbers', `number ${i} of the ${what} is ${x[i]}`);
    return new Uint8Array(whole.buffer);
}
