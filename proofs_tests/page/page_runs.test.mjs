// page_runs.test.mjs: what the Experiment view offers around its runs: lessons, tasks of their own, seeds,
// undo, files, taking up an earlier visit.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { pageModule } from './in_node.mjs';
import {
    allDone,
    allReady,
    brokenWords,
    browser,
    counts,
    fileChooser,
    goto,
    eventually,
    hash,
    kept,
    onPage,
    openLesson,
    press,
    RACE,
    runs,
    says,
    skip,
    stopped,
    text,
    until,
} from './testing.mjs';

const { endOfAxis } = await pageModule('charts/axes');

/** At every size the chart of Experiment begins above y = 420. */
async function chartIsHigh(page) {
    for (const width of [390, 768, 1280, 1920, 2560]) {
        await page.setViewport({ width, height: 800 });
        await eventually(async () => {
            const top = await page.$eval(
                '.race .chart',
                (one) => one.getBoundingClientRect().top + globalThis.scrollY,
            );
            assert.ok(top <= 420, `${top} px at ${width}`);
        });
    }
}
onPage(
    'the chart stands high at every size, of six runs on two tasks, too',
    '#preset=count',
    {},
    chartIsHigh,
);

onPage('preset=mission is one press away: three mechanisms on three tasks', RACE, {}, async (page) => {
    await allReady(page);
    await openLesson(page, 'Three mechanisms, three tasks');
    await until(page, () => globalThis.seqmix.runs().length === 9);
    await page.select('.transport select', 'full');
    const all = await runs(page);
    for (const [i, mixer] of ['las', 'cat', 'focus'].entries())
        for (const [j, task] of ['mqar', 'sc_unique', 'smnist'].entries())
            assert.match(all[3 * j + i].config, new RegExp(`mixer=${mixer}&task=${task}`));
    await until(page, () => globalThis.seqmix.runs().every(({ step }) => step > 15));
    await until(page, () => globalThis.seqmix.runs()[1].solved);
    const headings = await page.$$eval('.group h2', (all) => all.map((one) => one.textContent));
    assert.equal(headings.length, 3, headings.join());
    assert.equal(
        await page.$eval('.card[aria-pressed=true] strong', (one) => one.textContent),
        'Three mechanisms, three tasks',
    );
    const signs = await page.$$eval('.run .mark', (marks) => marks.map((mark) => mark.getAttribute('class')));
    for (const group of [0, 3, 6])
        assert.equal(new Set(signs.slice(group, group + 3)).size, 3, 'one sign per run of a task');
    await says(page, '.setup', /procedural digits/);
    // The address says the same again.
    const before = (await runs(page)).map(({ config }) => config);
    const address = await hash(page);
    await page.evaluate(() => (location.hash = '#mixer=cat'));
    await until(page, () => globalThis.seqmix.runs().length === 1);
    await page.evaluate((back) => (location.hash = back), address);
    await until(page, () => globalThis.seqmix.runs().length === 9);
    assert.deepEqual(
        (await runs(page)).map(({ config }) => config),
        before,
    );
});

onPage('one run can have a task of its own', RACE, {}, async (page) => {
    await allReady(page);
    await page.$$eval('.run details', (all) => all.forEach((one) => (one.open = true)));
    const offered = await page.$$eval('.run:nth-child(2) .own-task option', (all) => all.map((o) => o.value));
    assert.ok(offered.includes('charlm') && !offered.includes('own'), `${offered}`);
    await page.select('.run:nth-child(2) .own-task select', 'ar');
    await until(page, () => /task=ar\b/.test(globalThis.seqmix.runs()[1].config));
    assert.match((await runs(page))[0].config, /task=mqar/);
    assert.equal((await page.$$('.group')).length, 2);
    assert.match((await runs(page))[1].name, /Softmax attention · Associative recall/);
});

