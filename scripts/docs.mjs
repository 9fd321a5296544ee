// docs.mjs: writes docs/MECHANISMS.md and docs/TASKS.md from the engine's own tables (`seqmix help --json`),
// the formulas and definitions in docs/definitions.json, the weights of a fresh model of every mixer, and
// samples that the generators draw; and docs/PRESETS.md from the presets, their claims and what
// `make presets` measured (docs/presets.json). Long because each page has a function for every kind of its
// parts.
//   node scripts/docs.mjs            write the pages
//   node scripts/docs.mjs --check    say which of them is not what this would write
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
const definitions = JSON.parse(readFileSync(join(root, 'docs/definitions.json'), 'utf8'));
// Mixers that are texts, model/mixers/NAME.eq, are defined by them.
const isText = ({ name }) => existsSync(join(root, `model/mixers/${name}.eq`));
const texts = JSON.parse(readFileSync(join(root, 'docs/equations.json'), 'utf8'));
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
    if (lacking.length) throw new Error(`docs/definitions.json: ${kind} lack ${lacking.join(', ')}`);
    if (unknown.length) throw new Error(`docs/definitions.json: there are no ${kind} ${unknown.join(', ')}`);
}

function files(list) {
    for (const file of list)
        if (!existsSync(join(root, file))) throw new Error(`docs/definitions.json: there is no file ${file}`);
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
const { measured, rates, sweeps, long } = JSON.parse(readFileSync(join(root, 'docs/presets.json'), 'utf8'));
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
        throw new Error(`docs/presets.json lacks seeds of ${what}; make presets measures them`);
    const wrong = found.find((m) => m.value < low || m.value > high);
    if (wrong)
        throw new Error(`docs/presets.json: ${what} is ${wrong.value}, the claim is ${low} to ${high}`);
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

// The language in which mixers are written as text.
function equationsPage() {
    return [
        '# Equations',
        '',
        'Generated by `make docs`. A mixer can be given as its equations; it becomes the same graph as a built-in one, trains to the',
        'same bits everywhere, and has the same audit, cost, tensors and checkpoints. A recurrence is a `scan`: what each head remembers,',
        'and what a row makes of it. This is the gated delta rule:',
        '',
        '```',
        ...readFileSync(join(root, 'examples/equations/gated_delta.eq'), 'utf8').trimEnd().split('\n'),
        '```',
        '',
        '    build/seqmix train "mixer=equations&task=mqar&heads=2&eq=@examples/equations/gated_delta.eq"',
        '    build/seqmix check "mixer=equations&heads=2&eq=@examples/equations/gated_delta.eq"',
        '',
        '## Recurrences',
        '',
        '`scan STATE, ... over TENSOR, ... [by heads|columns|one]`, and under it, indented alike, the lines of a row. They run row by row: that',
        'is the definition, so a sequence read in pieces, one token at a time or at once has the same bits, and no row depends on a later one.',
        '',
        '- **States.** `m` is a scalar in each head, `h[v]` a vector, `S[k][v]` a matrix. A size is the name of a tensor of the list (its columns',
        '  in one head) or an expression of numbers, keys and such names: `S[size(k) / n][size(v) / n]`. Before it is assigned in a row, a state is',
        '  what the row before left; it may be assigned again, and each line reads the latest. States start at 0, with `start(m, constant, -1000)`',
        '  at a number, with `start(S, learned)` at a weight `S_start` of each head.',
        "- **Heads.** The columns of each tensor are divided among the heads (`by heads`, the config's; `by columns`: each column is a head;",
        "  `by one`). One column a head is a scalar, and a vector of length 1. `shared b` gives every head all columns (Mamba's B and C),",
        '  `grouped(k, 2)` gives two heads each the same.',
        '- **Values.** `+ - * /` of equal shapes, or of a scalar and anything; numbers as well (`1 - z`). `k @ S`, `S @ q`, `A @ B`; `outer(a, b)`,',
        '  `dot(a, b)`, `diag(w) @ S` (rows), `S @ diag(w)` (columns), `transpose(S)`. Nothing else broadcasts. `exp log sqrt tanh sigmoid silu softplus',
        "  relu abs`, `max min`, `select(c, a, b)` (a where c > 0), `sum softmax unitnorm rms layernorm` over the head's columns, `size(a)`.",
        '  `/` is a division here, of any signs. The slopes of `sqrt`, `relu` and `abs` at 0 are 0; a side that `select` does not take has no gradient.',
        '- **Weights** name their sizes at their first use: `h @ u[z][z]`, `u[heads][z][z]` one in each head, `w[z]` a vector. Matrices start by the key',
        '  `init`, others as 1, names that begin with `b_` as 0, or by `start`.',
        "- **Repeats.** `repeat j in n` runs its lines n times; `part(k, j)` is the j-th of n equal parts of k's columns, taken before they are divided",
        '  among the heads. Outside a repeat it names how many: `part(k, 0, 2)`.',
        '- **Afterwards.** A name of the scan that later lines use is a tensor `[L][heads size]`: what a line assigned, or a scalar or vector state. All other',
        "  names are the scan's own. The lines read numbers, weights and the tensors behind `over`, nothing else.",
        '- Limits: 8 states, 2^22 numbers of them a sequence and 2^26 in a batch, 64 lines, 16 tensors, 31 with weights and learned starts, 400 steps.',
        '',
        'Backward keeps the states of one row in 64 (fewer where they are small) and computes the rows between again. A scan is in seqmix-whole.wasm,',
        'not in seqmix.wasm.',
        '',
        '## Attention',
        '',
        "`attention(q, k, v)` takes what models of 2023 to 2025 add, in the order of the oracle's `attn_core`:",
        '',
        '- `bias=f`: gates, a column a head (`f = -softplus(-z)`), whose sum from row j + 1 to row i is added to the logit of i and j (FoX: three',
        '  lines). The sums are in two floats each, so that neighbours after a hundred thousand shut gates are still told apart.',
        '- `cap=a`: a tanh(z / a) of each logit z (Gemma 2). Not with `bias` or `sink`.',
        '- `sink=s`: a weight, a logit of each head that takes its share of every row and gives no value (gpt-oss); it starts as 0.',
        '- `kv_heads=n`: k and v have n heads as wide as those of q; heads h of q with the same floor(h n / heads) share one (GQA, MQA).',
        '- `score=sigmoid`: weights 1 / (1 + e^-z), not divided by their sum.',
        '',
        '`delta` erases with the key that it writes, or, `delta(q, k, v, b, g, erase=e)`, with another one, in chunks as well:',
        '`S = R + outer(k, b * (v - e @ R))`. What reads the state before it fades (comba.eq), or writes with a third key (rwkv7.eq), is a',
        'scan, row by row.',
        '',
        'With `causal=no` (but for `bias`), in `chunk`s, read row by row and mapped like plain attention; not with `decay` or `pool`. Gates and sink are',
        'four and one more columns of each head, and grouped heads are copied, so a head of 64 columns then computes with 80; `cap` and `sigmoid` cost a',
        'tanh or an exponential a logit, twice with a gradient. The gradient of a gate is a sum over all pairs on its two sides, exact to the rounding of',
        'the largest of these, not to its own.',
        '',
        '## Mechanisms of papers',
        '',
        'Texts of 25 lines at most, each a whole mixer: those of [model/mixers](../model/mixers) by their names too, `mixer=kda`; those of',
        '[examples/equations](../examples/equations) as `mixer=equations&eq=@examples/equations/comba.eq`. Where independent float64 vectors exist',
        '([test_scan_texts.c](../proofs_tests/model/equations/test_scan_texts.c)) the layers of KDA, Gated DeltaNet-2, DeltaProduct and RWKV-7, and the',
        'cores of the others but the sLSTM, agree with them in outputs and every gradient; all pass `seqmix check`. Texts whose heads share',
        'keys (gqa.eq, softcap.eq, sinks.eq) have one such head, `kv=1`.',
        '',
        '| text | what it is |',
        '|---|---|',
        ...papers.map(({ file, says }) => `| [${file.replace(/.*\//, '')}](../${file}) | ${cell(says)} |`),
        '',
        '## A text without a scan',
        '',
        "    build/seqmix train \"mixer=equations&task=mqar&eq=$(cat <<'END'",
        '    k = conv(x @ w_k, filter_k)',
        '    y = attention(x @ w_q, k, x @ w_v) @ w_o',
        '    END',
        '    )"',
        '',
        'In a config `&`, `~`, `#` and `%` of a text are written `%26`, `%7E`, `%23` and `%25`; a page or program encodes all of it.',
        '',
        'Or from a file: `eq=@FILE`. `seqmix equations CONFIG` prints a built-in mixer as text, with `--config` the complete config that',
        'trains the very same run by its text.',
        '',
        '## The language',
        '',
        '- One equation a line; `#` starts a comment. `x` is the input, `[L][D]`; the output is `y` if it is assigned, else the last line.',
        '- `+ - * /` work entry by entry, also with a number (`1 - sigmoid(z)`); `x^2` or `x**2` is a whole power; `@` is the product with a',
        '  matrix; `f(a, b, key=value)` calls a function. What stands below `/` must be positive. `u[2:6]` has columns 2 to 5 of u, `u[:4]`',
        '  the first four, `u[4:]` the rest.',
        '- A weight with a size in brackets is a value that meets every row: `x * scale[width]`, `exp(-rate[heads])`; it starts as 1, or as 0',
        '  where its name begins with `b_`. `per_head(s) * x` multiplies each head by its column of s, `[L][heads]` or a weight.',
        '- A name that was assigned is a tensor. An unknown name where only a weight can stand is a weight, made at its first use with the',
        '  shape that its place asks for: right of `@` (`x @ w` keeps the width, `x @ w[48]` gives 48 columns), as a filter, gain or bias of a',
        '  function (`conv(x, f[5])` has 5 taps), and added, where its name begins with `b_`. Used twice, it is shared.',
        '- A number alone on its line, `taps = 3`, is a key of the config: `mixer=equations&eq=…&taps=5` gives another value, and a sweep many.',
        '  A key that the config has already (`heads`, `length`, …) needs another name. `width`, `heads`, `length` and `filter` are the',
        "  config's numbers; `w[2 * width]` computes with them.",
        '- `form = paper | code` is a key with words, the first the usual one. The lines below `if form=code`, indented deeper, are read for',
        '  that word alone; below `if taps` where that number is not 0. It may stand in a scan, not below another `if`, and no key stands below',
        '  it; there is no else: `if form=paper`, or a name that is assigned again. What is left out is still read, so that a fault in it is told.',
        '- Matrices start by the key `init`, the one whose product ends the text as an output projection; filters start as the identity, gains',
        '  as 1, biases as 0. `start(w, uniform, 0.1)` says otherwise: normal, uniform, constant, identity, decay, long, step, step_plus,',
        '  count, log_count, middle (the identity of a filter with as many taps ahead), heads (of a filter that mixes heads).',
        "- The block around a mixer (norm, residual, MLP) is the config's, as for any mixer; `residual=0` where the text brings its residual",
        '  itself. How far ahead a text sees follows from its functions, and `seqmix audit` measures it.',
        '- Limits: 8,192 bytes, 200 equations, nesting of 32, names of 16 letters. A text can name operations and weights, nothing else; what',
        '  cannot be built is refused with line, column and reason.',
        '',
        '## Checks',
        '',
        '`seqmix check CONFIG` needs no training: the steps that the text became are computed once more in double over the oracle',
        '(`check/`), outputs and every gradient compared with the float32 run within what rounding after each equation may do (measured,',
        'times 32); the gradients in double against central differences; each row of x is moved, and where an earlier output moves, the first',
        'equation that let it is named; the gradient at x over the length; FLOPs and bytes of a token at 1,024 and 65,536 rows.',
        'Seeing ahead is reported, not refused. The same comparison runs on random texts',
        '([test_random_texts.c](../proofs_tests/model/equations/test_random_texts.c)): 300 in `make test`, 10,000 in `make test-all`.',
        '',
        "The page's view Equations tells all of it while a text is typed: what is wrong under its place, the graph, a scan's states after each",
        "position of an example, this check, an operation's formula at the cursor; a button trains the text beside the other runs, and the address carries both.",
        '',
        'A mechanism has its twin in the oracle (`ref/`, for anyone to call). What only moves or compares numbers (`shift`, `join`, `columns`,',
        '`max`, `mean`, `gate`, parts of Focus) has it in [twins.c](../check/twins.c): nobody would look such a thing up, and it is a loop.',
        '',
        "`seqmix vectors 'mixer=equations&eq=@my.eq' --out DIR` writes test vectors of the text in float64, for whoever writes its kernel elsewhere",
        '([ORACLE.md](ORACLE.md), "Of any text").',
        '',
        '`seqmix judge --text` asks a text what a set of test vectors holds ([ORACLE.md](ORACLE.md)): names are bound to the arrays of each case, the lines',
        'that assign them are dropped with all that only those used, and the output may be any expression, of any width:',
        '',
        '    build/seqmix vectors --only rwkv7_core --out vectors',
        '    build/seqmix judge --manifest vectors/manifest.json --text mixer=rwkv7 \\',
        "        --bind 'w=g,u=k,c=kk,S=s0,o * root_dv=y'",
        '',
        "Left of `=` stands what is in the text, a tensor, a weight or a state that starts there; right of it the case's array, or what the name",
        "is made of (`r=sigmoid(ga)`); other arrays have their own names. The case's parameters are numbers, `root_dk` is the root of one. The",
        'text runs in float32; last states are not compared.',
        '',
        'A text costs what the builder costs: the steps of 5 built-in mixers as texts took 0.97 to 1.03 of the time of the builders (paired,',
        'medians of 7, on a busy machine); a text of 50 operations is opened in 0.3 ms (`seqmix bench "text of 50"`).',
        '',
        '`seqmix export CHECKPOINT --pytorch model.py` writes the model of a checkpoint, a text or a built-in mixer, as a PyTorch module: each',
        'line of the text as a comment, under it the steps that it became.',
        '',
        '## Texts of our own, measured',
        '',
        `Texts of [examples/equations](../examples/equations), trained on recall (\`${texts.task}\`): held-out accuracy`,
        'of seeds 1, 2 and 3 as `node scripts/equations.mjs` measured it. `shift_recall.eq` solves recall with a mixer that has no weight;',
        'no text can have fewer. The delta rule without filters (DeltaNet without its convolutions) does not begin, with them one seed of',
        'three had not after 300 steps; LaS with learned decays does not begin either: a decay says how far back a key stands, not what stood',
        'before it.',
        '',
        '| text | what it is | weights of the model | accuracy |',
        '|---|---|---|---|',
        ...texts.measured.map(
            ({ file, says, weights, accuracy }) =>
                `| [${file}](../examples/equations/${file}) | ${cell(says)} | ${weights} | ${accuracy.map((a) => a.toFixed(4)).join(', ')} |`,
        ),
        '',
        '## Functions',
        '',
        "D is the width of what stands first, H the config's heads, n the size in brackets. `build/docs/OPERATIONS.md`, a page of `make site`, has the formula,",
        'the cost and an example of each; `seqmix help FUNCTION` as well.',
        '',
        ...seqmix('equations').trimEnd().split('\n'),
        '',
        '## The built-in mixers as texts',
        '',
        'In each mode that a mixer names, text and builder train to the same words',
        '([test_equations.c](../proofs_tests/model/equations/test_equations.c)). Not said: listed `alphas` of LaS, `share_conv=1` of Focus, and Hyena, whose',
        'filters come from positions. The',
        'builders in C stay: each is a text for every setting of its keys, which one text is not. Mixers that are texts themselves',
        '(`kda`, `rwkv7`, ...) stand in [MECHANISMS.md](MECHANISMS.md).',
        '',
        ...table.mixers
            .filter((m) => m.name !== 'equations' && m.name !== 'hyena' && !isText(m))
            .flatMap(({ name, title }) => {
                const config = `mixer=${name}&task=nar&length=64&width=32&heads=2&blocks=1`;
                const itself = /&residual=0/.test(seqmix('equations', config, '--config'));
                return [
                    `### ${title}`,
                    '',
                    ...(itself ? ['With `residual=0`: the text brings its residual itself.', ''] : []),
                    '```',
                    ...seqmix('equations', config).trimEnd().split('\n'),
                    '```',
                    '',
                ];
            }),
    ];
}
const pages = {
    'docs/EQUATIONS.md': equationsPage,
    'docs/MECHANISMS.md': mechanisms,
    'docs/TASKS.md': tasks,
    'docs/PRESETS.md': presetsPage,
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
