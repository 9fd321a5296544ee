// performance.mjs: what was measured last, kept in results/performance, and the documents made of it:
// docs/PERFORMANCE.md (how fast, beside other programs), docs/MEASUREMENTS.md (every row) and docs/STEPS.md
// (where a step's time goes).
//   node bench/performance.mjs [--seconds S] [--rounds N]    measures everything again, then writes them
//   node bench/performance.mjs --docs                        writes them alone
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release } from 'node:os';
import { fileURLToPath } from 'node:url';
import { stepsPage } from './where.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}results/performance/`;
const measures = !process.argv.includes('--docs');
const option = (name, otherwise) => {
    const at = process.argv.indexOf(name);
    return at > 0 ? process.argv[at + 1] : otherwise;
};
const seconds = option('--seconds', '0.5');
const rounds = option('--rounds', '5');

const lines = (text) =>
    text
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line));
function run(name, program, args, env = {}) {
    const kept = `${folder}${name}.jsonl`;
    if (measures) {
        const result = spawnSync(program, args, {
            cwd: root,
            encoding: 'utf8',
            maxBuffer: 1 << 26,
            env: { ...process.env, ...env },
            stdio: ['ignore', 'pipe', 'inherit'],
        });
        if (result.status)
            console.error(
                `${program} ${args.join(' ')} ended with ${result.status}: some rows may be missing`,
            );
        writeFileSync(
            kept,
            lines(result.stdout)
                .map((row) => `${JSON.stringify(row)}\n`)
                .join(''),
        );
    }
    return lines(readFileSync(kept, 'utf8'));
}

if (measures)
    writeFileSync(
        `${folder}machine.json`,
        `${JSON.stringify({
            date: new Date().toISOString().slice(0, 10),
            processor: cpus()[0].model.trim(),
            cores: cpus().length,
            system: `Linux ${release()}`,
            load: Number(loadavg()[0].toFixed(1)),
            compiler: `gcc ${execFileSync('gcc', ['-dumpfullversion'], { encoding: 'utf8' }).trim()}`,
            rounds: Number(rounds),
        })}\n`,
    );
const machine = JSON.parse(readFileSync(`${folder}machine.json`, 'utf8'));
const engines = {
    native: run('native', 'build/seqmix', ['bench', '--json', '--seconds', seconds]),
    Node: run('node', 'node', ['bench/wasm.mjs', '--json', '--quick', '--seconds', seconds]),
    Chromium: run('chromium', 'node', [
        'bench/wasm.mjs',
        '--chromium',
        '--json',
        '--quick',
        '--seconds',
        seconds,
    ]),
};
// Fast mode's rows in the module with relaxed SIMD, where it is built.
const relaxed = run('relaxed', 'node', [
    'bench/wasm.mjs',
    '--chromium',
    '--relaxed',
    '--json',
    '--seconds',
    seconds,
]).filter((row) => row.name);
const peers = run('peers', 'node', ['bench/peers/run.mjs', '--rounds', rounds], { PEERS_JSON: '1' });
if (measures) spawnSync('node', ['bench/where.mjs'], { cwd: root, stdio: 'inherit' });
writeFileSync(`${root}docs/STEPS.md`, stepsPage());

const number = (value) =>
    value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toPrecision(3);
const cells = (row) => {
    if (!row) return ['', '', ''];
    if (row.skipped) return ['none', '', ''];
    const spread = `${number(row.median)} ± ${(50 * row.spread).toFixed(0)} %`;
    const rate = row.gflops ? number(row.gflops) : row.gbytes ? `${number(row.gbytes)} GB/s` : '';
    return [spread, rate, row.share ? `${(100 * row.share).toFixed(0)} %` : ''];
};
// Of the rows that compare lengths: their cost of a token against the first one's, and its memory.
const growth = (row) =>
    row.growth
        ? `${row.growth.toFixed(2)} x, ${Math.round(row.bytes / Number(row.name.split(' ').pop()))} bytes a token; `
        : '';
// Rows that read on, a line for each mixer: ns a token at each position, for one sequence and for sixteen.
const isReading = ({ name }) => name.startsWith('read');
function readingTable(rows) {
    const at = new Map(rows.map((row) => [row.name, row]));
    const mixers = [...new Set(rows.map(({ name }) => name.replace(/^read(16)?\/| .*/g, '')))];
    const places = ['read', 'read16'].flatMap((kind) => [1024, 8192, 65536].map((t) => [kind, t]));
    const bytes = (row) => (row?.bytes ? `${number(row.bytes / 1024)} KB` : '');
    const cell = (row) => (row?.median ? `${Math.round((row.median * 1e6) / row.tokens)}` : '');
    return [
        '| mixer | state at 1,024 | at 65,536 | ns a token at 1,024 | 8,192 | 65,536 | 16 sequences: 1,024 | 8,192 | 65,536 | last over first | GB/s at 65,536 |',
        '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|',
        ...mixers.map((mixer) => {
            const found = places.map(([kind, t]) => at.get(`${kind}/${mixer} ${t}`));
            const far = found[2];
            return `| ${[
                mixer.replace(',', ', '),
                bytes(found[0]),
                bytes(far),
                ...found.map(cell),
                far?.growth ? far.growth.toFixed(2) : '',
                far?.gbytes ? number(far.gbytes) : '',
            ].join(' | ')} |`;
        }),
    ];
}
const named = (rows) => new Map(rows.map((row) => [row.name, row]));
const reading = engines.native.filter(isReading);
const [native, node, chromium] = Object.values(engines).map((rows) =>
    named(rows.filter((row) => !isReading(row))),
);
const names = [...new Set([...native.keys(), ...chromium.keys()])];