onPage(
    'three seeds each: a band, and how many of them reached 99 %',
    `${RACE}!speed=full`,
    {},
    async (page) => {
        await allReady(page);
        await press(page, 'Start');
        await until(page, () => globalThis.seqmix.runs()[0].step > 30);
        const first = await page.evaluate(() => globalThis.seqmix.words(0).slice(0, 20));
        const box = await page.waitForSelector('::-p-aria([name="3 seeds each"][role="checkbox"])');
        await box.click();
        await until(page, () => globalThis.seqmix.runs().every(({ members }) => members.length === 3));
        assert.match(await hash(page), /seeds=3/);
        assert.deepEqual(
            (await runs(page))[0].members.map(({ seed }) => seed),
            ['1', '2', '3'],
        );
        // (Also the slowest to learn: its tries are compared with the others' at the same steps.)
        await until(page, () =>
            globalThis.seqmix.runs()[0].members.every(({ solved, step }) => solved && step > 100),
        );
        assert.deepEqual(
            await page.evaluate(() => globalThis.seqmix.words(0).slice(0, 20)),
            first,
            'the run went on',
        );
        await says(page, '.numbers tbody tr:nth-child(1)', /3 of 3 by \d+/);
        // The range of the seeds is a band of the run's colour, a fifth as strong, from the worst to the
        // best.
        await stopped(page);
        await until(page, () =>
            globalThis.seqmix
                .runs()
                .every(({ members }) => members.every(({ status }) => status !== 'going')),
        );
        const all = await runs(page);
        // The table's numbers: by which step so many reached 99 %, and tokens for steps a second.
        const cells = await page.$$eval('.numbers tbody tr', (rows) =>
            rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)),
        );
        for (const [i, { members, config }] of all.entries()) {
            const by = members.flatMap(({ solved }) => solved?.step ?? []);
            assert.equal(
                cells[i][3],
                `${by.length} of 3${by.length ? ` by ${Math.max(...by)}` : ''}`,
                config,
            );
            if (i === 0)
                assert.ok(Math.min(...by) < Math.max(...by), `all at ${by[0]}: which is shown says nothing`);
            const [, tokens, unit] = /^([\d.]+)( k| M)?$/.exec(cells[i][5]);
            const told = Number(tokens) * ({ ' k': 1e3, ' M': 1e6 }[unit] ?? 1);
            // (Sequences of 64, 8 of them at once, of attention 32: their defaults.)
            const each = told / Number(cells[i][4]);
            assert.ok(
                Math.abs(each / ([8, 32][i] * 64) - 1) < 0.08,
                `${cells[i][5]} tokens of ${cells[i][4]} steps/s`,
            );
        }
        const end = endOfAxis(
            'step',
            Math.max(...all.flatMap(({ members }) => members.map(({ step }) => step))),
        );
        const shares = all[0].members.map(
            ({ tried }) => new Map(tried.map(({ step, accuracy }) => [step, accuracy])),
        );
        const rangeAt = (step) => shares.map((of) => of.get(step)).sort((a, b) => a - b);
        const steps = [...shares[0].keys()].filter((step) => shares.every((of) => of.has(step)));
        const apart = (step) => (rangeAt(step)[0] > 0.3 ? rangeAt(step)[2] - rangeAt(step)[0] : 0);
        const widest = steps.reduce((a, b) => (apart(b) > apart(a) ? b : a));
        const [low, , high] = rangeAt(widest);
        assert.ok(
            high - low > 0.05,
            `the seeds differ: ${low} to ${high} at step ${widest} ${JSON.stringify(shares.map((m) => [...m]))}`,
        );
        const painted = () =>
            page.$eval(
                '.chart canvas',
                (canvas, across) => {
                    const over = canvas.closest('.chart').querySelector('.u-over').getBoundingClientRect();
                    const box = canvas.getBoundingClientRect();
                    const x = Math.round(over.left - box.left + across * over.width);
                    const { data } = canvas.getContext('2d').getImageData(x, 0, 1, canvas.height);
                    const paint = [0, 114, 178, 51];
                    const like = (y) => paint.every((part, c) => Math.abs(data[4 * y + c] - part) <= 6);
                    const rows = Array.from({ length: canvas.height }, (_, y) => y).filter(like);
                    const share = (y) => 1.04 * (1 - (y - (over.top - box.top)) / over.height);
                    return { low: share(rows.at(-1)), high: share(rows[0]), pixel: 1.04 / over.height };
                },
                widest / end,
            );
        const fits = (band) =>
            [band.low - low, band.high - high].every((off) => Math.abs(off) <= 6 * band.pixel);
        // Charts are painted no more often than leaves time for training.
        await eventually(async () => {
            const band = await painted();
            assert.ok(
                fits(band),
                `the band at step ${widest} is ${band.low} to ${band.high}, the seeds ${low} to ${high}`,
            );
        });
        await box.click();
        await until(page, () => globalThis.seqmix.runs().every(({ members }) => members.length === 1));
    },
);

