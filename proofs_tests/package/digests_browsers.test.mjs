// digests_browsers.mjs: the same bits in the browsers that people use: every digest of both WebAssembly
// modules, computed in Chromium and in Firefox, compared with the committed list. A browser that is not here
// is skipped, and said so.
import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import puppeteer from 'puppeteer-core';
import { serve } from '../../scripts/serve.mjs';

const list = (await readFile(new URL('../digests.txt', import.meta.url), 'utf8')).trim().split('\n');
const MODULES = ['seqmix.wasm', 'seqmix-scalar.wasm'];
const BROWSERS = [
    {
        name: 'chrome',
        variable: 'CHROMIUM',
        programs: ['chromium', 'chromium-browser', 'google-chrome'],
        args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'],
    },
    { name: 'firefox', variable: 'FIREFOX', programs: ['firefox-esr', 'firefox'], args: [] },
];

function find({ variable, programs }) {
    const named = process.env[variable];
    if (named) return existsSync(named) ? named : undefined;
    const folders = (process.env.PATH ?? '').split(delimiter);
    return folders.flatMap((folder) => programs.map((name) => join(folder, name))).find(existsSync);
}

// A page that loads the module as any page would, and keeps what came out.
const PAGE = (module) => `<!doctype html><title>digests</title><script type="module">
import { loadChecks } from '../checks.js';
import { load } from '../seqmix.js';
try {
    const lab = await load({ wasm: '${module}', scalar: '${module}' });
    globalThis.found = { isa: lab.isa, lines: (await loadChecks(lab, 'checks.wasm')).digests().map(({ name, digest }) => digest + '  ' + name) };
} catch (error) {
    globalThis.found = { error: String(error) };
}
</script>`;

for (const kind of BROWSERS) {
    const path = find(kind);
    const skip = path
        ? false
        : `none of ${kind.programs.join(', ')} is on PATH, and ${kind.variable} names none`;
    test(`${kind.programs[0]}, both modules`, { skip, timeout: 240_000 }, async (t) => {
        const folder = await mkdtemp(join(tmpdir(), 'seqmix-digests-'));
        const profile = await mkdtemp(join(tmpdir(), 'seqmix-digests-'));
        let server, browser;
        try {
            const built = await readdir(new URL('../../build/wasm/', import.meta.url));
            const scripts = built.filter((file) => file.endsWith('.js'));
            for (const file of [...scripts, 'checks.wasm', ...MODULES])
                await copyFile(new URL(`../../build/wasm/${file}`, import.meta.url), join(folder, file));
            for (const [i, module] of MODULES.entries())
                await writeFile(join(folder, `${i}.html`), PAGE(module));
            server = await serve(folder, 0);
            browser = await puppeteer.launch({
                browser: kind.name,
                executablePath: path,
                headless: true,
                args: kind.args,
                userDataDir: profile,
            });
            const version = await browser.version();
            for (const [i, module] of MODULES.entries())
                await t.test(`${version}, ${module}`, async () => {
                    const page = await browser.newPage();
                    await page.goto(`${server.address}${i}.html`);
                    await page.waitForFunction('globalThis.found', { timeout: 120_000, polling: 100 });
                    const { error, isa, lines } = await page.evaluate('globalThis.found');
                    assert.equal(error, undefined);
                    assert.equal(isa, i ? 'scalar' : 'wasm');
                    for (const [n, line] of list.entries()) assert.equal(lines[n], line);
                    assert.equal(lines.length, list.length);
                    await page.close();
                });
        } finally {
            await browser?.close();
            await server?.close();
            for (const each of [folder, profile])
                await rm(each, { recursive: true, force: true, maxRetries: 5 });
        }
    });
}
