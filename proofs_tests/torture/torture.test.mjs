// torture.test.mjs: what may happen to a training and to what is written of it (checkpoints, results of
// jobs, exported modules, states), many times over: killed at any moment; every allocation, read, write,
// sync, rename and open failing once; any bit of a file flipped.
// `make torture`, part of `make test-all`: minutes. TORTURE=0.01 does a hundredth of the kills and flips.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
    cpSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    renameSync,
    rmSync,
    writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { load } from '../../build/wasm/seqmix.js';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-torture-'));
after(() => rmSync(folder, { recursive: true }));
const file = (...names) => join(folder, ...names);
const program = resolve(process.env.SEQMIX ?? 'build/seqmix');
const failing = resolve('build/torture/failing.so');
const times = (n) => Math.max(1, Math.round(n * Number(process.env.TORTURE ?? 1)));
const strays = (dir) => readdirSync(dir, { recursive: true }).filter((name) => name.endsWith('.part'));

function seqmix(args, env = {}) {
    const options = { encoding: 'utf8', timeout: 300000, maxBuffer: 1 << 28, cwd: folder };
    const done = spawnSync(program, args, { ...options, env: { ...process.env, ...env } });
    const { status, stdout, stderr, signal } = done;
    assert.equal(signal, null, `seqmix ${args.join(' ')} died of ${signal}: ${stderr}`);
    return { status, stdout, stderr };
}

const tiny = 'mixer=cat&task=mqar&vocab=8&length=8&pairs=2&width=8&batch=2';
function save(path, steps) {
    const { status, stderr } = seqmix(['train', `${tiny}&steps=${steps}`, '--eval', '0', '--save', path]);
    assert.equal(status, 0, stderr);
    return readFileSync(path);
}
const good = save(file('good'), 3);
const JOB = ['job', `${tiny}&steps=3`, '--out', 'made', '--eval', '2', '--every', '1'];
const EXPORT = ['export', 'good', '--pytorch', 'made/model.py'];
// Where a job and an export write: empty but for what a job has found of this build. (The first job of a
// build checks that the machine computes what others do: a fifth of a second, and 16,000 allocations.)
assert.equal(seqmix(JOB).status, 0);
renameSync(file('made', 'builds'), file('builds'));
function emptied(first = false) {
    rmSync(file('made'), { recursive: true, force: true });
    mkdirSync(file('made'));
    if (!first) cpSync(file('builds'), file('made', 'builds'), { recursive: true });
}
const digest = (bytes) => createHash('sha256').update(bytes).digest('hex');
/** What is kept of a file: of a job's result, what training decides; of any other, every byte. */
const kept = (path) =>
    path.endsWith('.json')
        ? JSON.stringify(JSON.parse(readFileSync(path)).result)
        : digest(readFileSync(path));
const filesIn = (dir) =>
    readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('builds'))
        .map((entry) => join(entry.parentPath, entry.name))
        .sort();
/** What the program says that the file holds; it looks at the checksum of every byte. */
function step(path) {
    const { status, stderr } = seqmix(['eval', path, '--count', '1']);
    assert.equal(status, 0, `${path}: ${stderr}`);
    const bytes = readFileSync(path);
    return Number(JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE(0)))).__metadata__.step);
}

test('killed at random moments of a save: nothing torn, nothing left', async () => {
    const dir = file('killed'),
        run = join(dir, 'run'),
        kills = times(1000);
    mkdirSync(dir);
    save(run, 3);
    let inSave = 0,
        last = 3;
    for (let i = 0; i < kills; i++) {
        const args = ['train', 'steps=100000000', '--load', run, '--save', run, '--save-every', '1'];
        const child = spawn(program, [...args, '--json', '--eval', '0']);
        await new Promise((heard) => child.stdout.once('data', heard));
        child.stdout.resume();
        await new Promise((passed) => setTimeout(passed, 40 * Math.random()));
        child.kill('SIGKILL');
        await new Promise((ended) => child.once('close', ended));
        const left = strays(dir).length;
        assert.ok(left <= 1, `kill ${i}: the one before was not swept: ${readdirSync(dir)}`);
        inSave += left;
        const now = step(run);
        assert.ok(now >= last, `kill ${i}: step ${now} after step ${last}`);
        last = now;
    }
    console.log(`${kills} kills, ${inSave} of them in the middle of a save, step ${last}`);
    // Most of such a training is saving; where few kills fall into one, this test sees little.
    assert.ok(inSave >= kills / 10, `${inSave} of ${kills}`);
    save(run, last);
    assert.deepEqual(readdirSync(dir), ['run']);
});

