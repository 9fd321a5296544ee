// prove.test.mjs: Frama-C's Eva follows the scalar text of the kernels through the calls of calls.c, for all
// values of their floats at once, and finds no access outside an array, no read of what nobody wrote, no
// overflow of signed integers and no shift or comparison of pointers that C leaves undefined. Then its WP
// proves the contracts that stand as comments in the kernels, for every 64-bit size. `make prove-c`. As
// many of these questions are asked at once as there are processors, in the order in which they stand here,
// but the contracts, which take longest, before what still waits.
import assert from 'node:assert';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { after, test } from 'node:test';

const version = spawnSync('frama-c', ['-version'], { encoding: 'utf8' });
const skip = version.status === 0 ? false : 'there is no frama-c';
// Frama-C is written in OCaml, which scans a deep stack each time it collects short-lived data: with 64 MB
// for these, Eva took a sixth less processor time on the delta rule's backward pass.
process.env.OCAMLRUNPARAM ??= 's=8M';

async function run(command, args, options) {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'])
        child[name].setEncoding('utf8').on('data', (text) => (said[name] += text));
    const status = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
    return { status, ...said };
}

let free = availableParallelism();
const waiting = [];
async function inTurn(ask, first) {
    if (!free) await new Promise((resolve) => (first ? waiting.unshift(resolve) : waiting.push(resolve)));
    else free--;
    try {
        return await ask();
    } finally {
        if (waiting.length) waiting.shift()();
        else free++;
    }
}
function question(title, skip, ask, first = false) {
    const answer = skip ? undefined : inTurn(ask, first);
    answer?.catch(() => {}); // told by the test
    test(title, { skip }, () => answer);
}

// The text is what one copy of the kernels is compiled of: plain C, loops as they are. (What SMX_OPAQUE hides
// from a compiler is no statement.) NaN and infinities are values here, not faults.
const root = resolve('.');
const macros = `-I${root}/include -I${root} -DSMX_SCALAR -DSMX_ONLY -DSMX_LOOPS -DSMX_OPAQUE\\(p\\)= -D_Static_assert\\(...\\)=`;
const options = [
    '-machdep gcc_x86_64 -eva -eva-precision 4 -eva-auto-loop-unroll 64 -eva-no-alloc-returns-null',
    '-warn-special-float none -eva-no-show-progress -eva-no-results -eva-print-callstacks',
    '-eva-unroll-recursive-calls 2', // (a row's tail is copied, and the function called once more)
].flatMap((line) => line.split(' '));

// The kernels' text, each file changed by `change`, in a folder of its own; where a file lies there.
const files = readdirSync('kernels', { recursive: true }).filter((name) => /\.[ch]$/.test(name));
function copied(folder, change) {
    for (const name of files) {
        mkdirSync(join(folder, 'kernels', dirname(name)), { recursive: true });
        writeFileSync(join(folder, 'kernels', name), change(readFileSync(join('kernels', name), 'utf8')));
    }
    return (file) =>
        join(
            folder,
            'kernels',
            files.find((name) => basename(name) === file),
        );
}

