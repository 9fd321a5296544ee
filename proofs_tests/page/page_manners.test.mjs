// page_manners.test.mjs: what a visitor stumbled over once: numbers too small to read, fields that move,
// lessons without their data, words that do not fit what is shown.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import {
    RACE,
    WAIT,
    allDone,
    allReady,
    at,
    browser,
    counts,
    eventually,
    goto,
    hash,
    onPage,
    openLesson,
    pause,
    press,
    runs,
    sticksOut,
    says,
    stopped,
    text,
    until,
    violations,
} from './testing.mjs';
import { targetsOf } from '../support/targets.mjs';

/**
 * Height in CSS pixels of the topmost number at the vertical axis of the first chart: rows with ink in it.
 */
const tickHeight = (page, chart) =>
    page.$eval(chart, (canvas) => {
        const over = canvas.closest('.chart').querySelector('.u-over').getBoundingClientRect();
        const box = canvas.getBoundingClientRect();
        const ratio = canvas.width / box.width;
        const [width, height] = [Math.floor((over.left - box.left - 4) * ratio), canvas.height];
        const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
        const inked = (y) => {
            for (let x = 0; x < width; x++) if (data[4 * (y * width + x) + 3] > 128) return true;
            return false;
        };
        let top = 0;
        while (top < height && !inked(top)) top++;
        let end = top;
        while (end < height && inked(end)) end++;
        return (end - top) / ratio;
    });

for (const ratio of [1, 2, 3])
    for (const [name, address] of [
        ['Experiment', RACE],
        ['Length', `${RACE}!view=length`],
    ])
        onPage(
            `${name}: numbers at the axes are as tall at ${ratio} pixels a pixel`,
            address,
            { ratio },
            async (page) => {
                await allReady(page);
                await page.waitForSelector('.chart canvas');
                await eventually(async () => {
                    const tall = await tickHeight(page, '.chart canvas');
                    assert.ok(tall >= 7 && tall <= 12, `a number is ${tall} px tall`); // 11 px type
                });
            },
        );

onPage('help moves no field, and the pointer reaches the field that it lies over', RACE, {}, async (page) => {
    await allReady(page);
    const places = () =>
        page.$$eval('.setup input', (all) => all.map((one) => Math.round(one.getBoundingClientRect().top)));
    const before = await places();
    await page.focus('.control input');
    await until(page, () => getComputedStyle(document.querySelector('.control .help')).display === 'block');
    assert.deepEqual(await places(), before);
    const second = (await page.$$('.control input'))[1];
    await second.click();
    assert.ok(await second.evaluate((one) => one === document.activeElement));
});

onPage('arrow keys count a number up and down; Enter takes it', RACE, {}, async (page) => {
    await allReady(page);
    const input = await page.waitForSelector('::-p-aria([name="vocab"][role="textbox"])');
    await input.focus();
    for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowDown']) await page.keyboard.press(key);
    assert.equal(await input.evaluate((one) => one.value), '66');
    assert.doesNotMatch(await hash(page), /vocab/, 'nothing is taken while it is counted');
    await page.keyboard.press('Enter');
    await until(page, () => /vocab=66/.test(location.hash));
    await page.$$eval('.run details', (all) => all.forEach((one) => (one.open = true)));
    const rate = await page.waitForSelector('.run ::-p-aria([name="rate"][role="textbox"])');
    const was = Number(await rate.evaluate((one) => one.value));
    await rate.focus();
    await page.keyboard.press('ArrowUp');
    const now = Number(await rate.evaluate((one) => one.value));
    assert.ok(now > was && now <= 2 * was, `${was} became ${now}`);
});

onPage(
    'a lesson about MNIST runs on drawn digits where the files are not here, and says so',
    RACE,
    {},
    async (page) => {
        await allReady(page);
        for (const title of ['Digits in one pass', 'Drawn digits teach real ones']) {
            await openLesson(page, title);
            await until(page, () => /task=smnist/.test(globalThis.seqmix.runs()[0].config));
            await until(page, () => globalThis.seqmix.runs()[0].step > 2);
            assert.equal((await page.$$('.why')).length, 0, 'nothing is red');
            await says(
                page,
                '.race',
                /This lesson is about MNIST\. Some of its files are missing, so no claim is judged/,
            );
            await says(
                page,
                '.lesson',
                /both drawn by a generator: this says nothing about real handwriting/,
            );
            assert.doesNotMatch(await text(page, '.race'), /judged on MNIST/, 'nothing here was');
            await says(page, '.card[aria-pressed=true] small', /in the native program, longer here/);
            await says(page, '.card[aria-pressed=true] strong', title);
            await stopped(page);
        }
        await press(page, 'Real digits …');
        await until(page, () => /view=digits/.test(location.hash));
        await page.waitForSelector('.drop');
        await says(page, '.drop', /For all 60,000, drop the four files here/);
    },
);

