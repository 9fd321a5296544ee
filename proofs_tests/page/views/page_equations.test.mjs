// page_equations.test.mjs: a mixer's text on the page, in Chromium and Firefox: what is wrong stands under
// its place, the check passes, the text trains beside the others; and texts that mean harm.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from '../../../build/wasm/seqmix.js';
import { findFirefox, launch } from '../../../scripts/browser.mjs';
import { pageModule } from '../in_node.mjs';
import {
    MOST,
    allDone,
    at,
    counts,
    eventually,
    hash,
    onPage,
    pause,
    prefer,
    press,
    reload,
    runs,
    skip,
    sticksOut,
    says,
    text,
    until,
    violations,
} from '../testing.mjs';

const { written } = await pageModule('core/tokens');
const HASH = '#mixer=attention&task=mqar&steps=60!view=equations&speed=full';
const DEFINITION = [
    '# CAT (Li et al., Def. 1)',
    'q = conv(x, filter_q) @ w_q',
    'k = conv(x, filter_k) @ w_k',
    'v = conv(x, filter_v) @ w_v',
    'y = attention(q, k, v) @ w_o',
];

/** The editor, which comes after the view. */
const opened = (page) =>
    until(page, () => document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content'));
/** What stands in the editor's shadow root. */
async function inside(page, selector) {
    await opened(page);
    return page.evaluate(
        (wanted) => document.querySelector('.editor').shadowRoot.querySelector(wanted)?.textContent ?? '',
        selector,
    );
}
/** The editor, emptied and ready for keys. */
async function emptied(page) {
    await opened(page);
    await page.select('.equations-start select', 'none');
    await until(
        page,
        () =>
            document.querySelector('.editor').shadowRoot.querySelector('.cm-content').textContent.length < 60,
    );
    await page.evaluate(() =>
        document.querySelector('.editor').shadowRoot.querySelector('.cm-content').focus(),
    );
}
const state = (page, wanted) =>
    until(page, (is) => document.querySelector('.equations')?.dataset.state === is, wanted);
const checked = (page, wanted) =>
    until(page, (is) => document.querySelector('.equations-check')?.dataset.check === is, wanted);

async function definitionTyped(page) {
    await emptied(page);
    // A press in the empty space below the text is one on its last line.
    await page.evaluate(() =>
        document.querySelector('.editor').shadowRoot.querySelector('.cm-content').blur(),
    );
    const low = await page.$eval('.editor', (one) => {
        one.scrollIntoView({ block: 'center', behavior: 'instant' });
        const { left, bottom } = one.getBoundingClientRect();
        return [left + 120, bottom - 12];
    });
    await page.mouse.click(...low);
    await until(page, () =>
        document.querySelector('.editor').shadowRoot.activeElement?.matches('.cm-content'),
    );
    // Of an empty page nothing is said that was true of the text before.
    await until(page, () => !document.querySelector('.equations-check, .graph'));
    await page.keyboard.type(DEFINITION.slice(0, 3).join('\n'));
    await page.keyboard.type('\nv = convv(x, filter_v) @ w_v');
    await state(page, 'wrong');
    await until(page, () =>
        document.querySelector('.editor').shadowRoot.querySelector('.fault')?.textContent.includes('convv'),
    );
    assert.equal(await inside(page, '.fault'), '↑ there is no function convv; the nearest is conv');
    assert.equal(await inside(page, '.wrong'), 'convv');
    // The graph is still that of the text before, which its title says; its words are as dark as ever.
    await says(page, '#graph-title', 'What it becomes (from the last valid text)');
    const faded = await page.$$eval('.stale text', (all) =>
        all.filter((one) => {
            for (let at = one; at; at = at.parentElement)
                if (Number(getComputedStyle(at).opacity) < 1) return true;
            return false;
        }),
    );
    assert.equal(faded.length, 0);
    // Under line 4, and nowhere else.
    assert.ok(
        await page.evaluate(() => {
            const root = document.querySelector('.editor').shadowRoot;
            const line = root.querySelectorAll('.cm-line')[3];
            const fault = root.querySelector('.fault');
            return line.textContent.startsWith('v = convv') && line.nextElementSibling === fault;
        }),
    );
    await says(page, '.equations-write [role=status]', /^Line 4, column 5: there is no function convv/);
    await page.keyboard.down('Shift');
    await page.keyboard.press('Home');
    await page.keyboard.up('Shift');
    await page.keyboard.type(`${DEFINITION[3]}\n${DEFINITION[4]}`);
    await state(page, 'right');
    // (The editor is told of it a frame later.)
    await eventually(async () => assert.equal(await inside(page, '.fault'), ''));
    await checked(page, 'passes');
    await says(page, '#graph-title', 'What it becomes');
}

onPage('no check stands beside the graph of another text without saying so', HASH, {}, async (page) => {
    const address = (text) => `${HASH}&${new URLSearchParams({ draft: text })}`;
    const boxes = DEFINITION.length + 4;
    await opened(page);
    await page.evaluate((hash) => (location.hash = hash), address(DEFINITION.join('\n')));
    await counts(page, '.graph .box', boxes);
    await checked(page, 'passes');
    // A text with one step more, and before it is checked one that is none.
    await page.evaluate(
        async ([longer, wrong, boxes]) => {
            location.hash = longer;
            while (document.querySelectorAll('.graph .box').length === boxes)
                await new Promise((done) => setTimeout(done, 5));
            globalThis.saidThen = document.querySelector('#check-title').textContent;
            location.hash = wrong;
        },
        [address(`${DEFINITION.join('\n')} + x`), address(`${DEFINITION.join('\n')} + convv(x)`), boxes],
    );
    await state(page, 'wrong');
    await says(page, '#graph-title', 'What it becomes (from the last valid text)');
    assert.match(
        await page.evaluate(() => globalThis.saidThen),
        /\(of the previous text; checking this one …\)$/,
    );
    await says(page, '#check-title', 'Its check');
    await counts(page, '.equations-check table', 0);
});

onPage('Definition 1 is typed, mended, checked, and trained beside attention', HASH, {}, async (page) => {
    await definitionTyped(page);
    const rows = await page.$$eval('.equations-check tbody tr', (all) => all.map((row) => row.textContent));
    assert.equal(rows.length, 9); // y, three filters, four matrices, x
    await says(page, '.equations-check .holds', /computes what the oracle computes.*causal/);
    // Its graph: x, seven steps and the result; a box shows its tensor.
    await counts(page, '.graph .box', 9);
    await page.$$eval('.graph [role=button]', (all) =>
        all.find((box) => box.textContent.startsWith('k ')).focus(),
    );
    await page.keyboard.press('Enter');
    await until(page, () =>
        /^k on example 1, before training/.test(
            document.querySelector('.equations-seen figure figcaption')?.textContent ?? '',
        ),
    );
    // The word at the cursor.
    await page.evaluate(() =>
        document.querySelector('.editor').shadowRoot.querySelector('.cm-content').focus(),
    );
    await page.keyboard.press('End');
    for (let i = 0; i < ' @ w_o'.length + '(q, k, v)'.length; i++) await page.keyboard.press('ArrowLeft');
    await until(page, () => document.querySelector('.equations-help h3')?.textContent === 'attention');
    assert.ok(await page.$('.equations-help math'));
    await press(page, 'Train this');
    await allDone(page);
    const [attention, cat] = await runs(page);
    assert.equal(cat.config.includes('mixer=equations'), true, cat.config);
    assert.equal(cat.step, 60);
    assert.ok(attention.step === 60);
    // What favours one of the two is said, and can be made alike.
    await says(page, '.equations-write .favours', /Training settings differ.*rate/);
    await press(page, 'Use the same training settings');
    await until(page, () => !document.querySelector('.favours'));
    await press(page, 'Resume');
    await allDone(page);
    await until(page, () =>
        /after 60 steps/.test(document.querySelector('.equations-seen figcaption').textContent),
    );
    // The address holds it all: run and text.
    assert.match(await hash(page), /eq=%23%20CAT.*%0[aA]q%20.*!view=equations/);
    await reload(page);
    await state(page, 'right');
    assert.match((await runs(page))[1].config, /mixer=equations/);
    assert.match(await inside(page, '.cm-content'), /filter_v/);
});

onPage(
    'what was asked to train stands whole on the screen, and leaves alone who scrolls on',
    HASH,
    {},
    async (page) => {
        await page.setViewport({ width: 1280, height: 800 });
        await state(page, 'right');
        await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
        const charts = () =>
            page.$$eval('.equations-race figure', (all) =>
                all.map((one) => one.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]),
            );
        await press(page, 'Train this');
        await allDone(page);
        // (Its check and what it remembers come later, and push it down.)
        await page.waitForSelector('.equations-check .holds');
        await page.waitForSelector('.equations-race .chart canvas');
        for (let still = 0, last = ''; still < 6; await pause(100)) {
            const now = String(await charts());
            still = now === last ? still + 1 : 0;
            last = now;
        }
        const found = await charts();
        assert.equal(found.length, 2);
        for (const [top, bottom] of found)
            assert.ok(top >= 0 && bottom <= 800, `a chart from ${top} to ${bottom} of 800 px`);
        await page.mouse.wheel({ deltaY: -400 });
        await pause(300);
        const left = await page.evaluate(() => scrollY);
        await page.$eval('.equations', (one) => (one.style.paddingBottom = '40px'));
        await pause(300);
        assert.ok(Math.abs((await page.evaluate(() => scrollY)) - left) <= 1);
    },
);

