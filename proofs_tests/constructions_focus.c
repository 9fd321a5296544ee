// constructions_focus.c: the second-order filters of [Focus] Eqs. 5-8, one channel.
#include "constructions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ref.h"

double con_pole_radius(double a1, double a2) { // roots of z^2 + a1 z + a2
    const double disc = a1 * a1 / 4 - a2;
    if (disc < 0) return sqrt(a2); // a conjugate pair: its modulus squared is the product
    return fabs(a1) / 2 + sqrt(disc);
}
