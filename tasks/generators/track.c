// track.c: state tracking: after every row, which state is a small machine in? (Merrill, Petty & Sabharwal,
// The Illusion of State, 2024; Liu et al., Transformers Learn Shortcuts to Automata, 2023; brackets: Hewitt
// et al. 2020.)
#include "tasks/util.h"

#define MACHINES(W) W(PARITY, "parity") W(SUM, "sum") W(S3, "s3") W(S5, "s5") W(DYCK, "dyck")

typedef struct {
    enum { MACHINES(WORD_NAME) } machine;
    size_t modulus, brackets, nesting;
} track_settings;

enum { NESTING_MAX = 256, POINTS_MAX = 5 };

static int track_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    const track_settings *s = c->task;
    if (length < 1) return length_fail(error, length, "at least 1");
    const size_t sizes[] = {2, s->modulus, 6, 120, 2 * s->brackets};
    answer_tokens(in, length, sizes[s->machine], length);
    if (s->machine == DYCK) in->classes = s->brackets + 1;
    track_settings *own = instance_data(in, sizeof *own, length, error);
    if (own) *own = *s;
    return own ? 0 : -1;
}

// Permutations of 0..n-1 in lexicographic order: number 0 leaves everything in its place. The one of that
// number takes i to to[i].
static void permutation(int to[POINTS_MAX], int n, int number) {
    for (int i = n - 1; i >= 0; i--) { // entry i is the one of rank number % (n - i) among those left
        to[i] = number % (n - i);
        number /= n - i;
        for (int j = i + 1; j < n; j++) to[j] += to[j] >= to[i];
    }
}
static int number_of(const int to[POINTS_MAX], int n) {
    int number = 0;
    for (int i = 0; i < n; i++) {
        int smaller = 0;
        for (int j = i + 1; j < n; j++) smaller += to[j] < to[i];
        number = number * (n - i) + smaller;
    }
    return number;
}

static void track_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                           smx_task_sample *sample) {
    smx_rng rng = rng_open(seed, stream, index);
    const track_settings *s = in->data;
    const uint32_t kinds = (uint32_t)s->brackets;
    const int n = s->machine == S3 ? 3 : 5;
    int at[POINTS_MAX] = {0, 1, 2, 3, 4}, to[POINTS_MAX];
    uint8_t open[NESTING_MAX + 1] = {0}; // kinds + 1, from 1 on
    size_t depth = 0;
    int32_t sum = 0;
    for (size_t t = 0; t < in->length; t++) {
        int32_t *x = &sample->tokens[t], *target = &sample->targets[t];
        if (s->machine == DYCK) {
            if (depth == 0 || (depth < s->nesting && rng_below(&rng, 2))) {
                *x = (int32_t)rng_below(&rng, kinds);
                open[++depth] = (uint8_t)(*x + 1);
            } else {
                *x = (int32_t)kinds + open[depth--] - 1;
            }
            *target = open[depth];
            continue;
        }
        *x = (int32_t)rng_below(&rng, (uint32_t)in->vocab);
        if (s->machine <= SUM) {
            *target = sum = (sum + *x) % (int32_t)in->vocab;
        } else {
            permutation(to, n, *x);
            for (int i = 0; i < n; i++) at[i] = to[at[i]];
            *target = number_of(at, n);
        }
    }
}

static const config_key track_keys[] = {
    WORD_KEY("machine", track_settings, machine, MACHINES, "parity", "s3, s5: permutations; dyck: brackets",
             "task"),
    INT_KEY("modulus", track_settings, modulus, "5", 2, 4096, "of machine=sum", "task"),
    INT_KEY("brackets", track_settings, brackets, "2", 1, 128, "kinds of bracket", "task"),
    INT_KEY("nesting", track_settings, nesting, "8", 1, NESTING_MAX, "brackets open at once, at most",
            "task"),
    {0},
};

const smx_task task_track = {
    .name = "track",
    .title = "State tracking",
    .help = "After each token: the parity, sum or product of permutations so far, or the bracket to close.",
    .source = "Merrill et al., The Illusion of State (2024); Hewitt et al. (2020)",
    .defaults = "length=64",
    .keys = track_keys,
    .settings = sizeof(track_settings),
    .open = track_open,
    .generate = track_generate,
};
