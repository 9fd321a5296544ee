// for-gzip.mjs: node scripts/for-gzip.mjs FROM TO [search]: the WebAssembly module FROM, the same program, as
// gzip likes it. Of seqmix-whole.wasm data in one segment saves 2,130 bytes (wasm-opt cuts it wherever some
// zeros stand, and each cut is an address and a length that gzip cannot foresee, while zeros cost it next to
// nothing), functions in an order in which each stands behind those that it resembles save 2,970, one hint of
// alignment for all vectors that are read and written (16, 4 and 1 bytes stood side by side) 780, exports by
// name 90. Where gzip ends its blocks is luck: orders as good as each other differ by 1,500 bytes. `search`
// writes that of 48 which `gzip -9` makes smallest, 1,000 less than their mean.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const [IMPORT, FUNCTION, EXPORT, START, ELEMENT, CODE, DATA] = [2, 3, 7, 8, 9, 10, 11];
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
/** Behind `count` integers, of 32 or 64 bits. */
function behind(bytes, at, count = 1) {
    for (; count > 0; count--) while (bytes[at++] & 128);
    return at;
}
/** The parts of a vector: `part(at)` gives one and where it ends. */
function parts(bytes, part) {
    let [count, at] = read(bytes, 0);
    const list = [];
    for (; count > 0; count--) {
        const [one, end] = part(at);
        list.push(one);
        at = end;
    }
    return list;
}

function oneSegment(bytes) {
    const segments = parts(bytes, (at) => {
        if (bytes[at] !== 0 || bytes[at + 1] !== CONST)
            throw new Error('a segment that does not lie at a constant address');
        const [address, after] = read(bytes, at + 2);
        if (bytes[after] !== END) throw new Error('an address of several instructions');
        const [length, start] = read(bytes, after + 1);
        return [{ address, bytes: bytes.subarray(start, start + length) }, start + length];
    });
    segments.sort((a, b) => a.address - b.address);
    const first = segments[0].address;
    const data = new Uint8Array(Math.max(...segments.map((s) => s.address + s.bytes.length)) - first);
    for (const s of segments) data.set(s.bytes, s.address - first);
    return [1, 0, CONST, ...write(first, true), END, ...write(data.length), ...data];
}

/** Where the operands of an instruction end. One that this list does not know stops the build. */
function operandsEnd(bytes, at, op) {
    const vector = op === 0xfd || op === 0xfc;
    const [sub, from] = vector ? read(bytes, at) : [0, at];
    if (op === 0xfd) {
        const lane = sub >= 84 && sub <= 91;
        if (sub <= 11 || sub === 92 || sub === 93 || lane) return behind(bytes, from, 2) + (lane ? 1 : 0);
        return from + (sub === 12 || sub === 13 ? 16 : sub >= 21 && sub <= 34 ? 1 : 0);
    }
    if (op === 0xfc && sub <= 11) return behind(bytes, from, [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1][sub]);
    if (op === 0x0e) {
        const [labels, first] = read(bytes, at);
        return behind(bytes, first, labels + 1);
    }
    if ((op >= 0x02 && op <= 0x04) || op === 0x0c || op === 0x0d) return behind(bytes, at);
    if (op === 0x10 || (op >= 0x20 && op <= 0x24) || op === 0x41 || op === 0x42) return behind(bytes, at);
    if (op === 0x11 || (op >= 0x28 && op <= 0x3e)) return behind(bytes, at, 2); // a table's call, memory
    if (op === 0x3f || op === 0x40) return at + 1; // how much memory there is
    if (op === 0x43 || op === 0x44) return at + (op === 0x43 ? 4 : 8); // a float, a double
    if ([0x00, 0x01, 0x05, END, 0x0f, 0x1a, 0x1b].includes(op) || (op >= 0x45 && op <= 0xc4)) return at;
    throw new Error(`the instruction ${op.toString(16)} ${sub}`);
}
const V128_LOAD = 0;
const V128_STORE = 11;
const ALIGNED = 2; // as 2^2 bytes: a hint, which decides no result
/** A function: its bytes, and what it calls: where in them, and which function. */
function functionAt(code, at) {
    const [length, start] = read(code, at);
    const bytes = Uint8Array.from(code.subarray(start, start + length));
    const calls = [];
    let [locals, here] = read(bytes, 0);
    for (; locals > 0; locals--) here = behind(bytes, here) + 1;
    while (here < length) {
        const op = bytes[here++];
        const end = operandsEnd(bytes, here, op);
        if (op === 0xfd && [V128_LOAD, V128_STORE].includes(bytes[here])) bytes[here + 1] = ALIGNED;
        if (op === 0x10) calls.push({ at: here, end, callee: read(bytes, here)[0] });
        here = end;
    }
    return [{ bytes, calls }, start + length];
}

const GRAM = 6; // bytes in a row that two functions have, or have not
/** Of each function the grams that others have, too, by number; of each of those the functions. */
function commonGrams(functions) {
    const numbers = new Map();
    const where = [];
    const grams = functions.map(({ bytes }, f) => {
        const set = new Set();
        for (let i = 0; i + GRAM <= bytes.length; i++) {
            let gram = 0;
            for (let k = i; k < i + GRAM; k++) gram = gram * 256 + bytes[k];
            if (!numbers.has(gram)) {
                numbers.set(gram, where.length);
                where.push([]);
            }
            set.add(numbers.get(gram));
        }
        for (const gram of set) where[gram].push(f);
        return set;
    });
    return { shared: grams.map((set) => [...set].filter((gram) => where[gram].length > 1)), where };
}
/** The functions in an order in which each shares as many grams as can be with those shortly before it, in
 *  `window` bytes, which gzip may still see; `plus`: so that the smallest functions do not always come
 *  first. */
