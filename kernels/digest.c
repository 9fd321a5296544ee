// digest.c: seeded cases for every kernel of kernels.txt, as it declares them, and the hash of what they
// give. Compiled once; calls the public functions, so it sees what a caller sees.
#include "digest.h"
#include "kernels/core/hash.h"
#include <seqmix/smx.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "digest_run.h"

// ---- What kernels.txt says of a kernel -------------------------------------------------------------------
// Names, shapes and sizes are places in `texts`, 0 for none.
#define SMX_TEXTS(all) static const char texts[] = all;
#include "build/kernels.def"

typedef struct {
    char mark; // '>', '+' or '&' of a result, '#' of whole numbers, '=' of what may be one array, else '-'
    char optional;
    uint16_t name, shape;
} part;
typedef enum {
    UNIFORM,
    PATTERNS,
    INTEGERS,
    WHOLE,
    PADDED,
    GAPS,
    CLOSED,
    PICKS,
    ZERO,
    BLANK,
    SET,
    RUN,
    OUT
} step_kind;
typedef struct {
    uint16_t name; // of a size
    float is;
} value;
typedef struct {
    uint16_t kind, name, shape, when;
    value a, b;
} step;
static const part parts[] = {
// of each kernel: its arrays, then what may be one
#define SMX_PARTS(...) __VA_ARGS__,
#include "build/kernels.def"
};
static const step steps[] = {
// what is drawn and called, then what is hashed
#define SMX_STEPS(...) __VA_ARGS__,
#include "build/kernels.def"
};
static const float values[] = {
#define SMX_SIZES(...) __VA_ARGS__,
#include "build/kernels.def"
};
typedef struct {
    const char *name;
    void (*by_hand)(run *), (*call)(run *);
    uint16_t sizes, values, n_values, parts, steps;
} kernel;
static const kernel *kernel_of(const char *name);

static int same(const char *one, const char *other) { // (checks.wasm has no strcmp to call)
    for (; *one && *one == *other; one++) other++;
    return *one == *other;
}
// The name at *list, which ends at a comma, and the list after it.
static const char *word(const char **list, char *name) {
    size_t n = 0;
    while (**list && **list != ',') name[n++] = *(*list)++;
    name[n] = 0;
    if (**list) ++*list;
    return name;
}

static double number(run *r, const char *name, double missing);
#define MISSING (-1.0)
#define SIZE(name, missing) ((size_t)number(r, #name, missing))
#define REAL(name, missing) ((float)number(r, #name, missing))
#define SMX_MAKE(type, ...)                                                                                  \
    static smx_##type make_##type(run *r) { return (void)r, (smx_##type){__VA_ARGS__}; }
#define SMX_SIZE_OF(name, type, floats)                                                                      \
    static size_t floats_of_##name(run *r) {                                                                 \
        const smx_##type own = make_##type(r), *p = &own;                                                    \
        return floats;                                                                                       \
    }

static float *floats(run *r, const char *name) {
    for (size_t i = 0; i < r->arrays; i++)
        if (same(r->array[i].name, name)) return r->array[i].words;
    return NULL; // an optional one that the case leaves out
}
#define FLOATS(name) floats(r, #name)
#define INTS(name) ((void *)floats(r, #name))
#define SCRATCH(bytes) scratch(r, bytes)
#define TABLE(name, size) table_of(r, smx_##name##_floats size, smx_##name, (size_t)size)
static float *table_of(run *r, size_t n, void (*fill)(float *, size_t), size_t size) {
    float *table = blank(r, n);
    fill(table, size);
    return table;
}
static void name_array(run *r, const char *name, const char *shape, void *words, size_t n) {
    size_t i = 0;
    while (i < r->arrays && !same(r->array[i].name, name)) i++;
    assert(i < MOST_NAMES);
    if (i == r->arrays) r->arrays++;
    r->array[i].name = name;
    r->array[i].shape = shape;
    r->array[i].words = words;
    r->array[i].n = n;
}
static void set_number(run *r, const char *name, double is) {
    size_t i = 0;
    while (i < r->numbers && !same(r->number[i].name, name)) i++;
    assert(i < MOST_NAMES);
    if (i == r->numbers) r->numbers++;
    r->number[i].name = name;
    r->number[i].is = is;
}
// What a kernel returns, as words that are the same on either byte order.
#define GIVES_void(what, call) call;
#define GIVES_float(what, call)                                                                              \
    float *is = blank(r, 1);                                                                                 \
    *is = call;                                                                                              \
    name_array(r, what, "", is, 1);
