// worker.ts: the worker's end: runs a Lab and answers calls by number. scripts/package.mjs makes one
// script of it, before which remote.ts puts a line that names its port.
import { type Kernels, type Lab, load, Run, SeqmixError, type Tensor } from '../loader/seqmix.js';

declare const seqmixPort: {
    postMessage(message: unknown): void;
    addEventListener?(type: 'message', listener: (event: { data: unknown }) => void): void;
    on?(type: 'message', listener: (data: unknown) => void): void;
};
interface Call {
    id: number;
    /** 0: the lab; else a run's number. */
    target: number;
    name: string;
    /** Absent: a property. */
    args?: unknown[];
}

let lab: Lab | undefined;
const runs = new Map<number, Run>();
let opened = 0;

async function answer({ target, name, args }: Call): Promise<unknown> {
    if (name === 'start') {
        const module = args![0] as WebAssembly.Module;
        lab = await load({ wasm: module, scalar: module });
        const { version, isa, notice, config } = lab;
        return { version, isa, notice, config, names: Object.keys(lab.kernels) };
    }
    const object = (target ? runs.get(target) : lab) as unknown as Record<string, unknown> | undefined;
    if (!object) {
        if (name === 'close') return undefined; // twice is once
        throw new SeqmixError('this run was closed');
    }
    if (name === 'kernels') {
        const [kernel, given] = args as [keyof Kernels, never];
        return (object.kernels as Kernels)[kernel](given);
    }
    const member = object[name];
    const result = args ? (member as (...args: unknown[]) => unknown).apply(object, args) : member;
    if (target && name === 'close') runs.delete(target);
    if (name === 'tensor') {
        const tensor = result as Tensor;
        return { ...tensor, data: tensor.data.slice() }; // a view would take the module's whole memory along
    }
    if (!(result instanceof Run)) return result;
    runs.set(++opened, result);
    return { run: opened };
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
