// page.test.mjs: the built page in a real browser: it learns, it obeys, it says what is wrong, it shows the
// native program's numbers word for word, and it can be used without a mouse. Run by `make test`; skipped
// where no Chromium is. With SCREENS=1 pictures go to build/screens.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { EDITOR, FIRST_LOAD, FONT, LATER, MODULE, PROOFS, WHOLE } from '../support/sizes.mjs';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import {
    allDone,
    allReady,
    at,
    browser,
    counts,
    eventually,
    fitsEverySize,
    goto,
    hash,
    isAccessible,
    MOST,
    onPage,
    openTab,
    pause,
    press,
    RACE,
    reload,
    runs,
    skip,
    says,
    stopped,
    text,
    until,
} from './testing.mjs';

const LONG = '#mixer=cat&task=mqar&steps=9000~mixer=attention';

onPage(
    'the laboratory, first opened: the lesson starts by itself, CAT reaches 99 %, one block of attention does not',
    '',
    {},
    async (page) => {
        await openTab(page, 'Experiment');
        await until(page, () => globalThis.seqmix.runs()[0].solved);
        const [cat] = await runs(page);
        assert.match(cat.config, /mixer=cat/);
        assert.ok(cat.solved.step <= 300 && cat.solved.accuracy >= 0.99, JSON.stringify(cat.solved));
        await page.select('.transport select', 'full');
        await allDone(page);
        const [, attention] = await runs(page);
        assert.match(attention.config, /mixer=attention/);
        assert.equal(attention.step, 600);
        assert.ok(attention.accuracy <= 0.2, `attention answers ${attention.accuracy} right`);
        assert.equal(attention.solved, null);
        await says(page, 'tbody tr:nth-child(1) td:nth-of-type(4)', /✓ \d+/);
        await says(page, 'tbody tr:nth-child(2) td:nth-of-type(4)', /never/);
        await says(page, 'tbody tr:nth-child(1) td:nth-of-type(6)', /^\d+ k$|^\d\.\d M$|^\d{4}$/);
        // Pointing at a curve reads it there: at the start of training CAT knew nothing.
        await says(page, '.legend li .number', '100.0 %');
        const chart = await (await page.$('.chart .u-over')).boundingBox();
        await page.mouse.move(chart.x + 2, chart.y + 20);
        await until(page, () => parseFloat(document.querySelector('.legend li .number').textContent) < 20);
        await counts(page, '.tokens .right', 8); // CAT answers its sample right
    },
);

test("losses and weights are the native program's, word for word", { skip, timeout: MOST }, async () => {
    const config = 'mixer=cat&task=mqar&seed=5&steps=150';
    const { stdout } = await promisify(execFile)(at('build/seqmix'), ['train', config, '--json'], {
        maxBuffer: 1 << 26,
    });
    const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    const native = lines.flatMap(({ word }) => word ?? []);
    const { page, complaints, close } = await browser.lab.open(`#${config}~blocks=2!speed=full`);
    await allReady(page);
    await press(page, 'Start');
    await allDone(page);
    const words = await page.evaluate(() => globalThis.seqmix.words(0));
    assert.equal(native.length, 150);
    assert.deepEqual(words, native);
    assert.equal((await runs(page))[0].digest, lines.at(-1).digest);
    assert.notDeepEqual(await page.evaluate(() => globalThis.seqmix.words(1)), native);
    assert.deepEqual(complaints, []);
    await close();
});

