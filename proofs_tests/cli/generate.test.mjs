// generate.test.mjs: seqmix generate and seqmix read: text that goes on as it is drawn, whole characters,
// surprise, an end by signal, streams in constant memory, and a sentence for whatever does not fit.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { program, run } from '../support/program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-generate-'));
after(() => rmSync(folder, { recursive: true }));
const file = (name) => join(folder, name);
function seqmix(args, input) {
    const { status, stdout, stderr } = run(program, args, { input, encoding: null });
    return { status, stdout: stdout.toString(), bytes: stdout, stderr: stderr.toString() };
}
function train(name, config) {
    const { status, stderr } = seqmix(['train', config, '--save', file(name)]);
    assert.equal(status, 0, stderr);
    return file(name);
}
// Letters of two and four bytes, and one that begins another way.
const book = 'grün 🙂 über ß, '.repeat(60);
writeFileSync(file('book.txt'), book);
const text = train('text', `task=charlm&text=${file('book.txt')}&mixer=gla&length=32&batch=8&steps=60`);
const sample = train('sample', 'task=charlm&mixer=attention&length=32&batch=4&steps=10');
const states = train('states', 'task=cumsum&mixer=mamba&length=32&batch=4&steps=10');
const recall = train('recall', 'task=mqar&vocab=6&pairs=1&length=16&mixer=cat&steps=3');

function refused(args, ...words) {
    const { status, stdout, stderr } = seqmix(args);
    assert.equal(status, 2, args.join(' '));
    assert.equal(stdout, '');
    assert.match(stderr, /^seqmix: [^\n]*\n$/);
    for (const word of words) assert.ok(stderr.includes(word), stderr);
}

test('generate: the same seed writes the same text, another another; greedy has no seed', () => {
    const write = (...more) => seqmix(['generate', sample, '--prompt', 'First', '--tokens', '60', ...more]);
    const one = write('--seed', '5');
    assert.equal(one.status, 0, one.stderr);
    assert.ok(one.stdout.startsWith('First'));
    assert.equal(one.bytes.length, 5 + 60 + 1);
    assert.equal(write('--seed', '5').stdout, one.stdout);
    assert.notEqual(write('--seed', '6').stdout, one.stdout);
    assert.equal(write('--temperature', '0').stdout, write('--temperature', '0', '--seed', '9').stdout);
    assert.equal(write('--top-k', '1').stdout, write('--temperature', '0').stdout);
    assert.equal(write('--top-p', '0.000001').stdout, write('--temperature', '0').stdout);
});

test('generate: from a file and from standard input; the text that it was trained on need not be there', () => {
    writeFileSync(file('start'), 'grün');
    const write = (prompt, input) =>
        seqmix(['generate', text, '--prompt', prompt, '--tokens', '20', '--temperature', '0'], input).stdout;
    assert.equal(write(`@${file('start')}`), write('grün'));
    assert.equal(write('-', 'grün'), write('grün'));
    rmSync(file('book.txt'));
    assert.ok(write('grün').startsWith('grün'));
    writeFileSync(file('book.txt'), book);
});

