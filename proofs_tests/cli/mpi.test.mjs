// mpi.test.mjs: seqmix-mpi, one training on many processes: the digest of one process for every number of
// them and any mix of instruction sets; a process that dies, and the checkpoint going on with others. What
// every mixer does is judged without MPI by test_ranks.c; SEQMIX_MPI=all (make test-mpi) tries each here.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
    copyFileSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    rmSync,
    statSync,
    symlinkSync,
    writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';

const one = resolve('build/seqmix'),
    many = resolve('build/seqmix-mpi');
const skip =
    spawnSync('which', ['mpirun']).status !== 0 || !existsSync(many)
        ? 'no MPI here (apt-get install libopenmpi-dev openmpi-bin, or libmpich-dev mpich)'
        : false;
const folder = mkdtempSync(join(tmpdir(), 'seqmix-mpi-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const OPEN_MPI =
    !skip && spawnSync('mpirun', ['--version'], { encoding: 'utf8' }).stdout.includes('Open MPI');
const env = {
    ...process.env,
    OMPI_ALLOW_RUN_AS_ROOT: '1',
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
    // Between the signal at which a run saves and the one that kills: on a busy machine a second is little.
    OMPI_MCA_odls_base_sigkill_timeout: '10',
};
const launch = (count) => [...(OPEN_MPI ? ['--oversubscribe'] : []), '-n', String(count)];
const isas = (() => {
    const said = spawnSync(one, ['help'], { encoding: 'utf8', env: { ...env, SMX_ISA: 'no such' } }).stderr;
    return said
        .slice(said.indexOf('one of') + 7)
        .trim()
        .split(', ');
})();
/** Process r forces instruction set r of those that are here, around in a circle. */
const MIXED = [
    'sh',
    '-c',
    `i=\${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; set -- ${isas.join(' ')} -- "$@"
    n=$((i % ${isas.length} + 1)); eval "export SMX_ISA=\\$$n"; shift ${isas.length + 1}; exec "$@"`,
    'sh',
];
const mpi = (count, args, { mixed = false } = {}) => {
    const ran = spawnSync('mpirun', [...launch(count), ...(mixed ? MIXED : []), many, ...args], {
        encoding: 'utf8',
        env,
        timeout: 300_000,
    });
    return { status: ran.status, stdout: ran.stdout, stderr: ran.stderr };
};
const ended = (text) => JSON.parse(text.trim().split('\n').at(-1));
/** What one process comes to. */
const alone = (config, ...more) => {
    const ran = spawnSync(one, ['train', config, '--json', ...more], { encoding: 'utf8', env });
    assert.equal(ran.status, 0, ran.stderr);
    return (
        ran.stdout
            .split('\n')
            .filter((line) => line.includes('"word"'))
            .join('\n') + ended(ran.stdout).digest
    );
};
const shared = (count, config, options, ...more) => {
    const { status, stdout, stderr } = mpi(count, ['train', config, '--json', ...more], options);
    assert.equal(status, 0, `${count} processes: ${stdout.slice(-400)}${stderr}`);
    return (
        stdout
            .split('\n')
            .filter((line) => line.includes('"word"'))
            .join('\n') + ended(stdout).digest
    );
};

const SMALL = 'task=mqar&vocab=32&length=40&pairs=4&width=16&heads=2&batch=11&steps=5&warmup=2&mlp=1';

test('every number of processes gives the losses and the digest of one', { skip }, () => {
    const config = `mixer=cat&norm=layer&${SMALL}`;
    const expected = alone(config, '--eval', '0');
    for (const count of [1, 2, 3, 4, 8]) assert.equal(shared(count, config, {}, '--eval', '0'), expected);
});

test(
    "docs/MPI.md's command does as it is written there, and its checkpoint goes on with one",
    { skip },
    () => {
        const [, line, config] = /\n(mpirun .* train '([^']*)' .*)\n/.exec(
            readFileSync('docs/MPI.md', 'utf8'),
        );
        const here = mkdtempSync(join(folder, 'newcomer-'));
        symlinkSync(resolve('build'), join(here, 'build'));
        const typed = spawnSync('sh', ['-c', line], { cwd: here, env, encoding: 'utf8' });
        assert.equal(typed.status, 0, typed.stderr);
        const right = /digest (\w+)/.exec(spawnSync(one, ['train', config], { encoding: 'utf8' }).stdout);
        assert.equal(/digest (\w+)/.exec(typed.stdout)[1], right[1]);
        const again = spawnSync(one, ['train', '--load', 'run.safetensors'], { cwd: here, encoding: 'utf8' });
        assert.match(again.stdout, new RegExp(`digest ${right[1]}`));
    },
);

