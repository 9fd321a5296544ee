// train.c: seqmix train: one run, its progress, its checkpoint.
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ranks.h"
#include "train_signals.h"

typedef struct {
    const char *config, *save, *load, *save_every;
    long every, eval; // evaluate every N steps (0: at the end only) on so many sequences
    int json;
} options;

static const cli_option table[] = {
    {"--json", NULL, "a JSON object a line on standard output: the start, every step, evaluations, the end",
     OPTION_FLAG, offsetof(options, json), 0, 0},
    {"--save", "FILE", "write a checkpoint at the end, also after HUP, INT (Ctrl-C) or TERM; on USR1 at once",
     OPTION_TEXT, offsetof(options, save), 0, 0},
    {"--save-every", "N|Ns", "write it every N steps, or every N seconds, too", OPTION_TEXT,
     offsetof(options, save_every), 0, 0},
    {"--load", "FILE", "go on with this checkpoint; the config holds what changes", OPTION_TEXT,
     offsetof(options, load), 0, 0},
    {"--every", "N", "evaluate on held-out sequences every N steps", OPTION_COUNT, offsetof(options, every),
     0, 1000000000},
    {"--eval", "N", "on so many of them (1000); 0: no evaluation at all", OPTION_COUNT,
     offsetof(options, eval), 0, 10000000},
    {0},
};

static int train(int argc, char **argv);
const cli_command cli_train = {
    .name = "train",
    .usage = "'CONFIG'",
    .help = "train one run",
    .options = table,
    .plain = offsetof(options, config),
    .most = 1,
    .example = "seqmix train 'mixer=cat&task=mqar' --save run.safetensors --save-every 60s",
    .run = train,
};

typedef struct {
    options o;
    uint64_t save_steps; // 0: not by steps
    double save_seconds; // 0: not by seconds
    smx_run *run;
    smx_metrics m;
    smx_evaluation held_out;
    uint64_t first;            // the step it began at
    double start, busy, saved; // seconds
    double flushed;            // when what was printed was last handed over
    double took[2];            // the last step, the last evaluation
    char words[64];            // the last evaluation, "" before one
    int failed;                // a step or an evaluation: the exit status
    int apart;                 // that was because another process does not answer
    int deaf;                  // nobody reads standard output any more
} training;

static int read_save_every(training *t) {
    char *end;
    const char *text = t->o.save_every;
    if (!text) return 0;
    const long n = strtol(text, &end, 10);
    const int seconds = *end == 's';
    if (end == text || end[seconds] || n < 1 || n > 1000000000)
        return cli_fail(
            "--save-every %.40s is not allowed: it must be steps, as 500, or seconds, as 60s, from 1 to "
            "1000000000",
            text);
    if (!t->o.save) return cli_fail("--save-every needs --save FILE beside it");
    if (seconds)
        t->save_seconds = (double)n;
    else
        t->save_steps = (uint64_t)n;
    return 0;
}

static smx_run *open_run(const options *o) {
    smx_error e = {0};
    if (o->load) // the library refuses a preset among changes
        return o->config && strchr(o->config, '~') && cli_refuse_several("train --load", o->config)
                   ? NULL
                   : cli_load_run(o->load, o->config);
    if (cli_refuse_several("train", o->config)) return NULL;
    smx_run *run = smx_run_open(o->config, &e);
    if (!run) cli_fail("%s", e.message);
    return run;
}

static int checkpoint(const void *of, void **bytes, size_t *size, uint64_t *step) {
    const training *t = of;
    *step = t->m.step;
    *bytes = smx_run_save(t->run, size, NULL);
    return *bytes ? 0 : -1;
}

// A run that failed leaves what was saved before alone, and nothing where it never began.
static int save(training *t) {
    if (t->failed && !t->apart && t->m.step == t->first) return 0;
    char name[4096];
    size_t size;
    smx_error e = {0};
    snprintf(name, sizeof name, "%s%s", t->o.save, t->failed && !t->apart ? ".stopped" : "");
    t->saved = cli_seconds();
    void *bytes = smx_run_save(t->run, &size, &e);
    if (!bytes) return cli_fail("%s", e.message);
    signals_lock();
    const int status = cli_write_file(name, bytes, size);
    signals_unlock();
    free(bytes);
    if (!status && t->failed) cli_note("what there was before it went wrong is in %s", name);
    return status;
}

