// judge_report.test.mjs: seqmix judge --report and --badge: the matrix counts what was judged, each fault
// says which rows are wrong, the shortest wrong case can be downloaded as it is.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { seqmix } from '../../support/program.mjs';
import { readNpy, writeNpy } from '../../support/npy.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-judge-report-'));
after(() => rmSync(folder, { recursive: true }));
const at = (...names) => join(folder, ...names);

assert.equal(seqmix('vectors', '--only', 'linear_attention', '--out', at('set')).status, 0);
assert.equal(seqmix('oracle', '--manifest', at('set', 'manifest.json'), '--out', at('right')).status, 0);
const { cases } = JSON.parse(readFileSync(at('set', 'manifest.json'), 'utf8'));

/** Judged with a report and a badge: the exit status, and both as texts. */
function judged(results, { set = 'set', more = ['--f32'] } = {}) {
    const files = [at(`${results}.html`), at(`${results}.svg`)];
    const made = seqmix(
        'judge',
        ...['--manifest', at(set, 'manifest.json'), at(results), '--report', files[0], '--badge', files[1]],
        ...more,
    );
    const [page, badge] = files.map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : ''));
    return { ...made, page, badge };
}
const digest = (page) => page.match(/id="digest">([0-9a-f]{16})</)[1];
const text = (html) => html.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
/** A table's rows: what stands in each cell, as text. */
const rows = (page, id) =>
    [...page.match(new RegExp(`<table id="${id}">(.*?)</table>`, 's'))[1].matchAll(/<tr>(.*?)<\/tr>/gs)].map(
        ([, row]) => [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) => text(cell)),
    );

