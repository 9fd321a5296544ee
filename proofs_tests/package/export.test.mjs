// export.test.mjs: `seqmix export` of every built-in mixer in each of its modes, and of a text: the
// PyTorch module gives the logits of the run to 1e-5 of the largest (of 1 where all are smaller), from the
// checkpoint alone.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { load } from '../../build/wasm/seqmix.js';
import { pythonWith } from '../support/program.mjs';

const python = pythonWith('torch');
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
    agree(cases);
    assert.ok(cases.length > 60);
});

/** Each exported module gives the logits of its run. */
function agree(cases) {
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
}

// ---- Names that an author may choose, and Python or this program want for themselves
const HOSTILE = [
    'k',
    'k_2',
    'k_3',
    'w',
    'w_1',
    'step_1',
    'step_2',
    'x_1',
    'lambda',
    'lambda_4',
    '__debug__',
    'None',
    'match',
];
HOSTILE.push(
    'torch',
    'math',
    'F',
    'print',
    'mixer',
    'Model',
    'read',
    'softmax',
    'heads',
    'k_2_2',
    '_k',
    'conv_3',
);
/** A text over such names, every one used, some assigned twice: each goes into what is read at the end. */
function hostileText(seed) {
    let state = seed;
    const below = (n) => (state = (state * 48271) % 2147483647) % n;
    const names = [];
    const lines = [];
    for (let i = 0; i < 9; i++) {
        const name = HOSTILE[below(HOSTILE.length)];
        const one = names.length ? names[below(names.length)] : 'x';
        const a = names.includes(name) ? name : one; // what it held goes on
        const b = names.length ? names[below(names.length)] : 'x';
        const right = [`${a} + ${i + 1} * ${b}`, `tanh(${a} - ${b})`, `${a} * ${b}`, `${a} @ w_${i}x`][
            below(4)
        ];
        lines.push(`${name} = ${right}`);
        names.push(name);
    }
    return [...lines, `y = (${[...new Set(names)].join(' + ')}) @ w_out`].join('\n');
}
/** Every keyword that this Python has, as a name. */
const keywords = spawnSync('python3', ['-c', 'import keyword; print(*keyword.kwlist)'], { encoding: 'utf8' });
const KEYWORDS = keywords.stdout?.trim().split(' ') ?? [];
const hostile = Array.from({ length: 40 }, (_, i) => hostileText(7 * i + 3)).concat(
    [
        ...KEYWORDS.map((name, i) => `${name} = ${i + 1} * x`),
        `y = (x + ${KEYWORDS.join(' + ')}) @ w_out`,
    ].join('\n'),
    'k = x @ w_a\nk = k * x\nk_2 = tanh(k)\ny = k + 3 * k_2',
    '# \xff\xfe \x85\n__debug__ = x @ w_a\ny = __debug__ @ w_out',
);
const hostileConfig = (text) =>
    `mixer=equations&eq=${[...Buffer.from(text, 'latin1')].map((b) => `%${b.toString(16).padStart(2, '0')}`).join('')}${RECALL}`;

test(
    "names of an author: none is given twice, none is Python's or this file's, every one is kept that can be",
    { skip: !pythonWith('ast') && 'needs python3' },
    () => {
        const read = [
            'import ast, builtins, keyword, sys',
            'for path in sys.argv[1:]:',
            '    tree = ast.parse(open(path, "rb").read())', // (UTF-8, or a SyntaxError)
            '    compile(tree, path, "exec")',
            '    functions = {f.name for f in tree.body if isinstance(f, ast.FunctionDef)}',
            '    mixer = next(f for f in tree.body if isinstance(f, ast.FunctionDef) and f.name == "mixer")',
            '    names = [a.targets[0].id for a in mixer.body if isinstance(a, ast.Assign)]',
            '    assert len(set(names)) == len(names), (path, names)',
            '    called = {n.func.id for n in ast.walk(mixer) if isinstance(n, ast.Call)}',
            '    assert not set(names) & (called | {"x", "w"}), (path, names)',
            '    seen = {"x", "w"}',
            '    for line in mixer.body:',
            '        used = {n.id for n in ast.walk(line.value) if isinstance(n, ast.Name)}',
            '        assert used <= seen | functions, (path, used - seen)',
            '        if isinstance(line, ast.Assign): seen.add(line.targets[0].id)',
            '    print(" ".join(names))',
        ].join('\n');
        const modules = hostile.map((text, i) => {
            const [run, module] = [join(folder, `hostile${i}.safetensors`), join(folder, `hostile_${i}.py`)];
            seqmix('train', hostileConfig(text), '--eval', '0', '--save', run);
            seqmix('export', run, '--pytorch', module);
            return module;
        });
        const { status, stdout, stderr } = spawnSync('python3', ['-c', read, ...modules], {
            encoding: 'utf8',
        });
        assert.equal(status, 0, stderr);
        const [k, debug] = stdout.trim().split('\n').slice(-2);
        assert.deepEqual(k.split(' ').slice(0, 1), ['k']);
        assert.ok(k.split(' ').includes('k_2'), k); // the author's own
        assert.doesNotMatch(debug, /(^| )__debug__( |$)/);
    },
);

test('the same texts: the same logits', needed, () => {
    const cases = hostile.map((text, i) => {
        const run = lab.load(readFileSync(join(folder, `hostile${i}.safetensors`)));
        const { tokens } = run.look(0);
        run.predict([...tokens]);
        const logits = [...run.tensor('logits').data];
        run.close();
        return {
            config: text,
            file: join(folder, `hostile${i}.safetensors`),
            values: false,
            name: `hostile_${i}`,
            inputs: [...tokens],
            logits,
        };
    });
    agree(cases);
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