// Nothing comes after this one: a disk that is full for a moment loses no training.
static int save_at_the_end(training *t) {
    enum { TRIES = 3 };
    for (int tries = 1;; tries++) {
        const int status = save(t);
        if (!status || tries == TRIES) return status;
        cli_note("trying to save again");
        sleep(1);
    }
}

static uint32_t word_of(double loss) {
    float f = (float)loss; // the loss is a float32, carried in a double
    uint32_t w;
    memcpy(&w, &f, 4);
    return f != f ? 0x7fc00000 : w;
}

// "R^2 0.9871", "3.5012 bits per character", "accuracy 99.20 %".
static void held_out_words(char *to, size_t size, const smx_evaluation *e) {
    if (e->regression)
        snprintf(to, size, "R^2 %.4f", e->r2);
    else if (e->text)
        snprintf(to, size, "%.4f bits per character", cli_bits(e));
    else
        snprintf(to, size, "accuracy %.2f %%", 100 * e->accuracy);
}

// One line of the terminal: a longer one would wrap, and stay there when the next is written.
static void show_bar(const training *t) {
    enum { CELLS = 24 };
    char text[256];
    const smx_metrics *m = &t->m;
    const double seconds = cli_seconds() - t->start;
    const int full = m->steps && m->step < m->steps ? (int)(m->step * CELLS / m->steps) : CELLS;
    const int size =
        snprintf(text, sizeof text, "%llu/%llu  loss %.4f%s%s  %.0f steps/s ", (unsigned long long)m->step,
                 (unsigned long long)m->steps, m->loss, *t->words ? "  held-out " : "", t->words,
                 seconds > 0 ? (double)m->step / seconds : 0.0);
    const int columns = cli_columns(), room = columns ? columns - 1 : CELLS + 3 + size;
    if (room >= CELLS + 3 + size)
        fprintf(stderr, "\r[%.*s%*s] %s\x1b[K", full, "########################", CELLS - full, "", text);
    else
        fprintf(stderr, "\r%.*s\x1b[K", room, text);
}

// ---- JSON lines

// What makes the run: in the first line and the last.
static void print_identity(const training *t) {
    printf(",\"version\":\"%s\",\"isa\":\"%s\",\"seed\":\"%s\",\"config\":", SMX_VERSION, smx_isa(),
           smx_run_config_value(t->run, "seed"));
    cli_json_text(smx_run_config(t->run));
}

static void print_start(const training *t) {
    const smx_metrics *m = &t->m;
    if (!t->o.json) {
        fprintf(stderr, "%llu weights, %.1f MB to train, %.1f million FLOPs a step\n",
                (unsigned long long)m->params, (double)m->bytes * 1e-6, (double)m->flops * 1e-6);
        return;
    }
    printf("{\"start\":true,\"step\":%llu,\"params\":%llu,\"bytes\":%llu,\"flops\":%llu",
           (unsigned long long)m->step, (unsigned long long)m->params, (unsigned long long)m->bytes,
           (unsigned long long)m->flops);
    print_identity(t);
    puts("}");
}

static void print_step(const training *t) {
    const smx_metrics *m = &t->m;
    printf("{\"step\":%llu,\"loss\":", (unsigned long long)m->step);
    cli_json_number(m->loss, 9);
    printf(",\"word\":\"%08x\",\"accuracy\":%.6g,\"rate\":%.9g}\n", word_of(m->loss), m->accuracy, m->rate);
}