test('the same in Firefox', { skip: findFirefox().why || skip, timeout: MOST }, async () => {
    const lab = await launch(at('dist'), 'firefox');
    try {
        const { page, complaints } = await lab.open(HASH);
        await definitionTyped(page);
        assert.deepEqual(complaints, []);
    } finally {
        await lab.close();
    }
});

onPage('every text to begin with is built', HASH, {}, async (page) => {
    await state(page, 'right');
    const values = await page.$$eval('.equations-start option', (all) => all.map(({ value }) => value));
    const texts = values.filter((value) => /^\d+$/.test(value));
    assert.ok(texts.length > 18, `${texts.length} texts`);
    for (const value of texts) {
        await page.select('.equations-start select', value);
        await state(page, 'right');
    }
});

// In the language: names that JavaScript knows, signs that addresses know, too much of everything.
const HOSTILE = [
    [
        '__proto__ = x @ constructor\ntoString = __proto__ @ w\ny = toString # ~!&#=%+ "\'<b>wow!view=about</b>',
        '2 operations, 2,048 weights in the mixer.',
    ],
    [`${'('.repeat(4000)}x`, 'Line 1, column 33: nested deeper than 32.'],
    [`y = x @ w${'y'.repeat(8000)}`, 'Line 1, column 9: the name wyyy'],
    [
        Array.from({ length: 190 }, (_, i) => `t${i} = ${i ? `t${i - 1}` : 'x'} @ w${i}`).join('\n'),
        '190 operations, 194,560 weights in the mixer.',
    ],
    ['y = x @ w[65536] @ u[65536] @ v[65536] @ z[32]', 'out of memory'],
    ['\u202e\u0000\ud800 = \u{1f600}', 'Line 1, column 1: unexpected byte 226'],
];
const draftOf = (text, steps) =>
    `mixer=attention&task=mqar&steps=${steps}!view=equations&speed=full&${new URLSearchParams({ draft: text })}`;
