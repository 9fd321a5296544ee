// flow_tokens.tsx: the tokens over the columns of a flow, each in its box. Where boxes are too narrow for
// names, only the question and the token that is pointed at have theirs, over their neighbours.
import type { ComponentChildren } from 'preact';
import type { Column } from '../../charts/flow_shapes.ts';

const LETTER = 9; // pixels that a character takes
const BESIDE = 4; // between two names
const SHAPE = 16; // pixels of a picture at its size
const LEAST = 0.65; // of its size at which it can still be read
const HEIGHT = 24;

interface Props {
    places: readonly Column[];
    name: (i: number) => string;
    /** A token that has a picture, around (0, 0): drawn in place of its name. */
    picture: (i: number) => ComponentChildren;
    row: number;
    at: number;
}
interface Label {
    i: number;
    /** Its middle, and its size as a share of the small type's. */
    x: number;
    size: number;
}

/** The names that have room: those that fit into their boxes; of the two that matter the pointed one at
 * least. */
function labelsOf({ places, name, picture, row, at }: Props): Label[] {
    const end = places.at(-1)!.x + places.at(-1)!.width;
    const halfOf = (i: number, size: number) => (size * LETTER * name(i).length) / 2;
    const labels = places.flatMap(({ x, width }, i) => {
        if (picture(i)) return [];
        const size = Math.min(1, (width - BESIDE) / (LETTER * name(i).length));
        if (size >= LEAST) return [{ i, x: x + width / 2, size }];
        if (i !== row && i !== at) return [];
        const half = halfOf(i, 1);
        return [{ i, x: Math.max(half, Math.min(end - half, x + width / 2)), size: 1 }];
    });
    const pointed = labels.find(({ i }) => i === at);
    const meets = (one: Label) =>
        pointed !== undefined &&
        one !== pointed &&
        Math.abs(one.x - pointed.x) < halfOf(one.i, one.size) + halfOf(at, pointed.size) - 1;
    return labels.filter((one) => !meets(one));
}

export function Tokens(props: Props) {
    const { places, name, picture, row, at } = props;
    const look = (i: number) => (i === row ? 'asks' : i === at ? 'at' : '');
    return (
        <g class="tokens">
            {places.map(({ x, width }, i) => (
                <rect
                    key={i}
                    class={look(i)}
                    x={x + 0.5}
                    y={0.5}
                    width={Math.max(1, width - 1)}
                    height={HEIGHT - 1}
                    rx={2}
                />
            ))}
            {places.map(({ x, width }, i) => (
                <g
                    key={i}
                    transform={`translate(${x + width / 2} ${HEIGHT / 2}) scale(${Math.min(1, width / (SHAPE + BESIDE))})`}
                >
                    {picture(i)}
                </g>
            ))}
            {labelsOf(props).map(({ i, x, size }) => (
                <text
                    key={i}
                    class={look(i)}
                    x={x}
                    y={HEIGHT / 2}
                    text-anchor="middle"
                    dominant-baseline="central"
                    style={{ fontSize: `calc(${size} * var(--small))` }}
                >
                    {name(i)}
                </text>
            ))}
        </g>
    );
}

const NEAR = 7;
/** On a phone the boxes are too narrow for an eye and a thumb: those about the token that is pointed at, in
 * its middle where the sequence goes on to both sides. */
export function Near({
    length,
    name,
    picture,
    row,
    at,
    point,
}: Omit<Props, 'places'> & { length: number; point: (at: number) => void }) {
    const from = Math.max(0, Math.min(length - NEAR, at - (NEAR - 1) / 2));
    return (
        <div class="flow-near" role="group" aria-label="The tokens nearby">
            {Array.from({ length: Math.min(NEAR, length) }, (_, k) => from + k).map((i) => (
                <button
                    key={i}
                    type="button"
                    class={i === row ? 'asks' : ''}
                    aria-pressed={i === at}
                    aria-label={`Token ${i}: ${name(i)}`}
                    onClick={() => point(i)}
                >
                    <span class="place">{i}</span>
                    {picture(i) ? (
                        <svg viewBox="-10 -10 20 20" aria-hidden="true">
                            {picture(i)}
                        </svg>
                    ) : (
                        <span>{name(i)}</span>
                    )}
                </button>
            ))}
        </div>
    );
}
