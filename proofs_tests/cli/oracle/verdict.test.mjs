// verdict.test.mjs: what seqmix compare and judge say of small sets written here, number by number: each
// array by its own scale and its format's tolerance, every one of several outputs, what is told of whom; the
// report's columns and badge; how numbers are read.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { seqmix } from '../../support/program.mjs';
import { readNpy, writeNpy } from '../../support/npy.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-verdict-'));
after(() => rmSync(folder, { recursive: true }));
let folders = 0;
function newFolder() {
    const to = join(folder, `${folders++}`);
    mkdirSync(to);
    return to;
}
const PARTS = { inputs: '', outputs: '', intermediates: 'mid_', gradients: 'd_' };

/** A set of cases whose arrays are {data, shape, and what the manifest says of them}. */
function setOf(cases, head = {}) {
    const to = newFolder();
    const listed = cases.map(({ name, mechanism = 'made_up', params = {}, plan, batch, ...parts }) => {
        const one = { name, mechanism, params, plan, batch };
        for (const [part, prefix] of Object.entries(PARTS)) {
            one[part] = {};
            for (const [array, { data, shape = [data.length], ...said }] of Object.entries(
                parts[part] ?? {},
            )) {
                const file = `${name}.${prefix}${array}.npy`;
                writeNpy(join(to, file), shape, data, said.dtype);
                one[part][array] = { file, shape, dtype: '<f8', ...said };
            }
        }
        return one;
    });
    const manifest = join(to, 'manifest.json');
    writeFileSync(manifest, JSON.stringify({ version: 1, ...head, cases: listed }));
    return { to, manifest, cases: listed };
}
/** Its results as they are right, but for the files in `wrong`: other numbers, or null: not given. */
function resultsOf({ to, cases }, wrong = {}) {
    const results = newFolder();
    for (const one of cases)
        for (const part of ['outputs', 'intermediates', 'gradients'])
            for (const { file } of Object.values(one[part])) {
                const { shape, data, dtype } = readNpy(join(to, file));
                if (wrong[file] !== null) writeNpy(join(results, file), shape, wrong[file] ?? data, dtype);
            }
    return results;
}
const told = (command, set, wrong, ...more) =>
    seqmix(command, '--manifest', set.manifest, resultsOf(set, wrong), ...more);

const five = setOf(
    [
        {
            name: 'five',
            outputs: {
                y: { data: [1, -4, 2], scale: 8, f32_tol: 1e-4, f16_tol: 0.01, bf16_tol: 0.1 },
                state: { data: [4, 1], scale: 2, f32_tol: 2e-3, f16_tol: 0.02, bf16_tol: 0.05 },
            },
            intermediates: { m: { data: [1, 3], scale: 3, f32_tol: 3e-4, f16_tol: 0.03, bf16_tol: 0.06 } },
            gradients: { x: { data: [5, -1], scale: 5, f32_tol: 4e-4 }, w: { data: [-7, 1] } },
        },
    ],
    { f64_tol: 1e-8 },
);
const [case5] = five.cases;
// What five's arrays may be off by; where the set does not say it: as many times the format's own as f32_tol
// is.
const ALLOWED = {
    y: [8, { f64: 1e-8, f32: 1e-4, f16: 0.01, bf16: 0.1 }],
    state: [2, { f64: 1e-8, f32: 2e-3, f16: 0.02, bf16: 0.05 }],
    mid_m: [3, { f64: 1e-8, f32: 3e-4, f16: 0.03, bf16: 0.06 }],
    d_x: [5, { f64: 1e-8, f32: 4e-4, f16: 20 / 256, bf16: 0.125 }],
    d_w: [7, { f64: 1e-8, f32: 2e-5, f16: 2 ** -8, bf16: 2 ** -5 }],
};

test('each array is judged by its own scale and its tolerance in the format, by compare as by judge', () => {
    for (const [array, [scale, tolerances]] of Object.entries(ALLOWED))
        for (const [format, tol] of Object.entries(tolerances))
            for (const times of [0.99, 1.01]) {
                const file = `five.${array}.npy`;
                const { data } = readNpy(join(five.to, file));
                data[1] += times * tol * scale;
                for (const command of array === 'mid_m' ? ['compare'] : ['compare', 'judge']) {
                    const { status, stdout } = told(command, five, { [file]: data }, `--${format}`);
                    const what = `${command} ${array} --${format}, ${times}: ${stdout}`;
                    assert.equal(status, times > 1 ? 1 : 0, what);
                    if (command === 'compare') continue;
                    assert.match(
                        stdout,
                        times > 1
                            ? /4 arrays of 1 cases, 1 past what is allowed in 1 cases, 0 not/
                            : /, 0 past/,
                        what,
                    );
                }
            }
    // of a scale of 0 nothing may be off, by either
    const none = setOf([{ name: 'none', outputs: { y: { data: [0, 2], scale: 0 } } }]);
    for (const command of ['compare', 'judge'])
        for (const [off, status] of [
            [0, 0],
            [1e-15, 1],
        ])
            assert.equal(
                told(command, none, { 'none.y.npy': [0, 2 + off] }).status,
                status,
                `${command} ${off}`,
            );
});

