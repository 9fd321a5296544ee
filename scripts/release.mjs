// release.mjs: puts a release together in build/release, of what `make release` has built: archives of the
// source, the wheel and the source distribution, the npm package, the two-file sources, the page as one file,
// the notes, an SBOM and checksums. The same sources give the same bytes (docs/RELEASE.md). Nothing is
// published.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
    copyFileSync,
    existsSync,
    mkdirSync,
    readdirSync,
    readFileSync,
    rmSync,
    writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const out = 'build/release';
const version = /SMX_VERSION "(.*)"/.exec(readFileSync('include/seqmix/smx.h', 'utf8'))[1];
const packages = JSON.parse(readFileSync('package.json', 'utf8'));
const fail = (why) => {
    console.error(`release: ${why}`);
    process.exit(1);
};
if (packages.version !== version)
    fail(`package.json says ${packages.version}, include/seqmix/smx.h ${version}`);
if (!existsSync(`proofs_tests/versions/${version}`))
    fail(
        `what ${version} promises is not written down: node scripts/versions.mjs --record (docs/VERSIONS.md)`,
    );

const sha256 = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');
const git = (...args) => execFileSync('git', args, { maxBuffer: 1 << 30 });
const changed = git('status', '--porcelain', '--untracked-files=no').toString();
if (changed)
    fail(`these files are not committed, and the archive of the source would lack them:\n${changed}`);
// Seconds since 1970; of the commit, unless they are given.
const epoch = Number(process.env.SOURCE_DATE_EPOCH || git('log', '-1', '--format=%ct').toString());
const commit = git('rev-parse', 'HEAD').toString().trim();
const address = process.env.REPOSITORY?.replace(/\/$/, '') || '';

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
// With the page, which `make demo` there serves as long as every file is as it was.
const page = 'build/single/seqmix.html';
const prebuilt = `seqmix-${version}/prebuilt/`;
const sources = git('ls-files', '-z').toString().split('\0').filter(Boolean).sort();
mkdirSync('build/prebuilt', { recursive: true });
copyFileSync(page, 'build/prebuilt/index.html');
writeFileSync('build/prebuilt/SHA256SUMS', sources.map((name) => `${sha256(name)}  ${name}\n`).join(''));
const source = git(
    ...['-c', 'tar.umask=0022', 'archive', '--format=tar', `--prefix=${prebuilt}`],
    ...['--add-file=build/prebuilt/index.html', '--add-file=build/prebuilt/SHA256SUMS'],
    ...[`--prefix=seqmix-${version}/`, 'HEAD'],
);
// (seqmix-VERSION.tar.gz is the source distribution's name)
writeFileSync(join(out, `seqmix-${version}-source.tar.gz`), gzipSync(source, { level: 9 }));
for (const file of [
    ...['build/python/dist', 'build/python/pyodide/dist'].flatMap((dist) =>
        readdirSync(dist).map((name) => join(dist, name)),
    ),
    `build/seqmix-${version}.tgz`,
    `build/amalgamation/seqmix-c-${version}.tar.gz`,
    'build/docs/API.md',
    'build/docs/OPERATIONS.md',
])
    copyFileSync(file, join(out, basename(file)));
writeFileSync(
    join(out, 'INSTALL.md'),
    readFileSync('docs/INSTALL.md', 'utf8')
        .replace(/ VERSION is [^\n]*/, '')
        .replaceAll('-VERSION', `-${version}`)
        .replace(/\]\((?=\w+\.md)/g, address ? `](${address}/blob/v${version}/docs/` : '$&'),
);
copyFileSync(page, join(out, `seqmix-${version}.html`));

// The notes: the section of this version in CHANGELOG.md.
const changelog = readFileSync('CHANGELOG.md', 'utf8');
const section = new RegExp(`^## ${version.replaceAll('.', '\\.')}\\b.*\\n([^]*?)(?=^## |$(?![^]))`, 'm').exec(
    changelog,
);
if (!section) fail(`CHANGELOG.md has no section ${version}`);
writeFileSync(join(out, 'NOTES.md'), `${section[1].trim()}\n`);

