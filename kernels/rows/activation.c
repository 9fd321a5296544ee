// activation.c: GELU, SiLU, sigmoid and tanh with their derivatives. The arguments are clamped where the
// functions have long been constant or linear, so that no product of 0 and infinity arises; a NaN stays NaN.
#include "kernels/core/kernel.h"

// The loop over whole groups of 16; the rest goes through the same loop by way of padded copies, so that a
// module has each expression once, and no call within a loop.
#define FORWARD(name, expression)                                                                            \
    SMX_COPY(void, name)(float *y, const float *x, size_t n) {                                               \
        const size_t whole = n / 16 * 16, rest = n - whole;                                                  \
        for (size_t i = 0; i < whole; i += 16) v16_store(y + i, expression(v16_load(x + i)));                \
        if (rest == 0) return;                                                                               \
        float t[16] = {0};                                                                                   \
        memcpy(t, x + whole, rest * sizeof *t);                                                              \
        SMX_FN(name)(t, t, 16);                                                                              \
        memcpy(y + whole, t, rest * sizeof *t);                                                              \
    }
// dx = dy times the slope at x (or of the output, where backward takes that)
#define BACKWARD(name, slope)                                                                                \
    SMX_COPY(void, name)(float *dx, const float *dy, const float *x, size_t n) {                             \
        const size_t whole = n / 16 * 16, rest = n - whole;                                                  \
        for (size_t i = 0; i < whole; i += 16)                                                               \
            v16_store(dx + i, v16_mul(v16_load(dy + i), slope(v16_load(x + i))));                            \
        if (rest == 0) return;                                                                               \
        float t[16] = {0}, d[16] = {0};                                                                      \
        memcpy(t, x + whole, rest * sizeof *t);                                                              \
        memcpy(d, dy + whole, rest * sizeof *d);                                                             \
        SMX_FN(name)(d, d, t, 16);                                                                           \
        memcpy(dx + whole, d, rest * sizeof *d);                                                             \
    }

SMX_INLINE v16 clamp(v16 x, float limit) { return v16_max(v16_set(-limit), v16_min(v16_set(limit), x)); }
// max(x, -limit), for functions that have reached -0 there.
SMX_INLINE v16 floor_at(v16 x, float limit) { return v16_max(v16_set(-limit), x); }
SMX_INLINE v16 one_minus(v16 x) { return v16_sub(v16_set(1.0f), x); }

// s = sigma(z) and 1 - s = e^-z s without cancellation. Below -80, where s has long stopped to count, z is
// held so that e^-z stays finite.
SMX_INLINE void sigmoid_pair(v16 z, v16 *s, v16 *rest) {
    const v16 e = v16_exp_down(v16_neg(floor_at(z, 80.0f)));
    *s = v16_div(v16_set(1.0f), v16_add(v16_set(1.0f), e));
    *rest = v16_mul(e, *s);
}

// gelu(x) = x/2 (1 + tanh u) = x sigma(2u), u = sqrt(2/pi) (x + 0.044715 x^3): the second form has no
// cancellation for x < 0. At |x| = 12, 2u = +-142 and sigma is exactly 0 or 1.
#define GELU_LIMIT 12.0f
#define GELU_2A 1.5957691216057308f    // 2 sqrt(2/pi)
#define GELU_2AB 0.07135481627362526f  // 2 sqrt(2/pi) 0.044715
#define GELU_2A3B 0.21406444882087578f // three times that
SMX_INLINE v16 gelu_2u(v16 c) {
    return v16_mul(c, v16_madd(v16_set(GELU_2AB), v16_mul(c, c), v16_set(GELU_2A)));
}
SMX_INLINE v16 gelu(v16 x) {
    return v16_mul(floor_at(x, GELU_LIMIT), v16_sigmoid(gelu_2u(clamp(x, GELU_LIMIT))));
}
// sigma + x sigma (1 - sigma) (2u)'
SMX_INLINE v16 gelu_slope(v16 x) {
    const v16 c = clamp(x, GELU_LIMIT), du = v16_madd(v16_set(GELU_2A3B), v16_mul(c, c), v16_set(GELU_2A));
    v16 s, rest;
    sigmoid_pair(gelu_2u(c), &s, &rest);
    return v16_madd(v16_mul(c, du), v16_mul(s, rest), s);
}
FORWARD(gelu_fwd, gelu)
BACKWARD(gelu_bwd, gelu_slope)

// silu(x) = x sigma(x); sigma(-100) is exactly 0, sigma(100) exactly 1.
#define SILU_LIMIT 100.0f
SMX_INLINE v16 silu(v16 x) { return v16_mul(floor_at(x, SILU_LIMIT), v16_sigmoid(x)); }
SMX_INLINE v16 silu_slope(v16 x) {
    const v16 c = clamp(x, SILU_LIMIT);
    v16 s, rest;
    sigmoid_pair(c, &s, &rest);
    return v16_madd(c, v16_mul(s, rest), s);
}
FORWARD(silu_fwd, silu)
BACKWARD(silu_bwd, silu_slope)

FORWARD(sigmoid_fwd, v16_sigmoid)
SMX_INLINE v16 sigmoid_slope(v16 y) { return v16_mul(y, one_minus(y)); }
BACKWARD(sigmoid_bwd, sigmoid_slope)

FORWARD(tanh_fwd, v16_tanh)
SMX_INLINE v16 tanh_slope(v16 y) { return v16_mul(one_minus(y), v16_add(v16_set(1.0f), y)); } // 1 - y^2
BACKWARD(tanh_bwd, tanh_slope)
