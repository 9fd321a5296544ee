// fields.test.mjs: what the module says about a run arrives under its own name: each field of the evaluation,
// the metrics, the batch form, a tensor and a sample against arithmetic done here, from samples, weights and
// the config alone. Catches fields that change places on the way to JavaScript, a rule that is counted by
// half, and flags that are guessed.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { load, SeqmixError } from '../../build/wasm/seqmix.js';
import { recordsModule } from '../../scripts/records.mjs';

const lab = await load({ whole: true });
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const range = (n) => Array.from({ length: n }, (_, i) => i);
const product = (numbers) => numbers.reduce((a, b) => a * b, 1);
/** Within `share` of the wanted number, and that is not 0. */
function near(is, wanted, share, what) {
    assert.ok(wanted !== 0 && Math.abs(is / wanted - 1) < share, `${what} is ${is}; ${wanted} is right`);
}

test('records.ts is what records.def says', async () => {
    const written = await readFile(new URL('../../wasm/loader/records.ts', import.meta.url), 'utf8');
    assert.equal(written, recordsModule(), 'run node scripts/records.mjs');
});

/** Held-out samples with the model's answers and the cross-entropy of each target, by the logits. */
function answersOf(run, count) {
    return range(count).map((index) => {
        const sample = run.data(index);
        const { data, shape } = run.tensor('logits');
        const classes = shape.at(-1);
        const asked = range(sample.targets.length).filter((t) => sample.targets[t] >= 0);
        const right = asked.filter((t) => sample.predicted[t] === sample.targets[t]);
        const rowsOfLogits = data.length / classes;
        const losses = asked.map((t) => {
            const row = rowsOfLogits === sample.targets.length ? t : asked.indexOf(t);
            const logits = [...data.subarray(row * classes, (row + 1) * classes)];
            const most = Math.max(...logits);
            return most + Math.log(sum(logits.map((x) => Math.exp(x - most)))) - logits[sample.targets[t]];
        });
        return { sample, asked, right, losses };
    });
}

test('an evaluation of answers: loss, accuracy and sequence accuracy, counted here', () => {
    const run = lab.open('mixer=cat&task=mqar&vocab=64&length=64&pairs=8&width=32&seed=1');
    run.step(70);
    const count = 96;
    const answers = answersOf(run, count);
    const targets = sum(answers.map(({ asked }) => asked.length));
    const accuracy = sum(answers.map(({ right }) => right.length)) / targets;
    const whole = answers.filter(({ asked, right }) => asked.length === right.length).length / count;
    const loss = sum(answers.flatMap(({ losses }) => losses)) / targets;
    assert.ok(
        accuracy > 0.2 && accuracy < 0.98 && whole > 0 && whole < accuracy - 0.05,
        `${accuracy} ${whole}`,
    );
    const is = run.evaluate({ count });
    near(is.loss, loss, 1e-5, 'the loss');
    near(is.accuracy, accuracy, 1e-12, 'the accuracy');
    near(is.sequenceAccuracy, whole, 1e-12, 'the sequence accuracy');
    // Rows are what was wanted, columns what was answered: no table that is the same when it is turned.
    const wanted = range(64).map(() => range(64).map(() => 0));
    for (const { sample, asked } of answers)
        for (const t of asked) wanted[sample.targets[t]][sample.predicted[t]]++;
    assert.ok(wanted.some((row, i) => row.some((times, k) => times !== wanted[k][i])));
    assert.deepEqual(run.confusion(), wanted);
    assert.deepEqual(is, {
        loss: is.loss,
        accuracy: is.accuracy,
        sequenceAccuracy: is.sequenceAccuracy,
        r2: 0,
        freeAccuracy: is.accuracy,
        freeSequenceAccuracy: is.sequenceAccuracy,
        targets,
        sequences: count,
        regression: false,
        text: false,
        freeRunning: false,
    });
    run.close();
});

