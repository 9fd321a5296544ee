// export.mjs: `seqmix export` of every built-in mixer in each of its modes, and of a text: the PyTorch module
// gives the logits of the run to 1e-5 of the largest (of 1 where all are smaller), from the checkpoint alone.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { load } from '../../build/wasm/seqmix.js';

const python = ['python3', '/usr/bin/python3'].find(
    (one) => spawnSync(one, ['-c', 'import torch']).status === 0,
);
const needed = { skip: !python && 'needs python3 with torch (python3-torch)' };
const folder = mkdtempSync(join(tmpdir(), 'seqmix-export-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const lab = await load({ whole: true });
function seqmix(...args) {
    const { status, stdout, stderr } = spawnSync('build/seqmix', args, { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    return stdout;
}

const SIZE = '&length=24&width=8&heads=2&steps=3&batch=4&rate=0.03';
const RECALL = `&task=mqar&vocab=16&pairs=3${SIZE}`;
const help = JSON.parse(seqmix('help', '--json'));
const { modes } = help;
// (Hyena has no text: a network says its filters from their positions. The program says so.)
const mixers = help.mixers.filter(({ name }) => name !== 'hyena');
const TEXT =
    'taps = 3\nlambda = tanh(x @ w_l + b_l)\nq = conv(lambda, f[taps])\nq = q + mean(q)\nm = max(q, shift(x, 2)) / softplus(x)\n' +
    'y = join(columns(m, 0, 4), exp(tanh(log(softplus(x @ w_e[4]))))) @ w_o';
const configs = [
    ...mixers
        .filter(({ name }) => name !== 'equations')
        .flatMap(({ name }) =>
            [
                '',
                ...modes[name]
                    .split('~')
                    .filter(Boolean)
                    .map((mode) => `&${mode}`),
            ].map((mode) => `mixer=${name}${RECALL}${mode}`),
        ),
    `mixer=equations&taps=4&eq=${encodeURIComponent(TEXT)}${RECALL}&norm=layer&mlp=2&blocks=2&position=learned`,
    `mixer=cat&task=smnist&batch=2&steps=2&width=8&heads=2&position=sinusoidal`,
    ...['mixer=cat&pooling=max', 'mixer=cat&pooling=last', 'mixer=attention&causal=0&pooling=first'].map(
        (config) => `${config}&task=smnist&batch=2&steps=2&width=8&heads=2`,
    ),
];

test('a mixer without a text is refused in a sentence, and no file is written', needed, () => {
    const [file, module] = [join(folder, 'hyena.safetensors'), join(folder, 'hyena.py')];
    seqmix('train', `mixer=hyena${RECALL}`, '--eval', '0', '--save', file);
    const refused = spawnSync('build/seqmix', ['export', file, '--pytorch', module], { encoding: 'utf8' });
    assert.equal(refused.status, 2);
    assert.match(refused.stderr, /the language cannot say this of mixer=hyena/);
    assert.ok(!existsSync(module));
});

test('every mixer in every mode, and a text: the same logits', needed, () => {
    const cases = configs.map((config, i) => {
        const [file, module] = [join(folder, `${i}.safetensors`), join(folder, `model_${i}.py`)];
        seqmix('train', config, '--eval', '0', '--save', file);
        seqmix('export', file, '--pytorch', module);
        const run = lab.load(readFileSync(file));
        const { tokens, values } = run.look(0);
        if (tokens) run.predict([...tokens]);
        const logits = [...run.tensor('logits').data];
        run.close();
        return { config, file, name: `model_${i}`, inputs: [...(tokens ?? values)], values: !tokens, logits };
    });
    const list = join(folder, 'cases.json');
    writeFileSync(list, JSON.stringify(cases));
    const script = [
        'import importlib, json, sys, torch',
        'for case in json.load(open(sys.argv[1])):',
        "    inputs = torch.tensor(case['inputs'])",
        "    model = importlib.import_module(case['name']).Model(case['file'])",
        "    inputs = inputs.reshape(-1, model.input_w.shape[0]) if case['values'] else inputs",
        '    with torch.no_grad(): print(json.dumps(model(inputs[None]).flatten().tolist()))',
    ].join('\n');
    const done = spawnSync(python, ['-c', script, list], {
        encoding: 'utf8',
        env: { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' },
        maxBuffer: 1 << 28,
    });
    assert.equal(done.status, 0, done.stderr);
    const answers = done.stdout.trim().split('\n').map(JSON.parse);
    assert.equal(answers.length, cases.length);
    const wrong = cases.flatMap(({ config, logits }, i) => {
        const size = Math.max(1, ...logits.map(Math.abs));
        const off = Math.max(...logits.map((x, k) => Math.abs(x - answers[i][k])));
        return logits.length === answers[i].length && off <= 1e-5 * size ? [] : [`${config}: off by ${off}`];
    });
    assert.deepEqual(wrong, []);
    assert.ok(cases.length > 60);
});

test('no line of a text becomes code', () => {
    // Python ends a line at a carriage return too.
    const [file, module] = [join(folder, 'lines.safetensors'), join(folder, 'lines.py')];
    const text = encodeURIComponent('# hello\rimport nothing\r\ny = x @ w_o');
    seqmix('train', `mixer=equations&eq=${text}${RECALL}`, '--eval', '0', '--save', file);
    seqmix('export', file, '--pytorch', module);
    const written = readFileSync(module, 'utf8');
    assert.ok(!written.includes('\r'));
    assert.match(written, /^ {4}# hello\\x0dimport nothing\\x0d$/m);
});

test('what cannot be said is refused', () => {
    const file = join(folder, 'alphas.safetensors');
    seqmix('train', `mixer=las&alphas=1,2${RECALL}`, '--eval', '0', '--save', file);
    const { status, stderr } = spawnSync(
        'build/seqmix',
        ['export', file, '--pytorch', join(folder, 'x.py')],
        {
            encoding: 'utf8',
        },
    );
    assert.equal(status, 2);
    assert.match(stderr, /cannot say this of mixer=las/);
});
