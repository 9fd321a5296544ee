// equations.test.mjs: mixers as text in the module: every operation's example trains to the words of the
// native program, with SIMD and without; what is wrong with a text is said with line and column.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { load } from '../../build/wasm/seqmix.js';

const seqmix = (...args) => spawnSync('build/seqmix', args, { encoding: 'utf8', maxBuffer: 1 << 26 }).stdout;
const SIZE = 'task=mqar&length=16&vocab=8&pairs=2&width=8&heads=2&batch=2&steps=2&rate=0.01';
const configs = JSON.parse(seqmix('equations', '--json')).map(
    ({ example }) => `mixer=equations&${SIZE}&eq=${encodeURIComponent(example)}`,
);
const native = configs.map(
    (config) => JSON.parse(seqmix('train', config, '--json', '--eval', '0').trim().split('\n').at(-1)).digest,
);

for (const name of ['seqmix-whole.wasm', 'seqmix-scalar.wasm'])
    test(`${name}: every operation to the native words`, async () => {
        const lab = await load({ wasm: readFileSync(`build/wasm/${name}`) });
        assert.ok(configs.length > 45);
        configs.forEach((config, i) => {
            const run = lab.open(config);
            run.step(2);
            assert.equal(run.digest(), native[i], decodeURIComponent(config));
            run.close();
        });
    });

test('a text that is wrong is refused with its place', async () => {
    const lab = await load();
    const wrong = encodeURIComponent('q = x @ w_q\ny = atention(q, q, q)');
    assert.throws(
        () => lab.open(`mixer=equations&eq=${wrong}`),
        /eq, line 2, column 5: there is no function atention/,
    );
});

test('a text that the run would not read is refused: no other mixer is trained in its place', async () => {
    const lab = await load({ whole: true });
    const eq = 'y = attention(x @ w_q, x @ w_k, x @ w_v)';
    for (const config of [{ eq }, { mixer: 'cat', eq }, `task=mqar&eq=${encodeURIComponent(eq)}`])
        assert.throws(() => lab.open(config), {
            name: 'SeqmixError',
            message:
                /^eq=y.* is a text for mixer=equations, and this run has mixer=cat, .*; allowed: mixer=equations$/,
            key: 'eq',
            value: eq,
            allowed: 'mixer=equations',
        });
    lab.open({ mixer: 'equations', eq }).close();
    lab.open('mixer=cat&eq=').close(); // (an empty one says nothing)
});