onPage('a reset can be undone, and done again', RACE, {}, async (page) => {
    await allReady(page);
    await press(page, 'Start');
    await until(page, () => globalThis.seqmix.runs().every(({ step }) => step > 10));
    await press(page, 'Pause');
    await until(page, () => globalThis.seqmix.runs().every(({ status }) => status === 'paused'));
    const before = await runs(page);
    await press(page, 'Reset');
    await until(page, () => globalThis.seqmix.runs().every(({ status }) => status === 'ready'));
    await press(page, 'Undo the reset');
    await until(page, () => globalThis.seqmix.runs().every(({ step }) => step > 10));
    assert.deepEqual(
        (await runs(page)).map(({ digest }) => digest),
        before.map(({ digest }) => digest),
    );
    await press(page, 'Redo the reset');
    await until(page, () =>
        globalThis.seqmix.runs().every(({ status, step }) => status === 'ready' && !step),
    );
    await press(page, 'Undo the reset');
    await press(page, 'Resume');
    await until(page, (step) => globalThis.seqmix.runs()[1].step > step, before[1].step + 5);
});

onPage(
    'a lesson, a change of the task and a removal can be undone: the runs go on where they were',
    RACE,
    {},
    async (page) => {
        await allReady(page);
        await press(page, 'Start');
        await until(page, () => globalThis.seqmix.runs().every(({ step }) => step > 10));
        await press(page, 'Pause');
        await until(page, () => globalThis.seqmix.runs().every(({ status }) => status === 'paused'));
        const before = await runs(page);
        const address = await hash(page);
        const words = await page.evaluate(() => globalThis.seqmix.words(1));
        const isBack = async () => {
            await until(
                page,
                () => globalThis.seqmix.runs().length === 2 && globalThis.seqmix.runs()[0].step > 0,
            );
            const now = await runs(page);
            assert.deepEqual(
                now.map(({ config, digest }) => [config, digest]),
                before.map(({ config, digest }) => [config, digest]),
            );
            assert.equal(await hash(page), address);
            assert.deepEqual(await page.evaluate(() => globalThis.seqmix.words(1)), words);
        };
        await openLesson(page, 'Copying in order');
        await until(page, (config) => globalThis.seqmix.runs()[0].config !== config, before[0].config);
        await until(page, () => globalThis.seqmix.runs()[0].step > 3);
        await press(page, 'Undo the lesson');
        await isBack();
        await page.select('.setup .wide select', 'ar');
        await until(page, () => /task=ar\b/.test(globalThis.seqmix.runs()[0].config));
        await press(page, 'Undo the change');
        await isBack();
        // So by its picture.
        await page.$eval('.all-tasks', (one) => (one.open = true));
        const cards = await page.$$eval('.task-cards button', (all) =>
            all.map((one) => [one.textContent, one.querySelectorAll('svg rect').length]),
        );
        assert.ok(cards.length >= 15 && cards.every(([, drawn]) => drawn > 3), cards.join());
        await press(page, 'Running sum');
        await until(page, () => /task=cumsum\b/.test(globalThis.seqmix.runs()[0].config));
        await says(page, '.task-cards [aria-pressed=true]', 'Running sum');
        await press(page, 'Undo the change');
        await isBack();
        await (await page.$$('.run .run-head button'))[0].click();
        await until(page, () => globalThis.seqmix.runs().length === 1);
        await press(page, 'Undo the removal');
        await isBack();
    },
);

