// config.ts: the config of one run as keys and values, and as the text that the engine takes.

/** The complete config of one run: every key that means something to it. */
export type Values = Readonly<Record<string, string>>;

/** The text that says them; the engine reads it, and nothing of the page does. */
export function format(values: Values): string {
    // In lower case: a %7E stands for the ~ between runs where an address was sent through other programs.
    const code = (character: string) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
    const safe = (value: string) => value.replace(/[&~#%=! \t\n\r]/g, code);
    return Object.entries(values)
        .map(([key, value]) => `${key}=${safe(value)}`)
        .join('&');
}
export const sameValues = (a: Values, b: Values): boolean =>
    Object.keys(a).length === Object.keys(b).length &&
    Object.entries(a).every(([key, value]) => b[key] === value);
