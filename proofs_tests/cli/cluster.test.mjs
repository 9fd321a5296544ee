// cluster.test.mjs: 200 jobs on a Slurm of two nodes, on this machine: workers are killed, a task is sent
// back to the queue and a node dies on the way. In the end nothing is lost, nothing was done twice, and the
// tables are those of one machine.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

test(
    '200 jobs on two nodes, workers and a node killed on the way: all done once, the tables of one machine',
    { skip },
    async () => {
        const grid = [
            'task=mqar&batch=8&width=16&steps=150&mixer=cat~mixer=attention',
            'rate=1e-3:1e-1:20log',
            '--seeds',
            '5',
        ];
        const script = (out, ...more) =>
            say('seqmix', 'grid', ...grid, '--eval', '50', '--out', out, ...more);
        writeFileSync(join(folder, 'lines'), script('alone'));
        assert.equal(readFileSync(join(folder, 'lines'), 'utf8').split('\n').length - 1, 200);
        writeFileSync(join(folder, 'grid.sbatch'), script('results', '--slurm', '--tasks', '20'));

        slurm = spawn(
            resolve('scripts/slurm-here.sh'),
            ['--folder', join(folder, 'slurm'), 'sh', '-c', 'echo up; exec cat'],
            {
                env,
                stdio: ['pipe', 'pipe', 'inherit'],
            },
        );
        await new Promise((done, fail) => {
            slurm.stdout.once('data', done);
            slurm.once('close', () => fail(new Error('Slurm did not start')));
        });
        const id = say('sbatch', '--parsable', 'grid.sbatch').trim();
        const queued = () => say('squeue', '-h', '-r', '-o', '%i %T %N').split('\n').filter(Boolean);
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
        let killed = 0;
        let requeued = 0;
        let node = 'up';
        let left;
        while ((left = queued()).length) {
            const done = look();
            if (killed < 5 && done > 10 * killed) {
                const worker = processes().find(
                    ({ line }) => /^seqmix job /.test(line) && line.includes('--out results'),
                );
                if (worker) {
                    end(worker.pid, 'SIGKILL');
                    killed++;
                }
            }
            const running = left.find((line) => /RUNNING n1$/.test(line));
            if (!requeued && done > 40 && running) {
                say('scontrol', 'requeue', running.split(' ')[0]);
                requeued++;
            }
            if (node === 'up' && done > 60 && left.some((line) => /RUNNING n2$/.test(line))) {
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
        const logs = readdirSync(join(folder, 'results', 'logs')).map((name) =>
            readFileSync(join(folder, 'results', 'logs', name), 'utf8'),
        );
        assert.deepEqual([killed, requeued, node], [5, 1, 'back'], `of job ${id}: ${look()} results`);
        assert.equal(look(), 200, logs.join('\n').slice(-3000));
        assert.deepEqual(again, [], 'written a second time');

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
    'GNU parallel: a joblog, interrupted and resumed: each job once',
    { skip: spawnSync('which', ['parallel']).status !== 0 && 'missing: parallel' },
    () => {
        const lines = say(
            'seqmix',
            'grid',
            'task=mqar&batch=2&width=8&steps=5',
            'rate=1e-3:1e-1:10log',
            '--seeds',
            '2',
            '--out',
            'p',
            '--eval',
            '20',
        );
        writeFileSync(join(folder, 'parallel'), lines);
        const run = (...more) =>
            say(
                'parallel',
                '--will-cite',
                '--joblog',
                'joblog',
                '--resume',
                '-j',
                '2',
                ...more,
                '-a',
                'parallel',
            );
        spawnSync(
            'sh',
            ['-c', 'head -n 7 parallel >some && parallel --will-cite --joblog joblog -j 2 -a some'],
            { env, cwd: folder },
        );
        assert.equal(resultsIn('p').length, 7);
        const before = resultsIn('p').map((name) => [name, statSync(join(folder, 'p', name)).mtimeMs]);
        run();
        assert.equal(resultsIn('p').length, 20);
        for (const [name, time] of before) assert.equal(statSync(join(folder, 'p', name)).mtimeMs, time);
        // A header, a line a job.
        assert.equal(readFileSync(join(folder, 'joblog'), 'utf8').split('\n').length - 2, 20);
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