onPage(
    'the first press of Tab skips to the content; what cannot be trained does not offer to',
    '#mixer=cat&task=smnist&data=digits&test=mnist',
    {},
    async (page) => {
        const before = await hash(page);
        await page.keyboard.press('Tab');
        assert.equal(
            await page.evaluate(() => document.activeElement.textContent.trim()),
            'Skip to the content',
        );
        await page.keyboard.press('Enter');
        assert.equal(await page.evaluate(() => document.activeElement.tagName), 'MAIN');
        assert.equal(await hash(page), before, 'the setup stays in the address');
        await until(page, () => globalThis.seqmix.runs()[0].status === 'failed');
        await says(page, '.transport .state', 'cannot be trained');
        const offered = () =>
            page.$$eval('.transport button:not([disabled])', (all) =>
                all.map((one) => one.textContent.trim()),
            );
        assert.deepEqual(await offered(), []);
        // Neither does the empty chart, nor do the keys.
        await says(page, '.chart-note', 'Cannot be trained: see the settings for the reason.');
        assert.equal((await page.$$('.chart-note button')).length, 0);
        for (const key of ['k', '.']) await page.keyboard.press(key);
        await pause(300);
        assert.equal(await text(page, '.transport .state'), 'cannot be trained');
        await page.evaluate(() => (location.hash = location.hash.replace('test=mnist', 'test=same')));
        await eventually(async () => assert.deepEqual(await offered(), ['Start', 'Step', 'Undo']));
        await says(page, '.chart-note button', 'Start these runs');
        // Pairs are as many as the length has room for, which their table cannot say; who asks for more is
        // told at once how many.
        await page.evaluate(() => (location.hash = '#mixer=cat&task=mqar'));
        await page.waitForSelector('.setup .control .help');
        const help = await page.$$eval('.setup .control .help', (all) => all.map((one) => one.textContent));
        assert.ok(!help.some((one) => /32767/.test(one)), help.join('\n'));
        await allReady(page);
        const pairs = await page.waitForSelector('.setup ::-p-aria([name="pairs"][role="textbox"])');
        for (const asked of ['40000', '20']) {
            await pairs.click({ count: 3 });
            await pairs.type(asked);
            await page.keyboard.press('Enter');
            await says(
                page,
                '.setup .control .why',
                `pairs=${asked} does not fit: it must be at most 16 at vocab=64 and length=64`,
            );
        }
    },
);

onPage('on another seed a lesson is judged, too', `${RACE}&steps=300!speed=full`, {}, async (page) => {
    await allReady(page);
    await openLesson(page, 'Which filter matters');
    await until(page, () => globalThis.seqmix.runs().length === 4);
    await page.evaluate(() => (location.hash = location.hash.replace('task=mqar', 'task=mqar&seed=7')));
    await until(page, () => globalThis.seqmix.runs().every(({ config }) => /seed=7/.test(config)));
    await says(page, '.race .lesson', /A filter on the keys alone/);
    await allDone(page);
    await says(page, '.lesson-seen p', /^Result: .*(All as predicted|did not hold this time)\.$/);
    const states = await page.$$eval('.expected li', (all) => all.map((one) => one.className));
    assert.ok(states.length === 4 && states.every((one) => /^(held|broken)$/.test(one)), states.join());
});

