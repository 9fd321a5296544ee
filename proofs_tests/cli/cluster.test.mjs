// cluster.test.mjs: 200 trainings on a Slurm of two nodes, on this machine, and a plain machine beside it:
// workers are killed, a task is sent back to the queue, a node dies and the text that all read changes on the
// way. In the end nothing is lost, nothing was done twice, and the tables are those of one machine. And what
// a cluster alone can show: arrays, GNU parallel, jobs on several ranks.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    renameSync,
    rmSync,
    statSync,
    writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { after, test } from 'node:test';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-cluster-'));
const PATH = [resolve('build'), process.env.PATH, '/usr/sbin'].join(delimiter);
const env = { ...process.env, PATH, SLURM_CONF: join(folder, 'slurm', 'slurm.conf') };
const missing = ['munged', 'slurmctld', 'slurmd', 'sbatch'].filter(
    (name) => spawnSync('which', [name], { env }).status !== 0,
);
const skip =
    process.getuid() !== 0
        ? 'Slurm is started by root only'
        : missing.length
          ? `missing: ${missing.join(', ')} (apt-get install slurmctld slurmd slurm-client munge)`
          : false;

const skipMpi = existsSync('build/seqmix-mpi') ? false : 'no build/seqmix-mpi (make mpi)';
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const say = (command, ...args) => {
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', env, cwd: folder });
    assert.equal(status, 0, `${command} ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
};
/** Processes of this test's Slurm: what they were called with and their environment. */
function processes() {
    return readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .flatMap((pid) => {
            try {
                const [line, given] = ['cmdline', 'environ'].map((part) =>
                    readFileSync(`/proc/${pid}/${part}`, 'latin1'),
                );
                return given.includes(folder) || line.includes(folder)
                    ? [{ pid: Number(pid), line: line.replaceAll('\0', ' '), given: given.split('\0') }]
                    : [];
            } catch {
                return [];
            }
        });
}
const end = (pid, signal) => {
    try {
        process.kill(pid, signal);
    } catch {
        // gone already
    }
};
const resultsIn = (dir) => {
    const names = readdirSync(join(folder, dir), { recursive: true });
    return names.filter((name) => /^..\/[0-9a-f]{16}\.json$/.test(name));
};

let slurm, second;
after(async () => {
    slurm?.stdin.end();
    if (slurm && slurm.exitCode === null) await new Promise((done) => slurm.once('close', done));
    if (second) end(second.pid, 'SIGTERM');
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});

const startSlurm = () =>
    new Promise((done, fail) => {
        slurm = spawn(
            resolve('scripts/slurm-here.sh'),
            ['--folder', join(folder, 'slurm'), 'sh', '-c', 'echo up; exec cat'],
            { env, stdio: ['pipe', 'pipe', 'inherit'] },
        );
        slurm.stdout.once('data', done);
        slurm.once('close', () => fail(new Error('Slurm did not start')));
    });
const queued = () => say('squeue', '-h', '-r', '-o', '%i %T %N').split('\n').filter(Boolean);
const logsIn = (out) =>
    readdirSync(join(folder, out, 'logs')).map((name) => [
        name,
        readFileSync(join(folder, out, 'logs', name), 'utf8'),
    ]);
const jobsThere = () =>
    processes().filter(({ line }) => /^seqmix job /.test(line) && line.includes('/results'));
const play = readFileSync('docs/GUIDE.md', 'utf8').slice(0, 6000);
/** A machine of its own: other numbers of processes, another name. */
const plain = 'unshare --uts --pid --fork --mount-proc sh -c';
const apart = spawnSync('unshare', ['--uts', '--pid', '--fork', '--mount-proc', 'true']).status === 0;

test(
    '200 trainings on two nodes and a plain machine at once, workers and a node killed, the text changed: the table of one machine',
    { skip },
    async () => {
        const text = join(folder, 'play.txt');
        writeFileSync(text, play);
        const grid = [
            `task=charlm&text=${text}&length=32&batch=8&width=16&steps=150&mixer=cat~mixer=attention`,
            'rate=1e-3:1e-1:20log',
            '--seeds',
            '5',
        ];
        const script = (out, ...more) =>
            say('seqmix', 'grid', ...grid, '--eval', '50', '--out', out, ...more);
        writeFileSync(join(folder, 'lines'), script('alone'));
        writeFileSync(join(folder, 'plain.lines'), script('results'));
        assert.equal(readFileSync(join(folder, 'lines'), 'utf8').split('\n').length - 1, 200);
        writeFileSync(join(folder, 'grid.sbatch'), script('results', '--slurm', '--tasks', '20'));
        await startSlurm();
        say('sbatch', 'grid.sbatch');
        const work = "tac plain.lines | tr '\\n' '\\0' | xargs -0 -n 1 sh -c";
        const named = apart ? `hostname plain; ${work}` : work;
        const beside = spawn('sh', ['-c', apart ? `${plain} '${named.replaceAll("'", "'\\''")}'` : named], {
            env,
            cwd: folder,
            stdio: 'ignore',
        });
        const besideEnds = new Promise((done) => beside.once('close', done));

        const seen = new Map(); // a result as it was when it was first there
        const again = [];
        const look = () => {
            for (const name of resultsIn('results')) {
                const { ino, mtimeMs } = statSync(join(folder, 'results', name));
                const now = `${ino} ${mtimeMs}`;
                if (seen.has(name) && seen.get(name) !== now) again.push(name);
                seen.set(name, now);
            }
            return seen.size;
        };
        let changed = 0;
        let killed = 0;
        let requeued = 0;
        let node = 'up';
        let left;
        while ((left = queued()).length) {
            const done = look();
            if (!changed && done > 15) {
                writeFileSync(`${text}.new`, play.replaceAll('a', 'u'));
                renameSync(`${text}.new`, text);
                changed = done;
            }
            if (changed && killed < 5 && done > changed + 10 * killed) {
                const [worker] = jobsThere();
                if (worker) {
                    end(worker.pid, 'SIGKILL');
                    killed++;
                }
            }
            const running = left.find((line) => /RUNNING n1$/.test(line));
            if (!requeued && done > changed + 30 && running) {
                say('scontrol', 'requeue', running.split(' ')[0]);
                requeued++;
            }
            if (node === 'up' && done > changed + 45 && left.some((line) => /RUNNING n2$/.test(line))) {
                // The node loses its power: its daemon and all that runs there, at once.
                const there = processes().filter(
                    ({ line, given }) =>
                        given.includes('SLURMD_NODENAME=n2') ||
                        /slurmd -D -N n2/.test(line) ||
                        /^slurmstepd/.test(line),
                );
                for (const { pid } of there) end(pid, 'SIGSTOP');
                for (const { pid } of there) end(pid, 'SIGKILL');
                node = 'dead';
            }
            if (node === 'dead' && say('sinfo', '-h', '-N', '-n', 'n2', '-o', '%t').startsWith('down')) {
                second = spawn('slurmd', ['-D', '-N', 'n2'], { env, stdio: 'ignore' });
                node = 'back';
            }
            await pause(200);
        }
        await besideEnds;
        assert.deepEqual([changed > 0, killed, requeued, node], [true, 5, 1, 'back'], `${look()} results`);
        // What was done before the text changed is another grid by now: the same script once more.
        say('sbatch', '--wait', 'grid.sbatch');
        look();
        assert.deepEqual(again, [], 'written a second time');
        const results = resultsIn('results').map((name) =>
            JSON.parse(readFileSync(join(folder, 'results', name), 'utf8')),
        );
        const contents = new Map();
        for (const { result } of results) contents.set(result.data, (contents.get(result.data) ?? 0) + 1);
        assert.equal(contents.size, 2);
        assert.ok([...contents.values()].includes(200), `${[...contents.values()]}`);
        assert.equal(
            new Set(results.map(({ machine }) => machine.host)).has('plain'),
            apart,
            'the plain machine did its share',
        );

        const alone = spawnSync('bash', ['-c', "tr '\\n' '\\0' <lines | xargs -0 -n 1 -P 2 sh -c"], {
            env,
            cwd: folder,
        });
        assert.equal(alone.status, 0);
        const [here, there] = ['alone', 'results'].map((out) =>
            say('seqmix', 'collect', out, '--baseline', 'mixer=attention'),
        );
        assert.equal(there, here);
        for (const name of ['results.jsonl', 'results.csv', 'summary.csv', 'pairs.csv'])
            assert.deepEqual(
                readFileSync(join(folder, 'results', name)),
                readFileSync(join(folder, 'alone', name)),
                name,
            );
    },
);

test(
    'one stopped task of an array asks for its own turn: the others are not begun anew',
    { skip },
    async () => {
        const long = 'task=mqar&batch=8&width=32&steps=100000';
        writeFileSync(
            join(folder, 'array.sbatch'),
            say('seqmix', 'grid', long, '--seeds', '4', '--out', 'array', '--slurm', '--tasks', '4'),
        );
        const id = say('sbatch', '--parsable', 'array.sbatch').trim();
        const tasks = () =>
            new Map(
                queued()
                    .map((line) => line.split(' '))
                    .map(([name, state]) => [name, state]),
            );
        const all = [1, 2, 3, 4].map((i) => `${id}_${i}`);
        while (!all.every((name) => tasks().get(name) === 'RUNNING')) await pause(100);
        // The last task: SLURM_JOB_ID alone, within it, is the whole array's.
        await pause(1000);
        say('scancel', '--batch', '--signal=USR1', all[3]);
        const log = () => logsIn('array').find(([name]) => name.endsWith('_4.log'))?.[1] ?? '';
        while (!/asking for/.test(log())) await pause(100);
        await pause(2000);
        const restarts = all.map((name) =>
            Number(/Restarts=(\d+)/.exec(say('scontrol', 'show', 'job', name))[1]),
        );
        const states = all.map((name) => tasks().get(name));
        say('scancel', id);
        assert.deepEqual(restarts, [0, 0, 0, 1], log());
        assert.deepEqual(states.slice(0, 3), ['RUNNING', 'RUNNING', 'RUNNING']);
        assert.doesNotMatch(log(), /NOT queued again/);
    },
);

test(
    'rungs: tasks of an array, GNU parallel and one worker train the same to the end, to the bit',
    { skip },
    () => {
        const grid = (out, ...more) =>
            say(
                'seqmix',
                'grid',
                'task=mqar&batch=4&steps=60&width=8&mixer=cat~mixer=attention~mixer=linear',
                'rate=1e-3:1e-1:5log',
                '--seeds',
                '3',
                '--eval',
                '40',
                '--rungs',
                '0.1:1,0.7:1~0.03,1',
                '--out',
                out,
                ...more,
            );
        writeFileSync(join(folder, 'rungs.sbatch'), grid('rungs', '--slurm', '--tasks', '4'));
        say('sbatch', '--wait', 'rungs.sbatch');
        const list = (out) => writeFileSync(join(folder, `${out}.jobs`), grid(out));
        const runs = {
            'rungs-alone': "tr '\\n' '\\0' <rungs-alone.jobs | xargs -0 -n 1 sh -c",
            'rungs-parallel': 'parallel --will-cite -j 3 -a rungs-parallel.jobs',
        };
        if (spawnSync('which', ['parallel']).status !== 0) delete runs['rungs-parallel'];
        const bytes = (out) =>
            resultsIn(out)
                .sort()
                .map((name) => readFileSync(join(folder, out, name), 'utf8').replace(/,"machine".*/s, ''));
        for (const [out, line] of Object.entries(runs)) {
            list(out);
            const { status, stderr } = spawnSync('sh', ['-c', line], { env, cwd: folder, encoding: 'utf8' });
            assert.equal(status, 0, stderr);
            assert.deepEqual(bytes(out), bytes('rungs'), out);
        }
        const whole = resultsIn('rungs').length;
        assert.ok(whole >= 9 && whole < 45, `${whole} of 45`);
    },
);

test(
    "a job on several ranks of a cluster's node ends with the bytes of one process",
    { skip: skip || skipMpi },
    () => {
        Object.assign(env, { OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' });
        const config = 'task=mqar&batch=8&width=16&steps=20';
        for (const [out, ...more] of [['one'], ['ranks', '--ranks', '2']])
            say('seqmix', 'job', config, '--out', out, '--eval', '20', ...more);
        const [one, ranks] = ['one', 'ranks'].map((out) =>
            readFileSync(join(folder, out, resultsIn(out)[0]), 'utf8').replace(/,"machine".*/s, ''),
        );
        assert.equal(ranks, one);
    },
);

test('what slurm-here ran ends with it, also what hears no signal', { skip }, async () => {
    writeFileSync(
        join(folder, 'stubborn.sbatch'),
        `#!/bin/bash\n#SBATCH --output=${folder}/stubborn.log\ntrap '' TERM\n(trap '' TERM; sleep 291) &\necho begun\nsleep 290\n`,
    );
    const wait = 'for i in $(seq 200); do [ -s stubborn.log ] && break; sleep 0.1; done';
    const { SLURM_CONF: _, ...others } = env;
    const ran = spawnSync(
        resolve('scripts/slurm-here.sh'),
        ['bash', '-c', `sbatch stubborn.sbatch; ${wait}`],
        {
            cwd: folder,
            env: { ...others, TMPDIR: folder },
            encoding: 'utf8',
        },
    );
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(readFileSync(join(folder, 'stubborn.log'), 'utf8'), /begun/);
    const left = processes().filter(
        ({ line, given }) =>
            /^(sleep 29[01]|slurmstepd|slurmd|slurmctld|munged)/.test(line) &&
            !given.includes(`SLURM_CONF=${env.SLURM_CONF}`),
    );
    for (const { pid } of left) end(pid, 'SIGKILL');
    assert.deepEqual(left, []);
});

