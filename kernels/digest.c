// digest.c: seeded cases for every kernel of kernels.txt, and the hash of what they give. Compiled once;
// calls the public functions, so it sees what a caller sees. A kernel without a case does not link.
// Long because it is a list: one case for each kernel.
#include "digest.h"
#include "hash.h"
#include <seqmix/smx.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// ---- One run: its random numbers, its memory, and where the outputs go ----------------------------------
enum { ARENA_BYTES = 1 << 20 };
typedef struct {
    uint64_t state;
    unsigned char *arena;
    size_t used;
    int overflow;
    smx_digest_sink *sink;
    void *context;
} run;

static uint64_t next(run *r) { // splitmix64
    uint64_t z = r->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// Cases start with used = 0. One that outgrows the arena starts over in it and is reported, not hashed.
static void *take(run *r, size_t bytes, size_t offset) {
    const size_t need = (bytes + offset + 63) / 64 * 64;
    assert(need <= ARENA_BYTES);
    if (need > ARENA_BYTES - r->used) {
        r->overflow = 1;
        r->used = 0;
    }
    unsigned char *p = r->arena + r->used + offset;
    r->used += need;
    return p;
}
static void *scratch(run *r, size_t bytes) { return take(r, bytes, 0); }
// Arrays start one float past a multiple of 64, as a caller's may.
static float *blank(run *r, size_t n) {
    float *x = take(r, n * sizeof *x, 4);
    memset(x, 0xFF, n * sizeof *x);
    return x;
}
static int32_t *blank_ints(run *r, size_t n) { return take(r, n * sizeof(int32_t), 4); }

// k 2^-23 for a 24-bit signed k: exact, in [-1, 1).
static float signed_unit(run *r) { return (float)((int32_t)(next(r) >> 40) - 8388608) * 0x1p-23f; }
static float *uniform(run *r, size_t n, float centre, float spread) {
    float *x = blank(r, n);
    for (size_t i = 0; i < n; i++) {
        const float part = signed_unit(r) * spread;
        x[i] = centre + part;
    }
    return x;
}
static float *unit(run *r, size_t n) { return uniform(r, n, 0.0f, 1.0f); }
// Any bit pattern: denormals, infinities and NaN among them.
static float *patterns(run *r, size_t n) {
    float *x = blank(r, n);
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = (uint32_t)(next(r) >> 32);
        memcpy(x + i, &bits, 4);
    }
    return x;
}
static int32_t *integers(run *r, size_t n, int32_t low, int32_t high) { // low <= x < high
    int32_t *x = blank_ints(r, n);
    for (size_t i = 0; i < n; i++) x[i] = low + (int32_t)(next(r) % (uint64_t)(high - low));
    return x;
}

static void out(run *r, const char *what, const void *words, size_t n) {
    if (!r->overflow) r->sink(r->context, what, words, n);
}

// ---- Cases: run_<kernel> for each kernel of kernels.txt ---------------------------------------------------
// Never two draws in one call: compilers choose the order of arguments.
// -----------------------------------------------------------
static const size_t lengths[] = {1, 15, 16, 17, 64, 1000};
#define EACH_LENGTH(n)                                                                                       \
    for (size_t l_ = 0, n = lengths[0]; l_ < sizeof lengths / sizeof *lengths;                               \
         n = ++l_ < sizeof lengths / sizeof *lengths ? lengths[l_] : 0)

