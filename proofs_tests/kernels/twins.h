// twins.h: a kernel whose row in kernels/kernels.txt says `twin` is held, in each of its cases, to the
// function of ref/ that has its name and its arguments, in double; and that function, where it is a gradient,
// to differences of its forward pass. Arrays of both signs are drawn as ulp_in draws them. Terms: what the
// twin makes of absolute values (of those of dy, where it is a gradient). Included by ulp_cases.h.
static void twin_called(const void *of_kernel, void *of_run);
#define CALL(k, r) twin_called(k, r)
#define TWINS_ALONE
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" // (the calls of other kernels)
#include "kernels/digest.c"
#pragma GCC diagnostic pop

static struct {
    const char *name;
    double *is, *terms;
} twin_arrays[2 * MOST_NAMES]; // of the case: as the twin has them, and absolute values
static size_t twin_count;
static int twin_of_terms;
static size_t twin_at(const char *name) {
    size_t i = 0;
    while (i < twin_count && !same(twin_arrays[i].name, name)) i++;
    return i;
}
static double *twin_doubles(const char *name) {
    const size_t i = twin_at(name);
    return i == twin_count ? NULL : twin_of_terms ? twin_arrays[i].terms : twin_arrays[i].is;
}
static void twin_add(const char *name, double *is, double *terms) {
    const size_t i = twin_at(name);
    if (i == twin_count) twin_count++;
    assert(i < CHECK_COUNT(twin_arrays));
    twin_arrays[i].name = name, twin_arrays[i].is = is, twin_arrays[i].terms = terms;
}

#undef FLOATS
#undef REAL
#define FLOATS(name) twin_doubles(#name)
#define REAL(name, missing) ((double)(float)number(r, #name, missing))
#define SMX_TWIN(name, scale, handed)                                                                        \
    static void twin_##name(run *r) {                                                                        \
        (void)r;                                                                                             \
        ref_##name handed;                                                                                   \
    }
#include "build/kernels.def"
typedef struct {
    const char *name, *scale;
    void (*call)(run *);
} twin;
static const twin twins[] = {
#define SMX_TWIN(name, scale, handed) {#name, #scale, twin_##name},
#include "build/kernels.def"
    {NULL, NULL, NULL}};
static const twin *twin_of(const char *name) {
    const twin *t = twins;
    while (t->name && !same(t->name, name)) t++;
    return t->name ? t : NULL;
}

static double *twin_gradient(const char *name) { // d<name>, NULL where there is none
    char own[24] = "d";
    return twin_doubles(strncat(own, name, sizeof own - 2));
}
// <dy, y> of the forward pass, its inputs moved along `directions`.
static double twin_moved(run *r, const kernel *forward, double move, double *const *directions) {
    double *kept[MOST_NAMES], sum = 0;
    const part *const own = parts + forward->parts;
    for (size_t i = 0; own[i].mark; i++) {
        const size_t n = count(r, texts + own[i].shape), at = twin_at(texts + own[i].name);
        kept[i] = twin_arrays[at].is;
        if (!directions[i]) continue;
        twin_arrays[at].is = check_doubles(n);
        for (size_t j = 0; j < n; j++) twin_arrays[at].is[j] = kept[i][j] + move * directions[i][j];
    }
    twin_of(forward->name)->call(r);
    for (size_t i = 0; own[i].mark; i++) {
        const double *y = twin_doubles(texts + own[i].name), *dy = twin_gradient(texts + own[i].name);
        if (own[i].mark == '>' && dy) sum += check_inner(dy, y, count(r, texts + own[i].shape));
        twin_arrays[twin_at(texts + own[i].name)].is = kept[i];
    }
    return sum;
}
static void twin_slope(run *r, const kernel *back, const kernel *forward) {
    double *directions[MOST_NAMES] = {NULL}, along = 0, size = 0;
    const double h = 1e-5;
    for (const part *p = parts + back->parts; p->mark; p++)
        if (p->mark == '+')
            memset(twin_doubles(texts + p->name), 0, count(r, texts + p->shape) * sizeof(double));
    twin_of(back->name)->call(r);
    for (size_t i = 0; parts[forward->parts + i].mark; i++) {
        const part p = parts[forward->parts + i];
        const size_t n = count(r, texts + p.shape);
        const double *dx = twin_gradient(texts + p.name);
        if (!twin_doubles(texts + p.name))
            twin_add(texts + p.name, check_widen(check_random(n, -1, 1), n), NULL);
        if (p.mark == '>' || !dx) continue;
        directions[i] = check_doubles(n);
        for (size_t j = 0; j < n; j++) {
            directions[i][j] = check_uniform(-1, 1);
            along += directions[i][j] * dx[j];
            size += fabs(directions[i][j] * dx[j]);
        }
    }
    const double up = twin_moved(r, forward, h, directions), down = twin_moved(r, forward, -h, directions),
                 slope = (up - down) / (2 * h);
    if (!(fabs(slope - along) <= 1e-6 * size))
        check_fail("ref_%s: slope %.9g, gradient along it %.9g, allowed difference %.3g", back->name, slope,
                   along, 1e-6 * size);
}

