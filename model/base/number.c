// number.c: see number.h. Few digits and a small power of ten are one exact operation (Clinger); the rest is
// an exact quotient of two big integers, rounded once.
#include "number.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "kernels/core/mathd.h"

// Digits that can matter to the rounding of a double are fewer than 770;
// a last digit stands for all that follow.
enum { DIGITS = 800, LIMBS = 136 };

typedef struct {
    uint32_t limb[LIMBS]; // little end first; those from n on are 0
    size_t n;
} big;

static void big_multiply_add(big *b, uint32_t factor, uint32_t carry) {
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t x = (uint64_t)b->limb[i] * factor + carry;
        b->limb[i] = (uint32_t)x;
        carry = (uint32_t)(x >> 32);
    }
    if (carry) b->limb[b->n++] = carry;
}
static void big_power(big *b, int ten) {
    for (; ten > 0; ten--) big_multiply_add(b, 10, 0);
}
static int big_bits(const big *b) { return b->n ? (int)(32 * b->n) - __builtin_clz(b->limb[b->n - 1]) : 0; }
static void big_shift(big *b, int left) {
    for (; left >= 31; left -= 31) big_multiply_add(b, UINT32_C(1) << 31, 0);
    big_multiply_add(b, UINT32_C(1) << left, 0);
}
static int big_less(const big *a, const big *b) {
    for (size_t i = LIMBS; i-- > 0;)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i];
    return 0;
}
static void big_subtract(big *a, const big *b) { // a >= b
    uint64_t borrow = 0;
    for (size_t i = 0; i < a->n; i++) {
        const uint64_t x = (uint64_t)a->limb[i] - b->limb[i] - borrow;
        a->limb[i] = (uint32_t)x;
        borrow = x >> 63;
    }
    while (a->n && !a->limb[a->n - 1]) a->n--;
}

// (m + fraction) 2^e to nearest, ties to even, m below 2^63; `more`: the fraction is not 0. e is at least
// -1075 and m has 54 bits at least where e is more.
static double assemble(uint64_t m, int e, int more) {
    const int bits = m ? 64 - __builtin_clzll(m) : 0;
    const int extra = bits - 53 > -1074 - e ? bits - 53 : -1074 - e;
    const uint64_t half = UINT64_C(1) << (extra - 1), rest = m & (2 * half - 1);
    m >>= extra;
    if (rest > half || (rest == half && (more || (m & 1)))) m++;
    e += extra;
    if (m >> 53) m >>= 1, e++;
    if (!(m >> 52)) return md_from_bits(m); // subnormal or 0: e is -1074
    if (e + 1075 >= 2047) return MD_INF;
    return md_from_bits((uint64_t)(e + 1075) << 52 | (m & ((UINT64_C(1) << 52) - 1)));
}

// 0.d1 d2 ... 10^point
static double exactly(const uint8_t *digit, size_t n, int point) {
    if (point > 310) return MD_INF;
    if (point < -330) return 0.0;
    big top = {.n = 0}, bottom = {.limb = {1}, .n = 1};
    for (size_t i = 0; i < n; i++) big_multiply_add(&top, 10, digit[i]);
    const int ten = point - (int)n;
    big_power(ten > 0 ? &top : &bottom, ten > 0 ? ten : -ten);
    int e = big_bits(&top) - big_bits(&bottom) - 54; // the quotient in units of 2^e has 54 or 55 bits
    if (e < -1075) e = -1075;
    big_shift(e < 0 ? &top : &bottom, e < 0 ? -e : e);
    uint64_t q = 0;
    for (int bit = 55; bit >= 0; bit--) {
        big part = bottom;
        big_shift(&part, bit);
        if (big_less(&top, &part)) continue;
        big_subtract(&top, &part);
        q |= UINT64_C(1) << bit;
    }
    return assemble(q, e, top.n != 0);
}

