// stems.tsx: a short signal as stems on a zero line; with `set`, each is a slider: drag over them to draw, or
// focus one and use the arrow keys.
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { show } from '../../core/figures.ts';
import { Drawing } from '../frame/drawing.tsx';
import { Catch } from './controls.tsx';

export interface Series {
    values: ArrayLike<number>;
    /** Class that gives the colour, and the shape of the heads. */
    tone: 'one' | 'two' | 'plain';
    shape: 'disc' | 'ring' | 'cross';
    stems?: boolean;
}
interface Props {
    label: string;
    series: readonly Series[];
    low: number;
    high: number;
    height?: number;
    /** Name of one value, for who cannot see it. */
    name?: (i: number) => string;
    set?: (i: number, value: number) => void;
    step?: number;
    /** Numbers under the stems. */
    foot?: (i: number) => ComponentChildren;
    /** Behind the stems. */
    behind?: (x: (i: number) => number, y: (value: number) => number, width: number) => ComponentChildren;
}

const STEP = 0.05;

export function Stems(props: Props) {
    const { label, series, low, high, height = 132, set, step = STEP, foot, behind } = props;
    const host = useRef<SVGGElement>(null);
    const n = series[0]!.values.length;
    const margin = { left: 34, right: 8, top: 8, bottom: foot ? 22 : 8 };
    return (
        <Drawing height={height} label={label} held={Boolean(set)}>
            {(width, tall) => {
                const inner = width - margin.left - margin.right;
                const bottom = tall - margin.bottom;
                const x = (i: number) => margin.left + ((i + 0.5) / n) * inner;
                const y = (value: number) =>
                    margin.top +
                    ((high - Math.max(low, Math.min(high, value))) / (high - low)) * (bottom - margin.top);
                const draw = (event: PointerEvent) => {
                    const box = host.current!.ownerSVGElement!.getBoundingClientRect();
                    const i = Math.floor(((event.clientX - box.left - margin.left) / inner) * n);
                    const value =
                        high -
                        ((event.clientY - box.top - margin.top) / (bottom - margin.top)) * (high - low);
                    if (i < 0 || i >= n) return;
                    const bounded = Math.max(low, Math.min(high, Math.round(value / step) * step));
                    set?.(i, Number(bounded.toFixed(4)) + 0);
                };
                return (
                    <g ref={host}>
                        {behind?.(x, y, width)}
                        {[low, 0, high]
                            .filter((value, i, list) => list.indexOf(value) === i)
                            .map((value) => (
                                <g key={value} class="axis-line">
                                    <line
                                        x1={margin.left}
                                        x2={width - margin.right}
                                        y1={y(value)}
                                        y2={y(value)}
                                        class={value === 0 ? 'zero' : ''}
                                    />
                                    <text
                                        x={margin.left - 6}
                                        y={y(value)}
                                        text-anchor="end"
                                        dominant-baseline="central"
                                    >
                                        {show(value)}
                                    </text>
                                </g>
                            ))}
                        {foot &&
                            Array.from({ length: n }, (_, i) => (
                                <text key={i} class="foot" x={x(i)} y={tall - 6} text-anchor="middle">
                                    {foot(i)}
                                </text>
                            ))}
                        {series.map((one, s) => (
                            <Stem key={s} {...one} x={x} y={y} />
                        ))}
                        {set && (
                            <Catch
                                class="catch"
                                x={margin.left}
                                y={0}
                                width={Math.max(0, inner)}
                                height={tall}
                                draw={draw}
                            />
                        )}
                        {set && <Handles {...props} set={set} x={x} y={y} />}
                    </g>
                );
            }}
        </Drawing>
    );
}

type Scale = (value: number) => number;
/** A slider at the end of each stem. */
function Handles({
    series,
    low,
    high,
    step = STEP,
    name,
    set,
    x,
    y,
}: Props & Required<Pick<Props, 'set'>> & { x: Scale; y: Scale }) {
    return (
        <>
            {Array.from(series[0]!.values, (value, i) => (
                <circle
                    key={i}
                    class="handle"
                    cx={x(i)}
                    cy={y(value)}
                    r={10}
                    tabindex={0}
                    role="slider"
                    aria-label={name?.(i) ?? String(i)}
                    aria-valuemin={low}
                    aria-valuemax={high}
                    aria-valuenow={value}
                    onKeyDown={(event) => {
                        const by = {
                            ArrowUp: step,
                            ArrowRight: step,
                            ArrowDown: -step,
                            ArrowLeft: -step,
                        }[event.key];
                        if (by === undefined) return;
                        event.preventDefault();
                        set(i, Number(Math.max(low, Math.min(high, value + by)).toFixed(4)));
                    }}
                />
            ))}
        </>
    );
}

function Stem({ values, tone, shape, stems = true, x, y }: Series & { x: Scale; y: Scale }) {
    return (
        <g class={`tone-${tone}`}>
            {Array.from(values, (value, i) =>
                Number.isFinite(value) ? (
                    <g key={i}>
                        {stems && <line x1={x(i)} x2={x(i)} y1={y(0)} y2={y(value)} />}
                        <Head shape={shape} x={x(i)} y={y(value)} />
                    </g>
                ) : null,
            )}
        </g>
    );
}

function Head({ shape, x, y }: { shape: Series['shape']; x: number; y: number }) {
    if (shape === 'cross') return <path class="cross" d={`M${x - 4} ${y - 4}l8 8M${x - 4} ${y + 4}l8 -8`} />;
    return <circle class={shape} cx={x} cy={y} r={shape === 'ring' ? 5.5 : 3.5} />;
}