static void print_final(const training *t, double seconds, double busy) {
    const smx_metrics *m = &t->m;
    const smx_evaluation *e = &t->held_out;
    printf("{\"final\":true,\"step\":%llu,\"loss\":", (unsigned long long)m->step);
    cli_json_number(m->loss, 9);
    if (!e->targets)
        printf(",\"accuracy\":null,\"r2\":null,\"bits\":null"); // nothing was evaluated
    else {
        printf(",\"accuracy\":%.6f,\"r2\":", e->accuracy);
        cli_json_number(e->r2, 9);
        printf(",\"bits\":");
        cli_json_number(cli_bits(e), 9);
    }
    printf(
        ",\"seconds\":%.3f,\"processor_seconds\":%.3f,\"params\":%llu,\"bytes\":%llu,\"digest\":\"%016llx\"",
        seconds, busy, (unsigned long long)m->params, (unsigned long long)m->bytes,
        (unsigned long long)smx_run_digest(t->run));
    print_identity(t);
    puts("}");
}

static void print_words(const training *t, double seconds) {
    printf("%llu step%s in %.2f s, loss %.4f", (unsigned long long)t->m.step, t->m.step == 1 ? "" : "s",
           seconds, t->m.loss);
    if (t->held_out.targets)
        printf(", held-out %s (%llu targets)", t->words, (unsigned long long)t->held_out.targets);
    printf(", %llu weights, digest %016llx\n", (unsigned long long)t->m.params,
           (unsigned long long)smx_run_digest(t->run));
}

// ---- Training

// Whoever reads hears of a long step at once, of short ones together.
static void flush(training *t, double seconds) {
    if (!t->o.json || cli_seconds() - t->flushed < seconds) return;
    fflush(stdout);
    t->flushed = cli_seconds();
}

enum { STEP, EVALUATION };

// A step or an evaluation. What may take long, as the one before did, has a checkpoint kept first.
static void compute(training *t, int what) {
    smx_error e = {0};
    signals_compute(t->took[what] > 0.3);
    const double begun = cli_seconds();
    if (what == STEP ? smx_run_step(t->run, 1, &e)
                     : smx_run_evaluate(t->run, (size_t)t->o.eval, 0, &t->held_out, &e))
        t->failed = cli_fail("%s", e.message);
    t->apart |= e.kind == SMX_APART;
    t->took[what] = cli_seconds() - begun;
    if (what == STEP) smx_run_metrics(t->run, &t->m);
    signals_rest();
}

static void evaluate(training *t) {
    compute(t, EVALUATION);
    if (!t->failed) held_out_words(t->words, sizeof t->words, &t->held_out);
}

static void evaluate_between(training *t) {
    double value;
    flush(t, 0.0); // it may be long
    evaluate(t);
    if (t->failed) return;
    if (!t->o.json) {
        if (isatty(STDERR_FILENO)) fputs("\r\x1b[K", stderr); // in place of the bar
        printf("step %llu: loss %.4f, held-out %s\n", (unsigned long long)t->m.step, t->m.loss, t->words);
        fflush(stdout);
        return;
    }
    const char *metric = cli_measure(&t->held_out, &value);
    printf("{\"step\":%llu,\"held_out\":", (unsigned long long)t->m.step);
    cli_json_number(value, 9);
    printf(",\"metric\":\"%s\"}\n", metric);
}

// A reader of JSON that goes away loses no training: where it is saved, it goes on.
static int nobody_reads(training *t) {
    if (!t->deaf && t->o.json && ferror(stdout)) {
        t->deaf = 1;
        if (t->o.save)
            cli_note("nobody reads standard output any more: the training goes on to %s", t->o.save);
    }
    return t->deaf && !t->o.save;
}

static int due(const training *t) {
    return signals_save_now() || (t->save_steps && t->m.step % t->save_steps == 0) ||
           (t->save_seconds > 0.0 && cli_seconds() - t->saved >= t->save_seconds);
}

