// page_start.test.mjs: the view Start: its models learn while it is read, the filter can be taken in hand and
// put back, its numbers are the models', and it needs neither a pointer nor a wide screen.
import assert from 'node:assert/strict';
import {
    allReady,
    counts,
    eventually,
    fitsEverySize,
    goto,
    hash,
    isAccessible,
    onPage,
    press,
    RACE,
    runs,
    says,
    text,
    until,
} from './testing.mjs';

/** Bring a step under the eye, as scrolling does. */
async function read(page, step) {
    await page.$eval(`#step-${step}`, (one) => one.scrollIntoView({ block: 'start' }));
    await until(
        page,
        (step) => document.querySelector('.steps [aria-current]').textContent.startsWith(String(step)),
        step,
    );
}
const trained = (page) =>
    until(page, () =>
        /this is the filter that it learnt/i.test(document.querySelector('#step-4').textContent),
    );
const heldOut = async (page) =>
    Number(/([\d.]+) % over held-out/.exec(await text(page, '#step-4 .verdict-line'))[1]);
const settledOn = (page, pattern) =>
    until(
        page,
        (source) => new RegExp(source).test(document.querySelector('#step-4 .verdict-line').textContent),
        pattern,
    );

/** Names in charts that a curve or a rule goes through. */
const struckThrough = (page) =>
    page.$$eval('.climb svg', (charts) =>
        charts.flatMap((chart) => {
            const from = chart.getBoundingClientRect();
            const points = [...chart.querySelectorAll('polyline, line.now, line.guess')].flatMap((drawn) =>
                Array.from({ length: 201 }, (_, i) =>
                    drawn.getPointAtLength((i / 200) * drawn.getTotalLength()),
                ),
            );
            return [...chart.querySelectorAll('text')]
                .filter((text) => {
                    const box = text.getBoundingClientRect();
                    return points.some(
                        ({ x, y }) =>
                            x + from.left > box.left &&
                            x + from.left < box.right &&
                            y + from.top > box.top + 2 &&
                            y + from.top < box.bottom - 2,
                    );
                })
                .map((text) => text.textContent);
        }),
    );

