// test_page_length.mjs: the Length view: does it still work on longer input?
import assert from 'node:assert/strict';
import { allReady, onPage, press, runs, says, text, until } from './testing.mjs';

const accuracy = (run, length) => run.lengths.find((point) => point.length === length)?.result?.accuracy;

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
        const row = (n) => text(page, `.at-lengths tbody tr:nth-child(${n})`);
        assert.match(await row(1), /CAT.*(99|100)\.\d %(99|100)\.\d %$/);
        assert.match(await row(2), /Softmax attention.*%\d{1,2}\.\d %$/);
        await says(page, '.at-lengths thead', /64 trained/);
        const drawn = await page.$eval('.chart.tall canvas', (canvas) => {
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            return new Set(new Uint32Array(data.buffer)).size;
        });
        assert.ok(drawn > 20, 'curves are drawn');
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
    },
);
