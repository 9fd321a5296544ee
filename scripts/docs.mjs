// docs.mjs: writes docs/MECHANISMS.md and docs/TASKS.md from the engine's own tables (`seqmix help --json`),
// the formulas and definitions in scripts/definitions.json, the weights of a fresh model of every mixer, and
// samples that the generators draw; and docs/PRESETS.md from the presets, their claims and what
// `make presets` measured (results/presets.json). Long because each page has a function for every kind of its
// parts.
//   node scripts/docs.mjs            write the pages
//   node scripts/docs.mjs --check    say which of them is not what this would write
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { equationsPage } from './docs-equations.mjs';
import { listedPages } from './docs-lists.mjs';

const root = join(import.meta.dirname, '..');

function seqmix(...args) {
    const { status, stdout, stderr } = spawnSync(join(root, 'build/seqmix'), args, {
        cwd: root,
        encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`seqmix ${args.join(' ')}: ${stderr}`);
    return stdout;
}
const table = JSON.parse(seqmix('help', '--json'));
const definitions = JSON.parse(readFileSync(join(root, 'scripts/definitions.json'), 'utf8'));
// Mixers that are texts, model/mixers/NAME.eq, are defined by them.
const isText = ({ name }) => existsSync(join(root, `model/mixers/${name}.eq`));
const texts = JSON.parse(readFileSync(join(root, 'results/equations.json'), 'utf8'));
// Texts of papers' mechanisms: their first line names the paper.
const papers = ['model/mixers', 'examples/equations']
    .flatMap((folder) => readdirSync(join(root, folder)).map((file) => `${folder}/${file}`))
    .filter((file) => file.endsWith('.eq'))
    .map((file) => ({ file, says: readFileSync(join(root, file), 'utf8').split('\n')[0].slice(2) }))
    .filter(({ says }) => says.includes('arXiv'))
    .sort((a, b) => (a.says < b.says ? -1 : 1));

// Both tables name the same mixers and tasks; every file that is named is there.
for (const [kind, extra] of [
    ['mixers', ['model']],
    ['tasks', []],
]) {
    const engine = table[kind].map((part) => part.name);
    const defined = Object.keys(definitions[kind]).filter((name) => !extra.includes(name));
    const lacking = engine.filter((name) => !defined.includes(name) && !isText({ name }));
    const unknown = defined.filter((name) => !engine.includes(name));
    if (lacking.length) throw new Error(`scripts/definitions.json: ${kind} lack ${lacking.join(', ')}`);
    if (unknown.length)
        throw new Error(`scripts/definitions.json: there are no ${kind} ${unknown.join(', ')}`);
}

function files(list) {
    for (const file of list)
        if (!existsSync(join(root, file)))
            throw new Error(`scripts/definitions.json: there is no file ${file}`);
    return list.map((file) => `[${file}](../${file})`).join(', ');
}

const cell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ');

function allowed(key) {
    if (key.choices) return key.choices.map((word) => `\`${word}\``).join(' ');
    if (key.type === 'text') return 'text';
    return `${key.min} … ${key.max}`;
}

function keys(list) {
    if (!list.length) return [];
    return [
        '| key | default | allowed | meaning |',
        '|---|---|---|---|',
        ...list.map(
            (key) =>
                `| \`${key.name}\` | \`${cell(key.default)}\` | ${cell(allowed(key))} | ${cell(key.help)} |`,
        ),
        '',
    ];
}

function formulas(list) {
    return list.flatMap(({ says, tex, equation }) => [
        `*${says}*${equation ? ` (${equation})` : ''}`,
        '```math',
        tex,
        '```',
    ]);
}

// [name, shape] of each weight of one mixer at L 64, D 32, H 2, from the header of a checkpoint.
function weights(name) {
    const folder = mkdtempSync(join(tmpdir(), 'seqmix-docs-'));
    try {
        const file = join(folder, 'run.safetensors');
        const config = `mixer=${name}&task=mqar&length=64&width=32&heads=2&blocks=1&norm=none&mlp=0&steps=1&batch=1`;
        seqmix('train', config, '--eval', '0', '--save', file);
        const bytes = readFileSync(file);
        const header = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE(0))).toString());
        return Object.entries(header)
            .filter(([key]) => key.startsWith('block0.mixer.'))
            .map(([key, { shape }]) => [key.replace('block0.mixer.', ''), shape]);
    } finally {
        rmSync(folder, { recursive: true });
    }
}

