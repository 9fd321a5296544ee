// test_reading_on.c: a run that reads on (seqmix/state.h). Every mixer in every mode, in random pieces,
// copied, saved and loaded on the way, at lengths past every block, tile and chunk, gives the bits of the
// whole sequence read at once; long convolutions within their tolerance; whatever cannot be read so says
// why. Bad input changes nothing. Draws.
#include "proofs_tests/support/check.h"
#include "proofs_tests/model/equations/attention_texts.h"
#include "model/audit/scan_texts.h"

#include "kernels/core/hash.h"
#include "model/audit/audit.h"
#include "model/mixers/mixer.h"
#include "model/run/language/language.h"
#include <seqmix/state.h>

enum { L = 331 }; // past SMX_KC rows, blocks of 16, 24, 32 and 64, no multiple of any

static smx_run *opened(const char *text) {
    smx_error e = {0};
    smx_run *r = smx_run_open(text, &e);
    if (!r) check_fail("%s: %s", text, e.message);
    return r;
}
static smx_run_state *state_of(smx_run *r, size_t B, size_t most) {
    smx_error e = {0};
    smx_run_state *s = smx_state_open(r, B, most, &e);
    if (!s) check_fail("%s", e.message);
    return s;
}
static void push(smx_run_state *s, const int32_t *tokens, const float *values, size_t rows, float *answers) {
    smx_error e = {0};
    if (smx_state_push(s, tokens, values, rows, answers, &e)) check_fail("%s", e.message);
}

// The input of a run, B sequences of L rows, and the answers to each read at once.
typedef struct {
    size_t B, C, V; // channels, 0: tokens; numbers of an answer
    int32_t *tokens;
    float *values, *whole;
} reading;
static reading whole_of(smx_run *r, size_t B, size_t rows) {
    smx_batch_form form;
    smx_error e;
    smx_run_batch(r, &form);
    reading w = {.B = B, .C = form.vocab ? 0 : form.channels, .V = form.classes ? form.classes : 1};
    w.tokens = w.C ? NULL : check_ints(B * rows);
    w.values = w.C ? check_random(B * rows * w.C, -1, 1) : NULL;
    for (size_t i = 0; i < B * rows && w.tokens; i++) w.tokens[i] = (int32_t)(check_next() % form.vocab);
    w.whole = check_floats(B * rows * w.V);
    for (size_t b = 0; b < B; b++) {
        smx_sample sample;
        smx_tensor logits;
        const int failed = w.C ? smx_run_predict_values(r, w.values + b * rows * w.C, rows, &sample, &e)
                               : smx_run_predict(r, w.tokens + b * rows, rows, &sample, &e);
        if (failed || smx_run_tensor(r, "logits", &logits, &e)) check_fail("%s", e.message);
        memcpy(w.whole + b * rows * w.V, logits.data, rows * w.V * sizeof(float));
    }
    return w;
}
// Rows at.. of each sequence, as a push takes them.
static const void *piece(const reading *w, size_t rows, size_t at, size_t count) {
    const size_t width = w->C ? w->C : 1;
    float *to = check_floats(w->B * count * width);
    for (size_t b = 0; b < w->B; b++)
        memcpy(to + b * count * width,
               (w->C ? w->values : (const float *)w->tokens) + (b * rows + at) * width, count * width * 4);
    return to;
}

