// read.c: seqmix read: a stream of any length through a saved model, in constant memory.
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writing.h"

enum { ROWS = 256 }; // pushed at a time

typedef struct {
    const char *file, *changes, *in;
    long most;
    int json;
} options;

static const cli_option table[] = {
    {"--in", "FILE|-", "the stream: a text, or a row a line, tokens or numbers with spaces or commas between",
     OPTION_TEXT, offsetof(options, in), 0, 0},
    {"--most", "N", "rows that a model may remember whose memory grows with them (65536)", OPTION_COUNT,
     offsetof(options, most), 1, 1 << 26},
    {"--json", NULL, "a JSON object a row; of a text one for all", OPTION_FLAG, offsetof(options, json), 0,
     0},
    {0},
};

static int read_stream(int argc, char **argv);
const cli_command cli_read = {
    .name = "read",
    .usage = "FILE ['CHANGES']",
    .help =
        "a stream of any length through a saved model, in constant memory: its answer after each row, or the bits per character "
        "of a text",
    .options = table,
    .plain = offsetof(options, file),
    .most = 2,
    .example = "seqmix read run.safetensors --in book.txt",
    .run = read_stream,
};

// What helps where `more` rows were too many.
static const char *remedy(const smx_run_state *state, size_t more) {
    smx_state_form form;
    smx_state_look(state, &form);
    return form.most && form.rows + more > form.most ? "; --most N makes more" : "";
}

// ---- A text: bits per character ---------------------------------------------------------------------------
static int read_text(smx_run_state *state, FILE *in, const options *o) {
    smx_error e = {0};
    smx_state_form form;
    smx_state_look(state, &form);
    unsigned char bytes[ROWS];
    int32_t tokens[ROWS], next[ROWS];
    const size_t V = form.answers;
    float *answers = malloc((ROWS + 1) * V * sizeof *answers), loss[ROWS + 1], stats[2 * (ROWS + 1)];
    double nats = 0;
    uint64_t judged = 0, read = 0;
    int status = answers ? 0 : cli_fail("read: out of memory");
    for (size_t n; !status && (n = fread(bytes, 1, ROWS, in)) > 0; read += n) {
        for (size_t i = 0; i < n; i++) next[i] = tokens[i] = bytes[i];
        // answers: after the row before, then after each of these
        if (read) memcpy(answers, smx_state_answers(state), V * sizeof *answers);
        if (smx_state_push(state, tokens, NULL, n, answers + V, &e)) {
            status =
                cli_fail("after %llu bytes: %s%s", (unsigned long long)read, e.message, remedy(state, n));
            break;
        }
        const size_t first = read ? 0 : 1;
        smx_cross_entropy_fwd(loss, stats, answers + first * V, next + first, n - first, V);
        for (size_t i = 0; i < n - first; i++) nats += (double)loss[i];
        judged += n - first;
    }
    if (!status && ferror(in)) status = cli_fail("read: %s cannot be read: %s", o->in, strerror(errno));
    if (!status && !judged)
        status =
            cli_fail("read: %s has %llu bytes: a text must have at least 2, the first is what the second "
                     "is judged after",
                     o->in, (unsigned long long)read);
    const double bits = nats / 0.69314718055994531 / (double)judged;
    if (!status && o->json) {
        printf("{\"bytes\":%llu,\"bits\":", (unsigned long long)read);
        cli_json_number(bits, 9);
        printf(",\"state_bytes\":%llu}\n", (unsigned long long)form.bytes);
    } else if (!status) {
        printf("%.4f bits per character over %llu bytes; the state holds %llu bytes\n", bits,
               (unsigned long long)judged, (unsigned long long)form.bytes);
    }
    free(answers);
    return status;
}

