// recall.c: associative recall: ar, nar (CAT Defs. 2-3), mqar, mqnar (Zoology; CAT Def. 5), dict_ar (Hyena;
// Focus 5.1), induction (Mamba 4.1.2). Every question has one right answer, and it stands in the sequence.
#include <stdlib.h>

#include "tasks/util.h"

#define FILLERS(W) W(FILLER_ZERO, "zero") W(FILLER_RANDOM, "random")

typedef struct { // each task has some of the keys
    size_t pairs, ngram, lead, nomatch;
    int absent;
    enum { FILLERS(WORD_NAME) } filler;
} recall_settings;

typedef struct {
    size_t pairs, ngram, lead, nomatch;
    int random_filler, absent;
    size_t slots;
    double weight[]; // [slots], of mqar and mqnar
} recall;

#define NGRAM_KEY INT_KEY("ngram", recall_settings, ngram, "2", 1, 8, "tokens in a key", "task")
enum { PAIRS_MAX = 32767 };
#define PAIRS_KEY                                                                                            \
    INT_KEY("pairs", recall_settings, pairs, "8", 1, PAIRS_MAX, "key-value pairs of a sequence", "task",     \
            KEY_FITS)
#define LEAD_KEY                                                                                             \
    INT_KEY("lead", recall_settings, lead, "0", 0, 1048576, "zero tokens before the first pair", "task",     \
            KEY_RARE)
#define NOMATCH_KEY                                                                                          \
    INT_KEY("nomatch", recall_settings, nomatch, "0", 0, 32767,                                              \
            "queries of keys that have no pair: the answer is token 0", "task", KEY_RARE)
#define FILLER_KEY                                                                                           \
    WORD_KEY("filler", recall_settings, filler, FILLERS, "zero", "what stands between the queries", "task",  \
             KEY_RARE)

// ---- ar, nar ----

static int nar_open_n(smx_task_instance *in, const config *c, size_t length, size_t n, smx_error *error) {
    const size_t vocab = c->common.vocab;
    if (vocab < 2)
        return config_fail(error, c, "vocab", "at least 2, so that something else can stand between");
    if (length < 2 * n)
        return length_fail(error, length, "at least %zu, to hold the last %zu token%s and an earlier copy",
                           2 * n, n, n == 1 ? "" : "s");
    answer_tokens(in, length, vocab, 1);
    recall *own = instance_data(in, sizeof *own, length, error);
    if (own) own->ngram = n;
    return own ? 0 : -1;
}

static int ar_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    return nar_open_n(in, c, length, 1, error);
}

static int nar_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    return nar_open_n(in, c, length, ((const recall_settings *)c->task)->ngram, error);
}

static int same(const int32_t *a, const int32_t *b, size_t n) { return memcmp(a, b, n * sizeof *a) == 0; }

// Left to right, a token that would complete the query's n-gram in the wrong place is drawn among the others.
// The fixed copies can still complete one with their neighbours (a query such as "aa"): then the whole
// sequence is drawn again.
static void nar_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                         smx_task_sample *sample) {
    smx_rng rng = rng_open(seed, stream, index);
    const size_t length = in->length, n = ((const recall *)in->data)->ngram, last = length - n;
    uint32_t vocab = (uint32_t)in->vocab;
    int32_t *x = sample->tokens, *query = x + last;
    size_t place, matches;
    do {
        place = rng_below(&rng, (uint32_t)(last - n + 1));
        for (size_t i = 0; i < n; i++) query[i] = (int32_t)rng_below(&rng, vocab);
        for (size_t t = 0; t < last; t++) {
            if (t >= place && t < place + n) {
                x[t] = query[t - place];
            } else if (t + 1 >= n && same(x + t + 1 - n, query, n - 1)) {
                x[t] = (int32_t)rng_below(&rng, vocab - 1);
                x[t] += x[t] >= query[n - 1];
            } else {
                x[t] = (int32_t)rng_below(&rng, vocab);
            }
        }
        matches = 0;
        for (size_t t = 0; t < last; t++) matches += (size_t)same(x + t, query, n);
    } while (matches != 1);
    fill_tokens(sample->targets, -1, length);
    sample->targets[length - 1] = x[place + n];
}

static const config_key ar_keys[] = {{0}};

