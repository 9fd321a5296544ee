// readme.test.mjs: the command that README.md shows with its output, run again: 15 s of processor, make
// test-package. All but the seconds has to come out as it stands there.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const unTimed = (line) => line.replace(/ +[0-9.]+$/, '');

test('the table that README.md shows is what its command prints', () => {
    const [shown] = /^ {4}\$ .*\n( {4}.*\n)+/m.exec(readFileSync('README.md', 'utf8'));
    const [command, ...table] = shown
        .trimEnd()
        .split('\n')
        .map((line) => line.slice(4));
    assert.match(command, /^\$ build\/seqmix sweep /);
    assert.equal(table.length, 5);
    const printed = execFileSync('bash', ['-c', command.slice(2)], { encoding: 'utf8' });
    assert.deepEqual(printed.trimEnd().split('\n').map(unTimed), table.map(unTimed));
});
