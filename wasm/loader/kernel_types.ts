// kernel_types.ts: the kernels' lines, and the types of a call as they are read from them.
import { TABLE } from './kernel_table.js';

/**
 * One line for each kernel: its C name, then its arguments in the C order (include/seqmix/smx.h says what
 * they mean):
 *
 *   x[N,D]          an array and its shape        >y[..]    a result
 *   x?[..]          may be left out               &p[..]    given and returned, changed
 *   x#[..]          integers: an Int32Array       N         a whole number from 1
 *   N=1, future=0   a default; 0: from 0          ~eps=1e-5 a real number
 *   norm:none|rms   one of these words            causal!   true or false
 *   { .. }          the fields of a C struct      =name     worked out from the others
 *   @ and %         scratch and a table           -transA!  not handed on itself
 *   /name           a rule that sizes keep        sum>sum:  what the C function returns
 *
 * Sizes that follow from the arrays may be left out. A result of an array left out (dskip of skip) is left
 * out too.
 */
export const KERNELS = {
    ...TABLE,
    lasDecay: 'lab_las_decay: >decayTable[H,span] alphas?[H] H L ~range=1 /las',
} as const;

// ---- Types, read from the lines ---------------------------------------------------------------------------

type Tokens<S extends string, All = never> = S extends `${infer T} ${infer Rest}`
    ? Tokens<Rest, All | T>
    : All | S;
type LineTokens<Line> = Line extends `${string}: ${infer Body}` ? Tokens<Body> : never;
type Words<S extends string> = S extends `${infer W}|${infer Rest}` ? W | Words<Rest> : S;
/** The token of an argument that the caller gives, without its mark. */
type Given<T> = T extends `${'>' | '=' | '@' | '%' | '/' | '{' | '}'}${string}`
    ? never
    : T extends `&${infer Name}` | `-${infer Name}`
      ? Name
      : T;
type Argument<T> = T extends `${infer Name}#[${string}`
    ? { [K in Name]: Int32Array }
    : T extends `${infer Name}?[${string}`
      ? { [K in Name]?: Float32Array | undefined }
      : T extends `${infer Name}[${string}`
        ? { [K in Name]: Float32Array }
        : T extends `~${infer Name}=${string}`
          ? { [K in Name]?: number }
          : T extends `~${infer Name}`
            ? { [K in Name]: number }
            : T extends `${infer Name}:${infer All}`
              ? { [K in Name]?: Words<All> }
              : T extends `${infer Name}!`
                ? { [K in Name]?: boolean }
                : T extends `${infer Name}=${string}`
                  ? { [K in Name]?: number }
                  : T extends string
                    ? { [K in T]?: number }
                    : never;
type Result<T> = T extends `>${infer Name}#[${string}`
    ? { [K in Name]: Int32Array<ArrayBuffer> }
    : T extends `>${infer Name}?[${string}`
      ? { [K in Name]?: Float32Array<ArrayBuffer> }
      : T extends `${'>' | '&'}${infer Name}[${string}`
        ? { [K in Name]: Float32Array<ArrayBuffer> }
        : never;
type Returned<Line> = Line extends `${string}: ${string}`
    ? Line extends `${infer Head}: ${string}`
        ? Head extends `${string}>${infer Name}`
            ? { [K in Name]: number }
            : unknown
        : unknown
    : unknown;
type All<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer I) => void
    ? I
    : never;
type Flat<T> = { [K in keyof T]: T[K] };

/** The names of the kernels in the table. */
export type KernelName = keyof typeof KERNELS;
/** What a kernel takes. */
export type KernelArguments<Name extends KernelName> = Flat<
    All<Argument<Given<LineTokens<(typeof KERNELS)[Name]>>>>
>;
/** What a kernel gives back. */
export type KernelResults<Name extends KernelName> = Flat<
    ([Result<LineTokens<(typeof KERNELS)[Name]>>] extends [never]
        ? unknown
        : All<Result<LineTokens<(typeof KERNELS)[Name]>>>) &
        Returned<(typeof KERNELS)[Name]>
>;

/** Sizes and habits of LaS attention, as the mixer's keys. */
export interface LasOptions {
    B?: number;
    L?: number;
    D?: number;
    H?: number;
    scale?: number;
    /** Decay of each head; without it exp(-alpha) is spaced evenly from 1 to exp(-range). */
    alphas?: Float32Array;
    range?: number;
    /**
     * What is averaged over `window` columns of the attention map; docs/MECHANISMS.md#las tells them apart.
     * Default: trailing, 3.
     */
    pool?: 'trailing' | 'centred' | 'masked' | 'none';
    window?: number;
    /** Rows that attend among themselves only; 0: all. */
    chunk?: number;
}
export interface LasAttention extends LasOptions {
    q: Float32Array;
    k: Float32Array;
    v: Float32Array;
}
export interface LasAttentionBackward extends LasAttention {
    dout: Float32Array;
    /** Of the forward call. */
    o: Float32Array;
    stats: Float32Array;
}
/** Every kernel of the table, and LaS attention, which is three of them: decay, pooling, attention. */
export type Kernels = {
    readonly [Name in KernelName]: (given: KernelArguments<Name>) => KernelResults<Name>;
} & {
    lasAttention(given: LasAttention): KernelResults<'attention'>;
    lasAttentionBackward(given: LasAttentionBackward): KernelResults<'attentionBackward'>;
};
