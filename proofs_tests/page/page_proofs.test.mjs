// page_proofs.test.mjs: the views Theorems, Verify, Papers and About in a real browser: the pictures say
// what the theorems say and say it when it does not hold, the self-check agrees with the committed list
// and tells a word that differs, the papers' tables are what is stored, the formulas are there. With
// SCREENS=1 pictures go to build/screens.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { load } from '../../build/wasm/seqmix.js';
import { loadVerify } from '../../build/wasm/verify.js';
import { launch } from '../../scripts/browser.mjs';
import { papers, tables } from '../../scripts/reproduction.mjs';
import { patience } from '../../scripts/slow.mjs';
import { claims, fields } from '../../scripts/truth.mjs';
import { pageModule } from './in_node.mjs';
import {
    MOST,
    WAIT,
    at,
    brokenWords,
    browser,
    counts,
    eventually,
    fitsEverySize,
    hash,
    isAccessible,
    onPage as onAnyPage,
    reload,
    runs,
    skip,
    says,
    text,
    until,
} from './testing.mjs';

const VIEW = '#mixer=cat&task=mqar!view=';
const onPage = (name, view, options, body) => onAnyPage(name, VIEW + view, options, body);
const claim = (id) => `#theorem-${id}`;
/** Wait until the verdict under a picture reads like this. */
const judged = (page, id, pattern) => says(page, `${claim(id)} .verdict`, pattern);
/** Presses a button of a claim as soon as the claim is drawn. */
const press = (page, id, name) =>
    until(
        page,
        (selector, wanted) => {
            const all = [...document.querySelectorAll(`${selector} button`)];
            const button = all.find((each) => each.textContent.trim() === wanted);
            button?.click();
            return Boolean(button);
        },
        claim(id),
        name,
    );
/** The only box of a claim. */
const tick = (page, id) => page.$eval(`${claim(id)} input[type=checkbox]`, (box) => box.click());
const setRange = (page, id, label, value) =>
    page.evaluate(
        (selector, wanted, to) => {
            const slider = [...document.querySelectorAll(`${selector} .slider`)].find((each) =>
                each.querySelector('label').textContent.startsWith(wanted),
            );
            const input = slider.querySelector('input');
            input.value = String(to);
            input.dispatchEvent(new Event('input', { bubbles: true }));
        },
        claim(id),
        label,
        value,
    );
const type = (page, id, value) =>
    page.$eval(
        `${claim(id)} .text-field input`,
        (input, to) => {
            input.value = to;
            input.dispatchEvent(new Event('input', { bubbles: true }));
        },
        value,
    );
