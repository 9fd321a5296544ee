// climb.tsx: held-out answers over the batches of training, with the line that guessing reaches.
import { KINDS, modelOf, NAMES, PAIRS, type Kind } from '../../state/story.ts';
import { Drawing } from '../drawing.tsx';
import { Ends, type End } from './ends.tsx';

const STEPS = 120;
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 128, 12, 28];
const HEIGHT = 220;

export function Climb({ kinds }: { kinds: readonly Kind[] }) {
    return (
        <Drawing
            height={HEIGHT}
            class="climb"
            label={`Share of right answers over ${STEPS} batches; guessing reaches one of ${PAIRS}`}
        >
            {(width) => {
                const x = (step: number) => LEFT + (step / STEPS) * (width - LEFT - RIGHT);
                const y = (share: number) => HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
                const ends: End[] = [{ name: `guessing: 1 of ${PAIRS}`, y: y(1 / PAIRS) }];
                const curves = KINDS.filter((kind) => kinds.includes(kind)).map((kind) => {
                    const entry = modelOf(kind);
                    void entry?.live.value;
                    const points = entry?.history.points ?? [];
                    const last = points[points.length - 1];
                    if (!last) return null;
                    ends.push({ name: NAMES[kind], y: y(last.accuracy), tone: `of-${kind}` });
                    return (
                        <g key={kind} class={`of-${kind}`}>
                            <polyline
                                points={points
                                    .map(({ step, accuracy }) => `${x(step)},${y(accuracy)}`)
                                    .join(' ')}
                            />
                            <circle cx={x(last.step)} cy={y(last.accuracy)} r={4} />
                        </g>
                    );
                });
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
                                {step === STEPS ? `${step} batches` : step}
                            </text>
                        ))}
                        <line
                            class="guess"
                            x1={LEFT}
                            x2={width - RIGHT}
                            y1={y(1 / PAIRS)}
                            y2={y(1 / PAIRS)}
                        />
                        {curves}
                        <Ends ends={ends} x={width - RIGHT + 10} low={TOP} high={HEIGHT - BOTTOM} />
                    </>
                );
            }}
        </Drawing>
    );
}