// How far the answers are from those of the whole, in units of the largest; exact: 0 or a failure naming the
// place.
static double apart(const float *x, const float *y, size_t n) {
    double top = 0, most = 1e-30;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs((double)y[i]));
        top = fmax(top, fabs((double)x[i] - (double)y[i]));
    }
    return top / most;
}
static smx_run_state *through_bytes(smx_run *r, smx_run_state *s) {
    smx_error e;
    size_t size;
    void *bytes = smx_state_save(s, &size, &e);
    smx_run_state *again = bytes ? smx_state_load(r, bytes, size, &e) : NULL;
    if (!again) check_fail("%s", e.message);
    free(bytes);
    smx_state_close(s);
    return again;
}
// Pieces of 1 to `longest` rows; now and then the state is saved and loaded, or a copy goes on in its place.
// All answers, [B][rows][V].
static const float *in_pieces(smx_run *r, const reading *w, size_t rows, size_t most, size_t longest,
                              double tolerance) {
    smx_run_state *s = state_of(r, w->B, most);
    float *all = check_floats(w->B * rows * w->V);
    for (size_t at = 0, count; at < rows; at += count) {
        count = 1 + check_next() % longest;
        if (count > rows - at) count = rows - at;
        const void *in = piece(w, rows, at, count);
        float *answers = check_floats(w->B * count * w->V);
        push(s, w->C ? NULL : in, w->C ? in : NULL, count, answers);
        for (size_t b = 0; b < w->B; b++) {
            const float *is = answers + b * count * w->V, *was = w->whole + (b * rows + at) * w->V;
            const float *last = smx_state_answers(s) + b * w->V;
            memcpy(all + (b * rows + at) * w->V, is, count * w->V * 4);
            for (size_t i = 0; i < count * w->V && tolerance == 0.0; i++)
                if (memcmp(is + i, was + i, 4))
                    check_fail("row %zu of sequence %zu, answer %zu: %.9g, read at once %.9g", at + i / w->V,
                               b, i % w->V, (double)is[i], (double)was[i]);
            if (tolerance > 0.0 && apart(is, was, count * w->V) > tolerance)
                check_fail("rows from %zu on: %.3g from those read at once", at,
                           apart(is, was, count * w->V));
            if (memcmp(last, is + (count - 1) * w->V, w->V * 4)) check_fail("another last answer");
        }
        if (check_next() % 8 == 0) s = through_bytes(r, s);
        if (check_next() % 8 == 0) {
            smx_error e;
            smx_run_state *copy = smx_state_copy(s, &e);
            if (!copy) check_fail("%s", e.message);
            const void *noise = piece(w, rows, 0, 1); // the first goes another way
            if (!most || at + count < most) push(s, w->C ? NULL : noise, w->C ? noise : NULL, 1, NULL);
            smx_state_close(s);
            s = copy;
        }
    }
    smx_state_close(s);
    return all;
}

static int is_convolved(const char *text) {
    return strstr(text, "mixer=longconv") || strstr(text, "mixer=s4d") || strstr(text, "mixer=chela") ||
           strstr(text, "mixer=hyena") || (strstr(text, "mixer=focus") && !strstr(text, "mixer=focus_h"));
}
static void every_mode(void **unused) {
    (void)unused;
    size_t exact = 0, near = 0, refused = 0;
    for (size_t k = 0; mixers[k]; k++) {
        char mode[1024], text[1280];
        for (size_t i = 0; audit_mode(mode, sizeof mode, mixers[k]->name, i); i++) {
            const size_t rows = strstr(mode, "mixer=focus") ? 320 : L; // its bins divide the whole
            snprintf(text, sizeof text, "%s&task=cumsum&batch=1&blocks=2&steps=2&length=%zu", mode, rows);
            check_trying("%s", text);
            smx_run *r = opened(text);
            smx_error e = {0};
            smx_run_state *s = smx_state_open(r, 2, L, &e);
            const int ahead = strstr(mode, "causal=0") || strstr(mode, "two_sided") ||
                              strstr(mode, "pool=centred") || strstr(mode, "iir=literal");
            if ((s == NULL) != ahead) check_fail("%s", s ? "it has a state" : e.message);
            if (s) {
                const reading w = whole_of(r, 2, rows);
                const double tolerance = is_convolved(text) ? 3e-5 : 0.0;
                const float *some = in_pieces(r, &w, rows, L, 9, tolerance);
                const float *others = in_pieces(r, &w, rows, L + 40, 150, tolerance);
                if (memcmp(some, others, w.B * rows * w.V * 4)) check_fail("other pieces, other words");
                is_convolved(text) ? near++ : exact++;
            } else {
                if (!strstr(e.message, "a row depends on")) check_fail("%s", e.message);
                refused++;
            }
            smx_state_close(s);
            smx_run_close(r);
            check_done();
        }
    }
    print_message("%zu modes to the bit, %zu within their tolerance, %zu refused\n", exact, near, refused);
    assert_true(exact > 40 && near > 5 && refused > 5);
}

// Texts with scans: a state of each rank, learned and constant starts; and attention's later arguments.
static void scans(void **unused) {
    (void)unused;
    for (size_t i = 0; i < SCAN_TEXTS + ATTENTION_TEXTS; i++) {
        char text[8000];
        size_t n = (size_t)sprintf(
            text, "task=cumsum&batch=1&blocks=2&steps=2&width=12&heads=2&length=%d&mixer=equations&eq=", L);
        for (const char *c = i < SCAN_TEXTS ? scan_texts[i] : attention_texts[i - SCAN_TEXTS]; *c; c++)
            n += (size_t)sprintf(text + n, "%%%02X", (unsigned char)*c);
        check_trying("text %zu", i);
        smx_run *r = opened(text);
        const reading w = whole_of(r, 2, L);
        in_pieces(r, &w, L, L, 9, 0.0);
        if (i < SCAN_TEXTS) in_pieces(r, &w, L, 0, 150, 0.0); // without an end: a state does not grow
        smx_run_close(r);
        check_done();
    }
}

