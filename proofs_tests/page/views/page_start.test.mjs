// page_start.test.mjs: the view Story: two models learn when it is opened and a switch tells them apart, the
// filter can be taken in hand and put back, its numbers are the models', and it needs neither a pointer nor a
// wide screen.
import assert from 'node:assert/strict';
import { load } from '../../../build/wasm/seqmix.js';
import {
    allReady,
    counts,
    eventually,
    fitsEverySize,
    goto,
    hash,
    isAccessible,
    onPage,
    openTab,
    press,
    RACE,
    runs,
    says,
    text,
    until,
    zoom,
} from '../testing.mjs';

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

/** Words of drawings that a line, as wide as it is drawn, goes through. */
const struckThrough = (page, drawings, words, lines) =>
    page.$$eval(
        drawings,
        (all, words, lines) => {
            if (!all.some((one) => one.querySelector(words))) throw new Error(`nothing is ${words}`);
            return all.flatMap((drawing) => {
                const from = drawing.getBoundingClientRect();
                const points = [...drawing.querySelectorAll(lines)].flatMap((drawn) => {
                    const half = (parseFloat(getComputedStyle(drawn).strokeWidth) || 1) / 2;
                    return Array.from({ length: 201 }, (_, i) => {
                        const { x, y } = drawn.getPointAtLength((i / 200) * drawn.getTotalLength());
                        return { x: x + from.left, y: y + from.top, half };
                    });
                });
                return [...drawing.querySelectorAll(words)]
                    .filter((word) => {
                        const box = word.getBoundingClientRect();
                        return points.some(
                            ({ x, y, half }) =>
                                x > box.left - half &&
                                x < box.right + half &&
                                y > box.top + 2 &&
                                y < box.bottom - 2,
                        );
                    })
                    .map((word) => word.textContent);
            });
        },
        words,
        lines,
    );
/** Names in the chart of lengths. */
const strickenNames = (page) => struckThrough(page, '.climb svg', 'text', 'polyline, line.now, line.guess');
/** Weights of the filter, as drawn in step 3. */
const strickenWeights = (page) => struckThrough(page, '.mix svg', 'text.tap', 'line');
/** Rows of the cards at the end that are shorter than the first. */
const holes = (page) =>
    page.$$eval('.next li', (cards) => {
        if (!cards.length) throw new Error('no card is drawn');
        const rows = Map.groupBy(cards, (one) => Math.round(one.getBoundingClientRect().top));
        const [first] = rows.values();
        return [...rows.values()].filter(({ length }) => length !== first.length).map(({ length }) => length);
    });

const percentage = async (page) => Number(/[\d.]+/.exec(await text(page, '.score > b'))[0]);
const barAt = (page) =>
    page.$eval('.score .bar span', (one) => (100 * one.clientWidth) / one.parentElement.clientWidth);

