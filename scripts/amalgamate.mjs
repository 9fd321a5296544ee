// amalgamate.mjs OUT: the oracle in two files, OUT/seqmix_ref.h and OUT/seqmix_ref.c, for another project's
// tests (docs/ORACLE.md), and the kernels in two, seqmix.h and seqmix.c (README.md). They hold ref/ and
// kernels/ with their public headers as they stand. Where a file gives a static function or a type a name
// that another one uses, a macro renames it to NAME_of_FILE for the length of its file.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

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
        .replace(/^#ifndef ((?:REF|SMX)_\w*H)\n#define \1\n([^]*)\n#endif[^\n]*\n*$/m, '$2')
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
        /^(?:static|SMX_INLINE|SMX_LARGE|SMX_TAIL|ATTENTION_PART|ONCE) [^=;(]*?\b(\w+)\(/gm,
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
const includes = (list) => list.map((name) => `#include ${name}\n`).join('');
const system = (parts) => [...new Set(parts.flatMap((part) => part.system))].sort();
const includesOwn = /^#include (?:"([^"]+)"|<seqmix\/([^>]+)>).*\n/gm;

/**
 * The files of a folder behind one another, each header where it is first asked for: whole, with its guard
 * (`spread` also each time that a condition asks for it), changed by `edit`.
 */
function joined(folder, files, { known, spread = [], edit = (name, text) => text }) {
    const seen = new Set(known);
    // (A path begins at the top, a name alone in the folder of the file that asks.)
    const asked = (by, name) =>
        known.includes(name) || name.startsWith(`${folder}/`) ? name : `${dirname(by)}/${name}`;
    const header = (path) => {
        if (seen.has(path)) return '';
        const name = basename(path);
        if (!spread.includes(name)) seen.add(path);
        return edit(name, read(path))
            .replace(/^static inline /gm, '__attribute__((unused)) static inline ') // as clang sees headers
            .replace(includesOwn, (all, a, b) => header(asked(path, a ?? b)));
    };
    const needs = (part) => part.own.some((name) => !known.includes(name));
    const parts = files
        .map((name) => {
            const text = read(`${folder}/${name}`);
            const own = [...text.matchAll(includesOwn)].map(([, a, b]) => asked(`${folder}/${name}`, a ?? b));
            return { name, text, own, names: names(text) };
        })
        .sort((a, b) => needs(a) - needs(b)); // what needs no header does not meet the names of one
    for (const part of parts) part.before = part.own.map(header).join('');
    const words = parts.map(({ name, text, before }) => ({
        name,
        words: new Set(`${text}${before}`.match(/\w+/g)),
    }));
    const elsewhere = (part, each) =>
        words.some(({ name, words: those }) => name !== part.name && those.has(each)) ||
        names(part.before).has(each);
    return parts
        .map((part) => {
            const { name, text, before } = part;
            const own = basename(name, '.c');
            const renamed = [...part.names].filter((each) => elsewhere(part, each)).sort();
            // (where a header's field has the name, only what is called)
            const rename = (each) =>
                new RegExp(`(?:->|\\.)${each}\\b`).test(text)
                    ? `#define ${each}(...) ${each}_of_${own}(__VA_ARGS__)\n`
                    : `#define ${each} ${each}_of_${own}\n`;
            const macros = new Set([...text.matchAll(/^#define (\w+)/gm)].map(([, each]) => each));
            return (
                `${before}${line(`${folder}/${name}`)}` +
                renamed.map(rename).join('') +
                `\n${text.replace(includesOwn, '').trim()}\n\n` +
                [...renamed, ...macros].map((each) => `#undef ${each}\n`).join('') +
                '\n'
            );
        })
        .join('');
}
const sources = (folder) =>
    readdirSync(join(top, folder), { recursive: true })
        .filter((name) => name.endsWith('.c'))
        .sort();
const title = (name, what) => `// ${name}, version ${version}: ${what}\n`;

// ---- The oracle
const PUBLIC = ['ref.h', 'ref_cores.h', 'ref_layers.h'];
const headers = PUBLIC.map((name) => ({ name, ...bare(read(`include/seqmix/${name}`)) }));
const refHeader =
    title('seqmix_ref.h', 'the oracle of seqmix; the licence stands in seqmix_ref.c.') +
    `#ifndef REF_H\n#define REF_H\n\n${includes(system(headers))}\n` +
    `#ifdef __cplusplus\nextern "C" {\n#endif\n\n` +
    headers.map(({ name, body }) => `${line(name)}\n${body}\n\n`).join('') +
    `#ifdef __cplusplus\n}\n#endif\n\n#endif\n`;
const refSource =
    title('seqmix_ref.c', 'the oracle of seqmix in one file, C99. Link with -lm.') +
    `//\n${licence}\n#include "seqmix_ref.h"\n\n` +
    joined('ref', sources('ref'), { known: PUBLIC });

// ---- The kernels
const kernelHeader =
    title('seqmix.h', 'the kernels of seqmix; the licence stands in seqmix.c.') +
    read('include/seqmix/smx.h');
const PREAMBLE = `#include "seqmix.h"

// The instruction set is the one that the compiler is told to use; with -DSMX_SCALAR none.
#if defined(__FAST_MATH__)
#error "seqmix.c: -ffast-math gives other results: compile this file without it"
#elif defined(SMX_SCALAR)
#define SMX_ISA_NAME scalar
#elif defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define SMX_ISA_NAME avx512
#elif defined(__AVX512F__)
#error "seqmix.c: AVX-512 takes -mavx512f -mavx512dq -mavx512bw -mavx512vl"
#elif defined(__AVX2__)
#define SMX_ISA_NAME avx2
#elif defined(__SSE2__)
#define SMX_ISA_NAME sse2
#elif defined(__ARM_NEON)
#define SMX_ISA_NAME neon
#elif defined(__wasm_simd128__)
#define SMX_ISA_NAME wasm
#else
#define SMX_ISA_NAME scalar
#endif
// No product and sum is rounded as one, whatever the flags say.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

`;
// One copy, each kernel under the name of its instruction set: the public functions call it.
function asOnly(name, text) {
    if (name !== 'kernel.h') return text;
    const mine = '#define SMX_USES(name) __typeof__';
    if (!text.includes(mine)) throw new Error(`kernel.h does not have: ${mine}`);
    return `${text.replace(mine, '#define SMX_USES(name) static __typeof__')}#define SMX_ONLY\n`;
}
const ONCE = ['core/ahead.c', 'digest.c', 'dispatch.c'];
const rows = spawnSync('awk', ['-v', 'make=c', '-f', 'scripts/kernels.awk', 'kernels/kernels.txt'], {
    cwd: top,
    encoding: 'utf8',
});
const publicFunctions = [
    ...rows.stdout.matchAll(/^SMX_KERNEL(?:_PUSH)?\((\w+), (\w+), (\(.*\)), (\(.*\))\)$/gm),
];
if (rows.status || !publicFunctions.length) throw new Error(`no kernels: ${rows.stderr}`);
const kernelSource =
    title('seqmix.c', 'the kernels of seqmix in one file, C99 as gcc and clang have it.') +
    `//\n${licence}\n${PREAMBLE}` +
    joined(
        'kernels',
        sources('kernels').filter((name) => !ONCE.includes(name)),
        { known: ['smx.h'], spread: ['intrinsics.h'], edit: asOnly },
    ) +
    line('the public functions') +
    read('kernels/calls.h').replace(includesOwn, '') +
    '\n#define CALLED(name) SMX_FN(name)\n' +
    publicFunctions
        .map(
            ([, result, name, parameters, args]) =>
                `${result} smx_${name}${parameters} { CALL_${result}(${name}, ${args}) }\n`,
        )
        .join('');

// ---- For CMake, and all of it as one archive, the same to the byte whenever it is made
const CMAKE = `# CMakeLists.txt: seqmix::seqmix (the kernels) and seqmix::seqmix_ref (the oracle), for FetchContent or
# add_subdirectory. The instruction set: target_compile_options(seqmix PRIVATE -mavx2).
cmake_minimum_required(VERSION 3.13)
project(seqmix VERSION ${version} LANGUAGES C)
foreach(name IN ITEMS seqmix seqmix_ref)
    add_library(\${name} STATIC \${name}.c)
    add_library(seqmix::\${name} ALIAS \${name})
    # Each function in a section of its own: with -Wl,--gc-sections a program keeps those that it calls.
    target_compile_options(\${name} PRIVATE -ffunction-sections $<$<CONFIG:>:-O2>)
    set_target_properties(\${name} PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
    target_include_directories(\${name} PUBLIC \${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(\${name} PUBLIC m)
endforeach()
`;
mkdirSync(out, { recursive: true });
const made = [
    ['seqmix_ref.h', refHeader],
    ['seqmix_ref.c', refSource],
    ['seqmix.h', kernelHeader],
    ['seqmix.c', kernelSource],
    ['CMakeLists.txt', CMAKE],
    ['LICENSE', read('LICENSE')],
];
for (const [name, text] of made) writeFileSync(join(out, name), text.trimEnd() + '\n');
/** A file in a tar archive: of nobody, at no time. */
function entry(name, text) {
    const bytes = Buffer.from(text),
        block = Buffer.alloc(512 + Math.ceil(bytes.length / 512) * 512);
    const octal = (value, digits) => value.toString(8).padStart(digits, '0');
    block.write(name, 0);
    block.write(`${octal(0o644, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100);
    block.write(`${octal(bytes.length, 11)}\0${octal(0, 11)}\0        0`, 124); // spaces: the sum's place
    block.write('ustar\x0000', 257);
    const sum = block.reduce((total, byte) => total + byte, 0);
    block.write(`${octal(sum, 6)}\0 `, 148);
    bytes.copy(block, 512);
    return block;
}
const named = `seqmix-c-${version}`;
const entries = made.map(([name, text]) => entry(`${named}/${name}`, text.trimEnd() + '\n'));
writeFileSync(
    join(out, `${named}.tar.gz`),
    gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)]), { level: 9 }),
);
