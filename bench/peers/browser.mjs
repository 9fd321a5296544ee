// browser.mjs: jax-js, TensorFlow.js and this project's own module side by side in one page, for run.mjs.
// Each workload is the config's model on the batches of data.mjs; q, k and v projections lie side by side in
// one weight.
import { open } from '../measure.mjs';
import { jaxWorks } from './jax.mjs';
import { tensorflowWorks } from './tensorflow.mjs';

const FOLDER = '/build/bench/peers/';
const works = {};
let own;
const ownRow = {};

async function load(name) {
    const spec = await (await fetch(`${FOLDER}${name}.json`)).json();
    const raw = await (await fetch(`${FOLDER}${name}.bin`)).arrayBuffer();
    const weights = {};
    const data = {};
    for (const [key, a] of Object.entries(spec.arrays)) {
        const n = a.shape.reduce((x, y) => x * y, 1);
        const Kind = a.dtype === 'f32' ? Float32Array : Int32Array;
        (a.kind === 'weight' ? weights : data)[key] = { shape: a.shape, data: new Kind(raw, a.offset, n) };
    }
    joinProjections(weights);
    return { ...spec, weights, data };
}

/** w_q, w_k, w_v [D][D] become w_qkv [D][3D], and the filters [1][W] one [3][W]. */
function joinProjections(weights) {
    for (const key of Object.keys(weights).filter((k) => /\.(w|filter)_q$/.test(k))) {
        const stem = key.slice(0, -1);
        const parts = ['q', 'k', 'v'].map((x) => weights[stem + x]);
        const [rows, columns] = parts[0].shape;
        const wide = stem.endsWith('w_');
        const all = new Float32Array(3 * rows * columns);
        parts.forEach((part, i) => {
            for (let r = 0; r < rows; r++)
                all.set(
                    part.data.subarray(r * columns, (r + 1) * columns),
                    wide ? (r * 3 + i) * columns : (i * rows + r) * columns,
                );
        });
        for (const x of 'qkv') delete weights[stem + x];
        weights[`${stem}qkv`] = { shape: wide ? [rows, 3 * columns] : [3 * rows, columns], data: all };
    }
}

/** Loads everything; the answer says of each peer that cannot be used why. */
export async function start() {
    const failures = {};
    own = await open(await (await fetch('/build/wasm/bench.wasm')).arrayBuffer());
    for (let i = 0; i < own.x.bench_rows(); i++) ownRow[own.text(own.x.bench_name(i))] = i;
    const specs = { W1: await load('W1'), W2: await load('W2') };
    for (const [peer, make] of Object.entries({ 'jax-js': jaxWorks, 'TensorFlow.js': tensorflowWorks }))
        try {
            works[peer] = await make(specs, FOLDER);
        } catch (error) {
            failures[peer] = String(error);
        }
    return failures;
}

/**
 * The losses of ten steps, or the one number that the work computes;
 * undefined: this peer does not have that work.
 */
export async function check(peer, name) {
    const work = works[peer][name];
    if (!work) return undefined;
    if (work.check) return [await work.check()];
    const losses = [];
    for (let i = 0; i < (work.losses ?? 0); i++) losses.push(await work.step());
    return losses;
}

/**
 * Processor time in ms of one step, over `seconds`; what takes seconds a step is run once to warm up and once
 * for its time.
 */
export async function time(who, name, seconds) {
    let step;
    const row = ownRow[name];
    if (who === 'seqmix') {
        own.x.bench_start(row);
        step = () => own.x.bench_run(row, 1);
    } else step = works[who][name].step;
    const started = performance.now();
    for (let i = 0; i < 3 && performance.now() - started < 2000; i++) await step();
    const t = performance.now();
    const c = await globalThis.cpu();
    let n = 0;
    while (n < 1 || (n < 3 && performance.now() - t < 2000) || performance.now() - t < seconds * 1000) {
        await step();
        n++;
    }
    const used = (await globalThis.cpu()) - c;
    if (who === 'seqmix') own.x.bench_stop(row);
    return used / n;
}
