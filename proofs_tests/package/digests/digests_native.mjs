// digests_native.mjs: the digests of native programs, for digests.test.mjs and digests_clang.test.mjs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const lines = (name) =>
    readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
        .trim()
        .split('\n');
const list = lines('digests.txt');
export const configs = lines('digests_configs.txt');

// Compare line by line, so that a failure names the first kernel that differs.
export function compare(lines) {
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

// gcc 12 turns x0 c - x1 s beside x1 c + x0 s into vfmaddsub, -ffp-contract=off or not. The digests catch
// that only where a case happens to round differently; the instructions tell for certain.
function fusedIn(folder) {
    const objects = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.o'));
    assert.ok(objects.length > 10);
    return objects.filter((object) => {
        const code = execFileSync('objdump', ['-d', `${folder}/${object}`], {
            encoding: 'utf8',
            maxBuffer: 1 << 28,
        });
        return /\bvfn?m(add|sub)/.test(code);
    });
}

/** The tests of a program that this compiler built, its objects in this folder. */
export function digestsOf(compiler, program, objects) {
    const x86 = process.arch === 'x64';
    const all = isas(program);
    test(`${compiler} builds scalar and at least one more`, () =>
        assert.ok(all.includes('scalar') && all.length >= 2, all.join()));
    for (const isa of all) test(`${compiler}, ${isa}`, () => compare(native(program, isa, 'selfcheck')));
    test(`${compiler}, ${all.at(-1)}, two threads`, () =>
        compare(native(program, all.at(-1), 'selfcheck', '--threads', '2')));
    test(`${compiler}, every mode`, () =>
        assert.deepEqual(native(program, all.at(-1), 'audit', '--digests'), configs));
    if (x86)
        for (const isa of ['avx2', 'avx512', 'zen4'])
            if (!all.includes(isa))
                test(`${compiler}, ${isa}`, { skip: `this machine has no ${isa}` }, () => {});
    for (const isa of ['avx2', 'avx512'])
        test(`${compiler}, ${isa}: no fused multiply-add`, { skip: !x86 && 'x86 only' }, () =>
            assert.deepEqual(fusedIn(`${objects}/${isa}/kernels`), []),
        );
}
