// second.test.mjs: seqmix.mjs, written from docs/BITS.md alone, gives that page's figures, and in other sizes
// the program's.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { seqmix } from '../support/program.mjs';
import { digest, hashOf, open, philox, sample, sampleText, step, word } from './seqmix.mjs';

// The text's 50 steps take longest: here ten of them, all in `make test-elsewhere`.
const STEPS = { recall: 50, text: process.env.SEQMIX_SECOND === 'all' ? 50 : 10 };
const page = readFileSync('docs/BITS.md', 'utf8');
const text = sampleText(readFileSync('tasks/files/text_sample.h', 'utf8'));
const configOf = (name) => new RegExp(`<!-- config ${name} -->\\n {4}(\\S+)\\n`).exec(page)[1];
const cells = (figures, columns) =>
    [...figures.matchAll(/^\| (.*) \|$/gm)]
        .map(([, row]) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')))
        .filter((row) => row.length === columns && !/^(weight|step|---)/.test(row[0]));

for (const name of ['recall', 'text'])
    test(`${name}: sample, weights and m as on the page, loss words and digests`, () => {
        const [, figures] = new RegExp(`<!-- figures ${name} -->\\n([^]*?)<!-- end -->`).exec(page);
        const model = open(configOf(name), text);
        const rows = [...figures.matchAll(/^ {4}(.*)$/gm)].flatMap(([, row]) => row.split(' ').map(Number));
        const { tokens, targets } = sample(model, 0);
        assert.deepEqual([...tokens, ...targets], rows);

        const state = ({ data }) => [word(data[0]), hashOf(data)];
        const starts = Object.values(model.weights).map(({ x }) => state(x));
        const [start, ...losses] = cells(figures, 4);
        assert.equal(digest(model), start[3]);
        const expected = losses
            .map(([t, , lossWord, after]) => [Number(t), lossWord, after])
            .filter(([t]) => t <= STEPS[name]);
        assert.equal(expected.at(-1)[0], STEPS[name]);
        const had = [];
        for (let t = 1; t <= STEPS[name]; t++) {
            const loss = step(model, t);
            if (expected.some(([n]) => n === t)) had.push([t, word(loss), digest(model)]);
            if (t === 1)
                assert.deepEqual(
                    Object.entries(model.weights).map(([key, { m }], i) => [key, ...starts[i], ...state(m)]),
                    cells(figures, 6).map(([key, , ...rest]) => [key, ...rest]),
                );
        }
        assert.deepEqual(had, expected);
    });

test('Philox of nothing but zeros', () => {
    const [, words] = /key 0, 0 gives ([0-9a-f ]+)\./.exec(page);
    assert.equal(
        philox([0, 0, 0, 0], [0, 0])
            .map((x) => x.toString(16).padStart(8, '0'))
            .join(' '),
        words,
    );
});

// More than one block of 256 in every kind of sum, pieces that are not equal, columns that fill no lanes.
for (const [name, changes] of [
    ['recall', 'filters=none'],
    ['recall', 'length=270&vocab=51&pairs=3&width=20&heads=2&filter=5&batch=3&seed=123456789012'],
    ['recall', 'position=learned&mlp=8&width=40&heads=5&batch=2&blocks=2&schedule=cosine&warmup=1'],
    ['text', 'blocks=1&position=none&norm=none&mlp=0'],
    ['text', 'length=281&width=36&heads=4&batch=2&mlp=3&blocks=1&warmup=1&clip=0.3&decay=0.3'],
])
    test(`the program’s words and digest: ${name}, ${changes}`, () => {
        const keys = new URLSearchParams(configOf(name));
        for (const [key, value] of new URLSearchParams(`${changes}&steps=3`)) keys.set(key, value);
        const config = keys.toString();
        const { status, stdout, stderr } = seqmix('train', config, '--json');
        assert.equal(status, 0, stderr);
        const lines = stdout.trim().split('\n').map(JSON.parse);
        const model = open(config, text);
        assert.deepEqual(
            [1, 2, 3].map((t) => word(step(model, t))),
            lines.flatMap((line) => line.word ?? []),
        );
        assert.equal(digest(model), lines.at(-1).digest);
    });