test('every one of several outputs is told; a gradient where no output is wrong; NaN; what is worst', () => {
    const [y, state, m, x] = ['y', 'state', 'mid_m', 'd_x'].map((array) => `five.${array}.npy`);
    const both = told('judge', five, { [y]: [1, -4, 3], [state]: [4, 9], [x]: [0, 0] });
    assert.match(
        both.stdout,
        /^five: y is off by 0\.125 .*\nfive: state is off by 4 of its scale .*\njudge: /,
    );
    assert.match(both.stdout, /, 3 past what is allowed in 1 cases/);
    for (const wrong of [{ [y]: [1, NaN, 2] }, { [x]: [NaN, -1] }])
        for (const command of ['compare', 'judge']) assert.equal(told(command, five, wrong).status, 1);
    const said = told('judge', five, { [x]: [5, -2] }, '--json');
    const { looks_like, ...rest } = JSON.parse(said.stdout);
    assert.deepEqual(rest, { case: 'five', array: x, gradient: true, error: 0.2, allowed: 1e-8 });
    const output = JSON.parse(told('judge', five, { [state]: [4, 9] }, '--json').stdout);
    assert.deepEqual([output.gradient, output.error], [false, 4]);
    // the worst by its own tolerance, not the first nor by its size
    const worst = told('compare', five, { [y]: [1, -4, 2.1], [state]: [4, 1.02], [m]: [1, 3.0012] }, '--f32');
    assert.match(
        worst.stdout,
        /5 arrays, 3 past their tolerance, .*; worst 125 of its tolerance at five\.y\.npy\[2\]\n/,
    );
    const other = told('compare', five, { [y]: [1, -4, 2.001], [state]: [4, 1.02] }, '--f32');
    assert.match(
        other.stdout,
        /5 arrays, 2 past their tolerance, .*; worst 5 of its tolerance at five\.state\.npy\[1\]\n/,
    );
    // what is missing or of another kind is no success, whatever --partial says of what is missing
    const lacking = told('judge', five, { [state]: null });
    assert.equal(lacking.status, 2);
    assert.match(lacking.stderr, /judge: 1 of the files that the manifest names are not in/);
    assert.equal(told('judge', five, { [state]: null }, '--partial').status, 0);
    const kinds = resultsOf(five);
    writeNpy(join(kinds, y), [3], [1, -4, 2], '<i4');
    for (const command of ['compare', 'judge']) {
        const { status, stderr } = seqmix(command, '--manifest', five.manifest, kinds);
        assert.equal(status, 2);
        assert.match(stderr, /five\.y\.npy: holds <i4; <f8 is wanted/);
    }
    assert.ok(case5.outputs.y && looks_like);
    // a case without outputs among others that have some passes with neither
    const bare = setOf([{ name: 'whole', outputs: { y: { data: [1] } } }, { name: 'bare' }]);
    for (const command of ['compare', 'judge'])
        for (const more of command === 'judge' ? [[], ['--partial']] : [[]]) {
            const { status, stderr } = told(command, bare, {}, ...more);
            assert.equal(status, 2, command);
            assert.match(stderr, /case bare: it has no outputs to be judged by/);
        }
});

const NUMBERS = [1, 2, 4, 8];
const wrongly = (...names) => Object.fromEntries(names.map((name) => [`${name}.y.npy`, [1, 2, 5, 8]]));
const ofRows = (...lengths) =>
    setOf(lengths.map((L) => ({ name: `r${L}`, params: { L }, outputs: { y: { data: NUMBERS } } })));

test('judge says up to how many rows a mechanism is right, where no shorter case is wrong', () => {
    const rows = ofRows(64, 4, 128, 65);
    const said = (...wrong) => told('judge', rows, wrongly(...wrong)).stdout;
    assert.match(said('r65', 'r128'), /^made_up: right up to 64 rows, wrong from 65 rows on: /m);
    assert.match(said('r128'), /^made_up: right up to 65 rows, wrong from 128 rows on: /m);
    for (const wrong of [['r4'], ['r4', 'r128'], ['r64', 'r65'], ['r4', 'r64', 'r65', 'r128']])
        assert.doesNotMatch(said(...wrong), /right up to/, wrong.join());
});