const send = (page, address) => page.evaluate((next) => void (location.hash = next), address);
onPage('texts that mean harm are built or refused, and the page lives on', HASH, {}, async (page) => {
    await state(page, 'right');
    for (const [bad, said] of HOSTILE) {
        await send(page, draftOf(bad, 60));
        await until(
            page,
            (begins) =>
                document.querySelector('.equations-write [role=status]').textContent.startsWith(begins),
            said,
        ).catch(async () => assert.equal(await text(page, '.equations-write [role=status]'), said));
    }
    // What the first of them said survives as a run, and its address.
    const [first] = HOSTILE[0];
    await send(page, draftOf(first, 3));
    await until(page, () =>
        [...document.querySelectorAll('.graph [role=button]')].some((box) =>
            box.textContent.startsWith('toString '),
        ),
    );
    await press(page, 'Train this');
    await allDone(page);
    const { config } = (await runs(page))[1];
    await reload(page);
    assert.equal((await runs(page))[1].config, config);
    assert.equal(await page.$('.equations b.wow'), null);
});

// A matrix, a vector, a scalar; a second scan. z is 1 everywhere, so that h after position t is 2 - 2^-t.
const RECURRENCE = `k = unitnorm_heads(x @ w_k)
z = exp(x * 0)
b = sigmoid(x @ w_b[heads])
scan S[k][k], h[z], m over k, z, b
    S = S + outer(k, b * (k - k @ S))
    h = 0.5 * h + z
    m = max(m, b)
    o = k @ S
scan c over b
    c = c + b
y = (o + h) @ w_o + c @ w_c[width]`;
const AROUND = 'task=mqar&length=20&pairs=2&width=32&heads=2&blocks=2&steps=30';
const remembering = `mixer=attention&${AROUND}!view=equations&speed=full&${new URLSearchParams({ draft: RECURRENCE })}`;
const captions = (page) =>
    page.$$eval('.remembered figcaption', (all) => all.map((one) => one.firstChild.textContent));
/** What picture number `which` says of a cell when it is pointed at. */
async function readOut(page, which, [row, rows], [column, columns]) {
    const canvas = (await page.$$('.remembered .matrix-place canvas'))[which];
    await canvas.evaluate((one) => one.scrollIntoView({ block: 'center', behavior: 'instant' }));
    const { x, y, width, height } = await canvas.boundingBox();
    await page.mouse.move(x + ((column + 0.5) / columns) * width, y + ((row + 0.5) / rows) * height);
    const figure = (await page.$$('.remembered figure'))[which];
    return figure.$eval('.map-legend .number', (one) => one.textContent);
}
/** Choose from the list that is called so. */
const choose = (page, name, value) =>
    page.evaluate(
        (wanted, to) => {
            const label = [...document.querySelectorAll('.remembered-choice label')].find((one) =>
                one.textContent.startsWith(wanted),
            );
            label.control.value = to;
            label.control.dispatchEvent(new Event('change', { bubbles: true }));
        },
        name,
        value,
    );