onPage(
    'of several seeds the result says their mean, as the table does',
    '#mixer=cat&task=mqar&steps=60~mixer=attention!speed=full&seeds=3',
    {},
    async (page) => {
        await allReady(page);
        await openLesson(page, 'Which filter matters');
        await until(page, () => /seeds=3/.test(location.hash) && globalThis.seqmix.runs().length === 4);
        await until(page, () =>
            globalThis.seqmix.runs().every(({ members }) => members.every(({ step }) => step === 300)),
        );
        await says(page, '.lesson-seen p', /^Result: .*\(99 % on 3 of 3 seeds\)/);
        const told = [...(await text(page, '.lesson-seen p')).matchAll(/([\d.]+) %(?! on)/g)].map(
            (one) => one[1],
        );
        const shown = await page.$$eval('.numbers tbody td:nth-of-type(3)', (all) =>
            all.map((one) => parseFloat(one.textContent).toFixed(1)),
        );
        assert.deepEqual(told, shown);
        const means = (await runs(page)).map(({ members }) => {
            const last = members.map(({ tried }) => tried.at(-1).accuracy);
            return (100 * last.reduce((sum, one) => sum + one, 0)) / last.length;
        });
        assert.deepEqual(
            told,
            means.map((mean) => mean.toFixed(1)),
        );
    },
);

onPage(
    'what asks for MNIST is named by its own key',
    '#mixer=cat&task=smnist&data=digits&test=mnist',
    {},
    async (page) => {
        await until(page, () => globalThis.seqmix.runs()[0].status === 'failed');
        await says(page, '.run .why', /test=mnist reads MNIST.*choose test=same/);
        const marked = await page.$$eval('.setup [aria-invalid]', (all) =>
            all.map((one) => one.closest('.control').querySelector('label').textContent),
        );
        assert.deepEqual(marked, ['test']);
    },
);

for (const width of [390, 1280])
    for (const [name, address] of [
        ['a text before training', '#mixer=cat&task=charlm~mixer=attention'],
        [
            'five runs of long names',
            '#mixer=cat&task=mqar~mixer=attention&blocks=2&position=alibi_scaled~mixer=las&las_decay=alibi_scaled' +
                '&pool=masked&window=5~mixer=focus~mixer=chela',
        ],
    ])
        onPage(`${name}: nothing sticks out at ${width} px`, address, { width }, async (page) => {
            await allReady(page);
            await until(page, () => document.querySelector('.tokens li'));
            assert.ok((await sticksOut(page)) <= 0);
            const outside = await page.$$eval('.tokens button, .picker select', (all) => {
                const wide = (one) => one.scrollWidth - one.clientWidth;
                return all
                    .filter((one) => one.matches('.tokens *') && wide(one) > 1)
                    .map((one) => one.textContent);
            });
            assert.deepEqual(outside, []);
            // On a phone a finger finds each question.
            const sizes = await page.$$eval('.tokens button', (all) =>
                all.map((one) => [one.offsetWidth, one.offsetHeight]),
            );
            assert.ok(sizes.length >= 8);
            if (width === 390)
                for (const [wide, high] of sizes) assert.ok(wide >= 44 && high >= 44, `${wide} × ${high} px`);
        });

onPage('a thumb finds every button, field and menu of a phone: 44 px', RACE, {}, async (page) => {
    await allReady(page);
    await page.setViewport({ width: 390, height: 844, isMobile: true, hasTouch: true });
    const listed = await readFile(at('web/views/list.ts'), 'utf8');
    const views = [...listed.matchAll(/^ {8}id: (?:'(\w+)'|FIRST_VIEW)/gm)].map(
        ([, name]) => name ?? 'experiment',
    );
    assert.ok(views.length > 10);
    for (const view of views) {
        await page.evaluate((view) => (location.hash = `#mixer=cat&task=mqar!view=${view}`), view);
        await until(
            page,
            (view) =>
                location.hash.includes(`view=${view}`) &&
                document.querySelector('main :is(button, a, summary)'),
            view,
        );
        await pause(500);
        const small = (await targetsOf(page)).filter(({ width, height }) => width < 43.5 || height < 43.5);
        assert.deepEqual(small, [], view);
        assert.ok((await sticksOut(page)) <= 0, view);
    }
});

