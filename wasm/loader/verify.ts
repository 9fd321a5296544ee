// verify.ts: loads verify.wasm (proofs_tests/proofs/wasm) and gives it a typed face: the proofs one test at a
// time, every kernel's error in units of the last place, and the constructions of the theorems. Works in a
// page, a worker and Node. Knows nothing of the page; a page calls it in a worker, since some tests take
// seconds. Every array handed out is a copy.
import { moduleOf, type WasmSource } from './source.js';
import type {
    Precision,
    Check,
    Figure,
    Outcome,
    Ulp,
    Proved,
    Nearest,
    Pointer,
    Exports,
    Delay,
    Recall,
    Landmarks,
    Audit,
    EquationSteps,
    EquationCheck,
} from './verify_types.js';

export type * from './verify_types.js';

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const KINDS = 3;
const UNSIGNED = 0;
const SIGNED = 1;
const word = (precision: Precision) => (precision === 'float32' ? 0 : 1);

/** A figure's line as proofs_tests/proofs/proof.h writes it. */
function figure(line: string): Figure | null {
    const found = /^figure: (.*): (\S+) \((at most|at least) ([^\s,]+)(?:, measured)?\)$/.exec(line);
    if (!found) return null;
    return {
        text: found[1]!,
        value: Number(found[2]),
        most: found[3] === 'at most',
        bound: Number(found[4]),
    };
}

/** One instance of the module; a check that fails ends it, and the next call starts another. */
export class Verify {
    readonly module: WebAssembly.Module;
    readonly checks: readonly Check[];
    readonly ulps: readonly Ulp[];
    readonly ulpKinds: readonly string[];
    readonly proved: readonly Proved[];
    #x: Exports;
    #said: string[] = [];

