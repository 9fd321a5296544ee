// report.test.mjs: `seqmix report`: one page without a network, its figures the table's; its tables sort,
// its runs and columns hide, its axes change and its charts can be taken, by pointer and by keyboard.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import puppeteer from 'puppeteer-core';
import { findChromium, FLAGS } from '../../scripts/browser.mjs';
import { sticksOut, violations } from '../support/looks.mjs';
import { program, run } from '../support/program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-report-'));
const file = (...names) => join(folder, ...names);
const seqmix = (...args) => run(program, args);
const skip = findChromium().why ?? false;
const out = file('here');

// Two tasks; mixers that bring keys of their own; two widths, three rates; one rate diverges.
const one = 'steps=8&batch=2&task=mqar';
const configs = `${one}&mixer=attention~${one}&mixer=cat~steps=8&batch=2&task=sc&mixer=cat`;
const lines = seqmix(
    ...['grid', configs, 'rate=0.001,0.01,0.1', 'width=8,16', '--seeds', '2', '--out', out],
    ...['--eval', '20', '--every', '2'],
);
assert.equal(lines.status, 0, lines.stderr);
for (const line of lines.stdout.split('\n').filter(Boolean)) {
    const config = /'([^']*)'/.exec(line)[1];
    assert.equal(seqmix('job', config, '--out', out, '--eval', '20', '--every', '2').status, 0);
}
const made = seqmix('report', out, '--baseline', 'mixer=attention');
assert.equal(made.status, 0, made.stderr);
const html = file('here', 'report.html');
const dataIn = (path) => JSON.parse(/id="results">([^<]*)<\/script>/.exec(readFileSync(path, 'utf8'))[1]);

let chromium;
before(async () => {
    if (skip) return;
    mkdirSync(file('downloads'));
    chromium = await puppeteer.launch({
        executablePath: findChromium().path,
        args: FLAGS,
        userDataDir: file('profile'),
        protocolTimeout: 400_000,
    });
});
after(async () => {
    await chromium?.close();
    rmSync(folder, { recursive: true, maxRetries: 10, retryDelay: 200 });
});

/** A test in a tab with the report; nothing may complain, and nothing may be fetched. */
function onReport(name, body, path = html) {
    test(name, { skip }, async () => {
        const page = await chromium.newPage();
        const complaints = [];
        page.on('console', (message) => complaints.push(message.text()));
        page.on('pageerror', (error) => complaints.push(error.message));
        page.on('request', (request) => {
            if (!/^(file|data|blob):/.test(request.url())) complaints.push(request.url());
        });
        await page.setViewport({ width: 1280, height: 900 });
        await page.goto(pathToFileURL(path).href);
        await page.waitForSelector('figure svg');
        try {
            await body(page);
            assert.deepEqual(complaints, []);
        } finally {
            await page.close();
        }
    });
}
/** What can be seen of a table, row by row, without the signs. */
const seen = (page, title) =>
    page.$eval(`[aria-label="${title}"] table`, (table) =>
        [...table.rows]
            .filter((row) => !row.hidden)
            .map((row) => [...row.cells].filter((cell) => !cell.hidden).map((cell) => cell.textContent)),
    );
const column = (rows, name) => rows.slice(1).map((row) => row[rows[0].indexOf(name)]);
const click = (page, id) => page.evaluate((id) => document.getElementById(id).click(), id);
const choose = (page, id, value) => page.select(`select[id="${id}"]`, value);
/** Of the n-th chart: its words, and how many lines and signs it has. */
const chart = (page, n) =>
    page.$$eval(
        'figure',
        (figures, n) => {
            const svg = figures[n].querySelector('svg');
            return {
                hidden: figures[n].hidden,
                words: svg ? [...svg.querySelectorAll('text')].map(({ textContent }) => textContent) : [],
                lines: svg ? svg.querySelectorAll('polyline').length : 0,
                points: svg ? svg.querySelectorAll('title').length : 0,
            };
        },
        n,
    );

