// worker.ts: a worker of the page: a host (host.ts), and the time that it goes by.
import * as Comlink from 'comlink';
import { Host } from './host.ts';

// setTimeout would wait 4 ms for a turn.
const turns = new MessageChannel();
const waiting: (() => void)[] = [];
turns.port1.onmessage = () => waiting.shift()?.();
const turn = () => new Promise<void>((done) => (waiting.push(done), turns.port2.postMessage(0)));
const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

// What breaks outside a call ends the worker, and the page hears of it.
self.addEventListener('unhandledrejection', (event) => {
    setTimeout(() => {
        throw event.reason;
    });
});
const host = new Host({ now: () => performance.now(), turn, sleep });
/** Bytes that the modules of this worker hold, for the soak. */
Object.assign(self, { seqmixBytes: () => host.bytes });
Comlink.expose(host);
