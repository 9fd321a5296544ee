// common.c: the keys that every experiment has.
#include "common.h"

#define S common_settings

const config_key common_keys[] = {
    INT_KEY("v", S, version, "1", 1, 1, "version of the config language; pins the meaning of every default",
            "run"),
    KEY_ROW("task", KEY_WORD, "mqar", 0, 0, "@tasks", "what is to be learnt", "task", S, task,
            offsetof(S, task)),
    INT_KEY("length", S, length, "64", 1, 1 << 20, "rows of a sequence: tokens, or pixels", "task"),
    INT_KEY("vocab", S, vocab, "64", 2, 1 << 20, "number of different tokens", "task"),

    KEY_ROW("mixer", KEY_WORD, "cat", 0, 0, "@mixers", "how a block mixes along the sequence", "model", S,
            mixer, offsetof(S, mixer)),
    TEXT_KEY(
        "mixers", S, mixers, "",
        "a mixer for each block in place of mixer, cat,gla,attention, beginning again; block1.filter=5: a key of one block",
        "model"),
    INT_KEY("width", S, width, "32", 1, 4096, "numbers per token inside the model (D)", "model"),
    INT_KEY("blocks", S, blocks, "1", 1, 64, "blocks one after another (N)", "model"),
    INT_KEY("heads", S, heads, "1", 1, 256, "heads of a block (H); divides width", "model"),
    WORD_KEY(
        "norm", S, norm, NORMS, "none",
        "norm before each half of a block and before the head; batch: over all rows of a batch while training, "
        "running statistics elsewhere",
        "model"),
    INT_KEY("mlp", S, mlp, "0", 0, 16, "hidden width of the MLP half as a multiple of width; 0: no MLP",
            "model"),
    WORD_KEY("activation", S, activation, ACTIVATIONS, "gelu", "of the MLP", "model"),
    WORD_KEY("position", S, position, POSITIONS, "none",
             "how a model knows where a token stands; rope and alibi act inside softmax attention", "model"),
    WORD_KEY("init", S, init, STARTS, "fan_in",
             "start of the matrices: N(0, 1/fan_in), N(0, 0.02^2) or Xavier uniform", "model"),
    REAL_KEY("embed_std", S, embed_std, "1", 0, 100, "standard deviation of the token table at the start",
             "model"),
    REAL_KEY("position_std", S, position_std, "0.1", 0, 100,
             "standard deviation of learned positions at the start", "model"),
    WORD_KEY("pooling", S, pooling, POOLINGS, "mean",
             "what one answer is read from: the rows' mean, the largest of each column, one row", "model"),

    LARGE_INT_KEY("seed", S, seed, "1", 0, 9007199254740991.0,
                  "start of every random number: weights, data, order", "run"),
    INT_KEY("batch", S, batch, "32", 1, 65536, "sequences per step", "training"),
    INT_KEY("steps", S, steps, "300", 1, MOST_STEPS, "planned steps; a cosine or linear schedule ends there",
            "training"),
    REAL_KEY("rate", S, rate, "0.01", 0, 10, "largest learning rate", "training"),
    WORD_KEY("schedule", S, schedule, SCHEDULES, "constant", "learning rate after the warm-up", "training"),
    INT_KEY("warmup", S, warmup, "20", 0, 1e9, "steps over which the rate rises from 0", "training"),
    REAL_KEY("decay", S, decay, "0", 0, 10, "weight decay (decoupled, matrices only)", "training"),
    REAL_KEY(
        "dropout", S, dropout, "0", 0, 0.99,
        "share of numbers set to 0 while training: of the first block's input, of what a mixer or MLP adds",
        "training"),
    REAL_KEY("clip", S, clip, "1", 0, 1e9, "largest norm of the whole gradient; 0: no clipping", "training"),
    REAL_KEY("beta1", S, beta1, "0.9", 0, 0.9999999, "AdamW's first moment", "training"),
    REAL_KEY("beta2", S, beta2, "0.98", 0, 0.9999999, "AdamW's second moment", "training"),
    REAL_KEY("epsilon", S, epsilon, "1e-8", 1e-30, 1, "AdamW's epsilon, outside the root", "training"),
    INT_KEY("threads", S, threads, "1", 1, 256,
            "threads of the native program; the numbers do not depend on it", "run"),
    FLAG_KEY("fast", S, fast, "0|1", "0", "1: fused multiply-add: faster, not the same bits everywhere",
             "run"),
    {0},
};