test('an evaluation of numbers: R² and the squared error, worked out here', () => {
    const run = lab.open('mixer=las&task=cumsum&length=32&width=16&seed=3');
    run.step(30);
    const count = 64;
    const pairs = range(count).flatMap((index) => {
        const { targetValues, confidence } = run.data(index);
        return [...targetValues]
            .map((wanted, t) => [wanted, confidence[t]])
            .filter(([wanted]) => !isNaN(wanted));
    });
    const mean = sum(pairs.map(([wanted]) => wanted)) / pairs.length;
    const errors = sum(pairs.map(([wanted, answer]) => (wanted - answer) ** 2));
    const r2 = 1 - errors / sum(pairs.map(([wanted]) => (wanted - mean) ** 2));
    const is = run.evaluate({ count });
    assert.ok(r2 > 0.05 && r2 < 0.999, `${r2}`);
    near(is.r2, r2, 1e-4, 'R²');
    near(is.loss, errors / pairs.length, 1e-4, 'the loss');
    const { regression, text, freeRunning, targets, sequences, accuracy, sequenceAccuracy } = is;
    assert.deepEqual(
        { regression, text, freeRunning, targets, sequences, accuracy, sequenceAccuracy },
        {
            regression: true,
            text: false,
            freeRunning: false,
            targets: pairs.length,
            sequences: count,
            accuracy: 0,
            sequenceAccuracy: 0,
        },
    );
    run.close();
});

test('a model that reads its own answers: the free accuracies, by asking it row after row', () => {
    const run = lab.open(
        'mixer=attention&task=sc&slots=emitted&length=24&signals=4&vocab=12&position=learned&blocks=2&width=32&heads=2&seed=2&rate=0.003',
    );
    run.step(260);
    const count = 48;
    const free = range(count).map((index) => {
        const { tokens, targets } = run.data(index);
        const asked = range(targets.length).filter((t) => targets[t] >= 0);
        let right = 0;
        for (const t of asked) {
            const answer = run.predict(tokens).predicted[t];
            if (answer === targets[t]) right++;
            if (t + 1 < tokens.length) tokens[t + 1] = answer;
        }
        return { right, asked: asked.length };
    });
    const targets = sum(free.map(({ asked }) => asked));
    const is = run.evaluate({ count });
    assert.equal(is.freeRunning, true);
    assert.equal(is.targets, targets);
    const whole = free.filter(({ right, asked }) => right === asked).length;
    near(is.freeAccuracy, sum(free.map(({ right }) => right)) / targets, 1e-12, 'the free accuracy');
    near(is.freeSequenceAccuracy, whole / count, 1e-12, 'the free sequence accuracy');
    // A sequence that is right throughout is right when it reads its own answers;
    // the other three differ, or a swap is not seen.
    assert.equal(is.sequenceAccuracy, is.freeSequenceAccuracy);
    assert.equal(new Set([is.accuracy, is.sequenceAccuracy, is.freeAccuracy]).size, 3);
    run.close();
});

test('a text says that it is one', async () => {
    const own = await load({ whole: true });
    own.provide(
        'mine.txt',
        new TextEncoder().encode('the quick brown fox jumps over the lazy dog. '.repeat(400)),
    );
    const run = own.open('mixer=cat&task=charlm&text=mine.txt&length=32&width=16&batch=2');
    const { regression, text, freeRunning } = run.evaluate({ count: 4 });
    assert.deepEqual(
        { regression, text, freeRunning },
        { regression: false, text: true, freeRunning: false },
    );
    run.close();
});

