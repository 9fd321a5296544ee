// mad.c: the six tasks of MAD (Poli et al., Mechanistic Design and Scaling of Hybrid Architectures, 2024).
#include "tasks/util.h"

#define KINDS(W)                                                                                             \
    W(RECALL, "recall")                                                                                      \
    W(FUZZY, "fuzzy")                                                                                        \
    W(NOISY, "noisy") W(COPYING, "copying") W(COMPRESSION, "compression") W(MEMORISATION, "memorisation")
#define TRAINED(W) W(TRAINED_ALL, "all") W(TRAINED_ASKED, "asked")

// Tokens of a fuzzy key or value at most, kinds of noise, the seed of the table to memorise.
enum { MOTIF = 3, NOISE = 16, TABLE = 12345 };

typedef struct {
    enum { KINDS(WORD_NAME) } kind;
    enum { TRAINED(WORD_NAME) } trained;
    size_t copies;
    double noise_share;
} mad_settings;

typedef struct {
    mad_settings is;
    size_t motif, vocab, half; // 1, unless fuzzy; without noise; the first token of values
    int32_t value[];           // [half] of each key, memorisation
} mad;

static int mad_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    const mad_settings *s = c->task;
    const int recalls = s->kind <= NOISY, facts = s->kind == MEMORISATION;
    const size_t vocab = c->common.vocab, half = (vocab - (s->kind == FUZZY || facts)) / 2;
    const size_t motif = s->kind == FUZZY ? MOTIF : 1;
    const size_t least = recalls ? 4 * motif - 1 : s->kind == COPYING ? 2 * s->copies + 1 : 2;
    if (vocab < 4 || vocab > 2 * TASK_DISTINCT_MAX - 1)
        return config_fail(error, c, "vocab", "4 to %d", 2 * TASK_DISTINCT_MAX - 1);
    if (recalls && motif > half) return config_fail(error, c, "vocab", "at least 7, for keys of 3 tokens");
    if (length < least) return length_fail(error, length, "at least %zu", least);
    if ((facts || s->kind == COMPRESSION) && length % 2) return length_fail(error, length, "an even number");
    answer_tokens(in, length, vocab + (s->kind == NOISY ? NOISE : 0),
                  recalls              ? length
                  : s->kind == COPYING ? s->copies
                                       : length / 2);
    mad *own = instance_data(in, sizeof *own + (facts ? half : 0) * sizeof *own->value, length, error);
    if (!own) return -1;
    own->is = *s;
    own->motif = motif;
    own->vocab = vocab;
    own->half = half;
    smx_rng rng = rng_open(TABLE, RNG_SHUFFLE, 0);
    if (facts) draw_distinct(&rng, own->value, 1, half, (int32_t)half, (uint32_t)(vocab - 1 - half));
    return 0;
}

// ---- Recall: keys of tokens below half, each followed by its value of tokens from half on

// Where the value of the k tokens `key` begins in x [end], 0: nowhere.
static size_t value_of(const int32_t *x, size_t end, const int32_t *key, size_t k, int32_t half) {
    for (size_t p = 0; p + k < end; p++)
        if ((p == 0 || x[p - 1] >= half) && x[p + k] >= half && !memcmp(x + p, key, k * sizeof *x))
            return p + k;
    return 0;
}

// A key's tokens begin at x[at], and no earlier key's that are the same. Of its tokens *n.
static int first_key(const int32_t *x, size_t at, int32_t half, size_t *n) {
    if (x[at] >= half || (at > 0 && x[at - 1] < half)) return 0;
    for (*n = 1; x[at + *n] < half; ++*n) {
    }
    return value_of(x, at, x + at, *n, half) == 0;
}

// key [k] and its value at row `at`: what stood behind it before, or a new one. The value is asked for where
// the key has occurred. The last token of the text may lie one row behind the sample. Returns the rows.
static size_t write_pair(const mad *m, smx_rng *rng, smx_task_sample *sample, size_t at, size_t length,
                         const int32_t *key, size_t k) {
    const int32_t half = (int32_t)m->half, end = (int32_t)m->vocab;
    int32_t *x = sample->tokens, value[MOTIF];
    const size_t known = value_of(x, at, key, k, half);
    size_t v = 0;
    if (known)
        for (; known + v < at && x[known + v] >= half && x[known + v] < end; v++) value[v] = x[known + v];
    else {
        v = 1 + rng_below(rng, (uint32_t)m->motif);
        draw_distinct(rng, value, 1, v, half, (uint32_t)(m->vocab - (m->is.kind == FUZZY) - m->half));
    }
    memcpy(x + at, key, k * sizeof *x);
    for (size_t i = 0, t = at + k; i < v; i++, t++) {
        if (t < length) x[t] = value[i];
        if (known) sample->targets[t - 1] = value[i];
    }
    return k + v;
}

