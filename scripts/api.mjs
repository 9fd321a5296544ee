// api.mjs: writes build/docs/API.md from the public headers and the module's types. What a header or a type
// says about a function is said there, once.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const page = resolve(root, 'build/docs/API.md');
const headers = [
    ['include/seqmix/smx.h', 'seqmix/smx.h', 'libseqmix', 'kernels'],
    ['include/seqmix/run.h', 'seqmix/run.h', 'libseqmix', 'runs'],
    ['include/seqmix/state.h', 'seqmix/state.h', 'libseqmix', 'reading on, and text that is written'],
    ['include/seqmix/data.h', 'seqmix/data.h', 'libseqmix', 'files for the tasks'],
    ['include/seqmix/error.h', 'seqmix/error.h', 'libseqmix', 'errors'],
    ['include/seqmix/parallel.h', 'seqmix/parallel.h', 'libseqmix', 'threads'],
    ['include/seqmix/ref.h', 'seqmix/ref.h', 'libseqmix_ref', 'the oracle'],
    ['include/seqmix/ref_cores.h', 'seqmix/ref_cores.h', 'libseqmix_ref', 'the oracle: newer cores'],
    ['include/seqmix/ref_layers.h', 'seqmix/ref_layers.h', 'libseqmix_ref', 'the oracle: newer layers'],
];

// ---- Markdown

const escaped = (text) => text.replace(/[\\`*_<>[\]|]/g, '\\$&');

/** Comment lines as paragraphs; what is indented is a formula or a list and keeps its layout. */
function prose(lines) {
    const out = [];
    let kind = '';
    for (const line of lines) {
        const now = !line.trim() ? '' : /^\s{2,}/.test(line) ? 'laid out' : 'prose';
        if (kind === 'laid out' && now !== kind) out.push('```');
        if (now !== kind && out.length) out.push('');
        if (now === 'laid out' && kind !== now) out.push('```text');
        if (now) out.push(now === 'prose' ? escaped(line.trim()) : line.replace(/^ {2}/, ''));
        kind = now;
    }
    if (kind === 'laid out') out.push('```');
    return out.join('\n');
}

const anchor = (name) => `c-${name}`.replaceAll('_', '-');

// ---- C

