// mutants.mjs: whether the tests notice a fault. Puts one-token faults into kernels, mixers, optimiser and
// generators, the module's exports and the page's charts, one at a time, in a copy of the tree under
// build/mutants, builds the tests named beside each and requires that one of them fails. Exits with 1 when a
// fault survives. Changes nothing outside build/mutants.
//   node scripts/mutants.mjs [--proofs] [WORD...]    WORD: only faults whose file or description holds one of
//       the words; --proofs: those of mutants/proofs.mjs alone, which the proof programs must notice alone
import { spawnSync } from 'node:child_process';
import {
    cpSync,
    existsSync,
    mkdirSync,
    readdirSync,
    readFileSync,
    rmSync,
    statSync,
    symlinkSync,
    utimesSync,
    writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { inProofs } from './mutants/proofs.mjs';

// file, the text to be found once, what takes its place, what the fault means, tests that must notice
// prettier-ignore
const faults = [
    ["kernels/conv.c", "(ptrdiff_t)L - row : row + 1);", "(ptrdiff_t)L - row : row);", "a convolution drops its oldest tap near the start", ["test_conv"]],
    ["kernels/conv.c", "(ptrdiff_t)L + delay);", "(ptrdiff_t)L - delay);", "a filter's gradient over the wrong rows", ["test_conv"]],
    ["kernels/attention_rows.h", "(p->L - 1) - i;", "p->L - i;", "bias by distance is off by one", ["test_attention"]],
    ["kernels/attention.c", "i0 + r - lo, visible(p, i0 + r, n) - lo,", "i0 + r - lo, visible(p, i0 + rows - 1, n) - lo,", "a row sees one token ahead", ["test_attention"]],
    ["kernels/gemm.c", "(flags & SMX_ACCUMULATE) != 0", "(flags & SMX_ACCUMULATE) == 0", "a product adds where it should overwrite", ["test_gemm"]],
    ["kernels/norm.c", "sum_of_squared_deviations(row, mean, D) / (float)D + eps", "sum_of_squared_deviations(row, mean, D) / (float)(D + 1) + eps", "LayerNorm divides by D + 1", ["test_norm"]],
    ["kernels/rope.c", "v16_alternating(back ? 1.0f : -1.0f)", "v16_alternating(back ? -1.0f : 1.0f)", "rotary positions turn the other way", ["test_embedding"]],
    ["kernels/loss.c", "dx[t] -= scale;", "dx[t] += scale;", "cross-entropy's gradient has the wrong sign at the target", ["test_loss"]],
    ["kernels/iir.c", "v16_mul(a2, y2));\n        y2 = y1;", "v16_mul(a2, y1));\n        y2 = y1;", "the second coefficient meets the first delay", ["test_iir", "proof_focus"]],
    ["kernels/iir.c", "if (p->mode == SMX_IIR_CAUSAL && t0 == b * R)", "if (p->mode == SMX_IIR_CARRY && t0 == b * R)", "the state is reset in the wrong mode", ["test_iir", "proof_focus"]],
    ["kernels/linattn.c", "i0 + r + 1, triangle_end(i0, r, rows));\n        if (!first)", "i0 + r + 2, triangle_end(i0, r, rows));\n        if (!first)", "linear attention sees one token ahead", ["test_linattn", "proof_chela"]],
    ["kernels/longconv.c", "k > lambda ? k - lambda :", "k > lambda ? k + lambda :", "the squash regulariser grows taps", ["test_fft", "proof_chela"]],
    ["kernels/fft_layout.h", "while (N < 2 * L)", "while (N < L)", "the long convolution wraps around", ["test_fft", "proof_chela"]],
    ["kernels/fft_rows.h", "{a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im}", "{a.re * b.re + a.im * b.im, a.im * b.re + a.re * b.im}", "the way back from a spectrum turns the wrong way", ["test_fft"]],
    ["kernels/fft.c", "*conjugate = k < N / 2;", "*conjugate = k < N / 4;", "half of the frequencies come out conjugated", ["test_fft"]],
    ["kernels/iir.c", "if (p->mode == SMX_IIR_CAUSAL) memset(back", "if (p->mode == SMX_IIR_CARRY) memset(back", "the adjoint is cut between the wrong bins", ["test_iir"]],
    ["kernels/iir.c", "v16_lt(best, now)", "v16_le(best, now)", "the max pool's last maximum wins a tie", ["test_iir"]],
    ["kernels/state.c", "a[at], (int)(t + r)", "a[at], (int)(t + r) + 1", "a key decays in the row that writes it", ["test_state"]],
    ["kernels/state.c", "if (c->delta && !d->x->erase) add_row", "if (c->delta) add_row", "the key that is written gets the gradient of the one that is erased", ["test_state"]],
    ["kernels/scan.c", "v16_madd(bs, now, flow)", "v16_madd(bs, in, flow)", "the gradient of the step counts the step twice", ["test_scan"]],
    ["kernels/ema.c", "v16_load(before + i), v16_load(keep)", "v16_load(after + i), v16_load(keep)", "the decay's gradient meets the state after the row", ["test_scan"]],
    ["kernels/s4d.c", "(double)re_b + (double)l * q.re", "(double)re_b", "the slope of the powers forgets the block", ["test_scan"]],
    ["kernels/landmark.c", "if (score[b] > score[best]) best = b;", "if (score[b] >= score[best]) best = b;", "the last of equal landmarks wins", ["test_landmark"]],
    ["kernels/adamw.c", "v16_sub(v16_sub(x, v16_mul(decay, x))", "v16_sub(v16_add(x, v16_mul(decay, x))", "weight decay grows the weights", ["test_adamw"]],
    ["kernels/adamw.c", "v16_mul(a2, v16_mul(s, s))", "v16_mul(a1, v16_mul(s, s))", "the second moment uses the first one's factor", ["test_adamw"]],
    ["kernels/philox.h", "k1 += 0xBB67AE85u;", "k1 += 0xBB67AE86u;", "another bijection than Philox", ["test_rng"]],
    ["model/run/train.c", "rate * 0.5 * (1.0 + cosine)", "rate * 0.5 * (1.0 - cosine)", "the schedule rises instead of falling", ["test_optimiser"]],
    ["model/run/train.c", "clip > 0.0 && norm > clip", "clip > 0.0 && norm < clip", "small gradients are blown up to the clip norm", ["test_optimiser"]],
    ["model/run/train.c", "t * md_log((double)o.b2)", "t * md_log((double)o.b1)", "the second moment is corrected with the first one's factor", ["test_optimiser"]],
    ["model/mixers/filtered.c", '{"filter_q", "filter_k", "filter_v"}', '{"filter_q", "filter_q", "filter_v"}', "CAT's keys share the queries' filter", ["test_mixer_oracle"]],
    ["model/mixers/las.c", "op_pool(g, v, P, 0, M)", "op_pool(g, v, P, 1, M)", "trailing pooling looks one token ahead", ["test_mixer_oracle"]],
    ["model/mixers/chela.c", 'linear(g, c, z, "w_g", "b_g")', 'linear(g, c, x, "w_g", "b_g")', "CHELA's gate reads x instead of z", ["test_mixer_oracle"]],
    ["model/mixers/focus.c", 'coefficients(g, s, raw, 1);', 'coefficients(g, s, raw, 0);', "Focus's filters are not shifted by a bin: not causal", ["test_mixer_oracle"]],
    ["model/mixers/lcat.c", "op_landmark(g, q, dense_filtered ? marks : k, v, marks,", "op_landmark(g, q, dense_filtered ? k : marks, v, marks,", "LCAT attends to filtered keys where plain ones are asked for", ["test_mixer_oracle"]],
    ["model/mixers/las.c", "op_pool(g, v, P, (P - 1) / 2, M)", "op_pool(g, v, P, (P + 1) / 2, M)", "centred pooling is off its middle", ["test_mixer_oracle"]],
    ["kernels/ema.c", "else\n            memset(state, 0, l.all * sizeof *state);", "else if (!b)\n            memset(state, 0, l.all * sizeof *state);", "place in the batch: a sequence begins where the one before ended", ["test_invariances"]],
    ["model/graph/replay.c", "g->parallel(g->pool, n, g->fast", "g->parallel(g->pool, n - 1, g->fast", "threads: a pool leaves out the last piece", ["test_invariances"]],
    ["kernels/reduce.h", "op(op(x.r[0], x.r[2]), op(x.r[1], x.r[3]))", "op(op(x.r[0], x.r[1]), op(x.r[2], x.r[3]))", "instruction set: SSE2 sums lanes in an order of its own", ["test_invariances"]],
    ["kernels/attention.c", "i0 + r - lo, visible(p, i0 + r, n) - lo,", "i0 + r - lo, visible(p, i0 + rows - 1, n) - lo,", "later rows: attention sees a row of its block ahead", ["test_invariances"]],
    ["model/graph/plan.c", "train ? back : to)", "train ? back : k)", "what LCAT's map is made of is overwritten before anybody looks", ["test_mixer_gradients"]],
    ["model/graph/plan.c", "n->scratch_n, k, to)", "n->scratch_n, k, k)", "looking writes over tensors that are looked at", ["test_mixer_gradients"]],
    ["model/graph/plan.c", "if (reads) return 2 * N - 1 - k;", "if (reads) return t->last_consumer;", "what backward reads is overwritten before", ["test_mixer_gradients"]],
    ["tasks/generators/recall.c", "x[t] += x[t] >= query[n - 1];", "x[t] += x[t] > query[n - 1];", "a second copy of the query can appear", ["test_tasks"]],
    ["tasks/generators/recall.c", "*answer = context[i * cell + n];", "*answer = context[i * cell + n - 1];", "the answer is the key", ["test_tasks"]],
    ["tasks/generators/copy.c", "x[rows] = marker;", "x[rows] = 0;", "the marker is missing", ["test_tasks"]],
    ["tasks/generators/context.c", "rng_below(&rng, (uint32_t)(length - block))", "rng_below(&rng, (uint32_t)(length - 1))", "the copy can stand in the query's own block", ["test_tasks"]],
    ["tasks/generators/regression.c", "t == 0 || sample->values[t] > most", "t == 0 || sample->values[t] < most", "the running maximum is a running minimum", ["test_tasks"]],
    // Kinds rather than places: rows beyond 2,048 and 4,096, deep recursions, steps beyond 500 or the plan,
    // starts, B > 1 where a choice is kept, tails, one width, rare modes, plans, flat exports, charts,
    // constants that only a plot shows.
    ["kernels/gate.c", "for (size_t i0 = 0; i0 < N; i0 += SMX_KC)", "for (size_t i0 = 0; i0 < N && i0 < 2048; i0 += SMX_KC)", "a gain's gradient forgets the rows from 2,048 on", ["test_scan", "test_norm", "test_whole_model"]],
    ["kernels/embedding.c", "if (row < N) memcpy(dx", "if (row < smx_min(N, 4096)) memcpy(dx", "asked rows from 4,096 on have no gradient", ["test_embedding", "test_whole_model"]],
    ["model/graph/replay.c", "add_apart(n, from, to);", "add_apart(n, 0, to - from);", "gradients made apart are added to the first rows only", ["test_mixer_gradients", "test_whole_model"]],
    ["model/ops/linear.c", "for (size_t end = from + count; from < end; from += BLOCK_ROWS)", "for (size_t end = from + count; from + BLOCK_ROWS <= end || from == 0; from += BLOCK_ROWS)", "a projection's gradient forgets the rows behind the last whole block", ["test_mixer_gradients", "test_whole_model"]],
    ["kernels/fft_rows.h", "fft_split_complex(re + k * quarter, im + k * quarter, M / 4, 4 * h + k, table);", "fft_split_complex(re + k * quarter, im + k * quarter, M / 4, 4 + k, table);", "the second level of the recursion takes the first one's twiddles", ["test_fft"]],
    ["model/ops/longconv.c", "n->flops = 5 *", "n->flops = 2 *", "long convolutions count two fifths of their products", ["test_run", "test_mixer_gradients", "test_whole_model"]],
    ["model/ops/dropout.c", "(uint32_t)g->step,", "(uint32_t)g->step & 511,", "dropout repeats itself after 512 steps", ["test_run", "test_optimiser", "test_whole_model"]],
    ["model/run/checkpoint.c", "if (step > is->common.steps)", "if (step >= is->common.steps)", "a training that has reached its plan cannot be loaded", ["test_checkpoint", "test_run"]],
    ["model/graph/params.c", "rng_uniform(&r) * (md_log(0.1) - md_log(0.001))", "rng_uniform(&r) * (md_log(0.2) - md_log(0.001))", "steps start up to twice as long", ["test_starts"]],
    ["model/mixers/weights.c", "md_sqrt(2.0 * (double)c->common.blocks)", "md_sqrt((double)c->common.blocks)", "output projections start too large by the root of 2", ["test_starts", "test_mixer_gradients", "test_run"]],
    ["model/ops/maxpool.c", "(const int32_t *)n->saved + from * out, count", "(const int32_t *)n->saved, count", "every sequence's gradient goes where the first one had its maxima", ["test_mixer_gradients", "test_whole_model"]],
    ["model/ops/landmark.c", "chosen_of(n)[h * p.L + i]", "chosen_of(n)[i]", "each head's map shows the blocks that the first head chose", ["test_mixer_gradients"]],
    ["kernels/reduce.h", "v16_load_n(x + i, n - i, -__builtin_inff())", "v16_load_n(x + i, n - i, 0.0f)", "the largest of a row with a tail is at least 0", ["test_reduce", "test_loss", "test_attention"]],
    ["kernels/activation.c", "memcpy(d, dy + whole, rest * sizeof *d);", "memcpy(d, dy + whole, (rest & 7) * sizeof *d);", "the upper half of a tail has no gradient", ["test_activation"]],
    ["kernels/simd.h", "return (vf){x, x, x, x};", "return (vf){x, x, x, x + 0x1p-23f * x};", "one lane of four is an ulp off where registers hold four", ["test_vmath", "test_elementwise"]],
    ["model/mixers/hyena.c", "op_turn(g, h, n * D, D)", "op_turn(g, h, (n & 1) * D, D)", "Hyena of order 3 uses its first filter twice", ["test_mixer_oracle", "test_whole_model"]],
    ["model/mixers/hyena.c", "1.0 / (double)(c->common.length > 1 ? c->common.length - 1 : 1)", "1.0 / (double)(g->L > 1 ? g->L - 1 : 1)", "Hyena's filters stretch with the sequence that is read", ["test_lengths", "test_reading_on", "test_mixer_oracle"]],
    ["model/ops/elementwise.c", ".backward_reads = READS_IN(0) | READS_IN(1) | READS_IN(2),", ".backward_reads = READS_IN(0) | READS_IN(1),", "the plan writes over what a gate's gradient reads", ["test_random_texts"]],
    ["model/ops/pieces.c", "n->scratch_n = pieces * n->piece_n;", "n->scratch_n = n->piece_n;", "the plan has room for one thread's scratch", ["test_whole_model", "test_threads"]],
    ["model/ops/tokens.c", "if (count % SMX_KC == 0) whole[c] = sum", "if (count % (2 * SMX_KC) == 0) whole[c] = sum", "a mean that is read on sums other blocks than the whole", ["test_reading_on"]],
    ["model/run/draw.c", "rng_open(d->seed + b, RNG_DRAW, form.rows)", "rng_open(d->seed, RNG_DRAW, form.rows)", "every sequence of a state draws the same number", ["test_reading_on"]],
    ["model/run/evaluate.c", "const size_t i = b * per + k;", "const size_t i = b * per + k - b * per * (b > 1);", "from the third sequence on the first one's answers are fed back", ["test_run", "test_user_data"]],
    ["tasks/generators/listops.c", "0.25 + 0.05 * (draw / 16)", "0.35 + 0.05 * (draw / 16)", "more arguments are lists than the Long Range Arena's quarter", ["test_tasks"]],
    ["tasks/generators/pathfinder.c", "apart = 3.5", "apart = 2.5", "curves may touch", ["test_labelled"]],
    ["tasks/generators/mad.c", "v = 1 + rng_below(rng, (uint32_t)m->motif);", "v = m->motif;", "fuzzy values are always of three tokens", ["test_tasks"]],
    ["wasm/exports.c", "(uint64_t)index, length, &s", "(uint32_t)index, length, &s", "samples from 2^32 on are those from 0 on", ["fields"]],
    ["wasm/exports.c", "(double)counts[i];", "(double)counts[i % classes * classes + i / classes];", "the confusion matrix arrives turned", ["fields"]],
    ["web/charts/scale.ts", "[125, 124, 120]", "[125, 164, 120]", "the middle of the heat map's scale is green", ["page_arithmetic"]],
    ["web/charts/layers.ts", "if (k === 0) return [{ x, y: top(place) + height }];", "if (k === 0) return [{ x, y: top(place) }];", "edges of the graph begin at the head of their box", ["page_arithmetic"]],
];

const proofs = process.argv[2] === '--proofs';
const wanted = process.argv.slice(proofs ? 3 : 2);
const chosen = [...(proofs ? [] : faults), ...inProofs].filter(
    ([file, , , what]) => !wanted.length || wanted.some((w) => file.includes(w) || what.includes(w)),
);
if (!chosen.length) {
    console.error(
        `mutants: no fault's file or description holds ${wanted.map((w) => `'${w}'`).join(' or ')}`,
    );
    process.exit(2);
}
const root = join(import.meta.dirname, '..');
const tree = join(root, 'build/mutants');
const objects = join(tree, 'build/obj');
// Two instruction sets are enough, which several tests compare: that all agree is another test's subject.
const isa = { x64: 'scalar sse2', arm64: 'scalar neon' }[process.arch] ?? 'scalar';
const options = [
    `ISAS=${isa}`,
    'FUSED=',
    'WARN=-w',
    'OBJ=build/obj',
    'BIN=build',
    `-j${availableParallelism()}`,
    '--no-print-directory',
    '-s',
];
// Tests by their names: in C, or these.
const MODULE = ['build/seqmix', 'build/wasm/seqmix-whole.wasm', 'build/wasm/seqmix.js'];
const SCRIPTS = {
    page_arithmetic: { file: 'proofs_tests/page/page_arithmetic.test.mjs', needs: ['build/seqmix'] },
    fields: { file: 'proofs_tests/package/fields.test.mjs', needs: MODULE },
};
const needsOf = (test) => SCRIPTS[test]?.needs ?? [`build/tests/${test}`];
const make = (tests) =>
    spawnSync('make', [...options, ...new Set(tests.flatMap(needsOf))], { cwd: tree, encoding: 'utf8' });

// A copy of the sources, dated as here, so that a second run rebuilds only what changed.
function copyTree() {
    const left = ['build', 'node_modules', 'dist', 'data'];
    const rooms = readdirSync(root).filter(
        (n) => !n.startsWith('.') && !left.includes(n) && statSync(join(root, n)).isDirectory(),
    );
    const copy = (path) => {
        const from = join(root, path),
            to = join(tree, path);
        if (statSync(from).isDirectory()) {
            mkdirSync(to, { recursive: true });
            const names = readdirSync(from).filter((n) => n !== 'node_modules');
            for (const name of readdirSync(to))
                if (!names.includes(name)) rmSync(join(to, name), { recursive: true });
            for (const name of names) copy(join(path, name));
        } else if (!existsSync(to) || statSync(to).mtimeMs !== statSync(from).mtimeMs) {
            cpSync(from, to, { preserveTimestamps: true });
        }
    };
    mkdirSync(tree, { recursive: true });
    rooms.forEach(copy);
    ['Makefile', 'package.json', 'package-lock.json', 'tsconfig.json'].forEach(copy);
    const modules = join(tree, 'node_modules');
    if (!existsSync(modules)) symlinkSync(join(root, 'node_modules'), modules);
    writeFileSync(join(tree, 'scripts/setup.sh'), '#!/bin/sh\n', { mode: 0o755 }); // what is there is there
}
// Every object that was made from `file`, by the compiler's own lists; [path, contents, date].
function dependants(file) {
    const found = [];
    const look = (folder) => {
        for (const entry of readdirSync(folder, { withFileTypes: true })) {
            const path = join(folder, entry.name);
            if (entry.isDirectory()) look(path);
            else if (
                path.endsWith('.d') &&
                new RegExp(`(^|[ /])${file.replaceAll('.', '\\.')}( |:|$)`, 'm').test(
                    readFileSync(path, 'utf8'),
                )
            )
                found.push(path.replace(/d$/, 'o'));
        }
    };
    look(objects);
    return found.filter(existsSync).map((path) => [path, readFileSync(path), statSync(path)]);
}
function seconds(since) {
    return ((Date.now() - since) / 1000).toFixed(1);
}
function run(test) {
    const command = SCRIPTS[test]
        ? ['node', '--test', '--test-reporter=tap', SCRIPTS[test].file]
        : [join(tree, 'build/tests', test)];
    // So long of a processor: on a loaded machine a test takes its time, and has not failed by that.
    const limit = ['3600', 'bash', '-c', 'ulimit -t 300; exec "$@"', 'bash'];
    const r = spawnSync('timeout', [...limit, ...command], { cwd: tree, encoding: 'utf8' });
    return { failed: r.status !== 0, lines: (r.stdout + r.stderr).split('\n') };
}

const started = Date.now();
copyTree();
const tests = [...new Set(chosen.flatMap((f) => f[4]))];
const built = make(tests);
if (built.status !== 0) {
    console.error(built.stderr.slice(-2000));
    console.error('mutants: the tree without a fault does not build');
    process.exit(1);
}
function mustPass(when) {
    for (const test of tests) {
        const { failed, lines } = run(test);
        if (!failed) continue;
        console.error(lines.slice(-15).join('\n'));
        console.error(`mutants: ${test} fails without any fault, ${when}`);
        process.exit(1);
    }
}
mustPass('before the first one');
console.log(
    `${chosen.length} faults; without one, ${tests.length} test programs pass (${seconds(started)} s with the build)\n`,
);

let survivors = 0;
for (const [file, from, to, what, by] of chosen) {
    const path = join(tree, file),
        text = readFileSync(path, 'utf8'),
        dates = statSync(path),
        begun = Date.now();
    if (text.split(from).length !== 2) {
        console.log(
            `OUTDATED   ${file}: '${from}' stands there ${text.split(from).length - 1} times, not once: ${what}`,
        );
        survivors++;
        continue;
    }
    const kept = dependants(file);
    writeFileSync(
        path,
        text.replace(from, () => to),
    );
    const result = make(by);
    let noticed = result.status !== 0 ? 'does not build' : '';
    for (const test of by) {
        if (noticed) break;
        const { failed, lines } = run(test);
        if (!failed) continue;
        const line = lines.find((l) => /\[ {2}FAILED {2}\]|^not ok/.test(l)) ?? '';
        noticed = `${test}: ${line.replace(/\[ {2}FAILED {2}\]|^not ok \d+ - /, '').trim()}`;
    }
    // (A fault that does not build shows nothing about the tests.)
    if (!noticed || result.status !== 0) survivors++;
    console.log(
        `${!noticed ? 'SURVIVED  ' : result.status !== 0 ? 'NO FAULT  ' : 'caught    '} ${file}: ${what}  [${noticed || by.join(', ')}; ${seconds(begun)} s]`,
    );
    writeFileSync(path, text);
    utimesSync(path, dates.atime, dates.mtime);
    for (const [object, contents, date] of kept) {
        writeFileSync(object, contents);
        utimesSync(object, date.atime, date.mtime);
    }
    // Made of older objects now, which their dates would not tell.
    const libraries = ['build/libseqmix.a', 'build/libcli.a', 'build/libconstructions.a'];
    for (const made of [...libraries, ...by.flatMap(needsOf)]) rmSync(join(tree, made), { force: true });
}
// Nothing of a fault may have stayed behind, or the ones after it were caught for the wrong reason.
make(tests);
mustPass('after the last one');
console.log(`\n${chosen.length - survivors} of ${chosen.length} faults caught in ${seconds(started)} s`);
process.exit(survivors ? 1 : 0);
