// in-c.mjs: what could be wrong in a C file: every place where one operator, constant, index, condition,
// argument, field or statement could be another one, as clang's syntax tree shows them. Each keeps the
// types, so that the file still compiles.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';

const INSTEAD = {
    '+': '-',
    '-': '+',
    '*': '+',
    '/': '*',
    '%': '/',
    '<': '<=',
    '<=': '<',
    '>': '>=',
    '>=': '>',
    '==': '!=',
    '!=': '==',
    '&&': '||',
    '||': '&&',
    '<<': '>>',
    '>>': '<<',
    '&': '|',
    '|': '&',
    '+=': '-=',
    '-=': '+=',
    '*=': '+=',
    '/=': '*=',
};
/** What gives the same whichever of two arguments comes first. */
const COMMUTES = /^(v16_(add|mul)|vc_(add|mul)|smx_(min|max)|op_(add|mul))\b/;
/** Inside these a constant has to stay one. */
const FIXED = new Set([
    'EnumDecl',
    'CaseStmt',
    'StaticAssertDecl',
    'RecordDecl',
    'TypedefDecl',
    'OffsetOfExpr',
]);
// (ccache, where clang is one, would give another file's tree: what is printed is no part of what it keeps.)
const env = { ...process.env, CCACHE_DISABLE: '1' };
const BASE = ['-std=gnu11', '-w', '-Iinclude', '-I.', '-DSMX_ISA_NAME=sse2', '-DSMX_ZLIB', '-D_GNU_SOURCE'];

// (The module's own files are compiled for it alone: they say where fields of structs stand there.)
let module;
function flagsOf(file) {
    if (!file.startsWith('wasm/')) return BASE;
    module ??= spawnSync('emcc', ['--cflags'], {
        encoding: 'utf8',
        env: { NODE_PATH: '/usr/share/nodejs', ...env },
    }).stdout.split(/\s+/);
    return [...module.filter(Boolean), ...BASE];
}

export const check = (tree, file, extra = [], source = file) =>
    spawnSync('clang', ['-fsyntax-only', ...extra, ...flagsOf(source), file], {
        cwd: tree,
        encoding: 'utf8',
        env,
    });

function syntaxTree(tree, file) {
    const dump = spawnSync('clang', ['-Xclang', '-ast-dump=json', '-fsyntax-only', ...flagsOf(file), file], {
        cwd: tree,
        encoding: 'utf8',
        env,
        maxBuffer: 2 ** 30,
    });
    if (dump.status !== 0) throw new Error(`${file}: ${dump.stderr.slice(0, 400)}`);
    return JSON.parse(dump.stdout);
}

/** Which file each place is in: clang says it only where it differs from the place that it printed before.
 * */
function placed(root) {
    let file = '';
    const visit = (value) => {
        if (Array.isArray(value)) return value.forEach(visit);
        if (!value || typeof value !== 'object') return;
        if ('offset' in value && 'tokLen' in value) {
            if (value.file) file = value.file;
            value.in = file;
            return;
        }
        for (const [key, inner] of Object.entries(value)) if (key !== 'includedFrom') visit(inner);
    };
    visit(root);
}
const span = ({ range }) => {
    const { begin, end } = range ?? {};
    if (begin?.offset === undefined || end?.offset === undefined || begin.in !== end.in) return null;
    return { file: normalize(begin.in), from: begin.offset, to: end.offset + end.tokLen };
};

/** Every possible fault of a C file and of the headers of its room: where it is (`file`, `line`, the
 * function `inside`, characters `from` and `to`), its `kind`, what `was` there and what `is` there
 * instead, and `code(n)`: both, of which the second happens when fault n is awake. */