function likeness(functions, { shared, where }, window, plus) {
    const score = new Float64Array(functions.length);
    const seen = new Uint16Array(where.length);
    // A gram of few functions says more.
    const count = (f, step) => {
        for (const gram of shared[f]) {
            const before = seen[gram];
            seen[gram] += step;
            if (Math.max(before, before + step) > 1) continue;
            const worth = step / Math.sqrt(where[gram].length - 0.9);
            for (const other of where[gram]) score[other] += worth;
        }
    };
    const order = [];
    const left = new Set(functions.keys());
    let oldest = 0;
    let size = 0;
    for (let next = 0; next >= 0;) {
        order.push(next);
        left.delete(next);
        count(next, 1);
        size += functions[next].bytes.length;
        for (; size > window && oldest + 1 < order.length; oldest++) {
            count(order[oldest], -1);
            size -= functions[order[oldest]].bytes.length;
        }
        next = -1;
        let most = -1;
        for (const f of left) {
            const worth = score[f] / (shared[f].length + plus);
            if (worth > most) [next, most] = [f, worth];
        }
    }
    return order;
}

const [from, to, search] = process.argv.slice(2);
const module = readFileSync(from);
const sections = [];
for (let at = 8; at < module.length;) {
    const [length, start] = read(module, at + 1);
    sections.push({ id: module[at], bytes: module.subarray(start, start + length) });
    at = start + length;
}
const section = (id) => sections.find((s) => s.id === id)?.bytes ?? Uint8Array.of(0);
if (sections.some((s) => s.id === 0))
    throw new Error('a section of names, which would have to be written anew');
if (section(START).length > 1) throw new Error('a function that starts the module');
const imported = parts(section(IMPORT), (at) => {
    for (let name = 0; name < 2; name++) {
        const [length, start] = read(section(IMPORT), at);
        at = start + length;
    }
    if (section(IMPORT)[at] !== 0) throw new Error('an import that is no function');
    return [0, behind(section(IMPORT), at + 1)];
}).length;
const types = parts(section(FUNCTION), (at) => read(section(FUNCTION), at));
const functions = parts(section(CODE), (at) => functionAt(section(CODE), at));
const grams = commonGrams(functions);
let order, place;
const moved = (f) => write(f < imported ? f : imported + place[f - imported]);

function body({ bytes, calls }) {
    const out = [];
    let at = 0;
    for (const call of calls) {
        out.push(...bytes.subarray(at, call.at), ...moved(call.callee));
        at = call.end;
    }
    for (; at < bytes.length; at++) out.push(bytes[at]);
    return [...write(out.length), ...out];
}
function exported(bytes) {
    return parts(bytes, (at) => {
        const [length, start] = read(bytes, at);
        const [index, end] = read(bytes, start + length + 1);
        const kind = bytes[start + length];
        return [[...bytes.subarray(at, start + length + 1), ...(kind ? write(index) : moved(index))], end];
    });
}
function elements(bytes) {
    return parts(bytes, (at) => {
        if (bytes[at] !== 0 || bytes[at + 1] !== CONST) throw new Error('a table that is not at a constant');
        const list = behind(bytes, at + 2) + 1;
        let [count, here] = read(bytes, list);
        const out = [...bytes.subarray(at, list), ...write(count)];
        for (; count > 0; count--) {
            const [f, end] = read(bytes, here);
            out.push(...moved(f));
            here = end;
        }
        return [out, here];
    });
}
const vector = (list) => [...write(list.length), ...list.flat()];
// (the shorter name first, then by the alphabet)
const byName = (list) => list.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
const made = {
    [FUNCTION]: () => vector(order.map((f) => write(types[f]))),
    [EXPORT]: (bytes) => vector(byName(exported(bytes))),
    [ELEMENT]: (bytes) => vector(elements(bytes)),
    [CODE]: () => vector(order.map((f) => body(functions[f]))),
    [DATA]: oneSegment,
};
function inOrder(of) {
    order = of;
    place = [];
    order.forEach((old, index) => (place[old] = index));
    const out = [...module.subarray(0, 8)];
    for (const { id, bytes } of sections) {
        const now = made[id]?.(bytes) ?? bytes;
        out.push(id, ...write(now.length));
        for (const byte of now) out.push(byte);
    }
    return Uint8Array.from(out);
}
const gzipped = (bytes) =>
    execFileSync('gzip', ['-9', '-n', '-c'], { input: bytes, maxBuffer: 2 ** 30 }).length;

let best = null;
let least = Infinity;
for (const window of search ? [28_000, 32_000] : [28_000])
    for (const plus of search ? [8, 10, 12] : [10]) {
        const alike = likeness(functions, grams, window, plus);
        // (begun elsewhere, it is as good)
        for (const eighth of search ? [0, 1, 2, 3, 4, 5, 6, 7] : [0]) {
            const cut = Math.floor((eighth / 8) * alike.length);
            const bytes = inOrder([...alike.slice(cut), ...alike.slice(0, cut)]);
            const size = search ? gzipped(bytes) : 0;
            if (size < least) [best, least] = [bytes, size];
        }
    }
writeFileSync(to, best);
