// page_board.test.mjs: the mission on one board: twelve runs, each judged by what a lesson claims of it, one
// button, and a press that opens the run as the board left it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
    RACE,
    at,
    counts,
    eventually,
    fitsEverySize,
    hash,
    isAccessible,
    onPage,
    openTab,
    pause,
    press,
    runs,
    says,
    text,
    until,
} from '../testing.mjs';

const cell = (task, mixer) =>
    `.board section[aria-labelledby=board-${task}] li:nth-child(${['las', 'cat', 'focus', 'attention'].indexOf(mixer) + 1}) .cell`;
/** The digest that the native program's training ends in. */
const nativeDigest = (config) => {
    const lines = execFileSync(at('build/seqmix'), ['train', config, '--json'], { encoding: 'utf8' });
    return JSON.parse(lines.trim().split('\n').at(-1)).digest;
};
/** A cell was opened: its run stands at a step from `least` to before `end`, and goes on to those bits. */
async function goesOn(page, least, end, config) {
    await until(page, () => document.querySelector('.transport'));
    await eventually(async () => {
        const [{ status, step }] = await runs(page);
        assert.equal(status, 'paused');
        assert.ok(step >= least && step < end, `${step}, of ${least} to ${end}`);
    });
    await press(page, 'Resume');
    await until(page, () => globalThis.seqmix.runs()[0].status === 'done');
    const [{ digest }] = await runs(page);
    assert.equal(digest, nativeDigest(config));
}
const ended = (page, one) => until(page, (one) => document.querySelector(one).dataset.status === 'done', one);

onPage(
    'the board stands on the first screen, and alone; its cells are whole at every size',
    '',
    {},
    async (page) => {
        await counts(page, '.below .board .cell', 12);
        await openTab(page, 'Board');
        await until(page, () => /view=board/.test(location.hash));
        await counts(page, '.below', 0);
        await counts(page, '.board .cell', 12);
        // What is claimed stands in each, also of those that can only guess.
        const claims = await page.$$eval('.board .cell-foot', (all) => all.map((one) => one.textContent));
        assert.equal(claims.filter((claim) => /^expected ≥ 9\d %/.test(claim)).length, 10, claims.join('\n'));
        assert.equal(
            claims.filter((claim) => /^expected ≤ [23]0 %/.test(claim)).length,
            2,
            claims.join('\n'),
        );
        await page.setViewport({ width: 1280, height: 800 });
        const low = await page.$$eval('.board .cell', (all) =>
            Math.max(...all.map((one) => one.getBoundingClientRect().bottom)),
        );
        assert.ok(low <= 800, `the lowest cell ends at ${low} px`);
        // On a phone each task is a screen, one swipe after another.
        await page.setViewport({ width: 390, height: 844 });
        const columns = await page.$$eval('.board section', (all) =>
            all.map((one) => {
                const { left, width, bottom } = one.getBoundingClientRect();
                return { left, width, bottom };
            }),
        );
        assert.ok(
            columns.every(({ width }) => width > 300 && width <= 390),
            JSON.stringify(columns),
        );
        assert.ok(
            columns[0].left < 30 && columns[1].left > 300 && columns[2].left > 600,
            JSON.stringify(columns),
        );
        assert.ok(columns[0].bottom <= 844, `four cells end at ${columns[0].bottom} px`);
    },
);

