// performance.mjs: writes the measured part of docs/PERFORMANCE.md: node bench/performance.mjs [--seconds S]
// [--rounds N]. What stands below the line in that file was written by hand and stays.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = `${root}docs/PERFORMANCE.md`;
const LINE = '<!-- measured above by `make performance`, written below by hand -->';
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
// What was measured is kept in build/bench/NAME.jsonl; with --keep it is not measured again.
mkdirSync(`${root}build/bench`, { recursive: true });
function run(name, program, args, env = {}) {
    const kept = `${root}build/bench/${name}.jsonl`;
    if (!process.argv.includes('--keep') || !existsSync(kept)) {
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
        writeFileSync(kept, result.stdout);
    }
    return lines(readFileSync(kept, 'utf8'));
}

// With --keep: what it was when they were measured.
const loadFile = `${root}build/bench/load`;
const load =
    process.argv.includes('--keep') && existsSync(loadFile)
        ? Number(readFileSync(loadFile, 'utf8'))
        : loadavg()[0];
writeFileSync(loadFile, String(load));
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

const out = [
    '# Performance',
    '',
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${cpus()[0].model.trim()}, ${cpus().length} cores, Linux ${release()}, ` +
        `one-minute load ${load.toFixed(1)} before the runs (over 1: other programs ran too). One thread, exact mode, gcc ${execFileSync('gcc', ['-dumpfullversion'], { encoding: 'utf8' }).trim()}.`,
    '`make performance` measures everything again; `make bench` and `make bench-peers` print the same rows.',
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
    '## One row at a time',
    '',
    'A block of 64 columns, 4 heads, between two matrices of 64 x 64, reads one row at a time through a state (docs/STATES.md) that has read',
    'as many rows as the column says: processor time in nanoseconds a token, over whole tiles. What grows reads its state once a row.',
    '`seqmix bench read` prints the rows, `seqmix bench read/gla` some of them.',
    '',
    ...readingTable(reading),
    '',
    '## Beside other programs',
    '',
    `Losses of ten training steps agree within 5e-6 before anything is timed; both sides then run in turns, ${rounds} times; the ratio is how`,
    'many times faster this project is: the median of the pairs, and the least and the most.',
    '',
    '| peer | work | peer ms | ours ms | ratio | pairs | to reach |',
    '|---|---|--:|--:|--:|---|---|',
    ...peers.map(
        (p) =>
            `| ${p.peer} | ${p.name} | ${number(p.theirs)} | ${number(p.ours)} | **${p.ratio.toFixed(2)}** | ${p.least.toFixed(2)} to ${p.most.toFixed(2)} | ${p.target} |`,
    ),
    '',
];
let written = '';
try {
    const old = readFileSync(file, 'utf8');
    written = old.slice(old.indexOf(LINE) + LINE.length);
} catch {
    // the first time
}
writeFileSync(file, `${out.join('\n')}${LINE}${written || '\n'}`);
console.log(`wrote ${file}: ${names.length} rows, ${peers.length} comparisons`);
