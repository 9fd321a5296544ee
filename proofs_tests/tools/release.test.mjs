// release.test.mjs: what `make release` leaves: the same bytes from another folder, umask, language, time
// zone and at another time; complete, with true checksums, an SBOM of all that is in it, and the notes of its
// version; a tree that is not committed, or that calls itself two versions, is refused.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
    cpSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    rmSync,
    symlinkSync,
    utimesSync,
    writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'seqmix-release-'));
after(() => rmSync(folder, { recursive: true }));
const sha256 = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');
const version = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
/** What Python's builders left: the wheel and the source distribution, the wheel for Pyodide. */
const dists = ['build/python/dist', 'build/python/pyodide/dist'].flatMap((dist) =>
    existsSync(join(root, dist)) ? readdirSync(join(root, dist)).map((name) => join(dist, name)) : [],
);
const wheels = dists.filter((name) => name.endsWith('.whl')).map((name) => basename(name));
const hasGit = spawnSync('git', ['-C', root, 'rev-parse', 'HEAD']).status === 0;
const skip = !hasGit ? 'needs a git repository' : wheels.length < 2 && 'the Python package is not built';

/** Of somebody else, elsewhere, at another time. */
const elsewhere = { TZ: 'Pacific/Chatham', LANG: 'C', LC_ALL: 'C', HOME: folder, USER: 'somebody' };
const careful = (command, args, options) =>
    spawnSync('sh', ['-c', 'umask 077; exec "$@"', 'sh', command, ...args], {
        encoding: 'utf8',
        ...options,
        env: { ...process.env, SOURCE_DATE_EPOCH: '', ...elsewhere, ...options?.env },
    });
function age(at) {
    for (const name of readdirSync(at, { recursive: true })) utimesSync(join(at, name), 1e9, 1e9);
}

test(
    'wheel and source distribution: the same bytes whenever their files were made, and by whom',
    { skip },
    () => {
        const at = join(folder, 'repacked');
        for (const file of dists) {
            const name = basename(file);
            rmSync(at, { recursive: true, force: true });
            mkdirSync(join(at, 'files'), { recursive: true });
            const packed = join(root, file);
            // Taken apart and packed by others: the last file first, other times, rights of one user.
            const py = `
import os, sys, tarfile, zipfile
packed, to, files = sys.argv[1:]
if packed.endswith('.whl'):
    old = zipfile.ZipFile(packed)
    with zipfile.ZipFile(to, 'w') as new:
        for one in reversed(old.infolist()):
            info = zipfile.ZipInfo(one.filename, (2031, 2, 3, 4, 5, 6))
            info.external_attr = (0o100700 if one.external_attr >> 16 & 0o100 else 0o100600) << 16
            new.writestr(info, old.read(one))
else:
    old = tarfile.open(packed)
    with tarfile.open(to, 'w:gz') as new:
        for one in reversed(old.getmembers()):
            one.mtime, one.uid, one.uname, one.mode = 1e9, 1234, 'somebody', one.mode & 0o700
            new.addfile(one, old.extractfile(one) if one.isfile() else None)
`;
            const to = join(at, name);
            const made = careful('python3', ['-c', py, packed, to, join(at, 'files')]);
            assert.equal(made.status, 0, made.stderr);
            assert.notEqual(sha256(to), sha256(packed), `${name} was changed`);
            const again = careful('python3', [join(root, 'python/pack_again.py'), to]);
            assert.equal(again.status, 0, again.stderr);
            assert.equal(sha256(to), sha256(packed), name.replace(version, 'VERSION'));
        }
    },
);

