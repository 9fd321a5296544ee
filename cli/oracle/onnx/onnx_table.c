// onnx_table.c: see onnx.h. What ONNX's own node tests leave untried: more than a few rows, blocks'
// edges, decode with a state, gates that are shut, more queries than states, beta of 0 and 2, logits
// beyond what exp takes.
#include "onnx.h"

#define LINEAR "linear_attention_core"
#define CONV "causal_conv_core"
#define ATTENTION "attn_core"
#define SIZES(L, Hq, Hk, Hv, dk, dv)                                                                         \
    "{\"L\":" #L ",\"Hq\":" #Hq ",\"Hk\":" #Hk ",\"Hv\":" #Hv ",\"dk\":" #dk ",\"dv\":" #dv
#define HEAD(Hv) ",\"g_columns\":" #Hv ",\"beta_columns\":" #Hv
#define CHANNEL(columns, Hv) ",\"g_columns\":" #columns ",\"beta_columns\":" #Hv
#define MODE(mode) ",\"mode\":\"" mode "\"}"
#define CONV_SIZES(L, D, past) "{\"L\":" #L ",\"D\":" #D ",\"past\":" #past
#define SILU ",\"activation\":\"silu\"}"
#define HEADS(L, H, Hkv, d) "{\"L\":" #L ",\"H\":" #H ",\"Hkv\":" #Hkv ",\"d\":" #d
#define NO_EXTRAS "sinks q_gain k_gain"
#define SHUT "g:0,-0.000244140625,-0.125,-5,-80"
#define NEVER "g:0,-0.125,-8,-inf"