onPage(
    'a run removed far below can be brought back from there',
    `${RACE}~seed=2~seed=3~mixer=las~mixer=focus`,
    {},
    async (page) => {
        await allReady(page);
        await page.setViewport({ width: 1280, height: 900 });
        const setups = async () => (await runs(page)).map(({ config }) => config);
        const before = await setups();
        const inSight = (selector) =>
            page.$$eval(selector, (all) =>
                all.some((one) => {
                    const { top, bottom } = one.getBoundingClientRect();
                    const at = document.elementFromPoint(innerWidth / 2, (top + bottom) / 2);
                    return top >= 0 && bottom <= innerHeight && (!one.closest('.undone') || one.contains(at));
                }),
            );
        await page.evaluate(() => {
            const all = document.querySelectorAll('.run .remove');
            all[all.length - 1].scrollIntoView({ block: 'center', behavior: 'instant' });
            all[all.length - 1].click();
        });
        await until(page, () => globalThis.seqmix.runs().length === 5);
        await counts(page, '.undone button', 1);
        assert.equal(await inSight('.transport .undo'), false);
        assert.ok(await inSight('.undone button'), 'what brings it back lies in sight');
        assert.equal(await text(page, '.undone[aria-live=polite]'), 'Undo the removal');
        await page.focus('.undone button');
        await page.keyboard.press('Enter');
        await eventually(async () => assert.deepEqual(await setups(), before));
        // The focus stays, and does it again; at the top its own button is enough.
        await says(page, '.undone button', 'Redo the removal');
        assert.ok(await page.evaluate(() => document.activeElement.matches('.undone button')));
        await page.evaluate(() => {
            document.activeElement.blur();
            scrollTo({ top: 0, behavior: 'instant' });
        });
        await counts(page, '.undone button', 0);
        assert.ok(await inSight('.transport .undo'));
    },
);

onPage('a lesson starts every run anew, in the same colours on each task', RACE, {}, async (page) => {
    await allReady(page);
    await press(page, 'Start');
    await until(page, () => globalThis.seqmix.runs().every(({ step }) => step > 30));
    // (Seen in the moment of the press: the lesson trains at full speed.)
    const begun = await openLesson(page, 'Three mechanisms, three tasks');
    assert.deepEqual(
        begun.map(({ step }) => step),
        Array(9).fill(0),
        'nothing goes on from before',
    );
    const signs = await page.$$eval('.run .mark', (marks) => marks.map((mark) => mark.getAttribute('class')));
    assert.deepEqual(signs.slice(3, 6), signs.slice(0, 3));
    assert.deepEqual(signs.slice(6), signs.slice(0, 3));
});

onPage(
    'a warning is said where a mode sees the future',
    '#mixer=las&task=mqar&pool=centred',
    {},
    async (page) => {
        await allReady(page);
        await says(page, '.run .warning', /sees 1 token ahead/);
        await page.evaluate(() => (location.hash = '#mixer=las&task=mqar'));
        await until(
            page,
            () => !document.querySelector('.run .warning') && globalThis.seqmix.runs()[0].status === 'ready',
        );
    },
);

onPage(
    'an earlier visit is offered, and goes on bit for bit',
    '#mixer=cat&task=mqar&steps=300',
    {},
    async (page) => {
        await allReady(page);
        await press(page, 'Start');
        await until(page, () => globalThis.seqmix.runs()[0].step > 40);
        await press(page, 'Pause');
        await until(page, () => globalThis.seqmix.runs()[0].status === 'paused');
        const [{ step, digest }] = await runs(page);
        const words = await page.evaluate(() => globalThis.seqmix.words(0));
        await eventually(async () => assert.equal((await kept(page, 'session')).steps, step));
        await goto(page, `${browser.lab.address}#mixer=attention&task=ar`);
        await until(
            page,
            () => globalThis.seqmix && document.querySelector('[aria-label="Your last visit"]'),
        );
        assert.equal((await runs(page))[0].step, 0, 'nothing is taken up without being asked for');
        await says(page, '[aria-label="Your last visit"]', new RegExp(`to step ${step}`));
        // It does not push the chart below the fold.
        await chartIsHigh(page);
        await press(page, 'Continue');
        await until(page, () => globalThis.seqmix.runs()[0].step > 40 && globalThis.seqmix.runs()[0].digest);
        const [resumed] = await runs(page);
        assert.match(resumed.config, /mixer=cat&task=mqar/);
        assert.equal(resumed.step, step);
        assert.equal(resumed.digest, digest);
        assert.deepEqual(await page.evaluate(() => globalThis.seqmix.words(0)), words);
        await page.select('.transport select', 'full');
        await press(page, 'Resume');
        await allDone(page);
        const end = await page.evaluate(() => globalThis.seqmix.words(0));
        assert.equal(end.length, 300);
        await page.evaluate(() => (location.hash = '#mixer=cat&task=mqar&steps=300&v=1~filter=2!speed=full'));
        await press(page, 'Reset');
        await until(page, () => globalThis.seqmix.runs()[0].status === 'ready');
        await press(page, 'Start');
        await allDone(page);
        assert.deepEqual(
            await page.evaluate(() => globalThis.seqmix.words(0)),
            end,
            'as if it had never stopped',
        );
    },
);

