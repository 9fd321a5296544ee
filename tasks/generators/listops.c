// listops.c: nested lists of operations on digits (Nangia & Bowman 2018; Long Range Arena, Tay et al. 2021).
#include "tasks/util.h"

// Tokens: 0 pads the end, 1..10 are the digits, then the operations (each with its opening bracket) and the
// bracket.
enum { PAD, DIGIT, MIN = DIGIT + 10, MAX, MED, SM, CLOSE, TOKENS };
enum { ARGUMENTS_MAX = 16, DEPTH_MAX = 16 };

typedef struct {
    size_t least, depth, arguments;
} listops_settings;

typedef struct {
    smx_rng rng;
    int32_t *tokens;
    size_t at, owed,
        length; // written; still to come at the least (a digit per open argument, the brackets); room
    int depth, arguments;
    double list_share; // of the arguments that are lists themselves
} writer;

static int apply(int operation, int *a, int n) {
    int r = a[0];
    if (operation == MIN || operation == MAX) {
        for (int i = 1; i < n; i++)
            if ((a[i] < r) == (operation == MIN)) r = a[i];
    } else if (operation == SM) {
        for (int i = 1; i < n; i++) r += a[i];
        r %= 10;
    } else { // the median, rounded down where it lies between two
        for (int i = 1; i < n; i++)
            for (int j = i; j > 0 && a[j - 1] > a[j]; j--) {
                int t = a[j];
                a[j] = a[j - 1], a[j - 1] = t;
            }
        r = (a[(n - 1) / 2] + a[n / 2]) / 2;
    }
    return r;
}

// Writes one argument at `level` (0: the whole expression, always a list) and returns its value. A list is
// written only where it fits.
static int write_argument(writer *w, int level) {
    size_t room = w->length - w->at - w->owed; // beyond what is owed
    int list = level == 0 || (level < w->depth && rng_uniform(&w->rng) < w->list_share && room >= 3);
    w->owed--;
    if (!list) {
        int digit = (int)rng_below(&w->rng, 10);
        w->tokens[w->at++] = DIGIT + digit;
        return digit;
    }
    int most = room - 1 < (size_t)w->arguments ? (int)(room - 1) : w->arguments;
    int n = 2 + (int)rng_below(&w->rng, (uint32_t)(most - 1)), a[ARGUMENTS_MAX];
    int operation = MIN + (int)rng_below(&w->rng, 4);
    w->tokens[w->at++] = operation;
    w->owed += (size_t)n + 1;
    for (int i = 0; i < n; i++) a[i] = write_argument(w, level + 1);
    w->owed--;
    w->tokens[w->at++] = CLOSE;
    return apply(operation, a, n);
}

// A quarter of the arguments are lists, as in the Long Range Arena; when an expression comes out shorter than
// `least` it is drawn again, and after every 16 draws the share of lists rises, up to 0.95.
static void listops_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                             smx_task_sample *sample) {
    const listops_settings *s = in->data;
    writer w = {.rng = rng_open(seed, stream, index),
                .tokens = sample->tokens,
                .length = in->length,
                .depth = (int)s->depth,
                .arguments = (int)s->arguments};
    for (int draw = 0;; draw++) {
        w.list_share = draw < 224 ? 0.25 + 0.05 * (draw / 16) : 0.95;
        w.at = 0;
        w.owed = 1;
        sample->targets[0] = write_argument(&w, 0);
        if (w.at >= s->least) break;
    }
    fill_tokens(sample->tokens + w.at, PAD, in->length - w.at);
}

static int listops_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    const listops_settings *s = c->task;
    const size_t least = s->least, depth = s->depth, arguments = s->arguments;
    if (length < 4) return length_fail(error, length, "at least 4: an operation on two digits");
    // Half the mean size at the largest share of lists, so that drawing again comes to an end.
    double mean = 1;
    for (size_t d = 0; d < depth && mean < 1e9; d++)
        mean = 2 + (2 + (double)arguments) / 2 * (d == 0 ? 1 : 0.05 + 0.95 * mean);
    size_t most = mean < (double)length ? (size_t)(mean / 2) : length / 2;
    if (least > most)
        return config_fail(error, c, "least", "at most %zu at length %zu, depth=%zu and arguments=%zu", most,
                           length, depth, arguments);
    in->length = length;
    in->vocab = TOKENS;
    in->channels = 0;
    in->classes = 10;
    in->per_position = 0;
    in->max_targets = 1;
    listops_settings *own = instance_data(in, sizeof *own, length, error);
    if (own) *own = *s;
    return own ? 0 : -1;
}

static const config_key listops_keys[] = {
    INT_KEY("least", listops_settings, least, "16", 1, 1 << 20,
            "tokens of the shortest expression; the longest is length", "task"),
    INT_KEY("depth", listops_settings, depth, "5", 1, DEPTH_MAX, "lists within lists, at most", "task"),
    INT_KEY("arguments", listops_settings, arguments, "5", 2, ARGUMENTS_MAX,
            "arguments of an operation, at most", "task"),
    {0},
};

static const char *const words[TOKENS] = {"_", "0", "1", "2",    "3",    "4",    "5",   "6",
                                          "7", "8", "9", "[MIN", "[MAX", "[MED", "[SM", "]"};

const smx_task task_listops = {
    .name = "listops",
    .title = "ListOps",
    .help = "What does a nested expression of MIN, MAX, MED and SM (sum modulo 10) come to? 16 tokens, 10 "
            "answers.",
    .source = "Nangia & Bowman, ListOps (2018); Tay et al., Long Range Arena (2021)",
    .defaults = "length=64&vocab=16",
    .keys = listops_keys,
    .settings = sizeof(listops_settings),
    .words = words,
    .open = listops_open,
    .generate = listops_generate,
};
