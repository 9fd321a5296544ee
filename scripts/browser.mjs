// browser.mjs: for tests, bars and benchmarks: a served folder, a real browser with a fresh profile, and its
// pages.
import { existsSync, openSync, closeSync, readSync, realpathSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import puppeteer from 'puppeteer-core';
import { impatient, watch } from './quiet.mjs';
import { serve } from './serve.mjs';
import { patience, slowDown } from './slow.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
/** What Chromium is started with. */
export const FLAGS = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-dev-shm-usage',
    // Two pages of its own behind the address bar, which nobody sees, took each new window 3 s of processor.
    '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup',
];

/** Whether this is Ubuntu's: a link into /snap, or a few lines of shell that call what is there. */
function isSnap(path) {
    if (/^\/snap\/|\/snap$/.test(realpathSync(path))) return true;
    const begin = Buffer.alloc(2000);
    const file = openSync(path);
    try {
        return begin.toString('latin1', 0, readSync(file, begin)).match(/^#!.*\n[^]*\/snap\//) !== null;
    } finally {
        closeSync(file);
    }
}
/** The path of a program that `variable` or PATH names, or why there is none. */
export function findProgram(variable, names) {
    const named = process.env[variable];
    if (named) return existsSync(named) ? { path: named } : { why: `${variable}=${named} is not there` };
    const folders = (process.env.PATH ?? '').split(delimiter);
    const found = folders.flatMap((folder) => names.map((name) => join(folder, name))).filter(existsSync);
    const path = found.find((one) => !isSnap(one));
    if (!path && found.length) return { why: `${found[0]} is a snap, which sees no folder of a test's` };
    return path ? { path } : { why: `none of ${names.join(', ')} is on PATH, and ${variable} names none` };
}
/** The browser's path, or why there is none. */
export const findChromium = () => findProgram('CHROMIUM', NAMES);
export const findFirefox = () => findProgram('FIREFOX', ['firefox-esr', 'firefox']);

/** Serve `folder` and start a browser; `close` ends both. `serving`: options of `serve`. */
export async function launch(folder, name = 'chromium', serving = {}) {
    let server = await serve(folder, 0, serving);
    const profile = await mkdtemp(join(tmpdir(), 'seqmix-browser-'));
    const firefox = name === 'firefox';
    const browser = await puppeteer.launch({
        browser: firefox ? 'firefox' : 'chrome',
        executablePath: (firefox ? findFirefox() : findChromium()).path,
        args: firefox ? ['--headless'] : FLAGS,
        userDataDir: profile,
        timeout: 120_000 * patience, // to begin, on a machine under load
        protocolTimeout: 400_000 * patience, // a question to the page: who asks has a limit of his own
        defaultViewport: { width: 1280, height: 900 },
    });
    const unwatch = watch(browser.process()?.pid);
    let silent = false;
    return {
        browser,
        address: server.address,
        /** Take the server away, or bring it back at the same address. */
        async silence(on) {
            silent = on;
            if (on) await server.close();
            else server = await serve(folder, server.port, serving);
        },
        /** A page at `hash`, in its own storage; `complaints` gathers what its console says. */
        async open(
            hash = '',
            { width = 1280, height = 900, dark = false, ratio = 1, cores = 0, address = server.address } = {},
        ) {
            const context = await browser.createBrowserContext();
            const page = impatient(await context.newPage());
            const complaints = [];
            page.on('console', (message) => {
                if (['error', 'warn'].includes(message.type())) complaints.push(message.text());
            });
            page.on('pageerror', (error) => complaints.push(error.message));
            page.on('requestfailed', (request) => {
                if (!silent) complaints.push(`${request.url()} could not be fetched`);
            });
            page.on('request', (request) => {
                if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(address))
                    complaints.push(`${request.url()} is not a file of this page`);
            });
            await page.setViewport({ width, height, deviceScaleFactor: ratio });
            // The page has a worker less than the machine has cores.
            if (cores)
                await page.evaluateOnNewDocument((n) => {
                    Object.defineProperty(navigator, 'hardwareConcurrency', { get: () => n });
                }, cores);
            await slowDown(page, !firefox);
            if (!firefox)
                await page.emulateMediaFeatures([
                    { name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' },
                ]);
            await page.goto(address + hash);
            await page.waitForFunction(() => globalThis.seqmix || document.querySelector('.broken'), {
                timeout: 60_000 * patience,
            });
            return { page, complaints, close: () => context.close() };
        },
        async close() {
            unwatch();
            await browser.close();
            await server.close();
            await rm(profile, { recursive: true, force: true });
        },
    };
}
