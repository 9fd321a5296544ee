// conv_layout.h: how conv.c divides its scratch, in floats. Also what
// conv_scratch.c reports.
#ifndef SMX_CONV_LAYOUT_H
#define SMX_CONV_LAYOUT_H

#include <stddef.h>

static inline size_t conv_round(size_t n, size_t to) { return (n + to - 1) / to * to; }

// smx_conv: filters expanded to a tap per channel [W][Dp], partial filter
// gradients [W][ldp] of whole groups of 16 channels, and where D < 16 one sequence of input, output and
// gradient with rows padded to Dp = 16. A D that is no multiple of 16 needs no
// padding: the last 16 columns overlap those before them.
typedef struct {
    size_t Dp, ldp, taps, partial, in, out, grad, floats;
} conv_layout;
static inline conv_layout conv_layout_of(size_t L, size_t D, size_t W) {
    conv_layout p = {0};
    p.Dp = D < 16 ? 16 : D;
    p.ldp = conv_round(p.Dp, 16);
    const size_t rows = D < 16 ? L * p.Dp : 0, taps = conv_round(W * p.Dp, 16);
    p.taps = 0;
    p.partial = p.taps + taps;
    p.in = p.partial + W * p.ldp;
    p.out = p.in + rows;
    p.grad = p.out + rows;
    p.floats = p.grad + rows;
    return p;
}

// smx_conv_heads: one sequence as H contiguous arrays of n = L d floats, so
// that a shift by w steps is a shift by w d floats whatever d is. `n` is
// rounded up to whole tiles; `pad` zeros (W-1 steps) stand before x and after
// dy.
typedef struct {
    size_t d, n, pad, stride_in, stride_out, in, out, grad, floats;
} conv_heads_layout;
static inline conv_heads_layout conv_heads_layout_of(size_t L, size_t D, size_t H, size_t W) {
    conv_heads_layout p = {0};
    p.d = D / H;
    p.n = conv_round(L * p.d, 32);
    p.pad = conv_round(W ? (W - 1) * p.d : 0, 16);
    p.stride_in = p.n + p.pad;
    p.stride_out = p.n;
    p.in = 0;
    p.grad = p.in + H * p.stride_in;
    p.out = p.grad + H * p.stride_in;
    p.floats = p.out + H * p.stride_out;
    return p;
}

#endif
