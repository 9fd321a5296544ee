// presets.mjs: `make presets`: measures every preset's claims again for seeds 1, 2 and 3, keeps what it
// measured in results/presets.json, and writes docs/PRESETS.md from it. Exit status 1 when a claim does not
// hold.
//   node scripts/presets.mjs [NAME]...          these presets, or all
//   node scripts/presets.mjs --rates NAME...    on how many of seeds 1 to 16 their claims hold (of the
//                                               others 1 to 3)
//   node scripts/presets.mjs --sweeps           the two sweeps at the page's end
//   node scripts/presets.mjs --long [WORD]      the long trainings on all 784 pixels whose config has WORD,
//                                               or all (hours)
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '..');
const file = join(root, 'results/presets.json');
const kept = JSON.parse(readFileSync(file, 'utf8'));

// Runs the program, hands over each of its JSON lines; resolves to its exit status.
function seqmix(args, each) {
    const child = spawn(join(root, 'build/seqmix'), args, {
        cwd: root,
        stdio: ['ignore', 'pipe', 'inherit'],
    });
    createInterface({ input: child.stdout }).on('line', (line) => each(JSON.parse(line)));
    return new Promise((done) => child.on('close', done));
}

function keep() {
    const { measured, rates, sweeps, long } = kept;
    const lines = (list) => list.map((entry) => `        ${JSON.stringify(entry)}`).join(',\n');
    const sweep = ({ says, config, list, rows }) =>
        `        {\n            "says": ${JSON.stringify(says)},\n            "config": ${JSON.stringify(config)},\n` +
        `            "list": ${JSON.stringify(list)},\n` +
        `            "rows": [\n${rows.map((row) => `                ${JSON.stringify(row)}`).join(',\n')}\n            ]\n        }`;
    writeFileSync(
        file,
        `{\n    "measured": [\n${lines(measured)}\n    ],\n    "rates": [\n${lines(rates)}\n    ],\n    "sweeps": [\n${sweeps.map(sweep).join(',\n')}\n    ],\n` +
            `    "long": [\n${lines(long)}\n    ]\n}\n`,
    );
}

async function presets(names) {
    const table = JSON.parse(
        spawnSync(join(root, 'build/seqmix'), ['help', '--json'], { encoding: 'utf8' }).stdout,
    );
    const order = table.presets.map((preset) => preset.name);
    let status = 0;
    for (const name of names.length ? names : order) {
        const found = [];
        const ended = await seqmix(['presets', name, '--json'], (m) => {
            found.push(m);
            const {
                preset,
                run,
                mixer,
                task,
                seed,
                metric,
                minus,
                changes,
                value,
                low,
                high,
                holds,
                seconds,
            } = m;
            console.log(
                `${holds ? 'holds ' : 'BROKEN'} ${preset}, run ${run + 1} (${mixer}, ${task}), seed ${seed}: ${metric} ` +
                    `${minus ? `less that of run ${minus} ` : ''}${value.toFixed(4)} in [${low}, ${high}] ${changes} ${seconds} s`,
            );
        });
        status ||= ended;
        if (ended === 2) break;
        const others = kept.measured.filter((m) => m.preset !== name && order.includes(m.preset));
        if (!found.length) continue; // skipped, for want of files: what was measured stays
        kept.measured = [...others, ...found.map(({ holds, low, high, ...rest }) => rest)].sort(
            (a, b) => order.indexOf(a.preset) - order.indexOf(b.preset),
        );
        keep();
    }
    return status;
}

/** The values of each claim for seeds 1 to 16. */
async function rates(names) {
    for (const name of names) {
        const found = new Map();
        const status = await seqmix(['presets', name, '--seeds', '16', '--json'], (m) => {
            const { preset, run, metric, changes, minus, seed, value } = m;
            const claim = { preset, run, metric, changes, minus };
            const key = JSON.stringify(claim);
            if (!found.has(key)) found.set(key, { ...claim, values: [] });
            found.get(key).values[seed - 1] = value;
            console.log(key, seed, value, m.holds ? 'holds' : 'does not hold');
        });
        // (A rate below 16 of 16 is what is asked for. Who was stopped has no status.)
        if (status === null || status > 1) return status ?? 1;
        kept.rates = [...kept.rates.filter(({ preset }) => preset !== name), ...found.values()];
        keep();
    }
    return 0;
}

async function sweeps() {
    for (const sweep of kept.sweeps) {
        const rows = [];
        const status = await seqmix(
            ['sweep', sweep.config, sweep.list, '--seeds', '3', '--eval', '1000', '--json'],
            (row) => {
                rows.push(row);
                console.log(JSON.stringify(row));
            },
        );
        if (status) return status;
        sweep.rows = rows;
        keep();
    }
    return 0;
}

// One training for each seed; the seconds are those of the first.
async function long(word) {
    for (const run of kept.long.filter((run) => !word || run.config.includes(word))) {
        const accuracy = [];
        for (const seed of run.seeds) {
            const status = await seqmix(
                ['train', `${run.config}&seed=${seed}`, '--eval', '10000', '--json'],
                (line) => {
                    if (!line.final) return;
                    accuracy.push(line.accuracy);
                    if (accuracy.length === 1) {
                        run.params = line.params;
                        run.steps = line.step;
                        run.seconds = Math.round(line.processor_seconds);
                    }
                    console.log(run.config, seed, line.accuracy, line.processor_seconds);
                },
            );
            if (status) return status;
        }
        run.accuracy = accuracy;
        keep();
    }
    return 0;
}

const names = process.argv.slice(2);
process.exitCode =
    names[0] === '--rates'
        ? await rates(names.slice(1))
        : names[0] === '--sweeps'
          ? await sweeps()
          : names[0] === '--long'
            ? await long(names[1])
            : await presets(names);
spawnSync('node', [join(root, 'scripts/docs.mjs')], { stdio: 'inherit' });
