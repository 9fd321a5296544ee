// parts.tsx: what the pictures share: the frame around one, heat maps, what a claim comes to.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { drawHeat, drawLegend } from '../../charts/heat.ts';
import { show } from '../../core/figures.ts';
import { PICTURED } from './pictured.ts';
import { Truth } from './truth.tsx';

interface FigureProps {
    id: keyof typeof PICTURED;
    title: string;
    /** The claim, and whose it is. */
    source: ComponentChildren;
    children: ComponentChildren;
}
export function Theorem({ id, title, source, children }: FigureProps) {
    return (
        <section class="theorem" id={`theorem-${id}`} aria-labelledby={`theorem-${id}-title`}>
            <h3 id={`theorem-${id}-title`}>{title}</h3>
            <p class="source">{source}</p>
            <Truth of={PICTURED[id]} />
            {children}
        </section>
    );
}

interface HeatProps {
    values: ArrayLike<number>;
    rows: number;
    columns: number;
    top: number;
    title: string;
    /** What a row and a column are, for the line that reads them. */
    of: (row: number, column: number, value: number) => string;
    /** Said under the map while nothing is pointed at. */
    rest: string;
    lowest?: string;
    highest?: string;
    /** Drawn over the map, one unit an entry. */
    over?: ComponentChildren;
}
/** A matrix, row 0 on top; NaN is left blank. Pointing at an entry reads it. */
export function Heat(props: HeatProps) {
    const { values, rows, columns, top, title, of, rest, lowest = '0', highest, over } = props;
    const canvas = useRef<HTMLCanvasElement>(null);
    const scale = useRef<HTMLCanvasElement>(null);
    const [at, setAt] = useState<readonly [number, number] | null>(null);
    useEffect(() => drawHeat(canvas.current!, Float32Array.from(values), rows, columns, top), [values, top]);
    useEffect(() => drawLegend(scale.current!), []);
    const read = (event: PointerEvent) => {
        const box = canvas.current!.getBoundingClientRect();
        const row = Math.floor(((event.clientY - box.top) / box.height) * rows);
        const column = Math.floor(((event.clientX - box.left) / box.width) * columns);
        setAt(row >= 0 && row < rows && column >= 0 && column < columns ? [row, column] : null);
    };
    return (
        <figure class="heat">
            <figcaption>{title}</figcaption>
            <div class="heat-place">
                <canvas
                    ref={canvas}
                    role="img"
                    aria-label={`${title}. ${rest}`}
                    style={{ aspectRatio: `${columns} / ${rows}` }}
                    onPointerMove={read}
                    onPointerDown={read}
                    onPointerLeave={() => setAt(null)}
                />
                {over && (
                    <svg viewBox={`0 0 ${columns} ${rows}`} preserveAspectRatio="none" aria-hidden="true">
                        {over}
                    </svg>
                )}
            </div>
            <p class="heat-scale" aria-hidden="true">
                <span>{lowest}</span>
                <canvas ref={scale} />
                <span>{highest ?? show(top)}</span>
            </p>
            <p class="read">{at ? of(at[0], at[1], Number(values[at[0] * columns + at[1]])) : rest}</p>
        </figure>
    );
}

/** An attention map with what is masked left blank. */
export function causal(map: Float64Array, n: number): Float64Array {
    return map.map((value, at) => (at % n > Math.floor(at / n) ? NaN : value));
}

/** The number that the claim is about, and what it has to stay below. */
export function Verdict({ holds, children }: { holds: boolean | null; children: ComponentChildren }) {
    return (
        <p class={`verdict ${holds === null ? '' : holds ? 'holds' : 'fails'}`}>
            <span aria-hidden="true">{holds === null ? '·' : holds ? '✓' : '✗'}</span>
            <span>{children}</span>
        </p>
    );
}
export function Problem({ problem }: { problem: string | null }) {
    if (!problem) return null;
    return (
        <p class="why" role="alert">
            This cannot be computed here: {problem}
        </p>
    );
}