onPage('no two things to press in a view are called the same', RACE, {}, async (page) => {
    await allReady(page);
    const listed = await readFile(at('web/views/list.ts'), 'utf8');
    const views = [...listed.matchAll(/^ {8}id: (?:'(\w+)'|FIRST_VIEW)/gm)].map(
        ([, name]) => name ?? 'experiment',
    );
    for (const view of views) {
        await page.evaluate((view) => (location.hash = `#mixer=cat&task=mqar!view=${view}`), view);
        await page.waitForSelector('main h3');
        await until(page, (view) => location.hash.includes(`view=${view}`), view);
        await pause(500);
        // But for the parts of a line, a board and a sheet, which are the same in each.
        const names = await page.$$eval('button, .where a, .views a', (all) =>
            all
                .filter((one) => one.checkVisibility())
                .filter((one) => !one.closest('.term, .contents, .steps, .line, .columns, .exercises ol'))
                .map((one) =>
                    (one.getAttribute('aria-label') ?? one.textContent).replace(/\s+/g, ' ').trim(),
                ),
        );
        assert.ok(names.length > 4, view);
        const twice = names.filter((name, i) => names.indexOf(name) !== i);
        assert.deepEqual(twice, [], view);
    }
});

onPage('a link opens with a word in its empty chart, which starts it', RACE, {}, async (page) => {
    await allReady(page);
    await says(page, '.chart-note', /Nothing has been trained yet/);
    await press(page, 'Start these runs');
    await until(page, () => globalThis.seqmix.runs()[0].step > 3 && !document.querySelector('.chart-note'));
});

onPage('the speed that is shown is the one that was chosen', RACE, {}, async (page) => {
    await allReady(page);
    await page.select('.transport select', 'slow');
    await press(page, 'Start');
    await until(page, () => /[1-9]\S* steps\/s/.test(document.querySelector('.state').textContent));
    await until(page, () => globalThis.seqmix.runs()[0].step > 8);
    const [, rate] = /([\d.]+) steps\/s/.exec(await text(page, '.state'));
    assert.ok(Number(rate) <= 5.5, `${rate} steps/s where 4 were chosen`);
});

onPage(
    'names say what tells runs apart, once what they share',
    '#mixer=cat&task=mqar&blocks=2~mixer=attention&position=rope',
    {},
    async (page) => {
        await allReady(page);
        const names = (await runs(page)).map(({ name }) => name);
        assert.deepEqual(names, ['CAT', 'Softmax attention · position=rope']);
        await says(page, '.setup', /All runs: blocks=2/);
    },
);

onPage(
    'nobody is asked to pick a question where there is none',
    '#mixer=cat&task=smnist',
    {},
    async (page) => {
        await allReady(page);
        await until(page, () => document.querySelector('.score'));
        assert.doesNotMatch(await text(page, '.inside'), /Pick a question/);
        await page.evaluate(() => (location.hash = '#mixer=cat&task=mqar'));
        await until(page, () => /Pick a question/.test(document.querySelector('.inside').textContent));
        const colours = await page.$eval('.row-mark', (mark) => [
            getComputedStyle(mark).stroke,
            ...[1, 2, 3, 4, 5, 6].map((n) => getComputedStyle(mark).getPropertyValue(`--run-${n}`)),
        ]);
        assert.equal(colours[0], 'rgb(255, 255, 255)', 'the chosen row has no run’s colour');
    },
);

onPage('the chart stands above the fold, whatever lesson is open', RACE, {}, async (page) => {
    await page.setViewport({ width: 1280, height: 800 });
    await allReady(page);
    const top = (one) =>
        page.$eval(one, (one) => Math.round(one.getBoundingClientRect().top + window.scrollY));
    // On whatever shelf, no card of which is cut.
    for (const shelf of await page.$$('.shelves input')) {
        await shelf.evaluate((one) => one.click());
        await eventually(async () => {
            assert.ok(await shelf.evaluate((one) => one.checked));
            assert.ok((await top('.race .chart')) <= 420, `${await top('.race .chart')} px`);
            const [has, needs] = await page.$eval('.lessons ul', (one) => [one.clientWidth, one.scrollWidth]);
            assert.ok(needs <= has, `${needs} of ${has} px`);
        });
    }
    await openLesson(page, 'Three mechanisms, three tasks');
    await until(page, () => globalThis.seqmix.runs().length === 9);
    await counts(page, '.race .group', 3);
    await eventually(async () =>
        assert.ok((await top('.race figure')) <= 420, `${await top('.race figure')} px`),
    );
});