test("one page without a network; its charts are the page's, its figures those of the table", () => {
    const current = spawnSync('node', ['scripts/report.mjs', '--check'], { encoding: 'utf8' });
    assert.equal(current.status, 0, current.stderr);
    assert.equal(made.stdout, `${html}\n`);
    const page = readFileSync(html, 'utf8');
    assert.doesNotMatch(page.replaceAll('http://www.w3.org/2000/svg', ''), /https?:|<[^>]+(src|href)=/);
    assert.match(page, /default-src 'none'/);
    assert.equal(seqmix('collect', out, '--baseline', 'mixer=attention').status, 0);
    const [head, ...rows] = readFileSync(join(out, 'summary.csv'), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(','));
    const { settings, pairs, remarks } = dataIn(html);
    assert.deepEqual([settings.length, rows.length, pairs.length], [18, 18, 2]);
    assert.match(remarks.join(), /^2 have nothing to be compared with; mixer=cat: it has task=sc/);
    for (const [i, setting] of settings.entries()) {
        const of = (key) => rows[i][head.indexOf(key)];
        for (const key of ['mean', 'low', 'high', 'deviation', 'weights', 'eval', 'seeds'])
            assert.equal(String(setting[key]), of(key), key);
        for (const key of ['rate', 'mixer', 'task', 'width']) assert.equal(setting.keys[key], of(key), key);
        assert.equal(setting.best, of('best') === '1');
        assert.deepEqual(
            [setting.curves?.map(({ length }) => length), setting.held_out?.map(({ length }) => length)],
            setting.best
                ? [
                      [8, 8],
                      [4, 4],
                  ]
                : [undefined, undefined],
        );
    }
});

test("what a mixer's text says ends no element of the page", () => {
    const eq = encodeURIComponent('y = x @ w # </script><script>alert(1)</script>');
    const text = `task=mqar&batch=2&steps=2&width=8&mixer=equations&eq=${eq}`;
    for (const config of [text, text.replace('alert(1)', 'alert(2)')])
        assert.equal(seqmix('job', config, '--out', file('text'), '--eval', '5').status, 0);
    assert.equal(seqmix('report', file('text'), '--out', file('text.html')).status, 0);
    const page = readFileSync(file('text.html'), 'utf8');
    assert.equal(page.split('</script>').length - 1, 2);
    assert.match(page, /\\u003c\/script>\\u003cscript>alert/);
});

onReport('tables: what tells runs apart, the figures of the data, and each head sorts', async (page) => {
    const rows = await seen(page, 'The best of each');
    // Keys that only follow the mixer or the task are left out at first.
    assert.deepEqual(rows[0].slice(0, 5), ['task', 'mixer', 'width', 'mean', 'rate']);
    const best = dataIn(html).settings.filter((setting) => setting.best);
    assert.equal(rows.length, 1 + best.length);
    assert.deepEqual(
        column(rows, 'mean'),
        best.map(({ mean }) => mean.toFixed(4)),
    );
    assert.deepEqual(
        column(rows, 'weights'),
        best.map(({ weights }) => weights.toLocaleString('en')),
    );
    const sorted = async (title, name) => {
        await click(page, `${title}: ${name}`);
        const said = await page.$$eval(`[aria-label="${title}"] th[aria-sort]`, (heads) =>
            heads.map((head) => [head.textContent, head.ariaSort]),
        );
        return { said, values: column(await seen(page, title), name) };
    };
    const numbers = ({ values }) => values.map((text) => Number(text.replaceAll(',', '')));
    const down = await sorted('Every setting', 'weights');
    assert.deepEqual(down.said, [['weights', 'descending']]);
    assert.deepEqual(
        numbers(down),
        numbers(down).toSorted((a, b) => b - a),
    );
    assert.ok(numbers(down)[0] > numbers(down).at(-1));
    const up = await sorted('Every setting', 'weights');
    assert.deepEqual(up.said, [['weights', 'ascending']]);
    assert.deepEqual(numbers(up), numbers(down).toReversed());
    const words = await sorted('Every setting', 'mixer');
    assert.deepEqual(words.said, [['mixer', 'ascending']]);
    assert.deepEqual(words.values, words.values.toSorted());
    assert.equal((await seen(page, 'Every setting')).length, 19);
});

