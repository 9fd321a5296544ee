// own_text.ts: a text that the visitor hands over, for the task of the next character: kept in this browser's
// IndexedDB, given to the workers under the name that configs then have.
import { del, get, set } from 'idb-keyval';
import { signal } from '@preact/signals';
import { unpacked } from '../../core/files.ts';
import type { Entry } from '../entry.ts';
import { provideFiles, retryFailed } from './files.ts';
import { refusalOf } from '../members.ts';

const KEY = 'seqmix.text';
type Text = { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> };

export const heldText = signal<Text | null>(null);

/** Take a file, plain or gzip, for a run; the answer is its name in configs, or why the run cannot read it:
 * then nothing changes. Throws where it cannot be unpacked. */
export async function takeText(
    file: File,
    { values }: Entry,
): Promise<{ name: string } | { problem: string }> {
    const safe = file.name.replace(/\.gz$/, '').replace(/[^\w.-]/g, '_') || 'text';
    const name = safe === 'sample' ? 'sample.txt' : safe;
    const text = { name, bytes: await unpacked(file) };
    provide(text);
    const problem = await refusalOf({ ...values, text: name });
    if (problem) {
        provide(heldText.value);
        return { problem: problem.message };
    }
    await set(KEY, text).catch(() => {}); // a browser that keeps nothing asks again after a reload
    heldText.value = text;
    return { name };
}
export function forgetText(): void {
    use(null);
    void del(KEY).catch(() => {});
}
function use(text: Text | null): void {
    heldText.value = text;
    provide(text);
    if (text) retryFailed();
}
const provide = (text: Text | null): void => provideFiles('text', new Map(text && [[text.name, text.bytes]]));

/** What an earlier visit handed over. */
export async function restoreText(): Promise<void> {
    const text = await get<Text>(KEY).catch(() => undefined);
    if (text) use(text);
}
