// docs-lists.mjs: names that a page says in a sentence and the program knows by its tables, for docs.mjs:
// what seqmix.wasm leaves to seqmix-whole.wasm. The paragraph is written again, in lines of WIDTH.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const WIDTH = 132;
const sentence = (names) => names.slice(0, -1).join(', ') + ' and ' + names.at(-1);

/** A list item or paragraph in lines of at most WIDTH. */
function broken(text, indent) {
    const lines = [''];
    for (const word of text.split(/\s+/)) {
        const next = lines.at(-1) + (lines.at(-1).trim() ? ' ' : '') + word;
        if (next.length <= WIDTH) lines.splice(-1, 1, next);
        else lines.push(indent + word);
    }
    return lines.join('\n');
}
/** The page with `inside` between what `before` and `after` find in one of its paragraphs, broken anew. */
function page(path, indent, begins, lists) {
    const text = readFileSync(path, 'utf8');
    const from = text.indexOf(begins);
    if (from < 0)
        throw new Error(`${path}: nothing begins with '${begins}'; scripts/docs-lists.mjs looks for it`);
    const length = text.slice(from).search(/\n\n|\n- |$(?![^])/);
    let paragraph = text.slice(from, from + length).replace(/\s+/g, ' ');
    for (const [before, after, inside] of lists) {
        const start = paragraph.indexOf(before) + before.length;
        const end = paragraph.indexOf(after, start);
        if (start < before.length || end < 0)
            throw new Error(`${path}: no '${before} .. ${after}'; scripts/docs-lists.mjs looks for it`);
        paragraph = paragraph.slice(0, start) + inside + paragraph.slice(end);
    }
    return text.slice(0, from) + broken(paragraph, indent) + text.slice(from + length);
}
/** The pages' lines, by their names: for the list of docs.mjs. */
export function listedPages({ root, table, isText }) {
    const mixers = table.mixers
        .filter(isText)
        .map(({ name }) => name)
        .sort();
    const { choices } = table.keys.find(({ name }) => name === 'optimizer');
    const optimisers = choices.filter((name) => name !== 'adamw').sort();
    const code = (names) => names.map((name) => `\`${name}\``);
    const [first, ...others] = optimisers;
    return {
        'docs/EMBED.md': () =>
            page(join(root, 'docs/EMBED.md'), '', '`load()` takes seqmix.wasm', [
                ['what fewer need: the mixers ', ', their operations', sentence(code(mixers))],
                ['`norm=batch`, ', ', `pooling=', sentence(code([`optimizer=${first}`, ...others]))],
            ]).split('\n'),
        'wasm/package/README.md': () =>
            page(join(root, 'wasm/package/README.md'), '  ', '- `load({ whole: true })`', [
                ['the mixers ', ', `scan` in texts', sentence(mixers)],
                ['the optimisers ', ', pooling by', sentence(optimisers)],
            ]).split('\n'),
    };
}
