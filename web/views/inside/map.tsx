// map.tsx: the attention map of the sample: one head of one block, with its scale, read out under the
// pointer.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { futureClear, pointedCell, roundTop } from '../../charts/grid.ts';
import { drawHeat, drawLegend } from '../../charts/heat.ts';
import type { Look } from '../../training/protocol.ts';
import { setView } from '../../state/viewing.ts';
import { inspecting } from '../../state/watching.ts';

const pointed = signal<{ row: number; column: number } | null>(null);

interface Props {
    now: Look;
    /** [length][length]: what each row looks at. */
    map: Float32Array;
    head: number;
    /** The row that is asked about. */
    row: number | null;
    name: string;
}

export function AttentionMap({ now, map, head, row, name }: Props) {
    const size = now.sample.length;
    const top = roundTop(map, size);
    const canvas = useRef<HTMLCanvasElement>(null);
    const legend = useRef<HTMLCanvasElement>(null);
    useEffect(() => {
        if (canvas.current) drawHeat(canvas.current, futureClear(map, size), size, size, top);
    }, [now, head]);
    useEffect(() => {
        if (legend.current) drawLegend(legend.current);
    }, []);
    const heads = Array.from({ length: now.heads }, (_, i) => i);
    const point = (event: PointerEvent & { currentTarget: HTMLElement }) =>
        (pointed.value = pointedCell(event, size, size));
    return (
        <figure class="map">
            <figcaption>
                <h3>Attention map</h3>
                {now.blocks.length > 1 && !inspecting.value && (
                    <Choice
                        label="block"
                        value={now.block}
                        choices={now.blocks}
                        set={(block) => setView({ block })}
                    />
                )}
                {heads.length > 1 && (
                    <Choice label="head" value={head} choices={heads} set={(one) => setView({ head: one })} />
                )}
            </figcaption>
            <div class="map-frame">
                <canvas
                    ref={canvas}
                    role="img"
                    aria-label={`Attention map of ${name}: rows are queries, columns are keys.`}
                    onPointerMove={point}
                    onPointerDown={point}
                    onPointerLeave={() => (pointed.value = null)}
                />
                {row !== null && (
                    <svg
                        class="row-mark"
                        viewBox={`0 0 ${size} ${size}`}
                        preserveAspectRatio="none"
                        aria-hidden="true"
                    >
                        <rect x="0" y={row} width={size} height="1" />
                    </svg>
                )}
            </div>
            <div class="map-legend">
                <span>row = query, column = key</span>
                <span class="scale">
                    <span class="number">0</span>
                    <canvas ref={legend} aria-hidden="true" />
                    <span class="number">{top}</span>
                </span>
            </div>
            <Reading now={now} map={map} />
        </figure>
    );
}

function Reading({ now, map }: Pick<Props, 'now' | 'map'>) {
    const { tokens, length } = now.sample;
    const at = pointed.value;
    const name = (i: number) => (tokens ? `${i} (token ${tokens[i]})` : `${i}`);
    const weight = at ? map[at.row * length + at.column] : undefined;
    return (
        <p class="read number">
            {at && weight !== undefined
                ? `${name(at.row)} looks at ${name(at.column)}: ${weight.toFixed(4)}`
                : 'Point at the map to read a weight.'}
        </p>
    );
}

interface ChoiceProps {
    label: string;
    value: number;
    choices: readonly number[];
    set: (value: number) => void;
}
function Choice({ label, value, choices, set }: ChoiceProps) {
    return (
        <label>
            <span>{label}</span>
            <select value={value} onChange={({ currentTarget }) => set(Number(currentTarget.value))}>
                {choices.map((choice) => (
                    <option key={choice} value={choice}>
                        {choice + 1}
                    </option>
                ))}
            </select>
        </label>
    );
}
