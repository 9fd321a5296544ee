// page_intervene.test.mjs: in Inside a weight of the trained model can be taken in hand, a sequence of one's
// own is answered by every run, and why a run fails is said from where its questions look.
import assert from 'node:assert/strict';
import {
    allDone,
    allReady,
    at,
    counts,
    onPage,
    press,
    runs,
    says,
    text,
    until,
    violations,
} from '../testing.mjs';

const TRAINED = '#mixer=cat&task=mqar&filters=k&seed=3&steps=110~mixer=attention!speed=full';

onPage(
    'Inside: a weight in hand moves the answers, and the model keeps its own',
    TRAINED,
    {},
    async (page) => {
        await allReady(page);
        await press(page, 'Start');
        await allDone(page);
        await page.evaluate(() => (location.hash += '&view=inside'));
        await page.waitForSelector('.in-hand');
        const before = (await runs(page))[0].digest;
        await counts(page, '.tokens .right', 8);
        await says(
            page,
            '.why-so',
            /^Why it works: .* give (9\d|100)\.\d % of their attention to the values/,
        );
        assert.match(
            await page.$eval('.in-hand select', (one) => one.selectedOptions[0].textContent),
            /^filter_k/,
        );
        await press(page, 'To zero');
        await until(page, () =>
            /right over held-out sequences with yours/.test(document.querySelector('.in-hand').textContent),
        );
        const [, mine, learnt] = /([\d.]+) % right over .* yours, ([\d.]+) % as learnt/.exec(
            await text(page, '.in-hand .say'),
        );
        assert.ok(mine < 25 && learnt >= 99, `${mine} % with yours, ${learnt} % as learnt`);
        await until(page, () => document.querySelectorAll('.tokens .right').length < 5);
        await until(page, () => /^Why it fails/.test(document.querySelector('.why-so').textContent));
        await says(page, '.learnt-sentence', /^A key is zero, because all weights of its filter are/);
        await press(page, 'Put it back');
        await says(page, '.learnt-sentence', /^A key is made mostly of the token before/);
        await until(page, () => document.querySelectorAll('.tokens .right').length === 8);
        assert.equal((await runs(page))[0].digest, before, 'the run itself was never changed');
        // A row of a matrix, by a factor, with the keyboard.
        await page.select('.in-hand select', 'embedding');
        await page.focus('.hand-sliders input');
        await page.keyboard.press('ArrowLeft');
        await until(page, () =>
            /held-out sequences with yours/.test(document.querySelector('.in-hand').textContent),
        );
        await press(page, 'Put it back');

        // A sequence of one's own: key E with value 40 among seven others, then asked for by its number.
        const pairs = ['E', 40, 'F', 41, 'G', 42, 'H', 43, 9, 44, 10, 45, 11, 46, 'l', 47];
        await page.$eval('.asking', (one) => (one.open = true));
        const ask = async (tokens) => {
            await page.$eval(
                '.asking textarea',
                (one, value) => {
                    one.value = value;
                    one.dispatchEvent(new Event('input', { bubbles: true }));
                },
                tokens.join(' '),
            );
        };
        const example = await page.$eval('.asking textarea', (one) => one.value);
        assert.match(example, /^([A-Z]{1,2} \d+ ){8}/, 'what is to be edited is written as it is shown');
        await ask([...pairs, 5, ...Array(15).fill(0)]);
        await until(page, () => document.querySelectorAll('.asked-table tr').length === 3);
        const answers = await page.$$eval('.asked-table tr', (rows) =>
            rows.map((row) => row.cells[17].textContent),
        );
        assert.deepEqual(answers.slice(0, 2), ['E', '40'], 'CAT answers what stood after E');
        await until(page, () => document.querySelectorAll('.tokens .token')[1].textContent === '40');
        await ask([5, 40]);
        await until(page, () =>
            /length=2 does not fit/.test(document.querySelector('.asked-table')?.textContent),
        );
        await ask(['E', 'ZZ']);
        await until(page, () =>
            /Tokens are letters or numbers/.test(document.querySelector('.asking').textContent),
        );
        if (process.env.SCREENS)
            await page.screenshot({ path: at('build/screens/intervene.png'), fullPage: true });
        assert.deepEqual(await violations(page), []);
        await press(page, 'Back to the example');
        await until(page, () => document.querySelectorAll('.tokens .right').length === 8);
        // The other run, without a filter, says why it fails.
        await page.evaluate(() => document.querySelectorAll('.tabs input')[1].click());
        await until(page, () =>
            /^Why it fails: .* to their own keys/.test(document.querySelector('.why-so').textContent),
        );
    },
);

onPage(
    'fields fit the task, tokens are written as what they are, and positions can be counted',
    '#task=listops&mixer=attention~mixer=cat',
    {},
    async (page) => {
        await allReady(page);
        await page.waitForSelector('.tokens');
        const tokens = await page.$$eval('.tokens .token', (all) => all.map((one) => one.textContent));
        assert.ok(
            tokens.includes(']') && tokens.some((token) => /^\[(MIN|MAX|MED|SM)$/.test(token)),
            tokens.join(' '),
        );
        const ruler = await page.$$eval('.tokens li[data-at]', (all) => all.map((one) => one.dataset.at));
        assert.deepEqual(ruler.slice(0, 3), ['0', '8', '16']);
        const fields = () =>
            page.$$eval('.setup .control label', (all) => all.map((one) => one.textContent.trim()));
        assert.ok(
            (await fields()).some((name) => /^vocab/.test(name)),
            'tokens have their number',
        );
        await page.evaluate(() => (location.hash = '#task=smnist&mixer=cat'));
        await until(page, () => /task=smnist/.test(globalThis.seqmix.runs()[0].config));
        assert.ok(!(await fields()).some((name) => /^vocab/.test(name)), 'images have none');
        await says(page, '.card strong', 'A filter solves recall');
    },
);
