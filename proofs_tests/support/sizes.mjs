// sizes.mjs: what may be fetched, gzipped: the sum of what each part of the engine may take. Held by the
// tests of the module and of the page.
export const MODULE =
    120_000 + // kernels, mixers, tasks and runs
    3_000 + // what files, steps and data are checked for
    11_000 + // mixers as text
    300 + // weights that can be written
    8_200 + // gated linear attention, the delta rule and their mixers
    2_200 + // MAD, state tracking, induction heads
    3_600 + // states, and text that is written, also in JavaScript
    5_200 + // tables
    6_400 + // retention, Based, Hyena, LSTM, GRU, and windows of attention
    1_800 + // stacks of mixers
    500 + // dropout
    1_400 + // batch norm
    400; // both directions
/** verify.wasm, on demand: the proofs and the oracle, beside the same kernels. */
export const PROOFS =
    200_000 +
    8_200 + // as above
    2_200 +
    3_000 +
    4_300 + // windows, LSTM, GRU, Taylor features: kernels and oracle; stacks
    2_000 + // the kernels row by row
    2_000 + // dropout, batch norm and both directions: the oracle
    10_600; // a mixer's text as steps, and its check in double
/** Scripts and styles that are fetched when a view asks for them, the editor apart. */
export const LATER = 90_000;
/** The view Equations with its editor, fetched when it is opened. */
export const EDITOR = 150_000;
