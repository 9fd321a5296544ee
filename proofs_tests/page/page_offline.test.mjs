// page_offline.test.mjs: a deploy while tabs are open, on a host that lets browsers keep every file for ten
// minutes, and that has other sites: the new version is kept whole, the open tab finds the views of its own.
import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { test } from 'node:test';
import { slowDown } from '../../scripts/slow.mjs';
import { MOST, WAIT, at, browser, eventually, skip, until } from './testing.mjs';

const TYPES = {
    '.html': 'text/html',
    '.js': 'text/javascript',
    '.css': 'text/css',
    '.svg': 'image/svg+xml',
    '.wasm': 'application/wasm',
};
/** Serves `folders` by the first part of the path, each kept for ten minutes, but not sw.js. Counts
 * what is asked for past the browser's cache, as the service worker does: all, and the most at once. */
async function host(folders) {
    const fresh = { all: 0, now: 0, most: 0 };
    const server = createServer(async (request, response) => {
        const [, site, file] = /^\/(\w+)\/([^?]*)/.exec(request.url) ?? [];
        const path = folders[site] && join(folders[site], file || 'index.html');
        const counts = request.headers['cache-control'] === 'no-cache' && file !== 'sw.js';
        if (counts) {
            fresh.all++;
            fresh.most = Math.max(fresh.most, ++fresh.now);
            await new Promise((done) => setTimeout(done, 2)); // so that others come meanwhile, if they do
        }
        const bytes = path && (await readFile(path).catch(() => null));
        if (counts) fresh.now--;
        if (!bytes) return response.writeHead(404).end('There is nothing here.');
        return response
            .writeHead(200, {
                'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream',
                'Cache-Control': file === 'sw.js' ? 'no-cache' : 'max-age=600',
            })
            .end(bytes);
    });
    await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
    return {
        address: `http://localhost:${server.address().port}/`,
        fresh,
        close: () => (server.close(), server.closeAllConnections()),
    };
}
/** A build of another version: each file whose name has a hash gets another. (No digest begins with an n.) */
async function nextVersion(from, to) {
    await cp(from, to, { recursive: true });
    const assets = await readdir(join(to, 'assets'));
    const names = assets.map((name) => [name, name.replace(/(\.\w+)$/, '2$1')]);
    for (const [old, renamed] of names) await rename(join(to, 'assets', old), join(to, 'assets', renamed));
    for (const file of ['index.html', 'sw.js', ...names.map(([, renamed]) => `assets/${renamed}`)]) {
        if (!/\.(html|js|css)$/.test(file)) continue;
        let text = await readFile(join(to, file), 'utf8');
        for (const [old, renamed] of names) text = text.replaceAll(old, renamed);
        await writeFile(join(to, file), text.replace(/const VERSION = '(\w+)'/, "const VERSION = 'next$1'"));
    }
}

test(
    'a deploy: the open tab finds its views, and the new version is kept whole, beside other sites',
    {
        skip,
        timeout: MOST,
    },
    async () => {
        const folder = await mkdtemp(join(tmpdir(), 'seqmix-deploy-'));
        const folders = { mine: at('dist') };
        await nextVersion(at('dist'), join(folder, 'next'));
        const server = await host(folders);
        const context = await browser.lab.browser.createBrowserContext();
        const open = async () => {
            const page = await context.newPage();
            page.setDefaultTimeout(WAIT);
            await slowDown(page);
            const broken = [];
            page.on('pageerror', (error) => broken.push(error.message));
            await page.goto(`${server.address}mine/#mixer=cat&task=mqar!speed=full`);
            await until(page, () => globalThis.seqmix);
            return { page, broken };
        };
        try {
            const old = await open();
            await old.page.evaluate(async () => {
                await caches.open('seqmix /theirs/ 1'); // of another site on this host
                await navigator.serviceWorker.ready;
            });
            await until(old.page, () => navigator.serviceWorker.controller !== null);
            assert.ok(server.fresh.all > 100, `${server.fresh.all} files kept`);
            assert.equal(server.fresh.most, 1, 'files fetched at once, to be kept');

            folders.mine = join(folder, 'next');
            const second = await open();
            await second.page.evaluate(async () => {
                const registration = await navigator.serviceWorker.getRegistration();
                await registration.update();
            });
            // Kept: the new version, whose page names its own files,
            // though the browser holds the old page for ten minutes.
            await until(second.page, async () => {
                const { waiting } = await navigator.serviceWorker.getRegistration();
                const names = (await caches.keys()).filter((name) => name.startsWith('seqmix /mine/ next'));
                const cache = waiting && names.length === 1 && (await caches.open(names[0]));
                return cache && (await cache.match('./')) && (await cache.keys()).length > 10;
            });
            // A visit now is still the old version's, and leaves the new one what it keeps.
            await second.page.reload();
            await until(second.page, () => globalThis.seqmix);
            const missing = await second.page.evaluate(async () => {
                const [name] = (await caches.keys()).filter((one) => one.startsWith('seqmix /mine/ next'));
                const cache = await caches.open(name);
                const page = await (await cache.match('./')).text();
                const files = [...page.matchAll(/(?:src|href)="(\.\/assets\/[^"]+)"/g)].map(
                    ([, file]) => file,
                );
                const there = await Promise.all(files.map((file) => cache.match(file)));
                return files.length < 2 ? ['the page names no files'] : files.filter((_, i) => !there[i]);
            });
            assert.deepEqual(missing, [], 'files that the kept page names and that are not kept');

            // The old tab opens views that it never had open; the host no longer has their files.
            await old.page.bringToFront();
            for (const view of ['Length', 'Theorems']) {
                await old.page.evaluate(
                    (name) =>
                        [...document.querySelectorAll('nav button, nav a')]
                            .find((one) => one.textContent.includes(name))
                            .click(),
                    view,
                );
                await until(
                    old.page,
                    (name) => document.querySelector('.view-head h2')?.textContent.includes(name),
                    view,
                );
            }
            assert.deepEqual(old.broken, []);

            // When no tab has the old version open the new one takes over; with the next visit what the old
            // one kept goes, and what is another site's stays.
            // (Seen from outside the site: a tab of it that opens before the others are quite gone would
            // be one more of the old version.)
            const aside = await context.newPage();
            await aside.goto(`${server.address}none/`);
            await old.page.close();
            await second.page.close();
            await until(aside, async () => {
                const [{ waiting, active }] = await navigator.serviceWorker.getRegistrations();
                return waiting === null && active.state === 'activated';
            });
            const third = await open();
            await eventually(async () => {
                const left = await third.page.evaluate(() => caches.keys());
                assert.match(left.sort().join(), /^seqmix \/mine\/ next\w+,seqmix \/theirs\/ 1$/);
            });
            assert.deepEqual(third.broken, []);
        } finally {
            await context.close();
            server.close();
            await rm(folder, { recursive: true, force: true });
        }
    },
);
