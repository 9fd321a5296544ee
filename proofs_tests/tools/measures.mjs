// measures.mjs: `node proofs_tests/tools/measures.mjs` prints what a script can count of the tree: how much
// there is, what lies side by side, and how many files name a kernel by hand.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { FUNCTION_LINES, functionsOf } from '../support/functions.mjs';

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 28 });
const files = git('ls-files', '-z').split('\0').filter(Boolean);
const text = (file) => readFileSync(file, 'latin1');
const lines = new Map(files.map((file) => [file, text(file).split('\n').length - 1]));
const sum = (values) => [...values].reduce((a, b) => a + b, 0);

const held = new Map();
for (const file of files) held.set(dirname(file), (held.get(dirname(file)) ?? 0) + 1);
const full = [...held].filter(([folder, n]) => n > 20 && !folder.includes('vectors'));

const code = (file) => /\.(c|h|ts|tsx|mjs|py|sh|awk|mk|css)$/.test(file) && !file.startsWith('proofs_tests/');
const long = files.filter((file) => code(file) && lines.get(file) > 420);
const functions = files.filter((file) => /\.tsx?$/.test(file)).flatMap((file) => functionsOf(file));
const longFunctions = functions.filter((one) => one.lines > FUNCTION_LINES);

/** What a command writes. */
const WRITTEN = /digests.*\.txt$|tests\.txt$|kernel_table\.ts$/;
const kernels = [
    ...text('kernels/kernels.txt').matchAll(/^([a-z]\w*?)(?:_fwd)?(?: \(\w+\)| > \w+ \w+)?: \S*[>&]/gm),
]
    .map(([, name]) => name)
    .filter((name) => !/_(bwd|push|inv)$/.test(name));
const spelt = (name) =>
    new RegExp(`(?:smx|ref|ulp|run)_${name}(?:_fwd|_bwd)?\\b|^${name}(?:_fwd|_bwd)?(?: [(>].*)?: `, 'm');
const by = files
    .filter((file) => /\.(c|h|txt|mjs|ts|py)$/.test(file) && !WRITTEN.test(file))
    .map((file) => [file, text(file)]);
const of = (name, room) => by.filter(([file, all]) => room.test(file) && spelt(name).test(all)).length;
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

const rows = [
    ['tracked files', files.length],
    ['lines', sum(lines.values())],
    [
        'folders with more than 20 files, vectors apart',
        `${full.length}: ${full.map(([f, n]) => `${f} (${n})`).join(', ')}`,
    ],
    [
        'files over 420 lines, tests apart',
        `${long.length}: ${long.map((f) => `${basename(f)} (${lines.get(f)})`).join(', ')}`,
    ],
    [
        `functions of TypeScript over ${FUNCTION_LINES} lines`,
        `${longFunctions.length} of ${functions.length}: ${longFunctions.map(({ at, lines }) => `${at} (${lines})`).join(', ')}`,
    ],
    [
        'files that name a kernel, median of all: the library and its headers',
        median(kernels.map((k) => of(k, /^(include|kernels|ref)\//))),
    ],
    ['the same: its tests', median(kernels.map((k) => of(k, /^proofs_tests\//)))],
];
for (const [what, is] of rows) console.log(`${what}: ${is}`);
