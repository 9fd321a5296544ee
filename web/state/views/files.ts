// files.ts: data files of the visitor, for the runs that read them.
import { pool, runs } from '../page.ts';
import { restart } from '../roster.ts';

const provided = new Map<string, ReadonlyMap<string, Uint8Array>>();
/** Data files for the runs that are opened from now on; `of` tells apart what one part of the page replaces
 * as a whole. */
export function provideFiles(of: 'mnist' | 'text' | 'table', files: ReadonlyMap<string, Uint8Array>): void {
    provided.set(of, files);
    pool().files(new Map([...provided.values()].flatMap((some) => [...some])));
}
/** Open anew what could not be opened. */
export function retryFailed(): void {
    restart(runs.value.filter(({ members }) => members.some(({ live }) => live.value.status === 'failed')));
}
