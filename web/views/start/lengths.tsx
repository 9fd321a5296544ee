// lengths.tsx: step 6: both models at other lengths.
import { useEffect, useState } from 'preact/hooks';
import { counted } from '../../core/figures.ts';
import { isTrained, PAIRS, TRAINED_LENGTH, tryAt, type Kind } from '../../state/views/story.ts';
import { Shares, type Point } from './climb.tsx';
import { enlarged } from './ends.tsx';
import { Beside, Live, share, type StepProps } from './frame.tsx';
import { Waiting } from './mechanism.tsx';

const LENGTHS = [32, 64, 128, 256, 512, 1024, 2048, 4096];
const LONG = 1 << 15; // tokens that one try reads
const linesAt = (length: number) => Math.max(8, Math.min(64, LONG / length));
/** Percentage points by which a guess among the pairs strays, nineteen times of twenty. */
const luck = (questions: number) => Math.round(200 * Math.sqrt(((1 / PAIRS) * (1 - 1 / PAIRS)) / questions));

/** The share of right answers of both models at each length that was tried, by KIND LENGTH; `at` is asked. */
function Reached({ at, found }: { at: number; found: Readonly<Record<string, number>> }) {
    const curves = (['attention', 'keys'] as const).map((kind) => {
        const points = LENGTHS.map((length, i) => [i, found[`${kind} ${length}`]] as const);
        return [kind, points.filter((point): point is Point => point[1] !== undefined)] as const;
    });
    return (
        <Shares
            label="Share of right answers at each length that was tested"
            height={216}
            below={44}
            last={LENGTHS.length - 1}
            curves={curves}
            discs
        >
            {({ x, from, to, top, foot, height, width, guess }) => (
                <>
                    {guess}
                    <text x={(from + to) / 2} y={height - 6 * enlarged()} text-anchor="middle">
                        tokens of the line
                    </text>
                    <line class="now" x1={x(at)} x2={x(at)} y1={top} y2={foot} />
                    {LENGTHS.map((each, i) =>
                        width > 420 || i % 2 === 1 ? (
                            <text key={each} x={x(i)} y={height - 26 * enlarged()} text-anchor="middle">
                                {each}
                            </text>
                        ) : null,
                    )}
                </>
            )}
        </Shares>
    );
}

export function Lengths({ children }: StepProps) {
    const [at, setAt] = useState(1);
    const [found, setFound] = useState<Readonly<Record<string, number>>>({});
    const ready = isTrained('keys') && isTrained('attention');
    const length = LENGTHS[at]!;
    useEffect(() => {
        if (!ready) return;
        void (async () => {
            for (const kind of ['keys', 'attention'] as const) {
                const name = `${kind} ${length}`;
                if (found[name] !== undefined) continue;
                const result = await tryAt(kind, linesAt(length), `length=${length}`);
                if (!result) return;
                setFound((all) => ({ ...all, [name]: result.accuracy }));
            }
        })();
    }, [ready, length]);
    const at2 = (kind: Kind) => found[`${kind} ${length}`];
    return (
        <Beside
            words={
                <>
                    {children}
                    <p>
                        The models were trained on lines of {TRAINED_LENGTH} tokens: the {3 * PAIRS} that you
                        saw, and empty ones between the questions. Add more empty ones, and ask again. Each
                        length is tested on new lines.
                    </p>
                    <label class="tap">
                        <span>length of the line</span>
                        <output class="number">{counted(length)} tokens</output>
                        <input
                            type="range"
                            min={0}
                            max={LENGTHS.length - 1}
                            step={1}
                            value={at}
                            disabled={!ready}
                            aria-valuetext={`${length} tokens`}
                            onInput={({ currentTarget }) => setAt(Number(currentTarget.value))}
                        />
                    </label>
                    <p>
                        With the filter <Live>{share(at2('keys'))}</Live>, without it{' '}
                        <Live>{share(at2('attention'))}</Live>, of {PAIRS * linesAt(length)} questions each:
                        so few that chance alone moves the result of guessing by up to{' '}
                        {luck(PAIRS * linesAt(length))} points.{' '}
                        {length > TRAINED_LENGTH && (at2('keys') ?? 0) > 0.9
                            ? 'A neighbour is a neighbour at any length, so what was learnt still works.'
                            : ''}
                    </p>
                </>
            }
        >
            <Waiting kind="keys" name="The block with its filter" />
            <Reached at={at} found={found} />
        </Beside>
    );
}