static void other_forms(void **unused) {
    (void)unused;
    static const char *const texts[] = {
        "task=own&channels=3&mixer=cat&blocks=2&mlp=2&norm=layer&position=learned&length=331",
        "task=own&channels=3&classes=5&mixer=gla&answers=one&length=40",
        "task=own&channels=0&classes=7&vocab=9&mixer=attention&answers=one&position=rope&length=40",
        "task=own&channels=3&classes=5&mixer=cat&answers=one&pooling=max&length=40",
        "task=own&channels=0&classes=7&vocab=9&mixer=mamba&answers=one&pooling=last&length=40",
        "task=own&channels=2&mixer=mamba&norm=rms&position=sinusoidal&length=40",
        "task=own&channels=2&mixer=cat&norm=batch&mlp=1&length=40",
        "task=cumsum&mixer=attention&position=alibi&heads=2&length=40",
        "task=cumsum&mixer=las&heads=3&width=30&length=40",
    };
    for (size_t i = 0; i < CHECK_COUNT(texts); i++) {
        check_trying("%s", texts[i]);
        smx_run *r = opened(texts[i]);
        smx_error e;
        const size_t rows = L;
        if (strstr(texts[i], "answers=one")) { // the answer to every beginning, of each sequence its own
            enum { B = 3 };
            smx_run_state *s = state_of(r, B, rows);
            reading w = {.B = B, .C = strstr(texts[i], "channels=3") ? 3 : 0};
            w.tokens = check_ints(B * rows);
            w.values = check_random(B * rows * 3, -1, 1);
            for (size_t t = 0; t < B * rows; t++) w.tokens[t] = (int32_t)(check_next() % 9);
            for (size_t t = 0; t < rows; t++) {
                const void *in = piece(&w, rows, t, 1);
                push(s, w.C ? NULL : in, w.C ? in : NULL, 1, NULL);
                free(check_blocks[--check_n_blocks].block);
                if (t % 40 && t != 256 && t != 255 && t != 257) continue;
                for (size_t b = 0; b < B; b++) {
                    smx_sample sample;
                    smx_tensor logits;
                    if (w.C ? smx_run_predict_values(r, w.values + b * rows * 3, t + 1, &sample, &e)
                            : smx_run_predict(r, w.tokens + b * rows, t + 1, &sample, &e))
                        check_fail("%s", e.message);
                    assert_int_equal(smx_run_tensor(r, "logits", &logits, &e), 0);
                    const size_t V = logits.shape[logits.rank - 1];
                    check_trying("%s, %zu rows of sequence %zu", texts[i], t + 1, b);
                    check_same("the answer", smx_state_answers(s) + b * V, logits.data, V);
                }
            }
            smx_state_close(s);
        } else {
            const reading w = whole_of(r, 3, rows);
            in_pieces(r, &w, rows, rows, 70, 0.0);
        }
        smx_run_close(r);
        check_done();
    }
}

// Past four blocks of a sum, which one row alone takes side by side.
static void far(void **unused) {
    (void)unused;
    static const char *const texts[] = {"mixer=attention&heads=2&width=40", "mixer=las&heads=2&width=64",
                                        "mixer=cat&width=32&position=rope"};
    enum { FAR = 1400 };
    for (size_t i = 0; i < CHECK_COUNT(texts); i++) {
        char text[256];
        snprintf(text, sizeof text, "%s&task=cumsum&batch=1&length=%d", texts[i], FAR);
        check_trying("%s", text);
        smx_run *r = opened(text);
        const reading w = whole_of(r, 1, FAR);
        smx_run_state *s = state_of(r, 1, FAR);
        for (size_t t = 0, rows = 1000; t < FAR; t += rows, rows = 1) {
            push(s, NULL, w.values + t * w.C, rows, NULL);
            if (memcmp(smx_state_answers(s), w.whole + (t + rows - 1) * w.V, w.V * 4))
                check_fail("another answer at row %zu", t + rows - 1);
        }
        smx_state_close(s);
        smx_run_close(r);
        check_done();
    }
}

#define BINS                                                                                                 \
    "e = bin_max(x, 5)\nt = coefficients(linear(e, w_e[2], b_e))\ny = shift(resonate(x, t, 5), 3) @ w_o"