onPage("a scan's states are seen, position by position", HASH, {}, async (page) => {
    await state(page, 'right');
    assert.equal(await page.$('.remembered'), null); // a text without one
    await send(page, remembering);
    await counts(page, '.remembered figure', 3);
    const lab = await load({ whole: true });
    const run = lab.open(`mixer=equations&${AROUND}&eq=${encodeURIComponent(RECURRENCE)}`);
    const { tokens } = run.look(0);
    const task = Object.fromEntries(new URLSearchParams(run.config));
    const place = (t) => `position ${t}, token ${written(tokens[t], task)}`;
    await says(page, '.remembered output', place(19));
    // Each of 2 heads has 16 columns.
    for (const t of [0, 1, 4, 19])
        assert.equal(
            await readOut(page, 1, [t, 20], [3, 16]),
            `position ${t}, column 3: ${(2 - 2 ** -t).toPrecision(4)}`,
        );
    await page.focus('.remembered input');
    await page.keyboard.press('Home');
    await says(page, '.remembered output', place(0));
    await choose(page, 'head', '1');
    await eventually(async () =>
        assert.deepEqual(await captions(page), [
            `S of head 2 after ${place(0)}`,
            'h of head 2 after each position',
            'm after each position',
        ]),
    );
    for (const block of [0, 1]) {
        await choose(page, 'block', String(block));
        const [k, b] = ['k', 'b'].map((name) => run.tensor(`block${block}.mixer.${name}`).data);
        const wanted = b[1] * k[16 + 5] * k[16 + 9];
        await eventually(async () => {
            const said = await readOut(page, 0, [5, 16], [9, 16]);
            const [, number] = /^row 5, column 9: (.*)$/.exec(said);
            assert.ok(Math.abs(number.replace('−', '-') - wanted) <= 1e-3 * Math.abs(wanted), said);
        });
    }
    assert.match(await text(page, '.remembered-state:nth-child(2)'), /Norm of h: 4\.$/);
    await page.focus('.remembered input');
    await page.keyboard.press('ArrowRight');
    await says(page, '.remembered output', place(1));
    assert.match(
        await text(page, '.remembered-state:nth-child(2)'),
        /Norm of h: 6; of its change at this position: 2\.$/,
    );
    assert.equal((await captions(page))[0], `S of head 2 after ${place(1)}`);
    for (const [width, height] of [
        [390, 844],
        [1280, 900],
    ]) {
        await page.setViewport({ width, height });
        for (const scheme of ['light', 'dark']) {
            await prefer(page, scheme);
            assert.ok((await sticksOut(page)) <= 0, `${width} ${scheme}`);
            assert.deepEqual(await violations(page), [], `${width} ${scheme}`);
            if (process.env.SCREENS)
                await (
                    await page.$('.remembered')
                ).screenshot({ path: at(`build/screens/remembered-${width}-${scheme}.png`) });
        }
    }
    await choose(page, 'scan', '1');
    await eventually(async () => assert.deepEqual(await captions(page), ['c after each position']));
    await press(page, 'Next example');
    await press(page, 'Train this');
    await allDone(page);
    await says(
        page,
        '.remembered > .say',
        /^What is kept of example 2 after each position, after 30 steps of training/,
    );
});

onPage('it fits a phone, and axe finds nothing, by light and by dark', HASH, {}, async (page) => {
    await page.setViewport({ width: 390, height: 844 });
    await state(page, 'right');
    await checked(page, 'passes');
    assert.ok((await sticksOut(page)) <= 0);
    for (const scheme of ['light', 'dark']) {
        await prefer(page, scheme);
        if (process.env.SCREENS)
            await page.screenshot({ path: at(`build/screens/equations-${scheme}.png`), fullPage: true });
        assert.deepEqual(await violations(page), [], scheme);
    }
    // A wide screen has the check beside the graph, and the graph whole.
    for (const width of [1800, 2560]) {
        await page.setViewport({ width, height: 1440 });
        await eventually(async () => {
            const [graph, check] = await Promise.all(
                ['.equations-seen .scroll', '.equations-check'].map((one) =>
                    page.$eval(one, (one) => ({
                        ...one.getBoundingClientRect().toJSON(),
                        over: one.scrollWidth - one.clientWidth,
                    })),
                ),
            );
            assert.ok(
                check.left >= graph.right && check.top < graph.top,
                `${width} px: one beside the other`,
            );
            assert.ok(graph.over <= 0, `${width} px: ${graph.over} px of the graph are cut`);
        });
    }
});
