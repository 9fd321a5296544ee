// tokens.ts: how a token is written, the same wherever the page shows one.
import type { Values } from './config.ts';

/** Tokens are the bytes of a text: of tasks that have one. */
export const isText = (task: Values) => 'text' in task;
/** ListOps: padding, the digits, an operation with its opening bracket, the closing one. */
const LISTOPS = ['·', ...Array.from('0123456789'), '[MIN', '[MAX', '[MED', '[SM', ']'];
/** A key of a recall with pairs: keys are of the lower half of the tokens, values of the upper. */
export const isKey = (token: number | undefined, task: Values) =>
    /^(mqn?ar|dict_ar)$/.test(task['task'] ?? '') &&
    token !== undefined &&
    token > 0 &&
    token < +(task['vocab'] ?? 0) / 2;
/** A key as letters, A to Z, then AA and so on: pairs of numbers would be taken for sums. */
export function lettersOf(key: number): string {
    const last = String.fromCharCode(65 + ((key - 1) % 26));
    return key > 26 ? lettersOf(Math.floor((key - 1) / 26)) + last : last;
}
/** How a token is written: bytes of text as characters, or in hexadecimal where they are none; filler as a
 * dot. */
export function written(token: number | undefined, task: Values): string {
    if (token === undefined) return '–';
    if (isText(task)) {
        if (token === 10) return '⏎';
        if (token === 32) return '␣';
        if (token > 32 && token < 127) return String.fromCharCode(token);
        return token.toString(16).padStart(2, '0').toUpperCase();
    }
    if (task['task'] === 'listops') return LISTOPS[token] ?? `${token}`;
    if (isKey(token, task)) return lettersOf(token);
    return token === 0 && 'filler' in task ? '·' : `${token}`;
}

/** The token that is written so, or by its number; null: there is none. */
export function tokenOf(word: string, task: Values): number | null {
    if (/^\d{1,7}$/.test(word)) return Number(word);
    const key = [...word.toUpperCase()].reduce((sum, one) => 26 * sum + one.charCodeAt(0) - 64, 0);
    return /^[A-Z]{1,3}$/i.test(word) && isKey(key, task) ? key : null;
}