const onnx_case onnx_cases[] = {
    {{LINEAR, "linear", SIZES(17, 2, 2, 2, 8, 8) MODE("linear"), "s0", NULL}, 2, 0},
    {{LINEAR, "linear_decode", SIZES(1, 2, 2, 2, 16, 8) MODE("linear"), NULL, NULL}, 3, 0},
    {{LINEAR, "linear_grouped", SIZES(65, 4, 2, 2, 8, 6) MODE("linear"), NULL, NULL}, 1, 0},
    {{LINEAR, "linear_scale", SIZES(64, 1, 1, 1, 8, 8) ",\"scale\":0.75" MODE("linear"), NULL, NULL}, 2, 0},
    {{LINEAR, "linear_long", SIZES(2048, 1, 1, 1, 8, 8) MODE("linear"), "s0", NULL}, 1, 0},
    {{LINEAR, "linear_full", SIZES(300, 2, 1, 1, 64, 32) MODE("linear"), NULL, "+"}, 1, 0},
    {{LINEAR, "gated_head", SIZES(129, 2, 2, 2, 8, 8) HEAD(2) MODE("gated"), "s0", NULL}, 2, 0},
    {{LINEAR, "gated_head_decode", SIZES(1, 8, 8, 8, 16, 16) HEAD(8) MODE("gated"), NULL, NULL}, 1, 0},
    {{LINEAR, "gated_head_shut", SIZES(300, 2, 2, 2, 8, 8) HEAD(2) MODE("gated"), NULL, SHUT}, 1, 0},
    {{LINEAR, "gated_head_never", SIZES(65, 2, 2, 2, 8, 8) HEAD(2) MODE("gated"), NULL, NEVER}, 1, 0},
    {{LINEAR, "gated_channel", SIZES(63, 2, 2, 2, 8, 6) CHANNEL(16, 2) MODE("gated"), NULL, NULL}, 3, 0},
    {{LINEAR, "gated_channel_shut", SIZES(300, 1, 1, 1, 16, 8) CHANNEL(16, 1) MODE("gated"), NULL, SHUT},
     1,
     0},
    {{LINEAR, "gated_channel_never", SIZES(128, 2, 1, 1, 8, 8) CHANNEL(8, 1) MODE("gated"), NULL, NEVER},
     1,
     0},
    {{LINEAR, "gated_channel_closing", SIZES(256, 1, 1, 1, 8, 8) CHANNEL(8, 1) MODE("gated"), "s0",
      "g:-3,-4"},
     1,
     0},
    {{LINEAR, "gated_grouped", SIZES(127, 6, 2, 2, 8, 8) HEAD(2) MODE("gated"), NULL, NULL}, 1, 0},
    {{LINEAR, "delta", SIZES(15, 2, 2, 2, 8, 8) HEAD(2) MODE("delta"), "s0", NULL}, 2, 0},
    {{LINEAR, "delta_decode", SIZES(1, 4, 4, 4, 8, 8) HEAD(4) MODE("delta"), NULL, NULL}, 2, 0},
    {{LINEAR, "delta_one_beta", SIZES(64, 4, 4, 4, 8, 8) HEAD(1) MODE("delta"), NULL, NULL}, 1, 0},
    {{LINEAR, "delta_beta_ends", SIZES(300, 2, 2, 2, 8, 8) HEAD(2) MODE("delta"), NULL, "beta:0,1,2"}, 1, 0},
    {{LINEAR, "delta_grouped", SIZES(129, 8, 1, 1, 8, 8) HEAD(1) MODE("delta"), NULL, NULL}, 1, 0},
    {{LINEAR, "delta_long", SIZES(1025, 1, 1, 1, 16, 8) HEAD(1) MODE("delta"), "s0", NULL}, 1, 0},
    {{LINEAR, "gated_delta", SIZES(16, 2, 2, 2, 8, 8) HEAD(2) MODE("gated_delta"), "s0", NULL}, 2, 0},
    {{LINEAR, "gated_delta_decode", SIZES(1, 4, 2, 2, 16, 16) HEAD(2) MODE("gated_delta"), NULL, NULL}, 5, 0},
    {{LINEAR, "gated_delta_two_rows", SIZES(2, 2, 2, 2, 4, 6) HEAD(2) MODE("gated_delta"), NULL, NULL}, 2, 0},
    {{LINEAR, "gated_delta_shut", SIZES(300, 2, 2, 2, 8, 8) HEAD(2) MODE("gated_delta"), NULL, SHUT}, 1, 0},
    {{LINEAR, "gated_delta_never", SIZES(66, 2, 2, 2, 8, 8) HEAD(2) MODE("gated_delta"), NULL, NEVER}, 1, 0},
    {{LINEAR, "gated_delta_channel", SIZES(65, 2, 2, 2, 8, 6) CHANNEL(16, 2) MODE("gated_delta"), NULL, NULL},
     2,
     0},
    {{LINEAR, "gated_delta_channel_shut", SIZES(300, 1, 1, 1, 8, 8) CHANNEL(8, 1) MODE("gated_delta"), NULL,
      SHUT},
     1,
     0},
    {{LINEAR, "gated_delta_grouped", SIZES(130, 6, 3, 3, 8, 8) HEAD(3) MODE("gated_delta"), NULL, NULL},
     1,
     0},
    {{LINEAR, "gated_delta_scale", SIZES(40, 2, 2, 2, 8, 8) HEAD(2) ",\"scale\":1" MODE("gated_delta"), NULL,
      NULL},
     1,
     0},
    {{LINEAR, "gated_delta_wide", SIZES(128, 2, 2, 2, 64, 128) HEAD(2) MODE("gated_delta"), NULL, "k*-3"},
     1,
     0},
    {{LINEAR, "gated_delta_long", SIZES(2048, 1, 1, 1, 8, 8) HEAD(1) MODE("gated_delta"), "s0",
      "g:0,-0.0001220703125"},
     1,
     0},
    {{LINEAR, "shared_keys", SIZES(65, 4, 2, 4, 8, 6) HEAD(4) MODE("gated_delta"), NULL, NULL}, 2, 0},
    {{LINEAR, "fewer_queries", SIZES(65, 2, 2, 4, 8, 6) HEAD(4) MODE("gated_delta"), NULL, NULL}, 2, 0},
    {{LINEAR, "fewer_queries_linear", SIZES(17, 1, 1, 3, 8, 8) MODE("linear"), NULL, NULL}, 1, 0},
    {{CONV, "plain", CONV_SIZES(17, 6, 3) "}", "bias s0", NULL}, 2, 0},
    {{CONV, "bias", CONV_SIZES(65, 5, 2) "}", "s0", NULL}, 2, 0},
    {{CONV, "silu", CONV_SIZES(300, 12, 3) SILU, NULL, NULL}, 2, 0},
    {{CONV, "silu_state", CONV_SIZES(64, 8, 3) SILU, "bias", NULL}, 3, 0},
    {{CONV, "decode", CONV_SIZES(1, 16, 3) SILU, NULL, NULL}, 5, 0},
    {{CONV, "decode_zeros", CONV_SIZES(1, 16, 3) "}", "bias s0", NULL}, 2, 0},
    {{CONV, "short", CONV_SIZES(2, 3, 6) "}", NULL, NULL}, 2, 0},
    {{CONV, "one_channel", CONV_SIZES(129, 1, 1) "}", NULL, NULL}, 1, 0},
    {{CONV, "wide", CONV_SIZES(33, 130, 4) SILU, NULL, "+"}, 1, 0},
    {{CONV, "saturated", CONV_SIZES(40, 4, 3) SILU, NULL, "x*6"}, 1, 0},
    {{CONV, "long", CONV_SIZES(2047, 3, 3) "}", NULL, NULL}, 1, 0},
    {{ATTENTION, "causal", HEADS(17, 2, 2, 8) "}", NO_EXTRAS, NULL}, 2, 0},
    {{ATTENTION, "causal_4d", HEADS(17, 3, 3, 8) "}", NO_EXTRAS, NULL}, 2, 1},
    {{ATTENTION, "both_sides", HEADS(65, 2, 2, 8) ",\"causal\":false}", NO_EXTRAS, NULL}, 2, 0},
    {{ATTENTION, "one_row", HEADS(1, 4, 2, 16) "}", NO_EXTRAS, NULL}, 3, 0},
    {{ATTENTION, "grouped", HEADS(63, 6, 2, 8) "}", NO_EXTRAS, NULL}, 1, 0},
    {{ATTENTION, "grouped_4d", HEADS(64, 8, 1, 8) "}", NO_EXTRAS, NULL}, 2, 1},
    {{ATTENTION, "scale", HEADS(33, 2, 2, 8) ",\"scale\":1}", NO_EXTRAS, NULL}, 1, 0},
    {{ATTENTION, "softcap", HEADS(66, 4, 2, 8) ",\"softcap\":2}", NO_EXTRAS, NULL}, 1, 0},
    {{ATTENTION, "softcap_4d", HEADS(129, 2, 2, 8) ",\"softcap\":30,\"causal\":false}", NO_EXTRAS, "q*3"},
     1,
     1},
    {{ATTENTION, "window", HEADS(130, 2, 1, 8) ",\"window\":9}", NO_EXTRAS, NULL}, 2, 0},
    {{ATTENTION, "window_one", HEADS(20, 2, 2, 8) ",\"window\":1}", NO_EXTRAS, NULL}, 1, 1},
    {{ATTENTION, "saturated", HEADS(300, 2, 2, 16) "}", NO_EXTRAS, "q*4 k*4"}, 1, 0},
    {{ATTENTION, "long", HEADS(1025, 1, 1, 8) "}", NO_EXTRAS, NULL}, 1, 0},
    {{ATTENTION, "wide", HEADS(128, 2, 1, 128) "}", NO_EXTRAS, "+"}, 1, 1},
    {{NULL, NULL, NULL, NULL, NULL}, 0, 0},
};
