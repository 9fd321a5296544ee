// kernels.ts: the engine's kernels on the caller's arrays, as the lines of KERNELS say, which are made of
// kernels/kernels.txt. A call checks names, types, lengths and sizes (kernel_sizes.ts), copies the arrays
// into the module's memory, runs the kernel there and copies the results out. Nothing is computed here.
import { notInSmall, SeqmixError } from './error.js';
import {
    type Bytes,
    type KernelModule,
    type Call,
    type Part,
    type Plan,
    readLine,
    MOST,
    shown,
    Sizes,
} from './kernel_sizes.js';
import { KERNELS, type KernelName, type LasAttention, type Kernels } from './kernel_types.js';

export { KERNELS } from './kernel_types.js';
export type {
    KernelName,
    KernelArguments,
    KernelResults,
    LasOptions,
    LasAttention,
    LasAttentionBackward,
    Kernels,
} from './kernel_types.js';
export type { KernelModule } from './kernel_sizes.js';

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