onPage(
    'a first visit reads; attention guesses, the filter learns, and dies in the hand',
    '',
    {},
    async (page) => {
        await page.waitForSelector('#step-1 .choices button');
        assert.match(await hash(page), /view=start/);
        assert.equal((await runs(page))[0].step, 0, 'the laboratory waits until it is opened');
        // The puzzle has one right answer: the number after the letter.
        const letter = (await text(page, '.asked b')).trim();
        const value = await page.$$eval(
            '.pairs .pair',
            (all, letter) =>
                all.find((pair) => pair.querySelector('b').textContent === letter).querySelector('span')
                    .textContent,
            letter,
        );
        const choices = await page.$$('.asked .choices button');
        const names = await page.$$eval('.asked .choices button', (all) => all.map((one) => one.textContent));
        assert.equal(names.length, 8);
        const wrong = names.findIndex((name) => name !== value);
        await choices[wrong].click();
        await says(page, '#step-1 .words', new RegExp(`Not that one: ${letter} is followed by ${value}\\.`));
        await choices[names.indexOf(value)].click();
        await says(page, '#step-1 .words', /Right\. You found/);
        await press(page, 'It learns it');
        await press(page, 'filter off');
        await trained(page);
        await says(page, '#step-2', /It does not\./);
        await until(page, () =>
            /seen 120 of 120 batches and answers (99|100)\.\d % right/.test(
                document.querySelector('#step-3').textContent,
            ),
        );
        // What attention does is told as it is at each question, right ones by chance among them.
        for (const question of await page.$$('#step-5 .cell.asks button')) {
            await question.click();
            const name = (await question.$eval('b', (one) => one.lastChild.textContent)).trim();
            const value = await page.$$eval(
                '#step-5 .cell:not(.asks)',
                (all, name) => all[all.findIndex((one) => one.textContent === name) + 1].textContent,
                name,
            );
            await until(
                page,
                (value) => {
                    const told = document.querySelector('#step-5 .words').textContent;
                    const most = / most goes to (\d+), [\d.]+ %/.exec(told);
                    if (!most) return false;
                    const chance = /happens to look at the right one/.test(told);
                    return (
                        (most[1] === value) === chance && new RegExp(`on ${value} lie`).test(told) !== chance
                    );
                },
                value,
            );
        }
        assert.equal(
            await page.$eval('#step-4 .primary', (one) => one.disabled),
            true,
            'the learnt filter is there',
        );
        // In hand: without the tap of the token before, recall is gone; put back, it is there again.
        await read(page, 4);
        await settledOn(page, '(99|100)\\.\\d % over held-out');
        await counts(page, '#step-4 .cell .right', 8);
        // The arcs stand on the line, and what they mean below it.
        const gap = await page.$eval('#step-4 .arcs', (one) => {
            const line = one.parentElement.querySelector('.line');
            return line.getBoundingClientRect().top - one.getBoundingClientRect().bottom;
        });
        assert.ok(Math.abs(gap) <= 4, `${gap} px between the arcs and the line`);
        await says(page, '#step-4 .figure .caption', /^Grey arrows: .* Blue: where the question looks/);
        await press(page, 'Second to 0');
        await settledOn(page, 'Recall is gone');
        assert.ok((await heldOut(page)) < 25);
        assert.equal((await page.$$('#step-4 .cell .right')).length, 0, 'and on the line that is shown');
        await says(page, '#step-4', /worse than a guess: the question [A-Z] looks at/);
        await press(page, 'Put it back');
        await settledOn(page, 'This is the filter that it learnt');
        assert.ok((await heldOut(page)) >= 99);
        // With the keyboard: a slider one step down still works.
        await page.focus('#step-4 .tap:nth-child(2) input');
        await page.keyboard.press('ArrowLeft');
        await settledOn(page, 'It still works');
        await says(page, '.steps [aria-current]', /^4/, 'the arrow moved the slider, not the step');
        await press(page, 'Put it back');
        await settledOn(page, 'This is the filter that it learnt');
        // What a filter on the values does is tried when it was predicted.
        await press(page, 'It recalls');
        await until(page, () => /No: it guesses, \d/.test(document.querySelector('.predict').textContent));
        // Longer lines.
        await read(page, 6);
        await page.focus('#step-6 input');
        for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowRight');
        await until(page, () =>
            /With the filter (9\d|100)\.\d %, without it 1?\d\.\d %, of 256 questions each: so few .* by up to 4 points\. A neighbour/.test(
                document.querySelector('#step-6').textContent,
            ),
        );
        await says(page, '#step-6 output', '1,024 tokens');
        assert.deepEqual(await struckThrough(page), [], 'no curve runs through a name');
        // Torn apart, attention answers as before: for the one reason that it cannot tell.
        await read(page, 7);
        await press(page, 'Tear the pairs apart');
        await says(page, '#step-7', /8 of 8 stayed the same/);
        // The filter's block answers what stands after each letter now, where a number does.
        await says(
            page,
            '#step-7',
            /[67] of 8 of its answers are what now stands after the letter, [01] what/,
        );
        // Numbers of the places do not do; it is trained when it is asked.
        await press(page, 'Would position numbers be enough?');
        await says(page, '#step-7', /with position numbers has seen 120 of 120 .*They are not/);
        await press(page, 'Could attention be it?');
        await says(page, '#step-7', /differ by at most [\d.]+·10⁻⁷/);
        // What decay does to a picture: without it the pixel in the middle looks at all 407 so far alike; of
        // the 28 last, smoothing over three shares one with those before.
        await press(page, 'Must it be learnt?');
        await says(page, '#step-7', /looks at, 9\d\.\d % lies within one row/);
        await page.focus('#step-7 .slider input');
        await page.keyboard.press('Home');
        await says(page, '#step-7', new RegExp(`looks at, ${((27 / 407) * 100).toFixed(1)} % lies`));
        // Focus chooses a filter for each token, and can be held to one: its columns are then all alike.
        await press(page, 'Must it stay the same?');
        await says(
            page,
            '#step-7',
            /Choosing for each token it answers (9\d|100)\.\d % .* held to one filter/,
        );
        const columns = () =>
            page.$eval('#step-7 canvas.chosen', (one) => {
                const copy = Object.assign(document.createElement('canvas'), {
                    width: one.width,
                    height: one.height,
                });
                const context = copy.getContext('2d', { willReadFrequently: true });
                context.drawImage(one, 0, 0);
                const { data, width, height } = context.getImageData(0, 0, copy.width, copy.height);
                const column = (x) =>
                    Array.from({ length: height }, (_, y) =>
                        data.slice(4 * (y * width + x), 4 * (y * width + x) + 4).join(),
                    );
                return new Set(Array.from({ length: width }, (_, x) => column(x).join())).size;
            });
        await eventually(async () => {
            const kinds = await columns();
            assert.ok(kinds >= 16, `${kinds} filters`);
        });
        await press(page, 'One filter for all tokens');
        await eventually(async () =>
            assert.equal(await columns(), 2, 'none for the first token, one for all others'),
        );
        await says(page, '#step-7', /Let it choose again/);
    },
);

