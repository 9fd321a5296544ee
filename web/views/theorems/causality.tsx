// causality.tsx: who sees the future: the audit of the engine on a mechanism in its literal and its corrected
// form, every pair of rows measured.
import { useMemo } from 'preact/hooks';
import type { Audit } from '../../../wasm/loader/verify.ts';
import { useAnswer } from './answer.ts';
import { show } from '../../core/figures.ts';
import { Heat, Problem, Theorem, Verdict } from './parts.tsx';
import { choice } from './settings.ts';
import { Wrapped } from '../frame/wrapped.tsx';

const ROWS = 24;
const BASE = `task=nar&length=${ROWS}&width=8&heads=2`;
/** A mechanism in two forms, each with its name and its config, and what the two maps show. */
interface Pair {
    readonly id: string;
    readonly name: string;
    readonly left: readonly [string, string];
    readonly right: readonly [string, string];
    readonly why: string;
}
const CENTRED = ['as printed: pool=centred', 'mixer=las&window=5&pool=centred'] as const;
const row = (id: string, name: string, left: Pair['left'], right: Pair['right'], why: string): Pair => ({
    id,
    name,
    left,
    right,
    why,
});
const PAIRS: readonly Pair[] = [
    row(
        'las',
        'LaS',
        CENTRED,
        ['corrected: pool=trailing', 'mixer=las&window=5&pool=trailing'],
        'LaS smooths every row of its map over a window around each token, so each token sees the two after it.',
    ),
    row(
        'masked',
        'LaS, masked',
        CENTRED,
        ['cut after pooling: pool=masked', 'mixer=las&window=5&pool=masked'],
        'Cutting the pooled map at the diagonal also closes the leak.',
    ),
    row(
        'focus',
        'Focus',
        ['as printed: iir=literal', 'mixer=focus&bins=4&iir=literal'],
        ['corrected: iir=causal', 'mixer=focus&bins=4&iir=causal'],
        'Focus multiplies the transform of a bin by the conjugate: the filter runs backwards and around, up to the bin’s end.',
    ),
    row(
        'cat',
        'CAT',
        ['two-sided value filter', 'mixer=cat&filter=3&value_filter=two_sided'],
        ['defaults', 'mixer=cat&filter=3'],
        'Theorem 2’s model delays its values into the future; that is for tasks that ask at the last token only.',
    ),
    row(
        'attention',
        'Attention',
        ['bidirectional, in chunks', 'mixer=attention&causal=0&chunk=6'],
        ['causal', 'mixer=attention'],
        'The familiar map: one block per chunk, or a triangle.',
    ),
    row(
        'others',
        'CHELA, Mamba',
        ['CHELA', 'mixer=chela'],
        ['Mamba', 'mixer=mamba'],
        'Long convolution by FFT spreads rounding over every row, below 1 part in 10 000; a scan does not.',
    ),
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
            source="The audit changes one input row at a time, by small and large amounts, and notes every output row that changes. Above the diagonal lies the future."
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

/** The stairs that the future lies above. */
const STAIRS = `M0 0H1${Array.from({ length: ROWS - 1 }, (_, i) => `V${i + 1}H${i + 2}`).join('')}V${ROWS}`;

/** Moves as powers of ten from 1e-4 to 1. */
function Influence({ name, config, audit }: { name: string; config: string; audit: Audit }) {
    const values = useMemo(
        () =>
            Float32Array.from(audit.share, (share) =>
                share > 1e-4 ? Math.max(0.05, 1 + Math.log10(share) / 4) : NaN,
            ),
        [audit],
    );
    const { measured, claimed, draws, share } = audit;
    return (
        <div>
            <Heat
                values={values}
                rows={ROWS}
                columns={ROWS}
                top={1}
                title={name}
                lowest="10⁻⁴"
                highest="1, the largest move"
                of={(row, column) =>
                    `input ${column} moves output ${row}: ${show(share[row * ROWS + column]!)} of the largest move`
                }
                rest="Down: output rows. Across: input rows. Blank: does not move."
                over={<path class="stairs" d={STAIRS} />}
            />
            <Verdict holds={measured === 0}>
                {measured === 0
                    ? 'Sees nothing of the future'
                    : `Sees ${measured} row${measured > 1 ? 's' : ''} ahead`}
                ; the code says {claimed}. {draws} changes tried.{' '}
                <code>
                    <Wrapped text={`seqmix audit '${config}&length=${ROWS}'`} />
                </code>
            </Verdict>
        </div>
    );
}
