// assumptions.test.mjs: the theorems of theorems.txt are there, nothing in the files is left unproved, and no
// theorem rests on an axiom but those of Rocq's own real numbers, functional extensionality and
// classical logic.
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import {
    axiomsOfFiles,
    folder,
    listed,
    missing,
    page,
    sources,
    stated,
    statements,
    written,
} from './statements.mjs';

const allowed = [
    'ClassicalDedekindReals.sig_forall_dec',
    'ClassicalDedekindReals.sig_not_dec',
    'FunctionalExtensionality.functional_extensionality_dep',
    'Classical_Prop.classic',
];
const unproved =
    /\b(Admitted|admit|Axioms?|Parameters?|Conjecture|give_up|Abort|Unset\s+(Guard|Positivity|Universe)\s+Checking|bypass_check)\b/;
const texts = sources();
const theorems = listed();

test('no Admitted, no axiom of our own', () => {
    for (const [file, text] of Object.entries(texts)) {
        const found = text.match(unproved);
        assert.equal(found, null, `proofs_tests/rocq/${file}.v: ${found?.[0]}`);
    }
});
test('theorems.txt lists every theorem once, sorted by file', () => {
    for (const [file, text] of Object.entries(texts))
        assert.deepEqual(
            theorems.filter((t) => t.file === file).map((t) => t.name),
            stated(text),
            `the theorems of ${file}.v, in their order`,
        );
    const files = theorems.map((t) => t.file);
    assert.deepEqual(files, [...files].sort());
    for (const f of files) assert.ok(texts[f] !== undefined, `theorems.txt: there is no ${f}.v`);
});
test('every file says first what it proves', () => {
    for (const file of Object.keys(texts))
        assert.ok(
            readFileSync(join(folder, `${file}.v`), 'utf8').startsWith(`(* ${file}.v: `),
            `${file}.v: "(* ${file}.v: ..."`,
        );
});

const compiled = process.env.ROCQ_FILES?.split(' ');
const here = theorems.filter((t) => !compiled || compiled.includes(t.file));
const skip = here.length ? missing() || false : 'no proof is compiled here yet: make proofs does it';
test('Rocq has proved them, from the allowed axioms alone', { skip }, () => {
    for (const [file, found] of Object.entries(axiomsOfFiles(here)))
        for (const a of found) assert.ok(allowed.includes(a), `${file}.v rests on ${a}`);
});
test('statements.txt is what Rocq says they state', { skip }, () => {
    const said = page(here, statements(here));
    const lines = readFileSync(written, 'utf8').split(/\n(?=\S)/);
    const kept = lines.filter((block) => here.some((t) => block.startsWith(`${t.file}.${t.name}\n`)));
    assert.deepEqual(
        kept.map((b) => b.trimEnd()),
        said.split(/\n(?=\S)/).map((b) => b.trimEnd()),
        'make proofs writes it',
    );
    assert.equal(lines.length, theorems.length, 'make proofs writes it');
});
