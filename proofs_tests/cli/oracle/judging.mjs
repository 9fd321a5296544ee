// judging.mjs: what judge.test.mjs and judge_planted.test.mjs share: the usual set and the hard one, and an
// implementation's results on a mechanism's cases, judged.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { seqmix } from '../../support/program.mjs';
import { readNpy, writeNpy } from '../../support/npy.mjs';
import { IMPLEMENTATIONS as USUAL, PLANTED as IN_USUAL } from './planted.mjs';
import { CORES, PLANTED_CORES } from './planted_cores.mjs';

export const IMPLEMENTATIONS = { ...USUAL, ...CORES };
export const PLANTED = [...IN_USUAL, ...PLANTED_CORES];

const folder = mkdtempSync(join(tmpdir(), 'seqmix-judge-'));
after(() => rmSync(folder, { recursive: true }));
export const at = (...names) => join(folder, ...names);

export const SETS = ['usual', 'hard'];
assert.equal(seqmix('vectors', '--out', at('usual')).status, 0);
assert.equal(seqmix('vectors', '--hard', '--out', at('hard')).status, 0);
export const manifests = Object.fromEntries(
    SETS.map((set) => [set, JSON.parse(readFileSync(at(set, 'manifest.json'), 'utf8'))]),
);
const cases = (set, mechanism) => manifests[set].cases.filter((one) => one.mechanism === mechanism);
const numbers = (set, part) =>
    Object.fromEntries(Object.entries(part).map(([name, a]) => [name, readNpy(at(set, a.file)).data]));
const inputs = new Map();
export function inputsOf(set, one) {
    if (!inputs.has(one.name + set)) inputs.set(one.name + set, numbers(set, one.inputs));
    return inputs.get(one.name + set);
}
export const rowsOf = ({ params }) => params.L ?? params.N;
/** Whether a case is one that the implementation is written for. */
const takes = (one, x) =>
    !x.filter_maps &&
    (one.params.pos ?? 'none') === 'none' &&
    one.params.mode !== 'packed' &&
    rowsOf(one) <= 450;

/** The inputs, of `qk_norm` with each head's part of a row of q and k over its length. */
function normed(x, { qk_norm, dk }) {
    if ((qk_norm ?? 'none') === 'none') return x;
    assert.equal(qk_norm, 'l2');
    const of = (name) => {
        const to = new Float64Array(x[name].length);
        for (let at = 0; at < to.length; at += dk) {
            const row = x[name].subarray(at, at + dk);
            const length = Math.sqrt(row.reduce((sum, v) => sum + v * v, 1e-6));
            to.set(
                row.map((v) => v / length),
                at,
            );
        }
        return to;
    };
    return { ...x, q: of('q'), k: of('k') };
}
/** A case's results; of a batch sequence after sequence. What has no batch dimension is shared. */
function compute(set, one, implementation, fault) {
    const raw = inputsOf(set, one);
    const x = fault === 'norms of q and k left out' ? raw : normed(raw, one.params);
    if (!one.batch) return implementation(x, one.params, fault);
    const alone = (name) => cases(set, one.mechanism).find(({ batch, inputs }) => !batch && inputs[name]);
    const n = one.batch.reduce((a, b) => a * b, 1);
    const all = {};
    for (let i = 0; i < n; i++) {
        const piece = Object.fromEntries(
            Object.entries(x).map(([name, data]) => {
                const rank = alone(name)?.inputs[name].shape.length ?? one.inputs[name].shape.length - 1;
                const size = data.length / n;
                const own = one.inputs[name].shape.length > rank;
                return [name, own ? data.subarray(i * size, (i + 1) * size) : data];
            }),
        );
        for (const [name, data] of Object.entries(implementation(piece, one.params, fault)))
            all[name] = [...(all[name] ?? []), ...data];
    }
    return all;
}

let runs = 0;
/** The set's cases of the mechanism, done by the implementation, in a folder of their own. */
export function make(set, mechanism, implementation, fault) {
    const out = at(`run${runs++}`);
    mkdirSync(out);
    const made = [];
    for (const one of cases(set, mechanism)) {
        const x = inputsOf(set, one);
        if (!takes(one, x)) continue;
        const results = compute(set, one, implementation, fault);
        for (const [name, data] of Object.entries(results)) {
            const entry = name.startsWith('d_') ? one.gradients[name.slice(2)] : one.outputs[name];
            writeNpy(join(out, entry.file), entry.shape, data);
            made.push({ file: entry.file, data });
        }
    }
    return { out, made };
}
export const judge = (set, out, mechanism, ...more) =>
    seqmix('judge', '--manifest', at(set, 'manifest.json'), out, '--partial', '--only', mechanism, ...more);
