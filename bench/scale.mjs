// scale.mjs: how a grid scales, on this machine: the overhead of a job, the time and memory of collecting,
// a simulation of a million jobs on a thousand nodes at a tenth of it, what rungs save on the grids of
// docs/RANKING.md, and how often other seeds of these grids name the same winner. docs/SCALE.md has what it
// printed.
//   node bench/scale.mjs overhead|collect|simulate|rungs|winners [N]
// rungs and winners [N [FIRST [DIR]]]: N grids from the FIRST on; DIR: winners' results stay there, and count
import { spawnSync } from 'node:child_process';
import {
    copyFileSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    rmSync,
    statSync,
    writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [what = '', count, first = 0, kept] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'seqmix-scale-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
// A copy, so that a build meanwhile disturbs nothing.
mkdirSync(join(folder, 'bin'));
copyFileSync(resolve(process.env.SEQMIX ?? 'build/seqmix'), join(folder, 'bin/seqmix'));
const PATH = `${join(folder, 'bin')}:${process.env.PATH}`;
const seconds = () => Number(process.hrtime.bigint()) / 1e9;
function shell(script) {
    const begun = seconds();
    const { status, stdout, stderr } = spawnSync('bash', ['-c', script], {
        encoding: 'utf8',
        cwd: folder,
        env: { ...process.env, PATH },
        maxBuffer: 2 ** 31,
    });
    if (status !== 0) throw new Error(`${script}: ${stderr}`);
    return { stdout, stderr, took: seconds() - begun };
}
const fnv = (text) => {
    let [high, low] = [0xcbf29ce4, 0x84222325];
    for (const byte of Buffer.from(text)) {
        low = (low ^ byte) >>> 0;
        // times 2^40 + 0x1b3, modulo 2^64
        const product = low * 0x1b3;
        high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (low << 8)) >>> 0;
        low = product >>> 0;
    }
    return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
};

/** Processor time of jobs under xargs, beside the processor time that their trainings take. */
function overhead(jobs) {
    const config = 'task=mqar&steps=260&batch=16&mixer=cat';
    shell(`seqmix grid '${config}' rate=1e-4:1e-1:${jobs / 10} --seeds 10 --out out >lines`);
    const { stderr, took } = shell(
        `TIMEFORMAT='%U %S'; time (tr '\\n' '\\0' <lines | xargs -0 -n 1 -P 2 sh -c >/dev/null)`,
    );
    const [user, system] = stderr.trim().split('\n').at(-1).split(' ').map(Number);
    shell('seqmix collect out >/dev/null');
    const machines = readFileSync(join(folder, 'out/machines.csv'), 'utf8').trim().split('\n').slice(1);
    const work = machines.map((line) => Number(line.split(',')[6])).reduce((a, b) => a + b, 0);
    const again = shell(`tr '\\n' '\\0' <lines | xargs -0 -n 1 -P 2 sh -c >/dev/null`);
    console.log(
        `${machines.length} jobs: ${(work / jobs).toFixed(3)} s of training each; processor time beyond it ` +
            `${((1e3 * (user + system - work)) / jobs).toFixed(2)} ms a job, ${((100 * (user + system - work)) / work).toFixed(1)} % ` +
            `of the work; ${took.toFixed(1)} s in all; once more, all done: ${((1e3 * again.took) / jobs).toFixed(2)} ms a job`,
    );
}

/** So many results, made from one by changing what a config and a seed would change. */
function forge(jobs, out) {
    shell(`seqmix job 'task=mqar&steps=300&batch=2' --out one --eval 10`);
    const [name] = readdirSync(join(folder, 'one'), { recursive: true }).filter((file) =>
        file.endsWith('.json'),
    );
    const text = readFileSync(join(folder, 'one', name), 'utf8');
    for (let i = 0; i < 256; i++)
        mkdirSync(join(folder, out, i.toString(16).padStart(2, '0')), { recursive: true });
    for (let i = 0; i < jobs; i++) {
        const rate = 0.0001 * (1 + (Math.floor(i / 5) % 1000));
        const decay = 0.001 * Math.floor(i / 5000);
        const one = text
            .replace('seed=1', `seed=${1 + (i % 5)}`)
            .replace(/rate=[^&]*/, `rate=${Number(rate.toPrecision(6))}`)
            .replace('decay=0&', `decay=${Number(decay.toPrecision(6))}&`)
            .replace(/"value":[^,]*/, `"value":${((i * 7919) % 1000) / 1000}`);
        const config = /"config":"([^"]*)"/.exec(one)[1];
        const id = fnv(`${config}#10`);
        const body = one.replace(/"name":"\w+"/, `"name":"${id}"`).replace(/,"checksum".*\n/, '');
        writeFileSync(
            join(folder, out, id.slice(0, 2), `${id}.json`),
            `${body},"checksum":"${fnv(body)}"}\n`,
        );
    }
}
function collect(jobs) {
    forge(jobs, 'many');
    const { stdout, stderr, took } = shell(
        `TIMEFORMAT='%U %S'; time python3 -c "import resource, subprocess; subprocess.check_call(['seqmix', 'collect', 'many'], ` +
            `stdout=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"`,
    );
    const [user, system] = stderr.trim().split('\n').at(-1).split(' ').map(Number);
    const size = statSync(join(folder, 'many/results.jsonl')).size;
    console.log(
        `${jobs} results: ${took.toFixed(1)} s (${(user + system).toFixed(1)} s of a processor), ` +
            `${(Number(stdout) / 1024).toFixed(0)} MB; results.jsonl ${(size / 1e6).toFixed(0)} MB`,
    );
}

