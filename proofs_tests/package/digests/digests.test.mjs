// digests.test.mjs: the same bits everywhere. Every digest of `seqmix selfcheck` (each kernel, short
// trainings of each mixer) on every instruction set of this machine, built by gcc (digests_clang.test.mjs:
// by clang), with one thread and with two, and of both WebAssembly modules in Node
// (digests_browsers.test.mjs: in browsers), compared with the one committed list, digests.txt; and the
// trained weights of every mixer in every mode (docs/INVARIANCES.md) with digests_configs.txt. When a change
// moves bits on purpose:
//   build/seqmix selfcheck > proofs_tests/digests.txt     and say why in the commit;
//   build/seqmix audit --digests > proofs_tests/digests_configs.txt
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadChecks } from '../../../build/wasm/checks.js';
import { load } from '../../../build/wasm/seqmix.js';
import { configDigest } from './config_digest.mjs';
import { compare, configs, digestsOf } from './digests_native.mjs';

digestsOf('gcc', 'build/seqmix', 'build/obj/gcc-pic');

for (const module of ['seqmix-whole.wasm', 'seqmix-scalar.wasm'])
    test(`Node, ${module}`, async () => {
        const bytes = (name) => readFileSync(new URL(`../../../build/wasm/${name}`, import.meta.url));
        const lab = await load({ wasm: bytes(module) });
        const checks = await loadChecks(lab, bytes('checks.wasm'));
        compare(checks.digests().map(({ name, digest }) => `${digest}  ${name}`));
        for (const line of configs) assert.equal(configDigest(lab, line), line);
    });

// 32-bit x86 by its old unit keeps what it computes in 80 bits, and rounds when it likes.
const x86 = process.arch === 'x64' && spawnSync('gcc', ['--version']).status === 0;
test('a compiler that computes floats in a wider type is refused', { skip: !x86 && 'needs gcc' }, () => {
    const compile = (...flags) =>
        spawnSync(
            'gcc',
            ['-std=gnu11', '-Iinclude', '-I.', ...flags, '-fsyntax-only', 'kernels/dispatch.c'],
            {
                encoding: 'utf8',
            },
        );
    assert.equal(compile().status, 0);
    const { status, stderr } = compile('-mfpmath=387');
    assert.notEqual(status, 0);
    assert.match(stderr, /float is computed in a wider type/);
});
