// digits.c: handwriting from skeletons: a digit's style is a few strokes through given points, joined by
// Catmull-Rom curves; every drawing moves the points, bends and slants the whole, and draws with its own pen,
// then fits it as MNIST's images are fitted (20 pixels in the larger direction, centre of mass in the middle
// of 28x28).
#include "digits.h"

enum { SIDE = 28, POINTS = 24, STEPS = 4, CURVE = POINTS * STEPS + POINTS, STYLES = 7 };

// How drawings vary, as standard deviations in units of the box unless said. Tuned so that what learns from
// these drawings alone reads MNIST's training images best.
static const double SHAKE = 0.05;                          // of a point
static const double LOOSE = 0.5;                           // of a point where a loop closes, of SHAKE
static const double STROKE = 0.04;                         // of a whole stroke
static const double BEND = 0.04;                           // of a slow sine across the digit
static const double GROW = 0.25;                           // of one half's growth at the other's cost
static const double ASPECT = 0.25;                         // of the logarithm of width against height
static const double LEAN = 0.12, SLANT = 0.3, TURN = 0.12; // mean slant, slant, turn in radians
static const double PEN = 1.05, PEN_VARIES = 0.35;         // its radius in pixels: mean, deviation
static const double SOFT = 1.2;                            // pixels: width of the edge

// Points "xxyy" in a box of 0..99 by 0..99, y downwards. '.' repeats the last point (a corner), '|' starts a
// stroke. The number is how often the style is drawn, out of the digit's sum.
typedef struct {
    int weight;
    const char *path;
} style;

static const style styles[10][STYLES] = {
    {
        {5, "5000 2015 0850 2085 5099 8085 9250 8015 5000"},
        {4, "7008 4002 1230 1070 4099 7885 9250 8215 5502 4008"},
        {2, "3010 1050 2590 6098 8870 8530 6005 3010 2030"},
        {2, "8020 5502 2015 0550 2088 5599 8580 9545 7510 3000"},
        {2, "6508 3502 1230 1070 4099 7885 9250 8020 6008 4512 3528"},
    },
    {
        {14, "5000 5033 5066 5099"},
        {3, "3022 5500 . 5550 5599"},
        {1, "3022 5500 . 5550 5599 | 2599 8599"},
    },
    {
        {4, "1225 2505 5500 8215 8040 5070 1098 . 5097 9597"},
        {4, "1022 3003 6502 8522 7550 4085 1595 0885 2075 4585 7097 9592"},
        {3, "1518 4500 8015 7545 3580 0597 . 4088 7096 9888"},
        {2, "2010 6000 8020 7055 4590 1599 0580 2568 5580 9098"},
        {2, "1015 5000 8012 7040 5065 2595 . 6090 9997"},
    },
    {
        {4, "1212 4000 7508 8225 6542 3848 . 7053 8872 7592 4099 0888"},
        {1, "1204 8004 . 4542 . 7550 8872 7095 3599 0886"},
        {4, "1515 5000 8018 6045 4248 6050 8572 6098 1090"},
        {2, "1512 5500 8515 6540 4045 3042 4540 7555 8578 5599 1085"},
        {3, "2010 5500 7518 6038 3848 . 6550 8270 6595 2599 0585"},
        {2, "1005 5000 8010 7035 4045 . 7550 9575 6599 0595"},
    },
    {
        {3, "1505 0855 . 9052 | 7500 7050 6899"},
        {3, "2202 1035 2058 5060 8050 | 8205 7260 6899"},
        {1, "6500 . 0565 . 9565 | 6800 6599"},
        {3, "1505 0850 3060 7548 . 8005 . 7550 6899"},
        {2, "3000 1055 . 9545 | 6520 5560 5099"},
    },
    {
        {3, "8504 2804 . 2045 . 5038 8252 8578 5599 1090"},
        {4, "3004 2245 . 5540 8560 7592 4099 0888 | 3004 9002"},
        {3, "8805 4508 2530 4048 7560 8085 4599 1092"},
        {4, "3020 2052 . 5048 7065 5592 2098 0588 | 3020 6515 9902"},
        {2, "9900 4015 3018 2548 . 5550 6575 4598 1592"},
    },
    {
        {3, "7000 3525 1265 2595 6098 8078 6558 3560 1265"},
        {3, "5500 2535 1575 4099 7585 7262 4558 1575"},
        {3, "8005 4015 1255 2092 6099 8875 7050 3552 1872"},
        {2, "3500 1540 0878 3099 7595 9075 7060 4065 2085"},
    },
    {
        {5, "0808 8505 . 6050 4099"},
        {3, "0822 1006 . 8804 . 6045 4299"},
        {4, "0808 8505 . 6050 4099 | 2552 8548"},
        {3, "1015 3503 6008 9002 . 6540 4899"},
        {2, "1025 1208 5005 8508 7545 5599"},
    },
    {
        {4, "8015 5000 2215 3038 6558 8280 5099 1882 3558 7035 8015"},
        {2, "5000 2512 2538 5048 7538 7512 5000 | 5048 1862 1888 5099 8288 8262 5048"},
        {3, "8508 5002 2020 4545 7568 7092 4099 2085 3560 6538 9215"},
        {3, "7010 4000 1518 3540 6562 7085 5099 3085 4560 7040 9512"},
    },
    {
        {4, "8015 5000 1820 2245 5052 7832 8015 . 7855 7299"},
        {3, "7815 4500 1522 2548 6045 7815 8255 6590 2598"},
        {3, "7520 4502 1828 4050 7032 7520 7050 5599"},
        {2, "8510 4003 0825 2550 6545 9012 . 7050 5099"},
        {3, "8025 7505 4500 1522 2548 6042 8025 . 7550 6599"},
        {2, "5503 2510 1535 4050 7530 8003 . 7450 6599"},
    },
};

