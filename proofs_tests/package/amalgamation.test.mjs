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

// What seqmix_ref.c allocates is written down, and struck out by whoever frees it.
const COUNTED = `#include <stdio.h>
#include <stdlib.h>
static void *held[4096];
static size_t n_held, more, total; // more: what finds no place
static void *hold(void *p) {
    total += p != NULL;
    if (p && n_held < 4096) held[n_held++] = p;
    else if (p) more++;
    return p;
}
static void strike_out(void *p) {
    for (size_t i = n_held; p && i--;)
        if (held[i] == p) {
            held[i] = held[--n_held];
            return;
        }
}
void __real_free(void *p);
void __wrap_free(void *p) { strike_out(p), __real_free(p); }
void *counted_malloc(size_t n) { return hold(malloc(n)); }
void *counted_calloc(size_t n, size_t size) { return hold(calloc(n, size)); }
void *counted_realloc(void *p, size_t n) { return strike_out(p), hold(realloc(p, n)); }
__attribute__((destructor)) static void tell(void) { printf("%zu allocations, %zu held\\n", total, n_held + more); }
`;
test("the oracle's own test passes with it in place of the library; all that it allocates is given back", () => {
    const variant = readdirSync('build/obj').find((name) => /^\w+-pic$/.test(name));
    const object = `build/obj/${variant}/proofs_tests/kernels/test_ref.o`;
    const libraries = ['build/libcli.a', 'build/libseqmix.a', '-lcmocka', '-lz', '-lm'];
    const renamed = ['malloc', 'calloc', 'realloc'].flatMap((name) => [
        '--redefine-sym',
        `${name}=counted_${name}`,
    ]);
    run('objcopy', [...renamed, at('ref.o'), at('counting.o')]);
    writeFileSync(at('counted.c'), COUNTED);
    run('gcc', [
        object,
        at('counting.o'),
        at('counted.c'),
        '-Wl,--wrap=free',
        ...libraries,
        '-o',
        at('test_ref'),
    ]);
    const said = run(at('test_ref'), []);
    assert.match(said, /\[ {2}PASSED {2}\] [1-9]\d* test/);
    const [, allocations, held] = /^(\d+) allocations, (\d+) held$/m.exec(said);
    assert.ok(allocations > 100, said);
    assert.equal(held, '0', said);
});
