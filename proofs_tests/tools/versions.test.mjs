// versions.test.mjs: what docs/VERSIONS.md promises: what each version left in proofs_tests/versions is read,
// and computes the same, now: its checkpoint, state, addresses and grid result, its digests, its names in C,
// JavaScript, Python and on the command line.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { abi, goOn, javascript, kept, program, python, reader } from '../../scripts/versions.mjs';
import { program as seqmix, run } from '../support/program.mjs';

// (While CHANGELOG.md calls a version unreleased nobody was promised anything: what differs on purpose is
// then written down again, by `node scripts/versions.mjs --record`.)
const versions = readdirSync(kept, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
const text = (version, name) => readFileSync(join(kept, version, name), 'utf8');
const parsed = (version, name) => JSON.parse(text(version, name));
const now = {
    c: abi(),
    javascript: await javascript(),
    program: await program(seqmix),
    python: python(),
};

// ---- What a later version may not do: pure functions, so that faults can be planted ----------------------

/** Names in `then` that `now` lacks, by their places. */
function lost(then, now, place = '') {
    if (Array.isArray(then))
        return then.filter((name) => !now?.includes(name)).map((name) => `${place}: ${name}`);
    return Object.entries(then ?? {}).flatMap(([name, inner]) =>
        now && Object.hasOwn(now, name)
            ? lost(inner, now[name], `${place}${place && '.'}${name}`)
            : [`${place}: ${name}`],
    );
}
/** What a program that was linked to `then` would trip over. */
function brokenAbi(then, now) {
    const broken = [];
    for (const kind of ['functions', 'numbers'])
        for (const [name, value] of Object.entries(then[kind]))
            if (now[kind][name] !== value) broken.push(`${name}: ${value} → ${now[kind][name]}`);
    for (const [name, { size, fields }] of Object.entries(then.structs)) {
        const other = now.structs[name];
        if (other?.size !== size || other.fields !== fields) broken.push(`struct ${name}`);
    }
    return broken;
}
/** Calls that were right and are no more: arguments that went, moved, or came without a default. */
function brokenCalls(then, now) {
    if (then === null) return []; // it had no signature, as classes of ctypes
    const broken = [];
    const others = new Map((now ?? []).map((one, at) => [one[0], { at, kind: one[1], optional: one[2] }]));
    for (const [at, [name, kind, optional]] of then.entries()) {
        const other = others.get(name);
        if (!other) broken.push(`${name} went`);
        else if (kind === 'POSITIONAL_OR_KEYWORD' && (other.at !== at || other.kind !== kind))
            broken.push(`${name} moved`);
        else if (optional && !other.optional) broken.push(`${name} lost its default`);
    }
    const known = new Set(then.map(([name]) => name));
    for (const [name, { kind, optional }] of others)
        if (!known.has(name) && !optional && !kind.startsWith('VAR_')) broken.push(`${name} is asked for`);
    return broken;
}
const digestsOf = (list) =>
    new Map(
        list
            .trim()
            .split('\n')
            .map((line) => [line.slice(18), line.slice(0, 16)]),
    );
/** Digests that moved since, and of which `moved` does not say so. */
function movedUnsaid(then, now, moved) {
    const unsaid = [];
    for (const [name, digest] of then) {
        // (a digest that moved twice stands there twice)
        let at = digest;
        for (let next = true; next;) {
            next = moved.find((one) => one.name === name && one.from === at);
            if (next) at = next.to;
        }
        if (now.get(name) !== at) unsaid.push(name);
    }
    return unsaid;
}
/** docs/VERSIONS.md's list: `| version | name | from | to | why |` */
const moved = readFileSync('docs/VERSIONS.md', 'utf8')
    .split('<!-- moved -->')[1]
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    .filter((cells) => /^[0-9a-f]{16}$/.test(cells[3]))
    .map(([, version, name, from, to, why]) => ({ version, name, from, to, why }));

// ---- The promises, for every version ---------------------------------------------------------------------

test('what the first release left is there', () => {
    assert.ok(versions.includes('0.1.0'));
    for (const version of versions)
        assert.deepEqual(
            readdirSync(join(kept, version))
                .map((name) => name.replace(/^result-[0-9a-f]{16}/, 'result'))
                .sort(),
            [
                'abi.json',
                'addresses.json',
                'checkpoint.safetensors',
                'digests.txt',
                'digests_configs.txt',
                'goes_on.json',
                'javascript.json',
                'program.json',
                'python.json',
                'result.json',
                'state.smxstate',
            ],
        );
});

const folder = mkdtempSync(join(tmpdir(), 'seqmix-versions-'));
after(() => rmSync(folder, { recursive: true }));

test('C: programs that were compiled against an earlier header of the same SONAME run', () => {
    for (const version of versions) {
        const then = parsed(version, 'abi.json');
        if (then.soname !== now.c.soname) continue; // another library, beside the older one
        assert.ok(Object.keys(then.functions).length > 300 && Object.keys(then.structs).length > 20);
        assert.deepEqual(brokenAbi(then, now.c), [], version);
    }
});
test('JavaScript: no export, member, kernel or figure of an earlier version is gone', () => {
    for (const version of versions)
        assert.deepEqual(lost(parsed(version, 'javascript.json'), now.javascript), [], version);
});
test('the program: no command, option, key or choice of an earlier version is gone', () => {
    for (const version of versions)
        assert.deepEqual(lost(parsed(version, 'program.json'), now.program), [], version);
});
test(
    'Python: every call that was right is right',
    { skip: !now.python && 'the Python package is not built' },
    () => {
        for (const version of versions) {
            const then = parsed(version, 'python.json');
            const names = ({ seqmix, ref, Run, testing }) => ({
                seqmix,
                ref,
                all: [...Object.keys(Run), ...Object.keys(testing)],
            });
            assert.deepEqual(lost(names(then), names(now.python)), [], version);
            for (const place of ['Run', 'testing'])
                for (const [name, signature] of Object.entries(then[place]))
                    assert.deepEqual(
                        brokenCalls(signature, now.python[place][name]),
                        [],
                        `${version}: ${place}.${name}`,
                    );
        }
    },
);
test('bits: a digest that moved since a release is in the list of docs/VERSIONS.md', () => {
    for (const version of versions)
        for (const name of ['digests.txt', 'digests_configs.txt'])
            assert.deepEqual(
                movedUnsaid(
                    digestsOf(text(version, name)),
                    digestsOf(readFileSync(`proofs_tests/${name}`, 'utf8')),
                    moved,
                ),
                [],
                version,
            );
    for (const { name, why } of moved) assert.ok(why, `${name}: why did it move?`);
});
test('an earlier checkpoint and state are read, and go on to the same bits', async () => {
    for (const version of versions) {
        const { config, ...found } = await goOn(join(kept, version));
        const { config: was, ...same } = parsed(version, 'goes_on.json');
        assert.deepEqual(found, same, version);
        // (a later version may know more keys)
        const values = new URLSearchParams(config);
        for (const [key, value] of new URLSearchParams(was))
            assert.equal(values.get(key), value, `${version}: ${key}`);
    }
});
test('an earlier address opens the same runs and the same view', async () => {
    const read = await reader();
    for (const version of versions)
        for (const { address, runs, view } of parsed(version, 'addresses.json')) {
            const found = read(address);
            assert.equal(found.runs.length, runs.length, address);
            // (a later version may know more keys)
            for (const [i, values] of runs.entries())
                for (const [key, value] of Object.entries(values))
                    assert.equal(found.runs[i][key], value, `${version}: ${key} of ${address}`);
            for (const [key, value] of Object.entries(view))
                assert.equal(found.view[key], value, `${version}: ${key} of ${address}`);
        }
});
test("an earlier grid's result is in the table, where no training's bits moved since", () => {
    for (const version of versions) {
        if (moved.some((one) => one.name.startsWith('train'))) continue;
        const name = readdirSync(join(kept, version)).find((file) => file.startsWith('result-'));
        const results = join(folder, version);
        const at = name.slice('result-'.length);
        mkdirSync(join(results, at.slice(0, 2)), { recursive: true });
        copyFileSync(join(kept, version, name), join(results, at.slice(0, 2), at));
        const { status, stderr } = run(seqmix, ['collect', results]);
        assert.equal(status, 0, `${version}: ${stderr}`);
        const [row, ...others] = readFileSync(join(results, 'results.jsonl'), 'utf8').trim().split('\n');
        assert.equal(others.length, 0);
        assert.equal(JSON.parse(row).digest, parsed(version, name).result.digest, version);
    }
});

// ---- Broken promises are seen ----------------------------------------------------------------------------

test('seen: a function of other arguments, a longer struct, another number, a name that went', () => {
    const then = {
        functions: { f: 'void (int)' },
        structs: { s: { size: 8, fields: 'int a, b;' } },
        numbers: { N: 4 },
    };
    assert.deepEqual(brokenAbi(then, structuredClone(then)), []);
    for (const [change, said] of [
        [(c) => (c.functions.f = 'void (long)'), 'f: void (int) → void (long)'],
        [(c) => delete c.functions.f, 'f: void (int) → undefined'],
        [(c) => (c.structs.s = { size: 12, fields: 'int a, b, c;' }), 'struct s'],
        [(c) => (c.structs.s.fields = 'int b, a;'), 'struct s'],
        [(c) => (c.numbers.N = 5), 'N: 4 → 5'],
    ]) {
        const later = structuredClone(then);
        change(later);
        assert.deepEqual(brokenAbi(then, later), [said]);
    }
    assert.deepEqual(lost({ Run: ['step', 'close'], keys: { rate: null } }, { Run: ['step'], keys: {} }), [
        'Run: close',
        'keys: rate',
    ]);
});
test('seen: a call that was right is refused; a digest that moved and was not said', () => {
    const P = 'POSITIONAL_OR_KEYWORD';
    const then = [
        ['self', P, false],
        ['count', P, true],
    ];
    assert.deepEqual(brokenCalls(then, [...then, ['more', 'KEYWORD_ONLY', true]]), []);
    assert.deepEqual(brokenCalls(then, [...then, ['more', P, false]]), ['more is asked for']);
    assert.deepEqual(brokenCalls(then, [then[0], ['n', P, true]]), ['count went']);
    assert.deepEqual(brokenCalls(then, [then[0], ['count', P, false]]), ['count lost its default']);
    assert.deepEqual(brokenCalls(then, [then[0], ['new', P, true], then[1]]), ['count moved']);
    const [a, b, c] = ['a', 'b', 'c'].map((letter) => letter.repeat(16));
    const said = [
        { name: 'kernel x', from: a, to: b },
        { name: 'kernel x', from: b, to: c },
    ];
    const list = (digest) => new Map([['kernel x', digest]]);
    assert.deepEqual(movedUnsaid(list(a), list(c), said), []);
    assert.deepEqual(movedUnsaid(list(b), list(c), said), []);
    assert.deepEqual(movedUnsaid(list(a), list(b), []), ['kernel x']);
    assert.deepEqual(movedUnsaid(list(a), new Map(), []), ['kernel x']);
});
