// learnt.tsx: what a mechanism has learnt, in its own terms: CAT's filters, Focus's resonators, long and short kernels.
import { useState } from 'preact/hooks';
import { impulse, response, spectrum } from '../charts/signal.ts';
import type { Look } from '../protocol.ts';
import type { Values } from '../setup.ts';
import type { Tensor } from '../../wasm/seqmix.ts';
import { Matrix, Plot, round } from './matrix.tsx';

export const find = (now: Look, name: string): Tensor | undefined =>
    now.tensors.find((tensor) => tensor.name === `block${now.block}.${name}` || tensor.name === name);

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
    const recall = /^(ar|mqar|dict_ar|mqnar|nar)$/.test(values['task'] ?? '');
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
                            {...(recall && role === 'k' && taps > 1
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
function filterSentence({ data, shape }: Tensor): string {
    const taps = data.subarray(0, shape[1]);
    const most = taps.reduce((best, tap, i) => (Math.abs(tap) > Math.abs(taps[best]!) ? i : best), 0);
    const back =
        ['the token itself', 'the token before', 'the token two back'][most] ?? `the token ${most} back`;
    const own = taps[0] ?? 0;
    return (
        `A key is made mostly of ${back} (weight ${round(taps[most]!)})` +
        (most > 0
            ? `, and of its own token by ${round(own)}: so a value carries the key that stands before it, and a question finds it.`
            : ': it does not look back.')
    );
}

/** Focus: the coefficients of every bin, one filter's frequency and impulse response. */
function Theta({ now }: { now: Look }) {
    const theta = find(now, 'mixer.theta');
    const [picked, pick] = useState({ bin: 1, channel: 0 });
    if (!theta) return null;
    const [bins, channels] = [theta.shape[1]!, theta.shape[2]!];
    const filters = theta.data.length / (bins * channels * 2);
    const bin = Math.min(picked.bin, bins - 1);
    const channel = Math.min(picked.channel, channels - 1);
    const of = (b: number, c: number, i: number) => theta.data[((b * channels + c) * filters + 0) * 2 + i]!;
    const [a, b] = [of(bin, channel, 0), of(bin, channel, 1)];
    const gains = new Float32Array(bins * 64);
    for (let i = 0; i < bins; i++) gains.set(response(of(i, channel, 0), of(i, channel, 1)), i * 64);
    const table = (i: number) =>
        Float32Array.from({ length: bins * channels }, (_, n) =>
            of(Math.floor(n / channels), n % channels, i),
        );
    const choice = (label: 'bin' | 'channel', count: number, value: number) => (
        <label>
            {label}
            <select
                value={value}
                onChange={({ currentTarget }) => pick({ bin, channel, [label]: Number(currentTarget.value) })}
            >
                {Array.from({ length: count }, (_, i) => (
                    <option key={i} value={i}>
                        {i}
                    </option>
                ))}
            </select>
        </label>
    );
    return (
        <section aria-labelledby="theta-title" class="learnt">
            <h3 id="theta-title">The filters that Focus chose</h3>
            <div class="options">
                {choice('bin', bins, bin)}
                {choice('channel', channels, channel)}
                <span class="number">
                    Θ₀ = {a.toFixed(4)}, Θ₁ = {b.toFixed(4)}
                </span>
            </div>
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
                    values={impulse(a, b)}
                    stems
                    xLabel="steps later"
                    from="0"
                    to="23"
                />
                <Matrix
                    label={`|H| of every bin, channel ${channel}`}
                    values={gains}
                    rows={bins}
                    columns={64}
                    row="bin"
                    column="frequency"
                />
                <Matrix
                    label="Θ₀"
                    values={table(0)}
                    rows={bins}
                    columns={channels}
                    signed
                    row="bin"
                    column="channel"
                />
                <Matrix
                    label="Θ₁"
                    values={table(1)}
                    rows={bins}
                    columns={channels}
                    signed
                    row="bin"
                    column="channel"
                />
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
/** Kernels over time, one a channel, with their spectra. */
function Kernels({ now }: { now: Look }) {
    const found = KERNELS.flatMap(([name, label]) => {
        const tensor = find(now, name) ?? find(now, name.replace('mixer.', 'shared.'));
        return tensor && tensor.shape.length === 2 ? [{ tensor, label }] : [];
    });
    if (!found.length) return null;
    return (
        <section aria-labelledby="kernels-title" class="learnt">
            <h3 id="kernels-title">Kernels over time, and the frequencies they let through</h3>
            <div class="plots">
                {found.flatMap(({ tensor: { data, shape }, label }) => {
                    const [channels, taps] = shape as [number, number];
                    const gains = new Float32Array(channels * 64);
                    for (let c = 0; c < channels; c++)
                        gains.set(spectrum(data.subarray(c * taps, (c + 1) * taps)), c * 64);
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
                            label={`${label}: spectrum, 0 to π`}
                            values={gains}
                            rows={channels}
                            columns={64}
                            row="channel"
                            column="frequency"
                        />,
                    ];
                })}
            </div>
        </section>
    );
}
