// page_exercises.test.mjs: exercises: what is asked, what is right, and a sheet that the page corrects by
// training again; every answer is worked out here by the native program or on paper.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { pageModule } from '../in_node.mjs';
import {
    at,
    brokenWords,
    counts,
    eventually,
    fitsEverySize,
    hash,
    isAccessible,
    onPage,
    press,
    reload,
    says,
    text,
} from '../testing.mjs';

const { answerOf, EXERCISES, judged, readSheet, writeSheet } = await pageModule('core/exercises');
const { cardOf } = await pageModule('charts/card');

const trained = {
    digest: '0a1b2c3d4e5f6071',
    params: 8259,
    losses: Float32Array.from({ length: 60 }, (_, i) => 4 - i / 16),
    points: [
        { step: 0, score: 0.02 },
        { step: 10, score: 0.991 },
        { step: 20, score: 0.98 },
        { step: 30, score: 0.99549 },
    ],
};

test('the right answer is that of the run in the end, as the question says', () => {
    assert.equal(answerOf('accuracy', trained), '99.5');
    assert.equal(answerOf('digest', trained), '0a1b2c3d');
    assert.equal(answerOf('weights', trained), '8259');
    assert.equal(answerOf('first', trained), '10');
    assert.equal(answerOf('loss', trained), '0.9375', 'of step 50, not of its neighbours');
    const never = { ...trained, points: [{ step: 0, score: 0.9899 }] };
    assert.equal(answerOf('first', never), '0');
});

test('an answer is judged by what it says, not by how it is written', () => {
    const right = {
        accuracy: ['99.5', ' 99.5 % ', '99,5', '+99.50'],
        digest: ['0a1b2c3d', '0A1B2C3D', '0x0a1b2c3d', '0a1b2c3d4e5f6071'],
        weights: ['8259', '8,259', '8 259'],
        first: ['10', '10.0'],
        loss: ['0.9375', '.9375', '0,9375'],
    };
    const wrong = {
        accuracy: ['99.6', '99.4', '99', '99.54', '0.995'],
        digest: ['0a1b2c3e', '0a1b2c3', '1a1b2c3d', '0a1b2c3d4e5f6072'],
        weights: ['8258', '82', '8259.5'],
        first: ['20', '0'],
        loss: ['0.9376', '0.94', '0.93749'],
    };
    for (const [ask, all] of Object.entries(right))
        for (const given of all) assert.equal(judged(ask, given, trained), true, `${ask}: ${given}`);
    for (const [ask, all] of Object.entries(wrong))
        for (const given of all) assert.equal(judged(ask, given, trained), false, `${ask}: ${given}`);
    for (const given of ['', '  ', 'ten', '1e1', '--1'])
        assert.equal(judged('weights', given, trained), null, given);
});

test('a sheet survives the address', () => {
    for (const sheet of [
        { own: null, answers: ['12.5', '', '8,259'] },
        { own: 'digest', answers: [] },
        { own: 'loss', answers: ['0.9375'] },
    ]) {
        const text = writeSheet(sheet);
        assert.match(text, /^[\w.,:;-]{1,400}$/, 'what an address may keep');
        assert.deepEqual(readSheet(text), sheet);
    }
    assert.equal(writeSheet({ own: null, answers: ['', ''] }), '');
    assert.deepEqual(readSheet(writeSheet({ own: null, answers: ['<b>&!x', '9'] })).answers, ['bx', '9']);
    for (const text of ['', 'own:all', '3.on', 'own'])
        assert.deepEqual(readSheet(text), { own: null, answers: [] }, text);
});

test('the card has bars as long as the shares, and the weights as they are', () => {
    const colours = { paper: 'p', tint: 't', ink: 'i', grey: 'g', without: 'red', with: 'blue' };
    const svg = cardOf({ without: 0.125, with: 1, taps: [0.15, -0.8, 0.17], address: 'a&b', colours });
    const bars = [...svg.matchAll(/width="([\d.]+)" height="44"/g)].map(([, width]) => Number(width));
    assert.deepEqual(bars, [1040, 130, 1040, 1040]);
    assert.match(svg, /width="130.0"[^>]* fill="red"/);
    for (const words of ['12.5 %', '100.0 %', '0.15   −0.80   0.17', 'a&amp;b'])
        assert.ok(svg.includes(words), words);
});

