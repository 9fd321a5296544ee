// Layout: every C file is as clang-format leaves it, every script and page file as prettier does.
// `make format` mends both; comments, which neither breaks, are looked at here. Files are named by the
// caller, so that make and this test cannot look at different ones:
//   node --test proofs_tests/tools/format.test.mjs
// with C_FILES and WEB_FILES in the environment, as the Makefile sets them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FUNCTION_LINES, functionsOf } from '../support/functions.mjs';

const MAJOR = 14; // another one's choices differ in small ways
const words = (name) => (process.env[name] ?? '').split(' ').filter(Boolean);

test('C files are laid out by clang-format', (t) => {
    const found = spawnSync('clang-format', ['--version'], { encoding: 'utf8' });
    if (found.error) return t.skip('clang-format is not installed');
    const version = /version (\d+)/.exec(found.stdout)?.[1];
    if (Number(version) !== MAJOR) return t.skip(`clang-format is ${version}, not ${MAJOR}`);
    const files = words('C_FILES');
    assert.ok(
        files.length > 200,
        `${files.length} C files are named; make run-tests RUN_TESTS=format names them`,
    );
    const { stderr } = spawnSync('clang-format', ['--dry-run', ...files], {
        encoding: 'utf8',
        maxBuffer: 1 << 28,
    });
    const wrong = [...new Set([...stderr.matchAll(/^([^\s:]+):\d+/gm)].map((m) => m[1]))];
    assert.deepEqual(wrong, [], 'make format mends these');
});

test('scripts and page files are laid out by prettier', () => {
    const files = words('WEB_FILES');
    assert.ok(
        files.includes('web') && files.includes('scripts'),
        `named: ${files.join(' ')}; make run-tests RUN_TESTS=format names them`,
    );
    // (What was right the last time and has the same bytes is not looked at again.)
    const cache = ['--cache', '--cache-strategy', 'content', '--cache-location', 'build/prettier.cache'];
    const { status, stdout, stderr } = spawnSync(
        'node_modules/.bin/prettier',
        ['--list-different', ...cache, ...files],
        { encoding: 'utf8' },
    );
    assert.deepEqual(
        [status, stdout.split('\n').filter(Boolean), stderr],
        [0, [], ''],
        'make format mends these',
    );
});

const COLUMNS = 110;
const HASH = /(?:^Makefile|\.(?:mk|sh|py))$/;
const SLASHES = /\.(?:c|h|def|js|mjs|ts|tsx|css)$/;
/** A line with a comment in it, else ''. What is quoted is no comment: "https://..". */
function commentOf(line, file) {
    if (HASH.test(file)) return /^\s*#/.test(line) ? line : '';
    if (/^\s*(?:\/\/|\/?\*)/.test(line)) return line;
    const code = line.replace(/\\./g, '__').replace(/(["'`]).*?\1/g, (quoted) => '_'.repeat(quoted.length));
    return /\s(?:\/\/|\/\*)\s/.test(code) ? line : '';
}
/** Numbers of the lines whose comments are too wide; one word (an address) cannot be broken. */
const wideComments = (text, file) =>
    text
        .split('\n')
        .map((line, n) => [commentOf(line, file), n + 1])
        .filter(
            ([comment]) => comment.length > COLUMNS && /\s/.test(comment.replace(/^[\s/*#]+/, '').trimEnd()),
        )
        .map(([, n]) => `${file}:${n}`);
function* filesBelow(path) {
    if (!statSync(path).isDirectory()) yield path;
    else
        for (const name of readdirSync(path))
            if (name !== 'node_modules' && !name.startsWith('.')) yield* filesBelow(join(path, name));
}

test(`comments stay within ${COLUMNS} columns`, () => {
    const wide = 'word '.repeat(30);
    for (const [line, file] of [
        [`// ${wide}`, 'a.c'],
        [`int i; // ${wide}`, 'a.c'],
        [` * ${wide}`, 'a.ts'],
        [`f('${'x'.repeat(99)}'); // more`, 'a.mjs'],
        [`# ${wide}`, 'a.mk'],
    ])
        assert.deepEqual(wideComments(line, file), [`${file}:1`], line);
    for (const [line, file] of [
        [`// ${'word'.repeat(30)}`, 'a.c'],
        [`const char *s = "${wide} // ${wide}";`, 'a.c'],
        [`f(${wide});`, 'a.mjs'],
        [`\techo ${wide}`, 'a.mk'],
    ])
        assert.deepEqual(wideComments(line, file), [], line);
    const folders = [...words('WEB_FILES'), 'kernels', 'Makefile'];
    const all = new Set([...words('C_FILES'), ...folders.flatMap((f) => [...filesBelow(f)])]);
    const files = [...all].filter((file) => HASH.test(file) || SLASHES.test(file));
    assert.ok(files.length > 450, `${files.length} files are looked at`);
    assert.deepEqual(
        files.flatMap((file) => wideComments(readFileSync(file, 'utf8'), file)),
        [],
    );
});

const LINES = 420;
const longWithoutReason = (text) =>
    text.trimEnd().split('\n').length > LINES &&
    !/\blong(er)?\b/i.test(text.split('\n').slice(0, 20).join('\n'));
test(`a file longer than ${LINES} lines says why at its beginning`, () => {
    assert.ok(longWithoutReason('// a.c: one\n'.repeat(500)));
    assert.ok(!longWithoutReason(`// a.c: one. Long because it is a list.\n${'one();\n'.repeat(500)}`));
    const rooms = [
        'bench',
        'check',
        'cli',

        'kernels',
        'model',
        'python',
        'ref',
        'scripts',
        'tasks',
        'wasm',
        'web',
    ];
    const files = rooms
        .flatMap((room) => [...filesBelow(room)])
        .filter((file) => /\.([ch]|tsx?|mjs|py)$/.test(file));
    assert.ok(files.length > 400, `${files.length} files are looked at`);
    assert.deepEqual(
        files.filter((file) => longWithoutReason(readFileSync(file, 'utf8'))),
        [],
    );
});

test(`a function of TypeScript has at most ${FUNCTION_LINES} lines`, () => {
    const long = (file, text) =>
        functionsOf(file, text)
            .filter(({ lines }) => lines > FUNCTION_LINES)
            .map(({ at }) => at);
    const body = (lines) => 'one();\n'.repeat(lines);
    for (const [head, foot] of [
        ['function f() {', '}'],
        ['const f = () => {', '};'],
        ['const f = () => (<p>{() => {', '}}</p>);'],
        ['class A { constructor() {', '} }'],
        ['const a = { f() {', '} };'],
    ]) {
        const whole = (lines) => `\n${head}\n${body(lines - 2)}${foot}\n`;
        assert.deepEqual(long('a.tsx', whole(FUNCTION_LINES)), [], head);
        assert.equal(long('a.tsx', whole(FUNCTION_LINES + 1))[0], 'a.tsx:2', head);
    }
    assert.deepEqual(long('a.ts', `class A {\n${'f() {}\n'.repeat(100)}}`), [], 'a class is none');
    const files = ['wasm', 'web'].flatMap((room) => [...filesBelow(room)]).filter((f) => /\.tsx?$/.test(f));
    const all = files.flatMap((file) => functionsOf(file));
    assert.ok(files.length > 200 && all.length > 2000, `${files.length} files, ${all.length} functions`);
    assert.deepEqual(
        all.filter(({ lines }) => lines > FUNCTION_LINES),
        [],
    );
});
