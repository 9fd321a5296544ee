// verify_worker.ts: the worker in which the proofs, the constructions and the self-check run; proofs.ts talks to it.
import * as Comlink from 'comlink';
import { load, type Lab } from '../wasm/seqmix.ts';
import { loadVerify, type Verify } from '../wasm/verify.ts';

const host = {
    async proofs(module: WebAssembly.Module): Promise<Verify & Comlink.ProxyMarked> {
        return Comlink.proxy(await loadVerify(module));
    },
    /** The module that trains on this page. */
    async engine(module: WebAssembly.Module): Promise<Lab & Comlink.ProxyMarked> {
        return Comlink.proxy(await load({ wasm: module, scalar: module }));
    },
};
export type Host = typeof host;
Comlink.expose(host);
