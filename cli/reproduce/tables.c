// tables.c: which tables and figures are trained again, and how. See reproduction.h.
#include <math.h>

#include "reproduction.h"

// ---- [CAT] Figures 2 and 5: recall by one block of CAT and by two of others
#define RECALL "norm=rms&mlp=0&batch=64&steps=1500&schedule=cosine&warmup=100&fast=1&vocab=256&width=64&"
#define QUICK_RECALL "vocab=32&length=32&pairs=4&steps=200&warmup=20&batch=32"
#define RATES "0.001,0.003,0.01,0.03"
#define ROWS_OF_FIGURE_5                                                                                     \
    {"CAT, one block", "mixer=cat&blocks=1&heads=1", NAN},                                                   \
        {"LinCAT, one block", "mixer=lincat&blocks=1", NAN},                                                 \
        {"attention, RoPE", "mixer=attention&blocks=2&heads=1&position=rope", NAN},                          \
        {"Mamba", "mixer=mamba&blocks=2", NAN}, {"Based", "mixer=based&blocks=2&feature_width=8", NAN},      \
        {"Hyena", "mixer=hyena&blocks=2", NAN}, {"GLA", "mixer=gla&blocks=2&heads=1", NAN},                  \
        {"DeltaNet", "mixer=deltanet&blocks=2&heads=1", NAN}, {                                              \
        0                                                                                                    \
    }
static const reproduced_row figure_5[] = {ROWS_OF_FIGURE_5};
static const reproduced_claim cat_leads[] = {
    {"one block of CAT is ahead of two of attention", "CAT, one block", "attention, RoPE"},
    {"one block of CAT is ahead of two of Mamba", "CAT, one block", "Mamba"},
    {"one block of CAT is ahead of two of GLA", "CAT, one block", "GLA"},
    {"one block of CAT is ahead of two of Based", "CAT, one block", "Based"},
    {"one block of CAT is ahead of two of Hyena", "CAT, one block", "Hyena"},
    {"one block of CAT is ahead of two of DeltaNet", "CAT, one block", "DeltaNet"},
    {"attention in CAT does better than linear attention", "CAT, one block", "LinCAT, one block"},
    {0}};
#define SETTING_OF_FIGURE_5                                                                                    \
    "256 tokens instead of 8,192, 96,000 sequences instead of 100,000 seen many times, no dropout. The paper " \
    "prints curves without numbers."

// ---- [LaS] Table 3 and why
static const reproduced_row las_decays[] = {
    {"LaS, B = 0.001", "mixer=las&window=3&pool=centred&decay_range=0.001", NAN},
    {"LaS, B = 0.01", "mixer=las&window=3&pool=centred&decay_range=0.01", NAN},
    {"LaS, B = 0.1", "mixer=las&window=3&pool=centred&decay_range=0.1", NAN},
    {"LaS, B = 1", "mixer=las&window=3&pool=centred&decay_range=1", NAN},
    {"LaS, B = 0.001, positions", "mixer=las&window=3&pool=centred&decay_range=0.001&position=learned", NAN},
    {"attention, positions", "mixer=attention&position=learned", NAN},
    {0}};
static const reproduced_claim las_decays_claims[] = {
    {"LaS is ahead of attention with its own B", "LaS, B = 0.001", "attention, positions"},
    {"LaS is ahead of attention with B = 1, the default here", "LaS, B = 1", "attention, positions"},
    {"a small B is better than B = 1", "LaS, B = 0.001", "LaS, B = 1"},
    {0}};

// ---- [LaS] Table 7: where smoothing hurts
#define ATOMIC                                                                                               \
    "norm=rms&blocks=2&heads=2&width=32&mlp=2&position=learned&batch=32&steps=1000&schedule=cosine&warmup=50&"
#define ATOMIC_ROWS(attention, las)                                                                          \
    {                                                                                                        \
        {"attention", "mixer=attention", attention},                                                         \
            {"LaS as printed", "mixer=las&window=3&pool=centred&decay_range=0.001", las},                    \
            {"LaS, causal", "mixer=las&window=3&pool=trailing&decay_range=0.001", NAN}, {                    \
            0                                                                                                \
        }                                                                                                    \
    }
static const reproduced_row sums_select[] = ATOMIC_ROWS(0.971, 0.783), sums_max[] = ATOMIC_ROWS(1.0, 0.995),
                            sums_sum[] = ATOMIC_ROWS(1.0, 0.997);
static const reproduced_claim smoothing_hurts[] = {
    {"LaS is behind attention", "attention", "LaS as printed"},
    {"so is LaS that sees no later number", "attention", "LaS, causal"},
    {0}};
#define SETTING_OF_TABLE_7                                                                                           \
    "Two blocks of width 32, 32,000 sequences: the paper does not say its sizes. Its pooling, as printed, sees one " \
    "number ahead in each block."

const reproduction reproductions[] = {
    {"las-decay", "[LaS] Table 3, Sec. A", "How fast LaS may forget: its B on digits of 14 x 14 pixels",
     "196 pixels instead of 784, one pass instead of many, width 32 and two blocks. The paper searches B in "
     "0.0001 and 0.001 (its Table 9); here 1 is the default of decay_range.",
     "task=smnist&data=mnist&length=196&width=32&heads=4&blocks=2&mlp=2&schedule=cosine&warmup=100&steps=1875&"
     "fast=1",
     "0.005", "data=digits&batch=16&steps=120&warmup=20", "0.005", "accuracy", 3, 10000, 1.0, las_decays,
     las_decays_claims},
    {"cat-figure-5-recall-64", "[CAT] Figures 2 and 5", "Recall of 8 pairs in 64 tokens, width 64",
     SETTING_OF_FIGURE_5, RECALL "task=mqar&length=64&pairs=8", RATES, QUICK_RECALL, "0.01", "accuracy", 3,
     1000, 1.0, figure_5, cat_leads},
    {"cat-figure-5-ngram-64", "[CAT] Figure 5", "Recall by two tokens, 8 pairs in 64 tokens, width 64",
     SETTING_OF_FIGURE_5, RECALL "task=mqnar&length=64&pairs=8", RATES, QUICK_RECALL, "0.01", "accuracy", 3,
     1000, 1.0, figure_5, cat_leads},
    {"cat-figure-5-recall-256", "[CAT] Figures 2 and 5", "Recall of 32 pairs in 256 tokens, width 64",
     SETTING_OF_FIGURE_5, RECALL "task=mqar&length=256&pairs=32", RATES, QUICK_RECALL, "0.01", "accuracy", 3,
     1000, 4.0, figure_5, cat_leads},
    {"las-table-7-select", "[LaS] Table 7", "Select: R^2 of the values that a list of places names",
     SETTING_OF_TABLE_7, ATOMIC "task=select", RATES, "steps=300&warmup=20", "0.01", "r2", 5, 1000, 0.2,
     sums_select, smoothing_hurts},
    {"las-table-7-cummax", "[LaS] Table 7", "CumMax: R^2 of the largest number so far", SETTING_OF_TABLE_7,
     ATOMIC "task=cummax", RATES, "steps=300&warmup=20", "0.01", "r2", 5, 1000, 0.2, sums_max,
     smoothing_hurts},
    {"las-table-7-cumsum", "[LaS] Table 7", "CumSum: R^2 of the sum so far", SETTING_OF_TABLE_7,
     ATOMIC "task=cumsum", RATES, "steps=300&warmup=20", "0.01", "r2", 5, 1000, 0.2, sums_sum,
     smoothing_hurts},
    {0}};