onPage(
    'the address restores the setup, and follows it',
    '#v=1&mixer=cat&task=mqar&vocab=128&filter=5~mixer=attention&blocks=2&position=learned~filter=2!speed=slow&sample=3&run=1',
    {},
    async (page) => {
        await allReady(page);
        const all = await runs(page);
        assert.equal(all.length, 3);
        assert.match(all[0].config, /mixer=cat.*vocab=128.*filter=5/);
        assert.match(all[1].config, /mixer=attention.*vocab=128.*blocks=2.*position=learned/);
        assert.match(all[2].config, /mixer=cat.*filter=2/);
        assert.ok(
            all.every(({ step, status }) => step === 0 && status === 'ready'),
            'a restored setup waits for Start',
        );
        assert.equal(await page.$eval('.transport select', (select) => select.value), 'slow');
        await says(page, '.run:nth-child(2) .changes', 'blocks=2 position=learned');
        await says(page, '.stepper .number', 'Example 4');
        await page.waitForSelector(`.picker .picked input[aria-label="${all[1].name}"]`);
        // What it writes means the same to the engine as what it was given.
        const [config, view] = (await hash(page)).slice(1).split('!');
        assert.equal(view, 'speed=slow&run=1&sample=3');
        await goto(page, `${browser.lab.address}#${config}`);
        await until(page, () => globalThis.seqmix);
        await allReady(page);
        assert.deepEqual(
            (await runs(page)).map((run) => run.config),
            all.map((run) => run.config),
        );

        // A change goes into the address, and Back takes it out again.
        const input = await page.waitForSelector('::-p-aria([name="vocab"][role="textbox"])');
        await input.click({ count: 3 });
        await input.type('256');
        await page.keyboard.press('Enter');
        await until(page, () => /vocab=256/.test(location.hash));
        assert.ok(
            (await runs(page)).every((run) => /vocab=256/.test(run.config)),
            'all runs share the task',
        );
        await page.goBack();
        await until(page, () => globalThis.seqmix.runs().every((run) => /vocab=128/.test(run.config)));

        // A run that was removed comes back by it as it was left.
        await press(page, 'Start');
        await until(page, () => globalThis.seqmix.runs().every(({ step }) => step > 20));
        await stopped(page);
        const [, second] = await runs(page);
        await page.$$eval('.runs .remove', (all) => all[1].click());
        await until(page, () => globalThis.seqmix.runs().length === 2);
        await page.goBack();
        await until(page, () => globalThis.seqmix.runs().length === 3);
        const [, back] = await runs(page);
        assert.deepEqual([back.step, back.config], [second.step, second.config]);
        await press(page, 'Resume');
        await until(page, (step) => globalThis.seqmix.runs()[1].step > step, second.step);
    },
);

onPage('views are opened from the tabs, by Back and by the address', RACE, {}, async (page) => {
    await allReady(page);
    const tabs = await page.$$eval('.views a', (all) => all.map((tab) => tab.textContent));
    assert.deepEqual(tabs.slice(0, 3), ['Story', 'Board', 'Experiment']);
    const open = () => text(page, '.views [aria-current=page]');
    assert.equal(await open(), 'Experiment');
    // Four places; the views of the open one can be seen.
    const places = () => page.$$eval('.where a', (all) => all.map((one) => one.textContent));
    assert.deepEqual(await places(), ['Story', 'Compare', 'Build', 'Proofs']);
    assert.equal(await text(page, '.where [aria-current]'), 'Compare');
    const seen = () =>
        page.$$eval('.views a', (all) =>
            all.filter((one) => one.checkVisibility()).map((one) => one.textContent),
        );
    assert.deepEqual(await seen(), ['Board', 'Experiment', 'Inside', 'Length', 'Digits', 'Write']);
    await page.evaluate(() => [...document.querySelectorAll('.where a')].at(-1).click());
    await until(page, () => /view=theorems/.test(location.hash));
    assert.deepEqual(await seen(), ['Theorems', 'Verify', 'Papers', 'About']);
    const last = tabs.length - 1;
    await (await page.$$('.views a'))[last].focus();
    await page.keyboard.press('Enter');
    await until(
        page,
        (name) => document.querySelector('.views [aria-current]').textContent === name,
        tabs[last],
    );
    if (last > 0) {
        assert.match(await hash(page), /view=[a-z]+/);
        await page.goBack();
        await page.goBack();
        await until(page, () => document.querySelector('.views [aria-current]').textContent === 'Experiment');
        assert.ok(
            (await runs(page)).every(({ status }) => status === 'ready'),
            'the runs are still there',
        );
    }
    // One that does not exist stands for the first.
    await page.evaluate(() => (location.hash = `${location.hash.split('!')[0]}!view=about`));
    await says(page, '.views [aria-current]', 'About');
    await page.evaluate(() => (location.hash = location.hash.replace('about', 'nothing')));
    await says(page, '.views [aria-current]', 'Experiment');
});