test('killed at random moments of a job and of an export: whole or not there, and done the next time', async () => {
    const dir = file('made'),
        kills = times(1000);
    for (const args of [JOB, EXPORT]) {
        let during = 0;
        emptied();
        const began = performance.now();
        assert.equal(seqmix(args).status, 0);
        const takes = performance.now() - began,
            [path, ...more] = filesIn(dir),
            entire = kept(path);
        assert.deepEqual(more, []);
        for (let i = 0; i < kills; i++) {
            emptied(i % 4 === 0);
            const child = spawn(program, args, { cwd: folder });
            await new Promise((passed) => setTimeout(passed, 1.2 * takes * Math.random()));
            during += child.kill('SIGKILL') && child.exitCode === null;
            if (child.exitCode === null && child.signalCode === null)
                await new Promise((ended) => child.once('close', ended));
            if (existsSync(path)) assert.equal(kept(path), entire, `kill ${i}`);
            // (A claim without its line is held for two minutes: whose it is, nobody knows.)
            for (const name of filesIn(dir))
                if (name.endsWith('.claim') && !readFileSync(name).length) rmSync(name);
            const { status, stderr } = seqmix(args);
            assert.equal(status, 0, `kill ${i}: ${stderr}`);
            assert.equal(kept(path), entire, `kill ${i}`);
            // (Where several machines write, nobody sweeps what a dead one left.)
            const others = filesIn(dir).filter((name) => name !== path && !name.endsWith('.part'));
            assert.deepEqual(others, [], `kill ${i}`);
        }
        console.log(`${kills} kills of ${args[0]}, ${during} of them before its end`);
        assert.ok(during >= kills / 10, `${during} of ${kills}`);
    }
});

test(
    'the order of a save: written, synced, renamed, its folder synced',
    { skip: !existsSync(failing) },
    () => {
        const trace = file('trace');
        const args = ['train', `${tiny}&steps=3`, '--eval', '0', '--save', file('good')];
        assert.equal(seqmix(args, { LD_PRELOAD: failing, FAIL_TRACE: trace }).status, 0);
        const seen = readFileSync(trace, 'utf8')
            .split('\n')
            .filter((line) => line.includes(folder) && !/^(open|close) /.test(line))
            .map((line) => line.replace(/[^ ]*\.part$/, 'TEMPORARY').replace(folder, 'FOLDER'));
        const order = seen.filter((line, i) => line !== seen[i - 1]); // a write may take several
        assert.deepEqual(order.slice(-4), [
            'write TEMPORARY',
            'sync TEMPORARY',
            'rename FOLDER/good',
            'sync FOLDER',
        ]);
    },
);

// What each program leaves where nothing fails, and `entire` of what it left where something did.
const programs = [
    {
        name: 'train',
        args: ['train', `${tiny}&steps=2`, '--json', '--eval', '2', '--every', '1', '--save', 'kept'],
        trains: true,
    },
    {
        name: 'train --load',
        args: [
            'train',
            'steps=6',
            '--load',
            'kept',
            '--json',
            '--eval',
            '2',
            '--save',
            'kept',
            '--save-every',
            '2',
        ],
        trains: true,
    },
    { name: 'eval', args: ['eval', 'kept', '--count', '2', '--json'] },
    { name: 'data', args: ['data', `${tiny}&seed=4`, '--count', '3', '--out', 'set'], set: 'set' },
    { name: 'export', args: EXPORT, set: 'made', whole: true },
    { name: 'job', args: JOB, set: 'made', whole: true },
    { name: 'first job', args: JOB, set: 'made', whole: true, first: true, stride: { alloc: 61 } },
];

