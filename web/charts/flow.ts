// flow.ts: how one answer comes about in one head of one block: the numbers that a sequence becomes on the
// way from token to answer, as the run has them, and each of them worked out again from the ones before. Pure
// functions.

interface Numbers {
    readonly data: Float32Array;
    readonly shape: readonly number[];
}
/** One block of a run that has looked at a sequence. */
export interface Looked {
    readonly length: number;
    /** Of the model, and the one that is followed. */
    readonly heads: number;
    readonly head: number;
    /** The row whose answer is followed. */
    readonly row: number;
    /** [heads][length][length]; null: it keeps none. */
    readonly map: Float32Array | null;
    /** A tensor of the mixer by its name. */
    readonly of: (name: string) => Numbers | undefined;
    /** An impulse that goes through a resonator of these coefficients: so many rows. */
    readonly impulse: (a: number, b: number, rows: number) => Float32Array;
}

/** One part of the way, `id` as its tensor is called. */
export type Stage =
    /** Each token as so many numbers: [length][channels]. */
    | { kind: 'strip'; id: string; values: Float32Array; channels: number }
    /** What each token takes from itself (first) and those before it. */
    | { kind: 'taps'; id: string; taps: Float32Array }
    /** How much comes from so many tokens back, averaged over channels, without its sign. */
    | { kind: 'reach'; id: string; back: Float32Array }
    /** A share of each token. */
    | { kind: 'bars'; id: string; values: Float32Array }
    /** Bins of so many tokens, each with what its resonator makes of an impulse at its first token. */
    | { kind: 'bins'; id: string; size: number; answers: readonly Float32Array[] }
    /** How full the state is after each token, and the whole of it: keys down, values across. */
    | {
          kind: 'states';
          id: string;
          sizes: Float32Array;
          at: (token: number) => Float32Array;
          rows: number;
          columns: number;
      };

const CLOSE = 1e-4; // numbers that were worked out again: further off, they were made in another way

/** The channels of the head, where the tensor has some for each: [length][channels]. */
export function partOf(tensor: Numbers, length: number, head: number, heads: number): Float32Array {
    const width = tensor.data.length / length;
    if (width % heads) return tensor.data;
    const size = width / heads;
    const part = new Float32Array(length * size);
    for (let t = 0; t < length; t++)
        part.set(tensor.data.subarray(t * width + head * size, t * width + (head + 1) * size), t * size);
    return part;
}
const rowOf = (values: Float32Array, row: number, length: number): Float32Array => {
    const size = values.length / length;
    return values.subarray(row * size, (row + 1) * size);
};
const mapRow = (map: Float32Array, { head, row, length }: Looked): Float32Array =>
    map.subarray((head * length + row) * length, (head * length + row + 1) * length);
const near = (a: ArrayLike<number>, b: ArrayLike<number>): boolean => {
    let [most, size] = [0, 1];
    for (let i = 0; i < a.length; i++) {
        const off = Math.abs(a[i]! - b[i]!);
        if (!(off <= most)) most = off; // (no number is as far as can be)
        size = Math.max(size, Math.abs(b[i]!));
    }
    return a.length === b.length && most <= CLOSE * size;
};

/** What a filter makes of numbers over time: tap i takes from i tokens back. */
export function filtered(values: Float32Array, length: number, taps: ArrayLike<number>): Float32Array {
    const size = values.length / length;
    const result = new Float32Array(values.length);
    for (let t = 0; t < length; t++)
        for (let back = 0; back < taps.length && back <= t; back++)
            for (let c = 0; c < size; c++)
                result[t * size + c]! += taps[back]! * values[(t - back) * size + c]!;
    return result;
}

/** The mean size of kernels [channels][taps] at each distance. */
export function reachOf({ data, shape }: Numbers): Float32Array {
    const [channels, taps] = shape as [number, number];
    const back = new Float32Array(taps);
    for (let i = 0; i < data.length; i++) back[i % taps]! += Math.abs(data[i]!) / channels;
    return back;
}

// ---- The match --------------------------------------------------------------------------------------------

