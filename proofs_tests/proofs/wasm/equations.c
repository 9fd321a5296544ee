// equations.c: a mixer's text for the page: the steps that it became, as JSON that the page draws, and what
// check/ knows of it. wasm/loader/verify.ts is the only caller. Nothing is computed here.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "model/mixers/equations.h"
#include "model/mixers/mixer.h"
#include "model/ops/ops.h"
#include "model/run/language/language.h"

// ---- JSON, which grows as it is written -------------------------------------------------------------------
typedef struct {
    char *text;
    size_t n, room;
} json_text;
static void put(json_text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(json_text *to, const char *format, ...) {
    for (int again = 0; again < 2; again++) {
        va_list list;
        va_start(list, format);
        const size_t room = to->text ? to->room - to->n : 0;
        const int n = vsnprintf(to->text ? to->text + to->n : NULL, room, format, list);
        va_end(list);
        if (n >= 0 && (size_t)n < room) {
            to->n += (size_t)n;
            return;
        }
        const size_t bigger = 2 * (to->n + (size_t)n) + 256;
        char *more = realloc(to->text, bigger);
        if (!more) return;
        to->text = more;
        to->room = bigger;
    }
}
// JSON knows no infinity.
static void put_number(json_text *to, const char *name, double x) {
    if (x - x == 0.0)
        put(to, ",\"%s\":%.9g", name, x);
    else
        put(to, ",\"%s\":null", name);
}
static void put_shape(json_text *to, const tensor *t) {
    put(to, ",\"shape\":[");
    for (uint32_t i = t->weight ? 0 : 1; i < t->rank; i++) // of one sequence
        put(to, "%s%u", i == (t->weight ? 0 : 1) ? "" : ",", t->shape[i]);
    put(to, "]");
}
// A tensor's name in the text; "" where the text gave it none.
static const char *own_name(const tensor *t) {
    const char *name = t->weight ? t->weight->name : t->name, *dot = strrchr(name, '.');
    return strchr(name, '#') ? "" : dot ? dot + 1 : name;
}

// Where a state lies in what the scan carries of a sequence: where the first head's begins; floats between
// heads, and between the rows of a matrix.
static void put_place(json_text *to, const graph *g, const equation_scan *s, size_t i) {
    const program *p = g->nodes[s->out->produced_by].attributes;
    const int side_by_side = p->heads != s->heads; // heads of scalars: columns of one head
    put(to, ",\"at\":%u,\"head\":%zu,\"row\":%zu", p->states[i].at, side_by_side ? (size_t)1 : p->state_n,
        program_pitch(&p->registers[p->states[i].in]));
}

// ---- What both answer from --------------------------------------------------------------------------------
static smx_error failure;
const char *verify_equations_error(void) { return failure.message; }
static config *read_config(const char *text) {
    config *c = config_parse(text, 0, &failure);
    const mixer *m = c ? mixer_of(c) : NULL;
    if (!c) return NULL;
    if (strcmp(c->of_mixer.name, "equations"))
        config_fail(&failure, c, "mixer", "equations");
    else if (!m->check(c, c->common.length, &failure))
        return c;
    config_free(c);
    return NULL;
}
static const char *answer(json_text *written, int status) {
    static char *kept;
    free(kept);
    kept = written->text;
    return status ? NULL : kept;
}

// {"output":3,"steps":[{"function":"conv","name":"q","line":2,"shape":[64,32],"from":[-1],"weights":[...]}]}:
// from: the steps whose results it takes, -1: x; states: of a scan, [heads] and what one of them has, and
// where that lies (put_place). NULL: verify_equations_error.
const char *verify_equations_steps(const char *text) {
    config *c = read_config(text);
    if (!c) return NULL;
    params p = {.seed = 0};
    graph *g = graph_new(GRAPH_EVAL, &p, 1, c->common.length);
    equation_trace *trace = malloc(sizeof *trace);
    json_text to = {0};
    int status = -1;
    if (g && trace) {
        const tensor *y = equations_mixer(g, c, op_values(g, c->common.width), trace);
        status = g->failed ? -1 : 0;
        if (status) failure = g->error;
        long output = -1;
        for (size_t s = 0; s < trace->n; s++)
            if (trace->steps[s].out == y) output = (long)s;
        put(&to, "{\"output\":%ld,\"steps\":[", output);
        for (size_t s = 0; !status && s < trace->n; s++) {
            const equation_step *step = &trace->steps[s];
            put(&to, "%s{\"function\":\"%s\",\"name\":\"%s\",\"line\":%u", s ? "," : "", step->function->name,
                own_name(step->out), step->line);
            put_shape(&to, step->out);
            put(&to, ",\"from\":[");
            for (size_t a = 0, n = 0; a < equation_inputs(step); a++) {
                const tensor *t = equation_input(step, a);
                long from = -1;
                if (!t || t->weight) continue;
                for (size_t e = 0; e < s; e++)
                    if (trace->steps[e].out == t) from = (long)e;
                put(&to, "%s%ld", n++ ? "," : "", from);
            }
            put(&to, "],\"states\":[");
            for (size_t a = 0; step->scan && a < step->scan->n_states; a++) {
                const scan_state *state = &step->scan->states[a];
                put(&to, "%s{\"name\":\"%s\",\"shape\":[%zu", a ? "," : "", state->name, step->scan->heads);
                if (state->shape.rank > 1) put(&to, ",%u", state->shape.rows);
                if (state->shape.rank > 0) put(&to, ",%u", state->shape.cols);
                put(&to, "]");
                put_place(&to, g, step->scan, a);
                put(&to, "}");
            }
            put(&to, "],\"weights\":[");
            for (size_t a = 0, n = 0; a < equation_inputs(step); a++) {
                const tensor *t = equation_input(step, a);
                if (!t || !t->weight) continue;
                put(&to, "%s{\"name\":\"%s\"", n++ ? "," : "", own_name(t));
                put_shape(&to, t);
                put(&to, "}");
            }
            put(&to, "]}");
        }
        put(&to, "]}");
    }
    free(trace);
    graph_free(g);
    params_free(&p);
    config_free(c);
    return answer(&to, status);
}

// The whole check (check/check.h) of a config with mixer=equations. NULL: verify_equations_error.
const char *verify_equations_check(const char *text) {
    config *c = read_config(text);
    check_report *r = calloc(1, sizeof *r);
    const int status = c && r ? check_config(r, c, 1, &failure) : -1;
    json_text to = {0};
    if (!status) {
        put(&to,
            "{\"passes\":%d,\"computes\":%d,\"differentiates\":%d,\"stable\":%d,\"length\":%zu,\"weights\":%zu,"
            "\"ahead\":%zu,\"aheadLine\":%u,\"saysAhead\":%zu,\"rows\":[",
            check_passes(r), r->computes, r->differentiates, r->stable, r->length, r->weights, r->ahead,
            r->ahead_line, r->says_ahead);
        for (size_t i = 0; i < r->n_rows; i++) {
            put(&to, "%s{\"name\":\"%s\",\"fine\":%d,\"numbers\":%zu", i ? "," : "", r->rows[i].name,
                r->rows[i].fine, r->rows[i].n);
            put_number(&to, "error", r->rows[i].error);
            put_number(&to, "allowed", r->rows[i].allowed);
            put_number(&to, "difference", r->rows[i].difference);
            put(&to, "}");
        }
        put(&to, "],\"growth\":[");
        for (size_t i = 0; i < r->n_lengths; i++) {
            put(&to, "%s{\"length\":%zu", i ? "," : "", r->lengths[i]);
            put_number(&to, "gradient", r->growth[i]);
            put(&to, "}");
        }
        put(&to, "],\"large\":%d,\"notFinite\":\"%s\",\"cost\":[", CHECK_LARGE, r->not_finite);
        for (size_t i = 0; i < CHECK_COSTS; i++) {
            put(&to, "%s{\"length\":%zu", i ? "," : "", r->cost[i].length);
            put_number(&to, "flops", r->cost[i].flops);
            put_number(&to, "bytes", r->cost[i].bytes);
            put(&to, "}");
        }
        put(&to, "]}");
    }
    free(r);
    config_free(c);
    return answer(&to, status);
}
