// grid.test.mjs: many trainings: what a grid prints, what a job leaves behind however often it is stopped,
// and what it does with what stands in its way. A job is stopped by signals at moments that the test waits
// for; nothing here is a matter of speed.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
    chmodSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    realpathSync,
    rmSync,
    statSync,
    writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { program, run } from '../support/program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-grid-'));
after(() => rmSync(folder, { recursive: true }));
const file = (...names) => join(folder, ...names);
const env = { ...process.env, PATH: resolve('build') + delimiter + process.env.PATH };
const seqmix = (...args) => run(program, args, { env });
const linesOf = (text) => text.split('\n').filter(Boolean);
const tiny = 'task=mqar&batch=2&steps=6&width=8';
const job = (config, out, ...more) => seqmix('job', config, '--out', out, '--eval', '20', ...more);
/** Every file below, by its name, but what the builds at work there left. */
const filesIn = (dir) =>
    readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
        .filter((name) => !name.includes('/builds/'))
        .sort();
/** What training decides of a result. */
const resultOf = (path) => JSON.parse(readFileSync(path, 'utf8')).result;
const shell = (script, cwd = folder) => spawnSync('bash', ['-c', script], { encoding: 'utf8', env, cwd });

test('a best is chosen by the held-out sequences that follow those it is judged by', () => {
    const config = `${tiny}&steps=60`.replace('&steps=6&', '&');
    const of = (count) => {
        const out = file(`judged-${count}`);
        const { status, stderr } = seqmix('job', config, '--out', out, '--eval', String(count));
        assert.equal(status, 0, stderr);
        return resultOf(filesIn(out).find((path) => path.endsWith('.json')));
    };
    const [some, all] = [of(200), of(250)];
    assert.equal(all.digest, some.digest);
    assert.notEqual(some.choice, some.value);
    assert.ok(Math.abs(200 * some.value + 50 * some.choice - 250 * all.value) < 1e-6, JSON.stringify(some));
});

test('a grid is one command a line: runs times values times seeds, and no job twice', () => {
    const { status, stdout, stderr } = seqmix(
        ...['grid', `${tiny}&mixer=cat~mixer=attention`, 'rate=1e-3:1e-1:3log', 'filter=1,2'],
        ...['--seeds', '2', '--out', file('a b'), '--eval', '20'],
    );
    assert.equal(status, 0, stderr);
    const lines = linesOf(stdout);
    assert.equal(lines.length, 3 * 2 * (2 + 1)); // attention has no filter
    assert.equal(new Set(lines).size, lines.length);
    for (const line of lines)
        assert.match(line, /^seqmix job 'v=1&task=mqar&[^']*' --out '.*a b' --eval 20$/);
    assert.deepEqual(
        [...new Set(lines.map((line) => /&rate=([^&]*)/.exec(line)[1]))],
        ['0.001', '0.01', '0.1'],
    );
    // --count counts them, --part deals them out.
    const more = [`${tiny}&mixer=cat~mixer=attention`, 'rate=1e-3:1e-1:3log', 'filter=1,2', '--seeds', '2'];
    const counted = seqmix('grid', ...more, '--count').stdout;
    assert.match(counted, /^18 jobs of about [\d.]+ s each, .*\nrate: 0\.001, 0\.01, 0\.1\nfilter: 1, 2\n$/);
    const parts = [1, 2, 3, 4].flatMap((i) =>
        linesOf(seqmix('grid', ...more, '--out', file('a b'), '--eval', '20', '--part', `${i}/4`).stdout),
    );
    assert.deepEqual(parts.sort(), lines.sort());
});

test('--count with a folder says what is done there, begun and left', () => {
    const grid = ['grid', `${tiny}&mixer=cat~mixer=attention`, 'rate=0.001,0.01', '--seeds', '2'];
    const out = ['--out', file('counted'), '--eval', '20'];
    const counted = () =>
        /\n(\d+ of \d+ done in .*counted, \d+ begun); what/.exec(
            seqmix(...grid, ...out, '--count').stdout,
        )[1];
    assert.equal(counted(), `0 of 8 done in ${file('counted')}, 0 begun`);
    const configs = linesOf(seqmix(...grid, ...out).stdout).map((line) => /'([^']*)'/.exec(line)[1]);
    for (const config of configs.slice(0, 4)) assert.equal(job(config, file('counted')).status, 0);
    assert.equal(counted(), `4 of 8 done in ${file('counted')}, 0 begun`);
    // One that has a checkpoint alone, beside one that has both.
    const [one, other] = filesIn(file('counted')).filter((name) => name.endsWith('.json'));
    for (const path of [one, other]) writeFileSync(path.replace('.json', '.safetensors'), 'begun');
    rmSync(one);
    assert.equal(counted(), `3 of 8 done in ${file('counted')}, 1 begun`);
});

