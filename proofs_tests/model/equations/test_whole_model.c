// test_whole_model.c: a whole model's loss and the gradient of each of its weights (embedding, positions,
// norms, mixers, residuals, MLP, head) against the same model in double: the mixers as texts over the oracle
// (check/interpret.h), the rest here over ref/. At few rows, and where rows are taken in blocks: beyond 2,048
// and beyond 4,096 of them. Two threads must give the words of one.
//   SEQMIX_WHOLE=all: every mode at every size (make test-all)
#include "proofs_tests/support/check.h"

#include <seqmix/ref.h>

#include "check/interpret.h"
#include "cli/team.h"
#include "cli/texts/texts.h"
#include "model/audit/audit.h"
#include "model/mixers/equations.h"
#include "model/mixers/mixer.h"
#include "model/ops/ops.h"
#include "model/run/batch_graph.h"
#include "model/run/language/language.h"

// Relative to the largest gradient of the weight, or to this share of the model's largest where its own
// cancels (keys when all values are the same; ten times that with batch norm, which takes away what a bias
// before it adds, so that thousands of terms cancel). Focus's recurrences over long bins come to half of it.
// A gradient of which still more cancels may be off by so many times what half an ulp of the model's weights
// moves it by, in double: no float32 arithmetic knows it much better. (Seen, with SEQMIX_WHOLE=all: 3 times,
// 7.5 at one weight.)
#define TOLERANCE 1e-4
#define CANCELS 1e-3
#define MOVES 8
enum { BLOCKS = 2, MOST_TEXT = 2048 };
static const double eps = 1e-5;

// ---- The model in double ----------------------------------------------------------------------------------
typedef struct {
    interpreter *mixer;
    double *in, *normed, *stats, *middle, *normed_2, *stats_2, *hidden, *active;
} block;
typedef struct {
    const config *c;
    const batch_graph *s; // the samples, and which rows are asked for
    const params *p;
    double *w, *grad; // as p's data
    size_t N, D;      // rows, width
    // The mixer's text, built once for its steps and shapes.
    config *text;
    params text_params;
    graph *g;
    equation_trace *trace;
    tensor *x, *y;
    block blocks[BLOCKS];
    double *out, *asked, *normed, *stats, *logits; // the last block's; its rows that the head reads
    size_t rows;                                   // of the logits
} twin_model;

