// kernels.ts: the engine's kernels on the caller's arrays, as the lines of KERNELS say, which are made of
// kernels/kernels.txt. A call checks names, types, lengths and sizes, copies the arrays into the module's
// memory, runs the kernel there and copies the results out. Nothing is computed here. Long because the types
// of a call, its checks and its memory all follow the language of those lines.
import { notInSmall, SeqmixError } from './error.js';
import { COMPUTED, TABLE } from './kernel_table.js';

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

// ---- Lines, read when first called ------------------------------------------------------------------------

type Values = Record<string, number>;
type Bytes = Float32Array | Int32Array;
/** What kernels need of the module. */
export interface KernelModule {
    memory: WebAssembly.Memory;
    lab_alloc(bytes: number): number;
    lab_free(at: number): void;
}
type Call = (...args: number[]) => number;

interface Part {
    mark: string;
    name: string;
    shape: string[] | null;
    integers: boolean;
    optional: boolean;
    fallback: string | undefined;
    words: string[] | null;
    flag: boolean;
    /** What a function of the module is called with. */
    inputs: string[];
    /** The `{` of the struct that it is a field of. */
    struct: Part | undefined;
}
interface Plan {
    call: string;
    returned: string | undefined;
    parts: Part[];
}

const PART = /^([>&~=@%/{}-]?)(\w*)(#?)(\??)(?:\[([^\]]*)\])?(?:=([\w.-]+))?(?::([\w|]+))?(!?)(?:\((.*)\))?$/;
function readPart(token: string): Part {
    const [, mark, name, hash, question, shape, fallback, words, flag, inputs] = PART.exec(token)!;
    return {
        mark: mark!,
        name: name!,
        shape: shape?.split(',') ?? null,
        integers: hash === '#',
        optional: question === '?',
        fallback,
        words: words?.split('|') ?? null,
        flag: flag === '!',
        inputs: inputs?.split(',') ?? [],
        struct: undefined,
    };
}
function readLine(line: string): Plan {
    const [head, body] = line.split(': ') as [string, string];
    const [name, returned] = head.split('>') as [string, string | undefined];
    const parts: Part[] = [];
    let struct: Part | undefined;
    for (const token of body.split(' ')) {
        const part = { ...readPart(token), struct };
        if (part.mark === '}') struct = undefined;
        else parts.push(part);
        if (part.mark === '{') struct = part;
    }
    return { call: name.startsWith('lab_') ? name : `smx_${name}`, returned, parts };
}
const isGivenArray = ({ mark, shape }: Part) => shape !== null && mark !== '>';
const isNumber = ({ mark, shape, name }: Part) =>
    shape === null && name !== '' && !'=@%/'.includes(mark || '?');
const isSize = (part: Part) => isNumber(part) && part.mark !== '~' && !part.flag && !part.words;

// ---- Sizes ------------------------------------------------------------------------------------------------

/** Sizes that follow from others: what they need, and how. `x?`: 1 where the array x was given. */
const DERIVED: Record<string, [string, (x: Record<string, Call>, ...sizes: number[]) => number]> = {
    span: ['L', (_, L) => 2 * L! - 1],
    bands: ['N', (_, N) => Math.floor(N! / 2) + 1],
    half: ['D H', (_, D, H) => D! / H! / 2],
    parts: ['aIm?', (_, given) => 1 + given!],
    blocks: ['L block', (_, L, block) => Math.floor(L! / block!)],
    binRows: ['L bins', (_, L, bins) => L! / bins!],
    rootd: ['D H', (_, D, H) => 1 / Math.sqrt(D! / H!)],
    lda: ['m k transA', (_, m, k, turned) => (turned ? m! : k!)],
    ldb: ['k n transB', (_, k, n, turned) => (turned ? k! : n!)],
    flags: ['transA transB', (_, a, b) => a! + 2 * b!],
    keyWidth: ['shared H keys', (_, shared, H, keys) => (shared ? keys! : H! * keys!)],
    gateFloats: [
        'gates B L H keys',
        (_, gates, B, L, H, keys) => H! * (gates === 1 ? 1 : B! * L! * (gates === 3 ? keys! : 1)),
    ],
    rootkeys: ['keys', (_, keys) => 1 / Math.sqrt(keys!)],
    E3: ['E', (_, E) => 3 * E!],
    E4: ['E', (_, E) => 4 * E!],
    features: ['d', (_, d) => 1 + d! + (d! * (d! + 1)) / 2],
};
for (const [size, call] of Object.entries(COMPUTED)) {
    const [, name, inputs] = /(\w+)\((.*)\)/.exec(call)!;
    DERIVED[size] = [inputs!.replaceAll(',', ' '), (x, ...sizes) => x[`smx_${name}`]!(...sizes) >>> 0];
}
/** What sizes have to keep: the one at fault, what it needs, whether it is right, and what is allowed. */
const RULES: Record<string, [string, string, (...sizes: number[]) => boolean, string]> = {
    heads: ['H', 'D', (H, D) => D! % H! === 0, 'a divisor of the width D'],
    pairs: ['H', 'D', (H, D) => D! % (2 * H!) === 0, 'a divisor of half the width D'],
    groups: ['groups', 'D', (groups, D) => D! % groups! === 0, 'a divisor of the width D'],
    future: ['future', 'W', (future, W) => future! < W!, 'less than the taps W'],
    bins: ['bins', 'L', (bins, L) => L! % bins! === 0, 'a divisor of the length L'],
    block: ['block', 'L', (block, L) => block! <= L!, 'at most the length L'],
    power: ['N', '', (N) => Number.isInteger(Math.log2(N!)), 'a power of two'],
    even: ['n', '', (n) => n! % 2 === 0, 'even'],
    poolWindow: [
        'poolWindow',
        'causal',
        (window, causal) => !window || (window % 2 === 1 && causal === 1),
        '0, or odd with causal: true',
    ],
    sliding: [
        'sliding',
        'causal poolWindow',
        (sliding, causal, pool) => !sliding || (causal === 1 && !pool),
        '0, or rows with causal: true and no poolWindow',
    ],
    oneKey: ['erase?', '', (erase) => !erase, 'left out: the delta rule alone erases'],
    map: ['head', 'b H B', (head, b, H, B) => head! < H! && b! < B!, 'less than H, and b less than B'],
    pool: [
        'O',
        'bins L',
        (O, bins, L) => O! * bins! * L! < 2 ** 32 && L! < 2 ** 24,
        'small enough that O bins L < 2^32',
    ],
    gates: [
        'gates',
        'g?',
        (gates, given) => (gates! > 0 ? 1 : 0) === given,
        'none without g, another kind with g',
    ],
    states: [
        'keys',
        'values H L B',
        (keys, values, H, L, B) => keys! * (values! + 15) * H! * (B! * Math.ceil(L! / 64) + 8) < 2 ** 28,
        'small enough that H keys values (B L / 64 + 8) < 2^28',
    ],
    forget: ['forget', '', (forget) => forget! >= 0 && forget! <= 1, 'from 0 to 1'],
    lambda: ['lambda', '', (lambda) => lambda! >= 0, 'at least 0'],
    las: ['H', '', (H) => H! <= 256, 'at most 256'],
};
/**
 * Arrays of row numbers: the least and, by its size, what they stay below. Other integers may be anything.
 */
const INDICES: Record<string, [number, string]> = {
    rows: [-(2 ** 31), 'N'],
    where: [0, 'L'],
    chosen: [-1, 'blocks'],
};
const MOST = 2 ** 31 - 1;
// So that no size of scratch passes 32 bits: attention pads each row of a head to 16 floats and holds some
// 160 of them.
const MOST_ELEMENTS = 2 ** 22;

const product = (factors: number[]) => factors.reduce((a, b) => a * b, 1);
function shown(value: unknown): string {
    if (value === undefined) return 'missing';
    if (ArrayBuffer.isView(value)) return `${value.constructor.name}(${(value as Float32Array).length})`;
    if (typeof value === 'string') return `'${value}'`;
    return typeof value === 'object' && value ? 'an object of another kind' : String(value);
}

class Sizes {
    readonly #kernel: string;
    readonly #plan: Plan;
    readonly #x: Record<string, Call>;
    readonly values: Values = {};
    readonly arrays: Record<string, Bytes> = {};

    constructor(kernel: string, plan: Plan, x: Record<string, Call>, given: Record<string, unknown>) {
        this.#kernel = kernel;
        this.#plan = plan;
        this.#x = x;
        this.#read(given);
        this.#infer();
        this.#check();
    }
    refuse(key: string, value: unknown, allowed: string): SeqmixError {
        const text = shown(value);
        return new SeqmixError(`${this.#kernel}: ${key} is ${text}; allowed: ${allowed}`, key, text, allowed);
    }
    /** A size, a number, or what follows from them; undefined while it is not known. */
    of(name: string): number | undefined {
        if (/^\d/.test(name)) return Number(name);
        const derived = DERIVED[name];
        if (!derived) return this.values[name];
        const needs = derived[0].split(' ').map((need) => this.values[need]);
        return needs.includes(undefined) ? undefined : derived[1](this.#x, ...(needs as number[]));
    }
    known(name: string): number {
        const value = this.of(name);
        if (value === undefined)
            throw new SeqmixError(
                `${this.#kernel}: ${name} is missing and does not follow from the arrays`,
                name,
                '',
                'a whole number',
            );
        return value;
    }
    elements(part: Part): number {
        return product(part.shape!.map((name) => this.known(name)));
    }
    /** Whether a result is wanted: dskip where skip was given. */
    wanted({ name, optional }: Part): boolean {
        const of = name.slice(1).toLowerCase();
        return !optional || Object.keys(this.arrays).some((given) => given.toLowerCase() === of);
    }

    #read(given: Record<string, unknown>) {
        if (typeof given !== 'object' || given === null)
            throw this.refuse('the argument', given, 'an object');
        const parts = this.#plan.parts.filter((part) => isGivenArray(part) || isNumber(part));
        const names = new Set(parts.map(({ name }) => name));
        for (const key of Object.keys(given))
            if (!names.has(key)) {
                const allowed = [...names].join(', ');
                throw new SeqmixError(
                    `${this.#kernel} takes no '${key}'; allowed: ${allowed}`,
                    key,
                    shown(given[key]),
                    allowed,
                );
            }
        for (const part of parts) {
            const value = given[part.name];
            if (part.shape) this.#readArray(part, value);
            else if (value !== undefined) this.values[part.name] = this.#number(part, value);
            else if (part.words || part.flag) this.values[part.name] = 0;
            else if (part.mark === '~' && part.fallback === undefined)
                throw this.refuse(part.name, undefined, 'a finite number');
        }
    }
    #readArray({ name, integers, optional, shape }: Part, value: unknown) {
        if (optional) this.values[`${name}?`] = value === undefined ? 0 : 1;
        if (optional && value === undefined) return;
        const kind = integers ? Int32Array : Float32Array;
        if (!(value instanceof kind))
            throw this.refuse(
                name,
                value,
                `${integers ? 'an Int32Array' : 'a Float32Array'} [${shape!.join(', ')}]`,
            );
        const most = this.#plan.parts.some(({ mark }) => mark === '@') ? MOST_ELEMENTS : MOST / 8;
        if (value.length > most) throw this.refuse(name, value, `at most ${Math.floor(most)} elements`);
        // A copy: an instance may have a length of its own, and a run's tensor ends where memory grows.
        try {
            this.arrays[name] = new kind(value as Float32Array & Int32Array);
        } catch {
            throw this.refuse(name, value, 'an array whose memory is still there');
        }
    }
    #number(part: Part, value: unknown): number {
        const { name, words, flag, mark, fallback } = part;
        if (flag) {
            if (typeof value !== 'boolean') throw this.refuse(name, value, 'true or false');
            return Number(value);
        }
        if (words) {
            const at = words.indexOf(value as string);
            if (at < 0) throw this.refuse(name, value, words.join(', '));
            return at;
        }
        if (mark === '~') {
            if (typeof value !== 'number' || !Number.isFinite(value))
                throw this.refuse(name, value, 'a finite number');
            return value;
        }
        const least = fallback === '0' ? 0 : 1;
        if (!Number.isInteger(value) || (value as number) < least || (value as number) > MOST)
            throw this.refuse(name, value, `a whole number from ${least} to ${MOST}`);
        return value as number;
    }
    /** Sizes that are the one unknown of an array's shape; where there is none such, the next default. */
    #infer() {
        const arrays = this.#plan.parts.filter((part) => isGivenArray(part) && this.arrays[part.name]);
        const defaults = this.#plan.parts.filter((part) => isNumber(part) && part.fallback !== undefined);
        for (let going = true; going;) {
            going = false;
            for (const { name, shape } of arrays) {
                const unknown = shape!.filter((factor) => this.of(factor) === undefined);
                if (unknown.length !== 1 || DERIVED[unknown[0]!]) continue;
                const rest = product(
                    shape!.filter((factor) => factor !== unknown[0]).map((factor) => this.known(factor)),
                );
                const size = this.arrays[name]!.length / rest;
                if (!Number.isInteger(size) || size < 1) throw this.#length(name, shape!);
                this.values[unknown[0]!] = size;
                going = true;
            }
            if (going) continue;
            const next = defaults.find(
                ({ name, fallback }) =>
                    this.values[name] === undefined && this.#fallback(fallback!) !== undefined,
            );
            if (next) {
                this.values[next.name] = this.#fallback(next.fallback!)!;
                going = true;
            }
        }
    }
    #fallback(text: string): number | undefined {
        return DERIVED[text] ? this.of(text) : Number(text);
    }
    #length(name: string, shape: string[]) {
        const sizes = shape
            .filter((factor) => !/^\d/.test(factor))
            .map((factor) => `${factor} = ${this.of(factor) ?? '?'}`);
        const allowed = `[${shape.join(', ')}] with ${sizes.join(', ')}`;
        return this.refuse(name, this.arrays[name], allowed);
    }
    #check() {
        for (const part of this.#plan.parts) if (isSize(part)) this.known(part.name);
        for (const { mark, name } of this.#plan.parts) {
            if (mark !== '/') continue;
            const [fault, needs, right, allowed] = RULES[name]!;
            const others = needs.split(' ').filter(Boolean);
            if (right(this.known(fault), ...others.map((other) => this.known(other)))) continue;
            const beside = others.map((other) => `${other} = ${this.known(other)}`).join(', ');
            throw this.refuse(
                fault.replace('?', ''),
                this.known(fault),
                allowed + (beside && `; here ${beside}`),
            );
        }
        for (const part of this.#plan.parts) {
            const array = this.arrays[part.name];
            if (!isGivenArray(part) || !array) continue;
            if (array.length !== this.elements(part)) throw this.#length(part.name, part.shape!);
            const [least, below] = (part.integers && INDICES[part.name]) || [0, ''];
            if (!below) continue;
            const wrong = array.find((index) => index < least || index >= this.known(below));
            if (wrong !== undefined)
                throw this.refuse(part.name, wrong, `row numbers from ${least} to ${this.known(below) - 1}`);
        }
    }
}

