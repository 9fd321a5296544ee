// run.mjs: the workloads and kernels beside what else a user would pick:
// node bench/peers/run.mjs [--rounds N] [NAME...].
// Losses, or sums of what a kernel computes, must agree before anything is timed. Then both sides run in
// turns, and the ratio is the median of the pairs' ratios: what the machine does meanwhile meets both. A peer
// that is not installed is skipped with a line.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { fileOf, folder, READING, writeData } from './data.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const args = process.argv.slice(2);
const at = args.indexOf('--rounds');
const rounds = at >= 0 ? Number(args.splice(at, 2)[1]) : 7;
const names = args;
const CALLS = ['call attention 2x8x8', 'call attention 2x8x8 and gradients', 'call conv1d 2x8x8'];
const WORKS = [
    'sgemm 2048x64x64',
    'sgemm 2048x256x64',
    'sgemm 512x512x512',
    'rfft 64x4096',
    'irfft 64x4096',
    'W1',
    'W2',
    'W3',
    'W4',
    'W5 gla d16',
    'W5 gla d64',
    'W6 delta d16',
    'W6 delta d64',
    'W7 lstm',
    ...READING,
    ...CALLS,
];
const unknown = names.find((name) => !WORKS.some((work) => name && work.includes(name)));
if (unknown !== undefined || !(Number.isInteger(rounds) && rounds > 0)) {
    console.error(
        unknown === undefined
            ? 'bench/peers/run.mjs: --rounds takes a whole number from 1'
            : `bench/peers/run.mjs: '${unknown}' is none of --rounds N, ${WORKS.join(', ')}, or a part of one`,
    );
    process.exit(2);
}
const SECONDS = 0.4;
// An OpenBLAS older than the processor falls back to its slowest kernels:
// it gets the best that fit (PyTorch uses it too).
const flags = existsSync('/proc/cpuinfo') ? readFileSync('/proc/cpuinfo', 'utf8') : '';
const core = / avx512f /.test(flags) ? 'SKYLAKEX' : / avx2 /.test(flags) ? 'HASWELL' : '';
const one = {
    OPENBLAS_NUM_THREADS: '1',
    OMP_NUM_THREADS: '1',
    MKL_NUM_THREADS: '1',
    ...(core && !process.env.OPENBLAS_CORETYPE && { OPENBLAS_CORETYPE: core }),
};
// PyTorch frees and maps its large arrays anew in every step otherwise, which costs it 10 to 35 %.
const keepPages = { MALLOC_MMAP_THRESHOLD_: '4000000000', MALLOC_TRIM_THRESHOLD_: '4000000000' };

const wanted = (name) => !names.length || names.some((n) => name.includes(n));
const median = (values) => values.slice().sort((a, b) => a - b)[values.length >> 1];
const skip = (peer, why) => console.log(`${peer.padEnd(24)} skipped: ${why}`);
/** A peer that is there and breaks is no reason to leave out the others. */
async function attempt(peer, work) {
    try {
        await work();
    } catch (error) {
        skip(peer, `it failed: ${String(error.message ?? error).split('\n')[0]}`);
    }
}
const spec = (name) => JSON.parse(readFileSync(`${folder}${fileOf(name)}.json`, 'utf8'));

/** Ours, natively, in a process of its own each time. */
function native(name, extra = []) {
    const out = execFileSync(`${root}build/seqmix`, [
        'bench',
        '--json',
        '--seconds',
        String(SECONDS),
        name,
        ...extra,
    ]);
    const rows = out
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    return rows.find((row) => row.name === name);
}

/** Whether fast mode changes anything here. */
const hasFast = () => native('sgemm 2048x64x64 fast=1').median !== undefined;

/** One line: peer, work, their time, ours, and how many times faster ours is. */
async function pair(peer, name, theirs, ours, target) {
    const pairs = [];
    const started = performance.now();
    // A peer that takes seconds a step is timed three times at least, and no more once a minute has passed.
    for (let i = 0; i < rounds && (i < 3 || performance.now() - started < 60000); i++) {
        // Each side goes first in turn.
        let a, b;
        if (i % 2) [b, a] = [await ours(), await theirs()];
        else [a, b] = [await theirs(), await ours()];
        pairs.push({ theirs: a, ours: b, ratio: a / b });
    }
    report(peer, name, pairs, target);
}
function report(peer, name, pairs, target) {
    const ratios = pairs.map((p) => p.ratio).sort((a, b) => a - b);
    const row = {
        peer,
        name,
        theirs: median(pairs.map((p) => p.theirs)),
        ours: median(pairs.map((p) => p.ours)),
        ratio: median(ratios),
        least: ratios[0],
        most: ratios.at(-1),
        rounds: pairs.length,
        target,
    };
    if (process.env.PEERS_JSON) console.log(JSON.stringify(row));
    else
        console.log(
            `${peer.padEnd(24)} ${name.padEnd(20)} ${row.theirs.toFixed(3).padStart(10)} ms  ours ${row.ours
                .toFixed(3)
                .padStart(
                    9,
                )} ms  ratio ${row.ratio.toFixed(2).padStart(6)} (${row.least.toFixed(2)} to ${row.most.toFixed(2)})  ${target}`,
        );
}

