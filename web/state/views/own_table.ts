// own_table.ts: a table that the visitor hands over: what is in it, kept in this browser's IndexedDB, given
// to the workers under the name that configs then have; and the columns that are chosen.
import { signal } from '@preact/signals';
import { del, get, set } from 'idb-keyval';
import type { Values } from '../../core/config.ts';
import { unpacked } from '../../core/files.ts';
import { nextTask } from '../../core/free.ts';
import { firstChoice, type TableSummary } from '../../core/tables.ts';
import { isProblem } from '../../training/protocol.ts';
import { remember } from '../address.ts';
import { provideFiles, retryFailed } from './files.ts';
import { lab, pool, runs, said, trouble } from '../page.ts';
import { attempt } from '../roster.ts';
import { changedAll, runsOf } from '../setup.ts';

const KEY = 'seqmix.table';
/** What the browser keeps: the file as it was handed over (an earlier page kept its bytes). */
interface Kept {
    readonly name: string;
    readonly bytes: Blob | Uint8Array<ArrayBuffer>;
}
interface Table {
    readonly name: string;
    readonly bytes: Uint8Array;
    readonly summary: TableSummary;
}

export const heldTable = signal<Table | null>(null);

function refuse(message: string): void {
    trouble.value = { from: 'control', problem: { message, key: '', value: '', allowed: '' } };
}
const provide = (table: Table): void => provideFiles('table', new Map([[table.name, table.bytes]]));

/** Take a CSV or TSV, plain or gzip: two runs are made ready that predict its last column. Where it cannot
 * be, that is said above the page and nothing changes. */
export async function takeTable(file: File): Promise<void> {
    const safe = file.name.replace(/\.gz$/, '').replace(/[^\w.-]/g, '_') || 'table';
    const name = safe === 'sample' ? 'sample.csv' : safe;
    try {
        const bytes = await unpacked(file);
        const summary = await pool().table(bytes);
        if (isProblem(summary)) return refuse(summary.problem.message.replace(/^it: /, `${file.name}: `));
        const before = heldTable.value;
        const table = { name, bytes, summary };
        provide(table);
        heldTable.value = table;
        const choice = { file: name, ...firstChoice(summary) };
        const own = (mixer: string, more: Record<string, string>) =>
            changedAll(lab(), runsOf(lab(), `mixer=${mixer}&task=table`)[0]!, { ...choice, ...more });
        // Parsing, then drawing, each in its own task.
        let make: () => readonly Values[];
        try {
            const wanted = [own('cat', { filter: '4' }), own('attention', { position: 'learned' })];
            make = () => wanted;
        } catch (error) {
            make = () => {
                throw error;
            };
        }
        await nextTask();
        const problem = attempt(make, 'the table', { fresh: true });
        await nextTask();
        if (problem) {
            heldTable.value = before;
            if (before) provide(before);
            trouble.value = { from: 'control', problem };
            return;
        }
        remember('push');
        // (A browser that keeps nothing asks again after a reload.)
        await set(KEY, { name, bytes: file }).catch(() => {});
        said.value = `${name} was taken: ${summary.rows} rows.`;
    } catch (error) {
        refuse(`${file.name} cannot be read: ${(error as Error).message}`);
    }
}
/** Let the runs on the table have these settings. */
export function chooseInTable(change: Readonly<Record<string, string>>): void {
    const next = (values: (typeof runs.value)[number]['values']) => changedAll(lab(), values, change);
    const make = () => runs.value.map(({ values }) => (values['task'] === 'table' ? next(values) : values));
    const problem = attempt(make, 'the change');
    if (problem) trouble.value = { from: 'control', problem };
    else remember('push');
}
/** Back to the embedded table. */
export function forgetTable(): void {
    chooseInTable({ file: 'sample', inputs: '', target: '', missing: 'refuse' });
    heldTable.value = null;
    void del(KEY).catch(() => {});
}
/** What an earlier visit handed over. */
export async function restoreTable(): Promise<void> {
    if (heldTable.value) return; // nothing is read back that was just kept
    const kept = await get<Kept>(KEY).catch(() => undefined);
    if (!kept || heldTable.value) return;
    const bytes = await unpacked(new Blob([kept.bytes]));
    const summary = await pool().table(bytes);
    if (isProblem(summary)) return;
    const table = { name: kept.name, bytes, summary };
    provide(table);
    heldTable.value = table;
    retryFailed();
}
