// conv_layout.h: how conv.c divides its scratch, in floats. Also what
// conv_scratch.c reports.
#ifndef SMX_CONV_LAYOUT_H
#define SMX_CONV_LAYOUT_H

#include "kernels/core/sizes.h"

/*@ requires 0 < to <= 32 && n <= MOST;
    PURE ensures \result == (n + to - 1) / to * to; */
static inline uint64_t conv_round(uint64_t n, size_t to) { return (n + to - 1) / to * to; }

// smx_conv: filters expanded to a tap per channel [W][Dp], partial filter
// gradients [W][ldp] of whole groups of 16 channels, and where D < 16 one sequence of input, output and
// gradient with rows padded to Dp = 16. A D that is no multiple of 16 needs no
// padding: the last 16 columns overlap those before them.
typedef struct {
    size_t Dp, ldp, taps, partial, in, out, grad;
    uint64_t floats;
} conv_layout;
/*@ requires SIZED(W, D + 32) && SIZED(L, 16) && D <= MOST;
    PURE
    ensures \result.Dp == \max(D, 16) && \result.taps == 0;
    ensures \result.partial == GROUPS(W * \max(D, 16));
    ensures \result.in == \result.partial + W * GROUPS(\max(D, 16));
    ensures \result.out == \result.in + (D < 16 ? 16 * L : 0); */
static inline conv_layout conv_layout_of(size_t L, size_t D, size_t W) {
    conv_layout p = {0};
    p.Dp = D < 16 ? 16 : D;
    p.ldp = conv_round(p.Dp, 16);
    /*@ assert p.Dp <= p.ldp <= D + 32 && same_product(W, p.Dp, W, \max(D, 16)); */
    /*@ assert product_within(p.Dp, D + 32, W) && product_within(p.ldp, D + 32, W); */
    const uint64_t rows = D < 16 ? size_mul(L, p.Dp) : 0, taps = conv_round(size_mul(W, p.Dp), 16);
    uint64_t at = 0;
    p.taps = at, at += taps;
    p.partial = at, at += size_mul(W, p.ldp);
    p.in = at, at += rows;
    p.out = at, at += rows;
    p.grad = at, at += rows;
    p.floats = at;
    return p;
}

// smx_conv_heads: one sequence as H contiguous arrays of n = L d floats, so
// that a shift by w steps is a shift by w d floats whatever d is. `n` is
// rounded up to whole tiles; `pad` zeros (W-1 steps) stand before x and after
// dy.
typedef struct {
    size_t d, n, pad, stride_in, stride_out, in, out, grad;
    uint64_t floats;
} conv_heads_layout;
static inline conv_heads_layout conv_heads_layout_of(size_t L, size_t D, size_t H, size_t W) {
    conv_heads_layout p = {0};
    p.d = D / H;
    const uint64_t n = conv_round(size_mul(L, p.d), 32), pad = conv_round(W ? size_mul(W - 1, p.d) : 0, 16);
    p.n = n;
    p.pad = pad;
    p.stride_in = n + pad;
    p.stride_out = n;
    uint64_t at = 0;
    p.in = at, at += size_mul(H, n + pad);
    p.grad = at, at += size_mul(H, n + pad);
    p.out = at, at += size_mul(H, n);
    p.floats = at;
    return p;
}

#endif
