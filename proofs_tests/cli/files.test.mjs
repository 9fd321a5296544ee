// files.test.mjs: no file of the user is lost: what the program writes over, links and devices that are in
// the way, writers that die or overlap, and signals at every moment of a training. Nodes are made in a folder
// of the test's own.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
    chmodSync,
    existsSync,
    lstatSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    rmSync,
    statSync,
    symlinkSync,
    writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { program, run, seqmix } from '../support/program.mjs';
import { readNpy } from '../support/npy.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-files-'));
after(() => rmSync(folder, { recursive: true }));
const file = (...names) => join(folder, ...names);
const strays = (dir = folder) => readdirSync(dir).filter((name) => name.endsWith('.part'));
const failing = 'build/torture/failing.so';
const tiny = 'mixer=cat&task=mqar&batch=2&steps=3';
const endless = 'mixer=cat&task=mqar&batch=2&steps=100000000';
const saved = seqmix('train', tiny, '--eval', '0', '--save', file('good'));
assert.equal(saved.status, 0, saved.stderr);
const good = readFileSync(file('good'));
const save = (path) => seqmix('train', tiny, '--eval', '0', '--save', path);
/** A file that may not grow beyond a limit (in blocks of 1,024 bytes), as a quota or `ulimit -f` has it. */
test('past the limit of a file: a sentence, the old file stays, no part is left', () => {
    const path = file('limited');
    writeFileSync(path, 'what was here');
    const train = `exec build/seqmix train '${tiny}' --eval 0 --save '${path}'`;
    const { status, stderr, signal } = spawnSync('bash', ['-c', `ulimit -f 4; ${train}`], {
        encoding: 'utf8',
    });
    assert.equal(signal, null);
    assert.equal(status, 2, stderr);
    assert.match(stderr, /limited cannot be written: File too large/);
    assert.equal(readFileSync(path, 'utf8'), 'what was here');
    assert.deepEqual(strays(), []);
});

test(
    'each call that writes a file fails once: what is said of the file is true',
    { skip: !existsSync(failing) },
    () => {
        const path = file('told'),
            says = file('says');
        // (`train --save` tries again; the torture test does that.)
        const args = ['export', file('good'), '--pytorch', path];
        assert.equal(seqmix(...args).status, 0);
        const whole = readFileSync(path);
        const told = { stands: 0, stays: 0 };
        for (const [kind, errno] of [
            ['write', 28], // ENOSPC
            ['sync', 5], // EIO
            ['rename', 28],
            ['open', 24], // EMFILE
            ['close', 28],
        ]) {
            const env = {
                ...process.env,
                LD_PRELOAD: resolve(failing),
                FAIL_CALL: kind,
                FAIL_ERRNO: String(errno),
            };
            run(program, args, { env: { ...env, FAIL_SAYS: says } });
            const calls = Number(readFileSync(says));
            assert.ok(calls > 0, kind);
            for (let at = 0; at < calls; at++) {
                writeFileSync(path, 'what was here');
                const { status, stderr } = run(program, args, { env: { ...env, FAIL_AT: String(at) } });
                const stands = readFileSync(path).equals(whole),
                    where = `${kind} ${at} of ${calls}, status ${status}: ${stderr}`;
                if (!stands) assert.equal(readFileSync(path, 'utf8'), 'what was here', where);
                assert.equal(
                    /told is written, but .* may lose it/.test(stderr),
                    stands && status === 2,
                    where,
                );
                assert.equal(/told cannot be written: /.test(stderr), !stands && /told /.test(stderr), where);
                if (status === 0) assert.ok(stands, where);
                if (status === 2 && stands) told.stands++;
                if (status === 2 && !stands) told.stays++;
            }
        }
        assert.ok(told.stands > 0 && told.stays > 4, JSON.stringify(told));
    },
);

