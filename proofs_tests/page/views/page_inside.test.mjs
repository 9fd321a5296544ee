// page_inside.test.mjs: the Inside view, and the questions that a newcomer answers by looking into a run: why
// does attention fail at recall, what does the filter learn?
import assert from 'node:assert/strict';
import { load } from '../../../build/wasm/seqmix.js';
import {
    allReady,
    counts,
    eventually,
    fitsEverySize,
    isAccessible,
    onPage,
    openTab,
    press,
    runs,
    says,
    stopped,
    text,
    until,
    zoom,
} from '../testing.mjs';

const INSIDE = '#mixer=cat&task=mqar~mixer=attention!view=inside&speed=full';
const figures = (page) => page.$$eval('.plots figcaption', (all) => all.map((one) => one.textContent));

onPage(
    'what does the filter learn? A delay by one token, said in words and drawn beside the theorem',
    INSIDE,
    {},
    async (page) => {
        await allReady(page);
        await until(page, () => document.querySelectorAll('.plot').length === 3);
        await says(page, '.learnt-sentence', /mostly of the token itself/);
        const cut = await page.$$eval('.plot svg text', (all) =>
            all.filter((one) => one.getBBox().x < 0).map((one) => one.textContent),
        );
        assert.deepEqual(cut, [], 'numbers of an axis of which a part is cut off');
        await press(page, 'Start');
        await until(page, () => globalThis.seqmix.runs()[0].solved);
        await until(page, () =>
            /mostly of the token before/.test(document.querySelector('.learnt-sentence')?.textContent ?? ''),
        );
        assert.deepEqual((await figures(page)).slice(0, 3), [
            'filter on the queries, by tokens back',
            'filter on the keys, by tokens back',
            'filter on the values, by tokens back',
        ]);
        await says(page, '.plot .say', /Theorem 1/);
        const taps = await page.$$eval('.plot', (all) =>
            all
                .slice(0, 3)
                .map((plot) =>
                    [...plot.querySelectorAll('.stem title')].map((one) =>
                        Number(one.textContent.split(': ')[1]),
                    ),
                ),
        );
        const most = taps[1].map(Math.abs).indexOf(Math.max(...taps[1].map(Math.abs)));
        assert.equal(most, 1, `the key filter is ${taps[1]}`);
        assert.ok(taps[1][1] < 0, 'from seed 1, which the sentences say is as good');
        await says(page, '.learnt-sentence', /A negative weight works as well/);
        await says(page, '.flow-taps', /one back −[01]\.\d\d · .*A negative weight works as well/);
    },
);

onPage(
    'the laboratory’s first run adds the token before, as the filter of the story does',
    '',
    {},
    async (page) => {
        await openTab(page, 'Experiment');
        await until(page, () => globalThis.seqmix.runs()[0].solved);
        await openTab(page, 'Inside');
        await says(page, '.learnt-sentence', /mostly of the token before \(weight [\d.]+\)/);
        await says(page, '.flow-taps', /one back [01]\.\d\d · two back −?0\.\d\d$/);
    },
);

onPage(
    "of Focus's filters the bin, the channel and the filter that are chosen are shown, with their numbers",
    '#mixer=focus&task=mqar&bins=4&iir_filters=2!view=inside',
    {},
    async (page) => {
        await allReady(page);
        const lab = await load({ whole: true });
        const run = lab.open('mixer=focus&task=mqar&bins=4&iir_filters=2');
        run.look(0);
        const { data, shape } = run.tensor('block0.mixer.theta'); // [1][bins][channels][filters x 2]
        const channels = shape[2];
        const chosen = [1, 0, 0]; // bin, channel, filter: as it begins
        for (const [which, value] of [
            [2, 1],
            [0, 3],
            [1, channels - 1],
            [2, 0],
            [0, 2],
        ]) {
            chosen[which] = value;
            const select = `[aria-labelledby="theta-title"] label:nth-child(${which + 1}) select`;
            await page.waitForSelector(select);
            await page.select(select, String(value));
            const at = ((chosen[0] * channels + chosen[1]) * 2 + chosen[2]) * 2;
            await eventually(async () => {
                const said = (await text(page, '[aria-labelledby="theta-title"] .number')).replaceAll(
                    '−',
                    '-',
                );
                const [a, b] = [...said.matchAll(/= (-?[\d.]+)/g)].map(([, number]) => Number(number));
                assert.ok(Math.abs(a - data[at]) < 6e-5 && Math.abs(b - data[at + 1]) < 6e-5, said);
            });
        }
        run.close();
    },
);