onPage('choices of this browser: the theme, motion, pausing in a hidden tab', LONG, {}, async (page) => {
    const style = (selector, name) => page.$eval(selector, (one, name) => getComputedStyle(one)[name], name);
    await allReady(page);
    const light = await style('body', 'backgroundColor');
    await page.select('.tools select', 'dark');
    const dark = await eventually(async () => {
        const now = await style('body', 'backgroundColor');
        assert.notEqual(now, light);
        return now;
    });
    await reload(page);
    await allReady(page);
    assert.equal(await style('body', 'backgroundColor'), dark, 'it is remembered');
    const motion = (value) => page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value }]);
    await motion('no-preference');
    assert.equal(await style('.transport button', 'transitionDuration'), '0.12s');
    await motion('reduce');
    assert.equal(await style('.transport button', 'transitionDuration'), '0s');

    const hide = (hidden) =>
        page.evaluate((hidden) => {
            Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
            document.dispatchEvent(new Event('visibilitychange'));
        }, hidden);
    await press(page, 'Start');
    await hide(true);
    const [{ step }] = await runs(page);
    await until(page, (then) => globalThis.seqmix.runs()[0].step > then + 5, step);
    await hide(false);
    await page.click('.tools input[type=checkbox]');
    await hide(true);
    await until(page, () => globalThis.seqmix.runs().every(({ status }) => status === 'paused'));
    await hide(false);
    await until(page, () => globalThis.seqmix.runs().every(({ status }) => status === 'going'));
});

/** When the page draws which chart: it clears its canvas first. */
const countDrawings = (page) =>
    page.evaluate(() => {
        const { clearRect } = CanvasRenderingContext2D.prototype;
        globalThis.drawings = [];
        CanvasRenderingContext2D.prototype.clearRect = function (...all) {
            if (this.canvas.closest('.chart')) globalThis.drawings.push([this.canvas, performance.now()]);
            return clearRect.apply(this, all);
        };
    });
onPage('charts are drawn while runs train, and whole in new colours at once', LONG, {}, async (page) => {
    await allReady(page);
    await page.select('.transport select', 'full');
    await countDrawings(page);
    await press(page, 'Start');
    await until(page, () => {
        const all = [...document.querySelectorAll('.chart canvas')];
        const times = (canvas) => globalThis.drawings.filter(([one]) => one === canvas).length;
        return all.length === 2 && all.every((canvas) => times(canvas) > 8);
    });
    await press(page, 'Pause');
    await until(page, () => globalThis.seqmix.runs().every(({ status }) => status === 'paused'));
    // In the frame after the choice both have their curves: as much ink as before, when all is drawn.
    await until(page, () => performance.now() - globalThis.drawings.at(-1)[1] > 2000);
    const [before, after] = await page.evaluate(async () => {
        const ink = () =>
            [...document.querySelectorAll('.chart canvas')].map((canvas) => {
                const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
                return data.reduce((sum, value, i) => sum + (i % 4 === 3 && value > 0 ? 1 : 0), 0);
            });
        const inked = ink();
        const theme = document.querySelector('.tools select');
        theme.value = 'dark';
        theme.dispatchEvent(new Event('change', { bubbles: true }));
        await new Promise(requestAnimationFrame);
        return [inked, ink()];
    });
    for (const [i, inked] of before.entries())
        assert.ok(Math.abs(after[i] - inked) < 0.02 * inked, `chart ${i}: ${inked} pixels, then ${after[i]}`);
});

