// rope.c: rotary positions. Channels 2m and 2m+1 of a head are turned by the angle of position t and pair m.
#include "kernels/core/kernel.h"

// The pairs of one head's row: y0 = x0 c - x1 s, y1 = x1 c + x0 s; `back` turns the other way (s negated).
SMX_INLINE v16 turned(v16 x, v16 cs, v16 sign) {
    // x c + swapped (-+ s): a sign flip and the order of two terms change no bit.
    return v16_madd(v16_swap_pairs(x), v16_mul(v16_odd_pairs(cs), sign), v16_mul(x, v16_even_pairs(cs)));
}
SMX_INLINE void turn(float *y, const float *x, const float *cs, size_t d, const int back) {
    const v16 sign = v16_alternating(back ? 1.0f : -1.0f);
    size_t i = 0;
    for (; i + 16 <= d; i += 16) v16_store(y + i, turned(v16_load(x + i), v16_load(cs + i), sign));
    // Not a plain loop: gcc 12 makes FMA of x0 c - x1 s beside x1 c + x0 s, -ffp-contract=off or not.
    if (i < d)
        v16_store_n(y + i, turned(v16_load_n(x + i, d - i, 0.0f), v16_load_n(cs + i, d - i, 0.0f), sign),
                    d - i);
}

SMX_INLINE void turn_all(float *y, const float *x, const float *cs, size_t B, size_t L, size_t D, size_t H,
                         size_t ldx, size_t ldy, const int back) {
    const size_t d = D / H;
    for (size_t b = 0; b < B; b++)
        for (size_t t = 0; t < L; t++)
            for (size_t h = 0; h < H; h++)
                turn(y + (b * L + t) * ldy + h * d, x + (b * L + t) * ldx + h * d, cs + t * d, d, back);
}

SMX_COPY(void, rope_fwd)
(float *y, const float *x, const float *cs, size_t B, size_t L, size_t D, size_t H, size_t ldx, size_t ldy) {
    turn_all(y, x, cs, B, L, D, H, ldx, ldy, 0);
}

// dy has the row stride ldy of y, dx the row stride ldx of x.
SMX_COPY(void, rope_bwd)
(float *dx, const float *dy, const float *cs, size_t B, size_t L, size_t D, size_t H, size_t ldx,
 size_t ldy) {
    turn_all(dx, dy, cs, B, L, D, H, ldy, ldx, 1);
}