test(
    'a folder that cannot be read to its end is said, wherever its list breaks off',
    { skip: !existsSync(failing) },
    () => {
        for (const label of ['a', 'b']) {
            mkdirSync(file('labelled', label), { recursive: true });
            for (let i = 0; i < 12; i++) writeFileSync(file('labelled', label, `${i}.txt`), `${label} ${i}`);
        }
        for (const seed of [1, 2, 3])
            assert.equal(
                seqmix('job', `${tiny}&seed=${seed}`, '--out', file('listed'), '--eval', '5').status,
                0,
            );
        const says = file('lists');
        for (const [args, sentence, status] of [
            [['collect', file('listed'), '--out', file('tables')], /listed.* cannot be read to its end: /, 1],
            [
                ['train', `task=texts&folder=${file('labelled')}&steps=1&batch=2&width=8&length=8`],
                /labelled.*: cannot be read to its end: /,
                2,
            ],
        ]) {
            const env = {
                ...process.env,
                LD_PRELOAD: resolve(failing),
                FAIL_CALL: 'list',
                FAIL_ERRNO: '116', // ESTALE
            };
            const straight = run(program, args, { env: { ...env, FAIL_SAYS: says } });
            assert.equal(straight.status, 0, straight.stderr);
            const calls = Number(readFileSync(says));
            assert.ok(calls > 8, `${args[0]}: ${calls}`);
            const table = file('tables', 'results.csv');
            const whole = readFileSync(table, 'utf8');
            for (let at = 0; at < calls; at++) {
                const ran = run(program, args, { env: { ...env, FAIL_AT: String(at) } });
                // (The list of builds/: no result hangs on it.)
                if (args[0] === 'collect' && !ran.status && readFileSync(table, 'utf8') === whole) continue;
                assert.match(ran.stderr, sentence, `${args[0]}, ${at} of ${calls}`);
                assert.ok(ran.status === status || ran.status === 2, `${ran.status}: ${ran.stderr}`);
            }
        }
    },
);