#define GIVES_double(what, call) GIVES_BITS(what, double, call, 2)
#define GIVES_size_t(what, call) GIVES_BITS(what, uint64_t, call, 1)
#define GIVES_BITS(what, type, call, n)                                                                      \
    const type is = call;                                                                                    \
    uint64_t bits;                                                                                           \
    memcpy(&bits, &is, 8);                                                                                   \
    const uint32_t words[] = {(uint32_t)bits, (uint32_t)(bits >> 32)};                                       \
    name_array(r, what, "", memcpy(blank(r, n), words, 4 * n), n);

#define SMX_SIZE(name, floats)                                                                               \
    static size_t floats_of_##name(run *r) { return floats; }
#define SMX_CALL(name, result, what, handed, ...)                                                            \
    static void call_##name(run *r) { __VA_ARGS__ GIVES_##result(what, smx_##name handed) }
#include "build/kernels.def"

static double number(run *r, const char *name, double missing) {
    for (size_t i = 0; i < r->numbers; i++)
        if (same(r->number[i].name, name)) return r->number[i].is;
    if (*name <= '9') return *name - '0';
    if (missing >= 0) return missing;
#define DERIVED(own, is)                                                                                     \
    if (same(name, own)) return (double)(is);
    DERIVED("B", 1)
    DERIVED("span", 2 * SIZE(L, MISSING) - 1)
    DERIVED("bands", SIZE(N, MISSING) / 2 + 1)
    DERIVED("half", SIZE(D, MISSING) / SIZE(H, 1) / 2)
    DERIVED("bin_rows", SIZE(L, MISSING) / SIZE(bins, 1))
    DERIVED("key_width", SIZE(keys, MISSING) * (SIZE(shared, 0) ? 1 : SIZE(H, 1)))
    DERIVED("E3", 3 * SIZE(E, MISSING))
    DERIVED("E4", 4 * SIZE(E, MISSING))
    DERIVED("features", 1 + SIZE(d, MISSING) + SIZE(d, MISSING) * (SIZE(d, MISSING) + 1) / 2)
    DERIVED("rows", SIZE(L, MISSING))
#define SMX_SIZE(own, floats) DERIVED(#own, floats_of_##own(r))
#define SMX_SIZE_OF(own, type, floats) DERIVED(#own, floats_of_##own(r))
#include "build/kernels.def"
    assert(!"a size of kernels.txt that its cases do not give");
    return 0;
}
static double value_of(run *r, value v) { return v.name ? number(r, texts + v.name, MISSING) : (double)v.is; }
static size_t count(run *r, const char *shape) {
    char name[24];
    size_t n = 1;
    while (*shape) n *= (size_t)number(r, word(&shape, name), MISSING);
    return n;
}

