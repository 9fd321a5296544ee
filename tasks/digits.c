// digits.c: handwriting from skeletons: a digit's style is a few strokes through given points, joined by
// Catmull-Rom curves; every drawing moves the points, bends and slants the whole, and draws with its own pen,
// then fits it as MNIST's images are fitted (20 pixels in the larger direction, centre of mass in the middle
// of 28x28).
#include "digits.h"

#include <string.h>

enum { SIDE = 28, POINTS = 24, STEPS = 6, CURVE = POINTS * STEPS + POINTS };

// Points "xxyy" in a box of 0..99 by 0..99, y downwards. '.' repeats the last point (a corner), '|' starts a
// stroke. The number is how often the style is drawn, out of the digit's sum.
typedef struct {
    int weight;
    const char *path;
} style;

static const style styles[10][5] = {
    {
        {5, "5000 2015 0850 2085 5099 8085 9250 8015 5000"},
        {4, "7008 4002 1230 1070 4099 7885 9250 8215 5502 4008"},
        {2, "3010 1050 2590 6098 8870 8530 6005 3010 2030"},
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
    },
    {
        {4, "1212 4000 7508 8225 6542 3848 . 7053 8872 7592 4099 0888"},
        {1, "1204 8004 . 4542 . 7550 8872 7095 3599 0886"},
        {4, "1515 5000 8018 6045 4248 6050 8572 6098 1090"},
    },
    {
        {3, "1505 0855 . 9052 | 7500 7050 6899"},
        {3, "2202 1035 2058 5060 8050 | 8205 7260 6899"},
        {1, "6500 . 0565 . 9565 | 6800 6599"},
        {3, "1505 0850 3060 7548 . 8005 . 7550 6899"},
    },
    {
        {3, "8504 2804 . 2045 . 5038 8252 8578 5599 1090"},
        {4, "3004 2245 . 5540 8560 7592 4099 0888 | 3004 9002"},
        {3, "8805 4508 2530 4048 7560 8085 4599 1092"},
    },
    {
        {3, "7000 3525 1265 2595 6098 8078 6558 3562 1580"},
        {3, "5500 2535 1575 4099 7585 7262 4558 2075"},
        {3, "8005 4015 1255 2092 6099 8875 7050 3552 1472"},
    },
    {
        {5, "0808 8505 . 6050 4099"},
        {3, "0822 1006 . 8804 . 6045 4299"},
        {1, "0808 8505 . 6050 4099 | 3052 8048"},
        {3, "1015 3503 6008 9002 . 6540 4899"},
    },
    {
        {4, "8015 5000 2215 3038 6558 8280 5099 1882 3558 7035 8015"},
        {2, "5000 2512 2538 5048 7538 7512 5000 | 5048 1862 1888 5099 8288 8262 5048"},
        {3, "8508 5002 2020 4545 7568 7092 4099 2085 3560 6538 9215"},
    },
    {
        {4, "8018 5000 1820 2245 5052 7832 8208 . 7855 7299"},
        {3, "7815 4500 1522 2548 6045 8018 8255 6590 2598"},
        {3, "7520 4502 1828 4050 7032 7810 7050 5599"},
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

static double limit(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

// Ink of the segment a-b with a round pen of this radius: full inside, falling to 0 over `soft` pixels at the
// edge.
static void ink(double *paper, point a, point b, double radius, double soft) {
    double reach = radius + soft, dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    int x0 = (int)limit(md_floor((a.x < b.x ? a.x : b.x) - reach), 0, SIDE - 1);
    int x1 = (int)limit(md_floor((a.x > b.x ? a.x : b.x) + reach), 0, SIDE - 1);
    int y0 = (int)limit(md_floor((a.y < b.y ? a.y : b.y) - reach), 0, SIDE - 1);
    int y1 = (int)limit(md_floor((a.y > b.y ? a.y : b.y) + reach), 0, SIDE - 1);
    for (int y = y0; y <= y1; y++)
        for (int x = x0; x <= x1; x++) {
            double px = x + 0.5 - a.x, py = y + 0.5 - a.y;
            double t = length2 > 0 ? limit((px * dx + py * dy) / length2, 0, 1) : 0;
            double ex = px - t * dx, ey = py - t * dy, d2 = ex * ex + ey * ey;
            if (d2 >= reach * reach) continue;
            double level = limit((radius - md_sqrt(d2)) / soft + 0.5, 0, 1);
            if (level > paper[y * SIDE + x]) paper[y * SIDE + x] = level;
        }
}

void digits_draw(uint8_t *pixels, smx_rng *rng, int digit) {
    const style *s = styles[digit];
    int sum = 0;
    for (int i = 0; i < 5; i++) sum += s[i].weight;
    for (int pick = (int)rng_below(rng, (uint32_t)sum); pick >= s->weight; s++) pick -= s->weight;
    point p[POINTS], curve[CURVE];
    uint8_t first[POINTS], begins[CURVE];
    int n = read_path(p, first, s->path);

    // Elastic: every point moves a little (a corner as one), then everything bends along a slow sine.
    double shake = 0.035 * md_exp(0.4 * rng_normal(rng));
    for (int i = 0; i < n; i++) {
        if (i > 0 && !first[i] && p[i].x == p[i - 1].x && p[i].y == p[i - 1].y) continue;
        point old = p[i], moved = {old.x + shake * rng_normal(rng), old.y + shake * rng_normal(rng)};
        int j = i;
        do p[j++] = moved;
        while (j < n && !first[j] && p[j].x == old.x && p[j].y == old.y);
        i = j - 1;
    }
    int m = trace(curve, begins, p, first, n);
    double bend_x = 0.04 * rng_normal(rng), bend_y = 0.03 * rng_normal(rng),
           phase_x = 6.28 * rng_uniform(rng);
    double phase_y = 6.28 * rng_uniform(rng);

    // Affine: width against height, slant, turn.
    double aspect = (digit == 1 ? 0.6 : 0.72) * md_exp(0.2 * rng_normal(rng));
    double slant = 0.12 + 0.25 * rng_normal(rng), turn = 0.10 * rng_normal(rng), sine, cosine;
    md_sincos(&sine, &cosine, limit(turn, -0.6, 0.6));
    point low = {1e9, 1e9}, high = {-1e9, -1e9};
    for (int i = 0; i < m; i++) {
        double s_x, s_y, unused;
        md_sincos(&s_x, &unused, 5 * curve[i].y + phase_x);
        md_sincos(&s_y, &unused, 5 * curve[i].x + phase_y);
        double x = (curve[i].x + bend_x * s_x - 0.5) * aspect, y = curve[i].y + bend_y * s_y - 0.5;
        x -= slant * y;
        curve[i] = (point){cosine * x - sine * y, sine * x + cosine * y};
        low.x = curve[i].x < low.x ? curve[i].x : low.x;
        low.y = curve[i].y < low.y ? curve[i].y : low.y;
        high.x = curve[i].x > high.x ? curve[i].x : high.x;
        high.y = curve[i].y > high.y ? curve[i].y : high.y;
    }

    // The pen, and the fit: larger side 20 pixels with the pen's width, centre of the ink at (14, 14).
    double radius = limit(1.3 + 0.4 * rng_normal(rng), 0.6, 2.4), swell = 0.15 * rng_normal(rng);
    double extent = high.x - low.x > high.y - low.y ? high.x - low.x : high.y - low.y;
    double scale = (20 - 2 * radius) / extent, weight = 0;
    point centre = {0, 0};
    for (int i = 1; i < m; i++) {
        if (begins[i]) continue;
        double dx = curve[i].x - curve[i - 1].x, dy = curve[i].y - curve[i - 1].y,
               l = md_sqrt(dx * dx + dy * dy);
        centre.x += l * (curve[i].x + curve[i - 1].x) / 2;
        centre.y += l * (curve[i].y + curve[i - 1].y) / 2;
        weight += l;
    }
    centre.x /= weight;
    centre.y /= weight;
    for (int i = 0; i < m; i++)
        curve[i] = (point){14 + scale * (curve[i].x - centre.x), 14 + scale * (curve[i].y - centre.y)};

    double paper[SIDE * SIDE] = {0}, soft = 1.2;
    for (int i = 1; i < m; i++) {
        double along = i / (double)m - 0.5;
        if (!begins[i]) ink(paper, curve[i - 1], curve[i], radius * (1 + swell * along), soft);
    }
    for (int i = 0; i < SIDE * SIDE; i++) { // edges are rough, full ink and bare paper are not
        double v = paper[i];
        if (v > 0 && v < 1) v = limit(v + 0.1 * (rng_uniform(rng) - 0.5), 0, 1);
        pixels[i] = (uint8_t)(255 * v + 0.5);
    }
}
