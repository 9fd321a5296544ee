// amalgamation_cmake.test.mjs: the archive of `make amalgamation` as a CMake project takes it, which has
// nothing of this tree: FetchContent in an empty folder.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { run as ran } from '../../support/program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-fetched-'));
after(() => rmSync(folder, { recursive: true }));
const has = (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;
function run(command, args) {
    const { status, stdout, stderr } = ran(command, args);
    assert.equal(status, 0, `${command} ${args.join(' ')}\n${stdout}${stderr}`);
    return stdout + stderr;
}
const version = JSON.parse(readFileSync('package.json', 'utf8')).version;
const archive = (place) => {
    run('node', ['scripts/amalgamate.mjs', place]);
    return join(place, `seqmix-c-${version}.tar.gz`);
};
const DROP = process.platform === 'linux' ? '-Wl,--gc-sections -s' : '-Wl,-dead_strip';
const one = archive(join(folder, 'one'));

test('the archive is the same to the byte, made again elsewhere', () => {
    assert.ok(readFileSync(one).equals(readFileSync(archive(join(folder, 'two')))));
});

test(
    'FetchContent takes it; a program that calls one kernel keeps little else',
    { skip: !has('cmake') && 'needs cmake' },
    (t) => {
        const project = join(folder, 'project');
        mkdirSync(project);
        writeFileSync(
            join(project, 'CMakeLists.txt'),
            `cmake_minimum_required(VERSION 3.13)
project(mine C)
include(FetchContent)
FetchContent_Declare(seqmix URL ${one})
FetchContent_MakeAvailable(seqmix)
add_executable(both both.c)
target_link_libraries(both PRIVATE seqmix::seqmix seqmix::seqmix_ref)
add_executable(single single.c)
target_link_libraries(single PRIVATE seqmix::seqmix ${DROP})
`,
        );
        writeFileSync(
            join(project, 'both.c'),
            `#include <seqmix.h>
#include <seqmix_ref.h>
int main(void) {
    float x[3] = {1, 2, 3.5f};
    double y[3] = {1, 2, 3.5};
    return smx_sum(x, 3) != 6.5f || ref_sum(y, 3) != 6.5;
}
`,
        );
        writeFileSync(
            join(project, 'single.c'),
            '#include <seqmix.h>\nint main(void) { float x[3] = {1, 2, 3.5f}; return smx_sum(x, 3) != 6.5f; }\n',
        );
        const built = join(folder, 'built');
        run('cmake', ['-S', project, '-B', built, '-DCMAKE_BUILD_TYPE=Debug']);
        run('cmake', ['--build', built]);
        run(join(built, 'both'), []);
        run(join(built, 'single'), []);
        const { size } = statSync(join(built, 'single'));
        assert.ok(size <= 200 * 1024, `${size} bytes`);
        t.diagnostic(`one call links ${size} bytes`);
    },
);
