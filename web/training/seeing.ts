// seeing.ts: what a worker shows of the inside of a run: a sample's way through it, now or at an earlier
// step.
import type { Lab, Run, Sample, Tensor } from '../../wasm/loader/seqmix.ts';
import { SNAPSHOT_BYTES, SNAPSHOTS, type Edits, type Look, type Seen, type Watch } from './protocol.ts';

const NOTHING: Sample = {
    length: 0,
    classes: 0,
    channels: 0,
    tokens: null,
    values: null,
    targets: null,
    predicted: null,
    confidence: null,
    targetValues: null,
};

/** What `body` gives while looks and evaluations compute with these numbers. */
export function withWeights<T>(run: Run, edits: Edits, body: () => T): T {
    run.override(edits);
    try {
        return body();
    } finally {
        run.override([]);
    }
}

/** What `run` does with the watched sample. */
export function lookAt(run: Run, watch: Watch, step: number): Look {
    return withWeights(run, watch.edits, () => looked(run, watch, step));
}
function looked(run: Run, watch: Watch, step: number): Look {
    const sample = watch.tokens ? run.predict(watch.tokens) : run.look(watch.index);
    const all = run.tensors();
    const maps = new Map<number, string>(); // block -> name of its attention map
    const numbers = new Set<number>();
    for (const { name } of all) {
        const number = /^block(\d+)\./.exec(name)?.[1];
        if (number !== undefined) numbers.add(Number(number));
        if (number !== undefined && /\.map$/.test(name)) maps.set(Number(number), name);
    }
    const blocks = watch.detail ? [...numbers].sort((a, b) => a - b) : [...maps.keys()];
    const block = blocks.includes(watch.block) ? watch.block : (blocks[0] ?? 0);
    const name = maps.get(block);
    const copy = (name: string): Tensor => {
        const tensor = run.tensor(name);
        const data = tensor.data.slice(); // another thread's soon
        for (const edit of watch.edits) if (edit.name === name) data.set(edit.data, edit.at);
        return { ...tensor, data };
    };
    const map = name === undefined ? null : copy(name);
    const wanted = ({ name, weight }: { name: string; weight: boolean }) =>
        !/\.map$/.test(name) && (weight || name.startsWith('grad:') || name.startsWith(`block${block}.`));
    const tensors: Tensor[] = watch.detail ? all.filter(wanted).map(({ name }) => copy(name)) : [];
    return {
        id: watch.id,
        index: watch.index,
        step,
        sample,
        blocks,
        block,
        heads: map?.shape[0] ?? 0,
        map: map?.data ?? null,
        tensors,
        problem: null,
    };
}

/** In place of a look that failed. */
export function noLook(watch: Watch, step: number, problem: string): Look {
    const { id, index } = watch;
    return {
        id,
        index,
        step,
        sample: NOTHING,
        blocks: [],
        block: 0,
        heads: 0,
        map: null,
        tensors: [],
        problem,
    };
}

/** What of a look is handed over instead of copied. */
export function transfers(look: Look): Transferable[] {
    const map = look.map ? [look.map.buffer] : [];
    return [...map, ...look.tensors.map(({ data }) => data.buffer)];
}

/** An image (drawn, or held-out sample number `what`) through the eyes of a run. */
export function seeImage(run: Run, what: Uint8Array | number): Seen {
    const sample = typeof what === 'number' ? run.look(what) : run.predictImage(what);
    const reading = run.reading(sample);
    return { sample, reading, saliency: run.saliency(sample), step: run.metrics.step };
}

/** Checkpoints of a run at earlier steps, thinned out evenly as they become many. */
export class Snapshots {
    #kept: { step: number; bytes: Uint8Array }[] = [];
    #every = 1;
    #seen = 0;
    #open: { step: number; run: Run } | null = null;

    get steps(): number[] {
        return this.#kept.map(({ step }) => step);
    }
    take(run: Run): boolean {
        if (this.#seen++ % this.#every) return false;
        const bytes = run.save();
        this.#kept.push({ step: run.metrics.step, bytes });
        const most = Math.max(2, Math.min(SNAPSHOTS, Math.floor(SNAPSHOT_BYTES / bytes.length)));
        if (this.#kept.length > most) {
            this.#kept = this.#kept.filter((_, i) => i % 2 === 0);
            this.#every *= 2;
        }
        return true;
    }
    /** The run as it was at the kept step nearest to `step`; null where nothing is kept. */
    at(lab: Lab, step: number): Run | null {
        const nearest = this.#kept.reduce<{ step: number; bytes: Uint8Array } | null>(
            (best, one) => (best && Math.abs(best.step - step) <= Math.abs(one.step - step) ? best : one),
            null,
        );
        if (!nearest) return null;
        if (this.#open?.step !== nearest.step) {
            this.close();
            this.#open = { step: nearest.step, run: lab.load(nearest.bytes) };
        }
        return this.#open!.run;
    }
    close(): void {
        this.#open?.run.close();
        this.#open = null;
    }
}
