// writing.h: what the commands that read on share: the run, a state that is large enough, text as tokens and
// tokens as text.
#ifndef CLI_WRITING_H
#define CLI_WRITING_H

#include <stddef.h>
#include <stdint.h>

#include <seqmix/state.h>

// The run of a checkpoint that nothing is trained on: a text that it was trained on need not be there. NULL
// with the sentence printed.
smx_run *writing_load(const char *file, const char *changes);
// 1: its tokens are the bytes of a text.
int writing_is_text(const smx_run *run);
// A state of one sequence: without limit where the model allows it, else of `most` rows. NULL with the
// sentence printed.
smx_run_state *writing_state(smx_run *run, size_t most);

// A row of numbers, or a prompt of tokens, as text: where its first number stands, behind a byte order mark.
const char *writing_first(const char *text);
// The token at *at, below vocab; *at is then the next one, or the end. -1 where there is none, *at as it was.
int32_t writing_token(const char **at, size_t vocab);
// Spaces, line ends and commas stand between numbers.
const char *writing_next(const char *at);

// Bytes of a text on their way out, character by character of UTF-8. Controls and what is no UTF-8 reach no
// terminal raw.
typedef struct {
    int json, colours, safe; // as JSON lines; coloured by surprise; for a terminal
    unsigned char byte[4];
    size_t n, wanted;
    double bits;
} writing;
void writing_byte(writing *w, int byte, double bits); // bits: its surprise
void writing_flush(writing *w);                       // what is left of a character that did not end

#endif
