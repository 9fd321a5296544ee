// learnt.tsx: what a mechanism has learnt, in its own terms: CAT's filters, Focus's resonators, long and
// short kernels.
import { useState } from 'preact/hooks';
import { FREQUENCIES, response, spectrum } from '../../charts/signal.ts';
import { fixed, round } from '../../core/figures.ts';
import type { Look } from '../../training/protocol.ts';
import type { Values } from '../../core/config.ts';
import { lab } from '../../state/page.ts';
import { taskOf } from '../../state/setup.ts';
import type { Tensor } from '../../../wasm/loader/seqmix.ts';
import { averageKernel, impulse } from './impulse.ts';
import { Matrix, Plot } from './matrix.tsx';

export const find = (now: Look, name: string): Tensor | undefined =>
    now.tensors.find((tensor) => tensor.name === `block${now.block}.${name}` || tensor.name === name);

/** A column of a spectrum as the frequency that it stands for. */
const frequency = (k: number) => `${round((Math.PI * k) / FREQUENCIES)}`;

export function Learnt({ now, values }: { now: Look; values: Values }) {
    const parts = [
        <Filters key="filters" now={now} values={values} />,
        <Theta key="theta" now={now} />,
        <Kernels key="kernels" now={now} />,
    ];
    return <>{parts}</>;
}

const ROLES = { q: 'queries', k: 'keys', v: 'values' } as const;

/** CAT's filters over time, beside the delay that recall wants of the keys. */
function Filters({ now, values }: { now: Look; values: Values }) {
    const found = (['q', 'k', 'v'] as const).flatMap((role) => {
        const tensor = find(now, `mixer.filter_${role}`);
        return tensor && tensor.shape.length === 2 ? [{ role, tensor }] : [];
    });
    if (!found.length) return null;
    const recall = taskOf(lab(), values)?.recall;
    const keys = found.find(({ role }) => role === 'k')?.tensor;
    return (
        <section aria-labelledby="filters-title" class="learnt">
            <h3 id="filters-title">What the filters learn</h3>
            {keys && <p class="learnt-sentence">{filterSentence(keys)}</p>}
            <div class="plots">
                {found.map(({ role, tensor }) => {
                    const [heads, taps] = tensor.shape as [number, number];
                    // Recall works for a delay of either sign and any size: the queries answer to it.
                    const delay = Float32Array.from({ length: taps }, (_, t) =>
                        t === 1 ? tensor.data[1]! : 0,
                    );
                    return Array.from({ length: heads }, (_, h) => (
                        <Plot
                            key={`${role}${h}`}
                            label={`filter on the ${ROLES[role]}${heads > 1 ? `, head ${h + 1}` : ''}`}
                            values={tensor.data.subarray(h * taps, (h + 1) * taps)}
                            stems
                            xLabel="tokens back"
                            from="0"
                            to={String(taps - 1)}
                            {...(recall && role === 'k' && taps > 1 && delay[1]
                                ? {
                                      wanted: {
                                          values: delay,
                                          label: 'a pure delay by one token, as Theorem 1 builds it, of this size',
                                      },
                                  }
                                : {})}
                        />
                    ));
                })}
            </div>
        </section>
    );
}
export const BELOW_ZERO = '(A negative weight works as well: the questions learn to look for it.)';
function filterSentence({ data, shape }: Tensor): string {
    const taps = data.subarray(0, shape[1]);
    const where = shape[0]! > 1 ? 'In head 1 a' : 'A';
    if (taps.every((tap) => tap === 0))
        return `${where} key is zero, because all weights of its filter are: the tokens are indistinguishable.`;
    const most = taps.reduce((best, tap, i) => (Math.abs(tap) > Math.abs(taps[best]!) ? i : best), 0);
    const back =
        ['the token itself', 'the token before', 'the token two back'][most] ?? `the token ${most} back`;
    const own = taps[0] ?? 0;
    return (
        `${where} key is made mostly of ${back} (weight ${round(taps[most]!)})` +
        (most > 0
            ? `, and of its own token by ${round(own)}: so a value carries the key that stands before it, and a question finds it.` +
              (taps[most]! < 0 ? ` ${BELOW_ZERO}` : '')
            : ': it does not look back.')
    );
}

export function Choice(props: {
    name: string;
    value: string;
    choices: readonly (readonly [string, string])[];
    set: (value: string) => void;
}) {
    const { name, value, choices, set } = props;
    return (
        <label>
            {name}
            <select value={value} onChange={({ currentTarget }) => set(currentTarget.value)}>
                {choices.map(([one, says]) => (
                    <option key={one} value={one}>
                        {says}
                    </option>
                ))}
            </select>
        </label>
    );
}
/** The choices 0 to n - 1; `from`: what the first is called. */
export const numbered = (n: number, from = 0) =>
    Array.from({ length: n }, (_, i) => [String(i), String(i + from)] as const);

