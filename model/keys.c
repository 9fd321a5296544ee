// keys.c: the keys that every experiment has. A mixer's or a task's own keys stand in its file.
#include "keys.h"

const config_key common_keys[] = {
    {"v", KEY_INT, "1", 1, 1, NULL, "version of the config language; pins the meaning of every default", "run"},
    {"task", KEY_WORD, "mqar", 0, 0, "@tasks", "what is to be learnt", "task"},
    {"length", KEY_INT, "64", 1, 1 << 20, NULL, "rows of a sequence: tokens, or pixels", "task"},
    {"vocab", KEY_INT, "64", 2, 1 << 20, NULL, "number of different tokens", "task"},

    {"mixer", KEY_WORD, "cat", 0, 0, "@mixers", "how a block mixes along the sequence", "model"},
    {"width", KEY_INT, "32", 1, 4096, NULL, "numbers per token inside the model (D)", "model"},
    {"blocks", KEY_INT, "1", 1, 64, NULL, "blocks one after another (N)", "model"},
    {"heads", KEY_INT, "1", 1, 256, NULL, "heads of a block (H); divides width", "model"},
    {"norm", KEY_WORD, "none", 0, 0, "none|layer|rms", "norm before each half of a block and before the head", "model"},
    {"mlp", KEY_INT, "0", 0, 16, NULL, "hidden width of the MLP half as a multiple of width; 0: no MLP", "model"},
    {"activation", KEY_WORD, "gelu", 0, 0, "gelu|silu", "of the MLP", "model"},
    {"position", KEY_WORD, "none", 0, 0, "none|learned|sinusoidal|rope|alibi|alibi_scaled",
     "how a model knows where a token stands; rope and alibi act inside softmax attention", "model"},
    {"init", KEY_WORD, "fan_in", 0, 0, "fan_in|normal|xavier",
     "start of the matrices: N(0, 1/fan_in), N(0, 0.02^2) or Xavier uniform", "model"},
    {"embed_std", KEY_REAL, "1", 0, 100, NULL, "standard deviation of the token table at the start", "model"},
    {"position_std", KEY_REAL, "0.1", 0, 100, NULL, "standard deviation of learned positions at the start", "model"},

    {"seed", KEY_INT, "1", 0, 9007199254740991.0, NULL, "start of every random number: weights, data, order", "run"},
    {"batch", KEY_INT, "32", 1, 65536, NULL, "sequences per step", "training"},
    {"steps", KEY_INT, "300", 1, 1e9, NULL, "planned steps; a cosine schedule ends there", "training"},
    {"rate", KEY_REAL, "0.01", 0, 10, NULL, "largest learning rate", "training"},
    {"schedule", KEY_WORD, "constant", 0, 0, "constant|cosine", "learning rate after the warm-up", "training"},
    {"warmup", KEY_INT, "20", 0, 1e9, NULL, "steps over which the rate rises from 0", "training"},
    {"decay", KEY_REAL, "0", 0, 10, NULL, "weight decay (decoupled, matrices only)", "training"},
    {"clip", KEY_REAL, "1", 0, 1e9, NULL, "largest norm of the whole gradient; 0: no clipping", "training"},
    {"beta1", KEY_REAL, "0.9", 0, 0.9999999, NULL, "AdamW's first moment", "training"},
    {"beta2", KEY_REAL, "0.98", 0, 0.9999999, NULL, "AdamW's second moment", "training"},
    {"epsilon", KEY_REAL, "1e-8", 1e-30, 1, NULL, "AdamW's epsilon, outside the root", "training"},
    {"threads", KEY_INT, "1", 1, 256, NULL, "threads of the native program; the numbers do not depend on it", "run"},
    {"fast", KEY_WORD, "0", 0, 0, "0|1", "1: fused multiply-add where the machine has it: faster, and not the same bits everywhere", "run"},
    {0},
};
