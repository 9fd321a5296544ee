// scratch.c: how much memory each kernel needs beside its arrays: scratch, and what is saved or carried. The
// same for every instruction set.
#include "kernels/attention/attention_maps_layout.h"
#include "kernels/attention/landmark_layout.h"
#include "kernels/conv/conv_layout.h"
#include "kernels/recurrent/linattn_layout.h"
#include "kernels/recurrent/recurrent_layout.h"
#include "kernels/recurrent/scan_layout.h"
#include "kernels/recurrent/state_layout.h"
#include "kernels/spectral/iir_layout.h"
#include "kernels/spectral/s4d_layout.h"
#include <seqmix/smx.h>

// ---- Attention --------------------------------------------------------------------------------------------
size_t smx_attention_fwd_scratch_bytes(const smx_attention *p) {
    return size_floats(attention_layout_of(p, 0).floats);
}
size_t smx_attention_bwd_scratch_bytes(const smx_attention *p) {
    return size_floats(attention_layout_of(p, 1).floats);
}
size_t smx_attention_push_scratch_bytes(const smx_attention *p) {
    return size_floats(attention_layout_of(p, ATTENTION_PUSH).floats);
}
size_t smx_attention_kept_floats(const smx_attention *p) {
    const attention_layout w = attention_layout_of(p, ATTENTION_PUSH);
    return size_fits(size_mul(p->B, p->H, attention_kept_floats(&w)));
}
size_t smx_attention_maps_fwd_scratch_bytes(const smx_attention *p) {
    return size_floats(maps_layout_of(p, 0).floats);
}
size_t smx_attention_maps_bwd_scratch_bytes(const smx_attention *p) {
    return size_floats(maps_layout_of(p, 1).floats);
}

// ---- Landmarks --------------------------------------------------------------------------------------------
size_t smx_landmark_fwd_scratch_bytes(const smx_landmark *p) {
    return size_floats(landmark_layout_of(p, 0).floats);
}
size_t smx_landmark_bwd_scratch_bytes(const smx_landmark *p) {
    return size_floats(landmark_layout_of(p, 1).floats);
}

// ---- Linear attention -------------------------------------------------------------------------------------
size_t smx_linattn_fwd_scratch_bytes(const smx_linattn *p) {
    return size_floats(linattn_layout_of(p, 0).floats);
}
size_t smx_linattn_bwd_scratch_bytes(const smx_linattn *p) {
    return size_floats(linattn_layout_of(p, 1).floats);
}
size_t smx_linattn_carried_floats(const smx_linattn *p) {
    const linattn_layout l = linattn_layout_of(p, 0);
    return size_fits(size_mul(p->B, p->H, linattn_carried_floats(&l)));
}

// ---- Gated recurrences ------------------------------------------------------------------------------------
size_t smx_recurrent_fwd_scratch_bytes(const smx_recurrent *p) {
    return size_floats(recurrent_layout_of(p, 0).floats);
}
size_t smx_recurrent_bwd_scratch_bytes(const smx_recurrent *p) {
    return size_floats(recurrent_layout_of(p, 1).floats);
}

// ---- Scans, and state spaces by their kernel --------------------------------------------------------------
size_t smx_scan_state_floats(size_t L, size_t D, size_t S) {
    const scan_layout l = scan_layout_of(L, D, S);
    return size_fits(size_mul(l.segments, (D + 15) / 16, S, 16));
}
size_t smx_scan_scratch_bytes(size_t L, size_t D, size_t S) {
    return size_floats(scan_layout_of(L, D, S).floats);
}
size_t smx_s4d_scratch_bytes(size_t L) {
    (void)L;
    return 2 * S4D_BLOCK * sizeof(float);
}

// ---- Matrix states ----------------------------------------------------------------------------------------
size_t smx_state_floats(size_t L, size_t H, size_t dk, size_t dv) {
    return size_fits(size_mul((L + STATE_SEGMENT - 1) / STATE_SEGMENT, H, dk, (dv + 15) / 16 * 16));
}
size_t smx_state_fwd_scratch_bytes(const smx_state *p) { return size_floats(state_layout_of(p, 0).floats); }
size_t smx_state_carried_floats(const smx_state *p) { return size_fits(state_push_layout_of(p).floats); }
size_t smx_state_push_scratch_bytes(const smx_state *p) {
    return size_floats(state_push_layout_of(p).scratch);
}
size_t smx_state_bwd_scratch_bytes(const smx_state *p) { return size_floats(state_layout_of(p, 1).floats); }

// ---- Convolutions -----------------------------------------------------------------------------------------
size_t smx_conv_scratch_bytes(const smx_conv *p) {
    return size_floats(conv_layout_of(p->L, p->D, p->W).floats);
}
size_t smx_conv_heads_scratch_bytes(const smx_conv_heads *p) {
    return size_floats(conv_heads_layout_of(p->L, p->D, p->H, p->W).floats);
}

// ---- Transforms, and convolutions by them -----------------------------------------------------------------
size_t smx_rfft_scratch_bytes(size_t N) { return size_floats(size_mul(N, FFT_LANES)); }

size_t smx_longconv_rows(size_t L) { return size_fits(fft_longconv_rows(L)); }
size_t smx_longconv_spectrum_floats(size_t L, size_t D) {
    return size_fits(size_mul(fft_longconv_rows(L), (D + FFT_LANES - 1) / FFT_LANES * FFT_LANES));
}
size_t smx_longconv_scratch_bytes(size_t L) {
    return size_floats(size_mul(3, fft_longconv_rows(L), FFT_LANES));
}

// ---- Focus's filters --------------------------------------------------------------------------------------
size_t smx_iir_scratch_bytes(const smx_iir *p) { return size_floats(iir_layout_of(p).floats); }
