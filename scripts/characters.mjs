// characters.mjs: how well each mechanism learns to write within the same processor time of one thread: one
// model for all, as many steps as fit, bits per character on the whole held-out tenth. Prints a table, with
// the seconds that the trainings took.
//   node scripts/characters.mjs [--text FILE] [--seconds S] [--seeds N] [MIXER...]
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '..');
const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
        text: { type: 'string', default: 'sample' },
        seconds: { type: 'string', default: '30' },
        seeds: { type: 'string', default: '3' },
    },
});
const SECONDS = Number(values.seconds);
const SEEDS = Number(values.seeds);
if (!(SECONDS > 0) || !(Number.isInteger(SEEDS) && SEEDS > 0)) {
    console.error('characters.mjs: --seconds takes a number above 0, --seeds a whole number from 1');
    process.exit(2);
}
// Softmax attention knows no order by itself.
const KEYS = { attention: 'position=rope', cat: 'position=rope', las: 'heads=4', mamba: 'mlp=0' };
const MIXERS = [
    'gated_deltanet',
    'deltanet',
    'gla',
    'mamba2',
    'mamba',
    'linear',
    'retnet',
    'cat',
    'las',
    'attention',
    'chela',
    'hyena',
    'lstm',
];
const MODEL =
    'width=128&blocks=3&heads=4&mlp=2&norm=rms&embed_std=0.1&length=128&batch=8&rate=0.004&schedule=cosine&fast=1&threads=1';
const LENGTH = 128;
const text = `text=${encodeURIComponent(values.text)}`;
const bytes = values.text === 'sample' ? null : statSync(values.text).size;

/** The last line of a training: processor_seconds and, after an evaluation on so many sequences, bits. */
function train(config, sequences) {
    const args = ['train', config, '--json', '--eval', String(sequences)];
    const { status, stdout, stderr } = spawnSync(join(root, 'build/seqmix'), args, {
        encoding: 'utf8',
        maxBuffer: 1 << 28,
    });
    if (status !== 0) throw new Error(`${config}: ${stderr}`);
    return JSON.parse(stdout.trimEnd().split('\n').at(-1));
}
const steps = (config, n) => `${config}&steps=${n}`;

console.log(`${values.text}: ${SECONDS} s of one core (${cpus()[0].model.trim()}), ${MODEL}\n`);
console.log('| mixer | bits per character | seeds | steps | seconds | weights |\n|---|--:|---|--:|--:|--:|');
for (const mixer of positionals.length ? positionals : MIXERS) {
    const config = ['task=charlm', text, `mixer=${mixer}`, MODEL, KEYS[mixer]].filter(Boolean).join('&');
    const [few, more] = [4, 24].map((n) => train(steps(config, n), 0).processor_seconds);
    const n = Math.max(25, Math.round((SECONDS - few) / ((more - few) / 20)));
    // Held-out windows do not overlap: this many are the whole tenth; the sample's few come again and again.
    const windows = bytes ? Math.floor((Math.floor(bytes / 10) - 1) / LENGTH) : 200;
    const found = Array.from({ length: SEEDS }, (_, i) =>
        train(`${steps(config, n)}&seed=${i + 1}`, windows),
    );
    const bits = found.map((run) => run.bits);
    const mean = (values) => values.reduce((sum, x) => sum + x, 0) / SEEDS;
    const seconds = mean(found.map((run) => run.processor_seconds));
    console.log(
        `| ${mixer} | ${mean(bits).toFixed(3)} | ${bits.map((x) => x.toFixed(3)).join(', ')} | ${n} | ${seconds.toFixed(1)} | ${found[0].params} |`,
    );
}