typedef struct {
    double x, y;
} point;

// The points of a path; first[i] marks the first of a stroke. Returns their number.
static int read_path(point *p, uint8_t *first, const char *path) {
    int n = 0, start = 1;
    for (const char *s = path; *s;) {
        if (*s == ' ') {
            s++;
        } else if (*s == '|') {
            start = 1;
            s++;
        } else if (*s == '.') {
            p[n] = p[n - 1];
            first[n++] = 0;
            s++;
        } else {
            p[n] =
                (point){((s[0] - '0') * 10 + (s[1] - '0')) / 99.0, ((s[2] - '0') * 10 + (s[3] - '0')) / 99.0};
            first[n++] = (uint8_t)start;
            start = 0;
            s += 4;
        }
    }
    return n;
}

static double spline(double a, double b, double c, double d, double t) {
    return 0.5 *
           (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t + (3 * (b - c) + d - a) * t * t * t);
}

// The curve through the points of all strokes; begins[i] marks the first vertex of a stroke. Returns their
// number.
static int trace(point *curve, uint8_t *begins, const point *p, const uint8_t *first, int n) {
    int m = 0;
    for (int i = 0; i < n; i++) {
        if (first[i]) {
            begins[m] = 1;
            curve[m++] = p[i];
        }
        if (i + 1 == n || first[i + 1]) continue;
        point a = first[i] ? p[i] : p[i - 1], d = i + 2 == n || first[i + 2] ? p[i + 1] : p[i + 2];
        for (int k = 1; k <= STEPS; k++) {
            double t = k / (double)STEPS;
            begins[m] = 0;
            curve[m++] =
                (point){spline(a.x, p[i].x, p[i + 1].x, d.x, t), spline(a.y, p[i].y, p[i + 1].y, d.y, t)};
        }
    }
    return m;
}

static double limit(double x, double low, double high) {
    x = low > x ? low : x; // an instruction each, no branch
    return high < x ? high : x;
}

// Two pixels side by side.
typedef double two __attribute__((vector_size(16)));
typedef int64_t which __attribute__((vector_size(16)));

static two choose(which of, two a, two b) { return (two)((of & (which)a) | (~of & (which)b)); }

// Ink of the segment a-b with a round pen of this radius: how deep each pixel lies in it, from its edge's
// middle, or in what is deeper there. The edge is SOFT pixels wide; pixels beyond it stay as they are.
static void ink(two paper[SIDE][SIDE / 2], point a, point b, double radius) {
    double reach = radius + SOFT / 2, dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    double per_length2 = length2 > 0 ? 1 / length2 : 0;
    int x0 = (int)limit(md_floor((a.x < b.x ? a.x : b.x) - reach), 0, SIDE - 1) / 2;
    int x1 = (int)limit(md_floor((a.x > b.x ? a.x : b.x) + reach), 0, SIDE - 1) / 2;
    int y0 = (int)limit(md_floor((a.y < b.y ? a.y : b.y) - reach), 0, SIDE - 1);
    int y1 = (int)limit(md_floor((a.y > b.y ? a.y : b.y) + reach), 0, SIDE - 1);
    const two none = {0, 0}, one = {1, 1};
    for (int y = y0; y <= y1; y++)
        for (int x = x0; x <= x1; x++) {
            double py = y + 0.5 - a.y;
            two px = (two){2 * x + 0.5, 2 * x + 1.5} - a.x, *at = &paper[y][x];
            two t = (px * dx + py * dy) * per_length2;
            t = choose(t < none, none, t);
            t = choose(t > one, one, t);
            two ex = px - t * dx, ey = py - t * dy, d2 = ex * ex + ey * ey;
            two depth = radius - (two){md_sqrt(d2[0]), md_sqrt(d2[1])};
            depth = choose(d2 < reach * reach, depth, *at);
            *at = choose(depth > *at, depth, *at);
        }
}

static double vary(smx_rng *rng, double deviation) { return deviation * rng_normal(rng); }

// A style of this digit, in proportion to its weight.
static const char *pick_style(smx_rng *rng, const style *s, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += s[i].weight;
    int pick = (int)rng_below(rng, (uint32_t)sum);
    while (pick >= s->weight) pick -= s++->weight;
    return s->path;
}

