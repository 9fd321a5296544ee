// digest_run.h: one run of digest.c: its random numbers, its guarded memory, and where the outputs go.
// Included by digest.c only.

enum { ARENA_BYTES = 1 << 20, ALIGNED = 64, GUARD = 0xA5, MOST_NAMES = 32, MOST_BLOCKS = 64 };
typedef struct {
    uint64_t state;
    unsigned char *arena;
    size_t used, blocks, numbers, arrays;
    struct {
        unsigned char *start;
        size_t before, bytes, all;
    } block[MOST_BLOCKS];
    struct {
        const char *name;
        double is;
    } number[MOST_NAMES];
    struct {
        const char *name, *shape;
        void *words;
        size_t n;
    } array[MOST_NAMES];
    smx_digest_memory memory;
    int overflow, overrun, in_place; // a pair of SMX_IN_PLACE, from 1, for the call that is under way
    smx_digest_sink *sink;
    void *context;
} run;

static uint64_t next(run *r) { // splitmix64
    uint64_t z = r->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// Looks at the guards, and begins another case.
static void begin(run *r) {
    for (size_t b = 0; b < r->blocks; b++)
        for (size_t i = 0; i < r->block[b].all; i++)
            if (i - r->block[b].before >= r->block[b].bytes && r->block[b].start[i] != GUARD) r->overrun = 1;
    r->used = r->blocks = r->numbers = r->arrays = 0;
}
// A case that outgrows the arena starts over in it and is reported, not hashed.
static void *take(run *r, size_t bytes, size_t before) {
    const size_t all = (bytes + before + 2 * ALIGNED - 1) / ALIGNED * ALIGNED;
    assert(all <= ARENA_BYTES && r->blocks < MOST_BLOCKS);
    if (all > ARENA_BYTES - r->used) {
        r->overflow = 1;
        r->used = r->blocks = 0;
    }
    unsigned char *p = r->arena + r->used;
    memset(p, GUARD, all);
    memset(p + before, r->memory.fill, bytes);
    r->block[r->blocks].start = p;
    r->block[r->blocks].before = before;
    r->block[r->blocks].bytes = bytes;
    r->block[r->blocks++].all = all;
    r->used += all;
    return p + before;
}
static void *scratch(run *r, size_t bytes) { return take(r, bytes, 0); }
static float *blank(run *r, size_t n) { return take(r, n * sizeof(float), r->memory.offset); }

// k 2^-23 for a 24-bit signed k: exact, in [-1, 1).
static float signed_unit(run *r) { return (float)((int32_t)(next(r) >> 40) - 8388608) * 0x1p-23f; }
static float *uniform(run *r, size_t n, float centre, float spread) {
    float *x = blank(r, n);
    for (size_t i = 0; i < n; i++) {
        const float part = signed_unit(r) * spread;
        x[i] = centre + part;
    }
    return x;
}
static float *unit(run *r, size_t n) { return uniform(r, n, 0.0f, 1.0f); }
// Any bit pattern: denormals, infinities and NaN among them.
static float *patterns(run *r, size_t n) {
    float *x = blank(r, n);
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = (uint32_t)(next(r) >> 32);
        memcpy(x + i, &bits, 4);
    }
    return x;
}
static void out(run *r, const char *what, const void *words, size_t n) {
    if (!r->overflow) r->sink(r->context, what, words, n);
}
