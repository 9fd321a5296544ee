// prove.test.mjs: Frama-C's Eva follows the scalar text of the kernels through the calls of calls.c, for all
// values of their floats at once, and finds no access outside an array, no read of what nobody wrote, no
// overflow of signed integers and no shift or comparison of pointers that C leaves undefined. Then its WP
// proves the contracts that stand as comments in the kernels, for every size. `make prove-c`.
import assert from 'node:assert';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

// ---- Contracts, for every size ---------------------------------------------------------------------------

// A preprocessor drops comments from macros: contracts go through it as words, so that they are filled in as
// the code around them is.
const words = (text) =>
    text.replace(
        /\/\*@([^]*?)\*\//g,
        (_, contract) => ` acsl_begin${contract.replace(/\/\/.*/g, '')} acsl_end `,
    );
const hidden = (text) => text.replace(/\\(?=[a-z])/g, 'acsl_');
const contracts = 'proofs_tests/frama_c/contracts.h';

// The scalar text of a kernel file with its contracts, `change` made in every file that it includes.
function scalarText(file, change = (text) => text) {
    const folder = mkdtempSync(join(tmpdir(), 'contracts-'));
    try {
        for (const name of readdirSync('kernels').filter((n) => /\.[ch]$/.test(n))) {
            const text = words(change(readFileSync(join('kernels', name), 'utf8')));
            const contract = /acsl_begin[^]*?acsl_end/g;
            writeFileSync(join(folder, name), text.replace(contract, hidden));
        }
        writeFileSync(join(folder, 'contracts.h'), hidden(words(readFileSync(contracts, 'utf8'))));
        const share = spawnSync('frama-c', ['-print-share-path'], { encoding: 'utf8' }).stdout.trim();
        const own = `-undef -nostdinc -D__FRAMAC__ -D__x86_64__ -D__FC_MACHDEP_GCC_X86_64 -I${share}/libc`;
        const build = `-I${folder} -Iinclude -I. -DSMX_SCALAR -DSMX_ONLY -DSMX_LOOPS -DSMX_OPAQUE(p)=`;
        const arguments_ = ['-E', '-P', ...`${own} ${build}`.split(' '), '-include', 'contracts.h'];
        const r = spawnSync('gcc', [...arguments_, join(folder, file)], { encoding: 'utf8', maxBuffer: 1 << 28 });
        assert.equal(r.status, 0, r.stderr);
        return r.stdout.replace(
            /acsl_begin([^]*?)acsl_end/g,
            (_, contract) => `/*@${contract.replaceAll('acsl_', '\\')}*/`,
        );
    } finally {
        rmSync(folder, { recursive: true });
    }
}

// How many goals WP leaves unproved, and which.
function unproved(text, functions) {
    const folder = mkdtempSync(join(tmpdir(), 'contracts-'));
    try {
        writeFileSync(join(folder, 'kernel.i'), text);
        const run =
            '-machdep gcc_x86_64 -warn-special-float none -wp -wp-rte -wp-prover z3,cvc4 -wp-timeout 30 -wp-par 2';
        const driver = ['-wp-driver', 'proofs_tests/frama_c/seqmix.driver', '-wp-fct', functions.join()];
        const r = spawnSync('frama-c', [...run.split(' '), ...driver, join(folder, 'kernel.i')], {
            encoding: 'utf8',
            maxBuffer: 1 << 28,
        });
        const count = /Proved goals: +(\d+) \/ (\d+)/.exec(r.stdout);
        assert.ok(r.status === 0 && count, `${r.stdout.slice(-1500)}${r.stderr}`);
        assert.doesNotMatch(r.stdout, /Missing assigns clause/);
        const goals = r.stdout.match(/^\[wp\] \[.*Goal.*$/gm).filter((line) => !line.includes(' : Valid'));
        return { left: count[2] - count[1], goals: goals.join('\n') };
    } finally {
        rmSync(folder, { recursive: true });
    }
}

// Norms, what they call, and what that calls: a contract that is believed by its callers is proved here.
const proved = {
    'norm.c': [
        'smx_unitnorm_fwd smx_rmsnorm_fwd row_dot reciprocal_root one_add v16_hsum',
        'vf_load vf_store vf_set vf_sqrt v16_set v16_load v16_load_n v16_store v16_store_n',
        'v16_mul v16_add v16_div v16_sqrt',
    ].flatMap((line) => line.split(' ')),
};
for (const [file, functions] of Object.entries(proved))
    test(`contracts hold at every size: ${file}`, { skip }, () => {
        const { left, goals } = unproved(scalarText(file), functions);
        assert.equal(left, 0, goals);
    });
test('a loop that reads a float past the row is not proved', { skip }, () => {
    const planted = (text) => text.replaceAll('v16_load_n((p) + i_, k_, 0.0f)', 'v16_load_n((p) + i_, k_ + 1, 0.0f)');
    assert.ok(unproved(scalarText('norm.c', planted), ['row_dot']).left > 0);
});