/** What the map shows in this row: its brightest place, how many there are, and which row is outlined. */
const drawnAt = (page, row) =>
    page.$eval(
        '.map-frame',
        (frame, row) => {
            const canvas = frame.querySelector('canvas');
            const { data } = canvas.getContext('2d').getImageData(0, row, canvas.width, 1);
            const light = Array.from(
                { length: canvas.width },
                (_, x) => data[4 * x + 3] && data[4 * x] + data[4 * x + 1] + data[4 * x + 2],
            );
            const outlined = frame.querySelector('.row-mark rect').getBoundingClientRect();
            const box = canvas.getBoundingClientRect();
            return {
                brightest: light.indexOf(Math.max(...light)),
                seen: light.filter(Boolean).length,
                outlined: ((outlined.top - box.top) / box.height) * canvas.height,
            };
        },
        row,
    );

onPage(
    'why does attention fail at recall? A question finds its key, never the value after it',
    INSIDE,
    {},
    async (page) => {
        await allReady(page);
        // Nothing is explained of a model that was not trained.
        await says(page, '.stepper .number', 'Example 1');
        await page.waitForSelector('figure.map');
        await counts(page, '.why-so', 0);
        await press(page, 'Start');
        await until(page, () => globalThis.seqmix.runs()[0].solved && globalThis.seqmix.runs()[1].step > 250);
        await stopped(page);
        // CAT looks at the value that it answers; the sentence says where.
        await until(page, () => /which is right/.test(document.querySelector('.score')?.textContent ?? ''));
        // What is copied is as wide as the bands above it, on a large screen, too.
        await page.setViewport({ width: 2560, height: 1440 });
        await eventually(async () => {
            const [strip, bands] = await page.evaluate(() =>
                ['.flow-strip canvas', '.flow ol'].map((one) => document.querySelector(one).clientWidth),
            );
            assert.ok(Math.abs(strip - bands) <= 4, `${strip} of ${bands} px`);
        });
        await page.setViewport({ width: 1280, height: 900 });
        // The map shows that: its row of the question, outlined, is brightest where the sentence says.
        // (It is drawn a frame after the sentence.)
        await eventually(async () => {
            const said = await text(page, '.score');
            const [, answer, token] = /answers (\w+), which.*most at position \d+, token (\w+)/.exec(said);
            assert.equal(token, answer);
            const [, asks, most] = /At position (\d+) .* most at position (\d+)/.exec(said);
            const drawn = await drawnAt(page, Number(asks));
            assert.equal(drawn.brightest, Number(most));
            assert.equal(drawn.seen, Number(asks) + 1, 'a row sees itself and what is before it');
            assert.ok(
                Math.abs(drawn.outlined - Number(asks)) < 0.5,
                `row ${asks} is outlined at ${drawn.outlined}`,
            );
        });
        // Attention looks at the value of no question: of eight, at most a few are met by chance.
        await page.focus('.picker input:checked');
        await page.keyboard.press('ArrowRight');
        await until(
            page,
            () => /run=1/.test(location.hash) && document.querySelectorAll('.question button').length === 8,
        );
        let met = 0;
        for (let i = 0; i < 8; i++) {
            await (await page.$$('.question button'))[i].click();
            const said = await text(page, '.score');
            const right = /but (\w+) is right/.exec(said)?.[1] ?? /answers (\w+), which/.exec(said)[1];
            const [, share] = /most at position \d+, token \w+ \((\d+) %\)/.exec(said);
            met += new RegExp(`token ${right} \\(`).test(said) && Number(share) > 50 ? 1 : 0;
        }
        assert.ok(met <= 3, `attention looks at the right value ${met} times of 8`);
        await says(page, '.score', /^\d of 8 right/);
        assert.ok(Number((await text(page, '.score'))[0]) <= 4);
    },
);

