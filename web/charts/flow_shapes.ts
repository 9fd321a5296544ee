// flow_shapes.ts: where the numbers of a flow stand: one column for each token, the one that is pointed at
// wider than the others, and in each band bars, lines and cells. Pure functions.

export interface Column {
    x: number;
    width: number;
}
/** How wide the column is that is pointed at, at least. */
export const ENLARGED = 36;
const BESIDE = 0.5; // its neighbours, as a share of that

/** So many columns over the whole width, in order and without a gap. */
export function columns(count: number, width: number, pointed: number | null): Column[] {
    const usual = width / count;
    const wanted = Array.from({ length: count }, (_, i) => {
        const off = pointed === null ? Infinity : Math.abs(i - pointed);
        const least = off === 0 ? ENLARGED : off === 1 ? BESIDE * ENLARGED : 0;
        return Math.min(Math.max(usual, least), width / 2);
    });
    const isUsual = (i: number) => wanted[i] === usual;
    const large = wanted.reduce((sum, one, i) => sum + (isUsual(i) ? 0 : one), 0);
    const others = wanted.filter((_, i) => isUsual(i)).length;
    // Where every column is enlarged, or there is no room for the others, all share alike.
    const rest = others ? (width - large) / others : 0;
    if (!(rest > 0)) return Array.from({ length: count }, (_, i) => ({ x: i * usual, width: usual }));
    let x = 0;
    return wanted.map((one, i) => {
        const column = { x, width: isUsual(i) ? rest : one };
        x += column.width;
        return column;
    });
}
/** The column at this place; the first and the last go on outside. */
export function columnAt(all: readonly Column[], x: number): number {
    let found = 0;
    for (let i = 1; i < all.length; i++) if (x >= all[i]!.x) found = i;
    return found;
}
const middle = ({ x, width }: Column) => x + width / 2;

export interface Rect extends Column {
    y: number;
    height: number;
}
/** A bar for each value that can be seen, up from the foot, `top` as high as the band. */
export function bars(
    values: ArrayLike<number>,
    all: readonly Column[],
    height: number,
    top: number,
): (Rect & { token: number })[] {
    return all.flatMap(({ x, width }, token) => {
        const tall = top > 0 ? Math.min(1, Math.abs(values[token]!) / top) * height : 0;
        const gap = width > 4 ? 1 : 0;
        return tall >= 0.25
            ? [{ token, x: x + gap / 2, width: width - gap, y: height - tall, height: tall }]
            : [];
    });
}

export interface Link {
    from: number;
    to: number;
    d: string;
    /** How thick. */
    wide: number;
    negative: boolean;
}
const FAINTEST = 0.03; // of a tap
/** From the tokens above to those below, what each takes: thicker for more. */
export function tapLinks(taps: ArrayLike<number>, all: readonly Column[], height: number): Link[] {
    return all.flatMap((column, to) =>
        Array.from(taps).flatMap((tap, back) => {
            const from = to - back;
            if (from < 0 || Math.abs(tap) < FAINTEST) return [];
            const [a, b] = [middle(all[from]!), middle(column)];
            const wide = Math.min(Math.min(column.width, 5), 0.5 + 2.5 * Math.abs(tap));
            return [{ from, to, d: `M${a} 0L${b} ${height}`, wide, negative: tap < 0 }];
        }),
    );
}
const LEAST_SHARE = 0.01;
/** From every token that is looked at down to the one that asks: thicker for more. */
export function copyLinks(
    weights: ArrayLike<number>,
    all: readonly Column[],
    to: number,
    height: number,
): Link[] {
    const b = middle(all[to]!);
    return all.flatMap((column, from) => {
        const share = weights[from]!;
        if (!(Math.abs(share) >= LEAST_SHARE)) return [];
        const a = middle(column);
        const d = `M${a} 0C${a} ${height / 2} ${b} ${height / 2} ${b} ${height}`;
        return [{ from, to, d, wide: 0.75 + 9 * Math.min(1, Math.abs(share)), negative: share < 0 }];
    });
}
/** What reaches a token from those before it, as a value for each token. */
export const reaching = (back: ArrayLike<number>, to: number, length: number): Float32Array =>
    Float32Array.from({ length }, (_, j) => (j <= to ? (back[to - j] ?? 0) : 0));
/** Answers of bins, one after another, as a value for each token. */
export const inBins = (answers: readonly ArrayLike<number>[], size: number): Float32Array => {
    const all = new Float32Array(answers.length * size);
    answers.forEach((answer, bin) => all.set(Array.from(answer).slice(0, size), bin * size));
    return all;
};
