// digests_browsers.test.mjs: the same bits in the browsers that people use: every digest of both whole
// WebAssembly modules, computed in Chromium, in Firefox and in WebKit, compared with the committed lists. A
// browser that is not here is skipped, and said so.
import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { BROWSERS } from '../../support/in_browsers.mjs';

const lines = async (name) =>
    (await readFile(new URL(`../../${name}`, import.meta.url), 'utf8')).trim().split('\n');
const list = await lines('digests.txt');
const configs = await lines('digests_configs.txt');
const MODULES = ['seqmix-whole.wasm', 'seqmix-scalar.wasm'];
// A page that loads the module as any page would, and keeps what came out.
const PAGE = (module) => `<!doctype html><title>digests</title><script type="module">
import { loadChecks } from './checks.js';
import { load } from './seqmix.js';
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

for (const { name, why, start } of BROWSERS) {
    let folder;
    let browser;
    before(async () => {
        if (why) return;
        folder = await mkdtemp(join(tmpdir(), 'seqmix-digests-'));
        const built = await readdir(new URL('../../../build/wasm/', import.meta.url));
        const scripts = built.filter((file) => file.endsWith('.js'));
        for (const file of [...scripts, 'checks.wasm', ...MODULES])
            await copyFile(new URL(`../../../build/wasm/${file}`, import.meta.url), join(folder, file));
        for (const file of ['package/digests/config_digest.mjs', 'digests_configs.txt'])
            await copyFile(new URL(`../../${file}`, import.meta.url), join(folder, basename(file)));
        for (const module of MODULES) await writeFile(join(folder, `${module}.html`), PAGE(module));
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
}
