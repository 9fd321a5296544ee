// verify_types.ts: what verify.wasm (verify.ts) is asked and answers.

/** The kernels in float32, or the oracle in double. */
export type Precision = 'float32' | 'double';

/** One test of a proof or an erratum. */
export interface Check {
    /** The file's group, such as 'las_b1' or 'errata'. */
    readonly group: string;
    readonly name: string;
}
/** What a test measured, beside the bound that it must keep. */
export interface Figure {
    readonly text: string;
    readonly value: number;
    readonly most: boolean;
    readonly bound: number;
}
export interface Outcome {
    passed: boolean;
    figures: Figure[];
    /** Everything that it said; where it failed, the last line is why. */
    lines: string[];
}
export interface Ulp {
    readonly name: string;
    /** In units of the last place of what: smx.h's words, see docs/ACCURACY.md. */
    readonly scale: string;
    /** One for each kind of input. */
    readonly ceilings: readonly number[];
}

/** A kernel whose rows a theorem bounds. */
export interface Proved {
    readonly what: string;
    readonly kernel: string;
    /** Of proofs_tests/rocq: file and name. */
    readonly theorem: string;
}
/** Of all its numbers the one that is nearest to its bound. */
export interface Nearest {
    error: number;
    bound: number;
    numbers: number;
}

export type Pointer = number;
export interface Exports {
    memory: WebAssembly.Memory;
    _initialize(): void;
    verify_alloc(bytes: number): Pointer;
    verify_free(at: Pointer): void;
    verify_error(): Pointer;
    verify_count(): number;
    verify_group(i: number): Pointer;
    verify_name(i: number): Pointer;
    verify_run(i: number): void;
    verify_ulp_count(): number;
    verify_ulp_name(i: number): Pointer;
    verify_ulp_scale(i: number): Pointer;
    verify_ulp_kind(kind: number): Pointer;
    verify_ulp_ceiling(i: number, kind: number): number;
    verify_ulp_measure(i: number, kind: number, draws: number): number;
    verify_bound_count(): number;
    verify_bound_what(i: number): Pointer;
    verify_bound_kernel(i: number): Pointer;
    verify_bound_theorem(i: number): Pointer;
    verify_bound_measure(i: number): Pointer;
    verify_las_b1(...args: number[]): number;
    verify_las_b1_wq(...args: number[]): void;
    verify_conv(...args: number[]): number;
    verify_recall(...args: number[]): number;
    verify_attention(...args: number[]): number;
    verify_wrong_cosine(...args: number[]): number;
    verify_copy(...args: number[]): number;
    verify_landmark_threshold(L: number, block: number, sigma: number): number;
    verify_landmark_trials(...args: number[]): number;
    verify_pole_radius(a1: number, a2: number): number;
    verify_focus(...args: number[]): number;
    verify_audit(share: Pointer, rows: number, config: Pointer): Pointer;
    verify_equations_error(): Pointer;
    verify_equations_steps(config: Pointer): Pointer;
    verify_equations_check(config: Pointer): Pointer;
}

export type Delay = 'value' | 'key' | 'strict';
export interface Recall {
    /** [L][D], token embeddings. */
    x: Float64Array;
    L: number;
    D: number;
    filter: readonly number[];
    c: number;
    delay: Delay;
    /** Rows whose N-gram reaches before the sequence are not attended to. */
    maskStarts?: boolean;
    /** Leave out norm(): Corollary 1. */
    noNorm?: boolean;
}
export interface Landmarks {
    L: number;
    D: number;
    block: number;
    sigma: number;
    /** The landmark's filter: e^{-i/B} instead of a box of B rows. */
    rho: boolean;
}
export interface Audit {
    /** How far ahead the mixer says that it sees, and what was measured. */
    claimed: number;
    measured: number;
    draws: number;
    rounding: number;
    /**
     * [L][L]: how far input row j ever moved output row i, as a share of the largest move of the same draw.
     */
    share: Float64Array;
}

/** What one function call of a mixer's text makes. */
export interface EquationStep {
    readonly function: string;
    /** Of the tensor in the text; '': it has none. */
    readonly name: string;
    /** Of the text, from 1. */
    readonly line: number;
    /** Of one sequence. */
    readonly shape: readonly number[];
    /** The steps whose results it takes; -1: the input x. */
    readonly from: readonly number[];
    readonly weights: readonly { readonly name: string; readonly shape: readonly number[] }[];
    /** Of a scan: what each head keeps from row to row. */
    readonly states: readonly ScanState[];
}
export interface ScanState {
    readonly name: string;
    /** [heads] and its own sizes. */
    readonly shape: readonly number[];
    /** Where it lies in what `state.tensor` gives of the scan: the first head's first number; numbers between
     * two heads, and between the rows of a matrix. */
    readonly at: number;
    readonly head: number;
    readonly row: number;
}
export interface EquationSteps {
    readonly steps: readonly EquationStep[];
    /** The step whose result is the mixer's; -1: x itself. */
    readonly output: number;
}
/** What `seqmix check` tells of a mixer's text; 0 and 1 are no and yes, null a number that is not finite. */
export interface EquationCheck {
    readonly passes: number;
    readonly computes: number;
    readonly differentiates: number;
    readonly stable: number;
    readonly length: number;
    readonly weights: number;
    readonly ahead: number;
    /** The line that lets it see ahead; 0: none. */
    readonly aheadLine: number;
    readonly saysAhead: number;
    /** Of y the values, of x and each weight the gradient: float32 against double with what rounding may do,
     * double against central differences (below 0: not tried). */
    readonly rows: readonly {
        readonly name: string;
        readonly fine: number;
        readonly numbers: number;
        readonly error: number | null;
        readonly allowed: number | null;
        readonly difference: number | null;
    }[];
    /** |gradient at x| for a unit gradient at the last row. */
    readonly growth: readonly { readonly length: number; readonly gradient: number | null }[];
    /** What is not finite on inputs `large` times as large: y, or what has such a gradient; '': nothing. */
    readonly large: number;
    readonly notFinite: string;
    /** Of a token: FLOPs forward, bytes kept for backward; below 0: it cannot be built so long. */
    readonly cost: readonly {
        readonly length: number;
        readonly flops: number | null;
        readonly bytes: number | null;
    }[];
}