test('a range is spaced evenly, or in the logarithm', () => {
    const values = (key, axis) =>
        linesOf(seqmix('grid', tiny, axis, '--out', 'x').stdout).map(
            (line) => new RegExp(`&${key}=([^&]*)`).exec(line)[1],
        );
    assert.deepEqual(values('rate', 'rate=1e-4:1e-2:5log'), [
        '0.0001',
        '0.000316228',
        '0.001',
        '0.00316228',
        '0.01',
    ]);
    assert.deepEqual(values('width', 'width=8:24:3'), ['8', '16', '24']);
    assert.deepEqual(values('decay', 'decay=0:1:4'), ['0', '0.333333', '0.666667', '1']);
});

test('a bad value anywhere is refused before the first line', () => {
    const refused = (sentence, ...args) => {
        const { status, stdout, stderr } = seqmix('grid', ...args, '--out', file('none'));
        assert.equal(status, 2, stderr);
        assert.equal(stdout, '');
        assert.match(stderr, sentence);
        assert.equal(linesOf(stderr).length, 1);
    };
    refused(/rate=11 is not allowed: .* from 0 to 10; nothing was printed/, tiny, 'rate=0.1,11');
    refused(/no key filtr .* nearest is filter/, tiny, 'filtr=1,2');
    refused(/width=9 does not fit|heads=2 does not fit/, `${tiny}&heads=2`, 'width=8,9');
    refused(/width=8.5 is not allowed/, tiny, 'width=8:9:3');
    refused(/no run here has the key filter/, `${tiny}&mixer=attention`, 'filter=1,2');
    refused(/the value 1e-2 twice/, tiny, 'rate=0.01,1e-2');
    refused(
        /job 3 is the same as an earlier one: mixer stands in the config and is a key of the grid/,
        `${tiny}&mixer=cat~mixer=attention`,
        'mixer=cat,attention',
    );
    refused(/rate=1:0.1:3 is not allowed: a range/, tiny, 'rate=1:0.1:3');
    refused(/rate=0.3,1e-3:1e-1:3log is not allowed: a range stands alone/, tiny, 'rate=0.3,1e-3:1e-1:3log');
    refused(/rate=0:1:3log is not allowed: .* above 0/, tiny, 'rate=0:1:3log');
    refused(/results do not depend on it/, tiny, 'threads=1,2');
    refused(/write a preset into the config/, tiny, 'preset=recall,copy');
    refused(/'rate' is no key with values/, tiny, 'rate');
    refused(/rate is given twice/, tiny, 'rate=1', 'rate=2');
    refused(/leave --seeds out/, tiny, 'seed=1,2', '--seeds', '2');
    refused(/10000000 are allowed in one grid/, tiny, 'seed=1:1000:1000', 'rate=0:1:1000', 'decay=0:1:1000');
    refused(/--part '3\/2' is not allowed/, tiny, '--part', '3/2');
    refused(/exclude each other/, tiny, '--count', '--slurm');
    assert.ok(!existsSync(file('none')));
    assert.match(seqmix('grid', tiny).stderr, /grid needs --out DIR/);
    assert.match(seqmix('job', tiny).stderr, /job needs --out DIR/);
    assert.match(seqmix('job', `${tiny}~mixer=attention`, '--out', 'x').stderr, /job takes one run/);
});

test("lines go through a shell whole, whatever the names: quotes, spaces, $, mixers' texts", () => {
    const out = file('it\'s $HOME `x` "q"');
    const eq = encodeURIComponent("k = x @ w_k\ny = attention(x @ w_q, k, x @ w_v) @ w_o # it's").replace(
        /'/g,
        "'",
    );
    const { stdout, stderr, status } = seqmix(
        ...['grid', `${tiny}&mixer=equations&eq=${eq}`, 'rate=0.1,0.2', '--out', out, '--eval', '20'],
    );
    assert.equal(status, 0, stderr);
    writeFileSync(file('lines'), stdout);
    const ran = shell("tr '\\n' '\\0' <lines | xargs -0 -n 1 -P 2 sh -c");
    assert.equal(ran.status, 0, ran.stderr);
    assert.equal(filesIn(out).length, 2);
    for (const path of filesIn(out)) assert.match(resultOf(path).config, /&eq=k%20%3D/);
});

