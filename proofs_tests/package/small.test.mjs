// small.test.mjs: seqmix.wasm beside seqmix-whole.wasm: it knows the whole language of configs, and each
// mixer in each of its modes, each task, operation of texts and kernel either gives the same words or is
// refused with the sentence that says where it is. What is refused is written down here.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadChecks } from '../../build/wasm/checks.js';
import { KERNELS } from '../../build/wasm/kernels.js';
import { load, SeqmixError } from '../../build/wasm/seqmix.js';

const small = await load();
const whole = await load({ whole: true });
const seqmix = (...args) =>
    JSON.parse(spawnSync('build/seqmix', args, { encoding: 'utf8', maxBuffer: 1 << 26 }).stdout);

const ELSEWHERE = {
    // (all that are texts)
    mixers: readdirSync('model/mixers')
        .filter((file) => file.endsWith('.eq'))
        .map((file) => file.replace('.eq', ''))
        .sort(),
    tasks: ['table'],
    settings: [
        'norm=batch',
        ...seqmix('help', '--json')
            .keys.find(({ name }) => name === 'optimizer')
            .choices.filter((word) => word !== 'adamw') // (nor any that comes)
            .map((word) => `optimizer=${word}`)
            .sort(),
        'pooling=first',
        'pooling=last',
        'pooling=max',
    ],
    // (the example of decays is one of ssd)
    operations: [
        'decays',
        'delta',
        'gla',
        'gru',
        'lstm',
        'retention',
        's4d',
        's4d_real',
        'ssd',
        'taylor_attention',
    ],
    kernels: ['delta', 'gla', 'gru', 'lstm', 's4d', 'taylor'],
};

/** Does the call refuse because of the module? What else it throws is thrown on. */
function isElsewhere(call) {
    try {
        call();
        return false;
    } catch (error) {
        if (!(error instanceof SeqmixError) || error.key !== 'module') throw error;
        assert.deepEqual([error.value, error.allowed], ['seqmix.wasm', 'seqmix-whole.wasm']);
        assert.match(
            error.message,
            /^.+: not in seqmix\.wasm, .*seqmix-whole\.wasm.*load\(\{ whole: true \}\)$/,
        );
        return true;
    }
}
function trained(lab, config) {
    const run = lab.open(config);
    try {
        run.step(2);
        const losses = run.losses();
        return [...new Uint32Array(losses.buffer, losses.byteOffset, losses.length), run.digest()].join();
    } finally {
        run.close();
    }
}
/** Names of those `configs` (name, config) that seqmix.wasm refuses; the others train to the same words. */
function elsewhere(configs) {
    const refused = configs.filter(([, config]) => {
        const expected = trained(whole, config);
        let found = expected;
        const absent = isElsewhere(() => (found = trained(small, config)));
        assert.equal(found, expected, config);
        return absent;
    });
    return [...new Set(refused.map(([name]) => name))].sort();
}
const RECALL = 'length=16&width=8&heads=2&batch=2&steps=2&rate=0.01&task=mqar&vocab=8&pairs=2';

test('both know the same keys, mixers, tasks and presets, and complete them alike', () => {
    assert.deepEqual(small.config, whole.config);
    const { mixers, tasks, presets } = small.config;
    const texts = [
        ...mixers.map(({ name }) => `mixer=${name}`),
        ...tasks.map(({ name }) => `task=${name}`),
        ...presets.map(({ name }) => `preset=${name}`),
        'mixer=cat&task=table&file=mine.csv&target=load&ahead=3',
        `mixer=equations&eq=${encodeURIComponent('n = 3\ny = gla(x @ w_q, x @ w_k, x @ w_v)')}`,
        'mixers=cat,lstm,gla&blocks=3',
    ];
    for (const text of texts) assert.equal(small.complete(text), whole.complete(text));
});

test('docs/EMBED.md and the README of the package name what is elsewhere', () => {
    const names = [
        ...ELSEWHERE.mixers,
        ...ELSEWHERE.tasks,
        ...ELSEWHERE.settings.map((one) => one.split('=')[1]),
    ];
    for (const [file, place] of [
        ['docs/EMBED.md', /leaves to seqmix-whole\.wasm([^]*?)What\s+asks/],
        ['wasm/package/README.md', /and\s+refuses,([^]*?)\.\n/],
    ]) {
        const said = place.exec(readFileSync(file, 'utf8'))[1];
        for (const name of [...names, 'scan'])
            assert.match(said, new RegExp(`\\b${name}s?\\b`), `${file}: ${name}; make docs writes it`);
    }
});