// (Long enough that it is paused before its end, however late the button is found.)
onPage('start, pause, step and reset', `${LONG}!speed=full`, {}, async (page) => {
    await allReady(page);
    await press(page, 'Step');
    await until(page, () =>
        globalThis.seqmix.runs().every(({ step, status }) => step === 1 && status === 'paused'),
    );
    await page.select('.transport select', 'slow');
    await press(page, 'Resume');
    await until(page, () =>
        / steps\/s( each)?, \d+ (s|min) left/.test(document.querySelector('.state').textContent),
    );
    await page.select('.transport select', 'full');
    await until(page, () => globalThis.seqmix.runs().every(({ step }) => step > 20));
    await press(page, 'Pause');
    await until(page, () => globalThis.seqmix.runs().every(({ status }) => status === 'paused'));
    const then = (await runs(page)).map(({ step }) => step);
    await pause(500);
    assert.deepEqual(
        (await runs(page)).map(({ step }) => step),
        then,
        'steps were taken while paused',
    );
    const first = await page.evaluate(() => globalThis.seqmix.words(0).slice(0, 10));
    await press(page, 'Reset');
    await until(page, () =>
        globalThis.seqmix.runs().every(({ step, status }) => step === 0 && status === 'ready'),
    );
    await press(page, 'Start');
    await until(page, () => globalThis.seqmix.runs()[0].step >= 10);
    assert.deepEqual(
        await page.evaluate(() => globalThis.seqmix.words(0).slice(0, 10)),
        first,
        'a reset run repeats itself',
    );
});

onPage(
    'a bad address is explained in words, and the page stays',
    '#mixer=cta&task=mqar',
    {},
    async (page) => {
        const notice = await text(page, '.notice[role=alert]');
        assert.match(notice, /mixer/);
        assert.match(notice, /cta/);
        assert.match(notice, /cat.*attention/);
        await allReady(page);
        assert.equal((await runs(page)).length, 2, 'the lesson stands below');
        assert.equal(await hash(page), '#mixer=cta&task=mqar', 'the address can still be mended');
        await page.evaluate(() => (location.hash = '#mixer=cat&length=7x'));
        await until(page, () => /length.*7x/.test(document.querySelector('.notice')?.textContent ?? ''));
        await page.evaluate(() => (location.hash = '#mixer=attention&task=ar'));
        await until(page, () => !document.querySelector('.notice') && globalThis.seqmix.runs().length === 1);
        await page.evaluate(() => (location.hash = `#mixer=cat${'~seed=2'.repeat(6)}`));
        await until(page, () => /7 runs.*6/.test(document.querySelector('.notice')?.textContent ?? ''));
    },
);

onPage('a control refuses what the engine refuses, in its words', RACE, {}, async (page) => {
    await allReady(page);
    const before = await hash(page);
    const input = await page.waitForSelector('::-p-aria([name="vocab"][role="textbox"])');
    await input.click({ count: 3 });
    await input.type('many');
    await page.keyboard.press('Tab');
    await until(page, () => /many/.test(document.querySelector('.control .why')?.textContent ?? ''));
    await says(page, '.control .why', /vocab.*whole number/);
    assert.equal(await page.$eval('.control [aria-invalid]', (element) => element.value), 'many');
    assert.equal(await hash(page), before);
    assert.ok((await runs(page)).every(({ status }) => status === 'ready'));
    // A value that only the model refuses is said at the run.
    await page.evaluate(() => (location.hash = '#mixer=cat&width=30&heads=4~width=32'));
    await until(page, () => globalThis.seqmix.runs()[0].status === 'failed');
    await says(page, '.run .why', /^Cannot be trained: heads=4 .*divisor of width=30\.$/);
    await says(page, '.inside .why', /cannot be looked into: heads=4/);
    await until(page, () => globalThis.seqmix.runs()[1].status === 'ready');
});

onPage('runs are added, changed and removed', RACE, {}, async (page) => {
    await allReady(page);
    await press(page, 'Add a run');
    await until(page, () => globalThis.seqmix.runs().length === 3);
    const marks = await page.$$eval('.run .mark', (all) => all.map((mark) => mark.getAttribute('class')));
    assert.equal(new Set(marks).size, 3, 'each run has its own sign');
    const remove = await page.$$('.run .run-head button');
    await remove[0].click();
    await until(page, () => globalThis.seqmix.runs().length === 2);
    const left = await page.$$eval('.run .mark', (all) => all.map((mark) => mark.getAttribute('class')));
    assert.deepEqual(left, marks.slice(1), 'the signs of the others stay');
});