/** Focus: the coefficients of every bin, one filter's frequency and impulse response. */
function Theta({ now }: { now: Look }) {
    const theta = find(now, 'mixer.theta');
    const [picked, pick] = useState({ bin: 1, channel: 0, filter: 0 });
    if (!theta) return null;
    const [bins, channels] = [theta.shape[1]!, theta.shape[2]!];
    const filters = theta.data.length / (bins * channels * 2);
    const counts = { bin: bins, channel: channels, filter: filters };
    const bin = Math.min(picked.bin, bins - 1);
    const channel = Math.min(picked.channel, channels - 1);
    const filter = Math.min(picked.filter, filters - 1);
    const at = { bin, channel, filter };
    const of = (b: number, c: number, i: number) =>
        theta.data[((b * channels + c) * filters + filter) * 2 + i]!;
    const [a, b] = [of(bin, channel, 0), of(bin, channel, 1)];
    const gains = new Float32Array(bins * FREQUENCIES);
    for (let i = 0; i < bins; i++) gains.set(response(of(i, channel, 0), of(i, channel, 1)), i * FREQUENCIES);
    const table = (i: number) =>
        Float32Array.from({ length: bins * channels }, (_, n) =>
            of(Math.floor(n / channels), n % channels, i),
        );
    const size = { rows: bins, columns: channels, row: 'bin', column: 'channel' };
    return (
        <section aria-labelledby="theta-title" class="learnt">
            <h3 id="theta-title">The filters that Focus chose, one for each bin of tokens</h3>
            <div class="options">
                {(['bin', 'channel', 'filter'] as const).map((what) =>
                    counts[what] > 1 ? (
                        <Choice
                            key={what}
                            name={what}
                            value={String(at[what])}
                            choices={numbered(counts[what])}
                            set={(one) => pick({ ...at, [what]: Number(one) })}
                        />
                    ) : null,
                )}
                <span class="number">
                    Θ₀ = {fixed(a, 4)}, Θ₁ = {fixed(b, 4)}
                </span>
            </div>
            {find(now, 'mixer.hyper_w1') && (
                <p class="say">
                    Each bin’s filter is chosen from the bins before it: bin 0 has none and passes everything.
                </p>
            )}
            <div class="plots">
                <Plot
                    label="frequency response |H|"
                    values={response(a, b)}
                    xLabel="frequency"
                    from="0"
                    to="π"
                />
                <Plot
                    label="impulse response"
                    values={impulse(lab().kernels, a, b)}
                    stems
                    xLabel="tokens later"
                    from="0"
                    to="23"
                />
                <Matrix
                    label={`|H| of every bin, channel ${channel}`}
                    values={gains}
                    rows={bins}
                    columns={FREQUENCIES}
                    row="bin"
                    column="frequency, 0 to π"
                    at={frequency}
                />
                <Matrix label="Θ₀" values={table(0)} {...size} signed />
                <Matrix label="Θ₁" values={table(1)} {...size} signed />
            </div>
        </section>
    );
}

const KERNELS: readonly (readonly [string, string])[] = [
    ['mixer.short_3', 'short convolution, three taps'],
    ['mixer.short_n', 'short convolution, dilated taps'],
    ['mixer.kernel', 'kernel of the state space'],
    ['mixer.conv_k', 'long convolution'],
];
interface Kernel {
    label: string;
    /** [channels][taps] */
    data: Float32Array;
    channels: number;
    taps: number;
}
function kernelsOf(now: Look): Kernel[] {
    const found = KERNELS.flatMap(([name, label]) => {
        const tensor = find(now, name) ?? find(now, name.replace('mixer.', 'shared.'));
        if (tensor?.shape.length !== 2) return [];
        const [channels, taps] = tensor.shape as [number, number];
        const long = label !== 'long convolution' || taps >= now.sample.length;
        return [{ label: long ? label : 'short convolution', data: tensor.data, channels, taps }];
    });
    const average = averageOf(now);
    return average ? [...found, average] : found;
}
/** All moving averages of a channel together are one kernel: what an input still counts so many tokens
 * later. */
function averageOf(now: Look): Kernel | null {
    const found = ['alpha', 'delta', 'beta', 'eta', 'ema_skip'].map((name) => find(now, `mixer.${name}`));
    if (found.some((tensor) => !tensor)) return null;
    const [alpha, delta, beta, eta, skip] = found.map((tensor) => tensor!.data) as [
        Float32Array,
        Float32Array,
        Float32Array,
        Float32Array,
        Float32Array,
    ];
    const taps = now.sample.length;
    const data = averageKernel(lab().kernels, { alpha, delta, beta, eta, skip }, taps);
    return { label: 'moving averages as one kernel', data, channels: skip.length, taps };
}

/** Kernels over time, one a channel, with their spectra. */
function Kernels({ now }: { now: Look }) {
    const found = kernelsOf(now);
    if (!found.length) return null;
    return (
        <section aria-labelledby="kernels-title" class="learnt">
            <h3 id="kernels-title">Kernels over time, and the frequencies that they pass</h3>
            <div class="plots">
                {found.flatMap(({ label, data, channels, taps }) => {
                    const gains = new Float32Array(channels * FREQUENCIES);
                    for (let c = 0; c < channels; c++)
                        gains.set(spectrum(data.subarray(c * taps, (c + 1) * taps)), c * FREQUENCIES);
                    return [
                        <Matrix
                            key={label}
                            label={label}
                            values={data}
                            rows={channels}
                            columns={taps}
                            signed
                            row="channel"
                            column="tokens back"
                        />,
                        <Matrix
                            key={`${label}-f`}
                            label="its spectrum"
                            values={gains}
                            rows={channels}
                            columns={FREQUENCIES}
                            row="channel"
                            column="frequency, 0 to π"
                            at={frequency}
                        />,
                    ];
                })}
            </div>
        </section>
    );
}