onPage('runs, numbers and charts leave as files, and a saved run comes back', RACE, {}, async (page) => {
    const folder = await mkdtemp(join(tmpdir(), 'seqmix-downloads-'));
    try {
        const client = await page.createCDPSession();
        await client.send('Browser.setDownloadBehavior', {
            behavior: 'allow',
            downloadPath: folder,
            browserContextId: page.browserContext().id,
            eventsEnabled: true,
        });
        const names = new Map();
        const whole = new Set();
        client.on('Browser.downloadWillBegin', (one) => names.set(one.guid, one.suggestedFilename));
        client.on('Browser.downloadProgress', ({ guid, state }) => {
            if (state === 'completed') whole.add(names.get(guid));
        });
        const file = async (name) => {
            await eventually(async () => assert.ok(whole.has(name), `${name} among ${[...whole].join()}`));
            return readFile(join(folder, name));
        };
        await allReady(page);
        await press(page, 'Start');
        await until(page, () => globalThis.seqmix.runs().every(({ step }) => step > 20));
        await press(page, 'Pause');
        await until(page, () => globalThis.seqmix.runs().every(({ status }) => status === 'paused'));
        const [cat] = await runs(page);
        const choose = (what) => page.select('.options label:last-child select', what);
        await choose('csv');
        const lines = (await file('seqmix.csv')).toString().trim().split('\n');
        assert.equal(lines[0], 'run,seed,config,step,seconds,products,loss,accuracy,r2');
        assert.equal(lines.filter((line) => line.startsWith('"CAT"')).length, cat.step + 1);
        const losses = lines.filter((line) => line.startsWith('"CAT"')).map((line) => line.split(',').at(-3));
        const words = await page.evaluate(() => globalThis.seqmix.words(0));
        const word = new Float32Array([Number(losses[1])]);
        assert.equal(new Uint32Array(word.buffer)[0].toString(16).padStart(8, '0'), words[0]);
        await choose('accuracy.svg');
        const svg = (await file('seqmix-mqar-accuracy.svg')).toString();
        assert.match(svg, /^<svg.*Multi-query associative recall.*CAT.*polyline.*<\/svg>$/s);
        await choose('loss.png');
        assert.equal((await file('seqmix-mqar-loss.png')).subarray(1, 4).toString(), 'PNG');
        // The command and the embed snippet, to be copied.
        await page.evaluate(() => {
            navigator.clipboard.writeText = async (text) => void (globalThis.copied = text);
        });
        await page.click('.proof summary');
        for (const [name, copied] of [
            ['Copy the command of CAT', "build/seqmix train 'mixer=cat&task=mqar' --json"],
            ['Copy the snippet of CAT', "lab.open('mixer=cat&task=mqar')"],
        ]) {
            await press(page, name);
            await until(page, (want) => globalThis.copied?.includes(want), copied);
        }
        // A name among them, a file's perhaps, is not broken in its middle.
        for (const width of [390, 1280]) {
            await page.setViewport({ width, height: 900 });
            assert.deepEqual(await brokenWords(page, '.command code'), [], `${width} px`);
        }
        await page.$$eval('.run details', (all) => all.forEach((one) => (one.open = true)));
        await press(page, 'Save its weights');
        const name = `cat-mqar-step${cat.step}.safetensors`;
        assert.ok((await file(name)).length > 10_000);
        const chooser = await fileChooser(page, 'Load a run …');
        await chooser.accept([join(folder, name)]);
        await until(page, () => globalThis.seqmix.runs().length === 3 && globalThis.seqmix.runs()[2].digest);
        assert.equal((await runs(page))[2].digest, cat.digest);
        // What is no run says so.
        const again = await fileChooser(page, 'Load a run …');
        await again.accept([join(folder, 'seqmix.csv')]);
        await until(page, () =>
            /seqmix\.csv: /.test(document.querySelector('.row + .why')?.textContent ?? ''),
        );
        assert.equal((await runs(page)).length, 3);
        assert.equal(await page.$('.notice'), null, 'it is said beside the button, nowhere else');
        // It is called by its file, and starts from it again.
        assert.match((await runs(page))[2].name, new RegExp(`^CAT · ${name.replaceAll('.', '\\.')}$`));
        await press(page, 'Resume');
        await until(page, (step) => globalThis.seqmix.runs()[2].step > step, cat.step);
        await press(page, 'Reset');
        await until(
            page,
            () => globalThis.seqmix.runs()[0].status === 'ready' && globalThis.seqmix.runs()[2].digest,
        );
        assert.deepEqual(
            (await runs(page)).map(({ step }) => step),
            [0, 0, cat.step],
        );
        assert.equal((await runs(page))[2].digest, cat.digest);
    } finally {
        await rm(folder, { recursive: true, force: true });
    }
});