/** Code without its comments. */
const bare = (code) => code.replace(/\/\/.*$/gm, '').replace(/\/\*[^]*?\*\//g, '');

/** Names of the functions that code declares. */
export const declaredFunctions = (code) =>
    [...bare(code).matchAll(/(?<!\w)((?:smx|ref)_[a-z0-9_]+)\(/g)].map((match) => match[1]);

/** The header as {intro, sections: [{title, entries: [{comment, code, names}]}]}. */
export function readHeader(text) {
    const lines = text.split('\n');
    const intro = [];
    while (lines[0].startsWith('//')) intro.push(lines.shift().replace(/^\/\/ ?/, ''));
    let section = { title: '', entries: [] };
    const sections = [section];
    let comment = [];
    let code = [];
    let depth = 0;
    const flush = () => {
        if (code.length) {
            const all = code.join('\n');
            section.entries.push({ comment, code: all, names: declaredFunctions(all) });
        } else if (comment.length) section.entries.push({ comment, code: '', names: [] });
        comment = [];
        code = [];
    };
    let skipping = false;
    for (const line of lines) {
        if (/^#ifdef __cplusplus/.test(line)) skipping = true;
        const inside = depth > 0 || code.at(-1)?.endsWith(',');
        const heading = /^\/\/ [-=]{4} (.*?)\s*[-=]*$/.exec(line);
        if (skipping || /^#(ifndef|include|endif|define \w+_H$)/.test(line)) {
            if (/^#endif/.test(line)) skipping = false;
            continue;
        }
        if (heading) {
            flush();
            const [title, ...rest] = heading[1].split(': ');
            sections.push((section = { title, entries: [] }));
            if (rest.length) comment.push(rest.join(': '));
        } else if (!line.trim() && !inside) flush();
        else if (line.startsWith('//') && !inside) {
            if (code.length) flush();
            comment.push(line.replace(/^\/\/ ?/, ''));
        } else {
            code.push(line);
            for (const c of bare(line)) depth += c === '{' || c === '(' ? 1 : c === '}' || c === ')' ? -1 : 0;
        }
    }
    flush();
    return { intro, sections: sections.filter((s) => s.entries.length) };
}

function writeHeader([file, installed, library, what], out) {
    const { intro, sections } = readHeader(readFileSync(resolve(root, file), 'utf8'));
    out.push(
        `## C: ${what}`,
        '',
        `\`#include <${installed}>\`, ${library}; in the sources: \`${file}\`.`,
        '',
        prose(intro),
        '',
    );
    for (const { title, entries } of sections) {
        if (title) out.push(`### ${escaped(title)}`, '');
        for (const { comment, code, names } of entries) {
            if (names.length) out.push(names.map((name) => `<a id="${anchor(name)}"></a>`).join(''), '');
            if (comment.length) out.push(prose(comment), '');
            if (code) out.push('```c', code, '```', '');
        }
    }
    return sections.flatMap((s) => s.entries.flatMap((e) => e.names));
}

// ---- TypeScript

const ENTRIES = ['seqmix', 'checks', 'verify'].map((name) => `wasm/loader/${name}.ts`);

/**
 * What each entry exports: [{file, parts: [{file, text, tree, names}]}],
 * parts in the order in which the entry names them.
 */
async function declarations() {
    const ts = (await import('typescript')).default;
    const configFile = resolve(root, 'wasm/tsconfig.json');
    const { config } = ts.readConfigFile(configFile, ts.sys.readFile);
    const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(configFile));
    const program = ts.createProgram(fileNames, {
        ...options,
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        removeComments: false,
    });
    const checker = program.getTypeChecker();
    const part = (source, names) => {
        let text = '';
        program.emit(source, (_, emitted) => (text = emitted));
        const tree = ts.createSourceFile('x.d.ts', text, ts.ScriptTarget.Latest, true);
        return { file: relative(root, source.fileName), text, tree, names };
    };
    return ENTRIES.map((file) => {
        const entry = program.getSourceFile(resolve(root, file));
        const sources = new Map();
        for (const statement of entry.statements.filter(ts.isExportDeclaration)) {
            const [named] = checker.getSymbolAtLocation(statement.moduleSpecifier).declarations;
            sources.set(named, new Set());
        }
        for (const symbol of checker.getExportsOfModule(checker.getSymbolAtLocation(entry))) {
            const aliased = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
            const source = aliased.declarations[0].getSourceFile();
            if (!sources.has(source)) sources.set(source, new Set());
            sources.get(source).add(aliased.name);
        }
        return { file, parts: [...sources].map(([source, names]) => part(source, names)) };
    });
}

/** The comment that a file begins with. */
function introOf(file) {
    const lines = /^(?:\/\/.*\n)*/
        .exec(readFileSync(resolve(root, file), 'utf8'))[0]
        .trim()
        .split('\n');
    return prose(lines.map((line) => line.replace(/^\/\/ ?/, '')));
}

function writeTypes({ file, parts }, out) {
    out.push(`## TypeScript: ${file.replace(/^.*\//, '').replace(/\.ts$/, '')}`, '', introOf(file), '');
    for (const part of parts) {
        if (part.file !== file) out.push(introOf(part.file), '');
        writeDeclarations(part, out);
    }
}

function writeDeclarations({ text, tree, names }, out) {
    for (const node of tree.statements) {
        const code = text.slice(node.getStart(tree), node.end);
        const name = node.name?.text ?? node.declarationList?.declarations[0]?.name.text;
        if (!/^export /.test(code) || !names.has(name)) continue;
        const comment = (node.jsDoc ?? []).map((doc) => doc.getText()).join('\n');
        out.push(`### ${escaped(name)}`, '');
        if (comment)
            out.push(
                prose(
                    comment
                        .split('\n')
                        .map((line) => line.replace(/^\s*\/?\*+\/? ?/, '').replace(/\s*\*\/$/, '')),
                ),
                '',
            );
        out.push('```ts', code.replace(/^export (declare )?/, '').replace(/\n\s*#private;/g, ''), '```', '');
    }
}

// ---- The page

export async function apiPage() {
    const out = [];
    const index = [];
    for (const header of headers) index.push([header, writeHeader(header, out)]);
    for (const types of await declarations()) writeTypes(types, out);
    const contents = index.flatMap(([[, installed], names]) => [
        `**${installed}**: ${names.map((name) => `[${name}](#${anchor(name)})`).join(', ')}`.replaceAll(
            /_(?=[^(]*\])/g,
            '\\_',
        ),
        '',
    ]);
    return (
        [
            '# API',
            '',
            'From the public headers and the types of the WebAssembly module (`scripts/api.mjs`).',
            '',
            ...contents,
            ...out,
        ]
            .join('\n')
            .replace(/\n{3,}/g, '\n\n')
            .trimEnd() + '\n'
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    mkdirSync(dirname(page), { recursive: true });
    writeFileSync(page, await apiPage());
}
