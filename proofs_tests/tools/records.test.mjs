// records.test.mjs: docs/records, and what judges it: an entry that says what its run is stands, any other
// is refused with the reason. Trained again here is what this commit changes; all of them by
// `make records`, a part of make test-all.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pageOf } from '../../scripts/leaderboard.mjs';

const records = JSON.parse(readFileSync('docs/records/records.json', 'utf8'));
const { boards } = records;
const SMALL = {
    board: 'recall-smallest',
    by: 'a test',
    address: '#mixer=cat&task=mqar&width=8&batch=8&steps=2',
};
const folder = mkdtempSync(join(tmpdir(), 'seqmix-records-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const leaderboard = (...args) =>
    spawnSync(process.execPath, ['scripts/leaderboard.mjs', ...args], { encoding: 'utf8', env: process.env });
/** What is said of these entries, on boards where anything counts but for `more`. */
function checked(entry, more = {}) {
    const file = join(folder, 'records.json');
    const easy = boards.map((board) => (board.id === SMALL.board ? { ...board, least: 0, ...more } : board));
    writeFileSync(file, JSON.stringify({ boards: easy, entries: [entry] }));
    const { status, stdout } = leaderboard('check', '--records', file);
    assert.equal(status, /^REFUSED/.test(stdout) ? 1 : 0);
    return stdout.trim();
}
const measured = JSON.parse(leaderboard('measure', SMALL.address.slice(1)).stdout);
const entry = { ...SMALL, digest: measured.digest, weights: measured.weights, accuracy: measured.accuracy };

test('an entry that says what its run is stands', () => {
    assert.equal(checked(entry), `accepted recall-smallest, a test: ${measured.digest}`);
});

test('what is not so is refused, and what it is instead is said', () => {
    const refused = (change, why, more) => assert.match(checked({ ...entry, ...change }, more), why);
    refused({ digest: '0123456789abcdef' }, new RegExp(`trained again it is ${measured.digest}`));
    refused({ weights: measured.weights - 1 }, new RegExp(`there are ${measured.weights}`));
    refused({ accuracy: 1 }, /accuracy 1: it is 0\.\d{4}$/);
    refused({}, /accuracy 0\.\d{4}: at least 0\.99/, { least: 0.99 });
    refused({}, /at most 10 on this board/, { mostWeights: 10 });
    refused({ board: 'fastest' }, /board 'fastest': there are recall-smallest, s3-300/);
    refused({ by: 'x<script>' }, /at most 60 letters/);
    refused({ by: undefined }, /by is missing/);
    refused({ digest: '12' }, /16 hexadecimal digits/);
    refused({ address: '#mixer=cat!view=board' }, /config of one run/);
    refused({ address: '#mixer=cat&task=mqar~mixer=las' }, /config of one run/);
    refused({ address: '#mixer=cats&task=mqar' }, /cats/);
    const other = (more) => ({ address: `${SMALL.address}&${more}` });
    refused(other('pairs=4'), /pairs=4: this board has pairs=8/);
    refused(
        { address: SMALL.address.replace('steps=2', 'steps=1001').replace('width=8', 'width=2') },
        /steps=1001: at most 1000/,
    );
    refused({ address: SMALL.address.replace('batch=8', 'batch=65') }, /batch=65: at most 64/);
    refused(other('fast=1'), /exact mode/);
});

test('a training that takes longer than it may is refused', () => {
    const file = join(folder, 'long.json');
    const long = { ...entry, address: '#mixer=cat&task=mqar&steps=100000' };
    writeFileSync(file, JSON.stringify({ boards, entries: [long] }));
    const { status, stdout } = spawnSync(
        process.execPath,
        ['scripts/leaderboard.mjs', 'check', '--records', file],
        {
            encoding: 'utf8',
            env: { ...process.env, RECORDS_SECONDS: '1' },
        },
    );
    assert.equal(status, 1);
    assert.match(stdout, /longer than the 1 s/);
});

test('the page of records is made of their file', () => {
    const page = readFileSync('docs/records/README.md', 'utf8');
    assert.equal(page, pageOf(records), 'node scripts/leaderboard.mjs write');
    for (const { digest, address } of records.entries)
        assert.ok(page.includes(digest) && page.includes(address));
    // Best first: fewer weights, or a larger share.
    for (const { id, by } of boards) {
        const own = records.entries.filter(({ board }) => board === id);
        const order = own.map((one) => [
            page.indexOf(one.digest),
            by === 'weights' ? one.weights : -one.accuracy,
        ]);
        order.sort(([a], [b]) => a - b);
        assert.deepEqual(
            order.map(([, value]) => value),
            order.map(([, value]) => value).sort((a, b) => a - b),
            id,
        );
    }
});

test('what this commit changes of the records holds, trained again', () => {
    const { status, stdout } = leaderboard('check', '--since', 'HEAD~1');
    assert.equal(status, 0, stdout);
});