test('metrics: rate, gradient norm, loss, accuracy, weights and steps, each worked out here', () => {
    const [rate, warmup, steps, batch] = [0.02, 4, 20, 8];
    const run = lab.open(
        `mixer=cat&task=mqar&vocab=16&length=16&pairs=2&width=16&batch=${batch}&rate=${rate}&warmup=${warmup}&steps=${steps}&schedule=cosine&clip=0.01&seed=5`,
    );
    const weights = run.tensors().filter(({ weight }) => weight);
    for (let step = 1; step <= 12; step++) {
        let [asked, right] = [0, 0];
        for (let b = 0; b < batch; b++) {
            const { targets, predicted } = run.data((step - 1) * batch + b, { stream: 'train' });
            for (const [t, target] of targets.entries())
                if (target >= 0) [asked, right] = [asked + 1, right + (predicted[t] === target ? 1 : 0)];
        }
        run.step();
        const { metrics } = run;
        assert.equal(metrics.step, step);
        assert.equal(metrics.steps, steps);
        assert.equal(metrics.params, sum(weights.map(({ shape }) => product(shape))));
        assert.equal(metrics.loss, run.losses().at(-1));
        assert.ok(Math.abs(metrics.accuracy - right / asked) < 1e-12, `step ${step}: ${metrics.accuracy}`);
        const planned =
            step < warmup
                ? (rate * step) / warmup
                : (rate / 2) * (1 + Math.cos((Math.PI * (step - warmup)) / (steps - warmup)));
        near(metrics.rate, planned, 1e-12, `the rate of step ${step}`);
        const squares = weights.map(({ name }) =>
            sum([...run.tensor(`grad:${name}`).data].map((x) => x * x)),
        );
        near(metrics.gradientNorm, Math.sqrt(sum(squares)), 1e-5, `the gradient's norm at step ${step}`);
    }
    for (const from of [0, 1, 11, 12, 13])
        assert.deepEqual(run.losses(from), run.losses().slice(from), `losses from ${from} on`);
    run.close();
});

test('metrics: the products of a step, counted weight by weight and pair by pair', () => {
    const [L, D, B] = [24, 16, 3];
    for (const mlp of [0, 2])
        for (const heads of [1, 4]) {
            const run = lab.open(
                `mixer=attention&task=own&channels=0&vocab=11&classes=7&answers=rows&length=${L}&batch=${B}&width=${D}&heads=${heads}&blocks=2&mlp=${mlp}`,
            );
            // Every matrix but the token table meets each row once:
            // a product and a sum for each of its numbers.
            const matrices = run
                .tensors()
                .filter(({ weight, name, shape }) => weight && shape.length === 2 && name !== 'embedding');
            let products = sum(matrices.map(({ shape }) => 2 * B * L * product(shape)));
            // Two blocks of attention: each row with each that it sees,
            // once for the score and once for the value.
            for (let row = 0; row < L; row++) products += 2 * B * (row + 1) * 4 * D;
            assert.equal(run.metrics.flops, 3 * products, `heads=${heads}, mlp=${mlp}`);
            run.close();
        }
});

test('metrics: the bytes of a run are what its module takes', async () => {
    const config = 'mixer=attention&task=mqar&width=64&heads=2&length=256&pairs=16&batch=32';
    const fresh = await load({ whole: true });
    const before = fresh.bytes;
    const run = fresh.open(config);
    const { bytes } = run.metrics;
    run.step(2);
    const grown = fresh.bytes - before;
    // Memory grows by a fifth or more at a time, and the first 16 MB are there from the start.
    assert.ok(
        bytes > 16 << 20 && bytes < grown + (16 << 20) && bytes > grown / 1.5,
        `${bytes} said, ${grown} taken`,
    );
    run.close();
});

test('the form of a batch, by what it refuses', () => {
    const rows = lab.open('mixer=cat&task=own&channels=3&classes=7&answers=rows&length=24&batch=5');
    assert.deepEqual(rows.batch, {
        sequences: 5,
        length: 24,
        targets: 24,
        most: 24,
        vocab: 0,
        channels: 3,
        classes: 7,
    });
    const one = lab.open('mixer=cat&task=own&channels=0&vocab=13&classes=0&answers=one&length=20&batch=4');
    assert.deepEqual(one.batch, {
        sequences: 4,
        length: 20,
        targets: 1,
        most: 1,
        vocab: 13,
        channels: 0,
        classes: 0,
    });
    const pairs = lab.open('mixer=cat&task=mqar&vocab=16&length=18&pairs=2&batch=2');
    const { targets, most, vocab, classes } = pairs.batch;
    assert.deepEqual({ targets, most, vocab, classes }, { targets: 18, most: 2, vocab: 16, classes: 16 });
    for (const run of [rows, one, pairs]) run.close();
});

