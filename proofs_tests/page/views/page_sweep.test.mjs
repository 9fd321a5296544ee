// page_sweep.test.mjs: the grid below the runs: several values of one setting, small curves, the best marked,
// and a command that the program takes.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { allReady, at, isAccessible, onPage, runs, text, until } from '../testing.mjs';

/** What is typed as values, and the grid asked for. */
const ask = (page, values) =>
    page.evaluate((typed) => {
        const form = document.querySelector('.sweep-offer form');
        const input = form.querySelector('input');
        input.value = typed;
        input.dispatchEvent(new Event('input', { bubbles: true }));
        requestAnimationFrame(() => form.requestSubmit());
    }, values);

onPage(
    'one setting, two values, two runs: every training ends, the best is marked, the command is the same grid',
    '#mixer=cat&task=mqar&steps=30~mixer=attention',
    {},
    async (page) => {
        await allReady(page);
        await page.waitForSelector('.sweep-offer summary');
        await page.evaluate(() => document.querySelector('.sweep-offer summary').click());
        await until(page, () => document.querySelector('.sweep-offer form'));
        await ask(page, '0.01');
        await until(page, () =>
            /at least two values/.test(document.querySelector('.sweep-offer').textContent),
        );
        await ask(page, '0.01, no');
        await until(page, () =>
            /rate=no is not allowed/.test(document.querySelector('.sweep-offer').textContent),
        );
        await ask(page, '0.02, 0.0001');
        await until(page, () => document.querySelectorAll('.sweep td[data-status="done"]').length === 4);
        assert.ok(!(await text(page, '.sweep-offer')).includes('is not allowed'), 'what was refused is gone');
        const rows = await page.$$eval('.sweep tbody tr', (all) =>
            all.map((row) =>
                [...row.querySelectorAll('td')].map((cell) => ({
                    score: parseFloat(cell.textContent),
                    best: cell.classList.contains('best'),
                    points: cell.querySelector('polyline').points.length,
                })),
            ),
        );
        for (const cells of rows) {
            const most = Math.max(...cells.map(({ score }) => score));
            for (const { score, best, points } of cells) {
                assert.equal(best, score === most, JSON.stringify(cells));
                assert.ok(points >= 3, `${points} points of a curve`);
            }
        }
        // Ten times the page's own rate and a hundredth of it are not the same training.
        assert.notEqual(rows[0][0].score, rows[0][1].score);
        assert.deepEqual(
            (await runs(page)).map(({ step }) => step),
            [0, 0],
            "the page's runs stand where they were",
        );
        await isAccessible(page);
        const command = await text(page, '.sweep-offer pre');
        const folder = mkdtempSync(join(tmpdir(), 'seqmix-sweep-'));
        const PATH = [at('build'), process.env.PATH].join(delimiter);
        const ran = spawnSync('sh', ['-c', command], {
            cwd: folder,
            env: { ...process.env, PATH },
            encoding: 'utf8',
        });
        assert.equal(ran.status, 0, `${command}: ${ran.stderr}`);
        const jobs = readFileSync(join(folder, 'jobs.txt'), 'utf8').trim().split('\n');
        rmSync(folder, { recursive: true });
        assert.equal(jobs.length, 4, jobs.join('\n'));
        for (const part of ['mixer=cat', 'mixer=attention', 'rate=0.02', 'rate=0.0001'])
            assert.equal(jobs.filter((job) => job.includes(part)).length, 2, `${part} in ${jobs.join('\n')}`);
    },
);
