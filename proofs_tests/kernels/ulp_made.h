// ulp_made.h: the error of a kernel whose row says `ulp made`: in each of its cases (kernels/digest.c),
// arrays of both signs drawn as ulp_in draws them, it is held to the function of ref/ with its name and
// its arguments. Where the scale is the sum of terms, a gradient's is what the twin makes of |dy|,
// another's of all absolute values. Included by ulp_cases.h.
static void ulp_called(const void *k, void *r);
#define CALL(k, r) ulp_called(k, r)
#include "kernels/digest.c"

static struct {
    const char *name;
    double *wide, *terms; // as the twin has it; what it is handed for the sum of terms
} ulp_arrays[MOST_NAMES];
static size_t ulp_n_arrays;
static int ulp_of_terms;

static double *ulp_doubles(const char *name) {
    for (size_t i = 0; i < ulp_n_arrays; i++)
        if (same(ulp_arrays[i].name, name)) return ulp_of_terms ? ulp_arrays[i].terms : ulp_arrays[i].wide;
    return NULL;
}
#undef FLOATS
#undef REAL
#define FLOATS(name) ulp_doubles(#name)
#define REAL(name, missing) ((double)(float)number(r, #name, missing))
#define SMX_TWIN(name, scale, handed)                                                                        \
    static void twin_##name(run *r) {                                                                        \
        (void)r;                                                                                             \
        ref_##name handed;                                                                                   \
    }
#include "build/kernels.def"
static const struct {
    const char *name, *scale;
    void (*call)(run *);
} ulp_twins[] = {
#define SMX_TWIN(name, scale, handed) {#name, #scale, twin_##name},
#include "build/kernels.def"
    {NULL, NULL, NULL}};

static const char *ulp_held; // the kernel that is measured
static void ulp_called(const void *kernel_called, void *of_run) {
    const kernel *k = kernel_called;
    run *r = of_run;
    size_t twin = 0;
    while (ulp_twins[twin].name && !same(ulp_twins[twin].name, k->name)) twin++;
    if (!ulp_twins[twin].name) {
        k->call(r);
        return;
    }
    int gradient = 0;
    for (const part *p = parts + k->parts; p->mark; p++) gradient |= p->mark == '-' && texts[p->name] == 'd';
    for (const part *p = parts + k->parts; p->mark; p++) {
        const char *name = texts + p->name;
        float *x = floats(r, name);
        const size_t n = count(r, texts + p->shape);
        if (!x || p->mark == '#') continue;
        double *wide = ulp_doubles(name); // of the kernel that was called before
        if (!wide) {
            int both = 0;
            for (size_t i = 0; i < n; i++) both |= x[i] < 0;
            if (p->mark == '>')
                memset(x, 0, n * sizeof *x);
            else if (both && ulp_kind != ULP_RANDOM)
                memcpy(x, ulp_in(n), n * sizeof *x);
            wide = ulp_wide(x, n);
            ulp_arrays[ulp_n_arrays].name = name;
            ulp_arrays[ulp_n_arrays++].wide = wide;
        }
        double *terms = check_doubles(n);
        for (size_t i = 0; i < n; i++) terms[i] = gradient && *name != 'd' ? wide[i] : fabs(wide[i]);
        for (size_t i = 0; i < ulp_n_arrays; i++)
            if (same(ulp_arrays[i].name, name)) ulp_arrays[i].terms = terms;
    }
    k->call(r);
    ulp_twins[twin].call(r);
    if (!same(k->name, ulp_held)) return;
    const char *scale = ulp_twins[twin].scale;
    if ((ulp_of_terms = same(scale, "terms"))) ulp_twins[twin].call(r);
    for (const part *p = parts + k->parts; p->mark; p++) {
        if (p->mark != '>' && p->mark != '+' && p->mark != '&') continue;
        const float *got = floats(r, texts + p->name);
        const size_t n = count(r, texts + p->shape);
        const double *terms = ulp_doubles(texts + p->name);
        ulp_of_terms = 0;
        const double *want = ulp_doubles(texts + p->name);
        ulp_of_terms = same(scale, "terms");
        if (ulp_of_terms)
            ulp_terms(got, want, terms, n);
        else if (same(scale, "each"))
            ulp_each(got, want, n);
        else
            ulp_array(got, want, n);
    }
    ulp_of_terms = 0;
    ulp_n_arrays = 0; // the next case
}
static void ulp_no_sink(void *context, const char *what, const void *words, size_t n) {
    (void)context, (void)what, (void)words, (void)n;
}
static void ulp_made(const char *name) {
    size_t i = 0;
    while (!same(kernels[i].name, name)) i++;
    ulp_held = name;
    ulp_n_arrays = 0;
    if (smx_digest_run(i, check_next(), &(smx_digest_memory){0, 0, 0}, ulp_no_sink, NULL))
        check_fail("%s: its cases do not run", name);
}
#define SMX_TWIN(name, scale, handed)                                                                        \
    static void ulp_##name(void) { ulp_made(#name); }
#include "build/kernels.def"
