// data.c: seqmix data 'CONFIG' --count N --out DIR: samples of a task as .npy, for use elsewhere;
// --show draws them.
#include "cli/cli.h"
#include "model/run/language/language.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data_show.h"
#include "cli/arrays/npy.h"
#include "kernels/core/philox.h"
#include "tasks/task.h"

typedef struct {
    const char *config, *out;
    long count, first;
    int show, held_out;
} options;

static const cli_option table[] = {
    {"--out", "DIR", "write tokens.npy or values.npy, and targets.npy, there", OPTION_TEXT,
     offsetof(options, out), 0, 0},
    {"--show", NULL, "draw them in the terminal instead", OPTION_FLAG, offsetof(options, show), 0, 0},
    {"--count", "N", "so many samples (1000 to write, 1 to show)", OPTION_COUNT, offsetof(options, count), 1,
     100000000},
    {"--first", "N", "from this one on (0)", OPTION_COUNT, offsetof(options, first), 0, 100000000},
    {"--stream", "train|eval", "those that training sees, or the held-out ones", OPTION_WORD,
     offsetof(options, held_out), 0, 0},
    {0},
};

static int data(int argc, char **argv);
const cli_command cli_data = {
    .name = "data",
    .usage = "'CONFIG'",
    .help = "samples of a task as .npy, or drawn in the terminal",
    .options = table,
    .plain = offsetof(options, config),
    .most = 1,
    .example = "seqmix data 'task=mqar' --count 1000 --out DIR",
    .run = data,
};

static int read_options(int argc, char **argv, options *o) {
    *o = (options){0};
    if (cli_read_options(&cli_data, argc, argv, o) || cli_refuse_several("data", o->config)) return 2;
    if (!o->count) o->count = o->show ? 1 : 1000;
    if (!o->config || !(o->out || o->show))
        return cli_usage_error(&cli_data, "a config and --out DIR or --show");
    return 0;
}

static int write_array(const char *folder, const char *name, npy_dtype type, size_t ndim, const size_t *shape,
                       const void *data) {
    char path[4096];
    smx_error error;
    if ((size_t)snprintf(path, sizeof path, "%s/%s.npy", folder, name) >= sizeof path)
        return cli_fail("the path of %zu characters is too long", strlen(folder));
    return npy_write(path, type, ndim, shape, data, &error) ? cli_fail("%s", error.message) : 0;
}

// Samples that are held at once: all of them to be written, one to be shown.
static int too_much(const options *o, const smx_task_instance *t) {
    const uint64_t each = (uint64_t)t->length * (3 + t->channels), most = ((uint64_t)1 << 33) / 4;
    if (each > most) return cli_fail("a sample of %zu rows would need more than 8 GiB", t->length);
    if (!o->show && each > most / (uint64_t)o->count)
        return cli_fail("--count %ld is too much: these samples would need more than 8 GiB at once",
                        o->count);
    return 0;
}

static int show_samples(const options *o, const smx_task_instance *t, uint64_t seed) {
    const size_t L = t->length, T = t->per_position ? L : 1;
    int32_t *whole = malloc((L + T) * sizeof *whole);
    float *real = malloc((L * (t->channels ? t->channels : 1) + T) * sizeof *real);
    const int enough = whole && real;
    for (long i = 0; enough && i < o->count; i++) {
        smx_task_sample s = {whole, real + T, whole + L, real};
        t->task->generate(t, seed, o->held_out ? RNG_EVAL : RNG_TRAIN, (uint64_t)o->first + (uint64_t)i, &s);
        if (i) putchar('\n');
        show_sample(t, &s);
    }
    free(whole);
    free(real);
    return enough ? 0 : cli_fail("out of memory for a sample of %zu rows", L);
}

static int write_samples(const options *o, const smx_task_instance *t, uint64_t seed) {
    const size_t N = (size_t)o->count, L = t->length, C = t->channels, T = t->per_position ? L : 1;
    const size_t per_sample = L + L * C + 2 * T;
    float *memory = calloc(N * per_sample + 1, 4);
    if (!memory) return cli_fail("out of memory for %ld samples", o->count);
    int32_t *tokens = (int32_t *)memory, *targets = tokens + N * L;
    float *values = memory + N * (L + T), *numbers = values + N * L * C;
    for (size_t i = 0; i < N; i++) {
        smx_task_sample s = {t->vocab ? tokens + i * L : NULL, C ? values + i * L * C : NULL, targets + i * T,
                             numbers + i * T};
        t->task->generate(t, seed, o->held_out ? RNG_EVAL : RNG_TRAIN, (uint64_t)o->first + i, &s);
    }
    int bad = t->vocab ? write_array(o->out, "tokens", NPY_I4, 2, (size_t[]){N, L}, tokens)
                       : write_array(o->out, "values", NPY_F4, 3, (size_t[]){N, L, C}, values);
    if (!bad)
        bad = write_array(o->out, "targets", t->classes ? NPY_I4 : NPY_F4, t->per_position ? 2 : 1,
                          (size_t[]){N, T}, t->classes ? (void *)targets : (void *)numbers);
    free(memory);
    if (bad) return 2;
    cli_finish_folder();
    printf("%zu samples of %s in %s: %s [%zu][%zu]", N, t->task->name, o->out, t->vocab ? "tokens" : "values",
           N, L);
    if (C) printf("[%zu]", C);
    printf(", targets [%zu]", N);
    if (t->per_position) printf("[%zu]", T);
    putchar('\n');
    return 0;
}

static int data(int argc, char **argv) {
    options o;
    int status = read_options(argc, argv, &o);
    if (status) return status;
    smx_error e = {0};
    config *c = config_parse(o.config, 0, &e);
    if (!c) return cli_fail("%s", e.message);
    smx_task_instance t = {0};
    const smx_task *task = smx_task_of(c);
    if (task->open(&t, c, c->common.length, &e)) {
        config_free(c);
        return cli_fail("%s", e.message);
    }
    t.task = task;
    char *all = config_text(c);
    if (all) cli_note_images(all, "");
    free(all);
    cli_note_unread(o.config, o.config);
    if (too_much(&o, &t))
        status = 2;
    else if (o.show)
        status = show_samples(&o, &t, c->common.seed);
    else if (cli_make_folder(o.out, "--out"))
        status = 2;
    else
        status = write_samples(&o, &t, c->common.seed);
    if (t.release) t.release(t.data);
    config_free(c);
    return status;
}