test('generate --json and --bits: whole characters with their surprise, valid JSON whatever the bytes', () => {
    for (const seed of ['1', '2', '3']) {
        const args = [
            'generate',
            text,
            '--prompt',
            'gr',
            '--tokens',
            '80',
            '--temperature',
            '3',
            '--seed',
            seed,
        ];
        const lines = seqmix([...args, '--json'])
            .stdout.trim()
            .split('\n')
            .map((line) => JSON.parse(line));
        const end = lines.pop();
        assert.equal(end.tokens, 80);
        const sum = lines.reduce((all, { bits }) => all + bits, 0);
        assert.ok(Math.abs(sum / 80 - end.bits) < 1e-3 && end.bits > 0);
        assert.ok(lines.every((line) => [...line.text].length === 1));
        // The same bytes, and as many signs for what is no character as JavaScript's decoder gives.
        const raw = seqmix(args).bytes.subarray(2, 82).toString();
        const known = lines.map((line) => line.text).join('');
        assert.equal(known, raw);
    }
    const coloured = seqmix(['generate', sample, '--prompt', 'A', '--tokens', '9', '--bits']).stdout;
    // eslint-disable-next-line no-control-regex
    assert.equal(coloured.match(/\x1b\[38;5;\d+m/g).length, coloured.match(/\x1b\[0m/g).length);
});

test('generate --json: what the model held for impossible has a surprise of null, what it was sure of one of 0', () => {
    // Logits in the hundreds.
    const sure = train(
        'sure',
        'task=mqar&vocab=64&pairs=1&length=16&mixer=attention&steps=3&embed_std=100&clip=0',
    );
    const args = ['--prompt', '1 2', '--tokens', '300', '--temperature', '1000', '--json'];
    const { stdout, status } = seqmix(['generate', sure, ...args]);
    assert.equal(status, 0);
    const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    assert.ok(
        lines.some(({ bits }) => bits === null),
        'none was impossible: the test is blind',
    );
    assert.ok(
        lines.some(({ bits }) => bits === 0),
        'none was certain: the test is blind',
    );
    assert.equal(lines.pop().bits, null);
    assert.ok(!stdout.includes('-0}'));
});

test('generate streams, and an interrupt ends it cleanly', async () => {
    const child = spawn('build/seqmix', ['generate', sample, '--prompt', 'A', '--tokens', '10000000']);
    let out = '';
    child.stdout.on('data', (data) => {
        out += data;
        // Once: more tokens than there is time for, so it must have come early.
        if (out.length > 20 && !child.killed) child.kill('SIGINT');
    });
    const [code, signal] = await new Promise((done) => child.on('close', (...ends) => done(ends)));
    assert.equal(signal, null);
    assert.equal(code, 130);
    assert.ok(out.endsWith('\n') && out.length < 10000000);
    // Token by token: who is ended at once has left no whole number of buffers, but by chance.
    const sizes = [];
    while (sizes.length < 3 && sizes.every((size) => size % 4096 === 0)) {
        const drawn = openSync(file('drawn'), 'w');
        const stdio = ['ignore', drawn, 'inherit'];
        const writer = spawn(program, ['generate', sample, '--prompt', 'A', '--tokens', '10000000'], {
            stdio,
        });
        const closed = new Promise((done) => writer.on('close', done));
        while (!statSync(file('drawn')).size && writer.exitCode === null) await wait(1);
        writer.kill('SIGKILL');
        await closed;
        closeSync(drawn);
        sizes.push(statSync(file('drawn')).size);
    }
    assert.ok(
        sizes.some((size) => size % 4096 !== 0),
        `${sizes} bytes were written`,
    );
});

test('generate: tokens that are no text; what it refuses', () => {
    const { stdout, status } = seqmix(['generate', recall, '--prompt', '1 2 3', '--tokens', '5']);
    assert.equal(status, 0);
    assert.match(stdout, /^([0-5] ){4}[0-5]\n$/);
    // As other systems write it: a byte order mark, \r before the line's end, commas, tabs.
    const given = (prompt) => seqmix(['generate', recall, '--prompt', '-', '--tokens', '5'], prompt);
    for (const same of ['\ufeff1 2 3\r\n', '1\t2\t3\t\n', '1, 2,3\n\n', ' 1 2 3'])
        assert.equal(given(same).stdout, stdout);
    for (const wrong of ['1 2\0 3', '1+2', '1 2.5', '1 -2', '1 4294967297'])
        assert.match(given(wrong).stderr, /^seqmix: [^\n]*numbers from 0 to 5 [^\n]*\n$/, wrong);
    for (const none of [['--prompt', ','], ['--prompt', ' '], []])
        refused(['generate', recall, ...none], '--prompt is empty', 'a number from 0 to 5');
    refused(['generate', recall, '--prompt', '1 6'], 'numbers from 0 to 5', "'6'");
    refused(['generate', recall, '--prompt', 'a'], 'numbers from 0 to 5');
    refused(['generate', states], 'reads real numbers');
    refused(['generate', sample, '--prompt', ''], '--prompt is empty');
    refused(['generate', sample, '--prompt', `@${file('none')}`], 'cannot be read');
    refused(['generate', sample, '--temperature', '-1'], '--temperature');
    refused(['generate', sample, '--top-p', '0'], '--top-p');
    refused(['generate'], 'needs a checkpoint');
    writeFileSync(file('empty'), '');
    refused(['generate', sample, '--prompt', `@${file('empty')}`], 'empty');
    refused(['generate', file('book.txt')], 'not a checkpoint');
});

test('read: bits per character of a text of any length, an answer a row, in the same memory', () => {
    const once = JSON.parse(seqmix(['read', text, '--in', '-', '--json'], book).stdout);
    const long = JSON.parse(seqmix(['read', text, '--in', '-', '--json'], book.repeat(100)).stdout);
    assert.equal(once.bytes, Buffer.byteLength(book));
    assert.equal(long.bytes, 100 * once.bytes);
    assert.equal(long.state_bytes, once.state_bytes);
    assert.ok(once.bits > 0 && once.bits < 6 && Math.abs(long.bits - once.bits) < 0.5);
    const rows = Array.from({ length: 300 }, (_, i) => Math.sin(i).toFixed(4));
    const answers = seqmix(['read', states, '--in', '-'], rows.join('\n')).stdout.trim().split('\n');
    assert.equal(answers.length, 300);
    // any beginning has the same answers
    const few = seqmix(['read', states, '--in', '-'], rows.slice(0, 40).join('\n')).stdout.trim().split('\n');
    assert.deepEqual(few, answers.slice(0, 40));
    writeFileSync(file('rows'), '0.5\nx\n');
    const { status, stderr } = seqmix(['read', states, '--in', file('rows')]);
    assert.equal(status, 2);
    assert.match(stderr, /line 2 is 'x': it must be 1 numbers/);
    refused(['read', states], 'needs --in');
    refused(['read', sample, '--in', '/dev/null'], 'at least 2');
    writeFileSync(file('long'), 'a'.repeat(300));
    refused(['read', sample, '--in', file('long'), '--most', '200'], 'at most 200; --most N makes more');
});

test('read: what is no token, no text or no number is refused with its line, and JSON stays JSON', () => {
    const read = (model, input, ...more) => seqmix(['read', model, '--in', '-', ...more], input);
    const { stdout } = read(recall, '1\n2\n\n3\n');
    assert.equal(stdout.trim().split('\n').length, 3);
    assert.equal(read(recall, '\ufeff1\r\n2\r\n\r\n3').stdout, stdout);
    for (const wrong of ['4294967297', '6', '-1', '1.5', '1 2', 'a']) {
        const { stderr, status } = read(recall, `1\n${wrong}\n`);
        assert.equal(status, 2, wrong);
        assert.equal(stderr, `seqmix: read: line 2 is '${wrong}': it must be a token, 0 to 5\n`);
    }
    assert.match(read(recall, '1\n2\0x\n').stderr, /line 2 has a byte 0/);
    const far = read(states, '1\n3e38\n-3e38\n1\n', '--json').stdout.trim().split('\n');
    assert.equal(far.length, 4);
    assert.ok(
        far.map((line) => JSON.parse(line)).some(({ answer }) => answer === null),
        'the test is blind',
    );
    assert.match(read(recall, '1\n2\n3\n', '--most', '2').stderr, /line 3: [^\n]*at most 2; --most N/);
});

test('read: a text of any number of bytes has the surprises that generate had token by token', () => {
    // Around what is pushed at a time, and around twice as many.
    for (const bytes of [3, 255, 256, 257, 258, 511, 512, 513, 600]) {
        const args = ['generate', text, '--prompt', 'gr', '--tokens', String(bytes - 2), '--seed', '7'];
        const drawn = JSON.parse(
            seqmix([...args, '--json'])
                .stdout.trim()
                .split('\n')
                .at(-1),
        );
        const read = (input) => {
            const { bytes, bits } = JSON.parse(seqmix(['read', text, '--in', '-', '--json'], input).stdout);
            return { bytes, sum: bits * (bytes - 1) };
        };
        const whole = read(seqmix(args).bytes.subarray(0, bytes));
        assert.equal(whole.bytes, bytes);
        const sum = read('gr').sum + drawn.bits * drawn.tokens;
        assert.ok(Math.abs(whole.sum - sum) < 2e-4 * sum, `${bytes} bytes: ${whole.sum} bits, drawn ${sum}`);
    }
});
test('read: an answer is there before the next row is asked for', async () => {
    const child = spawn(program, ['read', states, '--in', '-']);
    let answers = 0;
    const closed = new Promise((done) => child.on('close', (...ends) => done(ends)));
    child.stdin.on('error', () => {}); // it may end before the last row
    child.stdout.on('data', (data) => {
        answers += data.toString().split('\n').length - 1;
        if (answers < 3) child.stdin.write('0.25\n');
        else child.stdin.end();
    });
    child.stdin.write('0.5\n');
    assert.deepEqual(await closed, [0, null]);
    assert.equal(answers, 3);
});

const noFull = !existsSync('/dev/full') && 'there is no /dev/full';
test('read: a stream without end onto a disk that is full ends', { skip: noFull }, async () => {
    const full = spawn('sh', ['-c', `yes 0.5 | "$0" read "$1" --in - >/dev/full`, program, states]);
    let said = '';
    full.stderr.on('data', (data) => (said += data));
    assert.equal(await new Promise((done) => full.on('close', (code) => done(code))), 2);
    assert.match(said, /standard output cannot be written/);
});
