// print.c: snprintf and its kin for the modules, in place of the C library's, whose floating-point
// conversions nothing here uses (model/base/number.c writes decimals): a tenth of its size. Not for the
// native program. Handles what the sources ask for:
// %s %c %d %u %x %X %ld %zu %lld %llu %llx %%, a width with or without 0, a precision on %s. test_print.c
// compares it with the C library's.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct {
    char *to;
    size_t room, n; // n counts on past the room
} line;

static void put(line *l, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++, l->n++)
        if (l->n + 1 < l->room) l->to[l->n] = text[i];
}

// Digits of x, at least `width` characters.
static void put_number(line *l, uint64_t x, unsigned base, const char *digits, int negative, int width,
                       int pad) {
    char text[32];
    size_t at = sizeof text;
    do text[--at] = digits[x % base];
    while (x /= base);
    while (at > 1 && pad == '0' && (int)(sizeof text - at) + negative < width) text[--at] = '0';
    if (negative) text[--at] = '-';
    while (at > 0 && (int)(sizeof text - at) < width) text[--at] = ' ';
    put(l, text + at, sizeof text - at);
}

int vsnprintf(char *restrict to, size_t size, const char *restrict f, va_list list) {
    line l = {to, size, 0};
    for (; *f; f++) {
        if (*f != '%') {
            put(&l, f, 1);
            continue;
        }
        int pad = *++f == '0' ? '0' : ' ', width = 0, precision = -1, longs = 0;
        for (; *f >= '0' && *f <= '9'; f++) width = 10 * width + (*f - '0');
        if (*f == '.') {
            precision = 0;
            if (*++f == '*') precision = va_arg(list, int), f++;
            for (; *f >= '0' && *f <= '9'; f++) precision = 10 * precision + (*f - '0');
        }
        for (; *f == 'l' || *f == 'z'; f++) longs += *f == 'l' ? 1 : sizeof(size_t) > sizeof(int) ? 2 : 0;
        if (sizeof(long) > sizeof(int) && longs == 1) longs = 2;
        if (*f == 's') {
            const char *text = va_arg(list, const char *);
            size_t n = 0;
            while (n != (size_t)precision && text[n]) n++; // -1: no limit
            put(&l, text, n);
        } else if (*f == 'c') {
            const char letter = (char)va_arg(list, int);
            put(&l, &letter, 1);
        } else if (*f == '%') {
            put(&l, f, 1);
        } else if (*f == 'd') {
            const int64_t x = longs > 1 ? va_arg(list, long long) : va_arg(list, int);
            put_number(&l, x < 0 ? 0 - (uint64_t)x : (uint64_t)x, 10, "0123456789", x < 0, width, pad);
        } else {
            const uint64_t x = longs > 1 ? va_arg(list, unsigned long long) : va_arg(list, unsigned);
            put_number(&l, x, *f == 'u' ? 10 : 16, *f == 'X' ? "0123456789ABCDEF" : "0123456789abcdef", 0,
                       width, pad);
        }
    }
    if (size) to[l.n < size ? l.n : size - 1] = 0;
    return (int)l.n;
}
int snprintf(char *restrict to, size_t size, const char *restrict format, ...) {
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(to, size, format, list);
    va_end(list);
    return n;
}
int sprintf(char *restrict to, const char *restrict format, ...) {
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(to, PTRDIFF_MAX, format, list);
    va_end(list);
    return n;
}