test('a job: named by its config, however that is written; done at once where it is done', () => {
    const out = file('named');
    const first = job(tiny, out);
    assert.equal(first.status, 0, first.stderr);
    const [path] = filesIn(out);
    const name = /^([0-9a-f]{16}) accuracy /.exec(first.stdout)[1];
    assert.ok(path.endsWith(join(name.slice(0, 2), `${name}.json`)), path);
    const before = statSync(path);
    for (const same of [
        'steps=6&width=8.0&batch=2&task=mqar&threads=2',
        `${tiny}&rate=2e-2`,
        'v=1&' + tiny,
    ]) {
        const again = job(same, out);
        assert.equal(again.stdout, first.stdout, again.stderr);
        assert.equal(again.status, 0);
    }
    assert.deepEqual([statSync(path).ino, statSync(path).mtimeMs], [before.ino, before.mtimeMs]);
    assert.equal(filesIn(out).length, 1);
    // Judged on another number of sequences, it is another job; and train says the same of the weights.
    assert.equal(job(tiny, out, '--save-every', '5').stdout, first.stdout);
    assert.equal(seqmix('job', tiny, '--out', out).status, 0);
    assert.equal(filesIn(out).length, 2);
    const train = seqmix('train', tiny, '--json', '--eval', '20').stdout.trim().split('\n').at(-1);
    assert.equal(resultOf(path).digest, JSON.parse(train).digest);
    assert.equal(resultOf(path).curve.length, 6);
});

test('a result says what train says of the same training: every figure, and the mean of each stretch of its losses', () => {
    for (const [config, metric] of [
        ['task=sc&mixer=cat&signals=2&length=16&noise=2&width=16&batch=16&steps=203&rate=0.01', 'accuracy'],
        ['task=cumsum&mixer=ema&width=8&batch=4&steps=401', 'r2'],
        ['task=charlm&mixer=ema&width=8&batch=2&steps=5', 'bits'],
    ]) {
        const out = file(`figures-${metric}`);
        const kept = join(folder, 'figures.st');
        assert.equal(job(config, out, '--threads', '2').status, 0);
        const { result, machine } = JSON.parse(readFileSync(filesIn(out)[0], 'utf8'));
        const told = seqmix('train', config, '--json', '--eval', '20', '--save', kept).stdout;
        const lines = linesOf(told).map((line) => JSON.parse(line));
        const end = lines.at(-1);
        const judged = JSON.parse(seqmix('eval', kept, '--count', '20', '--json').stdout);
        for (const key of ['step', 'params', 'digest', 'loss']) assert.equal(result[key], end[key], key);
        for (const key of ['accuracy', 'sequence_accuracy', 'r2', 'bits'])
            assert.equal(result[key], judged[key], `${metric}: ${key}`);
        assert.equal(result.held_out_loss, judged.loss);
        assert.deepEqual([result.metric, result.value], [metric, judged[metric]]);
        const steps = lines.filter(({ word }) => word);
        assert.equal(result.word, steps.at(-1).word);
        const losses = steps.map(({ loss }) => loss);
        assert.equal(losses.length, result.step);
        assert.equal(result.stride, Math.ceil(losses.length / 200));
        const points = Math.ceil(losses.length / result.stride);
        assert.equal(result.curve.length, points);
        for (const [i, point] of result.curve.entries()) {
            const of = losses.slice(i * result.stride, (i + 1) * result.stride);
            const mean = of.reduce((a, b) => a + b) / of.length;
            assert.ok(Math.abs(point - mean) <= 1e-5 * Math.abs(mean), `${metric}: point ${i}`);
        }
        assert.deepEqual([machine.threads, machine.from, machine.isa], [2, 0, lines[0].isa]);
        assert.ok(machine.ended > Date.now() / 1000 - 600 && machine.seconds < 600);
    }
});

