// testing.mjs: what the page's tests share: a browser with the built page, and short words for what is done
// there.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findChromium, launch } from '../../scripts/browser.mjs';
import { whileAnythingHappens } from '../../scripts/quiet.mjs';
import { patience } from '../../scripts/slow.mjs';
import { cut, sticksOut, violations } from '../support/looks.mjs';

export { sticksOut, violations };

export const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
export const skip = findChromium().why ? `no browser: ${findChromium().why}` : false;
export const RACE = '#mixer=cat&task=mqar~mixer=attention';

/**
 * Milliseconds after which nothing is waited for any more, and those that a test may take: on a loaded one.
 * A browser that has nothing left to do is waited for no longer (scripts/quiet.mjs).
 */
export const WAIT = 300_000 * patience;
export const MOST = 540_000 * patience;

/** The browser of this test file, from its first test on. */
export const browser = { lab: null };
before(async () => {
    if (skip) return;
    if (process.env.SCREENS) await mkdir(at('build/screens'), { recursive: true });
    browser.lab = await launch(at('dist'));
});
after(() => browser.lab?.close());

/** A test with its own page; nothing may complain in the console meanwhile, but what a server that the test
 * silenced did not send. */
export function onPage(name, hash, options, body) {
    test(name, { skip, timeout: MOST }, async () => {
        const { page, complaints, close } = await browser.lab.open(hash, options);
        page.setDefaultTimeout(WAIT);
        try {
            await body(page);
            assert.deepEqual(
                complaints.filter((one) => !(options.silenced && /ERR_CONNECTION_REFUSED/.test(one))),
                [],
            );
        } finally {
            await close();
        }
    });
}
export const runs = (page) => page.evaluate(() => globalThis.seqmix.runs());
/**
 * Waits until the condition holds. What it asks for may not be there yet: a look that throws is one that does
 * not hold (by itself the browser would never look again); it is thrown when time is up.
 */
export async function until(page, condition, ...values) {
    const calm = new Function(
        '...values',
        `try { return (${condition})(...values); } catch { return false; }`,
    );
    try {
        return await page.waitForFunction(calm, { timeout: WAIT, polling: 50 }, ...values);
    } catch (late) {
        await page.evaluate(condition, ...values);
        throw late;
    }
}
/** A page that was reloaded, or sent elsewhere, once it can be asked. */
export const settled = (page) =>
    page.waitForFunction(() => Boolean(globalThis.seqmix), { timeout: WAIT, polling: 50 });
export async function reload(page) {
    await page.reload();
    await settled(page);
}
export async function goto(page, address) {
    await page.goto('about:blank');
    await page.goto(address);
    await settled(page);
}
/** What the browser keeps for the next visit: whether there is anything, and the steps of the first run. */
export const kept = (page, key) =>
    page.evaluate(
        (key) =>
            new Promise((done) => {
                const opening = indexedDB.open('keyval-store');
                opening.onupgradeneeded = () => opening.result.createObjectStore('keyval');
                opening.onsuccess = () => {
                    const found = opening.result.transaction('keyval').objectStore('keyval').get(key);
                    found.onsuccess = () => {
                        opening.result.close();
                        const value = found.result;
                        done({ there: value !== undefined, steps: value?.runs?.[0][0].losses.length });
                    };
                };
            }),
        `seqmix.${key}`,
    );
export const hash = (page) => page.evaluate(() => location.hash);
/**
 * Press the button that is called so, with the pointer, once it stands still: what is trained above it may
 * still be growing, and a press that it did not hear is pressed again. (By role and name through the browser,
 * Firefox takes long while a page is busy.)
 */
export async function press(page, name) {
    for (let tries = 0; tries < 5; tries++) {
        const button = await page.waitForFunction(
            (wanted) => {
                const called = (one) =>
                    one.getAttribute('aria-label') ?? one.textContent.replace(/\s+/g, ' ').trim();
                const one = [...document.querySelectorAll('button')].find(
                    (one) => called(one) === wanted && !one.disabled,
                );
                if (!one) return false;
                one.scrollIntoView({ block: 'nearest', behavior: 'instant' });
                const { left, top } = one.getBoundingClientRect();
                const stood = one.seenAt === `${left} ${top}`;
                one.seenAt = `${left} ${top}`;
                return stood && one;
            },
            { timeout: WAIT, polling: 50 },
            name,
        );
        await button.evaluate((one) => {
            one.heard = false;
            one.addEventListener('click', () => (one.heard = true), { once: true, capture: true });
        });
        // (drawn anew meanwhile: no press either)
        await button.click().catch((error) => {
            if (!/not clickable/.test(error.message)) throw error;
        });
        // (a page that it sent elsewhere cannot be asked: it has heard)
        if (await button.evaluate((one) => one.heard).catch(() => true)) return;
    }
    throw new Error(`the button ${name} hears no press`);
}
/** Presses a button that opens a file chooser, again where none opened: the page was being drawn anew. */
export async function fileChooser(page, name) {
    for (let tries = 1; ; tries++) {
        const opened = page.waitForFileChooser({ timeout: 5000 }).catch((error) => {
            if (tries === 5 || error.name !== 'TimeoutError') throw error;
        });
        await press(page, name);
        const chooser = await opened;
        if (chooser) return chooser;
    }
}
/** Open a view by its tab. */
export async function openTab(page, name) {
    const tab = await page.waitForFunction(
        (name) => [...document.querySelectorAll('.views a')].find((one) => one.textContent === name),
        { timeout: WAIT, polling: 50 },
        name,
    );
    await tab.evaluate((one) => one.click());
}
/** Press the lesson's card, on whatever shelf it stands; gives the runs as they are when it was pressed. */
export async function openLesson(page, title) {
    for (const shelf of await page.$$('.shelves input')) {
        await shelf.evaluate((one) => one.click());
        await until(page, (one) => one.checked && one.closest('label').matches('.picked'), shelf);
        const found = await page.evaluateHandle(
            (wanted) =>
                [...document.querySelectorAll('.card')].find(
                    (one) => one.querySelector('strong').textContent === wanted,
                ),
            title,
        );
        if (found.asElement())
            return found.asElement().evaluate((one) => {
                one.click();
                return globalThis.seqmix.runs();
            });
    }
    throw new Error(`there is no lesson ${title}`);
}
export const allDone = (page) =>
    until(page, () => globalThis.seqmix.runs().every(({ status }) => status === 'done'));