onPage(
    'a run that is removed by its button: the focus goes to the next one, and what a word meant goes with it',
    `${RACE}~mixer=las&position=learned~mixer=focus`,
    {},
    async (page) => {
        await allReady(page);
        const focused = () =>
            page.evaluate(() => document.activeElement.ariaLabel ?? document.activeElement.textContent);
        const term = () => page.$eval('#term-line', (one) => !one.hidden && one.textContent);
        // A term in the text of the run that goes is asked for, as by a pointer over it.
        const asked = await page.$eval('.runs .run:nth-child(2) .term', (one) => {
            one.dispatchEvent(new PointerEvent('pointerenter'));
            return one.textContent;
        });
        await eventually(async () => assert.ok(String(await term()).startsWith(asked)));
        for (const left of [3, 2, 1]) {
            const place = Math.min(1, left - 1);
            if (left === 3) await page.$$eval('.runs .remove', (all) => all[1].focus());
            await page.keyboard.press('Enter');
            await counts(page, '.runs .run', left);
            await eventually(async () => {
                const names = await page.$$eval('.runs .remove', (all) => all.map((one) => one.ariaLabel));
                assert.equal(names.length, left > 1 ? left : 0);
                assert.equal(await focused(), names[place] ?? 'Add a run');
            });
            assert.equal(await term(), false, 'the meaning of a word that is gone');
        }
    },
);

const shown = (page, selector) =>
    page.$$eval(selector, (all) => all.filter((one) => one.checkVisibility()).map((one) => one.textContent));
const AROUND = '.where, .tools, .views, footer, .lessons, .setup, .places > .inside, .options, .below';
onPage('projector mode: letters of 24 px, the chart or the story alone', RACE, {}, async (page) => {
    await allReady(page);
    // (The chart is seen at once, also by who had scrolled to the runs.)
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await page.keyboard.press('f');
    await until(page, () => /projector=1/.test(location.hash));
    for (const [width, height] of [
        [1280, 800],
        [1920, 1080],
    ]) {
        await page.setViewport({ width, height });
        await eventually(async () => {
            assert.equal(await page.evaluate(() => getComputedStyle(document.body).fontSize), '24px');
            assert.deepEqual(await shown(page, AROUND), []);
            assert.ok((await sticksOut(page)) <= 0, `at ${width} px`);
            const { top, bottom } = await page.$eval('.race .chart canvas', (one) => {
                const { top, bottom } = one.getBoundingClientRect();
                return { top, bottom };
            });
            assert.ok(
                top >= 0 && bottom <= height && bottom - top >= 0.4 * height,
                `from ${top} to ${bottom} px`,
            );
        });
    }
    // What is written on canvases grows with it: letters of 18 px, digits of 13.
    assert.ok((await tickHeight(page, '.race .chart canvas')) >= 12);
    await page.evaluate(() => (location.hash += '&view=start'));
    await page.waitForSelector('.start .first');
    await counts(page, '.start .below', 1);
    assert.deepEqual(await shown(page, AROUND), []);
    assert.ok((await sticksOut(page)) <= 0);
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press('Escape');
    await until(page, () => !/projector/.test(location.hash));
    await page.keyboard.press('f');
    await until(page, () => /projector=1/.test(location.hash));
    // (The sheet of keys begins with its title, though what has the focus is at its end.)
    await page.setViewport({ width: 1280, height: 500 });
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
    assert.equal(await page.$eval('dialog[open]', (one) => one.scrollTop), 0);
    await page.keyboard.press('Escape');
    await counts(page, 'dialog[open]', 0);
    assert.match(await page.evaluate(() => location.hash), /projector=1/, 'Escape closes the sheet alone');
    // Whoever knows no key sees the way out, however long the page is.
    const way = await page.$eval('.leave-projector', (one) => one.getBoundingClientRect().toJSON());
    assert.ok(way.top >= 0 && way.bottom <= 500 && way.right <= 1280, JSON.stringify(way));
    await press(page, 'Leave projector mode (f or Escape)');
    await until(page, () => !/projector/.test(location.hash));
    await page.setViewport({ width: 1280, height: 800 });
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).fontSize), '16.5px');
    assert.equal((await shown(page, '.views')).length, 1);
});

