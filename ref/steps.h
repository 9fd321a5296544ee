// steps.h: a layer as a list of steps: each is an array, made of arrays before it, that knows how its
// gradient
// goes back to them. A layer of ref_layers.h is written once, as its equations; forward runs them, backward
// goes through the list from its end. For ref/*_layer.c alone.
#ifndef REF_STEPS_H
#define REF_STEPS_H

#include <stddef.h>

enum { STEPS_MOST = 128, STEP_INPUTS = 8 };
typedef struct step {
    double *x, *d; // the values and their gradient; d NULL: not wanted
    size_t n;
    struct step *in[STEP_INPUTS];
    int (*back)(const struct step *s); // NULL: an input
    void *own;                         // memory that is freed with the list
    size_t size[4];
    double number;
    double (*slope)(double);
    int (*core_back)(double *const *d, const double *dy, double *const *x, const void *sizes);
    const void *sizes;
} step;
typedef struct {
    step all[STEPS_MOST];
    size_t n;
    int gradients; // 1: backward will follow
    int failed;    // no memory; all functions below then do nothing,
    step nothing;  // and give this
} steps;

// An array of the caller's and its gradient; NULL for an array that is absent.
step *step_input(steps *s, double *x, double *d, size_t n);
// x w (+ b): [N][in] [in][out]; b may be NULL.
step *step_linear(steps *s, step *x, step *w, step *b, size_t in, size_t out);
// y [N][H d]: of each head, its columns times w [H][d][d], + b [H d].
step *step_blocks(steps *s, step *x, step *w, step *b, size_t H, size_t d);
// Depthwise, causal: f [D][W].
step *step_conv(steps *s, step *x, step *f, size_t D);
// f of each number; slope is its derivative at the input.
step *step_map(steps *s, double (*f)(double), double (*slope)(double), step *x);
// x + b and x b; b stands for b[(i / each) mod b->n]: a row for all rows (each 1), a number a head (each d).
step *step_add(steps *s, step *x, step *b, size_t each);
step *step_mul(steps *s, step *x, step *b, size_t each);
step *step_scale(steps *s, step *x, double factor);                  // factor x
step *step_shift(steps *s, step *x, size_t D);                       // the row before, 0 before row 0
step *step_heads(steps *s, step *x, size_t d, size_t H);             // rows of d, each H times
step *step_sums(steps *s, step *x, size_t d);                        // of each d numbers
step *step_unit(steps *s, step *x, size_t d);                        // rows of d, each over its length
step *step_rms(steps *s, step *x, step *gain, size_t d, double eps); // rows of d; gain [d] or NULL
step *step_centre(steps *s, step *x, size_t d,
                  double eps); // rows of d, less their mean, over their deviation
// A function of ref_cores.h: n numbers of `count` arrays, in the order of its struct. sizes live as long as
// s.
step *step_core(steps *s, size_t n, step *const *in, size_t count,
                int (*forward)(double *y, double *const *x, const void *sizes),
                int (*backward)(double *const *d, const double *dy, double *const *x, const void *sizes),
                const void *sizes);
// Ends the list: y from the last step, or all gradients from dy, added; frees it. REF_OK or REF_NO_MEMORY.
int steps_forward(steps *s, double *y);
int steps_backward(steps *s, const double *dy);

// The usual functions and their slopes.
double step_sigma(double x), step_sigma_slope(double x), step_silu(double x), step_silu_slope(double x),
    step_softplus(double x), step_gelu(double x), step_gelu_slope(double x), step_tanh_slope(double x),
    step_inverse(double x);
#define step_sigmoid(s, x) step_map(s, step_sigma, step_sigma_slope, x)
#define step_siluof(s, x) step_map(s, step_silu, step_silu_slope, x)
#define step_softplusof(s, x) step_map(s, step_softplus, step_sigma, x)
#define step_geluof(s, x) step_map(s, step_gelu, step_gelu_slope, x)
#define step_tanhof(s, x) step_map(s, tanh, step_tanh_slope, x)
#define step_expof(s, x) step_map(s, exp, exp, x)
#define step_logof(s, x) step_map(s, log, step_inverse, x)

#endif
