// convolution.tsx: [LaS] Theorem B.1: a head of attention that is a convolution, its kernel drawn by the
// reader.
import { useAnswer } from './answer.ts';
import { show } from '../../core/figures.ts';
import { Choice, Switch } from './controls.tsx';
import { causal, Heat, Problem, Theorem, Verdict } from './parts.tsx';
import { choice, flag, numbers } from './settings.ts';
import { Stems } from './stems.tsx';

const L = 12;
const X = [0, 1, 0.6, -0.4, 0, 0, 0.8, 0.8, 0.8, -0.6, 0.2, 0];
const kernels: readonly (readonly [string, readonly number[], boolean])[] = [
    ['fading', Array.from({ length: L }, (_, t) => Number((0.72 ** t).toFixed(2))), false],
    ['mean of four', Array.from({ length: L }, (_, t) => (t < 4 ? 0.25 : 0)), false],
    ['echo', Array.from({ length: L }, (_, t) => (t === 0 ? 1 : t === 5 ? 0.5 : 0)), false],
    ['difference', Array.from({ length: L }, (_, t) => (t === 0 ? 1 : t === 1 ? -1 : 0)), true],
    [
        'wave',
        Array.from({ length: L }, (_, t) => Number((0.9 ** t * Math.cos(t * 1.05)).toFixed(2)) + 0),
        true,
    ],
];
const taps = numbers('taps', kernels[0]![1], -1, 1);
const input = numbers('in', X, -1, 1);
const signed = flag('signed', false);
const precision = choice('bits', 'float32', ['float32', 'double'] as const);

export function Convolution() {
    const kernel = taps.value;
    const x = input.value;
    const heads = signed.value ? 2 : 1;
    const { value: found, problem } = useAnswer(
        async (v) => ({
            ...(await v.convolution([...kernel], [...x], signed.value, precision.value)),
            kernel,
            x,
            heads,
            bits: precision.value,
        }),
        [kernel, x, signed.value, precision.value],
    );
    return (
        <Theorem
            id="convolution"
            title="Attention is a convolution"
            source={
                <>
                    LaS, Theorem B.1. One softmax head with the right W<sub>q</sub> computes any causal
                    convolution whose taps are not negative; two heads compute every one.
                </>
            }
        >
            <div class="theorem-grid">
                <Controls />
                {found && <Result found={found} />}
            </div>
            <Problem problem={problem} />
        </Theorem>
    );
}

/** The kernel, its input, and what computes. */
function Controls() {
    const kernel = taps.value;
    const x = input.value;
    return (
        <div class="stack">
            <p class="hint">
                The kernel k: drag over its taps. Tap t is the weight of an input t rows later.
            </p>
            <Stems
                label={`Kernel of ${L} taps`}
                series={[{ values: kernel, tone: 'plain', shape: 'disc' }]}
                low={-1}
                high={1}
                name={(i) => `tap ${i}`}
                set={(i, value) => taps.set(kernel.map((tap, j) => (j === i ? value : tap)))}
                foot={(i) => i}
            />
            <div class="theorem-controls">
                <fieldset class="choice">
                    <legend>Kernels</legend>
                    {kernels.map(([name, values, both]) => (
                        <button
                            key={name}
                            type="button"
                            aria-pressed={values.join() === kernel.join()}
                            onClick={() => {
                                taps.set(values);
                                signed.set(both);
                            }}
                        >
                            {name}
                        </button>
                    ))}
                </fieldset>
                <Switch label="two heads, k = k⁺ − k⁻" on={signed.value} set={(on) => signed.set(on)} />
            </div>
            <p class="hint">The input x: drag it, too.</p>
            <Stems
                label={`Input of ${L} rows`}
                series={[{ values: x, tone: 'plain', shape: 'disc' }]}
                low={-1}
                high={1}
                height={104}
                name={(i) => `input row ${i}`}
                set={(i, value) => input.set(x.map((old, j) => (j === i ? value : old)))}
            />
            <Choice
                label="Computed in"
                value={precision.value}
                choices={[
                    ['float32', 'float32, the kernels'],
                    ['double', 'double, the oracle'],
                ]}
                set={precision.set}
            />
        </div>
    );
}

