// look.test.mjs: the page's look stands in few places: its font has the characters that the page shows, its
// sizes of type and its colours are one table (web/styles/palette.css), and each colour has one meaning.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fontverter from 'fontverter';
import { Blob, Face } from 'harfbuzzjs';
import { characters, FONT, make, SYSTEM } from '../../scripts/font.mjs';
import { pageModule } from '../page/in_node.mjs';
import { FONT as MOST } from '../support/sizes.mjs';

const root = join(import.meta.dirname, '../..');
const read = (path) => readFileSync(join(root, path), 'utf8');
const files = (folder, ending) =>
    readdirSync(join(root, folder), { recursive: true })
        .filter((path) => ending.test(path))
        .map((path) => `${folder}/${path}`);
const PALETTE = 'web/styles/palette.css';
const withoutComments = (css) => css.replace(/\/\*[^]*?\*\//g, '');

async function itsCharacters() {
    const sfnt = await fontverter.convert(readFileSync(FONT), 'sfnt');
    return [...new Face(new Blob(sfnt), 0).collectUnicodes()];
}
test('the font is what scripts/font.mjs makes, small, with its licence', async () => {
    const font = readFileSync(FONT);
    const own = (await itsCharacters()).map((one) => String.fromCodePoint(one)).join('');
    assert.ok(font.equals(await make(own)), 'node scripts/font.mjs writes it again');
    assert.ok(font.length < MOST, `${font.length} bytes`);
    assert.match(read('web/fonts/LICENSE.txt'), /Inter Project Authors[^]*SIL OPEN FONT LICENSE/);
});

test('every character that the page shows is in the font, or named as one that the system’s fonts show', async () => {
    const has = new Set(await itsCharacters());
    const shown = characters();
    assert.ok(shown.includes('→') && shown.includes('₁') && shown.includes('σ'), 'what is known to be shown');
    const missing = shown.filter((one) => !has.has(one.codePointAt(0)));
    const named = Object.keys(SYSTEM);
    assert.deepEqual(
        missing.sort(),
        named.sort(),
        'node scripts/font.mjs takes into the font what Inter has',
    );
});

/** What is wrong with the sizes of type in a style sheet. */
function sizes(css) {
    const wrong = [];
    for (const [, selector, body] of withoutComments(css).matchAll(/([^{}]+)\{([^{}]*)\}/g)) {
        // The root's size is what the others are multiples of.
        if (/^(html|:root|\[data-projector\]:root)$/.test(selector.trim())) continue;
        for (const [, name, value] of body.matchAll(/(?:^|[;\s])(font|font-size):\s*([^;]+)/g)) {
            const size = name === 'font' ? value.replace(/^(?:\d+ )?([^\s/]+).*$/s, '$1') : value;
            if (!/^(inherit|var\(--(title|text|small|chart|drawn)\))$/.test(size))
                wrong.push(`${selector.trim()}: ${value}`);
        }
    }
    return wrong;
}
test('there are three sizes of type, and one in charts', () => {
    for (const file of files('web/styles', /\.css$/)) assert.deepEqual(sizes(read(file)), [], file);
    for (const file of files('web/views', /\.tsx?$/))
        for (const [, size] of read(file).matchAll(/fontSize: '([^']*)'/g))
            assert.match(size, /^var\(--(title|text|small)\)$/, file);
    const named = [...read(PALETTE).matchAll(/--(title|text|small|chart): ([\d.]+)rem/g)];
    const [title, text, small, chart] = named.map(([, , size]) => Number(size));
    assert.ok(
        title >= 1.5 * text && text >= 1.25 * small && small > chart,
        'each clearly larger than the next',
    );
    const root = Number(/html \{[^}]*font-size: (\d+)px/s.exec(read('web/styles/base.css'))[1]);
    const drawn = Number(/--drawn: ([\d.]+)px/.exec(read(PALETTE))[1]);
    assert.equal(drawn, chart * root, 'in the units of a drawing the size of charts');
    // What the test would find.
    assert.deepEqual(sizes('a { font-size: 12px; }'), ['a: 12px']);
    assert.deepEqual(sizes('a { font: 600 1.1rem/1.5 var(--mono); }'), ['a: 600 1.1rem/1.5 var(--mono)']);
    assert.deepEqual(sizes('html { font-size: 15px; } a { font: 600 var(--small)/1.5 var(--mono); }'), []);
});

/** The palette's colours: name to its value in light and in dark. */
const palette = new Map(
    [...read(PALETTE).matchAll(/--([\w-]+): (?:light-dark\((#\w{6}), (#\w{6})\)|(#\w{6}));/g)].map(
        ([, name, light, dark, both]) => [name, [light ?? both, dark ?? both]],
    ),
);
test('colours stand in the palette, no two of them the same', () => {
    assert.ok(palette.size > 25, [...palette.keys()].join());
    for (const theme of [0, 1]) {
        const names = [...palette.keys()].filter((name) => !/^(sheet|pen)$/.test(name));
        const values = names.map((name) => palette.get(name)[theme]);
        assert.deepEqual(
            values.filter((one, i) => values.indexOf(one) !== i),
            [],
        );
    }
    const own = [...palette.values()].flat();
    for (const file of files('web', /\.(css|tsx?|svg|html|js)$/)) {
        if (file === PALETTE) continue;
        const text = read(file).replace(/&#\w+;/g, '');
        const found = [...text.matchAll(/#(?:[\da-f]{8}|[\da-f]{6}|[\da-f]{3,4})\b(?![\w-])/gi)];
        const strange = found.map(([one]) => one).filter((one) => !/\.svg$/.test(file) || !own.includes(one));
        assert.deepEqual(strange, [], file);
    }
});

test('runs’ colours are the runs’, the accent is the controls’', () => {
    // Files that draw runs.
    const runs = /\/(palette|runs|board|sweep)\.css$/;
    for (const file of files('web/styles', /\.css$/)) {
        const css = withoutComments(read(file));
        for (const [, selector] of css.matchAll(/([^{}]+)\{[^{}]*var\(--run-\d\)[^{}]*\}/g))
            if (!runs.test(file))
                assert.match(selector, /^\s*\.start \.(tone|of|climb)/, `${file}: ${selector}`);
    }
});

test('what is drawn may fade, letters do not: their contrast would', () => {
    const drawn = /(^|[\s>(])(rect|path|canvas|input(:disabled)?|\.flow \.link|\.arcs \.remembers)\)*$/;
    for (const file of files('web/styles', /\.css$/))
        for (const [, selector, body] of withoutComments(read(file)).matchAll(/([^{}]+)\{([^{}]*)\}/g))
            if (/opacity: 0/.test(body)) assert.match(selector.trim(), drawn, file);
});

test('values above and below zero have one pair of colours, on canvases, too', async () => {
    const { signedColour } = await pageModule('charts/diverging');
    for (const dark of [false, true])
        for (const [name, value] of [
            ['more', 1],
            ['less', -1],
        ]) {
            const hex = signedColour(value, 1, dark)
                .slice(0, 3)
                .map((part) => part.toString(16).padStart(2, '0'));
            assert.equal(`#${hex.join('')}`, palette.get(name)[Number(dark)], name);
        }
});
