// digests_browsers.test.mjs: the same bits in the browsers that people use: every digest of both whole
// WebAssembly modules, computed in Chromium, in Firefox and in WebKit, compared with the committed lists;
// those of trainings also of the module for threads, by two of them. A browser that is not here is skipped,
// and said so.
import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { findChromium, findFirefox, launch } from '../../scripts/browser.mjs';
import { serve } from '../../scripts/serve.mjs';
import { findWebkit, launchWebkit } from '../../scripts/webkit.mjs';

const lines = async (name) =>
    (await readFile(new URL(`../${name}`, import.meta.url), 'utf8')).trim().split('\n');
const list = await lines('digests.txt');
const configs = await lines('digests_configs.txt');
const MODULES = ['seqmix-whole.wasm', 'seqmix-scalar.wasm'];
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
const BROWSERS = [
    { name: 'Chromium', why: findChromium().why, start: (folder) => ofPuppeteer('chromium', folder) },
    { name: 'Firefox', why: findFirefox().why, start: (folder) => ofPuppeteer('firefox', folder) },
    { name: 'WebKit', why: findWebkit().why, start: ofWebkit },
];

// A page that loads the module as any page would, and keeps what came out.
const PAGE = (module) => `<!doctype html><title>digests</title><script type="module">
import { loadChecks } from '../checks.js';
import { load } from '../seqmix.js';
import { configDigest } from './config_digest.mjs';
try {
    const lab = await load({ wasm: '${module}', scalar: '${module}' });
    const lines = (await loadChecks(lab, 'checks.wasm')).digests().map(({ name, digest }) => digest + '  ' + name);
    // (once in each browser; the scalar module in Node)
    const given = lab.isa === 'wasm' ? await (await fetch('digests_configs.txt')).text() : '';
    globalThis.found = { isa: lab.isa, lines, configs: given.split('\\n').filter(Boolean).map((line) => configDigest(lab, line)) };
} catch (error) {
    globalThis.found = { error: String(error) };
}
</script>`;

// A page's worker does the same with another thread's help.
const THREADS_PAGE = `<!doctype html><title>threads</title><script type="module">
const worker = new Worker('./threads.mjs', { type: 'module' });
worker.onmessage = ({ data }) => (data.at ? (globalThis.at = data.at) : (globalThis.found = data));
worker.onerror = ({ message }) => (globalThis.found = { error: message });
</script>`;
const THREADS_WORKER = `
import { load } from './seqmix.js';
import { configDigest } from './config_digest.mjs';
try {
    postMessage({ at: 'its worker' });
    const lab = await load({ threads: 2 });
    lab.exports.lab_team_from(0); // small steps, too
    const given = await (await fetch('digests_configs.txt')).text();
    const configs = given.split('\\n').filter(Boolean).map((line) => {
        postMessage({ at: line });
        return configDigest(lab, line);
    });
    postMessage({ threads: lab.threads, configs, helped: lab.exports.lab_helped() });
} catch (error) {
    postMessage({ error: String(error) });
}`;

for (const { name, why, start } of BROWSERS) {
    let folder;
    let browser;
    before(async () => {
        if (why) return;
        folder = await mkdtemp(join(tmpdir(), 'seqmix-digests-'));
        const built = await readdir(new URL('../../build/wasm/', import.meta.url));
        const scripts = built.filter((file) => file.endsWith('.js'));
        for (const file of [...scripts, 'checks.wasm', 'seqmix-threads.wasm', ...MODULES])
            await copyFile(new URL(`../../build/wasm/${file}`, import.meta.url), join(folder, file));
        for (const file of ['package/config_digest.mjs', 'digests_configs.txt'])
            await copyFile(new URL(`../${file}`, import.meta.url), join(folder, basename(file)));
        for (const module of MODULES) await writeFile(join(folder, `${module}.html`), PAGE(module));
        await writeFile(join(folder, 'threads.html'), THREADS_PAGE);
        await writeFile(join(folder, 'threads.mjs'), THREADS_WORKER);
        browser = await start(folder);
    });
    after(async () => {
        await browser?.close();
        if (folder) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    });
    for (const module of MODULES)
        test(`${name}, ${module}`, { skip: why ?? false, timeout: 600_000 }, async (t) => {
            t.diagnostic(browser.version);
            const { error, isa, lines, configs: trained } = await browser.found(`${module}.html`);
            assert.equal(error, undefined);
            assert.equal(isa, module === 'seqmix-scalar.wasm' ? 'scalar' : 'wasm');
            for (const [n, line] of list.entries()) assert.equal(lines[n], line);
            assert.equal(lines.length, list.length);
            if (isa === 'wasm') assert.deepEqual(trained, configs);
        });
    test(`${name}, seqmix-threads.wasm, two threads`, { skip: why ?? false, timeout: 600_000 }, async () => {
        const { error, threads, configs: trained, helped } = await browser.found('threads.html');
        assert.equal(error, undefined);
        assert.equal(threads, 2);
        assert.deepEqual(trained, configs);
        assert.ok(helped > 1000, `the second thread took ${helped} pieces`);
    });
}
