// audit.h: how far ahead a mixer sees, measured: each input row is changed, many times, by little and by
// much, and the output rows that move are noted. It looks at one mixer by itself, not at a trained model.
#ifndef SMX_AUDIT_H
#define SMX_AUDIT_H

#include "model/settings/config.h"

typedef struct {
    size_t length;   // rows
    size_t claimed;  // what the mixer says: mixer_lookahead
    size_t measured; // largest j - i for which changing input row j moved output row i < j beyond rounding
    double rounding; // largest move of a row further ahead than claimed, as a share of its draw's largest;
                     // 0: not one bit
    int by_fft;      // training and prediction take long convolutions by FFT, reading on sums them directly:
    double fft_rounding; // largest such move then, as a share of the largest output; all else is measured of
                         // the second
    size_t draws;        // changes tried
} audit_result;

// Moves below this share of the draw's largest are rounding: an FFT spreads the rounding of one row over all.
#define AUDIT_ROUNDING 1e-4

// The config's mixer at the config's length. share [length][length] (or NULL): how far input row j ever moved
// output row i, as a share of the largest move of any row in the same draw; above AUDIT_ROUNDING, output i
// sees input j. 0, or -1 with the error.
int audit_mixer(audit_result *result, double *share, const config *c, smx_error *error);

// The i-th mode of a mixer as a config: 0 its defaults, then those of its list; small enough to be audited in
// a moment. Returns text, or NULL past the last.
const char *audit_mode(char *text, size_t size, const char *mixer_name, size_t i);
// A row of the Markdown table of all modes, without the line's end.
#define AUDIT_TABLE_HEAD "| mixer | mode | tokens ahead | measured | beyond that |\n|---|---|---|---|---|\n"
void audit_row(char *text, size_t size, const char *mixer_name, const char *mode_text,
               const audit_result *result);
// What the mode changes: the tail of its text, "" for the defaults.
const char *audit_mode_change(const char *mode_text);

#endif