// No limit: what does not grow goes on for as long as one likes, in the same memory.
static void endless(void **unused) {
    (void)unused;
    static const char *const can[] = {"mixer=gla",
                                      "mixer=deltanet",
                                      "mixer=mamba",
                                      "mixer=mamba2",
                                      "mixer=linear",
                                      "mixer=lincat",
                                      "mixer=ema",
                                      "mixer=attention&chunk=48",
                                      "mixer=focus_h&bins=7&chunks=7&iir=carry",
                                      ("mixer=equations&eq=" BINS)};
    static const char *const cannot[] = {"mixer=attention", "mixer=cat", "mixer=longconv",
                                         "mixer=gla&position=learned", "mixer=linear&tile=500"};
    smx_error e;
    for (size_t i = 0; i < CHECK_COUNT(can); i++) {
        char text[256];
        snprintf(text, sizeof text, "%s&task=cumsum&length=70", can[i]);
        check_trying("%s", text);
        smx_run *r = opened(text);
        const reading w = whole_of(r, 1, 1000);
        in_pieces(r, &w, 1000, 0, 90, 0.0);
        smx_run_close(r);
        check_done();
    }
    for (size_t i = 0; i < CHECK_COUNT(cannot); i++) {
        char text[256];
        snprintf(text, sizeof text, "%s&task=cumsum&length=70", cannot[i]);
        check_trying("%s", text);
        smx_run *r = opened(text);
        assert_null(smx_state_open(r, 1, 0, &e));
        if (!strstr(e.message, "memory grows")) check_fail("%s", e.message);
        assert_true(smx_state_bytes(r, 1, 0, &e) == 0);
        smx_run_close(r);
    }
}

// What is carried can be read: of a scan whose inputs are all 1 and whose state is known, beside a filter
// that keeps rows and carries nothing.
static void carried(void **unused) {
    (void)unused;
    enum { B = 3, D = 20, ROWS = 9 };
    smx_run *r = opened("task=charlm&length=16&width=20&heads=2&blocks=2&batch=2&mixer=equations&eq="
                        "one = exp(conv(x, f) * 0)\nscan h[one] over one\n  h = 0.5 * h + one\ny = h @ w_o");
    smx_run_state *s = state_of(r, B, 0);
    const int32_t tokens[B] = {1, 2, 3};
    smx_tensor t;
    for (int row = 0; row < ROWS; row++) {
        push(s, tokens, NULL, 1, NULL);
        for (size_t block = 0; block < 2; block++) {
            assert_int_equal(smx_state_tensor_at(s, block, &t), 0);
            assert_string_equal(t.name, block ? "block1.mixer.h" : "block0.mixer.h");
            assert_int_equal(t.rank, 1);
            assert_int_equal(t.shape[0], B * 2 * 16); // 10 columns of two heads, in rows of 16
            for (size_t i = 0; i < t.shape[0]; i++)
                if (i % 16 < D / 2) assert_true(t.data[i] == 2.0F - ldexpf(1.0F, -row));
        }
    }
    assert_int_equal(smx_state_tensor_at(s, 2, &t), -1);
    assert_int_equal(smx_state_tensor_at(s, SIZE_MAX, &t), -1);
    smx_state_close(s);
    smx_run_close(r);
}

