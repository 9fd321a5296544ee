// source.ts: a WebAssembly module from where it is: an address, bytes, or compiled already.
// What cannot be had is said in words. And what this engine's WebAssembly can do.
import { SeqmixError } from './error.js';

export type WasmSource = URL | string | BufferSource | WebAssembly.Module;

async function bytesAt(address: URL | string): Promise<ArrayBuffer | Uint8Array<ArrayBuffer>> {
    const here = (globalThis as { location?: { href: string } }).location?.href ?? import.meta.url;
    try {
        const url = new URL(address, here);
        if (url.protocol === 'file:' && typeof process === 'object' && process.versions?.node) {
            const fs = 'node:fs/promises'; // a variable, so that bundlers for the page do not look for it
            const { readFile } = (await import(
                /* @vite-ignore */ /* webpackIgnore: true */ fs
            )) as typeof import('node:fs/promises');
            return await readFile(url);
        }
        const response = await fetch(url);
        if (!response.ok) throw new Error(`the answer was ${response.status} ${response.statusText}`);
        return await response.arrayBuffer();
    } catch (error) {
        const why = (error as Error).message;
        throw new SeqmixError(`${String(address)} cannot be read: ${why}`, 'wasm', String(address));
    }
}

const MAGIC = '\0asm';

/** Compile what `source` names or holds. */
export async function moduleOf(source: WasmSource): Promise<WebAssembly.Module> {
    if (source instanceof WebAssembly.Module) return source;
    const address = typeof source === 'string' || source instanceof URL ? String(source) : '';
    const bytes = typeof source === 'string' || source instanceof URL ? await bytesAt(source) : source;
    const start = ArrayBuffer.isView(bytes)
        ? new Uint8Array(bytes.buffer, bytes.byteOffset, Math.min(40, bytes.byteLength))
        : new Uint8Array(bytes, 0, Math.min(40, bytes.byteLength));
    // Many hosts answer a wrong address with a page, and 200.
    const begins = Array.from(start, (byte) => String.fromCharCode(byte)).join('');
    if (!begins.startsWith(MAGIC))
        throw new SeqmixError(
            `${address || 'what was given'} is no WebAssembly module: it begins with ${JSON.stringify(begins)}`,
            'wasm',
            address,
            'a file that begins with "\\0asm"',
        );
    try {
        return await WebAssembly.compile(bytes);
    } catch (error) {
        const why = (error as Error).message;
        throw new SeqmixError(
            `${address || 'the WebAssembly module'} cannot be compiled: ${why}`,
            'wasm',
            address,
        );
    }
}

const bytes = (hex: string) =>
    Uint8Array.from(hex.replaceAll(' ', '').match(/../g)!, (byte) => parseInt(byte, 16));

// The smallest module with a SIMD instruction: () -> v128, i32.const 0, i8x16.splat.
const SIMD_PROBE = bytes('0061736d 01000000 0105 01 60 00017b 0302 0100 0a08 01 06 00 4100 fd0f 0b');
/** Whether this engine has WebAssembly SIMD. */
export function hasSimd(): boolean {
    return WebAssembly.validate(SIMD_PROBE);
}

// The smallest module with relaxed SIMD: (v128, v128, v128) -> v128, f32x4.relaxed_madd of its arguments.
const RELAXED_PROBE = bytes(
    '0061736d 01000000 0108 01 60 037b7b7b 017b 0302 0100 0a0d 01 0b 00 2000 2001 2002 fd8502 0b',
);
/** Whether this engine has relaxed SIMD: fused multiply-add, for `fast=1`. */
export function hasRelaxedSimd(): boolean {
    return WebAssembly.validate(RELAXED_PROBE);
}
