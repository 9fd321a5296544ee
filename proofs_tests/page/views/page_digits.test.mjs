// page_digits.test.mjs: the Digits view: drawing, reading, saliency, confusion, MNIST files.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
    allReady,
    browser,
    counts,
    fileChooser,
    eventually,
    goto,
    kept,
    onPage,
    press,
    runs,
    says,
    stopped,
    text,
    until,
} from '../testing.mjs';

const DIGITS = '#mixer=chela&task=smnist~mixer=cat!view=digits&speed=full';

/** Draw on the pad with the mouse: strokes of points in a box of 100. */
async function draw(page, ...strokes) {
    const pad = await page.$('.pad canvas');
    await pad.evaluate((canvas) => canvas.scrollIntoView({ block: 'center' }));
    const box = await pad.boundingBox();
    for (const stroke of strokes) {
        for (const [i, [x, y]] of stroke.entries()) {
            await page.mouse.move(box.x + (x / 100) * box.width, box.y + (y / 100) * box.height, {
                steps: 4,
            });
            if (i === 0) await page.mouse.down();
        }
        await page.mouse.up();
    }
}

onPage('a drawn digit is recentred, read row by row, and answered', DIGITS, {}, async (page) => {
    await allReady(page);
    await says(page, 'main', /procedural digits/);
    await until(page, () => globalThis.seqmix.runs()[0].accuracy > 0.9);
    await stopped(page);
    // A one in the upper left corner: where it is drawn does not matter.
    await draw(page, [
        [15, 10],
        [15, 60],
    ]);
    await until(page, () => document.querySelectorAll('.fit li').length === 2);
    await says(page, '.fit li:nth-child(1)', /Scaled to \d+ × 20/);
    await until(page, () => /answers 1, and is/.test(document.querySelector('.answer')?.textContent ?? ''));
    const shares = await page.$$eval('.shares .number', (all) => all.map((one) => Number(one.textContent)));
    assert.equal(shares.length, 10);
    assert.ok(Math.abs(shares.reduce((a, b) => a + b, 0) - 100) <= 5, shares.join());
    assert.equal(shares.indexOf(Math.max(...shares)), 1);
    // Pointing at an earlier column shows what it would have answered there.
    const map = await (await page.$('.reading canvas')).boundingBox();
    await page.mouse.move(map.x + 3, map.y + 3);
    await until(page, () => /read so far: 1 of 28/.test(document.querySelector('main').textContent));
    const before = await page.$$eval('.shares .number', (all) => all.map((one) => Number(one.textContent)));
    assert.notDeepEqual(before, shares);
    // The gradient is drawn, on the pixels of the image.
    await eventually(async () => {
        const coloured = await page.$eval('.saliency canvas:last-child', (canvas) => {
            const { data } = canvas.getContext('2d').getImageData(0, 0, 28, 28);
            return [data.filter((value, i) => i % 4 === 3 && value > 20).length, canvas.width];
        });
        assert.ok(coloured[0] > 20 && coloured[1] === 28, coloured.join());
    });
    // Another run reads the same drawing.
    await page.focus('.digits-runs input:checked');
    await page.keyboard.press('ArrowRight');
    await until(page, () => /CAT/.test(document.querySelector('.digits-runs .picked').textContent));
    assert.equal((await page.$$('.fit li')).length, 2, 'the drawing stays');
    await until(page, () => document.querySelector('.answer'));
    await page.keyboard.press('ArrowLeft');
    // By the keyboard, too.
    await press(page, 'Clear the drawing');
    await until(page, () => document.querySelectorAll('.fit li').length === 0);
    // By a finger.
    const pad = await (await page.$('.pad canvas')).boundingBox();
    await page.touchscreen.touchStart(pad.x + 40, pad.y + 40);
    await page.touchscreen.touchMove(pad.x + 60, pad.y + 120);
    await page.touchscreen.touchEnd();
    await until(page, () => document.querySelectorAll('.fit li').length === 2);
    await press(page, 'Clear the drawing');
    await until(page, () => document.querySelectorAll('.fit li').length === 0);
    await page.focus('.pad canvas');
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    await until(page, () => document.querySelectorAll('.fit li').length === 2);
    // A held-out image says what it is.
    await press(page, 'Next image');
    await until(page, () => /✓ right|✗ it is \d/.test(document.querySelector('.answer')?.textContent ?? ''));
});