// What the run holds, for the twin; results begin at 0.
static void twin_inputs(const kernel *k, run *r) {
    int gradient = 0;
    for (const part *p = parts + k->parts; p->mark; p++) gradient |= p->mark == '-' && texts[p->name] == 'd';
    for (const part *p = parts + k->parts; p->mark; p++) {
        const char *name = texts + p->name;
        float *x = floats(r, name);
        const size_t n = count(r, texts + p->shape);
        if (!x || p->mark == '#') continue;
        double *is = twin_doubles(name); // of the kernel that was called before
        int both = 0;
        for (size_t i = 0; i < n; i++) both |= x[i] < 0;
        if (p->mark == '>')
            memset(x, 0, n * sizeof *x);
        else if (!is && both && ulp_kind != ULP_RANDOM)
            memcpy(x, ulp_in(n), n * sizeof *x);
        else if (!is) // its words end in zeros
            for (size_t i = 0; i < n; i++) x[i] *= (float)check_uniform(0.5, 1);
        if (!is) is = ulp_wide(x, n);
        double *terms = check_doubles(n);
        for (size_t i = 0; i < n; i++) terms[i] = gradient && *name != 'd' ? is[i] : fabs(is[i]);
        twin_add(name, is, terms);
    }
}
static const char *twin_measured; // the kernel; another is called for what it saves
static void twin_called(const void *of_kernel, void *of_run) {
    const kernel *k = of_kernel;
    run *r = of_run;
    const twin *t = twin_of(k->name);
    if (!t) check_fail("%s is called by the cases of %s, and its row says no twin", k->name, twin_measured);
    twin_inputs(k, r);
    k->call(r);
    t->call(r);
    if (!same(k->name, twin_measured)) return;
    if (same(t->scale, "terms")) twin_of_terms = 1, t->call(r), twin_of_terms = 0;
    for (const part *p = parts + k->parts; p->mark; p++) {
        if (p->mark != '>' && p->mark != '+' && p->mark != '&') continue;
        const float *got = floats(r, texts + p->name);
        const size_t n = count(r, texts + p->shape), at = twin_at(texts + p->name);
        if (same(t->scale, "terms"))
            ulp_terms(got, twin_arrays[at].is, twin_arrays[at].terms, n);
        else if (same(t->scale, "each"))
            ulp_each(got, twin_arrays[at].is, n);
        else
            ulp_array(got, twin_arrays[at].is, n);
    }
    char forward[64] = "";
    strncat(forward, k->name, sizeof forward - 1);
    char *end = strstr(forward, "_bwd");
    if (end) memcpy(end, "_fwd", 4);
    if (end && twin_of(forward) && ulp_kind == ULP_RANDOM) twin_slope(r, k, kernel_of(forward));
    twin_count = 0; // the next case
}
static void twin_sink(void *context, const char *what, const void *words, size_t n) {
    (void)context, (void)what, (void)words, (void)n;
}
static void twin_measure(const char *name) {
    twin_measured = name;
    twin_count = 0;
    if (smx_digest_run((size_t)(kernel_of(name) - kernels), check_next(), &(smx_digest_memory){0, 0, 0},
                       twin_sink, NULL))
        check_fail("%s: its cases do not run", name);
}
#define SMX_TWIN(name, scale, handed)                                                                        \
    static void ulp_##name(void) { twin_measure(#name); }
#include "build/kernels.def"
