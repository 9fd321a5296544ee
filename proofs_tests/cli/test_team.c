// test_team.c: a team of threads takes every piece exactly once, whatever the number of pieces and however
// late its threads are; what pieces wrote is there when the call returns; a forked child, whose threads are
// gone, does not wait for them.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fenv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/team.h"

enum { MOST = 97, ROUNDS = 20000 };

typedef struct {
    unsigned taken
        [MOST]; // not atomic: two threads on one piece are for the thread sanitizer, and for the sums here
    unsigned rounding;
} table;

static void take(void *context, size_t i) {
    table *t = context;
    t->taken[i]++;
    const volatile double one = 1, little = 0x1p-60;
    if (one - little != 1) t->rounding = 1;
}

static void nap(long nanoseconds) {
    const struct timespec t = {0, nanoseconds};
    nanosleep(&t, NULL);
}

static void every_piece_once(void **state) {
    (void)state;
    for (int threads = 2; threads <= 5; threads++) {
        smx_team *team = smx_team_open(threads);
        assert_non_null(team);
        table t = {0};
        for (unsigned round = 0; round < ROUNDS / (unsigned)threads; round++) {
            const size_t n = 1 + round * 31 % MOST;
            memset(&t, 0, sizeof t);
            smx_team_for(team, n, take, &t);
            for (size_t i = 0; i < MOST; i++) assert_int_equal(t.taken[i], i < n);
            if (round % 1000 == 0) nap(2000000); // long enough for everyone to fall asleep
        }
        smx_team_close(team);
    }
}

static void the_callers_rounding_reaches_no_piece(void **state) {
    (void)state;
    smx_team *team = smx_team_open(2);
    table t = {0};
    fesetround(FE_DOWNWARD);
    for (size_t round = 0; round < 100; round++) smx_team_for(team, 1 + round % 2 * 90, take, &t);
    const int after = fegetround();
    fesetround(FE_TONEAREST);
    assert_int_equal(after, FE_DOWNWARD);
    assert_false(t.rounding);
    smx_team_close(team);
}

static void nobody_and_nothing(void **state) {
    (void)state;
    table t = {0};
    assert_null(smx_team_open(1));
    assert_null(smx_team_open(-3));
    smx_team_close(NULL);
    smx_team_for(NULL, MOST, take, &t);
    for (size_t i = 0; i < MOST; i++) assert_int_equal(t.taken[i], 1);
    smx_team *team = smx_team_open(3);
    smx_team_for(team, 0, take, &t);
    for (size_t i = 0; i < MOST; i++) assert_int_equal(t.taken[i], 1);
    smx_team_close(team);
}

static void a_forked_child_works_alone(void **state) {
    (void)state;
    smx_team *team = smx_team_open(2);
    table t = {0};
    smx_team_for(team, MOST, take, &t);
    const pid_t child = fork();
    if (!child) {
        smx_team_for(team, MOST, take, &t);
        for (size_t i = 0; i < MOST; i++)
            if (t.taken[i] != 2) _exit(1);
        smx_team_close(team);
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    smx_team_close(team);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_piece_once),
        cmocka_unit_test(the_callers_rounding_reaches_no_piece),
        cmocka_unit_test(nobody_and_nothing),
        cmocka_unit_test(a_forked_child_works_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
