// mnist_part.test.mjs: web/mnist is what its licence says: the first images of each set, small, the same
// bits; and a run on it is the run on all of MNIST with as many images.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { files } from '../../scripts/mnist.mjs';
import { COUNTS, firstOf, folder } from '../../scripts/mnist-subset.mjs';

const program = new URL('../../build/seqmix', import.meta.url).pathname;
const read = (name) => gunzipSync(readFileSync(join(folder, name)));
const CONTENT = {
    'train-images-idx3-ubyte.gz': 'eecb5fdbc42fe1480c3073ba440c0dea497e76921867162ff0202afa37e2b69b',
    'train-labels-idx1-ubyte.gz': '0d830540a6191e75a9f5cd63cd5b4bde38960b893784bbf456d560179296d7cd',
    't10k-images-idx3-ubyte.gz': '3f6bd66dee48df299584c67669bceee490faa25f931496bd7473b42106d7daed',
    't10k-labels-idx1-ubyte.gz': '7b098e5f6a3065807cebeabf36fb1724a8aff19f2673ac08b4923e0e8c715bce',
};

test('four files of the counts that the page and the licence say, unchanged, at most 1.5 MB', () => {
    assert.deepEqual(readdirSync(folder).sort(), ['LICENSE.txt', ...Object.keys(CONTENT)].sort());
    for (const { name } of files) {
        const content = read(name);
        const [images, count] = [/images/.test(name), COUNTS[name.split('-')[0]]];
        assert.equal(content.readUInt32BE(0), images ? 0x803 : 0x801, name);
        assert.equal(content.readUInt32BE(4), count, name);
        assert.equal(content.length, images ? 16 + 784 * count : 8 + count, name);
        assert.equal(createHash('sha256').update(content).digest('hex'), CONTENT[name], name);
    }
    const bytes = files.reduce((sum, { name }) => sum + statSync(join(folder, name)).size, 0);
    assert.ok(bytes <= 1.5e6, `${bytes} bytes`);
    const said = readFileSync(join(folder, 'LICENSE.txt'), 'utf8').replace(/\s+/g, ' ');
    assert.match(said, /LeCun and Corinna Cortes hold the copyright[^]*Attribution-Share Alike 3\.0/);
    assert.match(said, /first 6,000 of the 60,000 training images, and the first 2,000 of the 10,000 test/);
    assert.match(said, /pixels of value 1 \(of 255\) are 0/);
    assert.ok(!read('train-images-idx3-ubyte.gz').subarray(16).includes(1), 'no pixel of value 1');
    const setup = readFileSync(new URL('../../web/state/setup.ts', import.meta.url), 'utf8');
    const page = /MNIST_PART = \{ train: (\d+), test: (\d+) \}/.exec(setup).slice(1).map(Number);
    assert.deepEqual(page, [COUNTS.train, COUNTS.t10k]);
});

const data = process.env.SEQMIX_DATA || 'data';
const whole = join(data, 'mnist');
test('a run on it has the digest and the accuracy of the run on all of MNIST', (t) => {
    if (!existsSync(join(whole, files[0].name))) {
        t.skip('no mnist in $SEQMIX_DATA or data');
        return;
    }
    const first = Object.fromEntries(
        files.map(({ name }) => {
            const all = gunzipSync(readFileSync(join(whole, name)));
            return [name, firstOf(all, COUNTS[name.split('-')[0]])];
        }),
    );
    const [images, ...others] = files.map(({ name }) => name);
    for (const name of others) assert.ok(first[name].equals(read(name)), name);
    // The published training images have pixels of value 1, which are 0 here.
    const same = first[images].equals(read(images));
    if (!same)
        assert.ok(first[images].map((value) => (value === 1 ? 0 : value)).equals(read(images)), images);
    const train = (from, config) => {
        const told = execFileSync(
            program,
            ['train', `mixer=cat&task=smnist&steps=40&${config}`, '--eval', '2000', '--json'],
            { env: { ...process.env, SEQMIX_DATA: from }, encoding: 'utf8' },
        );
        const { digest, accuracy, loss, bits } = JSON.parse(told.trim().split('\n').at(-1));
        return { digest, accuracy, loss, bits };
    };
    const trained = same ? ['data=mnist&images=6000', 'data=mnist&images=100'] : [];
    for (const config of [...trained, 'test=mnist'])
        assert.deepEqual(train(join(folder, '..'), config), train(data, config), config);
});
