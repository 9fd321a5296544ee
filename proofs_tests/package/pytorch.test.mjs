// pytorch.test.mjs: examples/pytorch rebuilds each mechanism from a checkpoint of the program: the same
// logits to 1e-5 of the largest (of 1 where all are smaller); what it does not rebuild it refuses in a
// sentence.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { load } from '../../build/wasm/seqmix.js';
import { pythonWith } from '../support/program.mjs';

const python = pythonWith('torch');
const needed = { skip: !python && 'needs python3 with torch (python3-torch)' };
const script = resolve('examples/pytorch/rebuild.py');
const folder = mkdtempSync(join(tmpdir(), 'seqmix-pytorch-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const lab = await load({ whole: true });
const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };

// The second mode of each mechanism is asked about twice the length that it was trained on.
const SMALL = '&task=mqar&length=32&vocab=32&pairs=4';
const ROWS = '&task=smnist&batch=4';

/** Trains by the program, saves; what a held-out sample goes in as (so many times over), and its logits. */
function trained(name, config, times = 1) {
    const file = join(folder, `${name}.st`);
    const made = spawnSync('build/seqmix', ['train', `${config}&steps=12`, '--save', file], {
        encoding: 'utf8',
    });
    assert.equal(made.status, 0, made.stderr);
    const run = lab.load(readFileSync(file));
    const { tokens, values } = run.look(0);
    const inputs = Array(times)
        .fill([...(tokens ?? values)])
        .flat();
    if (tokens) run.predict(inputs); // every row, those without a target too
    const logits = [...run.tensor('logits').data];
    run.close();
    return { file, inputs, logits };
}

/** The logits that Python rebuilds of all cases, in one process. */
function rebuild(cases) {
    const list = join(folder, 'cases.json');
    writeFileSync(list, JSON.stringify(cases.map(({ file, inputs }) => [file, inputs])));
    const each = [
        'import json, sys, torch, rebuild',
        `with torch.no_grad(): print(json.dumps([rebuild.logits(*rebuild.read(file), inputs).tolist()`,
        '    for file, inputs in json.load(open(sys.argv[1]))]))',
    ];
    const done = spawnSync(python, ['-c', each.join('\n'), list], {
        encoding: 'utf8',
        env: { ...env, PYTHONPATH: resolve('examples/pytorch') },
        maxBuffer: 1 << 28,
    });
    assert.equal(done.status, 0, done.stderr);
    return JSON.parse(done.stdout).map((logits) => logits.flat());
}

/** The largest difference over the largest logit, or over 1. */
function distance(rebuilt, logits) {
    assert.equal(rebuilt.length, logits.length);
    const scale = Math.max(1, ...logits.map(Math.abs));
    return Math.max(...rebuilt.map((logit, i) => Math.abs(logit - logits[i]))) / scale;
}

const mechanisms = {
    attention: [
        `position=learned&blocks=2&heads=2&norm=rms&mlp=2${SMALL}`,
        `position=rope&heads=2&norm=layer&mlp=1&activation=silu${SMALL}`,
        `position=alibi&heads=4&chunk=7${SMALL}`,
        `position=alibi_scaled&heads=2&causal=0${SMALL}`,
        `position=sinusoidal&heads=2${SMALL}`,
        `task=cumsum`,
        ROWS,
    ],
    cat: [
        `heads=2&norm=rms${SMALL}`,
        `filters=k&norm=layer&mlp=2&activation=silu${SMALL}`,
        `filters=none${SMALL}`,
        `heads=2&filter_kind=multi_head&filter_std=0.3${SMALL}`,
        `heads=4&filter_kind=maps&filter_std=0.3${SMALL}`,
        `heads=2&filter_norm=qk${SMALL}`,
        `heads=2&filter_norm=qkv&filters=kv${SMALL}`,
        `heads=2&value_filter=two_sided&filter_std=0.3${SMALL}`,
        `heads=2&position=rope${SMALL}`,
        'task=sc_unique&batch=4',
        ROWS,
    ],
    las: [
        SMALL,
        `pool=none&norm=rms${SMALL}`,
        `pool=trailing&window=4&chunk=7${SMALL}`,
        `heads=4&pool=centred&window=5&chunk=7${SMALL}`,
        `heads=4&pool=masked&window=5${SMALL}`,
        `pool=centred&window=99${SMALL}`,
        `heads=2&las_decay=none&pool=masked&window=5&chunk=7${SMALL}`,
        `heads=4&las_decay=alibi${SMALL}`,
        `heads=4&las_decay=alibi_scaled${SMALL}`,
        `heads=2&alphas=0,2.5${SMALL}`,
        ROWS,
    ],
    focus: [
        SMALL,
        `iir=causal&bins=4&heads=2${SMALL}`,
        `iir=carry&bins=4&theta=triangle&share_conv=1&blocks=2${SMALL}`,
        `iir=literal&bins=4&iir_filters=2&oversample=2${SMALL}`,
        `iir=carry&bins=4&theta=bounded&skip=1&squash=0.01${SMALL}`,
        `iir=causal&bins=8&hyper=joint&oversample=2&chunks=2${SMALL}`,
        'task=sc_unique&batch=4',
        ROWS,
    ],
    focus_h: [`bins=4${SMALL}`, `iir=literal&bins=4&theta=triangle&iir_filters=2${SMALL}`, ROWS],
    chela: [
        SMALL,
        `heads=4&residual=1&mlp=2${SMALL}`,
        `skip=0&squash=0.05&blocks=2${SMALL}`,
        `fused=1&position=learned${SMALL}`,
        ROWS,
    ],
};

for (const [mixer, modes] of Object.entries(mechanisms))
    test(`examples/pytorch rebuilds ${mixer} with the same logits to 1e-5`, needed, (t) => {
        const configs = modes.map((mode) => `mixer=${mixer}&${mode}`.replace('&&', '&'));
        const cases = configs.map((config, i) => trained(`${mixer}${i}`, config, i === 1 ? 2 : 1));
        const off = rebuild(cases).map((rebuilt, i) => distance(rebuilt, cases[i].logits));
        t.diagnostic(`largest difference ${Math.max(...off).toExponential(1)}`);
        off.forEach((one, i) => assert.ok(one <= 1e-5, `${configs[i]}: logits differ by ${one}`));
    });

test('examples/pytorch rebuilds every mode that the program names of these mixers', needed, () => {
    const help = spawnSync('build/seqmix', ['help', '--json'], { encoding: 'utf8', maxBuffer: 1 << 28 });
    const { modes } = JSON.parse(help.stdout);
    const common = 'task=mqar&length=32&vocab=32&pairs=4&width=16&heads=2&steps=12';
    const configs = Object.keys(mechanisms).flatMap((mixer) =>
        modes[mixer].split('~').map((mode) => {
            const bins = mixer.startsWith('focus') ? '&bins=4' : '';
            const merged = new Map(new URLSearchParams(`mixer=${mixer}&${common}${bins}&${mode}`));
            return [...merged].map((pair) => pair.join('=')).join('&');
        }),
    );
    assert.ok(configs.length >= 40);
    const cases = configs.map((config, i) => {
        const run = lab.open(config);
        run.step(12);
        const { tokens } = run.look(0);
        run.predict(tokens);
        const file = join(folder, `mode${i}.st`);
        writeFileSync(file, run.save());
        const one = { file, inputs: [...tokens], logits: [...run.tensor('logits').data] };
        run.close();
        return one;
    });
    rebuild(cases).forEach((rebuilt, i) => {
        const off = distance(rebuilt, cases[i].logits);
        assert.ok(off <= 1e-5, `${configs[i]}: logits differ by ${off}`);
    });
});

const program = (...words) => spawnSync(python, [script, ...words.map(String)], { encoding: 'utf8', env });
/** The program over each of these lists of words, in one process: torch takes two seconds to load. */
const IN_TURN = `
import contextlib, io, json, os, runpy, sys
script, results = sys.argv[1], []
sys.path.insert(0, os.path.dirname(script))
for words in json.load(sys.stdin):
    sys.argv = [script, *words]
    out, err, status = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
            status = 1 if isinstance(end.code, str) else end.code or 0
    results.append({"status": status, "stdout": out.getvalue(), "stderr": err.getvalue()})
json.dump(results, sys.stdout)
`;
const inTurn = (lists) => {
    const input = JSON.stringify(lists.map((words) => words.map(String)));
    const { stdout, stderr } = spawnSync(python, ['-c', IN_TURN, script], { encoding: 'utf8', env, input });
    assert.ok(stdout, stderr);
    return JSON.parse(stdout);
};

test('examples/pytorch as a program: the logits, or a refusal in a sentence', needed, () => {
    const cat = trained('cat', `mixer=cat${SMALL}`);
    const { stdout } = program(cat.file, ...cat.inputs);
    assert.ok(distance(JSON.parse(stdout).flat(), cat.logits) <= 1e-5);

    const wanted = [];
    const refused = (message, file, ...inputs) => wanted.push({ message, words: [file, ...inputs] });
    const bytes = readFileSync(cat.file);
    const changed = (from, to) => {
        const name = join(folder, `changed${wanted.length}.st`);
        assert.equal(from.length, to.length);
        writeFileSync(name, Buffer.from(bytes.toString('latin1').replace(from, to), 'latin1'));
        return name;
    };
    const mamba = trained('mamba', `mixer=mamba${SMALL}`);
    refused(
        /^mixer=mamba is not rebuilt here: it must be one of attention, cat, las, focus, focus_h, chela$/m,
        mamba.file,
        1,
    );
    refused(
        /^filter_kind=per_hand is .* one of per_head, multi_head, maps$/m,
        changed('per_head', 'per_hand'),
        1,
    );
    refused(/^v=2 is not rebuilt here: it must be 1$/m, changed('v=1', 'v=2'), 1);
    refused(/^norm=nine is .* one of none, layer, rms$/m, changed('norm=none', 'norm=nine'), 1);
    refused(/^token 32 is not in the table: it must be one of 0\.\.31$/m, cat.file, 1, 32);
    refused(/^token 1\.5 is not/m, cat.file, 1.5);
    refused(/^the input is no row of numbers: .*'x'$/m, cat.file, 'x');
    refused(/nothing\.st cannot be read: No such file/, join(folder, 'nothing.st'), 1);
    for (const size of [0, 7, 100, bytes.length >> 2]) {
        const cut = join(folder, `cut${size}.st`);
        writeFileSync(cut, bytes.subarray(0, size));
        refused(/cut\d+\.st is not rebuilt here: it must be a whole checkpoint of seqmix/, cut, 1);
    }
    refused(/changed\d+\.st has no weight 'w_q' for its config$/m, changed('.mixer.w_q"', '.mixer.w_x"'), 1);
    const focus = trained('focus', `mixer=focus&bins=4${SMALL}`);
    refused(/^9 rows are no whole bins: length\/bins=8 must divide them$/m, focus.file, ...Array(9).fill(1));
    const learned = trained('learned', `mixer=attention&position=learned${SMALL}`);
    refused(
        /^33 rows are too many: position=learned ends at length=32$/m,
        learned.file,
        ...Array(33).fill(1),
    );
    const rows = trained('rows', `mixer=chela${ROWS}`);
    refused(/^29 numbers are no whole rows: there must be 28 a row$/m, rows.file, ...Array(29).fill(1));

    inTurn(wanted.map(({ words }) => words)).forEach(({ status, stdout, stderr }, i) => {
        assert.match(stderr, wanted[i].message);
        assert.equal(status, 1);
        assert.equal(stdout, '');
        assert.equal(stderr.trim().split('\n').length, 1, stderr);
    });
    // And as the process of its own that it is.
    const { status, stderr } = program(mamba.file, 1);
    assert.deepEqual([status, stderr.trim().split('\n').length], [1, 1], stderr);
});
