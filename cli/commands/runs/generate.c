// generate.c: seqmix generate: a saved model goes on from a beginning, token by token.
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writing.h"

enum { PROMPT_MOST = 1 << 24 };

typedef struct {
    const char *file, *changes, *prompt;
    long tokens, top_k, seed;
    double temperature, top_p;
    int bits, json;
} options;

static const cli_option table[] = {
    {"--prompt", "TEXT|@FILE|-",
     "the beginning: this text, a file's, or standard input's (a line's end); numbers where tokens are no text",
     OPTION_TEXT, offsetof(options, prompt), 0, 0},
    {"--tokens", "N", "so many tokens more (400)", OPTION_COUNT, offsetof(options, tokens), 1, 1 << 24},
    {"--temperature", "T", "below 1 surer, above 1 wilder; 0: always the likeliest (0.8)", OPTION_REAL,
     offsetof(options, temperature), 0, 1000},
    {"--top-k", "K", "only the K likeliest; 0: all (0)", OPTION_COUNT, offsetof(options, top_k), 0, 1 << 20},
    {"--top-p", "P", "only the likeliest that reach P together (1)", OPTION_REAL, offsetof(options, top_p),
     1e-6, 1},
    {"--seed", "S", "the same seed writes the same text, everywhere (1)", OPTION_COUNT,
     offsetof(options, seed), 0, 9007199254740991.0},
    {"--bits", NULL, "colour each character by its surprise, green to red", OPTION_FLAG,
     offsetof(options, bits), 0, 0},
    {"--json", NULL, "a JSON object for each character, with its surprise in bits", OPTION_FLAG,
     offsetof(options, json), 0, 0},
    {0},
};

static int generate(int argc, char **argv);
const cli_command cli_generate = {
    .name = "generate",
    .usage = "FILE ['CHANGES']",
    .help = "a saved model writes on from a prompt, token by token as they are drawn",
    .options = table,
    .plain = offsetof(options, file),
    .most = 2,
    .example = "seqmix generate run.safetensors --prompt 'First Citizen:' --tokens 300",
    .run = generate,
};

static volatile sig_atomic_t interrupted;
static void interrupt(int number) {
    interrupted = number;
    signal(number, SIG_DFL); // a second one ends the program
}

// malloc'ed bytes and a 0 behind them; NULL with the sentence printed.
static char *prompt_bytes(const options *o, size_t *size) {
    if (!o->prompt) {
        *size = 1;
        return strdup("\n");
    }
    if (*o->prompt == '@') return cli_read_file(o->prompt + 1, size);
    if (strcmp(o->prompt, "-")) {
        *size = strlen(o->prompt);
        return strdup(o->prompt);
    }
    char *bytes = malloc(PROMPT_MOST + 1);
    *size = bytes ? fread(bytes, 1, PROMPT_MOST, stdin) : 0;
    if (bytes) bytes[*size] = 0;
    if (bytes && !ferror(stdin) && feof(stdin)) return bytes;
    free(bytes);
    cli_fail("generate: the prompt on standard input cannot be read: %s",
             ferror(stdin) ? strerror(errno) : "it is longer than 16 MiB");
    return NULL;
}
// How many tokens they are; 0 with the sentence printed.
static size_t text_tokens(int32_t *tokens, const char *bytes, size_t size, size_t vocab) {
    for (size_t i = 0; i < size; i++) {
        tokens[i] = (unsigned char)bytes[i];
        if ((size_t)tokens[i] < vocab) continue;
        cli_fail("generate: byte %zu of the prompt is %d, and the model's alphabet ends at %zu", i, tokens[i],
                 vocab - 1);
        return 0;
    }
    if (!size) cli_fail("generate: --prompt is empty: it must have a token at least");
    return size;
}
static size_t number_tokens(int32_t *tokens, const char *bytes, size_t size, size_t vocab) {
    const char *at = writing_first(bytes);
    size_t n = 0;
    while (at < bytes + size) {
        tokens[n] = writing_token(&at, vocab);
        if (tokens[n++] >= 0) continue;
        cli_fail(
            "generate: the prompt of this model is tokens, numbers from 0 to %zu with spaces between, and not '%.20s'",
            vocab - 1, *at ? at : "\\x00");
        return 0;
    }
    if (!n)
        cli_fail(
            "generate: --prompt is empty: it must have a token at least, a number from 0 to %zu in this model",
            vocab - 1);
    return n;
}
// Tokens of the prompt, malloc'ed; NULL with the sentence printed.
static int32_t *prompt_tokens(const options *o, size_t vocab, int text, size_t *n) {
    size_t size = 0;
    char *bytes = prompt_bytes(o, &size);
    int32_t *tokens = bytes ? malloc((size + 1) * sizeof *tokens) : NULL;
    *n = tokens ? (text ? text_tokens : number_tokens)(tokens, bytes, size, vocab) : 0;
    if (!tokens && bytes) cli_fail("generate: out of memory for the prompt");
    free(bytes);
    if (*n) return tokens;
    free(tokens);
    return NULL;
}