const smx_task task_ar = {
    .name = "ar",
    .title = "Associative recall",
    .help = "The last token occurred exactly once before: which token followed it there?",
    .source = "Li et al., On the Power of Convolution Augmented Transformer (2025), Def. 2",
    .defaults = "length=64&vocab=64",
    .keys = ar_keys,
    .open = ar_open,
    .generate = nar_generate,
    .recall = 1,
};

static const config_key nar_keys[] = {NGRAM_KEY, {0}};

const smx_task task_nar = {
    .name = "nar",
    .title = "N-gram associative recall",
    .help = "The last N tokens occurred together exactly once before: which token followed them there?",
    .source = "Li et al., On the Power of Convolution Augmented Transformer (2025), Def. 3",
    .defaults = "length=64&vocab=16&ngram=2",
    .keys = nar_keys,
    .settings = sizeof(recall_settings),
    .open = nar_open,
    .generate = nar_generate,
    .recall = 1,
};

// ---- mqar, mqnar ----
// Rows: lead zeros | n pairs, each N key tokens and a value | slots of N+1 rows; a query takes the first N
// rows of its slot and is answered at the last of them. Keys are distinct N-grams over [1, V/2), values
// distinct from [V/2, V).

static int mqar_open_n(smx_task_instance *in, const config *c, size_t length, size_t n, smx_error *error) {
    const recall_settings *s = c->task;
    const size_t vocab = c->common.vocab, pairs = s->pairs, lead = s->lead, nomatch = s->nomatch;
    const size_t half = vocab / 2;
    if (vocab < 4) return config_fail(error, c, "vocab", "at least 4: a filler, a key and two values");
    if (vocab > 2 * TASK_DISTINCT_MAX - 1)
        return config_fail(error, c, "vocab", "at most %d", 2 * TASK_DISTINCT_MAX - 1);
    size_t keys = 1; // (half - 1)^n, as far as it matters
    for (size_t i = 0; i < n && keys < PAIRS_MAX + nomatch; i++) keys *= half - 1;
    const size_t cells = length < lead ? 0 : (length - lead) / (n + 1);
    const size_t room = cells < nomatch ? 0 : (cells - nomatch) / 2;
    size_t most = vocab - half < keys ? vocab - half : keys;
    if (most > PAIRS_MAX) most = PAIRS_MAX;
    // Where they do not fit together, what was asked for is at fault, the length first.
    const int asked = config_given(c, "pairs") && !config_given(c, "length") && length == c->common.length;
    const size_t limit = room && room < most ? room : most;
    if (pairs > most || (pairs > limit && asked))
        return config_fail(error, c, "pairs", "at most %zu at vocab=%zu and length=%zu", limit, vocab,
                           length);
    const size_t queries = pairs + nomatch;
    if (keys < queries)
        return config_fail(error, c, "nomatch",
                           "at most %zu, the keys that %zu pairs leave unused at vocab=%zu", keys - pairs,
                           pairs, vocab);
    if (n == 1 && length % 2) return length_fail(error, length, "an even number");
    size_t need = lead + (n + 1) * (pairs + queries);
    if (length < need)
        return length_fail(error, length,
                           "at least %zu = lead + %zu * (2 * pairs + nomatch), to hold pairs and queries",
                           need, n + 1);
    size_t slots = (length - lead) / (n + 1) - pairs;
    answer_tokens(in, length, vocab, queries);
    recall *own = instance_data(in, sizeof *own + slots * sizeof *own->weight, length, error);
    if (!own) return -1;
    *own = (recall){.pairs = pairs,
                    .ngram = n,
                    .lead = lead,
                    .nomatch = nomatch,
                    .random_filler = s->filler == FILLER_RANDOM,
                    .slots = slots};
    for (size_t g = 0; g < slots; g++) own->weight[g] = md_pow((double)(g + 1), 0.01 - 1);
    return 0;
}

static int mqar_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    return mqar_open_n(in, c, length, 1, error);
}

static int mqnar_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    return mqar_open_n(in, c, length, ((const recall_settings *)c->task)->ngram, error);
}

// A free slot with probability proportional to its weight among the free ones (a slot is taken when its first
// token is not 0); *total is the free weight, and loses the slot's.
static size_t draw_slot(smx_rng *rng, const int32_t *slot, size_t stride, const double *weight, size_t n,
                        double *total) {
    double rest = rng_uniform(rng) * *total;
    size_t found = n;
    for (size_t g = 0; g < n; g++) {
        if (slot[g * stride]) continue;
        found = g; // the last free one, should rounding leave a rest
        rest -= weight[g];
        if (rest < 0) break;
    }
    *total -= weight[found];
    return found;
}

