// page_length.test.mjs: the Length view: does it still work on longer input?
import assert from 'node:assert/strict';
import { allReady, eventually, onPage, press, runs, says, until } from '../testing.mjs';

const accuracy = (run, length) => run.lengths.find((point) => point.length === length)?.result?.accuracy;

/**
 * Where the Length view's chart has its dashed lines and, behind its right edge, the marks of both runs: as
 * shares of its width and height, and what a pixel is of these.
 */
const drawnAcross = (page) =>
    page.$eval('.chart.tall canvas', (canvas) => {
        const over = canvas.closest('.chart').querySelector('.u-over').getBoundingClientRect();
        const box = canvas.getBoundingClientRect();
        const ratio = canvas.width / box.width;
        const image = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const [left, top, width, height] = [
            over.left - box.left,
            over.top - box.top,
            over.width,
            over.height,
        ].map((at) => Math.round(at * ratio));
        const rgb = (name) => {
            const probe = document.createElement('span');
            probe.style.color = `var(${name})`;
            document.body.append(probe);
            const colour = getComputedStyle(probe)
                .color.match(/[\d.]+/g)
                .map(Number);
            probe.remove();
            return colour;
        };
        // Pixels of a colour in some columns, each told by its distances from the left and from below; also
        // those of so many rows above and below.
        const painted = (name, from, count, beyond = 0) => {
            const paint = rgb(name);
            const found = [];
            for (let row = -beyond; row < height + beyond; row++)
                for (let column = from; column < from + count; column++) {
                    const at = 4 * ((top + row) * image.width + left + column);
                    const alike = (part, i) => Math.abs(image.data[at + i] - part) <= 12;
                    if (image.data[at + 3] > 90 && paint.every(alike))
                        found.push({ x: column + 0.5, y: height - row - 0.5 });
                }
            return found;
        };
        const commonest = (values) => {
            const counts = new Map();
            for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
            return [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), [NaN, 0])[0];
        };
        const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
        const dashes = painted('--ink-2', 0, width);
        const mark = (name) => mean(painted(name, width + 2, 5, 7).map(({ y }) => y)) / height;
        return {
            across: commonest(dashes.map(({ y }) => y)) / height,
            down: commonest(dashes.map(({ x }) => x)) / width,
            first: mark('--run-1'),
            second: mark('--run-2'),
            pixel: 1 / Math.min(width, height),
        };
    });

onPage(
    'does it still work on longer input? CAT does at 16 times the length, attention with rotary positions falls',
    '#preset=length!view=length&speed=full',
    {},
    async (page) => {
        await allReady(page);
        // Attention needs a thousand steps to learn its own length: here it is stopped where it falls
        // already.
        await press(page, 'Start');
        await until(page, () => {
            const [cat, attention] = globalThis.seqmix.runs();
            const at = (run, length) => run.lengths.find((point) => point.length === length);
            return (
                at(cat, 1024)?.step === 300 &&
                at(cat, 1024).result.accuracy > 0.99 &&
                at(attention, 64)?.result.accuracy > 0.9 &&
                at(attention, 1024).step > 300
            );
        });
        const [cat, attention] = await runs(page);
        for (const length of [128, 256, 512, 1024])
            assert.ok(accuracy(cat, length) > 0.99, `CAT at ${length}: ${accuracy(cat, length)}`);
        assert.ok(accuracy(attention, 1024) < 0.4, `attention at 1024: ${accuracy(attention, 1024)}`);
        // It can be read off the page.
        const row = (n) => `.at-lengths tbody tr:nth-child(${n})`;
        await says(page, row(1), /CAT.*(99|100)\.\d %(99|100)\.\d %$/);
        await says(page, row(2), /Softmax attention.*%\d{1,2}\.\d %$/);
        await says(page, '.at-lengths thead', /64 trained/);
        // What stands across the chart: a dashed line at 99 %, one at the length that was trained; and behind
        // its right edge each run's mark, as high as its answers at the greatest length.
        const all = cat.lengths.map(({ length }) => Math.log(length));
        const down = (Math.log(64) - Math.min(...all)) / (Math.max(...all) - Math.min(...all));
        // (Charts are painted no more often than leaves time for training.)
        await eventually(async () => {
            const drawn = await drawnAcross(page);
            const [first, second] = (await runs(page)).map((run) => accuracy(run, 1024) / 1.04);
            const wanted = { across: 0.99 / 1.04, down, first, second };
            for (const [name, at] of Object.entries(wanted))
                assert.ok(
                    Math.abs(drawn[name] - at) <= 4 * drawn.pixel,
                    `${name}: ${JSON.stringify({ drawn, wanted })}`,
                );
        });
    },
);

onPage(
    'what cannot be tried at another length says why',
    '#mixer=attention&task=mqar&position=learned&steps=20~mixer=cat!view=length&speed=full',
    {},
    async (page) => {
        await allReady(page);
        await press(page, 'Start');
        await until(page, () =>
            /learned positions end at length=64/.test(document.querySelector('main').textContent),
        );
        await until(page, () => globalThis.seqmix.runs()[1].lengths.length === 7);
        await says(page, '.at-lengths tbody tr:nth-child(1)', /cannot/);
        await page.evaluate(() => (location.hash = '#mixer=cat&task=smnist&steps=5!view=length&speed=full'));
        await allReady(page);
        await until(page, () => /one length, 28/.test(document.querySelector('main').textContent));
        // Numbers are judged by R², which is no percentage.
        await page.evaluate(
            () => (location.hash = '#mixer=cat&task=select&steps=5!view=length&speed=full&go=1'),
        );
        await says(page, '.length h3', 'R² against length');
        await says(page, '.at-lengths tbody tr', /R² −?\d\.\d\d$/);
        await page.evaluate(() => (location.hash = location.hash.replace('view=length', 'view=experiment')));
        await says(page, '.numbers thead', /LossR²0\.99 first atSteps/);
    },
);