export const allReady = (page) =>
    until(page, () => globalThis.seqmix.runs().every(({ status }) => status !== 'opening'));
/** Lets all runs stand still: by its button as soon as it is there, or they are done before it is found. */
export const stopped = (page) =>
    until(page, () => {
        const button = document.querySelector('.transport button');
        if (button?.textContent.trim() === 'Pause') button.click();
        return globalThis.seqmix.runs().every(({ status }) => !['opening', 'going'].includes(status));
    });
export const text = (page, selector) =>
    page.$eval(selector, (element) => element.textContent.replace(/\s+/g, ' ').trim());
/**
 * Tries until nothing in it fails, and gives what it gives; who waits in vain is told what failed last. What
 * a run reports is drawn a moment after the run knows it, a canvas a frame after the words beside it: on a
 * loaded machine these moments can be seen (scripts/slow.mjs makes them long).
 */
export const eventually = (check) =>
    whileAnythingHappens(async (signal) => {
        const began = Date.now();
        for (let waited = 0; ; await pause(waited < 3000 ? 50 : 250))
            try {
                return await check();
            } catch (failed) {
                waited = Date.now() - began;
                if (waited > WAIT || signal.aborted) throw failed;
            }
    });
/** Waits until the element says so: this text, or one that fits the expression. */
export const says = (page, selector, wanted) =>
    eventually(async () => {
        const said = await text(page, selector);
        if (typeof wanted === 'string') assert.equal(said, wanted, selector);
        else assert.match(said, wanted, selector);
    });
/** Waits until so many elements are there. */
export const counts = (page, selector, wanted) =>
    eventually(async () => assert.equal((await page.$$(selector)).length, wanted, selector));
export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Show the page as a visitor sees it who prefers this `scheme`, once its colours have stopped changing. */
export async function prefer(page, scheme) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.evaluate(() => new Promise(requestAnimationFrame));
    await until(page, () => document.getAnimations().every(({ playState }) => playState !== 'running'));
}

const SIZES = [
    [390, 844],
    [1280, 900],
    [1920, 1080],
    [2560, 1440],
];
/**
 * At every size nothing sticks out or is cut. Where lines break does not hang on colours, so one scheme
 * tells; with SCREENS=1 a picture of each size, light and dark, is left in build/screens under this `name`.
 */
export async function fitsEverySize(page, name) {
    for (const scheme of process.env.SCREENS ? ['light', 'dark'] : ['light'])
        for (const [width, height] of SIZES) {
            await prefer(page, scheme);
            await page.setViewport({ width, height });
            await laidOut(page);
            const wide = await sticksOut(page);
            assert.ok(wide <= 0, `${name}: at ${width} px the page is ${wide} px wider than the screen`);
            assert.deepEqual(await cut(page), [], `${name}: cut or torn apart at ${width} px`);
            if (process.env.SCREENS)
                await page.screenshot({
                    path: at(`build/screens/${name}-${width}-${scheme}.png`),
                    fullPage: true,
                });
        }
}
/** Show the flow at this zoom. */
export const zoom = (page, name) =>
    page.$$eval(
        '.flow .tabs label',
        (all, name) =>
            all
                .find((one) => one.textContent === name)
                .querySelector('input')
                .click(),
        name,
    );
/** Words in these elements that begin on one line and end on another. */
export const brokenWords = (page, selector, pattern = '[\\w.]+') =>
    page.$$eval(
        selector,
        (all, pattern) =>
            all.flatMap((one) => {
                const texts = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
                const found = [];
                for (let text; (text = texts.nextNode());)
                    for (const { 0: word, index } of text.data.matchAll(new RegExp(pattern, 'g'))) {
                        const range = document.createRange();
                        range.setStart(text, index);
                        range.setEnd(text, index + word.length);
                        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
                        if (lines.size > 1) found.push(word);
                    }
                return found;
            }),
        pattern,
    );
/** Two frames: what watches sizes has been told, and has drawn. */
const laidOut = (page) =>
    page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
/**
 * With everything unfolded nothing is wider than a small phone, and axe-core finds nothing: all its rules in
 * light, those about colours in dark as well. Ends at 1280 px.
 */
export async function isAccessible(page) {
    await page.$$eval('details', (all) => all.forEach((one) => (one.open = true)));
    await page.setViewport({ width: 360, height: 640 });
    await laidOut(page);
    const wide = await sticksOut(page);
    assert.ok(wide <= 0, `at 360 px with everything open the page is ${wide} px wider than the screen`);
    await page.setViewport({ width: 1280, height: 900 });
    await prefer(page, 'light');
    assert.deepEqual(await violations(page), [], 'light');
    await prefer(page, 'dark');
    assert.deepEqual(await violations(page, ['color-contrast']), [], 'dark');
}