static void write_recall(const mad *m, smx_rng *rng, smx_task_sample *sample, size_t length, int train) {
    const int fuzzy = m->is.kind == FUZZY;
    const size_t motif = m->motif, end = fuzzy ? length + 1 : (length + 1) / 2 * 2; // of the text
    int32_t *x = sample->tokens, key[MOTIF];
    const size_t sure = rng_below(rng, (uint32_t)(end / 2 - 1)); // at least this one is no noise
    size_t at = 0, k, place;
    for (size_t slot = 0; at + 4 * motif <= end; slot++) {
        if (m->is.kind == NOISY && slot != sure && rng_uniform(rng) < m->is.noise_share) {
            for (int i = 0; i < 2; i++) x[at++] = (int32_t)(m->vocab + rng_below(rng, NOISE));
            continue;
        }
        k = train ? 1 + rng_below(rng, (uint32_t)motif) : motif;
        draw_distinct(rng, key, 1, k, 0, (uint32_t)m->half);
        at += write_pair(m, rng, sample, at, length, key, k);
    }
    do place = rng_below(rng, (uint32_t)at);
    while (!first_key(x, place, (int32_t)m->half, &k));
    memcpy(key, x + place, k * sizeof *x);
    at += write_pair(m, rng, sample, at, length, key, k);
    if (fuzzy) { // padded in front
        const size_t pad = end - at;
        memmove(x + pad, x, (length - pad) * sizeof *x);
        memmove(sample->targets + pad, sample->targets, (length - pad) * sizeof *x);
        fill_tokens(x, (int32_t)m->vocab - 1, pad);
        fill_tokens(sample->targets, -1, pad);
    }
    if (train && m->is.trained == TRAINED_ALL) memcpy(sample->targets, x + 1, (length - 1) * sizeof *x);
}

// ---- The others

// Each blank falls before one of the tokens to copy, any with the same probability.
static void write_copying(const mad *m, smx_rng *rng, smx_task_sample *sample, size_t length) {
    const size_t copies = m->is.copies;
    const int32_t blank = (int32_t)m->vocab - 2;
    int32_t *x = sample->tokens, *blanks = sample->targets, *answer = sample->targets + length - copies;
    fill_tokens(blanks, 0, copies);
    for (size_t i = 2 * copies + 1; i < length; i++) blanks[rng_below(rng, (uint32_t)copies)]++;
    fill_tokens(x, blank, length);
    for (size_t i = 0; i < copies; i++) {
        x += blanks[i];
        *x++ = answer[i] = (int32_t)rng_below(rng, (uint32_t)blank);
    }
    *x = blank + 1;
    fill_tokens(sample->targets, -1, length - copies);
}

static void mad_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                         smx_task_sample *sample) {
    smx_rng rng = rng_open(seed, stream, index);
    const mad *m = in->data;
    const size_t length = in->length;
    const int facts = m->is.kind == MEMORISATION;
    const int32_t marker = (int32_t)m->vocab - 1;
    int32_t *x = sample->tokens, *target = sample->targets;
    fill_tokens(target, -1, length);
    if (m->is.kind <= NOISY)
        write_recall(m, &rng, sample, length, stream == RNG_TRAIN);
    else if (m->is.kind == COPYING)
        write_copying(m, &rng, sample, length);
    else
        for (size_t i = 0; i < length / 2; i++) { // facts: a key, the marker; else tokens, then markers
            const size_t asked = facts ? 2 * i + 1 : length / 2 + i, at = facts ? 2 * i : i;
            x[at] = (int32_t)rng_below(&rng, facts ? (uint32_t)m->half : (uint32_t)marker);
            x[asked] = marker;
            target[asked] = facts ? m->value[x[at]] : x[at];
        }
}

static const config_key mad_keys[] = {
    WORD_KEY("kind", mad_settings, kind, KINDS, "recall", "which of the six", "task"),
    WORD_KEY("trained", mad_settings, trained, TRAINED, "all",
             "recall trains on the next token of all rows, or on the answers", "task"),
    REAL_KEY("noise_share", mad_settings, noise_share, "0.2", 0, 1, "of noisy recall's pairs", "task"),
    INT_KEY("copies", mad_settings, copies, "16", 1, 1 << 19, "tokens to copy", "task"),
    {0},
};

const smx_task task_mad = {
    .name = "mad",
    .title = "MAD",
    .help = "Six small tests: recall, fuzzy and noisy recall, selective copying, compression, memorisation.",
    .source = "Poli et al., Mechanistic Architecture Design (2024)",
    .defaults = "length=128&vocab=16",
    .keys = mad_keys,
    .settings = sizeof(mad_settings),
    .open = mad_open,
    .generate = mad_generate,
};