onPage(
    'quick presses of the next image are all heard, and the number is always that of the image shown',
    DIGITS,
    {},
    async (page) => {
        await allReady(page);
        await until(page, () => document.querySelector('.saliency canvas'));
        // What every state of the page says once its pictures are drawn: the number, and the image.
        await page.evaluate(() => {
            const said = (globalThis.said = new Map());
            const write = () => {
                const held = document.querySelector('.stepper [aria-pressed]').textContent;
                const image = document.querySelector('.saliency canvas').toDataURL();
                const [, number] = /^held-out image (\d+)/.exec(held);
                said.set(number, (said.get(number) ?? new Set()).add(image));
            };
            write();
            // Twice in one turn: the second press comes before the first is drawn.
            const next = document.querySelector('[aria-label="Next image"]');
            for (let i = 0; i < 6; i++) setTimeout(() => (next.click(), next.click()), 70 * i);
            setInterval(write, 5);
        });
        await says(page, '.stepper [aria-pressed]', 'held-out image 13');
        await says(page, '.answers-of caption', 'What every run answers to held-out image 13');
        await says(page, '.answers-of thead', 'RunAnswerSureAt step');
        const said = await page.evaluate(() =>
            [...globalThis.said].map(([number, images]) => [number, images.size]),
        );
        assert.ok(said.length > 1, said.join());
        assert.deepEqual(
            said.filter(([, images]) => images > 1),
            [],
            'numbers under which several images were shown',
        );
    },
);

onPage('the confusion matrix counts 1,024 held-out images', DIGITS, {}, async (page) => {
    await allReady(page);
    await until(page, () => globalThis.seqmix.runs()[0].step > 60);
    await stopped(page);
    await counts(page, '.confusion.empty tbody td', 100); // its place is not left blank
    await press(page, 'Count');
    await until(page, () => document.querySelectorAll('.confusion:not(.empty) tbody td').length === 100);
    const taken = await page.$$eval('.confusion tbody td', (all) =>
        all.map((one) => Number(one.textContent)),
    );
    assert.equal(
        taken.reduce((a, b) => a + b, 0),
        1024,
    );
    const right = taken.filter((_, i) => i % 11 === 0).reduce((a, b) => a + b, 0);
    await says(page, '[aria-labelledby=confusion-title]', new RegExp(`${right} of 1024`));
    assert.ok(right > 400, `${right} right`);
});

onPage('MNIST files: told what is wrong, kept over a reload, trained on', DIGITS, {}, async (page) => {
    const folder = await mkdtemp(join(tmpdir(), 'seqmix-mnist-'));
    const idx = (magic, sizes, body) => {
        const bytes = Buffer.alloc(4 + 4 * sizes.length + body.length);
        bytes.writeUInt32BE(magic, 0);
        sizes.forEach((size, i) => bytes.writeUInt32BE(size, 4 + 4 * i));
        bytes.set(body, 4 + 4 * sizes.length);
        return bytes;
    };
    const images = Buffer.from(Uint8Array.from({ length: 8 * 784 }, (_, i) => (i * 7) % 256));
    const labels = Buffer.from([0, 1, 2, 3, 4, 5, 6, 7]);
    const files = {
        'train-images-idx3-ubyte.gz': gzipSync(idx(0x803, [8, 28, 28], images)),
        'train-labels-idx1-ubyte': idx(0x801, [8], labels),
        't10k-images-idx3-ubyte': idx(0x803, [8, 28, 28], images),
        't10k-labels-idx1-ubyte.gz': gzipSync(idx(0x801, [8], labels)),
        'notes.txt': Buffer.from('these are no digits'),
        'broken-idx3.gz': gzipSync(idx(0x803, [9, 28, 28], images)),
        'torn.gz': gzipSync(images).subarray(0, 50),
        'bomb.gz': gzipSync(Buffer.alloc(2 ** 28 + 1)),
    };
    try {
        for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
        const hand = async (...names) => {
            const chooser = await fileChooser(page, 'Choose files …');
            await chooser.accept(names.map((name) => join(folder, name)));
        };
        await allReady(page);
        await hand('notes.txt', 'broken-idx3.gz', 'torn.gz', 'bomb.gz');
        await until(page, () => document.querySelectorAll('.drop .why').length === 4);
        const said = await page.$$eval('.drop .why', (all) => all.map((one) => one.textContent));
        assert.match(said[0], /notes\.txt is no IDX file.*0x74686573/);
        assert.match(said[1], /broken-idx3\.gz has 6288 bytes where 9 images of 28 x 28 take 7072/);
        assert.match(said[2], /torn\.gz cannot be read/);
        assert.match(said[3], /bomb\.gz cannot be read: it has more than 268435456 bytes when unpacked/);
        await hand(...Object.keys(files).slice(0, 4));
        await press(page, 'Train these runs on MNIST');
        await until(page, () =>
            globalThis.seqmix.runs().every(({ config, step }) => /data=mnist/.test(config) && step > 0),
        );
        await stopped(page);
        const config = (await runs(page))[0].config;
        await goto(page, `${browser.lab.address}#${config}!view=digits`);
        await until(page, () => globalThis.seqmix?.runs().every(({ step }) => step > 0));
        await says(page, 'main', /Trained on MNIST, judged on its first 512 test images/);
        await press(page, 'Forget them');
        await eventually(async () => assert.equal((await kept(page, 'mnist')).there, false));
        await goto(page, `${browser.lab.address}#${config}!view=digits`);
        await until(page, () => globalThis.seqmix?.runs().every(({ status }) => status === 'failed'));
        await says(
            page,
            '[aria-labelledby=reading-title] .why',
            /data=mnist reads MNIST, whose files are not here/,
        );
    } finally {
        await rm(folder, { recursive: true, force: true });
    }
});