test('every mixer in every mode: the same words, or where it is', () => {
    const { modes } = seqmix('help', '--json');
    const names = whole.config.mixers.map(({ name }) => name).filter((name) => name !== 'equations');
    const configs = names.flatMap((name) =>
        ['', ...modes[name].split('~').filter(Boolean)].map((mode) => [
            name,
            `mixer=${name}&${RECALL}${mode && `&${mode}`}`,
        ]),
    );
    assert.ok(configs.length > 40);
    assert.deepEqual(elsewhere(configs), ELSEWHERE.mixers);
    for (const [name, config] of configs)
        // all modes of a mixer or none
        if (ELSEWHERE.mixers.includes(name))
            assert.ok(
                isElsewhere(() => small.open(config)),
                config,
            );
});

test('every task: the same words, or where it is', () => {
    const names = whole.config.tasks.map(({ name }) => name).filter((name) => name !== 'own');
    const configs = names.map((name) => [name, `mixer=cat&task=${name}&width=8&batch=2&steps=2`]);
    assert.deepEqual(elsewhere(configs), ELSEWHERE.tasks);
    assert.throws(() => small.open('mixer=cta'), { key: 'mixer' }); // not its sentence:
    assert.ok(isElsewhere(() => small.table(new TextEncoder().encode('a,b\n1,2\n'))));
});

test('every word of a setting that all models have: the same words, or where it is', () => {
    const keys = whole.config.keys.filter(
        ({ type, name }) => type === 'word' && !['mixer', 'task'].includes(name),
    );
    const settings = keys.flatMap(({ name, choices }) => choices.map((choice) => `${name}=${choice}`));
    assert.ok(settings.length > 15, settings.join());
    const configs = [...settings, 'dropout=0.2'].map((setting) => [
        setting,
        setting.startsWith('pooling=') // of one answer a sequence; the first row has to see ahead
            ? `mixer=attention&causal=0&task=smnist&length=28&width=8&batch=2&steps=2&${setting}`
            : `mixer=attention&${RECALL}&mlp=1&${setting}`,
    ]);
    assert.deepEqual(elsewhere(configs), ELSEWHERE.settings);
});

test('every operation of texts: the same words, or where it is', () => {
    const configs = seqmix('equations', '--json').map(({ name, example }) => [
        name,
        `mixer=equations&${RECALL}&eq=${encodeURIComponent(example)}`,
    ]);
    assert.ok(configs.length > 45);
    assert.deepEqual(elsewhere(configs), ELSEWHERE.operations);
});

test('stacks and checkpoints with such a part are refused, and nothing is left behind', async () => {
    const lab = await load();
    const run = whole.open(`mixer=gla&${RECALL}`);
    const bytes = run.save();
    run.close();
    const refuse = () => {
        assert.ok(isElsewhere(() => lab.open(`mixers=cat,gru&blocks=2&${RECALL}`)));
        assert.ok(isElsewhere(() => lab.load(bytes)));
        assert.ok(isElsewhere(() => lab.open('task=table')));
        // Of several parts the first is named.
        assert.throws(() => lab.open(`mixers=gru,lstm&blocks=2&${RECALL}`), {
            message: /^mixer=gru: not in/,
        });
    };
    refuse();
    const held = lab.bytes;
    for (let i = 0; i < 300; i++) refuse();
    assert.equal(lab.bytes, held);
    assert.equal(trained(lab, `mixer=cat&${RECALL}`), trained(whole, `mixer=cat&${RECALL}`));
});

test('every kernel is there, or says where it is', async () => {
    const absent = Object.keys(KERNELS).filter((name) => {
        try {
            return isElsewhere(() => small.kernels[name]({}));
        } catch (error) {
            assert.ok(error instanceof SeqmixError, `${name}: ${error}`); // its arguments are missing
            return false;
        }
    });
    const both = ELSEWHERE.kernels.flatMap((name) => [name, `${name}Backward`]);
    assert.deepEqual(absent.sort(), both.sort());
    await assert.rejects(loadChecks(small, readFileSync('build/wasm/checks.wasm')), ({ key, message }) => {
        assert.match(message, /^the self-check of every kernel: not in seqmix\.wasm/);
        return key === 'module';
    });
});
