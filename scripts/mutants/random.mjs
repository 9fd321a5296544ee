// random.mjs: whether the tests notice faults that nobody chose. Draws places at random (in-c.mjs,
// in-ts.mjs), compiles all of them at once into a copy of the tree under build/random-mutants, each asleep
// until SMX_MUTANT names it, learns from one run of the tests which tests come past which place, and then
// wakes one at a time and runs those, the quickest first, until one fails. What was found is added to
// results/mutants.jsonl, of which docs/MUTANTS.md is made; what stands there is not drawn once more.
//   node random.mjs [--seed N] [--count N] [--area NAME]... [--dry | --again [--test NAME]...]
// --again: those that survived before and are still there, instead of new ones. --test: by these tests alone,
// the mended ones: what they do not catch stays as it was.
// --dry: only print what would be planted.
import { spawnSync } from 'node:child_process';
import {
    appendFileSync,
    cpSync,
    existsSync,
    mkdirSync,
    readdirSync,
    readFileSync,
    rmSync,
    symlinkSync,
    writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { candidates as inC, check } from './in-c.mjs';
import { candidates as inTs } from './in-ts.mjs';
import { AREAS, LEDGER, readLedger, sameFault, writeReport } from './report.mjs';

const { values: options } = parseArgs({
    options: {
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
        count: { type: 'string', default: '50' },
        area: { type: 'string', multiple: true, default: Object.keys(AREAS) },
        again: { type: 'boolean', default: false },
        test: { type: 'string', multiple: true },
        dry: { type: 'boolean', default: false },
    },
});
for (const area of options.area)
    if (!AREAS[area]) fail(`--area ${area}: allowed are ${Object.keys(AREAS).join(', ')}`);
if (options.test && !options.again) fail('--test goes with --again');
const count = Number(options.count);
if (!(Number.isInteger(count) && count > 0 && count <= 1000))
    fail(`--count ${options.count}: allowed are 1 to 1000`);
function fail(sentence) {
    console.error(`random mutants: ${sentence}`);
    process.exit(2);
}

const root = join(import.meta.dirname, '../..');
const tree = join(root, 'build/random-mutants');
const isa = { x64: 'scalar sse2', arm64: 'scalar neon' }[process.arch] ?? 'scalar';
const ASLEEP = '-w -include scripts/mutants/mutant.h';
// Two instruction sets, which several tests compare: that all agree is another test's subject.
const MAKE = [
    `ISAS=${isa}`,
    'FUSED=',
    `WARN=${ASLEEP}`,
    'OBJ=build/obj',
    'BIN=build',
    `-j${availableParallelism()}`,
    '--no-print-directory',
    '-s',
];

// ---- What to plant
// ------------------------------------------------------------------------------------------------
/** mulberry32: uniform in [0, 1). */
function draws(seed) {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let t = Math.imul(state ^ (state >>> 15), state | 1);
        t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
    };
}
const filesOf = ({ folders, ends, without = /^$/ }) =>
    folders
        .flatMap((folder) =>
            readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, String(name))),
        )
        .filter((file) => file.endsWith(ends) && !file.endsWith('.d.ts') && !without.test(file))
        .sort();
const places = new Map();
const candidatesOf = (file) => {
    if (!places.has(file)) places.set(file, (file.endsWith('.ts') ? inTs : inC)(root, file));
    return places.get(file);
};
const overlap = (a, b) => a.file === b.file && a.from < b.to && b.from < a.to;

