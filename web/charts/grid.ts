// grid.ts: a grid of numbers before it is drawn, row by row from the top: what of it is shown, on what scale,
// which entry is pointed at. Pure functions.

/** Where on an element a pointer is, and the element's size. */
interface Place {
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
}
/**
 * The entry of a grid that is drawn over the whole of an element, where the pointer stands; null: outside.
 */
export function cellAt(
    { x, y, width, height }: Place,
    rows: number,
    columns: number,
): { row: number; column: number } | null {
    const row = Math.floor((y / height) * rows);
    const column = Math.floor((x / width) * columns);
    return row >= 0 && row < rows && column >= 0 && column < columns ? { row, column } : null;
}
/** The same of a pointer event, for the element that listens. */
export function pointedCell(
    { currentTarget, clientX, clientY }: PointerEvent & { readonly currentTarget: Element },
    rows: number,
    columns: number,
): { row: number; column: number } | null {
    const { left, top, width, height } = currentTarget.getBoundingClientRect();
    return cellAt({ x: clientX - left, y: clientY - top, width, height }, rows, columns);
}

/** [rows][columns] as [columns][rows]. */
export const turned = (values: Float32Array, rows: number, columns: number): Float32Array =>
    Float32Array.from(values, (_, i) => values[(i % rows) * columns + Math.floor(i / rows)]!);

/** One row of head `head` of maps [heads][size][size], or with `count` so many rows from there. */
export function mapRows(
    maps: Float32Array,
    size: number,
    head: number,
    row: number,
    count = 1,
): Float32Array {
    const start = (head * size + row) * size;
    return maps.subarray(start, start + count * size);
}

/** An attention map with what no row may look at left clear, where that is so for every row. */
export function futureClear(map: Float32Array, size: number): Float32Array {
    const ahead = (i: number) => i % size > Math.floor(i / size);
    const causal = map.every((weight, i) => !ahead(i) || weight === 0);
    return causal ? map.map((weight, i) => (ahead(i) ? NaN : weight)) : map;
}
/** The end of a map's scale: a round number that no weight is above, but for the first rows, which have few
 * to share. */
export function roundTop(map: Float32Array, size: number): number {
    const most = map.subarray(Math.ceil(size / 8) * size).reduce((a, b) => Math.max(a, b || 0), 0);
    return [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find((top) => top >= most) ?? 1;
}
/** The column that a row looks at most. */
export const mostLookedAt = (weights: Float32Array): number =>
    weights.reduce((best, weight, i) => (weight > weights[best]! ? i : best), 0);