onPage(
    'Start by keyboard, on a phone, without motion; links and the choice are kept',
    '',
    {},
    async (page) => {
        await page.setViewport({ width: 390, height: 844 });
        await page.waitForSelector('#step-1');
        for (const step of [2, 3, 4]) {
            await page.keyboard.press('ArrowRight');
            await until(
                page,
                (step) =>
                    document.querySelector('.steps [aria-current]').textContent.startsWith(String(step)),
                step,
            );
            await until(page, (step) => document.activeElement.id === `step-${step}-title`, step);
        }
        await trained(page); // step 4 needs a trained model, and has one made
        assert.match(await hash(page), /detail=4/);
        // What it found out is not given away where the reader is asked.
        await says(page, '#step-2 .live-words', 'Guess, and it is trained.');
        assert.equal(await page.$$eval('#step-2 polyline', (all) => all.length), 0);
        await says(page, '#step-3 .switch', /filter off/);
        assert.equal(await page.$$eval('#step-3 .of-keys', (all) => all.length), 0);
        for (const [now, curves] of [
            ['on', 2], // the curve and its name
            ['off', 0],
        ]) {
            await page.$eval('.switch', (one) => one.click());
            await says(page, '.switch', `filter ${now}`);
            assert.equal(await page.$$eval('#step-3 .of-keys', (all) => all.length), curves);
        }
        // (By key: while models train the text above a button grows, and a pointer would miss it.)
        await page.evaluate(() =>
            [...document.querySelectorAll('button')].find((one) => one.textContent === 'It guesses').focus(),
        );
        await page.keyboard.press('Enter');
        await until(page, () =>
            /As you said: it guesses, \d/.test(document.querySelector('.predict').textContent),
        );
        for (const doubt of [
            'Could attention be it?',
            'Must it be learnt?',
            'Must it stay the same?',
            'Is it needed?',
        ]) {
            await press(page, doubt);
            await fitsEverySize(page, `start-${doubt.replaceAll(/\W/g, '-')}`);
            await page.setViewport({ width: 390, height: 844 });
        }
        // A finger finds each question, and what stands in it is not wider.
        for (const width of await page.$$eval('#step-4 .cell button', (all) =>
            all.map((one) => [one.clientWidth, one.scrollWidth]),
        ))
            assert.ok(width[0] >= 18 && width[1] <= width[0], `a question of ${width} px`);
        await isAccessible(page);
        // The strip follows every way of scrolling, to both ends.
        await page.evaluate(() => scrollTo({ top: document.body.scrollHeight, behavior: 'instant' }));
        await says(page, '.steps [aria-current]', /^8/);
        await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
        await says(page, '.steps [aria-current]', /^1/);
        // The laboratory is remembered; a link opens what it names, whatever was chosen.
        const home = (await page.evaluate(() => location.href)).replace(/#.*/, '');
        await page.evaluate(() => scrollTo({ top: 4000, behavior: 'instant' }));
        await press(page, 'Open the laboratory');
        await until(page, () => globalThis.seqmix.runs()[0].step > 2);
        const top = () =>
            scrollY === 0 && document.activeElement.matches('main h2') && document.activeElement.textContent;
        await eventually(async () => assert.equal(await page.evaluate(top), 'Lessons'));
        await page.evaluate(() =>
            [...document.querySelectorAll('.views a')].find((one) => one.textContent === 'About').click(),
        );
        await until(page, () => document.activeElement.textContent === 'About');
        await eventually(async () =>
            assert.equal(await page.evaluate(top), 'About', 'also of a view that is fetched first'),
        );
        await page.evaluate(() => scrollTo({ top: 300, behavior: 'instant' }));
        await page.goBack();
        await until(page, () => document.querySelector('.views [aria-current]').textContent === 'Experiment');
        assert.notEqual(await page.evaluate(top), 'Lessons', 'Back leaves the place to the browser');
        await goto(page, home);
        await says(page, '.views [aria-current]', 'Experiment');
        await until(page, () => globalThis.seqmix.runs()[0].step > 2);
        // What the reader guessed and switched on is there again after a reload.
        await goto(page, `${home}${RACE}!view=start`);
        await press(page, 'It learns it');
        await press(page, 'filter off');
        await eventually(async () => assert.match(await hash(page), /detail=[1-3]\.can\.on/));
        await goto(page, await page.evaluate(() => location.href));
        await says(page, '.switch', 'filter on');
        await says(page, '#step-2 [aria-pressed=true]', 'It learns it');
        await until(page, () => /of 120 batches/.test(document.querySelector('#step-2').textContent));
        await goto(page, `${home}${RACE}!view=start&detail=6`);
        await until(page, () => document.querySelector('.steps [aria-current]')?.textContent.startsWith('6'));
        await goto(page, `${home}${RACE}`);
        await allReady(page);
        await says(page, '.views [aria-current]', 'Experiment');
        assert.equal((await runs(page))[0].step, 0, 'a link waits for Start');
        // Start's sheet stays when the view goes: it must not reach what other views call arcs and pairs.
        const arc = () => page.$eval('.theorems .arcs path', (one) => getComputedStyle(one).stroke);
        await goto(page, `${home}${RACE}!view=theorems`);
        await page.waitForSelector('.theorems .arcs path');
        const alone = await arc();
        await goto(page, `${home}${RACE}!view=start`);
        await page.waitForSelector('#step-1');
        await page.evaluate(() => (location.hash = location.hash.replace('start', 'theorems')));
        await page.waitForSelector('.theorems .arcs path');
        assert.equal(await arc(), alone);
        assert.notEqual(alone, 'none');
    },
);
