// collect.test.mjs: what is made of a folder of results: the same bytes whatever machines wrote it and in
// whatever order, figures that are computed again here from the table itself, and results that somebody
// spoilt.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
    copyFileSync,
    cpSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    rmSync,
    writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { forge, sum } from '../support/forged.mjs';
import { program, run as runProgram } from '../support/program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-collect-'));
after(() => rmSync(folder, { recursive: true }));
const file = (...names) => join(folder, ...names);
const seqmix = (args, env = {}) => runProgram(program, args, { env: { ...process.env, ...env } });
const linesOf = (text) => text.split('\n').filter(Boolean);
const resultsIn = (dir) =>
    readdirSync(dir, { recursive: true })
        .filter((name) => /^..\/[0-9a-f]{16}\.json$/.test(name))
        .map((name) => join(dir, name))
        .sort();

const isas = ['scalar', 'sse2', 'avx2', 'avx512', 'neon'].filter(
    (isa) => seqmix(['selfcheck', '--help'], { SMX_ISA: isa }).status === 0,
);
const config = 'task=mqar&batch=4&steps=12&width=16&mixer=cat~mixer=attention~mixer=linear&heads=2';
const commands = linesOf(
    seqmix(['grid', config, 'rate=0.003,0.03', '--seeds', '5', '--out', 'DIR', '--eval', '40']).stdout,
).map((line) => /'([^']*)'/.exec(line)[1]);
assert.equal(commands.length, 3 * 2 * 5);
const run = (one, dir, i) =>
    assert.equal(
        seqmix(['job', one, '--out', dir, '--eval', '40'], { SMX_ISA: isas[i % isas.length] }).status,
        0,
    );
commands.forEach((one, i) => run(one, file('here'), i));
[...commands].reverse().forEach((one, i) => run(`${one}&threads=2`, file('there'), i + 1));
const tables = ['results.jsonl', 'results.csv', 'summary.csv', 'pairs.csv'];
const collect = (dir, ...more) => seqmix(['collect', dir, '--baseline', 'mixer=attention', ...more]);
const first = collect(file('here'));
assert.equal(first.status, 0, first.stderr);
const rows = linesOf(readFileSync(file('here', 'results.jsonl'), 'utf8')).map((line) => JSON.parse(line));
const csv = (name) => {
    const [head, ...body] = linesOf(readFileSync(file('here', name), 'utf8')).map((line) => line.split(','));
    return body.map((cells) => Object.fromEntries(head.map((key, i) => [key, cells[i]])));
};

test('the same tables from other instruction sets, threads and orders, and from two folders in one', () => {
    assert.ok(isas.length > 1, `instruction sets: ${isas}`);
    const second = collect(file('there'));
    assert.equal(second.stdout, first.stdout);
    for (const name of tables)
        assert.deepEqual(readFileSync(file('there', name)), readFileSync(file('here', name)), name);
    // Half of the files from here, half from there: still the same; who computed them stands apart.
    resultsIn(file('here')).forEach((path, i) => {
        const from = i % 2 ? path : path.replace(file('here'), file('there'));
        mkdirSync(dirname(from.replace(/here|there/, 'mixed')), { recursive: true });
        copyFileSync(from, from.replace(/here|there/, 'mixed'));
    });
    assert.equal(collect(file('mixed'), '--out', file('mixed', 'tables')).stdout, first.stdout);
    for (const name of tables)
        assert.deepEqual(readFileSync(file('mixed', 'tables', name)), readFileSync(file('here', name)), name);
    const machines = linesOf(readFileSync(file('here', 'machines.csv'), 'utf8'));
    assert.equal(machines[0], 'name,host,isa,threads,from,seconds,processor_seconds,ended,build');
    assert.deepEqual(
        [...new Set(machines.slice(1).map((line) => line.split(',')[2]))].sort(),
        [...isas].sort(),
    );
});

