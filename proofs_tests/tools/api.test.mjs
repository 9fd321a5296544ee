// api.test.mjs: build/docs/API.md is what the headers and types say, leaves out nothing that can be called,
// and says something about each. What can be called is asked of others: the compiler for C, the module's own
// members for TypeScript.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { apiPage, declaredFunctions, readHeader } from '../../scripts/api.mjs';

const page = readFileSync('build/docs/API.md', 'utf8');
const headers = ['smx', 'run', 'state', 'data', 'ref', 'ref_cores', 'ref_layers'].map(
    (name) => `include/seqmix/${name}.h`,
);

test('the built API.md is current', async () => {
    assert.ok(
        page === (await apiPage()),
        'build/docs/API.md is older than what it is made of; make build/docs/API.md writes it',
    );
});

/** Functions that a header declares, as the compiler reads it: calls of undeclared ones would not compile. */
function functionsOf(header) {
    const { stdout, status } = spawnSync('gcc', ['-Iinclude', '-P', '-E', '-x', 'c', header], {
        encoding: 'utf8',
    });
    assert.equal(status, 0);
    // one declaration a statement; bodies of structs and enums out of the way
    let flat = stdout.replace(/^#.*$/gm, '');
    for (let last = ''; last !== flat;) [last, flat] = [flat, flat.replace(/\{[^{}]*\}/g, ' ')];
    return flat
        .split(';')
        .map((statement) => /^(?!\s*typedef)[^(]*?\b((?:smx|ref)_\w+)\s*\(/.exec(statement)?.[1])
        .filter(Boolean);
}

test('every function of the C headers stands there, with its arguments', () => {
    const code = [...page.matchAll(/^```c\n([^]*?)^```/gm)].map((match) => match[1]).join('\n');
    const shown = new Set(declaredFunctions(code));
    let all = 0;
    for (const header of headers)
        for (const name of functionsOf(header)) {
            all++;
            assert.ok(shown.has(name), `${name} of ${header}`);
            assert.ok(page.includes(`](#c-${name.replaceAll('_', '-')})`), `${name} in the contents`);
            assert.ok(page.includes(`<a id="c-${name.replaceAll('_', '-')}">`), `${name} can be linked to`);
        }
    assert.ok(all >= 250, `${all}`);
    assert.equal(shown.size, new Set(headers.flatMap(functionsOf)).size);
});

test('something is said about every function of the C headers', () => {
    for (const header of headers)
        for (const { title, entries } of readHeader(readFileSync(header, 'utf8')).sections)
            for (const { comment, code, names } of entries)
                assert.ok(
                    !names.length || comment.length || code.includes('//'),
                    `${header}, ${title}: ${names.join(', ')}`,
                );
});

test('the rules that hold for all of them stand there', () => {
    for (const word of [
        'Legend',
        'Contracts',
        'Order',
        'Gradients',
        'Aliasing',
        'Scratch',
        'Errors',
        'row-major',
    ])
        assert.ok(page.includes(word), word);
});

test('every export of the module stands there, every method with a word about it', async () => {
    const ts = (await import('typescript')).default;
    const read = (file) =>
        ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true).statements;
    const statements = read('wasm/loader/seqmix.ts')
        .filter(ts.isExportDeclaration)
        .flatMap(({ moduleSpecifier, exportClause }) => {
            const names = exportClause?.elements.map(({ name }) => name.text); // without: all of the file
            const nameOf = (node) => node.name?.text ?? node.declarationList?.declarations[0]?.name.text;
            return read(`wasm/loader/${moduleSpecifier.text.replace(/js$/, 'ts')}`).filter(
                (node) => !names || names.includes(nameOf(node)),
            );
        });
    let exported = 0;
    for (const node of statements) {
        if (!node.modifiers?.some((one) => one.kind === ts.SyntaxKind.ExportKeyword)) continue;
        const name = node.name?.text ?? node.declarationList?.declarations[0]?.name.text;
        if (!name) continue;
        exported++;
        assert.ok(page.includes(`\n### ${name}\n`), name);
        const part = page.split(`### ${name}\n`)[1].split(/^##/m)[0];
        for (const member of node.members ?? []) {
            const key = member.name?.text;
            if (!key || member.name.kind === ts.SyntaxKind.PrivateIdentifier) continue;
            assert.ok(new RegExp(`\\b${key}\\b`).test(part), `${name}.${key}`);
            const hidden = member.modifiers?.some((one) => one.kind === ts.SyntaxKind.PrivateKeyword);
            if (ts.isMethodDeclaration(member) && !hidden)
                assert.ok(member.jsDoc?.length, `${name}.${key} has no comment`);
        }
        if (ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node))
            assert.ok(node.jsDoc?.length, `${name} has no comment`);
    }
    assert.ok(exported >= 30, `${exported}`);
});