onPage('projector mode is entered and left where the visitor was', RACE, {}, async (page) => {
    const turn = async (on) => {
        await page.keyboard.press('f');
        await until(page, (on) => document.documentElement.hasAttribute('data-projector') === on, on);
    };
    // The chart's page: left where it was before.
    await allReady(page);
    await page.evaluate(() => scrollTo(0, 300));
    const from = await page.evaluate(() => scrollY);
    assert.ok(from > 0);
    await turn(true);
    assert.equal(await page.evaluate(() => scrollY), 0);
    await turn(false);
    assert.equal(await page.evaluate(() => scrollY), from);
    // The story: its third step stays where it is on the screen, though all above it grows and shrinks.
    await page.evaluate((hash) => (location.hash = `${hash}!view=start`), RACE);
    await page.waitForSelector('#step-3-title');
    const top = () => page.$eval('#step-3-title', (one) => Math.round(one.getBoundingClientRect().top));
    await page.evaluate(() => {
        const title = document.querySelector('#step-3-title');
        const wanted = title.getBoundingClientRect().top - innerHeight / 3 + 8;
        scrollBy({ top: wanted, behavior: 'instant' });
    });
    const held = await top();
    for (const on of [true, false]) {
        await turn(on);
        await eventually(async () => {
            const now = await top();
            assert.ok(Math.abs(now - held) <= 80, `${now} px instead of ${held}, projector mode ${on}`);
        });
    }
    // A view that was opened meanwhile begins at its top, not as far down as the one before was.
    await turn(true);
    assert.ok((await page.evaluate(() => scrollY)) > 300);
    await page.evaluate((hash) => (location.hash = `${hash}!projector=1`), RACE);
    await page.waitForSelector('.race .chart canvas');
    await turn(false);
    assert.equal(await page.evaluate(() => scrollY), 0);
});

onPage(
    'on paper: the chart and what is said of it, dark on light, without what is pressed',
    RACE,
    { dark: true },
    async (page) => {
        await allReady(page);
        await page.waitForSelector('.chart canvas');
        await page.setViewport({ width: 720, height: 1000 });
        const lesson = await page.$eval('.lesson', (one) => one.innerText);
        await page.emulateMediaType('print');
        await until(page, () => matchMedia('print').matches);
        // A line of the sample is made of buttons, and so are words that can be asked; those are read, too.
        assert.equal(
            await page.$eval('.lesson', (one) => one.innerText.replace(/\s+/g, ' ')),
            lesson.replace(/\s+/g, ' '),
        );
        assert.ok((await shown(page, '.inside ol button')).length >= 8);
        assert.deepEqual(
            await shown(page, '.transport, .options, .lessons, .views, footer, .chart-note button'),
            [],
        );
        assert.ok((await sticksOut(page)) <= 0);
        assert.equal(
            await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme),
            'light',
        );
        assert.match(
            await page.$eval('.chart canvas', (one) => getComputedStyle(one).filter),
            /^invert\(1\)/,
            'what was painted for the dark',
        );
        // Paper is not a window: nothing is drawn anew for it. The whole chart stays, to its last step.
        const [chart, canvas] = await page.evaluate(() => {
            const chart = document.querySelector('.chart');
            const wrap = chart.querySelector('.u-wrap');
            for (const one of [wrap, wrap.parentElement]) one.style.width = '1500px';
            wrap.style.height = '400px';
            const sides = (one) => [one.clientWidth, one.clientHeight];
            return [sides(chart), sides(chart.querySelector('canvas'))];
        });
        assert.ok(canvas[0] > 100 && canvas[1] > 50, `${canvas}`);
        assert.ok(canvas[0] <= chart[0] && canvas[1] <= chart[1], `${canvas} in ${chart}`);
        await page.evaluate(() => (location.hash = '#mixer=cat&task=mqar!view=papers'));
        await page.waitForSelector('.reruns');
        assert.ok((await shown(page, '.contradicted button')).length > 0, 'a list of buttons is read, too');
    },
);

