// digits.h: procedural digits: handwriting-like 28x28 images that need no download.
#ifndef SMX_DIGITS_H
#define SMX_DIGITS_H

#include "kernels/core/philox.h"

// Draws a digit (0..9) with `rng` into pixels [28][28]: black 0, ink up to 255, centred as MNIST's images
// are.
void digits_draw(uint8_t *pixels, smx_rng *rng, int digit);

#endif
