// theorems.test.mjs: docs/THEOREMS.md holds every proof with its present claim, and docs/ERRATA.md every erratum that is tested.
import assert from 'node:assert';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');

test('the index of theorems is complete', () => {
    const r = spawnSync('node', [join(root, 'scripts/theorems.mjs'), '--check'], { encoding: 'utf8' });
    assert.equal(r.status, 0, r.stderr);
});
test('every erratum has its paragraph', () => {
    const names = [
        ...readFileSync(join(root, 'proofs_tests/proofs/test_errata.c'), 'utf8').matchAll(
            /cmocka_unit_test\((\w+)\)/g,
        ),
    ].map((m) => m[1]);
    const page = readFileSync(join(root, 'docs/ERRATA.md'), 'utf8');
    assert.equal(names.length, 15);
    names.forEach((name, i) => {
        const paragraph = page.split('\n\n').find((p) => p.startsWith(`**${i + 1}. `));
        assert.ok(
            paragraph?.includes(`\`${name}\``),
            `docs/ERRATA.md: paragraph ${i + 1} does not name ${name}`,
        );
    });
});