test('a batch function is asked for each step by its number, also after a load', () => {
    const asked = [];
    const of = (step) => ({
        tokens: range(8).map((i) => (i + step) % 5),
        targets: [step % 3, (step + 1) % 3],
    });
    const batch = (step) => (asked.push(step), of(step));
    const config = 'task=own&channels=0&vocab=5&classes=3&answers=one&mixer=cat&length=4&width=8&batch=2';
    const [run, plain] = [lab.open(config, { batch }), lab.open(config)];
    run.step(2);
    run.step();
    const loaded = lab.load(run.save(), { batch });
    loaded.step(2);
    assert.deepEqual(asked, range(5));
    for (const step of range(5)) plain.stepOn(of(step));
    assert.equal(loaded.digest(), plain.digest());
    const last = { tokens: of(5).tokens.slice(4), targets: [1] }; // a batch that is not full
    assert.deepEqual([plain.evaluateOn(last).sequences, plain.evaluateOn(of(5)).sequences], [1, 2]);
    plain.stepOn(last);
    for (const each of [run, plain, loaded]) each.close();
});

test('a look at another length sees the sample of that length', () => {
    const config = 'mixer=cat&task=mqar&vocab=16&pairs=2&width=16';
    const [run, longer] = [lab.open(`${config}&length=16`), lab.open(`${config}&length=24`)];
    for (const stream of ['eval', 'train']) {
        const { length, tokens } = run.look(3, { stream, length: 24 });
        assert.equal(length, 24);
        assert.deepEqual(tokens, longer.look(3, { stream }).tokens);
    }
    run.close();
    longer.close();
});

test("a state's odds of each sequence are what its answers say", () => {
    const run = lab.open('mixer=gla&task=mqar&vocab=16&length=16&pairs=2&width=16');
    const state = run.state({ sequences: 2 });
    state.push([3, 9]);
    const answers = [...state.answers];
    for (const b of [0, 1]) {
        const raised = answers.slice(16 * b, 16 * (b + 1)).map(Math.exp);
        for (const [i, odds] of state.odds(b).entries())
            near(odds, raised[i] / sum(raised), 1e-5, `the odds of ${i} in sequence ${b}`);
    }
    const copy = state.copy();
    run.close(); // and with it its states
    for (const each of [state, copy]) assert.throws(() => each.push([3, 9]), /closed/);
});

test('a config as an object: true and false, lists, and a value with ~ in it', () => {
    const given = {
        mixers: ['cat', 'attention'],
        blocks: 2,
        task: 'charlm',
        text: 'a~b&c',
        fast: true,
        recompute: false,
    };
    const [one, ...more] = lab.values(given);
    assert.equal(more.length, 0);
    const { mixers, text, fast, recompute } = one;
    assert.deepEqual(
        { mixers, text, fast, recompute },
        { mixers: 'cat,attention', text: 'a~b&c', fast: '1', recompute: '0' },
    );
    assert.equal(lab.values({ recompute: true })[0].recompute, '1');
});

test('samples have 2^53 numbers: one beyond 2^32 is none of those before', () => {
    const run = lab.open('mixer=cat&task=mqar&vocab=16&length=16&pairs=2&width=8&batch=2');
    const words = (index) => [...run.data(index).tokens].join();
    assert.equal(words(5), words(5));
    assert.equal(new Set([5, 2 ** 32 + 5, 2 ** 40 + 5, 2 ** 53 - 1].map(words)).size, 4);
    run.close();
});

test('a tensor: its name, its shape, and whether it is trained', () => {
    const run = lab.open('mixer=las&task=mqar&vocab=16&length=16&pairs=2&width=12&heads=3&batch=2');
    run.data(0);
    for (const [name, shape, weight] of [
        ['embedding', [16, 12], true],
        ['grad:embedding', [16, 12], false],
        ['block0.mixer.map', [3, 16, 16], false],
    ]) {
        const tensor = run.tensor(name);
        assert.deepEqual(
            { name: tensor.name, shape: tensor.shape, weight: tensor.weight, length: tensor.data.length },
            { name, shape, weight, length: product(shape) },
        );
    }
    assert.throws(() => run.tensor('nothing'), SeqmixError);
    run.close();
});

