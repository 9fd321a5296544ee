// shared.ts: seqmix-threads.wasm, for runs that several threads share, and the script of a thread: fetched
// and compiled once, when a run first has steps that are large enough, where the page may share memory with
// its workers. (The page in one file never may: it has shared_none.ts in its place.)
import address from '../../build/wasm/seqmix-threads.wasm?url';
import thread from '../../wasm/loader/thread.ts?worker&url';
import type { Lab } from '../../wasm/loader/seqmix.ts';
import { canShare } from '../../wasm/loader/sharing.ts';
import type { Shared } from './protocol.ts';
import { compiledAt } from './whole.ts';

let shared: Promise<Shared> | null = null;

/** null: memory cannot be shared here. */
export function sharedFor(lab: Lab): (() => Promise<Shared>) | null {
    if (!canShare() || lab.isa !== 'wasm') return null;
    return () => {
        shared ??= compiledAt(address).then((module) => ({
            module,
            thread: new URL(thread, document.baseURI).href,
        }));
        shared.catch(() => (shared = null));
        return shared;
    };
}
