// types.ts: what goes into a lab and its runs, and what comes out of them.
// Arrays handed out are copies, but for those of `tensor`.
import type { Config } from './config.js';

/** One key of the config language, from the engine's own table. */
export interface ConfigKey {
    readonly name: string;
    readonly type: 'int' | 'real' | 'word' | 'text' | 'lines';
    readonly default: string;
    readonly min?: number;
    readonly max?: number;
    readonly choices?: readonly string[];
    readonly help: string;
    readonly group: string;
    /** Who is new can leave it alone. */
    readonly rare?: true;
}
/** A mixer or a task, with the keys that only it has. */
export interface ConfigPart {
    readonly name: string;
    readonly title: string;
    readonly help: string;
    readonly source: string;
    readonly defaults: string;
    readonly keys: readonly ConfigKey[];
    /** Mixers only: cost in L. */
    readonly cost?: string;
}
/** A task, and facts that its name does not tell. */
export interface ConfigTask extends ConfigPart {
    /** It reads images: `predictImage` takes one. */
    readonly images: boolean;
    /** It has no samples of its own: data are handed over. */
    readonly own: boolean;
    /** Its rows are an image's pixels in a random order. */
    readonly permuted: boolean;
    /** An answer is the token that followed the ones at hand where they stood before. */
    readonly recall: boolean;
}
/** What is in a table: `lab.table`. */
export interface TableSummary {
    readonly rows: number;
    readonly columns: readonly TableColumn[];
    /** The first ten rows, as they are written. */
    readonly preview: readonly (readonly string[])[];
}
export interface TableColumn {
    readonly name: string;
    /** How many of its cells are numbers, other words, or missing. */
    readonly numbers: number;
    readonly words: number;
    readonly missing: number;
    /** The first word, and its line of the file; '' and 0: there is none. */
    readonly word: string;
    readonly wordLine: number;
    /** The line of the file on which the first is missing; 0: none is. */
    readonly line: number;
    /** How many different values there are; 11 stands for more than ten. */
    readonly different: number;
}

export interface ConfigPreset {
    readonly name: string;
    readonly title: string;
    readonly config: string;
    readonly lesson: string;
    readonly expect: string;
}
export interface ConfigTable {
    /** What every experiment has. */
    readonly keys: readonly ConfigKey[];
    readonly mixers: readonly ConfigPart[];
    readonly tasks: readonly ConfigTask[];
    readonly presets: readonly ConfigPreset[];
}

export interface Metrics {
    /** Steps taken so far. */
    step: number;
    /** Training loss and accuracy of the last step. */
    loss: number;
    accuracy: number;
    /** Learning rate and gradient norm (before clipping) of the last step. */
    rate: number;
    gradientNorm: number;
    /** Number of weights. */
    params: number;
    /** Steps that the config plans. */
    steps: number;
    /** Memory held by the run. */
    bytes: number;
    /** FLOPs of one training step, backward included: a multiplication and an addition are two. */
    flops: number;
}
export interface Evaluation {
    /** Mean over the targets. */
    loss: number;
    /** Share of targets answered right; of sequences with every target right. */
    accuracy: number;
    sequenceAccuracy: number;
    /**
     * Regression only: the share of the targets' variance that the answers explain;
     * 0 where the targets are all the same.
     */
    r2: number;
    /**
     * Where a task's later inputs are the earlier answers: the model reads its own.
     * Otherwise as the two above.
     */
    freeAccuracy: number;
    freeSequenceAccuracy: number;
    targets: number;
    sequences: number;
    /** The targets are numbers: `r2` says how good, not `accuracy`. */
    regression: boolean;
    /** The targets are bytes of a text: `loss / Math.LN2`, the bits per character, says how good. */
    text: boolean;
    /** The model was also run on its own answers. */
    freeRunning: boolean;
}
export interface Tensor {
    name: string;
    /** Row-major, the last index fastest; as many numbers as the product says. */
    shape: number[];
    /**
     * A view of the module's memory, no copy. Of a weight or gradient it shows the new values after each
     * step, and what is written into a weight is the model's. It ends when the module's memory grows, which
     * any call to the lab or a run of it may do: its length is 0 then, and `tensor` gives another. What a
     * sample went through is valid until the run's next `look`, `data`, `predict` or `predictImage`, and
     * everything until its `close`, after which the memory is another's: `data.slice()` is what keeps. From a
     * worker it is such a copy.
     */
    data: Float32Array<ArrayBuffer>;
    /** A trained weight; neither its gradient nor something that a sample went through. */
    weight: boolean;
}
/** Numbers in place of a weight's: `data` from number `at` (row-major; default 0) of the weight on. */
export interface Override {
    name: string;
    at?: number;
    data: ArrayLike<number>;
}
export interface Sample {
    length: number;
    classes: number;
    channels: number;
    /** [length], or null where the input is real-valued. */
    tokens: Int32Array<ArrayBuffer> | null;
    /** [length][channels], or null where the input is tokens. */
    values: Float32Array<ArrayBuffer> | null;
    /** The wanted class at each row, or one for the whole sequence; -1: none. null in regression. */
    targets: Int32Array<ArrayBuffer> | null;
    /**
     * The model's answers, as many as there are targets, and the probability it gave them;
     * in regression the answers themselves.
     */
    predicted: Int32Array<ArrayBuffer> | null;
    confidence: Float32Array<ArrayBuffer> | null;
    /** Regression: the wanted number at each row, or one; NaN: none. Otherwise null. */
    targetValues: Float32Array<ArrayBuffer> | null;
}

