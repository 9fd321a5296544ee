// config.ts: a config as text or as an object.
import { SeqmixError } from './error.js';

/** A config by its keys: `{ mixer: 'cat', task: 'mqar', rate: 0.01, mixers: ['cat', 'attention'] }`. */
export type Config = Readonly<Record<string, string | number | boolean | readonly (string | number)[]>>;

function textOf(key: string, value: unknown): string {
    if (Array.isArray(value)) return value.map((one) => textOf(key, one)).join(',');
    if (typeof value === 'boolean') return value ? '1' : '0';
    if (typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value)))
        return encodeURIComponent(value).replaceAll('~', '%7E');
    throw new SeqmixError(
        `${key} is ${String(value)}; allowed: text, a number, true, false or a list of these`,
        key,
        String(value),
    );
}

/** The config as the text that the module reads. */
export function configText(config: string | Config): string {
    const kind = typeof config === 'object' && config ? Object.getPrototypeOf(config) : undefined;
    if (kind !== null && kind !== Object.prototype) return String(config);
    return Object.entries(config)
        .map(([key, value]) => `${encodeURIComponent(key)}=${textOf(key, value)}`)
        .join('&');
}