test('- is no folder and no file: refused, with what is allowed', () => {
    const here = file('dash');
    mkdirSync(here);
    for (const args of [
        ['data', tiny, '--out', '-'],
        ['vectors', '--out', '-'],
        ['job', tiny, '--out', '-'],
        ['grid', tiny, 'rate=0.1', '--out', '-'],
        ['train', tiny, '--save', '-'],
    ]) {
        const { status, stderr } = run(resolve(program), args, { cwd: here });
        assert.equal(status, 2, args.join(' '));
        assert.match(stderr, / - ?.*a (file|folder)'s name is wanted \(\.\/- is one/, args.join(' '));
        assert.deepEqual(readdirSync(here), [], args.join(' '));
    }
    assert.equal(
        run(resolve(program), ['data', tiny, '--count', '1', '--out', './-'], { cwd: here }).status,
        0,
    );
    assert.deepEqual(readdirSync(join(here, '-')), ['targets.npy', 'tokens.npy']);
});

test('JSON is JSON whatever bytes a name has', () => {
    // Not by arguments of Node.js, which are text.
    const here = file('bytes');
    mkdirSync(here);
    const bytes = (command) =>
        run('bash', ['-c', command], {
            cwd: here,
            encoding: 'buffer',
            env: { ...process.env, P: resolve(program) },
        });
    const name = "$'t\\xff\\x9b\\xc3(\\xed\\xa0\\x80\\xf0\\x9f\\x98\\x80\\xc3\\xa9.txt'",
        shown = './t\ufffd\ufffd\ufffd(\ufffd\ufffd\ufffd\u{1f600}é.txt';
    bytes(`printf 'to be or not to be %.0s' {1..200} > ${name}`);
    const small = 'task=charlm&mixer=cat&steps=1&batch=1&length=8';
    const utf8 = new TextDecoder('utf-8', { fatal: true });
    const swept = bytes(`"$P" sweep '${small}' text=./${name} --json --eval 1`);
    assert.equal(JSON.parse(utf8.decode(swept.stdout)).text, shown);
    // On a terminal, what is no UTF-8 is spelt.
    const said = bytes(`"$P" train $'task=t\\x9b\\xc3' 2>&1; true`);
    assert.match(utf8.decode(said.stdout), /task=t\\x9b\\xc3 is not allowed/);
});

test('UTF-16 is read as UTF-8, and said; a number too large for its column is told by its line', () => {
    const utf16 = (text, big) => {
        const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
        return big ? bytes.swap16() : bytes;
    };
    const digest = (config) => {
        const { status, stdout, stderr } = seqmix('train', config, '--eval', '0', '--json');
        assert.equal(status, 0, stderr);
        return [
            stdout
                .trim()
                .split('\n')
                .slice(1)
                .map((line) => JSON.parse(line).loss),
            stderr,
        ];
    };
    const text = 'Ein Käse für 3 €, \u{1f9c0} und noch einer. '.repeat(20);
    const table = `time,größe,last\n${Array.from({ length: 60 }, (_, i) => `${i},${(i * 7) % 5},${(i * 3) % 11}`).join('\n')}\n`;
    for (const [name, content, config] of [
        ['text', text, 'task=charlm&mixer=cat&length=16&batch=2&steps=3&text='],
        ['table', table, 'task=table&mixer=cat&length=4&batch=2&steps=3&ahead=1&file='],
    ]) {
        writeFileSync(file(name), content);
        const [losses, quiet] = digest(config + file(name));
        assert.doesNotMatch(quiet, /UTF-16/);
        for (const big of [false, true]) {
            writeFileSync(file(`${name}16`), utf16(content, big));
            const [same, said] = digest(config + file(`${name}16`));
            assert.deepEqual(same, losses);
            assert.match(said, /the file was UTF-16: it is read as UTF-8/);
        }
    }
    for (const [cell, refused] of [
        ['1e400', /line 9: '1e400' in the column größe is no number/],
        ['-1e400', /line 9: '-1e400' in the column größe is no number/],
        ['1e200', /line 9: '1e200' in the column größe is no number/], // its square is infinite
        ['wide', /line 9: 'wide' in the column größe is no number/],
    ]) {
        writeFileSync(file('large'), table.replace('\n7,4,', `\n7,${cell},`));
        const { status, stderr } = seqmix(
            'train',
            `task=table&mixer=cat&length=4&ahead=1&file=${file('large')}`,
        );
        assert.equal(status, 2, cell);
        assert.match(stderr, refused);
    }
    // Without its mark nobody knows which of the two it is, and cells would be words.
    for (const bytes of [
        Buffer.from(table, 'utf16le'),
        Buffer.from(table, 'utf16le').swap16(),
        Buffer.from([0xff, 0xfe, 0, 0, ...[...table].flatMap((c) => [c.charCodeAt(0), 0, 0, 0])]), // UTF-32
        Buffer.from(table.replace('7,4,', '7,4\0,')),
    ]) {
        writeFileSync(file('unmarked'), bytes);
        const { status, stderr } = seqmix('train', `task=table&mixer=cat&length=4&file=${file('unmarked')}`);
        assert.equal(status, 2);
        assert.match(stderr, /unmarked: no text: a byte is 0/);
    }
    // Where it is the first, its column is not left out for it.
    writeFileSync(file('large'), table.replace('\n0,0,', '\n0,1e400,'));
    const first = seqmix('train', `task=table&mixer=cat&length=4&ahead=1&file=${file('large')}`);
    assert.equal(first.status, 2);
    assert.match(first.stderr, /line 2: '1e400' in the column größe is no number/);
});

/** The step that a checkpoint holds; it loads, and there is nothing left to train. */
function step(path) {
    const bytes = readFileSync(path);
    const header = bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE(0))).toString();
    const held = JSON.parse(header).__metadata__.step;
    const { status, stdout, stderr } = seqmix(
        ...['train', `steps=${Math.max(held, 1)}`, '--load', path, '--json', '--eval', '0'],
    );
    assert.equal(status, 0, stderr);
    assert.equal(JSON.parse(stdout.split('\n')[0]).step, Number(held));
    return Number(held);
}

test('a symbolic link stays a link, and what it points to is written', () => {
    mkdirSync(file('elsewhere'));
    for (const [name, target] of [
        ['link', 'elsewhere/real'], // relative, to a file that is there
        ['dangling', join(folder, 'elsewhere', 'new')], // absolute, to one that is not
        ['chain', 'link'],
    ]) {
        symlinkSync(target, file(name));
        if (name === 'link') writeFileSync(file('elsewhere', 'real'), 'old');
        assert.equal(save(file(name)).status, 0);
        assert.ok(lstatSync(file(name)).isSymbolicLink(), name);
        assert.deepEqual(readFileSync(file(name)), good, name);
    }
    symlinkSync('loop', file('loop'));
    assert.match(save(file('loop')).stderr, /cannot be written: Too many levels/);
    assert.deepEqual(strays(file('elsewhere')), []);
});

