// tables.ts: choices among the columns of a table: how they are written in a config, and what is chosen at
// first. Pure functions.
import type { TableSummary } from '../../wasm/loader/types.ts';
export type { TableColumn, TableSummary } from '../../wasm/loader/types.ts';

const LONGEST = 32; // rows of the first window

/** How a column is called in a config: its name, or its number where a comma stands in the name, or the name
 * is another's. */
export function columnKey({ columns }: TableSummary, at: number): string {
    const { name } = columns[at]!;
    const first = columns.findIndex((other) => other.name === name);
    return name === '' || name.includes(',') || first !== at ? String(at + 1) : name;
}
/** The column of that name or number; -1: there is none. */
export function columnOf({ columns }: TableSummary, key: string): number {
    const named = columns.findIndex(({ name }) => name === key);
    if (named >= 0) return named;
    const at = /^\d+$/.test(key) ? Number(key) - 1 : -1;
    return at < columns.length ? at : -1;
}
/** Which columns are read, and which is predicted, by the values of a config. */
export function chosen(
    table: TableSummary,
    { inputs = '', target = '', ahead = '0' }: Readonly<Record<string, string>>,
): { inputs: number[]; target: number } {
    const answer = target ? columnOf(table, target) : table.columns.length - 1;
    const usable = (i: number) => table.columns[i]!.numbers > 0 && table.columns[i]!.words === 0;
    const all = table.columns.map((_, i) => i).filter((i) => usable(i) && (i !== answer || ahead !== '0'));
    return { inputs: inputs ? inputs.split(',').map((key) => columnOf(table, key)) : all, target: answer };
}
/** What is set at first for a table: its last column is predicted from all others that hold numbers. */
export function firstChoice(table: TableSummary): Record<string, string> {
    const { inputs } = chosen(table, {});
    const { columns, rows } = table;
    const last = columns.length - 1;
    const gaps = [...inputs, last].some((i) => columns[i]!.missing > 0);
    const held = Math.max(1, Math.floor(rows / 5));
    return {
        target: columnKey(table, last),
        inputs: inputs.map((i) => columnKey(table, i)).join(','),
        length: String(Math.min(LONGEST, held)),
        ...(gaps ? { missing: 'last' } : {}),
    };
}
