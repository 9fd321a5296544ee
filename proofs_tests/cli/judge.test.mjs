// judge.test.mjs: seqmix vectors --hard and seqmix judge: right implementations pass, planted wrong ones are
// caught and named, and docs/ORACLE.md says of each what caught it.
//   SEQMIX_PLANTED=write node --test proofs_tests/cli/judge.test.mjs    writes the table of that page
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { seqmix } from '../support/program.mjs';
import { readNpy, writeNpy } from '../support/npy.mjs';
import * as usual from './planted.mjs';
import { CORES, PLANTED_CORES } from './planted_cores.mjs';

const IMPLEMENTATIONS = { ...usual.IMPLEMENTATIONS, ...CORES };
const PLANTED = [...usual.PLANTED, ...PLANTED_CORES];

const folder = mkdtempSync(join(tmpdir(), 'seqmix-judge-'));
after(() => rmSync(folder, { recursive: true }));
const at = (...names) => join(folder, ...names);

const SETS = ['usual', 'hard'];
assert.equal(seqmix('vectors', '--out', at('usual')).status, 0);
assert.equal(seqmix('vectors', '--hard', '--out', at('hard')).status, 0);
const manifests = Object.fromEntries(
    SETS.map((set) => [set, JSON.parse(readFileSync(at(set, 'manifest.json'), 'utf8'))]),
);
const cases = (set, mechanism) => manifests[set].cases.filter((one) => one.mechanism === mechanism);
const numbers = (set, part) =>
    Object.fromEntries(Object.entries(part).map(([name, a]) => [name, readNpy(at(set, a.file)).data]));
const inputs = new Map();
function inputsOf(set, one) {
    if (!inputs.has(one.name + set)) inputs.set(one.name + set, numbers(set, one.inputs));
    return inputs.get(one.name + set);
}
const rowsOf = ({ params }) => params.L ?? params.N;
/** Whether a case is one that the implementation is written for. */
const takes = (one, x) =>
    !x.filter_maps &&
    (one.params.pos ?? 'none') === 'none' &&
    one.params.mode !== 'packed' &&
    rowsOf(one) <= 450;