onPage(
    'without a run that reads images, two models of its own learn; a press trains five',
    '#mixer=cat&task=mqar!view=digits',
    {},
    async (page) => {
        await allReady(page);
        await says(
            page,
            '.own-course',
            /CAT and LaS are learning to read digits as you watch: step [1-9]\d* of 1875/,
        );
        assert.ok(
            (await runs(page)).every(({ step }) => step === 0),
            'the page’s own runs wait',
        );
        const tall = await page.$eval('.answer-large', (one) => one.getBoundingClientRect().height);
        assert.equal(tall, 100);
        // What they take for what is counted by itself, again as they learn.
        const counted = async () =>
            Number(
                /At step (\d+): \d+ of 1024/.exec(await text(page, '[aria-labelledby=confusion-title]'))[1],
            );
        const first = await eventually(counted);
        assert.ok(first >= 20);
        await eventually(async () => assert.ok((await counted()) >= 2 * first));
        const steps = () => page.$eval('.own-course .number', (one) => one.textContent);
        await page.evaluate(() => (location.hash = '#mixer=cat&task=mqar!view=about'));
        await until(page, () => !document.querySelector('.own-course'));
        await page.evaluate(() => (location.hash = '#mixer=cat&task=mqar!view=digits'));
        await until(page, () => document.querySelector('.own-course'));
        assert.doesNotMatch(await steps(), /step 0 /, 'they go on');
        await press(page, 'Train five mechanisms');
        await until(
            page,
            () => globalThis.seqmix.runs().length === 5 && document.querySelector('.reading canvas'),
        );
        assert.match(await page.evaluate(() => location.hash), /view=digits/);
    },
);

onPage(
    'real digits in one press: fetched when asked for, said whose they are, kept, and no more than they are',
    '#mixer=cat&task=mqar!view=digits',
    { silenced: true },
    async (page) => {
        await allReady(page);
        await says(page, '.drop', /LeCun and Corinna Cortes.*CC BY-SA 3\.0/);
        const fetched = () =>
            page.evaluate(() =>
                performance
                    .getEntriesByType('resource')
                    .map(({ name }) => name)
                    .filter((name) => /mnist\//.test(name)),
            );
        assert.deepEqual(await fetched(), [], 'nothing before the press');
        const kept = await (await fetch(new URL('sw.js', browser.lab.address))).text();
        assert.doesNotMatch(kept, /mnist\//, 'nor to be opened without a network');
        // (Also where the address asks for them, on a machine that has none.)
        await page.evaluate(
            () => (location.hash = '#mixer=cat&task=smnist&data=mnist&images=6000!view=digits'),
        );
        await says(
            page,
            '[aria-labelledby=reading-title] .why',
            /data=mnist reads MNIST, whose files are not/,
        );
        await browser.lab.silence(true);
        try {
            await press(page, 'Train on 6,000 real digits (1.3 MB)');
            await says(page, '.drop .why', /mnist\/train-images-idx3-ubyte\.gz cannot be fetched/);
        } finally {
            await browser.lab.silence(false);
        }
        await press(page, 'Train on 6,000 real digits (1.3 MB)');
        await until(page, () =>
            globalThis.seqmix
                .runs()
                .every(({ config, step }) => /data=mnist&images=6000/.test(config) && step > 0),
        );
        assert.match(await page.evaluate(() => location.hash), /data=mnist&images=6000/);
        await says(
            page,
            'main',
            /Trained on MNIST: its first 6000 training images, judged on its first 512 test images\. MNIST: copyright Yann LeCun/,
        );
        assert.equal((await fetched()).length, 5, 'four files, the first of them twice');
        // It is in this browser from now on, and stands for no more than it is.
        await goto(page, `${browser.lab.address}#mixer=cat&task=smnist&data=mnist!view=digits`);
        await says(
            page,
            '[aria-labelledby=reading-title] .why',
            /images=0 asks for all training images of MNIST; here are the first 6000: choose images=6000/,
        );
        await goto(page, `${browser.lab.address}#mixer=cat&task=smnist&data=mnist&images=6000!view=digits`);
        await until(page, () => globalThis.seqmix?.runs()[0]?.step > 0);
    },
);