onReport(
    'runs hide in tables and charts alike, columns in tables; a page that loads again keeps that',
    async (page) => {
        assert.equal((await chart(page, 0)).lines, 4);
        const before = (await chart(page, 0)).words;
        for (const name of ['cat, width 8', 'cat, width 16', 'attention, width 8', 'attention, width 16'])
            assert.ok(before.includes(name), `${name} is not in ${before}`);
        await click(page, 'Runs: cat, width 8');
        await click(page, 'Columns: deviation');
        await click(page, 'The best of each: mean');
        await choose(page, 'Scale', 'logarithmic');
        const look = async () => {
            for (const n of [0, 1]) {
                const { words, lines } = await chart(page, n);
                assert.equal(lines, 3);
                assert.ok(!words.includes('cat, width 8') && words.includes('cat, width 16'), words);
            }
            for (const title of ['The best of each', 'Against the baseline', 'Every setting']) {
                const rows = await seen(page, title);
                assert.ok(!rows[0].includes('deviation'));
                const those = rows.slice(1).map((row) => `${row[1]}, width ${row[2]}`);
                assert.ok(!those.includes('cat, width 8') && those.includes('cat, width 16'), those);
            }
            const means = column(await seen(page, 'The best of each'), 'mean').map(Number);
            assert.deepEqual(
                means,
                means.toSorted((a, b) => b - a),
            );
            assert.equal(await page.$eval('select[id="Scale"]', ({ value }) => value), 'logarithmic');
            assert.match(await page.$eval('#Runs summary', (one) => one.textContent), /^Runs: 3 of 4$/);
        };
        await look();
        await page.focus('select[id="Scale"]');
        await page.reload();
        await page.waitForSelector('figure svg');
        await look();
        assert.equal(await page.evaluate(() => document.activeElement.id), 'Scale');
        await click(page, 'Runs, none');
        assert.deepEqual(
            [(await chart(page, 0)).hidden, (await seen(page, 'Every setting')).length],
            [true, 1],
        );
        await click(page, 'Runs, all');
        assert.deepEqual([(await chart(page, 0)).lines, (await seen(page, 'Every setting')).length], [4, 19]);
    },
);

onReport(
    'other axes: what curves are of and over, what the best stands against, three scales',
    async (page) => {
        const { settings } = dataIn(html);
        const mqar = settings.filter(({ keys }) => keys.task === 'mqar');
        assert.equal((await chart(page, 0)).words[0], 'Training loss');
        assert.ok((await chart(page, 0)).words.includes('training steps'));
        await choose(page, 'Curves of', 'held-out');
        await choose(page, 'Curves over', 'seconds');
        const held = await chart(page, 0);
        assert.equal(held.words[0], 'Held-out accuracy while training');
        assert.ok(held.words.includes('seconds of a processor'), held.words);
        // All rates of a run are one line, each with its value in words; the others stand with their best.
        const options = await page.$$eval('select[id="Best against"] option', (all) =>
            all.map(({ value }) => value),
        );
        assert.deepEqual(options, ['rate', 'mixer', 'width', 'weights', 'seconds']);
        const of = {};
        for (const option of options) {
            await choose(page, 'Best against', option);
            of[option] = await chart(page, 1);
            assert.equal(of[option].words[0], `Held-out accuracy against ${option}`);
        }
        assert.deepEqual([of.rate.lines, of.rate.points], [4, mqar.length]);
        for (const rate of ['0.001', '0.01', '0.1']) assert.ok(of.rate.words.includes(rate), of.rate.words);
        assert.deepEqual([of.mixer.lines, of.mixer.points], [2, 4]); // a line for each width
        assert.deepEqual([of.width.lines, of.width.points], [2, 4]); // a line for each mixer
        assert.deepEqual([of.weights.lines, of.weights.points], [2, 4]);
        const says = await page.$$eval('figure:nth-of-type(2) title', (all) =>
            all.map((one) => one.textContent),
        );
        const fourth = mqar.filter(({ best }) => best)[3];
        assert.ok(
            says.some((text) => text.startsWith(`${fourth.keys.mixer}: `)),
            says,
        );
        const lowest = (words) =>
            Math.min(...words.filter((word) => word && Number.isFinite(Number(word))).map(Number));
        await choose(page, 'Curves of', 'loss');
        await choose(page, 'Curves over', 'training steps');
        const scale = {};
        for (const one of ['from zero', 'fitted', 'logarithmic']) {
            await choose(page, 'Scale', one);
            scale[one] = await page.$$eval('figure:first-of-type text[text-anchor=end]', (all) =>
                all.map((text) => Number(text.textContent)).filter(Number.isFinite),
            );
            assert.ok(scale[one].length > 1, one);
        }
        assert.equal(lowest(scale['from zero'].map(String)), 0);
        assert.ok(scale.fitted.every((tick) => tick > 1) && scale.logarithmic.every((tick) => tick > 1));
    },
);

