// constructions.h: the models that the papers' theorems speak of, built from the public operations alone: in
// float32 from smx_..., in double from ref_.... No test framework, no input or output, so that programs and a
// WebAssembly module can use them as well as the proofs. Not here: what a statement claims and with which
// bound; that stands in proof_*.c.
//
// Legend as in smx.h: L length, D width, x [L][D] row-major. Numbers come in and go out as double; with
// CON_FLOAT every input is rounded to float32, the kernel runs, and its float32 result is widened again, so
// that a chain of operations is the float32 computation word for word.
//
// Returns: 0, or CON_NO_MEMORY. Arrays of results that are not wanted may be NULL where said.
#ifndef CONSTRUCTIONS_H
#define CONSTRUCTIONS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { CON_FLOAT, CON_DOUBLE } con_precision;
enum { CON_OK = 0, CON_NO_MEMORY = -1 };
const char *con_name(con_precision p); // "float32, kernels" or "double, oracle"

// ---- The operations (constructions.c) -------------------------------------------------------------------
// y [N][out] = x [N][in] w [in][out]
int con_linear(double *y, const double *x, const double *w, size_t N, size_t in, size_t out, con_precision p);
// y_t = sum_w f[w] x_{t-w+future}, the same f [W] for all D columns, future < W
int con_conv(double *y, const double *x, const double *f, size_t L, size_t D, size_t W, size_t future,
             con_precision p);
// rows scaled to unit l2 norm; a zero row stays 0
int con_unitnorm(double *y, const double *x, size_t N, size_t D, con_precision p);
// o [L][D] = causal softmax attention with H heads, logits scaled by 1/sqrt(D/H); bias [2L-1] by distance as
// in smx.h, or NULL; map [H][L][L] (or NULL) takes the weights.
int con_attention(double *o, double *map, const double *q, const double *k, const double *v,
                  const double *bias, size_t L, size_t D, size_t H, con_precision p);

// ---- [LaS] Theorem B.1: a head of attention is a convolution (constructions.c) --------------------------
enum { CON_B1_SIGNED = 1 };
// y [L][D] = kernel * x, through one head (kernel >= 0), or with CON_B1_SIGNED two heads, kernel = k+ - k-.
// The sequence is one extra token and then x; each token carries its one-hot position beside its value. W_q
// holds the logarithms, W_k picks the position, W_v the value, W_o multiplies by c = slack + sum of the
// kernel: slack > 0 is needed where that sum is 0. kernel [L], x [L][D]. map [heads][L+1][L+1] or NULL. A
// negative tap with one head: NaN, as ln says.
int con_las_b1(double *y, double *map, const double *kernel, const double *x, size_t L, size_t D,
               double slack, unsigned flags, con_precision p);
// wq [in][H d], its columns for one head: row i+1 (position i's query) holds sqrt(d) ln k_{i-j} against
// position j+1 and sqrt(d) ln(slack + sum_{t>i} k_t) against the extra token, so that the weights of every
// row sum to the c that is returned. The rest of wq is left as it is. d >= L + 1.
double con_las_b1_wq(double *wq, const double *kernel, size_t L, size_t d, size_t H, int head, double slack,
                     unsigned flags);
// What stands for ln 0: far below the row maximum, and finite, since 0 * -inf is NaN in the product Q K^T.
#define CON_LOG_ZERO (-1000.0)