function planted() {
    if (options.again) return survivors();
    const draw = draws(Number(options.seed));
    const tried = readLedger();
    const chosen = [];
    for (let tries = 0; chosen.length < count && tries < count * 20; tries++) {
        const area = options.area[chosen.length % options.area.length];
        const files = filesOf(AREAS[area]);
        // Long files hold more faults.
        const sizes = files.map((file) => readFileSync(join(root, file)).length);
        let at = draw() * sizes.reduce((a, b) => a + b);
        const file = files[sizes.findIndex((size) => (at -= size) < 0)];
        const all = candidatesOf(file).filter(
            (one) => file.endsWith('.ts') || one.file.startsWith(AREAS[area].folders[0]),
        );
        if (!all.length) continue;
        const one = { area, source: file, ...all[Math.floor(draw() * all.length)] };
        if (tried.some((old) => sameFault(one, old))) continue;
        if (chosen.some((other) => overlap(one, other)) || !compiles(one)) continue;
        chosen.push(one);
    }
    return chosen;
}
/** Survivors of earlier runs, where they stand today. */
function survivors() {
    const left = readLedger().filter(
        ({ verdict, area }) => verdict === 'survived' && options.area.includes(area),
    );
    const chosen = [];
    for (const old of left.slice(0, count)) {
        const one = candidatesOf(old.source).find((now) => sameFault(now, old));
        if (!one) console.log(`gone       ${old.file}: ${old.was} is no longer there`);
        else if (!chosen.some((other) => overlap(one, other)))
            chosen.push({ area: old.area, source: old.source, ...one, line: one.line });
    }
    return chosen;
}
/** A file with these faults in it, each asleep. */
function withFaults(file, faults) {
    let text = readFileSync(join(root, file), file.endsWith('.ts') ? 'utf8' : 'latin1');
    for (const one of faults.filter((one) => one.file === file).sort((a, b) => b.from - a.from))
        text = text.slice(0, one.from) + one.code(one.number) + text.slice(one.to);
    return text;
}
function compiles(one) {
    if (one.file.endsWith('.ts')) return true;
    const path = join(root, 'build/mutant-check', one.file);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, withFaults(one.file, [{ ...one, number: 0 }]), 'latin1');
    const source = one.file === one.source ? path : one.source;
    const extra = ['-include', 'scripts/mutants/mutant.h', '-iquote', join(one.source, '..')];
    // (Of a header the copy comes first.)
    const found = check(root, source, ['-Ibuild/mutant-check', ...extra], one.source).status === 0;
    rmSync(path);
    return found;
}

// ---- The tree and its tests
// -----------------------------------------------------------------------------------------
const left = new Set(['build', 'node_modules', 'dist', 'data', '.git']);
function copyTree(faults) {
    mkdirSync(tree, { recursive: true });
    for (const name of readdirSync(root))
        if (!left.has(name)) {
            rmSync(join(tree, name), { recursive: true, force: true }); // what has moved since, too
            cpSync(join(root, name), join(tree, name), {
                recursive: true,
                preserveTimestamps: true,
                filter: (from) => !/node_modules/.test(from),
            });
        }
    if (!existsSync(join(tree, 'node_modules')))
        symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
    // What ever had faults is written anew, and so compiled anew: its copy is older than what was made of it.
    const changed = join(tree, 'changed.txt');
    const before = existsSync(changed) ? readFileSync(changed, 'utf8').split('\n').filter(Boolean) : [];
    for (const file of before)
        if (existsSync(join(root, file))) writeFileSync(join(tree, file), readFileSync(join(root, file)));
    const files = [...new Set(faults.map(({ file }) => file))];
    writeFileSync(changed, [...new Set([...before, ...files])].join('\n'));
    for (const file of files)
        writeFileSync(join(tree, file), withFaults(file, faults), file.endsWith('.ts') ? 'utf8' : 'latin1');
}
const make = (...targets) => spawnSync('make', [...MAKE, ...targets], { cwd: tree, encoding: 'utf8' });

const seen = join(tree, 'seen');
/** Run a test with a fault awake (none: -1): whether it failed, how long it took, and which places it came
 * past. */
