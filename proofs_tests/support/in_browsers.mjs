// in_browsers.mjs: for tests of the package: Chromium, Firefox and WebKit, each of which opens pages of a
// folder, isolated from other sites, and gives what a page came to find: its `globalThis.found`.
import { setTimeout as pause } from 'node:timers/promises';
import { findChromium, findFirefox, launch } from '../../scripts/browser.mjs';
import { serve } from '../../scripts/serve.mjs';
import { findWebkit, launchWebkit } from '../../scripts/webkit.mjs';

// What the page comes to have found. It is asked again where it does not answer: a question that waited in
// the page for a result was once never answered, in Firefox.
async function soon(evaluate) {
    let at;
    for (const end = Date.now() + 200_000; Date.now() < end; await pause(100)) {
        const asked = evaluate('({ found: globalThis.found, at: globalThis.at })');
        const answer = await Promise.race([asked, pause(10_000, { at: 'no answer' }, { ref: false })]);
        if (answer.found) return answer.found;
        at = answer.at;
    }
    return { error: `nothing was found in 200 s; the page was at ${at}` };
}
// A browser of that kind and a served folder: what a page of it comes to have found.
async function ofPuppeteer(name, folder) {
    const { browser, address, close } = await launch(folder, name, { isolated: true });
    return {
        version: await browser.version(),
        close,
        async found(file) {
            const page = await browser.newPage();
            await page.goto(address + file);
            const found = await soon((body) => page.evaluate(body));
            await page.close();
            return found;
        },
    };
}
async function ofWebkit(folder) {
    const server = await serve(folder, 0, { isolated: true });
    const { version, close, visit, until } = await launchWebkit();
    return {
        version,
        close: () => Promise.all([close(), server.close()]),
        async found(file) {
            await visit(server.address + file);
            return until(() => globalThis.found);
        },
    };
}
export const BROWSERS = [
    { name: 'Chromium', why: findChromium().why, start: (folder) => ofPuppeteer('chromium', folder) },
    { name: 'Firefox', why: findFirefox().why, start: (folder) => ofPuppeteer('firefox', folder) },
    { name: 'WebKit', why: findWebkit().why, start: ofWebkit },
];
