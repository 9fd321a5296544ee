// hostile.test.mjs: what code of the caller's may do while the loader reads what it was handed: lie about
// lengths, answer differently the second time, close the run or its state, open others so that the memory
// grows. Every call ends in a SeqmixError, or in the numbers of the honest call; and the module is unhurt.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, SeqmixError } from '../../build/wasm/seqmix.js';

const lab = await load({ whole: true });
const TOKENS = 'mixer=gla&task=own&channels=0&vocab=9&classes=9&answers=rows&batch=2&length=4&width=8';
const VALUES = 'mixer=gla&task=own&channels=3&classes=2&answers=one&batch=2&length=4&width=8';
const IMAGE = 'mixer=gla&task=smnist&width=8&batch=2';
const TEXT = 'mixer=gla&task=charlm&width=8&batch=2&length=16';

const refused = (call, words) =>
    assert.throws(call, (error) => {
        assert.ok(error instanceof SeqmixError, `${error.stack}`);
        assert.match(error.message, words);
        assert.ok(error.message.length < 400, error.message);
        return true;
    });
/** What trainings and evaluations give afterwards: damage to the module's memory would show. */
function unhurt() {
    const run = lab.open('mixer=cat&task=mqar&length=16&vocab=16&pairs=2&width=8&batch=4');
    run.step(3);
    const found = [run.digest(), run.evaluate({ count: 20 }).loss, ...run.losses()];
    run.close();
    return found;
}
const WELL = unhurt();

const right = Object.freeze([1, 2, 3, 4, 5, 6, 7, 8]);
/** Like `right`, with an iterator of its own. */
const iterates = (...other) => ({
    ...right,
    length: 8,
    *[Symbol.iterator]() {
        yield* other;
    },
});

/** Every call that takes numbers: its name, how to open what it is called on, the call, honest numbers. */
const CALLS = [
    ['stepOn tokens', TOKENS, (r, x) => (r.stepOn({ tokens: x, targets: right }), r.digest()), right],
    ['stepOn targets', TOKENS, (r, x) => (r.stepOn({ tokens: right, targets: x }), r.digest()), right],
    [
        'stepOn values',
        VALUES,
        (r, x) => (r.stepOn({ values: x, targets: [0, 1] }), r.digest()),
        Array(24).fill(0.5),
    ],
    ['evaluateOn', TOKENS, (r, x) => r.evaluateOn({ tokens: x, targets: right }).loss, right],
    ['predict', TOKENS, (r, x) => r.predict(x).confidence, [1, 2, 3, 4]],
    ['predict values', VALUES, (r, x) => r.predict(x).confidence, Array(12).fill(0.5)],
    ['predictImage', IMAGE, (r, x) => r.predictImage(x).confidence, Array(784).fill(7)],
    ['setWeight', TOKENS, (r, x) => (r.setWeight('block0.mixer.gate_bias', x), r.digest()), null],
    ['override', TOKENS, null, null],
    ['push', TOKENS, (r, x) => r.state().push(x), [1, 2, 3]],
    ['push values', VALUES, (r, x) => r.state().push(x), [1, 2, 3]],
];
function opened(config) {
    const run = lab.open(config);
    return run;
}
/** Honest numbers of the call; of a weight, as many as it has. */
function honest(run, numbers) {
    if (numbers) return [...numbers];
    const { name, shape } = run.tensors().find(({ weight }) => weight);
    WEIGHT.name = name;
    return Array(shape.reduce((a, b) => a * b, 1)).fill(0.25);
}
const WEIGHT = { name: '' };
for (const call of CALLS) {
    if (call[0] === 'setWeight') call[2] = (r, x) => (r.setWeight(WEIGHT.name, x), r.digest());
    if (call[0] === 'override')
        call[2] = (r, x) => (
            r.override([{ name: WEIGHT.name, data: x }]),
            r.predict([1, 2, 3, 4]).confidence
        );
}

