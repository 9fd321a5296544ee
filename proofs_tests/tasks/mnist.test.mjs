// mnist.test.mjs: fetching against a local server that sends whole files, short ones, others, too much,
// nothing: what has its name in the folder is whole and as published, and every failure is one sentence that
// leaves no part of a file behind.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fetchFiles, files, mirrors } from '../../scripts/mnist.mjs';

const top = mkdtempSync(join(tmpdir(), 'seqmix-mnist-'));
after(() => rmSync(top, { recursive: true }));
let folders = 0;
const fresh = () => join(top, `${++folders}`);

const sent = { 'a.gz': Buffer.from('the first file'.repeat(5000)), 'b.gz': Buffer.from('and the second') };
const list = Object.entries(sent).map(([name, bytes]) => ({
    name,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
}));

// What the server does with b.gz, by the first part of the path.
const manners = {
    whole: (answer, bytes) => answer.end(bytes),
    truncated: (answer, bytes) => {
        answer.setHeader('content-length', bytes.length);
        answer.write(bytes.subarray(0, 7));
        setTimeout(() => answer.destroy(), 50);
    },
    short: (answer, bytes) => answer.end(bytes.subarray(0, 7)),
    other: (answer, bytes) => answer.end(Buffer.alloc(bytes.length, 65)),
    endless: (answer, bytes) => {
        const timer = setInterval(() => answer.write(bytes), 1);
        answer.on('close', () => clearInterval(timer));
    },
    missing: (answer) => {
        answer.statusCode = 404;
        answer.end('none here');
    },
    silent: () => {},
};
let asked = [];
const server = createServer((request, answer) => {
    const [, manner, name] = request.url.split('/');
    asked.push(request.url);
    if (name === 'a.gz') answer.end(sent[name]);
    else manners[manner](answer, sent[name] ?? Buffer.alloc(10));
});
let base;
before(async () => {
    await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
    base = `http://127.0.0.1:${server.address().port}`;
});
after(() => {
    server.closeAllConnections();
    server.close();
});
const quiet = { list, say: () => {} };

test('whole files arrive under their names, and are not fetched again', async () => {
    const folder = fresh();
    await fetchFiles({ ...quiet, folder, from: [`${base}/whole`] });
    for (const [name, bytes] of Object.entries(sent))
        assert.deepEqual(readFileSync(join(folder, name)), bytes);
    asked = [];
    await fetchFiles({ ...quiet, folder, from: [`${base}/missing`] });
    assert.deepEqual(asked, []);
    writeFileSync(join(folder, 'b.gz'), 'and the secon!');
    await fetchFiles({ ...quiet, folder, from: [`${base}/whole/`] });
    assert.deepEqual(asked, ['/whole/b.gz']);
    assert.deepEqual(readFileSync(join(folder, 'b.gz')), sent['b.gz']);
    assert.deepEqual(readdirSync(folder).sort(), ['a.gz', 'b.gz']);
});

const failures = [
    ['truncated', /the connection broke|terminated|cut short/],
    ['short', /cut short: 7 of 14 bytes/],
    ['other', /another file than the published one/],
    ['endless', /more than the 14 bytes/],
    ['missing', /the server answers 404/],
    ['silent', /nothing came for 0\.3 seconds/],
];
for (const [manner, sentence] of failures)
    test(`${manner}: a sentence, and no file`, async () => {
        const folder = fresh();
        mkdirSync(folder);
        writeFileSync(join(folder, 'a.gz'), sent['a.gz']);
        // (For silence alone: a busy machine takes longer over the rest.)
        const patience = manner === 'silent' ? 300 : undefined;
        const from = [`${base}/${manner}`];
        const error = await fetchFiles({ ...quiet, patience, folder, from }).catch((e) => e);
        assert.match(error.message, sentence);
        assert.match(
            error.message,
            /^b\.gz cannot be fetched \(127\.0\.0\.1:\d+: .*data=digits needs no files$/,
        );
        assert.deepEqual(readdirSync(folder), ['a.gz']);
    });

test('the next mirror is tried when one fails', async () => {
    const folder = fresh();
    await fetchFiles({ ...quiet, folder, from: [`${base}/other`, `${base}/missing`, `${base}/whole`] });
    assert.deepEqual(readFileSync(join(folder, 'b.gz')), sent['b.gz']);
});

const command = (...args) =>
    new Promise((done) => {
        const child = spawn(process.execPath, ['scripts/mnist.mjs', ...args], {
            cwd: join(import.meta.dirname, '../..'),
        });
        let stderr = '';
        child.stderr.on('data', (text) => (stderr += text));
        child.on('close', (status) => done({ status, stderr }));
    });

test('a folder that cannot be made, or something else under a file’s name: a sentence, nothing touched', async () => {
    const folder = fresh();
    await fetchFiles({ ...quiet, folder, from: [`${base}/whole`] });
    const inside = join(folder, 'a.gz');
    await assert.rejects(
        fetchFiles({ ...quiet, folder: inside, from: [`${base}/whole`] }),
        /^Error: the folder .*a\.gz cannot be made: /,
    );
    assert.deepEqual(readFileSync(inside), sent['a.gz']);
    rmSync(inside);
    mkdirSync(inside);
    await assert.rejects(
        fetchFiles({ ...quiet, folder, from: [`${base}/whole`] }),
        /a\.gz is in the way: it is no file$/,
    );
    assert.deepEqual(readdirSync(folder).sort(), ['a.gz', 'b.gz']);
});

test('the command: no network, another file, wrong words', async () => {
    const folder = fresh();
    const closed = await command('--from', 'http://127.0.0.1:1/', '--to', folder);
    assert.equal(closed.status, 1);
    assert.match(
        closed.stderr,
        /^mnist: train-images-idx3-ubyte\.gz cannot be fetched \(127\.0\.0\.1:1: .+\); data=digits.*\n$/,
    );
    const other = await command('--from', `${base}/missing`, '--from', `${base}/other`, '--to', folder);
    assert.equal(other.status, 1);
    assert.match(other.stderr, /404; 127.*cut short: 10 of 9912422 bytes/);
    assert.deepEqual(readdirSync(folder), []);
    const words = await command('--form', base);
    assert.equal(words.status, 2);
    assert.match(words.stderr, /'--form http.*' is not understood/);
});

test('four files, and every address is https', () => {
    assert.deepEqual(files.map((file) => file.name.slice(0, 8)).sort(), [
        't10k-ima',
        't10k-lab',
        'train-im',
        'train-la',
    ]);
    for (const file of files) assert.match(file.sha256, /^[0-9a-f]{64}$/);
    for (const place of mirrors) assert.match(place, /^https:\/\/.*\/$/);
});

// Where MNIST is at hand. (Its training images are also about as a copy with other bytes, so they are left
// aside.)
test('the sums are those of the originals', (t) => {
    const at = join(process.env.SEQMIX_DATA || 'data', 'mnist');
    let seen = 0;
    for (const { name, bytes, sha256 } of files.filter((file) => !file.name.startsWith('train-images')))
        try {
            const whole = readFileSync(join(at, name));
            assert.equal(whole.length, bytes);
            assert.equal(createHash('sha256').update(whole).digest('hex'), sha256);
            seen++;
        } catch (error) {
            if (error.code !== 'ENOENT') throw error;
        }
    if (!seen) t.skip('no mnist in $SEQMIX_DATA or data');
});