onPage(
    'the first screen: both models learn, the switch goes on by itself, and by hand',
    '',
    {},
    async (page) => {
        await page.setViewport({ width: 1280, height: 800 });
        await page.waitForSelector('#step-1 .switch');
        assert.match(await hash(page), /view=start/);
        assert.equal((await runs(page))[0].step, 0, 'the laboratory waits until it is opened');
        // How often the page looks at the filter while it learns: step 3 draws every look.
        await page.evaluate(() => {
            const looks = (globalThis.looks = new Set());
            const note = () => looks.add(document.querySelectorAll('.mix .tap')[1]?.textContent);
            new MutationObserver(note).observe(document.body, {
                subtree: true,
                childList: true,
                characterData: true,
            });
        });
        const tested = await text(page, '.asked b');
        const pair = await page.$$eval(
            '#step-1 .line:first-of-type .cell:not(.asks)',
            (all, key) => all[all.findIndex((one) => one.textContent === key) + 1].textContent,
            tested,
        );
        assert.match(pair, /^(hollow )?[a-z]+$/, 'a value is an icon, with a name');
        // Without a press, a key or a scroll: attention guesses, then the filter is on and finds all.
        await says(page, '.switch', 'Filter off');
        await until(page, () => /batch 1\d\d of 120/.test(document.querySelector('#step-1').textContent));
        // (both read at once: the switch goes on by itself in between)
        const [off, guessed] = await page.evaluate(() => [
            document.querySelector('#step-1 .switch').textContent.includes('Filter off'),
            document.querySelector('.score > b').textContent,
        ]);
        if (off) assert.ok(Number(/[\d.]+/.exec(guessed)[0]) < 25, guessed);
        await says(page, '.switch', 'Filter on');
        await says(page, '.asked .right', `With the filter: ${pair} ✓`);
        await eventually(async () => assert.ok((await percentage(page)) >= 99));
        await eventually(async () => assert.ok((await barAt(page)) >= 98));
        await counts(page, '#step-1 .cell .right', 8);
        // All of it on a phone's first screen as well.
        const { width, height } = page.viewport();
        await page.setViewport({ width: 390, height: 844 });
        for (const part of ['.switch', '.arcs', '.score'])
            await eventually(async () => {
                const bottom = await page.$eval(
                    `#step-1 ${part}`,
                    (one) => one.getBoundingClientRect().bottom,
                );
                assert.ok(bottom <= 844, `${part} ends at ${bottom}`);
            });
        await page.setViewport({ width, height });
        await says(page, '#step-1 .figure > .caption', /^Blue: where the question looks\. Grey: what the/);
        assert.equal(await page.evaluate(() => scrollY), 0);
        assert.doesNotMatch(await hash(page), /detail/, 'what nobody did is not in the address');
        // The weights shown are those that step 3 draws, the tap of the token before the largest.
        const numbers = (where) => page.$$eval(where, (all) => all.map((one) => one.textContent));
        await eventually(async () =>
            assert.deepEqual(await numbers('.weights b'), await numbers('.mix .tap')),
        );
        const weights = await numbers('.weights b');
        assert.ok(Number(weights[1]) > 0.5, weights.join());
        // By hand: off is attention as it was trained; on, the weights are seen to settle again.
        // The bar is as long as the number beside it says, in every frame.
        const apart = await page.evaluate(async () => {
            const found = [];
            document.querySelector('#step-1 .switch').click();
            for (let i = 0; i < 12; i++) {
                await new Promise(requestAnimationFrame);
                const bar = document.querySelector('.score .bar span');
                const share = (100 * bar.clientWidth) / bar.parentElement.clientWidth;
                found.push(Math.abs(share - parseFloat(document.querySelector('.score > b').textContent)));
            }
            return Math.max(...found);
        });
        assert.ok(apart <= 1, `bar and number are ${apart} points apart`);
        assert.ok((await percentage(page)) < 25);
        await says(page, '.weights', '– the token– 1 before– 2 before');
        assert.equal((await page.$$('#step-1 .remembers')).length, 0, 'no filter, no arrows of one');
        await says(page, '#step-1 .figure > .caption', 'Orange: where the question looks.');
        await eventually(async () => assert.match(await hash(page), /detail=1\.off/));
        // (A busy machine looked seldom while it learnt, and has little to show again.)
        const looks = await page.evaluate(() => globalThis.looks.size);
        const seen = await page.evaluate(
            async (last, patience) => {
                const tap = () => document.querySelector('.weights li:nth-child(2) b').textContent;
                const seen = [];
                document.querySelector('.switch').click();
                for (const began = performance.now(); performance.now() - began < patience;) {
                    await new Promise(requestAnimationFrame);
                    if (/\d/.test(tap()) && tap() !== seen.at(-1)) seen.push(tap());
                    if (seen.at(-1) === last && performance.now() - began > 4000) break;
                }
                return seen;
            },
            weights[1],
            30_000,
        );
        assert.ok(looks >= 3, `${looks} looks`);
        if (looks >= 12) assert.ok(new Set(seen).size >= 3, `${seen.join()}: the second weight settles`);
        else console.log(`# looked ${looks} times while it learnt: too seldom to see the weight settle`);
        assert.equal(seen.at(-1), weights[1]);
        await eventually(async () => assert.match(await hash(page), /detail=1\.on/));
        // Other pairs, and another question of them, are answered by the same models.
        await press(page, 'Other pairs');
        await page.$eval('#step-1 .cell.asks:last-child button', (one) => one.click());
        await says(page, '.asked .right', /^With the filter: [a-z ]+ ✓$/);
        // The board below the fold trains by itself, and rests while another view is open.
        await counts(page, '.below .cell', 12);
        await until(page, () => document.querySelector('.below .cell[data-status=going]'));
        const steps = () => page.evaluate(() => globalThis.seqmix.guests());
        await until(page, () => globalThis.seqmix.guests().at(-1) > 0);
        await openTab(page, 'Inside');
        await eventually(async () => {
            const before = await steps();
            await new Promise((done) => setTimeout(done, 500));
            assert.deepEqual(await steps(), before);
        });
        const rested = await steps();
        await openTab(page, 'Story');
        await eventually(async () => assert.notDeepEqual(await steps(), rested));
        await press(page, 'Stop');
    },
);