/** One weight of attention, from its query and its key. */
export interface Weight {
    /** Products of query and key, channel by channel; their sum; what that is divided by. */
    products: Float32Array;
    sum: number;
    divisor: number;
    /** The share that a softmax makes of it, and the one that the run has. */
    weight: number;
    found: number;
}
/** The weight of `place` for the row; null: this head makes its weights in another way. */
export function weightOf(looked: Looked, place: number): Weight | null {
    const { length, head, heads, row, of } = looked;
    const map = of('map_plain')?.data ?? looked.map;
    const [q, k] = [of('q'), of('k')];
    if (!map || !q || !k || q.data.length !== k.data.length) return null;
    const [queries, keys] = [partOf(q, length, head, heads), partOf(k, length, head, heads)];
    const query = rowOf(queries, row, length);
    const found = mapRow(map, looked);
    const divisor = Math.sqrt(query.length);
    const scores = Float64Array.from({ length }, (_, j) =>
        found[j]! > 0
            ? rowOf(keys, j, length).reduce((sum, x, c) => sum + x * query[c]!, 0) / divisor
            : -Infinity,
    );
    const top = scores.reduce((a, b) => Math.max(a, b), -Infinity);
    const powers = scores.map((score) => Math.exp(score - top));
    const whole = powers.reduce((a, b) => a + b, 0);
    if (
        !near(
            powers.map((power) => power / whole),
            found,
        )
    )
        return null;
    const products = rowOf(keys, place, length).map((x, c) => x * query[c]!);
    return {
        products,
        sum: products.reduce((a, b) => a + b, 0),
        divisor,
        weight: powers[place]! / whole,
        found: found[place]!,
    };
}

// ---- The copy ---------------------------------------------------------------------------------------------

/** What attention gives to the row: values, weighed; null: this head makes its output in another way. */
export function outputOf(looked: Looked): { computed: Float32Array; found: Float32Array } | null {
    const { length, head, heads, row, map, of } = looked;
    const acting = of('map_acting')?.data ?? map;
    const [v, o] = [of('v'), of('o') ?? of('y')];
    if (!acting || !v || !o || v.data.length !== o.data.length) return null;
    const [values, outputs] = [partOf(v, length, head, heads), partOf(o, length, head, heads)];
    const weights = mapRow(acting, looked);
    const found = rowOf(outputs, row, length);
    const computed = new Float32Array(found.length);
    for (let j = 0; j < length; j++)
        for (let c = 0; c < computed.length; c++)
            computed[c]! += weights[j]! * values[j * computed.length + c]!;
    return near(computed, found) ? { computed, found } : null;
}

// ---- The state --------------------------------------------------------------------------------------------

/** What a recurrence writes at each row, and how it reads: y = read(q S). */
interface Recurrence {
    /** [length][rows], [length][columns], [length][rows]. */
    keys: Float32Array;
    values: Float32Array;
    queries: Float32Array;
    /** How much of the state stays, of each of its rows. */
    keeps: (token: number, row: number) => number;
    /** The share of an error that is put right; null: what is written is added. */
    rate: ((token: number) => number) | null;
    /** From q S of a row to what the run has of it. */
    read: (sums: Float64Array, token: number) => ArrayLike<number>;
    found: Float32Array;
}
const softplus1 = (x: number) => (x > 0 ? x + 1 : Math.exp(x)); // elu(x) + 1

