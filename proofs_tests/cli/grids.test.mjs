// grids.test.mjs: grids in daily use: several machines on one list of jobs, files and builds that change
// under a grid, comparisons that cannot be made, and rungs, which end hopeless settings early.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
    cpSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    rmSync,
    statSync,
    utimesSync,
    writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { forge, sum } from '../support/forged.mjs';
import { program, run } from '../support/program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-grids-'));
after(() => rmSync(folder, { recursive: true }));
const file = (...names) => join(folder, ...names);
const env = { ...process.env, PATH: resolve('build') + delimiter + process.env.PATH };
const seqmix = (...args) => run(program, args, { env });
const linesOf = (text) => text.split('\n').filter(Boolean);
const tiny = 'task=mqar&batch=2&steps=6&width=8';
const job = (config, out, ...more) => seqmix('job', config, '--out', out, '--eval', '20', ...more);
/** Files of jobs by their ending, with their paths. */
const ofJobs = (dir, ending) =>
    readdirSync(dir, { recursive: true })
        .filter((name) => /^..\/[0-9a-f]{16}/.test(name) && name.endsWith(ending))
        .map((name) => join(dir, name))
        .sort();
const results = (dir) => ofJobs(dir, '.json').filter((name) => !name.includes('.rung-'));
const resultOf = (path) => JSON.parse(readFileSync(path, 'utf8')).result;
const machineOf = (path) => JSON.parse(readFileSync(path, 'utf8')).machine;
const shell = (script, cwd = folder) => spawnSync('bash', ['-c', script], { encoding: 'utf8', env, cwd });
const grid = (...args) => {
    const { status, stdout, stderr } = seqmix('grid', ...args);
    assert.equal(status, 0, stderr);
    return linesOf(stdout);
};
const moment = (ms) => new Promise((done) => setTimeout(done, ms));
const configIn = (line) => /'([^']*)'/.exec(line)[1];
// ---- Several machines on one list

test('two machines on one list of jobs: nothing is computed twice, and lines find the folder from anywhere', () => {
    const lines = grid(
        'task=mqar&batch=2&width=8&steps=60',
        'rate=1e-3:1e-1:10log',
        '--out',
        'shared',
        '--eval',
        '20',
    );
    for (const line of lines) assert.match(line, / --out '\/.*\/shared' /);
    const here = lines.map((line) => line.replace(resolve('shared'), file('shared')));
    writeFileSync(file('list'), here.join('\n') + '\n');
    mkdirSync(file('other'));
    // Each notes what it computed: `done at once` prints the same line, but trains nothing.
    const machine = (cwd) =>
        new Promise((done) => {
            const child = spawn(
                'bash',
                ['-c', `tr '\\n' '\\0' <${file('list')} | xargs -0 -n 1 -P 1 sh -c`],
                { cwd, env },
            );
            let said = '';
            child.stderr.on('data', (text) => (said += text));
            child.once('close', (code) => done({ code, said }));
        });
    return Promise.all([machine(folder), machine(file('other'))]).then((ends) => {
        const waited = ends.filter(({ said }) =>
            /works on [0-9a-f]{16}: nothing is done here/.test(said),
        ).length;
        for (const { code, said } of ends) assert.equal(code, /nothing is done/.test(said) ? 123 : 0, said);
        assert.ok(waited >= 1, 'neither met the other');
        assert.equal(shell("tr '\\n' '\\0' <list | xargs -0 -n 1 sh -c").status, 0);
        assert.equal(results(file('shared')).length, 10);
        assert.equal(ofJobs(file('shared'), '.claim').length, 0);
    });
});

test('a claim holds while its worker lives: of the dead, and of a host unheard of for two minutes, it is taken over', () => {
    const out = file('claims');
    assert.equal(job(tiny, out).status, 0);
    const [path] = results(out);
    const claim = path.replace('.json', '.claim');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const tried = (text, ago = 0) => {
        rmSync(path, { force: true });
        writeFileSync(claim, text);
        const then = Date.now() / 1000 - ago;
        utimesSync(claim, then, then);
        const { status, stderr } = job(tiny, out);
        const left = existsSync(claim);
        rmSync(claim, { force: true });
        assert.equal(existsSync(path), status === 0, stderr);
        assert.equal(left, status !== 0, stderr);
        return { status, stderr };
    };
    // Another machine's, with its progress; the same a while ago, and by a clock that is wrong by a day.
    const other = 'node7 4711 aaaa/pid:[1] 99 5f\nstep 3 of 9\n';
    const held = tried(other);
    assert.equal(held.status, 75);
    assert.match(
        held.stderr,
        /node7 \(process 4711, step 3 of 9\) works on [0-9a-f]{16}: nothing is done here/,
    );
    assert.equal(tried(other, 100).status, 75);
    assert.equal(tried(other, 130).status, 0);
    assert.equal(tried(other, 86400).status, 0);
    assert.equal(tried(other, -86400).status, 0);
    // Being written: nothing in it yet.
    assert.equal(tried('').status, 75);
    assert.equal(tried('', 130).status, 0);
    // This machine's: a process that is gone, one of that number that began at another time, and one that
    // lives.
    const space = shell('readlink /proc/self/ns/pid').stdout.trim();
    const began = (pid) => readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /, '').split(' ')[19];
    const of = (pid, start) => `${hostname()} ${pid} ${boot}/${space} ${start} 5f\n`;
    assert.equal(tried(of(999999, 1)).status, 0);
    assert.equal(tried(of(process.pid, 1)).status, 0);
    assert.equal(tried(of(process.pid, began(process.pid)), 500).status, 75);
    // Beside a result: a dead one's goes, which was killed before it took its claim away; another's stays.
    assert.equal(job(tiny, out).status, 0);
    for (const [text, stays] of [
        [of(999999, 1), false],
        [other, true],
    ]) {
        writeFileSync(claim, text);
        assert.equal(job(tiny, out).status, 0);
        assert.equal(existsSync(claim), stays);
    }
    rmSync(claim);
});

// ---- What changes under a grid

