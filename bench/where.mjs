// where.mjs: where the time of each preset's step goes, kept in results/performance/where.jsonl, of which
// docs/STEPS.md is made. Linux's perf samples; an instruction counts for the file that it was compiled of.
//   node bench/where.mjs [--seconds S] [--rounds N]   samples every row, and keeps what it found
//   node bench/where.mjs [--files] ROW..              prints what it finds of these; --files: by function
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}results/performance/`;
const kept = (name) => readFileSync(`${folder}${name}.jsonl`, 'utf8').trim().split('\n').map(JSON.parse);
/** The rows of native.jsonl that are steps of presets' runs. */
export const steps = () => kept('native').filter(({ name, median }) => name.startsWith('preset/') && median);

/** Kinds of work: the table's columns, in their order, and what each is. */
export const KINDS = {
    matrices: 'products of matrices (`kernels/rows/gemm.c`)',
    tiles: 'attention’s products of queries, keys and values',
    softmax:
        'attention’s exponentials: their own instructions (those that wait for the results count as scores)',
    scores: 'the rest of attention: masks, sums, scaling, decays, gathering heads',
    convolutions: 'convolutions, Fourier transforms, Focus’s filters',
    scans: 'linear attention and recurrences, their own products included',
    functions: 'activations and gates that take exponentials or the like, as a whole',
    rows: 'other maps over rows: norms, sums, products, biases, embedding, pooling, gradients of gates',
    loss: 'the loss and the count of right answers',
    optimiser: 'the update of the weights, the norm of the gradient',
    copies: 'copying and zeroing (`memcpy`, `memset`), wherever they are called',
    data: 'making or reading the task’s sequences',
    else: 'the graph, calls, the operating system',
};
const COUNTED = ['matrices', 'tiles', 'convolutions', 'scans'];
const ROOMS = [
    [/^kernels\/rows\/gemm\.c$/, 'matrices'],
    [/^kernels\/rows\/(loss|mse)\.c$/, 'loss'],
    [/^kernels\/rows\/adamw\.c$|^model\/train\//, 'optimiser'],
    [/^(kernels|model\/ops)\/attention\//, 'scores'],
    [/^(kernels|model\/ops)\/conv\/|^kernels\/spectral\//, 'convolutions'],
    [/^(kernels|model\/ops)\/recurrent\//, 'scans'],
    [/^kernels\/rows\/|^model\/ops\//, 'rows'],
    [/^tasks\//, 'data'],
    [/^kernels\/(core\/)?\w+\.c$|^model\//, 'else'],
    [/^$/, 'else'],
];
/**
 * The kind of an instruction; of those that measure, nothing. `unit` is the file that was compiled, or ''
 * outside of the program; `inlined` the files of the lines that it stands for; `symbol` its function.
 */
export function kindOf({ unit, inlined, symbol }) {
    if (/^(bench|cli)\//.test(unit)) return undefined;
    if (/mem(cpy|move|set)/.test(symbol)) return 'copies';
    const kind = ROOMS.find(([pattern]) => pattern.test(unit))?.[1];
    if (!kind) throw new Error(`bench/where.mjs does not say what kind of work ${unit} is`);
    const by = (names) => inlined.some((file) => names.test(file));
    const functions = by(/kernels\/core\/(vmath|mathd)\.h$/);
    if (kind === 'scores' && by(/kernels\/core\/tile(_narrow)?\.h$/)) return 'tiles';
    if (kind === 'scores' && functions) return 'softmax';
    return kind === 'rows' && functions ? 'functions' : kind;
}

const run = (command, args, input) =>
    execFileSync(command, args, {
        cwd: root,
        encoding: 'utf8',
        maxBuffer: 1 << 29,
        input,
        stdio: ['pipe', 'pipe', 'ignore'],
    });

/** The instructions of a row that were met: '0xADDRESS FUNCTION', ' FUNCTION' outside of the program. */
function sample(program, row, seconds) {
    const file = `${program}.data`;
    run('perf', [
        ...['record', '-q', '-e', 'cpu-clock', '-F', '1999', '-o', file],
        ...['--', program, 'bench', '--seconds', seconds, row],
    ]);
    const met = [];
    let moved = 0n;
    const shown = run('perf', ['script', '-i', file, '-F', 'ip,sym,dso', '--show-mmap-events']);
    for (const line of shown.split('\n')) {
        const map = /\[0x(\w+)\(\w+\) @ (?:0x)?(\w+) .* r-xp (.*)$/.exec(line);
        if (map?.[3] === program) moved = BigInt(`0x${map[1]}`) - BigInt(`0x${map[2]}`);
        const one = /^\s*([0-9a-f]+) (.*) \((.*)\)$/.exec(line);
        if (one)
            met.push(
                `${one[3] === program ? `0x${(BigInt(`0x${one[1]}`) - moved).toString(16)}` : ''} ${one[2]}`,
            );
    }
    return met;
}

/** The unit of each address, and what is inlined there: by the debug information. */
function places(program, addresses) {
    const units = new Map();
    let offset;
    for (const line of run('readelf', ['-wi', '--dwarf-depth=1', program]).split('\n')) {
        offset = Number(/Compilation Unit @ offset (\w+):/.exec(line)?.[1] ?? offset);
        const name = /DW_AT_name .*: (\S+)$/.exec(line)?.[1];
        if (name) units.set(offset, name);
    }
    const ranges = [];
    for (const line of run('readelf', ['-wr', program]).split('\n')) {
        offset = Number(/Offset into .debug_info: +(\w+)/.exec(line)?.[1] ?? offset);
        const [, from, size] = /^ +(\w{16}) (\w{16})/.exec(line) ?? [];
        if (from) ranges.push([parseInt(from, 16), parseInt(size, 16), units.get(offset)]);
    }
    const found = new Map();
    let place;
    for (const line of run('addr2line', ['-a', '-i', '-e', program], addresses.join('\n')).split('\n'))
        if (line.startsWith('0x')) {
            const at = Number(line);
            const unit = ranges.find(([from, size]) => at >= from && at < from + size)?.[2] ?? '';
            found.set(at, (place = { unit, inlined: [] }));
        } else if (line) place.inlined.push(line.replace(/:.*/, ''));
    return found;
}

/** Why nothing can be sampled here, or ''. */
export function hindrance() {
    const tools = { perf: 'linux-perf', addr2line: 'binutils', readelf: 'binutils' };
    for (const [tool, from] of Object.entries(tools))
        if (spawnSync(tool, ['--version']).error)
            return `${tool} is not here (Debian: apt-get install ${from})`;
    const tried = spawnSync('perf', ['record', '-q', '-e', 'cpu-clock', '-o', '/dev/null', 'true']);
    return tried.status ? `perf may not sample here: ${`${tried.stderr}`.trim().split('\n')[0]}` : '';
}

/** Rows in turns, as many rounds: for each row and round the places (with their kinds) that were met. */
export function sampleRows(names, { seconds = '1', rounds = 1 } = {}) {
    const room = mkdtempSync(join(tmpdir(), 'seqmix-where-'));
    const program = join(room, 'seqmix'); // (a copy: it may be built anew meanwhile)
    try {
        copyFileSync(`${root}build/seqmix`, program);
        const all = names.map(() => []);
        for (let round = 0; round < rounds; round++)
            names.forEach((name, i) => all[i].push(sample(program, name, seconds)));
        const met = new Set(all.flat(2));
        const addresses = [...met].map((key) => key.split(' ')[0]).filter(Boolean);
        const at = places(program, [...new Set(addresses)]);
        const known = new Map();
        for (const key of met) {
            const [address, symbol] = key.split(/ (.*)/);
            const place = { unit: '', inlined: [], ...at.get(Number(address || NaN)), symbol };
            known.set(key, { ...place, kind: kindOf(place) });
        }
        // (until the first kernel runs, the row is opened; in the next 200 ms its arrays are touched first;
        // after the last kernel it is closed)
        const isKernel = ({ unit }) => /^kernels\/(?!core)\w+\//.test(unit);
        const found = all.map((samples) =>
            samples.map((keys) => {
                const places = keys.map((key) => known.get(key));
                const [from, to] = [places.findIndex(isKernel) + 400, places.findLastIndex(isKernel) + 1];
                return places.slice(from, to).filter(({ kind }) => kind);
            }),
        );
        // (in a map, what waits for an exponential is seen at the instruction after it: the function
        // counts as a whole)
        const within = ({ unit, symbol }) => `${unit} ${symbol}`;
        const every = [...known.values()];
        const functions = new Set(every.filter(({ kind }) => kind === 'functions').map(within));
        for (const place of every)
            if (place.kind === 'rows' && functions.has(within(place))) place.kind = 'functions';
        return found;
    } finally {
        rmSync(room, { recursive: true });
    }
}
/** Shares of the samples by what `of` says of a place. */
export function shares(places, of = ({ kind }) => kind) {
    const by = new Map();
    for (const place of places) by.set(of(place), (by.get(of(place)) ?? 0) + 1 / places.length);
    return by;
}

/** Each kind's median of the rounds, and the widest distance between two rounds. */
function summary(name, rounds) {
    const all = rounds.map((places) => shares(places));
    const of = (kind) => all.map((by) => by.get(kind) ?? 0).sort((a, b) => a - b);
    const rounded = (x) => Number(x.toFixed(4));
    return {
        name,
        samples: rounds.flat().length,
        range: rounded(Math.max(...Object.keys(KINDS).map((kind) => of(kind).at(-1) - of(kind)[0]))),
        ...Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, rounded(of(kind)[all.length >> 1])])),
    };
}

/** docs/STEPS.md, of what is kept. */
export function stepsPage() {
    const [about, ...rows] = kept('where');
    const measured = new Map(steps().map((row) => [row.name, row]));
    const percent = (share) => (share >= 0.005 ? `${(100 * share).toFixed(0)}` : '');
    const sum = (row, kinds) => kinds.reduce((all, kind) => all + row[kind], 0);
    const ranges = rows.map(({ range }) => range).sort((a, b) => a - b);
    const fewest = Math.min(...rows.map(({ samples }) => samples));
    const table = rows
        .filter(({ name }) => measured.has(name))
        .map((row) => {
            const { median, gflops, share } = measured.get(row.name);
            return `| ${[
                row.name.slice('preset/'.length),
                median >= 10 ? median.toFixed(1) : median.toPrecision(3),
                (median * gflops).toFixed(1),
                percent(share),
                percent(share / sum(row, COUNTED)),
                ...Object.keys(KINDS).map((kind) => percent(row[kind])),
            ].join(' | ')} |`;
        });
    return [
        '# Where a step’s time goes',
        '',
        'Each preset’s run, in exact mode, on one thread: what a step of training takes, and the share of its processor time, in percent, in each kind',
        'of work. A whole step should reach 60 % of the ceiling of multiply-and-add; the columns say what keeps it from that.',
        '',
        '- **ms**, **MFLOP**, **of ceiling**: a step’s time, the operations counted of it and its share of the ceiling, from',
        '  [MEASUREMENTS.md](MEASUREMENTS.md). Only products, convolutions, transforms and scans are counted.',
        `- **alone**: the share of the ceiling if a step consisted of the columns ${COUNTED.join(', ')} alone: “of ceiling” over their share of the time. The gap`,
        '  to 100 % there comes from small sizes, packing, and the shuffles of transforms; no operations are counted in the other columns: exponentials',
        '  (softmax, functions), memory (rows, copies), and everything around the model.',
        ...Object.entries(KINDS).map(([kind, what]) => `- **${kind}**: ${what}`),
        '',
        `Method: \`perf\` (Debian: linux-perf) samples the current instruction 1,999 times per second of processor time while \`seqmix bench\` repeats the step,`,
        `${about.rounds} times ${about.seconds} s for each row, in turns (${about.date}, ${about.processor}); its source file, and those inlined there, decide the kind; the share is`,
        `the median of the rounds. With ${fewest.toLocaleString('en')} samples or more in a row, a share of 30 % has a standard error of ${(100 * Math.sqrt(0.21 / fewest)).toFixed(1)} percentage points. The rounds of a row differ in their most`,
        `different column by ${(100 * ranges[ranges.length >> 1]).toFixed(1)} points in the middle row and by ${(100 * ranges.at(-1)).toFixed(1)} at most. The compiler mixes instructions of neighbouring lines, so columns that share a`,
        'function (softmax, scores) are less exact than the others. `make where` samples again.',
        '',
        `| preset/run | ms | MFLOP | of ceiling | alone | ${Object.keys(KINDS).join(' | ')} |`,
        `|---|${'--:|'.repeat(4 + Object.keys(KINDS).length)}`,
        ...table,
        '',
        'What was found in it, and what was done: [OPTIMISATION.md](OPTIMISATION.md#what-the-steps-are-made-of).',
        '',
    ].join('\n');
}

