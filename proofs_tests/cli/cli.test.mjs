// cli.test.mjs: the program as a user meets it: what it prints, its exit codes, and one sentence for every
// wrong word, value and file.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
    closeSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    openSync,
    readdirSync,
    readFileSync,
    rmSync,
    writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { seqmix } from '../support/program.mjs';
import { readNpy } from '../support/npy.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-cli-'));
after(() => rmSync(folder, { recursive: true }));
const file = (name) => join(folder, name);

const recall = 'mixer=cat&task=mqar&batch=4&steps=20';

test('train prints one JSON line a step and a final one', () => {
    const { status, stdout } = seqmix('train', recall, '--json', '--eval', '50');
    const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    assert.equal(status, 0);
    const first = lines.shift(); // known before the first step
    assert.equal(first.start, true);
    assert.equal(first.params, 8265);
    for (const key of ['version', 'isa', 'seed', 'config']) assert.equal(first[key], lines.at(-1)[key], key);
    assert.match(first.config, /^v=1&task=mqar&.*&mixer=cat&/);
    assert.equal(first.version, '0.1.0');
    assert.equal(first.seed, '1');
    // Four matrices and three filters of three taps on 256 rows, attention's pairs, 32 rows of the head;
    // backward takes twice that. Weights, gradients and two moments are held besides all rows.
    const matrices = 4 * 256 * 32 * 32 + 3 * 256 * 32 * 3 + 32 * 32 * 64;
    assert.equal(first.flops, 3 * (2 * matrices + 4 * (4 * ((64 * 65) / 2)) * 32));
    assert.ok(first.bytes > 16 * 8265 + 4 * 4 * 256 * 32, `${first.bytes} bytes`);
    assert.deepEqual(
        lines.slice(0, 20).map((line) => line.step),
        [...Array(20).keys()].map((i) => i + 1),
    );
    const last = lines.at(-1);
    assert.equal(lines.length, 21);
    assert.equal(last.bytes, first.bytes);
    assert.equal(last.final, true);
    assert.equal(last.step, 20);
    assert.equal(last.params, 8265);
    assert.match(last.digest, /^[0-9a-f]{16}$/);
    assert.equal(last.loss, lines[19].loss);
    const word = new DataView(new ArrayBuffer(4));
    word.setFloat32(0, lines[19].loss);
    assert.equal(lines[19].word, word.getUint32(0).toString(16).padStart(8, '0'));
    for (const key of ['accuracy', 'seconds']) assert.equal(typeof last[key], 'number');
});

test('saved, resumed and straight runs end in the same weights; eval reads the file', () => {
    const last = (result) => JSON.parse(result.stdout.trim().split('\n').at(-1));
    const digest = (result) => last(result).digest;
    const unjudged = seqmix('train', recall, '--json', '--eval', '0', '--save', file('a'));
    const straight = digest(unjudged);
    for (const key of ['accuracy', 'r2', 'bits']) assert.equal(last(unjudged)[key], null);
    seqmix('train', recall + '&steps=11', '--save', file('b'), '--eval', '0');
    assert.equal(
        digest(
            seqmix('train', 'steps=20', '--load', file('b'), '--json', '--eval', '0', '--save', file('c')),
        ),
        straight,
    );
    assert.deepEqual(readFileSync(file('c')), readFileSync(file('a')));
    const { status, stdout } = seqmix('eval', file('a'), '--count', '40', '--length', '128', '--json');
    assert.equal(status, 0);
    assert.equal(JSON.parse(stdout).targets, 320);
});

test('eval: several lengths and changes in one call, a line for each, and the table of confusions', () => {
    const { status, stdout } = seqmix(
        'eval',
        file('a'),
        'pairs=8~pairs=16',
        '--length',
        '128,256',
        '--count',
        '20',
        '--json',
    );
    assert.equal(status, 0);
    const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    assert.deepEqual(
        lines.map(({ changes, targets }) => [changes, targets]),
        [
            ['pairs=8&length=128', 160],
            ['pairs=8&length=256', 160],
            ['pairs=16&length=128', 320],
            ['pairs=16&length=256', 320],
        ],
    );
    for (const line of lines) assert.ok(Math.abs(line.bits - line.loss / Math.LN2) < 1e-6);
    const asked = seqmix('eval', file('a'), '--count', '20', '--confusion').stdout.trimEnd().split('\n');
    assert.match(asked[0], /^accuracy \d+\.\d\d % of 160 targets/);
    const table = asked.slice(1).map((row) => row.split('\t').map(Number));
    assert.equal(table.length, 64);
    assert.equal(
        table.flat().reduce((a, b) => a + b),
        160,
    );
    // Every target is a value, so the first 32 rows are empty; what stands on the diagonal was right.
    assert.ok(
        table
            .slice(0, 32)
            .flat()
            .every((n) => n === 0),
    );
    const right = table.reduce((sum, row, i) => sum + row[i], 0);
    assert.ok(Math.abs(right / 160 - Number(asked[0].match(/[\d.]+/)[0]) / 100) < 1e-4);
});

