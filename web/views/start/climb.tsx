// climb.tsx: held-out answers over the steps of training, with the line that guessing reaches.
import { KINDS, modelOf, PAIRS, type Kind } from '../../state/story.ts';
import { Drawing } from '../drawing.tsx';

const NAMES: Record<Kind, string> = {
    attention: 'attention',
    keys: 'with the filter',
    values: 'filter on values',
};
const STEPS = 120;
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 112, 12, 28];
const HEIGHT = 220;

export function Climb({ kinds }: { kinds: readonly Kind[] }) {
    return (
        <Drawing
            height={HEIGHT}
            class="climb"
            label={`Share of right answers over ${STEPS} steps; guessing reaches one of ${PAIRS}`}
        >
            {(width) => {
                const x = (step: number) => LEFT + (step / STEPS) * (width - LEFT - RIGHT);
                const y = (share: number) => HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
                return (
                    <>
                        {[0, 0.5, 1].map((share) => (
                            <g key={share} class="axis-line">
                                <line x1={LEFT} x2={width - RIGHT} y1={y(share)} y2={y(share)} />
                                <text x={LEFT - 6} y={y(share)} text-anchor="end" dominant-baseline="central">
                                    {100 * share} %
                                </text>
                            </g>
                        ))}
                        {[0, 40, 80, 120].map((step) => (
                            <text key={step} x={x(step)} y={HEIGHT - 8} text-anchor="middle">
                                {step === STEPS ? `${step} steps` : step}
                            </text>
                        ))}
                        <line
                            class="guess"
                            x1={LEFT}
                            x2={width - RIGHT}
                            y1={y(1 / PAIRS)}
                            y2={y(1 / PAIRS)}
                        />
                        <text class="guess-name" x={LEFT + 6} y={y(1 / PAIRS) - 7}>
                            guessing: 1 of {PAIRS}
                        </text>
                        {KINDS.filter((kind) => kinds.includes(kind)).map((kind) => {
                            const entry = modelOf(kind);
                            void entry?.live.value;
                            const points = entry?.history.points ?? [];
                            const last = points[points.length - 1];
                            if (!last) return null;
                            return (
                                <g key={kind} class={`of-${kind}`}>
                                    <polyline
                                        points={points
                                            .map(({ step, accuracy }) => `${x(step)},${y(accuracy)}`)
                                            .join(' ')}
                                    />
                                    <circle cx={x(last.step)} cy={y(last.accuracy)} r={4} />
                                    <text
                                        x={x(last.step) + 9}
                                        y={
                                            y(last.accuracy) +
                                            (kind === 'values' ? 8 : kind === 'attention' ? -6 : 0)
                                        }
                                        dominant-baseline="central"
                                    >
                                        {NAMES[kind]}
                                    </text>
                                </g>
                            );
                        })}
                    </>
                );
            }}
        </Drawing>
    );
}