// ---- [CAT] Theorem 1 and Corollary 1: recall in one layer (constructions_cat.c) -------------------------
typedef enum {
    CON_VALUE_DELAY, // V = 2 X * D_{-1}: the answer stands in the last row; half the attention rests on the
                     // query itself
    CON_KEY_DELAY,   // K = norm(X * F * D_1), V = X: causal
    CON_STRICT       // V = X * D_{-1} under the mask j < i: causal, an answer at every row
} con_delay;
typedef struct {
    size_t L, D, N;       // N: length of the N-gram, taps of the filter
    const double *filter; // [N]
    double c;             // W_q = c sqrt(D) I, W_k = I
    con_delay delay;
    int mask_starts; // rows t < N-1 (with key delay t < N), whose N-gram reaches before the sequence, are not
                     // attended to (their keys are 0)
    int no_norm;     // leave out norm(): Corollary 1
} con_recall;
// y [L][D]; map [L][L] or NULL. x [L][D]: token embeddings.
int con_recall_fwd(double *y, double *map, const double *x, const con_recall *m, con_precision p);
// The best cosine between the filtered N-grams of two different N-grams over table [V][D], in double;
// `starts` also lets either reach before the sequence (zero rows, at least one token). V^N is the caller's to
// keep small. -2: no memory.
double con_wrong_cosine(const double *table, size_t V, size_t D, const double *filter, size_t N, int starts);

// ---- [CAT] Theorem 2: y = (X * F)^T softmax(X W x_L) (constructions_cat.c) ------------------------------
// F [2R+1], tap j meets row t - (j - R); W [D][D]; y [D] the last row's output, weights [L] or NULL.
int con_ar_fwd(double *y, double *weights, const double *x, const double *W, const double *F, size_t L,
               size_t D, size_t R, con_precision p);

// ---- [CAT] Theorem 3: selective copying (constructions_cat.c) -------------------------------------------
// Tokens 0..S-1 are signals, S noise, S+1 the marker. D = S + 3.
typedef struct {
    size_t S, L;    // L: longest sequence the constants are made for: rho = 1 - 1/L
    double epsilon; // c = e L ln(2L/epsilon)
} con_copy;
// answer [L'] = the largest signal column of every row of the layer's output on tokens [length];
// y [length][S+3] or NULL.
int con_copy_fwd(int32_t *answer, double *y, const int32_t *tokens, size_t length, const con_copy *m,
                 con_precision p);
// The same, and (each or NULL) query [length][S+3], the filtered tokens before W_q: column s of row t is the
// sum of rho^age over the occurrences of s; map [length][length].
int con_copy_look(int32_t *answer, double *y, double *query, double *map, const int32_t *tokens,
                  size_t length, const con_copy *m, con_precision p);
// Free-running: after the marker at tokens[start] its own n answers are written to tokens[start+1..start+n].
int con_copy_generate(int32_t *tokens, size_t start, size_t n, const con_copy *m, con_precision p);

// ---- [CAT] Propositions 1 and 2: landmarks in a random context (constructions_lcat.c) -------------------
typedef struct {
    size_t L, D, block;
    double sigma;
    int rho; // 0: box of `block` rows; 1: e^{-i/block}
} con_landmark;
double con_landmark_threshold(size_t L, size_t block, double sigma); // th = 2 sigma^2 B ln(L/B)
// Trials first .. first+trials-1 of `seed` in which the chosen block holds the copy; -1: no memory.
long con_landmark_trials(const con_landmark *m, uint64_t seed, size_t first, size_t trials, con_precision p);
// Prop. 1 (C), box landmarks: the same context, but asked by the query of unit length that is hardest for it
// among those of the first `dimensions` columns (1..D): of the other blocks b, with s_b the sum of b's rows
// and n the sum of the rows beside the copy, the longest s_b - n says both its direction and its `excess`.
// Every query of the subspace finds its copy if, and but for ties only if, excess < 1. `chosen`: LCAT's block
// for that query.
typedef struct {
    double excess;
    long copy, chosen;
} con_landmark_worst;
int con_landmark_hardest(con_landmark_worst *out, const con_landmark *m, size_t dimensions, uint64_t seed,
                         size_t trial, con_precision p);

// ---- [Focus] adaptive filters (constructions_focus.c) ---------------------------------------------------
// Largest modulus of the poles of 1/(1 + a1 z^-1 + a2 z^-2), in double.
double con_pole_radius(double a1, double a2);
// y [L] = sum over F filters of x through theta [bins][F][2], one channel;
// carry: the state lives on across bins.
int con_focus_filter(double *y, const double *x, const double *theta, size_t L, size_t bins, size_t F,
                     int carry, con_precision p);

#ifdef __cplusplus
}
#endif
#endif