test('eval --stream: the same answers in constant memory, at lengths far beyond training', () => {
    const config = 'task=induction&mixer=ema&position=none&length=32&width=8&batch=4&steps=3';
    seqmix('train', config, '--save', file('stream'), '--eval', '0');
    for (const extra of [[], ['--length', '16,300']]) {
        const lines = (...more) =>
            seqmix('eval', file('stream'), '--count', '20', '--json', ...extra, ...more)
                .stdout.trimEnd()
                .split('\n')
                .map((line) => JSON.parse(line));
        const whole = lines();
        const read = lines('--stream');
        assert.equal(read.length, extra.length ? 2 : 1);
        for (const [i, one] of read.entries()) {
            const { loss, ...rest } = one;
            const { loss: right, ...others } = whole[i];
            assert.deepEqual({ ...rest, bits: 0 }, { ...others, bits: 0 });
            assert.ok(Math.abs(loss - right) < 1e-6 * right);
        }
    }
    const long = seqmix('eval', file('stream'), '--stream', '--length', '100000', '--count', '1');
    assert.match(long.stdout, /^length=100000: accuracy 1?00?\.00 % of 1 targets/);
    // One answer a sequence.
    seqmix('train', 'task=listops&mixer=ema&width=8&steps=2&batch=2', '--save', file('one'), '--eval', '0');
    const [whole, read] = [[], ['--stream']].map((more) =>
        JSON.parse(seqmix('eval', file('one'), '--count', '30', '--json', ...more).stdout),
    );
    assert.equal(read.accuracy, whole.accuracy);
    assert.ok(Math.abs(read.loss - whole.loss) < 1e-6 * whole.loss);
    // More rows than are pushed at a time, of several numbers, with an answer each; and a text.
    const columns = Array.from({ length: 2000 }, (_, i) => [
        Math.sin(i).toFixed(3),
        Math.cos(i * i).toFixed(3),
        'xyz'[(i * i) % 3],
    ]);
    writeFileSync(file('columns.csv'), ['a,b,c', ...columns.map((row) => row.join())].join('\n'));
    for (const [task, unit] of [
        [`table&file=${file('columns.csv')}&inputs=a,b&target=c`, 'bits'],
        ['charlm', 'bits per character'],
    ]) {
        const model = `task=${task}&mixer=ema&length=300&width=4&batch=2&steps=3`;
        const trained = seqmix('train', model, '--save', file('rows'), '--eval', '0');
        assert.equal(trained.status, 0, trained.stderr);
        const changes = task === 'charlm' ? '' : `file=${file('columns.csv')}`;
        const [all, pieces] = [[], ['--stream']].map(
            (more) => seqmix('eval', file('rows'), changes, '--count', '20', ...more).stdout,
        );
        assert.match(all, new RegExp(`of 6000 targets.* \\(\\d\\.\\d{4} ${unit}\\)\\n$`));
        assert.equal(pieces, all);
    }
    for (const [changes, options, words] of [
        ['width=16', [], /width=16 does not fit: it must be 8 as in training/],
        ['task=ar', [], /task=ar does not fit: it must be induction as in training/],
        ['', ['--confusion'], /--stream counts no confusions/],
    ]) {
        const { status, stderr } = seqmix('eval', file('stream'), changes, '--stream', ...options);
        assert.equal(status, 2);
        assert.match(stderr, words);
    }
    seqmix(
        'train',
        'task=cumsum&mixer=ema&width=4&steps=1&batch=1',
        '--save',
        file('numbers'),
        '--eval',
        '0',
    );
    assert.match(seqmix('eval', file('numbers'), '--stream').stderr, /judges classes/);
});

test('eval of a run whose data are in a path: the path is given again', () => {
    for (const class_ of ['good', 'bad'])
        for (const part of ['train', 'test']) {
            mkdirSync(file(`reviews/${part}/${class_}`), { recursive: true });
            for (let i = 0; i < (part === 'train' ? 8 : 2); i++)
                writeFileSync(file(`reviews/${part}/${class_}/${i}.txt`), `${class_} film ${i}`);
        }
    const config = `task=texts&mixer=ema&length=16&width=16&steps=80&batch=8&rate=0.02&folder=${file('reviews')}`;
    const trained = seqmix('train', config, '--save', file('texts'), '--eval', '4');
    assert.equal(trained.status, 0, trained.stderr);
    assert.match(
        seqmix('eval', file('texts')).stderr,
        /folder=.* given again by whoever loads the checkpoint/,
    );
    const again = seqmix('eval', file('texts'), `folder=${file('reviews')}`, '--count', '4');
    assert.match(again.stdout, /accuracy 100\.00 % of 4 targets/, again.stderr);
});

test('eval of answers that are fed back: the words and the JSON say the same four shares', () => {
    const config =
        'mixer=cat&task=sc&slots=emitted&signals=2&length=16&noise=2&width=16&batch=16&steps=300&rate=0.01';
    seqmix('train', config, '--save', file('fed'), '--eval', '0');
    const of = (...more) => seqmix('eval', file('fed'), '--count', '500', ...more).stdout;
    const said = JSON.parse(of('--json'));
    const shares = [...of().matchAll(/(\d+\.\d\d) %/g)].map(([, share]) => share);
    const names = ['accuracy', 'sequence_accuracy', 'free_accuracy', 'free_sequence_accuracy'];
    assert.deepEqual(
        names.map((name) => (100 * said[name]).toFixed(2)),
        shares,
    );
    assert.equal(said.free_sequence_accuracy, said.sequence_accuracy); // who is right so far reads the same
    assert.equal(new Set(shares).size, 3, `${shares}`);
});

test('eval of a regression: R^2, and no confusions', () => {
    seqmix(
        'train',
        'mixer=attention&task=cummax&width=8&batch=8&steps=60&length=16',
        '--save',
        file('r'),
        '--eval',
        '0',
    );
    assert.match(seqmix('eval', file('r')).stdout, /^R\^2 -?0\.\d{4} over 16000 targets/);
    assert.match(seqmix('eval', file('r'), '--confusion').stderr, /no confusion matrix for regression/);
    assert.equal(JSON.parse(seqmix('eval', file('r'), '--json').stdout).bits, 0);
    assert.match(seqmix('train', '--load', file('r')).stdout, /held-out R\^2 -?0\.\d{4} \(16000 targets\)/);
});

test('a text is judged in bits per character by train, eval and sweep alike', () => {
    const text = 'mixer=cat&task=charlm&width=8&length=16&batch=4&steps=5&seed=1';
    const { bits } = JSON.parse(
        seqmix('train', text, '--save', file('text'), '--json').stdout.trim().split('\n').at(-1),
    );
    assert.ok(bits > 3 && bits < 12);
    const words = new RegExp(`${bits.toFixed(4).replace('.', '\\.')} bits per character`);
    assert.match(seqmix('train', text).stdout, words);
    assert.match(seqmix('eval', file('text')).stdout, words);
    const [row] = seqmix('sweep', text, 'batch=4', '--json').stdout.trim().split('\n');
    assert.ok(Math.abs(JSON.parse(row).bits - bits) < 1e-5);
    // A name that would move the cursor is shown, not obeyed. (C1; what begins with ESC is refused.)
    const named = file('red\x9b31m.txt');
    writeFileSync(named, 'To be, or not to be. '.repeat(40));
    const [, shown] = seqmix('sweep', text, `text=${named}`, '--eval', '9').stdout.split('\n');
    assert.ok(shown.startsWith(named.replace('\x9b', '\\x9b') + ' '), shown);
    const lines = seqmix('train', text, '--every', '5', '--json').stdout.trim().split('\n');
    const tried = lines.map((line) => JSON.parse(line)).find((line) => 'held_out' in line);
    assert.equal(tried.metric, 'bits');
    assert.ok(Math.abs(tried.held_out - bits) < 1e-5);
    const between = `^step 5: loss \\d+\\.\\d{4}, held-out ${tried.held_out.toFixed(4)} bits per character$`;
    assert.match(seqmix('train', text, '--every', '5').stdout, new RegExp(between, 'm'));
});