export function candidates(tree, source) {
    const root = syntaxTree(tree, source);
    placed(root);
    const room = source.split('/')[0];
    const texts = new Map();
    const text = (file) =>
        texts.get(file) ?? texts.set(file, readFileSync(join(tree, file), 'latin1')).get(file);
    const found = [];
    const fields = new Map(); // of each field: the next one of its record that has its type
    const ours = (at) => at?.file.startsWith(`${room}/`);
    const write = (at) => text(at.file).slice(at.from, at.to);

    function add(node, kind, is, code, inside, at = span(node)) {
        if (!ours(at)) return;
        const was = write(at);
        if (was.length > 300 || /\bsmx_mutant/.test(was)) return;
        const line = text(at.file).slice(0, at.from).split('\n').length;
        found.push({ ...at, line, inside, kind, was, is, code });
    }
    const type = (node) => node.type?.qualType ?? '';

    function expression(node, inside, parent) {
        const at = span(node);
        if (!ours(at)) return;
        const was = write(at);
        const parts = (node.inner ?? []).map(span);
        const swap = (is) => add(node, node.kind, is, (n) => `(SMX_M(${n}) ? (${is}) : (${was}))`, inside);
        if (node.kind === 'BinaryOperator' || node.kind === 'CompoundAssignOperator') {
            const other = INSTEAD[node.opcode];
            const [left, right] = node.inner;
            const pointers = /[*\]]$/.test(type(left)) || /[*\]]$/.test(type(right));
            if (
                other &&
                ours(parts[0]) &&
                ours(parts[1]) &&
                !(pointers && /[*/%]|^-$/.test(other + node.opcode))
            )
                swap(`${write(parts[0])} ${other} ${write(parts[1])}`);
        }
        // (Of a function that returns -1 it is asked whether that is 0, or below.)
        const failure = parent?.returned && parent.kind === 'UnaryOperator' && was === '1';
        if (node.kind === 'IntegerLiteral' && !/[*\]]$/.test(type(parent ?? {})) && !failure)
            swap(`${was} + 1`);
        if (node.kind === 'FloatingLiteral') swap(Number(node.value) === 0 ? `${was} + 1` : `${was} * 1.5f`);
        if (node.kind === 'UnaryOperator' && (node.opcode === '-' || node.opcode === '!') && ours(parts[0]))
            swap(node.opcode === '-' ? write(parts[0]) : `!!(${write(parts[0])})`);
        if (node.kind === 'UnaryOperator' && /^(\+\+|--)$/.test(node.opcode) && ours(parts[0])) {
            const other = node.opcode === '++' ? '--' : '++';
            swap(node.isPostfix ? write(parts[0]) + other : other + write(parts[0]));
        }
        if (node.kind === 'ConditionalOperator' && parts.every(ours))
            swap(`${write(parts[0])} ? ${write(parts[2])} : ${write(parts[1])}`);
        if (node.kind === 'CallExpr' && parts.every(ours) && !COMMUTES.test(was))
            for (let i = 1; i + 1 < parts.length; i++) {
                const [a, b] = [node.inner[i], node.inner[i + 1]];
                if (type(a) !== type(b) || write(parts[i]) === write(parts[i + 1])) continue;
                if (i === 1 && /^v(16|f)_madd\b/.test(was)) continue; // a b + c
                const swapped =
                    was.slice(0, parts[i].from - at.from) +
                    write(parts[i + 1]) +
                    was.slice(parts[i].to - at.from, parts[i + 1].from - at.from) +
                    write(parts[i]) +
                    was.slice(parts[i + 1].to - at.from);
                if (type(node) !== 'void') swap(swapped);
                else add(node, 'arguments', swapped, (n) => `(SMX_M(${n}) ? ${swapped} : ${was})`, inside);
            }
        if (node.kind === 'MemberExpr' && fields.has(node.referencedMemberDecl) && ours(parts[0])) {
            const other = fields.get(node.referencedMemberDecl);
            const is = was.slice(0, was.length - node.name.length) + other;
            if (was.endsWith(node.name) && !/\[/.test(type(node)))
                add(node, 'field', is, (n) => `(*(SMX_M(${n}) ? &(${is}) : &(${was})))`, inside);
        }
    }
    function visit(node, inside, parent, fixed) {
        if (!node?.kind || node.kind === 'UnaryExprOrTypeTraitExpr') return; // sizeof computes nothing
        node.returned = parent?.kind === 'ReturnStmt' || (parent?.returned && parent.kind !== 'CallExpr');
        if (node.kind === 'FunctionDecl') inside = node.name;
        if (node.kind === 'RecordDecl') {
            const all = (node.inner ?? []).filter(
                ({ kind, isBitfield }) => kind === 'FieldDecl' && !isBitfield,
            );
            for (const [i, field] of all.entries()) {
                const other = [...all.slice(i + 1), ...all.slice(0, i)].find(
                    (one) => one.name && type(one) === type(field),
                );
                if (other && field.name) fields.set(field.id, other.name);
            }
        }
        // (Outside functions and in static tables every expression has to be constant.)
        const constant =
            FIXED.has(node.kind) || (node.kind === 'VarDecl' && (!inside || node.storageClass === 'static'));
        fixed ||= constant;
        if (inside && !fixed) {
            expression(node, inside, parent);
            if (node.kind === 'IfStmt') {
                const condition = span(node.inner[0]);
                if (ours(condition)) {
                    const was = write(condition);
                    add(
                        node,
                        'condition',
                        `!(${was})`,
                        (n) => `(SMX_M(${n}) ? !(${was}) : !!(${was}))`,
                        inside,
                        condition,
                    );
                }
            }
            if (node.kind === 'CompoundStmt')
                for (const one of node.inner ?? []) {
                    const at = span(one);
                    const deed =
                        /^(CallExpr|CompoundAssignOperator)$/.test(one.kind) ||
                        (one.kind === 'BinaryOperator' && one.opcode === '=');
                    if (deed && ours(at))
                        add(one, 'statement', '(left out)', (n) => `if (!SMX_M(${n})) ${write(at)}`, inside);
                }
        }
        const only = node.kind === 'CaseStmt' ? [false, true] : [];
        for (const [i, inner] of (node.inner ?? []).entries())
            visit(
                inner,
                inside,
                node,
                node.kind === 'CaseStmt' ? (only[i] ? fixed && !constant : true) : fixed,
            );
    }
    visit(root, '', null, false);
    const seen = new Set();
    return found.filter((one) => {
        const key = `${one.file} ${one.from} ${one.to} ${one.is}`;
        return !seen.has(key) && seen.add(key);
    });
}
