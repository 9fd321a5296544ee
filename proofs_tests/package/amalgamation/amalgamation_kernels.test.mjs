// amalgamation_kernels.test.mjs: the kernels in two files, as somebody who has only those uses them: C99
// without a warning, a header for C++11, the functions of smx.h and no other, and the digests of the list,
// scalar and in AVX2.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { run as ran } from '../../support/program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-two-files-'));
after(() => rmSync(folder, { recursive: true }));
const has = (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;

function run(command, args) {
    const { status, stdout, stderr } = ran(command, args, { cwd: folder });
    assert.equal(status, 0, `${command} ${args.join(' ')}\n${stdout}${stderr}`);
    return stdout + stderr;
}
assert.equal(ran('node', ['scripts/amalgamate.mjs', folder]).status, 0);

// What prints the digests calls the public functions alone. It is not in the two files.
const variant = readdirSync('build/obj').find((name) => /^\w+-pic$/.test(name));
cpSync(`build/obj/${variant}/kernels/digest.o`, join(folder, 'digest.o'));
cpSync('kernels/digest.h', join(folder, 'digest.h'));
writeFileSync(
    join(folder, 'use.c'),
    `#include "seqmix.h"
#include "digest.h"
#include <stdio.h>
int main(void) {
    printf("%s\\n", smx_isa());
    for (size_t i = 0; i < smx_digest_count(); i++) {
        const char *name;
        unsigned long long digest = smx_digest_kernel(i, &name);
        printf("%016llx  kernel %s\\n", digest, name);
    }
    return 0;
}
`,
);
const list = readFileSync('proofs_tests/digests.txt', 'utf8').match(/^.*  kernel .*$/gm);
const STRICT = ['-Wall', '-Wextra', '-Werror'];

function digests(compiler, isa, flags) {
    const object = `${isa}.o`;
    assert.equal(run(compiler, ['-std=c99', ...STRICT, ...flags, '-c', 'seqmix.c', '-o', object]), '');
    run(compiler, ['-std=c99', ...STRICT, 'use.c', object, 'digest.o', '-lm', '-o', isa]);
    const [said, ...printed] = run(join(folder, isa), []).trim().split('\n');
    assert.equal(said, isa);
    assert.ok(list.length > 90);
    assert.deepEqual(printed, list);
}
test('it is C99 without a warning; scalar, its digests are those of the list', () =>
    digests('gcc', 'scalar', ['-O0', '-DSMX_SCALAR']));

const lacks = spawnSync('grep', ['-qw', 'avx2', '/proc/cpuinfo']).status
    ? 'this machine has no avx2'
    : !has('clang') && 'needs clang';
test('in AVX2, by clang, they are, too', { skip: lacks }, () =>
    digests('clang', 'avx2', ['-O0', '-mavx2', '-mfma']),
);

test(
    'it defines the functions of smx.h and no other, and in C++11 its header serves',
    { skip: !has('g++') && 'needs g++' },
    () => {
        const declared = run(join(process.cwd(), 'scripts/exports.sh'), ['seqmix.h']).trim().split('\n');
        const defined = [...run('nm', ['scalar.o']).matchAll(/^[0-9a-f]+ [TDBCRVW] (\w+)$/gm)].map(
            ([, name]) => name,
        );
        assert.ok(declared.length > 130);
        const between = ['smx_program_plan', 'smx_size_product']; // files of kernels/ call them
        assert.deepEqual(defined.sort(), [...declared, ...between].sort());
        writeFileSync(
            join(folder, 'use.cc'),
            '#include "seqmix.h"\n#include <cstdio>\n' +
                'int main() { float x[] = {1, 2, 3}; return std::printf("%g\\n", smx_sum(x, 3)) < 0; }\n',
        );
        run('g++', ['-std=c++11', '-Wpedantic', ...STRICT, 'use.cc', 'scalar.o', '-lm', '-o', 'plus']);
        assert.equal(run(join(folder, 'plus'), []), '6\n');
    },
);