    constructor(module: WebAssembly.Module) {
        this.module = module;
        this.#x = this.#start();
        this.checks = Array.from({ length: this.#x.verify_count() }, (_, i) => ({
            group: this.#text(this.#x.verify_group(i)),
            name: this.#text(this.#x.verify_name(i)),
        }));
        this.ulpKinds = Array.from({ length: KINDS }, (_, kind) => this.#text(this.#x.verify_ulp_kind(kind)));
        this.ulps = Array.from({ length: this.#x.verify_ulp_count() }, (_, i) => ({
            name: this.#text(this.#x.verify_ulp_name(i)),
            scale: this.#text(this.#x.verify_ulp_scale(i)),
            ceilings: this.ulpKinds.map((_, kind) => this.#x.verify_ulp_ceiling(i, kind)),
        }));
        this.proved = Array.from({ length: this.#x.verify_bound_count() }, (_, i) => ({
            what: this.#text(this.#x.verify_bound_what(i)),
            kernel: this.#text(this.#x.verify_bound_kernel(i)),
            theorem: this.#text(this.#x.verify_bound_theorem(i)),
        }));
    }
    #start(): Exports {
        const env = {
            verify_say: (at: Pointer) => this.#said.push(...this.#text(at).trimEnd().split('\n')),
            emscripten_notify_memory_growth() {},
        };
        // The C library's files and clock, which nothing here uses; what is asked for fails.
        const wasi = new Proxy({}, { get: () => () => 52 });
        const instance = new WebAssembly.Instance(this.module, { env, wasi_snapshot_preview1: wasi });
        const x = instance.exports as unknown as Exports;
        x._initialize();
        this.#x = x;
        return x;
    }
    #text(at: Pointer): string {
        const bytes = new Uint8Array(this.#x.memory.buffer);
        return decoder.decode(bytes.slice(at, bytes.indexOf(0, at)));
    }
    /** Call `body` with a way to put arrays into the module's memory; they are freed behind it. */
    #with<T>(body: (take: (doubles: number | ArrayLike<number>, ints?: boolean) => Pointer) => T): T {
        const taken: Pointer[] = [];
        try {
            return body((given, ints = false) => {
                const n = typeof given === 'number' ? given : given.length;
                const at = this.#x.verify_alloc(n * 8);
                if (!at) throw new Error(`out of memory: ${8 * n} bytes were asked for`);
                taken.push(at);
                if (typeof given !== 'number') {
                    const to = ints
                        ? new Int32Array(this.#x.memory.buffer, at, n)
                        : new Float64Array(this.#x.memory.buffer, at, n);
                    to.set(given);
                }
                return at;
            });
        } finally {
            for (const at of taken) this.#x.verify_free(at);
        }
    }
    #put(text: string, take: (doubles: number) => Pointer): Pointer {
        const bytes = encoder.encode(`${text}\0`);
        const at = take(Math.ceil(bytes.length / 8));
        new Uint8Array(this.#x.memory.buffer, at, bytes.length).set(bytes);
        return at;
    }
    #doubles(at: Pointer, n: number): Float64Array {
        return new Float64Array(this.#x.memory.buffer, at, n).slice();
    }
    #done(status: number): void {
        if (status < 0) throw new Error('there is no memory for this construction');
    }

    // ---- Checks ----

    /** Run one test; where it fails, the instance is replaced. */
    run(i: number): Outcome {
        this.#said = [];
        let passed = true;
        try {
            this.#x.verify_run(i);
        } catch (error) {
            passed = false;
            if (!(error instanceof WebAssembly.RuntimeError)) this.#said.push(String(error));
            else if (!this.#said.length) this.#said.push(`it stopped: ${error.message}`);
            const said = this.#said;
            this.#start();
            this.#said = said;
        }
        const lines = this.#said;
        return { passed, lines, figures: lines.flatMap((line) => figure(line) ?? []) };
    }
    /** The largest error of kernel `i` over `draws` draws of one kind of input, in ULP of its scale. */
    ulp(i: number, kind: number, draws = 2): number {
        try {
            return this.#x.verify_ulp_measure(i, kind, draws);
        } catch {
            this.#start();
            return NaN;
        }
    }
    /** What rows of line `i` of `proved` come to beside their bounds; NaN where they stopped. */
    nearest(i: number): Nearest {
        try {
            const [error, bound, numbers] = this.#doubles(this.#x.verify_bound_measure(i), 3) as unknown as [
                number,
                number,
                number,
            ];
            return { error, bound, numbers };
        } catch {
            this.#start();
            return { error: NaN, bound: NaN, numbers: 0 };
        }
    }

    // ---- Constructions ----

    /** [LaS] Theorem B.1: kernel * x by one head of attention, or with `signed` two. */
    convolution(kernel: readonly number[], x: readonly number[], signed: boolean, precision: Precision) {
        const L = kernel.length;
        const P = L + 1;
        const heads = signed ? 2 : 1;
        const flags = signed ? SIGNED : UNSIGNED;
        const slack = 0.25;
        return this.#with((take) => {
            const [y, map, k, v] = [take(L), take(heads * P * P), take(kernel), take(x)];
            this.#done(this.#x.verify_las_b1(y, map, k, v, L, 1, slack, flags, word(precision)));
            const wq = take(P * P * heads);
            this.#x.verify_las_b1_wq(wq, k, L, slack, flags);
            const direct = take(L);
            this.#done(this.#x.verify_conv(direct, v, k, L, 1, L, 0, word(precision)));
            return {
                y: this.#doubles(y, L),
                /** [heads][P][P], row 0 and column 0 are the extra token's. */
                map: this.#doubles(map, heads * P * P),
                /** [P][heads][P] */
                wq: this.#doubles(wq, P * P * heads),
                /** The same by the convolution kernel itself. */
                direct: this.#doubles(direct, L),
            };
        });
    }
    /** [CAT] Theorem 1 and Corollary 1. */
    recall({ x, L, D, filter, c, delay, maskStarts, noNorm }: Recall, precision: Precision) {
        const delays: Delay[] = ['value', 'key', 'strict'];
        return this.#with((take) => {
            const [y, map] = [take(L * D), take(L * L)];
            const flags = [delays.indexOf(delay), maskStarts ? 1 : 0, noNorm ? 1 : 0] as const;
            const [from, taps] = [take(x), take(filter)];
            this.#done(
                this.#x.verify_recall(y, map, from, taps, L, D, filter.length, c, ...flags, word(precision)),
            );
            return { y: this.#doubles(y, L * D), map: this.#doubles(map, L * L) };
        });
    }
    /** Causal softmax attention of one head, o and map, as every construction uses it. */
    attention(q: Float64Array, k: Float64Array, v: Float64Array, L: number, D: number, precision: Precision) {
        return this.#with((take) => {
            const [o, map, a, b, c] = [take(L * D), take(L * L), take(q), take(k), take(v)];
            this.#done(this.#x.verify_attention(o, map, a, b, c, L, D, 1, word(precision)));
            return { y: this.#doubles(o, L * D), map: this.#doubles(map, L * L) };
        });
    }
    /** The best cosine between the filtered N-grams of two different N-grams of a table [V][D]. */
    wrongCosine(table: Float64Array, D: number, filter: readonly number[], starts = false): number {
        return this.#with((take) =>
            this.#x.verify_wrong_cosine(
                take(table),
                table.length / D,
                D,
                take(filter),
                filter.length,
                starts ? 1 : 0,
            ),
        );
    }
    /**
     * [CAT] Theorem 3: tokens 0..S-1 are signals, S noise, S+1 the marker; constants for sequences up to L.
     */
    copy(tokens: readonly number[], S: number, L: number, epsilon: number, precision: Precision) {
        const n = tokens.length;
        const D = S + 3;
        return this.#with((take) => {
            const [answer, y, query, map] = [take(n), take(n * D), take(n * D), take(n * n)];
            const given = take(tokens, true);
            this.#done(this.#x.verify_copy(answer, y, query, map, given, n, S, L, epsilon, word(precision)));
            return {
                answer: [...new Int32Array(this.#x.memory.buffer, answer, n)],
                y: this.#doubles(y, n * D),
                /** [n][D]: the filtered tokens; column s holds the sum of rho^age. */
                query: this.#doubles(query, n * D),
                map: this.#doubles(map, n * n),
            };
        });
    }
    /** [CAT] Proposition 1's 2 sigma^2 B ln(L/B). */
    landmarkThreshold(L: number, block: number, sigma: number): number {
        return this.#x.verify_landmark_threshold(L, block, sigma);
    }
    /** Trials first .. first + trials - 1 of `seed` in which the chosen block holds the copy. */
    landmarkTrials(
        { L, D, block, sigma, rho }: Landmarks,
        seed: number,
        first: number,
        trials: number,
    ): number {
        const hits = this.#x.verify_landmark_trials(L, D, block, sigma, rho ? 1 : 0, seed, first, trials, 0);
        this.#done(hits);
        return hits;
    }
    /** Largest modulus of the poles of 1 / (1 + a1 z^-1 + a2 z^-2). */
    poleRadius(a1: number, a2: number): number {
        return this.#x.verify_pole_radius(a1, a2);
    }
    /** x through Focus's filters theta [bins][F][2], one channel. */
    focus(
        x: readonly number[],
        theta: readonly number[],
        bins: number,
        filters: number,
        carry: boolean,
        precision: Precision,
    ): Float64Array {
        return this.#with((take) => {
            const [y, from, coefficients] = [take(x.length), take(x), take(theta)];
            this.#done(
                this.#x.verify_focus(
                    y,
                    from,
                    coefficients,
                    x.length,
                    bins,
                    filters,
                    carry ? 1 : 0,
                    word(precision),
                ),
            );
            return this.#doubles(y, x.length);
        });
    }
    /**
     * Which input rows move which output rows of a config's mixer, measured; `rows` is the config's length.
     */
    audit(config: string, rows: number): Audit {
        return this.#with((take) => {
            const share = take(rows * rows);
            const at = this.#put(config, take);
            const found = this.#x.verify_audit(share, rows, at);
            if (!found) throw new Error(this.#text(this.#x.verify_error()));
            const [claimed, measured, draws, rounding] = this.#doubles(found, 4) as unknown as [
                number,
                number,
                number,
                number,
            ];
            return { claimed, measured, draws, rounding, share: this.#doubles(share, rows * rows) };
        });
    }

    // ---- A mixer's text ----

    /** The steps that the text of a config with mixer=equations becomes; throws what is wrong with it. */
    equationSteps(config: string): EquationSteps {
        return this.#equations(config, (at) => this.#x.verify_equations_steps(at)) as EquationSteps;
    }
    /** What can be known of such a text without training it, as `seqmix check` tells. Takes a second. */
    equationCheck(config: string): EquationCheck {
        return this.#equations(config, (at) => this.#x.verify_equations_check(at)) as EquationCheck;
    }
    #equations(config: string, ask: (at: Pointer) => Pointer): unknown {
        try {
            const found = this.#with((take) => ask(this.#put(config, take)));
            if (!found) throw new Error(this.#text(this.#x.verify_equations_error()));
            return JSON.parse(this.#text(found));
        } catch (error) {
            if (error instanceof WebAssembly.RuntimeError) this.#start(); // it has run out of memory
            throw error;
        }
    }
}

/** Load the module: its address, its bytes, or compiled. */
export async function loadVerify(source: WasmSource): Promise<Verify> {
    return new Verify(await moduleOf(source));
}
