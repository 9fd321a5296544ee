// threads.ts: a lab whose runs are shared between threads: seqmix-threads.wasm (wasm/team.c) over a shared
// memory, an instance in the caller's thread and one in a worker for each helper (thread.ts).
import { SeqmixError } from './error.js';
import type { Exports, Pointer } from './memory.js';
import { SHARED_FROM } from './sharing.js';

const STACK = 1 << 18; // bytes: pieces take 8 KB of it (threads.test.mjs)
const PAGE = 1 << 16;
const READY = 10_000; // ms in which a helper comes to work, or is done without

interface TeamExports extends Exports {
    stackRestore(at: Pointer): void;
    lab_threads(count: number): void;
    lab_team_from(flops: number): void;
    lab_lost(): number;
}
/** The worker of a helper, and whether it came to work. */
interface Helper {
    ready: Promise<boolean>;
    end(): unknown;
}
const ended = new FinalizationRegistry<Helper[]>((helpers) => helpers.forEach((helper) => helper.end()));

async function startHelper(script: URL | string, given: object): Promise<Helper> {
    if (typeof Worker === 'undefined') {
        const name = 'node:worker_threads'; // a variable, so that bundlers for the page do not look for it
        const threads = (await import(
            /* @vite-ignore */ /* webpackIgnore: true */ name
        )) as typeof import('node:worker_threads');
        const worker = new threads.Worker(new URL(script));
        worker.postMessage(given);
        const ready = new Promise<boolean>((done) => {
            worker.once('message', () => done(true));
            worker.once('error', () => done(false));
            worker.once('exit', () => done(false));
        });
        void ready.then(() => worker.unref());
        return { ready, end: () => worker.terminate() };
    }
    const worker = new Worker(script, { type: 'module' });
    worker.postMessage(given);
    const ready = new Promise<boolean>((done) => {
        worker.onmessage = () => done(true);
        worker.onmessageerror = () => done(false);
        worker.onerror = (event) => (event.preventDefault(), done(false));
    });
    return { ready, end: () => worker.terminate() };
}

/** What it says, or false after READY. */
async function inTime(ready: Promise<boolean>): Promise<boolean> {
    let timer;
    const late = new Promise<boolean>((done) => {
        timer = setTimeout(done, READY, false);
    });
    const came = await Promise.race([ready, late]);
    clearTimeout(timer);
    return came;
}

/** The helpers of a lab. */
export class Team {
    readonly exports: Exports;
    readonly #x: TeamExports;
    readonly #module: WebAssembly.Module;
    readonly #memory: WebAssembly.Memory;
    readonly #script: URL | string;
    readonly #helpers: Helper[] = [];
    #threads = 1;
    #using = Promise.resolve(1);
    #closed = false;

    /** `script`: the address of thread.js. */
    constructor(
        module: WebAssembly.Module,
        memory: WebAssembly.Memory,
        instance: WebAssembly.Instance,
        script: URL | string,
    ) {
        this.#x = instance.exports as unknown as TeamExports;
        this.#module = module;
        this.#memory = memory;
        this.#script = script;
        this.exports = guarded(this.#x, memory);
        ended.register(memory, this.#helpers);
        this.#x.lab_team_from(SHARED_FROM);
    }
    /** That work now, the caller's own counted. */
    get threads(): number {
        return this.#threads;
    }
    /** So many from now on; resolves with as many as there are, once all of them work. */
    use(count: number): Promise<number> {
        return (this.#using = this.#using.then(() => this.#use(count)));
    }
    async #use(count: number): Promise<number> {
        while (!this.#closed && this.#helpers.length < count - 1)
            if (!(await this.#start(this.#helpers.length + 1))) break;
        this.#threads = Math.min(count, this.#helpers.length + 1);
        this.#x.lab_threads(this.#threads);
        return this.#threads;
    }
    /** Whether there is one more. */
    async #start(number: number): Promise<boolean> {
        const stack = this.#x.lab_alloc(STACK);
        if (!stack) return false;
        const given = { module: this.#module, memory: this.#memory, stack: (stack + STACK) & ~15, number };
        const helper = await startHelper(this.#script, given).catch(() => null);
        if (helper && (await inTime(helper.ready)) && !this.#closed) this.#helpers.push(helper);
        else {
            helper?.end(); // (at some later moment: until then it may use its stack)
            if (!helper) this.#x.lab_free(stack);
        }
        return this.#helpers.length === number;
    }
    /** End the helpers, for good; the lab goes on alone. */
    close(): void {
        this.#closed = true;
        this.#threads = 1;
        this.#x.lab_threads(1);
        for (const helper of this.#helpers.splice(0)) helper.end();
    }
}

/** What a module of seqmix-threads.wasm becomes; null: there is no memory that can be shared. */
export async function openTeam(module: WebAssembly.Module, script: URL | string): Promise<Team | null> {
    const memory = sharedMemory();
    if (!memory) return null;
    const imports = { env: { memory, emscripten_notify_memory_growth() {} } };
    const instance = await WebAssembly.instantiate(module, imports);
    (instance.exports as unknown as Exports)._initialize();
    return new Team(module, memory, instance, script);
}
/** 16 MB that may grow to 2 GB, or as near to that as the engine allows: it sets the addresses aside. */
function sharedMemory(): WebAssembly.Memory | null {
    for (let most = 2 ** 31; most >= 2 ** 28; most /= 2)
        try {
            return new WebAssembly.Memory({ initial: 2 ** 24 / PAGE, maximum: most / PAGE, shared: true });
        } catch {
            // less, then
        }
    return null;
}

/**
 * The exports, but that nothing can be called once a call has ended in a trap: helpers may still be at its
 * pieces.
 */
function guarded(x: TeamExports, memory: WebAssembly.Memory): Exports {
    let broken: SeqmixError | null = null;
    const call = (f: (...args: unknown[]) => unknown, args: unknown[]) => {
        if (broken) throw broken;
        try {
            return f(...args);
        } catch (error) {
            const why = x.lab_lost()
                ? 'one of its threads ended in the middle of a step'
                : `the module stopped: ${(error as Error).message}`;
            const rest = 'what it held is lost; load another lab, and there a checkpoint';
            throw (broken = new SeqmixError(`this lab is of no more use, ${why}; ${rest}`, 'threads'));
        }
    };
    const own: Record<string, unknown> = { memory };
    for (const [name, f] of Object.entries(x))
        own[name] = typeof f === 'function' ? (...args: unknown[]) => call(f, args) : f;
    return own as unknown as Exports;
}