static double *need(double *of, const twin_model *m, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static double *need(double *of, const twin_model *m, const char *format, ...) {
    char name[96];
    va_list list;
    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    const param *w = params_find(m->p, name);
    if (!w) check_fail("the model has no weight %s", name);
    return of + w->offset;
}
static double *numbers(size_t n) {
    double *x = calloc(n + 1, sizeof *x);
    if (!x) check_fail("no memory for %zu numbers", n);
    return x;
}

static size_t given_rows(const twin_model *m) { return m->s->g->given * m->s->L; }
static void norm_forward(twin_model *m, double *y, double *stats, const double *x, size_t N,
                         const char *name) {
    if (m->c->common.norm == NORM_NONE)
        memcpy(y, x, N * m->D * sizeof *y);
    else if (m->c->common.norm == NORM_RMS)
        ref_rmsnorm_fwd(y, stats, x, need(m->w, m, "%s.gain", name), N, m->D, eps);
    else if (m->c->common.norm == NORM_BATCH)
        ref_batchnorm_fwd(y, stats, x, need(m->w, m, "%s.gain", name), need(m->w, m, "%s.bias", name), N,
                          given_rows(m), m->D, eps);
    else
        ref_layernorm_fwd(y, stats, x, need(m->w, m, "%s.gain", name), need(m->w, m, "%s.bias", name), N,
                          m->D, eps);
}
static void norm_backward(twin_model *m, double *dx, const double *dy, const double *x, const double *stats,
                          size_t N, const char *name) {
    if (m->c->common.norm == NORM_NONE)
        memcpy(dx, dy, N * m->D * sizeof *dx);
    else if (m->c->common.norm == NORM_RMS)
        ref_rmsnorm_bwd(dx, need(m->grad, m, "%s.gain", name), dy, x, need(m->w, m, "%s.gain", name), stats,
                        N, m->D);
    else if (m->c->common.norm == NORM_BATCH)
        ref_batchnorm_bwd(dx, need(m->grad, m, "%s.gain", name), need(m->grad, m, "%s.bias", name), dy, x,
                          need(m->w, m, "%s.gain", name), stats, N, given_rows(m), m->D);
    else
        ref_layernorm_bwd(dx, need(m->grad, m, "%s.gain", name), need(m->grad, m, "%s.bias", name), dy, x,
                          need(m->w, m, "%s.gain", name), stats, N, m->D);
}

// As the place-th dropout of the model drops it, in place; its gradient too.
static void drop(const twin_model *m, double *x, uint32_t place) {
    if (m->s->g->step)
        ref_dropout(x, x, m->N * m->D, m->c->common.dropout, m->p->seed, (uint32_t)m->s->g->step, place);
}
// (Number 0 is the embedding; a mixer with a residual of its own has none.)
static int own_residual(const config *c) { return mixer_of(c)->has_residual && mixer_of(c)->has_residual(c); }
static uint32_t place_of_mixer(const twin_model *m, size_t i) {
    return 1 + (uint32_t)i * ((uint32_t)!own_residual(m->c) + (m->c->common.mlp > 0));
}
static uint32_t place_of_mlp(const twin_model *m, size_t i) {
    return place_of_mixer(m, i) + !own_residual(m->c);
}

// The mixer's weights and input into the interpreter of block i; back: their gradients out of it, added.
static void exchange(twin_model *m, size_t i, int back) {
    for (size_t s = 0; s < m->trace->n; s++)
        for (size_t a = 0; a < equation_inputs(&m->trace->steps[s]); a++) {
            const tensor *t = equation_input(&m->trace->steps[s], a);
            if (!t || !t->weight) continue;
            double *value = interpreter_value(m->blocks[i].mixer, t),
                   *gradient = interpreter_gradient(m->blocks[i].mixer, t),
                   *own = need(m->w, m, "block%zu.%s", i, t->weight->name),
                   *sum = need(m->grad, m, "block%zu.%s", i, t->weight->name);
            // (A weight that several steps read has one gradient there: their sum.)
            if (back)
                for (size_t k = 0; k < t->n; k++) sum[k] += gradient[k], gradient[k] = 0;
            else
                memcpy(value, own, t->n * sizeof *value);
        }
}

static void block_forward(twin_model *m, size_t i, double *out, const double *in) {
    block *b = &m->blocks[i];
    const size_t N = m->N, D = m->D, M = D * m->c->common.mlp;
    char name[32];
    memcpy(b->in, in, N * D * sizeof *in);
    snprintf(name, sizeof name, "block%zu.norm_1", i);
    norm_forward(m, b->normed, b->stats, in, N, name);
    exchange(m, i, 0);
    memcpy(interpreter_value(b->mixer, m->x), b->normed, N * D * sizeof *in);
    if (interpreter_forward(b->mixer, 0, 0)) check_fail("no memory for the interpreter");
    double *y = numbers(N * D);
    memcpy(y, interpreter_value(b->mixer, m->y), N * D * sizeof *y);
    if (!own_residual(m->c)) drop(m, y, place_of_mixer(m, i));
    for (size_t k = 0; k < N * D; k++) out[k] = b->middle[k] = own_residual(m->c) ? y[k] : in[k] + y[k];
    free(y);
    if (!M) return;
    snprintf(name, sizeof name, "block%zu.norm_2", i);
    norm_forward(m, b->normed_2, b->stats_2, b->middle, N, name);
    ref_linear_fwd(b->hidden, b->normed_2, need(m->w, m, "block%zu.mlp.w_1", i),
                   need(m->w, m, "block%zu.mlp.b_1", i), N, D, M);
    (m->c->common.activation == ACTIVATION_GELU ? ref_gelu_fwd : ref_silu_fwd)(b->active, b->hidden, N * M);
    ref_linear_fwd(out, b->active, need(m->w, m, "block%zu.mlp.w_2", i), need(m->w, m, "block%zu.mlp.b_2", i),
                   N, M, D);
    drop(m, out, place_of_mlp(m, i));
    for (size_t k = 0; k < N * D; k++) out[k] += b->middle[k];
}
// d: of the block's output, then of its input.
static void block_backward(twin_model *m, size_t i, double *d) {
    block *b = &m->blocks[i];
    const size_t N = m->N, D = m->D, M = D * m->c->common.mlp;
    double *dx = numbers(N * D), *dn = numbers(N * D), *da = numbers(N * M), *dh = numbers(N * M);
    char name[32];
    if (M) {
        memcpy(dx, d, N * D * sizeof *dx);
        drop(m, dx, place_of_mlp(m, i));
        ref_linear_bwd(da, need(m->grad, m, "block%zu.mlp.w_2", i), need(m->grad, m, "block%zu.mlp.b_2", i),
                       dx, b->active, need(m->w, m, "block%zu.mlp.w_2", i), N, M, D);
        (m->c->common.activation == ACTIVATION_GELU ? ref_gelu_bwd : ref_silu_bwd)(dh, da, b->hidden, N * M);
        ref_linear_bwd(dn, need(m->grad, m, "block%zu.mlp.w_1", i), need(m->grad, m, "block%zu.mlp.b_1", i),
                       dh, b->normed_2, need(m->w, m, "block%zu.mlp.w_1", i), N, D, M);
        snprintf(name, sizeof name, "block%zu.norm_2", i);
        norm_backward(m, dx, dn, b->middle, b->stats_2, N, name);
        for (size_t k = 0; k < N * D; k++) d[k] += dx[k];
    }
    memcpy(dx, d, N * D * sizeof *dx);
    if (!own_residual(m->c)) drop(m, dx, place_of_mixer(m, i));
    if (interpreter_backward(b->mixer, m->y, dx, 0, 0)) check_fail("no memory for the interpreter");
    memcpy(dn, interpreter_gradient(b->mixer, m->x), N * D * sizeof *dn);
    exchange(m, i, 1);
    snprintf(name, sizeof name, "block%zu.norm_1", i);
    norm_backward(m, dx, dn, b->in, b->stats, N, name);
    for (size_t k = 0; k < N * D; k++) d[k] = dx[k] + (own_residual(m->c) ? 0 : d[k]);
    free(dx), free(dn), free(da), free(dh);
}

// What the head reads of sequences [B][L][D]: [B][D]; back: y's gradient to x's, which were 0.
static void pool(const twin_model *m, double *y, double *x, double *dx, const double *dy) {
    const size_t B = m->s->B, L = m->s->L, D = m->D;
    const pooling_word how = m->c->common.pooling;
    if (how == POOLING_MEAN) {
        if (dx)
            ref_meanpool_bwd(dx, dy, B, L, D);
        else
            ref_meanpool_fwd(y, x, B, L, D);
        return;
    }
    for (size_t i = 0; i < B * D; i++) {
        const double *of = x + i / D * L * D + i % D;
        size_t at = how == POOLING_LAST ? L - 1 : 0;
        for (size_t t = 1; t < L && how == POOLING_MAX; t++)
            if (of[t * D] > of[at * D]) at = t;
        if (dx)
            dx[(i / D * L + at) * D + i % D] = dy[i];
        else
            y[i] = of[at * D];
    }
}

// The mean loss, and the gradient of every weight into m->grad.
static double loss_and_gradients(twin_model *m) {
    const batch_graph *s = m->s;
    const common_settings *k = &m->c->common;
    const size_t N = m->N, D = m->D, B = s->B, L = s->L, V = s->task.vocab, C = s->task.channels;
    const size_t classes = s->task.classes ? s->task.classes : 1;
    double *x = numbers(N * D), *d = numbers(N * D), *values = numbers(N * C), *table = numbers(L * D);
    for (size_t i = 0; i < N * C; i++) values[i] = s->g->values[i];
    if (V)
        ref_embedding_fwd(x, need(m->w, m, "embedding"), s->g->tokens, N, D, V);
    else
        ref_linear_fwd(x, values, need(m->w, m, "input_w"), need(m->w, m, "input_bias"), N, C, D);
    if (k->position == POSITION_LEARNED)
        memcpy(table, need(m->w, m, "position"), L * D * sizeof *table);
    else if (k->position == POSITION_SINUSOIDAL)
        ref_sinusoidal(table, L, D, 10000);
    for (size_t i = 0; i < N * D; i++) x[i] += table[i % (L * D)];
    drop(m, x, 0);
    for (size_t i = 0; i < BLOCKS; i++) {
        block_forward(m, i, m->out, x);
        memcpy(x, m->out, N * D * sizeof *x);
    }
    // The head: rows that are asked for, or the mean of them all. (Of batch norm's, once all are normed.)
    const int late = k->norm == NORM_BATCH && s->task.per_position;
    const size_t R = m->rows, picked = s->task.per_position && !late ? R : N;
    if (s->task.per_position && !late)
        ref_gather_fwd(m->asked, m->out, s->g->rows, R, N, D);
    else
        memcpy(m->asked, m->out, N * D * sizeof *x);
    norm_forward(m, m->normed, m->stats, m->asked, picked, "norm");
    double *read = m->normed, *pooled = numbers(B * D);
    if (!s->task.per_position) pool(m, read = pooled, m->normed, NULL, NULL);
    double *chosen = numbers(R * D);
    if (late) ref_gather_fwd(read = chosen, m->normed, s->g->rows, R, N, D);
    ref_linear_fwd(m->logits, read, need(m->w, m, "head"), need(m->w, m, "head_bias"), R, D, classes);
    double *loss = numbers(R), *stats = numbers(2 * R), *dlogits = numbers(R * classes),
           *targets = numbers(R);
    for (size_t i = 0; i < R; i++) targets[i] = s->row_values[i];
    const size_t n = s->task.classes
                         ? ref_cross_entropy_fwd(loss, stats, m->logits, s->row_targets, R, classes)
                         : ref_mse_fwd(loss, m->logits, targets, R);
    double mean = 0;
    for (size_t i = 0; i < R; i++) mean += loss[i] / (double)n;
    if (s->task.classes)
        ref_cross_entropy_bwd(dlogits, m->logits, s->row_targets, stats, R, classes, 1 / (double)n);
    else
        ref_mse_bwd(dlogits, m->logits, targets, R, 1 / (double)n);

    double *dread = numbers(R * D), *dnormed = numbers(picked * D), *dasked = numbers(picked * D);
    ref_linear_bwd(dread, need(m->grad, m, "head"), need(m->grad, m, "head_bias"), dlogits, read,
                   need(m->w, m, "head"), R, D, classes);
    if (late)
        ref_gather_bwd(dnormed, dread, s->g->rows, R, N, D);
    else if (s->task.per_position)
        memcpy(dnormed, dread, R * D * sizeof *dread);
    else
        pool(m, NULL, m->normed, dnormed, dread);
    norm_backward(m, dasked, dnormed, m->asked, m->stats, picked, "norm");
    if (s->task.per_position && !late)
        ref_gather_bwd(d, dasked, s->g->rows, R, N, D);
    else
        memcpy(d, dasked, N * D * sizeof *d);
    for (size_t i = BLOCKS; i-- > 0;) block_backward(m, i, d);
    drop(m, d, 0);
    if (k->position == POSITION_LEARNED)
        for (size_t i = 0; i < N * D; i++) need(m->grad, m, "position")[i % (L * D)] += d[i];
    if (V)
        ref_embedding_bwd(need(m->grad, m, "embedding"), d, s->g->tokens, N, D, V);
    else
        ref_linear_bwd(NULL, need(m->grad, m, "input_w"), need(m->grad, m, "input_bias"), d, values,
                       need(m->w, m, "input_w"), N, C, D);
    free(x), free(d), free(values), free(table), free(pooled), free(loss), free(stats), free(dlogits);
    free(chosen), free(targets), free(dread), free(dnormed), free(dasked);
    return mean;
}

// 0: the language cannot say this mixer, so that there is nothing to compare with.
static int twin_open(twin_model *m, const config *c, const batch_graph *s, const params *p) {
    smx_error e = {0};
    char text[MOST_TEXT];
    memset(m, 0, sizeof *m);
    m->c = c, m->s = s, m->p = p, m->N = s->B * s->L, m->D = c->common.width, m->rows = s->rows;
    if (cli_text(text, sizeof text, c, &e)) return 0;
    char *full = cli_text_config(c, text, own_residual(c));
    m->text = full ? config_parse(full, 0, &e) : NULL;
    free(full);
    if (!m->text) check_fail("the text: %s", e.message);
    m->trace = malloc(sizeof *m->trace);
    m->g = graph_new(GRAPH_TRAIN, &m->text_params, s->B, s->L);
    m->x = op_values(m->g, m->D);
    graph_push(m->g, "mixer");
    m->y = equations_mixer(m->g, m->text, m->x, m->trace);
    graph_pop(m->g);
    if (m->g->failed) check_fail("the text: %s", m->g->error.message);
    const size_t N = m->N, D = m->D, M = D * c->common.mlp;
    for (size_t i = 0; i < BLOCKS; i++) {
        block *b = &m->blocks[i];
        if (!(b->mixer = interpreter_open(m->g, m->trace, m->y))) check_fail("no memory for the interpreter");
        b->in = numbers(N * D), b->normed = numbers(N * D), b->stats = numbers(2 * N);
        b->middle = numbers(N * D), b->normed_2 = numbers(N * D), b->stats_2 = numbers(2 * N);
        b->hidden = numbers(N * M), b->active = numbers(N * M);
    }
    const size_t classes = s->task.classes ? s->task.classes : 1;
    m->out = numbers(N * D), m->asked = numbers(N * D), m->normed = numbers(N * D), m->stats = numbers(2 * N);
    m->logits = numbers(m->rows * classes);
    m->w = numbers(p->total), m->grad = numbers(p->total);
    for (size_t i = 0; i < p->total; i++) m->w[i] = p->data[i];
    return 1;
}
// most [of each weight] = how far its gradient goes when all weights move by up to half an ulp.
static void half_an_ulp(twin_model *m, double *most) {
    const size_t n = m->p->total;
    double *was = numbers(n);
    memcpy(was, m->grad, n * sizeof *was);
    for (int trial = 0; trial < 4; trial++) {
        memset(m->grad, 0, n * sizeof *was);
        for (size_t i = 0; i < n; i++) m->w[i] = (double)m->p->data[i] * (1 + check_uniform(-1, 1) * 0x1p-24);
        loss_and_gradients(m);
        for (size_t i = 0; i < m->p->count; i++)
            for (size_t k = 0; k < m->p->list[i]->n; k++) {
                const size_t at = m->p->list[i]->offset + k;
                most[i] = fmax(most[i], fabs(m->grad[at] - was[at]));
            }
    }
    memcpy(m->grad, was, n * sizeof *was);
    free(was);
}
static void twin_close(twin_model *m) {
    for (size_t i = 0; i < BLOCKS; i++) {
        block *b = &m->blocks[i];
        interpreter_close(b->mixer);
        free(b->in), free(b->normed), free(b->stats), free(b->middle), free(b->normed_2), free(b->stats_2);
        free(b->hidden), free(b->active);
    }
    free(m->out), free(m->asked), free(m->normed), free(m->stats), free(m->logits), free(m->w), free(m->grad);
    graph_free(m->g);
    params_free(&m->text_params);
    config_free(m->text);
    free(m->trace);
}

// ---- A model in float and in double -----------------------------------------------------------------------
static void replay(batch_graph *s, params *p, float *loss) {
    memset(p->grad, 0, p->total * sizeof *p->grad);
    const size_t n = batch_graph_forward(s, loss);
    batch_graph_backward(s, n);
}

static smx_team *team;
static uint64_t step_number; // of what only a step of training does
static double worst;
// Returns whether the language has this mixer's equations.
static int compare(const char *text, size_t B, size_t L) {
    smx_error e = {0};
    params p = {0};
    batch_graph s;
    twin_model m;
    check_trying("B=%zu&length=%zu&%.200s", B, L, text);
    char full[1024];
    snprintf(full, sizeof full, "%s&length=%zu", text, L);
    config *c = config_parse(full, 0, &e);
    if (!c || batch_graph_open(&s, GRAPH_TRAIN, &p, c, c, B, L, &e) || params_create(&p, 1, &e) ||
        batch_graph_plan(&s, &e))
        check_fail("%s", e.message);
    // Away from 0 and 1, where weights start that one would not see.
    for (size_t i = 0; i < p.total; i++) p.data[i] += (float)check_uniform(-0.2, 0.2);
    const int said = twin_open(&m, c, &s, &p);
    // Every seventh answer is not asked for.
    int32_t *targets = check_ints(B * s.targets_per);
    batch_graph_fill(&s, 1, 0, 0, B);
    memcpy(targets, s.targets, B * s.targets_per * sizeof *targets);
    float *numbers_asked = check_copy(s.target_values, B * s.targets_per);
    for (size_t i = 3; i < B * s.targets_per; i += 7) targets[i] = -1, numbers_asked[i] = NAN;
    int32_t *tokens = check_ints(B * L);
    memcpy(tokens, s.g->tokens, B * L * sizeof *tokens);
    float *values = check_copy(s.g->values, B * L * s.task.channels);
    // Batches with statistics: one sequence fewer than there is room for.
    const int batch = c->common.norm == NORM_BATCH;
    const size_t given = batch ? B - 1 : B;
    batch_graph_give(&s, &(smx_batch){tokens, values, targets, numbers_asked, given}, given);
    float loss, again;
    s.g->step = batch || c->common.dropout > 0 ? step_number : 0;
    replay(&s, &p, &loss);
    if (said) {
        const double want = loss_and_gradients(&m);
        if (!(fabs((double)loss - want) <= TOLERANCE * fabs(want)))
            check_fail("the loss is %.9g, in double %.9g", (double)loss, want);
        double all = 0, *moved = NULL;
        for (size_t i = 0; i < p.total; i++) all = fmax(all, fabs(m.grad[i]));
        for (size_t i = 0; i < p.count; i++) {
            const param *w = p.list[i];
            double top = (batch ? 10 : 1) * CANCELS * all, off = 0;
            for (size_t k = 0; k < w->n; k++) {
                top = fmax(top, fabs(m.grad[w->offset + k]));
                const double d = fabs((double)p.grad[w->offset + k] - m.grad[w->offset + k]);
                if (!(d <= off)) off = d;
            }
            if (off / top > worst) worst = off / top;
            if (off <= TOLERANCE * top) continue;
            if (!moved) half_an_ulp(&m, moved = numbers(p.count));
            print_message("%s: %.3g of its largest, %.3g of what half an ulp moves it by\n", w->name,
                          off / top, off / moved[i]);
            if (!(off <= MOVES * moved[i]))
                check_fail("the gradient of %s is off by %.3g, its largest is %.3g", w->name, off, top);
        }
        free(moved);
        twin_close(&m);
    }
    // Two threads: memory planned for pieces, the same words.
    float *one = check_copy(p.grad, p.total);
    s.g->parallel = smx_team_for;
    s.g->pool = team;
    if (batch_graph_plan(&s, &e)) check_fail("%s", e.message);
    replay(&s, &p, &again);
    check_same("the loss of two threads", &again, &loss, 1);
    check_same("gradients of two threads", p.grad, one, p.total);
    batch_graph_close(&s);
    params_free(&p);
    config_free(c);
    check_done();
    return said;
}

// What is around the mixer: every kind of input, answer, position, norm and activation, in turn.
static const char *const around[] = {
    "channels=0&classes=5&answers=rows&norm=layer&mlp=2&activation=gelu&position=learned",
    "channels=3&classes=4&answers=one&norm=rms&mlp=3&activation=silu&position=sinusoidal",
    "channels=2&classes=0&answers=rows&norm=layer&mlp=1&activation=silu&position=none",
    "channels=0&classes=0&answers=one&norm=rms&mlp=2&activation=gelu&position=learned",
    "channels=0&classes=7&answers=rows&norm=none&mlp=0&position=sinusoidal",
};
static void inside(char *text, size_t size, const char *mixer, const char *change, size_t number) {
    snprintf(text, size, "mixer=%s&task=own&vocab=11&width=8&heads=2&blocks=%d&%s%s%s", mixer, BLOCKS,
             around[number % CHECK_COUNT(around)], *change ? "&" : "", change);
}
// The mixer's i-th mode as a config inside one of these; NULL past the last.
static const char *model_text(char *text, size_t size, const mixer *of, size_t i, size_t number) {
    char mode[512];
    if (!audit_mode(mode, sizeof mode, of->name, i)) return NULL;
    inside(text, size, of->name, audit_mode_change(mode), number);
    return text;
}
static int everything(void) {
    const char *which = getenv("SEQMIX_WHOLE");
    return which && !strcmp(which, "all");
}

static void few_rows(void **state) {
    (void)state;
    size_t number = 0, said = 0;
    char text[1024];
    for (size_t k = 0; mixers[k]; k++)
        for (size_t i = 0; model_text(text, sizeof text, mixers[k], i, number); i++, number++) {
            check_seed(11 + number);
            said += (size_t)compare(text, 3, 48);
        }
    print_message("%zu of %zu models have a text\n", said, number);
    if (number - said > 4) check_fail("only %zu of %zu models were compared", said, number);
}
// Blocks of 1,024 rows, groups of row-wise nodes from 4,096 on, partial sums of weights.
static void many_rows(void **state) {
    (void)state;
    size_t number = 0;
    char text[1024];
    for (size_t k = 0; mixers[k]; k++)
        for (size_t i = 0; model_text(text, sizeof text, mixers[k], i, number) && (!i || everything()); i++) {
            check_seed(211 + number);
            compare(text, 44, 48);
            check_seed(311 + number);
            compare(model_text(text, sizeof text, mixers[k], i, number + 1), 88, 48);
            number++;
        }
}
// As many in one sequence.
static void long_sequences(void **state) {
    (void)state;
    size_t number = 0;
    char text[1024];
    for (size_t k = 0; mixers[k]; k++)
        for (size_t i = 0; model_text(text, sizeof text, mixers[k], i, number); i++, number++) {
            if (!everything() && (i || strcmp(mixers[k]->name, "cat"))) continue;
            check_seed(411 + number);
            compare(text, 1, 2112);
        }
}
// Chunks that are taken as rows, and longer ones that end within a block of rows.
static void chunks(void **state) {
    (void)state;
    static const struct {
        const char *mixer, *change;
        size_t B, L;
    } cases[] = {{"attention", "chunk=16", 3, 48},
                 {"attention", "chunk=64&position=alibi", 33, 128},
                 {"las", "chunk=16&pool=trailing&window=4", 3, 48},
                 {"las", "chunk=128&pool=centred&window=5", 2, 2176},
                 {"las", "chunk=100&pool=trailing&window=4", 3, 730},
                 {"las", "chunk=100&pool=masked&window=5", 1, 730}};
    char text[1024];
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        check_seed(511 + i);
        inside(text, sizeof text, cases[i].mixer, cases[i].change, i);
        compare(text, cases[i].B, cases[i].L);
    }
}

