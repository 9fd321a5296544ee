// arcs.tsx: where an answer comes from, as arcs between the tokens of the line: what a key takes from its
// neighbours, which keys a question matches, which value it copies.
import { Drawing } from '../frame/drawing.tsx';
import { middles } from './line.tsx';

interface Props {
    /** The line, and the place that asks. */
    tokens: readonly number[];
    row: number;
    /** How much the row looks at each place. */
    weights: ArrayLike<number>;
    /** The filter of the keys; null: there is none. */
    taps: readonly number[] | null;
    /** What is drawn: 1 what keys remember, 2 also the match, 3 also the copied value; 0 all. */
    stage?: number;
    /** Arcs hang below the line. */
    below?: boolean;
    /** CSS class of the colour. */
    tone: string;
    label: string;
}
/** Their grey ones, in words. */
export const ADDED = 'what the filter adds to a label from the tokens before it.';
const HEIGHT = 112;
const FAINTEST = 0.01; // share below which an arc is left out

export function Arcs({ tokens, row, weights, taps, stage = 0, below = false, tone, label }: Props) {
    return (
        <Drawing height={HEIGHT} label={label} class={`arcs ${tone}`}>
            {(width) => {
                const places = middles(tokens, width);
                const x = (i: number) => places[i]!;
                const base = below ? 2 : HEIGHT - 2;
                const arc = (from: number, to: number) => {
                    const rise = 1.3 * (10 + (HEIGHT - 28) * (Math.abs(to - from) / tokens.length));
                    const y = below ? base + rise : base - rise;
                    return `M${x(from)} ${base}C${x(from)} ${y} ${x(to)} ${y} ${x(to)} ${base}`;
                };
                let best = 0;
                for (let i = 0; i <= row; i++) if (weights[i]! > weights[best]!) best = i;
                const shown = (at: number) => stage === 0 || stage >= at;
                return (
                    <>
                        {taps &&
                            shown(1) &&
                            Array.from({ length: row }, (_, i) =>
                                taps.map((tap, back) => {
                                    const place = i + 1;
                                    if (!back || back > place || Math.abs(tap) < 0.03) return null;
                                    const near = place === best;
                                    return (
                                        <path
                                            key={`${place}-${back}`}
                                            class={`remembers${near && stage !== 1 ? ' near' : ''}`}
                                            d={arc(place - back, place)}
                                            style={{ strokeWidth: 1 + 2 * Math.min(1.5, Math.abs(tap)) }}
                                        />
                                    );
                                }),
                            )}
                        {taps && shown(1) && taps.some((tap, back) => back && Math.abs(tap) >= 0.03) && (
                            <path
                                class="heads"
                                d={Array.from(
                                    { length: row },
                                    (_, i) => `M${x(i + 1) - 3} ${base - 5}h6l-3 5z`,
                                ).join('')}
                            />
                        )}
                        {shown(2) &&
                            Array.from({ length: row + 1 }, (_, i) => {
                                const share = weights[i]!;
                                if (share < FAINTEST) return null;
                                if (i === row)
                                    return (
                                        <circle key={i} class="self" cx={x(i)} cy={base} r={1 + 5 * share} />
                                    );
                                return (
                                    <path
                                        key={i}
                                        class="matches"
                                        d={arc(row, i)}
                                        style={{ strokeWidth: 1 + 6.5 * share, opacity: 0.45 + 0.55 * share }}
                                    />
                                );
                            })}
                        {shown(3) && stage !== 0 && <path class="copies" pathLength={1} d={arc(best, row)} />}
                    </>
                );
            }}
        </Drawing>
    );
}
