// verify_worker.ts: the worker in which the proofs, the constructions and the self-check run; proofs.ts talks
// to it.
import * as Comlink from 'comlink';
import { Checks } from '../../wasm/loader/checks.ts';
import { load } from '../../wasm/loader/seqmix.ts';
import { loadVerify, type Verify } from '../../wasm/loader/verify.ts';

const host = {
    async proofs(module: WebAssembly.Module): Promise<Verify & Comlink.ProxyMarked> {
        return Comlink.proxy(await loadVerify(module));
    },
    /** The self-check of a whole module. */
    async checks(
        module: WebAssembly.Module,
        checks: WebAssembly.Module,
    ): Promise<Checks & Comlink.ProxyMarked> {
        return Comlink.proxy(new Checks(await load({ wasm: module, scalar: module }), checks));
    },
};
export type Host = typeof host;
Comlink.expose(host);