onPage(
    'one answer’s way from token to copy: the whole, one head, one number, each as the run has it',
    INSIDE.replace('task=mqar~', 'task=mqar&heads=2~'),
    {},
    async (page) => {
        await allReady(page);
        await press(page, 'Start');
        await until(page, () => globalThis.seqmix.runs()[0].solved);
        await stopped(page);
        // (The step at which it is paused depends on the machine, and so does whether a sample is right.)
        await eventually(async () => {
            const right = /which is right/.test(await text(page, '.score'));
            if (!right) await page.click('[aria-label="Next example"]');
            assert.ok(right, 'a sample that is answered right');
        });
        const bars = (part) =>
            page.$$eval(
                '.flow li',
                (all, part) => {
                    const found = all.find((one) => one.querySelector('b').textContent === part);
                    return [...(found?.querySelectorAll('rect.share') ?? [])].map((bar) => ({
                        value: Number(bar.dataset.value),
                        tall: Number(bar.getAttribute('height')),
                    }));
                },
                part,
            );
        // The whole: a band for each head, and the answer that stands below the tokens.
        await eventually(async () => {
            for (const head of ['Head 1', 'Head 2']) assert.ok((await bars(head)).length > 0, head);
            const [, answer] = /answers (\w+), which/.exec(await text(page, '.score'));
            assert.match(await text(page, '.flow-answer'), new RegExp(`^${answer} ✓ right`));
        });
        // One head: what stands between, in order; the bars are as tall as their shares.
        await zoom(page, 'One head');
        await eventually(async () =>
            assert.deepEqual(await page.$$eval('.flow-title b', (all) => all.map((one) => one.textContent)), [
                'Tokens',
                'Keys before the filter',
                'Filter',
                'Keys',
                'Match',
                'Values',
                'Copy',
                'Answer',
            ]),
        );
        // (The last report of a run is drawn some frames after it stands still.)
        let most;
        await eventually(async () => {
            const shares = await bars('Match');
            most = shares.reduce((a, b) => (b.value > a.value ? b : a));
            const sum = shares.reduce((all, { value }) => all + value, 0);
            assert.ok(sum > 0.95 && sum < 1.0001, `shares that can be seen add up to ${sum}`);
            for (const { value, tall } of shares)
                assert.ok(Math.abs(tall / most.tall - value / most.value) < 1e-3, `${tall} for ${value}`);
            const [, said] = /most at position \d+, token \w+ \((\d+) %\)/.exec(await text(page, '.score'));
            assert.equal(Math.round(100 * most.value), Number(said));
            // The taps are those of Edit a weight.
            const taps = await text(page, '.flow-taps');
            const own = await page.$$eval('.in-hand output', (all) => all.map((one) => one.textContent));
            assert.ok(own.length >= 3, own.join());
            for (const tap of own.slice(0, 3))
                assert.ok(
                    taps.includes(Number(tap.replace('−', '-')).toFixed(2).replace('-', '−')),
                    `${tap} in ${taps}`,
                );
        });
        // One number: of the token that is looked at most, and of another.
        await zoom(page, 'One number');
        await eventually(async () => {
            const weight = await page.$eval('.flow-sum', (one) => Number(one.dataset.weight));
            assert.equal(weight, most.value);
            assert.ok((await text(page, '.flow-sum')).endsWith(`${(100 * weight).toFixed(1)} %`));
        });
        await page.focus('.flow-token input');
        await page.keyboard.press('Home');
        await eventually(async () => {
            const weight = await page.$eval('.flow-sum', (one) => Number(one.dataset.weight));
            assert.ok(weight < most.value, `${weight}`);
            assert.match(await text(page, '.flow-token output'), /^0: [A-Z]+$/);
        });
        // A pointer enlarges a token in every band.
        const band = await page.$('.flow li:nth-child(5) .drawing');
        await band.evaluate((one) => one.scrollIntoView({ block: 'center' }));
        const { x, y, width } = await band.boundingBox();
        await page.mouse.move(x + width / 2, y + 10);
        await eventually(async () => {
            const widths = await page.$$eval('.flow li:first-child g rect', (all) =>
                all.map((one) => Number(one.getAttribute('width'))),
            );
            const widest = widths.indexOf(Math.max(...widths));
            assert.ok(
                widths[widest] > 30 && Math.abs(widest - 32) <= 1,
                `token ${widest}: ${widths[widest]} px`,
            );
            assert.match(await text(page, '.flow-token output'), new RegExp(`^${widest}: `));
        });
        // On a phone boxes are too narrow for names: the question and what is pointed at have theirs.
        await page.setViewport({ width: 390, height: 844 });
        await eventually(async () => {
            const named = await page.$$eval('.flow .tokens text', (all) =>
                all.map((one) => ({ of: one.className.baseVal, box: one.getBoundingClientRect().toJSON() })),
            );
            assert.ok(
                ['asks', 'at'].every((of) => named.some((one) => one.of === of)),
                JSON.stringify(named),
            );
            named.sort((a, b) => a.box.left - b.box.left);
            for (const [i, { box }] of named.entries()) {
                assert.ok(box.left >= 0 && box.right <= 390, JSON.stringify(box));
                assert.ok(i === 0 || named[i - 1].box.right <= box.left + 1, JSON.stringify(named));
            }
        });
        // So those about the token that is pointed at stand below, for an eye and a thumb.
        const near = () =>
            page.$$eval('.flow-near button', (all) =>
                all.map((one) => ({
                    says: one.ariaLabel,
                    pointed: one.ariaPressed === 'true',
                    sides: [one.offsetWidth, one.offsetHeight],
                    type: parseFloat(getComputedStyle(one.lastChild).fontSize),
                })),
            );
        const pointedOut = async () => Number((await text(page, '.flow-token output')).split(':')[0]);
        for (const press of [6, 0, 3]) {
            await (await page.$$('.flow-near button'))[press].click();
            await eventually(async () => {
                const all = await near();
                assert.equal(all.length, 7);
                for (const { sides, type } of all) {
                    assert.ok(Math.min(...sides) >= 44, `${sides} px`);
                    assert.ok(type >= 15, `letters of ${type} px`);
                }
                const at = all.filter(({ pointed }) => pointed);
                assert.equal(at.length, 1);
                assert.equal(at[0].says, `Token ${await text(page, '.flow-token output')}`);
            });
        }
        const before = await pointedOut();
        await (await page.$$('.flow-near button'))[5].click();
        await eventually(async () => assert.equal(await pointedOut(), before + 2));
        await fitsEverySize(page, 'flow');
        assert.deepEqual(
            await page.$$eval('.flow-near', (all) => all.filter((one) => one.checkVisibility()).length),
            0,
            'not where boxes are wide',
        );
        await isAccessible(page);
    },
);

