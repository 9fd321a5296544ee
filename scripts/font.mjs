// font.mjs: makes web/fonts/inter.woff2 of the package inter-ui: Inter with the characters that the page
// shows and no others, one file for all weights from 400 to 700.
//   node scripts/font.mjs [--check]    --check writes nothing and fails where the file is not current
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import subsetFont from 'subset-font';

const root = join(import.meta.dirname, '..');
export const FONT = join(root, 'web/fonts/inter.woff2');
const SOURCE = join(root, 'node_modules/inter-ui/variable/InterVariable.woff2');

/** Characters that Inter lacks, and where they stand: the system's fonts have them. */
export const SYSTEM = {
    '✕': 'a mark of the story and of convolutions',
    '∗': 'formulas, which have fonts of their own',
    ᵀ: 'transposes',
    '⌈': 'formulas',
    '⌉': 'formulas',
    '⊥': 'the end of copying’s sequences',
    '┄': 'the sign of a dashed line',
};

/** What the page's words come from: its own files, the tables that it is built from, the engine's help. */
const PLACES = ['index.html', 'web', 'scripts/definitions.json', 'results/presets.json', 'docs/ERRATA.md'];
PLACES.push('build/docs/OPERATIONS.md', 'docs/EQUATIONS.md', 'results/reproduction', 'examples/equations');
PLACES.push('model', 'tasks', 'check', 'proofs_tests/rocq/statements.txt');
const TEXTS = new Set(['.html', '.ts', '.tsx', '.css', '.json', '.jsonl', '.md', '.c', '.h', '.eq', '.txt']);

function* filesOf(place) {
    const path = join(root, place);
    const inside = TEXTS.has(extname(place)) ? null : readdirSync(path, { withFileTypes: true });
    if (!inside) yield path;
    else
        for (const entry of inside)
            if (entry.isDirectory() || TEXTS.has(extname(entry.name)))
                yield* filesOf(`${place}/${entry.name}`);
}

/** ASCII as far as it can be printed, and every other character of these places, each once, in order. */
export function characters(texts = PLACES.flatMap((place) => [...filesOf(place)].map(read))) {
    const found = new Set(Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)));
    for (const text of texts) for (const [one] of text.matchAll(/[^\p{ASCII}]/gu)) found.add(one);
    return [...found].sort((one, other) => one.codePointAt(0) - other.codePointAt(0));
}
const read = (path) => readFileSync(path, 'utf8');

export const make = (text = characters().join('')) =>
    subsetFont(readFileSync(SOURCE), text, {
        targetFormat: 'woff2',
        // (opsz: letters as they are drawn for text)
        variationAxes: { wght: { min: 400, max: 700 }, opsz: 14 },
        keepFeatures: ['tnum'], // (kerning would weigh 3 KB of a first visit's 300)
        preserveNameIds: [0, 13, 14], // copyright, licence, its address
    });

if (process.argv[1] === import.meta.filename) {
    const made = await make();
    if (!process.argv.includes('--check')) writeFileSync(FONT, made);
    else if (!made.equals(readFileSync(FONT))) {
        console.error('web/fonts/inter.woff2 is not current: node scripts/font.mjs writes it');
        process.exit(1);
    }
}
