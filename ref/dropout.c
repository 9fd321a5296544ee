// dropout.c: numbers set to 0 at random, others scaled so that the mean stays (Srivastava et al. 2014).
#include <seqmix/ref.h>

#include <math.h>

// Salmon, Moraes, Dror & Shaw 2011, Sec. 3.3, ten rounds.
static void philox(uint32_t x[4], uint32_t k0, uint32_t k1) {
    for (int round = 0; round < 10; round++) {
        const uint64_t left = 0xD2511F53ull * x[0], right = 0xCD9E8D57ull * x[2];
        const uint32_t was[2] = {x[1], x[3]};
        x[0] = (uint32_t)(right >> 32) ^ was[0] ^ k0;
        x[1] = (uint32_t)right;
        x[2] = (uint32_t)(left >> 32) ^ was[1] ^ k1;
        x[3] = (uint32_t)left;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

void ref_dropout(double *y, const double *x, size_t n, double share, uint64_t seed, uint32_t step,
                 uint32_t place) {
    const double below = floor(share * 65536 + 0.5);
    for (size_t i = 0; i < n; i++) {
        uint32_t draw[4] = {(uint32_t)(i / 8), 5 + 256 * place, step, (uint32_t)((uint64_t)i / 8 >> 32)};
        philox(draw, (uint32_t)seed, (uint32_t)(seed >> 32));
        const uint32_t word = draw[i % 8 / 2], bits = i % 2 ? word >> 16 : word & 65535;
        y[i] = bits < below ? 0 : x[i] / (1 - below / 65536);
    }
}