interface Found {
    y: Float64Array;
    direct: Float64Array;
    map: Float64Array;
    wq: Float64Array;
    kernel: readonly number[];
    x: readonly number[];
    heads: number;
    bits: 'float32' | 'double';
}
/** The largest that the output can be, and by how much two outputs may differ. */
function boundOf({ kernel, x, bits }: Found) {
    // proof_las_b1.c: u (8 + 2 max|ln k|) (|k|*|x|) at every row; here at the row where it is largest.
    const u = bits === 'float32' ? 2 ** -24 : 2 ** -53;
    const logs = kernel.filter((tap) => tap !== 0).map((tap) => Math.abs(Math.log(Math.abs(tap))));
    const sums = Array.from({ length: L }, (_, t) =>
        kernel.slice(0, t + 1).reduce((sum, tap, s) => sum + Math.abs(tap * (x[t - s] ?? 0)), 0),
    );
    const reach = Math.max(...sums);
    return { reach, bound: u * (8 + 2 * Math.max(Math.log(L), ...logs)) * reach * 2 };
}
function Result({ found }: { found: Found }) {
    const { y, direct, map, wq, heads, kernel } = found;
    const negative = heads === 1 && kernel.some((tap) => tap < 0);
    const P = L + 1;
    let difference = 0;
    for (let t = 0; t < L; t++) {
        const d = Math.abs(y[t]! - direct[t]!);
        difference = Number.isNaN(d) || Number.isNaN(difference) ? NaN : Math.max(difference, d);
    }
    const { reach, bound } = boundOf(found);
    const most = Math.max(1, reach);
    return (
        <div>
            <div class="maps">
                {Array.from({ length: heads }, (_, h) => (
                    <Heat
                        key={`w${h}`}
                        title={`W, query by position${heads === 1 ? '' : `, head ${h ? 'k⁻' : 'k⁺'}`}: logarithms of taps`}
                        values={logits(wq, P, heads, h)}
                        rows={P}
                        columns={P}
                        top={1}
                        lowest="ln 0.01"
                        highest="ln 1"
                        rest="Row i: position i’s query. Column 0: the extra token."
                        of={(i, j, value) =>
                            Number.isNaN(value)
                                ? `row ${i}, column ${j}: ${j > i ? 'masked' : 'ln 0, as −1000'}`
                                : `row ${i}, column ${j}: ln ${show(0.01 ** (1 - value))}`
                        }
                    />
                ))}
                {Array.from({ length: heads }, (_, h) => (
                    <Heat
                        key={`a${h}`}
                        title={
                            heads === 1
                                ? 'Attention: every diagonal one tap'
                                : `Attention of head ${h ? 'k⁻' : 'k⁺'}`
                        }
                        values={causal(map.slice(h * P * P, (h + 1) * P * P), P)}
                        rows={P}
                        columns={P}
                        top={Math.max(...map.slice(h * P * P + P, (h + 1) * P * P)) || 1}
                        rest="The same number along each diagonal: Toeplitz."
                        of={(i, j, value) => `row ${i} looks at column ${j}: ${show(value)}`}
                    />
                ))}
            </div>
            <p class="hint">
                <span class="key one">○ attention’s output</span>{' '}
                <span class="key two">✕ the convolution kernel’s</span>
            </p>
            <Stems
                label="Both outputs"
                series={[
                    { values: y, tone: 'one', shape: 'ring' },
                    { values: direct, tone: 'two', shape: 'cross', stems: false },
                ]}
                low={-Math.ceil(most)}
                high={Math.ceil(most)}
                foot={(i) => i}
            />
            {negative ? (
                <Verdict holds={false}>
                    One head cannot: its weights are never negative, and a negative tap has no logarithm. Give
                    the kernel its second head.
                </Verdict>
            ) : (
                <Verdict holds={difference <= bound}>
                    Largest difference of the two: <b class="number">{show(difference)}</b>; rounding allows{' '}
                    <span class="number">{show(bound)}</span>.
                </Verdict>
            )}
        </div>
    );
}

/** One head's logits as a share of ln 0.01 .. ln 1; what is masked or ln 0 is left blank. */
function logits(wq: Float64Array, P: number, heads: number, head: number): Float64Array {
    const root = Math.sqrt(P);
    return Float64Array.from({ length: P * P }, (_, n) => {
        const i = Math.floor(n / P);
        const j = n % P;
        const logit = wq[(i * heads + head) * P + j]! / root;
        return j > i || i === 0 || logit < -900 || Number.isNaN(logit)
            ? NaN
            : Math.max(0, Math.min(1, 1 + logit / Math.log(100)));
    });
}