test('a worker keeps its claim alive by a clock that nobody sets', async () => {
    const out = join(folder, 'clock');
    mkdirSync(out);
    const worker = spawn(resolve('build/seqmix'), ['job', 'mixer=attention&steps=1000000', '--out', out], {
        env: { ...env, LD_PRELOAD: resolve('build/torture/failing.so'), FAIL_CLOCK: '86400' },
        stdio: 'ignore',
    });
    const claims = () => readdirSync(out, { recursive: true }).filter((name) => name.endsWith('.claim'));
    try {
        while (!claims().length && worker.exitCode === null) await pause(100);
        const claim = join(out, claims()[0]);
        const begun = statSync(claim).mtimeMs;
        const late = Date.now() + 60_000; // it is touched every 15 s
        while (statSync(claim).mtimeMs < begun + 10_000 && Date.now() < late) await pause(500);
        assert.ok(statSync(claim).mtimeMs >= begun + 10_000, 'nobody touched the claim for a minute');
    } finally {
        worker.kill('SIGKILL');
    }
});

test(
    'GNU parallel, as docs/SCALE.md has it: what failed is done when the line is run again',
    { skip: spawnSync('which', ['parallel']).status !== 0 && 'missing: parallel' },
    () => {
        const [line] = readFileSync('docs/SCALE.md', 'utf8').match(/^ {4}parallel .*$/m);
        mkdirSync(join(folder, 'par'));
        const there = { env, cwd: join(folder, 'par'), encoding: 'utf8' };
        const lines = spawnSync(
            'seqmix',
            [
                'grid',
                'task=mqar&batch=2&width=8&steps=5',
                'rate=1e-3:1e-1:10log',
                '--seeds',
                '6',
                '--out',
                'p',
                '--eval',
                '20',
            ],
            there,
        ).stdout;
        writeFileSync(join(folder, 'par', 'jobs.txt'), lines);
        const parallel = () =>
            spawnSync('sh', ['-c', line.trim().replace('parallel', 'parallel --will-cite')], there);
        // Two that fail at first: somebody else is at them.
        spawnSync('sh', ['-c', 'head -n 2 jobs.txt >some && parallel --will-cite -a some'], there);
        const two = resultsIn('par/p');
        assert.equal(two.length, 2);
        for (const name of two) {
            rmSync(join(folder, 'par/p', name));
            writeFileSync(join(folder, 'par/p', name.replace('.json', '.claim')), 'node7 1 a/b 1 1\n');
        }
        assert.notEqual(parallel().status, 0);
        assert.equal(resultsIn('par/p').length, 58);
        const before = resultsIn('par/p').map((name) => [
            name,
            statSync(join(folder, 'par/p', name)).mtimeMs,
        ]);
        for (const name of two) rmSync(join(folder, 'par/p', name.replace('.json', '.claim')));
        assert.equal(parallel().status, 0);
        assert.equal(resultsIn('par/p').length, 60);
        for (const [name, time] of before) assert.equal(statSync(join(folder, 'par/p', name)).mtimeMs, time);
    },
);

test('the commands of docs/SCALE.md with Slurm alone lead to the table', { skip }, () => {
    const text = readFileSync('docs/SCALE.md', 'utf8');
    const blocks = [...text.matchAll(/^```sh(?: slurm)?\n([^]*?)^```/gm)].map(([, block]) => block);
    const local = blocks.filter((block) => block.includes('xargs'));
    assert.deepEqual([blocks.length, local.length], [5, 1]);
    const script = blocks
        .filter((block) => !local.includes(block))
        .join('')
        .replace('make build/seqmix\nexport PATH=$PWD/build:$PATH\n', '')
        .replace('scripts/', `${resolve('scripts')}/`);
    mkdirSync(join(folder, 'newcomer'));
    const { SLURM_CONF: _, ...others } = env;
    const ran = spawnSync('bash', ['-euc', script], {
        cwd: join(folder, 'newcomer'),
        encoding: 'utf8',
        env: others,
    });
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stdout, /\n45 results, 9 settings\n/);
    assert.match(ran.stdout, /3 the same to the bit, 0 not/);
});