// What one node reads that another read before it in the same group of rows: its gradient is made apart and
// added to the other's, rows that belong to it alone. In a function, in a product, twice in one.
static void read_by_two(void **state) {
    (void)state;
    static const char *const ends[] = {"b = silu(a)%0Ac = a @ w%0Ay = (b * c) @ w_o",
                                       "b = a * silu(a)%0Ac = a @ w%0Ay = (b + c) @ w_o",
                                       "b = a * a%0Ac = a @ w%0Ay = (b + c) @ w_o"};
    char text[1024], form[256];
    for (size_t i = 0; i < CHECK_COUNT(ends); i++)
        for (size_t B = 3; B <= 88; B += 85) {
            check_seed(561 + i);
            snprintf(form, sizeof form, "eq=%s%s", "n = 3%0Aa = conv(x, f[n])%0A", ends[i]);
            inside(text, sizeof text, "equations", form, i);
            assert_true(compare(text, B, 48));
        }
}

// What a step of training has that nothing else has. Rows that begin within a block of draws (width 6), and
// more of them than a group of nodes takes at once.
static void of_training(const char *const *models, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t many = 0; many < 2; many++) {
            char text[256];
            snprintf(text, sizeof text, "task=own&vocab=11&width=6&heads=2&blocks=%d&%s", BLOCKS, models[i]);
            check_seed(611 + i);
            step_number = many ? 70007 : 7; // draws belong to the whole number
            compare(text, many ? 88 : 3, 48);
        }
}
static void dropout(void **state) {
    (void)state;
    static const char *const models[] = {"dropout=0.3&classes=5&mixer=cat&norm=layer&mlp=2&position=learned",
                                         "dropout=0.3&classes=5&mixer=chela&norm=rms&mlp=1",
                                         "dropout=0.3&classes=5&mixer=linear&norm=rms"};
    of_training(models, CHECK_COUNT(models));
}
static void batch_norm(void **state) {
    (void)state;
    static const char *const models[] = {"norm=batch&classes=5&mixer=cat&mlp=2&position=learned",
                                         "norm=batch&channels=3&classes=4&answers=one&mixer=linear&mlp=1",
                                         "norm=batch&classes=5&mixer=chela&dropout=0.1"};
    of_training(models, CHECK_COUNT(models));
}