test('a text or table that changed under its name is another job; --recheck says where it cannot tell', () => {
    const out = file('texts');
    const play = readFileSync('docs/GUIDE.md', 'utf8').slice(0, 4000);
    const on = (text) => {
        writeFileSync(file('play.txt'), text);
        return job(`task=charlm&text=${file('play.txt')}&batch=2&steps=3&width=8&length=16`, out);
    };
    const first = on(play);
    assert.equal(first.status, 0, first.stderr);
    assert.equal(on(play).stdout, first.stdout);
    assert.equal(results(out).length, 1);
    const second = on(play.replaceAll('e', 'a'));
    assert.equal(second.status, 0, second.stderr);
    assert.notEqual(second.stdout, first.stdout);
    assert.equal(results(out).length, 2);
    const [a, b] = results(out).map(resultOf);
    assert.equal(a.config, b.config);
    assert.match(a.data, /^[0-9a-f]{16}$/);
    assert.notEqual(a.data, b.data);
    // Who watches waits for those of today: at first there are none, though the folder has a whole grid's
    // results.
    const today = () =>
        seqmix('watch', file('changing'), file('changing.jobs'), '--once').stdout.split('\n')[0];
    const lines = grid(
        `task=charlm&text=${file('play.txt')}&batch=2&steps=3&width=8&length=16`,
        ...['--seeds', '2', '--out', file('changing'), '--eval', '20'],
    );
    writeFileSync(file('changing.jobs'), lines.join('\n'));
    for (const line of lines) assert.equal(shell(line).status, 0);
    assert.equal(today(), '2 of 2 done, 0 running');
    writeFileSync(file('play.txt'), play.replaceAll('e', 'o'));
    assert.equal(today(), '0 of 2 done, 0 running, 2 of what a file held earlier');
    assert.equal(shell(lines[0]).status, 0);
    assert.equal(today(), '1 of 2 done, 0 running');
    on(play.replaceAll('e', 'a'));
    // What there is today stands in the table alone; where the file is gone, both do, apart.
    const again = seqmix('collect', out, '--recheck', '100%');
    assert.equal(again.status, 0, again.stderr);
    assert.match(again.stderr, /1 result is of what text=.*play\.txt held earlier: left as they are/);
    assert.match(
        again.stdout,
        /^1 result, 1 setting\n[^]*1 of 1 trained again .*: 1 the same to the bit, 0 not/,
    );
    assert.match(readFileSync(join(out, 'results.csv'), 'utf8'), /,files,eval,[^]*,[0-9a-f]{16},20,/);
    rmSync(file('play.txt'));
    const gone = seqmix('collect', out, '--recheck', '100%');
    assert.equal(gone.status, 0, gone.stderr);
    assert.match(gone.stdout, /^2 results, 2 settings\n/);
    assert.match(
        gone.stdout,
        /\n0 of 2 trained again .*\n\(2 of the sample are of a file that has changed, or is not here/,
    );
    // The word of a folder: any file in it.
    for (const label of ['a', 'b']) {
        mkdirSync(file('labelled', label), { recursive: true });
        for (let i = 0; i < 20; i++)
            writeFileSync(file('labelled', label, `${i}.txt`), `${label} ${i} words`);
    }
    const texts = `task=texts&folder=${file('labelled')}&batch=2&steps=2&width=8&length=16`;
    const whole = job(texts, file('folders'));
    assert.equal(whole.status, 0, whole.stderr);
    writeFileSync(file('labelled', 'a', '3.txt'), 'a 3 wordz');
    assert.notEqual(job(texts, file('folders')).stdout.slice(0, 16), whole.stdout.slice(0, 16));
    assert.match(job('task=charlm&text=/nowhere/at.all', out).stderr, /nowhere\/at\.all/);
    // One cell of a table.
    const cells = (last) =>
        Array.from({ length: 60 }, (_, i) => `${i % 7},${(i * 5) % 11}`).join('\n') + `\n3,${last}\n`;
    const names = [4, 5, 4].map((last) => {
        writeFileSync(file('cells.csv'), `heat,load\n${cells(last)}`);
        const { status, stdout, stderr } = job(
            `task=table&file=${file('cells.csv')}&predict=number&batch=2&steps=2&width=8&length=4`,
            file('tables'),
        );
        assert.equal(status, 0, stderr);
        return stdout.slice(0, 16);
    });
    assert.equal(results(file('tables')).length, 2);
    assert.deepEqual([names[0] === names[1], names[0] === names[2]], [false, true]);
});

test('results of builds that may differ are said; of other compilers whose self-checks agree they are not', () => {
    const out = file('builds');
    for (const seed of [1, 2, 3]) assert.equal(job(`${tiny}&seed=${seed}`, out).status, 0);
    const [left] = readdirSync(join(out, 'builds'));
    const facts = JSON.parse(readFileSync(join(out, 'builds', left), 'utf8'));
    assert.deepEqual(
        results(out).map((path) => machineOf(path).build),
        Array(3).fill(facts.build),
    );
    for (const key of ['sources', 'compiler', 'flags', 'selfcheck']) assert.ok(facts[key].length > 8, key);
    const said = () => seqmix('collect', out).stderr;
    assert.equal(said(), '');
    const other = 'feedfeedfeedfeed';
    forge(results(out)[0], (text) => text.replace(facts.build, other));
    const leave = (changes) =>
        writeFileSync(
            join(out, 'builds', `${other}.node7.avx2.json`),
            JSON.stringify({ ...facts, build: other, compiler: 'clang 14', ...changes }),
        );
    leave({});
    assert.equal(said(), '', 'bit-equal');
    // One that has no result may have begun what went on from a checkpoint.
    forge(results(out)[0], (text) => text.replace(other, facts.build));
    leave({ sources: '1 2' });
    assert.equal(said(), '', 'nothing went on');
    forge(results(out)[1], (text) => text.replace('"from":0', '"from":3'));
    assert.match(
        said(),
        /of 2 builds that may compute differently: 3 of \w+ .*, what was begun by feedfeedfeedfeed \(clang 14\)/,
    );
    leave({});
    assert.equal(said(), '', 'bit-equal, and went on');
    forge(results(out)[1], (text) => text.replace('"from":3', '"from":0'));
    forge(results(out)[0], (text) => text.replace(facts.build, other));
    for (const changes of [{ selfcheck: '0123456789abcdef' }, { sources: '1 2' }]) {
        leave(changes);
        assert.match(
            said(),
            /of 2 builds that may compute differently: .*\d of feedfeedfeedfeed \(clang 14\).*--recheck/,
        );
    }
    rmSync(join(out, 'builds', `${other}.node7.avx2.json`));
    assert.match(said(), /1 of feedfeedfeedfeed/, 'nothing is known of it');
    // A machine of the same build that computes otherwise.
    writeFileSync(
        join(out, 'builds', `${facts.build}.node8.avx2.json`),
        JSON.stringify({ ...facts, selfcheck: '0123456789abcdef' }),
    );
    assert.match(said(), /has other self-checks on some of its machines/);
    forge(results(out)[0], (text) =>
        text.replace(/"digest":"(.)/, (_, c) => `"digest":"${c === '0' ? '1' : '0'}`),
    );
    assert.match(
        seqmix('collect', out, '--recheck', '100%').stderr,
        /there \(.*, build feedfeedfeedfeed\) and here \(/,
    );
});

// ---- Comparisons

test('seeds vary slowest, so that everything is there once before anything is twice; parts hold something of all', () => {
    const all = ['task=mqar&mixer=cat~mixer=attention', 'rate=0.01,0.1', '--seeds', '3', '--out', 'x'];
    const words = (lines) =>
        lines.map((line) => /mixer=(\w+).*seed=(\d).*rate=([\d.]+)/.exec(line).slice(1).join(' '));
    const lines = words(grid(...all));
    assert.deepEqual(lines.slice(0, 5), [
        'cat 1 0.01',
        'cat 1 0.1',
        'attention 1 0.01',
        'attention 1 0.1',
        'cat 2 0.01',
    ]);
    const parts = [1, 2].map((i) => words(grid(...all, '--part', `${i}/2`)));
    assert.deepEqual([...parts[0], ...parts[1]].sort(), [...lines].sort());
    for (const part of parts) assert.equal(new Set(part.map((line) => line.split(' ')[2])).size, 2, part);
});

test('a comparison that is not there says why: judged otherwise, not there yet, of no such name', () => {
    const out = file('compared');
    const run = (mixer, seed, evals, ...more) =>
        assert.equal(
            seqmix(
                'job',
                [`${tiny}&mixer=${mixer}&seed=${seed}`, ...more].join('&'),
                '--out',
                out,
                '--eval',
                evals,
            ).status,
            0,
        );
    for (const seed of [1, 2]) run('cat', seed, '20');
    const collect = (...more) => seqmix('collect', out, ...more);
    const early = collect('--baseline', 'mixer=attention');
    assert.equal(early.status, 0);
    assert.match(early.stdout, /mqar +cat +accuracy +2 /);
    assert.match(early.stderr, /--baseline mixer=attention: no result in the table is of it/);
    const wrong = collect('--baseline', 'mixer=attenshun');
    assert.equal(wrong.status, 2);
    assert.match(wrong.stderr, /attenshun/);
    for (const seed of [1, 2]) run('attention', seed, '40');
    const apart = collect('--baseline', 'mixer=attention');
    assert.match(apart.stdout, /eval\n/);
    assert.match(apart.stdout, /mqar +attention .* 40\n/);
    assert.match(
        apart.stdout,
        /1 has nothing to be compared with; mixer=cat: it was judged on 20 sequences, the baseline on 40 \(--eval\)/,
    );
    // As many heads and blocks do not make as many weights: it is said, and --equal finds what has.
    for (const seed of [1, 2]) {
        run('attention', seed, '20', 'blocks=2');
        run('attention', seed, '20', 'width=12');
    }
    const unequal = collect('--baseline', 'mixer=attention');
    const table = readFileSync(join(out, 'summary.csv'), 'utf8')
        .split('\n')
        .map((line) => line.split(','));
    const weights = table.slice(1, -1).map((row) => Number(row[table[0].indexOf('weights')]));
    assert.ok(new Set(weights).size > 2 && weights.every((n) => n > 100), weights);
    assert.match(unequal.stdout, /judged on 20|it has (width|blocks)=/);
});

test('--equal: against the best of the baseline that has as many weights, to a tenth, or takes as long, to a quarter', () => {
    const out = file('equal');
    for (const [mixer, width] of [
        ['cat', 8],
        ['attention', 8],
        ['attention', 12],
        ['attention', 16],
    ])
        for (const seed of [1, 2])
            assert.equal(
                job(tiny.replace('width=8', `width=${width}&mixer=${mixer}&seed=${seed}`), out).status,
                0,
            );
    // By width of the baseline: how much there is of it (cat: 1000), and what it would be chosen by.
    const choice = { 8: 0.9, 12: 0.3, 16: 0.6 };
    const against = (kind, field, amounts) => {
        for (const path of results(out))
            forge(path, (text) => {
                const width = text.includes('mixer=attention') ? /width=(\d+)/.exec(text)[1] : 'cat';
                return text
                    .replace(new RegExp(`"${field}":[\\d.]+`), `"${field}":${amounts[width] ?? 1000}`)
                    .replace(/"choice":[\d.e-]+/, `"choice":${choice[width] ?? 0.5}`)
                    .replace(/"ended":(\d+)/, (_, n) => `"ended":${Number(n) + 1}`);
            });
        const { stdout, stderr, status } = seqmix(
            ...['collect', out, '--baseline', 'mixer=attention', '--equal', kind],
        );
        assert.equal(status, 0, stderr);
        const [head, ...rows] = linesOf(readFileSync(join(out, 'pairs.csv'), 'utf8')).map((line) =>
            line.split(','),
        );
        assert.ok(rows.length <= 1);
        return rows.length ? rows[0][head.indexOf('width_of_baseline')] : stdout;
    };
    for (const [kind, field, share] of [
        ['weights', 'params', 1.1],
        ['seconds', 'processor_seconds', 1.25],
    ]) {
        const [inside, outside] = [Math.floor(999 * share), Math.ceil(1001 * share)];
        assert.equal(against(kind, field, { 8: 5000, 12: 1010, 16: inside }), '16', kind);
        assert.equal(against(kind, field, { 8: 200, 12: 1010, 16: outside }), '12', kind);
        assert.equal(against(kind, field, { 8: Math.ceil(1001 / share), 12: 1, 16: outside }), '8', kind);
        assert.match(
            against(kind, field, { 8: 5000, 12: Math.floor(999 / share), 16: outside }),
            new RegExp(`mixer=cat: no setting of the baseline has as many ${kind}, to a`),
        );
    }
    // Without it what is alike in all else is compared, and said to be of another size.
    for (const [weights, says] of [
        [1050, /^mqar .* 0\.95\n(?!Unequal)/m],
        [
            5000,
            /^mqar .* 0\.20\nUnequal: in 1 of 1 one has up to 5\.0 times as many weights .*--equal weights/m,
        ],
    ]) {
        against('weights', 'params', { 8: weights, 12: 1, 16: 1 });
        const { stdout } = seqmix('collect', out, '--baseline', 'mixer=attention');
        assert.match(stdout, says);
    }
    assert.match(seqmix('collect', out, '--equal', 'heads').stderr, /--equal/);
    for (const command of ['collect', 'report'])
        assert.match(seqmix(command, out, '--equal', 'weights').stderr, /--equal needs --baseline/);
});

test('where every rate is perfect the smallest is no edge', () => {
    const out = file('perfect');
    for (const line of grid(tiny, 'rate=0.01,0.02,0.04', '--seeds', '2', '--out', out, '--eval', '20'))
        assert.equal(shell(line).status, 0);
    const as = (value) => {
        for (const path of results(out))
            forge(path, (text) =>
                text.replace(/"(value|choice)":[\d.e-]+/g, (_, key) => `"${key}":${value(resultOf(path))}`),
            );
        return seqmix('collect', out).stdout;
    };
    assert.match(
        as(({ config }) => (config.includes('rate=0.01&') ? 0.95 : 0.25)),
        /smallest rate tried: try smaller/,
    );
    assert.doesNotMatch(
        as(() => 1),
        /try smaller|try larger/,
    );
});

test('intervals beside p are those of Student; a grid says what its seeds can show at best', () => {
    const out = file('student');
    for (const line of grid(
        `${tiny}&mixer=cat~mixer=attention`,
        '--seeds',
        '3',
        '--out',
        out,
        '--eval',
        '20',
    ))
        assert.equal(shell(line).status, 0);
    const values = { cat: [0.5, 0.7, 0.6], attention: [0.4, 0.3, 0.5] };
    for (const path of results(out)) {
        const { config } = resultOf(path);
        const [, mixer] = /mixer=(\w+)/.exec(config);
        const [, seed] = /seed=(\d)/.exec(config);
        forge(path, (text) => text.replace(/"value":[\d.e-]+/, `"value":${values[mixer][seed - 1]}`));
    }
    const { stdout, stderr } = seqmix('collect', out, '--baseline', 'mixer=attention');
    // Differences 0.1, 0.4, 0.1: mean 0.2, deviation sqrt(0.03), t of two degrees 4.30265.
    const half = (4.302652729696142 * Math.sqrt(0.03)) / Math.sqrt(3);
    const two = file('student2'); // and of one: 12.7062
    cpSync(out, two, { recursive: true });
    for (const path of results(two)) if (/seed=3/.test(resultOf(path).config)) rmSync(path);
    seqmix('collect', two, '--baseline', 'mixer=attention');
    const [names, numbers] = readFileSync(join(two, 'pairs.csv'), 'utf8')
        .split('\n')
        .map((line) => line.split(','));
    const high = Number(numbers[names.indexOf('high')]);
    assert.ok(Math.abs(high - (0.25 + (12.706204736174698 * 0.3) / 2)) < 1e-7, numbers.join());
    const [head, row] = readFileSync(join(out, 'pairs.csv'), 'utf8')
        .split('\n')
        .map((line) => line.split(','));
    const at = (key) => Number(row[head.indexOf(key)]);
    assert.ok(
        Math.abs(at('low') - (0.2 - half)) < 1e-8 && Math.abs(at('high') - (0.2 + half)) < 1e-8,
        row.join() + stderr,
    );
    assert.match(stdout, / \+0\.2000 +0\.25 +0\.25 +-0\.2303 +\+0\.6303 /);
    assert.match(
        seqmix('grid', tiny, '--seeds', '5', '--out', 'x').stderr,
        /with 5 seeds .* below 0\.0625 .*: 0\.05 takes 6 seeds/,
    );
    assert.equal(seqmix('grid', tiny, '--seeds', '6', '--out', 'x').stderr, '');
});

// ---- Rungs

test('rungs: the same decisions and bytes whoever does what; they follow the figures; less is trained', async () => {
    const config = 'task=mqar&batch=4&steps=45&width=8&mixer=cat~mixer=attention';
    const all = [config, 'rate=1e-4:1e-1:4log', '--seeds', '2', '--eval', '40'];
    const rungs = (out) => grid(...all, '--rungs', '1/9,1/3,1', '--keep', '1/3', '--out', file(out));
    const lines = rungs('alone');
    // 16 to the first rung; of a mixer's 4 rates 2 go on with two seeds: three workers beside who ends it.
    assert.equal(lines.length, 16 + 2 * 3);
    for (const line of lines.slice(0, 16)) assert.match(line, /'v=1&.* --plan [0-9a-f]{16} --rung 1$/);
    for (const line of lines.slice(16)) assert.match(line, /^seqmix job --out .* --plan [0-9a-f]{16}$/);
    writeFileSync(file('rungs'), lines.join('\n') + '\n');
    assert.equal(shell("tr '\\n' '\\0' <rungs | xargs -0 -n 1 sh -c >said").status, 0);
    // Of 4 rates 2 go on from a ninth, 1 of these from a third: two seeds, two mixers.
    assert.equal(results(file('alone')).length, 4);
    assert.equal(ofJobs(file('alone'), '.safetensors').length, 0);
    assert.equal(ofJobs(file('alone'), '.rung-5.json').length, 16);
    assert.equal(ofJobs(file('alone'), '.rung-15.json').length, 8);
    // Whoever ended a first rung went on: those lines alone would have done it all.
    writeFileSync(
        file('first.lines'),
        lines.slice(0, 16).join('\n').replaceAll(file('alone'), file('first')),
    );
    cpSync(file('alone', 'plans'), file('first', 'plans'), { recursive: true });
    assert.equal(shell("tr '\\n' '\\0' <first.lines | xargs -0 -n 1 sh -c >said").status, 0);
    // The others alone, from the end, by two workers: each does what nobody works on.
    rungs('backwards');
    const last = lines
        .slice(16)
        .reverse()
        .map((line) => line.replace(file('alone'), file('backwards')));
    writeFileSync(file('backwards.lines'), last.join('\n') + '\n');
    const workers = [0, 1].map(() => {
        const child = spawn('bash', ['-c', "tr '\\n' '\\0' <backwards.lines | xargs -0 -n 1 sh -c"], {
            cwd: folder,
            env,
        });
        return new Promise((done) => child.once('close', done));
    });
    await Promise.all(workers);
    assert.equal(shell("tr '\\n' '\\0' <backwards.lines | xargs -0 -n 1 sh -c").status, 0);
    const bytes = (out) =>
        ofJobs(file(out), '.json').map((path) => [
            path.slice(file(out).length),
            readFileSync(path, 'utf8').replace(/,"machine".*/s, ''),
        ]);
    assert.deepEqual(bytes('first'), bytes('alone'));
    assert.deepEqual(bytes('backwards'), bytes('alone'));
    // A list of an earlier build, whose later rungs have lines of their own, by two workers.
    const [first, plans] = [lines.slice(0, 16), file('earlier', 'plans')];
    const earlier = [1, 2, 3].flatMap((rung) => first.map((line) => line.replace(/1$/, rung)));
    writeFileSync(file('earlier.lines'), earlier.join('\n').replaceAll(file('alone'), file('earlier')));
    cpSync(file('alone', 'plans'), plans, { recursive: true });
    assert.equal(shell("tr '\\n' '\\0' <earlier.lines | xargs -0 -n 1 -P 2 sh -c >said").status, 0);
    assert.deepEqual(bytes('earlier'), bytes('alone'));
    // A decision follows the figures: the rate that stays is the best of those beside it.
    for (const step of [5, 15]) {
        const there = ofJobs(file('alone'), `.rung-${step}.json`).map(resultOf);
        for (const mixer of ['cat', 'attention']) {
            const means = new Map();
            for (const { config: text, choice, held_out_loss: loss } of there.filter(({ config: text }) =>
                text.includes(`mixer=${mixer}&`),
            )) {
                const rate = /&rate=([^&]*)/.exec(text)[1];
                const [a, b] = means.get(rate) ?? [0, 0];
                means.set(rate, [a + choice, b + loss]);
            }
            const next = step === 5 ? ofJobs(file('alone'), '.rung-15.json') : results(file('alone'));
            const stayed = new Set(
                next
                    .map(resultOf)
                    .filter(({ config: text }) => text.includes(`mixer=${mixer}&`))
                    .map(({ config: text }) => /&rate=([^&]*)/.exec(text)[1]),
            );
            // At the first rung by the loss, at the second by the measure of choice.
            const order = [...means].sort(
                ([, [a, b]], [, [c, d]]) => (step === 5 ? b - d : c - a) || b - d || c - a,
            );
            assert.deepEqual(
                order
                    .slice(0, stayed.size)
                    .map(([rate]) => rate)
                    .sort(),
                [...stayed].sort(),
                `${mixer} at ${step}`,
            );
        }
    }
    // What is left of the whole training has the bytes of one without rungs.
    for (const path of results(file('alone')).slice(0, 1)) {
        assert.equal(
            seqmix('job', resultOf(path).config, '--out', file('straight'), '--eval', '40').status,
            0,
        );
        assert.deepEqual(resultOf(results(file('straight'))[0]), resultOf(path));
    }
    // Parts share the lines out.
    const parts = [1, 2, 3].flatMap((part) =>
        grid(...all, '--rungs', '1/9,1/3,1', '--keep', '1/3', '--part', `${part}/3`, '--out', file('alone')),
    );
    assert.deepEqual(parts.sort(), [...lines].sort());
    // Known before: of 4 rates all for a ninth, 2 to a third, 1 to the end: (4 / 9 + 4 / 9 + 2 / 3) / 4.
    assert.match(
        seqmix('grid', ...all, '--rungs', '1/9,1/3,1', '--keep', '1/3', '--count').stdout,
        /^16 jobs of about .* in all .*\nby rungs 39 % of the steps, about /,
    );
    for (const [key, value] of [
        ['--rungs', '1/3,1'],
        ['--every', '5'],
    ])
        assert.match(
            seqmix('grid', ...all, key, value, '--ranks', '2', '--out', file('x')).stderr,
            /--ranks goes without --every and --rungs/,
        );
    // A plan that somebody edited, and rungs that are none.
    const [plan] = readdirSync(file('alone', 'plans'));
    writeFileSync(file('alone', 'plans', plan), 'seqmix-plan 1\n');
    assert.match(shell(lines.findLast((line) => line.includes(plan.slice(0, 16)))).stderr, /no whole plan/);
    for (const bad of (
        '1 1/3 1/3,1/9,1 0,1 2,1 x 1/3,1, .5:0,1 .5:3,1 .3:2,.6:1,1 .3,.6:1,1 .5:1,1:2 .5:,1 .5:1x,1 ' +
        '.5~0,1 .5~-1,1 .5~,1 .5~x,1 .5~nan,1 .5~inf,1 .5,1~0.1 .5~0.1:1,1 .5~0.1~0.1,1'
    ).split(' '))
        assert.match(
            seqmix('grid', ...all, '--rungs', bad, '--out', file('x')).stderr,
            /--rungs .* is not allowed/,
        );
    assert.match(
        seqmix('grid', ...all, '--rungs', '1/3,1', '--keep', '1', '--out', file('x')).stderr,
        /--keep 1 is not allowed/,
    );
    for (const [word, wants] of Object.entries({
        '--keep': '--rungs',
        '--best': '--rungs',
        '--draw': '--random',
    }))
        assert.match(
            seqmix('grid', ...all, word, '2', '--out', file('x')).stderr,
            new RegExp(`grid: ${word} .*needs ${wants}`),
        );
});

test('rungs with few seeds: the first seed decides first, the others begin where their setting goes on', () => {
    const all = ['task=mqar&batch=4&steps=45&width=8', 'rate=1e-4:1e-1:4log', '--seeds', '3', '--eval', '40'];
    const few = ['--rungs', '1/3:1,2/3:2,1'];
    const lines = (out) => grid(...all, ...few, '--out', file(out));
    const run = (list) => {
        writeFileSync(file('few.lines'), list.join('\n') + '\n');
        assert.equal(shell("tr '\\n' '\\0' <few.lines | xargs -0 -n 1 sh -c").status, 0);
    };
    const there = lines('few');
    assert.equal(there.length, 4 + 3);
    run(there);
    // Of 4 rates 2 go on by one seed, 1 of these by two: three seeds of it train to the end.
    assert.equal(ofJobs(file('few'), '.rung-15.json').length, 4);
    assert.equal(ofJobs(file('few'), '.rung-30.json').length, 4);
    assert.equal(results(file('few')).length, 3);
    const key = (name, text) => new RegExp(`&${name}=([^&]*)`).exec(text)[1];
    const rates = (list) => new Set(list.map((path) => key('rate', resultOf(path).config)));
    const first = ofJobs(file('few'), '.rung-15.json').map(resultOf);
    assert.deepEqual(
        first.map(({ config }) => key('seed', config)),
        ['1', '1', '1', '1'],
    );
    assert.deepEqual(
        [...rates(ofJobs(file('few'), '.rung-30.json'))].sort(),
        first
            .sort((a, b) => a.held_out_loss - b.held_out_loss)
            .slice(0, 2)
            .map(({ config }) => key('rate', config))
            .sort(),
    );
    assert.equal(rates(results(file('few'))).size, 1);
    // Nobody waits for a seed that never began.
    assert.match(
        seqmix('watch', file('few'), '--once').stdout,
        /^3 done, 0 running, 9 left behind at a rung\n/,
    );
    // A plan says how many jobs there are, whatever its lines name.
    assert.match(
        seqmix('watch', file('few'), file('few.lines'), '--once').stdout,
        /^3 of 12 done, 0 running, 9 left behind at a rung\n/,
    );
    // One worker at what is left, alone.
    run(lines('few-backwards').slice(-1));
    const whole = (out) => results(file(out)).map((path) => JSON.stringify(resultOf(path)));
    assert.deepEqual(whole('few-backwards'), whole('few'));
    // 4 a third, 2 twice two thirds less one third, 1 thrice to the end less twice two thirds: 5 of 12.
    assert.match(seqmix('grid', ...all, ...few, '--count').stdout, /\nby rungs 42 % of the steps, about /);
    // As many seeds as before, or more, and no fewer.
    assert.equal(seqmix('grid', ...all, '--rungs', '1/3:1,2/3:1,1', '--count').status, 0);
    const fewer = seqmix('grid', ...all, '--rungs', '1/3:2,2/3:1,1', '--count');
    assert.match(fewer.stderr, /--rungs .* is not allowed: .* never fewer than before/);
    // Where a distance decides, all four may go on with two seeds, and to the end: 12 of 12.
    assert.match(
        seqmix('grid', ...all, '--rungs', '1/3:1~0.1,2/3:2~0.1,1', '--count').stdout,
        /\nby rungs at most 100 % of the steps, about /,
    );
});

test('who works at what is left of a plan: a signal saves what it is at; threads are those of the list', async () => {
    const config = 'task=mqar&batch=4&steps=1600&width=16&threads=2';
    const all = [config, 'rate=0.001,0.01', '--seeds', '2', '--eval', '20', '--rungs', '1/4,1'];
    const lines = grid(...all, '--out', file('halted'));
    assert.equal(lines.length, 4 + 1);
    assert.match(lines[4], / --threads 2 --plan \w+$/);
    // Stopped while it trains the first rivals, and those that go on; then left alone.
    for (let stops = 0, status = 75; status; stops++) {
        const child = spawn('sh', ['-c', `exec ${lines[4]}`], { env, stdio: 'ignore' });
        const ended = new Promise((done) => child.once('close', done));
        while (stops < 4 && child.exitCode === null && !ofJobs(file('halted'), '.claim').length)
            await moment(5);
        await moment(20);
        if (stops < 4) child.kill('SIGTERM');
        status = await ended;
        assert.equal(status, stops < 4 ? 75 : 0);
        assert.equal(ofJobs(file('halted'), '.claim').length, 0);
    }
    assert.equal(ofJobs(file('halted'), '.safetensors').length, 0);
    const straight = grid(...all, '--out', file('unhalted'));
    for (const line of straight) assert.equal(shell(line).status, 0);
    const whole = (out) => results(file(out)).map((path) => JSON.stringify(resultOf(path)));
    assert.equal(whole('halted').length, 2);
    assert.deepEqual(whole('halted'), whole('unhalted'));
    for (const [args, says] of [
        [['task=mqar', '--rung', '1'], /--rung needs --plan beside it/],
        [['--rung', '1', '--plan', 'x'], /--rung needs a config/],
        [['task=mqar', '--plan', 'x'], /--plan beside a config needs --rung/],
        [[], /a config, such as/],
    ]) {
        const { status, stderr } = seqmix('job', ...args, '--out', file('halted'));
        assert.equal(status, 2);
        assert.match(stderr, says);
    }
});

test('a plan names its rivals where that hangs on no file; where it looks in vain it says so', () => {
    const text = file('rungs.txt');
    const play = readFileSync('docs/GUIDE.md', 'utf8').slice(0, 3000);
    const out = file('planned');
    const of = (config) =>
        grid(config, 'rate=0.01,0.02', '--rungs', '1/2,1', '--eval', '20', '--out', out).map((line) => ({
            line,
            plan: file('planned', 'plans', `${/--plan (\w+)/.exec(line)[1]}.plan`),
        }));
    const rivals = ({ plan }) => linesOf(readFileSync(plan, 'utf8')).slice(6);
    // Today's text and tomorrow's, by the same lines.
    writeFileSync(text, play);
    const lines = of(`task=charlm&text=${text}&batch=2&steps=4&width=8&length=16`);
    for (const rival of rivals(lines[0])) assert.match(rival, /^v=1&/);
    for (const now of [play, play.replaceAll('e', 'a')]) {
        writeFileSync(text, now);
        for (const { line } of lines) assert.equal(shell(line).status, 0);
    }
    assert.equal(ofJobs(out, '.rung-2.json').length, 4);
    assert.equal(results(out).length, 2);
    const named = of(tiny);
    for (const rival of rivals(named[0])) assert.match(rival, /^[0-9a-f]{16} 6 v=1&/);
    // Names that are nobody's: the rivals are computed, and not found.
    const wrong = readFileSync(named[0].plan, 'utf8').replace(/^[0-9a-f]{16} 6 /gm, '0123456789abcdef 6 ');
    const name = /"checksum":"(\w+)"/.exec(sum(wrong))[1];
    writeFileSync(file('planned', 'plans', `${name}.plan`), wrong);
    const { status, stderr } = shell(named.at(-1).line.replace(/--plan \w+/, `--plan ${name}`));
    assert.equal(status, 2);
    assert.match(stderr, new RegExp(`plan ${name} does not find what its rivals came to at rung 1: `));
});

test('the first rung goes by the loss, a later one by the measure of choice, and by the loss of equals; bits are better when fewer; ~ keeps those near the best', () => {
    const rates = ['0.01', '0.02', '0.03', '0.04'];
    const four = { 0.01: [0.9, 4], 0.02: [0.1, 1], 0.03: [0.8, 3], 0.04: [0.2, 2] };
    const later = '1/6~1e9,1/3,1'; // all go on from the first rung
    // Of each rate, a choice and a loss; who goes on.
    for (const [i, [rungs, metric, figures, stay]] of [
        ['1/3,1', 'accuracy', four, ['0.02', '0.04']],
        [
            '1/3,1',
            'bits',
            { 0.01: [0.9, 1], 0.02: [0.1, 1], 0.03: [0.8, 1], 0.04: [0.2, 1] },
            ['0.02', '0.04'],
        ],
        [later, 'accuracy', four, ['0.01', '0.03']],
        [
            later,
            'accuracy',
            { 0.01: [0.5, 4], 0.02: [0.5, 1], 0.03: [0.5, 2], 0.04: [0.5, 3] },
            ['0.02', '0.03'],
        ],
        [later, 'bits', four, ['0.02', '0.04']],
        ['1/3~0.1,1', 'accuracy', four, ['0.01', '0.03']],
        ['1/3~0.09,1', 'accuracy', four, ['0.01']],
        ['1/3~0.7,1', 'bits', four, ['0.02', '0.03', '0.04']],
    ].entries()) {
        const out = file(`judged${i}`);
        const all = [tiny, `rate=${rates}`, '--eval', '20', '--rungs', rungs, '--out', out];
        const lines = grid(...all);
        for (const line of lines) assert.equal(shell(line).status, 0);
        // The results at the rung say otherwise, and nobody went on yet.
        for (const path of [...results(out), ...ofJobs(out, '.rung-0.json')]) rmSync(path);
        for (const path of ofJobs(out, '.rung-2.json'))
            forge(path, (text) => {
                const [choice, loss] = figures[Number(/&rate=([^&]*)/.exec(text)[1])];
                return text
                    .replace(/"metric":"\w+"/, `"metric":"${metric}"`)
                    .replace(/"choice":[\d.e-]+/, `"choice":${choice}`)
                    .replace(/"held_out_loss":[\d.e-]+/, `"held_out_loss":${loss}`);
            });
        const { stdout } = shell(lines.at(-1));
        const went = results(out).map((path) => /&rate=([^&]*)/.exec(resultOf(path).config)[1]);
        assert.deepEqual(went.sort(), stay, `case ${i}`);
        assert.equal(stdout.match(/ left behind before rung/g)?.length ?? 0, 4 - stay.length, `case ${i}`);
        // Those left behind were tried, too: what is left has no edge.
        for (const path of results(out))
            forge(path, (text) =>
                text.replace(/"choice":[\d.e-]+/, `"choice":0.${/&rate=0\.(\d+)/.exec(text)[1]}5`),
            );
        assert.doesNotMatch(seqmix('collect', out).stdout, /rate tried: try/);
    }
});

test('a choice is made on the sequences that follow those that judge, a quarter as many', () => {
    const config = 'task=mqar&pairs=4&length=32&batch=8&width=16&steps=150';
    assert.equal(seqmix('job', config, '--out', file('chosen'), '--eval', '40').status, 0);
    const { value, choice } = resultOf(results(file('chosen'))[0]);
    assert.equal(seqmix('train', config, '--save', file('chosen.run'), '--eval', '0').status, 0);
    // Each sequence has as many answers, so that shares of right ones add up.
    const right = (count) =>
        count *
        JSON.parse(seqmix('eval', file('chosen.run'), '--count', String(count), '--json').stdout).accuracy;
    const near = (a, b) => Math.abs(a - b) < 1e-5;
    assert.ok(near(right(40), 40 * value));
    assert.ok(near(right(50) - right(40), 10 * choice), `${right(50) - right(40)} and ${10 * choice}`);
    assert.ok(!near(right(10), 10 * choice), 'the first ten tell nothing');
});

test('--random: so many points, the same for every run and seed, others with another --draw', () => {
    const all = [
        'task=mqar&mixer=cat~mixer=attention',
        'rate=1e-4:1e-1:50log',
        'decay=0:0.1:11',
        '--out',
        'x',
    ];
    const points = (...more) =>
        grid(...all, '--random', '7', ...more).map(
            (line) =>
                /mixer=(\w+)|$/.exec(line)[1] +
                /&rate=[^&]*&.*&decay=[^&]*/.exec(line)[0].replace(/&(?!rate|decay)[^&]*/g, ''),
        );
    const drawn = points('--seeds', '2');
    assert.equal(drawn.length, 2 * 7 * 2);
    assert.equal(new Set(drawn).size, 14);
    assert.deepEqual(
        drawn.slice(0, 7).map((x) => x.replace('cat', '')),
        drawn.slice(7, 14).map((x) => x.replace('attention', '')),
    );
    assert.deepEqual(drawn.slice(0, 14), drawn.slice(14));
    assert.notDeepEqual(points('--draw', '2'), points());
    assert.match(
        seqmix('grid', ...all, '--random', '551').stderr,
        /--random 551 is not allowed: there are 550 points/,
    );
});

// ---- What a line and a script pass on

/** What a file holds that somebody may be taking away or writing anew: nothing then. */
function textOf(path) {
    try {
        return readFileSync(path, 'utf8');
    } catch {
        return '';
    }
}

test('--every: a curve of held-out figures, the same to the bit however often the job was killed', async () => {
    const config = 'task=mqar&batch=2&width=8&steps=1200';
    assert.equal(job(config, file('whole'), '--every', '100').status, 0);
    const straight = resultOf(results(file('whole'))[0]);
    assert.equal(straight.held_out.length, 12);
    assert.equal(straight.held_out.at(-1), straight.choice);
    for (const signal of ['SIGTERM', 'SIGKILL', 'SIGTERM']) {
        const child = spawn(
            program,
            ['job', config, '--out', file('cut'), '--eval', '20', '--every', '100', '--save-every', '1'],
            { env },
        );
        await new Promise((done) => {
            child.once('close', done);
            const wait = setInterval(() => {
                if (!existsSync(file('cut')) || !ofJobs(file('cut'), '.curve').length) return;
                // (A claim without its line is held for two minutes: whose it is, nobody knows.)
                const [claim] = ofJobs(file('cut'), '.claim');
                if (!claim || !textOf(claim).includes(` ${child.pid} `)) return;
                clearInterval(wait);
                child.kill(signal);
            }, 2);
            child.once('close', () => clearInterval(wait));
        });
    }
    assert.equal(job(config, file('cut'), '--every', '100').status, 0);
    assert.deepEqual(resultOf(results(file('cut'))[0]), straight);
    assert.equal(ofJobs(file('cut'), '').length, 1);
    // Without it, it is another job: its result has no curve.
    assert.notEqual(
        results(file('whole'))[0].slice(-21),
        (job(config, file('plain')), results(file('plain'))[0].slice(-21)),
    );
});

test('lines and the script pass on what each job is told; more tasks than an array may have share its tasks', () => {
    const more = ['--eval', '20', '--every', '3', '--save-every', '7', '--out', file('passed')];
    assert.match(grid(tiny, ...more)[0], / --eval 20 --every 3 --save-every 7$/);
    const script = seqmix(
        ...[
            'grid',
            tiny,
            'rate=1e-4:1e-1:40log',
            'decay=0:1:40',
            ...more,
            '--slurm',
            '--tasks',
            '1500',
            '--seeds',
            '6',
        ],
        ...['--setup', 'module load gcc', '--within', 'apptainer exec seqmix.sif'],
    );
    assert.equal(script.status, 0, script.stderr);
    assert.match(
        script.stderr,
        /--tasks 1500 is more than an array may have .*\(MaxArraySize 1001\): 1000 array tasks, each takes up to 2/,
    );
    assert.match(
        script.stdout,
        /\n#SBATCH --array=1-1000\n[^]*\nmodule load gcc\ntasks=1500 array=1000 ranks=1 within='apptainer exec seqmix\.sif'\n/,
    );
    assert.match(
        script.stdout,
        /\$within seqmix grid .* --seeds 6 --eval 20 --every 3 --save-every 7 --out /,
    );
    // A cluster that says what it allows is believed, however few they are.
    mkdirSync(file('cluster'));
    writeFileSync(file('cluster', 'scontrol'), '#!/bin/sh\necho "MaxArraySize            = 31"\n', {
        mode: 0o755,
    });
    const asked = run(
        program,
        ['grid', tiny, '--seeds', '50', '--out', file('passed'), '--slurm', '--tasks', '40'],
        { env: { ...env, PATH: file('cluster') + delimiter + env.PATH } },
    );
    assert.match(
        asked.stderr,
        /--tasks 40 is more than an array may have here \(MaxArraySize 31\): 30 array tasks, each takes up to 2 of the 40/,
    );
    assert.match(asked.stdout, /\n#SBATCH --array=1-30\n[^]*\ntasks=40 array=30 /);
    // Together the tasks' parts are the grid: the script's own loop, without Slurm.
    const [, loop] = /\n(tasks=[^]*?)\nstop=0/.exec(script.stdout);
    const shown = shell(
        `SLURM_ARRAY_TASK_ID=7\n${loop.replace("within='apptainer exec seqmix.sif'", 'within=')}\nwc -l <"$work"; rm "$work"`,
    );
    const counts = [7, 1007].map(
        (i) =>
            grid(tiny, 'rate=1e-4:1e-1:40log', 'decay=0:1:40', ...more, '--seeds', '6', '--part', `${i}/1500`)
                .length,
    );
    assert.equal(Number(shown.stdout), counts[0] + counts[1], shown.stderr);
});

// ---- While it runs, and after

test('watch: done, running where, failed and why, left behind, and the table so far; as a page that loads itself again', () => {
    const out = file('watched');
    const lines = grid(
        `${tiny}&mixer=cat~mixer=attention`,
        'rate=0.01,0.02',
        '--seeds',
        '2',
        '--out',
        out,
        '--eval',
        '20',
    );
    writeFileSync(file('watched.jobs'), lines.join('\n'));
    for (const line of lines.slice(0, 5)) assert.equal(shell(line).status, 0);
    const watch = (...more) => seqmix('watch', out, file('watched.jobs'), '--once', ...more);
    assert.match(watch().stdout, /^5 of 8 done, 0 running\n\nso far\n[^]*mqar +cat .* accuracy +2 /);
    // One that fails: its checkpoint is a folder.
    const [, name] = /^([0-9a-f]{16})/.exec(shell(lines[5]).stdout);
    const base = join(out, name.slice(0, 2), name);
    rmSync(`${base}.json`);
    mkdirSync(`${base}.safetensors`);
    assert.equal(shell(lines[5]).status, 2);
    // One at work on another machine, one that nobody is at any more, one left behind at a rung.
    const about = configIn(lines[6]);
    mkdirSync(join(out, 'ab'), { recursive: true });
    writeFileSync(join(out, 'ab', 'ab00000000000001.claim'), `node7 4711 a/b 1 5f\nstep 3 of 9\n${about}\n`);
    writeFileSync(join(out, 'ab', 'ab00000000000002.safetensors'), 'begun');
    writeFileSync(join(out, 'ab', 'ab00000000000003.rung-2.json'), '{}');
    forge(results(out)[0], (text) =>
        text
            .replace('"stopped":""', '"stopped":"the loss stopped being finite"')
            .replace(/"(value|choice)":[\d.e-]+/g, '"$1":null'),
    );
    const page = file('live.html');
    const { status, stdout, stderr } = watch('--page', page, '--baseline', 'mixer=attention');
    assert.equal(status, 0, stderr);
    assert.match(
        stdout,
        /^5 of 8 done, 1 running, 1 failed, 2 begun and nobody at them, 1 left behind at a rung; about \d+ s left\n/,
    );
    assert.match(stdout, /\nrunning\n +node7 +process 4711 +step 3 of 9 mqar \w+ rate 0\.0\d seed 2\n/);
    assert.match(
        stdout,
        new RegExp(`\nfailed\n +${name} on .*, \\d+ s ago, mqar \\w+ rate 0\\.0\\d seed \\d: .*safetensors`),
    );
    // How long ago is the file system's to say: the clock of the machine where it failed may be wrong by a
    // day.
    const left = readFileSync(`${base}.failed`, 'utf8');
    for (const [wrong, ago, says] of [
        [86400, 300, '5 min'],
        [-86400, 300, '5 min'],
        [0, -86400, '0 s'],
    ]) {
        writeFileSync(
            `${base}.failed`,
            left.replace(/\n(\d+)\n/, (_, n) => `\n${Number(n) + wrong}\n`),
        );
        utimesSync(`${base}.failed`, Date.now() / 1000 - ago, Date.now() / 1000 - ago);
        assert.match(watch().stdout, new RegExp(`\nfailed\n.*, ${says} ago,`));
    }
    assert.match(stdout, /\nhopeless: the loss stopped being finite\n +mqar .* 1 of \d seeds\n/);
    const html = readFileSync(page, 'utf8');
    assert.match(html, /<meta http-equiv="refresh" content="5" \/>/);
    assert.equal(JSON.parse(/id="results">([^<]*)<\/script>/.exec(html)[1]).results, 5);
    // It ends by itself when all is done.
    for (const path of [
        'ab00000000000001.claim',
        'ab00000000000002.safetensors',
        'ab00000000000003.rung-2.json',
    ])
        rmSync(join(out, 'ab', path));
    rmSync(`${base}.safetensors`, { recursive: true });
    for (const line of lines) assert.equal(shell(line).status, 0);
    const end = seqmix('watch', out, file('watched.jobs'));
    assert.match(end.stdout, /^8 of 8 done, 0 running\n/);
    writeFileSync(file('numbers.txt'), '#6\n# 6 things\n');
    for (const other of ['live.html', 'numbers.txt'])
        assert.match(seqmix('watch', out, file(other)).stderr, /holds no jobs of seqmix grid/);
});

test('the weights of a best come back to the bit; curves are a point a line', () => {
    const out = file('kept');
    for (const line of grid(tiny, 'rate=0.01,0.02', '--out', out, '--eval', '20', '--every', '2'))
        assert.equal(shell(line).status, 0);
    const said = seqmix('collect', out, '--curves').stdout;
    const [, command, digest] =
        /\nits weights, to the bit: (seqmix train '.*) --eval 0 --save best\.safetensors \(digest (\w+)\)\n/.exec(
            said,
        );
    assert.match(shell(`${command} --eval 0`).stdout, new RegExp(`digest ${digest}`));
    const curves = linesOf(readFileSync(join(out, 'curves.csv'), 'utf8')).map((line) => line.split(','));
    assert.deepEqual(curves[0], ['name', 'curve', 'step', 'value']);
    for (const { name, curve, held_out: judged } of results(out).map(resultOf)) {
        const of = (kind) =>
            curves
                .filter((row) => row[0] === name && row[1] === kind)
                .map(([, , step, value]) => [Number(step), Number(value)]);
        assert.deepEqual(
            of('loss'),
            curve.map((value, i) => [i + 1, value]),
        );
        assert.deepEqual(
            of('accuracy'),
            judged.map((value, i) => [2 * (i + 1), value]),
        );
    }
    const kept = seqmix('collect', out, '--keep', 'best');
    assert.match(kept.stdout, /weights of the best: 1 files? in .*\/best\n/);
    const [weights] = readdirSync(join(out, 'best'));
    assert.match(
        seqmix('train', '--load', join(out, 'best', weights), '--eval', '0').stdout,
        new RegExp(`digest ${digest}`),
    );
    rmSync(join(out, 'best'), { recursive: true });
    for (const path of results(out))
        forge(path, (text) => text.replace(/"digest":"(.)/, (_, c) => `"digest":"${c === '0' ? '1' : '0'}`));
    // A name with a quote in it goes through a shell whole.
    const quoted = file("it's.txt");
    writeFileSync(quoted, readFileSync('docs/GUIDE.md', 'utf8').slice(0, 3000));
    const charlm = `task=charlm&text=${quoted}&batch=2&steps=2&width=8&length=16`;
    assert.equal(job(charlm, file('quoted')).status, 0);
    const [, again, same] = /\n.*to the bit: (seqmix train .*) --eval 0 --save .* \(digest (\w+)\)/.exec(
        seqmix('collect', file('quoted')).stdout,
    );
    assert.match(shell(`${again} --eval 0`).stdout, new RegExp(`digest ${same}`));
    const wrong = seqmix('collect', out, '--keep', 'best');
    assert.equal(wrong.status, 1);
    assert.match(wrong.stderr, /has other weights than the result says: not kept/);
});

test('a folder that vanishes while it is read, results cut short, from the future or judged otherwise: a sentence, nothing lost', () => {
    const out = file('spoilt');
    for (const line of grid(tiny, 'rate=0.01,0.02,0.03', '--seeds', '2', '--out', out, '--eval', '20'))
        assert.equal(shell(line).status, 0);
    const all = results(out);
    forge(all[0], (text) => text.replace('"version":"0.1.0"', '"version":"9.0.0"'));
    writeFileSync(all[1], readFileSync(all[1]).subarray(0, 500));
    forge(all[2], (text) => text.replace(/"ended":\d+/, '"ended":99999999999'));
    forge(all[3], (text) => text.replace('"metric":"accuracy"', '"metric":"no_such_measure"'));
    forge(all[4], (text) => text.replace('"metric":"accuracy"', '"metric":"two\\nlines"'));
    const sizes = all.map((path) => statSync(path).size);
    const { status, stdout, stderr } = seqmix('collect', out);
    assert.equal(status, 1);
    assert.match(stdout, /^3 results/);
    const [right, other] = [all[2], all[3]].map((path) => resultOf(path).name);
    assert.match(
        stderr,
        /(\w+) is judged by (accuracy|no_such_measure), (\w+) by (accuracy|no_such_measure): no best is chosen among/,
    );
    assert.ok(stderr.includes(other) && right);
    assert.doesNotMatch(stdout, /^mqar /m);
    assert.match(stderr, /written by seqmix 9\.0\.0/);
    assert.match(stderr, /no whole result/);
    assert.deepEqual(
        all.map((path) => statSync(path).size),
        sizes,
    );
    // A name that is listed and cannot be opened is what a folder looks like that goes while it is read.
    cpSync(out, file('gone'), { recursive: true });
    const [first] = results(file('gone'));
    spawnSync('ln', ['-sfn', '/nowhere/at/all', dirname(first)]);
    rmSync(dirname(first), { recursive: true });
    spawnSync('ln', ['-s', '/nowhere/at/all', dirname(first)]);
    const gone = seqmix('collect', file('gone'));
    assert.equal(gone.status, 1, gone.stderr);
    assert.match(gone.stderr, /cannot be read: No such file/);
    assert.match(gone.stdout, /^[23] results/, 'what is there is in the table');
    // So does a result that a worker has just set aside.
    cpSync(out, file('aside'), { recursive: true });
    mkdirSync(join(file('aside'), 'ab'), { recursive: true });
    spawnSync('ln', ['-s', '/nowhere/at/all', join(file('aside'), 'ab', 'ab0123456789abcd.json')]);
    assert.match(
        seqmix('collect', file('aside')).stderr,
        /ab0123456789abcd\.json cannot be read: No such file/,
    );
    assert.match(seqmix('collect', file('aside')).stdout, /^3 results/);
    assert.match(seqmix('watch', file('nowhere'), '--once').stderr, /nowhere cannot be read: No such file/);
});

test('a folder that vanishes under a worker, and under who watches: a sentence, and an end', async () => {
    const ends = async (args, out, begun) => {
        const child = spawn(program, args, { env });
        let said = '';
        for (const of of [child.stdout, child.stderr]) of.on('data', (text) => (said += text));
        const end = new Promise((done) => child.once('close', done));
        while (child.exitCode === null && !begun(said)) await new Promise((done) => setTimeout(done, 10));
        rmSync(out, { recursive: true });
        return [await end, said];
    };
    const under = file('under');
    const [code, said] = await ends(
        ['job', 'task=mqar&batch=2&width=8&steps=1500', '--out', under, '--eval', '20', '--save-every', '1'],
        under,
        () => existsSync(under) && ofJobs(under, '.claim').length,
    );
    assert.equal(code, 2, said);
    assert.match(said, /seqmix: .*under.* cannot be written: No such file/);
    assert.ok(!existsSync(under), 'half a folder is left');
    const [over, last] = await ends(['watch', file('spoilt'), '--seconds', '1'], file('spoilt'), (text) =>
        /\d done/.test(text),
    );
    assert.equal(over, 2, last);
    assert.match(last, /spoilt cannot be read: No such file/);
});

test('two winners: the first is taken and the others are counted; bits are better when fewer though a seed stopped', () => {
    const out = file('winners');
    for (const line of grid(tiny, 'rate=0.01,0.02,0.04', '--seeds', '2', '--out', out, '--eval', '20'))
        assert.equal(shell(line).status, 0);
    const as = (metric, figures) => {
        for (const path of results(out))
            forge(path, (text) => {
                const value = figures[Number(/rate=([^&]*)/.exec(text)[1])];
                const changed = text
                    .replace(/"(value|choice)":([\d.e-]+|null)/g, `"$1":${value}`)
                    .replace(/"metric":"\w*"/, `"metric":"${value === null ? '' : metric}"`)
                    .replace(/"stopped":"[^"]*"/, `"stopped":"${value === null ? 'it stopped' : ''}"`);
                // A clock that is a day ahead.
                return changed.replace(/"ended":(\d+)/, (_, n) => `"ended":${Number(n) + 86400}`);
            });
        const { status, stdout, stderr } = seqmix('collect', out);
        assert.equal(status, 0, stderr);
        return stdout;
    };
    assert.match(
        as('accuracy', { 0.01: 0.5, 0.02: 0.5, 0.04: 0.25 }),
        /cat +0\.01 .*\d  1 other is as good: the first is taken\n/,
    );
    assert.match(
        readFileSync(join(out, 'summary.csv'), 'utf8'),
        /,0\.01,.*,1,1 other is as good: the first is taken\n/,
    );
    assert.doesNotMatch(as('accuracy', { 0.01: 0.5, 0.02: 0.75, 0.04: 0.25 }), /as good/);
    assert.match(as('bits', { 0.01: null, 0.02: 2.5, 0.04: 3.5 }), /cat +0\.02 +bits /);
});