test('report: what is right is counted in every property, the same results give the same page', () => {
    const first = judged('right');
    assert.equal(first.status, 0, first.stderr);
    assert.equal(judged('right').page, first.page);
    const [head, ...matrix] = rows(first.page, 'matrix');
    assert.deepEqual(
        matrix.map(([name]) => name),
        ['linear_attention'],
    );
    const cell = (property) => matrix[0][head.indexOf(property)];
    assert.equal(cell('outputs'), `${cases.length} right`);
    assert.equal(cell('gradients'), `${cases.length} right`);
    const of = (has) => `${cases.filter(has).length} right`;
    assert.equal(
        cell('1 to 17 rows'),
        of(({ params }) => params.L <= 17),
    );
    assert.equal(
        cell('18 to 299 rows'),
        of(({ params }) => params.L > 17 && params.L < 300),
    );
    assert.equal(
        cell('several heads'),
        of(({ params }) => params.H > 1),
    );
    assert.equal(
        cell('several sequences'),
        of(({ batch }) => batch?.[0] > 1),
    );
    assert.ok(!head.includes('start states given') && !head.includes('300 rows on'), head.join());
    assert.match(first.page, /version \d+ of the suite/);
    assert.ok(!first.page.includes('id="faults"') && !first.page.includes('<script'));
    assert.match(first.badge, /^<svg .*>1 of 1 right, f32<.*#1a7f37|^<svg .*#1a7f37.*>1 of 1 right, f32</s);
    assert.ok(first.page.includes(first.badge.trim()));
});

test('report: a fault says where it begins, and the shortest wrong case is there to download', () => {
    mkdirSync(at('wrong'));
    const begin = 64;
    for (const one of cases)
        for (const [part, entries] of Object.entries({ y: one.outputs, d: one.gradients }))
            for (const { file } of Object.values(entries)) {
                const { shape, data } = readNpy(at('right', file));
                const width = shape.at(-1);
                const row = (i) => Math.floor(i / width) % shape.at(-2);
                const wrong = (i) => part === 'y' && row(i) >= begin;
                writeNpy(
                    at('wrong', file),
                    shape,
                    data.map((x, i) => (wrong(i) ? 1.5 * x + 0.1 : x)),
                );
            }
    const { status, page, badge } = judged('wrong');
    assert.equal(status, 1);
    const bad = cases.filter(({ params }) => params.L > begin);
    assert.ok(bad.length && bad.length < cases.length);
    const [head, row] = rows(page, 'matrix');
    assert.equal(row[head.indexOf('outputs')], `${bad.length} of ${cases.length} wrong`);
    assert.equal(row[head.indexOf('gradients')], `${cases.length} right`);
    const [, ...faults] = rows(page, 'faults');
    assert.deepEqual(
        faults.map(([name, array, , , wrong]) => [name, array, wrong]),
        bad.map(({ name, params }) => [name, 'y', `${begin} to ${params.L - 1}`]),
    );
    assert.ok(faults.every((fault) => fault[5].length > 10));
    assert.match(badge, /0 of 1 right/);
    assert.match(badge, /#b42318/);
    // The smallest of the wrong ones, as it is.
    const numbers = ({ inputs }) =>
        Object.values(inputs).reduce((n, { shape }) => n + shape.reduce((a, b) => a * b, 1), 0);
    const smallest = bad.reduce((a, b) => (numbers(b) < numbers(a) ? b : a));
    const links = new Map(
        [...page.matchAll(/download="([^"]*)" href="data:application\/octet-stream;base64,([^"]*)"/g)].map(
            ([, name, data]) => [name, Buffer.from(data, 'base64')],
        ),
    );
    const files = Object.values(smallest.inputs).map(({ file }) => file);
    const y = smallest.outputs.y.file;
    assert.deepEqual([...links.keys()].sort(), [...files, `right.${y}`, `given.${y}`].sort());
    for (const file of files) assert.deepEqual(links.get(file), readFileSync(at('set', file)));
    assert.deepEqual(links.get(`right.${y}`), readFileSync(at('set', y)));
    assert.deepEqual(links.get(`given.${y}`), readFileSync(at('wrong', y)));
});

test('report: the digest is that of cases and inputs; what names say does no harm; what is missing is no success', () => {
    const before = digest(judged('right').page);
    cpSync(at('set'), at('other'), { recursive: true });
    const manifest = JSON.parse(readFileSync(at('other', 'manifest.json'), 'utf8'));
    const write = () => writeFileSync(at('other', 'manifest.json'), JSON.stringify(manifest));
    const now = () => digest(judged('right', { set: 'other' }).page);
    manifest.cases[0].outputs.y.scale *= 1 + 2 ** -50;
    write();
    assert.equal(now(), before, "an output is the machine's own in the last place");
    const { file } = manifest.cases[0].inputs.q;
    const { shape, data } = readNpy(at('other', file));
    writeNpy(
        at('other', file),
        shape,
        data.map((x, i) => (i ? x : x + 2 ** -8)),
    );
    assert.notEqual(now(), before);
    cpSync(at('set', file), at('other', file));
    assert.equal(now(), before);
    manifest.cases[0].params.H = 1;
    write();
    assert.notEqual(now(), before);

    manifest.cases[0].name = '<script>alert("x")</script>';
    manifest.cases[0].mechanism = "<b onclick='x'>";
    manifest.note = '</p><script>';
    write();
    mkdirSync(at('zeros'));
    for (const { outputs } of cases)
        writeNpy(
            at('zeros', outputs.y.file),
            outputs.y.shape,
            new Float64Array(outputs.y.shape.reduce((a, b) => a * b, 1)),
        );
    const { status, page } = judged('zeros', { set: 'other' });
    assert.equal(status, 1);
    assert.ok(!/<script|<b /.test(page) && page.includes('&#60;script&#62;'));

    rmSync(at('zeros', cases[1].outputs.y.file));
    const lacking = judged('zeros', { set: 'other' });
    assert.equal(lacking.status, 2);
    assert.match(lacking.badge, />incomplete</);
    assert.match(lacking.page, /Some files were missing/);
    const nowhere = seqmix(
        'judge',
        '--manifest',
        at('set', 'manifest.json'),
        at('right'),
        '--report',
        at('no', 'where.html'),
    );
    assert.equal(nowhere.status, 2);
    assert.match(nowhere.stderr, /where\.html/);
});

test('a case never changes under a version of the suite: docs/ORACLE.md pins the digests', () => {
    const page = readFileSync('docs/ORACLE.md', 'utf8');
    const pinned = page
        .split(/<!-- .?suite -->/)[1]
        .trim()
        .split('\n')
        .at(-1)
        .split('|')
        .map((cell) => cell.trim().replaceAll('`', ''));
    const found = [['usual'], ['hard', '--hard']].map(([set, ...how]) => {
        assert.equal(seqmix('vectors', ...how, '--out', at(set)).status, 0);
        const { suite, cases: all } = JSON.parse(readFileSync(at(set, 'manifest.json'), 'utf8'));
        assert.equal(String(suite), pinned[1], set);
        const one = all.find(({ mechanism }) => mechanism === 'linear_attention');
        mkdirSync(at(`${set}-one`));
        cpSync(at(set, one.outputs.y.file), at(`${set}-one`, one.outputs.y.file));
        const { status, page: report } = judged(`${set}-one`, {
            set,
            more: ['--partial', '--only', one.name],
        });
        assert.equal(status, 0);
        return digest(report);
    });
    assert.deepEqual(
        found,
        pinned.slice(2, 4),
        'a new version is needed: VECTORS_SUITE and a row of that table',
    );
});