function run(test, fault = -1, seconds = 600) {
    rmSync(seen, { recursive: true, force: true });
    mkdirSync(seen, { recursive: true });
    const begun = Date.now();
    const [command, ...rest] = test.command;
    const { status } = spawnSync('timeout', ['-k', '5', String(seconds), command, ...rest], {
        cwd: tree,
        encoding: 'utf8',
        env: {
            ...process.env,
            SMX_MUTANT: String(fault),
            ...(fault < 0 ? { SMX_MUTANT_SEEN: seen } : {}),
            EMCC_CFLAGS: ASLEEP, // of tests that compile a file with faults in it
        },
        maxBuffer: 2 ** 28,
    });
    const past = readdirSync(seen).flatMap((name) =>
        readFileSync(join(seen, name), 'utf8').split('\n').filter(Boolean).map(Number),
    );
    return { failed: status !== 0, seconds: (Date.now() - begun) / 1000, past: new Set(past) };
}
// (But test_fast, which wants fused instructions.)
function nativeTests() {
    return readdirSync(join(root, 'proofs_tests'), { recursive: true })
        .map((file) => basename(file))
        .filter((name) => /^(test|proof)_.*\.c$/.test(name) && name !== 'test_fast.c')
        .map((name) => name.replace('.c', ''))
        .sort()
        .map((name) => ({ name, command: [`build/tests/${name}`], needs: `build/tests/${name}` }));
}
const AWAKE = ['node', '--import', './scripts/mutants/awake.mjs'];
const node = (name, file) => ({
    name,
    command: [...AWAKE, '--test', file],
});
// The digests last: they notice any other word, and say nothing of which is right.
const digests = {
    name: 'digests alone',
    command: ['bash', '-c', 'cmp <(build/seqmix selfcheck) proofs_tests/digests.txt'],
};
// (As digests.test.mjs, which wants a program by clang too.)
const CHECKS = `
    import { readFileSync } from 'node:fs';
    import { loadChecks } from './build/wasm/checks.js';
    import { load } from './build/wasm/seqmix.js';
    const checks = await loadChecks(await load({ whole: true }), readFileSync('build/wasm/checks.wasm'));
    const lines = checks.digests().map(({ name, digest }) => digest + '  ' + name);
    process.exit(lines.join('\\n') + '\\n' === readFileSync('proofs_tests/digests.txt', 'utf8') ? 0 : 1);
`;
const TESTS = {
    native: () => [
        ...nativeTests(),
        node('cli', 'proofs_tests/cli/cli.test.mjs'),
        node('oracle', 'proofs_tests/cli/oracle/oracle.test.mjs'),
        digests,
    ],
    page: () => [node('page_arithmetic', 'proofs_tests/page/page_arithmetic.test.mjs')],
    // The module's own files.
    module: () => [
        { name: 'test_print', command: ['build/tests/test_print'] },
        { name: 'checks', command: [...AWAKE, '--input-type=module', '-e', CHECKS] },
        ...['fields', 'small', 'kernels', 'states', 'wasm', 'threads'].map((name) =>
            node(name, `proofs_tests/package/${name}.test.mjs`),
        ),
    ],
};
/** What those of `module` want. */
const MODULE = [
    ...[
        'seqmix-whole.wasm',
        'seqmix.wasm',
        'seqmix-scalar.wasm',
        'seqmix-threads.wasm',
        'checks.wasm',
        'seqmix.js',
    ].map((name) => `build/wasm/${name}`),
    'build/package/package.json',
    'build/tests/test_print',
    'build/seqmix',
];
/** Linked in a hurry, and not as small as can be. */
const HURRIED = [
    'WASM_CC=$(eval override WASM_CC := $(WASM_CLANG) $(shell $(EMCC) --cflags) $(AWAKE))$(WASM_CC)',
    `AWAKE=${ASLEEP}`,
    'WASM_LINK=-O1 -sSTANDALONE_WASM --no-entry -sMALLOC=emmalloc -sALLOW_MEMORY_GROWTH=1 -sEXPORTED_FUNCTIONS=@$1',
    'WASM_AGAIN=:',
    'WASM_FOR_GZIP=mv $@.new.wasm $@',
];

