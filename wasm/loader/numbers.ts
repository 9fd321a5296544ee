// numbers.ts: the caller's numbers as the module takes them.
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
    if (x.length !== n) throw refuse(String(x.length), String(n));
    if (real) return new Uint8Array(Float32Array.from(x).buffer);
    const whole = Int32Array.from(x);
    for (let i = 0; i < n; i++)
        if (whole[i] !== x[i])
            throw refuse(String(x[i]), 'whole numbers', `number ${i} of the ${what} is ${x[i]}`);
    return new Uint8Array(whole.buffer);
}