test('a weight: written, used by the next look, and written back to the bit; what does not fit changes nothing', () => {
    const run = lab.open('mixer=cat&filters=k&task=mqar&vocab=16&length=16&pairs=2&batch=2');
    const name = 'block0.mixer.filter_k';
    const [digest, own] = [run.digest(), run.tensor(name).data.slice()];
    const sure = () => run.look(0).confidence.join();
    const before = sure();
    run.setWeight(name, [0, 0.5, -1]);
    assert.deepEqual([...run.tensor(name).data], [0, 0.5, -1]);
    assert.notEqual(sure(), before);
    run.setWeight(name, own);
    assert.equal(sure(), before);
    assert.equal(run.digest(), digest);
    for (const [what, values, words] of [
        ['nothing', [1], /there is no tensor nothing/],
        [`grad:${name}`, [1, 2, 3], /takes 0 finite numbers/],
        [name, [1, 2], /takes 3 finite numbers; it was given 2 of 2/],
        [name, [1, 2, 3, 4], /takes 3 finite numbers; it was given 4 of 4/],
        [name, [1, NaN, 3], /given 1 of 3/],
        [name, [1, 2, Infinity], /given 2 of 3/],
    ])
        assert.throws(() => run.setWeight(what, values), words);
    assert.equal(run.digest(), digest);
    run.close();
});

test('numbers in place of weights: looks and evaluations compute with them, nothing else hears of them', () => {
    const config = 'mixer=cat&filters=k&task=mqar&vocab=16&length=16&pairs=2&batch=2';
    const name = 'block0.mixer.filter_k';
    const [run, written, plain] = [config, config, config].map((text) => lab.open(text));
    const tried = (of) => [
        of.look(0).confidence,
        of.predict(Array(16).fill(3)).confidence,
        of.evaluate({ count: 9 }),
    ];
    const own = [...run.tensor(name).data];
    const [own1, embedding] = [tried(run), plain.tensor('embedding').data.slice()];
    written.setWeight(name, [own[0], 0.5, -1]);
    written.setWeight(
        'embedding',
        embedding.map((x, i) => (i === 7 ? 2 : x)),
    );
    run.override([
        { name, data: [9, 9, 9] }, // later ones win
        { name, data: [own[0]] },
        { name, at: 1, data: [0.5, -1] },
        { name: 'embedding', at: 7, data: new Float64Array([2]) },
    ]);
    for (let step = 0; step < 3; step++) {
        if (!step) assert.deepEqual(tried(run), tried(written));
        assert.notDeepEqual(tried(run), own1);
        if (!step) assert.deepEqual([...run.tensor(name).data], own, 'shown as trained');
        assert.equal(run.digest(), plain.digest());
        assert.deepEqual(run.save(), plain.save());
        for (const one of [run, plain]) one.step();
    }
    assert.equal(run.digest(), plain.digest());
    run.override([]);
    assert.deepEqual(tried(run), tried(plain));
    // Where one does not fit there are none, of those before neither.
    const size = embedding.length;
    for (const [one, words] of [
        [{ name: 'nothing', data: [1] }, /there is no tensor nothing/],
        [{ name: `grad:${name}`, data: [1] }, /takes 0 finite numbers from number 0 on; it was given 1 of 1/],
        [{ name, at: 1, data: [1, 2, 3] }, /takes 2 finite numbers from number \d+ on; it was given 3 of 3/],
        [{ name, at: 4, data: [1] }, /takes 0 finite numbers from number \d+ on/],
        [{ name: 'embedding', at: size - 1, data: [1, 2] }, /takes 1 finite numbers from number \d+ on/],
        [{ name: 'embedding', at: 2 ** 32 - 1, data: [1, 2] }, /takes 0 finite numbers from number \d+ on/],
        [{ name, data: [1, NaN] }, /given 1 of 2/],
        [{ name, at: -1, data: [1] }, /at is -1; it must be a whole number/],
        [{ name, data: 5 }, /allowed: an array of numbers/],
        [null, /allowed: an array of numbers/],
    ]) {
        run.override([{ name, data: [5] }]);
        assert.throws(() => run.override([{ name, data: [7] }, one]), words);
        assert.equal(run.look(0).confidence.join(), plain.look(0).confidence.join(), String(words));
    }
    for (const one of [run, written, plain]) one.close();
});
