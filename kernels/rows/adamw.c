// adamw.c: the optimiser's update, and the sum of squares for clipping by the global norm.
#include "kernels/core/kernel.h"

SMX_COPY(void, adamw)
(float *restrict p, float *restrict m, float *restrict v, const float *g, size_t n, const smx_adamw_opts *o) {
    const v16 b1 = v16_set(o->b1), b2 = v16_set(o->b2), a1 = v16_set(1.0f - o->b1),
              a2 = v16_set(1.0f - o->b2);
    // The divisions by c1 and c2 are done once, on the constants.
    const v16 clip = v16_set(o->clip), decay = v16_set(o->lr * o->wd), rate = v16_set(o->lr / o->c1);
    const v16 unbias = v16_set(1.0f / o->c2), eps = v16_set(o->eps);
    for (size_t i = 0; i < n; i += 16) {
        const size_t k = smx_min(16, n - i);
        const int whole = k == 16;
        v16 s = v16_mul(whole ? v16_load(g + i) : v16_load_n(g + i, k, 0.0f), clip);
        v16 x = whole ? v16_load(p + i) : v16_load_n(p + i, k, 0.0f);
        v16 first = whole ? v16_load(m + i) : v16_load_n(m + i, k, 0.0f);
        v16 second = whole ? v16_load(v + i) : v16_load_n(v + i, k, 0.0f);
        first = v16_add(v16_mul(b1, first), v16_mul(a1, s));
        second = v16_add(v16_mul(b2, second), v16_mul(a2, v16_mul(s, s)));
        const v16 root = v16_add(v16_sqrt(v16_mul(second, unbias)), eps);
        x = v16_sub(v16_sub(x, v16_mul(decay, x)), v16_div(v16_mul(rate, first), root));
        if (whole) {
            v16_store(m + i, first);
            v16_store(v + i, second);
            v16_store(p + i, x);
        } else {
            v16_store_n(m + i, first, k);
            v16_store_n(v + i, second, k);
            v16_store_n(p + i, x, k);
        }
    }
}

SMX_COPY(double, sumsq)(const float *g, size_t n) {
    enum { BLOCK = 4096 };
    double total = 0.0;
    for (size_t i = 0; i < n; i += BLOCK) total += (double)row_dot(g + i, g + i, smx_min(BLOCK, n - i));
    return total;
}
