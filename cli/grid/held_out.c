// held_out.c: see held_out.h.
#include "held_out.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "model/run/evaluate.h"

int held_out_measure(const job *j, smx_run *run, char metric[16], double *value, double *loss) {
    smx_error e = {0};
    smx_evaluation other;
    if (run_evaluate_from(run, (uint64_t)j->eval, (size_t)(j->eval + 3) / 4, &other, &e))
        return cli_fail("%s", e.message);
    snprintf(metric, 16, "%s", cli_measure(&other, value));
    if (loss) *loss = other.loss;
    return 0;
}

static int add(held_out_curve *curve, double value) {
    if (curve->n == curve->room) {
        const size_t room = curve->room ? 2 * curve->room : 64;
        double *longer = realloc(curve->values, room * sizeof *longer);
        if (!longer) return cli_fail("out of memory");
        curve->values = longer;
        curve->room = room;
    }
    curve->values[curve->n++] = value;
    return 0;
}

int held_out_add(held_out_curve *curve, const job *j, smx_run *run) {
    smx_metrics m;
    char metric[16];
    double value;
    smx_run_metrics(run, &m);
    if (!j->every || m.step % (uint64_t)j->every) return 0;
    return held_out_measure(j, run, metric, &value, NULL) || add(curve, value) ? 2 : 0;
}

void held_out_give(held_out_curve *curve, result *r) {
    r->n_held_out = curve->n;
    r->held_out = curve->values;
    *curve = (held_out_curve){0};
}

void held_out_free(held_out_curve *curve) {
    free(curve->values);
    *curve = (held_out_curve){0};
}

// The numbers to the bit, each on a line.
int held_out_write(const held_out_curve *curve, const char *path) {
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to) return cli_fail("out of memory");
    for (size_t i = 0; i < curve->n; i++) fprintf(to, "%a\n", curve->values[i]);
    const int status = fclose(to) ? cli_fail("out of memory") : cli_write_shared(path, text, size);
    free(text);
    return status;
}

int held_out_parse(held_out_curve *curve, uint64_t wanted, const char *text) {
    char *end;
    *curve = (held_out_curve){0};
    for (uint64_t i = 0; i < wanted; i++, text = end + 1) {
        const double value = strtod(text, &end);
        if (end == text || *end != '\n' || add(curve, value)) return 1;
    }
    return 0;
}

int held_out_read(held_out_curve *curve, const job *j, uint64_t step, const char *path) {
    const uint64_t wanted = j->every ? step / (uint64_t)j->every : 0;
    size_t size;
    struct stat st;
    *curve = (held_out_curve){0};
    if (!wanted) return 0;
    char *text = stat(path, &st) ? NULL : cli_read_file(path, &size);
    if (text) text[size] = 0; // there is room for it
    const int bad = !text || held_out_parse(curve, wanted, text);
    free(text);
    if (bad) held_out_free(curve);
    return bad;
}