/** What a batch of your own has to be; the config's task settles it. */
export interface BatchForm {
    /** Sequences of a batch, and rows of a sequence. */
    sequences: number;
    length: number;
    /** Targets of a sequence: as many as rows, or one; and how many of them may be asked for. */
    targets: number;
    most: number;
    /** Tokens are whole numbers below this; 0: rows are real numbers. */
    vocab: number;
    /** Numbers of a row; 0: tokens. */
    channels: number;
    /** Answers are whole numbers below this; 0: real numbers (regression). */
    classes: number;
}
/**
 * One batch: as many sequences as the config's batch says, or fewer (a last batch), one after another,
 * and the wanted answers.
 */
export interface Batch {
    /** [sequences][length], where the task reads tokens. */
    tokens?: ArrayLike<number>;
    /** [sequences][length][channels], where it reads real numbers. */
    values?: ArrayLike<number>;
    /** [sequences][targets]: classes, -1 for none; in regression numbers, NaN for none. */
    targets: ArrayLike<number>;
}
export interface OpenOptions {
    /**
     * Data of your own instead of the task's: the batch for a step, counted from 0.
     * The config's task gives its form.
     */
    batch?: (step: number) => Batch;
}
export interface ResumeOptions extends OpenOptions {
    /** Changes to the checkpoint's config: 'steps=900' or { steps: 900 }. */
    changes?: string | Config;
}

/** What a state is: see `run.state`. */
export interface StateForm {
    /** As opened; `most` 0: no limit. */
    sequences: number;
    most: number;
    /** Read so far, of each sequence. */
    rows: number;
    /** Of a row: a token below `vocab`, or `channels` numbers; the other is 0. */
    vocab: number;
    channels: number;
    /** Numbers of an answer: a logit for each class, or 1. */
    answers: number;
    /** What it holds in memory, beside the run's weights. */
    bytes: number;
    /** Tokens are the bytes of a text. */
    text: boolean;
}
export interface StateOptions {
    /** Sequences read side by side (1). */
    sequences?: number;
    /** Rows that each may have, for which memory is reserved; 0 (the default): no limit, for models that do
     * not grow. */
    most?: number;
}
/** How the next token is drawn. */
export interface DrawOptions {
    /** Below 1 surer, above 1 wilder; 0: always the likeliest. Default: 1, of `generate` 0.8. */
    temperature?: number;
    /** Only the k likeliest; 0: all. */
    topK?: number;
    /** Only the likeliest that reach this much together; 1: all. */
    topP?: number;
    /** The same seed draws the same, natively and in every browser. Default: 1. */
    seed?: number;
}
export interface GenerateOptions extends DrawOptions {
    /** The beginning: a text for models of text, else tokens. Default: a line's end, or token 0. */
    prompt?: string | ArrayLike<number>;
    /** At most so many tokens (400). */
    tokens?: number;
    /** Aborted: `generate` throws the signal's reason. */
    signal?: AbortSignal;
}
/** What `generate` gives: a character, once its last byte is there; of models that write no text, a token. */
export interface Piece {
    /** '' where tokens are no text; what is no UTF-8 is U+FFFD. */
    text: string;
    tokens: number[];
    /** How surprised the model is by it: minus the logarithm to base 2 of its probability. */
    bits: number;
}