test('rows stand in order of the keys that vary, then of seeds; the CSV says the same as the JSON', () => {
    assert.deepEqual(
        rows.map(({ mixer, rate, seed }) => `${mixer} ${rate} ${seed}`),
        ['attention', 'cat', 'linear'].flatMap((mixer) =>
            [0.003, 0.03].flatMap((rate) => [1, 2, 3, 4, 5].map((seed) => `${mixer} ${rate} ${seed}`)),
        ),
    );
    const table = csv('results.csv');
    assert.equal(table.length, rows.length);
    for (const [i, row] of table.entries())
        for (const [key, text] of Object.entries(row))
            assert.equal(text, String(rows[i][key]), `${i} ${key}`);
});

const mean = (list) => list.reduce((a, b) => a + b) / list.length;
const valuesOf = (mixer, rate) =>
    rows.filter((row) => row.mixer === mixer && row.rate === rate).map((row) => row.value);

test('mean and range over seeds, and the best rate of each mixer', () => {
    const settings = csv('summary.csv');
    assert.equal(settings.length, 6);
    for (const row of settings) {
        const values = valuesOf(row.mixer, Number(row.rate));
        assert.equal(row.seeds, '5');
        assert.ok(Math.abs(Number(row.mean) - mean(values)) < 1e-9);
        assert.equal(Number(row.low), Math.min(...values));
        assert.equal(Number(row.high), Math.max(...values));
        const otherRate = row.rate === '0.03' ? '0.003' : '0.03';
        const other = settings.find(({ mixer, rate }) => mixer === row.mixer && rate === otherRate);
        // Chosen by other sequences than those that judge it.
        if (row.choice !== other.choice)
            assert.equal(row.best === '1', Number(row.choice) > Number(other.choice));
        const off = values.map((x) => (x - mean(values)) ** 2);
        assert.ok(Math.abs(Number(row.deviation) ** 2 - off.reduce((a, b) => a + b) / 4) < 1e-9);
    }
    assert.equal(settings.filter((row) => row.best === '1').length, 3);
    // Without a choice of rates each setting stands for itself.
    const table = linesOf(seqmix(['collect', file('there'), '--best', 'heads']).stdout);
    assert.equal(table.filter((line) => line.startsWith('mqar ')).length, 6);
});

/** Every sign of every difference that is not 0: the share of sums of ranks as far from the middle. */
function everySign(differences) {
    const d = differences.filter((x) => x !== 0);
    const size = d.map(Math.abs);
    const rank = size.map((x) =>
        mean(size.flatMap((_, j) => ([...size].sort((a, b) => a - b)[j] === x ? [j + 1] : []))),
    );
    const total = rank.reduce((a, b) => a + b, 0);
    const off = (w) => Math.abs(w - total / 2);
    const seen = off(rank.reduce((sum, r, i) => sum + (d[i] > 0 ? r : 0), 0));
    let as = 0;
    for (let signs = 0; signs < 2 ** d.length; signs++)
        as += off(rank.reduce((sum, r, i) => sum + ((signs >> i) & 1 ? r : 0), 0)) >= seen - 1e-9;
    return as / 2 ** d.length;
}

test("pairs against a baseline: Wilcoxon's test as all signs tell it, and Holm's correction", () => {
    const pairs = csv('pairs.csv');
    assert.deepEqual(
        pairs.map((row) => [row.mixer, row.mixer_of_baseline]),
        [
            ['cat', 'attention'],
            ['linear', 'attention'],
        ],
    );
    const ps = pairs.map((row) => {
        const a = valuesOf(row.mixer, Number(row.rate));
        const b = valuesOf('attention', Number(row.rate_of_baseline));
        const d = a.map((x, i) => x - b[i]);
        assert.equal(row.pairs, '5');
        assert.equal(Number(row.better), d.filter((x) => x > 0).length);
        assert.ok(Math.abs(Number(row.mean_difference) - mean(d)) < 1e-9);
        assert.ok(Math.abs(Number(row.p) - everySign(d)) < 1e-6, `${row.p} ${everySign(d)}`);
        return Number(row.p);
    });
    const [low, high] = [...ps].sort((a, b) => a - b);
    for (const row of pairs) {
        const holm = Number(row.p) === low ? Math.min(1, 2 * low) : Math.min(1, Math.max(2 * low, high));
        assert.ok(Math.abs(Number(row.p_holm) - holm) < 1e-6);
    }
    assert.match(collect(file('here'), '--best', 'colour').stderr, /there is no key colour/);
    assert.match(
        seqmix(['collect', file('here'), '--baseline', 'mixer=las']).stderr,
        /no result in the table is of it/,
    );
    assert.match(
        seqmix(['collect', file('here'), '--baseline', 'mixr=cat']).stderr,
        /there is no key mixr; the nearest is mixer/,
    );
    assert.match(
        seqmix(['collect', file('here'), '--baseline', 'mixer']).stderr,
        /must be a key and a value/,
    );
});

