// schedule.c: the learning rate of a step.
#include "optimiser.h"

#include "kernels/core/mathd.h"

// Linear warm-up, then constant, or a half cosine or a line that reaches 0 at `steps`.
double rate_at(const common_settings *k, uint64_t step) {
    double rate = k->rate, warmup = (double)k->warmup, steps = (double)k->steps, t = (double)step;
    if (t < warmup) return rate * t / warmup;
    if (k->schedule == SCHEDULE_CONSTANT || steps <= warmup) return rate;
    double done = (t - warmup) / (steps - warmup), s, cosine;
    if (k->schedule == SCHEDULE_LINEAR) return done < 1.0 ? rate * (1.0 - done) : 0.0;
    md_sincos(&s, &cosine, 3.14159265358979323846 * (done < 1.0 ? done : 1.0));
    return rate * 0.5 * (1.0 + cosine);
}