// ---- Cases ------------------------------------------------------------------------------------------------
static void draw(run *r, const step *s) {
    const size_t n = count(r, texts + s->shape);
    const float a = (float)value_of(r, s->a), b = (float)value_of(r, s->b);
    float *x = s->kind == PATTERNS                       ? patterns(r, n)
               : s->kind == INTEGERS || s->kind >= PICKS ? blank(r, n)
                                                         : uniform(r, n, a, b);
    int32_t *whole = (void *)x;
    switch (s->kind) {
    case INTEGERS: // a <= x < b
        for (size_t i = 0; i < n; i++)
            whole[i] = (int32_t)a + (int32_t)(next(r) % (uint64_t)((int32_t)b - (int32_t)a));
        break;
    case WHOLE:
        for (size_t i = 0; i < n; i++) x[i] = (float)(int32_t)x[i];
        break;
    case PADDED:
        memset(x, 0, SIZE(D, MISSING) * sizeof *x);
        break;
    case GAPS:
        for (size_t i = 0; i < n; i += 3) x[i] = __builtin_nanf("");
        break;
    case CLOSED:
        for (size_t i = 0; i < n; i++)
            if (next(r) % 16 == 0) x[i] *= 200.0f;
        break;
    case PICKS: // every third row, from the last to the first, with one negative index
        for (size_t i = 0; i < n; i++) whole[i] = i == 2 ? -1 : (int32_t)(SIZE(N, MISSING) - 1 - 3 * i);
        break;
    case ZERO:
        memset(x, 0, n * sizeof *x);
        break;
    default:
        break;
    }
    name_array(r, texts + s->name, texts + s->shape, x, n);
}

// Rows of the piece that begins at row t when a sequence comes in pieces; more than one sequence come whole.
static size_t piece(size_t t, size_t L, size_t B) {
    const size_t rows = B > 1 ? L : 1 + t % 7 * t % 41;
    return rows < L - t ? rows : L - t;
}
static int has(const char *list, const char *name) {
    char own[24];
    while (*list)
        if (same(word(&list, own), name)) return 1;
    return 0;
}
// A .._push: of its arrays those that have the rows, from the piece's first row on.
static void in_pieces(run *r, const kernel *k) {
    const size_t B = SIZE(B, 1), L = SIZE(L, MISSING);
    float *whole[MOST_NAMES];
    const char *rows = "L";
    for (const part *p = parts + k->parts; p->mark; p++)
        if (has(texts + p->shape, "rows")) rows = "rows"; // its L is how many there may be
    for (size_t i = 0; i < r->arrays; i++) whole[i] = r->array[i].words;
    for (size_t t = 0, many; t < L; t += many) {
        many = piece(t, L, B);
        set_number(r, rows, (double)many);
        set_number(r, "at", (double)t);
        for (size_t i = 0; i < r->arrays; i++)
            if (has(r->array[i].shape, "L") || has(r->array[i].shape, "rows"))
                r->array[i].words = whole[i] + t * (r->array[i].n / (B * L));
        k->call(r);
    }
    for (size_t i = 0; i < r->arrays; i++) r->array[i].words = whole[i];
    set_number(r, rows, (double)L);
}

#ifndef CALL // (proofs_tests/kernels/twins.h looks at each call)
#define CALL(k, r) (k)->call(r)
#endif
// The arrays that a pair of `in place`, from 1, makes one; NULL past the last.
static const part *pair_of(const kernel *k, int pair) {
    const part *p = parts + k->parts;
    while (p->mark) p++;
    for (p++; p->mark && --pair; p++) {
    }
    return p->mark ? p : NULL;
}
static void call(run *r, const kernel *k) {
    for (const part *p = parts + k->parts; p->mark; p++) {
        if (p->optional || floats(r, texts + p->name)) continue;
        const size_t n = count(r, texts + p->shape);
        name_array(r, texts + p->name, texts + p->shape, blank(r, n), n);
    }
    const part *pair = r->in_place ? pair_of(k, r->in_place) : NULL;
    for (size_t i = 0; pair && i < r->arrays; i++)
        if (same(r->array[i].name, texts + pair->name) && floats(r, texts + pair->shape))
            r->array[i].words = floats(r, texts + pair->shape);
    size_t n = 0;
    while (k->name[n]) n++;
    if (n > 5 && same(k->name + n - 5, "_push"))
        in_pieces(r, k);
    else
        CALL(k, r);
}

