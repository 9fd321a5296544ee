// in-ts.mjs: what could be wrong in a TypeScript file, as the compiler's own syntax tree shows it: see
// in-c.mjs
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const INSTEAD = {
    '+': '-',
    '-': '+',
    '*': '+',
    '/': '*',
    '%': '/',
    '**': '*',
    '<': '<=',
    '<=': '<',
    '>': '>=',
    '>=': '>',
    '===': '!==',
    '!==': '===',
    '&&': '||',
    '||': '&&',
    '??': '&&',
    '<<': '>>',
    '>>': '<<',
    '>>>': '<<',
    '&': '|',
    '|': '&',
    '+=': '-=',
    '-=': '+=',
    '*=': '+=',
    '/=': '*=',
};

/** What names these is no pure code: the browser's tests come past it. */
const BROWSER =
    /\b(document|window|localStorage|getComputedStyle|Element|PointerEvent|Image|uPlot|HTML\w+|Canvas\w*|SVG\w+)\b/;

/** As candidates() of in-c.mjs. */
export function candidates(tree, file) {
    const text = readFileSync(join(tree, file), 'utf8');
    const root = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const found = [];
    const write = (node) => node.getText(root);

    function add(node, kind, is, code, inside) {
        const was = write(node);
        if (was.length > 300) return;
        const from = node.getStart(root);
        const { line } = root.getLineAndCharacterOfPosition(from);
        found.push({ file, from, to: node.getEnd(), line: line + 1, inside, kind, was, is, code });
    }
    function visit(node, inside) {
        if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return;
        if (node.parent === root && BROWSER.test(write(node))) return;
        if (
            node.name &&
            (ts.isFunctionLike(node) || ts.isVariableDeclaration(node) || ts.isClassDeclaration(node))
        )
            inside = write(node.name);
        const swap = (is, kind = ts.SyntaxKind[node.kind]) =>
            add(node, kind, is, (n) => `(SMX_M(${n}) ? (${is}) : (${write(node)}))`, inside);
        if (ts.isBinaryExpression(node)) {
            const op = write(node.operatorToken);
            const words = [node.left, node.right].some(
                (side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side),
            );
            if (INSTEAD[op] && !(words && op === '+'))
                swap(`(${write(node.left)}) ${INSTEAD[op]} (${write(node.right)})`);
        }
        if (
            ts.isNumericLiteral(node) &&
            !ts.isPropertyAssignment(node.parent) | (node.parent.initializer === node)
        )
            if (!ts.isEnumMember(node.parent) && !ts.isLiteralTypeNode(node.parent))
                swap(`${write(node)} + 1`);
        if (ts.isPrefixUnaryExpression(node) && ['-', '!'].includes(ts.tokenToString(node.operator)))
            swap(`${ts.tokenToString(node.operator) === '!' ? '!!' : ''}(${write(node.operand)})`);
        if (ts.isConditionalExpression(node))
            swap(`${write(node.condition)} ? ${write(node.whenFalse)} : ${write(node.whenTrue)}`);
        if (ts.isIfStatement(node) && !/\b(in|instanceof)\b/.test(write(node.expression))) {
            const was = write(node.expression);
            add(
                node.expression,
                'condition',
                `!(${was})`,
                (n) => `(SMX_M(${n}) ? !(${was}) : (${was}))`,
                inside,
            );
        }
        // (The least of two is the least of them the other way round.)
        if (ts.isCallExpression(node) && !/^Math\.(min|max|hypot)$/.test(write(node.expression)))
            for (let i = 0; i + 1 < node.arguments.length; i++) {
                const [a, b] = [node.arguments[i], node.arguments[i + 1]];
                if (
                    [a, b].some((one) => ts.isFunctionLike(one) || ts.isSpreadElement(one)) ||
                    write(a) === write(b)
                )
                    continue;
                const start = node.getStart(root);
                const cut = (from, to) => write(node).slice(from - start, to - start);
                swap(
                    cut(start, a.getStart(root)) +
                        write(b) +
                        cut(a.getEnd(), b.getStart(root)) +
                        write(a) +
                        cut(b.getEnd(), node.getEnd()),
                    'arguments',
                );
            }
        if (ts.isExpressionStatement(node) && ts.isBlock(node.parent) && inside)
            add(node, 'statement', '(left out)', (n) => `if (!SMX_M(${n})) ${write(node)}`, inside);
        ts.forEachChild(node, (inner) => visit(inner, inside));
    }
    visit(root, '');
    return found;
}