test('npm package and two-file sources: the same bytes from another folder at another time', { skip }, () => {
    cpSync(join(root, 'build/package'), join(folder, 'package'), { recursive: true });
    age(join(folder, 'package'));
    const packed = careful('npm', [
        'pack',
        join(folder, 'package'),
        '--silent',
        '--pack-destination',
        folder,
    ]);
    assert.equal(packed.status, 0, packed.stderr);
    const name = `seqmix-${version}.tgz`;
    assert.equal(sha256(join(folder, name)), sha256(join(root, 'build', name)));
    for (const out of ['one', 'a/longer/name'].map((name) => join(folder, name))) {
        const made = careful('node', [join(root, 'scripts/amalgamate.mjs'), out], { cwd: root });
        assert.equal(made.status, 0, made.stderr);
    }
    for (const file of readdirSync(join(folder, 'one')))
        assert.equal(sha256(join(folder, 'one', file)), sha256(join(folder, 'a/longer/name', file)), file);
});

/** A second repository with what this one has built, its last commit as it is. */
function clone(name) {
    const at = join(folder, name);
    execFileSync('git', ['clone', '--quiet', '--shared', root, at]);
    mkdirSync(join(at, 'build'));
    for (const part of ['python', 'single', 'docs', `seqmix-${version}.tgz`])
        symlinkSync(join(root, 'build', part), join(at, 'build', part));
    symlinkSync(join(folder, 'one'), join(at, 'build/amalgamation'));
    return at;
}
const release = (at, env = {}) => careful('node', [join(at, 'scripts/release.mjs')], { env });

test('make release: complete, with true checksums, and twice the same in two folders', { skip }, () => {
    const [one, other] = [clone('first'), clone('of/another/length')].map((at) => {
        const { status, stderr } = release(at);
        assert.equal(status, 0, stderr);
        return join(at, 'build/release');
    });
    const names = readdirSync(one).sort();
    assert.deepEqual(
        names,
        [
            'API.md',
            'INSTALL.md',
            'NOTES.md',
            'OPERATIONS.md',
            'SHA256SUMS',
            ...wheels,
            `seqmix-${version}-source.tar.gz`,
            `seqmix-${version}.html`,
            `seqmix-${version}.spdx.json`,
            `seqmix-${version}.tar.gz`,
            `seqmix-${version}.tgz`,
            `seqmix-c-${version}.tar.gz`,
        ].sort(),
    );
    for (const name of names)
        assert.equal(sha256(join(one, name)), sha256(join(other, name)), basename(name));
    const checked = spawnSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: one });
    assert.equal(checked.status, 0);
    const sums = readFileSync(join(one, 'SHA256SUMS'), 'utf8');
    for (const name of names.filter((name) => name !== 'SHA256SUMS'))
        assert.ok(sums.includes(`  ${name}\n`), name);
    // A wrong byte is seen.
    writeFileSync(join(other, 'NOTES.md'), 'other notes');
    assert.equal(spawnSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: other }).status, 1);

    const sbom = JSON.parse(readFileSync(join(one, `seqmix-${version}.spdx.json`), 'utf8'));
    assert.equal(sbom.spdxVersion, 'SPDX-2.3');
    const ids = new Set(['SPDXRef-DOCUMENT', ...sbom.packages.map(({ SPDXID }) => SPDXID)]);
    assert.equal(ids.size, sbom.packages.length + 1, 'each once');
    for (const { spdxElementId, relatedSpdxElement } of sbom.relationships)
        assert.ok(ids.has(spdxElementId) && ids.has(relatedSpdxElement), relatedSpdxElement);
    for (const name of names.filter((name) => !/SUMS|spdx/.test(name))) {
        const entry = sbom.packages.find((one) => one.packageFileName === name);
        assert.equal(entry.checksums[0].checksumValue, sha256(join(one, name)), name);
    }
    // What the page says that it is made of (vite bundles what web/ imports).
    for (const name of [
        'preact',
        '@preact/signals',
        '@preact/signals-core',
        'uplot',
        'comlink',
        '@codemirror/view',
    ])
        assert.ok(
            sbom.packages.some(
                (one) => one.name === name && /^[0-9a-f]{128}$/.test(one.checksums[0].checksumValue),
            ),
            name,
        );
    assert.ok(!sbom.packages.some(({ name }) => ['typescript', 'vite', 'puppeteer-core'].includes(name)));
    assert.match(readFileSync(join(one, 'NOTES.md'), 'utf8'), /Python/);
    // Every file that the guide names is there.
    const guide = readFileSync(join(one, 'INSTALL.md'), 'utf8');
    assert.ok(!guide.includes('-VERSION'));
    for (const [name] of guide.matchAll(/seqmix-[\w.*-]+\.(?:whl|tgz|gz|html)/g))
        assert.ok(
            names.some((one) => new RegExp(`^${name.replaceAll('.', '\\.').replace('*', '.*')}$`).test(one)),
            name,
        );
    const source = spawnSync('tar', ['-tzf', join(one, `seqmix-${version}-source.tar.gz`)], {
        encoding: 'utf8',
        maxBuffer: 1 << 28,
    }).stdout;
    for (const name of [
        'Makefile',
        'kernels/rows/gemm.c',
        'include/seqmix/smx.h',
        'proofs_tests/digests.txt',
    ])
        assert.ok(source.includes(`seqmix-${version}/${name}\n`), name);
});