onPage(
    'on paper: the board is whole, exercises are questions and room for answers',
    '#mixer=cat&task=mqar!view=start',
    {},
    async (page) => {
        await page.waitForSelector('.board .cell');
        await page.setViewport({ width: 718, height: 1000 });
        await page.emulateMediaType('print');
        await until(page, () => matchMedia('print').matches);
        const edges = await page.$$eval('.board .cell', (all) =>
            all.map((one) => one.getBoundingClientRect()).map(({ left, right }) => [left, right]),
        );
        assert.equal(edges.length, 12);
        for (const [left, right] of edges) assert.ok(left >= 0 && right <= 718, `${left} to ${right}`);
        await page.evaluate(() => (location.hash = '#mixer=cat&task=mqar!view=exercises'));
        await page.waitForSelector('.exercises input');
        assert.equal((await shown(page, '.exercises input')).length, 5);
        assert.deepEqual(await shown(page, '.exercises button, .exercises select, .where'), []);
    },
);

const SLOWLY = `${RACE}!speed=slow`; // for minutes, so that both still train when they are looked at
onPage('nothing moves when training starts and ends, or when it can be undone', SLOWLY, {}, async (page) => {
    await allReady(page);
    const places = () =>
        page.$$eval('.lesson, .options, .numbers, .setup h2, .inside h2', (all) =>
            all.map((one) => Math.round(one.getBoundingClientRect().top)),
        );
    const before = await places();
    await press(page, 'Start');
    await says(page, '.state', / steps\/s each, \d+ (s|min) left/);
    assert.deepEqual(await places(), before, 'while it trains');
    await press(page, 'Pause');
    await press(page, 'Reset');
    await page.waitForSelector('[aria-label="Undo the reset"]');
    assert.deepEqual(await places(), before, 'with Undo');
});

onPage(
    'a phone sees every length of the table',
    `${RACE}!view=length&speed=full`,
    { width: 390 },
    async (page) => {
        await allReady(page);
        await until(page, () => document.querySelectorAll('.at-lengths td').length >= 14);
        await until(page, () =>
            [...document.querySelectorAll('.at-lengths td')].every((one) => one.textContent !== '–'),
        );
        const outside = await page.$$eval('.at-lengths :is(th, td)', (all) =>
            all
                .filter((one) => {
                    const { left, right } = one.getBoundingClientRect();
                    return left < 0 || right > innerWidth;
                })
                .map((one) => one.textContent),
        );
        assert.deepEqual(outside, []);
        const tops = await page.$$eval('.at-lengths tr', (rows) =>
            rows.map((row) => [...row.children].map((cell) => Math.round(cell.getBoundingClientRect().top))),
        );
        for (const column of tops) assert.deepEqual(column, tops[0], 'each value stands beside its length');
    },
);

onPage(
    'a lesson ticks off what it promised, says what was seen and leads on; Back leads back',
    `${RACE}!speed=full`,
    {},
    async (page) => {
        await allReady(page);
        const first = await hash(page);
        // What favours a run is said, and taken away by one press.
        await says(page, '.favours', /steps 300 600/);
        await press(page, 'Use the same training settings');
        await until(page, () => !document.querySelector('.favours'));
        assert.match((await runs(page))[1].config, /steps=300/);
        await press(page, 'Undo the equal settings');
        await page.waitForSelector('.favours');
        // So are models that differ, with what that comes to in weights.
        await page.evaluate(
            () =>
                (location.hash = '#mixer=cat&task=mqar~mixer=attention&blocks=2&position=learned!speed=full'),
        );
        await says(
            page,
            '.favours',
            /Models differ.*blocks 1 2.*position none learned.*weights 8,265 [\d,]{6}/,
        );
        await page.goBack();
        // The first visit's promises are those of the lesson that it is part of.
        await counts(page, '.expected li', 2);
        await openLesson(page, 'Which filter matters');
        await until(page, () => globalThis.seqmix.runs().length === 4);
        assert.notEqual(await hash(page), first);
        await allDone(page);
        const solved = await page.evaluate(() => globalThis.seqmix.runs()[0].solved.step);
        await until(page, () => /^Result: /.test(document.querySelector('.lesson-seen p').textContent));
        const ticks = await page.$$eval('.expected li', (all) =>
            all.map((one) => [one.className, one.textContent.replace(/\s+/g, ' ')]),
        );
        assert.deepEqual(
            ticks.map(([state]) => state),
            ['held', 'held', 'held', 'held'],
        );
        assert.match(ticks[0][1], new RegExp(`: held \\(\\d+ of \\d+ seeds\\) from step ${solved} on$`));
        const said = await text(page, '.lesson-seen p');
        assert.match(said, new RegExp(`99 % first at step ${solved}\\).*All as predicted\\.$`));
        await press(page, 'Next: Does it hold on longer input? →');
        await until(page, () => /view=length/.test(location.hash));
        await page.waitForSelector('.length .expected, .lesson-here .expected');
        await page.goBack();
        await until(page, () => globalThis.seqmix.runs().length === 4);
        await page.goBack();
        await until(
            page,
            (wanted) => location.hash === wanted && globalThis.seqmix.runs().length === 2,
            first,
        );
    },
);

