// proofs.mjs: faults in kernels and constructions that the proof programs (proofs_tests/proofs/proof_*.c)
// must notice alone, whatever other tests would. A row is as in scripts/mutants.mjs.
//   node scripts/mutants.mjs --proofs [WORD...]

const CONSTRUCTIONS = 'proofs_tests/constructions/constructions';

// prettier-ignore
export const inProofs = [
    // These five, of twelve that were planted, were once passed.
    ["kernels/rows/norm.c", "square <= 1e-24f ? 0.0f : reciprocal_root(square);", "square <= 1e-24f ? 0.0f : 0.97f * reciprocal_root(square);", "unit norms of length 0.97", ["proof_cat_thm1"]],
    ["kernels/spectral/iir.c", "V16_MAP(theta, n, theta_16(LOAD(raw), 0));", "V16_MAP(theta, n, v16_mul(v16_set(1.0f - 0x1p-14f), theta_16(LOAD(raw), 0)));", "Theta off by 2^-14", ["proof_focus"]],
    ["kernels/recurrent/linattn.c", "V16_MAP(to, d, v16_mul(LOAD(o), v16_set(s)));", "V16_MAP(to, d, v16_mul(LOAD(o), v16_set(s * (1.0f + 0x1p-22f))));", "linear attention 4 u off", ["proof_chela"]],
    ["kernels/attention/attention.c", "for (size_t j = 0; j < m; j++) w.s[j] *= stats[1];", "for (size_t j = 0; j < m; j++) w.s[j] = SMX_NAN;", "maps that are not numbers", ["proof_las_b1"]],
    ["kernels/attention/attention_rows.h", "without_maximum(s, n16) : 1.0f / exponentials(s, n, stats[0]);", "without_maximum(s, n16) : (1.0f + 0x1p-21f) / exponentials(s, n, stats[0]);", "attention 8 u off", ["proof_las_b1"]],
    // Seven more, in what the others leave out: proof_cat_thm2 once passed its two.
    ["kernels/conv/conv.c", "taps, at.Dp, L, W, ahead);\n            copy_rows(", "taps, at.Dp, L, W, 0);\n            copy_rows(", "narrow convolutions do not look ahead", ["proof_cat_thm2"]],
    ["kernels/conv/conv.c", "row - (ptrdiff_t)L + 1);", "row - (ptrdiff_t)L + 2);", "a convolution drops its newest tap near the end", ["proof_las_smooth"]],
    ["kernels/core/vmath.h", "vf_exp_down(a.r[r], -41.5f);\n    return a;", "vf_exp_down(a.r[r], -12.0f);\n    return a;", "softmax drops weights below e^-12", ["proof_las_b1"]],
    ["kernels/spectral/fft_rows.h", "vc_mul_conj(vc_sub(p, q), t)", "vc_mul_conj(vc_sub(p, q), u)", "a quarter of the inverse transform takes its neighbour's twiddle", ["proof_chela"]],
    [`${CONSTRUCTIONS}_cat.c`, "status = ngrams(k, work, x, m, 1, p);", "status = ngrams(k, work, x, m, 0, p);", "keys are not delayed", ["proof_cat_cor1"]],
    [`${CONSTRUCTIONS}_cat.c`, "2 * R + 1, R, p)", "2 * R + 1, R - 1, p)", "a two-sided filter comes a row late", ["proof_cat_thm2"]],
    [`${CONSTRUCTIONS}_cat.c`, "taps[i] = pow(1 - 1 / L, (double)i);", "taps[i] = 1;", "the query filter of copying does not fade", ["proof_cat_thm3"]],
    // Twenty more: in kernels ...
    ["kernels/rows/norm.c", "square <= 1e-24f ?", "square <= 1e-2f ?", "rows shorter than 0.1 become 0", ["proof_cat_thm1"]],
    ["kernels/conv/conv.c", "(ptrdiff_t)L - row : row + 1);", "(ptrdiff_t)L - row : row);", "a convolution drops its oldest tap near the start", ["proof_chela"]],
    ["kernels/core/vmath.h", "vf_set(0.499999934f)", "vf_set(0.49998f)", "exponentials up to 40 u off", ["proof_las_b1"]],
    ["kernels/core/vmath.h", "((k)*vf_set(1.42860677e-6f))", "((k)*vf_set(1.0e-6f))", "the lower half of ln 2 is a third too small", ["proof_las_b1"]],
    ["kernels/core/reduce.h", "const vf q = op(op(x.r[0], x.r[2]), op(x.r[1], x.r[3]));", "const vf q = op(op(x.r[0], x.r[2]), op(x.r[1], x.r[2]));", "four of sixteen lanes are lost in SSE2's sums", ["proof_las_b1"]],
    ["kernels/core/tile.h", "for (size_t k0 = 0; k0 < k || k0 == 0; k0 += SMX_KC)", "for (size_t k0 = 0; k0 < 1; k0 += SMX_KC)", "products of more than a block of k forget the rest", ["proof_chela", "proof_cat_thm1"]],
    ["kernels/attention/attention.c", "const size_t m = visible(p, i, n);\n            float stats[2]", "const size_t m = visible(p, i, n) - (i > 0);\n            float stats[2]", "maps do not see their own column", ["proof_las_b1", "proof_cat_thm1"]],
    ["kernels/attention/attention_rows.h", "(p->L - 1) - i;", "p->L - i;", "bias by distance is off by one", ["proof_cat_thm1"]],
    ["kernels/spectral/iir.c", "y1 = v16_sub(in, v16_mul(a1, y1));", "y1 = v16_sub(in, v16_mul(v16_mul(a1, v16_set(1.0f - 0x1p-20f)), y1));", "the first coefficient is 16 u off", ["proof_focus"]],
    ["kernels/spectral/iir.c", "0x1.ffffep-1f //", "0x1.fffffp-1f //", "the poles come twice as near the circle", ["proof_focus"]],
    ["kernels/recurrent/linattn.c", "tile_product(w->state, dp, ks.x, 1, ks.ld, vs.x, vs.ld, d, dp, n, 1);\n    if (p->norm == SMX_LINATTN_SUM) add_rows(w->sum, ks, NULL, n, dp);\n}\n\n// Heads", "tile_product(w->state, dp, ks.x, 1, ks.ld, vs.x, vs.ld, d, dp, n - (n > 1), 1);\n    if (p->norm == SMX_LINATTN_SUM) add_rows(w->sum, ks, NULL, n, dp);\n}\n\n// Heads", "a block's last row does not reach the state", ["proof_chela"]],
    ["kernels/conv/longconv.c", "scale_spectrum(rows, 2, 1.0f / (float)N);\n    scale_spectrum(rows + 2 * FFT_LANES, N - 2, 2.0f / (float)N);\n}", "scale_spectrum(rows, 2, 1.0f / (float)N);\n    scale_spectrum(rows + 2 * FFT_LANES, N - 2, (2.0f + 0x1p-19f) / (float)N);\n}", "a long kernel's spectrum is 16 u too large but at two frequencies", ["proof_chela"]],
    ["kernels/attention/landmark.c", "while (best < n && score[best] < max) best++;", "while (best + 2 < n && score[best] < max) best++;", "the last block is never chosen", ["proof_cat_prop12"]],
    ["kernels/attention/landmark.c", "v16_sub(state, v16_mul(v16_set(forget), state))", "v16_sub(state, v16_mul(v16_set(0.5f * forget), state))", "landmarks fade half as fast", ["proof_cat_prop12"]],
    // ... and in constructions.
    [`${CONSTRUCTIONS}.c`, "wo[(h * d + e) * D + e] = h ? -c : c;", "wo[(h * d + e) * D + e] = c;", "both heads of a signed kernel add", ["proof_las_b1"]],
    [`${CONSTRUCTIONS}.c`, "rest += part(kernel[i], head, flags);", "rest += 0.999999 * part(kernel[i], head, flags);", "the extra token weighs a millionth too little", ["proof_las_b1"]],
    [`${CONSTRUCTIONS}_cat.c`, "m->delay == CON_VALUE_DELAY ? 2 : 1, 0};", "m->delay == CON_VALUE_DELAY ? 1.999 : 1, 0};", "the delayed values are a 2000th too small", ["proof_cat_thm1"]],
    [`${CONSTRUCTIONS}_cat.c`, "(starts < L ? starts : L) * D", "(starts < L ? starts : L) / 2 * D", "half of the starts stay unmasked", ["proof_cat_thm1"]],
    [`${CONSTRUCTIONS}_cat.c`, "c = exp(1) * L * log(2 * L / m->epsilon);", "c = L * log(2 * L / m->epsilon);", "copying is e times too soft", ["proof_cat_thm3"]],
    [`${CONSTRUCTIONS}_focus.c`, "if (disc < 0) return sqrt(a2);", "if (disc < 0) return a2;", "a pair of poles is squared", ["proof_focus"]],
];
