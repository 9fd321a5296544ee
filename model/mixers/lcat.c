// lcat.c: Landmark CAT (Li et al., AAAI 2025, Sec. 5; MECHANISMS 3).
//   K = (X * F_k) W_k with F_k a box of B rows or rho^i, rho = e^{-1/B}; landmarks: every B-th row of K
//   b = argmax over earlier blocks of landmark_b . q_i, then softmax attention over block b and the own block up to i
// The dense part sees the plain keys X W_k, or the filtered ones. No gradient flows through the choice.
#include "mixer.h"
#include "filtered.h"

static const config_key keys[] = {
    {"block", KEY_INT, "8", 1, 65536, NULL,
     "rows from one landmark to the next (B); the last block may be shorter", "mixer"},
    {"landmark", KEY_WORD, "box", 0, 0, "box|rho",
     "filter that makes a landmark: the block's sum, or a decaying sum of all before", "mixer"},
    {"dense_keys", KEY_WORD, "plain", 0, 0, "plain|filtered", "keys of the dense part", "mixer"},
    KEY_FILTER,
    KEY_FILTERS,
    KEY_FILTER_START,
    KEY_FILTER_STD,
    {0},
};

static int check(const config *c, size_t length, smx_error *error) {
    (void)length;
    return check_filters(c, "v", error) ? -1 : check_heads_without_inner_position(c, error);
}

static tensor *build(graph *g, const config *c, tensor *x) {
    size_t B = (size_t)config_int(c, "block");
    int dense_filtered = config_is(c, "dense_keys", "filtered");
    tensor *q = graph_name(g, projected(g, c, x, "w_q"), "q");
    tensor *k = graph_name(g, projected(g, c, x, "w_k"), "k");
    tensor *v = filtered(g, c, x, "v", "w_v", "filter_v", (filter_opts){0});
    tensor *marks =
        graph_name(g, op_block_filter(g, k, B, config_is(c, "landmark", "rho"), dense_filtered), "marks");
    tensor *o = op_landmark(g, q, dense_filtered ? marks : k, v, marks, (size_t)config_int(c, "heads"), B);
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
    .check = check,
    .build = build,
    .modes = MODES(
        "landmark=rho~dense_keys=filtered~landmark=rho&dense_keys=filtered~filters=v~block=5&heads=2~block=99"),
};
