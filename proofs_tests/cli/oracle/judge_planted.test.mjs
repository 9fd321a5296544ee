// judge_planted.test.mjs: planted wrong implementations are caught by seqmix judge and named, and
// docs/ORACLE.md says of each what caught it.
//   SEQMIX_PLANTED=write node --test proofs_tests/cli/oracle/judge_planted.test.mjs    writes its table there
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { readNpy } from '../../support/npy.mjs';
import { PLANTED, SETS, at, judge, make } from './judging.mjs';

// As the field's tests would judge: RMS of the difference over RMS of the reference below 0.005; and every
// difference below 0.01.
function loosely(set, made) {
    const rms = (x) => Math.sqrt(x.reduce((sum, v) => sum + v * v, 0) / x.length);
    let ratio = 0;
    let most = 0;
    for (const { file, data } of made) {
        const { data: ref } = readNpy(at(set, file));
        const difference = Array.from(data, (v, i) => Math.abs(v - ref[i]));
        ratio = Math.max(ratio, ...[rms(difference) / (rms(ref) + 1e-8)].map((r) => (r >= 0 ? r : Infinity)));
        most = Math.max(most, ...difference.map((v) => (v >= 0 ? v : Infinity)));
    }
    return { rms: ratio < 0.005, absolute: most <= 0.01 };
}

test('every planted fault is caught and named; docs/ORACLE.md has the list', () => {
    const rows = [];
    for (const [mechanism, implementation, fault, says, format] of PLANTED) {
        const found = {};
        for (const set of SETS) {
            const { out, made } = make(set, mechanism, implementation, fault);
            const { status, stdout, stderr } = judge(set, out, mechanism, ...(format ? [`--${format}`] : []));
            assert.ok(status < 2, stderr);
            const lines = stdout.trimEnd().split('\n').slice(0, -1);
            assert.equal(lines.length > 0, status === 1);
            found[set] = { caught: status === 1, lines, loose: loosely(set, made) };
            rmSync(out, { recursive: true });
        }
        const all = [...found.usual.lines, ...found.hard.lines];
        const line = all.find((one) => says.test(one));
        assert.ok(found.hard.caught, `${mechanism}, ${fault}: not caught by the hard set`);
        assert.ok(line, `${mechanism}, ${fault}: no ${says} in\n${all.join('\n')}`);
        const [name] = line.split(':');
        const why = line.slice(line.indexOf('is allowed): ') + 'is allowed): '.length);
        const yes = (b) => (b ? 'yes' : '—');
        rows.push(
            `| \`${mechanism}\` | ${fault} | ${yes(found.usual.caught)} | ${yes(found.hard.caught)} |` +
                ` ${yes(!found.usual.loose.rms)} | ${yes(!found.usual.loose.absolute)} | \`${name}\`: ${why} |`,
        );
    }
    assert.ok(rows.length >= 20);
    const page = 'docs/ORACLE.md';
    const text = readFileSync(page, 'utf8');
    const [start, end] = ['<!-- planted -->\n', '<!-- /planted -->'];
    const head = text.slice(0, text.indexOf(start) + start.length);
    const table = [
        '| mechanism | planted fault | `vectors` | `vectors --hard` | 0.5 % RMS | 1e-2 | first line of judge that names it |',
        '|---|---|---|---|---|---|---|',
        ...rows,
        '',
    ].join('\n');
    const whole = head + table + text.slice(text.indexOf(end));
    if (process.env.SEQMIX_PLANTED === 'write') writeFileSync(page, whole);
    else assert.equal(text, whole, 'docs/ORACLE.md: SEQMIX_PLANTED=write writes the table again');
});