// ---- A row a line: an answer a line -----------------------------------------------------------------------
// An answer to numbers as large as a float holds need not be one: null in JSON, nan or inf.
static void print_number(double x, int digits, int json) {
    if (json)
        cli_json_number(x, digits);
    else
        printf("%.*g", digits, isnan(x) ? (double)NAN : x);
}
static int print_answer(const smx_run_state *state, const smx_state_form *form, float *odds, int json) {
    const float *answers = smx_state_answers(state);
    smx_error e = {0};
    int32_t best = 0;
    if (form->answers > 1) {
        if (smx_state_odds(state, 0, odds, &e)) return cli_fail("%s", e.message);
        smx_argmax(&best, answers, 1, form->answers);
    }
    if (form->answers == 1) {
        if (json) printf("{\"answer\":");
        print_number((double)answers[0], 9, json);
    } else if (json) {
        printf("{\"answer\":%d,\"odds\":", best);
        print_number((double)odds[best], 6, json);
    } else {
        printf("%d\t%.4f", best, (double)odds[best]);
    }
    puts(json ? "}" : "");
    return 0;
}
static int refuse_line(uint64_t line, const smx_state_form *form, const char *text) {
    if (form->vocab)
        return cli_fail("read: line %llu is '%.40s': it must be a token, 0 to %zu", (unsigned long long)line,
                        text, form->vocab - 1);
    return cli_fail("read: line %llu is '%.40s': it must be %zu numbers", (unsigned long long)line, text,
                    form->channels);
}
// One row: 0, or 2 with the sentence printed.
static int push_line(smx_run_state *state, const smx_state_form *form, float *values, uint64_t line,
                     const char *text) {
    smx_error e = {0};
    int32_t token = 0;
    const char *at = text;
    if (form->vocab) token = writing_token(&at, form->vocab);
    for (size_t i = 0; i < form->channels && !form->vocab; i++) {
        char *end;
        values[i] = strtof(at, &end);
        if (end == at) return refuse_line(line, form, text);
        at = writing_next(end);
    }
    if (token < 0 || *at) return refuse_line(line, form, text);
    if (smx_state_push(state, form->vocab ? &token : NULL, form->vocab ? NULL : values, 1, NULL, &e))
        return cli_fail("line %llu: %s%s", (unsigned long long)line, e.message, remedy(state, 1));
    return 0;
}
static int read_rows(smx_run_state *state, FILE *in, const options *o) {
    smx_state_form form;
    smx_state_look(state, &form);
    float *values = calloc(form.channels + 1, sizeof *values);
    float *odds = calloc(form.answers, sizeof *odds);
    char *text = NULL;
    size_t room = 0;
    int status = values && odds ? 0 : cli_fail("read: out of memory");
    ssize_t size;
    for (uint64_t line = 1; !status && (size = getline(&text, &room, in)) > 0; line++) {
        const char *row = writing_first(text);
        if (strlen(text) < (size_t)size)
            status = cli_fail("read: line %llu has a byte 0 in it: a text must have none",
                              (unsigned long long)line);
        if (status || !*row) continue; // an empty line
        text[strcspn(text, "\r\n")] = 0;
        status = push_line(state, &form, values, line, row);
        if (!status) status = print_answer(state, &form, odds, o->json);
        // Whoever waits for this answer before the next row has it; if nobody reads on, main says why.
        if (fflush(stdout)) break;
    }
    if (!status && ferror(in)) status = cli_fail("read: %s cannot be read: %s", o->in, strerror(errno));
    free(text);
    free(values);
    free(odds);
    return status;
}

static int read_stream(int argc, char **argv) {
    options o = {.most = 65536};
    if (cli_read_options(&cli_read, argc, argv, &o)) return 2;
    if (!o.file)
        return cli_usage_error(&cli_read, "a checkpoint, written by seqmix train 'CONFIG' --save FILE");
    if (!o.in) return cli_usage_error(&cli_read, "--in FILE, or - for standard input");
    smx_run *run = writing_load(o.file, o.changes);
    if (!run) return 2;
    smx_run_state *state = writing_state(run, (size_t)o.most);
    FILE *in = !state ? NULL : strcmp(o.in, "-") ? fopen(o.in, "rb") : stdin;
    int status = 2;
    if (in)
        status = (writing_is_text(run) ? read_text : read_rows)(state, in, &o);
    else if (state)
        cli_fail("read: %s cannot be read: %s", o.in, strerror(errno));
    if (in && in != stdin) fclose(in);
    smx_state_close(state);
    smx_run_close(run);
    return status;
}