static void refuses(smx_run_state *s, const int32_t *tokens, const float *values, size_t rows,
                    const char *why) {
    smx_error e = {0};
    smx_state_form was, is;
    float before[16];
    smx_state_look(s, &was);
    if (was.rows) memcpy(before, smx_state_answers(s), was.answers * 4);
    if (!smx_state_push(s, tokens, values, rows, NULL, &e)) check_fail("pushed; wanted: %s", why);
    if (!strstr(e.message, why)) check_fail("%s; wanted: %s", e.message, why);
    smx_state_look(s, &is);
    assert_true(is.rows == was.rows);
    if (was.rows) assert_memory_equal(before, smx_state_answers(s), was.answers * 4);
}
static void bad_input(void **unused) {
    (void)unused;
    smx_error e = {0};
    smx_run *r = opened("task=own&channels=0&vocab=9&classes=9&mixer=attention&position=learned&length=20");
    smx_run_state *s = state_of(r, 1, 12);
    const int32_t tokens[20] = {1, 2, 9}, below[1] = {-1};
    const float values[2] = {0, 0};
    push(s, tokens, NULL, 2, NULL);
    refuses(s, tokens, NULL, 3, "token 2 is 9");
    refuses(s, below, NULL, 1, "token 0 is -1");
    refuses(s, NULL, values, 1, "input 0");
    refuses(s, NULL, NULL, 1, "input 0");
    refuses(s, tokens, NULL, 11, "at most 12");
    refuses(s, tokens, NULL, SIZE_MAX, "at most 12");
    push(s, tokens, NULL, 0, NULL);
    assert_null(smx_state_open(r, 1, 21, &e));
    assert_non_null(strstr(e.message, "learned positions end at length=20"));
    assert_null(smx_state_open(r, 0, 5, &e));
    assert_null(smx_state_open(r, SIZE_MAX, SIZE_MAX, &e));
    // states of others, cut, changed
    size_t size;
    unsigned char *bytes = smx_state_save(s, &size, &e);
    assert_non_null(bytes);
    smx_run *other = opened("task=own&channels=0&vocab=9&classes=9&mixer=attention&position=none&length=20");
    assert_null(smx_state_load(other, bytes, size, &e));
    assert_non_null(strstr(e.message, "another model"));
    for (size_t n = 0; n < size; n += n < 80 ? 1 : 97) {
        unsigned char *cut = check_scratch(n);
        memcpy(cut, bytes, n);
        assert_null(smx_state_load(r, cut, n, &e));
    }
    for (size_t i = 0; i < size; i += i < 80 ? 1 : 97) {
        bytes[i] ^= 4;
        assert_null(smx_state_load(r, bytes, size, &e));
        bytes[i] ^= 4;
    }
    smx_run_state *again = smx_state_load(r, bytes, size, &e);
    assert_non_null(again);
    smx_state_close(again);
    // trained since
    const int32_t batch[20 * 32] = {0};
    assert_int_equal(smx_run_step_on(r, &(smx_batch){.tokens = batch, .targets = batch}, &e), 0);
    refuses(s, tokens, NULL, 1, "trained since");
    smx_run_state *copy = smx_state_copy(s, &e);
    assert_non_null(copy);
    refuses(copy, tokens, NULL, 1, "trained since");
    smx_state_close(copy);
    assert_null(smx_state_load(r, bytes, size, &e));
    assert_non_null(strstr(e.message, "other weights"));
    assert_null(smx_state_save(s, &size, &e));
    free(bytes);
    smx_state_close(s);
    smx_run_close(r);
    smx_run_close(other);
    r = opened("task=own&channels=2&mixer=gla&length=20");
    s = state_of(r, 1, 0);
    const float bad[2] = {0, NAN};
    push(s, NULL, values, 1, NULL);
    refuses(s, NULL, bad, 1, "NaN");
    refuses(s, tokens, NULL, 1, "input 0");
    refuses(s, NULL, values, SIZE_MAX / 8, "too many");
    smx_state_close(s);
    smx_run_close(r);
}

static void put(unsigned char *to, uint64_t value, size_t bytes) {
    for (size_t k = 0; k < bytes; k++) to[k] = (unsigned char)(value >> (8 * k));
}
static void not_loaded(smx_run *r, unsigned char *bytes, size_t size, const char *why) {
    smx_error e = {0};
    put(bytes + size - 8, hash_bytes(HASH_START, bytes, size - 8), 8);
    if (smx_state_load(r, bytes, size, &e) || !strstr(e.message, why))
        check_fail("%s; wanted: %s", *e.message ? e.message : "it was loaded", why);
}
// A file whose checksum fits may still say what no state is: the word or the float that is changed, and why
// it is refused. (A position beyond the room would be written to.)
static void sealed(void **unused) {
    (void)unused;
    enum { WORDS = 6, MOST = 40, ROWS = 7 };
    static const struct {
        size_t word;
        uint64_t value;
        const char *why;
    } edits[] = {{0, 2, "version 2"},
                 {2, 2, "belong to 2 sequences"},
                 {2, 0, "0 sequences"},
                 {2, (uint64_t)1 << 40, "for 1099511627776 sequences"},
                 {3, MOST + 100, "belong to 1 sequences"},
                 {3, MOST / 2, "belong to 1 sequences"},
                 {3, ROWS - 1, "has read 7 rows of at most 6"},
                 {3, 0, "memory grows"},
                 {4, MOST + 1, "has read 41 rows of at most 40"},
                 {4, UINT64_MAX, "of at most 40"},
                 {5, 1, "truncated"},
                 {WORDS, 0x7f800000, "no reading leaves"},
                 {WORDS, 0xffc00000, "no reading leaves"}};
    smx_error e = {0};
    smx_run *r = opened("task=own&channels=0&vocab=9&classes=9&mixer=attention&position=none&length=20");
    smx_run_state *s = state_of(r, 1, MOST);
    push(s, (int32_t[ROWS]){1, 2, 3, 4, 5, 6, 7}, NULL, ROWS, NULL);
    size_t size;
    unsigned char *bytes = smx_state_save(s, &size, &e), *edited = check_scratch(size + 4);
    assert_non_null(bytes);
    for (size_t i = 0; i < CHECK_COUNT(edits); i++) {
        memcpy(edited, bytes, size);
        put(edited + 8 + 8 * edits[i].word, edits[i].value, edits[i].word < WORDS ? 8 : 4);
        not_loaded(r, edited, size, edits[i].why);
    }
    for (size_t now = size - 4; now <= size + 4; now += 8) { // a float less, or more
        memcpy(edited, bytes, size);
        put(edited + 8 + 8 * (WORDS - 1), (now - 8 - 8 * WORDS - 8) / 4, 8);
        not_loaded(r, edited, now, "belong to 1 sequences");
    }
    free(bytes);
    smx_state_close(s);
    smx_run_close(r);
}