test('eval of copying says how it goes on its own answers, also where that is no different', () => {
    const copy = 'mixer=cat&task=sc_unique&signals=2&length=8&width=8&batch=4&steps=1';
    seqmix('train', `${copy}&slots=emitted`, '--save', file('copy'), '--eval', '0');
    const own = /\non its own answers: \d+\.\d\d % of targets/;
    for (const count of ['1', '2', '3', '50'])
        assert.match(seqmix('eval', file('copy'), '--count', count).stdout, own);
    assert.doesNotMatch(seqmix('eval', file('copy'), 'slots=blank').stdout, own);
});

test('eval --json --confusion: one object a line, the table inside', () => {
    const { stdout } = seqmix(
        'eval',
        file('a'),
        '--count',
        '20',
        '--confusion',
        '--json',
        '--length',
        '64,32',
    );
    const [first, second, ...more] = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    assert.equal(more.length, 0);
    const plain = seqmix('eval', file('a'), '--count', '20', '--confusion').stdout.trimEnd().split('\n');
    assert.deepEqual(
        first.confusion,
        plain.slice(1).map((row) => row.split('\t').map(Number)),
    );
    assert.equal(
        second.confusion.flat().reduce((a, b) => a + b),
        second.targets,
    );
});

test('sweep: a row for each value, of several seeds; the same numbers as train', () => {
    const { status, stdout } = seqmix(
        'sweep',
        recall,
        'filter=1,3',
        '--seeds',
        '2',
        '--eval',
        '100',
        '--json',
    );
    assert.equal(status, 0);
    const rows = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    assert.deepEqual(
        rows.map((row) => row.filter),
        ['1', '3'],
    );
    const alone = ['1', '2'].map(
        (seed) =>
            JSON.parse(
                seqmix('train', `${recall}&filter=3&seed=${seed}`, '--eval', '100', '--json')
                    .stdout.trim()
                    .split('\n')
                    .at(-1),
            ).accuracy,
    );
    assert.ok(Math.abs(rows[1].accuracy - (alone[0] + alone[1]) / 2) < 2e-6);
    assert.equal(rows[1].low, Math.min(...alone));
    assert.equal(rows[1].high, Math.max(...alone));
    assert.equal(rows[1].params, 8265);
    assert.equal(seqmix('sweep', recall, 'batch=2', '--eval', '10').stdout.split('\n').length, 3);
    // What only the task refuses is refused before anything is trained, too.
    const late = seqmix('sweep', recall, 'pairs=2,1000', '--eval', '10');
    assert.deepEqual([late.status, late.stdout], [2, '']);
    assert.match(late.stderr, /pairs=1000: pairs=1000 does not fit/);
});

test('presets: claims listed, measured, and skipped with a reason where the files are not there', () => {
    const listed = seqmix('presets', 'filters', '--list')
        .stdout.trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    assert.deepEqual(
        listed.map(({ run, metric }) => [run, metric]),
        [
            [0, 'accuracy'],
            [1, 'accuracy'],
            [2, 'accuracy'],
            [3, 'accuracy'],
        ],
    );
    const { status, stdout, stderr } = seqmix('presets', 'dictionary', '--fast', '--seeds', '1', '--json');
    assert.equal(status, 0);
    const [cat, attention] = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    assert.ok(cat.holds && cat.mixer === 'cat' && cat.value >= cat.low);
    assert.ok(attention.holds && attention.mixer === 'attention' && attention.value <= attention.high);
    assert.match(stderr, /^2 claims hold, 0 are broken\n$/);
    const elsewhere = spawnSync(resolve('build/seqmix'), ['presets', 'smnist-fast'], {
        cwd: mkdtempSync(file('empty-')), // no ../shared there
        env: { ...process.env, SEQMIX_DATA: '' },
        encoding: 'utf8',
    });
    assert.equal(elsewhere.status, 0);
    assert.match(
        elsewhere.stdout,
        /skipped smnist-fast .*train-images-idx3-ubyte: not found in .*\n0 claims hold, 0 are broken\n$/s,
    );
});

// The header as anyone's reader would take it: 8 bytes of length, JSON, then the words.
test('a checkpoint is safetensors', () => {
    seqmix('train', recall, '--save', file('st'), '--eval', '0');
    const bytes = readFileSync(file('st'));
    const length = Number(bytes.readBigUInt64LE(0));
    const header = JSON.parse(bytes.subarray(8, 8 + length).toString());
    const { __metadata__: meta, ...tensors } = header;
    assert.equal(meta.step, '20');
    let end = 0;
    for (const { dtype, shape, data_offsets } of Object.values(tensors)) {
        assert.equal(dtype, 'F32');
        assert.equal(data_offsets[0], end);
        end = data_offsets[0] + 4 * shape.reduce((a, b) => a * b, 1);
        assert.equal(data_offsets[1], end);
    }
    assert.equal(bytes.length, 8 + length + end);
    assert.deepEqual(tensors.embedding.shape, [64, 32]);
});