test('a result or a checkpoint under the name of before is found, and gone on with', () => {
    const [now, before] = [file('now'), file('before')];
    assert.equal(job(tiny, now).status, 0);
    const [path] = filesIn(now);
    const text = readFileSync(path, 'utf8');
    const fnv = (body) => {
        let h = 0xcbf29ce484222325n;
        for (const byte of Buffer.from(body)) h = BigInt.asUintN(64, (h ^ BigInt(byte)) * 0x100000001b3n);
        return h.toString(16).padStart(16, '0');
    };
    const { name, config } = resultOf(path);
    const later = ['&optimizer=adamw', '&recompute=0']; // keys that came later
    const without = (text) => later.reduce((rest, key) => rest.replace(key, ''), text);
    assert.equal(without(config).length, config.length - later.join('').length);
    const old = fnv(`${without(config)}#20`);
    assert.notEqual(name, old);
    const body = without(
        text.slice(0, text.lastIndexOf(',"checksum"')).replace(`"name":"${name}"`, `"name":"${old}"`),
    );
    const as = join(before, old.slice(0, 2), `${old}.json`);
    mkdirSync(join(before, old.slice(0, 2)), { recursive: true });
    writeFileSync(as, `${body},"checksum":"${fnv(body)}"}\n`);
    const again = job(tiny, before);
    assert.equal(again.status, 0, again.stderr);
    assert.match(again.stdout, new RegExp(`^${old} accuracy`));
    assert.deepEqual(filesIn(before), [as]);
    assert.match(seqmix('grid', tiny, '--count', '--eval', '20', '--out', before).stdout, /^1 of 1 done/m);
    assert.match(seqmix('collect', before).stdout, /^1 result, 1 setting/);
});

test('a loss that stops being finite is a result: it is not tried again', () => {
    const config =
        'task=cumsum&mixer=linear&batch=2&steps=50&width=8&rate=10&clip=0&epsilon=1e-30&warmup=0&decay=10';
    const first = job(config, file('wild'));
    assert.equal(first.status, 0, first.stderr);
    assert.match(first.stdout, /stopped at step \d+$/m);
    const [path] = filesIn(file('wild'));
    assert.match(resultOf(path).stopped, /stopped being finite at step/);
    assert.equal(resultOf(path).value, null);
    assert.equal(job(config, file('wild')).stdout, first.stdout);
});

// ---- Stopped and gone on with

