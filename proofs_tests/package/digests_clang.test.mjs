// digests_clang.test.mjs: the digests of clang's copies for the instruction sets that digests.test.mjs leaves
// out, as they take a minute to compile: make test-package.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare, fusedIn, isas, native } from './digests_native.mjs';

const program = 'build/clang-others/seqmix';
const x86 = process.arch === 'x64';
const all = isas(program);

test('clang builds what digests leaves out', () => assert.ok(!x86 || all.includes('sse2'), all.join()));
for (const isa of all) test(`clang, ${isa}`, () => compare(native(program, isa, 'selfcheck')));
for (const isa of ['avx512', 'zen4'])
    if (x86 && !all.includes(isa)) test(`clang, ${isa}`, { skip: `this machine has no ${isa}` }, () => {});
test('clang, avx512: no fused multiply-add', { skip: !x86 && 'x86 only' }, () =>
    assert.deepEqual(fusedIn('build/obj/clang-others/avx512/kernels'), []),
);