onPage(
    'a worker that dies is reported and can be started again; the other runs go on',
    '#mixer=cat&task=mqar&steps=20000~mixer=attention!speed=full',
    { cores: 3 },
    async (page) => {
        await allReady(page);
        await press(page, 'Start');
        await until(page, () => globalThis.seqmix.runs().every(({ step }) => step > 5));
        await page.evaluate(() => globalThis.seqmix.crash(0));
        await until(page, () => globalThis.seqmix.runs()[0].status === 'failed');
        const [, { step }] = await runs(page);
        await says(page, '.run .why', /^Stopped: its worker stopped: ended on request\./);
        await until(page, (then) => globalThis.seqmix.runs()[1].step > then + 20, step);
        await press(page, 'Start it again');
        await until(page, () => globalThis.seqmix.runs()[0].step > 5);
        assert.equal((await page.$$('.run .why')).length, 0);
    },
);

onPage('everything can be done from the keyboard', LONG, {}, async (page) => {
    await allReady(page);
    const name = () => page.evaluate(() => document.activeElement.textContent.trim());
    // The button, not the view of that name.
    const onStart = () =>
        page.evaluate(
            () =>
                document.activeElement.matches('button') &&
                document.activeElement.textContent.trim() === 'Start',
        );
    for (let i = 0; i < 24 && !(await onStart()); i++) await page.keyboard.press('Tab');
    assert.ok(await onStart());
    await page.keyboard.press('Enter');
    await until(page, () => globalThis.seqmix.runs()[0].step > 5);
    await eventually(async () => assert.equal(await name(), 'Pause', 'the focus stays on what was pressed'));
    await page.keyboard.press('Enter');
    await until(page, () => globalThis.seqmix.runs().every(({ status }) => status === 'paused'));
    await says(page, '[role=status]', 'Paused.');
    await page.focus('.picker input:checked');
    await page.keyboard.press('ArrowRight');
    await until(page, () => /run=1/.test(location.hash));
    await until(page, () => document.querySelectorAll('.question button').length === 8);
    const questions = await page.$$('.question button');
    await questions[3].focus();
    await page.keyboard.press('Enter');
    await eventually(async () =>
        assert.equal(
            await page.$$eval('.question button', (all) =>
                all.findIndex((one) => one.getAttribute('aria-pressed') === 'true'),
            ),
            3,
        ),
    );
});

onPage(
    'axe-core finds no violation and nothing sticks out at any size, light and dark',
    `${RACE}~mixer=attention&blocks=2&position=learned!speed=full`,
    {},
    async (page) => {
        await allReady(page);
        await press(page, 'Start');
        await until(page, () => globalThis.seqmix.runs()[0].solved && globalThis.seqmix.runs()[2].step > 60);
        await stopped(page);
        await fitsEverySize(page, 'race');
        await isAccessible(page);
    },
);

onPage('the page’s own font is there without moving anything when it comes late', '', {}, async (page) => {
    let letItCome;
    const asked = new Promise((heard) => {
        letItCome = heard;
    });
    await page.setRequestInterception(true);
    page.on('request', (request) =>
        /inter-.*\.woff2/.test(request.url()) ? letItCome(request) : request.continue(),
    );
    const { origin, pathname } = new URL(page.url());
    await page.goto('about:blank');
    await page.goto(`${origin}${pathname}#!view=board`, { waitUntil: 'domcontentloaded' });
    await page.waitForSelector('.board .cell');
    const places = () =>
        page.$$eval('h1, h2, h3, .where a, .views a, .board .cell', (all) =>
            all.map((one) => one.getBoundingClientRect()).map(({ top, height }) => [top, top + height]),
        );
    const came = () => page.evaluate(() => [...document.fonts].find((one) => one.family === 'Inter').status);
    assert.equal(await came(), 'loading', 'the page is painted before it comes');
    const before = await places();
    await (await asked).continue();
    await until(page, () => [...document.fonts].find((one) => one.family === 'Inter').status === 'loaded');
    const after = await places();
    assert.ok(before.length > 20, before.length);
    const moved = after.flat().map((y, i) => Math.abs(y - before.flat()[i]));
    assert.ok(Math.max(...moved) <= 3, `${Math.max(...moved)} pixels`);
    const { fontFamily } = await page.$eval('h2', (one) => ({ ...getComputedStyle(one) }));
    assert.match(fontFamily, /^"?Inter"?,/);
});

