// one-segment.mjs: node scripts/one-segment.mjs FROM TO: the WebAssembly module FROM with its data in one
// segment. wasm-opt cuts data wherever some zeros stand, and each cut is an address and a length that gzip
// cannot foresee, while zeros cost it next to nothing: 2,130 bytes of seqmix-whole.wasm.
import { readFileSync, writeFileSync } from 'node:fs';

const DATA = 11;
const CONST = 0x41;
const END = 0x0b;

/** An integer in LEB128 at `at`: its bits, in 32, and where it ends. */
function read(bytes, at) {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
        const byte = bytes[at++];
        value |= (byte & 127) << shift;
        if (byte < 128) return [value >>> 0, at];
    }
}
/** The same written; `signed` as i32.const wants it. */
function write(value, signed = false) {
    const out = [];
    for (;;) {
        const byte = value & 127;
        value >>>= 7;
        if (value === 0 && !(signed && byte & 64)) return [...out, byte];
        out.push(byte | 128);
    }
}
function merged(bytes, from) {
    let [count, at] = read(bytes, from);
    const segments = [];
    for (; count > 0; count--) {
        if (bytes[at] !== 0 || bytes[at + 1] !== CONST)
            throw new Error('a segment that does not lie at a constant address');
        const [address, after] = read(bytes, at + 2);
        if (bytes[after] !== END) throw new Error('an address of several instructions');
        const [length, start] = read(bytes, after + 1);
        segments.push({ address, bytes: bytes.subarray(start, start + length) });
        at = start + length;
    }
    segments.sort((a, b) => a.address - b.address);
    const first = segments[0].address;
    const data = new Uint8Array(Math.max(...segments.map((s) => s.address + s.bytes.length)) - first);
    for (const s of segments) data.set(s.bytes, s.address - first);
    return [1, 0, CONST, ...write(first, true), END, ...write(data.length), ...data];
}

const [from, to] = process.argv.slice(2);
const module = readFileSync(from);
const out = [...module.subarray(0, 8)];
for (let at = 8; at < module.length;) {
    const id = module[at];
    const [length, start] = read(module, at + 1);
    const body = id === DATA ? merged(module, start) : module.subarray(start, start + length);
    out.push(id, ...write(body.length));
    for (const byte of body) out.push(byte);
    at = start + length;
}
writeFileSync(to, Uint8Array.from(out));
