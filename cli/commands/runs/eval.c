// eval.c: seqmix eval: how good a saved run is, at its own length and at others, one line for each; and which
// answer it gave for which.
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval_stream.h"

enum { MOST_LENGTHS = 64, LONGEST = 1 << 20 };

typedef struct {
    const char *file, *changes, *list; // changes: "length=128&pairs=16~length=256&pairs=32"; list: of lengths
    long length[MOST_LENGTHS], count;
    size_t lengths;
    int json, confusion, stream;
} options;

static int read_lengths(const char *text, options *o) {
    for (const char *at = text; o->lengths < MOST_LENGTHS; at++) {
        char *end;
        const long x = strtol(at, &end, 10);
        if (end == at || (*end && *end != ',') || x < 1 || x > LONGEST) break;
        o->length[o->lengths++] = x;
        if (!*end) return 0;
        at = end;
    }
    return cli_fail(
        "--length %s is not allowed: it must be whole numbers from 1 to %d, at most %d, separated by commas",
        text, LONGEST, MOST_LENGTHS);
}

static const cli_option table[] = {
    {"--length", "N,N...", "at these lengths, a line for each, instead of its own", OPTION_TEXT,
     offsetof(options, list), 0, 0},
    {"--count", "N", "on so many held-out sequences (1000)", OPTION_COUNT, offsetof(options, count), 1,
     10000000},
    {"--confusion", NULL, "how often which answer was given for which", OPTION_FLAG,
     offsetof(options, confusion), 0, 0},
    {"--stream", NULL,
     "read each sequence piece by piece, in the memory of a state: lengths that no graph holds", OPTION_FLAG,
     offsetof(options, stream), 0, 0},
    {"--json", NULL, "a JSON object a line", OPTION_FLAG, offsetof(options, json), 0, 0},
    {0},
};

static int evaluate(int argc, char **argv);
const cli_command cli_eval = {
    .name = "eval",
    .usage = "FILE ['CHANGES']",
    .help = "accuracy, R^2 or bits of a saved run, also at other lengths and, under changes to the "
            "task's keys, on other data (several with ~ between them); a line for each",
    .options = table,
    .plain = offsetof(options, file),
    .most = 2,
    .example = "seqmix eval run.safetensors --length 64,128,256",
    .run = evaluate,
};

static int read_options(int argc, char **argv, options *o) {
    *o = (options){.count = 1000};
    if (cli_read_options(&cli_eval, argc, argv, o) || (o->list && read_lengths(o->list, o))) return 2;
    if (o->stream && o->confusion) return cli_fail("eval: --stream counts no confusions");
    return o->file ? 0
                   : cli_usage_error(&cli_eval, "a checkpoint, written by seqmix train 'CONFIG' --save FILE");
}

// NULL, with the sentence printed, where there is none.
static const uint64_t *confusion(const smx_run *run, size_t *classes) {
    const uint64_t *table = smx_run_confusion(run, classes);
    if (!table) cli_fail("there is no confusion matrix for regression or beyond 256 classes");
    return table;
}

// table [V][V], row: what was right, column: what was answered; NULL if it was not asked for.
static void print_json(const char *changes, const smx_evaluation *e, const uint64_t *table, size_t V) {
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"loss", e->loss},
                   {"bits", cli_bits(e)},
                   {"accuracy", e->accuracy},
                   {"sequence_accuracy", e->sequence_accuracy},
                   {"free_accuracy", e->free_accuracy},
                   {"free_sequence_accuracy", e->free_sequence_accuracy},
                   {"r2", e->r2}};
    printf("{\"changes\":");
    cli_json_text(changes);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        printf(",\"%s\":", numbers[i].name);
        cli_json_number(numbers[i].value, 9);
    }
    printf(",\"targets\":%llu,\"sequences\":%llu", (unsigned long long)e->targets,
           (unsigned long long)e->sequences);
    for (size_t i = 0; table && i < V * V; i++)
        printf("%s%llu", i == 0 ? ",\"confusion\":[[" : i % V ? "," : "],[", (unsigned long long)table[i]);
    puts(table ? "]]}" : "}");
}

static void print_words(const char *changes, const smx_evaluation *e, const uint64_t *table, size_t V) {
    if (*changes) printf("%s: ", changes);
    if (e->regression) {
        printf("R^2 %.4f over %llu targets, mean squared error %.4g\n", e->r2, (unsigned long long)e->targets,
               e->loss);
        return;
    }
    printf(
        "accuracy %.2f %% of %llu targets, %.2f %% of %llu sequences entirely right, loss %.4f (%.4f bits%s)\n",
        100 * e->accuracy, (unsigned long long)e->targets, 100 * e->sequence_accuracy,
        (unsigned long long)e->sequences, e->loss, cli_bits(e), e->text ? " per character" : "");
    if (e->free_running)
        printf("on its own answers: %.2f %% of targets, %.2f %% of sequences\n", 100 * e->free_accuracy,
               100 * e->free_sequence_accuracy);
    for (size_t i = 0; table && i < V * V; i++)
        printf("%llu%c", (unsigned long long)table[i], (i + 1) % V ? '\t' : '\n');
}

static int one(smx_run *run, const options *o, const char *changes) {
    smx_error e = {0};
    smx_evaluation ev;
    if ((o->stream ? eval_stream : smx_run_evaluate_as)(run, (size_t)o->count, changes, &ev, &e))
        return cli_fail("%s", e.message);
    cli_note_images(smx_run_config(run), changes);
    size_t V = 0;
    const uint64_t *table = o->confusion ? confusion(run, &V) : NULL;
    (o->json ? print_json : print_words)(changes, &ev, table, V);
    if (o->confusion && !table) return 2;
    if (isfinite(ev.loss)) return 0;
    cli_fail("%s: its loss is not a finite number", o->file);
    return 1;
}

static int all(smx_run *run, const options *o) {
    for (const char *at = o->changes ? o->changes : "";;) {
        const size_t n = strcspn(at, "~");
        for (size_t i = 0; i < (o->lengths ? o->lengths : 1); i++) {
            char changes[2048];
            if (n > sizeof changes - 64) return cli_fail("changes of %zu characters are too long", n);
            snprintf(changes, sizeof changes, "%.*s", (int)n, at);
            if (i == 0) cli_note_unread(smx_run_config(run), changes);
            if (o->lengths)
                snprintf(changes + n, sizeof changes - n, "%slength=%ld", n ? "&" : "", o->length[i]);
            const int status = one(run, o, changes);
            if (status) return status;
        }
        if (!at[n]) return 0;
        at += n + 1;
    }
}

// A path in a checkpoint has to be given again by whoever loads it: then the first changes give it.
static smx_run *load(const options *o) {
    static const char *const paths[] = {"text", "file", "folder"};
    size_t size;
    smx_error e = {0};
    void *bytes = cli_read_file(o->file, &size);
    if (!bytes) return NULL;
    smx_run *run = smx_run_load(bytes, size, NULL, &e);
    int again = 0;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) again |= !run && !strcmp(e.key, paths[i]);
    if (again && o->changes) {
        char first[2048];
        snprintf(first, sizeof first, "%.*s", (int)strcspn(o->changes, "~"), o->changes);
        run = smx_run_load(bytes, size, first, &e);
    }
    free(bytes);
    if (!run) cli_fail("%s", e.message);
    return run;
}

static int evaluate(int argc, char **argv) {
    options o;
    int status = read_options(argc, argv, &o);
    if (status) return status;
    smx_run *run = load(&o);
    if (!run) return 2;
    cli_use_threads(run);
    status = all(run, &o);
    smx_run_close(run);
    return status;
}