/** A case's results; of a batch sequence after sequence. What has no batch dimension is shared. */
function compute(set, one, implementation, fault) {
    const x = inputsOf(set, one);
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
function make(set, mechanism, implementation, fault) {
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
const judge = (set, out, mechanism, ...more) =>
    seqmix('judge', '--manifest', at(set, 'manifest.json'), out, '--partial', '--only', mechanism, ...more);

test('right implementations pass both sets, in float64', () => {
    for (const [mechanism, implementation] of Object.entries(IMPLEMENTATIONS))
        for (const set of SETS) {
            const { out } = make(set, mechanism, implementation);
            const { status, stdout } = judge(set, out, mechanism);
            assert.equal(status, 0, `${set} ${mechanism}:\n${stdout}`);
            assert.match(stdout, /^judge: \d+ arrays of \d+ cases, 0 past/);
        }
});

// As the field's tests would judge: RMS of the difference over RMS of the reference below 0.005; and every
// difference below 0.01.
function loosely(set, made) {
    const rms = (x) => Math.sqrt(x.reduce((sum, v) => sum + v * v, 0) / x.length);
    let ratio = 0;
    let most = 0;
    for (const { file, data } of made) {
        const { data: ref } = readNpy(at(set, file));
        const difference = Array.from(data, (v, i) => Math.abs(v - ref[i]));
        ratio = Math.max(ratio, ...[rms(difference) / (rms(ref) + 1e-8)].map((r) => (r >= 0 ? r : Infinity)));
        most = Math.max(most, ...difference.map((v) => (v >= 0 ? v : Infinity)));
    }
    return { rms: ratio < 0.005, absolute: most <= 0.01 };
}

test('every planted fault is caught and named; docs/ORACLE.md has the list', () => {
    const rows = [];
    for (const [mechanism, implementation, fault, says, format] of PLANTED) {
        const found = {};
        for (const set of SETS) {
            const { out, made } = make(set, mechanism, implementation, fault);
            const { status, stdout, stderr } = judge(set, out, mechanism, ...(format ? [`--${format}`] : []));
            assert.ok(status < 2, stderr);
            const lines = stdout.trimEnd().split('\n').slice(0, -1);
            assert.equal(lines.length > 0, status === 1);
            found[set] = { caught: status === 1, lines, loose: loosely(set, made) };
            rmSync(out, { recursive: true });
        }
        const all = [...found.usual.lines, ...found.hard.lines];
        const line = all.find((one) => says.test(one));
        assert.ok(found.hard.caught, `${mechanism}, ${fault}: not caught by the hard set`);
        assert.ok(line, `${mechanism}, ${fault}: no ${says} in\n${all.join('\n')}`);
        const [name] = line.split(':');
        const why = line.slice(line.indexOf('is allowed): ') + 'is allowed): '.length);
        const yes = (b) => (b ? 'yes' : '—');
        rows.push(
            `| \`${mechanism}\` | ${fault} | ${yes(found.usual.caught)} | ${yes(found.hard.caught)} |` +
                ` ${yes(!found.usual.loose.rms)} | ${yes(!found.usual.loose.absolute)} | \`${name}\`: ${why} |`,
        );
    }
    assert.ok(rows.length >= 20);
    const page = 'docs/ORACLE.md';
    const text = readFileSync(page, 'utf8');
    const [start, end] = ['<!-- planted -->\n', '<!-- /planted -->'];
    const head = text.slice(0, text.indexOf(start) + start.length);
    const table = [
        '| mechanism | planted fault | `vectors` | `vectors --hard` | 0.5 % RMS | 1e-2 | first line of judge that names it |',
        '|---|---|---|---|---|---|---|',
        ...rows,
        '',
    ].join('\n');
    const whole = head + table + text.slice(text.indexOf(end));
    if (process.env.SEQMIX_PLANTED === 'write') writeFileSync(page, whole);
    else assert.equal(text, whole, 'docs/ORACLE.md: SEQMIX_PLANTED=write writes the table again');
});

test('judge: what it cannot read is a sentence, a part of the files will do, JSON', () => {
    const refuses = (words, ...args) => {
        const { status, stdout, stderr } = seqmix('judge', ...args);
        assert.equal(status, 2, stdout);
        assert.match(stderr, words);
    };
    const manifest = at('usual', 'manifest.json');
    refuses(/judge needs --manifest FILE, and a folder of results/, at('usual'));
    refuses(/no\.json/, '--manifest', at('no.json'), at('usual'));
    refuses(/no case of .* begins with 'nothing'/, '--manifest', manifest, at('usual'), '--only', 'nothing');
    mkdirSync(at('empty'));
    refuses(/has none of the files that the manifest names/, '--manifest', manifest, at('empty'));
    // Only y of one case, and wrong in one number.
    const one = manifests.usual.cases.find(({ name }) => name === 'linear_attention_none');
    const { file, shape } = one.outputs.y;
    const right = readNpy(at('usual', file)).data;
    const wrong = right.slice();
    wrong[40] += 1;
    writeNpy(at('empty', file), shape, wrong);
    const told = judge('usual', at('empty'), 'linear_attention_none', '--json');
    assert.equal(told.status, 1);
    const said = JSON.parse(told.stdout);
    assert.equal(said.case, 'linear_attention_none');
    assert.match(said.looks_like, /1 of 33 rows/);
    // What is not there is not right: it has to be said that a part will do.
    writeNpy(at('empty', file), shape, right);
    const part = ['--manifest', manifest, at('empty'), '--only', 'linear_attention_none'];
    refuses(/of the files that the manifest names are not in/, ...part.slice(0, 3));
    assert.equal(seqmix('judge', ...part, '--partial').status, 0);
    // Gradients may be left out, and then all of them.
    mkdirSync(at('forward'));
    const forward = manifests.usual.cases.filter(({ name }) => name.startsWith('linear_attention_none'));
    const arrays = forward.flatMap(({ outputs }) => Object.values(outputs));
    for (const a of arrays) writeNpy(at('forward', a.file), a.shape, readNpy(at('usual', a.file)).data);
    const whole = ['--manifest', manifest, at('forward'), '--only', 'linear_attention_none'];
    assert.equal(seqmix('judge', ...whole).status, 0);
    const first = Object.values(forward[0].gradients)[0];
    writeNpy(at('forward', first.file), first.shape, readNpy(at('usual', first.file)).data);
    refuses(/of the files that the manifest names are not in/, ...whole);
    // The set is no result of itself.
    refuses(/is the reference's own file/, '--manifest', manifest, at('usual'));
    // Not whole, of another shape, cut short.
    writeNpy(at('empty', file), [shape[0], shape[1] - 1], right.slice(shape[0]));
    assert.match(judge('usual', at('empty'), 'linear_attention_none').stderr, /has the shape/);
    writeFileSync(at('empty', file), readFileSync(at('usual', file)).subarray(0, 200));
    assert.equal(judge('usual', at('empty'), 'linear_attention_none').status, 2);
    const { status, stderr } = seqmix('vectors', '--hard', '--length', '12', '--out', at('never'));
    assert.equal(status, 2);
    assert.match(stderr, /--hard is a set with sizes of its own/);
    assert.match(seqmix('vectors', '--hard', '--budget', '1', '--out', at('never')).stderr, /and --budget/);
    assert.match(seqmix('vectors', '--budget', '0', '--out', at('never')).stderr, /--budget/);
});

test('the hard set: another seed draws other numbers, and it is as hard as it says', () => {
    assert.equal(seqmix('vectors', '--hard', '--seed', '2', '--out', at('other')).status, 0);
    const bytes = (set, one, name) => readFileSync(at(set, one.inputs[name].file));
    let [shut, longest, carried] = [0, 0, 0];
    const tails = new Set();
    for (const one of manifests.hard.cases) {
        const x = inputsOf('hard', one);
        for (const name of Object.keys(one.inputs))
            if (!['g', 'beta', 'dt', 'dy'].includes(name))
                assert.notDeepEqual(bytes('hard', one, name), bytes('other', one, name), one.name);
        assert.ok(rowsOf(one) >= 300);
        longest = Math.max(longest, rowsOf(one));
        tails.add(rowsOf(one) % 64);
        carried += x.s0 ? 1 : 0;
        shut += x.g && x.g.some((v) => v < -88) && x.g.some((v) => v > -0.001) ? 1 : 0;
        for (const part of [one.outputs, one.gradients])
            for (const [name, a] of Object.entries(part)) {
                const { data } = readNpy(at('hard', a.file));
                assert.ok(data.every(Number.isFinite), `${one.name} ${name}`);
                assert.ok(a.scale > 0 && a.scale < 3e38, `${one.name} ${name}: scale ${a.scale}`);
                assert.ok(a.f32_tol <= 1e-3, `${one.name} ${name}: ${a.f32_tol}`);
            }
    }
    assert.ok(longest === 4096 && shut >= 4 && carried >= 8 && tails.size >= 10);
});
