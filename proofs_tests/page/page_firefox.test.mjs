// page_firefox.test.mjs: the page in Firefox: it loads, trains, and gives the native program's loss words.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { findFirefox, launch } from '../../scripts/browser.mjs';
import { MOST, allDone, allReady, at, openTab, press, runs, until } from './testing.mjs';

const skip = findFirefox().why ? `no browser: ${findFirefox().why}` : false;
let lab;
before(async () => {
    if (!skip) lab = await launch(at('dist'), 'firefox');
});
after(() => lab?.close());

test(
    'Firefox: losses and weights are the native program’s, word for word',
    { skip, timeout: MOST },
    async () => {
        const config = 'mixer=cat&task=mqar&seed=5&steps=150';
        const { stdout } = await promisify(execFile)(at('build/seqmix'), ['train', config, '--json'], {
            maxBuffer: 1 << 26,
        });
        const lines = stdout
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line));
        const { page, complaints, close } = await lab.open(`#${config}~mixer=chela!speed=full`);
        await allReady(page);
        await press(page, 'Start');
        await allDone(page);
        assert.deepEqual(
            await page.evaluate(() => globalThis.seqmix.words(0)),
            lines.flatMap(({ word }) => word ?? []),
        );
        assert.equal((await runs(page))[0].digest, lines.at(-1).digest);
        assert.deepEqual(complaints, []);
        await close();
    },
);

test(
    'Firefox: a first visit runs the lesson by itself, and every view opens',
    { skip, timeout: MOST },
    async () => {
        const { page, complaints, close } = await lab.open('');
        await page.waitForSelector('.start');
        await openTab(page, 'Experiment');
        await until(page, () => globalThis.seqmix.runs()[0].solved);
        const tabs = await page.$$eval('.views a', (all) => all.map((tab) => tab.textContent));
        const titled = tabs.filter((name) => !['Story', 'Experiment'].includes(name));
        assert.equal(titled.length, tabs.length - 2);
        for (const name of titled) {
            await openTab(page, name);
            await until(page, (name) => document.querySelector('.view-head h2')?.textContent === name, name);
        }
        assert.deepEqual(complaints, []);
        await close();
    },
);