test('so do processes on instruction sets of their own, and with threads', { skip }, () => {
    for (const mixer of ['las', 'focus', 'mamba']) {
        const config = `mixer=${mixer}&${SMALL}`;
        const expected = alone(config);
        assert.equal(shared(3, config, { mixed: true }), expected, mixer);
        assert.equal(shared(2, `${config}&threads=2`, { mixed: true }), expected, `${mixer}, threads`);
    }
});

if (process.env.SEQMIX_MPI === 'all')
    test('every mixer', { skip }, () => {
        const mixers = spawnSync(one, ['help', 'mixer'], { encoding: 'utf8' }).stdout.match(/^\w+(?= \()/gm);
        assert.ok(mixers.length > 15, String(mixers));
        for (const [i, name] of mixers.filter((name) => name !== 'equations').entries()) {
            const config = `mixer=${name}&${SMALL}`;
            assert.equal(shared([2, 3, 4, 8][i % 4], config, { mixed: true }), alone(config), name);
        }
    });

test('a checkpoint goes on with another number of processes', { skip }, () => {
    const file = join(folder, 'run.safetensors'),
        config = `mixer=cat&${SMALL}`;
    shared(3, config, {}, '--save', file);
    const went = (load) =>
        spawnSync(one, ['train', 'steps=9', '--load', load, '--json'], { encoding: 'utf8', env });
    const { status, stdout } = mpi(2, ['train', 'steps=9', '--load', file, '--json']);
    assert.equal(status, 0);
    assert.equal(ended(stdout).digest, ended(went(file).stdout).digest);
});

/** Processes with this text among what they were called with, and their number in the run. */
const processes = (text) =>
    readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .flatMap((pid) => {
            try {
                const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
                const rank = readFileSync(`/proc/${pid}/environ`, 'latin1').match(
                    /(?:OMPI_COMM_WORLD|PMI)_RANK=(\d+)/,
                );
                return line.includes(text) && line.startsWith(many) && rank
                    ? [{ pid: Number(pid), rank: Number(rank[1]) }]
                    : [];
            } catch {
                return [];
            }
        });

test('a process that dies ends the run with a sentence, and others go on', { skip }, async () => {
    const file = join(folder, 'killed.safetensors'),
        config = 'mixer=cat&task=mqar&width=32&steps=1000000';
    const child = spawn('mpirun', [...launch(3), many, 'train', config, '--save', file, '--json'], { env });
    let said = '';
    child.stderr.on('data', (data) => (said += data));
    const left = new Promise((done) => child.on('exit', done));
    await new Promise((done) => {
        let seen = '';
        child.stdout.on('data', (data) => {
            seen += data;
            if (seen.includes('"step":30,')) done();
        });
    });
    const victim = processes(file).find(({ rank }) => rank === 2);
    process.kill(victim.pid, 'SIGKILL');
    assert.notEqual(await left, 0);
    // Process 0 finds it out by itself, or mpirun's SIGTERM comes first, at which a run saves and stops.
    const sentence =
        /(?:does not answer to process 0; the weights are those before step|holds step|stopped at step) (\d+)/;
    assert.match(said, sentence, said);
    assert.ok(statSync(file).size > 0);
    const steps = Number(said.match(sentence)[1]) + 4;
    const { stdout } = mpi(2, ['train', `steps=${steps}`, '--load', file, '--json', '--eval', '0']);
    const uncut = spawnSync(
        one,
        ['train', config, '--json', '--eval', '0'].with(1, `${config}&steps=${steps}`),
        {
            encoding: 'utf8',
            env,
        },
    );
    assert.equal(ended(stdout).digest, ended(uncut.stdout).digest);
});

test('what cannot be shared is one sentence', { skip }, () => {
    const refused = (count, args, words) => {
        const { status, stdout, stderr } = mpi(count, args);
        assert.notEqual(status, 0, `${args} ran`);
        const own = (stdout + stderr).split('\n').filter((line) => line.startsWith('seqmix: '));
        assert.match(own[0] ?? '', words);
        assert.equal(
            new Set(own.map((line) => line.replace(/process \d+ of \d+: /, ''))).size,
            1,
            own.join('\n'),
        );
    };
    refused(3, ['train', 'batch=2'], /3 processes cannot share batch=2: allowed are 1 to 2, a sequence/);
    refused(2, ['train', 'mixer=cat&fast=1'], /fast=1 .*0 for several processes/);
    refused(2, ['train', 'mixer=no'], /mixer=no/);
    refused(2, ['selfcheck'], /only seqmix-mpi train/);
});

test(
    'where processes on a busy machine are slower than one would be, it is said',
    { skip: skip || !OPEN_MPI },
    () => {
        const ran = spawnSync(
            'taskset',
            [
                '-c',
                '0',
                'mpirun',
                ...launch(4),
                '--bind-to',
                'none',
                many,
                'train',
                'task=mqar&batch=8&width=8&steps=60',
                '--eval',
                '0',
            ],
            { encoding: 'utf8', env },
        );
        assert.equal(ran.status, 0, ran.stderr);
        assert.match(
            ran.stderr,
            /slower than one: 4 processes took [\d.]+ s, one alone would take about [\d.]+ s/,
        );
    },
);

test(
    'job --ranks: the bytes of one process; stopped, one process or several go on from there',
    { skip },
    async () => {
        const config = 'task=mqar&batch=8&width=16&steps=400';
        const job = (out, ...more) => [
            one,
            'job',
            config,
            '--out',
            join(folder, out),
            '--eval',
            '20',
            ...more,
        ];
        const run = ([command, ...args]) =>
            spawnSync(command, args, { encoding: 'utf8', env, timeout: 300_000 });
        const files = (out, ending) =>
            readdirSync(join(folder, out), { recursive: true }).filter(
                (name) => /^..\/[0-9a-f]{16}/.test(name) && name.endsWith(ending),
            );
        const bytes = (out) => {
            const [name, ...more] = files(out, '');
            assert.deepEqual(more, []);
            return readFileSync(join(folder, out, name), 'utf8').replace(/,"machine".*/s, '');
        };
        for (const [out, ranks] of [
            ['one', '1'],
            ['two', '2'],
        ]) {
            const ran = run(job(out, '--ranks', ranks));
            assert.equal(ran.status, 0, ran.stderr);
        }
        assert.equal(bytes('two'), bytes('one'));
        const [command, ...args] = job('cut', '--ranks', '2', '--save-every', '1');
        const child = spawn(command, args, { env, stdio: 'ignore' });
        const end = new Promise((done) => child.once('close', done));
        while (
            child.exitCode === null &&
            !(existsSync(join(folder, 'cut')) && files('cut', 'run.safetensors').length)
        )
            await new Promise((done) => setTimeout(done, 20));
        child.kill('SIGTERM');
        const status = await end;
        assert.ok(status === 75 || status === 0, `${status}`);
        assert.equal(run(job('cut')).status, 0);
        assert.equal(bytes('cut'), bytes('one'));
        // A seqmix-mpi of another build would compute under this one's name.
        const old = join(folder, 'old');
        mkdirSync(old);
        copyFileSync(one, join(old, 'seqmix'));
        const facts = readdirSync(join(folder, 'one', 'builds')).map((name) =>
            JSON.parse(readFileSync(join(folder, 'one', 'builds', name), 'utf8')),
        );
        const current = readFileSync(many, 'latin1');
        const stale = current.replaceAll(`${facts[0].sources}\n`, `${facts[0].sources.replace(/^./, 'x')}\n`);
        assert.notEqual(stale, current);
        writeFileSync(join(old, 'seqmix-mpi'), stale, { encoding: 'latin1', mode: 0o755 });
        const [, ...words] = job('stale', '--ranks', '2');
        const refused = run([join(old, 'seqmix'), ...words]);
        assert.equal(refused.status, 2, refused.stderr);
        assert.match(refused.stderr, /seqmix-mpi is of another build than this seqmix: make mpi/);
        assert.match(
            run(job('x', '--ranks', '2', '--every', '3')).stderr,
            /--ranks goes without --plan and --every/,
        );
    },
);