static void run_gemm(run *r) {
    static const struct {
        size_t m, n, k;
    } shapes[] = {{1, 1, 1},    {5, 7, 3},    {12, 32, 16}, {13, 33, 17},
                  {24, 64, 40}, {31, 9, 300}, {50, 21, 520}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (unsigned flags = 0; flags < 8; flags++) {
            r->used = 0;
            const size_t m = shapes[s].m, n = shapes[s].n, k = shapes[s].k;
            const size_t lda = (flags & SMX_TRANS_A ? m : k) + 3, ldb = (flags & SMX_TRANS_B ? k : n) + 1,
                         ldc = n + 2;
            float *a = unit(r, (flags & SMX_TRANS_A ? k : m) * lda),
                  *b = unit(r, (flags & SMX_TRANS_B ? n : k) * ldb);
            float *c = unit(r, m * ldc);
            smx_gemm(c, a, b, scratch(r, smx_gemm_scratch_bytes(m, n, k)), m, n, k, lda, ldb, ldc, flags);
            out(r, "c", c, m * ldc);
        }
}

static const struct {
    size_t height, width;
} rows[] = {{1, 1}, {3, 7}, {17, 16}, {33, 20}, {300, 33}, {600, 10}};
#define EACH_ROWS(N, D)                                                                                      \
    for (size_t s_ = 0, N, D;                                                                                \
         s_ < sizeof rows / sizeof *rows && (N = rows[s_].height, D = rows[s_].width, r->used = 0, 1); s_++)

static void run_bias_fwd(run *r) {
    EACH_ROWS(N, D) {
        float *y = blank(r, N * D), *x = unit(r, N * D), *bias = unit(r, D);
        smx_bias_fwd(y, x, bias, N, D);
        out(r, "y", y, N * D);
    }
}
static void run_bias_bwd(run *r) {
    EACH_ROWS(N, D) {
        float *dbias = unit(r, D);
        smx_bias_bwd(dbias, unit(r, N * D), N, D);
        out(r, "dbias", dbias, D);
    }
}

// y = f(x) over a range and over any bit patterns.
static void unary(run *r, void (*kernel)(float *, const float *, size_t), float centre, float spread) {
    EACH_LENGTH(n) {
        r->used = 0;
        float *y = blank(r, n), *z = blank(r, n);
        kernel(y, uniform(r, n, centre, spread), n);
        out(r, "y", y, n);
        kernel(z, patterns(r, n), n);
        out(r, "y of bit patterns", z, n);
    }
}
// y = f(a, b)
static void binary(run *r, void (*kernel)(float *, const float *, const float *, size_t), float spread) {
    EACH_LENGTH(n) {
        r->used = 0;
        float *y = blank(r, n), *a = unit(r, n), *b = uniform(r, n, 0.0f, spread);
        kernel(y, a, b, n);
        out(r, "y", y, n);
        float *z = blank(r, n), *c = patterns(r, n), *d = patterns(r, n);
        kernel(z, c, d, n);
        out(r, "y of bit patterns", z, n);
    }
}
static void run_add(run *r) { binary(r, smx_add, 1.0f); }
static void run_mul(run *r) { binary(r, smx_mul, 1.0f); }
static void run_scale(run *r) {
    EACH_LENGTH(n) {
        r->used = 0;
        float *y = blank(r, n);
        smx_scale(y, unit(r, n), 0.7f, n);
        out(r, "y", y, n);
    }
}
static void run_axpy(run *r) {
    EACH_LENGTH(n) {
        r->used = 0;
        float *y = unit(r, n);
        smx_axpy(y, unit(r, n), 0.7f, n);
        out(r, "y", y, n);
    }
}
static void run_gelu_fwd(run *r) { unary(r, smx_gelu_fwd, 0.0f, 8.0f); }
static void run_gelu_bwd(run *r) { binary(r, smx_gelu_bwd, 8.0f); }
static void run_silu_fwd(run *r) { unary(r, smx_silu_fwd, 0.0f, 20.0f); }
static void run_silu_bwd(run *r) { binary(r, smx_silu_bwd, 20.0f); }
static void run_sigmoid_fwd(run *r) { unary(r, smx_sigmoid_fwd, 0.0f, 30.0f); }
static void run_sigmoid_bwd(run *r) { binary(r, smx_sigmoid_bwd, 1.0f); }
static void run_tanh_fwd(run *r) { unary(r, smx_tanh_fwd, 0.0f, 4.0f); }
static void run_tanh_bwd(run *r) { binary(r, smx_tanh_bwd, 1.0f); }
static void run_exp_fwd(run *r) { unary(r, smx_exp_fwd, 0.0f, 90.0f); }
static void run_log_fwd(run *r) { unary(r, smx_log_fwd, 4.0f, 3.9f); }
static void run_sincos_fwd(run *r) {
    EACH_LENGTH(n) {
        r->used = 0;
        float *s = blank(r, n), *c = blank(r, n);
        smx_sincos_fwd(s, c, uniform(r, n, 0.0f, 8192.0f), n);
        out(r, "sine", s, n);
        out(r, "cosine", c, n);
        smx_sincos_fwd(s, c, patterns(r, n), n);
        out(r, "sine of bit patterns", s, n);
        out(r, "cosine of bit patterns", c, n);
    }
}

static void run_sum(run *r) {
    EACH_LENGTH(n) {
        r->used = 0;
        const float s = smx_sum(unit(r, n), n);
        out(r, "sum", &s, 1);
    }
}
static void run_dot(run *r) {
    EACH_LENGTH(n) {
        r->used = 0;
        const float *x = unit(r, n), *y = unit(r, n);
        const float s = smx_dot(x, y, n);
        out(r, "dot", &s, 1);
    }
}

// Rows of the piece that begins at row t when a sequence comes in pieces; more than one sequence come whole.
static size_t piece(size_t t, size_t L, size_t B) {
    const size_t rows = B > 1 ? L : 1 + t % 7 * t % 41;
    return rows < L - t ? rows : L - t;
}

// Attention with tables, in chunks with masked pooling, and without, L around the block of 24 rows and past
// SMX_KC. `which`: 0 forward, 1 backward, 2 map, 3 row by row.
static void attention(run *r, const int which) {
    static const smx_attention shapes[] = {
        {.B = 2, .L = 1, .D = 4, .H = 2, .stride = 4, .causal = 1, .scale = 0.7f},
        {.B = 2, .L = 23, .D = 24, .H = 3, .stride = 72, .causal = 1, .scale = 0.35f},
        {.B = 1, .L = 49, .D = 40, .H = 2, .stride = 40, .causal = 0, .scale = 0.22f},
        {.B = 1, .L = 300, .D = 8, .H = 1, .stride = 8, .causal = 1, .scale = 0.35f},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int options = 0; options < 3; options++) {
            r->used = 0;
            smx_attention p = shapes[s];
            if (options == 2) {
                p.chunk = 40;
                p.pool_window = p.causal ? 7 : 0;
            }
            const size_t n = p.B * p.L * p.stride, m = p.B * p.L * p.D, taps = p.H * (2 * p.L - 1);
            float *q = uniform(r, n, 0, 2), *k = uniform(r, n, 0, 2), *v = unit(r, n);
            if (options == 1) {
                p.decay_table = uniform(r, taps, 1.0f, 0.5f);
                p.bias = unit(r, taps);
            }
            if (which == 2) {
                float *map = blank(r, p.L * p.L);
                smx_attention_map(map, q, k, scratch(r, smx_attention_fwd_scratch_bytes(&p)), &p, p.B - 1,
                                  p.H - 1);
                out(r, "map", map, p.L * p.L);
                continue;
            }
            float *o = blank(r, m);
            if (which == 3) {
                float *kept = uniform(r, smx_attention_kept_floats(&p), 0, 0);
                void *work = scratch(r, smx_attention_push_scratch_bytes(&p));
                for (size_t t = 0, rows; t < p.L && p.causal; t += rows) {
                    const size_t at = t * p.stride;
                    rows = piece(t, p.L, p.B);
                    smx_attention_push(o + t * p.D, kept, q + at, k + at, v + at, work, t, rows, &p);
                }
                if (p.causal) out(r, "o", o, m);
                continue;
            }
            float *stats = blank(r, p.B * p.H * p.L * 2);
            smx_attention_fwd(o, stats, q, k, v, scratch(r, smx_attention_fwd_scratch_bytes(&p)), &p);
            if (which == 0) {
                out(r, "o", o, m);
                out(r, "stats", stats, p.B * p.H * p.L * 2);
                continue;
            }
            float *dq = uniform(r, n, 0, 0), *dk = uniform(r, n, 0, 0), *dv = uniform(r, n, 0, 0),
                  *dout = unit(r, m);
            smx_attention_bwd(dq, dk, dv, dout, q, k, v, o, stats,
                              scratch(r, smx_attention_bwd_scratch_bytes(&p)), &p);
            out(r, "dq", dq, n);
            out(r, "dk", dk, n);
            out(r, "dv", dv, n);
        }
}
static void run_attention_fwd(run *r) { attention(r, 0); }
static void run_attention_bwd(run *r) { attention(r, 1); }
static void run_attention_map(run *r) { attention(r, 2); }
static void run_attention_push(run *r) { attention(r, 3); }

static void attention_maps(run *r, const int backward) {
    static const smx_attention shapes[] = {
        {.B = 2, .L = 1, .D = 4, .H = 2, .stride = 4, .causal = 1, .scale = 0.7f},
        {.B = 2, .L = 23, .D = 24, .H = 3, .stride = 72, .causal = 1, .scale = 0.35f},
        {.B = 1, .L = 61, .D = 40, .H = 2, .stride = 40, .causal = 0, .scale = 0.22f, .chunk = 40},
        {.B = 1, .L = 130, .D = 32, .H = 4, .stride = 32, .causal = 1, .scale = 0.35f},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        r->used = 0;
        smx_attention p = shapes[s];
        const size_t n = p.B * p.L * p.stride, m = p.B * p.L * p.D;
        float *q = uniform(r, n, 0, 2), *k = uniform(r, n, 0, 2), *v = unit(r, n), *mix = unit(r, p.H * p.H);
        float *o = blank(r, m), *stats = blank(r, p.B * p.H * p.L * 2);
        p.decay_table = s == 1 ? uniform(r, p.H * (2 * p.L - 1), 1.0f, 0.5f) : NULL;
        smx_attention_maps_fwd(o, stats, q, k, v, mix, scratch(r, smx_attention_maps_fwd_scratch_bytes(&p)),
                               &p);
        if (!backward) {
            out(r, "o", o, m);
            continue;
        }
        float *dq = uniform(r, n, 0, 0), *dk = uniform(r, n, 0, 0), *dv = uniform(r, n, 0, 0);
        float *dmix = unit(r, p.H * p.H), *dout = unit(r, m);
        smx_attention_maps_bwd(dq, dk, dv, dmix, dout, q, k, v, mix, stats,
                               scratch(r, smx_attention_maps_bwd_scratch_bytes(&p)), &p);
        out(r, "dq", dq, n);
        out(r, "dk", dk, n);
        out(r, "dv", dv, n);
        out(r, "dmix", dmix, p.H * p.H);
    }
}
static void run_attention_maps_fwd(run *r) { attention_maps(r, 0); }
static void run_attention_maps_bwd(run *r) { attention_maps(r, 1); }

static void run_elu1_fwd(run *r) { unary(r, smx_elu1_fwd, 0.0f, 20.0f); }
static void run_elu1_bwd(run *r) { binary(r, smx_elu1_bwd, 2.0f); }

static void linattn(run *r, const int backward, const int push) {
    static const smx_linattn shapes[] = {
        {.B = 2, .L = 1, .D = 4, .H = 2, .stride = 4, .C = 1, .norm = SMX_LINATTN_SUM},
        {.B = 2, .L = 23, .D = 24, .H = 3, .stride = 72, .C = 0, .norm = SMX_LINATTN_NONE},
        {.B = 1, .L = 61, .D = 40, .H = 2, .stride = 40, .C = 25, .norm = SMX_LINATTN_RMS, .eps = 1e-5f},
        {.B = 1, .L = 130, .D = 32, .H = 4, .stride = 32, .C = 64, .norm = SMX_LINATTN_SUM},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        r->used = 0;
        const smx_linattn p = shapes[s];
        const size_t n = p.B * p.L * p.stride, m = p.B * p.L * p.D;
        const float centre = p.norm == SMX_LINATTN_SUM ? 1.0f : 0.0f;
        float *q = uniform(r, n, centre, 1), *k = uniform(r, n, centre, 1), *v = unit(r, n);
        float *y = blank(r, m);
        if (push) {
            float *carried = uniform(r, smx_linattn_carried_floats(&p), 0, 0);
            void *work = scratch(r, smx_linattn_fwd_scratch_bytes(&p));
            for (size_t t = 0, rows; t < p.L; t += rows) {
                const size_t at = t * p.stride;
                rows = piece(t, p.L, p.B);
                smx_linattn_push(y + t * p.D, carried, q + at, k + at, v + at, work, t, rows, &p);
            }
            out(r, "y", y, m);
            continue;
        }
        float *norm = blank(r, p.B * p.H * p.L);
        smx_linattn_fwd(y, norm, q, k, v, scratch(r, smx_linattn_fwd_scratch_bytes(&p)), &p);
        if (!backward) {
            out(r, "y", y, m);
            out(r, "norm", norm, p.B * p.H * p.L);
            continue;
        }
        float *dq = uniform(r, n, 0, 0), *dk = uniform(r, n, 0, 0), *dv = uniform(r, n, 0, 0),
              *dy = unit(r, m);
        smx_linattn_bwd(dq, dk, dv, dy, q, k, v, y, norm, scratch(r, smx_linattn_bwd_scratch_bytes(&p)), &p);
        out(r, "dq", dq, n);
        out(r, "dk", dk, n);
        out(r, "dv", dv, n);
    }
}
static void run_linattn_fwd(run *r) { linattn(r, 0, 0); }
static void run_linattn_bwd(run *r) { linattn(r, 1, 0); }
static void run_linattn_push(run *r) { linattn(r, 0, 1); }

static void block_filter(run *r,
                         void (*kernel)(float *, const float *, size_t, size_t, size_t, size_t, float)) {
    static const struct {
        size_t B, L, D, block;
        float forget;
    } shapes[] = {
        {1, 1, 1, 1, 0.0f}, {2, 29, 17, 8, 0.0f}, {2, 29, 17, 8, 0.11750310f}, {1, 70, 32, 100, 0.0f}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        r->used = 0;
        const size_t n = shapes[s].B * shapes[s].L * shapes[s].D;
        float *y = blank(r, n);
        kernel(y, unit(r, n), shapes[s].B, shapes[s].L, shapes[s].D, shapes[s].block, shapes[s].forget);
        out(r, "y", y, n);
    }
}
static void run_block_filter_fwd(run *r) { block_filter(r, smx_block_filter_fwd); }
static void run_block_filter_bwd(run *r) { block_filter(r, smx_block_filter_bwd); }

static void landmark(run *r, const int backward) {
    static const smx_landmark shapes[] = {
        {.B = 2, .L = 1, .D = 4, .H = 2, .stride = 4, .block = 3, .scale = 0.7f},
        {.B = 2, .L = 37, .D = 24, .H = 3, .stride = 30, .block = 5, .scale = 0.35f},
        {.B = 1, .L = 150, .D = 40, .H = 2, .stride = 40, .block = 33, .scale = 0.22f},
        {.B = 1, .L = 200, .D = 64, .H = 1, .stride = 64, .block = 16, .scale = 0.125f},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        r->used = 0;
        const smx_landmark p = shapes[s];
        const size_t n = p.B * p.L * p.stride, m = p.B * p.L * p.D, rows = p.B * p.H * p.L;
        float *q = uniform(r, n, 0, 2), *k = uniform(r, n, 0, 2), *v = unit(r, n), *marks = unit(r, n);
        float *o = blank(r, m), *stats = blank(r, 2 * rows);
        int32_t *chosen = blank_ints(r, rows);
        smx_landmark_fwd(o, stats, chosen, q, k, v, marks, scratch(r, smx_landmark_fwd_scratch_bytes(&p)),
                         &p);
        if (!backward) {
            out(r, "o", o, m);
            out(r, "chosen", chosen, rows);
            continue;
        }
        float *dq = uniform(r, n, 0, 0), *dk = uniform(r, n, 0, 0), *dv = uniform(r, n, 0, 0),
              *dout = unit(r, m);
        smx_landmark_bwd(dq, dk, dv, dout, q, k, v, o, stats, chosen,
                         scratch(r, smx_landmark_bwd_scratch_bytes(&p)), &p);
        out(r, "dq", dq, n);
        out(r, "dk", dk, n);
        out(r, "dv", dv, n);
    }
}
static void run_landmark_fwd(run *r) { landmark(r, 0); }
static void run_landmark_bwd(run *r) { landmark(r, 1); }

static const struct {
    size_t B, L, D, groups, W, future;
} convs[] = {{1, 1, 1, 1, 1, 0},    {2, 9, 16, 2, 3, 0},   {2, 33, 24, 24, 4, 0},
             {1, 70, 32, 4, 21, 0}, {2, 20, 20, 5, 15, 7}, {1, 300, 16, 1, 40, 0}};
static void conv(run *r, const int backward) {
    for (size_t s = 0; s < sizeof convs / sizeof *convs; s++) {
        r->used = 0;
        const size_t B = convs[s].B, L = convs[s].L, D = convs[s].D, G = convs[s].groups, W = convs[s].W;
        const size_t ldx = D + 3, ldy = D, F = convs[s].future;
        float *x = unit(r, B * L * ldx), *f = unit(r, G * W), *y = unit(r, B * L * ldy);
        const smx_conv p = {B, L, D, G, W, F, ldx, ldy};
        void *work = scratch(r, smx_conv_scratch_bytes(&p));
        if (backward) {
            float *dx = unit(r, B * L * ldx), *df = unit(r, G * W);
            smx_conv_bwd(dx, df, y, x, f, work, &p);
            out(r, "dx", dx, B * L * ldx);
            out(r, "df", df, G * W);
        } else {
            smx_conv_fwd(y, x, f, work, &p);
            out(r, "y", y, B * L * ldy);
        }
    }
}
static void run_conv_fwd(run *r) { conv(r, 0); }
static void run_conv_bwd(run *r) { conv(r, 1); }

static const struct {
    size_t B, L, D, H, W;
} head_convs[] = {
    {1, 1, 2, 2, 1}, {2, 9, 6, 3, 4}, {2, 33, 24, 4, 3}, {1, 40, 40, 5, 21}, {1, 130, 16, 8, 2}};
static void conv_heads(run *r, const int backward) {
    for (size_t s = 0; s < sizeof head_convs / sizeof *head_convs; s++) {
        r->used = 0;
        const size_t B = head_convs[s].B, L = head_convs[s].L, D = head_convs[s].D, H = head_convs[s].H;
        const size_t W = head_convs[s].W, ldx = D + 1, ldy = D;
        float *x = unit(r, B * L * ldx), *f = unit(r, W * H * H), *y = unit(r, B * L * ldy);
        const smx_conv_heads p = {B, L, D, H, W, ldx, ldy};
        void *work = scratch(r, smx_conv_heads_scratch_bytes(&p));
        if (backward) {
            float *dx = unit(r, B * L * ldx), *df = unit(r, W * H * H);
            smx_conv_heads_bwd(dx, df, y, x, f, work, &p);
            out(r, "dx", dx, B * L * ldx);
            out(r, "df", df, W * H * H);
        } else {
            smx_conv_heads_fwd(y, x, f, work, &p);
            out(r, "y", y, B * L * ldy);
        }
    }
}
static void run_conv_heads_fwd(run *r) { conv_heads(r, 0); }
static void run_conv_heads_bwd(run *r) { conv_heads(r, 1); }

static void layernorm(run *r, const int backward) {
    EACH_ROWS(N, D) {
        float *x = uniform(r, N * D, 1.0f, 2.0f), *gain = uniform(r, D, 1.0f, 0.5f), *y = blank(r, N * D);
        float *stats = blank(r, 2 * N), *bias = unit(r, D);
        smx_layernorm_fwd(y, stats, x, gain, bias, N, D, 1e-5f);
        if (backward) {
            float *dgain = unit(r, D), *dbias = unit(r, D);
            smx_layernorm_bwd(y, dgain, dbias, unit(r, N * D), x, gain, stats, N, D);
            out(r, "dx", y, N * D);
            out(r, "dgain", dgain, D);
            out(r, "dbias", dbias, D);
        } else {
            out(r, "y", y, N * D);
            out(r, "stats", stats, 2 * N);
        }
    }
}
static void run_layernorm_fwd(run *r) { layernorm(r, 0); }
static void run_layernorm_bwd(run *r) { layernorm(r, 1); }
static void rmsnorm(run *r, const int backward) {
    EACH_ROWS(N, D) {
        float *x = unit(r, N * D), *gain = uniform(r, D, 1.0f, 0.5f), *y = blank(r, N * D),
              *rstd = blank(r, N);
        smx_rmsnorm_fwd(y, rstd, x, gain, N, D, 1e-5f);
        if (backward) {
            float *dgain = unit(r, D);
            smx_rmsnorm_bwd(y, dgain, unit(r, N * D), x, gain, rstd, N, D);
            out(r, "dx", y, N * D);
            out(r, "dgain", dgain, D);
        } else {
            out(r, "y", y, N * D);
            out(r, "rstd", rstd, N);
        }
    }
}
static void run_rmsnorm_fwd(run *r) { rmsnorm(r, 0); }
static void run_rmsnorm_bwd(run *r) { rmsnorm(r, 1); }
static void unitnorm(run *r, const int backward) {
    EACH_ROWS(N, D) {
        float *x = unit(r, N * D), *y = blank(r, N * D), *rnorm = blank(r, N);
        memset(x, 0, D * sizeof *x); // a zero row
        smx_unitnorm_fwd(y, rnorm, x, N, D);
        if (backward)
            smx_unitnorm_bwd(y, unit(r, N * D), x, rnorm, N, D);
        else
            out(r, "rnorm", rnorm, N);
        out(r, backward ? "dx" : "y", y, N * D);
    }
}
static void run_unitnorm_fwd(run *r) { unitnorm(r, 0); }
static void run_unitnorm_bwd(run *r) { unitnorm(r, 1); }

static void rope(run *r, void (*kernel)(float *, const float *, const float *, size_t, size_t, size_t, size_t,
                                        size_t, size_t)) {
    static const struct {
        size_t L, D, H;
    } shapes[] = {{1, 2, 1}, {9, 12, 3}, {7, 32, 2}, {5, 46, 1}, {33, 64, 2}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        r->used = 0;
        const size_t B = 2, L = shapes[s].L, D = shapes[s].D, H = shapes[s].H, ld = D + 2;
        float *x = unit(r, B * L * ld), *y = unit(r, B * L * ld), *cs = unit(r, L * (D / H));
        kernel(y, x, cs, B, L, D, H, ld, ld);
        out(r, "y", y, B * L * ld);
    }
}
static void run_rope_fwd(run *r) { rope(r, smx_rope_fwd); }
static void run_rope_bwd(run *r) { rope(r, smx_rope_bwd); }

static void run_embedding_fwd(run *r) {
    EACH_ROWS(N, D) {
        float *y = blank(r, N * D), *table = unit(r, 12 * D);
        smx_embedding_fwd(y, table, integers(r, N, -1, 13), N, D, 12);
        out(r, "y", y, N * D);
    }
}
static void run_embedding_bwd(run *r) {
    EACH_ROWS(N, D) {
        float *dtable = unit(r, 12 * D), *dy = unit(r, N * D);
        smx_embedding_bwd(dtable, dy, integers(r, N, -1, 13), N, D, 12);
        out(r, "dtable", dtable, 12 * D);
    }
}
static void run_meanpool_fwd(run *r) {
    EACH_ROWS(L, D) {
        float *y = blank(r, 2 * D);
        smx_meanpool_fwd(y, unit(r, 2 * L * D), 2, L, D);
        out(r, "y", y, 2 * D);
    }
}
static void run_meanpool_bwd(run *r) {
    EACH_ROWS(L, D) {
        float *dx = blank(r, 2 * L * D);
        smx_meanpool_bwd(dx, unit(r, 2 * D), 2, L, D);
        out(r, "dx", dx, 2 * L * D);
    }
}
// Every third row, from the last to the first, with one negative index.
static int32_t *picks(run *r, size_t N, size_t *M) {
    *M = (N + 2) / 3;
    int32_t *p = blank_ints(r, *M);
    for (size_t m = 0; m < *M; m++) p[m] = m == 2 ? -1 : (int32_t)(N - 1 - 3 * m);
    return p;
}
static void run_gather_fwd(run *r) {
    EACH_ROWS(N, D) {
        size_t M;
        const int32_t *p = picks(r, N, &M);
        float *y = blank(r, M * D);
        smx_gather_fwd(y, unit(r, N * D), p, M, N, D);
        out(r, "y", y, M * D);
    }
}
static void run_gather_bwd(run *r) {
    EACH_ROWS(N, D) {
        size_t M;
        const int32_t *p = picks(r, N, &M);
        float *dx = blank(r, N * D);
        smx_gather_bwd(dx, unit(r, M * D), p, M, N, D);
        out(r, "dx", dx, N * D);
    }
}

static void cross_entropy(run *r, const int backward) {
    EACH_ROWS(N, V) {
        float *logits = uniform(r, N * V, 0.0f, 9.0f), *loss = blank(r, N), *stats = blank(r, 2 * N);
        const int32_t *target = integers(r, N, -1, (int32_t)V);
        const uint32_t count = (uint32_t)smx_cross_entropy_fwd(loss, stats, logits, target, N, V);
        if (backward) {
            float *dlogits = blank(r, N * V);
            smx_cross_entropy_bwd(dlogits, logits, target, stats, N, V, 0.3f);
            out(r, "dlogits", dlogits, N * V);
        } else {
            out(r, "loss", loss, N);
            out(r, "stats", stats, 2 * N);
            out(r, "count", &count, 1);
        }
    }
}
static void run_cross_entropy_fwd(run *r) { cross_entropy(r, 0); }
static void run_cross_entropy_bwd(run *r) { cross_entropy(r, 1); }
static void mse(run *r, const int backward) {
    EACH_LENGTH(n) {
        r->used = 0;
        float *y = unit(r, n), *target = unit(r, n), *result = blank(r, n);
        for (size_t i = 0; i < n; i += 3) target[i] = __builtin_nanf("");
        const uint32_t count = (uint32_t)smx_mse_fwd(result, y, target, n);
        if (backward) smx_mse_bwd(result, y, target, n, 0.3f);
        out(r, backward ? "dy" : "loss", result, n);
        out(r, "count", &count, 1);
    }
}
static void run_mse_fwd(run *r) { mse(r, 0); }
static void run_mse_bwd(run *r) { mse(r, 1); }
static void run_argmax(run *r) {
    EACH_ROWS(N, V) {
        float *x = uniform(r, N * V, 0.0f, 4.0f);
        for (size_t i = 0; i < N * V; i++) x[i] = (float)(int32_t)x[i]; // ties
        int32_t *best = blank_ints(r, N);
        smx_argmax(best, x, N, V);
        out(r, "best", best, N);
    }
}

static void run_adamw(run *r) {
    const smx_adamw_opts o = {.lr = 3e-3f,
                              .b1 = 0.9f,
                              .b2 = 0.98f,
                              .eps = 1e-8f,
                              .wd = 0.1f,
                              .c1 = 0.271f,
                              .c2 = 0.0588f,
                              .clip = 0.37f};
    EACH_LENGTH(n) {
        r->used = 0;
        float *p = unit(r, n), *m = unit(r, n), *v = uniform(r, n, 1.0f, 1.0f);
        smx_adamw(p, m, v, unit(r, n), n, &o);
        out(r, "p", p, n);
        out(r, "m", m, n);
        out(r, "v", v, n);
    }
}
static void run_sumsq(run *r) {
    static const size_t counts[] = {1, 17, 4096, 9001};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        r->used = 0;
        const double s = smx_sumsq(unit(r, counts[k]), counts[k]);
        uint64_t bits;
        memcpy(&bits, &s, 8);
        const uint32_t words[2] = {(uint32_t)bits, (uint32_t)(bits >> 32)}; // the same on either byte order
        out(r, "sum of squares", words, 2);
    }
}