double number_read(const char *text, char **end) {
    uint8_t digit[DIGITS];
    size_t n = 0;
    int point = 0, any = 0, after = 0;
    uint64_t m = 0; // all digits, where there are 19 at most
    const char *p = text + (*text == '-' || *text == '+');
    for (; (*p >= '0' && *p <= '9') || (*p == '.' && !after); p++) {
        if (*p == '.') {
            after = 1;
            continue;
        }
        any = 1;
        if (n || *p != '0') {
            if (n < DIGITS)
                digit[n++] = (uint8_t)(*p - '0');
            else if (*p != '0')
                digit[DIGITS - 1] |= 1; // even digits become odd: no tie, and no other double
            if (n <= 19) m = 10 * m + (uint64_t)(*p - '0');
            if (!after && point < INT_MAX / 4) point++;
        } else if (after && point > INT_MIN / 4) {
            point--;
        }
    }
    if (end) *end = (char *)(any ? p : text);
    if (!any) return 0.0;
    if (*p == 'e' || *p == 'E') {
        const char *x = p + 1 + (p[1] == '-' || p[1] == '+');
        int power = 0;
        if (*x >= '0' && *x <= '9') {
            for (; *x >= '0' && *x <= '9'; x++)
                if (power < INT_MAX / 16) power = 10 * power + (*x - '0');
            point += p[1] == '-' ? -power : power;
            if (end) *end = (char *)x;
        }
    }
    const int ten = point - (int)n;
    double y = 0.0;
    if (n && n <= 19 && m <= UINT64_C(1) << 53 && ten >= -22 && ten <= 22) {
        double power = 1.0; // exact up to 10^22
        for (int i = 0; i < ten || i < -ten; i++) power *= 10.0;
        y = ten < 0 ? (double)m / power : (double)m * power;
    } else if (n) {
        y = exactly(digit, n, point);
    }
    return *text == '-' ? -y : y;
}

char *number_write(char *to, double x) {
    const double a = md_abs(x);
    const char *sign = md_bits(x) >> 63 ? "-" : "";
    int e = 0; // of the first digit
    double y = a;
    for (; y >= 10.0; e++) y /= 10.0;
    for (; y > 0.0 && y < 1.0; e--) y *= 10.0;
    // y is near enough: what is written is read back, and its neighbours are tried as well.
    char d[NUMBER_TEXT] = "0", back[NUMBER_TEXT];
    double power = 1.0;
    int found = a == 0.0;
    for (int n = 1; n <= 17 && !found; n++, power *= 10.0)
        for (int64_t off = 0; off < (n < 15 ? 3 : 129) && !found; off++) {
            const int64_t m = (int64_t)(y * power + 0.5) + (off & 1 ? -(off + 1) / 2 : off / 2);
            if (m <= 0) continue;
            snprintf(d, sizeof d, "%lld", (long long)m);
            snprintf(back, sizeof back, "%se%d", d, e - n + 1);
            found = number_read(back, NULL) == a;
            if (found) e += (int)strlen(d) - n; // 9.99... became 10
        }
    size_t n = strlen(d);
    while (n > 1 && d[n - 1] == '0') d[--n] = 0;
    if (e < -5 || e > 16)
        snprintf(to, NUMBER_TEXT, "%s%c%s%se%d", sign, d[0], n > 1 ? "." : "", d + 1, e);
    else if (e < 0)
        snprintf(to, NUMBER_TEXT, "%s0.%.*s%s", sign, -e - 1, "0000", d);
    else if ((int)n <= e + 1)
        snprintf(to, NUMBER_TEXT, "%s%s%.*s", sign, d, e + 1 - (int)n, "0000000000000000");
    else
        snprintf(to, NUMBER_TEXT, "%s%.*s.%s", sign, e + 1, d, d + e + 1);
    return to;
}

int number_hex(char digit) {
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *at = memchr(digits, digit, sizeof digits - 1);
    const int value = at ? (int)(at - digits) : -1;
    return value < 16 ? value : value - 6;
}