// Nothing of this project in it: the layout as its specification gives it, and the digest from run.h's words.
const READER = `
import json, struct, sys
data = open(sys.argv[1], 'rb').read()
size, = struct.unpack('<Q', data[:8])
header = json.loads(data[8:8 + size])
meta = header.pop('__metadata__')
assert size % 8 == 0 and all(isinstance(text, str) for text in meta.values())
body, at = data[8 + size:], 0
for name, t in sorted(header.items(), key=lambda item: item[1]['data_offsets']):
    begin, end = t['data_offsets']
    count = 1
    for n in t['shape']:
        count *= n
    assert begin == at and end - begin == 4 * count and t['dtype'] == 'F32', name
    at = end
assert at == len(body)
digest, params = 14695981039346656037, 0
for name in sorted(name for name in header if ':' not in name):
    begin, end = header[name]['data_offsets']
    for word, in struct.iter_unpack('<I', body[begin:end]):
        digest = (digest ^ word) * 1099511628211 & 0xffffffffffffffff
        params += 1
print(json.dumps({'digest': '%016x' % digest, 'params': params, 'step': meta['step'], 'config': meta['config']}))
`;
const python = spawnSync('python3', ['--version']).status === 0;
test('a checkpoint is read in Python, to the same digest', { skip: !python && 'needs python3' }, () => {
    const { status, stdout, stderr } = seqmix('train', recall, '--save', file('python.st'), '--json');
    assert.equal(status, 0, stderr);
    const final = JSON.parse(stdout.trim().split('\n').at(-1));
    const read = spawnSync('python3', ['-c', READER, file('python.st')], { encoding: 'utf8' });
    assert.equal(read.status, 0, read.stderr);
    const { digest, params, step, config } = JSON.parse(read.stdout);
    assert.deepEqual([digest, params, step], [final.digest, final.params, '20']);
    assert.match(config, /(^|&)mixer=cat&/);
});

test('a short checkpoint that asks for giant weights is refused at once', () => {
    const header = JSON.stringify({
        __metadata__: { config: 'mixer=attention&task=mqar&width=4096&blocks=8', step: '1' },
    });
    const bytes = Buffer.alloc(8 + header.length);
    bytes.writeBigUInt64LE(BigInt(header.length));
    bytes.write(header, 8);
    writeFileSync(file('giant'), bytes);
    // (Five seconds of a processor, whatever else the machine is at; past them the system ends it.)
    const limited = ['-c', 'ulimit -t 5; exec build/seqmix eval "$0"', file('giant')];
    const { status, stderr } = spawnSync('sh', limited, { encoding: 'utf8' });
    assert.equal(status, 2);
    assert.match(stderr, /tensor \S+ is missing: it must be F32 with \d+ numbers/);
});

test('Ctrl-C keeps what was learnt', async () => {
    const child = spawn('build/seqmix', [
        'train',
        'mixer=cat&task=mqar&steps=1000000',
        '--json',
        '--save',
        file('stopped'),
    ]);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.stdout.resume();
    child.kill('SIGINT');
    const code = await new Promise((resolve) => child.once('close', resolve));
    assert.equal(code, 130);
    assert.equal(seqmix('eval', file('stopped'), '--count', '10').status, 0);
    assert.deepEqual(
        readdirSync(folder).filter((name) => name.endsWith('.part')),
        [],
    );
});

test('data writes the samples that training sees, as .npy', () => {
    const { status } = seqmix(
        'data',
        'task=mqar&length=64&pairs=8&vocab=64&seed=3',
        '--count',
        '5',
        '--out',
        file('data'),
    );
    assert.equal(status, 0);
    const read = (name) => {
        const bytes = readFileSync(join(folder, 'data', name));
        const header = 10 + bytes.readUInt16LE(8);
        assert.match(bytes.subarray(10, header).toString(), /'descr': '<i4'.*\(5, 64\)/);
        return new Int32Array(bytes.buffer.slice(bytes.byteOffset + header, bytes.byteOffset + bytes.length));
    };
    const [tokens, targets] = [read('tokens.npy'), read('targets.npy')];
    assert.equal(tokens.length, 320);
    // Each target is the value that stood after the queried key, in that same sequence.
    let asked = 0;
    for (let i = 0; i < 320; i++) {
        if (targets[i] < 0) continue;
        asked++;
        const first = tokens.indexOf(tokens[i], i - (i % 64));
        assert.equal(tokens[first + 1], targets[i]);
    }
    assert.equal(asked, 40);
});

test('data --show draws a sample: every target is the value behind its key', () => {
    const { status, stdout } = seqmix(
        'data',
        'task=mqar&length=20&vocab=16&pairs=3',
        '--show',
        '--count',
        '2',
    );
    assert.equal(status, 0);
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines.length, 7);
    for (const at of [0, 4]) {
        const [, token, target] = lines.slice(at, at + 3).map((line) => line.slice(8).trim().split(/ +/));
        assert.equal(token.length, 20);
        assert.equal(target.filter((t) => t !== '.').length, 3);
        target.forEach((t, i) => t === '.' || assert.equal(t, token[token.indexOf(token[i]) + 1]));
    }
    assert.match(seqmix('data', 'task=smnist', '--show').stdout, /@@[^]*\n\nanswer: \d\n$/);
    // --first, --count and --stream: the samples of that place in that stream.
    const shown = (...more) => seqmix('data', 'task=mqar', '--show', ...more).stdout;
    const three = shown('--count', '3');
    assert.equal(shown('--first', '0') + '\n' + shown('--first', '1', '--count', '2'), three);
    assert.equal(shown(), shown('--stream', 'train'));
    assert.equal(new Set([shown(), shown('--first', '1'), shown('--stream', 'eval')]).size, 3);
    assert.match(seqmix('data', 'task=listops', '--show').stdout, /\[(MIN|MAX|MED|SM) .*\]/s);
    // 256 tokens are a text's only where the task is: a key of recall is a number.
    assert.match(seqmix('data', 'task=mqar&vocab=256', '--show').stdout, /\ntoken( +\d+)+\n/);
    assert.match(seqmix('data', 'task=charlm&length=20', '--show').stdout, /\ntoken( +[a-zA-Z_]).*\n/);
});