for (const [name, config, call, numbers] of CALLS)
    test(`${name}: numbers are read once, by index, whatever their array says of itself`, () => {
        const answer = (make) => {
            const run = opened(config);
            try {
                return call(run, make(honest(run, numbers), run));
            } finally {
                run.close();
            }
        };
        const expected = answer((x) => x);
        const like = (x, more) => Object.assign(Object.create(more), { ...x, length: x.length });
        // The same numbers in other clothes
        const clothes = {
            typed: (x) => Float64Array.from(x),
            'array-like': (x) => like(x, null),
            'an iterator of no numbers': (x) => like(x, { *[Symbol.iterator]() {} }),
            'an iterator of more': (x) =>
                like(x, {
                    *[Symbol.iterator]() {
                        for (let i = 0; i < 9999; i++) yield 1;
                    },
                }),
            'an array with another iterator': (x) =>
                Object.assign([...x], { [Symbol.iterator]: [][Symbol.iterator] }),
            'a typed array with another iterator': (x) =>
                Object.assign(Float64Array.from(x), {
                    *[Symbol.iterator]() {
                        yield* Array(9999).fill(1);
                    },
                }),
            'a proxy': (x) => new Proxy(x, {}),
            'each index read once': (x) => {
                const seen = new Set();
                return new Proxy(x, {
                    get(of, key) {
                        if (key !== 'length' && seen.has(key)) return 1e9;
                        seen.add(key);
                        return of[key];
                    },
                });
            },
            'others opened meanwhile': (x) => {
                const others = [];
                return new Proxy(x, {
                    get(of, key) {
                        if (key === '1')
                            for (let i = 0; i < 30; i++) others.push(lab.open(`${TOKENS}&width=64`));
                        if (key === '2') for (const other of others) other.close();
                        return of[key];
                    },
                });
            },
        };
        for (const [what, dress] of Object.entries(clothes)) assert.deepEqual(answer(dress), expected, what);
        // and what is none of them
        const lies = {
            'the run closed at a number': [
                (x, run) => new Proxy(x, { get: (of, key) => (key === '1' && run.close(), of[key]) }),
                /closed/,
            ],
            'the run closed at the length': [
                (x, run) => new Proxy(x, { get: (of, key) => (key === 'length' && run.close(), of[key]) }),
                /closed/,
            ],
            'a length below 0': [(x) => ({ ...x, length: -1 }), /whole number/],
            'half a length': [(x) => ({ ...x, length: 1.5 }), /whole number/],
            'no length': [(x) => ({ ...x, length: NaN }), /whole number/],
            'an endless length': [(x) => ({ ...x, length: 2 ** 40 }), /whole number|allowed|must have/],
            'a hole': [
                (x) => {
                    delete x[1];
                    return x;
                },
                /number 1|pixel 1/,
            ],
            texts: [(x) => x.map(String), /number 0|pixel 0/],
            'a text': [() => '1'.repeat(8), /allowed|number 0|must have/],
            'an object with a value': [
                (x, run) => {
                    x[1] = { valueOf: () => (run.close(), 1) };
                    return x;
                },
                /number 1|pixel 1/,
            ],
            'big integers': [(x) => x.map((n) => BigInt(Math.ceil(n))), /bigint|pixel 0/],
            nothing: [() => null, /null|no /],
        };
        for (const [what, [dress, words]] of Object.entries(lies))
            assert.doesNotThrow(() => refused(() => answer(dress), words), what);
        // A length that grows: taken as it was first, or refused.
        const grows = (x) => {
            let n = 0;
            return new Proxy(x, {
                get: (of, key) => (key === 'length' ? x.length + 4 * n++ * x.length : of[key]),
            });
        };
        try {
            assert.deepEqual(answer(grows), expected);
        } catch (error) {
            assert.ok(error instanceof SeqmixError, error);
        }
        // What reading them throws comes out as it is.
        assert.throws(
            () =>
                answer(
                    () =>
                        new Proxy([], {
                            get() {
                                throw new RangeError('mine');
                            },
                        }),
                ),
            /mine/,
        );
        assert.deepEqual(unhurt(), WELL);
    });

