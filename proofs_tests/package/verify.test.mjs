// verify.test.mjs: verify.wasm in Node: the same proofs give the same figures as the native programs,
// every kernel keeps its ceilings, a failing check is told and does no harm, and the constructions that
// the page shows agree with each other.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadVerify } from '../../build/wasm/verify.js';

const verify = await loadVerify(readFileSync(new URL('../../build/wasm/verify.wasm', import.meta.url)));
const groups = [...new Set(verify.checks.map(({ group }) => group))];
// What takes long is tried natively alone; the tests of these groups that are quick are tried below.
const LONG = ['cat_prop12', 'cat_thm2', 'cat_thm3'];

const figureLines = (text) =>
    text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line.startsWith('figure: '));
function native(group) {
    const program = group === 'errata' ? 'test_errata' : `proof_${group}`;
    const { stdout, status } = spawnSync(`build/tests/${program}`, {
        encoding: 'utf8',
        env: { ...process.env, CMOCKA_MESSAGE_OUTPUT: 'STDOUT' },
    });
    assert.equal(status, 0, program);
    return figureLines(stdout);
}

test('every proof is here but the certificates, which need Arb', () => {
    assert.deepEqual(groups, [
        'las_b1',
        'las_smooth',
        'cat_thm1',
        'cat_cor1',
        ...LONG.slice(1),
        'cat_prop12',
        'focus',
        'chela',
        'errata',
    ]);
    // (each of them, as the native program lists them)
    const errata = readFileSync('proofs_tests/proofs/test_errata.c', 'utf8').match(
        /(?<=cmocka_unit_test\()erratum_\w+/g,
    );
    assert.deepEqual(
        verify.checks.filter(({ group }) => group === 'errata').map(({ name }) => name),
        errata,
    );
});

// float32 comes from the kernels, which give the same words everywhere. What the oracle adds in double goes
// through the C library's exp and log, whose last bits differ between libraries: one unit in the last of six
// printed places.
function same(mine, theirs) {
    const [a, b] = [mine, theirs].map((line) => /^(.*: )(\S+)( \(.*)$/.exec(line));
    assert.equal(a[1] + a[3], b[1] + b[3]);
    const [x, y] = [Number(a[2]), Number(b[2])];
    if (a[2] !== b[2] && !(Math.abs(x - y) <= 1e-5 * Math.abs(y))) assert.equal(mine, theirs);
}
for (const group of groups.filter((name) => !LONG.includes(name)))
    test(`${group}: the native figures`, () => {
        const mine = [];
        verify.checks.forEach((check, i) => {
            if (check.group !== group) return;
            const { passed, lines, figures } = verify.run(i);
            assert.ok(passed, lines.at(-1));
            const said = figureLines(lines.join('\n'));
            assert.equal(figures.length, said.length);
            mine.push(...said);
        });
        const theirs = native(group);
        assert.equal(mine.length, theirs.length);
        assert.ok(mine.length > 5);
        mine.forEach((line, i) => same(line, theirs[i]));
    });
for (const name of ['kernels_and_oracle_choose_the_same', 'without_the_premise', 'what_it_excludes'])
    test(`${name} holds`, () => {
        const { passed, lines } = verify.run(verify.checks.findIndex((check) => check.name === name));
        assert.ok(passed, lines.at(-1));
    });

test('every kernel keeps its ceilings on one draw of each kind', () => {
    const above = verify.ulps.flatMap(({ name, ceilings }, i) =>
        ceilings.flatMap((ceiling, kind) => {
            const error = verify.ulp(i, kind, 1);
            return error <= ceiling ? [] : `${name}, ${verify.ulpKinds[kind]}: ${error} of ${ceiling}`;
        }),
    );
    assert.ok(verify.ulps.length > 70);
    assert.deepEqual(above, []);
});

test('rows are within what is proved of their floats, and not far from it', () => {
    const listed = readFileSync('proofs_tests/rocq/theorems.txt', 'utf8').split('\n');
    assert.ok(verify.proved.length >= 7);
    verify.proved.forEach(({ what, theorem }, i) => {
        const { error, bound, numbers } = verify.nearest(i);
        assert.ok(listed.includes(theorem), theorem);
        assert.ok(error <= bound && error > 0.05 * bound && numbers >= 300, `${what}: ${error} of ${bound}`);
    });
    assert.deepEqual(Object.values(verify.nearest(verify.proved.length)), [NaN, NaN, 0]);
});

test('a check that fails is told, and the next one runs', () => {
    const { passed, lines } = verify.run(verify.checks.length);
    assert.equal(passed, false);
    assert.match(lines.at(-1), /there is no check/);
    assert.equal(verify.run(verify.checks.findIndex(({ name }) => name === 'erratum_06_sign')).passed, true);
});

// ---- The constructions ----
test('a head of attention is the convolution; its map is Toeplitz', () => {
    const kernel = [0.5, -0.25, 0, 1, 0.125];
    const x = [1, 2, -1, 3, 0.5];
    for (const precision of ['float32', 'double']) {
        const { y, direct, map } = verify.convolution(kernel, x, true, precision);
        const plain = x.map((_, t) =>
            kernel.slice(0, t + 1).reduce((sum, tap, s) => sum + tap * x[t - s], 0),
        );
        plain.forEach((want, t) => {
            assert.ok(Math.abs(direct[t] - want) < 1e-6);
            assert.ok(
                Math.abs(y[t] - want) < (precision === 'float32' ? 3e-6 : 1e-14),
                `row ${t}: ${y[t]}, ${want}`,
            );
        });
        for (let head = 0; head < 2; head++)
            for (let i = 2; i < 6; i++)
                for (let j = 2; j <= i; j++)
                    assert.ok(
                        Math.abs(map[head * 36 + i * 6 + j] - map[head * 36 + (i - 1) * 6 + j - 1]) < 1e-6,
                    );
    }
    assert.ok(
        Number.isNaN(verify.convolution(kernel, x, false, 'double').y[1]),
        'one head has no logarithm of -0.25',
    );
});
test('recall finds what followed, and does not without its filter', () => {
    const D = 4;
    const tokens = [0, 1, 2, 3, 1, 0, 0, 1];
    const embed = (all) =>
        Float64Array.from(all.flatMap((token) => [0, 1, 2, 3].map((c) => (c === token ? 1 : 0))));
    // 1 was followed by 2 and by 0; the bigram 0 1 was followed by 2.
    const given = { x: embed(tokens), L: tokens.length, D, delay: 'key', c: 60, maskStarts: true };
    const answer = ({ y }) => [...y.slice(-D)];
    assert.ok(Math.abs(answer(verify.recall({ ...given, filter: [1, 0.6] }, 'float32'))[2] - 1) < 1e-3);
    const torn = answer(verify.recall({ ...given, filter: [1, 0] }, 'float32'));
    assert.ok(Math.abs(torn[2] - 0.5) < 1e-3 && Math.abs(torn[0] - 0.5) < 1e-3, String(torn));
    const off = answer(verify.recall({ ...given, filter: [0, 0] }, 'float32'));
    assert.ok(off[2] < 0.3, String(off));
});
test('copying in order gives the signals in order', () => {
    const [S, noise, marker] = [3, 3, 4];
    const tokens = [2, noise, 0, 1, marker, 2, 0];
    const { answer, query } = verify.copy(tokens, S, 7, 1e-2, 'float32');
    assert.deepEqual(answer.slice(4), [2, 0, 1]);
    const rho = 1 - 1 / 7;
    assert.ok(Math.abs(query[4 * (S + 3) + 2] - rho ** 4) < 1e-6);
});
test('a landmark is found at four times its width, and the count is one of trials', () => {
    const [L, block, sigma] = [128, 8, 1];
    const D = Math.round(4 * verify.landmarkThreshold(L, block, sigma));
    const hits = verify.landmarkTrials({ L, D, block, sigma, rho: false }, 5, 0, 40);
    assert.ok(hits >= 37 && hits <= 40, String(hits));
    const parts = [0, 10, 20, 30].map((first) =>
        verify.landmarkTrials({ L, D, block, sigma, rho: false }, 5, first, 10),
    );
    assert.equal(
        parts.reduce((a, b) => a + b),
        hits,
    );
});
test("a filter's impulse response is the recurrence's", () => {
    const x = Array.from({ length: 32 }, (_, t) => (t === 0 ? 1 : 0));
    const y = verify.focus(x, [0.5, 0.81], 1, 1, false, 'double');
    for (let t = 2; t < 32; t++) assert.ok(Math.abs(y[t] + 0.5 * y[t - 1] + 0.81 * y[t - 2]) < 1e-15);
    assert.ok(Math.abs(verify.poleRadius(0.5, 0.81) - 0.9) < 1e-15);
});
test('the audit maps who sees whom, and says what it cannot', () => {
    const literal = verify.audit('mixer=las&pool=centred&window=5&length=20&width=8&heads=2', 20);
    assert.deepEqual([literal.claimed, literal.measured], [2, 2]);
    assert.ok(literal.share[3 * 20 + 5] > 1e-4 && literal.share[3 * 20 + 6] === 0);
    assert.throws(() => verify.audit('mixer=las&length=20', 24), /length/);
    assert.throws(() => verify.audit('mixer=nothing', 24), /mixer/);
});
