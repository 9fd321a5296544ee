// theorems.test.mjs: docs/THEOREMS.md holds every proof with its present claim, and docs/ERRATA.md every
// erratum that is tested, by its number.
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
    const page = readFileSync(join(root, 'docs/ERRATA.md'), 'utf8').split('\n\n');
    const errata = page.filter((p) => /^\*\*\d+\. /.test(p));
    errata.forEach((paragraph, i) => {
        const number = i + 1;
        const start = `erratum_${String(number).padStart(2, '0')}_`;
        assert.ok(
            paragraph.startsWith(`**${number}. `),
            `docs/ERRATA.md: paragraph ${number} has another number`,
        );
        const tests = names.filter((name) => name.startsWith(start));
        assert.ok(tests.length <= 1, `test_errata.c has ${tests.join(' and ')}`);
        const ends = tests.length ? `\`${tests[0]}\`` : '*No test.*';
        assert.ok(
            paragraph.trimEnd().endsWith(ends),
            `docs/ERRATA.md: paragraph ${number} does not end in ${ends}`,
        );
    });
    const last = errata.length;
    assert.ok(
        names.length >= 15 && names.every((name) => Number(name.slice(8, 10)) <= last),
        names.join(' '),
    );
});