for (const [kind, errno] of [
    ['alloc', 12], // ENOMEM
    ['read', 5], // EIO
    ['write', 28], // ENOSPC
    ['sync', 5],
    ['rename', 28],
    ['open', 24], // EMFILE
    ['close', 28],
])
    test(`each ${kind} fails once: nothing is lost, and no part left`, { skip: !existsSync(failing) }, () => {
        const run = file('kept'),
            says = file('says');
        let tried = 0,
            survived = 0;
        for (const { name, args, trains, set, whole, first, stride } of programs) {
            const env = { LD_PRELOAD: failing, FAIL_CALL: kind, FAIL_ERRNO: String(errno), FAIL_SAYS: says };
            const fresh = () => {
                writeFileSync(run, good);
                for (const made of [`${run}.stopped`, file('set')])
                    rmSync(made, { recursive: true, force: true });
                emptied(first);
            };
            const left = () =>
                (set ? filesIn(file(set)) : [run]).map((path) => `${path} ${kept(path)}`).join(', ');
            fresh();
            assert.equal(seqmix(args, env).status, 0);
            const calls = Number(readFileSync(says)),
                entire = left();
            for (let at = 0; at < calls; at += stride?.[kind] ?? 1, tried++) {
                fresh();
                const { status, stdout, stderr } = seqmix(args, { ...env, FAIL_AT: String(at) });
                const where = `${name}, ${kind} ${at} of ${calls}: status ${status}, ${stderr}`;
                assert.ok(status === 0 || (status === 2 && stderr.length > 12), where);
                assert.deepEqual(strays(folder), [], where);
                if (whole) {
                    // What stands is whole; what stands beside it is told from it, and goes when it is done.
                    const stands = filesIn(file(set)).filter((path) => /\.(json|py)$/.test(path));
                    for (const path of stands) assert.equal(`${path} ${kept(path)}`, entire, where);
                    const empty = filesIn(file(set)).length === 0;
                    if (status !== 0 && !empty) assert.equal(seqmix(args).status, 0, where);
                    if (status !== 0 && !empty) assert.equal(left(), entire, where);
                }
                if (status === 0) assert.equal(left(), entire, where);
                // The file of before, until something was learnt; then that of the whole training, or,
                // beside the file of before, that of the steps until it failed.
                const now = digest(readFileSync(run)),
                    steps = trains ? stdout.match(/"word"/g)?.length : 0,
                    learnt = `${run} ${now}` === entire;
                if (steps && existsSync(`${run}.stopped`)) assert.ok(step(`${run}.stopped`) >= steps, where);
                else if (steps) assert.ok(learnt, where);
                else assert.ok(learnt || now === digest(good), where);
                survived += status === 0;
            }
        }
        console.log(`${tried} of ${kind} failed once, ${survived} without harm, the others with a sentence`);
        assert.ok(tried > 0);
    });

test('bits of a checkpoint flipped: each is a sentence', () => {
    const flips = times(10000),
        path = file('flipped');
    for (let i = 0; i < flips; i++) {
        const bytes = Buffer.from(good),
            bit = Math.floor(Math.random() * 8 * bytes.length);
        bytes[bit >> 3] ^= 1 << (bit & 7);
        writeFileSync(path, bytes);
        const { status, stdout, stderr } = seqmix(['eval', path, '--count', '1']);
        assert.equal(status, 2, `bit ${bit} may be anything: ${stdout}${stderr}`);
        assert.match(stderr, /^seqmix: .{10,}/, `bit ${bit}`);
    }
    console.log(`${flips} bits flipped, one at a time`);
});

test('bits of a result flipped: each is noticed, and the file kept', () => {
    const flips = times(10000);
    rmSync(file('made'), { recursive: true, force: true });
    assert.equal(seqmix(JOB).status, 0);
    const [path] = filesIn(file('made')),
        whole = readFileSync(path);
    for (let i = 0; i < flips; i++) {
        const bytes = Buffer.from(whole),
            bit = Math.floor(Math.random() * 8 * bytes.length);
        bytes[bit >> 3] ^= 1 << (bit & 7);
        writeFileSync(path, bytes);
        const { stderr } = seqmix(['collect', 'made', '--out', 'tables']);
        assert.match(stderr, /no whole result|written by|there is no result/, `bit ${bit} may be anything`);
        assert.deepEqual(readFileSync(path), bytes);
    }
    console.log(`${flips} bits of a result flipped, one at a time`);
});

test('bits of a state flipped: each is a sentence', async () => {
    const flips = times(10000),
        lab = await load({ whole: true });
    for (const mixer of ['cat', 'attention', 'gla', 'ema']) {
        const run = lab.open(`${tiny}&mixer=${mixer}`),
            state = run.state({ sequences: 2, most: 8 });
        state.push([1, 2, 3, 4, 5, 6]);
        const whole = state.save();
        for (let i = 0; i < flips / 4; i++) {
            const bytes = Uint8Array.from(whole),
                bit = Math.floor(Math.random() * 8 * bytes.length);
            bytes[bit >> 3] ^= 1 << (bit & 7);
            assert.throws(
                () => run.loadState(bytes),
                { name: 'SeqmixError' },
                `${mixer}: bit ${bit} may be anything`,
            );
        }
        run.loadState(whole).close();
        run.close();
    }
    console.log(`${flips} bits of states flipped, one at a time`);
});