/** The recurrences that a block may be, by the tensors that it has; `near` says which it is. */
function recurrences({ length, head, heads, of }: Looked): Recurrence[] {
    const get = (name: string) => of(name);
    const part = (name: string) => {
        const tensor = get(name);
        return tensor && partOf(tensor, length, head, heads);
    };
    const [q, k, v] = [part('q'), part('k'), part('v')];
    const [o, gates, beta] = [part('o'), get('gates'), get('beta')];
    const list: Recurrence[] = [];
    if (q && k && v && o) {
        const scale = 1 / Math.sqrt(q.length / length);
        const scaled = (sums: Float64Array) => sums.map((x) => scale * x);
        const gate = gates && partOf(gates, length, head, heads);
        const wide = gate && gate.length > length;
        const keeps = (t: number, a: number) =>
            gate ? Math.exp(gate[wide ? (t * q.length) / length + a : t]!) : 1;
        const base = { keys: k, values: v, queries: q, found: o };
        if (beta) {
            const rates = partOf(beta, length, head, heads);
            list.push({ ...base, keeps, rate: (t) => rates[t]!, read: scaled });
        } else if (gates) list.push({ ...base, keeps, rate: null, read: scaled });
        else {
            const fades = 1 - 2 ** (-5 - head); // retention
            list.push({ ...base, keeps: () => fades, rate: null, read: scaled });
            const [keys, queries] = [k.map(softplus1), q.map(softplus1)];
            const size = keys.length / length;
            const sums = new Float64Array(keys.length); // linear attention: keys so far
            for (let i = 0; i < keys.length; i++) sums[i] = keys[i]! + (i < size ? 0 : sums[i - size]!);
            const whole = (t: number) =>
                rowOf(queries, t, length).reduce((sum, x, c) => sum + x * sums[t * size + c]!, 0);
            list.push({
                ...base,
                keys,
                queries,
                keeps: () => 1,
                rate: null,
                read: (all, t) => all.map((x) => x / whole(t)),
            });
            list.push({ ...base, keeps: () => 1, rate: null, read: rms });
            list.push({ ...base, keeps: () => 1, rate: null, read: (all) => all });
        }
    }
    const [m, gate] = [part('m'), part('g_a')]; // CHELA: each head to size 1, then gated
    if (q && k && v && m && gate)
        list.push({
            keys: k,
            values: v,
            queries: q,
            keeps: () => 1,
            rate: null,
            read: (sums, t) => rms(sums).map((x, c) => x * gate[(t * m.length) / length + c]!),
            found: m,
        });
    const [u, dt, b, c] = [part('u'), get('dt'), get('b'), get('c')];
    const [aLog, skip, y] = [get('a_log'), get('skip'), part('z')];
    if (u && dt && b && c && aLog && skip && y && dt.data.length === length * heads) {
        const steps = partOf(dt, length, head, heads);
        const states = b.data.length / length;
        const decay = -Math.exp(aLog.data[head]!);
        list.push({
            keys: b.data.map((x, i) => x * steps[Math.floor(i / states)]!),
            values: u,
            queries: c.data,
            keeps: (t) => Math.exp(decay * steps[t]!),
            rate: null,
            read: (sums, t) => sums.map((x, i) => x + skip.data[head]! * rowOf(u, t, length)[i]!),
            found: y,
        });
    }
    return list;
}
function rms(sums: Float64Array): Float64Array {
    const size = Math.sqrt(sums.reduce((sum, x) => sum + x * x, 0) / sums.length + 1e-6);
    return sums.map((x) => x / size);
}
/** The state goes through rows 0 to `last`; `hears` is told of each. */
function follow(
    { keys, values, keeps, rate }: Recurrence,
    length: number,
    last: number,
    hears: (state: Float64Array, token: number) => void,
): void {
    const [rows, columns] = [keys.length / length, values.length / length];
    const state = new Float64Array(rows * columns);
    const write = new Float64Array(columns);
    for (let t = 0; t <= last; t++) {
        for (let a = 0; a < rows; a++) {
            const stays = keeps(t, a);
            for (let e = 0; e < columns; e++) state[a * columns + e]! *= stays;
        }
        for (let e = 0; e < columns; e++) {
            let known = 0;
            for (let a = 0; rate && a < rows; a++) known += keys[t * rows + a]! * state[a * columns + e]!;
            write[e] = (rate ? rate(t) : 1) * (values[t * columns + e]! - known);
        }
        for (let a = 0; a < rows; a++)
            for (let e = 0; e < columns; e++) state[a * columns + e]! += keys[t * rows + a]! * write[e]!;
        hears(state, t);
    }
}
/** The state of the block's recurrence; null: it has none that is worked out here. */
export function stateOf(looked: Looked): (Stage & { kind: 'states' }) | null {
    const { length } = looked;
    for (const one of recurrences(looked)) {
        const [rows, columns] = [one.keys.length / length, one.values.length / length];
        const sizes = new Float32Array(length);
        const read = new Float32Array(length * columns);
        follow(one, length, length - 1, (state, t) => {
            sizes[t] = Math.sqrt(state.reduce((sum, x) => sum + x * x, 0));
            const sums = new Float64Array(columns);
            for (let a = 0; a < rows; a++)
                for (let e = 0; e < columns; e++)
                    sums[e]! += one.queries[t * rows + a]! * state[a * columns + e]!;
            read.set(one.read(sums, t), t * columns);
        });
        if (!near(read, one.found)) continue;
        const at = (token: number) => {
            let seen = new Float32Array(0);
            follow(one, length, token, (state, t) => {
                if (t === token) seen = Float32Array.from(state);
            });
            return seen;
        };
        return { kind: 'states', id: 'state', sizes, at, rows, columns };
    }
    return null;
}

