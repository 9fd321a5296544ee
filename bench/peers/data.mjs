// data.mjs: what the peers compute from: the weights of W1 and W2 at step 0, ten batches, and the ten losses
// that this project gets; of the models that read on their weights, ten rows and what each
// answer's squares add up to. As build/bench/peers/NAME.json and NAME.bin. The numbers come from the
// WebAssembly module, which gives the same bits as the program.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { load } from '../../build/wasm/seqmix.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const folder = `${root}build/bench/peers/`;
export const BATCHES = 10;
/** Rows of `seqmix bench` that read on, and of which PyTorch is asked the same. */
export const READING = [
    'read/attention 1024',
    'read/attention 8192',
    'read/linear 1024',
    'read/gla 1024',
    'read/lstm 1024',
];
export const fileOf = (name) => name.replace(/[/ ]/g, '-');

/** Names, shapes and places of the tensors in a safetensors file. */
function safetensors(bytes) {
    const n = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + n)));
    return { header, body: bytes.subarray(8 + n) };
}

/** The row's config, as the program says it. */
function configOf(name) {
    const line = execFileSync(`${root}build/seqmix`, ['bench', '--json', '--seconds', '0.01', name]);
    return JSON.parse(line.toString().split('\n')[0]).config;
}
/** Arrays one after another, and where each lies. */
function packed() {
    const arrays = {};
    const parts = [];
    let offset = 0;
    const put = (key, kind, shape, array) => {
        const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
        const dtype = array instanceof Float32Array ? 'f32' : 'i32';
        arrays[key] = { kind, shape, dtype, offset };
        parts.push(bytes);
        offset += bytes.length;
    };
    return { arrays, parts, put };
}
function putWeights(run, put) {
    const { header, body } = safetensors(run.save());
    for (const { name: weight, shape } of run.tensors().filter((tensor) => tensor.weight)) {
        const [from, to] = header[weight].data_offsets;
        put(weight, 'weight', shape, new Float32Array(body.slice(from, to).buffer));
    }
}
function write(name, spec, parts) {
    writeFileSync(`${folder}${fileOf(name)}.json`, JSON.stringify(spec));
    writeFileSync(`${folder}${fileOf(name)}.bin`, Buffer.concat(parts));
}

function writeReading(lab, name) {
    const config = configOf(name);
    const run = lab.open(config);
    const { arrays, parts, put } = packed();
    putWeights(run, put);
    const width = Number(new URLSearchParams(config).get('width'));
    const values = Float32Array.from({ length: BATCHES * width }, (_, i) => Math.sin(1 + i * i));
    put('values', 'data', [BATCHES, 1, width], values);
    const answers = run.state({ most: BATCHES }).push(values);
    const losses = Array.from({ length: BATCHES }, (_, row) =>
        answers.subarray(row * width, (row + 1) * width).reduce((sum, x) => sum + x * x, 0),
    );
    run.close();
    write(name, { config, losses, arrays }, parts);
}

export async function writeData() {
    mkdirSync(folder, { recursive: true });
    const lab = await load({ whole: true });
    for (const name of ['W1', 'W2']) {
        const config = configOf(name);
        const run = lab.open(config);
        const values = new URLSearchParams(config);
        const B = Number(values.get('batch'));
        const { arrays, parts, put } = packed();
        putWeights(run, put);
        const samples = Array.from({ length: B * BATCHES }, (_, i) => run.look(i, { stream: 'train' }));
        const { length, classes } = samples[0];
        const per = samples[0].targets.length;
        const joined = (kind, pick) => {
            const all = new kind(samples.length * pick(samples[0]).length);
            samples.forEach((s, i) => all.set(pick(s), i * pick(s).length));
            return all;
        };
        if (samples[0].tokens)
            put(
                'tokens',
                'data',
                [BATCHES, B, length],
                joined(Int32Array, (s) => s.tokens),
            );
        else
            put(
                'values',
                'data',
                [BATCHES, B, length],
                joined(Float32Array, (s) => s.values),
            );
        put(
            'targets',
            'data',
            per === 1 ? [BATCHES, B] : [BATCHES, B, per],
            joined(Int32Array, (s) => s.targets),
        );
        run.step(BATCHES);
        const losses = [...run.losses()];
        run.close();
        const number = (key) => Number(values.get(key));
        const meta = {
            B,
            L: length,
            D: number('width'),
            H: number('heads'),
            classes,
            blocks: number('blocks'),
        };
        const adamw = {
            rate: number('rate'),
            b1: number('beta1'),
            b2: number('beta2'),
            eps: number('epsilon'),
            decay: number('decay'),
        };
        write(name, { config, meta, adamw, losses, arrays }, parts);
    }
    for (const name of READING) writeReading(lab, name);
}