/** The plan at a tenth: 100,000 jobs in 100 tasks; what a scheduler, a file system and a login node would
 * see. */
function simulate(jobs) {
    const tasks = jobs / 1000;
    const grid = `'task=mqar&mixer=cat~mixer=attention' rate=1e-4:1e-1:100log decay=0:0.1:${jobs / 1000 / 2} --seeds 10`;
    const script = shell(`seqmix grid ${grid} --out plan --slurm --tasks ${tasks} >plan.sbatch`);
    const size = statSync(join(folder, 'plan.sbatch')).size;
    const names = new Map();
    let [lines, slowest, most] = [0, 0, 0];
    const folders = new Map();
    for (let task = 1; task <= tasks; task++) {
        const { stdout, took } = shell(`seqmix grid ${grid} --out plan --part ${task}/${tasks}`);
        const part = stdout.trim().split('\n');
        slowest = Math.max(slowest, took);
        most = Math.max(most, part.length);
        lines += part.length;
        for (const line of part) {
            const id = fnv(/'([^']*)'/.exec(line)[1]);
            names.set(id, (names.get(id) ?? 0) + 1);
            folders.set(id.slice(0, 2), (folders.get(id.slice(0, 2)) ?? 0) + 1);
        }
    }
    console.log(
        `${jobs} jobs planned: script of ${size} bytes in ${script.took.toFixed(1)} s; ${tasks} tasks of at most ${most} jobs; ` +
            `${lines} lines, ${names.size} different; a task knows its part after ${slowest.toFixed(2)} s at most; ` +
            `${folders.size} folders of at most ${Math.max(...folders.values())} results`,
    );
}

/** 150 of the ranking's grids, those of docs/SCALE.md: one of these mixers on a task at once, four rates. */
const MIXERS =
    'attention;gated_deltanet;lstm;gla;cat;hyena;based;retnet;mamba2;gru;attention, sliding;deltanet;mamba;las;linear';
const RATES = ['0.001', '0.003', '0.01', '0.03'];
function ranked() {
    const lines = readFileSync('results/ranking.jsonl', 'utf8').trim().split('\n');
    const once = lines.map((line) => JSON.parse(line)).filter(({ config }) => config.includes('&steps=300&'));
    const all = MIXERS.split(';')
        .flatMap((name) => once.filter(({ mixer }) => mixer === name))
        .map(({ mixer, task, config }) => ({
            cell: `${mixer}, ${task}`,
            config: config.replace(/&rate=[^&]*/, ''),
        }));
    return all.map((_, i) => all[(i * 37) % all.length]); // 37 and 150 share no divisor
}
// What collect says of each training of a folder.
function results(out) {
    shell(`seqmix collect ${out} >/dev/null 2>&1`);
    const lines = readFileSync(join(resolve(folder, out), 'results.jsonl'), 'utf8')
        .trim()
        .split('\n');
    return lines.map((line) => JSON.parse(line));
}

/** So many of them with three seeds, whole and by rungs, one after the other: processor time of all that the
 * lines start, and the rate that wins in the whole grid. */