onPage('the keyboard sheet, and what it says', RACE, {}, async (page) => {
    await allReady(page);
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
    await says(page, 'dialog', /start or pause/);
    await page.setViewport({ width: 1280, height: 800 });
    const hidden = await page.$eval('dialog[open]', (one) => one.scrollHeight - one.clientHeight);
    assert.equal(hidden, 0, 'the whole sheet is seen on a laptop');
    await page.keyboard.press('Escape');
    await until(page, () => !document.querySelector('dialog[open]'));
    await page.keyboard.press('.');
    await until(page, () => globalThis.seqmix.runs().every(({ step }) => step === 1));
    await page.keyboard.press('n');
    await until(page, () => /run=1/.test(location.hash));
    await page.keyboard.press('3');
    await until(page, () => /view=inside/.test(location.hash));
});

onPage(
    'curves over seconds and products, smoothed and logarithmic, are in the address',
    RACE,
    {},
    async (page) => {
        await allReady(page);
        const selects = await page.$$('.options select');
        await selects[0].select('flop');
        await selects[1].select('20');
        await page.keyboard.press('Tab');
        await (await page.$('.options input')).click();
        assert.match(await hash(page), /x=flop&log=1&smooth=20/);
        await says(page, '.axis', 'FLOPs');
    },
);

onPage(
    'a text is judged in bits per character, as the lesson that speaks of them says',
    '#mixer=cat&task=charlm&width=8&batch=2&steps=40!speed=full',
    {},
    async (page) => {
        await allReady(page);
        await press(page, 'Start');
        await allDone(page);
        // Those of the page's last try: 16 sequences, as few as it ever takes.
        const folder = await mkdtemp(join(tmpdir(), 'seqmix-text-'));
        try {
            const saved = join(folder, 'text.safetensors');
            const native = (...args) =>
                spawnSync('build/seqmix', args, { encoding: 'utf8' }).stdout.trim().split('\n').at(-1);
            native('train', (await runs(page))[0].config, '--save', saved, '--eval', '0');
            const wanted = JSON.parse(native('eval', saved, '--count', '16', '--json'));
            const cell = `${(100 * wanted.accuracy).toFixed(1)} %, ${wanted.bits.toFixed(2)} bits`;
            await says(page, '.numbers tbody td:nth-of-type(3)', cell);
        } finally {
            await rm(folder, { recursive: true, force: true });
        }
        await says(page, '.legend', /%, \d\.\d\d bits/);
        await page.evaluate(() => (location.hash = '#mixer=cat&task=mqar&steps=10!speed=full'));
        await until(page, () => /mqar/.test(globalThis.seqmix.runs()[0].config));
        await says(page, '.numbers', /^(?!.*bits)/);
    },
);

