// awake.mjs: for node --import: what SMX_M is in TypeScript, and in a WebAssembly module, where both numbers
// lie in memory. See mutant.h.
import { writeFileSync } from 'node:fs';
import { threadId } from 'node:worker_threads';

const { SMX_MUTANT = '-1', SMX_MUTANT_SEEN } = process.env;
const AWAKE = 16; // the address of the fault that happens, counted from 1
const SEEN = 24; // of a byte for each that was come past
const MOST = 1000;
const seen = new Set();
const memories = [];
globalThis.SMX_M = (i) => (seen.add(i), i === Number(SMX_MUTANT));
const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (...what) => {
    const instance = await instantiate(...what);
    if (instance.exports?.lab_alloc) {
        const memory = instance.exports.memory ?? what[1].env.memory; // (its own, or several threads')
        new DataView(memory.buffer).setInt32(AWAKE, Number(SMX_MUTANT) + 1, true);
        if (SMX_MUTANT_SEEN) memories.push(memory);
    }
    return instance;
};
if (SMX_MUTANT_SEEN)
    process.on('exit', () => {
        for (const { buffer } of memories)
            for (const [i, past] of new Uint8Array(buffer, SEEN, MOST).entries()) if (past) seen.add(i);
        writeFileSync(`${SMX_MUTANT_SEEN}/node${process.pid}-${threadId}`, [...seen].join('\n'));
    });