onPage(
    'a run of the board: a tick where it learnt, a cross where it can only guess; the same bits; opened by a press',
    `${RACE}!view=board`,
    {},
    async (page) => {
        await counts(page, '.board .cell', 12);
        await press(page, 'Run');
        const cat = cell('Recall', 'cat');
        const attention = cell('Recall', 'attention');
        await ended(page, cat);
        await says(page, `${cat} .cell-score`, /^(99|100)\.\d % ✓$/);
        await says(page, `${cat} .cell-foot`, '≥ 99 %, as expected · 1 block · 8,265 weights');
        await ended(page, attention);
        await says(page, `${attention} .cell-score`, /^\d{1,2}\.\d % ✗$/);
        await says(page, `${attention} .cell-foot`, /^guesses, as expected · 1 block/);
        // (Red says that something is not as claimed.)
        const tone = (selector) => page.$eval(`${selector} .sign`, (one) => getComputedStyle(one).color);
        assert.equal(
            await tone(attention),
            await page.$eval(`${attention} .cell-foot`, (one) => getComputedStyle(one).color),
        );
        assert.notEqual(await tone(cat), await tone(attention));
        // Four answers of one sequence: those of the run that learnt are right.
        await says(page, `${cat} .cell-example`, /^([A-Z]{1,2} → \d+ ✓ ?){4}$/);
        await says(page, `${attention} .cell-example`, /^([A-Z]{1,2} → \d+ [✓✗] ?){4}$/);
        const [first] = (await text(page, `${cat} .cell-example`)).split(' ✓');
        await says(page, '.board-head p', /^\d of 12 as expected so far, [2-9] trained to the end\.$/);
        const points = await page.$eval(`${cat} polyline`, (one) => one.points.length);
        assert.ok(points >= 20, `${points} points of a curve`);
        // Behind the cell: how the first of these answers came about, of the run as it was when it was done.
        await press(page, 'How CAT answers: Recall');
        await says(page, '.cell-flow h3', 'How CAT answers, at step 300');
        await eventually(async () => {
            const parts = await page.$$eval('.cell-flow .flow-title b', (all) =>
                all.map((one) => one.textContent),
            );
            assert.deepEqual(parts, ['Tokens', 'Filter', 'Keys', 'Match', 'Copy', 'Answer']);
            const [, answer] = first.split(' → ');
            assert.match(await text(page, '.flow-answer'), new RegExp(`^${answer} ✓ right`));
        });
        // It stands in the address: a reload leads there.
        assert.match(await hash(page), /view=board&detail=mqar\.cat/);
        await press(page, 'Stop');
        await says(page, '.board-head button', 'Run again');
        await counts(page, '.board .cell[data-status="going"], .board .cell[data-status="waiting"]', 0);
        await fitsEverySize(page, 'board');
        await isAccessible(page);
        // The run as the board left it, to the bit what the native program trains.
        const digest = await page.$eval(cat, (one) => one.dataset.digest);
        await page.$eval(cat, (one) => one.click());
        await until(
            page,
            () => /view=experiment|^[^!]*$/.test(location.hash) && document.querySelector('.transport'),
        );
        await eventually(async () => {
            const [run, ...others] = await runs(page);
            assert.equal(others.length, 0);
            assert.equal(run.step, 300, 'it is not trained again');
            assert.equal(run.status, 'done');
        });
        assert.match(await hash(page), /^#v=1&mixer=cat&task=mqar(!|$)/);
        assert.equal(nativeDigest('mixer=cat&task=mqar'), digest);
        assert.match(await text(page, '.numbers tbody'), /300\/300/);
        // The example was the sequence that is looked into first, answered the same.
        await eventually(async () => {
            const [key, answer] = first.split(' → ');
            const asked = '.inside .tokens .question';
            assert.match(await text(page, `${asked} .token`), new RegExp(`\\b${key}$`));
            assert.match(await text(page, `${asked} .right`), new RegExp(`\\b${answer}$`));
        });
    },
);

onPage(
    'a cell that is training opens as it is, and goes on to the same bits',
    `${RACE}!view=board`,
    {},
    async (page) => {
        await counts(page, '.board .cell', 12);
        await press(page, 'Run');
        // Pressed in the moment in which it is seen: it may be done soon after.
        const pressed = await until(
            page,
            (one) => {
                const cell = document.querySelector(one);
                const { status, step } = cell.dataset;
                return status === 'going' && step > 20 && step < 150 && (cell.click(), step);
            },
            cell('Recall', 'cat'),
        );
        await goesOn(page, Number(await pressed.jsonValue()), 300, 'mixer=cat&task=mqar');
    },
);

onPage(
    'a cell at its claim makes way for those that have not begun',
    `${RACE}!view=board`,
    { cores: 2 },
    async (page) => {
        await counts(page, '.board .cell', 12);
        await says(
            page,
            '.board > .say',
            /answer, ✓ right or ✗ wrong\. This machine trains 2 at a time, one per core; the others wait for a core\.$/,
        );
        await press(page, 'Run');
        const focus = cell('Recall', 'focus');
        await says(page, `${cell('Digits', 'las')} .cell-foot`, 'expected ≥ 94 % · waits for a core');
        await until(
            page,
            (one) => document.querySelector(one).matches('.able[data-status="waiting"]'),
            focus,
        );
        await says(page, `${focus} .cell-score`, /✓$/);
        await says(page, `${focus} .cell-foot`, /^≥ 96 %, as expected · waits for a core$/);
        // The words under it leave “How” its place.
        const over = await page.$eval(`${focus} .cell-foot`, (foot) => {
            const [words, how] = [foot, foot.closest('li').querySelector('.cell-inside')].map((one) => {
                const range = document.createRange();
                range.selectNodeContents(one);
                return range.getBoundingClientRect();
            });
            return words.bottom > how.top ? words.right - how.left : 0;
        });
        assert.ok(over <= 0, `the words lie ${over} px over How`);
        // It is opened as it is, and trained on to the bits of the native program.
        await page.$eval(focus, (one) => one.click());
        await goesOn(page, 50, 600, 'mixer=focus&task=mqar');
    },
);

onPage(
    'the board does not begin under the pointer, and a press of Run after it began by itself does not stop it',
    '',
    {},
    async (page) => {
        const RUN = '.below .board-head button';
        const going = () => page.$$eval('.below .cell[data-status=going]', (all) => all.length);
        await counts(page, '.below .cell', 12);
        await page.$eval(RUN, (one) => one.scrollIntoView({ block: 'center', behavior: 'instant' }));
        await page.hover(RUN);
        // Both models have learnt, and twice the time has passed after which the board begins.
        await until(page, () => globalThis.seqmix.guests().filter((step) => step === 120).length >= 2);
        await pause(4000);
        assert.equal(await going(), 0);
        assert.equal(await text(page, RUN), 'Run');
        await page.mouse.move(5, 5);
        const said = await until(page, () => {
            const button = document.querySelector('.below .board-head button');
            if (!document.querySelector('.below .cell[data-status=going]')) return false;
            button.focus();
            return button.textContent;
        });
        assert.equal(await said.jsonValue(), 'Run');
        // However long one takes to press what is read.
        await pause(2500);
        assert.equal(await text(page, RUN), 'Run');
        await page.keyboard.press('Enter');
        await says(page, RUN, 'Stop');
        assert.ok((await going()) > 0, 'it trains on');
        await page.keyboard.press('Enter');
        await says(page, RUN, /^Run/);
        await counts(page, '.below .cell[data-status=going]', 0);
    },
);

onPage(
    "a cell's inside has an address, and a phone has a button of projector mode",
    `${RACE}!view=board&detail=mqar.focus`,
    { width: 390, height: 844 },
    async (page) => {
        await says(page, '.cell-flow h3', 'How Focus answers, at step 0');
        await press(page, 'How CAT answers: Recall');
        await says(page, '.cell-flow h3', 'How CAT answers, at step 0');
        await eventually(async () => assert.match(await hash(page), /detail=mqar\.cat/));
        await press(page, 'How CAT answers: Recall');
        await counts(page, '.cell-flow', 0);
        await eventually(async () => assert.doesNotMatch(await hash(page), /detail=/));
        await press(page, 'Projector mode');
        await eventually(async () => assert.match(await hash(page), /projector=1/));
    },
);
