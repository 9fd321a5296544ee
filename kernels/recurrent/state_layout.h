// state_layout.h: how state.c divides its scratch, in floats. Also what state_scratch.c reports.
#ifndef SMX_STATE_LAYOUT_H
#define SMX_STATE_LAYOUT_H

#include <seqmix/smx.h>

#include "kernels/core/sizes.h"

// Rows of a block, one for each lane of a group; blocks of a segment,
// at whose start forward keeps the states.
enum { STATE_ROWS = SMX_STATE_ROWS, STATE_BLOCKS = 4, STATE_SEGMENT = STATE_ROWS * STATE_BLOCKS };

// What one block of one head holds: rows of width dkp or dvp (dk and dv rounded up to whole groups).
typedef struct {
    size_t dkp, dvp, size; // size: of a state [dk][dvp]
    size_t q, k;           // [rows][dkp], q times scale
    size_t alpha, decay;   // [rows][dkp]: e^g of the row, and of all from the block's first row on
    size_t late;           // [dk][rows]: k as it has decayed by the block's end
    size_t reads, answers; // [rows][rows]: q_t . k_s for s <= t and k_t . k_s for s < t, decayed
    size_t beta, miss, u;  // [rows]; [rows][dvp]: v minus what the state answers; beta times that
    size_t erase;          // [rows][dkp]: keys that are erased, where they are not k
    size_t block;          // all these
    // Behind the blocks
    size_t work;                 // [rows][dkp]
    size_t states;               // [H]: states that are carried (backward: their gradients)
    size_t after;                // backward only, as all below: states between the blocks
    size_t dy;                   // [rows][dvp]
    size_t written, dmiss;       // gradients of u and, negative, of miss, [rows][dvp]
    size_t turned;               // [dvp][2 rows]: dy and dmiss, transposed
    size_t turned_u;             // [dvp][rows]
    size_t dreads, danswers;     // [rows][rows]
    size_t sides;                // [dkp][2 rows]: products with a state, rows in lanes
    size_t dq, as_query, as_key; // [rows][dkp]
    size_t dg;                   // [rows][dkp]
    size_t held;                 // [dkp]: <dS, S>, of the states after and before a block
    size_t crossing; // [half][half][16]: of 16 channels and half a block, what crosses a row to a later one
    uint64_t floats;
} state_layout;

/*@ requires \valid_read(p) && SIZED_STATES(p);
    PURE
    ensures !backward ==> LAYOUT_OF(\result, p) && \result.floats == FORWARD_FLOATS(p); */
static inline state_layout state_layout_of(const smx_state *p, int backward) {
    state_layout w = {0};
    uint64_t at = 0;
    w.dkp = (p->dk + 15) / 16 * 16;
    w.dvp = (p->dv + 15) / 16 * 16;
    const size_t rows = STATE_ROWS, square = rows * rows;
    /*@ assert w.dkp == GROUPS(p->dk) && w.dvp == GROUPS(p->dv); */
    const uint64_t of_keys = size_mul(rows, w.dkp), of_values = size_mul(rows, w.dvp),
                   state = size_mul(p->dk, w.dvp);
    /*@ assert of_keys == STATE_ROWS * w.dkp && of_values == STATE_ROWS * w.dvp && state == p->dk * w.dvp; */
    w.size = state;
    w.q = at, at += of_keys;
    w.k = at, at += of_keys;
    w.alpha = at, at += of_keys;
    w.decay = at, at += of_keys;
    w.late = at, at += size_mul(p->dk, rows);
    w.reads = at, at += square;
    w.answers = at, at += square;
    w.beta = at, at += rows;
    w.miss = at, at += of_values;
    w.u = at, at += of_values;
    w.erase = at, at += of_keys;
    w.block = at;
    at *= backward ? STATE_BLOCKS : 1;
    w.work = at, at += of_keys;
    w.states = at, at += size_mul(p->H, state);
    if (backward) {
        w.after = at, at += (STATE_BLOCKS - 1) * state;
        w.dy = at, at += of_values;
        w.written = at, at += of_values;
        w.dmiss = at, at += of_values;
        w.turned = at, at += 2 * of_values;
        w.turned_u = at, at += of_values;
        w.dreads = at, at += square;
        w.danswers = at, at += square;
        w.sides = at, at += 2 * of_keys;
        w.dq = at, at += of_keys;
        w.as_query = at, at += of_keys;
        w.as_key = at, at += of_keys;
        w.dg = at, at += of_keys;
        w.held = at, at += w.dkp;
        w.crossing = at, at += 4 * square;
    }
    w.floats = at;
    return w;
}

// Row by row (state_push.c). Carried: S of every head of every sequence [dk][dv], as it was before the block,
// then of each head what it holds of the block so far. Scratch: S after whole blocks and what forward asks
// for, or seven rows of keys and two of pairs.
typedef struct {
    size_t dkp, states, last;   // states: of a sequence; last: the same, rounded up to whole groups
    size_t u, late, sums, head; // [rows][dv]; [dk][rows]; of g, [dkp]; all these
    uint64_t floats, scratch;   // of all that is carried
} state_push_layout;

static inline state_push_layout state_push_layout_of(const smx_state *p) {
    state_push_layout w = {0};
    const size_t rows = STATE_ROWS;
    uint64_t at = 0;
    w.dkp = (p->dk + 15) / 16 * 16;
    const uint64_t states = size_mul(p->H, p->dk, p->dv), last = (states + 15) / 16 * 16;
    w.states = states;
    w.last = last;
    w.u = at, at += size_mul(rows, p->dv);
    w.late = at,
    at += size_mul(p->dk, rows); // products read past the end of u and of the states, but not past this
    w.sums = at, at += w.dkp;
    w.head = at;
    w.floats = size_mul(p->B, states + size_mul(p->H, at));
    w.scratch = last + state_layout_of(p, 0).floats;
    return w;
}

#endif
