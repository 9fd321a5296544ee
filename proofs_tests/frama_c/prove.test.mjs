// prove.test.mjs: Frama-C's Eva follows the scalar text of the kernels through the calls of calls.c, for all
// values of their floats at once, and finds no access outside an array, no read of what nobody wrote, no
// overflow of signed integers and no shift or comparison of pointers that C leaves undefined. `make prove-c`.
import assert from 'node:assert';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const version = spawnSync('frama-c', ['-version'], { encoding: 'utf8' });
const skip = version.status === 0 ? false : 'there is no frama-c';

// The text is what one copy of the kernels is compiled of: plain C, loops as they are. (What SMX_OPAQUE hides
// from a compiler is no statement.) NaN and infinities are values here, not faults.
const macros = '-Iinclude -Ikernels -I. -DSMX_SCALAR -DSMX_ONLY -DSMX_LOOPS -DSMX_OPAQUE\\(p\\)=';
const options = [
    '-machdep gcc_x86_64 -eva -eva-precision 4 -eva-auto-loop-unroll 64 -eva-no-alloc-returns-null',
    '-warn-special-float none -eva-no-show-progress -eva-no-results',
].flatMap((line) => line.split(' '));
const sizes = ['scratch', 'conv_scratch', 'state_scratch'];

// How many alarms a call of calls.c raises, and the first of them.
function alarms(call, file) {
    const files = [file, ...sizes].map((name) => `kernels/${name}.c`);
    const arguments_ = [...options, `-cpp-extra-args=${macros}`, '-main', call];
    const r = spawnSync('frama-c', [...arguments_, 'proofs_tests/frama_c/calls.c', ...files], {
        encoding: 'utf8',
        maxBuffer: 1 << 28,
        timeout: 600_000,
    });
    const count = /^ {2}(\d+) alarms? generated/m.exec(r.stdout);
    assert.ok(
        r.status === 0 && count,
        `${call}: ${(r.stdout ?? '').slice(-1500)}${r.stderr || r.error || ''}`,
    );
    assert.doesNotMatch(
        r.stdout,
        /Neither code nor specification for function (?!__builtin_)/,
        `${call}: a function's text is missing`,
    );
    return [Number(count[1]), /\[eva:alarm\].*\n.*/.exec(r.stdout)?.[0]];
}

test('an output that is a float too short raises an alarm', { skip }, () => {
    assert.ok(alarms('norm_too_short', 'norm')[0] > 0);
});
const calls = {
    norm: 'norm',
    conv: 'conv',
    product: 'gemm',
    attention: 'attention',
    gla: 'state',
    delta: 'state',
};
for (const [call, file] of Object.entries(calls))
    test(`no alarm: ${call}`, { skip }, () => {
        const [count, first] = alarms(call, file);
        assert.equal(count, 0, first);
    });
