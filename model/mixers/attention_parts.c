// attention_parts.c: what the mixers built on softmax attention share.
#include "attention_parts.h"

#include "mathd.h"

int check_heads(const config *c, smx_error *error) {
    int64_t D = config_int(c, "width"), H = config_int(c, "heads");
    if (D % H) return config_fail(error, c, "heads", "a divisor of width=%lld", (long long)D);
    if (config_is(c, "position", "rope") && D / H % 2)
        return config_fail(error, c, "position", "something else than rope while a head has an odd width (%lld)", (long long)(D / H));
    return 0;
}

tensor *softmax_attention(graph *g, const config *c, tensor *q, tensor *k, tensor *v, int causal) {
    size_t H = (size_t)config_int(c, "heads"), D = q->shape[q->rank - 1];
    attention_opts opts = {.heads = H, .causal = causal};
    if (config_is(c, "position", "rope")) {
        q = op_rope(g, q, H);
        k = op_rope(g, k, H);
    }
    if (config_is(c, "position", "alibi")) opts.bias = table_alibi(g, H, 1.0);
    if (config_is(c, "position", "alibi_scaled")) opts.bias = table_alibi(g, H, 1.0 / md_sqrt((double)(D / H)));
    return op_attention(g, q, k, v, &opts);
}