onPage(
    'in a hidden tab nothing learns; without motion the switch settles at once',
    '#mixer=cat&task=mqar',
    {},
    async (page) => {
        const step = () =>
            page.evaluate(() => Number(/batch (\d+)/.exec(document.querySelector('#step-1').textContent)[1]));
        const hide = (on) =>
            page.evaluate((on) => {
                Object.defineProperty(document, 'hidden', { value: on, configurable: true });
                document.dispatchEvent(new Event('visibilitychange'));
            }, on);
        await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
        await hide(true);
        await page.evaluate(() => (location.hash += '!view=start'));
        await page.waitForSelector('#step-1 .switch');
        await new Promise((done) => setTimeout(done, 2000));
        assert.equal(await step(), 0);
        await hide(false);
        await until(page, () => /batch [1-9]/.test(document.querySelector('#step-1').textContent));
        await hide(true);
        await new Promise((done) => setTimeout(done, 1000));
        const at = await step();
        await new Promise((done) => setTimeout(done, 1500));
        assert.equal(await step(), at);
        assert.ok(at < 120);
        await hide(false);
        await says(page, '.switch', 'Filter on');
        await eventually(async () => assert.ok((await percentage(page)) >= 99));
        const seen = await page.evaluate(async () => {
            const tap = () => document.querySelector('.weights li:nth-child(2) b').textContent;
            const button = document.querySelector('.switch');
            button.click();
            await new Promise((done) => setTimeout(done, 500));
            const seen = new Set();
            button.click();
            for (const began = performance.now(); performance.now() - began < 1500;) {
                await new Promise(requestAnimationFrame);
                seen.add(tap());
            }
            return [...seen].filter((one) => one !== '–');
        });
        assert.equal(seen.length, 1, seen.join());
    },
);

onPage('what it shows is told step by step; the filter dies in the hand', '', {}, async (page) => {
    await trained(page);
    // Its own link leads to its top, from wherever it is on its way to.
    await press(page, 'See why (2 min)');
    await eventually(async () => assert.match(await hash(page), /detail=2/));
    await page.$eval('.where a', (story) => story.click());
    await eventually(async () => {
        assert.equal(await page.evaluate(() => scrollY), 0);
        assert.doesNotMatch(await hash(page), /detail/);
    });
    await says(page, '#step-2', /and guesses\. More batches do not help/);
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
                const most = / same question goes to ((?:hollow )?\w+), [\d.]+ %/.exec(told);
                if (!most) return false;
                const chance = /happens to look at the right one/.test(told);
                return (
                    (most[1] === value) === chance &&
                    new RegExp(`; [\\d.]+ % goes to the ${value}`).test(told) !== chance
                );
            },
            value,
        );
    }
    assert.deepEqual(await strickenWeights(page), [], 'a weight of the filter that its line goes through');
    assert.deepEqual(await holes(page), [], 'rows of cards at the end that are not full');
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
    assert.deepEqual(await strickenNames(page), [], 'no curve runs through a name');
    // Torn apart, attention answers as before: for the one reason that it cannot tell.
    await read(page, 7);
    await press(page, 'Tear the pairs apart');
    await says(page, '#step-7', /8 of 8 stayed the same/);
    // The filter's block answers what stands after each letter now, where a number does.
    await says(
        page,
        '#step-7',
        /Of the 7 letters .* it answers [67] with that icon, [01] with the icon that/,
    );
    // Both rows are judged by the line as it stands; the last letter has no icon after it, and no mark.
    const marks = await page.$$eval('#step-7 .line:not(.all)', (lines) =>
        lines.map((line) => line.querySelectorAll('.right, .wrong').length),
    );
    assert.deepEqual(marks, [7, 7]);
    // Numbers of the places do not do; it is trained when it is asked.
    await press(page, 'Would position numbers be enough?');
    await says(page, '#step-7', /with position numbers has seen 120 of 120 .*They are not/);
    await press(page, 'Could attention do it?');
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
    await says(page, '#step-7', /Choosing for each token it answers (9\d|100)\.\d % .* held to one filter/);
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
});

