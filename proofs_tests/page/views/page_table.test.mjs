// page_table.test.mjs: a table of the visitor's: dropped, chosen from, trained on to the words of the native
// program, and brought back after a reload.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pageModule } from '../in_node.mjs';
import { allDone, allReady, at, hash, onPage, press, RACE, reload, runs, says, until } from '../testing.mjs';

/** `load` is twice the heat two rows before; `kind` is a word; the heat has gaps. */
function written(rows) {
    const lines = ['"time; h";heat;kind;load'];
    const heat = (i) => ((i * 7919) % 101) / 10;
    for (let i = 0; i < rows; i++)
        lines.push(
            [
                i,
                i % 50 === 7 ? 'NA' : heat(i),
                ['red', 'blue'][(i >> 2) % 2],
                i < 2 ? 0 : 2 * heat(i - 2),
            ].join(';'),
        );
    return lines.join('\r\n');
}
const drop = (page, content, name) =>
    page.evaluate(
        (bytes, called) => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([bytes], called));
            window.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
        },
        content,
        name,
    );

onPage(
    'a table that is dropped is previewed, chosen from, and trained on as natively',
    RACE,
    {},
    async (page) => {
        await allReady(page);
        const content = written(20_000);
        await drop(page, 'a,b\n1,2,3\n', 'bad.csv');
        await until(page, () => document.querySelector('.notice'));
        await says(page, '.notice', /bad\.csv: line 2 has 3 cells where the first has 2/);
        assert.equal((await runs(page)).length, 2);
        await press(page, 'Keep the setup below');
        // What was just kept is not read back: of a large file that alone blocked the page.
        await page.evaluate(() => {
            const { get } = IDBObjectStore.prototype;
            globalThis.read = [];
            IDBObjectStore.prototype.get = function (key) {
                globalThis.read.push(key);
                return get.call(this, key);
            };
        });
        await drop(page, `a,b\n${'1,2\n'.repeat(40)}n/a?,3\n${'4,5\n'.repeat(40)}`, 'mixed.csv');
        await says(page, '.own-table .warning', /^No number: 1 of a \(the first in line 42: n\/a\?\); such/);
        await drop(page, content, 'my rows.csv');
        await until(page, () => document.querySelectorAll('.own-table tbody tr').length === 10);
        await allReady(page);
        await until(page, () =>
            /my_rows.csv was taken/.test(document.querySelector('[role=status]')?.textContent),
        );
        assert.deepEqual(await page.evaluate(() => globalThis.read), []);
        await says(page, '.own-table', /my_rows\.csv ?20,000 rows/);
        await says(
            page,
            '.own-table .warning',
            /400 of heat \(the first in line 9\); each takes the value of/,
        );
        const boxes = () =>
            page.$$eval('.own-table th input', (all) =>
                all.map((one) => [one.checked, one.disabled].map(Number).join('')),
            );
        // time, heat: read; kind: words cannot be; load: predicted.
        assert.deepEqual(await boxes(), ['10', '00', '10', '00', '01', '00', '01', '10']);
        await page.evaluate(() => document.querySelectorAll('.own-table th input')[0].click());
        await until(page, () => /inputs=heat&/.test(location.hash));
        await page.evaluate(() => document.querySelectorAll('.own-table th input')[5].click());
        await until(page, () => /target=kind/.test(location.hash));
        await page.goBack();
        await until(page, () => /target=load/.test(location.hash));
        const { config } = (await runs(page))[0];
        await page.evaluate((short) => (location.hash = `#${short}&steps=60!speed=full`), config);
        await until(page, () => globalThis.seqmix.runs().length === 1);
        await allReady(page);
        await press(page, 'Start');
        await allDone(page);
        const [run] = await runs(page);
        const folder = await mkdtemp(join(tmpdir(), 'seqmix-table-'));
        try {
            await writeFile(join(folder, 'my_rows.csv'), content);
            const env = { ...process.env, SEQMIX_DATA: folder };
            const native = spawnSync(at('build/seqmix'), ['train', run.config, '--json'], {
                encoding: 'utf8',
                env,
            });
            const lines = native.stdout
                .trim()
                .split('\n')
                .map((line) => JSON.parse(line));
            assert.equal(lines.at(-1).digest, run.digest, native.stderr);
            assert.deepEqual(
                await page.evaluate(() => globalThis.seqmix.words(0)),
                lines.flatMap(({ word }) => word ?? []),
            );
        } finally {
            await rm(folder, { recursive: true });
        }
        // It is still there after a reload.
        await reload(page);
        await until(page, () => document.querySelectorAll('.own-table tbody tr').length === 10);
        await until(page, () => globalThis.seqmix.runs()[0].status === 'ready');
        assert.match(await hash(page), /file=my_rows\.csv/);
        await press(page, 'Back to the embedded one');
        await until(page, () => !/file=/.test(location.hash));
    },
);

test('columns are called by names that cannot be mistaken', { skip: false }, async () => {
    const { columnKey, columnOf, chosen, firstChoice } = await pageModule('core/tables');
    const column = (name, numbers, words = 0, missing = 0) => ({
        name,
        numbers,
        words,
        missing,
        line: 0,
        different: 11,
    });
    const table = {
        rows: 100,
        columns: [
            column('a', 100),
            column('b, c', 100),
            column('a', 100),
            column('', 90, 0, 10),
            column('word', 0, 100),
        ],
        preview: [],
    };
    assert.deepEqual(
        table.columns.map((_, i) => columnKey(table, i)),
        ['a', '2', '3', '4', 'word'],
    );
    for (let i = 0; i < 5; i++) assert.equal(columnOf(table, columnKey(table, i)), i);
    assert.equal(columnOf(table, '6'), -1);
    assert.equal(columnOf(table, 'z'), -1);
    assert.deepEqual(chosen(table, { target: '3' }), { inputs: [0, 1, 3], target: 2 });
    assert.deepEqual(chosen(table, { target: '3', ahead: '1' }), { inputs: [0, 1, 2, 3], target: 2 });
    assert.deepEqual(chosen(table, { inputs: '2,a' }), { inputs: [1, 0], target: 4 });
    assert.deepEqual(firstChoice(table), {
        target: 'word',
        inputs: 'a,2,3,4',
        length: '20',
        missing: 'last',
    });
});
