// amalgamate.mjs OUT: the oracle in two files, OUT/seqmix_ref.h and OUT/seqmix_ref.c, for another project's
// tests (docs/ORACLE.md). They hold include/seqmix/ref*.h and ref/ as they stand. Where two files of ref/ use
// one name for a static function or a type, a macro renames it to NAME_of_FILE for the length of its file.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const out = process.argv[2];
if (!out) {
    console.error('usage: amalgamate.mjs FOLDER');
    process.exit(2);
}
const top = join(import.meta.dirname, '..');
const read = (path) => readFileSync(join(top, path), 'utf8');
const version = JSON.parse(read('package.json')).version;
const licence = read('LICENSE')
    .trim()
    .split('\n')
    .map((line) => `// ${line}`.trimEnd())
    .join('\n');

/** A header's lines without its guard, its includes and extern "C"; what it includes of the system. */
function bare(text) {
    const system = [...text.matchAll(/^#include (<(?!seqmix\/)[^>]+>)$/gm)].map(([, name]) => name);
    const own = [...text.matchAll(/^#include (?:"([^"]+)"|<seqmix\/([^>]+)>)/gm)].map(([, a, b]) => a ?? b);
    const body = text
        .replace(/^#ifndef (REF_\w*H)\n#define \1\n([^]*)\n#endif[^\n]*\n*$/m, '$2')
        .replace(/^#ifdef __cplusplus\n[^]*?#endif\n?/gm, '')
        .replace(/^#include .*\n/gm, '')
        .replace(/\n{3,}/g, '\n\n')
        .trim();
    return { system, own, body };
}
/** Names that a .c file gives at file scope and that end with it. */
function names(text) {
    const found = new Set();
    for (const pattern of [
        /^static [^=;(]*?\b(\w+)\(/gm,
        /^static (?:const )?[\w ]+?\b(\w+)(?:\[[^=;]*\])* =/gm,
        /^\} (\w+);/gm,
        /^typedef [^;{]*\b(\w+);/gm,
    ])
        for (const [, name] of text.matchAll(pattern)) found.add(name);
    for (const [, list] of text.matchAll(/^enum \{([^}]*)\}/gm))
        for (const [name] of list.replace(/=[^,]*/g, '').matchAll(/\w+/g)) found.add(name);
    return found;
}
const line = (text) => `// ==== ${text} `.padEnd(110, '=') + '\n';

const PUBLIC = ['ref.h', 'ref_cores.h', 'ref_layers.h'];
const headers = PUBLIC.map((name) => ({ name, ...bare(read(`include/seqmix/${name}`)) }));
const system = (parts) => [...new Set(parts.flatMap((part) => part.system))].sort();
const includes = (list) => list.map((name) => `#include ${name}\n`).join('');

const header =
    `// seqmix_ref.h, version ${version}: the oracle of seqmix; the licence stands in seqmix_ref.c.\n` +
    `#ifndef REF_H\n#define REF_H\n\n${includes(system(headers))}\n` +
    `#ifdef __cplusplus\nextern "C" {\n#endif\n\n` +
    headers.map(({ name, body }) => `${line(name)}\n${body}\n\n`).join('') +
    `#ifdef __cplusplus\n}\n#endif\n\n#endif\n`;

const files = readdirSync(join(top, 'ref')).filter((name) => name.endsWith('.c'));
const parts = files.map((name) => {
    const text = read(`ref/${name}`);
    return { name, text, ...bare(text), names: names(text) };
});
const shared = new Map(); // headers of ref/, each before those that include it
function add(name) {
    if (shared.has(name) || PUBLIC.includes(name)) return;
    const part = bare(read(`ref/${name}`));
    part.own.forEach(add);
    shared.set(name, part);
}
parts.forEach((part) => part.own.forEach(add));
// What needs none of them comes first: their names are not known there yet.
const needs = (part) => part.own.some((name) => shared.has(name));
parts.sort((a, b) => needs(a) - needs(b));
const givers = new Map();
for (const part of parts) for (const name of part.names) givers.set(name, (givers.get(name) ?? 0) + 1);
for (const part of shared.values())
    for (const name of names(part.body)) givers.set(name, (givers.get(name) ?? 0) + 1);

const source =
    `// seqmix_ref.c, version ${version}: the oracle of seqmix in one file, C99. Link with -lm.\n//\n${licence}\n` +
    `#include "seqmix_ref.h"\n\n${includes(system([...parts, ...shared.values()]))}\n` +
    parts
        .map((part, i) => {
            const { name, body, text, names } = part;
            const before = needs(part) && !needs(parts[i - 1] ?? { own: [] }) ? [...shared] : [];
            const own = basename(name, '.c');
            const renamed = [...names].filter((each) => givers.get(each) > 1).sort();
            const macros = [...text.matchAll(/^#define (\w+)/gm)].map(([, each]) => each);
            return (
                before.map(([header, { body }]) => `${line(header)}\n${body}\n\n`).join('') +
                line(name) +
                renamed.map((each) => `#define ${each} ${each}_of_${own}\n`).join('') +
                `\n${body}\n\n` +
                [...renamed, ...macros].map((each) => `#undef ${each}\n`).join('') +
                '\n'
            );
        })
        .join('');

mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'seqmix_ref.h'), header);
writeFileSync(join(out, 'seqmix_ref.c'), source.trimEnd() + '\n');
