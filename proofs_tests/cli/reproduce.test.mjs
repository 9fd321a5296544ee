// reproduce.test.mjs: `seqmix reproduce`: an easy form of a table runs, goes on where it stopped, and what is
// stored of the whole ones is what the program would train, chosen and judged as it says.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { asked, known, page, papers, read, tables, targets } from '../../scripts/reproduction.mjs';
import { forge } from '../support/forged.mjs';
import { program, run } from '../support/program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-reproduce-'));
after(() => rmSync(folder, { recursive: true }));
const seqmix = (...args) => run(program, ['reproduce', ...args]);
const jsonl = (path) =>
    readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
const table = (name) => known().find((one) => one.name === name);
/** What its stored file begins with. */
const headOf = ({ name, source, title, setting, common, measure, seeds, eval: judged, hours }) => ({
    ...{ table: name, source, title, setting, common, measure, seeds, eval: judged, hours },
});
/** The words of a line of --lines. */
function wordsOf(line) {
    const [, config, out, count] = /^seqmix job '([^']*)' --out '([^']*)' --eval (\d+)$/.exec(line);
    return ['job', config, '--out', out, '--eval', count];
}
const jobs = (stdout) => stdout.split('\n').filter((line) => /^[0-9a-f]{16} /.test(line));

test('what cannot be done is said', () => {
    const says = (args, sentence) => {
        const { status, stderr } = seqmix(...args);
        assert.equal(status, 2, args.join(' '));
        assert.match(stderr, sentence);
    };
    says(['table-99'], /there is no table 'table-99'; seqmix reproduce lists them/);
    says(['las-table-7-cummax', '--lines', '--collect'], /do not go together/);
    says(['las-table-7-cummax', '--json'], /--json lists all tables and takes no name/);
    writeFileSync(join(folder, 'file'), '');
    says(['las-table-7-cummax', '--collect', '--out', join(folder, 'file', 'x')], /reproduce: --out/);
    says(['las-table-7-cummax', '--collect', '--out', join(folder, 'none')], /--out .*none: No such file/);
    assert.ok(!existsSync(join(folder, 'none')));
});

test('an easy form of a table is trained, goes on where it stopped, and is judged', () => {
    const out = join(folder, 'quick');
    const args = ['las-table-7-cummax', '--quick', '--out', out];
    const wanted = seqmix(...args, '--lines');
    assert.equal(wanted.status, 0, wanted.stderr);
    const commands = wanted.stdout.trim().split('\n');
    assert.equal(commands.length, 3);
    assert.equal(run(program, wordsOf(commands[1])).status, 0);
    const first = seqmix(...args);
    assert.equal(first.status, 0, first.stderr);
    assert.equal(jobs(first.stdout).length, 2, 'the second job was done already');
    assert.match(first.stdout, /^attention +1 +0\.\d+/m);
    assert.match(first.stdout, /^(holds|does not hold|cannot tell) +LaS is behind attention$/m);
    const again = seqmix(...args);
    assert.equal(jobs(again.stdout).length, 0, 'all jobs are done');
    const [head, , row] = jsonl(join(out, 'las-table-7-cummax.quick.jsonl'));
    assert.deepEqual(head, { ...headOf(table('las-table-7-cummax')), seeds: 1 });
    assert.equal(row.row, 'LaS as printed');

    // A result that was changed by hand is none: it is trained again, to the same digest.
    const name = readdirSync(out).find((entry) => /^[0-9a-f]{2}$/.test(entry));
    const [result] = readdirSync(join(out, name));
    const path = join(out, name, result);
    const whole = readFileSync(path, 'utf8');
    writeFileSync(path, whole.replace(/"value":/, '"value":1'));
    const mended = seqmix(...args);
    assert.equal(mended.status, 0, mended.stderr);
    assert.match(mended.stderr, new RegExp(result));
    assert.equal(jobs(mended.stdout).length, 1);
    const strip = (text) => text.replace(/,"machine":.*/, '');
    assert.equal(strip(readFileSync(path, 'utf8')), strip(whole));

    // An older build's result lacks a key that came later: it stays, and counts.
    const before = readFileSync(join(out, 'las-table-7-cummax.quick.jsonl'), 'utf8');
    forge(path, (text) => text.replace('&optimizer=adamw', ''));
    const older = seqmix(...args);
    assert.deepEqual([older.status, older.stderr.includes(result)], [0, false], older.stderr);
    assert.equal(jobs(older.stdout).length, 0, 'nothing is trained again');
    assert.equal(readFileSync(join(out, 'las-table-7-cummax.quick.jsonl'), 'utf8'), before);
});

test('two processes share a table: what one trains, the other leaves to it', async () => {
    const out = join(folder, 'shared');
    const args = ['las-table-7-cummax', '--quick', '--out', out];
    const [first] = seqmix(...args, '--lines').stdout.split('\n');
    const holder = spawn(program, wordsOf(first), { stdio: 'ignore' });
    const ended = once(holder, 'close');
    try {
        while (!readdirSync(out, { recursive: true }).some((name) => name.endsWith('.claim'))) {
            assert.equal(holder.exitCode, null, 'it holds no job');
            await setTimeout(10);
        }
        holder.kill('SIGSTOP'); // in the midst of its training
        const beside = seqmix(...args);
        assert.equal(beside.status, 75, beside.stderr);
        assert.equal(jobs(beside.stdout).length, 2, 'the others are trained');
        assert.match(beside.stdout, /not run: 1 training is missing/);
        assert.match(beside.stderr, /other processes train what is missing/);
    } finally {
        holder.kill('SIGCONT');
    }
    assert.deepEqual(await ended, [0, null]);
    const last = seqmix(...args);
    assert.deepEqual([last.status, jobs(last.stdout).length], [0, 0], last.stderr);
});

test('what was stored of a table counts as trained, on whatever machine', () => {
    const out = join(folder, 'elsewhere');
    const args = ['las-table-7-cummax', '--quick'];
    const file = join(folder, 'quick', 'las-table-7-cummax.quick.jsonl');
    const from = (path, ...more) => seqmix(...args, '--from', path, '--out', out, ...more);
    const all = from(file);
    assert.deepEqual([all.status, jobs(all.stdout).length], [0, 0], all.stderr);
    assert.equal(
        readFileSync(join(out, 'las-table-7-cummax.quick.jsonl'), 'utf8'),
        readFileSync(file, 'utf8'),
    );

    // What it does not hold is trained: a digest that is none, another config, a row that is not there.
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    const holding = (change) => {
        const path = join(folder, 'held.jsonl');
        writeFileSync(path, lines.map(change).filter(Boolean).join('\n'));
        return path;
    };
    const missing = (change) => from(holding(change), '--lines').stdout.split('\n').filter(Boolean).length;
    const first = (change) => (line, i) => (i === 1 ? change(line) : line);
    assert.equal(
        missing((line) => line),
        0,
    );
    assert.equal(missing(first((line) => line.replace(/("digests":\[")\w/, '$1x'))), 1);
    assert.equal(missing(first((line) => line.replace(/"config":"/, '"config":"heads=1&'))), 1);
    assert.equal(missing(first(() => '')), 1);
    const rest = from(holding(first(() => '')));
    assert.deepEqual([rest.status, jobs(rest.stdout).length], [0, 1], rest.stderr);
    const timeless = (text) => text.replace(/"seconds":\d+/g, '');
    const whole = readFileSync(join(out, 'las-table-7-cummax.quick.jsonl'), 'utf8');
    assert.equal(timeless(whole), timeless(readFileSync(file, 'utf8')));

    const refuses = (path, sentence) => {
        const { status, stderr } = from(path, '--lines');
        assert.equal(status, 2);
        assert.match(stderr, sentence);
    };
    refuses(join(folder, 'none.jsonl'), /none\.jsonl cannot be read/);
    refuses(
        holding(() => ''),
        /held\.jsonl: it is empty/,
    );
    refuses(
        holding((line, i) => (i ? line : line.replace('cummax', 'cumsum'))),
        /has table 'las-table-7-cumsum', where/,
    );
    refuses(
        holding((line, i) => (i ? line : line.replace('"seeds":1', '"seeds":5'))),
        /has seeds 5, where this table has 1/,
    );
    refuses(
        holding((line, i) => (i ? line : line.replace(/"common":"/, '$&fast=1&'))),
        /has common 'fast=1&.*', where/,
    );
    refuses(holding(first((line) => line.slice(0, 99))), /line 2: /);
    const { status, stderr } = seqmix('--from', file);
    assert.equal(status, 2);
    assert.match(stderr, /--from goes with the name of a table/);
});

test('every table has an easy form that the language allows', () => {
    for (const { name } of known()) {
        const { status, stdout, stderr } = seqmix(name, '--quick', '--lines', '--out', join(folder, 'lines'));
        assert.equal(status, 0, stderr);
        assert.ok(stdout.includes('seqmix job '), name);
    }
});

// The easy forms train with fast=0: the same digests everywhere. SEQMIX_TABLES: all of them (make
// quick-tables), or write: what they came to is the list from now on.
test('easy forms of tables end in the digests of the list', () => {
    const path = resolve(import.meta.dirname, '../../results/reproduction/quick.json');
    const which = process.env.SEQMIX_TABLES;
    const list = which === 'write' ? {} : JSON.parse(readFileSync(path, 'utf8'));
    const out = join(folder, 'easy');
    for (const { name } of known()) {
        if (!which && name !== 'las-table-7-cumsum') continue;
        const { status, stderr } = seqmix(name, '--quick', '--out', out);
        assert.equal(status, 0, stderr);
        const rows = jsonl(join(out, `${name}.quick.jsonl`)).filter((line) => 'row' in line);
        const digests = Object.fromEntries(
            rows.map(({ row, rates }) => [row, Object.values(rates)[0].digests[0]]),
        );
        if (which === 'write') list[name] = digests;
        assert.deepEqual(digests, list[name], name);
    }
    if (which)
        assert.deepEqual(
            Object.keys(list),
            known().map(({ name }) => name),
        );
    const lines = Object.entries(list).map((one) => one.map((part) => JSON.stringify(part)).join(': '));
    if (which === 'write') writeFileSync(path, `{\n${lines.join(',\n')}\n}\n`);
});

const stored = known().filter(({ name }) => read(name));
const better = (measure, a, b) => (measure === 'bits' ? a < b : a > b);

test('a statement is what the paper prints: the row that should be ahead has the better number there', () => {
    for (const { name, rows, claims, setting, paper_in, paper_on } of known()) {
        // (Of another task only where the prose names it, too.)
        assert.equal(/The paper('s column is| has )/.test(setting), paper_on !== null, name);
        assert.ok(paper_on === null || setting.includes(paper_on), name);
        for (const { claim, better: ahead, worse } of claims) {
            const printed = (of) => rows.find(({ row }) => row === of).paper;
            const a = printed(ahead);
            if (!worse) assert.ok(a !== null, `${name}: ${claim}: the paper prints nothing`);
            const b = worse && printed(worse);
            if (a === null || b === null) continue;
            const right = paper_in === 'perplexity' ? a < b : a > b;
            assert.ok(right, `${name}: ${claim}: the paper prints ${a} and ${b}`);
        }
    }
});

test('what is stored is of the tables of today, its rates and verdicts follow from its values', () => {
    for (const { name } of stored) {
        const { head, rows, claims } = read(name);
        const today = table(name);
        assert.deepEqual(head, headOf(today), name);
        assert.deepEqual(
            rows.map(({ row, config, paper }) => ({ row, config, paper })),
            today.rows,
        );
        assert.deepEqual(
            claims.map(({ verdict: _, ...claim }) => claim),
            today.claims,
        );
        for (const row of rows.filter(({ missing }) => !missing)) {
            const sums = Object.entries(row.rates)
                .map(([rate, { choices }]) => [
                    rate,
                    choices.includes(null) ? null : choices.reduce((a, b) => a + b),
                ])
                .filter(([, sum]) => sum !== null);
            const [best] = sums.reduce((a, b) => (better(head.measure, b[1], a[1]) ? b : a), sums[0] ?? ['']);
            assert.equal(row.rate, best, `${name}, ${row.row}`);
        }
        const values = (of) => {
            const { rate, rates, missing } = rows.find(({ row }) => row === of);
            return missing || !rate ? undefined : rates[rate].values;
        };
        for (const claim of claims) {
            if (!claim.worse) {
                const shares = values(claim.better) ?? [];
                const { paper } = rows.find(({ row }) => row === claim.better);
                const above = shares.filter((share) => 100 * share >= paper - 1).length;
                const said = above === shares.length ? 'holds' : above ? 'cannot tell' : 'does not hold';
                assert.equal(claim.verdict, shares.length ? said : claim.verdict, `${name}: ${claim.claim}`);
                continue;
            }
            const [a, b] = [values(claim.better), values(claim.worse)];
            const all = (x, y) => x.every((one) => y.every((other) => better(head.measure, one, other)));
            const verdict =
                !a || !b ? 'not run' : all(a, b) ? 'holds' : all(b, a) ? 'does not hold' : 'cannot tell';
            if (claim.verdict !== 'cannot tell' || verdict !== 'not run')
                assert.equal(claim.verdict, verdict, `${name}: ${claim.claim}`);
        }
    }
});

test('a target is reached by the mean of a row that is whole, in its time; what is not reached is printed so', () => {
    const row = (mean, seconds = 60) => ({
        name: 'a mixer',
        ours: { rate: '0.1', mean, least: mean, most: mean, seconds },
    });
    const with_ = (changes) =>
        known().map((one) => ({
            ...one,
            rows: (changes[one.name] ?? one.rows).map((each) => ({ ours: null, ...each })),
        }));
    const of = (changes) => targets(with_(changes)).map(({ reached, came }) => [reached, came]);
    const none = of({});
    assert.deepEqual(
        none.map(([reached]) => reached),
        [false, false, false, false, false],
    );
    const needs = known()
        .filter(({ name }) => /-(smnist|digits)$/.test(name))
        .reduce((sum, { hours }) => sum + hours, 0);
    assert.equal(none[0][1], `not run (needs ${Number(needs.toPrecision(3))} h of one core)`);
    assert.match(none[4][1], /^0 of \d+$/);
    assert.deepEqual(of({ 'las-table-3-smnist': [row(99.1), row(98)] })[0].slice(0, 1), [false]);
    const met = of({ 'focus-table-4-smnist': [row(98)], 'chela-table-6-digits': [row(99.2)] })[0];
    assert.equal(met[0], true);
    assert.match(met[1], /^a mixer \(\[CHELA\] Table 6\), 99\.20 % \(99\.20–99\.20\), 3 seeds$/);
    // What misses it by less than a tenth does not look like it.
    const short = of({ 'best-smnist': [row(99.18)] })[0];
    assert.deepEqual([short[0], / 99\.18 % /.test(short[1])], [false, true], short[1]);
    // Of one random order within two hours of one core: a better one that takes longer does not count.
    const slow = of({ 'las-table-3-pmnist': [row(98, 7300), row(97, 7100)] })[1];
    assert.deepEqual([slow[0], /97\.00 %.*, 2\.0 h a training$/.test(slow[1])], [false, true], slow[1]);
    assert.equal(of({ 'las-table-3-pmnist': [row(98, 7100)] })[1][0], true);
    assert.equal(of({ 'las-table-3-pmnist': [row(98, 7300)] })[1][0], false);
    const whole = Object.fromEntries(known().map(({ name, rows }) => [name, rows.map(() => row(50))]));
    assert.equal(of(whole)[4][0], true);
    assert.match(page(), /\n\| Digits pixel by pixel: .* \| \*\*(not )?reached\*\* \| .* \|\n/);
});

test('a row without a value says why: not run, run in part, or no loss that is finite', () => {
    const ends = { rate: '0.1', mean: 50, least: 50, most: 50, weights: 1 };
    const came = [null, null, { rate: '', weights: 1 }, ends];
    const [table] = known().map((each) => ({
        ...each,
        ...{ seeds: 3, rates: '0.1,0.2,0.3', claims: [] },
        rows: came.map((ours, j) => ({
            name: `${j}`,
            config: 'mixer=cat',
            paper: null,
            ours,
            done: [0, 4, 9, 9][j],
        })),
    }));
    const { rows } = papers([table]).tables[0];
    assert.deepEqual(
        rows.map(({ without }) => without),
        ['not run', '4 of 9 trainings', 'no rate ends with a finite loss', null],
    );
    assert.deepEqual(
        rows.map(({ ours }) => ours?.rate),
        [undefined, undefined, undefined, '0.1'],
    );
});

test('a training that is stored gives its digest and its value again', (t) => {
    const exact = stored.flatMap(({ name }) => {
        const { head, rows } = read(name);
        return head.common.includes('fast=1')
            ? []
            : rows.filter(({ missing }) => !missing).map((row) => ({ head, row }));
    });
    if (!exact.length) return t.skip('every stored table is of fast=1');
    const { head, row } = exact.reduce((a, b) => (b.row.seconds < a.row.seconds ? b : a));
    const { values, digests } = row.rates[row.rate];
    const out = join(folder, 'again');
    const config = `${head.common}&${row.config}&rate=${row.rate}&seed=1`;
    const { status, stdout, stderr } = run(program, [
        'job',
        config,
        '--out',
        out,
        '--eval',
        String(head.eval),
    ]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, new RegExp(`digest ${digests[0]}`));
    assert.equal(Number(/ (-?[\d.]+), digest/.exec(stdout)[1]), values[0]);
});

test('a sentence that the document opens with is refused where the numbers say otherwise', () => {
    for (const [name, row, change, says] of [
        ['las-decay', 'LaS, B = 0.01', { least: 80 }, /Whether LaS is ahead/],
        ['chela-table-6-digits', 'S4D', { least: 99, most: 99 }, /cannot be told apart/],
        ['focus-table-1-1k', 'Hyena', { most: 100 }, /At 1,024 tokens/],
    ]) {
        const all = tables();
        Object.assign(all.find((one) => one.name === name).rows.find((one) => one.name === row).ours, change);
        assert.throws(() => page(all), { message: new RegExp(`${name} says no longer: .*${says.source}`) });
    }
    const all = tables();
    all.find(({ name }) => name === 'las-table-7-cumsum').claims[0].verdict = 'cannot tell';
    assert.throws(() => page(all), /las-table-7-select says no longer/);
});
test('docs/REPRODUCTION.md is made of what is stored', () => {
    assert.equal(readFileSync(resolve('results/reproduction/tables.jsonl'), 'utf8'), asked());
    assert.equal(readFileSync(resolve('docs/REPRODUCTION.md'), 'utf8'), page());
});

const measured = (name) =>
    jsonl(`results/scaling/${name}.jsonl`).map(({ config, ...line }) => ({
        ...line,
        ...Object.fromEntries(new URLSearchParams(config)),
    }));
/** The rows of the tables of a document: their cells. */
const rows = (text) =>
    text
        .split('\n')
        .filter((line) => line.startsWith('| '))
        .map((line) => line.slice(2, -2).split(' | '));

test('docs/SCALING.md is made of what is stored, and its laws say what was measured', () => {
    const text = readFileSync('docs/SCALING.md', 'utf8');
    const cells = rows(text);
    const steps = cells.find((row) => row[2] === 'weights');
    for (const { mixer, width, steps: S, weights: N, values } of measured('text')) {
        const mean = values.reduce((a, b) => a + b) / 3;
        const row = cells.find((one) => one[0] === mixer && one[1] === width);
        assert.equal(row[2], N.toLocaleString('en'), `${mixer} ${width}`);
        const says = row[steps.indexOf(`${Number(S).toLocaleString('en')} steps`)].replace('*', '');
        assert.equal(says, mean.toFixed(3), `${mixer}, width ${width}, ${S} steps`);
        const law = cells.find((one) => one[0] === mixer && one.at(-1).endsWith(' %') && one.length === 7);
        const [E, A, a, B, b, off] = law.slice(1).map(parseFloat);
        // (its numbers are printed with two digits behind the point)
        const L = E + A * (N / 1e5) ** -a + B * (S / 1e3) ** -b;
        assert.ok(Math.abs(L / mean - 1) < off / 100 + 0.01, `${mixer} ${width} ${S}: ${L} for ${mean}`);
    }
    const head = cells.find((row) => row[1] === 'width 8');
    for (const { mixer, width, state_bytes: bytes, values } of measured('recall')) {
        const row = cells.find((one) => one[0] === mixer && one[1].includes('bytes'));
        const [low, middle, high] = values.toSorted((a, b) => a - b).map((value) => (100 * value).toFixed(1));
        const says = row[head.indexOf(`width ${width}`)].replace('*', '');
        assert.equal(says, `${middle} % (${low} to ${high}), ${bytes.toLocaleString('en')} bytes`);
    }
});

test('a training of docs/SCALING.md gives its digest and its value again', () => {
    const lines = jsonl('results/scaling/recall.jsonl');
    const line = lines.find(({ config }) => /mixer=gru&width=8&/.test(config));
    const config = line.config.replace('&batch', '&seed=1&batch');
    const done = run(program, ['train', config, '--eval', '1000', '--json']);
    assert.equal(done.status, 0, done.stderr);
    const last = JSON.parse(done.stdout.trim().split('\n').at(-1));
    assert.equal(last.digest, line.digests[0]);
    assert.ok(Math.abs(last.accuracy - line.values[0]) < 1e-6);
});
