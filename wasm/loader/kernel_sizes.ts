// kernel_sizes.ts: a kernel's line as parts, and what the caller gave held against them: names, types,
// lengths, sizes and the rules that they keep.
import { SeqmixError } from './error.js';
import { COMPUTED } from './kernel_table.js';

// ---- Lines, read when first called ------------------------------------------------------------------------

type Values = Record<string, number>;
export type Bytes = Float32Array | Int32Array;
/** What kernels need of the module. */
export interface KernelModule {
    memory: WebAssembly.Memory;
    lab_alloc(bytes: number): number;
    lab_free(at: number): void;
}
export type Call = (...args: number[]) => number;

export interface Part {
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
export interface Plan {
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
export function readLine(line: string): Plan {
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
export const MOST = 2 ** 31 - 1;
// So that no size of scratch passes 32 bits: attention pads each row of a head to 16 floats and holds some
// 160 of them.
const MOST_ELEMENTS = 2 ** 22;

const product = (factors: number[]) => factors.reduce((a, b) => a * b, 1);
export function shown(value: unknown): string {
    if (value === undefined) return 'missing';
    if (ArrayBuffer.isView(value)) return `${value.constructor.name}(${(value as Float32Array).length})`;
    if (typeof value === 'string') return `'${value}'`;
    return typeof value === 'object' && value ? 'an object of another kind' : String(value);
}

export class Sizes {
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
