// sharing.ts: whether and how far runs can be shared between threads; threads.ts does it, and is fetched when
// it is wanted.
import { SeqmixError } from './error.js';

/** FLOPs of a step from which on it is shared (an estimate); a smaller one stays with the caller's thread. */
export const SHARED_FROM = 20e6;
/** The pieces that an operation is cut into at most: more threads would have nothing to do. */
export const MOST_THREADS = 8;
/** Whether memory can be shared with workers here: in a page only where it is isolated from other sites. */
export const canShare = (): boolean =>
    typeof SharedArrayBuffer === 'function' &&
    (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated !== false;
/** Whether this thread may wait for others, which a page's own may not. */
export function mayWait(): boolean {
    try {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1);
        return true;
    } catch {
        return false;
    }
}
/** Whether it is of seqmix-threads.wasm, which imports its memory. */
export const isShared = (module: WebAssembly.Module): boolean =>
    WebAssembly.Module.imports(module).some(({ kind }) => kind === 'memory');

/** `threads`, if it is as many as can be. */
export function threadCount(threads: number): number {
    if (Number.isInteger(threads) && threads >= 1 && threads <= MOST_THREADS) return threads;
    const allowed = `a whole number from 1 to ${MOST_THREADS}`;
    throw new SeqmixError(
        `threads is ${threads}; it must be ${allowed}`,
        'threads',
        String(threads),
        allowed,
    );
}