/**
 * Losses of ten steps of training, or one number, against ours. Of training the largest relative difference
 * that passes is 5e-6: peers were seen to differ by 1.2e-6, another GELU or a forgotten weight decay moves
 * 1e-5. W3 to W7 are sums that cancel; of models that read on the squares
 * of ten answers are compared.
 */
function agree(peer, name, losses, expected) {
    const most = /^W[12]/.test(name) ? 5e-6 : 1e-4;
    const worst = Math.max(...expected.map((loss, i) => Math.abs(losses[i] - loss) / Math.abs(loss)));
    const same = losses.length >= expected.length && worst <= most;
    if (!same) {
        console.log(`${peer.padEnd(24)} ${name}: NOT the same work: losses ${losses} against ${expected}`);
        process.exitCode = 1;
    } else if (!process.env.PEERS_JSON) {
        console.log(
            `${peer.padEnd(24)} ${name}: the same work: losses differ by ${worst.toExponential(1)} at most`,
        );
    }
    return same;
}
const expectedOf = (name) => (/^W[12]|^read/.test(name) ? spec(name).losses : [native(name).check]);

// ---- PyTorch ----------------------------------------------------------------------------------------------

function findTorch() {
    for (const python of [process.env.PYTHON, 'python3'].filter(Boolean))
        try {
            execFileSync(python, ['-c', 'import torch, numpy'], { stdio: 'ignore' });
            return python;
        } catch {
            // the next one
        }
    return null;
}
async function torch() {
    const python = findTorch();
    if (!python) return skip('PyTorch', 'no python3 with torch and numpy (Debian: python3-torch)');
    const child = spawn(python, [`${here}peer_torch.py`, folder], {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: { ...process.env, ...one, ...keepPages },
    });
    child.stdin.on('error', () => {}); // it ended: the next line of its output is missing
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async () => {
        const { value, done } = await lines.next();
        if (done) throw new Error('python3 ended');
        return JSON.parse(value);
    };
    const ask = (line) => (child.stdin.write(`${line}\n`), next());
    try {
        const { version } = await next();
        const peer = `PyTorch ${version}`;
        const targets = {
            W1: ['>= 1.4 [1.8]', '>= 2.2 [3]'],
            W2: ['>= 1.4 [1.8]', '>= 2.2 [3]'],
            W3: ['>= 2 [3]', '>= 3 [4]'],
            W4: ['>= 3 [4]', '>= 4 [6]'],
            'W5 gla d16': ['>= 3'],
            'W5 gla d64': ['>= 3'],
            'W6 delta d16': ['>= 3'],
            'W6 delta d64': ['>= 3'],
            'W7 lstm': ['>= 2'],
        };
        for (const name of READING) targets[name] = [name.endsWith(' 1024') ? '>= 10' : ''];
        for (const [name, [exact, fast]] of Object.entries(targets)) {
            if (!wanted(name)) continue;
            const { losses } = await ask(`check ${fileOf(name)}`);
            if (!agree(peer, name, losses, expectedOf(name))) continue;
            const theirs = async () => (await ask(`time ${fileOf(name)} ${SECONDS}`)).ms;
            await pair(peer, name, theirs, () => native(name).median, exact);
            if (fast && hasFast())
                await pair(peer, `${name} fast=1`, theirs, () => native(`${name} fast=1`).median, fast);
        }
    } finally {
        child.stdin.end();
    }
}

