// test_page_views.mjs: every view at every size, light and dark: axe-core finds nothing, nothing sticks out,
// and a screenshot is left in build/screens to be looked at.
import assert from 'node:assert/strict';
import { allReady, at, onPage, pause, prefer, press, sticksOut, until, violations } from './testing.mjs';

/** A setup for each view that fills it; views without one are opened as they are. */
const SETUPS = {
    experiment: '#preset=mission!speed=full',
    inside: '#mixer=cat&task=mqar~mixer=las~mixer=focus&bins=8!speed=full',
    length: '#mixer=cat&task=mqar~mixer=attention&position=learned~mixer=attention&position=rope&blocks=2!speed=full',
    digits: '#mixer=chela&task=smnist~mixer=cat!speed=full',
};
const VIEWS = Object.keys(SETUPS);
const SIZES = [
    [390, 844],
    [1280, 900],
    [2560, 1440],
];

for (const view of VIEWS)
    onPage(`${view}: accessible and whole at every size, light and dark`, SETUPS[view], {}, async (page) => {
        await allReady(page);
        await page.evaluate((view) => (location.hash += `&view=${view}`), view);
        await press(page, 'Start');
        await until(page, () => globalThis.seqmix.runs().every(({ step }) => step > 25));
        if (view === 'digits') await press(page, 'Count');
        if (view === 'length') await until(page, () => globalThis.seqmix.runs()[0].lengths.length > 6);
        await pause(500);
        await press(page, 'Pause');
        await pause(500);
        for (const scheme of ['light', 'dark']) {
            await prefer(page, scheme);
            for (const [width, height] of SIZES) {
                await page.setViewport({ width, height });
                await pause(300);
                const wide = await sticksOut(page);
                assert.ok(wide <= 0, `at ${width} px the page is ${wide} px wider than the screen`);
                await page.screenshot({
                    path: at(`build/screens/${view}-${width}-${scheme}.png`),
                    fullPage: width < 2000,
                });
            }
        }
        await page.$$eval('details', (all) => all.forEach((one) => (one.open = true)));
        for (const scheme of ['light', 'dark']) {
            await prefer(page, scheme);
            assert.deepEqual(await violations(page), [], scheme);
        }
        await page.setViewport({ width: 360, height: 640 });
        await pause(200);
        const wide = await sticksOut(page);
        assert.ok(wide <= 0, `at 360 px with everything open the page is ${wide} px wider than the screen`);
    });
