// docs.test.mjs: the generated pages say what the program's tables say,
// and a table that lacks an entry is noticed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
    cpSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    rmSync,
    symlinkSync,
    writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';

import { kindOf, steps, stepsPage } from '../../bench/where.mjs';
import { faults } from '../../scripts/mutants/faults.mjs';
import { inProofs } from '../../scripts/mutants/proofs.mjs';

const root = join(import.meta.dirname, '../..');
const check = (at) => spawnSync('node', [join(at, 'scripts/docs.mjs'), '--check'], { encoding: 'utf8' });

const names = new Set(
    readdirSync(join(root, 'proofs_tests'), { recursive: true })
        .filter((path) => /\.c$|\.test\.mjs$/.test(path))
        .map((path) => basename(path).replace(/\..*/, '')),
);

// A copy of what the pages are made from, to be spoilt.
const copy = mkdtempSync(join(tmpdir(), 'seqmix-docs-'));
after(() => rmSync(copy, { recursive: true }));
for (const folder of ['scripts', 'wasm/package']) mkdirSync(join(copy, folder), { recursive: true });
for (const folder of ['docs', 'results']) cpSync(join(root, folder), join(copy, folder), { recursive: true });
for (const file of [
    'scripts/docs.mjs',
    'scripts/docs-equations.mjs',
    'scripts/docs-lists.mjs',
    'scripts/definitions.json',
    'wasm/package/README.md',
])
    cpSync(join(root, file), join(copy, file));
for (const folder of ['kernels', 'ref', 'model', 'build', 'examples'])
    symlinkSync(join(root, folder), join(copy, folder));
const table = join(copy, 'scripts/definitions.json');
const whole = readFileSync(table, 'utf8');

test('docs/MECHANISMS.md and docs/TASKS.md are up to date', () => {
    const { status, stderr } = check(root);
    assert.equal(status, 0, stderr);
});

test('docs/STEPS.md says what was kept, of every step that was timed and every file that computes', () => {
    const page = readFileSync(join(root, 'docs/STEPS.md'), 'utf8');
    assert.equal(page, stepsPage(), 'node bench/performance.mjs --docs writes it');
    const names = steps().map(({ name }) => name.slice('preset/'.length));
    const told = [...page.matchAll(/^\| ([\w-]+\/\d+ \w+) \|/gm)].map(([, name]) => name);
    assert.ok(names.length > 60, `${names.length} steps`);
    assert.deepEqual(told, names, 'make where samples them');
    const { stdout } = spawnSync('git', ['ls-files', 'kernels/*.c', 'model/*.c', 'tasks/*.c'], {
        cwd: root,
        encoding: 'utf8',
    });
    const units = stdout.trim().split('\n');
    assert.ok(units.length > 100, `${units.length} files`);
    for (const unit of units) assert.ok(kindOf({ unit, inlined: [], symbol: 'f' }), unit);
});

test('places in docs/ that comments cite are there', () => {
    const files = spawnSync('git', ['grep', '-lE', 'docs/[A-Z]+\\.md#'], {
        cwd: root,
        encoding: 'utf8',
    }).stdout;
    const cited = files
        .split('\n')
        .filter((file) => /\.([ch]|ts|tsx|mjs)$/.test(file))
        .flatMap((file) =>
            [
                ...readFileSync(join(root, file), 'utf8').matchAll(
                    /docs\/([A-Z]+)\.md#(\w+)(?: and #(\w+))?/g,
                ),
            ].flatMap(([, name, ...anchors]) =>
                anchors.filter(Boolean).map((anchor) => ({ file, name, anchor })),
            ),
        );
    assert.ok(cited.length > 30, `${cited.length} citations`);
    const absent = cited.filter(
        ({ name, anchor }) =>
            !readFileSync(join(root, `docs/${name}.md`), 'utf8').includes(`<a id="${anchor}">`),
    );
    assert.deepEqual(absent, []);
});