test('what is drawn is called procedural digits: by train, eval, sweep and data', () => {
    const notes = (stderr) => stderr.split('\n').filter((line) => line.includes(': note: '));
    const note = ['seqmix: note: procedural digits: drawn by a generator, not MNIST'];
    const config = 'task=smnist&mixer=cat&width=4&blocks=1&batch=2&steps=1';
    assert.deepEqual(notes(seqmix('train', config, '--save', file('drawn')).stderr), note);
    assert.deepEqual(notes(seqmix('eval', file('drawn'), '--count', '9').stderr), note);
    assert.deepEqual(notes(seqmix('sweep', config, 'batch=2,3', '--eval', '9').stderr), note); // once
    assert.deepEqual(notes(seqmix('data', 'task=pmnist', '--show').stderr), note);
    assert.deepEqual(notes(seqmix('train', recall).stderr), []);
    const pair = (n) =>
        [
            [0x803, n, 28, 28],
            [0x801, n],
        ].map((words) => {
            const bytes = Buffer.alloc(4 * words.length + n * (words.length > 2 ? 784 : 1));
            words.forEach((word, i) => bytes.writeUInt32BE(word, 4 * i));
            return bytes;
        });
    mkdirSync(file('mnist'));
    for (const part of ['train', 't10k'])
        pair(3).forEach((bytes, i) =>
            writeFileSync(join(file('mnist'), `${part}-${i ? 'labels-idx1' : 'images-idx3'}-ubyte`), bytes),
        );
    const read = (...args) =>
        notes(
            spawnSync('build/seqmix', args, {
                encoding: 'utf8',
                env: { ...process.env, SEQMIX_DATA: file('mnist') },
            }).stderr,
        ).join();
    assert.equal(read('train', `${config}&data=mnist`), '');
    assert.match(read('train', `${config}&test=mnist`), /^seqmix: note: trained on procedural digits: /);
    assert.match(
        read('train', `${config}&data=mnist&test=digits`),
        /^seqmix: note: judged on procedural digits: /,
    );
    assert.match(read('eval', file('drawn'), 'test=mnist'), /^seqmix: note: trained on procedural digits: /);
});

test('data says what it wrote: the shapes are those of the files', () => {
    const shape = (name) =>
        readNpy(join(folder, 'arrays', `${name}.npy`))
            .shape.map((n) => `[${n}]`)
            .join('');
    for (const [task, input] of [
        ['ar', 'tokens'],
        ['select', 'values'],
        ['cumsum', 'values'],
        ['smnist', 'values'],
        ['listops', 'tokens'],
    ]) {
        const { stdout } = seqmix('data', `task=${task}`, '--count', '3', '--out', file('arrays'));
        assert.ok(
            stdout.endsWith(`: ${input} ${shape(input)}, targets ${shape('targets')}\n`),
            `${task}: ${stdout}`,
        );
    }
});