const long = 'task=mqar&batch=2&width=8&steps=4000';
const exitOf = (child) => new Promise((done) => child.once('close', (code, signal) => done(code ?? signal)));
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
function start(out, ...more) {
    const args = ['job', long, '--out', out, '--eval', '20', ...more];
    const child = spawn('build/seqmix', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    child.said = '';
    child.stderr.on('data', (text) => (child.said += text));
    return child;
}
const straight = (() => {
    assert.equal(job(long, file('straight')).status, 0);
    return readFileSync(filesIn(file('straight'))[0], 'utf8').replace(/,"machine".*/s, '');
})();
const endsAsStraight = (out) => {
    const files = filesIn(out).filter((path) => !path.includes('.seqmix-'));
    assert.deepEqual(
        files.map((path) => readFileSync(path, 'utf8').replace(/,"machine".*/s, '')),
        [straight],
    );
};

test('TERM, INT, HUP and USR1 save and end with 75; the same command goes on to the same bytes', async () => {
    const out = file('stopped');
    let sittings = 0;
    let begun = 30; // milliseconds after which it hears signals, as far as is known
    const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGTERM', 'SIGUSR1'];
    while (signals.length) {
        const child = start(out);
        const end = exitOf(child);
        await pause(begun + 40 * sittings);
        child.kill(signals[0]);
        const code = await end;
        if (code === 0) break; // it was at the end of its last step
        if (code === 75) {
            sittings++;
            signals.shift();
            continue;
        }
        // Before it hears signals it dies of one: on a busy machine that takes longer.
        assert.equal(code, signals[0], child.said);
        begun *= 2;
        assert.ok(begun < 60_000, `it dies of ${code}`);
    }
    assert.ok(sittings > 0);
    const left = filesIn(out).find((path) => path.endsWith('.safetensors'));
    const from = left ? Number(/"step":"(\d+)"/.exec(readFileSync(left, 'latin1'))[1]) : null;
    assert.equal(job(long, out).status, 0);
    endsAsStraight(out);
    const [done] = filesIn(out).filter((path) => path.endsWith('.json'));
    if (left) assert.equal(JSON.parse(readFileSync(done, 'utf8')).machine.from, from);
});

test('killed outright, it goes on from its last checkpoint', async () => {
    const out = file('killed');
    const child = start(out, '--save-every', '1');
    const end = exitOf(child);
    // A checkpoint by time, or the end.
    while (
        child.exitCode === null &&
        !(existsSync(out) && filesIn(out).some((path) => path.endsWith('.safetensors')))
    )
        await pause(20);
    child.kill('SIGKILL');
    await end;
    const [, from] = filesIn(out)
        .filter((path) => path.endsWith('.safetensors'))
        .map((path) => /"step":"(\d+)"/.exec(readFileSync(path, 'latin1')))[0] ?? [0, 0];
    assert.equal(job(long, out).status, 0);
    endsAsStraight(out);
    const done = filesIn(out).find((path) => path.endsWith('.json'));
    assert.equal(JSON.parse(readFileSync(done, 'utf8')).machine.from, Number(from));
});

test('several workers on one job: one computes it, the others say who; one result, no checkpoint left', async () => {
    const out = file('several');
    const children = [1, 2, 3].map(() => start(out, '--save-every', '1'));
    const codes = await Promise.all(children.map(exitOf));
    // One that began when it was done already ends with 0, too.
    assert.equal(codes.filter((code) => code === 75 || code === 0).length, 3, codes);
    assert.ok(codes.includes(0));
    for (const [i, child] of children.entries())
        if (codes[i] === 75)
            assert.match(child.said, /\(process \d+.*works on [0-9a-f]{16}: nothing is done here/);
    endsAsStraight(out);
});

// ---- What stands in the way

test('half a result, a flipped bit, a foreign file: kept under another name, and the job done again', () => {
    const out = file('damaged');
    assert.equal(job(tiny, out).status, 0);
    const [path] = filesIn(out);
    const whole = readFileSync(path);
    const flipped = Buffer.from(whole);
    flipped[whole.indexOf('"digest":"') + 12] ^= 1;
    for (const [i, bytes] of [
        whole.subarray(0, 300),
        flipped,
        Buffer.alloc(0),
        Buffer.from('{}\n'),
    ].entries()) {
        writeFileSync(path, bytes);
        const { status, stderr } = job(tiny, out);
        assert.equal(status, 0, stderr);
        assert.match(
            stderr,
            /note: .* no whole result of a job: .* it is now .*damaged-\d, and the job is done again/,
        );
        assert.deepEqual(readFileSync(`${path}.damaged-${i + 1}`), bytes);
        assert.deepEqual(resultOf(path), JSON.parse(whole).result);
    }
    // A checkpoint that is none, and one of another training.
    seqmix('train', `${tiny}&seed=2&steps=2`, '--save', file('other'), '--eval', '0');
    for (const bytes of [Buffer.from('no checkpoint'), readFileSync(file('other'))]) {
        rmSync(path);
        writeFileSync(path.replace('.json', '.safetensors'), bytes);
        const { status, stderr } = job(tiny, out);
        assert.equal(status, 0, stderr);
        assert.match(stderr, /is no checkpoint of this job: /);
        assert.deepEqual(resultOf(path), JSON.parse(whole).result);
    }
});

test('a result of another version, or of another config under its name, is left alone', () => {
    const out = file('version');
    assert.equal(job(tiny, out).status, 0);
    const [path] = filesIn(out);
    const text = readFileSync(path, 'utf8');
    const sum = (body) => {
        let h = 0xcbf29ce484222325n;
        for (const byte of Buffer.from(body)) h = BigInt.asUintN(64, (h ^ BigInt(byte)) * 0x100000001b3n);
        return `${body},"checksum":"${h.toString(16).padStart(16, '0')}"}\n`;
    };
    const body = text.slice(0, text.lastIndexOf(',"checksum"'));
    assert.equal(sum(body), text);
    for (const [edited, sentence] of [
        [
            sum(body.replace('"version":"0.1.0"', '"version":"0.0.9"')),
            /written by seqmix 0\.0\.9 .* give each its own folder/,
        ],
        [sum(body.replace('seed=1', 'seed=7')), /is the result of another config/],
    ]) {
        writeFileSync(path, edited);
        const { status, stderr } = job(tiny, out);
        assert.equal(status, 2);
        assert.match(stderr, sentence);
        assert.equal(readFileSync(path, 'utf8'), edited);
    }
});

test('no folder, a full disk: a sentence, before the training where that can be known', () => {
    writeFileSync(file('plain'), '');
    assert.match(
        job(tiny, file('plain')).stderr,
        /--out: .*plain cannot be made a folder: it is not a folder/,
    );
    assert.match(job(tiny, '/proc/seqmix').stderr, /cannot be made a folder/);
    // No room for a byte: as on a full disk, the write itself fails.
    const full = shell(`trap '' XFSZ; ulimit -f 0; seqmix job '${tiny}' --out full --eval 20`);
    assert.equal(full.status, 2);
    assert.match(full.stderr, /cannot be written: File too large/);
    assert.deepEqual(filesIn(file('full')), []);
    assert.equal(job(tiny, file('full')).status, 0);
});

// ---- Slurm's script, without Slurm: its variables, and an scontrol that takes notes. (With it: make
// test-cluster.)

test('--slurm prints a whole array script: parts, logs, requeue after a signal', async () => {
    const grid = [
        'grid',
        `${long}&mixer=cat~mixer=attention`,
        'rate=0.01,0.02',
        '--out',
        'results',
        '--eval',
        '20',
    ];
    const script = spawnSync(resolve('build/seqmix'), [...grid, '--slurm', '--tasks', '2'], {
        encoding: 'utf8',
        cwd: folder,
    });
    assert.equal(script.status, 0, script.stderr);
    writeFileSync(file('grid.sbatch'), script.stdout);
    assert.match(script.stdout, /^#!\/bin\/bash\n# 4 jobs in 2 array tasks/);
    for (const line of [
        '--array=1-2',
        '--requeue',
        '--signal=B:USR1@120',
        `--chdir="${realpathSync(folder)}"`,
        '--output="results/logs/%A_%a.log"',
    ])
        assert.ok(script.stdout.includes(`#SBATCH ${line}\n`), line);
    assert.ok(existsSync(file('results', 'logs'))); // Slurm makes none
    mkdirSync(file('bin'));
    writeFileSync(file('bin', 'scontrol'), '#!/bin/sh\necho "$@" >>notes\n');
    chmodSync(file('bin', 'scontrol'), 0o755);
    const task = (i, cpus = '1') => {
        const child = spawn('bash', ['grid.sbatch'], {
            cwd: folder,
            env: {
                ...process.env, // without seqmix: the script knows where it is
                PATH: file('bin') + delimiter + process.env.PATH,
                SLURM_ARRAY_TASK_ID: String(i),
                SLURM_ARRAY_JOB_ID: '40',
                SLURM_JOB_ID: String(40 + i),
                SLURM_CPUS_PER_TASK: cpus,
            },
        });
        return child;
    };
    const done = () => filesIn(file('results')).filter((path) => path.endsWith('.json')).length;
    // Stopped in the middle of its jobs: 75, and asks for its turn again.
    const first = task(1, '2');
    const end = exitOf(first);
    while (first.exitCode === null && readdirSync(file('results')).length < 2) await pause(10);
    first.kill('SIGUSR1');
    const code = await end;
    if (done() < 2) {
        assert.equal(code, 75);
        // This task, not the array that it is the last task of.
        assert.equal(readFileSync(file('notes'), 'utf8'), 'requeue 40_1\n');
    }
    // A cluster that does not requeue: the log says so, and not that it was queued.
    writeFileSync(file('bin', 'scontrol'), '#!/bin/sh\nexit 1\n');
    const refused = task(2);
    refused.said = '';
    for (const of of [refused.stdout, refused.stderr]) of.on('data', (text) => (refused.said += text));
    const ended = exitOf(refused);
    const began = readdirSync(file('results')).length;
    while (refused.exitCode === null && readdirSync(file('results')).length === began) await pause(10);
    refused.kill('SIGUSR1');
    if ((await ended) === 75) {
        assert.match(
            refused.said,
            /NOT queued again \(this cluster does not requeue\): sbatch the same script/,
        );
        assert.doesNotMatch(refused.said, /^queued again/m);
    }
    assert.deepEqual(await Promise.all([exitOf(task(1, '2')), exitOf(task(2))]), [0, 0]);
    assert.equal(done(), 4);
    assert.equal(filesIn(file('results')).length, 4);
});
