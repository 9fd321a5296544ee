// cover.test.mjs: seqmix vectors --budget: the plan of check_layer as files, and what seqmix judge says
// of it.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { seqmix } from '../../support/program.mjs';
import { readNpy, writeNpy } from '../../support/npy.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-cover-'));
after(() => rmSync(folder, { recursive: true }));
const at = (...names) => join(folder, ...names);

test("check_layer's plan as files: the same case holds the same numbers whatever the budget, and judge says what wrong ones share", () => {
    const planned = (name, seconds, ...more) => {
        const made = seqmix(
            'vectors',
            '--budget',
            seconds,
            '--only',
            'linear_attention',
            '--out',
            at(name),
            ...more,
        );
        assert.equal(made.status, 0, made.stderr);
        return JSON.parse(readFileSync(at(name, 'manifest.json'), 'utf8')).cases;
    };
    const all = planned('plan', '1.5');
    const few = planned('few', '0.2');
    const other = planned('others', '0.2', '--seed', '2');
    assert.ok(all.length > 8, `${all.length} cases`);
    // Which cases there is time for is the machine's; the first is always there.
    const both = few.filter(({ name }) => all.some((other) => other.name === name));
    assert.equal(both[0], few[0]);
    for (const one of both) {
        const same = all.find(({ name }) => name === one.name);
        assert.deepEqual([same.params, same.plan], [one.params, one.plan]);
        for (const { file } of [...Object.values(one.inputs), ...Object.values(one.outputs)])
            assert.deepEqual(readFileSync(at('few', file)), readFileSync(at('plan', file)), file);
    }
    assert.notDeepEqual(
        other.map(({ plan }) => plan),
        few.map(({ plan }) => plan),
    );
    // The kinds of numbers are what they are called.
    const of = (draw, input) =>
        all
            .filter(({ plan }) => plan.draw === draw)
            .flatMap((one) => [...readNpy(at('plan', one.inputs[input].file)).data]);
    assert.ok(of('usual', 'k').every((x) => Number.isInteger(128 * x) && Math.abs(x) < 2));
    assert.ok(
        of('full', 'k').some((x) => !Number.isInteger(128 * x)) &&
            of('full', 'k').every((x) => Math.fround(x) === x),
    );
    assert.ok(['q', 'k', 'v', 'dy'].some((name) => of('huge', name).some((x) => Math.abs(x) > 2 ** 28)));
    const small = (one, name) =>
        [...readNpy(at('plan', one.inputs[name].file)).data].every((x) => Math.abs(x) < 2 ** -20);
    for (const one of all.filter(({ plan }) => plan.draw === 'tiny'))
        assert.equal(['q', 'k', 'v', 'dy'].filter((name) => small(one, name)).length, 1, one.name);
    assert.ok(all.some(({ plan, outputs }) => plan.rows === 512 && outputs.y.shape.includes(512)));
    for (const { plan, params, outputs } of all) {
        assert.deepEqual(outputs.y.shape, [plan.batch, plan.rows, plan.heads * plan.columns]);
        assert.equal(params.H, plan.heads);
    }
    // Judged: what is right passes; what is wrong in the batches of one size alone is told so.
    const { batch } = all.at(-1).plan;
    assert.ok(all.some(({ plan }) => plan.batch !== batch));
    for (const fault of [1, 1.01]) {
        const out = at(`planned${fault}`);
        mkdirSync(out);
        for (const one of all)
            for (const { file } of [...Object.values(one.outputs), ...Object.values(one.gradients)]) {
                const { shape, data } = readNpy(at('plan', file));
                writeNpy(
                    join(out, file),
                    shape,
                    data.map((x) => x * (one.plan.batch === batch ? fault : 1)),
                );
            }
        const { status, stdout } = seqmix('judge', '--manifest', at('plan', 'manifest.json'), out, '--f32');
        assert.equal(status, fault === 1 ? 0 : 1, stdout);
        const told = new RegExp(`^linear_attention: wrong only where (.*; )?batch = ${batch}(;|$)`, 'm');
        assert.equal(told.test(stdout), fault !== 1, stdout);
    }
});
