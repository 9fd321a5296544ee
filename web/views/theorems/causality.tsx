// causality.tsx: who sees the future: the audit of the engine on a mechanism in its literal and its corrected form, every pair
// of rows measured.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Audit } from '../../../wasm/verify.ts';
import { drawHeat } from '../../charts/heat.ts';
import { useAnswer } from '../../proofs.ts';
import { painted } from '../../theme.ts';
import { Problem, show, Theorem, Verdict } from './parts.tsx';
import { choice } from './settings.ts';

const ROWS = 24;
const BASE = `task=nar&length=${ROWS}&width=8&heads=2`;
interface Pair {
    readonly id: string;
    readonly name: string;
    readonly left: readonly [string, string];
    readonly right: readonly [string, string];
    readonly why: string;
}
const PAIRS: readonly Pair[] = [
    {
        id: 'las',
        name: 'LaS',
        left: ['as printed: pool=centred', 'mixer=las&window=5&pool=centred'],
        right: ['corrected: pool=trailing', 'mixer=las&window=5&pool=trailing'],
        why: 'LaS smooths every row of its map over a window around each token, and so lends each token the two after it.',
    },
    {
        id: 'masked',
        name: 'LaS, masked',
        left: ['as printed: pool=centred', 'mixer=las&window=5&pool=centred'],
        right: ['cut after pooling: pool=masked', 'mixer=las&window=5&pool=masked'],
        why: 'Cutting the pooled map at the diagonal mends the leak too.',
    },
    {
        id: 'focus',
        name: 'Focus',
        left: ['as printed: iir=literal', 'mixer=focus&bins=4&iir=literal'],
        right: ['corrected: iir=causal', 'mixer=focus&bins=4&iir=causal'],
        why: 'Focus multiplies the transform of a bin by the conjugate: the filter runs backwards and around, up to the bin’s end.',
    },
    {
        id: 'cat',
        name: 'CAT',
        left: ['two-sided value filter', 'mixer=cat&filter=3&value_filter=two_sided'],
        right: ['defaults', 'mixer=cat&filter=3'],
        why: 'Theorem 2’s model delays its values into the future; that is for tasks that ask at the last token only.',
    },
    {
        id: 'attention',
        name: 'Attention',
        left: ['bidirectional, in chunks', 'mixer=attention&causal=0&chunk=6'],
        right: ['causal', 'mixer=attention'],
        why: 'The map that everyone knows: a block each, or a triangle.',
    },
    {
        id: 'others',
        name: 'CHELA, Mamba',
        left: ['CHELA', 'mixer=chela'],
        right: ['Mamba', 'mixer=mamba'],
        why: 'Long convolution by FFT spreads rounding over every row, below 1 part in 10 000; a scan does not.',
    },
];
const pair = choice(
    'who',
    'las',
    PAIRS.map(({ id }) => id),
);

export function Causality() {
    const now = PAIRS.find(({ id }) => id === pair.value)!;
    const { value: found, problem } = useAnswer(
        async (v) => ({
            pair: now,
            maps: [
                await v.audit(`${now.left[1]}&${BASE}`, ROWS),
                await v.audit(`${now.right[1]}&${BASE}`, ROWS),
            ] as const,
        }),
        [now],
    );
    return (
        <Theorem
            id="causality"
            title="Who sees the future"
            source="The audit changes one input row at a time, by little and by much, and notes every output row that moves. Above the diagonal lies the future."
        >
            <fieldset class="choice">
                <legend>Mechanism</legend>
                {PAIRS.map(({ id, name }) => (
                    <button key={id} type="button" aria-pressed={id === now.id} onClick={() => pair.set(id)}>
                        {name}
                    </button>
                ))}
            </fieldset>
            <p class="hint">{now.why}</p>
            {found ? (
                <div class="theorem-grid pair" aria-busy={found.pair !== now}>
                    <Influence name={found.pair.left[0]} config={found.pair.left[1]} audit={found.maps[0]} />
                    <Influence
                        name={found.pair.right[0]}
                        config={found.pair.right[1]}
                        audit={found.maps[1]}
                    />
                </div>
            ) : (
                !problem && <p class="say">Measuring …</p>
            )}
            <Problem problem={problem} />
        </Theorem>
    );
}

/** Moves as powers of ten from 1e-4 to 1. */
function Influence({ name, config, audit }: { name: string; config: string; audit: Audit }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const [at, setAt] = useState<readonly [number, number] | null>(null);
    const paint = painted.value;
    useEffect(() => {
        const values = Float32Array.from(audit.share, (share) =>
            share > 1e-4 ? Math.max(0.05, 1 + Math.log10(share) / 4) : NaN,
        );
        drawHeat(canvas.current!, values, ROWS, ROWS, 1);
    }, [audit, paint]);
    const read = (event: PointerEvent) => {
        const box = canvas.current!.getBoundingClientRect();
        const row = Math.floor(((event.clientY - box.top) / box.height) * ROWS);
        const column = Math.floor(((event.clientX - box.left) / box.width) * ROWS);
        setAt(row >= 0 && row < ROWS && column >= 0 && column < ROWS ? [row, column] : null);
    };
    const causal = audit.measured === 0;
    return (
        <figure class="heat">
            <figcaption>{name}</figcaption>
            <div class="influence">
                <canvas
                    ref={canvas}
                    role="img"
                    aria-label={`${name}: output row down, input row across; sees ${audit.measured} rows ahead.`}
                    onPointerMove={read}
                    onPointerDown={read}
                    onPointerLeave={() => setAt(null)}
                />
                <svg viewBox={`0 0 ${ROWS} ${ROWS}`} aria-hidden="true">
                    <path
                        d={
                            Array.from(
                                { length: ROWS },
                                (_, i) => `${i ? 'V' : `M0 0`}${i ? i : ''}H${i + 1}`,
                            ).join('') + `V${ROWS}`
                        }
                    />
                </svg>
            </div>
            <p class="read">
                {at
                    ? `input ${at[1]} moves output ${at[0]}: ${show(audit.share[at[0] * ROWS + at[1]]!)} of the largest move`
                    : 'Down: output rows. Across: input rows. Blank: does not move.'}
            </p>
            <Verdict holds={causal}>
                {causal
                    ? 'Sees nothing of the future'
                    : `Sees ${audit.measured} row${audit.measured > 1 ? 's' : ''} ahead`}
                ; the code says {audit.claimed}. {audit.draws} changes tried.{' '}
                <code>
                    seqmix audit '{config}&length={ROWS}'
                </code>
            </Verdict>
        </figure>
    );
}
