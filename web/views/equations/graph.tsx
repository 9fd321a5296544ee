// graph.tsx: a mixer's text as boxes and edges; a box that is pressed shows its tensor on a sample.
import { useEffect, useState } from 'preact/hooks';
import type { EquationSteps } from '../../../wasm/loader/verify.ts';
import type { Tensor } from '../../../wasm/loader/seqmix.ts';
import { curve, layers } from '../../charts/layers.ts';
import { config, seen, trained } from '../../state/views/equations.ts';
import { view } from '../../state/page.ts';
import { Matrix } from '../inside/matrix.tsx';
import { counted } from '../frame/stepper.tsx';

const HEIGHT = 46;
const LETTER = 7.3; // pixels of one at most, in a box
const REM = 15; // pixels of a rem on a laptop: on a wall the picture grows with the text
const EDGE = 3; // around the picture, for the lines of the boxes
const shapeOf = (shape: readonly number[]) => shape.join('×');

/** The row goes back to the state: a loop at the box's right upper corner, inside it. */
const again = ({ x, y, width }: { x: number; y: number; width: number }) =>
    `M${x + width - 8} ${y + 12}a4.5 4.5 0 1 1 -2 -5.5m2.5 -2.5v3.5h-3.5`;

/** What stands in each box: the input's, then those of the steps. */
const boxesOf = (steps: EquationSteps['steps']) => [
    { title: 'x', says: 'the input', name: '', below: '', keeps: false },
    ...steps.map((step) => ({
        title: step.name || step.function,
        says: `${step.name ? `${step.function} ` : ''}${shapeOf(step.shape)}`,
        name: step.name,
        below: [
            ...step.states.map(({ name, shape }) => `state ${name} ${shapeOf(shape)}`),
            ...step.weights.map(({ name, shape }) => `${name} ${shapeOf(shape)}`),
        ].join(', '),
        keeps: step.states.length > 0,
    })),
];

/** What a picture shows while its text is wrong, or not read yet. */
export const OfBefore = () => <span class="say">(from the last valid text)</span>;

export function Graph({ steps: { steps, output }, stale }: { steps: EquationSteps; stale: boolean }) {
    const [chosen, choose] = useState('');
    const boxes = boxesOf(steps);
    const wide = ({ title, says, below }: (typeof boxes)[number]) =>
        16 + LETTER * Math.max(title.length, says.length, below.length * 0.85);
    const { width, height, ...laid } = layers(
        steps.map(({ from }) => from),
        boxes.map(wide),
        HEIGHT,
    );
    const open = boxes.some(({ name }) => name === chosen) ? chosen : '';
    return (
        <section aria-labelledby="graph-title" class={stale ? 'stale' : ''}>
            <h3 id="graph-title">What it becomes {stale && <OfBefore />}</h3>
            <div class="scroll" tabIndex={0} role="group" aria-label="The graph of the text">
                <svg
                    class="graph"
                    font-size="11.25" // of its own pixels, which grow with the page
                    width={`${(width + 2 * EDGE) / REM}rem`}
                    height={`${(height + 2 * EDGE) / REM}rem`}
                    viewBox={`${-EDGE} ${-EDGE} ${width + 2 * EDGE} ${height + 2 * EDGE}`}
                    role="group"
                    aria-label={`${steps.length} steps; the result is ${boxes[output + 1]!.title}`}
                >
                    {laid.edges.map(({ from, to, points }) => (
                        <path key={`${from}-${to}`} class="edge" d={curve(points)} />
                    ))}
                    {laid.boxes.map((box, i) => {
                        const { title, says, name, below, keeps } = boxes[i]!;
                        const kind = `${keeps ? ' state' : ''}${i === output + 1 ? ' result' : ''}`;
                        const press = () => choose(name === open ? '' : name);
                        const middle = box.x + box.width / 2;
                        const inside = (
                            <>
                                <rect x={box.x} y={box.y} width={box.width} height={box.height} rx={4} />
                                {keeps && <path class="again" d={again(box)} />}
                                <text class="title" x={middle} y={box.y + 15} text-anchor="middle">
                                    {`${title} `}
                                </text>
                                <text x={middle} y={box.y + 28} text-anchor="middle">
                                    {`${says} `}
                                </text>
                                <text class="weights" x={middle} y={box.y + 40} text-anchor="middle">
                                    {below}
                                </text>
                            </>
                        );
                        return name ? (
                            <g
                                key={i}
                                class={`box named${kind}`}
                                role="button"
                                tabindex={0}
                                aria-pressed={name === open}
                                onClick={press}
                                onKeyDown={(event) => {
                                    if (event.key !== 'Enter' && event.key !== ' ') return;
                                    event.preventDefault();
                                    press();
                                }}
                            >
                                {inside}
                            </g>
                        ) : (
                            <g key={i} class={`box${kind}`}>
                                {inside}
                            </g>
                        );
                    })}
                </svg>
            </div>
            {open && !stale ? (
                <Sample name={open} />
            ) : (
                <p class="say">Press a named box to see it on an example.</p>
            )}
        </section>
    );
}

/** What was asked for, and what came. */
interface Found {
    name: string;
    sample: number;
    answer: { tensor: Tensor; step: number } | string;
}
/** A tensor on the sample that is looked at; it follows the training of its run. */
function Sample({ name }: { name: string }) {
    const [found, setFound] = useState<Found | null>(null);
    const asked = config.value;
    const step = trained.value?.live.value.step ?? 0;
    const { sample } = view.value;
    const [busy, setBusy] = useState(false);
    const due = `${asked}\n${name}\n${sample}\n${step}`;
    const [shown, setShown] = useState('');
    useEffect(() => {
        if (busy || shown === due) return;
        setBusy(true);
        void seen(name)
            .catch((error: Error) => error.message)
            .then((answer) => {
                setFound({ name, sample, answer });
                setShown(due);
                setBusy(false);
            });
    }, [due, busy]);
    if (found === null) return <p class="say">Looking …</p>;
    const { answer } = found;
    if (typeof answer === 'string')
        return (
            <p class="say">
                {found.name} cannot be shown: {answer}.
            </p>
        );
    const { data, shape } = answer.tensor;
    const columns = shape[shape.length - 1] ?? 1;
    return (
        <div class="plots">
            <Matrix
                label={`${found.name} on example ${counted(found.sample)}, ${answer.step ? `after ${answer.step} steps` : 'before training'}`}
                values={data}
                rows={data.length / columns}
                columns={columns}
                signed
                row="token"
                column="channel"
            />
        </div>
    );
}