// ---- What somebody spoilt

test('--recheck finds a wrong bit of a weight, a fast=1 result under an exact name, a figure that was improved', () => {
    const all = collect(file('here'), '--recheck', '100%');
    assert.equal(all.status, 0, all.stderr);
    assert.match(all.stdout, /30 of 30 trained again on \w+: 30 the same to the bit, 0 not/);
    assert.match(collect(file('here'), '--recheck', '7%').stdout, /\n3 of 30 trained again/);
    const spoilt = file('spoilt');
    cpSync(file('here'), spoilt, { recursive: true });
    const paths = resultsIn(spoilt);
    // A bit of a weight in a worker's memory: another digest, the rest as it was.
    forge(paths[3], (text) => text.replace(/"digest":"(.)/, (_, c) => `"digest":"${c === '0' ? '1' : '0'}`));
    forge(paths[11], (text) => text.replace(/"value":[\d.]+/, '"value":0.99'));
    forge(paths[15], (text) => text.replace(/"choice":[\d.e-]+/, '"choice":0.987'));
    const wrong = [paths[3], paths[11], paths[15]];
    // A library of fast mode: what fast=1 computes, under the name of the exact job. Where nothing is fused,
    // there is none.
    const exact = /"config":"([^"]*)"/.exec(readFileSync(paths[20], 'utf8'))[1];
    seqmix(['job', exact.replace('fast=0', 'fast=1'), '--out', file('fast'), '--eval', '40']);
    const fast = readFileSync(resultsIn(file('fast'))[0], 'utf8');
    const digest = (text) => /"digest":"(\w+)"/.exec(text)[1];
    if (digest(fast) !== digest(readFileSync(paths[20], 'utf8'))) {
        const name = basename(paths[20], '.json');
        writeFileSync(paths[20], fast);
        forge(paths[20], (text) =>
            text.replace('fast=1', 'fast=0').replace(/"name":"\w+"/, `"name":"${name}"`),
        );
        wrong.push(paths[20]);
    }
    const { status, stdout, stderr } = collect(spoilt, '--recheck', '30');
    assert.equal(status, 1);
    assert.match(stdout, new RegExp(`${30 - wrong.length} the same to the bit, ${wrong.length} not`));
    for (const path of wrong)
        assert.match(stderr, new RegExp(`${basename(path)} is not what this machine computes`));
    assert.equal(stderr.split('is not what').length - 1, wrong.length);
    // Another draw is another sample, the same one the same.
    const met = (draw) => {
        const { stdout, stderr } = collect(spoilt, '--recheck', '10', '--draw', draw);
        return linesOf(stdout + stderr)
            .filter((line) => /is not what|trained again/.test(line))
            .join();
    };
    assert.equal(met('2'), met('2'));
    assert.ok(new Set(['1', '2', '3', '4', '5', '6'].map(met)).size > 1);
    for (const bad of ['0', '101%', 'x', '3x']) {
        const refused = collect(spoilt, '--recheck', bad);
        assert.match(refused.stderr, /--recheck .* is not allowed/);
        assert.equal(refused.stdout, ''); // before any work
    }
    assert.match(collect(spoilt, '--draw', '2').stderr, /--draw needs --recheck N beside it/);
    // Results of fast=1 are a machine's own.
    assert.match(seqmix(['collect', file('fast'), '--recheck', '1']).stdout, /1 of the sample are of fast=1/);
});

test('half-written, foreign and renamed files, other versions: each a note, none touched, the rest in the table', () => {
    const odd = file('odd');
    cpSync(file('here'), odd, { recursive: true });
    const paths = resultsIn(odd);
    writeFileSync(paths[0], readFileSync(paths[0]).subarray(0, 200));
    forge(paths[1], (text) => text.replace('"version":"0.1.0"', '"version":"0.2.0"'));
    forge(paths[2], (text) =>
        text
            .replace('seed=1', 'seed=9')
            .replace('seed=2', 'seed=9')
            .replace('seed=3', 'seed=9')
            .replace('seed=4', 'seed=9')
            .replace('seed=5', 'seed=9'),
    );
    writeFileSync(join(dirname(paths[3]), 'notes.txt'), 'mine');
    writeFileSync(join(dirname(paths[3]), '.seqmix-1-1.part'), 'on its way');
    writeFileSync(join(dirname(paths[3]), '0123456789abcdef.safetensors'), 'begun');
    mkdirSync(join(odd, 'logs'));
    const before = readdirSync(odd, { recursive: true }).length;
    const { status, stdout, stderr } = collect(odd);
    assert.equal(status, 1);
    assert.match(
        stdout,
        /^27 results, 6 settings, 1 begun\n3 settings have fewer than 5 seeds|^27 results, \d settings, 1 begun/,
    );
    for (const sentence of [
        /is no whole result of a job: .* left as it is/,
        /written by seqmix 0\.2\.0/,
        /a name that is not its config's/,
        /notes\.txt is no file of a job/,
    ])
        assert.match(stderr, sentence);
    assert.equal(linesOf(stderr).length, 4);
    assert.equal(readdirSync(odd, { recursive: true }).length, before);
    // Nothing there, and nowhere to write.
    mkdirSync(file('empty'));
    assert.match(seqmix(['collect', file('empty')]).stderr, /there is no result in .*empty/);
    assert.match(seqmix(['collect', file('nowhere')]).stderr, /nowhere cannot be read: No such file/);
    assert.match(collect(file('here'), '--out', '/proc/x').stderr, /cannot be made a folder/);
    assert.ok(!existsSync(file('empty', 'results.csv')));
});

// ---- Of an older build, early, at the edge

/** The name of a job's config: FNV-1a 64. */
const hash = (text) => {
    let h = 0xcbf29ce484222325n;
    for (const byte of Buffer.from(text)) h = BigInt.asUintN(64, (h ^ BigInt(byte)) * 0x100000001b3n);
    return h.toString(16).padStart(16, '0');
};
/** The result as a build would have left it that had no key `sliding`, under the name that this gives. */
function asOlder(path, dir, change = (body) => body) {
    const body = readFileSync(path, 'utf8').replace(/,"checksum".*/s, '');
    const older = change(body.replace('&sliding=0', ''));
    assert.notEqual(older, body);
    const name = hash(`${JSON.parse(`${older}}`).result.config}#40`);
    mkdirSync(join(dir, name.slice(0, 2)), { recursive: true });
    const to = join(dir, name.slice(0, 2), `${name}.json`);
    writeFileSync(to, sum(older.replace(/"name":"\w+"/, `"name":"${name}"`)));
    return to;
}
const ofAttention = resultsIn(file('here')).filter((path) => /&sliding=0/.test(readFileSync(path, 'utf8')));

test('results of a build without a key of today: no seed is counted twice, and a difference is said', () => {
    assert.equal(ofAttention.length, 10);
    const both = file('both');
    cpSync(file('here'), both, { recursive: true });
    ofAttention.forEach((path) => asOlder(path, both));
    assert.equal(resultsIn(both).length, 40);
    const twice = collect(both);
    assert.equal(twice.status, 0, twice.stderr);
    assert.match(twice.stderr, /10 results were written by an older build, .* no key sliding: /);
    assert.match(twice.stderr, /10 results are there twice, under names of an older build: counted once/);
    assert.equal(twice.stdout, first.stdout);
    for (const name of ['summary.csv', 'pairs.csv'])
        assert.deepEqual(readFileSync(join(both, name)), readFileSync(file('here', name)), name);
    // Older ones alone: compared with what is there today, trained again, and the same.
    const older = file('older');
    ofAttention.forEach((path) => asOlder(path, older));
    const again = collect(older, '--recheck', '2');
    assert.equal(again.status, 0, again.stderr);
    assert.match(again.stdout, /2 of 10 trained again on \w+: 2 the same to the bit, 0 not/);
    assert.match(
        again.stdout,
        /2 of them written by an older build, whose config has no key sliding: weights/,
    );
    // What differs is in neither row, and both files are named.
    const wrong = asOlder(ofAttention[4], both, (text) => text.replace(/"value":[\d.]+/, '"value":0.99'));
    const differs = collect(both);
    assert.equal(differs.status, 1);
    assert.match(differs.stderr, /are of the same training, and say value 0?[\d.]+ and 0?[\d.]+; neither is/);
    for (const path of [wrong, ofAttention[4]]) assert.ok(differs.stderr.includes(basename(path)), path);
    assert.match(differs.stdout, /^29 results, 6 settings\n1 setting has fewer than 5 seeds so far\n/);
    assert.match(collect(older, '--recheck', '100%').stdout, /10 the same to the bit/);
});

test('--recheck says the first figure that differs, with both values', () => {
    const one = file('one');
    cpSync(dirname(ofAttention[0]), join(one, basename(dirname(ofAttention[0]))), { recursive: true });
    for (const path of resultsIn(one))
        forge(path, (text) => text.replace(/"accuracy":[\d.]+/, '"accuracy":0.98'));
    const { status, stderr } = seqmix(['collect', one, '--recheck', '100%']);
    assert.equal(status, 1);
    assert.match(stderr, /is not what this machine computes: accuracy 0\.98 and 0?[\d.]*, there \(/);
    assert.match(stderr, /the weights are the same: what is written about them is not/);
});

test('while jobs are begun the best is not final; fewer seeds do not win; the end of the values is said', () => {
    const early = file('early');
    cpSync(file('here'), early, { recursive: true });
    const catAt = (rate) => (path) => {
        const { config: text } = JSON.parse(readFileSync(path, 'utf8')).result;
        return text.includes('&mixer=cat') && text.includes(`&rate=${rate}&`);
    };
    const paths = resultsIn(early);
    const settings = csv('summary.csv').filter((row) => row.mixer === 'cat');
    const best = settings.find((row) => row.best === '1').rate;
    const other = settings.find((row) => row.best !== '1').rate;
    // The other rate looks perfect, with one seed.
    const [kept, ...gone] = paths.filter(catAt(other));
    forge(kept, (text) => text.replace(/"value":[\d.]+/, '"value":1'));
    gone.forEach((path) => rmSync(path));
    writeFileSync(join(dirname(kept), '0123456789abcdef.safetensors'), 'begun');
    const { stdout } = collect(early);
    assert.match(stdout, /^26 results, 6 settings, 1 begun\n1 setting has fewer than 5 seeds so far\n/);
    assert.match(stdout, /\nNOT FINAL: 1 job is begun and not done: the best may change\n/);
    const end = Number(best) > Number(other) ? ['largest', 'larger'] : ['smallest', 'smaller'];
    assert.match(
        stdout,
        new RegExp(
            `mqar +cat +1 +${best} .*the ${end[0]} rate tried: try ${end[1]} ones; 1 with fewer seeds not considered\n`,
        ),
    );
    // So do summary.csv and the report.
    const note = `the ${end[0]} rate tried: try ${end[1]} ones; 1 with fewer seeds not considered`;
    const lines = linesOf(readFileSync(join(early, 'summary.csv'), 'utf8'));
    assert.match(lines[0], /,best,note$/);
    assert.deepEqual(
        lines.slice(1).filter((line) => !/,[01],$|,1,the (larg|small)est rate tried: [^,]*$/.test(line)),
        [],
    );
    assert.equal(lines.filter((line) => line.endsWith(`,1,${note}`)).length, 1);
    assert.equal(seqmix(['report', early]).status, 0);
    const page = readFileSync(join(early, 'report.html'), 'utf8');
    const { settings: shown } = JSON.parse(/id="results">([^<]*)<\/script>/.exec(page)[1]);
    const chosen = shown.find(({ keys, best }) => best && keys.mixer === 'cat');
    assert.equal(chosen.note, note);
    // One result, none yet, and a folder that is none.
    const alone = file('alone');
    cpSync(dirname(paths[0]), join(alone, basename(dirname(paths[0]))), { recursive: true });
    resultsIn(alone)
        .slice(1)
        .forEach((path) => rmSync(path));
    assert.match(seqmix(['collect', alone]).stdout, /^1 result, 1 setting(, 1 begun)?\n/);
    mkdirSync(file('soon', '01'), { recursive: true });
    mkdirSync(file('soon', 'logs'));
    assert.match(
        seqmix(['collect', file('soon')]).stderr,
        /no result in .*soon yet: no job is done; .*soon\/logs/,
    );
    for (const name of ['0123456789abcdef', '0123456789abcde0'])
        writeFileSync(file('soon', '01', `${name}.safetensors`), '');
    for (const command of ['collect', 'report'])
        assert.match(seqmix([command, file('soon')]).stderr, /no result in .*soon yet: 2 jobs are begun/);
});

test('pairs are of one seed, whatever seeds are there; with fewer bits being better', () => {
    const bits = file('bits');
    cpSync(file('here'), bits, { recursive: true });
    const known = new Map();
    for (const path of resultsIn(bits)) {
        const { config } = JSON.parse(readFileSync(path, 'utf8')).result;
        const [, mixer, seed] = /mixer=(\w+)&.*seed=(\d)/.exec(config);
        const rate = Number(/rate=([^&]*)/.exec(config)[1]);
        // The seeds that are not there are others for each mechanism: 5 - 1 of all.
        if (seed === { cat: '1', attention: '2', linear: '4' }[mixer]) {
            rmSync(path);
            continue;
        }
        const value = 2 + (({ cat: 3, attention: 5, linear: 4 }[mixer] * (Number(seed) + 1)) % 7) + rate;
        known.set(`${mixer} ${rate} ${seed}`, value);
        forge(path, (text) =>
            text
                .replace(/"metric":"\w+"/, '"metric":"bits"')
                .replace(/"(value|choice)":[\d.e-]+/g, `"$1":${value}`),
        );
    }
    const { status, stderr } = seqmix(['collect', bits, '--baseline', 'mixer=attention']);
    assert.equal(status, 0, stderr);
    const [head, ...body] = linesOf(readFileSync(join(bits, 'pairs.csv'), 'utf8')).map((line) =>
        line.split(','),
    );
    assert.equal(body.length, 2);
    const shares = body.map((cells) => {
        const row = Object.fromEntries(head.map((key, i) => [key, cells[i]]));
        const differences = ['1', '2', '3', '4', '5'].flatMap((seed) => {
            const a = known.get(`${row.mixer} ${Number(row.rate)} ${seed}`);
            const b = known.get(`attention ${Number(row.rate_of_baseline)} ${seed}`);
            return a === undefined || b === undefined ? [] : [a - b];
        });
        assert.equal(differences.length, 3);
        assert.deepEqual([row.metric, row.pairs], ['bits', '3']);
        assert.equal(Number(row.better), differences.filter((x) => x < 0).length);
        assert.ok(Math.abs(Number(row.mean_difference) - mean(differences)) < 1e-6);
        return Number(row.better) / 3;
    });
    assert.ok(
        shares.some((share) => share !== 0.5 && share !== 1 - share),
        'the test is blind',
    );
});
test('a best value between others, or at the end of what is allowed, is no edge', () => {
    assert.match(seqmix(['help', 'decay']).stdout, /decay +0 +0\.\.10 /); // both ends are tried
    for (const [values, ...cases] of [
        ['0,0.1,0.2', ['0', ''], ['0.1', ''], ['0.2', 'largest']],
        ['0.1,0.2,10', ['0.1', 'smallest'], ['0.2', ''], ['10', '']],
    ]) {
        const middle = file(`middle${values}`);
        const lines = linesOf(
            seqmix([
                'grid',
                'task=mqar&batch=2&steps=3&width=8',
                `decay=${values}`,
                '--out',
                'x',
                '--eval',
                '5',
            ]).stdout,
        ).map((line) => /'([^']*)'/.exec(line)[1]);
        lines.forEach((line) =>
            assert.equal(seqmix(['job', line, '--out', middle, '--eval', '5']).status, 0),
        );
        for (const [best, says] of cases) {
            for (const path of resultsIn(middle))
                forge(path, (text) =>
                    text.replace(
                        /"(value|choice)":[\d.e-]+/g,
                        `"$1":0.${text.includes(`&decay=${best}&`) ? 9 : 3}${10 * best}`,
                    ),
                );
            const { stdout } = seqmix(['collect', middle, '--best', 'decay']);
            assert.match(stdout, new RegExp(`cat +${best} `));
            for (const end of ['largest', 'smallest'])
                assert.equal(stdout.includes(`the ${end} decay tried: try `), says === end, stdout);
        }
    }
});

test('keys of single blocks and numbers of texts are columns as any others', () => {
    const own = file('own');
    const eq = encodeURIComponent('taps = 3\ny = conv(x, f[taps]) @ w');
    for (const one of [
        ...['mixer=cat&blocks=2&block1.filter=1', 'mixer=cat&blocks=2&block1.filter=2'],
        ...[2, 3].map((taps) => `mixer=equations&eq=${eq}&taps=${taps}`),
    ])
        assert.equal(
            seqmix(['job', `task=mqar&batch=2&steps=2&width=8&${one}`, '--out', own, '--eval', '5']).status,
            0,
        );
    const { status, stdout, stderr } = seqmix(['collect', own]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^4 results, 4 settings\n/);
    const [head, ...body] = linesOf(readFileSync(join(own, 'results.csv'), 'utf8')).map((line) =>
        line.split(','),
    );
    const column = (key) => body.map((cells) => cells[head.indexOf(key)]).filter(Boolean);
    assert.deepEqual(column('taps').sort(), ['2', '3']);
    assert.deepEqual(column('block1.filter').sort(), ['1', '2']);
});

// ---- docs/SCALE.md as a newcomer reads it (its Slurm: cluster.test.mjs)

test('the commands of docs/SCALE.md lead from the question to the table', () => {
    const text = readFileSync('docs/SCALE.md', 'utf8');
    const blocks = [...text.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block]) => block);
    assert.equal(blocks.length, 4);
    const here = file('newcomer');
    mkdirSync(here);
    const script = blocks.join('').replace('make build/seqmix\nexport PATH=$PWD/build:$PATH\n', '');
    const { status, stdout, stderr } = spawnSync('bash', ['-euc', script], {
        cwd: here,
        encoding: 'utf8',
        env: { ...process.env, PATH: resolve('build') + delimiter + process.env.PATH },
    });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^45 jobs of about /);
    assert.match(stdout, /\n45 results, 9 settings\n[^]*mqar +cat +[\d.]+ +accuracy +5 /);
    assert.match(
        stdout,
        /against mixer=attention[^]*3 of 45 trained again on \w+: 3 the same to the bit, 0 not/,
    );
    for (const name of ['results.csv', 'summary.csv', 'pairs.csv', 'machines.csv', 'report.html', 'logs'])
        assert.ok(existsSync(join(here, 'results', name)), name);
});
