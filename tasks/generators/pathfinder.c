// pathfinder.c: are two discs the ends of one dashed curve? After the recipe of Linsley, Kim, Veerabadran,
// Windolf & Serre (2018): two long curves that never touch, of dashes that turn a little each time, discs at
// two of their ends, and short curves besides. Discs on different curves are as far apart as the ends of one,
// so that the distance says nothing. The program's alone, not of the WebAssembly modules.
#include "tasks/util.h"

enum { SIDE = 32, PIXELS = SIDE * SIDE, DASHES_MAX = 9, SHORT_MAX = 64, POINTS = 3 };

typedef struct {
    size_t dashes, distractors;
    double continuity;
} pathfinder_settings;

typedef struct {
    double x, y;
} point;

typedef struct {
    smx_rng rng;
    point dash[2 * DASHES_MAX + SHORT_MAX * (DASHES_MAX / 3 + 1)][POINTS];
    size_t n;
    double continuity;
} drawing;

// Pixels: a dash, the gap behind it, the least distance of dashes that are not neighbours, what stays free at
// the border, a disc's radius.
static const double dash_length = 2, gap = 1, apart = 3.5, border = 1.5, radius = 1.5;

static double distance(point a, point b) {
    return md_sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
}
static point step(point from, double angle, double by) {
    double sine, cosine;
    md_sincos(&sine, &cosine, angle);
    return (point){from.x + by * cosine, from.y + by * sine};
}

// A dash from `from` on, unless it leaves the picture or comes too near to others. own: dashes of the same
// curve, at the end of the list, of which the last is a neighbour.
static int put_dash(drawing *d, point from, double angle, size_t own) {
    point p[POINTS];
    for (int i = 0; i < POINTS; i++) {
        p[i] = step(from, angle, dash_length * i / (POINTS - 1));
        if (p[i].x < border || p[i].x > SIDE - border || p[i].y < border || p[i].y > SIDE - border) return 0;
    }
    for (size_t k = 0; k < d->n; k++)
        for (int i = 0; i < POINTS; i++)
            for (int j = 0; j < POINTS; j++) {
                const int neighbour = own && k + 1 == d->n;
                if (distance(p[i], d->dash[k][j]) < (neighbour ? gap * 0.9 : apart)) return 0;
            }
    memcpy(d->dash[d->n++], p, sizeof p);
    return 1;
}

// A curve of `dashes` from `from` on, or none.
static int put_curve(drawing *d, point from, size_t dashes) {
    const size_t before = d->n;
    const double quarter = 1.5707963267948966;
    double angle = 4 * quarter * rng_uniform(&d->rng);
    for (size_t k = 0; k < dashes; k++) {
        int found = 0;
        for (int trial = 0; trial < 8 && !found; trial++) { // most turns are small
            const double turn =
                k ? (rng_uniform(&d->rng) - rng_uniform(&d->rng)) * quarter / d->continuity : 0;
            found = put_dash(d, k ? step(d->dash[d->n - 1][POINTS - 1], angle + turn / 2, gap) : from,
                             angle + turn, k);
            if (found) angle += turn;
            if (!k) break;
        }
        if (!found) {
            d->n = before;
            return 0;
        }
    }
    return 1;
}

static point anywhere(drawing *d) {
    const double x = SIDE * rng_uniform(&d->rng);
    return (point){x, SIDE * rng_uniform(&d->rng)};
}

static double from_dash(point p, const point *dash) {
    const point a = dash[0], b = dash[POINTS - 1];
    double along = ((p.x - a.x) * (b.x - a.x) + (p.y - a.y) * (b.y - a.y)) / (dash_length * dash_length);
    along = along < 0 ? 0 : along > 1 ? 1 : along;
    return distance(p, (point){a.x + along * (b.x - a.x), a.y + along * (b.y - a.y)});
}
static double ink(double inside) { return inside < 0 ? 0 : inside > 1 ? 1 : inside; }

static void pathfinder_generate(const smx_task_instance *in, uint64_t seed, uint32_t stream, uint64_t index,
                                smx_task_sample *sample) {
    const pathfinder_settings *s = in->data;
    drawing d = {.rng = rng_open(seed, stream, index), .continuity = s->continuity};
    const size_t one = s->dashes, both = 2 * s->dashes;
    point ends[2], other[2];
    // Two long curves, drawn until ends of different ones lie as far apart as those of the first.
    for (int alike = 0; !alike;) {
        d.n = 0;
        while (!put_curve(&d, anywhere(&d), one)) {
        }
        for (int trial = 0; trial < 16 && d.n == one; trial++) put_curve(&d, anywhere(&d), one);
        if (d.n == one) continue;
        const point tip[4] = {d.dash[0][0], d.dash[one - 1][POINTS - 1], d.dash[one][0],
                              d.dash[both - 1][POINTS - 1]};
        const uint32_t start = rng_below(&d.rng, 4);
        for (uint32_t k = start; k < start + 4 && !alike; k++) { // one tip of each
            memcpy(ends, tip, sizeof ends);
            other[0] = tip[k % 2];
            other[1] = tip[2 + k / 2 % 2];
            alike = md_abs(distance(other[0], other[1]) - distance(ends[0], ends[1])) < 1;
        }
    }
    for (size_t k = 0; k < s->distractors; k++)
        for (int trial = 0; trial < 4 && !put_curve(&d, anywhere(&d), (s->dashes + 2) / 3); trial++) {
        }
    const int joined = (int)rng_below(&d.rng, 2);
    for (size_t i = 0; i < PIXELS; i++) {
        const point p = {(double)(i % SIDE) + 0.5, (double)(i / SIDE) + 0.5};
        double most = 0;
        for (size_t k = 0; k < d.n; k++) {
            const double x = ink(1 - from_dash(p, d.dash[k]));
            if (x > most) most = x;
        }
        for (int e = 0; e < 2; e++) {
            const double x = ink(radius + 0.5 - distance(p, (joined ? ends : other)[e]));
            if (x > most) most = x;
        }
        sample->values[i] = (float)(2 * most - 1);
    }
    sample->targets[0] = joined;
}

static int pathfinder_open(smx_task_instance *in, const config *c, size_t length, smx_error *error) {
    if (length != PIXELS) return length_fail(error, length, "1024, the 32x32 pixels");
    in->length = length;
    in->vocab = 0;
    in->channels = 1;
    in->classes = 2;
    in->per_position = 0;
    in->max_targets = 1;
    pathfinder_settings *own = instance_data(in, sizeof *own, length, error);
    if (own) *own = *(const pathfinder_settings *)c->task;
    return own ? 0 : -1;
}

static const config_key pathfinder_keys[] = {
    INT_KEY("dashes", pathfinder_settings, dashes, "6", 2, DASHES_MAX, "of each of the two long curves",
            "task"),
    INT_KEY("distractors", pathfinder_settings, distractors, "8", 0, SHORT_MAX,
            "short curves besides, a third as long, where they find room", "task"),
    REAL_KEY("continuity", pathfinder_settings, continuity, "1.8", 1, 100,
             "a dash turns by at most 90 degrees divided by this", "task"),
    {0},
};

const smx_task task_pathfinder = {
    .name = "pathfinder",
    .title = "Pathfinder",
    .help = "Do the two discs lie at the ends of one dashed curve? 32x32 pixels, read as a sequence.",
    .source = "Linsley et al. (2018); Tay et al., Long Range Arena (2021)",
    .defaults = "length=1024&width=64&batch=16",
    .keys = pathfinder_keys,
    .settings = sizeof(pathfinder_settings),
    .open = pathfinder_open,
    .generate = pathfinder_generate,
};
