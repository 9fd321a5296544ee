// Layout: every C file is as clang-format leaves it, every script and page file as prettier does. `make format` mends both.
// Files are named by the caller, so that the two cannot look at different ones:
//   node --test proofs_tests/tools/format.test.mjs     with C_FILES and WEB_FILES in the environment, as the Makefile sets them
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const MAJOR = 14; // another one's choices differ in small ways
const words = (name) => (process.env[name] ?? '').split(' ').filter(Boolean);

test('C files are laid out by clang-format', (t) => {
    const found = spawnSync('clang-format', ['--version'], { encoding: 'utf8' });
    if (found.error) return t.skip('clang-format is not installed');
    const version = /version (\d+)/.exec(found.stdout)?.[1];
    if (Number(version) !== MAJOR) return t.skip(`clang-format is ${version}, not ${MAJOR}`);
    const files = words('C_FILES');
    assert.ok(files.length > 200, `${files.length} C files are named`);
    const { stderr } = spawnSync('clang-format', ['--dry-run', ...files], {
        encoding: 'utf8',
        maxBuffer: 1 << 28,
    });
    const wrong = [...new Set([...stderr.matchAll(/^([^\s:]+):\d+/gm)].map((m) => m[1]))];
    assert.deepEqual(wrong, [], 'make format mends these');
});

test('scripts and page files are laid out by prettier', () => {
    const files = words('WEB_FILES');
    assert.ok(files.includes('web') && files.includes('scripts'), `named: ${files.join(' ')}`);
    const { status, stdout, stderr } = spawnSync(
        'node_modules/.bin/prettier',
        ['--list-different', ...files],
        { encoding: 'utf8' },
    );
    assert.deepEqual(
        [status, stdout.split('\n').filter(Boolean), stderr],
        [0, [], ''],
        'make format mends these',
    );
});