/**
 * The scripts and styles that a first visit fetches: what index.html names, the view Start and the worker
 * that trains, and what these import.
 */
async function firstLoad() {
    const all = await readdir(at('dist/assets'));
    const next = all.filter((file) => /^(start|worker)-.*\.(js|css)$/.test(file));
    const named = /assets\/([^"]+\.(?:js|css))"/g;
    for (const [, file] of (await readFile(at('dist/index.html'), 'utf8')).matchAll(named)) next.push(file);
    const found = new Set();
    for (let file; (file = next.pop());) {
        if (found.has(file)) continue;
        found.add(file);
        const code = await readFile(at(`dist/assets/${file}`), 'utf8');
        if (file.endsWith('.js'))
            for (const [, name] of code.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g))
                if (all.includes(name)) next.push(name);
    }
    return found;
}

test(
    'the page stays small: a first visit fetches under 200 KB of scripts and styles, the module is within its sum, the proofs and the editor in theirs, gzipped',
    { skip: false },
    async () => {
        const first = await firstLoad();
        assert.ok(first.size > 10, `${first.size} files`);
        let [code, later, editor, module, whole, proofs, font] = [0, 0, 0, 0, 0, 0, 0];
        for (const file of await readdir(at('dist/assets'))) {
            const size = gzipSync(await readFile(at(`dist/assets/${file}`)), { level: 9 }).length;
            if (first.has(file)) code += size;
            else if (/^(editor|equations)-.*\.(js|css)$/.test(file)) editor += size;
            else if (/\.(js|css)$/.test(file)) later += size;
            if (/^seqmix-whole-.*\.wasm$/.test(file)) whole += size;
            else if (/^seqmix-.*\.wasm$/.test(file) && !/^seqmix-(scalar|threads)-/.test(file))
                module += size;
            if (/^verify-.*\.wasm$/.test(file)) proofs += size;
            if (/^inter-.*\.woff2$/.test(file)) font += size;
        }
        const html = await readFile(at('dist/index.html'), 'utf8');
        // What a link to the page is shown with elsewhere.
        for (const tag of ['name="description"', 'property="og:title"', 'property="og:description"'])
            assert.match(html, new RegExp(`<meta\\s+${tag}\\s+content="[^"]{6,}"`), tag);
        const [, image] = /<meta\s+property="og:image"\s+content="(?:[^"]*\/)?([^"/]+\.png)"/.exec(html);
        const png = await readFile(at(`dist/${image}`));
        assert.deepEqual(
            [png.readUInt32BE(16), png.readUInt32BE(20)],
            [1200, 630],
            `${image} is a large card`,
        );
        const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)[1].replaceAll('&#39;', "'");
        assert.match(policy, /^default-src 'none';.*script-src 'self' 'wasm-unsafe-eval';/);
        assert.ok(!/unsafe-inline|'unsafe-eval'|https?:/.test(policy), policy);
        assert.ok(code > 0 && code < 200_000, `${code} bytes of scripts and styles at first`);
        assert.ok(later > 0 && later < LATER, `${later} bytes of scripts and styles of other views`);
        assert.ok(editor > 50_000 && editor < EDITOR, `${editor} bytes of the view Equations`);
        const all = code + module + font;
        assert.ok(all <= FIRST_LOAD, `${all} bytes at first in all`);
        assert.ok(font > 10_000 && font <= FONT, `${font} bytes of font`);
        assert.match(await readFile(at('dist/assets/inter-LICENSE.txt'), 'utf8'), /SIL OPEN FONT LICENSE/);
        assert.ok(module > 0 && module <= MODULE, `${module} bytes of WebAssembly`);
        assert.ok(whole > module && whole <= WHOLE, `${whole} bytes of the whole module`);
        assert.ok(proofs > 0 && proofs <= PROOFS, `${proofs} bytes of proofs`);
    },
);
