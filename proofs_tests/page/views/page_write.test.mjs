// page_write.test.mjs: the Write view: where no run reads a text, a sample is answered out of own answers
// and a lesson leads to one that does; a beginning goes on, the same seed with the same weights writes the
// same, another another; surprise, what may come next and the size of the memory are shown.
import assert from 'node:assert/strict';
import { counts, onPage, press, says, until } from '../testing.mjs';

const COPY = '#mixer=cat&task=sc_unique&length=32&steps=40';
const TEXT = '#mixer=gla&task=charlm&width=16&length=32&batch=4&steps=40~mixer=attention&norm=rms';
const click = (page, selector) => page.$eval(selector, (one) => one.click());
const opened = (page) =>
    until(page, () => globalThis.seqmix.runs().every(({ status }) => status !== 'opening'));
/**
 * Begins anew by that button; the first characters of both texts, once they are there. (What stood there
 * before is marked: it has to be gone.)
 */
async function written(page, button) {
    await page.$$eval('.write-text .given ~ span', (all) => all.forEach((one) => (one.dataset.old = '')));
    await click(page, button);
    await until(
        page,
        () =>
            !document.querySelector('.write-text [data-old]') &&
            [...document.querySelectorAll('.write-text')].every(
                ({ textContent: { length } }) => length > 150,
            ),
    );
    return page.$$eval('.write-text', (all) => all.map((one) => one.textContent.slice(0, 150)));
}

onPage(
    'Write: a sample is answered out of its own answers; a lesson leads to text',
    `${COPY}!view=write`,
    {},
    async (page) => {
        await until(page, () => document.querySelectorAll('.recited li').length === 32);
        const rows = await page.$$eval('.recited li', (all) =>
            all.map((row) => ({
                token: row.children[0].textContent,
                own: row.children[0].className === 'own',
                answer: row.children[1]?.textContent.slice(1) ?? '',
            })),
        );
        const own = rows.filter((row) => row.own);
        assert.ok(own.length > 1);
        for (const [i, row] of rows.entries()) if (row.own) assert.equal(row.token, rows[i - 1].answer);
        await says(page, '.written', /\d+ of \d+ right at step 0/);
        assert.deepEqual(
            await page.$$eval('main .primary', (all) => all.map((one) => one.textContent.trim())),
            ['Train on text'],
            'one button comes first',
        );
        await click(page, '.write-none button');
        await until(page, () => document.querySelectorAll('.write-text').length === 2);
    },
);

onPage(
    'Write: two runs go on from the same beginning, with surprise and odds',
    `${TEXT}!view=write`,
    {},
    async (page) => {
        await until(page, () => document.querySelector('.write-go [type=submit]'));
        await opened(page);
        await says(page, '.written:first-child .wrote', /^step 0 \S/);
        const first = await written(page, '.write-go [type=submit]');
        await counts(page, 'main .primary', 1);
        assert.equal(first.length, 2);
        assert.notEqual(first[0], first[1]);
        for (const one of first) assert.ok(one.startsWith('First Citizen:\n'));
        const odds = await page.$$eval('.written:first-child .odds', (all) =>
            all.map((one) => parseFloat(one.textContent)),
        );
        assert.equal(odds.length, 5);
        assert.ok(odds.every((one, i) => one > 0 && one <= 100 && (!i || one <= odds[i - 1])));
        assert.ok((await page.$$eval('.write-text span[style*="--surprise"]', (all) => all.length)) > 200);
        await says(page, '.written:first-child', /however long the text/);
        await says(page, '.written:last-child', /grows with every token/);
        // The weights stand still: the same seed writes the same.
        assert.deepEqual(await written(page, '.write-go [type=submit]'), first);
        const other = await written(page, '.write-go button:last-child');
        for (const i of [0, 1]) assert.notEqual(other[i], first[i]);
        // Trained, each adds lines at later steps, the last at its end.
        await press(page, 'Start');
        for (const i of [1, 2]) await says(page, `.written:nth-child(${i}) .wrote`, /step 0 .*step 40 \S/s);
    },
);

onPage(
    'Write: who has waited for the training reads a text at once',
    `${TEXT}!view=write`,
    {},
    async (page) => {
        await opened(page);
        assert.equal(await page.$$eval('.likeliest', (all) => all.length), 0);
        await press(page, 'Start');
        await until(page, () =>
            [...document.querySelectorAll('.write-text')].every(
                ({ textContent: { length } }) => length > 100,
            ),
        );
    },
);