typedef struct {
    double bits;
    size_t tokens;
} written;
// Odds may be 0 to the last bit: their surprise is null in JSON.
static void print_token(int32_t token, double bits) {
    printf("{\"token\":%d,\"bits\":", token);
    cli_json_number(bits, 6);
    puts("}");
}
static void print_end(const written *w, double seconds) {
    printf("{\"tokens\":%zu,\"bits\":", w->tokens);
    cli_json_number(w->tokens ? w->bits / (double)w->tokens : 0.0, 6);
    printf(",\"seconds\":%.3g}\n", seconds);
}
// 0, or 2 with the sentence printed.
static int write_on(smx_run_state *state, const options *o, int text, float *odds, writing *out, written *w) {
    const smx_draw draw = {o->temperature, (size_t)o->top_k, o->top_p, (uint64_t)o->seed};
    smx_error e = {0};
    for (long i = 0; i < o->tokens && !interrupted; i++) {
        int32_t token;
        if (smx_state_draw(state, &draw, &token, &e) || smx_state_odds(state, 0, odds, &e))
            return cli_fail("%s", e.message);
        const double bits = 0.0 - log2((double)odds[token]); // not -0 of what is certain
        if (text)
            writing_byte(out, token, bits);
        else if (o->json)
            print_token(token, bits);
        else
            printf(i ? " %d" : "%d", token);
        if (fflush(stdout)) return 0; // nobody reads on: main says why
        w->bits += bits;
        w->tokens++;
        if (i + 1 < o->tokens && smx_state_push(state, &token, NULL, 1, NULL, &e))
            return cli_fail("%s", e.message);
    }
    return 0;
}

static int with_run(smx_run *run, const options *o) {
    smx_error e = {0};
    smx_batch_form form;
    smx_run_batch(run, &form);
    const int text = writing_is_text(run);
    if (!form.vocab || form.classes != form.vocab)
        return cli_fail(
            "generate: this model %s; only models that answer with their own tokens can go on: task=charlm, or task=own with vocab=classes",
            form.vocab ? "answers with other classes than its tokens" : "reads real numbers");
    size_t n;
    int32_t *prompt = prompt_tokens(o, form.vocab, text, &n);
    if (!prompt) return 2;
    smx_run_state *state = writing_state(run, n + (size_t)o->tokens);
    float *odds = malloc(form.vocab * sizeof *odds);
    written w = {0};
    int status = state && odds ? 0 : 2;
    if (!status && smx_state_push(state, prompt, NULL, n, NULL, &e)) status = cli_fail("%s", e.message);
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    writing out = {.json = o->json, .colours = o->bits, .safe = isatty(STDOUT_FILENO)};
    for (size_t i = 0; !status && text && !o->json && o->prompt && i < n; i++) { // the beginning, uncoloured
        out.colours = 0;
        writing_byte(&out, prompt[i], 0);
    }
    out.colours = o->bits;
    const double began = cli_seconds();
    if (!status) status = write_on(state, o, text, odds, &out, &w);
    const double seconds = cli_seconds() - began;
    if (!status) writing_flush(&out);
    if (!status && o->json)
        print_end(&w, seconds);
    else if (!status)
        putchar('\n');
    free(odds);
    free(prompt);
    smx_state_close(state);
    return status ? status : interrupted ? 128 + interrupted : 0;
}

static int generate(int argc, char **argv) {
    options o = {.tokens = 400, .temperature = 0.8, .top_p = 1, .seed = 1};
    if (cli_read_options(&cli_generate, argc, argv, &o)) return 2;
    if (!o.file)
        return cli_usage_error(&cli_generate, "a checkpoint, written by seqmix train 'CONFIG' --save FILE");
    smx_run *run = writing_load(o.file, o.changes);
    if (!run) return 2;
    cli_use_threads(run);
    const int status = with_run(run, &o);
    smx_run_close(run);
    return status;
}
