// sizes.mjs: what may be fetched, gzipped: the sum of what each part of the engine may take. Held by the
// tests of the module and of the page.
/** seqmix.wasm, what a first visit fetches. */
export const MODULE =
    120_000 + // kernels, mixers, tasks and runs
    3_000 + // what files, steps and data are checked for
    8_700 + // mixers as text
    4_000 + // states, and text that is written
    15_000 + // mixers and tasks that came later, as far as they are in this module
    3_000; // sizes in checked 64 bits, tables that are filled later, UTF-16
/** seqmix-whole.wasm, on demand: everything. */
export const WHOLE =
    170_000 + // all but
    21_500; // recurrences as text: their steps, forward and backward, and what is said of one that cannot be
// (by Node's zlib, which makes 1,500 bytes more of it than gzip -9 does)
/** seqmix-threads.wasm, on demand where a page is isolated: everything once more, not in gzip's order. */
export const THREADS = 200_000;

/** verify.wasm, on demand: the proofs and the oracle, beside the same kernels. */
export const PROOFS =
    200_000 +
    8_200 + // gated linear attention, the delta rule and their mixers
    2_200 + // MAD, state tracking, induction heads
    3_000 + // states
    4_300 + // windows, LSTM, GRU, Taylor features: kernels and oracle; stacks
    6_300 + // the kernels row by row, also at the cost of a row; LSTM's panels, exponentials in step
    3_600 + // dropout, batch norm, both directions: the oracle; a lesson
    10_600 + // a mixer's text as steps, and its check in double
    27_500 + // recurrences as text: kernels, and the second reading in double
    1_700 + // values of texts: numbers, powers, parts, roots, sums of heads, weights as values
    1_400 + // CAT's Propositions 1 (C) and 2; what is said of a text that a paper's reader types
    1_600 + // proofs that measure what the papers speak of; a NaN is seen in every kernel
    1_500 + // the delta rule with another key to erase, and its check in double
    1_500 + // a segment and a block of a state as functions of their own, which gzip packs less well
    3_000 + // rows beside what is proved of their floats: bounds, exact rows, seven kernels' cases
    9_500; // the digests' cases, which twins are held to
/** What a first visit fetches in all: scripts and styles, and the module. */
export const FIRST_LOAD = 300_000;
/** Scripts and styles that are fetched when a view asks for them, the editor apart. */
export const LATER =
    90_000 + // all but
    35_000 + // Experiment with its charts, which a first visit fetched before
    16_000 + // one answer's way, exercises, the card at the story's end
    8_000 + // Papers: the tables and what came of them
    2_000 + // further threads of a run
    1_500 + // real digits in one press, two models that learn in Digits, a thumb's sizes
    32_000 + // what the proofs state, in words and in Rocq's, which a first visit fetched before
    1_500 + // each claim's verdict, links to errata, a legend of tags, two axes of a table
    1_000 + // what is stated of Theorem 2's printed constant, and of small sines and cosines
    1_500 + // tokens in reach of a thumb, a race that holds its place; three statements more of the kernels
    300; // noise, sizes and masks that statements ask for, in their words
/** The view Equations with its editor, fetched when it is opened. */
export const EDITOR = 150_000;
/** The page's font, fetched at first. */
export const FONT = 35_000;
