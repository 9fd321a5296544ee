// test_mixer_gradients.c: every mixer in every mode of its list, as a whole: the gradient of its input and of
// each weight against differences of its output, a replay that gives the same words, a batch that is its
// sequences one by one, the same words on every instruction set, and attention maps that are the ones used.
#include "mixer_vectors.h"

#include "kernels/core/philox.h"
#include "model/audit/audit.h"
#include "model/run/batch_graph.h"

// The i-th of a mixer's modes, then what is not one of them as the language of equations has no text for it.
static const char *mode_of(char *text, size_t size, const char *name, size_t i) {
    if (audit_mode(text, size, name, i)) return text;
    if (strcmp(name, "cat") || !audit_mode(text, size, name, i - 1)) return NULL;
    audit_mode(text, size, name, 0);
    const size_t n = strlen(text);
    snprintf(text + n, size - n, "&value_filter=two_sided&value_positive=1");
    return text;
}

// ---- Differences ----------------------------------------------------------------------------------------
// sum of weight * y in double, at start + step * direction in weight w
static double loss_at(lone_mixer *m, const param *w, const float *start, const float *direction, double step,
                      const float *weight) {
    float *at = m->p.data + w->offset;
    for (size_t i = 0; i < w->n; i++) at[i] = (float)((double)start[i] + step * (double)direction[i]);
    lone_mixer_run(m, NULL);
    double s = 0;
    for (size_t i = 0; i < m->y->n; i++) s += (double)weight[i] * (double)m->y->data[i];
    memcpy(at, start, w->n * sizeof *at);
    return s;
}

// Does the gradient along some of a few random directions equal the slope? Central differences at h and 2h,
// to fourth order: what is left is float's rounding of y (about 1e-6 of the loss over h). A hard choice may
// flip along one direction, less often the shorter the step; a wrong gradient fails along all.
static void check_weight(lone_mixer *m, const param *w, const float *weight, double noise) {
    float *start = check_copy(m->p.data + w->offset, w->n), *direction = check_floats(w->n);
    const float *gradient = m->p.grad + w->offset;
    double worst = 0, allowed = 0;
    static const double steps[] = {0.05,  0.02,  0.01,  0.004, 0.002, 0.001,
                                   0.001, 0.001, 0.001, 0.001, 0.001, 0.001};
    for (size_t attempt = 0; attempt < CHECK_COUNT(steps); attempt++) {
        double along = 0, norm = 0, length = 0;
        for (size_t i = 0; i < w->n; i++) {
            direction[i] = (float)check_uniform(-1, 1);
            along += (double)direction[i] * (double)gradient[i];
            norm += (double)gradient[i] * (double)gradient[i];
            length += (double)direction[i] * (double)direction[i];
        }
        const double h = steps[attempt] / sqrt(length);
        const double near =
            (loss_at(m, w, start, direction, h, weight) - loss_at(m, w, start, direction, -h, weight)) /
            (2 * h);
        const double far = (loss_at(m, w, start, direction, 2 * h, weight) -
                            loss_at(m, w, start, direction, -2 * h, weight)) /
                           (4 * h);
        const double slope = (4 * near - far) / 3;
        worst = fabs(slope - along);
        allowed = 2e-3 * sqrt(norm) * sqrt(length / (double)w->n) + noise / h;
        if (worst <= allowed && isfinite(slope)) return;
    }
    check_fail("gradient of %s: off by %.3g, allowed %.3g", w->name, worst, allowed);
}