test('options that close the run or its state while they are read', () => {
    const later = (object, key, value, act) =>
        Object.defineProperty({ ...object }, key, { enumerable: true, get: () => (act(), value) });
    const text = (value, act) => ({ toString: () => (act(), value) });
    const calls = {
        'evaluate count': (r, close) => r.evaluate(later({}, 'count', 4, close)),
        'evaluate length': (r, close) => r.evaluate(later({ count: 4 }, 'length', 8, close)),
        'evaluate changes': (r, close) => r.evaluate({ count: 4, changes: later({}, 'pairs', 1, close) }),
        'look length': (r, close) => r.look(0, later({}, 'length', 8, close)),
        'look stream': (r, close) => r.look(0, later({}, 'stream', 'train', close)),
        tensor: (r, close) => r.tensor(text('embedding', close)),
        value: (r, close) => r.value(text('width', close)),
        'setWeight name': (r, close) => r.setWeight(text('embedding', close), [1]),
        'override name': (r, close) => r.override([{ name: text('embedding', close), data: [1] }]),
        'override at': (r, close) => r.override([later({ name: 'embedding', data: [1] }, 'at', 0, close)]),
        'state sequences': (r, close) => r.state(later({}, 'sequences', 1, close)),
        'loadState bytes': (r, close) => r.loadState(later({}, Symbol.toStringTag, 'ArrayBuffer', close)),
        reading: (r, close) => r.reading(later(r.look(0), 'length', 8, close)),
        'saliency answer': (r, close) => (r.look(0), r.saliency(later(r.look(0), 'classes', 16, close), 0)),
    };
    for (const [name, call] of Object.entries(calls)) {
        const run = lab.open('mixer=cat&task=mqar&length=16&vocab=16&pairs=2&width=8&batch=4');
        assert.throws(() => call(run, () => run.close()), SeqmixError, name);
        assert.throws(() => run.metrics, /closed/, name);
    }
    const run = lab.open(TEXT);
    const closing = {
        'draw seed': (s, close) => s.draw(later({}, 'seed', 1, close)),
        'draw temperature': (s, close) => s.draw(later({}, 'temperature', 1, close)),
        'push of text': (s, close) => s.push(later({ length: 1 }, '0', 7, close)),
    };
    for (const [name, call] of Object.entries(closing)) {
        const state = run.state();
        state.push([65]);
        refused(() => call(state, () => state.close()), /closed/);
        assert.throws(() => state.form, /closed/, name);
    }
    for (const wrong of [{ valueOf: () => 1 }, '1', null, 1n])
        for (const key of ['temperature', 'topP', 'topK', 'seed']) {
            const state = run.state();
            state.push([65]);
            refused(() => state.draw({ [key]: wrong }), new RegExp(`${key} is`));
            state.close();
        }
    run.close();
    assert.deepEqual(unhurt(), WELL);
});

test('each option is read once', async () => {
    const twice = (first, second) => {
        let n = 0;
        return () => (n++ ? second : first);
    };
    const once = (key, first, second, more = {}) =>
        Object.defineProperty(more, key, { enumerable: true, get: twice(first, second) });
    const run = lab.open('mixer=cat&task=mqar&length=16&vocab=16&pairs=2&width=8&batch=4');
    const plain = run.evaluate({ count: 4, length: 8 });
    assert.deepEqual(run.evaluate(once('length', 8, 1e9, { count: 4 })), plain);
    assert.deepEqual(run.evaluate(once('count', 4, 1e9, { length: 8 })), plain);
    assert.deepEqual(run.evaluate(once('changes', 'length=8', 'width=3', { count: 4 })), plain);
    run.close();
    const batch = () => ({ tokens: right, targets: right });
    const own = lab.open(TOKENS, once('batch', batch, 5));
    own.step(2);
    assert.equal(own.metrics.step, 2);
    own.close();
    const model = lab.open(TEXT);
    let written = 0;
    for await (const { tokens } of model.generate(once('tokens', 3, 1e9, { prompt: 'ab' })))
        written += tokens.length;
    assert.equal(written, 3);
    model.close();
});

