// wide.ts: a run whose steps are large, opened once more in an instance of the module that threads share.
import { load, type Lab, type Run } from '../../wasm/loader/seqmix.ts';
import { SHARED_FROM } from '../../wasm/loader/sharing.ts';
import type { Shared } from './protocol.ts';

/** null: its steps are small, or there can be no such instance. */
export async function widened(
    { metrics }: Run,
    make: (lab: Lab) => Run,
    shared: () => Promise<Shared>,
): Promise<[Run, Lab] | null> {
    if (metrics.flops < SHARED_FROM) return null;
    let lab: Lab | undefined;
    try {
        const { module, thread } = await shared();
        lab = await load({ wasm: module, thread });
        return [make(lab), lab];
    } catch {
        lab?.close();
        return null;
    }
}
