// worker.ts: the worker's end: runs a Lab and answers calls by number. scripts/package.mjs makes one
// script of it, before which remote.ts puts a line that names its port.
import {
    type Kernels,
    type Lab,
    load,
    type Piece,
    Run,
    SeqmixError,
    State,
    type Tensor,
} from '../loader/seqmix.js';

declare const seqmixPort: {
    postMessage(message: unknown): void;
    addEventListener?(type: 'message', listener: (event: { data: unknown }) => void): void;
    on?(type: 'message', listener: (data: unknown) => void): void;
};
interface Call {
    id: number;
    /** 0: the lab; else the number of a run, a state or a text that is written. */
    target: number;
    name: string;
    /** Absent: a property. */
    args?: unknown[];
}

let lab: Lab | undefined;
/** Runs, states, and what `generate` gives. */
const objects = new Map<number, object>();
let opened = 0;

/** What is there after some 20 ms, so that not every character crosses alone. No more is written than is
 * asked for. */
async function piecesOf(from: AsyncGenerator<Piece>, first: IteratorResult<Piece>) {
    const pieces: Piece[] = [];
    const start = performance.now();
    let next = first;
    while (!next.done) {
        pieces.push(next.value);
        if (performance.now() - start > 20) break;
        next = await from.next();
    }
    return { pieces, done: next.done === true };
}

async function answer({ target, name, args }: Call): Promise<unknown> {
    if (name === 'start') {
        const [module, threads, thread] = args as [WebAssembly.Module, number?, string?];
        lab = await load({ wasm: module, scalar: module, shared: module, threads, thread });
        const { version, isa, notice, config } = lab;
        return { version, isa, notice, config, names: Object.keys(lab.kernels) };
    }
    const object = (target ? objects.get(target) : lab) as unknown as Record<string, unknown> | undefined;
    if (!object) {
        if (name === 'close' || name === 'return') return undefined; // twice is once
        throw new SeqmixError('this run or state was closed');
    }
    if (name === 'kernels') {
        const [kernel, given] = args as [keyof Kernels, never];
        return (object.kernels as Kernels)[kernel](given);
    }
    const member = object[name];
    const result = args ? (member as (...args: unknown[]) => unknown).apply(object, args) : member;
    if (target && (name === 'close' || name === 'return')) objects.delete(target);
    if (name === 'next')
        return piecesOf(
            object as unknown as AsyncGenerator<Piece>,
            await (result as Promise<IteratorResult<Piece>>),
        );
    if (name === 'tensor') {
        const tensor = result as Tensor;
        return { ...tensor, data: tensor.data.slice() }; // a view would take the module's whole memory along
    }
    if (!(result instanceof Run || result instanceof State || name === 'generate')) return result;
    objects.set(++opened, result as object);
    return { opened };
}
async function handle(call: Call) {
    try {
        seqmixPort.postMessage({ id: call.id, result: await answer(call) });
    } catch (error) {
        const { message, key = '', value = '', allowed = '' } = error as SeqmixError;
        seqmixPort.postMessage({ id: call.id, error: { message, key, value, allowed } });
    }
}
if (seqmixPort.on) seqmixPort.on('message', (data) => void handle(data as Call));
else seqmixPort.addEventListener!('message', (event) => void handle(event.data as Call));
