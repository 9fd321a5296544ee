// lcat.c: Landmark CAT (Li et al., AAAI 2025, Sec. 5; docs/MECHANISMS.md#lcat).
//   K = (X * F_k) W_k with F_k a box of B rows or rho^i, rho = e^{-1/B}; landmarks: every B-th row of K
//   b = argmax over earlier blocks of landmark_b . q_i,
//   then softmax attention over block b and the own block up to i
// The dense part sees the plain keys X W_k, or the filtered ones. No gradient flows through the choice.
#include "mixer.h"
#include "filtered.h"

#define LANDMARKS(W) W(LANDMARK_BOX, "box") W(LANDMARK_RHO, "rho")
#define DENSE_KEYS(W) W(DENSE_PLAIN, "plain") W(DENSE_FILTERED, "filtered")

typedef struct {
    size_t block;
    enum { LANDMARKS(WORD_NAME) } landmark;
    enum { DENSE_KEYS(WORD_NAME) } dense_keys;
    filter_settings filters;
} lcat_settings;

static const config_key keys[] = {
    INT_KEY("block", lcat_settings, block, "8", 1, 65536,
            "rows from one landmark to the next (B); the last block may be shorter", "mixer"),
    WORD_KEY("landmark", lcat_settings, landmark, LANDMARKS, "box",
             "filter that makes a landmark: the block's sum, or a decaying sum of all before", "mixer"),
    WORD_KEY("dense_keys", lcat_settings, dense_keys, DENSE_KEYS, "plain", "keys of the dense part", "mixer"),
    KEY_FILTER(lcat_settings),
    KEY_FILTERS(lcat_settings),
    KEY_FILTER_START(lcat_settings),
    KEY_FILTER_STD(lcat_settings),
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    const lcat_settings *s = c->mixer;
    return check_filters(c, &s->filters, "v", error) ? -1 : check_heads_without_inner_position(c, error);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    const lcat_settings *s = c->mixer;
    const size_t B = s->block;
    const int dense_filtered = s->dense_keys == DENSE_FILTERED;
    tensor *q = graph_name(g, projected(g, c, x, "w_q"), "q");
    tensor *k = graph_name(g, projected(g, c, x, "w_k"), "k");
    tensor *v = filtered(g, c, &s->filters, x, "v", "w_v", "filter_v", (filter_opts){0});
    tensor *marks =
        graph_name(g, op_block_filter(g, k, B, s->landmark == LANDMARK_RHO, dense_filtered), "marks");
    tensor *o = op_landmark(g, q, dense_filtered ? marks : k, v, marks, c->common.heads, B);
    return output_projection(g, c, graph_name(g, o, "o"));
}

const mixer mixer_lcat = {
    .name = "lcat",
    .title = "LCAT",
    .help =
        "Each query picks one earlier block by its landmark, a filtered key, and attends to that block and its own.",
    .source = "Li, Zhang, Huang & Oymak 2025, Sec. 5",
    .cost = "L D (L / B + B)",
    .defaults = "filters=none",
    .keys = keys,
    .settings = sizeof(lcat_settings),
    .check = check,
    .build = build,
    .modes = MODES(
        "landmark=rho~dense_keys=filtered~landmark=rho&dense_keys=filtered~filters=v~block=5&heads=2~block=99"),
};