// Where this project had to choose, or differs from its source.
const readings = (list) =>
    list?.length ? ['**Readings of the source**', '', ...list.map((says) => `- ${says}`), ''] : [];

// The equations of a text: what stands above them is said elsewhere.
const textOf = ({ name }) =>
    readFileSync(join(root, `model/mixers/${name}.eq`), 'utf8')
        .replace(/^(#.*\n)+/, '')
        .trimEnd()
        .split('\n');

function mixer(part) {
    const {
        formulas: list,
        readings: said,
        kernels,
        oracle,
        mixer: own,
    } = definitions.mixers[part.name] ?? {};
    const shapes = weights(part.name);
    const count = shapes.reduce((sum, [, shape]) => sum + shape.reduce((a, b) => a * b, 1), 0);
    const modes = table.modes[part.name]
        ? table.modes[part.name].split('~').map((mode) => `\`${mode}\``)
        : [];
    return [
        `<a id="${part.name}"></a>`,
        '',
        `## ${part.title} (\`mixer=${part.name}\`)`,
        '',
        part.help,
        '',
        ...(list ? formulas(list) : ['```', ...textOf(part), '```']),
        '',
        ...readings(said),
        `- **Source**: ${part.source}`,
        `- **Cost** in multiplications: ${part.cost}`,
        '- **Shapes**: input and output `[B][L][D]`. Weights at L 64, D 32, H 2 (' +
            `${count.toLocaleString('en')} numbers): ` +
            shapes.map(([name, shape]) => `\`${name}\` ${shape.map((n) => `[${n}]`).join('')}`).join(', '),
        `- **Defaults**: ${part.defaults ? `\`${part.defaults}\`, ` : ''}and those of its keys`,
        ...(modes.length
            ? [`- **Modes**, each tested and audited besides the defaults: ${modes.join(', ')}`]
            : []),
        ...(kernels ? [`- **Kernels**: ${files(kernels)}`, `- **Oracle**: ${files(oracle)}`] : []),
        `- **Mixer**: ${files(own ?? [`model/mixers/${part.name}.${isText(part) ? 'eq' : 'c'}`])}`,
        '',
        ...keys(part.keys),
    ];
}

function mechanisms() {
    const model = definitions.mixers.model;
    const shared = table.keys.filter((key) => key.group === 'model');
    return [
        '# Mechanisms',
        '',
        'Generated by `make docs` from the tables that the program itself reads. How far ahead each mode sees is measured in',
        '[CAUSALITY.md](CAUSALITY.md), how exact each kernel is in [ACCURACY.md](ACCURACY.md), where the sources err in',
        '[ERRATA.md](ERRATA.md).',
        '',
        'Notation: length L, width D, H heads of d = D/H columns, batch B; t, i (query), j (key) count rows from 0; σ is the',
        'logistic function, SiLU(x) = x σ(x), ⊙ the product entry by entry, ∗ causal convolution over time. Sources: LaS is Zimerman &',
        'Wolf 2024, Focus is Lutati, Zimerman & Wolf 2023, CAT is Li, Zhang, Huang & Oymak 2025, CHELA is Liu et al. 2024.',
        '',
        '| mixer | what it is | cost | source |',
        '|---|---|---|---|',
        ...table.mixers.map(
            (m) => `| [\`${m.name}\`](#${m.name}) | ${cell(m.help)} | ${cell(m.cost)} | ${cell(m.source)} |`,
        ),
        '',
        '<a id="model"></a>',
        '',
        '## The model around a mixer',
        '',
        ...formulas(model.formulas),
        '',
        'Focus, Focus-H, CHELA (as printed) and the moving average carry their own gate to the input: no residual is added around',
        'them.',
        '',
        `- **Kernels**: ${files(model.kernels)}`,
        `- **Oracle**: ${files(model.oracle)}`,
        `- **Model**: ${files(model.mixer)}`,
        '',
        ...keys(shared),
        ...table.mixers.flatMap(mixer),
    ];
}

const anchor = (heading) =>
    heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-');

const metrics = {
    accuracy: 'share of targets answered right, and of sequences with every target right',
    r2: 'R², 1 − squared error / variance of the targets',
    bits: 'bits per character, the mean cross-entropy in base 2; accuracy besides',
};

function task(part) {
    const { text, readings: said, show, metric } = definitions.tasks[part.name];
    const learnt = table.recipes.filter((r) => r.task === part.name || (r.task === '*' && r.mixer !== '*'));
    return [
        `## ${part.title} (\`task=${part.name}\`)`,
        '',
        `${part.help} ${text}`,
        '',
        ...readings(said),
        `- **Source**: ${part.source}`,
        `- **Metric**: ${metrics[metric]}`,
        `- **Defaults**: \`${part.defaults}\``,
        ...(learnt.length
            ? [
                  '- **Settings that a bare config takes here** (later lines win): ' +
                      learnt
                          .map((r) => `${r.mixer === '*' ? 'every mixer' : `\`${r.mixer}\``} \`${r.config}\``)
                          .join('; '),
              ]
            : []),
        '',
        ...keys(part.keys),
        ...(show
            ? [
                  `Sample 0 of the evaluation stream of \`task=${part.name}&${show}\`, as \`seqmix data … --show --stream eval\` draws it:`,
                  '',
                  '```text',
                  seqmix('data', `task=${part.name}&${show}`, '--show', '--stream', 'eval').trimEnd(),
                  '```',
                  '',
              ]
            : []),
    ];
}