function rungs(cells) {
    const all = ranked();
    const time = (out, config, ...more) => {
        const grid = `'${config}' rate=${RATES} --seeds 3 --out ${out}`;
        shell(`seqmix grid ${grid} ${more.join(' ')} 2>/dev/null >lines`);
        const { stderr } = shell(
            `TIMEFORMAT='%U %S'; time (tr '\\n' '\\0' <lines | xargs -0 -n 1 sh -c >/dev/null)`,
        );
        const [user, system] = stderr.trim().split('\n').at(-1).split(' ').map(Number);
        return { all: user + system, own: own(out) };
    };
    // What their trainings and judgements say that they took: without the start of processes, and of runs.
    const own = (out) =>
        readdirSync(join(folder, out), { recursive: true })
            .filter((file) => /^..\/.*\.json$/.test(file))
            .map((file) => readFileSync(join(folder, out, file), 'utf8'))
            .filter((text) => text)
            .map((text) => JSON.parse(text).machine.processor_seconds)
            .reduce((a, b) => a + b, 0);
    const mean = (list) => list.reduce((a, b) => a + (b.choice ?? -Infinity) / list.length, 0);
    const sum = { whole: 0, rungs: 0, own: 0, part: 0, kept: 0, near: 0, cells: 0 };
    // (The first job of a folder leaves its build's self-check there.)
    for (let i = Number(first); i < Number(first) + cells; i++) {
        const { cell, config } = all[i % all.length];
        for (const out of ['whole', 'rungs']) {
            rmSync(join(folder, out), { recursive: true, force: true });
            shell(`seqmix job 'task=mqar&steps=1' --out ${out} --eval 1 && rm -r ${out}/[0-9a-f][0-9a-f]`);
        }
        const whole = time('whole', config);
        const part = time('rungs', config, `--rungs ${process.env.RUNGS ?? '0.1:1,0.7:1~0.03,1'}`);
        const full = results('whole');
        const names = new Set(results('rungs').map(({ name }) => name));
        const choices = new Map(
            [...new Set(full.map((one) => one.rate))].map((x) => [
                x,
                mean(full.filter((one) => one.rate === x)),
            ]),
        );
        // Of those that rungs train to the end, the best one.
        const left = full.filter(({ name }) => names.has(name)).map((one) => one.rate);
        const rate = left.reduce((x, y) => (choices.get(y) > choices.get(x) ? y : x));
        const lost = Math.max(...choices.values()) - choices.get(rate);
        sum.whole += whole.all;
        sum.rungs += part.all;
        sum.own += whole.own;
        sum.part += part.own;
        sum.kept += lost === 0;
        sum.near += lost <= 0.02;
        sum.cells++;
        console.log(
            `${cell}: ${whole.all.toFixed(2)} s, by rungs ${part.all.toFixed(2)} s, ${((100 * part.all) / whole.all).toFixed(1)} %; ` +
                (lost === 0
                    ? `the winner, ${rate}`
                    : `${rate}, ${(100 * lost).toFixed(1)} points below the winner`),
        );
    }
    console.log(
        `${sum.cells} grids: ${sum.whole.toFixed(1)} s, by rungs ${sum.rungs.toFixed(1)} s, ` +
            `${((100 * sum.rungs) / sum.whole).toFixed(1)} % (trainings and judgements alone ${sum.own.toFixed(1)} and ` +
            `${sum.part.toFixed(1)} s, ${((100 * sum.part) / sum.own).toFixed(1)} %); the winner kept ${sum.kept} times, within 2 points ${sum.near} times`,
    );
}

// ---- How sure a winner is: the same grid with other seeds, and rungs replayed on its curves
const SCHEMES = (
    '0.1:1,0.7:1~0.03,1 0.2:1,0.7:1~0.02,1 0.2:1,0.7:1~0.03,1 0.2:1,0.7:2~0.02,1 0.2:1,0.7~0.02,1 0.35:1,0.7:2~0.02,1 ' +
    '0.35:1,0.7~0.02,1 0.2:1,0.7,1 0.35:1,0.7,1 0.35:1,0.6,1 0.15,0.65,1 0.4:1,1'
).split(' ');
const EVERY = 15; // of 300 steps: every rung above is one of 20
const SEEDS = [0, 1, 2, 3, 4, 5];
const average = (list) => list.reduce((a, b) => a + b, 0) / list.length;
/** By rate what its seeds come to after a share of the steps. */
const standing = (grid, seeds, share = 1) =>
    grid.map((runs) =>
        average(
            seeds.map((seed) => {
                const { choice, held_out, stopped } = runs[seed];
                if (stopped) return -Infinity;
                return share === 1 ? choice : held_out[Math.round(share * held_out.length) - 1];
            }),
        ),
    );
/** By rate the training loss of the last 24 of these steps: it stands for the held-out loss at a rung, which
 * no curve has. */
const losing = (grid, seeds, share) =>
    grid.map((runs) =>
        average(
            seeds.map((seed) => {
                const { curve, stride, stopped } = runs[seed];
                const end = Math.round(share * curve.length);
                return stopped ? Infinity : average(curve.slice(Math.max(0, end - 24 / stride), end));
            }),
        ),
    );