static int wanted(run *r, const step *s) { return !s->when || number(r, texts + s->when, MISSING) != 0; }
static void hand_out(run *r, const step *o) {
    for (; o->name; o++)
        for (size_t i = 0; i < r->arrays; i++)
            if (same(r->array[i].name, texts + o->name) && wanted(r, o))
                out(r, r->array[i].name, r->array[i].words, r->array[i].n);
}
static void every_case(run *r, const kernel *k) {
    char names[16][24];
    size_t columns = 0;
    for (const char *list = texts + k->sizes; *list; columns++) word(&list, names[columns]);
    const step *first = steps + k->steps, *outs = first;
    while (outs->name) outs++;
    for (size_t at = 0; at < k->n_values; at += columns) {
        begin(r);
        for (size_t i = 0; i < columns; i++) set_number(r, names[i], (double)values[k->values + at + i]);
        for (const step *s = first; s->name; s++) {
            const char *name = texts + s->name;
            if (!wanted(r, s)) continue;
            if (s->kind == SET)
                set_number(r, name, value_of(r, s->a));
            else if (s->kind != RUN)
                draw(r, s);
            else if (same(name, k->name)) {
                call(r, k);
                hand_out(r, outs + 1);
            } else {
                const int in_place = r->in_place;
                r->in_place = 0;
                call(r, kernel_of(name));
                r->in_place = in_place;
            }
        }
    }
}

#include "digest_by_hand.h"

// ---- The list, and the hash -----------------------------------------------------------------------------
#define ROW(own, sizes, values, n_values, parts, steps)                                                      \
    {#own, NULL, call_##own, sizes, values, n_values, parts, steps},
static const kernel kernels[] = {
#ifndef TWINS_ALONE
#define SMX_BY_HAND(own) {.name = #own, .by_hand = run_##own},
#define SMX_CASES ROW
#endif
#define SMX_CASES_OF_TWIN ROW
#include "build/kernels.def"
};
enum { N_KERNELS = sizeof kernels / sizeof *kernels };

static const kernel *kernel_of(const char *name) {
    const kernel *k = kernels;
    while (!same(k->name, name)) k++;
    return k;
}

size_t smx_digest_count(void) { return N_KERNELS; }
const char *smx_digest_name(size_t i) { return i < N_KERNELS ? kernels[i].name : NULL; }

int smx_digest_run(size_t i, uint64_t seed, const smx_digest_memory *memory, smx_digest_sink *sink,
                   void *context) {
    if (i >= N_KERNELS) return -1;
    if (memory->in_place && (kernels[i].by_hand || !pair_of(&kernels[i], memory->in_place))) return 1;
    unsigned char *block = malloc(ARENA_BYTES + 64);
    if (!block) return -1;
    run r = {.state = seed,
             .arena = block + (64 - (uintptr_t)block % 64),
             .memory = *memory,
             .in_place = memory->in_place,
             .sink = sink,
             .context = context};
    const uint64_t env = smx_fpenv_enter(); // the inputs are rounded too
    const int fast = smx_fast(0);
    if (kernels[i].by_hand)
        kernels[i].by_hand(&r);
    else
        every_case(&r, &kernels[i]);
    begin(&r);
    smx_fast(fast);
    smx_fpenv_leave(env);
    free(block);
    return r.overflow ? -1 : r.overrun ? -2 : 0;
}

static void hash(void *context, const char *what, const void *words, size_t n) {
    uint64_t h = *(uint64_t *)context;
    (void)what;
    for (size_t i = 0; i < n; i++) {
        float x;
        memcpy(&x, (const unsigned char *)words + 4 * i, 4);
        const uint32_t w = hash_word_of(x);
        for (int byte = 0; byte < 4; byte++) h = hash_bytes(h, &(unsigned char){(w >> (8 * byte)) & 0xff}, 1);
    }
    *(uint64_t *)context = h;
}

uint64_t smx_digest_kernel(size_t i, const char **name) {
    uint64_t h = HASH_START;
    if (name) *name = smx_digest_name(i);
    return smx_digest_run(i, 0x5EED, &(smx_digest_memory){4, 0xFF, 0}, hash, &h) == 0 ? h : 0;
}