// What hangs on weights alone is computed once for all states: again after a step, whoever still has an older
// state.
// Version 0.1.0 hashed every setting of the model; a state of it is read. Any other word is another model's.
static void of_before(void **unused) {
    (void)unused;
    smx_error e = {0};
    size_t size;
    smx_run *r = smx_run_open("mixer=cat&task=mqar&length=16&pairs=2&width=8&filter=5", &e);
    smx_run_state *s = smx_state_open(r, 1, 16, &e);
    assert_non_null(s);
    unsigned char *bytes = smx_state_save(s, &size, &e);
    config *c = config_parse(smx_run_config(r), 0, &e);
    uint64_t h = smx_run_digest(r), now;
    for (size_t i = 0; i < c->n; i++) {
        const config_value *v = &c->values[i];
        if (!v->said || (strcmp(v->key->group, "model") && strcmp(v->key->group, "mixer"))) continue;
        h = hash_bytes(h, v->key->name, strlen(v->key->name) + 1);
        h = hash_bytes(h, v->text, strlen(v->text) + 1);
    }
    memcpy(&now, bytes + 16, 8);
    assert_true(now != h);
    for (uint64_t more = 0; more < 2; more++) {
        const uint64_t word = h + more;
        memcpy(bytes + 16, &word, 8);
        const uint64_t sum = hash_bytes(HASH_START, bytes, size - 8);
        memcpy(bytes + size - 8, &sum, 8);
        smx_run_state *again = smx_state_load(r, bytes, size, &e);
        if (more) assert_null(again);
        if (!more) assert_non_null(again);
        smx_state_close(again);
    }
    free(bytes);
    config_free(c);
    smx_state_close(s);
    smx_run_close(r);
}

static void trained_since(void **unused) {
    (void)unused;
    static const char *const texts[] = {"mixer=longconv", "mixer=hyena", "mixer=s4d", "mixer=mamba",
                                        "mixer=cat"};
    for (size_t i = 0; i < CHECK_COUNT(texts); i++) {
        enum { N = 20 };
        char text[128];
        snprintf(text, sizeof text, "%s&task=cumsum&length=%d&rate=0.1&warmup=0", texts[i], N);
        check_trying("%s", text);
        smx_run *r = opened(text);
        smx_error e;
        const reading w = whole_of(r, 1, N);
        float *of[3];
        smx_run_state *s[3];
        for (size_t k = 0; k < 3; k++) {
            s[k] = state_of(r, 1, N);
            push(s[k], NULL, w.values, N, of[k] = check_floats(N * w.V));
            if (k == 0) assert_int_equal(smx_run_step(r, 3, &e), 0);
            if (k == 1) smx_state_close(s[0]), smx_state_close(s[1]);
        }
        check_same("beside an older state", of[1], of[2], N * w.V);
        if (!memcmp(of[0], of[1], N * w.V * sizeof(float))) check_fail("three steps changed nothing");
        smx_state_close(s[2]);
        smx_run_close(r);
        check_done();
    }
}

// A thousand states on one run; weights and graph are there once.
static void thousand(void **unused) {
    (void)unused;
    smx_run *r = opened("task=charlm&mixer=gla&length=32");
    smx_run_state *s[1000];
    for (size_t i = 0; i < 1000; i++) s[i] = state_of(r, 1, 0);
    for (size_t i = 0; i < 1000; i++) push(s[i], &(int32_t){1}, NULL, 1, NULL);
    // What nodes keep, and the answers behind it, begin on lines of the cache.
    for (size_t i = 0; i < 1000; i++) assert_int_equal((uintptr_t)smx_state_answers(s[i]) % SMX_ALIGN, 0);
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < 1000; i++) push(s[i], &(int32_t){(int32_t)(i % 7 * 5)}, NULL, 1, NULL);
    for (size_t i = 7; i < 1000; i++)
        assert_memory_equal(smx_state_answers(s[i]), smx_state_answers(s[i % 7]), 256 * sizeof(float));
    assert_memory_not_equal(smx_state_answers(s[0]), smx_state_answers(s[1]), 256 * sizeof(float));
    for (size_t i = 0; i < 1000; i++) smx_state_close(s[i]);
    smx_run_close(r);
}