test('mode and owner of the file stay; a new one takes those of the umask', () => {
    const owner = process.getuid() === 0 ? [12345, 12346] : [process.getuid(), process.getgid()];
    for (const own of [0o640, 0o600, 0o664, 0o777]) {
        writeFileSync(file('private'), 'old');
        chmodSync(file('private'), own);
        if (process.getuid() === 0) spawnSync('chown', [owner.join(':'), file('private')]);
        assert.equal(save(file('private')).status, 0);
        const { mode, uid, gid } = statSync(file('private'));
        assert.deepEqual([mode & 0o777, uid, gid], [own, ...owner]);
    }
    assert.equal(statSync(file('good')).mode & 0o777, 0o666 & ~process.umask());
});

test('a FIFO is written into, not replaced; a folder is refused', async () => {
    assert.equal(spawnSync('mkfifo', [file('pipe')]).status, 0);
    const reader = spawn('cat', [file('pipe')]);
    const chunks = [];
    reader.stdout.on('data', (chunk) => chunks.push(chunk));
    const { status, stderr } = save(file('pipe'));
    await new Promise((resolve) => reader.once('close', resolve));
    assert.equal(status, 0, stderr);
    assert.ok(lstatSync(file('pipe')).isFIFO());
    assert.deepEqual(Buffer.concat(chunks), good);
    // One that nobody reads ends in a sentence, not in a wait.
    assert.match(save(file('pipe')).stderr, /it is a FIFO, and nobody reads it/);
    // A FIFO is no checkpoint, and nobody waits for a writer.
    assert.match(seqmix('eval', file('pipe')).stderr, /is not a file/);
    assert.match(save(folder).stderr, /it is a folder/);
    // Standard output, where it is a pipe: a link that names no file.
    for (const path of ['/dev/stdout', '/dev/fd/1']) {
        const piped = spawnSync('sh', [
            '-c',
            `build/seqmix export '${file('good')}' --pytorch ${path} | cat`,
        ]);
        assert.equal(String(piped.stderr), '');
        assert.match(String(piped.stdout), /^"""A model of seqmix/);
    }
});

test(
    'a device is written into, not replaced',
    { skip: process.getuid() !== 0 && 'needs root to make a device' },
    () => {
        // (A container may not.)
        if (spawnSync('mknod', [file('null'), 'c', '1', '3']).status !== 0) return;
        const { status, stderr } = save(file('null'));
        assert.ok(lstatSync(file('null')).isCharacterDevice());
        // A folder mounted without devices: refused, and still there.
        assert.equal(status, /Permission denied/.test(stderr) ? 2 : 0, stderr);
    },
);

test('what a dead writer left is swept, what a living one holds is not', async () => {
    mkdirSync(file('busy'));
    const dead = file('busy', '.seqmix-999999-0.part'),
        held = file('busy', '.seqmix-999999-1.part'),
        others = file('busy', 'mine.part');
    for (const name of [dead, held, others]) writeFileSync(name, 'half a checkpoint');
    const holder = spawn('flock', ['-x', held, '-c', 'echo held; sleep 60'], { detached: true });
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    assert.equal(save(file('busy', 'run')).status, 0);
    assert.deepEqual(readdirSync(file('busy')).sort(), ['.seqmix-999999-1.part', 'mine.part', 'run']);
    process.kill(-holder.pid);
    await new Promise((resolve) => holder.once('close', resolve));
    assert.equal(save(file('busy', 'run')).status, 0);
    assert.deepEqual(readdirSync(file('busy')).sort(), ['mine.part', 'run']);
});

test('a temporary that somebody planted is neither followed nor overwritten', () => {
    // The names are unique and opened O_EXCL: a link in the way is stepped over.
    writeFileSync(file('victim'), 'precious');
    mkdirSync(file('planted'));
    const { pid } = process;
    for (let i = pid; i < pid + 400; i++) symlinkSync(file('victim'), file('planted', `.seqmix-${i}-0.part`));
    assert.equal(save(file('planted', 'run')).status, 0);
    assert.equal(readFileSync(file('victim'), 'utf8'), 'precious');
    assert.deepEqual(readFileSync(file('planted', 'run')), good);
});

test('killed while it saves again and again: the file is always whole, and the next writer sweeps', async () => {
    mkdirSync(file('killed'));
    const run = file('killed', 'run');
    for (let i = 0; i < 12; i++) {
        const child = spawn(program, [
            'train',
            endless,
            '--json',
            '--eval',
            '0',
            '--save',
            run,
            '--save-every',
            '1',
        ]);
        child.stdout.resume();
        while (!existsSync(run)) await new Promise((resolve) => setTimeout(resolve, 5));
        await new Promise((resolve) => setTimeout(resolve, 20 + 17 * i));
        child.kill('SIGKILL');
        await new Promise((resolve) => child.once('close', resolve));
        const bytes = readFileSync(run);
        const header = Number(bytes.readBigUInt64LE(0));
        const { __metadata__, ...tensors } = JSON.parse(bytes.subarray(8, 8 + header).toString());
        const end = Math.max(...Object.values(tensors).map(({ data_offsets }) => data_offsets[1]));
        assert.equal(bytes.length, 8 + header + end, `at step ${__metadata__.step}`);
    }
    assert.equal(save(run).status, 0);
    assert.deepEqual(strays(file('killed')), []);
});

test('data --out: overlapping writers never leave the tokens of one and the targets of another', async () => {
    const out = file('data');
    const words = (seed) => ['data', `task=mqar&seed=${seed}`, '--count', '300', '--out'];
    const alone = [1, 2, 3].map((seed) => {
        assert.equal(seqmix(...words(seed), `${out}${seed}`).status, 0);
        return ['tokens', 'targets'].map((name) => readNpy(join(`${out}${seed}`, `${name}.npy`)).data.join());
    });
    for (let round = 0; round < 8; round++) {
        await Promise.all(
            [1, 2, 3].map(
                (seed) =>
                    new Promise((resolve) => spawn(program, [...words(seed), out]).once('close', resolve)),
            ),
        );
        const [tokens, targets] = ['tokens', 'targets'].map((name) =>
            readNpy(join(out, `${name}.npy`)).data.join(),
        );
        const writer = alone.findIndex(([t]) => t === tokens);
        assert.ok(writer >= 0);
        assert.equal(targets, alone[writer][1], `round ${round}: the tokens are those of seed ${writer + 1}`);
    }
});

/** A training that prints JSON, once it has begun. */
async function begin(...args) {
    const child = spawn(program, ['train', '--json', ...args]);
    child.text = '';
    child.errors = '';
    child.stderr.on('data', (chunk) => (child.errors += chunk));
    child.stdout.on('data', (chunk) => (child.text += chunk));
    child.ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)));
    await until(child, () => child.text);
    return child;
}

/** Until it is so; a program that ends before that is a failure, not a wait. */
async function until(child, so) {
    while (!so()) {
        assert.equal(child.exitCode ?? child.signalCode, null, `it ended: ${child.errors}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

for (const [signal, code] of [
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
])
    test(`${signal}: saved, exit ${code}`, async () => {
        const child = await begin(endless, '--every', '1', '--save', file(signal));
        await until(child, () => /"step":[1-9]/.test(child.text));
        child.kill(signal);
        assert.equal(await child.ended, code);
        assert.ok(step(file(signal)) > 0);
        assert.equal(JSON.parse(child.text.trim().split('\n').at(-1)).final, true);
    });

test('what the program was started to ignore does not stop it: nohup', async () => {
    const child = spawn('nohup', [program, 'train', '--json', endless, '--save', file('nohup')]);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.stdout.resume();
    child.kill('SIGHUP');
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(child.exitCode ?? child.signalCode, null);
    child.kill('SIGTERM');
    assert.equal(await new Promise((resolve) => child.once('close', resolve)), 143);
});

test('USR1 saves and the training goes on; --save-every does so by itself', async () => {
    const child = await begin(endless, '--save', file('usr1'));
    assert.ok(!existsSync(file('usr1')));
    child.kill('SIGUSR1');
    await until(child, () => existsSync(file('usr1')));
    assert.equal(child.exitCode ?? child.signalCode, null);
    const first = step(file('usr1'));
    assert.ok(first > 0);
    child.kill('SIGTERM');
    assert.equal(await child.ended, 143);
    assert.ok(step(file('usr1')) > first);

    for (const every of ['7', '1s']) {
        const path = file(`every${every}`),
            often = await begin(endless, '--save', path, '--save-every', every);
        const seen = new Set();
        const began = Date.now();
        await until(often, () => {
            if (existsSync(path)) seen.add(statSync(path).mtimeMs);
            return existsSync(path) && (every === '7' || Date.now() - began > 3500);
        });
        const most = 1 + (Date.now() - began) / 1000;
        if (every === '1s') assert.ok(seen.size >= 2 && seen.size <= most, `${seen.size} savings`);
        often.kill('SIGKILL'); // nothing is saved at the end
        await often.ended;
        const at = step(path);
        assert.ok(every === '1s' ? at > 0 : at > 0 && at % 7 === 0, `${every}: ${at}`);
    }
    // Whatever step it went on from: every seventh of all.
    const on = file('on');
    assert.equal(
        seqmix('train', endless.replace('100000000', '10'), '--save', file('ten'), '--eval', '0').status,
        0,
    );
    const more = ['--save', on, '--save-every', '7', '--eval', '0', '--json'];
    const child2 = await begin('steps=100000000', '--load', file('ten'), ...more);
    await until(child2, () => existsSync(on));
    child2.kill('SIGKILL');
    await child2.ended;
    assert.ok(step(on) > 10 && step(on) % 7 === 0, `${step(on)}`);
});

// A minute a step and more, 300 MB.
const long = 'mixer=attention&task=mqar&length=16384&batch=64&width=16&pairs=64&vocab=256&steps=9&threads=1';
test('a signal in the middle of a long step is answered before its end', { timeout: 300000 }, async () => {
    const child = await begin(long, '--save', file('long'), '--eval', '0');
    child.kill('SIGUSR1');
    await until(child, () => existsSync(file('long')));
    rmSync(file('long'));
    const begun = Date.now();
    child.kill('SIGTERM');
    assert.equal(await child.ended, 143);
    const seconds = (Date.now() - begun) / 1000;
    assert.match(child.errors, /in the middle of a step.*long holds step 0/);
    assert.match(readFileSync(file('long'), 'latin1'), /"step":"0"/);
    assert.ok(seconds < 30, `${seconds} s`); // 0.7, and whatever else the machine is at
});

test('a signal in the middle of a long evaluation saves what was learnt before it', async () => {
    const child = await begin(endless, '--every', '50', '--eval', '10000000', '--save', file('judged'));
    await until(child, () => /"step":50/.test(child.text));
    child.kill('SIGTERM');
    assert.equal(await child.ended, 143);
    assert.equal(step(file('judged')), 50, child.errors);
});

test(
    'a signal is answered while nobody takes what is printed',
    { skip: !existsSync('/proc/self/stat') && 'there is no /proc' },
    async () => {
        const child = await begin(endless, '--eval', '0', '--save', file('stuck'));
        child.stdout.pause();
        let still = 0; // it sleeps, so it waits for the reader
        await until(child, () => {
            const asleep = /\) S /.test(readFileSync(`/proc/${child.pid}/stat`, 'latin1'));
            return (still = asleep ? still + 1 : 0) === 25;
        });
        child.kill('SIGTERM');
        // Without a reader there is no 'close'.
        const code = await new Promise((resolve) =>
            child.once('exit', (code, signal) => resolve(code ?? signal)),
        );
        child.stdout.resume();
        assert.equal(code, 143, child.errors);
        assert.ok(step(file('stuck')) > 0);
    },
);

test('whoever reads hears of a long step at once', async () => {
    const slow =
        'mixer=attention&task=mqar&length=4096&batch=4&width=16&pairs=64&vocab=256&steps=9999&threads=1';
    const child = await begin(slow, '--eval', '0');
    await until(child, () => /"step":1/.test(child.text));
    child.kill('SIGKILL');
    await child.ended;
    assert.ok(child.text.length < 4096, `${child.text.length} characters came together`);
});

test('a save that fails in between ends no training, and nothing is lost', async () => {
    mkdirSync(file('away'));
    symlinkSync('away/run', file('detour'));
    const child = await begin(endless, '--eval', '0', '--save', file('detour'), '--save-every', '500');
    await until(child, () => existsSync(file('away', 'run')));
    rmSync(file('away'), { recursive: true });
    await until(child, () => /it is saved again later/.test(child.errors));
    mkdirSync(file('away'));
    child.kill('SIGTERM');
    assert.equal(await child.ended, 143, child.errors);
    assert.ok(step(file('away', 'run')) > 500);
});

test('a reader of JSON that goes away loses no training', async () => {
    const path = file('unread');
    const child = await begin('mixer=cat&task=mqar&batch=2&steps=3000', '--eval', '0', '--save', path);
    child.stdout.destroy();
    assert.equal(await child.ended, 2); // what it printed was lost, and is said
    assert.match(child.errors, /nobody reads standard output/);
    assert.equal(step(path), 3000);
    // With nothing to save, nothing is gained by going on.
    const idle = await begin(endless, '--eval', '0');
    idle.stdout.destroy();
    assert.equal(await idle.ended, 2);
});

test('a run that fails leaves the good checkpoint alone and writes NAME.stopped', () => {
    writeFileSync(file('kept'), good);
    // A learning rate that no weight survives.
    const { status, stderr } = seqmix(
        'train',
        'mixer=cat&task=mqar&batch=2&width=8&steps=400&rate=10&warmup=0&decay=10&clip=0&norm=none',
        '--eval',
        '0',
        '--save',
        file('kept'),
    );
    assert.equal(status, 2, stderr);
    assert.match(stderr, /kept\.stopped/);
    assert.deepEqual(readFileSync(file('kept')), good);
    assert.ok(existsSync(file('kept.stopped')));
    // Where not one step was taken there is nothing to keep, nor where one goes on from before it went wrong.
    const never = seqmix('train', 'task=own&channels=2&classes=3', '--save', file('never'));
    assert.equal(never.status, 2);
    const again = seqmix('train', '--load', file('kept.stopped'), '--eval', '0', '--save', file('never'));
    assert.equal(again.status, 2);
    assert.match(again.stderr, /stopped being finite/);
    assert.deepEqual(
        readdirSync(folder).filter((name) => name.startsWith('never')),
        [],
    );
});

test('eval --json is JSON whatever the weights are; what is no number is null, and exit 1', () => {
    // Weights near the largest float: the loss is no number.
    // As another program would write it, without a checksum.
    const header = Number(good.readBigUInt64LE(0));
    const table = JSON.parse(good.subarray(8, 8 + header).toString());
    const bytes = Buffer.from(good);
    delete table.__metadata__.checksum;
    delete table.__metadata__.format;
    bytes.write(JSON.stringify(table).padEnd(header), 8);
    for (const [name, { data_offsets }] of Object.entries(table))
        if (name !== '__metadata__' && !name.includes(':'))
            for (let i = data_offsets[0]; i < data_offsets[1]; i += 4)
                bytes.writeFloatLE(3e38, 8 + header + i);
    writeFileSync(file('wild'), bytes);
    const { status, stdout, stderr } = seqmix('eval', file('wild'), '--json', '--count', '4');
    assert.equal(status, 1, stderr);
    assert.equal(JSON.parse(stdout).loss, null);
    assert.match(stderr, /its loss is not a finite number/);
});

test('control characters of a file reach no terminal raw', () => {
    const esc = '\x1b]0;owned\x07\x9b2J\n';
    const entry = { file: 'y.npy', shape: [1], dtype: '<f8' };
    const manifests = [
        { cases: [{ name: `case${esc}`, mechanism: 'cat', outputs: {} }] },
        { cases: [{ name: 'case', mechanism: esc, inputs: {}, outputs: { y: entry } }] },
        {
            cases: [
                {
                    name: 'case',
                    mechanism: 'las_alphas',
                    inputs: {},
                    outputs: { y: { ...entry, file: `${esc}y` } },
                },
            ],
        },
    ];
    for (const [i, manifest] of manifests.entries()) {
        const path = file(`hostile${i}.json`);
        writeFileSync(path, JSON.stringify(manifest));
        for (const args of [
            ['oracle', '--manifest', path, '--out', file('hostile')],
            ['compare', '--manifest', path, file('hostile')],
        ]) {
            const { status, stdout, stderr } = seqmix(...args);
            assert.equal(status, 2);
            assert.doesNotMatch(stdout + stderr, /[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
        }
    }
});