// ---- SBOM (SPDX 2.3) -------------------------------------------------------------------------------------

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
/** Packages whose code is in the page: what web/ imports, and what these ask for. */
function inPage() {
    const names = new Set();
    const add = (name) => {
        if (names.has(name) || !lock[`node_modules/${name}`]) return;
        names.add(name);
        for (const inner of Object.keys(lock[`node_modules/${name}`].dependencies ?? {})) add(inner);
    };
    for (const file of readdirSync('web', { recursive: true }).filter((name) => /\.tsx?$/.test(name)))
        for (const [, name] of readFileSync(join('web', file), 'utf8').matchAll(
            /(?:from|import)\s*\(?\s*'((?:@[\w-]+\/)?[a-z][\w-]*)/g,
        ))
            add(name);
    return [...names].sort();
}
const files = readdirSync(out).sort();
const id = (text) => `SPDXRef-${text.replace(/[^A-Za-z0-9.-]/g, '-')}`;
const described = (name, more) => ({
    name,
    SPDXID: id(name),
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    copyrightText: 'NOASSERTION',
    ...more,
});
const parts = inPage().map((name) => {
    const { version: its, integrity, license } = lock[`node_modules/${name}`];
    const [algorithm, hash] = integrity.split('-');
    return described(name, {
        versionInfo: its,
        licenseConcluded: license ?? 'NOASSERTION',
        licenseDeclared: license ?? 'NOASSERTION',
        checksums: [
            {
                algorithm: algorithm.toUpperCase(),
                checksumValue: Buffer.from(hash, 'base64').toString('hex'),
            },
        ],
        externalRefs: [
            {
                referenceCategory: 'PACKAGE-MANAGER',
                referenceType: 'purl',
                referenceLocator: `pkg:npm/${name.replace('@', '%40')}@${its}`,
            },
        ],
    });
});
if (parts.length < 5) fail(`the page imports ${parts.length} packages only; allowed: what web/ names`);
const outside = [
    described('zlib', {
        licenseConcluded: 'Zlib',
        licenseDeclared: 'Zlib',
        comment: 'linked by the libraries and the program',
    }),
    described('numpy', {
        licenseConcluded: 'BSD-3-Clause',
        licenseDeclared: 'BSD-3-Clause',
        comment: 'asked for by the wheel',
    }),
];
// Not code, and under a licence of its own: web/mnist, in the archive of the source.
const mnist = described('mnist-part', {
    licenseConcluded: 'CC-BY-SA-3.0',
    licenseDeclared: 'CC-BY-SA-3.0',
    copyrightText: 'Yann LeCun and Corinna Cortes',
    comment: 'the first 6,000 training and 2,000 test images of MNIST (web/mnist/LICENSE.txt)',
});
const released = files.map((name) =>
    described(name, {
        versionInfo: version,
        packageFileName: name,
        licenseConcluded: 'MIT',
        licenseDeclared: 'MIT',
        primaryPackagePurpose: 'ARCHIVE',
        ...(address && { downloadLocation: `${address}/releases/download/v${version}/${name}` }),
        checksums: [{ algorithm: 'SHA256', checksumValue: sha256(join(out, name)) }],
    }),
);
const relation = (from, relationshipType, to) => ({
    spdxElementId: from,
    relationshipType,
    relatedSpdxElement: to,
});
const withPage = released.filter(
    ({ name }) => /\.html$|linux.*\.whl$|\d\.tar\.gz$/.test(name) && !name.startsWith('seqmix-c'),
);
const sbom = {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `seqmix-${version}`,
    documentNamespace: `${address || 'https://spdx.org/spdxdocs'}/seqmix-${version}-${commit}`,
    creationInfo: {
        created: new Date(epoch * 1000).toISOString().replace('.000', ''),
        creators: ['Organization: the seqmix authors', 'Tool: seqmix-scripts-release.mjs'],
    },
    packages: [...released, ...parts, ...outside, mnist],
    relationships: [
        ...released.map(({ SPDXID }) => relation('SPDXRef-DOCUMENT', 'DESCRIBES', SPDXID)),
        ...withPage.flatMap(({ SPDXID }) => parts.map((part) => relation(SPDXID, 'CONTAINS', part.SPDXID))),
        relation(id(`seqmix-${version}-source.tar.gz`), 'CONTAINS', mnist.SPDXID),
        ...released
            .filter(({ name }) => /\.whl$/.test(name))
            .flatMap(({ SPDXID }) => [
                relation(SPDXID, 'DEPENDS_ON', id('numpy')),
                ...(SPDXID.includes('linux') ? [relation(SPDXID, 'DYNAMIC_LINK', id('zlib'))] : []),
            ]),
    ],
};
writeFileSync(join(out, `seqmix-${version}.spdx.json`), `${JSON.stringify(sbom, null, 1)}\n`);

const sums = readdirSync(out)
    .sort()
    .map((name) => `${sha256(join(out, name))}  ${name}\n`);
writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
process.stdout.write(sums.join(''));
console.log(`release ${version} of ${commit.slice(0, 12)} is in ${out}`);