onPage('training history can be scrubbed through', INSIDE, {}, async (page) => {
    await allReady(page);
    await press(page, 'Start');
    await until(page, () => globalThis.seqmix.runs()[0].solved && globalThis.seqmix.runs()[0].step > 120);
    await stopped(page);
    await until(page, () => /^8 of 8/.test(document.querySelector('.score')?.textContent ?? ''));
    await page.focus('.timeline input');
    await page.keyboard.press('Home');
    await until(page, () => /right at step 0/.test(document.querySelector('.score')?.textContent ?? ''));
    await says(page, '.learnt-sentence', /mostly of the token itself/);
    await says(page, '.timeline output', 'step 0');
    await page.keyboard.press('ArrowRight');
    await until(page, () => /right at step 10/.test(document.querySelector('.score')?.textContent ?? ''));
    await page.keyboard.press('End');
    await until(page, () => /^8 of 8/.test(document.querySelector('.score')?.textContent ?? ''));
    await says(page, '.timeline output', /^now/);
});

onPage(
    'each mechanism shows its own parts',
    '#mixer=las&task=mqar~mixer=focus&bins=8~mixer=chela~mixer=s4d~mixer=ema!view=inside',
    {},
    async (page) => {
        await allReady(page);
        const shows = async (run, ...wanted) => {
            await page.evaluate(
                (run) => (location.hash = location.hash.replace(/&run=\d+|$/, `&run=${run}`)),
                run,
            );
            await until(
                page,
                (want) =>
                    want.every((one) =>
                        [...document.querySelectorAll('.plots figcaption')].some(({ textContent }) =>
                            textContent.includes(one),
                        ),
                    ),
                wanted,
            );
        };
        await shows(0, 'softmax alone', 'with the decay', 'and pooled over 3', 'head 2');
        await shows(
            1,
            'frequency response',
            'impulse response',
            '|H| of every bin',
            'Θ₁',
            'x_f',
            'gamma',
            'phi',
        );
        await shows(2, 'short convolution, three taps', 'long convolution', 'spectrum', 'g_a', 'g_o');
        await shows(4, 'moving averages as one kernel', 'its spectrum', 'average: moving averages');
        await shows(3, 'kernel of the state space', 'its spectrum');
        await page.$$eval('details', (all) => all.forEach((one) => (one.open = true)));
        await shows(3, 'embedding', 'gradient of embedding');
        // Pointing reads a number.
        const map = await page.evaluateHandle(() =>
            [...document.querySelectorAll('.matrix')]
                .find((one) => /32 × 64/.test(one.textContent))
                .querySelector('canvas'),
        );
        await map.evaluate((canvas) => canvas.scrollIntoView({ block: 'center' }));
        const box = await map.boundingBox();
        await page.mouse.move(box.x + 5, box.y + 5);
        await until(page, () =>
            [...document.querySelectorAll('.matrix .map-legend')].some((one) =>
                /channel \d+, tokens back \d+: −?\d/.test(one.textContent),
            ),
        );
        assert.equal((await runs(page)).length, 5);
        // Every one of them can be taken along.
        await page.evaluate(() => {
            globalThis.taken = [];
            URL.createObjectURL = (blob) => (globalThis.taken.push(blob), 'blob:');
            HTMLAnchorElement.prototype.click = () => {};
        });
        await page.keyboard.press('e');
        await press(page, 'kernel of the state space as SVG');
        await press(page, 'kernel of the state space as PNG');
        await until(page, () => globalThis.taken.length === 2);
        const [svg, png] = await page.evaluate(async () => {
            const [svg, png] = globalThis.taken;
            return [await svg.text(), [...new Uint8Array(await png.arrayBuffer()).subarray(1, 4)]];
        });
        assert.match(
            svg,
            /^<svg.*>kernel of the state space<.*<image [^>]*href="data:image\/png.*32 × 64.*<\/svg>$/s,
        );
        assert.equal(String.fromCharCode(...png), 'PNG');
        // Words are as wide as on the page, whatever font the picture's reader has.
        const texts = svg.match(/<text [^>]*>/g);
        assert.ok(texts.length && texts.every((one) => /textLength="[1-9]/.test(one)), svg.slice(0, 900));
    },
);

onPage(
    'quick presses of the next sample are all heard, and the number is always that of the sample shown',
    INSIDE,
    {},
    async (page) => {
        await allReady(page);
        await until(page, () => document.querySelectorAll('.sample .token').length > 8);
        // What every state of the page says: the number, and the tokens below it.
        await page.evaluate(() => {
            const said = (globalThis.said = new Map());
            const write = () => {
                const number = /^Example (\d+)/.exec(
                    document.querySelector('.stepper .number').textContent,
                )[1];
                const tokens = [...document.querySelectorAll('.sample .token')].map(
                    (one) => one.lastChild.textContent,
                );
                said.set(number, (said.get(number) ?? new Set()).add(tokens.join(' ')));
            };
            new MutationObserver(write).observe(document.querySelector('main'), {
                subtree: true,
                childList: true,
                characterData: true,
            });
            write();
            // Twice in one turn: the second press comes before the first is drawn.
            const next = document.querySelector('[aria-label="Next example"]');
            for (let i = 0; i < 6; i++) setTimeout(() => (next.click(), next.click()), 70 * i);
        });
        await says(page, '.stepper .number', 'Example 13');
        const said = await page.evaluate(() =>
            [...globalThis.said].map(([number, tokens]) => [number, [...tokens]]),
        );
        assert.deepEqual(
            said.filter(([, tokens]) => tokens.length > 1),
            [],
            'numbers under which several samples were shown',
        );
        assert.ok(new Set(said.map(([, [tokens]]) => tokens)).size === said.length && said.length > 1);
    },
);
