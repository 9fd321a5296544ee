// statements.mjs: what Rocq says of the theorems of theorems.txt, once their files are compiled into
// build/rocq: each one's statement, and the axioms it rests on.
//   node proofs_tests/rocq/statements.mjs          print them, and write the statements to statements.txt
//   node proofs_tests/rocq/statements.mjs --there  fails where coqc or a library is missing, and says which
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

export const folder = import.meta.dirname;
const build = join(folder, '../../build/rocq');
export const coqc = process.env.COQC ?? 'coqc';

// [{ file, name }] of theorems.txt: one line "File name" a theorem, sorted.
export function listed() {
    return readFileSync(join(folder, 'theorems.txt'), 'utf8')
        .split('\n')
        .filter((line) => line && !line.startsWith('#'))
        .map((line) => {
            const words = line.split(' ');
            if (words.length !== 2) throw new Error(`theorems.txt: "${line}" is not "File name"`);
            return { file: words[0], name: words[1] };
        });
}

// { LasB1: its text without comments, ... } of every .v file.
export function sources() {
    const found = {};
    for (const n of readdirSync(folder).filter((n) => n.endsWith('.v'))) {
        let text = readFileSync(join(folder, n), 'utf8');
        for (let before; before !== text;)
            text = (before = text).replace(/\(\*(?:(?!\(\*|\*\))[^])*\*\)/g, '');
        found[basename(n, '.v')] = text;
    }
    return found;
}
// The names that a file states as results; what it states as Lemma is a step on the way.
export function stated(text) {
    return [...text.matchAll(/^\s*(?:#\[[^\]]*\]\s*)?(?:Theorem|Corollary|Proposition)\s+([\w']+)/gm)].map(
        (m) => m[1],
    );
}

const run = (file) =>
    spawnSync(coqc, ['-q', '-noglob', '-Q', '.', 'Seqmix', file], {
        cwd: build,
        encoding: 'utf8',
        maxBuffer: 1e9,
    });
// What keeps the files from being compiled, in words; '' where coqc and the libraries that they require are
// there, for this coqc.
export function missing() {
    if (spawnSync(coqc, ['--version']).status !== 0) return 'there is no coqc (Debian: coq)';
    const required = new Map();
    for (const text of Object.values(sources()))
        for (const [line, library] of text.matchAll(/\bFrom (\w+) Require Import \w+/g))
            if (library !== 'Coq' && library !== 'Seqmix') required.set(library, line);
    const loads = (lines) => {
        mkdirSync(build, { recursive: true });
        writeFileSync(join(build, 'Libraries.v'), `${lines.join('.\n')}.\n`);
        return run('Libraries.v').status === 0;
    };
    if (loads([...required.values()])) return '';
    const lost = [...required].filter(([, line]) => !loads([line])).map(([library]) => library);
    const packages = lost.map((library) => `libcoq-${library.toLowerCase()}`);
    return `${coqc} cannot load ${lost.join(', ')} (Debian: ${packages.join(', ')})`;
}

// What coqc answers to the commands, each answer by itself. Throws with Rocq's words.
function answers(files, commands) {
    mkdirSync(build, { recursive: true });
    let text = 'From Coq Require Import Reals.\nOpen Scope R_scope.\nSet Printing Width 110.\n';
    text += files.map((f) => `From Seqmix Require ${f}.\n`).join('');
    text += commands.map((c) => `Goal True. idtac "==== answer". Abort.\n${c}\n`).join('');
    writeFileSync(join(build, 'Statements.v'), text);
    const r = run('Statements.v');
    if (r.status !== 0) throw new Error(`coqc: ${r.error ?? r.stderr}`);
    const found = r.stdout.split('==== answer\n').slice(1);
    if (found.length !== commands.length)
        throw new Error(`coqc gave ${found.length} answers to ${commands.length} questions`);
    return found;
}
// "Closed under the global context", or "Axioms:" and then each name at the margin, before its type.
function axiomsIn(answer) {
    if (answer.includes('Closed under the global context')) return [];
    const names = [...answer.slice(answer.indexOf('Axioms:') + 7).matchAll(/^(\S+)(?= :|\s*$)/gm)].map(
        (m) => m[1],
    );
    if (!answer.includes('Axioms:') || !names.length) throw new Error(`Print Assumptions says ${answer}`);
    return names;
}
const filesOf = (theorems) => [...new Set(theorems.map((t) => t.file))];
const full = (t) => `Seqmix.${t.file}.${t.name}`;

// The statement of each, as Rocq prints it to one who has imported what its file imports.
export function statements(theorems) {
    const texts = sources();
    const imported = (file) => [
        ...(texts[file].match(/From Seqmix Require Import ([^.]*)\./)?.[1].split(/\s+/) ?? []),
        file,
    ];
    const found = answers(
        filesOf(theorems),
        theorems.map(
            (t) =>
                `Import ${imported(t.file)
                    .map((f) => `Seqmix.${f}`)
                    .join(' ')}.\nCheck @${full(t)}.`,
        ),
    );
    return found.map((a) =>
        a
            .replace(/^\S+\s*\n?\s*: /, '')
            .trimEnd()
            .replaceAll('\n       ', '\n'),
    );
}
// The axioms that each rests on; a second for each of them.
export function axioms(theorems) {
    return answers(
        filesOf(theorems),
        theorems.map((t) => `Print Assumptions ${full(t)}.`),
    ).map(axiomsIn);
}
// { file: the axioms that its theorems rest on }, asked once a file of the tuple of them all.
export function axiomsOfFiles(theorems) {
    const files = filesOf(theorems);
    const found = answers(
        files,
        files.map((f, i) => {
            const all = theorems.filter((t) => t.file === f).map((t) => `@${full(t)}`);
            return `Definition theorems_of_file_${i} := (${all.join(', ')}).\nPrint Assumptions theorems_of_file_${i}.`;
        }),
    );
    return Object.fromEntries(files.map((f, i) => [f, axiomsIn(found[i])]));
}

// statements.txt: a theorem's name and below it what it states, so that a change of either is seen,
// and read without Rocq.
export const written = join(folder, 'statements.txt');
export function page(theorems, said) {
    return theorems.map((t, i) => `${t.file}.${t.name}\n  ${said[i].replaceAll('\n', '\n  ')}\n`).join('\n');
}

if (process.argv[1] === import.meta.filename && process.argv[2] === '--there') {
    const lost = missing();
    if (lost) console.error(`the proofs in Rocq cannot be compiled: ${lost}`);
    process.exitCode = lost ? 1 : 0;
} else if (process.argv[1] === import.meta.filename) {
    const theorems = listed();
    const said = statements(theorems);
    const rests = axioms(theorems);
    theorems.forEach((t, i) =>
        console.log(
            `${t.file}.${t.name}\n  ${said[i].replaceAll('\n', '\n  ')}\n  rests on: ${rests[i].join(', ') || 'no axiom'}\n`,
        ),
    );
    writeFileSync(written, page(theorems, said));
    console.log(`${theorems.length} theorems; wrote proofs_tests/rocq/statements.txt`);
}