/** "2.4·10⁻⁷" or "0.0447" as a number. */
const value = (shown) => {
    const [, digits, power] = /^([−\d.]+)(?:·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?$/.exec(shown);
    const exponent = power
        ? Number([...power].map((c) => '-0123456789'['⁻⁰¹²³⁴⁵⁶⁷⁸⁹'.indexOf(c)]).join(''))
        : 0;
    return Number(digits.replace('−', '-')) * 10 ** exponent;
};

/** Where an element stands on the screen, once it is there and has not moved for ten frames: what is above
 * may still be growing. */
async function still(page, selector) {
    await page.$eval(selector, (element) => element.scrollIntoView({ block: 'center', behavior: 'instant' }));
    return page.$eval(
        selector,
        (element) =>
            new Promise((done) => {
                let last = '';
                let same = 0;
                const look = () => {
                    const { x, y, width, height } = element.getBoundingClientRect();
                    const now = `${x} ${y} ${width} ${height}`;
                    same = now === last ? same + 1 : 0;
                    last = now;
                    if (same < 10) requestAnimationFrame(look);
                    else if (y >= 0 && y + height <= innerHeight) done({ x, y, width, height });
                    else {
                        element.scrollIntoView({ block: 'center', behavior: 'instant' });
                        same = 0;
                        requestAnimationFrame(look);
                    }
                };
                look();
            }),
    );
}

onPage('a head of attention is the convolution that is drawn', 'theorems', {}, async (page) => {
    await judged(page, 'convolution', /✓.*Largest difference/);
    const difference = value(await text(page, `${claim('convolution')} .verdict b`));
    assert.ok(difference < 1e-5, `float32: ${difference}`);
    await press(page, 'convolution', 'double, the oracle');
    await judged(page, 'convolution', /10⁻¹[⁴-⁹]|: 0;/);
    await press(page, 'convolution', 'float32, the kernels');

    // Draw: press on the place of tap 3 near the bottom of the first drawing, which makes it negative.
    const box = await still(page, `${claim('convolution')} .drawing .catch`);
    await page.mouse.move(box.x + (3.5 / 12) * box.width, box.y + 0.75 * box.height);
    await page.mouse.down();
    await page.mouse.up();
    await judged(page, 'convolution', /✗.*One head cannot/);
    const tap = await page.$eval(`${claim('convolution')} [aria-label="tap 3"]`, (handle) =>
        Number(handle.getAttribute('aria-valuenow')),
    );
    assert.ok(tap < 0, `tap 3 is ${tap}`);
    await tick(page, 'convolution');
    await judged(page, 'convolution', /✓.*Largest difference/);
    await counts(page, `${claim('convolution')} .heat`, 4); // two heads, two maps each

    // The keyboard does the same.
    await page.$eval(`${claim('convolution')} [aria-label="tap 3"]`, (handle) => handle.focus());
    await page.keyboard.press('ArrowUp');
    const now = Number((tap + 0.05).toFixed(4));
    await page.waitForFunction(
        (selector, wanted) =>
            Math.abs(Number(document.querySelector(selector).getAttribute('aria-valuenow')) - wanted) < 1e-6,
        {},
        `${claim('convolution')} [aria-label="tap 3"]`,
        now,
    );
    // The address holds it.
    await page.waitForFunction(
        (tap) => location.hash.includes('signed:1') && location.hash.includes(`,${tap},`),
        {},
        now,
    );
    await reload(page);
    await judged(page, 'convolution', /✓.*Largest difference/);
    assert.equal(
        await page.$eval(`${claim('convolution')} [aria-label="tap 3"]`, (handle) =>
            Number(handle.getAttribute('aria-valuenow')),
        ),
        now,
    );
});

onPage('attention fails at recall, and the filter mends it', 'theorems', {}, async (page) => {
    await judged(page, 'recall', /✓.*ab was followed by e/);
    assert.ok(value(await text(page, `${claim('recall')} .verdict b`)) < 1e-4);
    await says(page, `${claim('recall')} .wanted .number`, '1.000');
    await tick(page, 'recall');
    await judged(page, 'recall', /✗.*Without the filter every letter matches itself/);
    assert.ok(value(await text(page, `${claim('recall')} .verdict b`)) > 0.5);
    await tick(page, 'recall');
    await type(page, 'recall', 'abcABC9 dd');
    await judged(page, 'recall', /✗|·|✓.*/);
    assert.equal(await page.$eval(`${claim('recall')} .text-field input`, (i) => i.value), 'abcabcdd');
    await judged(page, 'recall', /dd did not occur before/);
    await type(page, 'recall', 'abhabgab');
    await judged(page, 'recall', /ab occurred 2 times before/);
    await type(page, 'recall', 'cabhdgcab');
    await press(page, 'recall', 'N = 3');
    await judged(page, 'recall', /cab was followed by h/);
    await setRange(page, 'recall', 'c,', 0);
    await judged(page, 'recall', /it says something from c/);
    await press(page, 'recall', 'values (of the letter after)');
    await setRange(page, 'recall', 'c,', 300);
    await judged(page, 'recall', /✓.*cab was followed by h/);
});

onPage('signals are copied in order, repeated ones are not', 'theorems', {}, async (page) => {
    await judged(page, 'copying', /✓.*Every signal in its order/);
    const out = await page.$$eval(`${claim('copying')} td.answer`, (all) =>
        all.map((each) => each.textContent),
    );
    assert.deepEqual(out, ['d', 'a', 'c', 'b', 'e']);
    await type(page, 'copying', 'a.b.a');
    await judged(page, 'copying', /a b a comes out as b/);
    await type(page, 'copying', 'h');
    await judged(page, 'copying', /✓/);
});

onPage('landmarks succeed as the integral says', 'theorems', {}, async (page) => {
    await page.waitForSelector(claim('landmarks'));
    await page.$eval(claim('landmarks'), (section) => section.scrollIntoView());
    await page.waitForFunction(
        (selector) => /[1-9]\d{3} of 4000 trials/.test(document.querySelector(selector).textContent),
        { polling: 200 },
        claim('landmarks'),
    );
    await judged(page, 'landmarks', /✓.*At the predicted width/);
    const [one, four] = await page.$$eval(`${claim('landmarks')} .verdict b`, (all) =>
        all.map((each) => parseFloat(each.textContent)),
    );
    assert.ok(one > 55 && one < 85 && four > 97, `${one} % at th, ${four} % at 4 th`);
});

onPage(
    'the triangle tells stable from unstable, and what a sigmoid reaches',
    'theorems',
    {},
    async (page) => {
        await judged(page, 'triangle', /✓.*0\.9000.*Within σ/);
        await press(page, 'triangle', 'moving average, out of reach');
        await judged(page, 'triangle', /✓.*Stable, but no pair of sigmoids/);
        await press(page, 'triangle', 'unstable');
        await judged(page, 'triangle', /✗.*1\.0247.*grows/);
        const box = await still(page, `${claim('triangle')} .catch.free`);
        await page.mouse.click(box.x + box.width * 0.5, box.y + box.height * 0.45);
        await judged(page, 'triangle', /✓/);
        await counts(page, `${claim('triangle')} .pole`, 2);
    },
);

onPage('the causality maps show the leaks and their cures', 'theorems', {}, async (page) => {
    const both = () =>
        page.$$eval(`${claim('causality')} .verdict`, (all) => all.map((each) => each.textContent));
    for (const [name, ahead] of [
        ['LaS', 2],
        ['Focus', 5],
        ['CAT', 3],
        ['Attention', 5],
        ['LaS, masked', 2],
    ]) {
        await press(page, 'causality', name);
        await page.waitForSelector(
            `${claim('causality')} [aria-busy=false], ${claim('causality')} .pair:not([aria-busy=true])`,
        );
        await judged(page, 'causality', new RegExp(`✗Sees ${ahead} rows ahead; the code says ${ahead}`));
        await eventually(async () => assert.match((await both())[1], /✓Sees nothing of the future/));
    }
    await press(page, 'causality', 'CHELA, Mamba');
    await judged(page, 'causality', /✓Sees nothing/);
});

onPage(
    'beside each claim stands its kind of truth, and what Rocq says it states',
    'theorems',
    {},
    async (page) => {
        await page.waitForSelector('#theorem-rest .truth');
        const shown = await page.$$eval('.truth > li', (all) =>
            all.map((li) => ({
                claim: li.querySelector('.hint').textContent,
                section: li.closest('.theorem').id,
                kinds: [...li.querySelectorAll('.kind')].map((kind) => kind.textContent).join('; '),
                open: li.querySelector('details')?.open ?? false,
                theorems: [...li.querySelectorAll('dl > div')].map((each) => [
                    each.querySelector('dt').textContent,
                    each.querySelector('pre').textContent,
                ]),
            })),
        );
        // docs/THEOREMS.md: "| claim | file | [kind](#where), n theorems; kind | ..".
        // The links go, and what follows a comma and a digit.
        const rows = (await readFile(at('docs/THEOREMS.md'), 'utf8'))
            .split('\n')
            .map((line) => /^\| (.*) \| \[(proofs_tests\/.*)\]\(.*\) \| (.*) \| .* \|$/.exec(line)?.slice(1))
            .filter((row) => row && !row[1].endsWith('test_errata.c'));
        const kinds = (truth) =>
            truth
                .split('; ')
                .map((kind) => kind.replace(/^\[(.*)\]\(.*\).*$/, '$1'))
                .join('; ');
        assert.ok(rows.length > 10, `docs/THEOREMS.md has ${rows.length} claims`);
        assert.deepEqual(
            shown.map(({ claim, kinds }) => `${claim} ${kinds}`).sort(),
            rows.map(([claim, , truth]) => `${claim.replaceAll('\\|', '|')} ${kinds(truth)}`).sort(),
        );
        // The theorems: those of theorems.txt, each once, in the words of statements.txt.
        const listed = (await readFile(at('proofs_tests/rocq/theorems.txt'), 'utf8'))
            .split('\n')
            .filter((line) => line && !line.startsWith('#'))
            .map((line) => line.replace(' ', '.'));
        const theorems = new Map(shown.flatMap((each) => each.theorems));
        assert.deepEqual([...theorems.keys()].sort(), listed.sort());
        const words = (text) => text.trim().split(/\s+/).join(' ');
        for (const block of (await readFile(at('proofs_tests/rocq/statements.txt'), 'utf8')).split(
            /\n(?=\S)/,
        )) {
            const [name] = block.split('\n', 1);
            assert.equal(words(theorems.get(name)), words(block.slice(name.length)), name);
        }
        // What makes no difference: the table of docs/INVARIANCES.md, cell by cell.
        const cells = await page.$$eval('[data-claim=test_invariances] tr', (all) =>
            all.map((row) => [...row.children].map((cell) => cell.textContent).join(' | ')),
        );
        const table = (await readFile(at('docs/INVARIANCES.md'), 'utf8')).split('| mixer |')[1].split('\n');
        assert.deepEqual(
            cells.map((row) => `| ${row} |`),
            [`| mixer |${table[0]}`, ...table.slice(2).filter((line) => line.startsWith('| '))],
        );
        assert.ok(cells.length > 20);
        for (const { claim, kinds, theorems } of shown)
            assert.equal(/^proved/.test(kinds), theorems.length > 0, `${claim}: ${kinds}`);
        // In words, too: what a paper's claim needs; of a file of theorems all that its first comment says.
        const needed = await page.$$eval('.truth > li', (all) =>
            all.filter((one) => /Needs: .{20}/.test(one.textContent)).map((one) => one.dataset.claim),
        );
        const programs = (await readdir(at('proofs_tests/proofs'))).filter((name) =>
            /^proof_\w+\.c$/.test(name),
        );
        assert.deepEqual(needed.sort(), programs.map((name) => name.slice(0, -2)).sort());
        const inWords = await page.$eval('[data-claim=Exp] .in-words', (one) => one.textContent);
        const told = (await readFile(at('proofs_tests/rocq/Exp.v'), 'utf8')).split('*)')[0];
        for (const line of told.split('\n').slice(1)) assert.ok(inWords.includes(line.trim()), line);
        // The pictures have theirs; theorems open on demand, by the keyboard too.
        assert.match(shown.find(({ section }) => section === 'theorem-convolution').claim, /Theorem B\.1/);
        assert.equal(shown.filter(({ section }) => section === 'theorem-recall').length, 2);
        assert.ok(shown.every(({ open }) => !open));
        await page.focus(`${claim('convolution')} .truth summary`);
        await page.keyboard.press('Enter');
        await page.waitForSelector(`${claim('convolution')} .truth details[open] pre`, { visible: true });
    },
);

test('a verdict’s errata and constants are those of its claim', async () => {
    const { VERDICTS } = await pageModule('views/theorems/verdicts');
    const ofPapers = claims().filter(({ paper }) => paper);
    assert.deepEqual(Object.keys(VERDICTS).sort(), ofPapers.map(({ name }) => name).sort());
    const errata = (text) =>
        [...text.matchAll(/errat(?:um|a) (\d+(?:(?:, | and )\d+)*)/gi)].flatMap(([, all]) =>
            all.match(/\d+/g),
        );
    for (const { name, errata: its } of ofPapers) {
        const program = await readFile(at(`proofs_tests/proofs/${name}.c`), 'utf8');
        const known = [...errata(its), ...errata(program.replace(/\n\/\/\s*/g, ' '))];
        for (const number of errata(VERDICTS[name]))
            assert.ok(known.includes(number), `${name}: erratum ${number} is none of ${known}`);
    }
    // Of Theorem 2: what its program states, the last of them as Rocq has it.
    const [, nine, one, last] = /constants (\d+), (\d+) and (\d+)/.exec(VERDICTS.proof_cat_thm2);
    const { Statement } = fields('proof_cat_thm2');
    for (const bound of [
        `at most ${nine} L eta`,
        `<= ${one === '1' ? '' : `${one} `}L' eta`,
        `at most ${last} L' eta`,
    ])
        assert.ok(Statement.includes(bound), bound);
    const { theorems } = ofPapers
        .find(({ name }) => name === 'proof_cat_thm2')
        .proved.find(({ file }) => file === 'CatThm2');
    const { statement } = theorems.find(({ name }) => name === 'cat_thm2_every_length');
    assert.ok(statement.includes(`(${last} * INR n * (epsilon / Delta))`), statement);
});

onPage(
    'a claim of a paper says first whether it holds; an erratum that a text names is a link to it; the tags are told',
    'theorems',
    {},
    async (page) => {
        await page.waitForSelector('#theorem-rest .truth');
        const shown = await page.$$eval('.truth > li', (all) =>
            all.map((li) => ({
                name: li.dataset.claim,
                first: li.firstElementChild.matches('.in-short') ? li.firstElementChild.textContent : '',
            })),
        );
        for (const { name, first } of shown)
            if (/^proof_/.test(name)) assert.match(first, /^[^.!?]+\.$/, `${name} in one sentence`);
        assert.match(
            shown.find(({ name }) => name === 'proof_cat_thm1').first,
            /^As printed it does not hold/,
        );
        // Named anywhere, also in what is shut: none stands outside of a link.
        const [named, bare] = await page.$eval('.theorems', (view) => {
            const links = [...view.querySelectorAll('a')].filter((a) => /detail=erratum-\d+/.test(a.href));
            const without = view.cloneNode(true);
            for (const link of without.querySelectorAll('a')) link.remove();
            return [links.length, without.textContent.match(/.{20}[Ee]rrat(um|a)\s+\d.{9}/g)];
        });
        assert.ok(named > 20, `${named} links`);
        assert.equal(bare, null);
        const kinds = await page.$$eval('.truth .kind', (all) => [
            ...new Set(all.map((one) => one.textContent)),
        ]);
        const told = await page.$$eval('.kinds-legend dt', (all) => all.map((one) => one.textContent));
        for (const kind of kinds)
            assert.ok(
                told.some((one) => kind.startsWith(one.replace(' in part', ''))),
                `${kind} is not told`,
            );
        const below = await page.$eval('.kinds-legend', (one) => one.getBoundingClientRect().top);
        assert.ok(below < (await page.$eval('.truth', (one) => one.getBoundingClientRect().top)));
        await isAccessible(page);
        await page.$eval(`${claim('recall')} .in-short a`, (one) => one.click());
        await until(page, () => document.activeElement.closest('#erratum-11')?.open);
        assert.match(await hash(page), /view=about&detail=erratum-11/);
        const { top, bottom } = await page.$eval('#erratum-11', (one) =>
            one.getBoundingClientRect().toJSON(),
        );
        assert.ok(top >= 0 && bottom <= 900, `it stands from ${top} to ${bottom}`);
        await page.goBack();
        await page.waitForSelector(claim('recall'));
    },
);

/** Seconds of a processor that the page has taken, by name: its thread's, and all of them. */
const spent = async (client) => {
    const { metrics } = await client.send('Performance.getMetrics');
    return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
};

onPage('every check holds in this browser, and the page stays awake', 'verify', {}, async (page) => {
    const client = await page.createCDPSession();
    await client.send('Performance.enable');
    const begun = await spent(client);
    await page.waitForSelector('.verify[data-phase=done]');
    assert.equal(await page.$eval('.verify', (view) => view.dataset.faults), '0');
    const committed = (await readFile(at('proofs_tests/digests.txt'), 'utf8')).trim().split('\n');
    const shown = await page.$$eval('.digests li', (all) =>
        all.map((row) => [...row.querySelectorAll('code')].map((code) => code.textContent)),
    );
    assert.deepEqual(
        shown.map(([mine]) => mine),
        committed.map((line) => line.slice(0, 16)),
    );
    assert.ok(shown.every(([mine, native]) => mine === native));
    // Every test of verify.wasm has its row; all hold but the long ones, which wait to be asked for.
    const { checks } = await loadVerify(await readFile(at('build/wasm/verify.wasm')));
    const waiting = (await page.$$('.proof-row.waiting')).length;
    assert.ok(waiting > 0 && waiting < checks.length / 4, `${waiting} of ${checks.length} wait`);
    assert.ok(
        (await text(page, '#verify-proofs')).includes(`${checks.length - waiting} of ${checks.length}`),
    );
    await says(page, '.verify-now', /^All \d{3} checks hold/);
    // Rows beside what is proved of them: the module's own figures, each of a theorem that is proved, none of
    // them out of reach of what is measured.
    const module = await loadVerify(await readFile(at('build/wasm/verify.wasm')));
    const rows = await page.$$eval('.bounds tbody tr', (all) =>
        all.map((row) => [row.dataset.kernel, ...[...row.children].slice(1).map((cell) => cell.textContent)]),
    );
    const theorems = await readFile(at('proofs_tests/rocq/theorems.txt'), 'utf8');
    assert.ok(rows.length >= 7);
    assert.deepEqual(
        rows.map(([kernel]) => kernel),
        module.proved.map(({ kernel }) => kernel),
    );
    for (const [i, [kernel, theorem, numbers, error, bound, share]] of rows.entries()) {
        const nearest = module.nearest(i);
        assert.ok(theorems.includes(`\n${theorem.replace('.v, ', ' ')}\n`), theorem);
        assert.deepEqual(
            [numbers, error, bound, share],
            [
                nearest.numbers.toLocaleString('en'),
                nearest.error.toExponential(2),
                `≤ ${nearest.bound.toExponential(2)}`,
                (nearest.error / nearest.bound).toFixed(2),
            ],
            kernel,
        );
        assert.ok(
            Number(share) > 0.05 && Number(share) <= 1 && nearest.numbers >= 300,
            `${kernel}: ${share}`,
        );
    }
    assert.ok((await text(page, '#verify-bounds')).includes(`${rows.length} of ${rows.length}`));
    // How long the page sleeps is the bar's business; here it is that the work is not done on its thread, in
    // seconds of a processor, which load does not make longer. (SLOW makes this thread's longer.)
    const ended = await spent(client);
    const share = (ended.ThreadTime - begun.ThreadTime) / (ended.ProcessTime - begun.ProcessTime);
    if (patience === 1) assert.ok(share < 0.75, `the page's thread has done ${share} of the work`);
    // With all of its rows there: a whole check takes longer than looking at it.
    await fitsEverySize(page, 'verify');
    await isAccessible(page);
});

async function stop(page) {
    await page.$$eval('.verify button', (all) => all.find((each) => each.textContent === 'Stop').click());
    await page.waitForSelector('.verify[data-phase=stopped]');
}
test('a word that differs is told', { skip, timeout: MOST }, async () => {
    // The same page with another word in its committed list.
    const copy = await mkdtemp(join(tmpdir(), 'seqmix-page-'));
    let other;
    try {
        await cp(at('dist'), copy, { recursive: true });
        const first = (await readFile(at('proofs_tests/digests.txt'), 'utf8')).slice(0, 16);
        const assets = join(copy, 'assets');
        let changed = 0;
        for (const file of (await readdir(assets)).filter((name) => name.endsWith('.js'))) {
            const script = await readFile(join(assets, file), 'utf8');
            if (!script.includes(first)) continue;
            changed++;
            await writeFile(join(assets, file), script.replace(first, '0123456789abcdef'));
        }
        assert.equal(changed, 1);
        other = await launch(copy);
        const { page } = await other.open(`${VIEW}verify`);
        page.setDefaultTimeout(WAIT);
        await page.waitForSelector('.digests li.fault');
        await says(page, '.digests li.fault', /0123456789abcdef.*differs/);
        await stop(page); // the verdict is made as at the end, after a tenth of the work
        await says(page, '.verify-now', /^Stopped after (\d+) of \d{3}\. 1 of \1 checks fail\.$/);
    } finally {
        await other?.close();
        await rm(copy, { recursive: true, force: true, maxRetries: 5 });
    }
});

onPage('the self-check stops when asked, and runs again', 'verify', {}, async (page) => {
    await until(page, () => document.querySelectorAll('.digests .right').length > 2);
    await stop(page);
    await says(page, '.verify-now', /^Stopped after \d+ of \d{3}\.$/);
    await page.$$eval('.verify button', (all) =>
        all.find((each) => each.textContent === 'Run again').click(),
    );
    await page.waitForSelector('.verify[data-phase=going]');
});

onPage('a worker that dies is told, and has a successor', 'theorems', {}, async (page) => {
    await judged(page, 'recall', /✓.*ab was followed by e/);
    for (const worker of page.workers())
        await worker
            .evaluate(
                () =>
                    void setTimeout(() => {
                        throw new Error('ended on request');
                    }),
            )
            .catch(() => {});
    await eventually(async () => assert.equal(page.workers().length, 0, 'the page has let go of them'));
    await press(page, 'recall', 'N = 1');
    await judged(page, 'recall', /b occurred 2 times before/);
    await type(page, 'recall', 'abcdefga');
    await judged(page, 'recall', /✓.*a was followed by b/);
});

onPage('a dead worker ends the self-check with a sentence', 'verify', {}, async (page) => {
    await until(page, () => document.querySelectorAll('.digests .right').length > 2);
    for (const worker of page.workers())
        await worker
            .evaluate(
                () =>
                    void setTimeout(() => {
                        throw new Error('ended on request');
                    }),
            )
            .catch(() => {});
    await page.waitForSelector('.verify[data-phase=failed]');
    await says(page, '.verify-now', /cannot go on: its worker stopped: .*ended on request/);
    await page.$$eval('.verify button', (all) =>
        all.find((each) => each.textContent === 'Run again').click(),
    );
    await until(page, () => document.querySelectorAll('.digests .right').length > 2);
});

onPage('every mechanism has its formulas, its code and its errata', 'about', {}, async (page) => {
    await page.waitForSelector('.entry');
    const mixers = await page.$$eval('.entry', (all) =>
        all.map((entry) => ({
            id: entry.id,
            formulas: entry.querySelectorAll('math').length,
            texts: entry.querySelectorAll('pre').length,
            errors: entry.querySelectorAll('merror').length,
            links: [...entry.querySelectorAll('.files a')].map((link) => link.getAttribute('href')),
            errata: entry.querySelectorAll('details').length,
        })),
    );
    const { mixers: known } = JSON.parse(
        execFileSync(at('build/seqmix'), ['help', '--json'], { encoding: 'utf8' }),
    );
    assert.deepEqual(
        mixers.map(({ id }) => id),
        [...known.map(({ name }) => `about-${name}`), 'about-model'],
    );
    for (const { id, formulas, texts, errors, links } of mixers) {
        assert.ok(formulas + texts > 0 && errors === 0, id); // formulas, or the text that it is
        assert.ok(links.length >= (texts ? 1 : 2), id);
    }
    // Once for each paper that an erratum is about, as docs/ERRATA.md says behind its title.
    const sources = [
        ...(await readFile(at('docs/ERRATA.md'), 'utf8')).matchAll(/^\*\*\d+\. [^*]*\*\*\s\(([^)]*)\)/gm),
    ].map(([, source]) => source);
    assert.ok(sources.length > 15, `docs/ERRATA.md has ${sources.length} errata`);
    assert.equal(
        mixers.reduce((sum, { errata }) => sum + errata, 0),
        sources.reduce((sum, source) => sum + new Set(source.match(/\[(?:LaS|Focus|CAT|CHELA)\]/g)).size, 0),
    );
    for (const href of new Set(mixers.flatMap(({ links }) => links))) {
        const response = await fetch(new URL(href, browser.lab.address));
        assert.equal(response.status, 200, href);
        assert.equal(
            await response.text(),
            await readFile(at(href.replace(/^source\/(.*)\.txt$/, '$1')), 'utf8'),
        );
    }
    // On wide screens no formula is cut, and nowhere a file's name is broken.
    for (const width of [390, 1240, 1280, 1340, 1920, 2100, 2400, 2560]) {
        await page.setViewport({ width, height: 1000 });
        assert.deepEqual(await brokenWords(page, '.files a'), [], `${width} px`);
        const cut = await page.$$eval('.formulas dd', (all) =>
            all
                .filter((one) => one.querySelector('math') && one.scrollWidth > one.clientWidth)
                .map((one) => `${one.scrollWidth} > ${one.clientWidth}: ${one.textContent}`),
        );
        if (width > 390) assert.deepEqual(cut, [], `${width} px`);
    }
    await says(page, '#about-cite + pre', /@software\{seqmix/);
    await says(page, '#about-build ~ pre', /^make demo/);
    // They are many screens below: the row at the top leads there.
    for (const [name, id] of [
        ['How to cite', 'about-cite'],
        ['Build from source', 'about-build'],
    ]) {
        await page.evaluate(() => scrollTo(0, 0));
        await page.$$eval(
            '.contents button',
            (all, name) => all.find((one) => one.textContent === name).click(),
            name,
        );
        await until(page, (id) => document.getElementById(id).getBoundingClientRect().top < innerHeight, id);
    }
    const papers = await page.$$eval('.papers a', (all) => all.map((one) => one.href));
    assert.equal(papers.length, 4);
    for (const paper of papers) assert.match(paper, /^https:\/\/[a-z.]+\/.+/);
});

onPage(
    "the papers' tables: what is stored of each row, and a dot that opens its training and starts it",
    'papers',
    {},
    async (page) => {
        await page.waitForSelector('.rerun-row .ours');
        const all = tables();
        const claims = all.flatMap(({ claims }) => claims);
        const seen = await page.$$eval('.verdicts li', (each) =>
            each.map((one) => one.textContent.replace(/[✗✓?·]/, '').replace(/\s+/g, ' ')),
        );
        assert.deepEqual(
            seen,
            ['does not hold', 'holds', 'cannot tell', 'not run'].map(
                (wanted) => `${claims.filter(({ verdict }) => verdict === wanted).length} ${wanted}`,
            ),
        );
        const shown = await page.$$eval('.reruns .rerun', (sections) =>
            sections.map((section) => ({
                title: section.querySelector('h3').textContent,
                rows: [...section.querySelectorAll('li.rerun-row')].map((row) => ({
                    said: row.querySelector('.rerun-said span').textContent,
                    at: parseFloat(row.querySelector('.ours circle')?.getAttribute('cx')),
                    theirs: row.querySelectorAll('.theirs').length,
                    href: row.querySelector('a.rerun-plot').getAttribute('href'),
                    easy: row.querySelector('.rerun-said a').getAttribute('href'),
                    named: row.querySelector('.rerun-said a').getAttribute('aria-label'),
                    seen: row.querySelector('.rerun-said a').title,
                    paper: parseFloat(row.querySelector('.theirs')?.getAttribute('x')),
                })),
                axis: section.querySelector('.rerun-axis').textContent,
                claims: [...section.querySelectorAll('.rerun-claims li')].map((one) =>
                    one.textContent.replace(/^\W+/, ''),
                ),
            })),
        );
        const run = all.filter(({ rows }) => rows.some(({ ours }) => ours));
        assert.deepEqual(
            shown.map(({ title }) => title),
            run.map(({ source, title }) => `${source}: ${title}`),
        );
        const engine = await load({ wasm: await readFile(at('build/wasm/seqmix-whole.wasm')) });
        const values = (href) => engine.values(href.replace(/^#|!.*/g, ''))[0];
        for (const [i, table] of run.entries()) {
            const { rows, claims: judged } = shown[i];
            assert.deepEqual(
                judged,
                table.claims.map(({ says, verdict }) => `${verdict} ${says}`),
            );
            const digits = table.measure === 'accuracy' ? 1 : 3;
            const without = papers().tables.find(({ name }) => name === table.name).rows;
            for (const [j, { name, paper, config, ours }] of table.rows.entries()) {
                if (!ours?.rate) {
                    assert.deepEqual([rows[j].said, rows[j].at], [without[j].without, NaN], name);
                    continue;
                }
                const [mean, least, most] = [ours.mean, ours.least, ours.most].map((x) => x.toFixed(digits));
                const percent = table.measure === 'accuracy' ? ' %' : '';
                assert.equal(rows[j].said, `${mean}${percent} (${least}–${most})`, name);
                assert.equal(
                    rows[j].theirs,
                    paper !== null && table.paper_in === table.measure ? 1 : 0,
                    name,
                );
                if (!/text=/.test(table.common))
                    assert.deepEqual(
                        values(rows[j].href),
                        values(`${table.common}&${config}&rate=${ours.rate}&seed=1&fast=0`),
                        name,
                    );
            }
            // From the lowest to the highest, as the means are, to a hundredth of a percent of the axis.
            const means = table.rows.map(({ ours }) => ours?.mean);
            const order = (of) =>
                [...means.keys()].filter((j) => means[j]).sort((a, b) => of(a) - of(b) || a - b);
            const at = order((j) => rows[j].at);
            const ends = table.rows.flatMap(({ ours }) => (ours?.rate ? [ours.least, ours.most] : []));
            const near = 4e-4 * (Math.max(...ends) - Math.min(...ends)) + 1e-6;
            for (const [k, j] of at.entries()) if (k) assert.ok(means[at[k - 1]] <= means[j] + near);
            // Which table's easy form it is; numbers of another task stand on an axis of their own.
            for (const [j, { named, seen }] of rows.entries()) {
                assert.equal(
                    named,
                    `train small version of ${table.rows[j].name}: ${table.source}, ${table.title}`,
                );
                assert.equal(seen, named);
            }
            if (!table.paper_on) continue;
            assert.match(
                shown[i].axis,
                new RegExp(`digits of 28 x 28 pixels.*the paper: ${table.paper_on}.*different tasks`),
            );
            for (const { at, paper } of rows)
                assert.ok(at < 55 && paper > 60, `${table.name}: ${at}, ${paper}`);
        }
        assert.equal(run.filter(({ paper_on }) => paper_on).length, 2);
        // Every training that is offered is one that a page can do.
        for (const { rows, name } of papers().tables)
            for (const { easy, config } of rows) {
                assert.equal(easy === null, /pathfinder/.test(name), name);
                for (const one of [easy, config].filter(Boolean)) assert.equal(values(one).fast ?? '0', '0');
            }
        const against = await page.$$eval('.contradicted button', (each) =>
            each.map((one) => one.textContent),
        );
        assert.deepEqual(
            against,
            all.flatMap(({ source, title, claims }) =>
                claims
                    .filter((one) => one.verdict === 'does not hold')
                    .map(({ says }) => `${source}: ${title}: ${says}`),
            ),
        );
        await page.$$eval('.contradicted button', (each) => each.at(-1).click());
        await until(page, () => {
            const { id, parentElement } = document.activeElement;
            return /^rerun-/.test(id) && /does not hold/.test(parentElement.textContent);
        });
        assert.equal(await page.$$eval('.targets li', (all) => all.length), papers().targets.length);
        await fitsEverySize(page, 'papers');
        await isAccessible(page);
        const link = await page.$(`.reruns a[href="${shown.at(-1).rows.at(-1).easy}"]`);
        await link.evaluate((one) => one.click());
        await until(page, () => globalThis.seqmix.runs()[0].step > 5);
        assert.equal((await runs(page)).length, 1);
    },
);

for (const view of ['theorems', 'about'])
    onPage(`${view}: accessible and whole at every size, light and dark`, view, {}, async (page) => {
        await page.waitForSelector(
            {
                theorems: '#theorem-causality .verdict',
                about: '.entry',
            }[view],
        );
        await fitsEverySize(page, view);
        await isAccessible(page);
        // (With everything open:) a theorem's name goes to a line of its own rather than break.
        await page.setViewport({ width: 390, height: 844 });
        assert.deepEqual(await brokenWords(page, '.truth dt code, .verdict code', '\\w+'), []);
    });