test('judge says what the wrong cases of a plan share: rows above, levels, a draw, a mode', () => {
    const level = (rows, more = {}) => ({
        ...{ mode: 'none', rows, heads: 1, columns: 8, batch: 1, draw: 'usual', start: 0, call: 0, ...more },
    });
    const planned = (...plans) =>
        setOf(plans.map((plan, i) => ({ name: `p${i}`, plan, outputs: { y: { data: NUMBERS } } })));
    const said = (set, ...wrong) =>
        /^made_up: wrong only where (.*)$/m.exec(told('judge', set, wrongly(...wrong)).stdout)?.[1];
    const rows = planned(...[16, 64, 65, 128, 300].map((n) => level(n)));
    assert.equal(said(rows, 'p2', 'p3', 'p4'), 'rows above 64');
    assert.equal(said(rows, 'p1'), 'rows = 64');
    assert.equal(said(rows, 'p1', 'p3'), 'rows = 64, 128');
    assert.equal(said(rows, 'p0', 'p1', 'p2'), undefined); // more than the right ones say
    const draws = planned(...['usual', 'full', 'huge', 'tiny'].map((draw) => level(64, { draw })));
    assert.equal(said(draws, 'p2'), 'the draw is huge');
    const modes = planned(...['none', 'head', 'channel'].map((mode) => level(64, { mode })));
    assert.equal(said(modes, 'p2'), 'mode = channel');
    const starts = planned(level(64), level(64, { start: 1 }));
    assert.equal(said(starts, 'p1'), 'start states are given: yes');
    // of five levels wrong among many right ones nothing is said
    const many = planned(...[1, 2, 3, 5, 6, 7, 8, 16, 4, 9].map((heads) => level(64, { heads })));
    assert.equal(said(many, 'p0', 'p2', 'p4', 'p8'), undefined);
});

/** The report of results: its page, its badge, and a mechanism's cells by their column. */
function reported(set, wrong, ...more) {
    const page = join(set.to, 'page.html');
    const badge = join(set.to, 'badge.svg');
    const { status } = told('judge', set, wrong, '--report', page, '--badge', badge, ...more);
    const html = readFileSync(page, 'utf8');
    const table = /<table id="matrix">(.*?)<\/table>/s.exec(html)[1];
    const [head, ...rows] = table
        .split('</tr>')
        .map((row) => [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell]) => cell))
        .filter((row) => row.length);
    const cells = Object.fromEntries(
        rows.map(([name, ...row]) => [name, Object.fromEntries(row.map((cell, i) => [head[i + 1], cell]))]),
    );
    return { status, html, cells, badge: readFileSync(badge, 'utf8') };
}

