// workflows.test.mjs: what the host runs: every action by a hash, with the release's name beside it; the page
// is deployed only after `make test` on every machine; no step gets rights that it has no use for.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const folder = '.github/workflows/';
const workflows = Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(folder + name, 'utf8')]),
);
/** The lines of a job: what is indented below its name. */
const job = (text, name) =>
    new RegExp(`^    ${name}:\\n((?:        .*\\n|\\n)+)`, 'm').exec(`${text}\n`)?.[1] ?? '';

test('every action is pinned by a hash', () => {
    let pinned = 0;
    for (const [name, text] of Object.entries(workflows))
        for (const [, used] of text.matchAll(/uses: (.*)/g)) {
            if (used.startsWith('./')) continue; // a workflow of this very commit
            assert.match(used, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, `${name}: ${used}`);
            pinned++;
        }
    assert.ok(pinned >= 5);
});

test('pull requests run make test on three kinds of machine, with no rights but reading', () => {
    const text = workflows['test.yml'];
    assert.match(text, /^ {4}pull_request:$/m);
    assert.match(text, /^permissions:\n {4}contents: read\njobs:/m);
    assert.match(
        job(text, 'test'),
        /- run: make test\n *- run: make test-page\n *- run: make test-package\n *- run: make test-tree$/m,
    );
    for (const runner of ['ubuntu-24.04', 'ubuntu-24.04-arm', 'macos-15'])
        assert.ok(text.includes(`runner: ${runner} }`), runner);
    // And the two commands of the README where nothing is.
    assert.match(
        job(text, 'bare'),
        /- run: sudo scripts\/bare-debian\.sh demo --keep\n *- run: sudo scripts\/bare-debian\.sh test --again$/m,
    );
    assert.match(job(text, 'images'), /- run: make test$/m);
    for (const image of ['ubuntu', 'fedora'])
        assert.match(job(text, 'images'), new RegExp(`image: '${image}:`), image);
    assert.match(job(text, 'elsewhere'), /- run: STRICT=1 make test-elsewhere$/m);
    assert.ok(!text.includes('continue-on-error'));
});

test('the page is deployed only when those tests have passed', () => {
    const text = workflows['pages.yml'];
    assert.match(job(text, 'test'), /uses: \.\/\.github\/workflows\/test\.yml$/m);
    assert.match(job(text, 'deploy'), /^ {8}needs: test$/m);
    assert.ok(!/if: .*always/.test(text));
    assert.match(text, /^permissions:\n {4}contents: read\n(?! )/m);
});

test('a release is published by trusted publishing alone, of files that were tested and attested', () => {
    const text = workflows['release.yml'];
    assert.match(text, /^permissions:\n {4}contents: read\njobs:/m);
    assert.match(job(text, 'test'), /uses: \.\/\.github\/workflows\/test\.yml$/m);
    for (const [name, needs] of [
        ['build', 'test'],
        ['wheels', 'build'],
        ['macos', 'build'],
        ['mingw', 'test'],
        ['windows', 'mingw'],
        ['draft', '\\[build, wheels, macos, windows\\]'],
    ])
        assert.match(job(text, name), new RegExp(`^ {8}needs: ${needs}$`, 'm'), name);
    for (const name of ['macos', 'windows'])
        assert.match(job(text, name), /seqmix selfcheck \|[^]*diff[^]*proofs_tests\/digests\.txt/, name);
    assert.match(job(text, 'draft'), /attest-build-provenance@[^]*gh release create .*--draft/);
    for (const name of ['pypi', 'npm']) {
        assert.match(job(text, name), /^ {8}if: github\.event_name == 'release'$/m);
        assert.match(job(text, name), new RegExp(`^ {8}environment: ${name}$`, 'm'));
    }
    // Rights beyond reading, and tokens: no more than that takes.
    const rights = [...text.matchAll(/^ +([\w-]+): write$/gm)].map(([, name]) => name).sort();
    assert.deepEqual(rights, ['attestations', 'contents', 'id-token', 'id-token', 'id-token']);
    assert.ok(!/secrets\.|NPM_TOKEN|PYPI_TOKEN|if: .*always/.test(text));
});
