// page_views.test.mjs: every view at every size, light and dark: axe-core finds nothing, nothing sticks out,
// and with SCREENS=1 a picture of each is left in build/screens to be looked at.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { allReady, at, fitsEverySize, isAccessible, onPage, press, stopped, until } from './testing.mjs';

/** A setup for each view that fills it; the others have these checks in their own tests. */
const SETUPS = {
    experiment: '#preset=mission!speed=full',
    inside: '#mixer=cat&task=mqar~mixer=las~mixer=focus&bins=8!speed=full',
    length: '#mixer=cat&task=mqar~mixer=attention&position=learned~mixer=attention&position=rope&blocks=2!speed=full',
    digits: '#mixer=chela&task=smnist~mixer=cat!speed=full',
    write: '#mixer=gla&task=charlm&length=32&batch=8~mixer=cat!speed=full',
};
const VIEWS = Object.keys(SETUPS);
/** What is there once it is filled. */
const FILLED = {
    experiment: ['.tokens .question', '.chart canvas', '.numbers tbody td'],
    inside: ['.tokens .question', '.map-frame canvas', '.plots figcaption'],
    length: ['.chart.tall canvas', '.at-lengths td'],
    digits: ['.reading canvas', '.saliency canvas', '.confusion:not(.empty) tbody td'],
    write: ['.write-text span', '.likeliest'],
};
const OWN = {
    start: 'start',
    board: 'board',
    exercises: 'exercises',
    equations: 'equations',
    theorems: 'proofs',
    verify: 'proofs',
    papers: 'proofs',
    about: 'proofs',
};

test('every view is looked at', async () => {
    const list = await readFile(at('web/views/list.ts'), 'utf8');
    const views = [...list.matchAll(/^ {8}id: (?:'(\w+)'|FIRST_VIEW),/gm)].map(
        (found) => found[1] ?? 'experiment',
    );
    assert.deepEqual(views.sort(), [...VIEWS, ...Object.keys(OWN)].sort());
    for (const [view, file] of Object.entries(OWN)) {
        const own = [at('proofs_tests/page/views'), at('proofs_tests/page')]
            .map((folder) => `${folder}/page_${file}.test.mjs`)
            .find(existsSync);
        assert.match(await readFile(own, 'utf8'), new RegExp(`isAccessible|violations`), view);
    }
});

for (const view of VIEWS)
    onPage(`${view}: accessible and whole at every size, light and dark`, SETUPS[view], {}, async (page) => {
        await allReady(page);
        await page.evaluate((view) => (location.hash += `&view=${view}`), view);
        if (view !== 'digits') await press(page, 'Start'); // (Digits trains when it is opened)
        await until(page, () => globalThis.seqmix.runs().every(({ step }) => step > 25));
        if (view === 'digits') await press(page, 'Count');
        if (view === 'write') await press(page, 'Write');
        if (view === 'length') await until(page, () => globalThis.seqmix.runs()[0].lengths.length > 6);
        for (const one of FILLED[view]) await page.waitForSelector(one);
        await stopped(page);
        await fitsEverySize(page, view);
        await isAccessible(page);
    });