// An N-gram over 1..kinds for `key` that none of the `count` other cells (of N+1 rows from `cells`) starts
// with.
static void draw_key(smx_rng *rng, int32_t *key, const int32_t *cells, size_t count, size_t n,
                     uint32_t kinds) {
    int fresh;
    do {
        for (size_t i = 0; i < n; i++) key[i] = 1 + (int32_t)rng_below(rng, kinds);
        fresh = 1;
        for (const int32_t *p = cells; fresh && p < cells + count * (n + 1); p += n + 1)
            fresh = p == key || !same(p, key, n);
    } while (!fresh);
}

static void mqar_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                          smx_task_sample *sample) {
    smx_rng rng = rng_open(seed, stream, index);
    const recall *own = in->data;
    const size_t pairs = own->pairs, nomatch = own->nomatch, n = own->ngram, cell = n + 1;
    const size_t lead = own->lead, slots = own->slots, length = in->length;
    uint32_t half = (uint32_t)in->vocab / 2;
    int32_t *context = sample->tokens + lead, *query = context + cell * pairs;
    fill_tokens(sample->tokens, 0, length);
    fill_tokens(sample->targets, -1, length);
    if (n == 1)
        draw_distinct(&rng, context, cell, pairs, 1, half - 1);
    else
        for (size_t i = 0; i < pairs; i++) draw_key(&rng, context + i * cell, context, i, n, half - 1);
    draw_distinct(&rng, context + n, cell, pairs, (int32_t)half, (uint32_t)in->vocab - half);
    const double *weight = own->weight;
    double total = 0;
    for (size_t g = 0; g < slots; g++) total += weight[g];
    for (size_t i = 0; i < pairs + nomatch; i++) {
        int32_t *q = query + cell * draw_slot(&rng, query, cell, weight, slots, &total);
        int32_t *answer = sample->targets + (q - sample->tokens) + n - 1;
        if (i < pairs) {
            memcpy(q, context + i * cell, n * sizeof *q);
            *answer = context[i * cell + n];
        } else {
            draw_key(&rng, q, context, pairs + slots, n, half - 1);
            *answer = 0;
        }
    }
    if (own->random_filler)
        for (size_t t = lead + cell * pairs; t < length; t++)
            if (!sample->tokens[t]) sample->tokens[t] = (int32_t)rng_below(&rng, (uint32_t)in->vocab);
}

static const config_key mqar_keys[] = {PAIRS_KEY, FILLER_KEY, LEAD_KEY, NOMATCH_KEY, {0}};

const smx_task task_mqar = {
    .name = "mqar",
    .title = "Multi-query associative recall",
    .help = "Pairs of key and value, then the keys again, each once: the answer at each is its value.",
    .source = "Arora et al., Zoology (2024); Li et al. (2025), Def. 5",
    .defaults = "length=64&vocab=64&pairs=8",
    .keys = mqar_keys,
    .settings = sizeof(recall_settings),
    .open = mqar_open,
    .generate = mqar_generate,
    .recall = 1,
};

static const config_key mqnar_keys[] = {PAIRS_KEY, NGRAM_KEY, FILLER_KEY, LEAD_KEY, NOMATCH_KEY, {0}};

const smx_task task_mqnar = {
    .name = "mqnar",
    .title = "Multi-query N-gram recall",
    .help =
        "Multi-query recall with keys of N tokens: single tokens recur, only the N-gram tells which value is meant.",
    .source = "Li et al., On the Power of Convolution Augmented Transformer (2025), Def. 5",
    .defaults = "length=64&vocab=64&pairs=8&ngram=2",
    .keys = mqnar_keys,
    .settings = sizeof(recall_settings),
    .open = mqnar_open,
    .generate = mqar_generate,
    .recall = 1,
};

// ---- dict_ar ----
// Each sequence has its own dictionary of `pairs` keys from [1, V/2) with distinct values from [V/2, V); its
// entries are drawn with repetition, then comes one of the keys that occurred, each equally likely. An even
// length starts with a 0. absent: the dictionary is the seed's, and any of its keys is asked for.
enum { DICT_MAX = 2048 }; // entries, on the stack

