// judged_kernels.c: kernels in float for examples/oracle/judge_kernel.c, right ones and wrong ones: one
// line for each operator, "OPERATOR: N wrong", after what was said of each case. Its argument is the
// fault, or none.
#include "judge_kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *fault = "";
static int has(const char *name) { return !strcmp(fault, name); }

static int attention(const judge_case *c, void *yours) {
    const size_t dk = c->dk, dv = c->dv, group = c->H / c->Hkv;
    float *w = malloc(c->L * sizeof *w);
    ++*(int *)yours;
    if (has("nothing") || (has("no caps") && c->softcap > 0)) return free(w), 1;
    for (size_t i = 0; i < c->B * c->L * c->H; i++) {
        const size_t h = i % c->H, t = i / c->H % c->L, b = i / c->H / c->L;
        const size_t from = c->window && t + 1 > c->window ? t + 1 - c->window : 0,
                     to = c->causal ? t + 1 : c->L;
        const size_t kv = has("groups by turns") ? h % c->Hkv : h / group;
        const float *q = c->in[0] + i * dk;
        float most = c->in[3] ? c->in[3][h] : -INFINITY, sum = 0;
        for (size_t j = from; j < to; j++) {
            const float *k = c->in[1] + ((b * c->L + j) * c->Hkv + kv) * dk;
            float s = 0;
            for (size_t x = 0; x < dk; x++) s += q[x] * k[x];
            s *= 1 / sqrtf((float)dk);
            if (c->softcap > 0) s = (float)c->softcap * tanhf(s / (float)c->softcap);
            w[j] = s;
            most = fmaxf(most, s);
        }
        if (has("no maximum")) most = 0;
        for (size_t j = from; j < to; j++) sum += w[j] = expf(w[j] - most);
        if (c->in[3] && !has("no sinks")) sum += expf(c->in[3][h] - most);
        for (size_t x = 0; x < dv; x++) {
            float y = 0;
            for (size_t j = from; j < to; j++) y += w[j] * c->in[2][((b * c->L + j) * c->Hkv + kv) * dv + x];
            c->out[0][i * dv + x] = y / sum;
        }
    }
    if (has("writes on")) c->out[0][c->out_n[0]] = 0;
    if (has("last row not written") && c->L > 1)
        for (size_t x = 0; x < dv; x++) c->out[0][((c->L - 1) * c->H) * dv + x] = NAN;
    free(w);
    return has("fails") ? -7 : 0;
}

static int linear(const judge_case *c, void *yours) {
    const size_t dk = c->dk, dv = c->dv, group = c->H / c->Hkv, n = dk * dv;
    ++*(int *)yours;
    for (size_t i = 0; i < c->B * c->Hkv; i++) {
        const size_t h = i % c->Hkv, b = i / c->Hkv;
        float *S = c->out[1] + i * n;
        for (size_t x = 0; x < n; x++) S[x] = c->in[3] && !has("state left out") ? c->in[3][i * n + x] : 0;
        for (size_t t = 0; t < c->L; t++) {
            const size_t row = (b * c->L + t) * c->Hkv + h;
            const float *k = c->in[1] + row * dk, *v = c->in[2] + row * dv;
            for (size_t x = 0; x < n; x++) {
                float g = c->in[4] ? c->in[4][c->per_channel ? row * dk + x / dv : row] : 0;
                if (has("gates cut at -5") && g < -5) g = -5;
                S[x] *= expf(g);
            }
            for (size_t j = 0; j < dv; j++) {
                float write = v[j];
                if (c->in[5]) {
                    for (size_t x = 0; x < dk; x++) write -= S[x * dv + j] * k[x];
                    write *= has("beta cut at 1") ? fminf(c->in[5][row], 1) : c->in[5][row];
                }
                for (size_t x = 0; x < dk; x++) S[x * dv + j] += k[x] * write;
            }
            for (size_t o = h * group; o < (h + 1) * group; o++)
                for (size_t j = 0; j < dv; j++) {
                    const float *q = c->in[0] + ((b * c->L + t) * c->H + o) * dk;
                    float y = 0;
                    for (size_t x = 0; x < dk; x++) y += q[x] * S[x * dv + j];
                    c->out[0][((b * c->L + t) * c->H + o) * dv + j] = y / sqrtf((float)dk);
                }
        }
    }
    return 0;
}

static int conv(const judge_case *c, void *yours) {
    const size_t W = c->window, D = c->H;
    ++*(int *)yours;
    for (size_t b = 0; b < c->B; b++)
        for (size_t t = 0; t < c->L + W - 1; t++)
            for (size_t d = 0; d < D; d++) {
                float z = c->in[2] ? c->in[2][d] : 0;
                for (size_t w = 0; w < W && t < c->L; w++) {
                    const size_t at = t + w;
                    const float x = at + 1 >= W ? c->in[0][(b * c->L + at + 1 - W) * D + d]
                                    : c->in[3]  ? c->in[3][(b * (W - 1) + at) * D + d]
                                                : 0;
                    z += c->in[1][d * W + (has("taps in reverse order") ? W - 1 - w : w)] * x;
                }
                if (t < c->L) c->out[0][(b * c->L + t) * D + d] = c->silu ? z / (1 + expf(-z)) : z;
                if (t < c->L) continue;
                const size_t at = t; // of the rows before and these
                c->out[1][(b * (W - 1) + t - c->L) * D + d] =
                    at + 1 >= W ? c->in[0][(b * c->L + at + 1 - W) * D + d]
                    : c->in[3]  ? c->in[3][(b * (W - 1) + at) * D + d]
                                : 0;
            }
    if (has("changes x")) ((float *)c->in[0])[0] += 1;
    return 0;
}

static int rwkv7(const judge_case *c, void *yours) {
    const size_t dk = c->dk, dv = c->dv, n = dk * dv;
    ++*(int *)yours;
    for (size_t i = 0; i < c->B * c->H; i++) {
        const size_t h = i % c->H, b = i / c->H;
        float *S = c->out[1] + i * n;
        for (size_t x = 0; x < n; x++) S[x] = c->in[6] ? c->in[6][i * n + x] : 0;
        for (size_t t = 0; t < c->L; t++) {
            const size_t row = (b * c->L + t) * c->H + h;
            for (size_t j = 0; j < dv; j++) {
                float read = 0, y = 0;
                for (size_t x = 0; x < dk; x++) read += c->in[4][row * dk + x] * S[x * dv + j];
                for (size_t x = 0; x < dk; x++) {
                    const float a = has("without a") ? 1 : c->in[5][row * dk + x];
                    float *s = S + x * dv + j;
                    *s = expf(c->in[1][row * dk + x]) * *s - a * c->in[4][row * dk + x] * read +
                         c->in[2][row * dk + x] * c->in[3][row * dv + j];
                    y += c->in[0][row * dk + x] * *s;
                }
                c->out[0][row * dv + j] = y;
            }
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    int called = 0;
    if (argc > 1) fault = argv[1];
    printf("attention: %d wrong\n", judge(JUDGE_ATTENTION, attention, &called, 2e-5, stdout));
    printf("linear: %d wrong\n", judge(JUDGE_LINEAR_ATTENTION, linear, &called, 2e-5, stdout));
    printf("conv: %d wrong\n", judge(JUDGE_CAUSAL_CONV, conv, &called, 2e-5, stdout));
    printf("rwkv7: %d wrong\n", judge(JUDGE_RWKV7, rwkv7, &called, 2e-5, stdout));
    printf("called %d times\n", called);
    return 0;
}