static void train_steps(training *t) {
    const int bar = !t->o.json && isatty(STDERR_FILENO);
    double shown = 0.0;
    while (t->m.step < t->m.steps && !ranks_any(t->failed || signals_stop() || nobody_reads(t))) {
        compute(t, STEP);
        if (t->failed || !ranks_first()) continue;
        if (t->o.json) print_step(t);
        if (t->o.every && t->m.step % (uint64_t)t->o.every == 0 && t->o.eval) evaluate_between(t);
        if (t->failed) continue;
        if (t->o.save && due(t) && save(t)) cli_note("the training goes on; it is saved again later");
        flush(t, 0.2);
        if (bar && cli_seconds() - shown > 0.1) {
            show_bar(t);
            shown = cli_seconds();
        }
    }
    if (bar) {
        show_bar(t);
        fputc('\n', stderr);
    }
}

// Of so many seconds this process worked `worked`, and each of the others about as long.
static void note_ranks(double seconds, double worked, double megabytes) {
    const size_t n = ranks_all()->count;
    cli_note("%zu processes sent %.3f MB a step in all", n, megabytes);
    if (seconds > (double)n * worked)
        cli_note(
            "slower than one: %zu processes took %.2f s, one alone would take about %.2f s; the rest went to "
            "waiting for each other (a busy machine, or too small a batch)",
            n, seconds, (double)n * worked);
}

static int run(training *t) {
    smx_run_metrics(t->run, &t->m);
    t->first = t->m.step;
    t->start = t->saved = cli_seconds();
    t->busy = cli_processor_seconds();
    const double waited = ranks_waited();
    print_start(t);
    fflush(stdout);
    train_steps(t);
    const double seconds = cli_seconds() - t->start, busy = cli_processor_seconds() - t->busy;
    const unsigned long long sent = ranks_sent();
    if (!ranks_first()) return signals_end(), t->failed;
    // Also after a signal or a loss that went wrong: what was learnt is kept.
    int status = t->o.save ? save_at_the_end(t) : 0;
    if (!status) status = t->failed;
    const int stopped = signals_stop();
    if (!status && t->o.eval && !stopped) evaluate(t);
    if (!status) status = t->failed;
    signals_end();
    if (!status && t->o.json) print_final(t, seconds, busy);
    if (!status && !t->o.json) print_words(t, seconds);
    if (ranks_all() && !status && t->m.step > 0)
        note_ranks(seconds, busy - (ranks_waited() - waited), (double)sent * 1e-6 / (double)t->m.step);
    if (stopped && !status)
        fprintf(stderr, "seqmix: stopped at step %llu%s%s\n", (unsigned long long)t->m.step,
                t->o.save ? ", saved to " : "", t->o.save ? t->o.save : "");
    return status ? status : stopped ? 128 + stopped : 0;
}

static int share(smx_run *run) {
    smx_error e = {0};
    if (!ranks_all() || !smx_run_share(run, ranks_all(), &e)) return 0;
    ranks_say(e.message);
    return cli_fail("%s", e.message);
}

static int train(int argc, char **argv) {
    training t = {.o = {.eval = 1000}, .took = {1.0, 1.0}}; // the first may be long
    if (cli_read_options(&cli_train, argc, argv, &t.o) || read_save_every(&t)) return 2;
    if (!t.o.config && !t.o.load)
        return cli_usage_error(&cli_train, "a config, such as 'mixer=cat&task=mqar'");
    if (!ranks_first()) t.o.save = NULL;
    int status = t.o.save ? cli_can_write(t.o.save) : 0;
    t.run = status ? NULL : open_run(&t.o);
    status = !t.run || share(t.run) || cli_refuse_too_large(t.run) ? 2 : 0;
    if (ranks_any(status)) { // here, or in another process
        smx_run_close(t.run);
        return 2;
    }
    const signals_rules rules = {
        .save = t.o.save, .write = cli_write_file, .checkpoint = checkpoint, .training = &t};
    status = signals_start(&rules);
    ranks_give_up(signals_stop);
    if (!status) {
        cli_use_threads(t.run);
        if (*smx_run_warning(t.run)) cli_note("%s", smx_run_warning(t.run));
        cli_note_images(smx_run_config(t.run), "");
        cli_note_unread(smx_run_config(t.run), t.o.config);
        status = run(&t);
    }
    smx_run_close(t.run);
    return status;
}