// ---- The whole way ----------------------------------------------------------------------------------------

/** The stages of the head, in order; what a mechanism has of its own stands where it acts. */
export function stagesOf(looked: Looked): Stage[] {
    const { length, head, heads, row, map, of } = looked;
    const stages: Stage[] = [];
    const strip = (id: string, whole = false): void => {
        const tensor = of(id);
        if (!tensor || tensor.data.length % length) return;
        const values = whole ? tensor.data : partOf(tensor, length, head, heads);
        stages.push({ kind: 'strip', id, values, channels: values.length / length });
    };
    const bars = (id: string, values: Float32Array) => stages.push({ kind: 'bars', id, values });

    // Short, then long convolutions.
    for (const id of ['short', 'short_3', 'short_n', 'conv_k']) {
        const kernel = of(id);
        if (kernel?.shape.length === 2 && of('short'))
            stages.push({ kind: 'reach', id, back: reachOf(kernel) });
    }
    // Bins with a resonator each, of the head's first channel.
    const theta = of('theta');
    if (theta) {
        const [bins, channels] = [theta.shape[1]!, theta.shape[2]!];
        const each = theta.data.length / (bins * channels);
        const channel = Math.floor((head * channels) / heads);
        const size = length / bins;
        const answers = Array.from({ length: bins }, (_, bin) => {
            const at = (bin * channels + channel) * each;
            return looked.impulse(theta.data[at]!, theta.data[at + 1]!, size);
        });
        stages.push({ kind: 'bins', id: 'theta', size, answers });
        strip('x_f', true);
    }
    if (of('h')) strip('h', true);
    const taps = of('filter_k');
    if (of('k_raw') && taps?.shape.length === 2) {
        strip('k_raw');
        const count = taps.shape[1]!;
        stages.push({
            kind: 'taps',
            id: 'filter_k',
            taps: taps.data.subarray(head * count, (head + 1) * count),
        });
    }
    strip('k');
    if (map && of('map_plain')) {
        const steps = ['map_plain', 'map_decayed', 'map_acting'];
        const rows = steps.map((step) => mapRow(of(step)!.data, looked));
        const changes = (i: number) => rows[i]!.some((share, j) => share !== rows[i - 1]![j]);
        steps.forEach((step, i) => (i === 0 || changes(i)) && bars(step, rows[i]!));
    } else if (map) bars('map', mapRow(map, looked));
    const state = map ? null : stateOf(looked);
    strip('v');
    if (state) stages.push(state);
    for (const id of ['o', 'y', 'm']) {
        if (stages.some((stage) => stage.id === 'output')) break;
        const tensor = of(id);
        if (!tensor || tensor.data.length % length) continue;
        const values = partOf(tensor, length, head, heads);
        stages.push({
            kind: 'strip',
            id: 'output',
            values: rowOf(values, row, length),
            channels: values.length / length,
        });
    }
    return stages;
}