test('a batch function that closes its run, and one that opens others', () => {
    const own = lab.open(TOKENS, { batch: () => (own.close(), { tokens: right, targets: right }) });
    refused(() => own.step(3), /this run was closed/);
    const expected = lab.open(TOKENS, { batch: () => ({ tokens: right, targets: right }) });
    const busy = lab.open(TOKENS, {
        batch: () => {
            for (let i = 0; i < 20; i++) lab.open(TOKENS).close();
            return { tokens: right, targets: right };
        },
    });
    expected.step(3);
    busy.step(3);
    assert.equal(busy.digest(), expected.digest());
    busy.close();
    expected.close();
});

test('reading and saliency give what there is, and no more', () => {
    const run = lab.open(IMAGE);
    const sample = run.look(0);
    assert.equal(run.reading(sample).length, sample.length * sample.classes);
    const own = run.saliency(sample, sample.predicted[0]);
    assert.deepEqual(run.saliency(sample), own);
    assert.equal(own.length, sample.length * sample.channels);
    const found = [...Array(sample.classes).keys()].map((answer) => run.saliency(sample, answer).join());
    assert.equal(new Set(found).size, sample.classes); // each answer another slope
    for (const answer of [
        NaN,
        1.5,
        -2,
        sample.classes,
        2 ** 32,
        Infinity,
        '1',
        null,
        { valueOf: () => 1 },
        1n,
    ])
        refused(() => run.saliency(sample, answer), /the answer is .* whole number from 0 to 9/);
    for (const wrong of [
        { length: 1e6, classes: 1e3 },
        { ...sample, length: sample.length + 1 },
        { ...sample, classes: 2 ** 20 },
        { ...sample, channels: 3 },
        {},
    ])
        for (const ask of [(s) => run.reading(s), (s) => run.saliency(s)])
            refused(() => ask(wrong), /the sample has .* allowed: the one looked at last, of \d+ x 10 x \d+/);
    const short = run.look(1, { length: 0 });
    assert.equal(run.reading(short).length, short.length * 10);
    run.close();
});

test('kernels take the numbers of their arrays, whatever these say of themselves', () => {
    const x = Float32Array.from([1, -2, 3]);
    const expected = lab.kernels.gelu({ x });
    class Odd extends Float32Array {
        get length() {
            return 3;
        }
        *[Symbol.iterator]() {
            yield* Array(9999).fill(1);
        }
        slice() {
            return new Float32Array(1);
        }
        find() {
            return undefined;
        }
        static get [Symbol.species]() {
            return Uint8Array;
        }
    }
    assert.deepEqual(lab.kernels.gelu({ x: Odd.from(x) }), expected);
    assert.deepEqual(lab.kernels.gelu({ x: new Odd([1, -2, 3, 9, 9]) }).y.slice(0, 3), expected.y);
    const rows = Object.assign(Int32Array.of(0, 77), { find: () => undefined });
    refused(() => lab.kernels.gather({ x: new Float32Array(4), rows, N: 2, D: 2, M: 2 }), /rows is 77/);
    const grown = Object.defineProperty(Float32Array.of(1, 2), 'length', { value: 2 ** 20 });
    assert.equal(lab.kernels.gelu({ x: grown }).y.length, 2);
    assert.deepEqual(unhurt(), WELL);
});

test('files are read as long as they were', () => {
    const run = lab.open(TEXT);
    const file = run.save();
    const digest = run.digest();
    class Longer extends Uint8Array {
        get length() {
            return 2 ** 30;
        }
        get byteLength() {
            return super.byteLength;
        }
    }
    assert.equal(lab.load(new Longer(file)).digest(), digest);
    const buffer = new ArrayBuffer(file.length, { maxByteLength: 2 ** 24 });
    if (buffer.resizable) {
        new Uint8Array(buffer).set(file);
        const changes = {
            get steps() {
                buffer.resize(2 ** 24);
                return 900;
            },
        };
        assert.equal(lab.load(buffer, { changes }).digest(), digest);
    }
    run.close();
    assert.deepEqual(unhurt(), WELL);
});
