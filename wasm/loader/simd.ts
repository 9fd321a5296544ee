// simd.ts: what this engine's WebAssembly can do.

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
