// browser.mjs: for the page's tests and bars: a served folder, a real browser with a fresh profile, and its
// pages.
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import puppeteer from 'puppeteer-core';
import { serve } from '../scripts/serve.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const FLAGS = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-dev-shm-usage',
];

/** The browser's path, or why there is none. */
export function findChromium() {
    const named = process.env.CHROMIUM;
    if (named) return existsSync(named) ? { path: named } : { why: `CHROMIUM=${named} is not there` };
    const folders = (process.env.PATH ?? '').split(delimiter);
    const path = folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(existsSync);
    return path ? { path } : { why: `none of ${NAMES.join(', ')} is on PATH, and CHROMIUM names none` };
}

/** Serve `folder` and start a browser; `close` ends both. */
export async function launch(folder) {
    const server = await serve(folder, 0);
    const profile = await mkdtemp(join(tmpdir(), 'seqmix-browser-'));
    const browser = await puppeteer.launch({
        executablePath: findChromium().path,
        args: FLAGS,
        userDataDir: profile,
        defaultViewport: { width: 1280, height: 900 },
    });
    return {
        browser,
        address: server.address,
        /** A page at `hash`, in its own storage; `complaints` gathers what its console says. */
        async open(hash = '', { width = 1280, height = 900, dark = false, ratio = 1 } = {}) {
            const context = await browser.createBrowserContext();
            const page = await context.newPage();
            const complaints = [];
            page.on('console', (message) => {
                if (['error', 'warn'].includes(message.type())) complaints.push(message.text());
            });
            page.on('pageerror', (error) => complaints.push(error.message));
            page.on('requestfailed', (request) => complaints.push(`${request.url()} could not be fetched`));
            page.on('request', (request) => {
                if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(server.address))
                    complaints.push(`${request.url()} is not a file of this page`);
            });
            await page.setViewport({ width, height, deviceScaleFactor: ratio });
            await page.emulateMediaFeatures([
                { name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' },
            ]);
            await page.goto(server.address + hash);
            await page.waitForFunction(() => globalThis.seqmix || document.querySelector('.broken'), {
                timeout: 20_000,
            });
            return { page, complaints, close: () => context.close() };
        },
        async close() {
            await browser.close();
            await server.close();
            await rm(profile, { recursive: true, force: true });
        },
    };
}
