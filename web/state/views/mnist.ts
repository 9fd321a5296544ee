// mnist.ts: the MNIST files that the visitor hands over, or the part of them that the page fetches: known by
// their headers, kept in this browser's IndexedDB, given to the workers.
import { computed, signal } from '@preact/signals';
import { del, get, set } from 'idb-keyval';
import { unpacked } from '../../core/files.ts';
import type { Values } from '../../core/config.ts';
import { partOnly } from '../members.ts';
import { lab } from '../page.ts';
import { drawnInstead, MNIST_FILES as FILES, MNIST_PART, partInstead } from '../setup.ts';
import { provideFiles, retryFailed } from './files.ts';

const KEY = 'seqmix.mnist';
export { FILES };
type Name = (typeof FILES)[number];

export const held = signal<ReadonlyMap<string, Uint8Array>>(new Map());
export const complete = (): boolean => FILES.every((name) => held.value.has(name));
/** More of MNIST is here than the part that the page fetches. */
export const whole = computed(() => complete() && !partOnly.value);
/** The run as it can be trained with what is here. */
export const withHeld = (values: Values): Values =>
    !complete() ? drawnInstead(lab(), values) : partOnly.value ? partInstead(lab(), values) : values;

/** Which of the files these bytes are, by magic number and count; or what is wrong with them. */
export function recognise(bytes: Uint8Array, name: string): Name | string {
    if (bytes.length < 8) return `${name} is too short for an IDX file`;
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const [magic, count] = [view.getUint32(0), view.getUint32(4)];
    const kind = magic === 0x803 ? 'images-idx3' : magic === 0x801 ? 'labels-idx1' : null;
    if (!kind)
        return `${name} is no IDX file of images or labels: it starts with 0x${magic.toString(16).padStart(8, '0')}`;
    const named = /^(train|t10k)/.exec(name)?.[1];
    const part = named ?? (count >= 30_000 ? 'train' : 't10k');
    const head = kind === 'images-idx3' ? 16 : 8;
    const size = head + count * (kind === 'images-idx3' ? 784 : 1);
    if (bytes.length !== size)
        return `${name} has ${bytes.length} bytes where ${count} ${kind.slice(0, 6)} of 28 x 28 take ${size}`;
    return `${part}-${kind}-ubyte` as Name;
}

/** Take files, plain or gzip; returns what could not be used. */
export async function take(files: readonly File[]): Promise<string[]> {
    const problems: string[] = [];
    const next = new Map(held.value);
    for (const file of files) {
        try {
            const bytes = await unpacked(file);
            const name = recognise(bytes, file.name);
            if ((FILES as readonly string[]).includes(name)) next.set(name, bytes);
            else problems.push(name);
        } catch (error) {
            problems.push(`${file.name} cannot be read: ${(error as Error).message}`);
        }
    }
    // Kept before it is used: what a run is seen to train on is still here after a reload.
    if (next.size)
        await set(KEY, next).catch(() =>
            problems.push('This browser does not keep them: they will be gone after a reload'),
        );
    use(next);
    return problems;
}

/** The page of one file has nothing beside it to fetch. */
export const fetches = import.meta.env.MODE !== 'single';
const PATIENCE = 120_000; // milliseconds for a file
const PLACE = import.meta.env.DEV ? 'web/mnist/' : 'mnist/';
export const licence = (): string => new URL(`${PLACE}LICENSE.txt`, document.baseURI).href;
/** Fetch the part; returns a sentence on what went wrong, or null. */
export async function fetchPart(): Promise<string | null> {
    const files: File[] = [];
    for (const name of FILES) {
        const path = `${PLACE}${name}.gz`;
        try {
            const response = await fetch(new URL(path, document.baseURI), {
                signal: AbortSignal.timeout(PATIENCE),
            });
            if (!response.ok) return `${path} cannot be fetched: the server answers ${response.status}`;
            files.push(new File([await response.blob()], name));
        } catch {
            return `${path} cannot be fetched: the page's server does not answer`;
        }
    }
    const problems = await take(files);
    return problems[0] ?? (complete() ? null : 'some of the files are missing');
}
export function forgetFiles(): void {
    use(new Map());
    void del(KEY).catch(() => {});
}
function use(files: ReadonlyMap<string, Uint8Array>): void {
    held.value = files;
    const images = files.get(FILES[0]);
    const count = images && new DataView(images.buffer, images.byteOffset).getUint32(4);
    partOnly.value = count === MNIST_PART.train;
    provideFiles('mnist', files);
    if (complete()) retryFailed();
}

/** What an earlier visit handed over. */
export async function restoreFiles(): Promise<void> {
    const found = await get<Map<string, Uint8Array>>(KEY).catch(() => undefined);
    if (found?.size) use(found);
}
