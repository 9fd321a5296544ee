// climb.tsx: shares of right answers as curves, with the line that guessing reaches: over the batches of
// training, or over what else a step tries.
import type { ComponentChildren } from 'preact';
import { KINDS, modelOf, NAMES, PAIRS, type Kind } from '../../state/views/story.ts';
import { Drawing } from '../frame/drawing.tsx';
import { Ends, enlarged, type End } from './ends.tsx';

const STEPS = 120;

/** A place, and the share of right answers there. */
export type Point = readonly [number, number];
interface Frame {
    /** Where a place is; where the first and the last are, and the upper end. */
    x: (place: number) => number;
    from: number;
    to: number;
    top: number;
    /** Where 0 % is, and the picture's lower end. */
    foot: number;
    height: number;
    width: number;
    /** The line of guessing. */
    guess: ComponentChildren;
}
interface Props {
    label: string;
    height: number;
    /** Pixels for what stands below the curves. */
    below: number;
    /** The last place. */
    last: number;
    curves: readonly (readonly [Kind, readonly Point[]])[];
    /** Each point has a disc, not only the last. */
    discs?: boolean;
    /** The places, and the line of guessing. */
    children: (frame: Frame) => ComponentChildren;
}
export function Shares({ label, height: tall, below, last, curves, discs, children }: Props) {
    return (
        <Drawing height={() => tall * enlarged()} class="climb" label={label}>
            {(width, height) => {
                const large = enlarged();
                const [from, to, top, foot] = [
                    40 * large,
                    width - 128 * large,
                    12 * large,
                    height - below * large,
                ];
                const x = (place: number) => from + (place / last) * (to - from);
                const y = (share: number) => foot - share * (foot - top);
                const guess = <line class="guess" x1={from} x2={to} y1={y(1 / PAIRS)} y2={y(1 / PAIRS)} />;
                const ends: End[] = [{ name: `guessing: 1 of ${PAIRS}`, y: y(1 / PAIRS) }];
                for (const [kind, points] of curves)
                    if (points.length)
                        ends.push({ name: NAMES[kind], y: y(points.at(-1)![1]), tone: `of-${kind}` });
                return (
                    <>
                        {[0, 0.5, 1].map((share) => (
                            <g key={share} class="axis-line">
                                <line x1={from} x2={to} y1={y(share)} y2={y(share)} />
                                <text x={from - 6} y={y(share)} text-anchor="end" dominant-baseline="central">
                                    {100 * share} %
                                </text>
                            </g>
                        ))}
                        {children({ x, from, to, top, foot, height, width, guess })}
                        {curves.map(([kind, points]) => (
                            <g key={kind} class={`of-${kind}`}>
                                <polyline
                                    points={points
                                        .map(([place, share]) => `${x(place)},${y(share)}`)
                                        .join(' ')}
                                />
                                {points.slice(discs ? 0 : -1).map(([place, share], i) => (
                                    <circle key={i} cx={x(place)} cy={y(share)} r={4} />
                                ))}
                            </g>
                        ))}
                        <Ends ends={ends} x={to + 10} low={top} high={foot} />
                    </>
                );
            }}
        </Drawing>
    );
}

export function Climb({ kinds }: { kinds: readonly Kind[] }) {
    const curves = KINDS.filter((kind) => kinds.includes(kind)).flatMap((kind) => {
        const entry = modelOf(kind);
        void entry?.live.value;
        const points = entry?.history.points ?? [];
        return points.length
            ? [[kind, points.map(({ step, accuracy }): Point => [step, accuracy])] as const]
            : [];
    });
    return (
        <Shares
            label={`Share of right answers over ${STEPS} batches; guessing reaches one of ${PAIRS}`}
            height={220}
            below={28}
            last={STEPS}
            curves={curves}
        >
            {({ x, height, guess }) => (
                <>
                    {[0, 40, 80, 120].map((step) => (
                        <text key={step} x={x(step)} y={height - 8} text-anchor="middle">
                            {step === STEPS ? `${step} batches` : step}
                        </text>
                    ))}
                    {guess}
                </>
            )}
        </Shares>
    );
}
