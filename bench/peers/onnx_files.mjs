// onnx_files.mjs: protobuf as ONNX's files are made of it, read and written: enough for node tests. For
// onnx.mjs and the tests of seqmix vectors --onnx; it knows nothing of cli/oracle/onnx/onnx.c.
import { readFileSync } from 'node:fs';

/** Fields of a message: {number: [value, ...]}, values numbers or bytes. */
export function fields(bytes) {
    const found = {};
    let at = 0;
    const varint = () => {
        let value = 0n;
        for (let shift = 0n; ; shift += 7n) {
            if (at >= bytes.length) throw new Error('a message ends within a number');
            const byte = bytes[at++];
            value |= BigInt(byte & 127) << shift;
            if (byte < 128) return BigInt.asIntN(64, value);
        }
    };
    while (at < bytes.length) {
        const key = Number(varint());
        const kind = key & 7;
        let value;
        if (kind === 0) value = Number(varint());
        else {
            const n = kind === 2 ? Number(varint()) : kind === 1 ? 8 : kind === 5 ? 4 : -1;
            if (n < 0 || at + n > bytes.length)
                throw new Error(`no message: field ${key >> 3} of kind ${kind}`);
            value = bytes.subarray(at, (at += n));
        }
        (found[key >> 3] ??= []).push(value);
    }
    return found;
}
const text = (bytes) => new TextDecoder().decode(bytes);
const float = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, 4).getFloat32(0, true);

/** A TensorProto of float32: {name, dims, data}. */
export function readTensor(path) {
    const of = fields(readFileSync(path));
    if (of[2][0] !== 1) throw new Error(`${path}: ONNX's type ${of[2][0]}, not float32`);
    const raw = of[9][0];
    return {
        name: text(of[8][0]),
        dims: of[1] ?? [],
        data: new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length)),
    };
}

const varint = (n) => {
    const bytes = [];
    for (; n > 127; n = Math.floor(n / 128)) bytes.push((n % 128) | 128);
    return Buffer.from([...bytes, n]);
};
const field = (number, value) =>
    typeof value === 'number'
        ? Buffer.concat([varint(8 * number), varint(value)])
        : Buffer.concat([varint(8 * number + 2), varint(value.length), value]);

/** The bytes of a TensorProto; `type` is ONNX's number of what `data` holds. */
export const tensorBytes = (name, dims, data, type = 1) =>
    Buffer.concat([
        ...dims.map((n) => field(1, n)),
        field(2, type),
        field(8, Buffer.from(name)),
        field(9, Buffer.from(data.buffer, data.byteOffset, data.byteLength)),
    ]);

/** The model with its node in another domain: [domain, version] stands in place of the model's opsets. */
export function inDomain(path, domain, version) {
    const model = fields(readFileSync(path));
    const graph = fields(Buffer.concat(model[7]));
    const named = Buffer.from(domain);
    return Buffer.concat([
        field(1, model[1][0]),
        field(
            7,
            Buffer.concat([
                field(1, Buffer.concat([graph[1][0], field(7, named)])), // the last of a field counts
                field(2, graph[2][0]),
                ...graph[11].map((bytes) => field(11, bytes)),
                ...graph[12].map((bytes) => field(12, bytes)),
            ]),
        ),
        field(8, Buffer.concat([field(1, named), field(2, version)])),
        field(8, Buffer.concat([field(1, Buffer.from('')), field(2, 23)])),
    ]);
}

/** A model of one node: {ir, opsets, node: {op, domain, inputs, outputs, attributes}, inputs, outputs}. */
export function readModel(path) {
    const model = fields(readFileSync(path));
    // parts of a message that stands there twice are one
    const graph = fields(Buffer.concat(model[7]));
    const node = fields(graph[1][0]);
    const value = (bytes) => {
        const of = fields(bytes);
        const tensor = fields(fields(of[2][0])[1][0]);
        const dims = fields(tensor[2][0])[1] ?? [];
        return { name: text(of[1][0]), type: tensor[1][0], dims: dims.map((dim) => fields(dim)[1][0]) };
    };
    return {
        ir: model[1][0],
        opsets: model[8].map((bytes) => {
            const of = fields(bytes);
            return { domain: text(of[1]?.[0] ?? new Uint8Array()), version: of[2].at(-1) };
        }),
        node: {
            op: text(node[4][0]),
            domain: node[7] ? text(node[7][0]) : '',
            inputs: node[1].map(text),
            outputs: node[2].map(text),
            attributes: Object.fromEntries(
                (node[5] ?? []).map((bytes) => {
                    const of = fields(bytes);
                    const type = of[20][0];
                    return [
                        text(of[1][0]),
                        type === 1 ? float(of[2][0]) : type === 2 ? of[3][0] : text(of[4][0]),
                    ];
                }),
            ),
        },
        inputs: graph[11].map(value),
        outputs: graph[12].map(value),
    };
}
