// bound_judge.h: a line of bound_cases.h on every instruction set: within its bound, and near enough to it.
#ifndef BOUND_JUDGE_H
#define BOUND_JUDGE_H

#include "bound_cases.h"

static void bound_judge(const char *what) {
    size_t i = 0;
    while (strcmp(bound_cases[i].what, what)) i++;
    CHECK_EACH_ISA(isa) {
        const bound_seen s = bound_measure(i, 0);
        memcpy(check_case, s.trying, sizeof check_case);
        if (!(s.part <= 1))
            check_fail("number %zu is %.9g, not %.9g: off by %.3g, proved %.3g (%s)", s.at, s.got, s.exact,
                       s.error, s.bound, bound_cases[i].theorem);
        if (!(s.part >= bound_cases[i].least))
            check_fail("at most %g of the bound is reached: it says too little", s.part);
        if (s.unproved && !(bound_cases[i].flat && 10 * s.unproved < s.numbers))
            check_fail("%zu of %zu numbers have no bound", s.unproved, s.numbers);
        printf("%s, %s: at most %.3g of the proved bound, %zu numbers\n", what, isa, s.part, s.numbers);
    }
}

#endif
