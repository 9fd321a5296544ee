// site.test.mjs: the documents as a site (`make site`): every document is in it, every link leads somewhere,
// nothing is fetched from elsewhere, and from disk, in a browser without a network, formulas are drawn and
// the search finds.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import puppeteer from 'puppeteer-core';
import { FLAGS, findChromium } from '../../scripts/browser.mjs';
import { brokenLinks, makeSite, prepared } from '../../scripts/site.mjs';

const html = 'build/site/html';
const skip =
    spawnSync('sphinx-build', ['--version']).status === 0 ? false : 'needs Sphinx (scripts/setup.sh site)';
const { pages, links, names } = skip ? {} : makeSite();

test('every document is a page of it, and every link leads somewhere', { skip }, () => {
    const documents = readdirSync('docs').filter((file) => file.endsWith('.md'));
    assert.ok(documents.length > 20, `${documents.length} documents`);
    for (const file of [...documents, 'API.md', 'OPERATIONS.md'])
        assert.ok(existsSync(join(html, file.replace('.md', '.html'))), file);
    assert.ok(pages >= names.size && links > 3000, `${pages} pages, ${links} links`);
});

test('a link to a file, to a place in a page or to a document that is not there is refused', () => {
    const folder = mkdtempSync(join(tmpdir(), 'seqmix-site-'));
    try {
        writeFileSync(join(folder, 'a.html'), '<p id="here"><a href="b.html#x">b</a><a href="#here">a</a>');
        assert.deepEqual(brokenLinks(folder).broken, ['a.html: b.html#x']);
        writeFileSync(join(folder, 'b.html'), '<p id="y"><img src="c.png">');
        assert.deepEqual(brokenLinks(folder).broken.sort(), ['a.html: b.html#x', 'b.html: c.png']);
        writeFileSync(join(folder, 'b.html'), '<p id="x">');
        assert.deepEqual(brokenLinks(folder), { broken: [], links: 2, pages: 2 });
    } finally {
        rmSync(folder, { recursive: true });
    }
    const of = (text) =>
        prepared(
            text,
            'docs/A.md',
            new Map([['docs/B.md', 'B']]),
            new Map([['docs/B.md', new Set(['id'])]]),
            (path) => `source/${path}`,
        );
    assert.throws(
        () => of('[it](../kernels/none.c)'),
        /docs\/A\.md links to kernels\/none\.c, which is not there/,
    );
    assert.equal(of('[it](B.md#id) [it](B.md#other)'), '<a href="B.html#id">it</a> [it](B.md#other)');
    assert.equal(of('`[x](none.c)`\n```c\n[x](none.c)\n```\n'), '`[x](none.c)`\n```c\n[x](none.c)\n```\n');
    assert.equal(
        of('[`smx.h`](../include/seqmix/smx.h)'),
        '<a href="source/include/seqmix/smx.h">`smx.h`</a>',
    );
});

test('nothing of it comes from elsewhere', { skip }, () => {
    for (const file of readdirSync(html, { recursive: true })) {
        if (!/\.(html|css)$/.test(file)) continue;
        const text = readFileSync(join(html, file), 'utf8');
        assert.doesNotMatch(text, /<(?:script|link|img)[^>]*(?:src|href)="(?:https?:)?\//, file);
        assert.doesNotMatch(text, /@import|url\(["']?(?:https?:)?\//, file);
    }
});

const { path, why } = findChromium();
test('from disk, without a network: formulas, and the search', { skip: skip || why }, async () => {
    const browser = await puppeteer.launch({ executablePath: path, args: FLAGS });
    try {
        const page = await browser.newPage();
        const other = [];
        page.on('request', (request) => /^(file|data):/.test(request.url()) || other.push(request.url()));
        const open = (name) => page.goto(new URL(`../../${html}/${name}`, import.meta.url).href);
        await open('OPERATIONS.html');
        const formulas = await page.$$eval(
            'div.math math',
            (all) => all.filter((one) => one.clientHeight > 10).length,
        );
        assert.ok(formulas > 60, `${formulas} formulas`);
        assert.doesNotMatch(await page.$eval('article', (one) => one.textContent), /```|\\frac|\]\(/);
        for (const [words, name] of [
            ['smx_gemm', 'API.html'],
            ['squeue', 'SCALE.html'],
        ]) {
            await open(`search.html?q=${words}`);
            const found = await page.waitForSelector(`#search-results a[href^="${name}"]`);
            assert.ok(found, words);
        }
        assert.deepEqual(other, []);
    } finally {
        await browser.close();
    }
});
