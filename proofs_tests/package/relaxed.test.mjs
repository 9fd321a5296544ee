// relaxed.test.mjs: seqmix-relaxed.wasm (make relaxed): an exact run in it keeps its bits, fast=1 gives
// other bits near them, and an engine without relaxed SIMD refuses it. Skipped where the module is not
// built.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { loadChecks } from '../../build/wasm/checks.js';
import { hasRelaxedSimd, load } from '../../build/wasm/seqmix.js';

const at = (file) => new URL(`../../${file}`, import.meta.url);
const file = at('build/wasm/seqmix-relaxed.wasm');
const built = existsSync(file) ? false : 'seqmix-relaxed.wasm is not built (make relaxed, needs clang 16)';

const refusal = hasRelaxedSimd() ? null : await load({ relaxed: true }).then(String, (error) => error);
test(
    'an engine without relaxed SIMD refuses the module in a sentence',
    { skip: !refusal && 'this one has it' },
    () => {
        assert.equal(refusal.name, 'SeqmixError');
        assert.equal(refusal.key, 'relaxed');
        assert.match(refusal.message, /no relaxed SIMD/);
    },
);

if (!hasRelaxedSimd()) setFlagsFromString('--experimental-wasm-relaxed-simd'); // Node 20
const skip = built || (hasRelaxedSimd() ? false : 'this engine has no relaxed SIMD');
const lab = skip ? null : await load({ relaxed: readFileSync(file) });

test('without fast=1 every digest is the committed one', { skip }, async () => {
    const list = readFileSync(at('proofs_tests/digests.txt'), 'utf8').trim().split('\n');
    const checks = await loadChecks(lab, readFileSync(at('build/wasm/checks.wasm')));
    assert.deepEqual(
        checks.digests().map(({ name, digest }) => `${digest}  ${name}`),
        list,
    );
});

// The losses of a run, and in between those of an exact one beside it.
function losses(config, steps) {
    const exact = lab.open(`${config}&fast=0`);
    const fast = lab.open(`${config}&fast=1`);
    try {
        for (let i = 0; i < steps; i++) {
            fast.step();
            exact.step();
        }
        return { exact: exact.losses(), fast: fast.losses(), same: exact.digest() === fast.digest() };
    } finally {
        exact.close();
        fast.close();
    }
}
// As natively (test_fast.c): a thousandth after 20 steps; before the first update only a forward pass
// differs.
test('every mixer: fast=1 gives other bits and the same losses', { skip }, () => {
    for (const { name } of lab.config.mixers) {
        const { exact, fast, same } = losses(
            `mixer=${name}&task=mqar&vocab=64&length=64&pairs=8&width=32&seed=1`,
            20,
        );
        assert.equal(same, false, name);
        assert.equal(fast.length, 20, name);
        for (const [i, loss] of exact.entries()) {
            const most = (i ? 1e-3 : 1e-5) * loss;
            assert.ok(
                Math.abs(fast[i] - loss) <= most,
                `${name}, step ${i + 1}: ${fast[i]}, exactly ${loss}`,
            );
        }
    }
});