// ---- Calls ------------------------------------------------------------------------------------------------

const ALIGN = 64; // of scratch, see smx.h

function run(kernel: string, plan: Plan, module: KernelModule, given: Record<string, unknown>) {
    const x = module as unknown as Record<string, Call>;
    if (!x[plan.call]) throw notInSmall(`kernel ${kernel}`);
    const sizes = new Sizes(kernel, plan, x, given);
    const held: number[] = [];
    /** Zeroed memory until the call ends. */
    const hold = (bytes: number): number => {
        const at = bytes < MOST ? module.lab_alloc(bytes + ALIGN) : 0;
        if (!at) throw new SeqmixError(`${kernel}: out of memory: ${bytes} bytes were asked for`);
        held.push(at);
        const aligned = Math.ceil((at >>> 0) / ALIGN) * ALIGN;
        new Uint8Array(module.memory.buffer, aligned, bytes).fill(0);
        return aligned;
    };
    const view = (part: Part, at: number, n: number) =>
        part.integers
            ? new Int32Array(module.memory.buffer, at, n)
            : new Float32Array(module.memory.buffer, at, n);
    const results: Record<string, number | Bytes> = {};
    try {
        const at = new Map<Part, number>();
        for (const part of plan.parts) {
            if (!part.shape) continue;
            const array = part.mark === '>' ? undefined : sizes.arrays[part.name];
            if (part.mark === '>' ? !sizes.wanted(part) : !array) continue;
            const n = sizes.elements(part);
            at.set(part, hold(4 * n));
            if (array) view(part, at.get(part)!, n).set(array);
        }
        const structs = plan.parts.filter(({ mark }) => mark === '{');
        for (const struct of structs) at.set(struct, hold(ALIGN));
        /** What C gets for a part: an address, a number, a word's place. */
        const word = (part: Part): number => {
            if (part.shape || part.mark === '{') return at.get(part) ?? 0;
            const inputs = () =>
                part.inputs.map((name) => (name === 'p' ? at.get(structs.at(-1)!)! : sizes.known(name)));
            if (part.mark === '@') return hold(x[`smx_${part.name}`]!(...inputs()) >>> 0);
            if (part.mark !== '%') return sizes.known(part.name);
            const table = hold(4 * (x[`smx_${part.name}_floats`]!(...inputs()) >>> 0));
            x[`smx_${part.name}`]!(table, ...inputs());
            return table;
        };
        for (const struct of structs) {
            const fields = new DataView(module.memory.buffer, at.get(struct)!, ALIGN);
            for (const [i, part] of plan.parts.filter((each) => each.struct === struct).entries())
                if (part.mark === '~') fields.setFloat32(4 * i, word(part), true);
                else fields.setUint32(4 * i, word(part), true);
        }
        const handed = plan.parts.filter(({ mark, struct }) => !struct && mark !== '/' && mark !== '-');
        const returned = x[plan.call]!(...handed.map(word));
        if (plan.returned) results[plan.returned] = returned;
        for (const part of plan.parts)
            if ((part.mark === '>' || part.mark === '&') && at.has(part))
                results[part.name] = view(part, at.get(part)!, sizes.elements(part)).slice();
        return results;
    } finally {
        for (const each of held) module.lab_free(each);
    }
}