onPage(
    'what is shared shows the curves at once and trains by itself, in the page and in a frame',
    '#mixer=cat&task=mqar&steps=40!speed=full',
    {},
    async (page) => {
        await allReady(page);
        await press(page, 'Start');
        await allDone(page);
        const [{ digest }] = await runs(page);
        await press(page, 'Share what you see …');
        await page.waitForSelector('.share code');
        const [link, frame, element] = await page.$$eval('.share code', (all) =>
            all.map((one) => one.textContent),
        );
        assert.match(
            element,
            /<seqmix-run config="v=1&amp;mixer=cat&amp;task=mqar&amp;steps=40" ghost="a\.14\./,
        );
        const picture = await page.evaluate(
            () =>
                new Promise((done) => {
                    const make = URL.createObjectURL;
                    URL.createObjectURL = (blob) => (void blob.text().then(done), make.call(URL, blob));
                    [...document.querySelectorAll('.share button')]
                        .find((one) => /picture as SVG/.test(one.textContent))
                        .click();
                }),
        );
        assert.match(picture, /Accuracy on sequences never trained on.*<image.*Seen|Accuracy on.*<image/s);
        assert.match(picture, /#v=1&amp;mixer=cat&amp;task=mqar&amp;steps=40/);
        await goto(page, link);
        await allDone(page);
        assert.equal((await runs(page))[0].digest, digest, 'the same training, without a press');
        assert.match(await hash(page), /ghost=a\.14\./);
        await page.evaluate(() => [...document.querySelectorAll('.transport button')].at(2).click()); // Reset
        await until(page, () => globalThis.seqmix.runs()[0].step === 0);
        assert.match(await hash(page), /ghost=/, 'a reset keeps what it can be compared with');
        await page.select('.setup .wide select', 'ar');
        await until(page, () => /task=ar\b/.test(location.hash) && !/ghost=/.test(location.hash));
        // In a frame: one figure, its sentence and the way to the page, nothing else.
        await goto(page, /src="([^"]*)"/.exec(frame)[1].replaceAll('&amp;', '&'));
        await page.waitForSelector('.embed .chart canvas');
        await allDone(page);
        assert.equal((await page.$$('nav, header, .lessons, .setup')).length, 0);
        assert.equal((await page.$$('figure')).length, 1);
        assert.match(await page.$eval('.embed a', (one) => one.href), /#v=1&mixer=cat&task=mqar&steps=40/);
        assert.deepEqual(await violations(page), []);
        // As an element of another page: the script stands beside the page, under a name that stays.
        await page.setBypassCSP(true); // an article has a policy of its own
        await goto(page, `${browser.lab.address}#mixer=ema`);
        await page.addScriptTag({ url: `${browser.lab.address}seqmix-run.js` });
        await page.evaluate(() => {
            document.body.innerHTML =
                '<seqmix-run config="mixer=cat&amp;task=mqar&amp;steps=20" height="400"></seqmix-run>';
        });
        const inner = await page.waitForSelector('seqmix-run iframe').then((one) => one.contentFrame());
        await inner.waitForFunction(() => globalThis.seqmix?.runs()[0]?.status === 'done', {
            timeout: WAIT,
        });
    },
);

onPage(
    'accuracy and loss of the same steps stand over one another, tick for tick',
    RACE,
    {},
    async (page) => {
        await page.waitForSelector('.group .u-over');
        for (const width of [1280, 390]) {
            await page.setViewport({ width, height: 900 });
            await eventually(async () => {
                const places = await page.$$eval('.group .u-over', (all) =>
                    all.map((one) => {
                        const { left, width } = one.getBoundingClientRect();
                        return `${left} and ${width} wide`;
                    }),
                );
                assert.equal(places.length, 2);
                assert.equal(places[0], places[1]);
            });
        }
    },
);