static void gradients(void **state) {
    (void)state;
    for (size_t k = 0; mixers[k]; k++) {
        char text[1024];
        for (size_t i = 0; mode_of(text, sizeof text, mixers[k]->name, i); i++) {
            check_trying("%s", text);
            check_seed(71 + i);
            lone_mixer m;
            lone_mixer_open(&m, text, 1);
            float *weight = check_random(m.y->n, -1, 1);
            lone_mixer_run(&m, weight);
            float *y = check_copy(m.y->data, m.y->n), *first = check_copy(m.p.grad, m.p.total);
            lone_mixer_run(&m, weight);
            check_same("y of a second replay", m.y->data, y, m.y->n);
            check_same("gradients of a second replay", m.p.grad, first, m.p.total);
            double size = 0;
            for (size_t e = 0; e < m.y->n; e++) {
                if (!isfinite(y[e])) check_fail("y[%zu] is %g", e, y[e]);
                size += (double)weight[e] * (double)y[e] * (double)weight[e] * (double)y[e];
            }
            // y carries errors of some 2^-22 of itself, which add up as a random walk.
            for (size_t w = 0; w < m.p.count; w++)
                check_weight(&m, m.p.list[w], weight, 4 * sqrt(size) * 0x1p-22);
            lone_mixer_close(&m);
            check_done();
        }
    }
}

static double largest(const double *x, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}
static void batches(void **state) {
    (void)state;
    enum { B = 3 };
    for (size_t k = 0; mixers[k]; k++) {
        char text[1024];
        for (size_t i = 0; mode_of(text, sizeof text, mixers[k]->name, i); i++) {
            check_trying("%s", text);
            check_seed(81 + i);
            lone_mixer all, one;
            lone_mixer_open(&all, text, B);
            lone_mixer_open(&one, text, 1);
            const size_t n = one.y->n;
            for (size_t e = 0; e < B * n; e++) all.values[e] = (float)check_uniform(-1, 1);
            float *weight = check_random(B * n, -1, 1);
            double *sum = check_doubles(one.p.total);
            memset(sum, 0, one.p.total * sizeof *sum);
            lone_mixer_run(&all, weight);
            for (size_t b = 0; b < B; b++) {
                memcpy(one.values, all.values + b * n, n * sizeof *one.values);
                lone_mixer_run(&one, weight + b * n);
                check_same("y of one sequence", all.y->data + b * n, one.y->data, n);
                for (size_t e = 0; e < one.p.total; e++) sum[e] += (double)one.p.grad[e];
            }
            // A gradient that is zero but for rounding (of mlstm's b_i) is not held to the rounding of zero.
            const double least = 0.01 * largest(sum, one.p.total);
            for (size_t w = 0; w < one.p.count; w++) {
                const param *p = one.p.list[w];
                check_close(p->name, all.p.grad + p->offset, sum + p->offset, p->n, 2e-5,
                            fmax(least, largest(sum + p->offset, p->n)));
            }
            lone_mixer_close(&all);
            lone_mixer_close(&one);
            check_done();
        }
    }
}

// Outputs and gradients word for word on every instruction set.
static void same_words(void **state) {
    (void)state;
    for (size_t k = 0; mixers[k]; k++) {
        char text[1024];
        for (size_t i = 0; mode_of(text, sizeof text, mixers[k]->name, i); i++) {
            float *y = NULL, *gradient = NULL, *weight = NULL;
            CHECK_EACH_ISA(isa) {
                check_trying("%s", text);
                lone_mixer m;
                lone_mixer_open(&m, text, 2);
                if (!weight) {
                    check_seed(91 + i);
                    weight = check_random(m.y->n, -1, 1);
                }
                lone_mixer_run(&m, weight);
                if (y) {
                    check_same("y", m.y->data, y, m.y->n);
                    check_same("gradients", m.p.grad, gradient, m.p.total);
                } else {
                    y = check_copy(m.y->data, m.y->n);
                    gradient = check_copy(m.p.grad, m.p.total);
                }
                lone_mixer_close(&m);
            }
            check_done();
        }
    }
}