/** The rate that rungs end with, the best half going on, and their share of the steps. */
function replay(grid, seeds, scheme) {
    let alive = grid.map((_, rate) => rate);
    let cost = 0;
    const before = new Map();
    for (const [k, rung] of scheme.split(',').entries()) {
        const [, digits, colon, distance] = /^([\d.]+)(?::(\d+))?(?:~([\d.]+))?$/.exec(rung);
        const share = Number(digits);
        const few = Number(colon ?? seeds.length);
        const some = seeds.slice(0, few);
        for (const rate of alive)
            for (const seed of some) {
                const at = `${rate} ${seed}`;
                cost += share - (before.get(at) ?? 0);
                before.set(at, share);
            }
        const at = standing(grid, some, share);
        const loss = losing(grid, some, share);
        alive.sort((a, b) => (k || distance ? at[b] - at[a] : loss[a] - loss[b]) || a - b);
        if (share === 1) break;
        alive = distance
            ? alive.filter((x) => x === alive[0] || at[alive[0]] - at[x] <= Number(distance) + 1e-9)
            : alive.slice(0, Math.ceil(alive.length / 2));
    }
    return { rate: alive[0], cost: cost / (grid.length * seeds.length) };
}

/** So many of the ranking's grids with six seeds, judged on the way. Of each of its twenty choices of three
 * seeds: how often do the other three name the same rate, and how often do rungs end with it? */
function winners(cells) {
    const out = kept ? resolve(kept) : join(folder, 'winners');
    const linesOf = ({ config }) =>
        shell(
            `seqmix grid '${config}' rate=${RATES} --seeds 6 --every ${EVERY} --out '${out}' 2>/dev/null`,
        ).stdout.trim();
    const all = ranked()
        .slice(Number(first), Number(first) + cells)
        .map(linesOf);
    writeFileSync(join(folder, 'lines'), all.join('\n'));
    shell(`tr '\\n' '\\0' <lines | xargs -0 -n 1 -P 2 sh -c >/dev/null`);
    const found = new Map();
    for (const name of readdirSync(out, { recursive: true }).filter((file) => /^..\/\w+\.json$/.test(file))) {
        const { result } = JSON.parse(readFileSync(join(out, name), 'utf8'));
        if (result.every === EVERY) found.set(result.config, result);
    }
    const grids = all.map((text) => {
        const its = text.split('\n').map((line) => found.get(/'([^']*)'/.exec(line)[1]));
        const of = (key, value) => its.filter(({ config }) => `${config}&`.includes(`&${key}=${value}&`));
        return RATES.map((rate) =>
            SEEDS.map((seed) => of('rate', rate).find((one) => of('seed', seed + 1).includes(one))),
        );
    });
    const threes = SEEDS.flatMap((a) =>
        SEEDS.slice(a + 1).flatMap((b) => SEEDS.slice(b + 1).map((c) => [a, b, c])),
    );
    // Points that a rate is below the best of these seeds.
    const lost = (grid, three, rate) => {
        const at = standing(grid, three);
        return 100 * (Math.max(...at) - at[rate]);
    };
    const say = (name, of) => {
        const each = grids.map((grid) => threes.map((three) => of(grid, three)));
        const points = each.flat().map(({ points: x }) => x);
        const share = (most) => ((100 * points.filter((x) => x <= most).length) / points.length).toFixed(1);
        const cost = average(each.flat().map(({ cost: x }) => x));
        // Grids are independent, their choices of seeds are not.
        const shares = each.map((list) => average(list.map(({ points: x }) => 100 * (x === 0))));
        const spread = average(shares.map((x) => (x - average(shares)) ** 2));
        const error = Math.sqrt(spread / Math.max(1, shares.length - 1));
        console.log(
            `${name}: ${(100 * cost).toFixed(1)} % of the steps; the winner ${share(0)} % (+- ${error.toFixed(1)}), ` +
                `within 2 points ${share(2)} %, most points lost ${Math.max(...points).toFixed(0)}`,
        );
    };
    console.log(`${grids.length} grids, each with ${threes.length} choices of three seeds out of six`);
    say('the other three seeds', (grid, three) => {
        const at = standing(
            grid,
            SEEDS.filter((seed) => !three.includes(seed)),
        );
        return { points: lost(grid, three, at.indexOf(Math.max(...at))), cost: 1 };
    });
    for (const scheme of SCHEMES)
        say(scheme, (grid, three) => {
            const { rate, cost } = replay(grid, three, scheme);
            return { points: lost(grid, three, rate), cost };
        });
}

const run = {
    overhead: [overhead, 1000],
    collect: [collect, 100000],
    simulate: [simulate, 100000],
    rungs: [rungs, 150],
    winners: [winners, 150],
}[what];
if (!run) {
    console.error('node bench/scale.mjs overhead|collect|simulate|rungs|winners [N]');
    process.exit(2);
}
run[0](Number(count ?? run[1]));
