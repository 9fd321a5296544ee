// matrix.tsx: numbers as a heat map with its scale, read out under the pointer; and short sequences of
// numbers as lines and stems with their axes.
import { useEffect, useRef, useState } from 'preact/hooks';
import { drawSigned, drawSignedLegend } from '../../charts/diverging.ts';
import { pointedCell } from '../../charts/grid.ts';
import { drawHeat, drawLegend } from '../../charts/heat.ts';
import { round, signed as withMinus, tenth } from '../../core/figures.ts';
import { painted } from '../../core/theme.ts';

interface MatrixProps {
    label: string;
    values: ArrayLike<number>;
    rows: number;
    columns: number;
    /** From -top to top around zero, else from 0 to top. */
    signed?: boolean;
    top?: number;
    /** What goes down and what goes across. */
    row?: string;
    column?: string;
    /** How a column is called in the reading, else by its number. */
    at?: (column: number) => string;
    /** The number of the first row. */
    from?: number;
    /** A row that is marked, by its number. */
    mark?: number;
    /** Pixels stay square. */
    square?: boolean;
}

export function Matrix({
    label,
    values,
    rows,
    columns,
    signed,
    top,
    row = 'row',
    column = 'column',
    at = String,
    from = 0,
    mark,
    square,
}: MatrixProps) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const legend = useRef<HTMLCanvasElement>(null);
    const [pointed, setPointed] = useState<{ row: number; column: number } | null>(null);
    let most = top ?? 0;
    if (top === undefined)
        for (let i = 0; i < values.length; i++) most = Math.max(most, Math.abs(values[i]!) || 0);
    useEffect(() => {
        if (canvas.current) (signed ? drawSigned : drawHeat)(canvas.current, values, rows, columns, most);
        if (legend.current) (signed ? drawSignedLegend : drawLegend)(legend.current);
    }, [values, rows, columns, painted.value]);
    const value = pointed && values[pointed.row * columns + pointed.column];
    const point = (event: PointerEvent & { currentTarget: HTMLElement }) =>
        setPointed(pointedCell(event, rows, columns));
    return (
        <figure class="matrix">
            <figcaption>
                {label}{' '}
                <span class="axes">
                    {row} ↓ {column} →
                </span>
            </figcaption>
            <div class="matrix-place">
                <canvas
                    ref={canvas}
                    class={square ? 'square' : ''}
                    style={square ? { aspectRatio: `${columns} / ${rows}` } : undefined}
                    role="img"
                    aria-label={`${label}: ${rows} times ${row}, ${columns} times ${column}, largest ${round(most)}`}
                    onPointerMove={point}
                    onPointerDown={point}
                    onPointerLeave={() => setPointed(null)}
                />
                {mark !== undefined && (
                    <span
                        class="matrix-row"
                        style={{ top: `${(100 * (mark - from)) / rows}%`, height: `${100 / rows}%` }}
                    />
                )}
            </div>
            <div class="map-legend">
                <span class="number">
                    {pointed && value !== undefined && value !== null && !Number.isNaN(value)
                        ? `${row} ${from + pointed.row}, ${column} ${at(pointed.column)}: ${withMinus(value.toPrecision(4))}`
                        : `${rows} × ${columns}`}
                </span>
                <span class="scale">
                    <span class="number">{signed && most > 0 ? `−${round(most)}` : '0'}</span>
                    <canvas ref={legend} aria-hidden="true" />
                    <span class="number">{round(most)}</span>
                </span>
            </div>
        </figure>
    );
}

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [240, 130, 60, 22, 8];

interface PlotProps {
    label: string;
    /** One value for each place from 0. */
    values: ArrayLike<number>;
    xLabel: string;
    /** Names of the first and the last place. */
    from: string;
    to: string;
    stems?: boolean;
    /** A place to compare with: what a theorem wants. */
    wanted?: { values: ArrayLike<number>; label: string };
}

/** The end of an axis, short enough for the place beside it. */
const end = (v: number) => (v === 0 || Math.abs(v) >= 1e-3 ? round(v) : tenth(v));

/** A line, or stems, with a zero line and the ends of both axes. */
export function Plot({ label, values, xLabel, from, to, stems, wanted }: PlotProps) {
    const all = [...Array.from(values), ...Array.from(wanted?.values ?? []), 0];
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const n = values.length;
    const step = (WIDTH - LEFT - 8) / n;
    const x = (i: number) => LEFT + (i + 0.5) * step;
    const y = (v: number) => TOP + ((high - v) / (high - low || 1)) * (HEIGHT - TOP - BOTTOM);
    const wide = Math.max(2, Math.min(18, 0.5 * step));
    // A few bars have a number each; what is counted is then said above.
    const each = stems && n <= 8;
    const marks: (readonly [number, string])[] = each
        ? Array.from({ length: n }, (_, i) => [x(i), String(i)] as const)
        : [[x(0), from], [(LEFT + WIDTH) / 2, xLabel], ...(n > 1 ? [[x(n - 1), to] as const] : [])];
    return (
        <figure class="plot">
            <figcaption>{each ? `${label}, by ${xLabel}` : label}</figcaption>
            <svg
                viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
                role="img"
                aria-label={`${label}: ${Array.from(values)
                    .slice(0, 12)
                    .map((v) => round(v))
                    .join(', ')}`}
            >
                <line class="zero" x1={LEFT} x2={WIDTH} y1={y(0)} y2={y(0)} />
                {wanted &&
                    Array.from(wanted.values, (v, i) => (
                        <rect
                            key={i}
                            class="wanted"
                            x={x(i) - wide / 2 - 3}
                            width={wide + 6}
                            y={Math.min(y(v), y(0))}
                            height={Math.abs(y(v) - y(0))}
                        />
                    ))}
                {stems ? (
                    Array.from(values, (v, i) => (
                        <rect
                            key={i}
                            class="stem"
                            x={x(i) - wide / 2}
                            width={wide}
                            y={Math.min(y(v), y(0))}
                            height={Math.abs(y(v) - y(0))}
                        >
                            <title>
                                {i}: {v}
                            </title>
                        </rect>
                    ))
                ) : (
                    <polyline
                        class="line"
                        points={Array.from(values, (v, i) => `${x(i)},${y(v)}`).join(' ')}
                    />
                )}
                <text x={LEFT - 4} y={TOP + 8} text-anchor="end">
                    {end(high)}
                </text>
                {low < 0 && (
                    <text x={LEFT - 4} y={HEIGHT - BOTTOM} text-anchor="end">
                        {end(low)}
                    </text>
                )}
                {marks.map(([at, name]) => (
                    <text key={at} x={at} y={HEIGHT - 5} text-anchor="middle">
                        {name}
                    </text>
                ))}
            </svg>
            {wanted && <p class="say">Outlined: {wanted.label}.</p>}
        </figure>
    );
}