static int dict_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    const size_t vocab = c->common.vocab, pairs = ((const recall_settings *)c->task)->pairs;
    if (vocab < 4) return config_fail(error, c, "vocab", "at least 4: a filler, a key and two values");
    if (vocab > 2 * TASK_DISTINCT_MAX - 1)
        return config_fail(error, c, "vocab", "at most %d", 2 * TASK_DISTINCT_MAX - 1);
    const size_t keys = vocab / 2 - 1, most = keys < DICT_MAX ? keys : DICT_MAX;
    if (pairs > most) return config_fail(error, c, "pairs", "at most %zu at vocab=%zu", most, vocab);
    if (length < 3) return length_fail(error, length, "at least 3: a pair and a query");
    answer_tokens(in, length, vocab, 1);
    recall *own = instance_data(in, sizeof *own, length, error);
    if (own) own->pairs = pairs, own->absent = ((const recall_settings *)c->task)->absent;
    return own ? 0 : -1;
}

static void dict_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                          smx_task_sample *sample) {
    smx_rng rng = rng_open(seed, stream, index);
    size_t length = in->length, rows = (length - 1) / 2, lead = length % 2 == 0;
    const recall *own = in->data;
    const uint32_t pairs = (uint32_t)own->pairs, half = (uint32_t)in->vocab / 2;
    smx_rng of_seed = rng_open(seed, RNG_SHUFFLE, 0), *words = own->absent ? &of_seed : &rng;
    int32_t key[DICT_MAX], value[DICT_MAX], *x = sample->tokens + lead;
    uint8_t occurred[DICT_MAX] = {0};
    draw_distinct(words, key, 1, pairs, 1, half - 1);
    draw_distinct(words, value, 1, pairs, (int32_t)half, (uint32_t)in->vocab - half);
    fill_tokens(sample->targets, -1, length);
    sample->tokens[0] = 0;
    uint32_t entry;
    for (size_t r = 0; r < rows; r++) {
        entry = rng_below(&rng, pairs);
        occurred[entry] = 1;
        x[2 * r] = key[entry];
        x[2 * r + 1] = value[entry];
    }
    do entry = rng_below(&rng, pairs);
    while (!occurred[entry] && !own->absent);
    sample->tokens[length - 1] = key[entry];
    sample->targets[length - 1] = value[entry];
}

static const config_key dict_keys[] = {
    PAIRS_KEY,
    FLAG_KEY("absent", recall_settings, absent, "0|1", "0",
             "1: one dictionary for all sequences, any of its keys asked for, there or not", "task"),
    {0},
};

const smx_task task_dict_ar = {
    .name = "dict_ar",
    .title = "Dictionary recall",
    .help = "Pairs drawn with repetition from a dictionary that is new in every sequence, then one key: its "
            "value?",
    .source = "Lutati et al., Focus (2023), Sec. 5.1; Poli et al., Hyena (2023)",
    .defaults = "length=31&vocab=30&pairs=8",
    .keys = dict_keys,
    .settings = sizeof(recall_settings),
    .open = dict_open,
    .generate = dict_generate,
    .recall = 1,
};

// ---- induction ----
// Tokens 0..V-2 at random, the special token V-1 once among them and once more at the end.
static int induction_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    if (length < 3) return length_fail(error, length, "at least 3");
    answer_tokens(in, length, c->common.vocab, 1);
    return 0;
}

static void induction_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                               smx_task_sample *sample) {
    smx_rng rng = rng_open(seed, stream, index);
    const size_t last = in->length - 1, place = rng_below(&rng, (uint32_t)last - 1);
    const uint32_t special = (uint32_t)in->vocab - 1;
    for (size_t t = 0; t < last; t++) sample->tokens[t] = (int32_t)rng_below(&rng, special);
    sample->tokens[place] = sample->tokens[last] = (int32_t)special;
    fill_tokens(sample->targets, -1, last);
    sample->targets[last] = sample->tokens[place + 1];
}

const smx_task task_induction = {
    .name = "induction",
    .title = "Induction heads",
    .help = "A special token stood once before: which token followed it? Learnt at length 256, asked at any.",
    .source = "Gu & Dao, Mamba (2023), Sec. 4.1.2; Olsson et al. (2022)",
    .defaults = "length=256&vocab=16",
    .keys = ar_keys,
    .open = induction_open,
    .generate = induction_generate,
    .recall = 1,
};
