// page_styles.test.mjs: a view looks the same whatever was looked at before: its sheet of styles is fetched
// when it opens and stays, so one that names a class of another view's would change that view from then on.
import assert from 'node:assert/strict';
import { browser, MOST, RACE, skip, until, WAIT } from '../testing.mjs';
import { test } from 'node:test';

const VIEWS = {
    start: '.start .step',
    board: '.board .cell',
    experiment: '.race',
    inside: '.view',
    length: '.view table',
    digits: '.view',
    write: '.view',
    equations: '.equations',
    exercises: '.exercises .verdict',
    theorems: '.theorem',
    verify: '.verify',
    papers: '.rerun',
    about: '.about',
};

/** How each sort of element is set: the sort is what it and its ancestors are called. */
const looks = (page) =>
    page.evaluate(() => {
        const READ = [
            'fontFamily',
            'fontSize',
            'whiteSpace',
            'borderTopStyle',
            'paddingTop',
            'textDecorationLine',
        ];
        const seen = {};
        const sort = (one) =>
            `${one.localName}.${[...one.classList].sort().join('.')}${one.disabled ? '!' : ''}`;
        const walk = (one, above) => {
            const name = `${above}>${sort(one)}`;
            const style = getComputedStyle(one);
            seen[name] ??= READ.map((key) => style[key]).join(' | ');
            for (const below of one.children) if (below.localName !== 'svg') walk(below, name);
        };
        walk(document.querySelector('main'), '');
        return seen;
    });
async function go(page, view) {
    await page.evaluate((view) => {
        location.hash = location.hash.replace(/!.*|$/, `!view=${view}`);
    }, view);
    await page.waitForSelector(VIEWS[view], { timeout: WAIT });
    await until(page, () => document.getAnimations().every(({ playState }) => playState !== 'running'));
}

test('a view looks the same whatever was looked at before', { skip, timeout: MOST }, async () => {
    const alone = {};
    for (const view of Object.keys(VIEWS)) {
        const { page, close } = await browser.lab.open(`${RACE}!view=${view}`);
        await go(page, view);
        alone[view] = await looks(page);
        await close();
    }
    const { page, close } = await browser.lab.open(RACE);
    for (const view of Object.keys(VIEWS)) await go(page, view);
    const changed = [];
    for (const view of Object.keys(VIEWS)) {
        await go(page, view);
        const now = await looks(page);
        const others = Object.keys(alone[view]).filter((one) => one in now && now[one] !== alone[view][one]);
        // (What only inherits it is not named again.)
        const first = others.filter((one) => !others.some((above) => one.startsWith(`${above}>`)));
        changed.push(...first.map((one) => `${view} ${one}: ${alone[view][one]} became ${now[one]}`));
    }
    await close();
    assert.deepEqual(changed, []);
});
