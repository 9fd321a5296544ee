// amalgamation.test.mjs: the oracle in two files, as somebody who has only those uses it: it compiles without
// a warning, serves C and C++, defines what the library defines, and passes the oracle's own test.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { run as ran } from '../support/program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-two-files-'));
after(() => rmSync(folder, { recursive: true }));
const at = (name) => join(folder, name);
const has = (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;

function run(command, args, options = {}) {
    const { status, stdout, stderr } = ran(command, args, options);
    assert.equal(status, 0, `${command} ${args.join(' ')}\n${stdout}${stderr}`);
    return stdout + stderr;
}
run('node', ['scripts/amalgamate.mjs', folder]);

const STRICT = ['-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Werror', '-O1'];
const compile = (compiler, to) =>
    run(compiler, ['-std=c99', ...STRICT, '-c', 'seqmix_ref.c', '-o', to], { cwd: folder });

test('it is C99 without a warning', () => assert.equal(compile('gcc', 'ref.o'), ''));
test('clang finds nothing either', { skip: !has('clang') && 'needs clang' }, () =>
    assert.equal(compile('clang', 'clang.o'), ''),
);

test('it defines what the library defines, and holds no variable', () => {
    const symbols = (file, kinds) =>
        [...run('nm', [file]).matchAll(/^[0-9a-f]+ (\w) (\w+)$/gm)]
            .filter(([, kind]) => kinds.includes(kind))
            .map(([, , name]) => name)
            .sort();
    const own = symbols(at('ref.o'), 'T'),
        library = symbols('build/libseqmix_ref.a', 'T').filter((name) => name.startsWith('ref_'));
    assert.ok(library.length > 200);
    assert.deepEqual(
        own.filter((name) => name.startsWith('ref_')),
        library,
    );
    assert.deepEqual(symbols(at('ref.o'), 'BbDdCS'), []); // threads share nothing
});

test('a program in C++11 includes its header and links it', { skip: !has('g++') && 'needs g++' }, () => {
    writeFileSync(
        at('use.cc'),
        '#include "seqmix_ref.h"\n#include <cstdio>\n' +
            'int main() { double x[] = {1, 2, 3}, y[3]; ref_scale(y, x, 2, 3); return std::printf("%g\\n", y[2]) < 0; }\n',
    );
    run('g++', ['-std=c++11', ...STRICT, 'use.cc', 'ref.o', '-lm', '-o', 'use'], { cwd: folder });
    assert.equal(run(at('use'), []), '6\n');
});

test("the oracle's own test passes with it in place of the library", () => {
    const variant = readdirSync('build/obj').find((name) => /^\w+-pic$/.test(name));
    const object = `build/obj/${variant}/proofs_tests/kernels/test_ref.o`;
    const libraries = ['build/libcli.a', 'build/libseqmix.a', '-lcmocka', '-lz', '-lm'];
    run('gcc', [object, at('ref.o'), ...libraries, '-o', at('test_ref')]);
    assert.match(run(at('test_ref'), []), /\[ {2}PASSED {2}\] [1-9]\d* test/);
});
