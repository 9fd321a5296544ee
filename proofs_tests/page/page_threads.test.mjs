// page_threads.test.mjs: a run with large steps in the page: in Chromium and in Firefox its worker takes
// seqmix-threads.wasm and as many threads as cores where the page is isolated by the server's headers; a page
// that is not, and a run with small steps, fetch no such module; every view of an isolated page opens. The
// weights are the native program's each time. (WebKit: digests_browsers.test.mjs.)
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { findChromium, findFirefox, launch } from '../../scripts/browser.mjs';
import { allDone, allReady, at, MOST, openTab, press, runs, until, WAIT } from './testing.mjs';

const LARGE = 'mixer=attention&task=mqar&length=128&pairs=16&vocab=64&width=64&batch=16&steps=12';
const SMALL = 'mixer=cat&task=mqar&length=32&pairs=4&vocab=64&steps=30';
// Under automation Firefox 153 leaves 1 to 5 of 100 workers that start three workers of their own stuck in
// `new Worker` (without automation none of 400). A run that is still opening is opened again.
const TRIES = { chromium: 1, firefox: 3 };
const wanted = (config) => {
    const lines = execFileSync(at('build/seqmix'), ['train', config, '--json'], { encoding: 'utf8' });
    return JSON.parse(lines.trim().split('\n').at(-1)).digest;
};

for (const [browser, why] of [
    ['chromium', findChromium().why],
    ['firefox', findFirefox().why],
]) {
    const skip = why ? `no browser: ${why}` : false;
    const labs = {};
    before(async () => {
        if (skip) return;
        labs.isolated = await launch(at('dist'), browser, { isolated: true });
        labs.plain = await launch(at('dist'), browser);
    });
    after(() => Promise.all(Object.values(labs).map((lab) => lab.close())));

    /**
     * Trains to the native digest: whether the page is isolated, whether the module for threads was fetched,
     * and how many further threads there are in the end.
     */
    async function trained(page, config, threads) {
        await allReady(page);
        await press(page, 'Start');
        await allDone(page);
        const [{ digest }] = await runs(page);
        assert.equal(digest, wanted(config));
        const found = await page.evaluate(() => ({
            isolated: globalThis.crossOriginIsolated,
            fetched: performance
                .getEntriesByType('resource')
                .some(({ name }) => /seqmix-threads.*wasm/.test(name)),
        }));
        const there = () => page.workers().filter((worker) => /\/thread-/.test(worker.url())).length;
        for (let i = 0; there() < threads && i < 600; i++) await new Promise((done) => setTimeout(done, 100));
        return { ...found, threads: there() };
    }
    for (const [how, config, found] of [
        ['isolated', LARGE, { isolated: true, fetched: true, threads: 3 }],
        ['isolated', SMALL, { isolated: true, fetched: false, threads: 0 }],
        ['plain', LARGE, { isolated: false, fetched: false, threads: 0 }],
    ])
        test(
            `${browser}, ${how === 'plain' ? 'not isolated' : how}: ${config === LARGE ? 'large' : 'small'} steps`,
            { skip, timeout: MOST },
            async () => {
                for (let tries = 1; ; tries++) {
                    const { page, complaints, close } = await labs[how].open(`#${config}!speed=full`, {
                        cores: 4,
                    });
                    page.setDefaultTimeout(WAIT);
                    try {
                        assert.deepEqual(await trained(page, config, found.threads), found);
                        return assert.deepEqual(complaints, []);
                    } catch (error) {
                        const [run] = await runs(page).catch(() => []);
                        if (tries === TRIES[browser] || run?.status !== 'opening') throw error;
                    } finally {
                        await close();
                    }
                }
            },
        );
    test(`${browser}, isolated: every view opens`, { skip, timeout: MOST }, async () => {
        const { page, complaints, close } = await labs.isolated.open('');
        await page.waitForSelector('.start');
        await new Promise((done) => setTimeout(done, 4000)); // a service worker would be there
        await openTab(page, 'Experiment');
        const tabs = await page.$$eval('.views a', (all) => all.map((tab) => tab.textContent));
        for (const name of tabs.filter((name) => !['Story', 'Experiment'].includes(name))) {
            await openTab(page, name);
            await until(page, (name) => document.querySelector('.view-head h2')?.textContent === name, name);
        }
        assert.deepEqual(complaints, []);
        await close();
    });
}