// Every stroke moves a little and every point a little: a corner as one, and where a stroke comes back to a
// point it passed, nearly with that one, so that loops close.
static void move_points(point *p, const uint8_t *first, int n, smx_rng *rng) {
    double shake = SHAKE * md_exp(vary(rng, 0.4));
    point was[POINTS], stroke = {0, 0};
    for (int i = 0, next; i < n; i = next) {
        if (first[i]) {
            stroke.x = vary(rng, STROKE);
            stroke.y = vary(rng, STROKE);
        }
        double spread = shake;
        point old = p[i], by = stroke;
        for (int j = 0; j < i; j++)
            if (was[j].x == old.x && was[j].y == old.y) {
                by = (point){p[j].x - old.x, p[j].y - old.y};
                spread = LOOSE * shake;
            }
        by.x += vary(rng, spread);
        by.y += vary(rng, spread);
        next = i;
        do {
            was[next] = old;
            p[next++] = (point){old.x + by.x, old.y + by.y};
        } while (next < n && !first[next] && p[next].x == old.x && p[next].y == old.y);
    }
}

// Bends the curve along slow sines, lets one half of it grow at the other's cost, then sets width against
// height, slant and turn.
static void shape(point *curve, int n, int digit, smx_rng *rng) {
    double bend_x = vary(rng, BEND), bend_y = vary(rng, BEND);
    double phase_x = 6.28 * rng_uniform(rng), phase_y = 6.28 * rng_uniform(rng);
    double grow_x = limit(vary(rng, GROW), -0.9, 0.9), grow_y = limit(vary(rng, GROW), -0.9, 0.9);
    double aspect = (digit == 1 ? 0.6 : digit == 0 ? 0.82 : 0.76) * md_exp(vary(rng, ASPECT));
    double slant = LEAN + vary(rng, digit == 1 ? 1.3 * SLANT : SLANT),
           turn = limit(vary(rng, TURN), -0.6, 0.6);
    double sine, cosine, wave_x, wave_y, unused;
    md_sincos(&sine, &cosine, turn);
    for (int i = 0; i < n; i++) {
        double u = curve[i].x, v = curve[i].y;
        u += grow_x * u * (1 - u);
        v += grow_y * v * (1 - v);
        md_sincos(&wave_x, &unused, 5 * v + phase_x);
        md_sincos(&wave_y, &unused, 5 * u + phase_y);
        double y = v + bend_y * wave_y - 0.5, x = (u + bend_x * wave_x - 0.5) * aspect - slant * y;
        curve[i] = (point){cosine * x - sine * y, sine * x + cosine * y};
    }
}

// As MNIST's images are: the larger side 20 pixels with the pen's width, the centre of the ink at (14, 14).
static void fit(point *curve, const uint8_t *begins, int n, double radius) {
    point low = curve[0], high = curve[0], centre = {0, 0};
    double weight = 0;
    for (int i = 0; i < n; i++) {
        low.x = curve[i].x < low.x ? curve[i].x : low.x;
        low.y = curve[i].y < low.y ? curve[i].y : low.y;
        high.x = curve[i].x > high.x ? curve[i].x : high.x;
        high.y = curve[i].y > high.y ? curve[i].y : high.y;
        if (begins[i]) continue;
        double dx = curve[i].x - curve[i - 1].x, dy = curve[i].y - curve[i - 1].y,
               l = md_sqrt(dx * dx + dy * dy);
        centre.x += l * (curve[i].x + curve[i - 1].x) / 2;
        centre.y += l * (curve[i].y + curve[i - 1].y) / 2;
        weight += l;
    }
    double extent = high.x - low.x > high.y - low.y ? high.x - low.x : high.y - low.y;
    double scale = (20 - 2 * radius) / extent;
    for (int i = 0; i < n; i++)
        curve[i] = (point){14 + scale * (curve[i].x - centre.x / weight),
                           14 + scale * (curve[i].y - centre.y / weight)};
}

void digits_draw(uint8_t *pixels, smx_rng *rng, int digit) {
    point p[POINTS], curve[CURVE];
    uint8_t first[POINTS], begins[CURVE];
    int n = read_path(p, first, pick_style(rng, styles[digit], STYLES));
    move_points(p, first, n, rng);
    n = trace(curve, begins, p, first, n);
    shape(curve, n, digit, rng);
    double radius = limit(PEN + vary(rng, PEN_VARIES), 0.6, 2.4), swell = vary(rng, 0.15);
    fit(curve, begins, n, radius);
    two paper[SIDE][SIDE / 2];
    double *depth = (double *)paper;
    for (int i = 0; i < SIDE * SIDE; i++) depth[i] = -SIDE;
    for (int i = 1; i < n; i++)
        if (!begins[i]) ink(paper, curve[i - 1], curve[i], radius * (1 + swell * (i / (double)n - 0.5)));
    for (int i = 0; i < SIDE * SIDE; i++) { // edges are rough, full ink and bare paper are not
        pixels[i] = 0;
        if (depth[i] < -SOFT) continue;
        double v = limit(depth[i] * (1 / SOFT) + 0.5, 0, 1);
        if (v > 0 && v < 1) v = limit(v + 0.1 * (rng_uniform(rng) - 0.5), 0, 1);
        pixels[i] = (uint8_t)(255 * v + 0.5);
    }
}