// The alarms that a call raises, each as the function in which it stands: of loads, which one loads. `files`
// is calls.c or calls_more.c and the kernels' own. What follows an access that is surely wrong Eva leaves
// out: `ended` says whether it came to the call's end.
async function alarms(call, files) {
    const folder = mkdtempSync(join(tmpdir(), 'calls-'));
    // Without contracts, which Eva would believe.
    const at = copied(folder, (text) => text.replaceAll('/*@', '/*'));
    const end = 'Frama_C_show_each_end';
    const main = `void ${call}(void), ${end}(void); void whole(void) { ${call}(); ${end}(); }\n`;
    writeFileSync(join(folder, 'whole.c'), main);
    const arguments_ = [...options, `-cpp-extra-args=-I${folder} ${macros}`, '-main', 'whole'];
    const [calls, ...kernels] = `${files} scratch sizes`.split(' ');
    const texts = [resolve(`proofs_tests/frama_c/${calls}.c`), ...kernels.map((name) => at(`${name}.c`))];
    const r = await run('frama-c', [...arguments_, join(folder, 'whole.c'), ...texts], {
        cwd: folder, // where includes are looked for first
    });
    rmSync(folder, { recursive: true });
    const count = /^ {2}(\d+) alarms? generated/m.exec(r.stdout);
    assert.ok(r.status === 0 && count, `${call}: ${r.stdout.slice(-1500)}${r.stderr}`);
    assert.doesNotMatch(
        r.stdout,
        /Neither code nor specification for function (?!__builtin_)/,
        `${call}: a function's text is missing`,
    );
    const found = [...r.stdout.matchAll(/\[eva:alarm\][^]*?\n +stack: ([^]*?)(?=\n\[|$)/g)].map(
        ([, stack]) => [...stack.matchAll(/(\w+) ::/g)].find(([, name]) => !/^(vf|v16)_load$/.test(name))[1],
    );
    assert.equal(found.length, Number(count[1]), r.stdout);
    return { found, ended: r.stdout.includes(`${end}:`) };
}

question('an output that is a float too short raises an alarm', skip, async () => {
    const { found, ended } = await alarms('norm_too_short', 'calls norm');
    assert.ok(found.length > 0 && !ended);
});
// What Eva follows, and the alarms that it cannot settle. It tells each place once, however many calls reach
// it. The exponent of vf_exp is read from the bits of a float that is no more than 2^128, of which it knows
// nothing; an angle above smx.h's 2^15 overflows a count of turns; that the block chosen is one of those
// compared it does not see. Two calls, with `false`, load whole registers, past a row's end from scratch that
// nobody wrote, into lanes that nobody reads, and end there: the next of each goes on, in shapes that have no
// such lanes. (With gates the backward passes of gla and delta take it minutes: not here.)
const calls = {
    norm: ['calls norm'],
    conv: ['calls conv'],
    product: ['calls gemm'],
    attention: ['calls attention'],
    gla: ['calls state'],
    delta: ['calls state'],
    gla_back: ['calls state'],
    delta_back: ['calls state'],
    attention_back: ['calls attention'],
    attention_rows: ['calls attention'],
    attention_modes: ['calls attention', ['vf_exp', 'vf_exp']],
    attention_cap: ['calls attention', ['cap_row'], false],
    attention_capped: ['calls attention'],
    attention_maps: ['calls attention_maps attention'],
    landmark: ['calls landmark', ['smx_landmark_fwd']],
    linattn: ['calls linattn'],
    state_rows: ['calls state_push state'],
    elementwise: ['calls_more elementwise iir adamw gate tables gemm'],
    activation: ['calls_more activation'],
    feature: ['calls_more feature'],
    gate: ['calls_more gate iir tables gemm'],
    embedding: ['calls_more embedding'],
    loss: ['calls_more loss'],
    mse: ['calls_more mse'],
    rope: ['calls_more rope'],
    adamw: ['calls_more adamw'],
    conv_back: ['calls_more conv'],
    conv_heads: ['calls_more conv gemm'],
    fft: ['calls_more fft tables'],
    longconv: ['calls_more longconv fft tables'],
    iir: ['calls_more iir tables gemm'],
    maxpool: ['calls_more iir tables gemm'],
    ema: ['calls_more ema scan'],
    scan: ['calls_more scan', ['vf_exp', 'vf_exp']],
    s4d: ['calls_more s4d', ['md_round', 'md_round', 'md_round']],
    recurrent: ['calls_more recurrent elementwise activation gate gemm', ['smx_settle'], false],
    recurrent_whole: ['calls_more recurrent elementwise activation gate gemm'],
};
for (const [call, [files, known = [], ended = true]] of Object.entries(calls))
    question(`no alarm${known.length ? ` but those known` : ''}: ${call}`, skip, async () => {
        assert.deepEqual(await alarms(call, files), { found: known, ended });
    });

// ---- Contracts, for every 64-bit size --------------------------------------------------------------------

// WP hands its goals to the provers that Why3 finds; what Why3 writes of them lies in a folder of its own.
const provers = mkdtempSync(join(tmpdir(), 'provers-'));
after(() => rmSync(provers, { recursive: true }));
process.env.WHY3CONFIG = join(provers, 'why3.conf');
const why3 = spawnSync('why3', ['config', 'detect'], { encoding: 'utf8' });
const lost = ['Z3', 'CVC4'].filter((name) => !new RegExp(`prover ${name} version .*OK`).test(why3.stdout));
// (Z3 is first asked as verifiers of programs ask it, quantifiers by their patterns alone: else products of
// sizes take it minutes.) Limits are of processor time, so that a busy machine proves the same: those by the
// clock, the provers' own, Why3's and WP's, are set far off.
const commands = {
    Z3: [
        'said=$(z3 auto_config=false smt.mbqi=false "$@")',
        'case $said in *unsat*) echo "$said" ;; *) exec z3 "$@" ;; esac',
    ],
    CVC4: ['exec cvc4 "$@"'],
};
if (!lost.length) {
    let config = readFileSync(process.env.WHY3CONFIG, 'utf8');
    for (const [name, lines] of Object.entries(commands)) {
        const path = join(provers, name);
        const script = ['#!/bin/sh', 'ulimit -t "$PROVER_SECONDS"', ...lines, ''].join('\n');
        writeFileSync(path, script, { mode: 0o755 });
        config = config.replace(new RegExp(`(name = "${name}"\npath = ").*"`), `$1${path}"`);
    }
    writeFileSync(process.env.WHY3CONFIG, config);
}
const unasked = skip || (lost.length > 0 && `there is no ${why3.error ? 'why3' : lost.join(' and no ')}`);

// A preprocessor drops comments from macros: contracts go through it as words, so that they are filled in as
// the code around them is.
const words = (text) =>
    text.replace(
        /\/\*@([^]*?)\*\//g,
        (_, contract) => ` acsl_begin${contract.replace(/\/\/.*/g, '')} acsl_end `,
    );
const hidden = (text) => text.replace(/\\(?=[a-z])/g, 'acsl_');
const contracts = ['contracts.acsl', 'state.acsl'];

// The scalar text of a kernel file with its contracts, `change` made in every file that it includes; `asked`:
// what contracts.acsl is asked for beside bounds.
function scalarText(file, asked = [], change = (text) => text) {
    const folder = mkdtempSync(join(tmpdir(), 'contracts-'));
    try {
        const contract = /acsl_begin[^]*?acsl_end/g;
        const at = copied(folder, (text) => words(change(text)).replace(contract, hidden));
        for (const name of contracts)
            writeFileSync(
                join(folder, name),
                hidden(words(readFileSync(join('proofs_tests/frama_c', name), 'utf8'))),
            );
        const share = spawnSync('frama-c', ['-print-share-path'], { encoding: 'utf8' }).stdout.trim();
        const own = `-undef -nostdinc -D__FRAMAC__ -D__x86_64__ -D__FC_MACHDEP_GCC_X86_64 -I${share}/libc`;
        const build = `-I${folder} -Iinclude -I. -DSMX_SCALAR -DSMX_ONLY -DSMX_LOOPS -DSMX_OPAQUE(p)=`;
        const options = [...`${own} ${build}`.split(' '), ...asked.map((what) => `-D${what}`)];
        const before = contracts.flatMap((name) => ['-include', name]);
        const arguments_ = ['-E', '-P', ...options, ...before, at(file)];
        const r = spawnSync('gcc', arguments_, { encoding: 'utf8', maxBuffer: 1 << 28 });
        assert.equal(r.status, 0, r.stderr);
        // WP follows no cast from void: scratch is an array of floats, as its kernels take it.
        return r.stdout
            .replace(/\bvoid \*scratch\b/g, 'float *scratch')
            .replace(
                /acsl_begin([^]*?)acsl_end/g,
                (_, contract) => `/*@${contract.replaceAll('acsl_', '\\')}*/`,
            );
    } finally {
        rmSync(folder, { recursive: true });
    }
}

async function framaC(text, options, env = process.env) {
    const folder = mkdtempSync(join(tmpdir(), 'contracts-'));
    try {
        writeFileSync(join(folder, 'kernel.i'), text);
        const machine = [
            '-machdep',
            'gcc_x86_64',
            '-warn-special-float',
            'none',
            '-cg',
            join(folder, 'calls'),
        ];
        const r = await run('frama-c', [...machine, ...options, join(folder, 'kernel.i')], { env });
        assert.equal(r.status, 0, `${r.stdout}${r.stderr}`);
        return { said: r.stdout, calls: readFileSync(join(folder, 'calls'), 'utf8') };
    } finally {
        rmSync(folder, { recursive: true });
    }
}

// The functions, what they call, and what that calls: a contract that is believed by its callers is proved,
// but for those of functions that have no text here, which contracts.acsl states, and of functions of single
// numbers that WP cannot read (a word copied to another type, a comparison as a number): they touch
// no array, and Eva follows them above.
const believed = /^(__builtin_|floats_|smx_size_product$|(vf_bits|vi_float|vf_lt|vf_le|vf_eq|vi_gt)$)/;
async function withCalled(text, functions) {
    const { calls } = await framaC(text, ['-cg-no-services']);
    const edges = [...calls.matchAll(/^ *(\w+) -> (\w+)/gm)];
    const all = new Set(functions);
    for (const one of all) {
        assert.match(calls, new RegExp(`^ *${one} \\[`, 'm'), `there is no function ${one}`);
        for (const [, from, to] of edges) if (from === one && !believed.test(to)) all.add(to);
    }
    return [...all];
}

// The goals that WP leaves unproved.
async function unproved(text, options, { seconds = 60, provers = 'z3,cvc4' } = {}) {
    const wp = `-wp -wp-rte -wp-prover ${provers} -wp-timeout 36000 -wp-par 2 -wp-cache none`;
    const driver = ['-wp-driver', 'proofs_tests/frama_c/seqmix.driver'];
    const env = { ...process.env, PROVER_SECONDS: seconds };
    const { said } = await framaC(text, [...wp.split(' '), ...driver, ...options], env);
    const count = /Proved goals: +(\d+) \/ (\d+)/.exec(said);
    assert.ok(count && count[2] > 0, said.slice(-1500));
    assert.doesNotMatch(said, /Missing assigns|No 'assigns'/);
    const goals = said.match(/^\[wp\] \[.*Goal.*$/gm).filter((line) => !line.includes(' : Valid'));
    assert.equal(goals.length, count[2] - count[1], said.slice(-1500));
    return goals.join('\n');
}
const functions = (names) => ['-wp-fct', names.join()];

// They are about whole numbers: that floats are real numbers here changes nothing.
question('the lemmas hold', unasked, async () => {
    const lemmas = ['-wp-model', 'Typed+real', '-wp-prop', '@lemma'];
    assert.equal(await unproved(scalarText('norm.c', ['HEADS']), lemmas), '');
});
const kernels = {
    'norm.c': ['smx_layernorm_fwd', 'smx_rmsnorm_fwd', 'smx_unitnorm_fwd'],
    'conv.c': ['smx_conv_fwd'],
    'attention.c': ['softmax_row', 'softmax_row_again'],
    'gemm.c': ['tile_product'],
    'state.c': [
        'call_of',
        'block_at',
        'want_block',
        'want_state',
        'load_rows',
        'pairs',
        'times',
        'add_row',
        'solve',
        'write_block',
        'load_state',
        'store_state',
    ],
};
// Z3 alone proves all of state.c, in three quarters of the time of both.
const proversOf = (file) => (file === 'state.c' ? 'z3' : 'z3,cvc4');
const seen = new Set(); // once: every file has the same text of what they share
const parts = [];
// In all but the first of these rows a pointer through which a function only looks is what it points to
// (Typed+ref): the block, the call and the list of rows asked for are then no memory that another store could
// change. segment_fwd and the two mixers declare them, as objects of their own. Believed, as WP prints it
// (Memory model hypotheses): that the description of the rows, which a caller gives, and the table of lanes
// lie in no array, nor in the sizes.
const rowsOfHeads = [
    ['load_keys'],
    ['load_block'],
    ['block_fwd', 'segment_fwd'],
    ['forward', 'smx_gla_fwd', 'smx_delta_fwd'],
];
const byReference = rowsOfHeads.slice(1).flat();
// In load_keys most of the time was WP simplifying each goal again for every branch condition ("pruning");
// without that Z3 gets all hypotheses, and answers a goal within two seconds. The other two are as deep.
const long = ['load_keys', 'load_block', 'softmax_row'];
const wpOf = (name) => [
    ...(byReference.includes(name) ? ['-wp-model', 'Typed+ref'] : []),
    ...(long.includes(name) ? ['-wp-no-pruning', '-wp-no-ground'] : []),
];
const ofHeads = rowsOfHeads.map((names) => ['state.c', names, ['HEADS']]);
for (const [file, names, asked = []] of [...Object.entries(kernels), ...ofHeads]) {
    const text = unasked ? '' : scalarText(file, asked);
    const all = unasked ? [] : (await withCalled(text, names)).filter((one) => !seen.has(one));
    for (const one of all) seen.add(one);
    const title = [file, ...(asked.length ? names : [])].join(', ');
    parts.push({ title, file, text, options: [...wpOf(names[0]), ...functions(all)] });
}
for (const { title, file, text, options } of parts)
    question(
        `inside their arrays at every size: ${title}`,
        unasked,
        async () => assert.equal(await unproved(text, options, { provers: proversOf(file) }), ''),
        true,
    );
// (Asked the same way, five seconds a goal, the right text of each of these leaves no goal unproved.) A goal
// of the name at the end is what fails. `heads` where the text is asked with HEADS.
const heads = ['HEADS'];
const tooFar = [
    ['norm.c', 'row_dot', 'v16_load_n((p) + i_, k_, 0', 'v16_load_n((p) + i_, k_ + 1, 0', 'in_part'],
    ['conv.c', 'copy_padded', '(Dp - D) * sizeof *to', 'Dp * sizeof *to', 'in_array'],
    ['attention.c', 'clear_after', '16) v16_store(s + j, ', '16) v16_store(s + j + 1, ', 'in_group'],
    ['gemm.c', 'tile_rows', 'for (; i < m; i++)', 'for (; i <= m; i++)', 'in_tile'],
    ['state.c', 'decayed_pairs', 'v16_store(w->late + i', 'v16_store(w->late + ROWS + i', 'in_group'],
    ['state.c', 'pairs', 'ROWS, w->k, dkp, dk);', 'ROWS, w->k, dkp, dk + 1);', 'in_rows'],
    ['state.c', 'solve', 'answers + (s + j) * ROWS + s', 'answers + (s + j + 1) * ROWS + s', 'mem_access'],
    ['state.c', 'store_state', 'to + i * c->p->dv', 'to + (i + 1) * c->p->dv', 'in_array'],
    ['state.c', 'load_keys', 'c->k + at + t * stride', 'c->k + at + t * stride + 1', 'in_part', heads],
    ['state.c', 'load_block', 'w->u = c->v + values', 'w->u = c->v + values + 1', 'of_u', heads],
    ['state.c', 'load_block', 'stride, w->n, p->dv', 'stride, w->n + 1, p->dv', 'in_rows', heads],
    ['state.c', 'block_fwd', 'w->ldu, w->n, p->dv', 'w->ldu, w->n + 1, p->dv', 'in_product', heads],
    ['state.c', 'segment_fwd', 'w.n = smx_min(ROWS, p->L - t)', 'w.n = ROWS', 'tail', heads],
    ['state.c', 'forward', 'states && end < p->L', 'states && end <= p->L', 'kept', heads],
    ['state.c', 'forward', 'states += p->H * l->size', 'states += (p->H + 1) * l->size', 'moved', heads],
    ['state.c', 'forward', 'last + (b * p->H + h)', 'last + (b * p->H + h + 1)', 'in_state', heads],
    ['state.c', 'smx_gla_fwd', 'call_of(x, p, 0, 0)', 'call_of(x, p, 0, 1)', 'laid', heads],
];
for (const [file, name, from, to, goal, asked = []] of tooFar)
    question(`a float past its array is not proved: ${name}, ${to.trim()}`, unasked, async () => {
        const planted = scalarText(file, asked, (text) => text.replaceAll(from, to));
        assert.notEqual(planted, scalarText(file, asked));
        const options = [...wpOf(name), ...functions([name]), '-wp-prop', goal];
        assert.notEqual(await unproved(planted, options, { seconds: 5, provers: proversOf(file) }), '');
    });
const adders = ['one_add', 'v16_add'];
question('row_sum is that of Rounding.v at every size', unasked, async () => {
    const text = scalarText('norm.c', ['VALUES']);
    const others = (await withCalled(text, ['row_sum'])).filter((one) => !adders.includes(one));
    assert.equal(await unproved(text, functions(others)), '');
    assert.equal(await unproved(scalarText('norm.c', ['VALUES', 'ADDS']), functions(adders)), '');
});
question('lanes that meet in another order are not proved', unasked, async () => {
    const right = 'one(one(x.r[0], x.r[2]), one(x.r[1], x.r[3]))';
    const planted = (text) => text.replace(right, 'one(one(x.r[0], x.r[1]), one(x.r[2], x.r[3]))');
    assert.notEqual(
        await unproved(scalarText('norm.c', ['VALUES'], planted), functions(['v16_hsum']), { seconds: 5 }),
        '',
    );
});