function main() {
    const { values, positionals } = parseArgs({
        allowPositionals: true,
        options: { seconds: { type: 'string' }, rounds: { type: 'string' }, files: { type: 'boolean' } },
    });
    const reason = hindrance();
    if (reason) return console.log(`where: skipped: ${reason}`);
    const seconds = values.seconds ?? '1';
    const rounds = Number(values.rounds ?? (positionals.length ? 1 : 3));
    const names = positionals.length ? positionals : steps().map(({ name }) => name);
    const found = sampleRows(names, { seconds, rounds });
    if (values.files)
        names.forEach((name, i) => {
            console.log(name);
            const by = shares(found[i].flat(), ({ kind, unit, symbol }) => `${kind}: ${unit} ${symbol}`);
            for (const [what, share] of [...by].sort((a, b) => b[1] - a[1]))
                if (share > 0.003) console.log(`${(100 * share).toFixed(1).padStart(7)} % ${what}`);
        });
    const about = {
        date: new Date().toISOString().slice(0, 10),
        processor: cpus()[0].model.trim(),
        seconds: Number(seconds),
        rounds,
    };
    const rows = names.map((name, i) => summary(name, found[i]));
    if (!positionals.length)
        writeFileSync(
            `${folder}where.jsonl`,
            [about, ...rows].map((row) => `${JSON.stringify(row)}\n`).join(''),
        );
    else if (!values.files) console.log(rows);
}
if (process.argv[1] === fileURLToPath(import.meta.url)) main();