onPage(
    'the numbers behind the story’s answer are its model’s, of the question that is asked',
    '',
    {},
    async (page) => {
        // The same model and the same line, here.
        const lab = await load();
        const setup = 'task=mqar&vocab=52&steps=120&rate=0.01&seed=9';
        const maker = lab.open(`mixer=attention&${setup}&batch=1`);
        const line = [...maker.look(1).tokens].filter((token) => token > 0);
        const run = lab.open(`mixer=cat&filters=k&${setup}&batch=32`);
        run.step(120);
        const length = 32;
        const { predicted, confidence } = run.predict([...line, ...Array(length - line.length).fill(0)]);
        const map = run.tensor('block0.mixer.map').data;
        await trained(page);
        await read(page, 5);
        await page.click('.numbers-too summary');
        await page.waitForSelector('.numbers-too .flow .tabs');
        await says(page, '.numbers-too .flow-title', /The one outlined in bold is the question\.$/);
        // Each value as its icon, each letter by its name, in a box of its own.
        await counts(page, '.numbers-too .tokens .icon-shape', 8);
        await counts(page, '.numbers-too .tokens text', length - 8);
        for (const at of [16, 21]) {
            const name = String.fromCharCode(64 + line[at]);
            await page.$$eval(
                '#step-5 .line .cell.asks button',
                (all, name) =>
                    all.find((one) => one.querySelector('b').lastChild.textContent.trim() === name).click(),
                name,
            );
            const row = [...map.subarray(at * length, (at + 1) * length)];
            await zoom(page, 'One head');
            await eventually(async () => {
                const shown = await page.$$eval('.numbers-too .flow > ol > li', (all) => {
                    const match = all.find((one) => one.querySelector('b').textContent === 'Match');
                    return [...match.querySelectorAll('rect.share')].map((bar) => Number(bar.dataset.value));
                });
                // (What cannot be seen is not drawn.)
                assert.ok(shown.length >= 1);
                assert.ok(
                    shown.every((value) => row.includes(value)),
                    `${shown} of ${row}`,
                );
                assert.ok(shown.includes(Math.max(...row)));
            });
            await eventually(async () =>
                assert.equal(
                    await text(page, '.numbers-too .flow-taps'),
                    ['itself', 'one back', 'two back']
                        .map((name, i) => {
                            const tap = run.tensor('block0.mixer.filter_k').data[i];
                            return `${name} ${tap.toFixed(2).replace('-', '−')}`;
                        })
                        .join(' · '),
                ),
            );
            // One number: at first of the token that is looked at most, then of any.
            await zoom(page, 'One number');
            const found = () => page.$eval('.numbers-too .flow-sum', (one) => Number(one.dataset.weight));
            const sure = `${(100 * confidence[at]).toFixed(1)} % sure`;
            await says(page, '.numbers-too .flow-answer', new RegExp(`${sure}$`));
            await page.focus('.numbers-too .flow-token input');
            await page.keyboard.press('Home');
            for (const j of [0, 1, 2]) {
                await says(page, '.numbers-too .flow-token output', new RegExp(`^${j}: `));
                await eventually(async () => assert.equal(await found(), row[j]));
                await page.keyboard.press('ArrowRight');
            }
        }
        assert.equal(predicted[16], line[line.indexOf(line[16]) + 1], 'a right answer was followed');
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
        // (By key: while models train the text above a button grows, and a pointer would miss it.)
        await page.evaluate(() =>
            [...document.querySelectorAll('button')].find((one) => one.textContent === 'It guesses').focus(),
        );
        await page.keyboard.press('Enter');
        await until(page, () =>
            /As you said: it guesses, \d/.test(document.querySelector('.predict').textContent),
        );
        assert.match(await hash(page), /detail=\d\.no/, 'the prediction is in the address');
        for (const doubt of [
            'Could attention do it?',
            'Must it be learnt?',
            'Must it stay the same?',
            'Is it needed?',
        ]) {
            await press(page, doubt);
            await fitsEverySize(page, `start-${doubt.replaceAll(/\W/g, '-')}`);
            await page.setViewport({ width: 390, height: 844 });
        }
        // A finger finds each question, and what stands in it is not wider; no letter touches the next.
        await page.setViewport({ width: 390, height: 844 });
        const sizes = await page.$$eval('#step-4 .cell button', (all) =>
            all.map((one) => [one.clientWidth, one.clientHeight, one.scrollWidth]),
        );
        assert.equal(sizes.length, 8);
        for (const [wide, high, within] of sizes)
            assert.ok(wide >= 43 && high >= 44 && within <= wide, `a question of ${wide} × ${high} px`);
        const gaps = await page.$$eval('#step-4 .line:not(.all) .cell', (all) => {
            const inks = all.map((one) => {
                const range = document.createRange();
                range.selectNodeContents(one.querySelector('svg, b'));
                return (one.querySelector('svg') ?? range).getBoundingClientRect();
            });
            return inks.slice(1).map(({ left }, i) => left - inks[i].right);
        });
        assert.equal(gaps.length, 16);
        assert.ok(Math.min(...gaps) >= 3, `${gaps.map((gap) => gap.toFixed(1))} px between tokens`);
        await isAccessible(page);
        // The strip follows every way of scrolling, to both ends.
        await page.evaluate(() => scrollTo({ top: document.body.scrollHeight, behavior: 'instant' }));
        await says(page, '.steps [aria-current]', /^8/);
        await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
        await says(page, '.steps [aria-current]', /^1/);
        // The laboratory is remembered; a link opens what it names, whatever was chosen.
        const home = (await page.evaluate(() => location.href)).replace(/#.*/, '');
        await page.evaluate(() => scrollTo({ top: 4000, behavior: 'instant' }));
        await openTab(page, 'Experiment');
        await until(page, () => globalThis.seqmix.runs()[0].step > 2);
        const top = () =>
            scrollY === 0 && document.activeElement.matches('main h2') && document.activeElement.textContent;
        await eventually(async () => assert.equal(await page.evaluate(top), 'Lessons'));
        await openTab(page, 'About');
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
        // What the reader switched is there again after a reload, also from addresses with a guess in them.
        await goto(page, `${home}${RACE}!view=start`);
        await press(page, 'Filter off');
        await eventually(async () => assert.match(await hash(page), /detail=1\.on/));
        await goto(page, await page.evaluate(() => location.href));
        await says(page, '.switch', 'Filter on');
        await until(page, () => /of 120 batches/.test(document.querySelector('#step-2').textContent));
        await goto(page, `${home}${RACE}!view=start&detail=5.on.yes`);
        await says(page, '.predict [aria-pressed=true]', 'It recalls');
        await until(page, () => /No: it guesses, \d/.test(document.querySelector('.predict').textContent));
        await goto(page, `${home}${RACE}!view=start&detail=3.can.on`);
        await says(page, '.switch', 'Filter on');
        await says(page, '.steps [aria-current]', /^3/);
        await goto(page, `${home}${RACE}!view=start&detail=2.off`);
        await until(page, () => /120 of 120/.test(document.querySelector('#step-3').textContent));
        await says(page, '.switch', 'Filter off', 'who has switched it is not overruled');
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
