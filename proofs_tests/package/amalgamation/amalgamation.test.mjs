// amalgamation.test.mjs: the oracle in two files, as somebody who has only those uses it: it compiles without
// a warning, serves C and C++, defines what the library defines, and passes the oracle's own test.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { run as ran } from '../../support/program.mjs';

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
void tests_free(void *p); // the test's own (support/allocations.h)
void __wrap_free(void *p) { strike_out(p), tests_free(p); }
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
    run('objcopy', ['--redefine-sym', '__wrap_free=tests_free', object, at('test.o')]);
    writeFileSync(at('counted.c'), COUNTED);
    run('gcc', [
        at('test.o'),
        at('counting.o'),
        at('counted.c'),
        ...['malloc', 'calloc', 'realloc', 'free'].map((name) => `-Wl,--wrap=${name}`),
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

test('kernels in C are judged where they are: right ones pass each case, and of wrong ones it is said what is wrong', () => {
    const sources = [
        'proofs_tests/package/amalgamation/judged_kernels.c',
        'examples/oracle/judge_kernel.c',
    ].map((file) => resolve(file));
    const options = [...STRICT, `-I${resolve('examples/oracle')}`, '-I.'];
    run('gcc', ['-std=c99', ...options, ...sources, 'ref.o', '-lm', '-o', 'judged'], { cwd: folder });
    const judged = (fault) => {
        const said = run(at('judged'), fault ? [fault] : []);
        const wrong = Object.fromEntries(
            [...said.matchAll(/^(\w+): (-?\d+) wrong$/gm)].map(([, op, n]) => [op, Number(n)]),
        );
        return { said, wrong: ['attention', 'linear', 'conv', 'rwkv7'].map((op) => wrong[op]) };
    };
    const right = judged();
    assert.deepEqual(right.wrong, [0, 0, 0, 0], right.said);
    assert.equal(right.said.match(/: OK$/gm).length, 35);
    for (const [fault, wrong, pattern] of [
        [
            'groups by turns',
            [2, 0, 0, 0],
            /^grouped heads .*: y is off by \S+ of its scale \(2e-05 is allowed\): \d+ of 3024 numbers, the first in row 0$/m,
        ],
        ['no maximum', [1, 0, 0, 0], /^logits beyond e\^88 .*: y is NaN or not written: /m],
        ['no sinks', [2, 0, 0, 0], /^sinks .*: y is off/m],
        [
            'last row not written',
            [11, 0, 0, 0],
            /^long .*: y is NaN or not written: 8 of 8200 numbers, the first in row 1024$/m,
        ],
        ['writes on', [12, 0, 0, 0], /: y is written beyond its end$/m],
        ['fails', [12, 0, 0, 0], /: the kernel failed: -7$/m],
        ['state left out', [0, 9, 0, 0], /^delta, grouped .*: y is off/m],
        ['gates cut at -5', [0, 4, 0, 0], /^gates from 0 to -80 .*: y is off/m],
        ['beta cut at 1', [0, 1, 0, 0], /^delta, beta 0, 1 and 2 .*: y is off/m],
        ['taps in reverse order', [0, 0, 5, 0], /^three taps .*: y is off/m],
        ['changes x', [0, 0, 5, 0], /: x is changed by the call$/m],
        ['without a', [0, 0, 0, 4], /^plain \(.*: y is off/m],
        ['no caps', [0, 0, 0, 0], /^soft cap .*: not supported$/m],
        ['nothing', [-2, 0, 0, 0], /^attention: -2 wrong$/m],
    ]) {
        const { said, wrong: got } = judged(fault);
        assert.deepEqual(got, wrong, `${fault}\n${said}`);
        assert.match(said, pattern, fault);
    }
});
