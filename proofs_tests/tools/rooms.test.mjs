// rooms.test.mjs: arrows between the rooms of the house only point down. The order of rooms is read from
// docs/ARCHITECTURE.md (the block after "lowest first"), so what the page prints is what is held. An arrow is
// an include, an import, or, between objects of the program, a name that one object lacks and another has: an
// `extern` hides nothing.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
})
    .split('\n')
    .filter((file) => file && existsSync(join(root, file)));

// ---- The list: a line is a floor, its rooms separated by |; rooms of one floor know nothing of each other.
const page = readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8');
const block = /lowest first[\s\S]*?```\n([^`]+)```/.exec(page)?.[1] ?? '';
const floors = block
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((room) => room.trim()));
const floorOf = new Map(floors.flatMap((rooms, floor) => rooms.map((room) => [room, floor])));

/** The room of a file: itself, or the longest folder of the list that holds it. */
function roomOf(file) {
    for (let at = file; at !== '.'; at = dirname(at)) if (floorOf.has(at)) return at;
    return undefined;
}
/** Why a file may not know another; undefined where it may. */
function wrong(from, to) {
    const [a, b] = [roomOf(from), roomOf(to)];
    if (a === undefined || b === undefined || a === b) return undefined;
    return floorOf.get(b) < floorOf.get(a) ? undefined : `${from} -> ${to}: ${a} may not know ${b}`;
}

// ---- Arrows between files
const isOurs = new Set(tracked);
const read = (file) => readFileSync(join(root, file), 'utf8');
function includes(file) {
    return [...read(file).matchAll(/^\s*#\s*include\s+([<"])([^>"]+)[>"]/gm)].flatMap(([, , name]) =>
        [join(dirname(file), name), name, join('include', name)]
            .map(normalize)
            .filter((at) => isOurs.has(at))
            .slice(0, 1),
    );
}
function imports(file) {
    const found = read(file).matchAll(
        /(?:from\s+|import\s*\(\s*|import\s+|new URL\(\s*)['"](\.{1,2}\/[^'"?]+)/g,
    );
    return [...found].flatMap(([, name]) => {
        const at = normalize(join(dirname(file), name));
        return [at, at.replace(/\.js$/, '.ts'), `${at}.ts`].filter((path) => isOurs.has(path)).slice(0, 1);
    });
}
const isC = (file) => /\.[ch]$/.test(file);
const isScript = (file) => /\.(ts|tsx|mjs|mts)$/.test(file);
const arrows = new Map(
    tracked
        .filter((file) => (isC(file) || isScript(file)) && existsSync(join(root, file)))
        .map((file) => [file, isC(file) ? includes(file) : imports(file)]),
);

/** Circles of a graph: its strongly connected parts of more than one node (Tarjan). */
function circles(graph) {
    const index = new Map();
    const low = new Map();
    const stack = [];
    const found = [];
    const visit = (node) => {
        index.set(node, index.size);
        low.set(node, index.get(node));
        stack.push(node);
        for (const next of graph.get(node) ?? []) {
            if (!index.has(next)) visit(next);
            if (stack.includes(next)) low.set(node, Math.min(low.get(node), low.get(next)));
        }
        if (low.get(node) !== index.get(node)) return;
        const part = stack.splice(stack.indexOf(node));
        if (part.length > 1) found.push(part.sort().join(' <-> '));
    };
    for (const node of graph.keys()) if (!index.has(node)) visit(node);
    return found;
}

test('the list names every folder that holds code, and only such', () => {
    assert.ok(floors.length > 8, `docs/ARCHITECTURE.md lists ${floors.length} floors`);
    const homeless = [...arrows.keys()].filter(
        (file) =>
            roomOf(file) === undefined &&
            file.includes('/') &&
            !/^(proofs_tests|examples|scripts|\.)/.test(file),
    );
    assert.deepEqual(homeless, []);
    for (const room of floorOf.keys())
        assert.ok(
            tracked.some((file) => roomOf(file) === room),
            `nothing is in ${room}`,
        );
});

test('no folder but these holds more than 20 files side by side', () => {
    const held = new Map();
    for (const file of tracked) held.set(dirname(file), (held.get(dirname(file)) ?? 0) + 1);
    held.delete('.'); // the root: what tools look for there
    assert.deepEqual([...held.keys()].filter((folder) => held.get(folder) > 20).sort(), [
        'docs',
        'model/mixers',
        'proofs_tests/rocq',
        'python/seqmix',
        'ref',
        'scripts',
        'wasm/loader',
    ]);
});

test('includes and imports point down', () => {
    assert.deepEqual(
        [...arrows].flatMap(([from, to]) => to.map((file) => wrong(from, file)).filter(Boolean)),
        [],
    );
});

test('no file outside the tests knows a test', () => {
    const known = [...arrows].filter(
        ([from]) => !from.startsWith('proofs_tests/') && !from.startsWith('scripts/'),
    );
    // The page shows the committed digests and the figures of the proofs; that is text, not code.
    assert.deepEqual(
        known.flatMap(([from, to]) =>
            to
                .filter((file) => /^proofs_tests\/.*\.(c|h|mjs|ts)$/.test(file))
                .map((file) => `${from} -> ${file}`),
        ),
        [],
    );
});

// model/settings is the only parser: others ask it for values (smx_run_config_value, smx_config_values,
// config_get).
test('only model/settings takes a config text apart', () => {
    const clients = [...arrows.keys()].filter(
        (file) => /^(web|wasm|cli|bench|model|tasks)\//.test(file) && roomOf(file) !== 'model/settings',
    );
    const parsing = [
        /split\((['"`])[&=~]\1\)/, // 'a=1&b=2'.split('&')
        /indexOf\((['"`])[&=~]\1/,
        /str(chr|tok)\([^()]*, ['"]&/, // and the same in C
        /strcspn\([^()]*, "[^"]*&/,
        /\b[a-z_]+=\(/, // /(?:^|&)batch=(\d+)/
        /\(\?:\^\|&\)/,
    ];
    // The address's own part, view=..., is the page's.
    const found = clients
        .filter((file) => file !== 'web/state/url.ts')
        .flatMap((file) =>
            readFileSync(join(root, file), 'utf8')
                .split('\n')
                .filter((line) => parsing.some((pattern) => pattern.test(line)))
                .map((line) => `${file}: ${line.trim()}`),
        );
    assert.ok(clients.length > 100, `${clients.length} files`);
    assert.deepEqual(found, []);
});

test('includes and imports make no circle', () => assert.deepEqual(circles(arrows), []));

test('names that objects take from each other point down and make no circle', (t) => {
    const folder = join(root, 'build/obj/gcc-pic');
    const sources = [...arrows.keys()].filter((file) => file.endsWith('.c') && roomOf(file) !== undefined);
    const objectOf = (file) =>
        [join(folder, file), join(folder, 'scalar', file)]
            .map((at) => at.replace(/\.c$/, '.o'))
            .find(existsSync);
    const objects = sources.flatMap((file) => (objectOf(file) ? [[file, objectOf(file)]] : []));
    if (!objects.length) return t.skip('the program was not built by gcc here');
    const fileOf = new Map(objects.map(([file, object]) => [object, file]));
    // [file, name, what nm calls its kind] of every global name; U: taken from elsewhere.
    const table = execFileSync('nm', ['-A', '-g', '-P', ...fileOf.keys()], {
        encoding: 'utf8',
        maxBuffer: 1 << 28,
    });
    const names = [...table.matchAll(/^(.+): (\S+) (\S)/gm)].map(([, object, ...rest]) => [
        fileOf.get(object),
        ...rest,
    ]);
    const home = new Map(names.filter(([, , kind]) => kind !== 'U').map(([file, name]) => [name, file]));
    const links = new Map(objects.map(([file]) => [file, []]));
    for (const [file, name, kind] of names) {
        const at = kind === 'U' ? home.get(name) : undefined;
        if (at !== undefined && at !== file && !links.get(file).includes(at)) links.get(file).push(at);
    }
    assert.ok(links.size > 100, `${links.size} objects`);
    assert.deepEqual(
        [...links].flatMap(([from, to]) => to.map((file) => wrong(from, file)).filter(Boolean)),
        [],
    );
    assert.deepEqual(circles(links), []);
});