function tasks() {
    return [
        '# Tasks',
        '',
        'Generated by `make docs` from the tables that the program itself reads. Sample number i of a task is a pure function of',
        '(parameters, seed, stream, i): the same in the program, the page, any thread and any language. Training draws from its own',
        "stream, evaluation from another. `seqmix data 'CONFIG' --count N --out DIR` writes samples as .npy for use elsewhere,",
        "`seqmix data 'CONFIG' --show` draws one. A row without a target shows a dot.",
        '',
        '| task | what is asked | metric |',
        '|---|---|---|',
        ...table.tasks.map(
            (t) =>
                `| [\`${t.name}\`](#${anchor(`${t.title} (task=${t.name})`)}) | ${cell(t.help)} | ${definitions.tasks[t.name].metric} |`,
        ),
        '',
        ...table.tasks.flatMap(task),
    ];
}

const claims = seqmix('presets', '--list')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const { measured, rates, sweeps, long } = JSON.parse(
    readFileSync(join(root, 'results/presets.json'), 'utf8'),
);
const metricWords = {
    accuracy: 'accuracy',
    free: 'accuracy on its own answers',
    r2: 'R²',
    bits: 'bits per character',
};

// One row of a preset's table: a claim and what each seed gave;
// throws where that is missing or beyond the claim.
function claimRow(claim) {
    const { preset, run, metric, changes, minus, low, high } = claim;
    const isOf = (m) =>
        m.preset === preset &&
        m.run === run &&
        m.metric === metric &&
        m.changes === changes &&
        m.minus === minus;
    const found = measured.filter(isOf).sort((a, b) => a.seed - b.seed);
    const every = rates.find(isOf)?.values ?? found.map((m) => m.value);
    const what = `preset ${preset}, run ${run + 1}, ${metric} ${changes}`;
    if (found.map((m) => m.seed).join() !== '1,2,3')
        throw new Error(`results/presets.json lacks seeds of ${what}; make presets measures them`);
    const wrong = found.find((m) => m.value < low || m.value > high);
    if (wrong)
        throw new Error(`results/presets.json: ${what} is ${wrong.value}, the claim is ${low} to ${high}`);
    const [{ mixer, task, params, steps }] = found;
    const [, middle] = found.map((m) => m.seconds).sort((a, b) => a - b);
    // Nothing where they were not measured as processor time.
    const seconds = !middle ? '' : middle < 10 ? middle.toFixed(1) : String(Math.round(middle));
    const percent = (x) => (metric === 'bits' ? x.toFixed(2) : (100 * x).toFixed(1));
    const values = found.map((m) => percent(m.value)).join(' / ');
    const bound = high >= 1 && metric !== 'bits' ? `≥ ${percent(low)}` : `${percent(low)} … ${percent(high)}`;
    const held = `${every.filter((value) => value >= low && value <= high).length} of ${every.length}`;
    const less = minus ? `, less that of run ${minus}` : '';
    return (
        `| ${run + 1} | ${mixer} | ${task} | ${metricWords[metric]}${less}${changes ? ` at \`${changes}\`` : ''} | ${values} | ${bound} | ${held} |` +
        ` ${params.toLocaleString('en')} | ${steps.toLocaleString('en')} | ${seconds} |`
    );
}

function presetPage(preset) {
    const says = definitions.presets[preset.name] ?? [];
    const own = claims.filter((claim) => claim.preset === preset.name).sort((a, b) => a.run - b.run);
    return [
        `## ${preset.title} (\`preset=${preset.name}\`)`,
        '',
        `${preset.lesson} **Expect**: ${preset.expect}`,
        '',
        ...preset.config
            .split('~')
            .map(
                (run, i) =>
                    `${i + 1}. ${i ? 'changes: ' : ''}\`${run || '(the same)'}\`${says[i] ? `. ${says[i]}` : ''}`,
            ),
        '',
        ...(own.length
            ? [
                  '| run | mixer | task | measured (%, bits) | seeds 1 / 2 / 3 | claim | it holds on | weights | steps | seconds |',
                  '|---|---|---|---|---|---|---|---|---|---|',
                  ...own.map(claimRow),
                  '',
              ]
            : []),
    ];
}