#include "digest_program.h"
#include "digest_sequences.h"

// ---- The list, and the hash -----------------------------------------------------------------------------
static const struct {
    const char *name;
    void (*cases)(run *);
} kernels[] = {
#define SMX_KERNEL(result, name, parameters, arguments) {#name, run_##name},
#include "build/kernels.def"
};
enum { N_KERNELS = sizeof kernels / sizeof *kernels };

size_t smx_digest_count(void) { return N_KERNELS; }
const char *smx_digest_name(size_t i) { return i < N_KERNELS ? kernels[i].name : NULL; }

int smx_digest_run(size_t i, uint64_t seed, smx_digest_sink *sink, void *context) {
    unsigned char *block = i < N_KERNELS ? malloc(ARENA_BYTES + 64) : NULL;
    if (!block) return -1;
    run r = {.state = seed, .arena = block + (64 - (uintptr_t)block % 64), .sink = sink, .context = context};
    const uint64_t env = smx_fpenv_enter(); // the inputs are rounded too
    const int fast = smx_fast(0);
    kernels[i].cases(&r);
    smx_fast(fast);
    smx_fpenv_leave(env);
    free(block);
    return r.overflow ? -1 : 0;
}

static void hash(void *context, const char *what, const void *words, size_t n) {
    uint64_t h = *(uint64_t *)context;
    (void)what;
    for (size_t i = 0; i < n; i++) {
        float x;
        memcpy(&x, (const unsigned char *)words + 4 * i, 4);
        const uint32_t w = hash_word_of(x);
        for (int byte = 0; byte < 4; byte++) h = hash_bytes(h, &(unsigned char){(w >> (8 * byte)) & 0xff}, 1);
    }
    *(uint64_t *)context = h;
}

uint64_t smx_digest_kernel(size_t i, const char **name) {
    uint64_t h = HASH_START;
    if (name) *name = smx_digest_name(i);
    return smx_digest_run(i, 0x5EED, hash, &h) == 0 ? h : 0;
}
