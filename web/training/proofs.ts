// proofs.ts: the page's way to verify.wasm, which is fetched when it is first asked for and lives in a worker
// of its own. The only file that talks to that worker.
import * as Comlink from 'comlink';
import checksAddress from '../../build/wasm/checks.wasm?url';
import address from '../../build/wasm/verify.wasm?url';
import type { Checks } from '../../wasm/loader/checks.ts';
import type { Verify } from '../../wasm/loader/verify.ts';
import { spawnProver } from './spawn.ts';
import type { Host } from './verify_worker.ts';
import { compiledAt } from './whole.ts';

export type Proofs = Comlink.Remote<Verify>;

let compiled: Promise<WebAssembly.Module> | null = null;

export interface Bench {
    proofs: Proofs;
    /** Fails when the worker dies; what it was asked then never comes. */
    stopped: Promise<never>;
    /** The self-check of a whole module, called from that worker. */
    checks(module: WebAssembly.Module): Promise<Comlink.Remote<Checks>>;
    close(): void;
}
/** A worker with verify.wasm in it, for who starts long work and may want to end it. */
export async function openBench(): Promise<Bench> {
    compiled ??= compiledAt(address);
    compiled.catch(() => (compiled = null));
    const module = await compiled;
    const worker = spawnProver();
    const stopped = new Promise<never>((_, fail) => {
        worker.onerror = (event) => {
            event.preventDefault();
            worker.terminate();
            fail(new Error(`its worker stopped: ${event.message || 'it could not be started'}`));
        };
    });
    stopped.catch(() => {});
    const host = Comlink.wrap<Host>(worker);
    try {
        const proofs = (await Promise.race([host.proofs(module), stopped])) as unknown as Proofs;
        return {
            proofs,
            stopped,
            checks: async (module) =>
                Promise.race([
                    host.checks(module, await compiledAt(checksAddress)),
                    stopped,
                ]) as unknown as Promise<Comlink.Remote<Checks>>,
            close: () => worker.terminate(),
        };
    } catch (error) {
        worker.terminate();
        throw error;
    }
}

let shared: Promise<Bench> | null = null;
/** Ask the worker that all pictures share. One that could not be started, or died, has a successor at the
 * next question. */
export async function asking<T>(ask: (v: Proofs) => Promise<T>): Promise<T> {
    const mine = (shared ??= openBench());
    try {
        const bench = await mine;
        bench.stopped.catch(() => {
            if (shared === mine) shared = null;
        });
        return await Promise.race([ask(bench.proofs), bench.stopped]);
    } catch (error) {
        if (shared === mine && !(await mine.then(Boolean, () => false))) shared = null;
        throw error;
    }
}
