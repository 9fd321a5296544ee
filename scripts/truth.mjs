// truth.mjs: the claims and what kind of truth each has: proved by machine (proofs_tests/rocq), certified on
// exact instances (proof_certificates.c), tested on the kernels' own floats. docs/THEOREMS.md and the page's
// Theorems view are both made of this.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const read = (path) => readFileSync(join(root, path), 'utf8');
const order = [
    'las_b1',
    'las_smooth',
    'cat_thm1',
    'cat_cor1',
    'cat_thm2',
    'cat_thm3',
    'cat_prop12',
    'focus',
    'chela',
    'certificates',
];
/** What no theorem of a paper says: tests of our own claims. */
const AUDITS = ['test_causality', 'test_invariances'];
const auditFile = (name) => `proofs_tests/model/${name}.c`;
const INVARIANCES = 'docs/INVARIANCES.md';
export const parts = ['Claim', 'Statement', 'Needs', 'Model', 'Check'];

/** The fields of a proof's first comment; throws where one is missing. */
export function fields(name) {
    const found = {};
    let part;
    for (const line of read(`proofs_tests/proofs/${name}.c`).split('\n').slice(1)) {
        if (!line.startsWith('//')) break;
        const start = line.match(/^\/\/ (\w+): (.*)$/);
        if (start && parts.includes(start[1])) found[(part = start[1])] = start[2];
        else if (part) found[part] += ` ${line.slice(2).trim()}`;
    }
    for (const p of parts)
        if (!found[p]) throw new Error(`proofs_tests/proofs/${name}.c: its first comment has no "${p}: ..."`);
    return found;
}
function rank(name) {
    const i = order.indexOf(name.replace('proof_', ''));
    return i < 0 ? order.length : i;
}
/** The programs proof_*.c, the papers in their order. */
export const proofs = readdirSync(join(root, 'proofs_tests/proofs'))
    .filter((n) => /^proof_.*\.c$/.test(n))
    .map((n) => n.replace(/\.c$/, ''))
    .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));

/** A comment without its mark and indent: what is supposed, what holds, what is not covered. */
const inWords = (comment) =>
    comment
        .replace(/^\(\* \w+\.v: /, '')
        .replace(/^ {3}/gm, '')
        .trim();
/** What a Rocq file says first. */
const rocqComment = (file) => read(`proofs_tests/rocq/${file}.v`).split('*)')[0];
// The Rocq files that state theorems, from statements.txt and from what each file's first comment says.
function rocqFiles() {
    const found = {};
    for (const block of read('proofs_tests/rocq/statements.txt').split(/\n(?=\S)/)) {
        const [, file, name] = block.match(/^(\w+)\.(\S+)/);
        const statement = block.slice(block.indexOf('\n') + 1).trimEnd();
        (found[file] ??= []).push({ name, statement: statement.replace(/^ {2}/gm, '') });
    }
    return Object.entries(found).map(([file, theorems]) => {
        const comment = rocqComment(file);
        const first = comment.slice(comment.indexOf(':') + 1).split(/\n\n|\.\s/)[0];
        return {
            file,
            theorems,
            words: inWords(comment),
            says: first.replace(/\s+/g, ' ').replace(/\.?$/, '').trim(),
            ofPaper: /^ ?\[\w+\]/.test(first),
            programs: [...new Set(comment.match(/\bproof_\w+(?=\.c\b)/g))],
            tests: [...new Set(comment.match(/\btest_\w+\.c\b/g))],
            inPart: /\bnot\s+proved\b/i.test(comment),
            ofFloats: /\bfor every float x\b/.test(comment),
            errata: [...comment.matchAll(/\b[Ee]rratum\s+(\d+)/g)].map(([, n]) => Number(n)),
        };
    });
}
/** What a claim without a theorem of a paper is: the first comment of the test that checks it. */
function audited(file) {
    const lines = read(file).split('\n');
    const comment = lines.slice(
        0,
        lines.findIndex((line) => !line.startsWith('//')),
    );
    const says = comment.map((line) => line.slice(3)).join(' ');
    return capital(says.slice(says.indexOf(': ') + 2));
}
/** The rows of docs/INVARIANCES.md's table, its head first. */
function invariances() {
    const table = read(INVARIANCES).match(/^\| mixer \|.*(?:\n\|.*)+/m)[0];
    return table
        .split('\n')
        .filter((line) => !line.startsWith('|--'))
        .map((line) => line.slice(2, -2).split(' | '));
}
const capital = (text) => `${text[0].toUpperCase()}${text.slice(1)}`;
const named = (n) => (n.length ? `${n.length > 1 ? 'errata' : 'erratum'} ${n.join(', ')}` : '');
const sorted = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);

