// cover.h: which cases a layer is judged by: sizes, draws and ways of calling, of which any two meet in some
// case, the most telling first. One plan for seqmix.testing.check_layer, `seqmix vectors --budget` and, with
// --hard, its other draws. It hangs on the mechanism, on what is fixed, and on the seed alone; how much of it
// is judged is the budget's.
#ifndef CLI_COVER_H
#define CLI_COVER_H

#include "cli/oracle/sets/vectors.h"

typedef enum {
    COVER_MODE, // which of the mechanism's cases in vectors_cases gives all other parameters
    COVER_ROWS,
    COVER_HEADS,   // 0: as that case has them
    COVER_COLUMNS, // of a head; 0: as that case has them
    COVER_BATCH,
    COVER_DRAW,  // of cover_draws
    COVER_START, // 1: with start states
    COVER_CALL,  // of cover_calls
    COVER_FACTORS
} cover_factor;
extern const char *const cover_factors[], *const cover_draws[],
                                              *const cover_calls[]; // names; the last is NULL
int cover_number(const char *const *names, const char *name);       // -1: none of them

enum { COVER_LEVELS = 24, COVER_NAMES = 12, COVER_PARAMS = 400, COVER_DRAWN = 320 };

// What is planned for.
typedef struct {
    const oracle_mechanism *mechanism;
    const json *modes[COVER_LEVELS]; // parameters of each mode, borrowed
    size_t n_modes;
    const json *fixed;   // parameters that no case may change, or NULL
    int same_heads;      // heads stay as they are
    int start;           // start states may be given
    unsigned calls;      // bit n: that of cover_calls; 0: the first alone
    unsigned draws;      // bit n: that of cover_draws, where it says something; 0: all
    int huge, saturated; // huge is 2^huge times as large as usual; saturated: the format has room for it
} cover_for;

// One case. A case of the same seed and levels is the same whatever else is in the plan.
typedef struct {
    int is[COVER_FACTORS];
    uint64_t seed;
} cover_case;

typedef struct {
    cover_for what;
    // In each mode: inputs in which y is homogeneous (twice such an input is 2, 4 ... times y); bits: the
    // draws that say something.
    char linear[COVER_LEVELS][COVER_NAMES][24];
    unsigned draws[COVER_LEVELS];
    cover_case *cases;
    size_t n;
} cover;
// 0, or -1 without memory. Close it in either case.
int cover_open(cover *p, const cover_for *what, uint64_t seed);
void cover_close(cover *p);

// The work of a case, in rows times columns times what a row looks at.
double cover_work(const cover_case *c);

// How much of a budget of seconds is used: a case takes what the cheapest one took, and more with its work.
typedef struct {
    double budget, used, work, least;
    size_t cases;
} cover_pace;
int cover_has_room(const cover_pace *p, const cover_case *next); // the first case always has
void cover_took(cover_pace *p, const cover_case *c, double seconds);

// The parameters that the case sets, L too, as members of a JSON object: "\"L\":300,\"H\":2".
void cover_sizes(char text[COVER_PARAMS], const cover *p, const cover_case *c);
// All its parameters, as a JSON object in text and read; NULL without memory. json_free it.
json *cover_params(const cover *p, const cover_case *c, char *text, size_t size);
// How its inputs are drawn otherwise than vectors_range_of says: items separated by spaces, in order:
// "NAME*E" is 2^E times that, "NAME:A,B,C" one of these at each place, "NAME^E" each row 2^0 to 2^E times,
// "NAME%P" zero but for P of a hundred rows; "+" all bits that the format has, in every input.
void cover_drawn(char text[COVER_DRAWN], const cover *p, const cover_case *c);
// Whether an input is an optional start state.
int cover_is_state(const oracle_array *a);

// What all wrong cases share and no right one has, as one phrase, "" where there is nothing.
void cover_only(char *text, size_t size, const cover_case *cases, const char *wrong, size_t n,
                const char *const *modes);

// ---- For cover.c, in cover_draws.c
int cover_has(const oracle_mechanism *m, const char *name);     // a parameter of that name
size_t cover_given(const cover *p, int mode, const char *name); // its whole number; 0: none
int cover_is_fixed(const cover *p, const char *name);
const char *cover_heads(const cover *p);                 // the number of heads that cases may change, or NULL
int cover_takes(const cover *p, int mode, int H, int d); // whether it runs with so many heads and columns
void cover_find_draws(cover *p);                         // p->linear and p->draws
void cover_append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
