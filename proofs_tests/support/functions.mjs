// functions.mjs: how long the functions of a TypeScript file are.
import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** Lines that a function of TypeScript may have, those of functions within it counted. */
export const FUNCTION_LINES = 80;

/** Every function with a body: where it begins (FILE:LINE), and how many lines it has. */
export function functionsOf(file, text = readFileSync(file, 'utf8')) {
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const lineOf = (at) => source.getLineAndCharacterOfPosition(at).line + 1;
    const found = [];
    const visit = (node) => {
        if (ts.isFunctionLike(node) && node.body) {
            const first = lineOf(node.getStart());
            found.push({ at: `${file}:${first}`, lines: lineOf(node.end) - first + 1 });
        }
        ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
}
