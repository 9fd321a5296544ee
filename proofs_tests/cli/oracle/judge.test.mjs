// judge.test.mjs: seqmix vectors --hard and seqmix judge: right implementations pass, and what cannot be read
// is a sentence. (judge_planted.test.mjs: planted wrong ones are caught and named.)
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { seqmix } from '../../support/program.mjs';
import { readNpy, writeNpy } from '../../support/npy.mjs';
import { IMPLEMENTATIONS, SETS, at, inputsOf, judge, make, manifests, rowsOf } from './judging.mjs';

test('right implementations pass both sets, in float64', () => {
    for (const [mechanism, implementation] of Object.entries(IMPLEMENTATIONS))
        for (const set of SETS) {
            const { out } = make(set, mechanism, implementation);
            const { status, stdout } = judge(set, out, mechanism);
            assert.equal(status, 0, `${set} ${mechanism}:\n${stdout}`);
            assert.match(stdout, /^judge: \d+ arrays of \d+ cases, 0 past/);
        }
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