/** Refuses a pool or a window that LaS does not have, and what it gives to attention by itself. */
function checkLas(pool: string, window: number, rest: object): void {
    const refuse = (key: string, value: unknown, allowed: string) =>
        new SeqmixError(
            `lasAttention: ${key} is ${shown(value)}; allowed: ${allowed}`,
            key,
            shown(value),
            allowed,
        );
    const pools = ['trailing', 'centred', 'masked', 'none'];
    if (!pools.includes(pool)) throw refuse('pool', pool, pools.join(', '));
    const odd = pool === 'centred' || pool === 'masked';
    if (!Number.isInteger(window) || window < 1 || window > 65535 || (odd && window % 2 === 0))
        throw refuse('window', window, `a whole number from 1 to 65535${odd ? ', odd' : ''}`);
    const own = Object.keys(rest).find((key) =>
        ['decayTable', 'bias', 'causal', 'poolWindow', 'sliding'].includes(key),
    );
    if (own) throw refuse(own, rest[own as keyof typeof rest], 'left out: decay, pool and window settle it');
}

/** For Lab. */
export function kernelsOf(module: KernelModule): Kernels {
    const plans = new Map<string, Plan>();
    const planOf = (name: KernelName) => {
        if (!plans.has(name)) plans.set(name, readLine(KERNELS[name]));
        return plans.get(name)!;
    };
    const all: Record<string, unknown> = {};
    for (const name of Object.keys(KERNELS) as KernelName[])
        all[name] = (given: object) => run(name, planOf(name), module, given as Record<string, unknown>);
    const kernels = all as Kernels;

    /**
     * LaS as the mixer composes it: the decay's table, the filter that averages values,
     * and what attention is told.
     */
    const las = <T extends LasAttention>(given: T) => {
        const { alphas, range, pool = 'trailing', window = 3, ...rest } = given ?? ({} as T);
        checkLas(pool, window, rest);
        const { q, k, v, B, L, D, H, scale, chunk } = rest;
        const x = module as unknown as Record<string, Call>;
        const known = only({ q, k, v, B, L, D, H, scale, chunk });
        const sizes = new Sizes('lasAttention', planOf('attention'), x, known);
        const [batch, rows, width, heads] = ['B', 'L', 'D', 'H'].map((name) => sizes.known(name)) as [
            number,
            number,
            number,
            number,
        ];
        const { decayTable } = kernels.lasDecay(only({ alphas, H: heads, L: rows, range }));
        // The map is averaged inside chunks, so values are too:
        // each chunk a sequence, the last filled up with zero rows.
        const chunkRows = Math.min(chunk || rows, rows);
        const filled = Math.ceil(rows / chunkRows) * chunkRows;
        const turned = (array: Float32Array, from: number, to: number) => {
            if (from === to) return array;
            const all = new Float32Array(batch * to * width);
            const least = Math.min(from, to) * width;
            for (let b = 0; b < batch; b++)
                all.set(array.subarray(b * from * width, b * from * width + least), b * to * width);
            return all;
        };
        const settings = {
            f: new Float32Array(window).fill(1 / window),
            B: (batch * filled) / chunkRows,
            L: chunkRows,
            D: width,
            groups: 1,
            W: window,
            future: pool === 'centred' ? (window - 1) / 2 : 0,
        };
        const averages = pool === 'trailing' || pool === 'centred';
        const average = (array: Float32Array) =>
            averages
                ? turned(kernels.conv({ x: turned(array, rows, filled), ...settings }).y, filled, rows)
                : array;
        const averageBackward = (dy: Float32Array) => {
            if (!averages) return dy;
            const [full, values] = [turned(dy, rows, filled), turned(v, rows, filled)];
            return turned(kernels.convBackward({ dy: full, x: values, ...settings }).dx, filled, rows);
        };
        const poolWindow = pool === 'masked' ? window : 0;
        return { averageBackward, told: { ...rest, v: average(v), decayTable, causal: true, poolWindow } };
    };
    kernels.lasAttention = (given) => kernels.attention(only(las(given).told));
    kernels.lasAttentionBackward = (given) => {
        const { averageBackward, told } = las(given);
        const found = kernels.attentionBackward(only(told));
        return { ...found, dv: averageBackward(found.dv) as Float32Array<ArrayBuffer> };
    };
    return kernels;
}

/** Without what is undefined. */
function only<T extends object>(given: T): T {
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;
}
