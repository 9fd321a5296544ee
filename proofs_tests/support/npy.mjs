// npy.mjs: .npy files for tests: {shape, data} of little-endian arrays in C order.
import { readFileSync, writeFileSync } from 'node:fs';

const kinds = { '<f8': Float64Array, '<f4': Float32Array, '<f2': Uint16Array, '<i4': Int32Array };

export function readNpy(file) {
    const bytes = readFileSync(file);
    const length = bytes.readUInt16LE(8);
    const header = bytes.subarray(10, 10 + length).toString();
    const [, dtype] = /'descr': '(.*?)'/.exec(header);
    const [, sizes] = /'shape': \((.*?)\)/.exec(header);
    const body = bytes.subarray(10 + length);
    return {
        dtype,
        shape: sizes
            .split(',')
            .filter((word) => word.trim())
            .map(Number),
        data: new kinds[dtype](body.buffer.slice(body.byteOffset, body.byteOffset + body.length)),
    };
}

export function writeNpy(file, shape, data, dtype = '<f8', header) {
    const numbers = kinds[dtype].from(data);
    let text =
        header ??
        `{'descr': '${dtype}', 'fortran_order': False, 'shape': (${shape.join(', ')}${shape.length === 1 ? ',' : ''}), }`;
    text = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + '\n';
    const start = Buffer.from('\x93NUMPY\x01\x00\0\0', 'latin1');
    start.writeUInt16LE(text.length, 8);
    writeFileSync(file, Buffer.concat([start, Buffer.from(text), Buffer.from(numbers.buffer)]));
}
