// climb.tsx: held-out answers over the batches of training, with the line that guessing reaches.
import { KINDS, modelOf, NAMES, PAIRS, type Kind } from '../../state/story.ts';
import { Drawing } from '../drawing.tsx';
import { Ends, enlarged, type End } from './ends.tsx';

const STEPS = 120;
const MARGINS = [40, 128, 12, 28];
const HEIGHT = 220;
type Four = [number, number, number, number];

export function Climb({ kinds }: { kinds: readonly Kind[] }) {
    return (
        <Drawing
            height={() => HEIGHT * enlarged()}
            class="climb"
            label={`Share of right answers over ${STEPS} batches; guessing reaches one of ${PAIRS}`}
        >
            {(width, height) => {
                const [left, right, top, bottom] = MARGINS.map((pixels) => pixels * enlarged()) as Four;
                const x = (step: number) => left + (step / STEPS) * (width - left - right);
                const y = (share: number) => height - bottom - share * (height - top - bottom);
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
                                <line x1={left} x2={width - right} y1={y(share)} y2={y(share)} />
                                <text x={left - 6} y={y(share)} text-anchor="end" dominant-baseline="central">
                                    {100 * share} %
                                </text>
                            </g>
                        ))}
                        {[0, 40, 80, 120].map((step) => (
                            <text key={step} x={x(step)} y={height - 8} text-anchor="middle">
                                {step === STEPS ? `${step} batches` : step}
                            </text>
                        ))}
                        <line
                            class="guess"
                            x1={left}
                            x2={width - right}
                            y1={y(1 / PAIRS)}
                            y2={y(1 / PAIRS)}
                        />
                        {curves}
                        <Ends ends={ends} x={width - right + 10} low={top} high={height - bottom} />
                    </>
                );
            }}
        </Drawing>
    );
}
