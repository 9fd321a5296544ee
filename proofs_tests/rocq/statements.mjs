// statements.mjs: what Rocq says of the theorems of theorems.txt, once their files are compiled into build/rocq: each one's
// statement, and the axioms it rests on.
//   node proofs_tests/rocq/statements.mjs     print them
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

// What coqc answers to the commands, each answer by itself. Throws with Rocq's words.
function answers(files, commands) {
    mkdirSync(build, { recursive: true });
    let text = 'From Coq Require Import Reals.\nOpen Scope R_scope.\nSet Printing Width 118.\n';
    text += files.map((f) => `From Seqmix Require Import ${f}.\n`).join('');
    text += commands.map((c) => `Goal True. idtac "==== answer". Abort.\n${c}\n`).join('');
    writeFileSync(join(build, 'Statements.v'), text);
    const r = spawnSync(coqc, ['-q', '-noglob', '-Q', '.', 'Seqmix', 'Statements.v'], {
        cwd: build,
        encoding: 'utf8',
        maxBuffer: 1e9,
    });
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

// The statement of each, as Rocq prints it.
export function statements(theorems) {
    const found = answers(
        filesOf(theorems),
        theorems.map((t) => `Check @${full(t)}.`),
    );
    return found.map((a) => a.replace(/^\S+\s*\n?\s*: /, '').trimEnd());
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

if (process.argv[1] === import.meta.filename) {
    const theorems = listed();
    const said = statements(theorems);
    const rests = axioms(theorems);
    theorems.forEach((t, i) =>
        console.log(
            `${t.file}.${t.name}\n  ${said[i].replaceAll('\n', '\n  ')}\n  rests on: ${rests[i].join(', ') || 'no axiom'}\n`,
        ),
    );
    console.log(`${theorems.length} theorems`);
}
