// install.test.mjs: what `make install` puts there, as someone who only has that would use it: compile with
// pkg-config, link static and shared, from C and C++, load with ctypes, read the manual pages, remove it
// again.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
    copyFileSync,
    cpSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    rmSync,
    statSync,
    writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { pythonWith, run as ran } from '../support/program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-install-'));
after(() => rmSync(folder, { recursive: true }));
const at = (...names) => join(folder, ...names);
const prefix = at('there');
const has = (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;

function run(command, args, options = {}) {
    const { status, stdout, stderr } = ran(command, args, options);
    assert.equal(status, 0, `${command} ${args.join(' ')}\n${stdout}${stderr}`);
    return stdout;
}
// without what make tells the makes below it: this one starts anew
const { MAKEFLAGS, MFLAGS, MAKELEVEL, ...outside } = process.env;
const make = (...args) => run('make', ['--no-print-directory', ...args], { env: outside });
const environment = {
    ...process.env,
    LD_LIBRARY_PATH: join(prefix, 'lib'),
    PKG_CONFIG_PATH: join(prefix, 'lib/pkgconfig'),
};
const version = /SMX_VERSION "(.*)"/.exec(readFileSync('include/seqmix/smx.h', 'utf8'))[1];

function filesBelow(root, below = '') {
    return readdirSync(join(root, below), { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? filesBelow(root, join(below, entry.name)) : [join(below, entry.name)],
    );
}
const REF = ['ref.h', 'ref_cores.h', 'ref_layers.h'];
const wanted = [
    'bin/seqmix',
    ...['data.h', 'error.h', 'parallel.h', ...REF, 'run.h', 'smx.h', 'state.h'].map(
        (name) => `include/seqmix/${name}`,
    ),
    ...['seqmix', 'seqmix_ref'].flatMap((name) => [
        ...['a', 'so', `so.${version.split('.')[0]}`, `so.${version}`].map((end) => `lib/lib${name}.${end}`),
        `lib/pkgconfig/${name}.pc`,
    ]),
    ...['LICENSE', 'ORACLE.md', 'check.c', 'check.py'].map((name) => `share/doc/seqmix/${name}`),
    ...['', '-version'].map((end) => `lib/cmake/seqmix/seqmix-config${end}.cmake`),
    'share/man/man1/seqmix.1',
    'share/man/man5/seqmix-config.5',
].sort();

const kept = process.umask(0o077); // of somebody careful: what is installed is for everybody all the same
make('install', `PREFIX=${prefix}`);
process.umask(kept);
const library = (name) => join(prefix, 'lib', name);

test('make install puts there what it says, and nothing else', () => {
    assert.deepEqual(filesBelow(prefix).sort(), wanted);
    for (const name of wanted) {
        assert.ok(statSync(join(prefix, name)).size > 100, name);
        for (let path = name; path !== '.'; path = dirname(path)) {
            const { mode } = statSync(join(prefix, path));
            const open = path === name && !path.startsWith('bin') ? 0o444 : 0o555;
            assert.equal(mode & open, open, `${path} is for everybody: ${mode.toString(8)}`);
        }
    }
    assert.equal(run(join(prefix, 'bin/seqmix'), ['--version']), `seqmix ${version}\n`);
});

test('DESTDIR stands before every path and in no file; uninstall leaves nothing', () => {
    const root = at('root');
    make('install', 'PREFIX=/opt/seqmix', `DESTDIR=${root}`);
    assert.deepEqual(filesBelow(join(root, 'opt/seqmix')).sort(), wanted);
    const pc = readFileSync(join(root, 'opt/seqmix/lib/pkgconfig/seqmix.pc'), 'utf8');
    assert.match(pc, /^prefix=\$\{pcfiledir\}\/\.\.\/\.\.$/m);
    assert.ok(!pc.includes(root));
    writeFileSync(join(root, 'opt/seqmix/lib/other'), 'not ours');
    make('uninstall', 'PREFIX=/opt/seqmix', `DESTDIR=${root}`);
    assert.deepEqual(filesBelow(root), ['opt/seqmix/lib/other']);
    assert.equal(existsSync(join(root, 'opt/seqmix/include/seqmix')), false);
});

// ---- Symbols
// ---------------------------------------------------------------------------------------------------------

const libraries = [
    ['seqmix', ['smx.h', 'run.h', 'state.h', 'data.h']],
    ['seqmix_ref', REF],
];
const declared = (headers) =>
    run(
        'scripts/exports.sh',
        headers.map((name) => join(prefix, 'include/seqmix', name)),
    )
        .trim()
        .split('\n');
const symbols = (...args) =>
    run('nm', ['--defined-only', '-P', ...args])
        .split('\n')
        .map((line) => line.split(' '))
        .filter(([, kind]) => kind);

test('the libraries show the functions of their headers and no other name', () => {
    for (const [name, headers] of libraries) {
        const api = declared(headers);
        assert.ok(api.length > 100, name);
        const shared = symbols('-D', library(`lib${name}.so`));
        assert.deepEqual(shared.map(([symbol]) => symbol).sort(), api, `lib${name}.so`);
        assert.ok(shared.every(([, kind]) => kind === 'T'));
        const fixed = symbols('-g', library(`lib${name}.a`));
        assert.deepEqual(fixed.map(([symbol]) => symbol).sort(), api, `lib${name}.a`);
        assert.match(
            run('readelf', ['-d', library(`lib${name}.so`)]),
            new RegExp(`SONAME.*lib${name}\\.so\\.${version.split('.')[0]}\\]`),
        );
    }
});

test('a program may use the inner names of the libraries, linked to either', () => {
    const inner = new Set();
    for (const [name, headers] of libraries) {
        const api = new Set(declared(headers));
        for (const [symbol, kind] of symbols('-g', `build/lib/${name}.whole.o`))
            if (kind === 'T' && !api.has(symbol)) inner.add(symbol);
    }
    assert.ok(inner.size > 50, `${inner.size}`);
    writeFileSync(
        at('inner.c'),
        `#include <seqmix/ref.h>
#include <seqmix/run.h>
#include <stdio.h>
${[...inner].map((name) => `int ${name}(void); int ${name}(void) { return 1; }`).join('\n')}
int main(void) {
    smx_error error;
    smx_run *run = smx_run_open("mixer=attention&task=mqar&batch=2&width=16", &error);
    if (!run || smx_run_step(run, 2, &error)) return puts(error.message), 1;
    smx_run_close(run);
    double x[2] = {3, 4};
    return ref_sum(x, 2) != 7;
}
`,
    );
    const compile = [
        '-std=gnu11',
        '-fno-builtin',
        '-w',
        `-I${join(prefix, 'include')}`,
        at('inner.c'),
        '-o',
        at('inner'),
    ];
    run('gcc', [...compile, library('libseqmix.a'), library('libseqmix_ref.a'), '-lz', '-lm']);
    run(at('inner'), []);
    run('gcc', [...compile, library('libseqmix.so'), library('libseqmix_ref.so')]);
    run(at('inner'), [], { env: environment });
});

// ---- Headers
// ---------------------------------------------------------------------------------------------------------

const compilers = [
    ['gcc', 'c', ['-std=c99', '-std=c17']],
    ['g++', 'c++', ['-std=c++11', '-std=c++20']],
    ['clang', 'c', ['-std=c11']],
    ['clang++', 'c++', ['-std=c++17']],
];
for (const [compiler, language, standards] of compilers)
    test(
        `the headers are clean ${language} to ${compiler}`,
        { skip: !has(compiler) && `needs ${compiler}` },
        () => {
            for (const standard of standards)
                for (const includes of [
                    ['smx.h'],
                    ['run.h'],
                    ['ref.h'],
                    ['ref.h', 'run.h', 'smx.h', 'ref.h'],
                ])
                    run(
                        compiler,
                        [
                            standard,
                            '-Wall',
                            '-Wextra',
                            '-Wpedantic',
                            '-Wconversion',
                            '-Werror',
                            `-I${join(prefix, 'include')}`,
                            '-fsyntax-only',
                            '-x',
                            language,
                            '-',
                        ],
                        {
                            input: `${includes.map((name) => `#include <seqmix/${name}>\n`).join('')}int main(void) { return 0; }\n`,
                        },
                    );
        },
    );

test('from C++', { skip: !has('g++') && 'needs g++' }, () => {
    writeFileSync(
        at('use.cpp'),
        `#include <seqmix/ref.h>
#include <seqmix/smx.h>
#include <vector>
int main() {
    std::vector<float> x(100, 2), y(100);
    smx_scale(y.data(), x.data(), 1.5f, y.size());
    std::vector<double> z(y.begin(), y.end());
    return smx_sum(y.data(), y.size()) != 300 || ref_sum(z.data(), z.size()) != 300;
}
`,
    );
    run('g++', [
        '-Wall',
        '-Wextra',
        '-Werror',
        `-I${join(prefix, 'include')}`,
        at('use.cpp'),
        `-L${join(prefix, 'lib')}`,
        '-lseqmix',
        '-lseqmix_ref',
        '-o',
        at('use'),
    ]);
    run(at('use'), [], { env: environment });
});

// ---- Examples
// --------------------------------------------------------------------------------------------------------

const pkgConfig = (...args) => run('pkg-config', args, { env: environment }).trim().split(/\s+/);
const strict = ['-std=c11', '-O2', '-Wall', '-Wextra', '-Werror'];

test(
    'pkg-config and the C example, shared and static',
    { skip: !has('pkg-config') && 'needs pkg-config' },
    () => {
        assert.deepEqual(pkgConfig('--modversion', 'seqmix'), [version]);
        assert.deepEqual(pkgConfig('--modversion', 'seqmix_ref'), [version]);
        const example = join(prefix, 'share/doc/seqmix/check.c');
        run('gcc', [
            ...strict,
            example,
            ...pkgConfig('--cflags', '--libs', 'seqmix', 'seqmix_ref'),
            '-lm',
            '-o',
            at('check'),
        ]);
        assert.match(run('ldd', [at('check')], { env: environment }), /libseqmix\.so\.\d+ => /);
        const said = run(at('check'), [], { env: environment });
        assert.match(said, /^largest error \d(\.\d)?e-0[678] of the scale; 2e-05 is allowed\n$/);
        const flags = pkgConfig('--static', '--cflags', '--libs', 'seqmix', 'seqmix_ref').map((flag) =>
            flag.replace(/^-lseqmix(.*)$/, '-l:libseqmix$1.a'),
        );
        run('gcc', [...strict, example, ...flags, '-o', at('check-static')]);
        assert.doesNotMatch(run('ldd', [at('check-static')]), /seqmix/);
        assert.equal(run(at('check-static'), []), said);
    },
);

test('pkg-config in a tree that was moved', { skip: !has('pkg-config') && 'needs pkg-config' }, () => {
    const moved = at('moved-here');
    cpSync(prefix, moved, { recursive: true, verbatimSymlinks: true });
    const env = { ...process.env, PKG_CONFIG_PATH: join(moved, 'lib/pkgconfig') };
    const flags = run('pkg-config', ['--cflags', '--libs', 'seqmix', 'seqmix_ref'], { env })
        .trim()
        .split(/\s+/);
    const libraries = join(moved, 'lib');
    run('gcc', [join(moved, 'share/doc/seqmix/check.c'), ...flags, '-lm', '-o', at('of-moved')]);
    const said = run('ldd', [at('of-moved')], { env: { ...env, LD_LIBRARY_PATH: libraries } });
    assert.ok(!flags.join(' ').includes(`${prefix}/`));
    for (const name of ['seqmix', 'seqmix_ref'])
        assert.ok(said.includes(`=> ${libraries}/lib${name}.so`), said);
});

// The blocks of ORACLE.md, as it was installed, that come after `make install`.
const printed = () => {
    const [, after] = readFileSync(join(prefix, 'share/doc/seqmix/ORACLE.md'), 'utf8').split(
        'After `make install',
    );
    return [...after.matchAll(/(?:^ {4}.*\n)+/gm)].map(([block]) => block.replace(/^ {4}/gm, ''));
};
const { LD_LIBRARY_PATH, ...bare } = environment;

test(
    "ORACLE.md's lines in C run as they are printed",
    { skip: !has('pkg-config') && 'needs pkg-config' },
    () => {
        const cwd = at('as-printed');
        mkdirSync(cwd);
        copyFileSync(join(prefix, 'share/doc/seqmix/check.c'), join(cwd, 'check.c'));
        assert.match(run('sh', ['-ec', printed()[0]], { cwd, env: bare }), /./);
    },
);

test(
    "ORACLE.md's lines for CMake find the libraries, shared and static, in a tree that was moved, too",
    {
        skip: !has('cmake') && 'needs cmake',
    },
    () => {
        const moved = at('moved');
        cpSync(prefix, moved, { recursive: true, verbatimSymlinks: true });
        for (const [place, fixed] of [
            [prefix, false],
            [moved, true],
        ]) {
            const cwd = mkdtempSync(at('cmake-'));
            copyFileSync(join(prefix, 'share/doc/seqmix/check.c'), join(cwd, 'check.c'));
            const lines = fixed ? printed()[1].replaceAll(/seqmix::\w+/g, '$&_static') : printed()[1];
            writeFileSync(
                join(cwd, 'CMakeLists.txt'),
                `cmake_minimum_required(VERSION 3.13)\nproject(check C)\n${lines}`,
            );
            const built = join(cwd, 'build');
            run('cmake', ['-S', cwd, '-B', built, `-DCMAKE_PREFIX_PATH=${place}`], { env: bare });
            run('cmake', ['--build', built], { env: bare });
            assert.match(run(join(built, 'check'), [], { env: bare }), /./);
            const needed = run('readelf', ['-d', join(built, 'check')]);
            assert.equal(/NEEDED.*libseqmix/.test(needed), !fixed);
            writeFileSync(
                join(cwd, 'CMakeLists.txt'),
                'cmake_minimum_required(VERSION 3.13)\nproject(check C)\nfind_package(seqmix 99 REQUIRED)\n',
            );
            const newer = spawnSync('cmake', [
                '-S',
                cwd,
                '-B',
                `${built}-99`,
                `-DCMAKE_PREFIX_PATH=${place}`,
            ]);
            assert.notEqual(newer.status, 0, 'version 99 is not there');
        }
    },
);

test('the C example sees a fault', () => {
    const example = readFileSync('examples/oracle/check.c', 'utf8');
    for (const [from, to] of [
        ['.causal = 1, .scale = 1 / sqrtf', '.causal = 0, .scale = 1 / sqrtf'],
        ['    double error = 0', '    o[7] = NAN;\n    double error = 0'],
    ]) {
        const broken = example.replace(from, to);
        assert.notEqual(broken, example);
        writeFileSync(at('broken.c'), broken);
        run('gcc', [
            ...strict,
            `-I${join(prefix, 'include')}`,
            at('broken.c'),
            `-L${join(prefix, 'lib')}`,
            '-lseqmix',
            '-lseqmix_ref',
            '-lm',
            '-o',
            at('broken'),
        ]);
        assert.equal(spawnSync(at('broken'), [], { env: environment }).status, 1, to);
    }
});

const python = pythonWith('numpy');
test('the Python example', { skip: !python && 'needs python3 with numpy (python3-numpy)' }, () => {
    const example = join(prefix, 'share/doc/seqmix/check.py');
    const sentence = /^largest error \d(\.\d)?e-0[678] of the scale; 2e-05 is allowed\n$/;
    assert.match(run(python, [example], { env: environment }), sentence);
    assert.match(run(python, [example, library('libseqmix_ref.so')]), sentence);
    for (const [from, to] of [
        ['np.triu', 'np.tril'],
        ['** 0.5', '** 0.4'],
    ]) {
        // the first gives NaN
        writeFileSync(at('broken.py'), readFileSync(example, 'utf8').replace(from, to));
        assert.equal(spawnSync(python, [at('broken.py'), library('libseqmix_ref.so')]).status, 1, to);
    }
});

test('a run trained through the library is the program’s, to the bit', () => {
    const config = 'mixer=cat&task=mqar&batch=4&steps=12&seed=5';
    writeFileSync(
        at('train.c'),
        `#include <inttypes.h>
#include <seqmix/run.h>
#include <stdio.h>
int main(void) {
    smx_error error;
    smx_run *run = smx_run_open("${config}", &error);
    if (!run || smx_run_step(run, 12, &error)) return puts(error.message), 1;
    printf("%016" PRIx64 "\\n", smx_run_digest(run));
    smx_run_close(run);
    run = smx_run_open("mixer=cat&task=mqar&width=-1", &error);
    puts(error.message);
    return run != NULL;
}
`,
    );
    run('gcc', [
        ...strict,
        `-I${join(prefix, 'include')}`,
        at('train.c'),
        library('libseqmix.so'),
        '-o',
        at('train'),
    ]);
    const [digest, sentence] = run(at('train'), [], { env: environment }).split('\n');
    const program = run(join(prefix, 'bin/seqmix'), ['train', config, '--json', '--eval', '0'])
        .trim()
        .split('\n')
        .at(-1);
    assert.equal(digest, JSON.parse(program).digest);
    assert.match(sentence, /width.*-1/);
});

// ---- Manual pages
// ------------------------------------------------------------------------------------------------------

test('the manual pages have every command and key', () => {
    const page = (name) => readFileSync(join(prefix, 'share/man', name), 'utf8');
    const commands = run(join(prefix, 'bin/seqmix'), ['--help'])
        .split('\n')
        .map((line) => /^ {2}(\w+) +\w/.exec(line)?.[1])
        .filter(Boolean);
    assert.ok(commands.length >= 12);
    for (const command of commands)
        assert.match(page('man1/seqmix.1'), new RegExp(`^\\.SS seqmix ${command}`, 'm'));
    const keys = run(join(prefix, 'bin/seqmix'), ['help'])
        .split('\n')
        .map((line) => /^ {2}(\w+) +\S+ +\S/.exec(line)?.[1])
        .filter((key) => key && key !== 'key' && key !== 'seqmix');
    assert.ok(keys.length >= 15);
    for (const key of keys) assert.match(page('man5/seqmix-config.5'), new RegExp(`^\\.B ${key}$`, 'm'));
});

test('the manual pages are good roff', { skip: !has('groff') && 'needs groff' }, () => {
    for (const name of ['man1/seqmix.1', 'man5/seqmix-config.5']) {
        const { status, stdout, stderr } = spawnSync(
            'groff',
            ['-man', '-Tutf8', '-ww', join(prefix, 'share/man', name)],
            { encoding: 'utf8' },
        );
        assert.equal(status, 0);
        assert.equal(stderr, '', name);
        assert.ok(stdout.length > 1000);
    }
});

const elf = process.platform === 'linux' && has('readelf') && 'build/seqmix';
test(
    'the program is hardened: stack protector, checked calls, no writable table of functions',
    { skip: !elf && 'needs readelf' },
    () => {
        const symbols = run('readelf', ['-Ws', '--dyn-syms', elf]);
        assert.match(symbols, /__stack_chk_fail/);
        assert.match(symbols, /__snprintf_chk/);
        assert.match(run('readelf', ['-Wd', elf]), /BIND_NOW|Flags:.* NOW/);
        assert.match(run('readelf', ['-Wl', elf]), /GNU_RELRO/);
    },
);