const measured =
    `Measured on ${machine.date}: ${machine.processor}, ${machine.cores} cores, ${machine.system}, one-minute load ` +
    `${machine.load.toFixed(1)} before the runs (over 1: other programs ran too). One thread, ${machine.compiler}.`;
const comparison = (p) =>
    `| ${p.peer} | ${p.name} | ${number(p.theirs)} | ${number(p.ours)} | **${p.ratio.toFixed(2)}** | ${p.least.toFixed(2)} to ${p.most.toFixed(2)} | ${p.target} |`;
const behind = peers.filter(({ ratio }) => ratio < 1);

writeFileSync(
    `${root}docs/PERFORMANCE.md`,
    [
        '# How fast it is',
        '',
        `${measured} Exact mode (the same bits on every machine) unless a row says \`fast=1\`.`,
        '`make performance` measures everything again. [MEASUREMENTS.md](MEASUREMENTS.md) has every kernel and every step of training beside',
        'this machine’s ceilings, [STEPS.md](STEPS.md) where a step’s time goes, [MEMORY.md](MEMORY.md) what a training takes, [OPTIMISATION.md](OPTIMISATION.md) what made it fast, what was tried in',
        'vain, and figures of other processors.',
        '',
        '## Beside other programs',
        '',
        `Losses of ten training steps agree within 5e-6 before anything is timed; both sides then run in turns, ${machine.rounds} times; the ratio is how`,
        'many times faster this project is: the median of the pairs, and the least and the most. W1: a step of one block of CAT on recall; W2: two',
        'blocks of attention over 196 pixels; W3: a convolution as long as its 4,096 rows; W4: linear attention over 4,096 rows; each forward and backward.',
        ...(machine.note ? [machine.note] : []),
        '',
        '![Times faster than each program](scaling/ratios.svg)',
        '',
        '| program | work | theirs, ms | ours, ms | ratio | pairs | to reach |',
        '|---|---|--:|--:|--:|---|---|',
        ...peers.map(comparison),
        '',
        `Of ${peers.length} rows this project is slower in ${behind.length}: ${[...new Set(behind.map(({ peer }) => peer))].map((peer) => `${peer} ${behind.filter((one) => one.peer === peer).length}`).join(', ')}.`,
        'In exact mode products cannot use fused multiply-add, which gives OpenBLAS and oneDNN half of their speed. PyTorch is the version',
        'that Debian 12 packages; a newer one fuses attention on the CPU, which is expected to narrow W2.',
        '',
        '## Time against length',
        '',
        'A step of one block, width 64, one sequence of 1,024, 8,192 and 65,536 tokens (attention, LaS, Focus and Focus-H in chunks). A flat line is a',
        'cost per token that does not grow.',
        '',
        '![Nanoseconds a token against the length](scaling/lengths.svg)',
        '',
    ].join('\n'),
);
writeFileSync(
    `${root}docs/MEASUREMENTS.md`,
    [
        '# Every measured row',
        '',
        `${measured} Exact mode unless a row says otherwise.`,
        '`make performance` measures everything again; `make bench` prints the same rows. [PERFORMANCE.md](PERFORMANCE.md) compares with other programs.',
        '',
        'Milliseconds of processor time of the median run, ± half the distance between the tenth and the ninetieth percentile; GFLOP/s count',
        'products (and what a causal mask leaves of them) or bytes where a row says GB/s; the share is of multiply-and-add at the same register',
        'width, measured after each sample.',
        '',
        '| row | native ms | GFLOP/s | of ceiling | Node ms | Chromium ms | GFLOP/s | of ceiling | to reach |',
        '|---|--:|--:|--:|--:|--:|--:|--:|---|',
        ...names.map((name) => {
            const row = native.get(name) ?? chromium.get(name);
            return `| ${[name, ...cells(native.get(name)), cells(node.get(name))[0], ...cells(chromium.get(name)), growth(row) + (row.target ?? '')].join(' | ')} |`;
        }),
        '',
        ...(relaxed.length
            ? [
                  '## Fast mode in Chromium: seqmix-relaxed.wasm',
                  '',
                  'The share is of relaxed multiply-and-add.',
                  '',
                  '| row | ms | GFLOP/s | of ceiling | to reach |',
                  '|---|--:|--:|--:|---|',
                  ...relaxed.map((row) => `| ${[row.name, ...cells(row), row.target ?? ''].join(' | ')} |`),
                  '',
              ]
            : []),
        ...(reading.length
            ? [
                  '## One row at a time',
                  '',
                  'A block of 64 columns, 4 heads, between two matrices of 64 x 64, reads one row at a time through a state ([STATES.md](STATES.md)) that has',
                  'read as many rows as the column says: processor time in nanoseconds a token, over whole tiles. What grows reads its state once a row.',
                  '`seqmix bench read` prints the rows, `seqmix bench read/gla` some of them.',
                  '',
                  ...readingTable(reading),
                  '',
              ]
            : []),
    ].join('\n'),
);
execFileSync(process.env.PYTHON ?? 'python3', ['bench/pictures.py'], {
    cwd: root,
    stdio: 'inherit',
});
console.log(`PERFORMANCE.md, MEASUREMENTS.md, STEPS.md: ${names.length} rows, ${peers.length} comparisons`);