/** The address that `make demo` prints first, in a folder with these programs alone. */
async function demo(at, programs) {
    const bin = mkdtempSync(join(folder, 'bin-'));
    for (const name of programs)
        symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), join(bin, name));
    const server = spawn('make', ['demo'], {
        cwd: at,
        env: { PATH: bin, HOME: folder },
        stdio: 'pipe',
        detached: true,
    });
    let said = '';
    for (const stream of [server.stdout, server.stderr]) stream.on('data', (data) => (said += data));
    const ended = new Promise((done) => server.once('close', done));
    const address = () => /http:\/\/localhost:\d+\//.exec(said)?.[0];
    while (!address() && server.exitCode === null)
        await Promise.race([ended, new Promise((done) => setTimeout(done, 50))]);
    const page = address() && (await (await fetch(address())).text());
    if (server.exitCode === null) process.kill(-server.pid, 'SIGINT'); // as Ctrl-C: make and what it runs
    await ended;
    return { said, page };
}
test(
    'make demo in the source of a release: the page that came with it, unless a file was changed',
    { skip },
    async () => {
        const at = join(folder, 'unpacked');
        mkdirSync(at);
        const archive = join(folder, `first/build/release/seqmix-${version}-source.tar.gz`);
        execFileSync('tar', ['-xzf', archive, '-C', at, '--strip-components=1']);
        const bare =
            'make sh bash node sha256sum uname grep dirname mkdir rm readlink awk sed find ln cat cksum id head tail tr sort cut date tee';
        const { said, page } = await demo(at, bare.split(' '));
        assert.equal(page, readFileSync(join(root, 'build/single/seqmix.html'), 'utf8'), said);
        assert.ok(
            !existsSync(join(at, 'dist')) && !existsSync(join(at, 'node_modules')),
            'nothing was built',
        );
        writeFileSync(join(at, 'web/main.tsx'), 'changed');
        const changed = await demo(at, bare.split(' '));
        assert.ok(!changed.page, changed.said);
        assert.match(changed.said, /setup: these are missing: .*gcc/); // it would be built
    },
);

test(
    'refused: changes that are not committed, two versions, a version without its promises',
    { skip },
    () => {
        const at = clone('refused');
        const refused = (said) => {
            const { status, stderr } = release(at);
            assert.equal(status, 1);
            assert.match(stderr, said);
        };
        const readme = readFileSync(join(at, 'README.md'));
        writeFileSync(join(at, 'README.md'), 'changed');
        refused(/^release: these files are not committed[^]*README\.md/);
        writeFileSync(join(at, 'README.md'), readme);
        const packages = readFileSync(join(at, 'package.json'), 'utf8');
        writeFileSync(join(at, 'package.json'), packages.replace(`"${version}"`, '"99.0.0"'));
        refused(/^release: package\.json says 99\.0\.0, include\/seqmix\/smx\.h \d/);
        writeFileSync(join(at, 'package.json'), packages);
        rmSync(join(at, 'proofs_tests/versions', version), { recursive: true });
        refused(/^release: what \d[\d.]+ promises is not written down/);
    },
);
