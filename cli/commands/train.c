// train.c: seqmix train: one run, its progress, its checkpoint.
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;
static void on_interrupt(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

static double clock_seconds(clockid_t which) {
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
double cli_seconds(void) { return clock_seconds(CLOCK_MONOTONIC); }
double cli_processor_seconds(void) { return clock_seconds(CLOCK_PROCESS_CPUTIME_ID); }

typedef struct {
    const char *config, *save, *load;
    long every, eval; // evaluate every N steps (0: at the end only) on so many sequences
    int json;
} options;

static int read_options(int argc, char **argv, options *o) {
    *o = (options){.eval = 1000};
    for (int i = 0; i < argc; i++) {
        int bad = 0;
        if (!strcmp(argv[i], "--json"))
            o->json = 1;
        else if (!strcmp(argv[i], "--save"))
            bad = cli_read_path(argc, argv, &i, &o->save);
        else if (!strcmp(argv[i], "--load"))
            bad = cli_read_path(argc, argv, &i, &o->load);
        else if (!strcmp(argv[i], "--every"))
            bad = cli_read_count(argc, argv, &i, 0, 1000000000, &o->every);
        else if (!strcmp(argv[i], "--eval"))
            bad = cli_read_count(argc, argv, &i, 0, 10000000, &o->eval);
        else if (argv[i][0] == '-' && argv[i][1])
            bad = cli_fail(
                "there is no option %s; train has --json, --save FILE, --load FILE, --every N and --eval N",
                argv[i]);
        else if (o->config)
            bad =
                cli_fail("'%s' comes after the config '%s'; give one config, in quotes", argv[i], o->config);
        else
            o->config = argv[i];
        if (bad) return bad;
    }
    if (!o->config && !o->load)
        return cli_fail("train needs a config, such as 'mixer=cat&task=mqar'; seqmix help lists the keys");
    return 0;
}

static smx_run *open_run(const options *o) {
    if (o->load) return cli_load_run(o->load, o->config);
    smx_error e = {0};
    char *all = smx_config_complete(o->config, &e); // every run is looked at, though only one is trained
    smx_run *run = all ? smx_run_open(o->config, &e) : NULL;
    if (!run) cli_fail("%s", e.message);
    if (run && strchr(all, '~')) fprintf(stderr, "seqmix: note: of several runs this trains the first\n");
    free(all);
    return run;
}

static int save_run(const smx_run *run, const char *path) {
    smx_error e = {0};
    size_t size;
    void *bytes = smx_run_save(run, &size, &e);
    int status = bytes ? cli_write_file(path, bytes, size) : cli_fail("%s", e.message);
    free(bytes);
    return status;
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

// held_out: "" before the first evaluation.
static void show_bar(const smx_metrics *m, const char *held_out, double seconds) {
    enum { CELLS = 24 };
    int full = m->steps ? (int)(m->step * CELLS / m->steps) : 0;
    fprintf(stderr, "\r[%.*s%*s] %llu/%llu  loss %.4f", full > CELLS ? CELLS : full,
            "########################", CELLS - (full > CELLS ? CELLS : full), "",
            (unsigned long long)m->step, (unsigned long long)m->steps, m->loss);
    if (*held_out) fprintf(stderr, "  held-out %s", held_out);
    fprintf(stderr, "  %.0f steps/s \x1b[K", seconds > 0 ? (double)m->step / seconds : 0.0);
}

int cli_train(int argc, char **argv) {
    options o;
    int status = read_options(argc, argv, &o);
    if (!status && o.save) status = cli_can_write(o.save);
    if (status) return status;
    smx_run *run = open_run(&o);
    if (!run) return 2;
    cli_use_threads(run);
    if (*smx_run_warning(run)) fprintf(stderr, "seqmix: note: %s\n", smx_run_warning(run));
    cli_note_images(smx_run_config(run), "");
    // The first one ends the training in good order, a second one the program (during a long evaluation, say).
    const struct sigaction once = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &once, NULL);
    sigaction(SIGTERM, &once, NULL);

    const int bar = !o.json && isatty(STDERR_FILENO);
    const double start = cli_seconds(), busy_before = cli_processor_seconds();
    double shown = 0.0;
    char held_out[64] = "";
    smx_error e = {0};
    smx_metrics m;
    smx_evaluation ev = {0};
    smx_run_metrics(run, &m);
    if (o.json)
        printf("{\"start\":true,\"step\":%llu,\"params\":%llu,\"bytes\":%llu,\"flops\":%llu}\n",
               (unsigned long long)m.step, (unsigned long long)m.params, (unsigned long long)m.bytes,
               (unsigned long long)m.flops);
    else
        fprintf(stderr, "%llu weights, %.1f MB to train, %.1f million products a step\n",
                (unsigned long long)m.params, (double)m.bytes * 1e-6, (double)m.flops * 1e-6);
    fflush(stdout);
    while (m.step < m.steps && !interrupted) {
        if (smx_run_step(run, 1, &e)) {
            status = cli_fail("%s", e.message);
            break;
        }
        smx_run_metrics(run, &m);
        if (o.json)
            printf("{\"step\":%llu,\"loss\":%.9g,\"word\":\"%08x\",\"accuracy\":%.6g,\"rate\":%.9g}\n",
                   (unsigned long long)m.step, m.loss, word_of(m.loss), m.accuracy, m.rate);
        if (o.every && m.step % (uint64_t)o.every == 0 && o.eval) {
            if (smx_run_evaluate(run, (size_t)o.eval, 0, &ev, &e)) {
                status = cli_fail("%s", e.message);
                break;
            }
            held_out_words(held_out, sizeof held_out, &ev);
            double value;
            const char *metric = cli_measure(&ev, &value);
            if (o.json)
                printf("{\"step\":%llu,\"held_out\":%.6f,\"metric\":\"%s\"}\n", (unsigned long long)m.step,
                       value, metric);
        }
        double now = cli_seconds();
        if (bar && now - shown > 0.1) {
            show_bar(&m, held_out, now - start);
            shown = now;
        }
    }
    const double seconds = cli_seconds() - start, busy = cli_processor_seconds() - busy_before;
    if (bar) {
        show_bar(&m, held_out, seconds);
        fputc('\n', stderr);
    }
    // Also after Ctrl-C or a loss that went wrong: what was learnt is kept.
    if (o.save) {
        int bad = save_run(run, o.save);
        status = status ? status : bad;
    }
    if (!status && o.eval && !interrupted && smx_run_evaluate(run, (size_t)o.eval, 0, &ev, &e))
        status = cli_fail("%s", e.message);
    if (!status && o.json)
        printf(
            "{\"final\":true,\"step\":%llu,\"loss\":%.9g,\"accuracy\":%.6f,\"r2\":%.6f,\"bits\":%.6f,\"seconds\":%.3f,\"processor_seconds\":%.3f,\"params\":%llu,\"bytes\":%llu,"
            "\"digest\":\"%016llx\"}\n",
            (unsigned long long)m.step, m.loss, ev.accuracy, ev.r2, cli_bits(&ev), seconds, busy,
            (unsigned long long)m.params, (unsigned long long)m.bytes,
            (unsigned long long)smx_run_digest(run));
    else if (!status) {
        held_out_words(held_out, sizeof held_out, &ev);
        printf("%llu steps in %.2f s, loss %.4f", (unsigned long long)m.step, seconds, m.loss);
        if (ev.targets) printf(", held-out %s (%llu targets)", held_out, (unsigned long long)ev.targets);
        printf(", %llu weights, digest %016llx\n", (unsigned long long)m.params,
               (unsigned long long)smx_run_digest(run));
    }
    if (interrupted && !status)
        fprintf(stderr, "seqmix: stopped at step %llu%s%s\n", (unsigned long long)m.step,
                o.save ? ", saved to " : "", o.save ? o.save : "");
    smx_run_close(run);
    return status ? status : interrupted ? 130 : 0;
}