test('help --json is the table that the page reads', () => {
    const table = JSON.parse(seqmix('help', '--json').stdout);
    assert.ok(table.modes.cat.includes('filters=k'));
    const keys = JSON.stringify(table).match(/\{"name":"[^"]*","type":[^}]*/g);
    assert.ok(keys.length > 100 && keys.every((key) => /^[^,]*,"type":"\w+","default":"/.test(key)));
    assert.ok(table.recipes.some((r) => r.task === 'mqar' && r.mixer === 'focus'));
    const { tasks } = JSON.parse(readFileSync('scripts/definitions.json', 'utf8'));
    assert.deepEqual(table.tasks.map(({ name }) => name).sort(), Object.keys(tasks).sort());
    // What a shell completes: every command, with its options.
    const train = table.commands.find(({ name }) => name === 'train');
    assert.deepEqual(train.options[1].name, '--save');
    assert.equal(train.options[1].argument, 'FILE');
    assert.ok(table.commands.length >= 12);
});

test('help lists every mixer and task, and tells of one key', () => {
    const all = seqmix('help');
    assert.equal(all.status, 0);
    for (const word of ['mixer', 'length', 'cat', 'attention', 'mqar', 'recall'])
        assert.ok(all.stdout.includes(word), word);
    assert.match(seqmix('help', 'filter').stdout, /taps/);
    assert.match(seqmix('help', 'train').stdout, /^seqmix train 'CONFIG'.*\n[^]*--save-every N\|Ns /);
    assert.match(seqmix('help', 'mixer').stdout, /CAT/);
    assert.match(
        seqmix('help', 'scan').stdout,
        /^scan STATE.*\n[^]*\n {2}outer\(a, b\) .*\n[^]*\n {2}size\(a\) /,
    );
    assert.match(seqmix('help', 'outer').stdout, /^outer\(a, b\), in a scan: .*\n$/);
    assert.match(seqmix('help', 'softplus').stdout, /^softplus: [^]*\nsoftplus\(a\), in a scan: .*\n$/);
    assert.equal(seqmix('--version').stdout, 'seqmix 0.1.0\n');
});

test('selfcheck agrees with the committed list, and says what differs', () => {
    assert.equal(seqmix('selfcheck', '--against', 'proofs_tests/digests.txt').status, 0);
    const list = readFileSync('proofs_tests/digests.txt', 'utf8');
    writeFileSync(
        file('list'),
        list.replace(/^./m, (digit) => (digit === '0' ? '1' : '0')),
    );
    const { status, stdout } = seqmix('selfcheck', '--against', file('list'));
    assert.equal(status, 1);
    assert.match(stdout, /DIFFERS/);
});

writeFileSync(file('junk'), 'this is no checkpoint at all');
const wrong = [
    [['fly'], /fly.*train/],
    [['train'], /config/],
    [['train', 'mixer=cart'], /mixer=cart.*cat/],
    [['train', 'lenght=64'], /lenght.*length/],
    [['train', 'width=abc'], /width=abc.*whole number/],
    [['train', 'width'], /width.*key=value/],
    [['train', recall, '--eval', 'x'], /--eval x.*whole number/],
    [['train', recall, '--every'], /--every/],
    [['train', recall, '--what'], /--what/],
    [['train', recall, recall], /is too much: train takes 'CONFIG'/],
    [['train', recall, '--sav', 'x'], /no option '--sav'; the nearest is --save/],
    [['train', recall, '--eval', '1', '--eval', '2'], /--eval is given twice/],
    [['train', recall, '--save-every', '9'], /--save-every needs --save/],
    [['train', recall, '--save', file('a'), '--save-every', '9m'], /--save-every 9m is not allowed/],
    [['train', 'preset=recall'], /train takes one run, and 'preset=recall' are \d+/],
    [['train', '--load', file('a'), 'steps=30~steps=40'], /train --load takes one run/],
    [['data', 'task=mqar~task=nar', '--show'], /data takes one run/],
    [['data', 'task=mqar', '--show', '--stream', 'test'], /--stream test is not allowed.*train\|eval/],
    [['audit', `${recall}~mixer=las`], /audit takes one run/],
    [['eval', file('esc\x1b[2Jape\n')], /esc\\x1b\[2Jape\\x0a cannot be read/],
    [['train', '--load', file('junk')], /not a checkpoint/],
    [['train', '--load', file('nowhere')], /nowhere.*No such file/],
    [['train', '--load', folder], /not a file/],
    [['train', recall, '--save', join(folder, 'no', 'such', 'folder')], /cannot be written/],
    [['eval'], /checkpoint/],
    [['eval', file('junk')], /not a checkpoint/],
    [['train', 'mixer=cat,task=mqar'], /mixer=cat,task=mqar is not allowed: .*; keys are separated by &/],
    [['train', 'mixer=cta'], /is not allowed: mixer must be one of [^;]*equations$/m],
    [['data', 'task=mqar'], /--out/],
    [['data', 'task=mqar', '--out', file('junk')], /not a folder/],
    [['data', 'task=mqar', '--out', folder, '--count', '0'], /--count 0/],
    [['data', 'task=mqar&length=63', '--out', folder], /length/],
    [['data', 'task=cumsum', '--out', folder, '--count', '100000000'], /--count 100000000 .*8 GiB/],
    [['data', 'task=lcat&length=1048576&lcat_width=4096', '--show'], /sample of 1048576 rows .*8 GiB/],
    [['eval', file('a'), 'pairs=8&preset=recall'], /preset=recall does not fit: a saved run/],
    [['train', 'preset=recall', '--load', file('a')], /preset=recall does not fit: a saved run/],
    [['eval', file('junk'), 'a', 'b'], /'b' is too much/],
    [['eval', file('junk'), '--length', '64,x'], /--length 64,x is not allowed/],
    [['eval', file('junk'), '--length', '1048576'], /^(?!.*--length)/],
    [['eval', file('junk'), '--length', '1048577'], /--length 1048577 is not allowed.* from 1 to 1048576/],
    [['eval', file('junk'), '--length', '0'], /--length 0 is not allowed/],
    [['eval', file('junk'), '--length', Array(64).fill(8).join()], /^(?!.*--length)/],
    [['eval', file('junk'), '--length', Array(65).fill(8).join()], /--length 8.* at most 64, separated/],
    [['eval', file('junk'), '--length'], /--length needs/],
    [['presets', 'none'], /no preset 'none'/],
    [['presets', '--seeds', '0'], /--seeds 0/],
    [['presets', '--slow'], /'--slow'/],
    [['presets', 'recall', 'filters'], /'filters' is too much/],
    [['sweep', recall], /a key with values/],
    [['sweep', recall, 'filter='], /a key with values/],
    [['sweep', recall, 'filter=x'], /filter=x: filter=x is not allowed: filter must be a whole number/],
    [['sweep', recall, 'filter=3', '--seeds', '0'], /--seeds 0/],
    [['sweep', recall, 'filter=1,,2'], /filter=: filter= is not allowed/],
    [['sweep', recall, 'filter=1,2,1'], /sweep: filter has the value 1 twice/],
    [['sweep', recall, 'rate=0.01,0.001,1e-2'], /sweep: rate has the value 1e-2 twice/],
    [['sweep', recall, 'seed=1,2', '--seeds', '2'], /seed is the key of the sweep/],
    [['sweep', `${recall}~mixer=las`, 'filter=1,2'], /one run/],
    [['train', `${recall}~nonsense=1`], /nonsense/],
    [['train', `${recall}~mixer=las`], /train takes one run, and .* are 2/],
    [['train', `${recall}~preset=recall`], /preset=recall stands in run 2/],
    [['train', recall, '--save', folder], /it is a folder/],
    [['help', 'nothing'], /nothing/],
    [['selfcheck', '--against', file('nowhere')], /nowhere/],
    [['bench', '--jsn'], /'--jsn'/],
    [['bench', '--seconds', '1x'], /--seconds '1x' is not allowed/],
    [['bench', '--seconds'], /--seconds needs S/],
    [['bench', 'mqar step', 'nosuch'], /no row is called 'nosuch'.* sgemm, .*length$/m],
    [['bench', ''], /no row is called ''/],
    [['bench', '--variants', 'W1 fast=1'], /no row named has variants/],
];
for (const [args, sentence] of wrong)
    test(`wrong: seqmix ${args.join(' ').replaceAll(folder, 'FOLDER')}`, () => {
        const { status, stderr } = seqmix(...args);
        assert.equal(status, 2);
        assert.match(stderr, sentence);
        assert.equal(stderr.trim().split('\n').length, 1, stderr);
        assert.ok(!existsSync(join(folder, 'no')));
    });

test('an evaluation that would need other weights is refused: nothing is read beside them', () => {
    for (const [config, changes, sentence] of [
        ['task=lcat&length=64&lcat_width=32', ['lcat_width=128'], /input_w is 32 x .* 128 x/],
        ['task=smnist&length=196', ['--length', '28'], /input_w is 1 x .* 28 x/],
        ['task=mqar', ['vocab=128'], /embedding is 64 x .* 128 x/],
        ['task=mqar', ['filter=9'], /filter=9 .* 3 as in training/],
    ]) {
        seqmix('train', `${config}&steps=1`, '--eval', '0', '--save', file('shapes'));
        const { status, stderr } = seqmix('eval', file('shapes'), '--count', '10', ...changes);
        assert.equal(status, 2, `${config} ${changes}`);
        assert.match(stderr, sentence);
    }
});

test(
    'what cannot be printed is a failure',
    { skip: !existsSync('/dev/full') && 'there is no /dev/full' },
    () => {
        for (const args of [['help'], ['train', recall, '--json'], ['selfcheck']]) {
            const full = openSync('/dev/full', 'w');
            const { status, stderr } = spawnSync('build/seqmix', args, {
                stdio: ['ignore', full, 'pipe'],
                encoding: 'utf8',
            });
            closeSync(full);
            assert.equal(status, 2, args.join(' '));
            assert.match(stderr, /standard output cannot be written: No space left/);
        }
    },
);

test('bench: a JSON line for each row asked for, on the instruction set asked for', () => {
    const rows = (isa, ...names) =>
        spawnSync('build/seqmix', ['bench', '--json', '--seconds', '0.01', ...names], {
            encoding: 'utf8',
            env: { ...process.env, SMX_ISA: isa },
        })
            .stdout.trim()
            .split('\n')
            .map((line) => JSON.parse(line));
    // "mqar step" is a row, "layernorm" a part of two
    const [step, ...norms] = rows('', 'layernorm', 'mqar step').sort((a, b) => (a.name < b.name ? 1 : -1));
    assert.equal(step.name, 'mqar step');
    assert.deepEqual(
        norms.map(({ name }) => name),
        ['layernorm fwd 3136x64', 'layernorm bwd 3136x64'],
    );
    for (const key of ['median', 'spread', 'wall', 'gflops', 'share', 'bytes'])
        assert.ok(step[key] > 0, `${key}: ${step[key]}`);
    assert.match(step.config, /^mixer=cat&task=mqar/);
    assert.match(step.target, /0\.8 ms native/);
    // A row of another instruction set leaves the one that was forced to the rows after it.
    const forced = rows('scalar', 'sgemm 2048x64x64/', 'sgemm 512x32x32');
    assert.ok(forced.length > 1);
    for (const { name, isa } of forced) assert.equal(isa, name.split('/')[1] ?? 'scalar');
});

test('bench --variants: every instruction set and one without asking ahead, the same result', () => {
    const { stdout, stderr, status } = spawnSync(
        'build/seqmix',
        ['bench', '--variants', '--json', '--seconds', '0.02', 'mqar step', 'sgemm 512x32x32'],
        { encoding: 'utf8' },
    );
    assert.equal(status, 0, stderr);
    const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    const { stderr: here } = spawnSync('build/seqmix', ['help'], {
        encoding: 'utf8',
        env: { ...process.env, SMX_ISA: 'none' },
    });
    const sets = here.match(/one of (.*)/)[1].split(', ');
    for (const name of ['mqar step', 'sgemm 512x32x32']) {
        const of = lines.filter((line) => line.name === name);
        assert.deepEqual([of[0].chosen, of[0].ahead, of[0].of_chosen], [true, true, 1]);
        assert.deepEqual([of[1].chosen, of[1].ahead, of[1].isa], [false, false, of[0].isa]);
        const ahead = of.filter((line) => line.ahead);
        assert.deepEqual(ahead.map(({ isa }) => isa).sort(), [...sets].sort());
        assert.equal(of.length, sets.length + 1);
        for (const { check, median } of of) assert.ok(check === of[0].check && median > 0);
    }
});

test('every command says how it is used', () => {
    for (const { name: command } of JSON.parse(seqmix('help', '--json').stdout).commands) {
        const { status, stdout } = seqmix(command, '--help');
        assert.equal(status, 0);
        assert.ok(seqmix('help', command).stdout.includes(stdout), command);
        assert.match(stdout, new RegExp(`^seqmix ${command}\\b`));
    }
});

test('a text with an odd name: the saved run is read again', () => {
    for (const name of ['a"b.txt', 'a\\b.txt', 'größe.txt', 'a&b=c~d%41.txt']) {
        writeFileSync(file(name), 'to be or not to be '.repeat(100));
        const word = encodeURIComponent(name).replaceAll('~', '%7E');
        const env = { ...process.env, SEQMIX_DATA: folder };
        const config = `task=charlm&text=${word}&length=16&batch=2&steps=1&width=8`;
        const run = (...args) => spawnSync('build/seqmix', args, { env, encoding: 'utf8' });
        const trained = run('train', config, '--eval', '1', '--save', file('odd'));
        assert.equal(trained.status, 0, trained.stderr);
        const bytes = readFileSync(file('odd'));
        assert.doesNotThrow(
            () => JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE(0))).toString()),
            name,
        );
        const read = run('eval', file('odd'), '--count', '1', '--json');
        assert.equal(read.status, 0, `${name}: ${read.stderr}`);
    }
});

test('targets that are all the same have no R^2: 0, and no broken JSON', () => {
    const { stdout } = seqmix('train', 'task=cumsum&length=1&steps=2', '--json', '--eval', '1');
    assert.equal(JSON.parse(stdout.trim().split('\n').at(-1)).r2, 0);
});

test('a second Ctrl-C ends a long evaluation', { timeout: 600000 }, async () => {
    const saved = file('before');
    const child = spawn('build/seqmix', [
        'train',
        `${recall}&steps=1`,
        '--eval',
        '10000000',
        '--save',
        saved,
    ]);
    const ended = new Promise((resolve) => child.once('close', (_, signal) => resolve(signal)));
    const pause = () => new Promise((resolve) => setTimeout(resolve, 100));
    while (!existsSync(saved)) await pause(); // then it evaluates
    child.kill('SIGINT');
    // (Two that wait together would be one: where it can be known, the first has been heard.)
    const unheard = () =>
        existsSync('/proc/self/status') &&
        /^ShdPnd:.*[2367abef]$/m.test(readFileSync(`/proc/${child.pid}/status`, 'latin1'));
    do await pause();
    while (unheard());
    assert.equal(child.exitCode ?? child.signalCode, null);
    child.kill('SIGINT');
    assert.equal(await ended, 'SIGINT');
});

test('an unknown instruction set is refused', () => {
    const { status, stderr } = spawnSync('build/seqmix', ['help'], {
        env: { ...process.env, SMX_ISA: 'mmx' },
        encoding: 'utf8',
    });
    assert.equal(status, 2);
    assert.match(stderr, /SMX_ISA=mmx.*scalar/);
});

test('check: the texts of examples/equations pass, a leak is told with its line', () => {
    const texts = readdirSync('examples/equations').filter((name) => name.endsWith('.eq'));
    assert.ok(texts.length >= 5);
    const size = '&task=mqar&length=32&vocab=16&pairs=4&width=8&heads=1';
    for (const name of texts) {
        const { status, stdout } = seqmix('check', `mixer=equations&eq=@examples/equations/${name}${size}`);
        assert.equal(status, 0, stdout);
        assert.match(stdout, /^The equations pass\.\n[^]*It is causal/);
    }
    const leak = encodeURIComponent('u = x @ w\nk = conv(u, f[3], future=1)\ny = attention(u, k, u)');
    assert.match(
        seqmix('check', `mixer=equations&eq=${leak}${size}`).stdout,
        /sees 1 row ahead, because of\n +2: k = conv/,
    );
    const report = JSON.parse(seqmix('check', `mixer=equations&eq=${leak}${size}`, '--json').stdout);
    const { passes, causal, ahead, ahead_line } = report;
    assert.deepEqual(
        { passes, causal, ahead, ahead_line },
        { passes: true, causal: false, ahead: 1, ahead_line: 2 },
    );
    assert.deepEqual(
        report.rows.map(({ name, fine }) => name + fine),
        ['ytrue', 'ftrue', 'wtrue', 'xtrue'],
    );
    assert.ok(report.growth.length && report.cost.length);
    assert.deepEqual(report.large, { times: 256, not_finite: null });
    const root = 'y%20=%20x%20*%20exp(log(sigmoid(x%20@%20w))%20/%2016)';
    assert.match(
        seqmix('check', `mixer=equations&eq=${root}${size}`).stdout,
        /On inputs 256 times as large the gradient of w is NOT finite/,
    );
});

test('equations: a built-in as text, its config trains the same run, eq=@FILE reads one', () => {
    const config = 'mixer=cat&task=mqar&length=16&vocab=8&pairs=2&width=8&heads=2&batch=2&steps=2&rate=0.01';
    const words = (text) => seqmix('train', text, '--json', '--eval', '0').stdout.match(/"word":"\w+"/g);
    const text = seqmix('equations', config).stdout;
    assert.match(text, /^k = conv\(x @ w_k, filter_k\[taps\]\)$/m);
    const same = seqmix('equations', config, '--config').stdout.trim();
    assert.equal(words(config).length, 2);
    assert.deepEqual(words(same), words(config));
    writeFileSync(file('cat.eq'), text);
    const own = config.replace('mixer=cat', `mixer=equations&eq=@${file('cat.eq')}&taps=3`);
    assert.deepEqual(words(own), words(config));
    assert.notDeepEqual(words(own.replace('taps=3', 'taps=2')), words(config));
    // as an editor of Windows writes it
    writeFileSync(file('cat.eq'), `\ufeff${text.replaceAll('\n', '\r\n')}`);
    assert.deepEqual(words(own), words(config));
    for (const [wrong, sentence] of [
        [`mixer=equations&eq=@${file('none.eq')}`, /none\.eq cannot be read/],
        ['mixer=equations&eq=@build/seqmix', /is no text of at most 8192 bytes/],
    ]) {
        const { status, stderr } = seqmix('train', wrong);
        assert.equal(status, 2);
        assert.match(stderr, sentence);
    }
    assert.match(seqmix('equations', 'mixer=las&alphas=1,2,3,4').stderr, /cannot say this of mixer=las/);
    assert.match(seqmix('help', 'landmark_keys').stdout, /formula .*oracle +ref_block_filter/s);
});

test('train: a key of another mixer is read, and said to say nothing', () => {
    const args = ['--eval', '0', 'mixer=cat&task=mqar&steps=1&width=8'];
    const plain = seqmix('train', ...args);
    assert.doesNotMatch(plain.stderr, /note/);
    const { status, stderr } = seqmix('train', ...args.slice(0, 2), `${args[2]}&hidden=3`);
    assert.equal(status, 0, stderr);
    assert.match(
        stderr,
        /note: hidden is a key of another mixer or task: it says nothing in this run; you may mean mlp$/m,
    );
});

test('what looks at a text says, too, that eq= without mixer=equations is not it', () => {
    const set = file('unread-set');
    assert.equal(seqmix('vectors', '--only', 'short_conv', '--out', set).status, 0);
    for (const args of [
        ['check'],
        ['audit'],
        ['equations'],
        ['data', '--count', '1', '--out', file('unread-data')],
        ['vectors', '--length', '3', '--out', file('unread-text')],
        ['judge', '--manifest', join(set, 'manifest.json'), '--text'],
    ])
        assert.match(
            seqmix(...args, 'eq=y = x&length=32&width=8').stderr,
            /^seqmix: note: eq is a key of another mixer or task: it says nothing in th/m,
            args[0],
        );
});

test('eval, sweep, grid: a key that no run reads is said to say nothing, and none is swept', () => {
    const config = 'mixer=cat&task=mqar&steps=1&width=8',
        note = /^seqmix: note: hidden is a key of another mixer or task: it says nothing in th/m;
    const out = file('unread.safetensors');
    assert.equal(seqmix('train', '--eval', '0', config, '--save', out).status, 0);
    const eachWith = [
        ['eval', out, 'hidden=3', '--count', '8', '--json'],
        ['sweep', `${config}&hidden=3`, 'filter=2', '--eval', '8', '--json'],
        ['grid', `${config}&hidden=3`, 'filter=2,3', '--out', file('unread')],
    ];
    for (const args of eachWith) {
        const { status, stderr, stdout } = seqmix(...args);
        assert.equal(status, 0, stderr);
        assert.match(stderr, note, args[0]);
        if (args.includes('--json')) JSON.parse(stdout); // the note is beside it
        const less = args.map((word) => word.replace(/&?hidden=3/, ''));
        assert.doesNotMatch(seqmix(...less.filter(Boolean)).stderr, note, args[0]);
    }
    // Read by one of the runs, it is no stranger.
    const focus = seqmix('grid', `${config}&hidden=3`, 'mixer=cat,focus', '--out', file('unread'));
    assert.equal(focus.status, 0, focus.stderr);
    assert.doesNotMatch(focus.stderr, note);
    for (const args of [
        ['sweep', config, 'hidden=3,4'],
        ['grid', config, 'hidden=3,4', '--out', file('unread')],
    ]) {
        const { status, stderr, stdout } = seqmix(...args);
        assert.equal(status, 2);
        assert.match(stderr, /has (no|the) key hidden: its mixer and task do not know it/);
        assert.equal(stdout, '');
    }
});
