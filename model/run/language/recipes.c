// recipes.c: settings that were measured to learn, by task and mixer.
#include "recipes.h"

// One seed's few percent are luck: recipes are kept that held for seeds 1, 2 and 3.
#define RMS_SMALL "norm=rms&embed_std=0.1&position_std=0.1&rate=0.01"
#define COPY "signals=8&noise=4&vocab=21&length=64&width=32&"

const recipe recipes[] = {
    {"mqar", "*", "vocab=64&length=64&pairs=8&width=32&batch=32&rate=0.01&steps=600"},
    {"mqar", "cat", "batch=8&rate=0.02&steps=300"},
    {"mqar", "attention", "batch=32&rate=0.005&steps=600"},
    {"mqar", "las", "blocks=2&heads=2&pool=trailing&window=3&decay_range=3&batch=32&rate=0.005&steps=600"},
    {"mqar", "lincat", "norm=rms&embed_std=0.1&schedule=cosine&batch=32&rate=0.02&steps=600"},
    {"mqar", "chela", "norm=rms&embed_std=0.1&schedule=cosine&rate=0.01&steps=600"},
    // bins of one row and a state that is carried on: bin 0, which is never filtered, is then one token
    {"mqar", "focus", "bins=64&iir=carry&norm=rms&embed_std=0.1&rate=0.01&schedule=cosine&steps=600"},
    {"ar", "*", "vocab=64&length=64&width=32&batch=64&rate=0.01&steps=600"},
    {"sc", "*",
     COPY "slots=emitted&" RMS_SMALL "&position=learned&blocks=2&batch=64&schedule=cosine&steps=1000"},
    {"sc", "las", "heads=2&decay_range=1&window=1"},
    {"sc", "cat", "heads=2&filter=64&filter_start=decay"},
    {"sc_unique", "*",
     COPY "slots=emitted&" RMS_SMALL "&position=learned&blocks=2&batch=32&schedule=cosine&steps=1000"},
    {"sc_unique", "cat", "norm=none&embed_std=1&position=none&blocks=1&filter=64&filter_start=decay"},
    // of seeds 1 to 16, 15 reach 98 % (one 97.6); with the usual 20 steps of warm-up 13 do, and 42 ends at 82
    {"sc_unique", "las", "heads=2&decay_range=1&window=1&warmup=100"},
    {"sc_unique", "focus", "theta=triangle&bins=8"},
    {"sc", "focus", "theta=triangle&bins=8"},
    {"smnist", "*",
     "length=28&width=32&norm=rms&mlp=2&position=learned&position_std=0.5&rate=0.005&schedule=cosine&batch=32&steps=1875"},
    {"smnist", "chela", "position=none"},
    {"smnist", "cat", "blocks=2&heads=2"},
    {"smnist", "las", "blocks=2&heads=2&window=3&pool=centred"},
    {"smnist", "focus", "bins=7"},
    {"smnist", "focus_h", "bins=7"},
    {"pmnist", "*",
     "length=196&width=32&norm=rms&mlp=2&position=learned&position_std=0.5&rate=0.005&schedule=cosine&batch=32&steps=1875"},
    {"pmnist", "chela", "position=none"},
    {"cumsum", "*", "width=16&steps=400&batch=32&rate=0.01"},
    {"cummax", "*", "width=16&steps=400&batch=32&rate=0.01"},
    {"select", "*", "width=16&steps=400&batch=32&rate=0.01"},
    {0},
};