// Draws follow the odds (chi-squared), take only whom they may, and hang on seed and row only.
static void draws(void **unused) {
    (void)unused;
    smx_error e;
    smx_run *r = opened("task=own&channels=0&vocab=12&classes=12&mixer=gla&width=8&length=32");
    smx_run_state *s = state_of(r, 2, 0);
    int32_t token[2], same[2];
    assert_int_equal(smx_state_draw(s, &(smx_draw){1, 0, 1, 1}, token, &e), -1);
    push(s, (int32_t[]){3, 4}, NULL, 1, NULL);
    float odds[12];
    double sum = 0;
    assert_int_equal(smx_state_odds(s, 1, odds, &e), 0);
    size_t best = 0, count[12] = {0};
    for (size_t i = 0; i < 12; i++) sum += (double)odds[i], best = odds[i] > odds[best] ? i : best;
    assert_true(fabs(sum - 1) < 1e-6);
    enum { N = 20000 };
    for (uint64_t seed = 0; seed < N; seed++) {
        assert_int_equal(smx_state_draw(s, &(smx_draw){1, 0, 1, seed}, token, &e), 0);
        count[token[1]]++;
    }
    // Where both have read the same, the second draws with a seed what the first draws with the next one.
    smx_run_state *twins = state_of(r, 2, 0);
    push(twins, (int32_t[]){4, 4}, NULL, 1, NULL);
    size_t apart = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        assert_int_equal(smx_state_draw(twins, &(smx_draw){1, 0, 1, seed}, token, &e), 0);
        assert_int_equal(smx_state_draw(twins, &(smx_draw){1, 0, 1, seed + 1}, same, &e), 0);
        assert_int_equal(token[1], same[0]);
        apart += token[0] != token[1];
    }
    assert_true(apart > 150);
    smx_state_close(twins);
    double chi = 0;
    for (size_t i = 0; i < 12; i++)
        chi += pow((double)count[i] - N * (double)odds[i], 2) / (N * (double)odds[i]);
    if (chi > 38) check_fail("chi-squared %.1f of 11 degrees of freedom", chi); // 1 in 10,000 beyond
    size_t above = 0; // how many are likelier than each
    for (uint64_t seed = 0; seed < 300; seed++) {
        assert_int_equal(smx_state_draw(s, &(smx_draw){0, 0, 1, seed}, token, &e), 0);
        assert_int_equal(token[1], best);
        assert_int_equal(smx_state_draw(s, &(smx_draw){5, 3, 1, seed}, token, &e), 0);
        above = 0;
        for (size_t i = 0; i < 12; i++) above += odds[i] > odds[token[1]];
        assert_true(above < 3);
        assert_int_equal(smx_state_draw(s, &(smx_draw){1, 0, 0.4, seed}, token, &e), 0);
        double likelier = 0;
        for (size_t i = 0; i < 12; i++) likelier += odds[i] > odds[token[1]] ? (double)odds[i] : 0;
        assert_true(likelier < 0.4 + 1e-6);
    }
    // Of the likeliest that reach top_p together all, each in proportion to its odds.
    for (double top_p = 0.3; top_p < 0.9; top_p += 0.25) {
        double allowed[12], all = 0;
        size_t often[12] = {0};
        for (size_t i = 0; i < 12; i++) {
            double likelier = 0;
            for (size_t j = 0; j < 12; j++) likelier += odds[j] > odds[i] ? (double)odds[j] : 0;
            all += allowed[i] = likelier < top_p ? (double)odds[i] : 0;
        }
        for (uint64_t seed = 0; seed < N; seed++) {
            assert_int_equal(smx_state_draw(s, &(smx_draw){1, 0, top_p, seed}, token, &e), 0);
            often[token[1]]++;
        }
        for (size_t i = 0; i < 12; i++) {
            const double share = allowed[i] / all;
            if (fabs((double)often[i] - N * share) > 5 * sqrt(N * share * (1 - share)))
                check_fail("top_p=%g: token %zu came %zu times of %d, its share is %g", top_p, i, often[i], N,
                           share);
        }
    }
    // At temperature 2, in proportion to the roots of the odds.
    size_t often[12] = {0};
    double roots = 0;
    for (size_t i = 0; i < 12; i++) roots += sqrt((double)odds[i]);
    for (uint64_t seed = 0; seed < N; seed++) {
        assert_int_equal(smx_state_draw(s, &(smx_draw){2, 0, 1, seed}, token, &e), 0);
        often[token[1]]++;
    }
    for (size_t i = 0; i < 12; i++) {
        const double share = sqrt((double)odds[i]) / roots;
        if (fabs((double)often[i] - N * share) > 5 * sqrt(N * share * (1 - share)))
            check_fail("temperature=2: token %zu came %zu times of %d, its share is %g", i, often[i], N,
                       share);
    }
    static const smx_draw bad[] = {
        {-1, 0, 1, 0}, {NAN, 0, 1, 0}, {1, 0, 0, 0}, {1, 0, 1.5, 0}, {1, 0, NAN, 0}};
    for (size_t i = 0; i < CHECK_COUNT(bad); i++) assert_int_equal(smx_state_draw(s, &bad[i], token, &e), -1);
    smx_state_close(s);
    // Of tokens that are alike the first.
    const float zeros[8 * 12] = {0};
    assert_int_equal(smx_run_set_weight(r, "head", zeros, 8 * 12, &e), 0);
    assert_int_equal(smx_run_set_weight(r, "head_bias", zeros, 12, &e), 0);
    s = state_of(r, 2, 0);
    push(s, (int32_t[]){3, 4}, NULL, 1, NULL);
    size_t came[12] = {0};
    for (uint64_t seed = 0; seed < 300; seed++) {
        assert_int_equal(smx_state_draw(s, &(smx_draw){0, 0, 1, seed}, token, &e), 0);
        assert_int_equal(token[0], 0);
        assert_int_equal(smx_state_draw(s, &(smx_draw){1, 3, 1, seed}, token, &e), 0);
        came[token[0]]++;
    }
    assert_true(came[0] && came[1] && came[2] && came[0] + came[1] + came[2] == 300);
    smx_state_close(s);
    smx_run_close(r);
}