/** The kinds of truth, strongest first, each with the words that the reader sees. */
function kinds({ proved, inPart, ofFloats, certified, tested }) {
    const how = inPart ? 'in part' : ofFloats ? 'for every float of a range' : 'for all lengths';
    return [
        proved.length && {
            kind: 'proved',
            words: `proved ${how}, by machine`,
        },
        certified && { kind: 'certified', words: 'certified on instances' },
        tested && { kind: 'tested', words: 'tested' },
    ].filter(Boolean);
}
/**
 * [{ name, claim, needs, file, paper, proved: [{ file, words, theorems: [{ name, statement }] }],
 * errata, kinds: [{ kind, words }], table }]: needs, of a paper's claim, what it supposes; words, of a
 * Rocq file, what it supposes, states and does not cover; table, where there is one, as rows. First the
 * papers' claims (paper: true), a program each; then what our own code rests on, a Rocq file or a test
 * each. A Rocq file whose comment begins with a paper's tag, "[CAT] ...", belongs to the programs that the
 * comment names.
 */
export function claims() {
    const all = rocqFiles();
    const certifies = fields('proof_certificates').Statement;
    const claim = (c, files) => ({
        ...c,
        proved: files.map(({ file, words, theorems }) => ({ file, words, theorems })),
        errata: named(sorted(files.flatMap(({ errata }) => errata))),
    });
    const papers = proofs.map((name) => {
        const files = all.filter(({ ofPaper, programs }) => ofPaper && programs.includes(name));
        const exact = name === 'proof_certificates';
        return claim(
            {
                name,
                claim: fields(name).Claim,
                needs: fields(name).Needs,
                file: `proofs_tests/proofs/${name}.c`,
                paper: true,
                kinds: kinds({
                    proved: files,
                    inPart: files.some((each) => each.inPart),
                    certified: exact || certifies.includes(`${name}.c`),
                    tested: !exact,
                }),
            },
            files,
        );
    });
    const own = all
        .filter(({ ofPaper }) => !ofPaper)
        .map((one) =>
            claim(
                {
                    name: one.file,
                    claim: `${capital(one.says)}.`,
                    file: `proofs_tests/rocq/${one.file}.v`,
                    paper: false,
                    tests: one.tests,
                    kinds: kinds({ ...one, proved: [one], tested: one.tests.length > 0 }),
                },
                [one],
            ),
        );
    const audits = AUDITS.map((name) =>
        claim(
            {
                name,
                claim: audited(auditFile(name)),
                file: auditFile(name),
                paper: false,
                tests: [`${name}.c`],
                kinds: kinds({ proved: [], tested: true }),
                table: name === 'test_invariances' ? invariances() : undefined,
            },
            [],
        ),
    );
    const lost = all.filter(
        ({ file }) => ![...papers, ...own].some((c) => c.proved.some((p) => p.file === file)),
    );
    if (lost.length)
        throw new Error(`proofs_tests/rocq/${lost[0].file}.v: its first comment names no program proof_*.c`);
    return [...papers, ...own, ...audits];
}
/** The errata of which Rocq proves that the printed statement fails, or what holds instead. */
export const errataProved = () => sorted(rocqFiles().flatMap(({ errata }) => errata));
/** The files that all this is read from, relative to the project. */
export const sources = () => [
    ...proofs.map((name) => `proofs_tests/proofs/${name}.c`),
    ...AUDITS.map(auditFile),
    INVARIANCES,
    'proofs_tests/rocq/statements.txt',
    ...rocqFiles().map(({ file }) => `proofs_tests/rocq/${file}.v`),
];
