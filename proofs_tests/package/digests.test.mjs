// digests.test.mjs: the same bits everywhere. Every digest of `seqmix selfcheck` (each kernel, short
// trainings of each mixer) on every instruction set of this machine, built by gcc and by clang, with one
// thread and with two, and of both WebAssembly modules in Node (digests_browsers.test.mjs: in browsers),
// compared with the one committed list, digests.txt; and the trained weights of every mixer in every mode
// (docs/INVARIANCES.md) with digests_configs.txt. When a change moves bits on purpose:
//   build/seqmix selfcheck > proofs_tests/digests.txt     and say why in the commit;
//   build/seqmix audit --digests > proofs_tests/digests_configs.txt
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadChecks } from '../../build/wasm/checks.js';
import { load } from '../../build/wasm/seqmix.js';
import { configDigest } from './config_digest.mjs';

const lines = (name) =>
    readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
        .trim()
        .split('\n');
const list = lines('digests.txt');
const configs = lines('digests_configs.txt');

// Compare line by line, so that a failure names the first kernel that differs.
function compare(lines) {
    assert.ok(lines.length > 40, `only ${lines.length} digests came out`);
    for (const [i, line] of list.entries()) assert.equal(lines[i], line);
    assert.equal(lines.length, list.length);
}

function native(program, isa, ...command) {
    const env = { ...process.env, SMX_ISA: isa };
    return execFileSync(program, command, { env, encoding: 'utf8' }).trim().split('\n');
}

// The instruction sets that this program has and this machine can run, as its own error lists them.
function isas(program) {
    try {
        execFileSync(program, ['--version'], { env: { ...process.env, SMX_ISA: '?' }, stdio: 'pipe' });
    } catch (error) {
        return String(error.stderr)
            .trim()
            .replace(/^.*one of /, '')
            .split(', ');
    }
    throw new Error(`${program} accepts SMX_ISA=?`);
}

for (const [compiler, program] of [
    ['gcc', 'build/seqmix'],
    ['clang', 'build/clang-exact/seqmix'],
]) {
    const all = isas(program);
    test(`${compiler} builds scalar and at least one more`, () =>
        assert.ok(all.includes('scalar') && all.length >= 2, all.join()));
    for (const isa of all) test(`${compiler}, ${isa}`, () => compare(native(program, isa, 'selfcheck')));
    test(`${compiler}, ${all.at(-1)}, two threads`, () =>
        compare(native(program, all.at(-1), 'selfcheck', '--threads', '2')));
    test(`${compiler}, every mode`, () =>
        assert.deepEqual(native(program, all.at(-1), 'audit', '--digests'), configs));
    if (process.arch === 'x64')
        for (const isa of ['avx2', 'avx512', 'zen4'])
            if (!all.includes(isa))
                test(`${compiler}, ${isa}`, { skip: `this machine has no ${isa}` }, () => {});
}

// gcc 12 turns x0 c - x1 s beside x1 c + x0 s into vfmaddsub, -ffp-contract=off or not. The digests catch
// that only where a case happens to round differently; the instructions tell for certain.
const compiled = ['gcc', 'clang'].flatMap((compiler) => ['avx2', 'avx512'].map((isa) => [compiler, isa]));
for (const [compiler, isa] of compiled)
    test(`${compiler}, ${isa}: no fused multiply-add`, { skip: process.arch !== 'x64' && 'x86 only' }, () => {
        const folder = `build/obj/${compiler === 'gcc' ? 'gcc-pic' : 'clang-exact'}/${isa}/kernels`;
        const objects = readdirSync(folder).filter((name) => name.endsWith('.o'));
        assert.ok(objects.length > 10);
        for (const object of objects) {
            const code = execFileSync('objdump', ['-d', `${folder}/${object}`], {
                encoding: 'utf8',
                maxBuffer: 1 << 28,
            });
            assert.doesNotMatch(code, /\bvfn?m(add|sub)/, object);
        }
    });

for (const module of ['seqmix-whole.wasm', 'seqmix-scalar.wasm'])
    test(`Node, ${module}`, async () => {
        const bytes = (name) => readFileSync(new URL(`../../build/wasm/${name}`, import.meta.url));
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