// Every word of pooling, also over several blocks of rows; the first row of what sees ahead.
static void poolings(void **state) {
    (void)state;
    static const char *const models[] = {
        "answers=one&pooling=max&channels=3&classes=4&mixer=cat&norm=rms&mlp=1",
        "answers=one&pooling=last&classes=5&mixer=gla&norm=layer&mlp=1&position=learned",
        "answers=one&pooling=first&classes=5&mixer=attention&causal=0&norm=rms&position=sinusoidal",
        "answers=one&pooling=last&classes=0&mixer=lstm&norm=batch",
        "answers=one&pooling=max&classes=5&mixer=attention&norm=layer&dropout=0.2"};
    of_training(models, CHECK_COUNT(models));
}

static int open_team(void **state) {
    (void)state;
    return (team = smx_team_open(2)) ? 0 : -1;
}
static int close_team(void **state) {
    (void)state;
    print_message("furthest: %.2g of a weight's largest gradient\n", worst);
    smx_team_close(team);
    return 0;
}
int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(few_rows),       cmocka_unit_test(many_rows),
                                       cmocka_unit_test(long_sequences), cmocka_unit_test(chunks),
                                       cmocka_unit_test(read_by_two),    cmocka_unit_test(dropout),
                                       cmocka_unit_test(batch_norm),     cmocka_unit_test(poolings)};
    return cmocka_run_group_tests_name("whole_model", tests, open_team, close_team);
}
