// own_text.ts: a text that the visitor hands over, for the task of the next character: kept in this browser's
// IndexedDB, given to the workers under the name that configs then have.
import { del, get, set } from 'idb-keyval';
import { signal } from '@preact/signals';
import { unpacked } from '../core/files.ts';
import { provideFiles, retryFailed } from './files.ts';

const KEY = 'seqmix.text';
type Text = { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> };

export const heldText = signal<Text | null>(null);

/** Take a file, plain or gzip; the answer is its name in configs. Throws where it cannot be read. */
export async function takeText(file: File): Promise<string> {
    const name = file.name.replace(/\.gz$/, '').replace(/[^\w.-]/g, '_') || 'text';
    const text = { name: name === 'sample' ? 'sample.txt' : name, bytes: await unpacked(file) };
    use(text);
    await set(KEY, text).catch(() => {}); // a browser that keeps nothing asks again after a reload
    return text.name;
}
export function forgetText(): void {
    use(null);
    void del(KEY).catch(() => {});
}
function use(text: Text | null): void {
    heldText.value = text;
    provideFiles('text', new Map(text && [[text.name, text.bytes]]));
    if (text) retryFailed();
}

/** What an earlier visit handed over. */
export async function restoreText(): Promise<void> {
    const text = await get<Text>(KEY).catch(() => undefined);
    if (text) use(text);
}