onPage(
    'a text of the visitor: trained on as natively, kept over a reload, refused in a sentence',
    '#mixer=cat&task=charlm&width=8&batch=2&steps=40&length=32!speed=full',
    {},
    async (page) => {
        const folder = await mkdtemp(join(tmpdir(), 'seqmix-text-'));
        const hand = async (name, content) => {
            await writeFile(join(folder, name), content);
            const chooser = await fileChooser(page, 'Choose a text …');
            await chooser.accept([join(folder, name)]);
        };
        try {
            await allReady(page);
            await hand('My text.txt.gz', gzipSync('seven words, again and again. '.repeat(50)));
            await until(page, () => /text=My_text\.txt/.test(globalThis.seqmix.runs()[0].config));
            await allReady(page);
            await says(page, 'main', /1,500 bytes of My_text\.txt, the last tenth held out/);
            await press(page, 'Start');
            await allDone(page);
            const config = (await runs(page))[0].config;
            await writeFile(join(folder, 'My_text.txt'), 'seven words, again and again. '.repeat(50));
            const native = spawnSync(
                'build/seqmix',
                ['train', config, '--eval', '0', '--json', '--every', '1'],
                { env: { ...process.env, SEQMIX_DATA: folder }, encoding: 'utf8' },
            );
            const lines = native.stdout
                .trim()
                .split('\n')
                .map((line) => JSON.parse(line));
            assert.deepEqual(
                await page.evaluate(() => globalThis.seqmix.words(0)),
                lines.flatMap(({ word }) => word ?? []),
            );
            await goto(page, `${browser.lab.address}#${config}`);
            await until(page, () =>
                globalThis.seqmix?.runs().every(({ status, digest }) => status === 'ready' && digest),
            );
            // One that the run cannot read changes nothing; another of the same name starts it anew.
            const [before] = await runs(page);
            await hand('My text.txt', 'too short');
            await until(page, () =>
                /a text of at least 20 bytes, and this one has 9/.test(
                    document.querySelector('main').textContent,
                ),
            );
            await says(page, 'main', /1,500 bytes of My_text\.txt/);
            assert.deepEqual((await runs(page))[0], before);
            await hand('My text.txt', 'seven words, and then others. '.repeat(40));
            await until(page, () =>
                /1,200 bytes of My_text/.test(document.querySelector('main').textContent),
            );
            await allReady(page);
            assert.deepEqual(
                (await runs(page)).map(({ status, step }) => [status, step]),
                [['ready', 0]],
            );
            await hand('bad.gz', Buffer.from([0x1f, 0x8b, 8, 0, 0]));
            await until(page, () =>
                /bad\.gz cannot be read/.test(document.querySelector('main').textContent),
            );
            await press(page, 'Back to the embedded one');
            await until(page, () => /text=sample|^(?!.*text=)/.test(globalThis.seqmix.runs()[0].config));
            await allReady(page);
        } finally {
            await rm(folder, { recursive: true, force: true });
        }
    },
);

const wholes = (page) =>
    page.evaluate(
        () => performance.getEntriesByType('resource').filter(({ name }) => /seqmix-whole/.test(name)).length,
    );
onPage(
    'what the first module lacks comes with the whole one, fetched once, and trains to the words of the program',
    '#mixer=cat&task=mqar&steps=20!speed=full',
    { cores: 3 },
    async (page) => {
        await allReady(page);
        assert.equal(await wholes(page), 0, 'a first visit does without');
        await page.evaluate(() => {
            const small = 'task=mqar&vocab=16&length=16&pairs=2&width=16&heads=2&batch=2&steps=12';
            location.hash = `#mixers=gla&${small}~mixers=cat,lstm&blocks=2~mixers=attention!speed=full`;
        });
        await until(page, () => globalThis.seqmix.runs().length === 3);
        await allReady(page);
        await press(page, 'Start');
        await allDone(page);
        assert.equal(await wholes(page), 1, 'both workers have the one that was fetched');
        for (const [i, { config }] of (await runs(page)).entries()) {
            const { stdout } = spawnSync(
                'build/seqmix',
                ['train', config, '--eval', '0', '--json', '--every', '1'],
                {
                    encoding: 'utf8',
                },
            );
            const native = stdout
                .trim()
                .split('\n')
                .flatMap((line) => JSON.parse(line).word ?? []);
            assert.equal(native.length, 12);
            assert.deepEqual(await page.evaluate((n) => globalThis.seqmix.words(n), i), native, config);
        }
    },
);

test(
    'where the whole module cannot be fetched the run says so, and starts when it can',
    { skip },
    async () => {
        const { page, close } = await browser.lab.open('#mixer=cat&task=mqar&steps=20!speed=full');
        try {
            await allReady(page);
            await page.setBypassServiceWorker(true);
            await page.setRequestInterception(true);
            let absent = true;
            page.on('request', (request) =>
                absent && /seqmix-whole/.test(request.url()) ? request.abort() : request.continue(),
            );
            await page.evaluate(() => (location.hash = '#mixer=gla&task=mqar&steps=20!speed=full'));
            await until(page, () => globalThis.seqmix.runs()[0].status === 'failed');
            await says(page, '.run .why', /^Stopped: .*seqmix-whole.*\.wasm cannot be read: /);
            absent = false;
            await press(page, 'Start it again');
            await allReady(page);
            await press(page, 'Start');
            await allDone(page);
        } finally {
            await close();
        }
    },
);
