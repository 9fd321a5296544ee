// mutants.mjs: whether the tests notice a fault. Puts one-token faults into kernels, mixers, optimiser and
// generators, the module's exports and the page's charts, one at a time, in a copy of the tree under
// build/mutants, builds the tests named beside each and requires that one of them fails. Exits with 1 when a
// fault survives. Changes nothing outside build/mutants.
//   node scripts/mutants.mjs [--proofs] [WORD...]    WORD: only faults whose file or description holds one of
//       the words; --proofs: those of mutants/proofs.mjs alone, which the proof programs must notice alone
import { spawnSync } from 'node:child_process';
import {
    cpSync,
    existsSync,
    mkdirSync,
    readdirSync,
    readFileSync,
    rmSync,
    statSync,
    symlinkSync,
    utimesSync,
    writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { faults } from './mutants/faults.mjs';
import { inProofs } from './mutants/proofs.mjs';

const proofs = process.argv[2] === '--proofs';
const wanted = process.argv.slice(proofs ? 3 : 2);
const chosen = [...(proofs ? [] : faults), ...inProofs].filter(
    ([file, , , what]) => !wanted.length || wanted.some((w) => file.includes(w) || what.includes(w)),
);
if (!chosen.length) {
    console.error(
        `mutants: no fault's file or description holds ${wanted.map((w) => `'${w}'`).join(' or ')}`,
    );
    process.exit(2);
}
const root = join(import.meta.dirname, '..');
const tree = join(root, 'build/mutants');
const objects = join(tree, 'build/obj');
// Two instruction sets are enough, which several tests compare: that all agree is another test's subject.
const isa = { x64: 'scalar sse2', arm64: 'scalar neon' }[process.arch] ?? 'scalar';
const options = [
    `ISAS=${isa}`,
    'FUSED=',
    'WARN=-w',
    'OBJ=build/obj',
    'BIN=build',
    `-j${availableParallelism()}`,
    '--no-print-directory',
    '-s',
];
// Tests by their names: in C, or these.
const MODULE = ['build/seqmix', 'build/wasm/seqmix-whole.wasm', 'build/wasm/seqmix.js'];
const SCRIPTS = {
    page_arithmetic: { file: 'proofs_tests/page/page_arithmetic.test.mjs', needs: ['build/seqmix'] },
    fields: { file: 'proofs_tests/package/fields.test.mjs', needs: MODULE },
    kernels: {
        file: 'proofs_tests/package/kernels.test.mjs',
        needs: [...MODULE, 'build/wasm/seqmix-scalar.wasm'],
    },
};
const needsOf = (test) => SCRIPTS[test]?.needs ?? [`build/tests/${test}`];
const make = (tests) =>
    spawnSync('make', [...options, ...new Set(tests.flatMap(needsOf))], { cwd: tree, encoding: 'utf8' });

// A copy of the sources, dated as here, so that a second run rebuilds only what changed.
function copyTree() {
    const left = ['build', 'node_modules', 'dist', 'data'];
    const rooms = readdirSync(root).filter(
        (n) => !n.startsWith('.') && !left.includes(n) && statSync(join(root, n)).isDirectory(),
    );
    const copy = (path) => {
        const from = join(root, path),
            to = join(tree, path);
        if (statSync(from).isDirectory()) {
            mkdirSync(to, { recursive: true });
            const names = readdirSync(from).filter((n) => n !== 'node_modules');
            for (const name of readdirSync(to))
                if (!names.includes(name)) rmSync(join(to, name), { recursive: true });
            for (const name of names) copy(join(path, name));
        } else if (!existsSync(to) || statSync(to).mtimeMs !== statSync(from).mtimeMs) {
            cpSync(from, to, { preserveTimestamps: true });
        }
    };
    mkdirSync(tree, { recursive: true });
    rooms.forEach(copy);
    ['Makefile', 'package.json', 'package-lock.json', 'tsconfig.json'].forEach(copy);
    const modules = join(tree, 'node_modules');
    if (!existsSync(modules)) symlinkSync(join(root, 'node_modules'), modules);
    writeFileSync(join(tree, 'scripts/setup.sh'), '#!/bin/sh\n', { mode: 0o755 }); // what is there is there
}
// Every object that was made from `file`, by the compiler's own lists; [path, contents, date].
function dependants(file) {
    const found = [];
    const look = (folder) => {
        for (const entry of readdirSync(folder, { withFileTypes: true })) {
            const path = join(folder, entry.name);
            if (entry.isDirectory()) look(path);
            else if (
                path.endsWith('.d') &&
                new RegExp(`(^|[ /])${file.replaceAll('.', '\\.')}( |:|$)`, 'm').test(
                    readFileSync(path, 'utf8'),
                )
            )
                found.push(path.replace(/d$/, 'o'));
        }
    };
    look(objects);
    return found.filter(existsSync).map((path) => [path, readFileSync(path), statSync(path)]);
}
function seconds(since) {
    return ((Date.now() - since) / 1000).toFixed(1);
}
function run(test) {
    const command = SCRIPTS[test]
        ? ['node', '--test', '--test-reporter=tap', SCRIPTS[test].file]
        : [join(tree, 'build/tests', test)];
    // So long of a processor: on a loaded machine a test takes its time, and has not failed by that.
    const limit = ['3600', 'bash', '-c', 'ulimit -t 300; exec "$@"', 'bash'];
    const r = spawnSync('timeout', [...limit, ...command], { cwd: tree, encoding: 'utf8' });
    return { failed: r.status !== 0, lines: (r.stdout + r.stderr).split('\n') };
}

const started = Date.now();
copyTree();
const tests = [...new Set(chosen.flatMap((f) => f[4]))];
const built = make(tests);
if (built.status !== 0) {
    console.error(built.stderr.slice(-2000));
    console.error('mutants: the tree without a fault does not build');
    process.exit(1);
}
function mustPass(when) {
    for (const test of tests) {
        const { failed, lines } = run(test);
        if (!failed) continue;
        console.error(lines.slice(-15).join('\n'));
        console.error(`mutants: ${test} fails without any fault, ${when}`);
        process.exit(1);
    }
}
mustPass('before the first one');
console.log(
    `${chosen.length} faults; without one, ${tests.length} test programs pass (${seconds(started)} s with the build)\n`,
);

let survivors = 0;
for (const [file, from, to, what, by] of chosen) {
    const path = join(tree, file),
        text = readFileSync(path, 'utf8'),
        dates = statSync(path),
        begun = Date.now();
    if (text.split(from).length !== 2) {
        console.log(
            `OUTDATED   ${file}: '${from}' stands there ${text.split(from).length - 1} times, not once: ${what}`,
        );
        survivors++;
        continue;
    }
    const kept = dependants(file);
    writeFileSync(
        path,
        text.replace(from, () => to),
    );
    const result = make(by);
    let noticed = result.status !== 0 ? 'does not build' : '';
    for (const test of by) {
        if (noticed) break;
        const { failed, lines } = run(test);
        if (!failed) continue;
        const line = lines.find((l) => /\[ {2}FAILED {2}\]|^not ok/.test(l)) ?? '';
        noticed = `${test}: ${line.replace(/\[ {2}FAILED {2}\]|^not ok \d+ - /, '').trim()}`;
    }
    // (A fault that does not build shows nothing about the tests.)
    if (!noticed || result.status !== 0) survivors++;
    console.log(
        `${!noticed ? 'SURVIVED  ' : result.status !== 0 ? 'NO FAULT  ' : 'caught    '} ${file}: ${what}  [${noticed || by.join(', ')}; ${seconds(begun)} s]`,
    );
    writeFileSync(path, text);
    utimesSync(path, dates.atime, dates.mtime);
    for (const [object, contents, date] of kept) {
        writeFileSync(object, contents);
        utimesSync(object, date.atime, date.mtime);
    }
    // Made of older objects now, which their dates would not tell.
    const libraries = ['build/libseqmix.a', 'build/libcli.a', 'build/libconstructions.a'];
    for (const made of [...libraries, ...by.flatMap(needsOf)]) rmSync(join(tree, made), { force: true });
}
// Nothing of a fault may have stayed behind, or the ones after it were caught for the wrong reason.
make(tests);
mustPass('after the last one');
console.log(`\n${chosen.length - survivors} of ${chosen.length} faults caught in ${seconds(started)} s`);
process.exit(survivors ? 1 : 0);