test('a file is headed by its own name, and paths in comments are there', () => {
    const { stdout } = spawnSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' });
    const files = stdout.split('\n').filter((file) => file && existsSync(join(root, file)));
    const all = new Set(files);
    const rooms = new Set(files.filter((file) => file.includes('/')).map((file) => file.split('/')[0]));
    const wrong = [];
    let heads = 0;
    let paths = 0;
    for (const file of files.filter((name) => /\.(c|h|inc|ts|tsx|mjs|js|v|css)$/.test(name))) {
        const text = readFileSync(join(root, file), 'utf8');
        const head = text.match(/^(?:\/\/|\/\*|\(\*) ?([\w.-]+\.\w+)\b[:,]? /)?.[1];
        heads += Number(head === basename(file));
        if (head && head !== basename(file)) wrong.push(`${file} is headed ${head}`);
        for (const [, comment] of text.matchAll(/^(?:.*\s)?(?:\/\/|\/?\*+)\s(.*)$/gm))
            for (const [, path] of comment.matchAll(
                /(?<![\w{*./-])((?:[\w.-]+\/)+[\w-]+\.(?:c|h|tsx?|mjs|py|sh|awk|mk|v|inc|txt|md|json))\b(?!\w|\()/g,
            ))
                if (rooms.has(path.split('/')[0])) {
                    paths++;
                    if (!all.has(path)) wrong.push(`${file} speaks of ${path}`);
                }
    }
    assert.ok(heads > 600 && paths > 100, `${heads} heads, ${paths} paths`);
    assert.deepEqual(wrong, []);
});

test('what documents, workflows and recipes call by `make NAME` is there', () => {
    const git = spawnSync('git', ['ls-files', '*.md', '.github/*.yml', 'Makefile', '*.mk'], {
        cwd: root,
        encoding: 'utf8',
    });
    const called = new Map();
    for (const file of git.stdout.trim().split('\n')) {
        const text = readFileSync(join(root, file), 'utf8');
        const calls = file.endsWith('.md')
            ? /(?:`|^ {4}|^)(?:[A-Z_]+=\S+ )*make (?:[A-Z_]+=\S+ )*([a-z][a-z_.-]*)(?![\w/])/gm
            : /(?:run: .*make|\$\(MAKE\)) (?:--no-print-directory )?(?:[A-Z_]+=\S+ )*([a-z][a-z_.-]*)(?![\w/])/g;
        for (const [, name] of text.matchAll(calls)) called.set(name, file);
        // (judge begins with @: words before it are run as they stand, and set nothing)
        assert.doesNotMatch(text, /^\t.*\S.*\$\(call judge/m, file);
    }
    assert.ok(called.size > 30, `${called.size} names`);
    const env = { ...process.env, MAKEFLAGS: '' };
    const base = spawnSync('make', ['-qpn', 'help'], {
        cwd: root,
        encoding: 'utf8',
        env,
        maxBuffer: 1 << 28,
    });
    const rules = base.stdout.split('# Files\n')[1].split('\n\n');
    const targets = new Set(
        rules
            .filter((rule) => !rule.startsWith('# Not a target:'))
            .map((rule) => /^([^#\s:]+):/m.exec(rule)?.[1]),
    );
    assert.deepEqual(
        [...called].filter(([name]) => !targets.has(name)),
        [],
    );
});

test('each fault of make mutants stands in its file, once, and its tests are there', () => {
    for (const [file, from, to, what, tests] of [...faults, ...inProofs]) {
        const times = readFileSync(join(root, file), 'utf8').split(from).length - 1;
        assert.equal(times, 1, `${file} holds '${from}' ${times} times: ${what}`);
        assert.notEqual(from, to, what);
        for (const name of tests) assert.ok(names.has(name), `no test ${name}: ${what}`);
    }
});

test('a page that was edited is noticed', () => {
    const page = join(copy, 'docs/TASKS.md');
    const text = readFileSync(page, 'utf8');
    writeFileSync(page, text.replace('Selective copy', 'Selective copying'));
    const { status, stderr } = check(copy);
    writeFileSync(page, text);
    assert.equal(status, 1);
    assert.match(stderr, /docs\/TASKS\.md is not what/);
    assert.doesNotMatch(stderr, /MECHANISMS/);
});

const spoilt = [
    ['a mixer without formulas', (d) => delete d.mixers.lcat, /mixers lack lcat/],
    ['a task that is none', (d) => (d.tasks.sort = d.tasks.sc), /there are no tasks sort/],
    [
        'a file that is none',
        (d) => d.mixers.cat.kernels.push('kernels/cat.c'),
        /there is no file kernels\/cat\.c/,
    ],
];
for (const [name, spoil, sentence] of spoilt)
    test(`noticed: ${name}`, () => {
        const definitions = JSON.parse(whole);
        spoil(definitions);
        writeFileSync(table, JSON.stringify(definitions));
        const { status, stderr } = check(copy);
        writeFileSync(table, whole);
        assert.notEqual(status, 0);
        assert.match(stderr, sentence);
    });

test('the oracle has what OPERATIONS.md says that it has', () => {
    const header = readFileSync(join(root, 'include/seqmix/ref.h'), 'utf8');
    const page = readFileSync(join(root, 'build/docs/OPERATIONS.md'), 'utf8');
    const named = [...page.matchAll(/\*\*Oracle\*\*: `(ref_\w+)`/g)].map(([, name]) => name);
    assert.ok(named.length > 20, `${named.length} names`);
    for (const name of named) assert.match(header, new RegExp(`\\b${name}(_fwd)?\\(`), name);
});

const results = join(copy, 'results/presets.json');
const measured = readFileSync(results, 'utf8');
const lies = [
    [
        'a seed that was not measured',
        (p) =>
            p.measured.splice(
                p.measured.findIndex((m) => m.seed === 2),
                1,
            ),
        /lacks seeds of preset/,
    ],
    [
        'a value beyond its claim',
        (p) => (p.measured.find((m) => m.preset === 'recall').value = 0.5),
        /recall.* is 0\.5, the claim is/,
    ],
];
for (const [name, spoil, sentence] of lies)
    test(`noticed: ${name}`, () => {
        const kept = JSON.parse(measured);
        spoil(kept);
        writeFileSync(results, JSON.stringify(kept));
        const { status, stderr } = check(copy);
        writeFileSync(results, measured);
        assert.notEqual(status, 0);
        assert.match(stderr, sentence);
    });

/** Where a text has one of these words: however its lines are broken, in whatever case. */
const retiredIn = (text, words) => {
    const plain = text.replace(/\n\s*(?:\/\/|\*(?!\/))?\s*/g, ' ').toLowerCase();
    return words.filter((word) => plain.includes(word.toLowerCase()));
};

/** What a C file says: its string literals, those that follow one another as one; comments and characters are
 * none. */
const saidBy = (code) => {
    const said = [];
    let open = false; // the literal before is not yet at its end
    const parts = /\/\/[^\n]*|\/\*[^]*?\*\/|'(?:\\.|[^'\\])'|"((?:\\.|[^"\\\n])*)"|[^\s"'/]+|\//g;
    for (const [part, literal] of code.matchAll(parts)) {
        if (literal !== undefined && open) said[said.length - 1] += literal;
        else if (literal !== undefined) said.push(literal);
        else if (/^\/[/*]/.test(part)) continue;
        open = literal !== undefined;
    }
    return said;
};

test('the page, the program, README.md and docs/ use no word that docs/STYLE.md retires', () => {
    const [, table] = readFileSync(join(root, 'docs/STYLE.md'), 'utf8').split('## Retired words');
    const rows = [...table.matchAll(/^\| (.+?) \| (.+?) \|$/gm)].slice(1).map((found) => found.slice(1));
    const words = rows.map(([word]) => word);
    assert.ok(words.length >= 20, `${words.length} words`);
    for (const [word, instead] of rows) assert.deepEqual(retiredIn(instead, words), [], word);
    assert.deepEqual(retiredIn(`it is\n    // Trained\n    // alike`, words), ['trained alike']);
    const below = (folder) =>
        readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
            join(folder, file),
        );
    const files = [...below('web'), ...below('docs'), 'index.html', 'README.md'].filter((file) =>
        /\.(tsx?|html|md)$/.test(file),
    );
    assert.ok(files.length > 150, `${files.length} files are read`);
    assert.deepEqual(
        files
            .filter((file) => !/STYLE\.md$/.test(file))
            .flatMap((file) =>
                retiredIn(readFileSync(join(root, file), 'utf8'), words).map((word) => `${file}: ${word}`),
            ),
        [],
    );
    // A literal over two lines is one; a comment between them is none of it.
    assert.deepEqual(saidBy(`f("as hears " /* trained alike */\n    "of a later", '"', "b"); // "c"`), [
        'as hears of a later',
        'b',
    ]);
    const sources = ['cli', 'model', 'tasks', 'check', 'python']
        .flatMap(below)
        .filter((file) => /\.(c|h|py)$/.test(file));
    assert.ok(sources.length > 150, `${sources.length} files of C are read`);
    assert.deepEqual(
        sources.flatMap((file) => {
            const text = readFileSync(join(root, file), 'utf8');
            const said = /\.py$/.test(file) ? text : saidBy(text).join('\n');
            return retiredIn(said, words).map((word) => `${file}: ${word}`);
        }),
        [],
    );
});
