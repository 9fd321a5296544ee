// threads_browsers.test.mjs: the same bits by several threads in the browsers that people use: the digest of
// every config of the list, trained by seqmix-threads.wasm with two threads in Chromium, Firefox and WebKit.
// (In Node, with up to eight: threads.test.mjs.)
import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { BROWSERS } from '../support/in_browsers.mjs';

const configs = (await readFile(new URL('../digests_configs.txt', import.meta.url), 'utf8'))
    .trim()
    .split('\n');

// A page's worker trains with another thread's help.
const PAGE = `<!doctype html><title>threads</title><script type="module">
const worker = new Worker('./threads.mjs', { type: 'module' });
worker.onmessage = ({ data }) => (data.at ? (globalThis.at = data.at) : (globalThis.found = data));
worker.onerror = ({ message }) => (globalThis.found = { error: message });
</script>`;
const WORKER = `
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
        folder = await mkdtemp(join(tmpdir(), 'seqmix-threads-'));
        const built = await readdir(new URL('../../build/wasm/', import.meta.url));
        const scripts = built.filter((file) => file.endsWith('.js'));
        for (const file of [...scripts, 'seqmix-threads.wasm'])
            await copyFile(new URL(`../../build/wasm/${file}`, import.meta.url), join(folder, file));
        for (const file of ['package/digests/config_digest.mjs', 'digests_configs.txt'])
            await copyFile(new URL(`../${file}`, import.meta.url), join(folder, basename(file)));
        await writeFile(join(folder, 'threads.html'), PAGE);
        await writeFile(join(folder, 'threads.mjs'), WORKER);
        browser = await start(folder);
    });
    after(async () => {
        await browser?.close();
        if (folder) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    });
    test(`${name}, seqmix-threads.wasm, two threads`, { skip: why ?? false, timeout: 600_000 }, async () => {
        const { error, threads, configs: trained, helped } = await browser.found('threads.html');
        assert.equal(error, undefined);
        assert.equal(threads, 2);
        assert.deepEqual(trained, configs);
        assert.ok(helped > 1000, `the second thread took ${helped} pieces`);
    });
}