const asked = ({ name }) => !options.test || options.test.includes(name);
function awaken(faults, kind) {
    const all = TESTS[kind]().filter(asked);
    if (!all.length) return;
    const tests = all.map((test) => ({ ...test, ...run(test) }));
    // One that fails without any fault can judge none; a build of two instruction sets may be why.
    const wrong = tests.filter(({ failed }) => failed).map(({ name }) => name);
    if (wrong.length > 2 || wrong.length === tests.length)
        fail(`${wrong.join(', ')}: fails without any fault`);
    if (wrong.length) console.log(`left out: ${wrong.join(', ')}: fails without any fault`);
    const known = tests.filter(({ failed }) => !failed);
    known.sort((a, b) => (a.name === digests.name) - (b.name === digests.name) || a.seconds - b.seconds);
    for (const one of faults) {
        const through = known.filter(({ past }) => past.has(one.number));
        const by = through.find((test) => run(test, one.number, Math.max(20, 10 * test.seconds)).failed);
        tell(
            one,
            by ? 'caught' : 'survived',
            by?.name ?? (through.length ? `passed by ${through.length} tests` : 'no test comes past it'),
        );
    }
}
function tell(one, verdict, by) {
    if (verdict === 'survived') survived++;
    if (verdict === 'survived' && options.test) return;
    const { area, source, file, line, inside, kind, was, is } = one;
    const found = {
        area,
        file,
        source,
        line,
        inside,
        kind,
        was,
        is,
        verdict,
        by,
        seed: options.again ? undefined : options.seed,
    };
    appendFileSync(LEDGER, `${JSON.stringify(found)}\n`);
    const cut = (text) => text.replace(/\s+/g, ' ').slice(0, 70);
    console.log(`${verdict.padEnd(10)} ${file}:${line} ${inside}: ${cut(was)} -> ${cut(is)}  [${by}]`);
}

const faults = planted().map((one, number) => ({ ...one, number }));
if (!options.again && faults.length < count)
    fail(`only ${faults.length} of ${count} places were found that still compile`);
let survived = 0;
console.log(`${faults.length} faults, ${options.again ? 'those that survived' : `seed ${options.seed}`}`);
if (options.dry) {
    for (const { file, line, was, is } of faults) console.log(`${file}:${line}: ${was} -> ${is}`);
    process.exit(0);
}
copyTree(faults);
const of = (kind) =>
    faults.filter(
        ({ area }) =>
            (AREAS[area].module ? 'module' : AREAS[area].ends === '.ts' ? 'page' : 'native') === kind,
    );
if (of('native').length) {
    const wanted = nativeTests().filter(asked);
    const built = make('build/seqmix', ...wanted.map(({ needs }) => needs));
    if (built.status !== 0)
        fail(`the tree with every fault asleep does not build: ${built.stderr.slice(-2000)}`);
    awaken(of('native'), 'native');
}
if (of('page').length) {
    // (They ask the engine for its tables; which build of it does not matter.)
    if (!existsSync(join(tree, 'build/seqmix')) && make('build/seqmix').status !== 0)
        fail('the engine does not build');
    awaken(of('page'), 'page');
}
if (of('module').length) {
    copyTree(of('module')); // (kernels.test.mjs compiles kernels, too, without what the others want)
    const sizes = join(tree, 'proofs_tests/support/sizes.mjs');
    writeFileSync(sizes, readFileSync(sizes, 'utf8').replace(/(= | {4})(?=\d)/g, '$1Infinity + '));
    const built = make(...HURRIED, ...MODULE);
    if (built.status !== 0) fail(`the module does not build: ${built.stderr.slice(-2000)}`);
    awaken(of('module'), 'module');
}
writeReport();
console.log(`\n${faults.length - survived} of ${faults.length} random faults caught`);
process.exit(survived ? 1 : 0);