// Calls where there is next to nothing to compute, from Python, both sides in one process.
async function calls() {
    const works = CALLS.filter(wanted);
    if (!works.length) return;
    const python = findTorch();
    if (!python) return;
    const stage = `${root}build/python/stage`;
    if (!existsSync(`${stage}/seqmix`)) return skip('seqmix.torch', 'not built (make build/python/staged)');
    const out = execFileSync(python, [`${here}calls_torch.py`, String(rounds), ...works], {
        env: { ...process.env, ...one, PYTHONPATH: stage },
    });
    for (const line of out.toString().trim().split('\n')) {
        const { version, name, apart, pairs } = JSON.parse(line);
        const peer = `PyTorch ${version}`;
        if (!agree(peer, name, [1 + apart], [1])) continue;
        const told = pairs.map(([theirs, ours]) => ({ theirs, ours, ratio: theirs / ours }));
        report(peer, name, told, '>= 1');
    }
}

// ---- Libraries --------------------------------------------------------------------------------------------

const LIBRARIES = [
    ['OpenBLAS', 'PEER_OPENBLAS', ['-lopenblas'], 'libopenblas-dev', 'sgemm'],
    ['oneDNN', 'PEER_ONEDNN', ['-ldnnl'], 'libdnnl-dev', 'sgemm'],
    ['FFTW', 'PEER_FFTW', ['-lfftw3f', '-lm'], 'libfftw3-dev', 'rfft'],
];
async function library([peer, define, link, debian, kind]) {
    const works = WORKS.filter((name) => name.includes(kind) && wanted(name));
    if (!works.length) return;
    const program = `${folder}${peer}`;
    try {
        const flags = ['-O2', '-std=gnu11', `-D${define}`, `${here}native.c`, '-o', program, ...link];
        execFileSync('gcc', flags, { stdio: 'ignore' });
    } catch {
        return skip(peer, `it cannot be compiled with (Debian: ${debian})`);
    }
    const run = (name, seconds) =>
        JSON.parse(execFileSync(program, [name, String(seconds)], { env: { ...process.env, ...one } }));
    for (const name of works) {
        if (!agree(peer, name, [run(name, 0).check], expectedOf(name))) continue;
        const theirs = () => run(name, SECONDS).ms;
        const [exact, fast] =
            kind === 'rfft' ? ['>= 0.6 [1.0]', '>= 0.8 [1.2]'] : ['see fast mode', '>= 0.85 [1.0]'];
        await pair(peer, name, theirs, () => native(name).median, exact);
        if (hasFast())
            await pair(peer, `${name} fast=1`, theirs, () => native(`${name} fast=1`).median, fast);
    }
}

// ---- In the browser ---------------------------------------------------------------------------------------

async function browser() {
    if (!existsSync(`${here}node_modules`))
        return skip('jax-js, TensorFlow.js', 'not installed (npm ci --prefix bench/peers)');
    const { findChromium, launchPlain } = await import('../browser/chromium.mjs');
    const { why } = findChromium();
    if (why) return skip('jax-js, TensorFlow.js', why);
    execFileSync('node', [`${here}bundle.mjs`], { stdio: 'inherit' });
    const { page, close } = await launchPlain(root);
    try {
        page.on('console', (message) => message.type() === 'error' && console.error(message.text()));
        const failures = await page.evaluate(async () => {
            globalThis.peers = await import('/build/bench/peers/bundle.js');
            return globalThis.peers.start();
        });
        const targets = {
            'jax-js': { W1: '>= 2.3 [3]', W2: '>= 2.3 [3]', W3: '', W4: '>= 3.5 [5]' },
            'TensorFlow.js': { W1: '>= 9 [12]', W2: '>= 9 [12]', 'sgemm 2048x64x64': '>= 1.0' },
        };
        for (const [peer, works] of Object.entries(targets)) {
            if (failures[peer]) {
                skip(peer, `it failed: ${failures[peer]}`);
                continue;
            }
            for (const [name, target] of Object.entries(works).filter(([work]) => wanted(work)))
                await attempt(`${peer} (Chromium)`, async () => {
                    const losses = await page.evaluate((p, n) => globalThis.peers.check(p, n), peer, name);
                    if (!agree(peer, name, losses, expectedOf(name))) return;
                    const time = (who) => () =>
                        page.evaluate((w, n, s) => globalThis.peers.time(w, n, s), who, name, SECONDS);
                    await pair(`${peer} (Chromium)`, name, time(peer), time('seqmix'), target);
                });
        }
    } finally {
        await close();
    }
}

mkdirSync(folder, { recursive: true });
await writeData();
for (const each of LIBRARIES) await attempt(each[0], () => library(each));
await attempt('PyTorch', torch);
await attempt('PyTorch', calls);
await attempt('jax-js, TensorFlow.js', browser);