test('report: columns begin where they say, start states and gradients count, the badge counts mechanisms', () => {
    const y = { y: { data: NUMBERS } };
    const set = setOf([
        ...[17, 18, 299, 300].map((L) => ({ name: `r${L}`, params: { L }, outputs: y })),
        { name: 'graded', params: { L: 17 }, outputs: y, gradients: { x: { data: NUMBERS } } },
        {
            name: 'started',
            mechanism: 'linear_attention_core',
            params: { L: 20 },
            inputs: { s0: { data: NUMBERS } },
            outputs: y,
        },
    ]);
    const right = reported(set, {});
    assert.equal(right.status, 0);
    const columns = { '1 to 17 rows': 2, '18 to 299 rows': 2, '300 rows on': 1 };
    for (const [column, n] of Object.entries(columns))
        assert.equal(right.cells.made_up[column], `${n} right`, column);
    assert.equal(right.cells.made_up['start states given'], '');
    assert.equal(right.cells.linear_attention_core['start states given'], '1 right');
    assert.match(right.badge, />2 of 2 right, f64</);
    assert.match(right.badge, /#1a7f37/);
    // a gradient alone is wrong
    const graded = reported(set, { 'graded.d_x.npy': [1, 2, 4, 9] });
    assert.equal(graded.status, 1);
    assert.deepEqual(
        ['outputs', 'gradients', '1 to 17 rows', '18 to 299 rows'].map(
            (column) => graded.cells.made_up[column],
        ),
        ['5 right', '1 of 1 wrong', '1 of 2 wrong', '2 right'],
    );
    assert.match(graded.badge, />1 of 2 right, f64</);
    assert.match(graded.badge, /#b42318/);
    for (const file of ['right.graded.d_x.npy', 'given.graded.d_x.npy'])
        assert.ok(graded.html.includes(`download="${file}"`), file);
    // the second mechanism is wrong
    const second = reported(set, wrongly('started'));
    assert.match(second.badge, />1 of 2 right, f64</);
    assert.equal(second.cells.linear_attention_core['start states given'], '1 of 1 wrong');
    // nothing wrong, and something not given
    const lacking = reported(set, { 'r18.y.npy': null });
    assert.equal(lacking.status, 2);
    assert.match(lacking.badge, />incomplete</);
    assert.doesNotMatch(lacking.badge, /#1a7f37/);
});

test('compare: the scale is that of the reference; infinities; numbers of float16, of no dimension', () => {
    const to = newFolder();
    const pair = (got, ref, { dtype, shape = [got.length] } = {}, ...more) => {
        writeNpy(join(to, 'got.npy'), shape, got, dtype);
        writeNpy(join(to, 'ref.npy'), shape, ref);
        return seqmix('compare', join(to, 'got.npy'), join(to, 'ref.npy'), ...more);
    };
    // a result that is far too large is no measure of itself
    assert.equal(pair([1, 1, 1000], [1, 1, 1], {}, '--tol', '0.999').status, 1);
    assert.match(pair([2, 1e-3], [1, 1e-3]).stdout, /relative to the scale +1 of 1, the reference's largest/);
    // where all is allowed, not what is no number
    for (const bad of [NaN, Infinity])
        assert.equal(pair([1, bad], [1, 65504], {}, '--tol', '1e308').status, 1);
    const half = (bits, number) => pair([bits], [number], { dtype: '<f2' });
    for (const [bits, number] of [
        [0x3555, 1365 / 4096],
        [0xfbff, -65504],
        [0x0400, 2 ** -14],
        [0x83ff, -1023 / 2 ** 24],
        [0x7c00, Infinity],
        [0xfc00, -Infinity],
    ])
        assert.match(half(bits, number).stdout, /equal in every number/, `${number}`);
    for (const bits of [0x7e00, 0x7c01, 0xfe00]) assert.equal(half(bits, Infinity).status, 1);
    for (const [got, status] of [
        [5, 0],
        [5.1, 1],
    ]) {
        const none = pair([got], [5], { shape: [] });
        assert.equal(none.status, status);
        assert.match(none.stdout, /: 1 numbers \[\], judged as f64/);
    }
});

// ---- Of the oracle's own set ----

test('vectors: tolerances are twice what rounding moves, each format its own; of a case never others', () => {
    const to = newFolder();
    assert.equal(seqmix('vectors', '--only', 'ttt_core', '--out', to).status, 0);
    const { cases } = JSON.parse(readFileSync(join(to, 'manifest.json'), 'utf8'));
    const { gradients } = cases.find(({ name }) => name === 'ttt_core_norm');
    assert.deepEqual(
        Object.fromEntries(
            ['k', 'v', 'tau', 'b0', 'bias'].map((name) => {
                const { f32_tol, f16_tol, bf16_tol } = gradients[name];
                return [name, [f32_tol, f16_tol, bf16_tol]];
            }),
        ),
        {
            k: [2e-5, 0.0063, 0.052],
            v: [2e-5, 0.0043, 0.0312],
            tau: [2e-5, 0.007, 0.036],
            b0: [2e-5, 0.0069, 0.047],
            bias: [2e-5, 0.0089, 0.048],
        },
    );
});

test('oracle: gradients through the norms of q and k are those by differences', () => {
    for (const [mechanism, name] of [
        ['diff_core', 'diff_core_rms'],
        ['delta_core', 'delta_core_l2'],
    ]) {
        const set = newFolder();
        assert.equal(seqmix('vectors', '--only', mechanism, '--out', set).status, 0);
        const whole = JSON.parse(readFileSync(join(set, 'manifest.json'), 'utf8'));
        const one = whole.cases.find((each) => each.name === name);
        const list = join(set, 'one.json');
        writeFileSync(list, JSON.stringify({ ...whole, cases: [one] }));
        const array = (from, { file }) => readNpy(join(from, file)).data;
        const dy = array(set, one.inputs.dy);
        for (const of of ['q', 'k'])
            for (const at of [0, 37]) {
                const { shape, data } = readNpy(join(set, one.inputs[of].file));
                const moved = (by) => {
                    const file = join(set, one.inputs[of].file);
                    writeNpy(
                        file,
                        shape,
                        data.map((x, i) => (i === at ? x + by : x)),
                    );
                    const out = newFolder();
                    assert.equal(seqmix('oracle', '--manifest', list, '--out', out).status, 0);
                    writeNpy(file, shape, data);
                    return array(out, one.outputs.y).reduce((sum, y, i) => sum + y * dy[i], 0);
                };
                const h = 1e-3;
                const slope = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
                const given = array(set, one.gradients[of])[at];
                const off = Math.abs(slope - given) / one.gradients[of].scale;
                assert.ok(off < 1e-8, `${name} d_${of}[${at}]: ${given}, by differences ${slope}`);
            }
    }
});