// Pieces of work in any order, a state that goes on under another instruction set: the same bits.
static void backwards(void *pool, size_t n, smx_piece work, void *context) {
    (void)pool;
    while (n-- > 0) work(context, n);
}
static void elsewhere(void **unused) {
    (void)unused;
    static const char *const texts[] = {"mixer=cat&blocks=2", "mixer=las&pool=masked&window=5",
                                        "mixer=gla",          "mixer=lincat",
                                        "mixer=mamba",        "mixer=lcat"};
    for (size_t i = 0; i < CHECK_COUNT(texts); i++) {
        char text[256];
        snprintf(text, sizeof text, "%s&task=charlm&heads=2&length=70&batch=1", texts[i]);
        smx_error e;
        size_t size = 0, isas = 0;
        void *bytes = NULL;
        for (const char *name; (name = smx_isa_name(isas)); isas++) {
            check_trying("%s", text);
            assert_int_equal(smx_isa_choose(name), 0);
            smx_run *r = opened(text);
            check_seed(7);
            const reading w = whole_of(r, 3, 70);
            smx_run_parallel(r, backwards, NULL);
            in_pieces(r, &w, 70, 70, 11, 0.0);
            smx_run_state *s = bytes ? smx_state_load(r, bytes, size, &e) : state_of(r, 3, 70);
            if (!s) check_fail("%s", e.message);
            smx_state_form form;
            smx_state_look(s, &form);
            const size_t at = (size_t)form.rows, count = 70 / 5;
            if (at + count <= 70) push(s, piece(&w, 70, at, count), NULL, count, NULL);
            if (at + count <= 70)
                for (size_t b = 0; b < 3; b++)
                    assert_memory_equal(smx_state_answers(s) + b * w.V,
                                        w.whole + (b * 70 + at + count - 1) * w.V, 4 * w.V);
            free(bytes);
            bytes = smx_state_save(s, &size, &e);
            smx_state_close(s);
            smx_run_close(r);
            check_done();
        }
        free(bytes);
        assert_int_equal(smx_isa_choose(smx_isa_name(0)), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mode), cmocka_unit_test(other_forms),   cmocka_unit_test(far),
        cmocka_unit_test(endless),    cmocka_unit_test(bad_input),     cmocka_unit_test(sealed),
        cmocka_unit_test(of_before),  cmocka_unit_test(trained_since), cmocka_unit_test(thousand),
        cmocka_unit_test(draws),      cmocka_unit_test(elsewhere),     cmocka_unit_test(scans),
        cmocka_unit_test(carried),
    };
    return cmocka_run_group_tests_name("reading_on", tests, NULL, NULL);
}