function sweepPage({ config, list, says, rows }) {
    const key = list.split('=')[0];
    return [
        `**${says}**: \`seqmix sweep '${config}' ${list} --seeds 3\``,
        '',
        `| ${key} | accuracy, mean | lowest | highest | seconds |`,
        '|---|---|---|---|---|',
        ...rows.map(
            (row) =>
                `| ${row[key]} | ${(100 * row.accuracy).toFixed(1)} | ${(100 * row.low).toFixed(1)} | ${(100 * row.high).toFixed(1)} |` +
                ` ${row.seconds.toFixed(1)} |`,
        ),
        '',
    ];
}

// "chela 99.08, cat 98.07, ...", best first.
function bestOfEach(long) {
    const best = new Map();
    for (const { config, accuracy } of long) {
        const mixer = /mixer=(\w+)/.exec(config)[1];
        best.set(mixer, Math.max(best.get(mixer) ?? 0, ...accuracy));
    }
    return [...best]
        .sort((a, b) => b[1] - a[1])
        .map(([mixer, value]) => `${mixer} ${(100 * value).toFixed(2)} %`)
        .join(', ');
}
function presetsPage() {
    return [
        '# Presets',
        '',
        '`preset=NAME` in a config expands to its keys; keys after it override. Each teaches one thing; each claim is measured by',
        '`make presets` (`node scripts/presets.mjs NAME` for one), on 500 sequences held out, or on all 10,000 test images of MNIST',
        'where the data are MNIST. The seeds on which a claim holds are counted of 1 to 16 where those were trained (`--rates NAME`). Seconds are processor time of one training on one thread of an ordinary machine.',
        '',
        ...table.presets.flatMap(presetPage),
        '## All 784 pixels, longer',
        '',
        'Real MNIST, 28 × 28 pixels one by one, 60,000 training images, all 10,000 test images (`node scripts/presets.mjs --long`).',
        'Seeds 1 / 2 / 3, or seed 1 alone; seconds are processor time of seed 1 on one thread. A pass takes 1,875 steps of 32 images.',
        'LaS with centred pooling is 0.4 to 0.8 points behind attention here after one pass, both in chunks of 112 pixels, and up to 1.5',
        'points ahead at 14 × 14 (`preset=pixels14`), where [LaS] reports 0.28 points in its favour.',
        '',
        `The best of each, after different numbers of passes: ${bestOfEach(long)}.`,
        '',
        '| config | weights | passes | test accuracy | seconds |',
        '|---|---|---|---|---|',
        ...long
            .filter((run) => run.accuracy.length)
            .map(
                (run) =>
                    `| \`${cell(run.config)}\` | ${run.params.toLocaleString('en')} | ${run.steps / 1875} | ${run.accuracy.map((x) => (100 * x).toFixed(2)).join(' / ')} |` +
                    ` ${run.seconds.toLocaleString('en')} |`,
            ),
        '',
        '## Two sweeps of the papers',
        '',
        'Accuracy against the context window and against the number of training images (`node scripts/presets.mjs --sweeps`).',
        '',
        ...sweeps.flatMap(sweepPage),
    ];
}

const pages = {
    'docs/EQUATIONS.md': () => equationsPage({ root, seqmix, table, isText, texts, papers, cell }),
    'docs/MECHANISMS.md': mechanisms,
    'docs/TASKS.md': tasks,
    'docs/PRESETS.md': presetsPage,
    ...listedPages({ root, table, isText }),
};
let stale = 0;
for (const [name, write] of Object.entries(pages)) {
    const text = write().join('\n').trimEnd() + '\n';
    const path = join(root, name);
    if (!process.argv.includes('--check')) {
        writeFileSync(path, text);
        console.log(`wrote ${name}`);
    } else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
        console.error(`${name} is not what the program's tables say; make docs writes it`);
        stale = 1;
    }
}
process.exitCode = stale;
