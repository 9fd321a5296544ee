// thread.ts: the worker of a helper (threads.ts): an instance of the lab's module on the lab's memory, which
// takes pieces of its runs until the worker is ended. It stands by itself: a copy of it works anywhere.
interface Helper {
    module: WebAssembly.Module;
    memory: WebAssembly.Memory;
    /** Where its stack begins, and which helper it is, from 1. */
    stack: number;
    number: number;
}
interface Exports {
    stackRestore(at: number): void;
    lab_help(number: number): void;
    lab_lose(): void;
}
interface Port {
    postMessage(message: unknown): void;
}

async function help({ module, memory, stack, number }: Helper, lab: Port): Promise<void> {
    const imports = { env: { memory, emscripten_notify_memory_growth() {} } };
    const x = (await WebAssembly.instantiate(module, imports)).exports as unknown as Exports;
    x.stackRestore(stack);
    lab.postMessage('ready');
    try {
        x.lab_help(number);
    } catch (error) {
        x.lab_lose();
        throw error;
    }
}

if (typeof self === 'undefined') {
    const name = 'node:worker_threads'; // a variable, so that bundlers for the page do not look for it
    const { parentPort } = (await import(
        /* @vite-ignore */ /* webpackIgnore: true */ name
    )) as typeof import('node:worker_threads');
    parentPort!.once('message', (helper: Helper) => void help(helper, parentPort!));
} else {
    self.onmessage = ({ data }: MessageEvent<Helper>) => void help(data, self as unknown as Port);
}
export {};