const native = (config) =>
    execFileSync(at('build/seqmix'), ['train', config, '--json'], { encoding: 'utf8' })
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
/** Key by key, as a visitor does it, in the place of what stood there; no key is lost. */
const type = async (page, i, answer) => {
    const field = await page.$(`#exercise-${i}`);
    await field.focus();
    await field.evaluate((one) => one.select());
    for (const key of answer) {
        await page.keyboard.type(key);
        await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    assert.equal(await field.evaluate((one) => one.value), answer);
    await page.keyboard.press('Tab');
};
const verdict = (i) => `.exercises li:nth-child(${i + 1}) .verdict`;

onPage(
    'a sheet of five is corrected by training again, and its address holds the answers',
    '#!view=exercises',
    {},
    async (page) => {
        await counts(page, '.exercises li', 5);
        await says(page, '.exercises .row [role=status]', '0 of 5 answered.');
        const lines = EXERCISES.map(({ config }) => native(config));
        const last = (i) => lines[i].at(-1);
        await type(page, 1, last(1).params.toLocaleString('en'));
        await type(page, 2, '7'); // (it is tried at tens)
        await type(page, 3, last(3).digest.slice(0, 8).toUpperCase());
        await type(page, 4, lines[4].find(({ step, loss }) => step === 50 && loss).loss.toFixed(4));
        await says(page, '.exercises .row [role=status]', '4 of 5 answered.');
        await eventually(async () =>
            assert.match(await hash(page), /detail=sheet;;[\d,]+;7;[0-9A-F]{8};\d\.\d{4}$/),
        );
        // Whoever opens the address has the answers, and corrects them.
        await reload(page);
        await says(page, '.exercises .row [role=status]', '4 of 5 answered.');
        await press(page, 'Correct the sheet');
        await says(page, verdict(1), `✓ Right: ${last(1).params}.`);
        await says(page, verdict(2), /^✗ Not right/);
        await says(page, verdict(3), `✓ Right: ${last(3).digest.slice(0, 8)}.`);
        await says(page, verdict(4), /^✓ Right: \d\.\d{4}\.$/);
        await says(page, verdict(0), 'No answer yet.');
        await says(page, '.exercises > .row [role=status]', '3 of 5 right.');
        await fitsEverySize(page, 'exercises');
        // An answer in the address, a digest perhaps, is not broken in its middle.
        await page.setViewport({ width: 390, height: 844 });
        assert.deepEqual(await brokenWords(page, '.command code'), []);
        await isAccessible(page);
        const low = await page.$$eval('.exercises :is(button, input, select)', (all) =>
            all.filter((one) => one.getBoundingClientRect().height < 44).map((one) => one.textContent),
        );
        assert.deepEqual(low, [], 'targets are as tall as a thumb');
    },
);

onPage(
    'a lecturer’s own exercise is an address: its run and its question',
    '#mixer=cat&task=mqar&steps=60&seed=5!view=exercises&draft=y+%3D+x&detail=own:loss',
    {},
    async (page) => {
        await counts(page, '.exercises li', 1);
        await says(page, '.exercises li label', /loss of step 50/);
        await says(page, '.exercises li > p', /^CAT on .*, 60 steps\./);
        const made = await text(page, '.exercises section:last-child code');
        assert.match(made, /#v=1&mixer=cat&task=mqar&seed=5&steps=60!view=exercises&detail=own:digest$/);
        const wanted = native('mixer=cat&task=mqar&steps=60&seed=5').find(
            ({ step, loss }) => step === 50 && loss,
        ).loss;
        await type(page, 0, (wanted + 0.001).toFixed(4));
        await press(page, 'Correct the sheet');
        await says(page, verdict(0), /^✗ Not right/);
        // The verdict is on the answer that was given, not on the one that is being typed.
        await page.focus('#exercise-0');
        await page.keyboard.press('End');
        await page.keyboard.press('Backspace');
        await says(page, verdict(0), '');
        await says(page, '.exercises > .row [role=status]', '1 of 1 answered.');
        assert.equal(
            await page.$eval('#exercise-0', (one) => one.value),
            (wanted + 0.001).toFixed(4).slice(0, -1),
        );
        await type(page, 0, wanted.toFixed(4));
        await says(page, verdict(0), `✓ Right: ${wanted.toFixed(4)}.`);
        // What is still being typed when the sheet is corrected is the answer that is judged.
        await page.focus('#exercise-0');
        await page.keyboard.press('End');
        await page.keyboard.press('Backspace');
        await page.$eval('.exercises .primary', (one) => one.click());
        await says(page, verdict(0), /^✗ Not right/);
    },
);