// Where something attends, its map is the one that was used: map times values is the attention's output.
// Returns how many do.
static size_t check_maps(graph *g) {
    size_t shown = 0;
    for (size_t t = 0; t < g->n_tensors; t++) {
        const tensor *o = g->tensors[t];
        const size_t H = graph_map_heads(g, o), L = g->L;
        if (!H) continue;
        const size_t D = o->n / L, d = D / H;
        const float *v = g->nodes[o->produced_by].in[2]->data;
        float *map = check_floats(H * L * L);
        double *want = check_doubles(L * D);
        graph_map(g, o, MAP_WEIGHTS, map);
        for (size_t row = 0; row < L; row++)
            for (size_t c = 0; c < D; c++) {
                want[row * D + c] = 0;
                for (size_t j = 0; j < L; j++)
                    want[row * D + c] += (double)map[(c / d * L + row) * L + j] * (double)v[j * D + c];
            }
        check_close("map times values", o->data, want, L * D, 2e-6, 0);
        shown++;
        if (!graph_map_staged(g, o)) continue;
        // And as it acts on values before they were smoothed.
        const tensor *first = g->nodes[o->produced_by].in[2];
        while (first->produced_by >= 0 && g->nodes[first->produced_by].op->map_back)
            first = g->nodes[first->produced_by].in[0];
        graph_map(g, o, MAP_ACTING, map);
        for (size_t row = 0; row < L; row++)
            for (size_t c = 0; c < D; c++) {
                want[row * D + c] = 0;
                for (size_t j = 0; j < L; j++)
                    want[row * D + c] +=
                        (double)map[(c / d * L + row) * L + j] * (double)first->data[j * D + c];
            }
        check_close("acting map times values", o->data, want, L * D, 4e-6, 0);
    }
    return shown;
}
static void maps_are_used(void **state) {
    (void)state;
    size_t shown = 0;
    for (size_t k = 0; mixers[k]; k++) {
        char text[1024];
        for (size_t i = 0; mode_of(text, sizeof text, mixers[k]->name, i); i++) {
            check_trying("%s", text);
            lone_mixer m;
            lone_mixer_open_as(&m, GRAPH_LOOK, text, 1);
            lone_mixer_run(&m, NULL);
            shown += check_maps(m.g);
            lone_mixer_close(&m);
            check_done();
        }
    }
    assert_true(shown >= 30);
}

// In a whole model too, where later blocks come by after the attention and before anybody looks: every map is
// the one that was used, and looking leaves every tensor as the replay made it.
static size_t look_at(const char *text) {
    check_trying("%s", text);
    smx_error e = {0};
    config *c = config_parse(text, 0, &e);
    params p = {0};
    batch_graph s;
    if (!c || batch_graph_open(&s, GRAPH_LOOK, &p, c, c, 1, c->common.length, &e) ||
        params_create(&p, 1, &e) || batch_graph_plan(&s, &e))
        check_fail("%s", e.message);
    float loss;
    batch_graph_fill(&s, 1, RNG_EVAL, 0, 1);
    batch_graph_forward(&s, &loss);
    float **kept = calloc(s.g->n_tensors, sizeof *kept);
    for (size_t t = 0; t < s.g->n_tensors; t++)
        kept[t] = check_copy(s.g->tensors[t]->data, s.g->tensors[t]->n);
    const size_t shown = check_maps(s.g);
    for (size_t t = 0; t < s.g->n_tensors; t++)
        check_same(s.g->tensors[t]->name, s.g->tensors[t]->data, kept[t], s.g->tensors[t]->n);
    free(kept);
    batch_graph_close(&s);
    params_free(&p);
    config_free(c);
    check_done();
    return shown;
}
static void looking(void **state) {
    (void)state;
    size_t shown = 0;
    for (size_t k = 0; mixers[k]; k++) {
        char mode[1024], text[1100];
        for (size_t i = 0; audit_mode(mode, sizeof mode, mixers[k]->name, i);
             i++) { // chunk=7 does not divide 48
            snprintf(text, sizeof text, "%s&blocks=2&mlp=2&norm=layer", mode);
            shown += look_at(text);
        }
    }
    assert_true(shown >= 60);
    // So long that an attention's scratch is the largest: what is made later would lie in it.
    assert_int_equal(look_at("mixer=attention&task=nar&length=1400&width=64&heads=1&blocks=2"), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients), cmocka_unit_test(batches),
                                       cmocka_unit_test(same_words), cmocka_unit_test(maps_are_used),
                                       cmocka_unit_test(looking)};
    return cmocka_run_group_tests_name("mixer_gradients", tests, NULL, NULL);
}