onReport('each chart as SVG and PNG, in the light colours whatever the page has', async (page) => {
    const client = await page.createCDPSession();
    await client.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: file('downloads') });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    const taken = async (kind) => {
        const path = file('downloads', `here-mqar-values.${kind}`);
        await click(page, `mqar-values, ${kind}`);
        for (let tries = 0; !existsSync(path); tries++) {
            assert.ok(tries < 600, `no ${path}`);
            await new Promise((done) => setTimeout(done, 100));
        }
        return readFileSync(path);
    };
    const svg = String(await taken('svg'));
    assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 720 \d+"/);
    assert.match(svg, /<rect width="720" height="\d+" fill="rgb\(255, 255, 255\)"\/>/);
    assert.doesNotMatch(svg, /var\(/);
    assert.equal(svg.split('<polyline').length - 1, 4);
    const png = await taken('png');
    assert.deepEqual([...png.subarray(0, 8)], [137, 80, 78, 71, 13, 10, 26, 10]);
    // At twice the size, white in its corner and not white all over.
    assert.equal(png.readUInt32BE(16), 1440);
    const url = `data:image/png;base64,${png.toString('base64')}`;
    const colours = await page.evaluate(async (url) => {
        const image = new Image();
        image.src = url;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        const { data } = context.getImageData(0, 0, image.width, image.height);
        const all = new Set();
        for (let i = 0; i < data.length; i += 4) all.add(data.slice(i, i + 3).join());
        return { corner: data.slice(0, 3).join(), count: all.size };
    }, url);
    assert.equal(colours.corner, '255,255,255');
    assert.ok(colours.count > 20, colours.count);
});

onReport('by keyboard, on a phone and on a wall, light and dark; axe finds nothing', async (page) => {
    // From the top: Tab comes to the runs, Enter opens them, Space takes one away.
    const focus = () => page.evaluate(() => document.activeElement.id);
    await page.keyboard.press('Tab');
    assert.equal(await focus(), 'Runs, shown');
    await page.keyboard.press('Enter');
    for (let i = 0; i < 3; i++) await page.keyboard.press('Tab');
    assert.equal(await focus(), 'Runs: attention, width 8');
    await page.keyboard.press('Space');
    assert.equal((await chart(page, 0)).lines, 3);
    await page.keyboard.press('Space');
    assert.equal((await chart(page, 0)).lines, 4);
    await page.focus('[id="Every setting: rate"]');
    await page.keyboard.press('Enter');
    assert.equal(column(await seen(page, 'Every setting'), 'rate')[0], '0.1');
    await page.$$eval('details', (all) => all.forEach((one) => (one.open = true)));
    for (const [width, height] of [
        [320, 640],
        [1280, 900],
        [3840, 2160],
    ]) {
        await page.setViewport({ width, height });
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50))));
        assert.ok((await sticksOut(page)) <= 0, `${width} px`);
        // Nothing of a chart sticks out of it either, and its words are as large as others.
        const wrong = await page.$$eval('figure svg', (all) =>
            all.flatMap((svg) => {
                const { right, left } = svg.getBoundingClientRect();
                const root = parseFloat(getComputedStyle(document.documentElement).fontSize);
                return [...svg.querySelectorAll('text')].flatMap((text) => {
                    const box = text.getBoundingClientRect();
                    const small = box.height < 0.7 * root;
                    return box.right > right + 1 || box.left < left - 1 || small ? [text.textContent] : [];
                });
            }),
        );
        assert.deepEqual(wrong, [], `${width} px`);
    }
    await page.setViewport({ width: 1280, height: 900 });
    for (const scheme of ['light', 'dark']) {
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        assert.deepEqual(await violations(page), [], scheme);
    }
});
