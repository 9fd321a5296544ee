// equations.mjs: trains the texts of examples/equations on recall, three seeds each, and writes what they
// reach to results/equations.json, from which `make docs` makes a table.
//   node scripts/equations.mjs
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const TASK =
    'task=mqar&length=64&vocab=64&pairs=8&width=32&heads=1&blocks=1&mlp=0&norm=rms&rate=0.01&steps=300';

function train(file, seed) {
    const config = `mixer=equations&${TASK}&seed=${seed}&eq=@examples/equations/${file}`;
    const { status, stdout, stderr } = spawnSync(
        join(root, 'build/seqmix'),
        ['train', config, '--json', '--eval', '1000'],
        { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 },
    );
    if (status !== 0) throw new Error(stderr);
    return JSON.parse(stdout.trim().split('\n').at(-1));
}

const folder = join(root, 'examples/equations');
const texts = readdirSync(folder).filter((file) => file.endsWith('.eq'));
const measured = texts.map((file) => {
    const runs = [1, 2, 3].map((seed) => train(file, seed));
    const says = readFileSync(join(folder, file), 'utf8').split('\n')[0].replace(/^# /, '');
    const row = { file, says, weights: runs[0].params, accuracy: runs.map((run) => run.accuracy) };
    console.log(file, row.accuracy.join(' '));
    return row;
});
const lines = measured.map((row) => `        ${JSON.stringify(row)}`).join(',\n');
writeFileSync(
    join(root, 'results/equations.json'),
    `{\n    "task": ${JSON.stringify(TASK)},\n    "measured": [\n${lines}\n    ]\n}\n`,
);
