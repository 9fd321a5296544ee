// mechanism.tsx: steps 4 to 6: the trained filter in the reader's hands, the way of one answer, longer lines.
import { useEffect, useState } from 'preact/hooks';
import { mapRows } from '../../charts/grid.ts';
import { percent } from '../../core/figures.ts';
import type { Look } from '../../training/protocol.ts';
import {
    accuracyOf,
    hand,
    isTrained,
    learn,
    learnt,
    line,
    modelOf,
    PAIRS,
    pairOf,
    question,
    rightOf,
    told,
    TRAINED_LENGTH,
    tryAt,
    wanted,
    written,
    type Kind,
} from '../../state/story.ts';
import { Drawing } from '../drawing.tsx';
import { Arcs } from './arcs.tsx';
import { Climb } from './climb.tsx';
import { Beside, Choices, Live, Progress, share, two, type StepProps } from './frame.tsx';
import { Line } from './line.tsx';

const rowOf = (look: Look): Float32Array => mapRows(look.map!, look.sample.length, 0, question.value);
const TAPS = ['the token itself', 'the token before', 'two tokens back'];
const POSES: readonly (readonly [string, readonly number[]])[] = [
    ['Only itself', [1, 0, 0]],
    ['Two back', [0, 0, 1]],
];

function Waiting({ kind, name }: { kind: Kind; name: string }) {
    return isTrained(kind) ? null : <Progress kind={kind} name={name} />;
}

export function Hands({ children }: StepProps) {
    const tokens = line.value;
    const now = told.value.keys;
    const taps = hand.value ?? learnt.value;
    const ready = isTrained('keys') && now && taps;
    const live = modelOf('keys')?.live.value;
    const set = (i: number, value: number) => (hand.value = taps!.map((tap, j) => (j === i ? value : tap)));
    const right = now?.share ?? accuracyOf('keys');
    return (
        <Beside
            words={
                <>
                    {children}
                    <p>
                        {isTrained('keys') || !live ? (
                            'This is the trained model.'
                        ) : (
                            <>
                                This will be the trained model: <Live>{live.step}</Live> of {live.steps}{' '}
                                batches.
                            </>
                        )}{' '}
                        Move its three numbers, and it answers with yours. Take the second down to 0: what is
                        left?
                    </p>
                    <div class="taps">
                        {TAPS.map((name, i) => (
                            <label key={name} class="tap">
                                <span>{name}</span>
                                <output class="number">{taps ? two(taps[i]!) : '–'}</output>
                                <input
                                    type="range"
                                    min={-1.5}
                                    max={1.5}
                                    step={0.05}
                                    value={taps?.[i] ?? 0}
                                    disabled={!ready}
                                    aria-valuetext={taps ? two(taps[i]!) : 'not yet learnt'}
                                    onInput={({ currentTarget }) => set(i, Number(currentTarget.value))}
                                />
                            </label>
                        ))}
                    </div>
                    <div class="row">
                        <button type="button" disabled={!ready} onClick={() => set(1, 0)}>
                            Second to 0
                        </button>
                        {POSES.map(([name, values]) => (
                            <button
                                key={name}
                                type="button"
                                disabled={!ready}
                                onClick={() => (hand.value = values)}
                            >
                                {name}
                            </button>
                        ))}
                        <button
                            type="button"
                            class="primary"
                            disabled={!hand.value}
                            onClick={() => (hand.value = null)}
                        >
                            Put it back
                        </button>
                    </div>
                </>
            }
        >
            <Waiting kind="keys" name="The block with its filter" />
            {now?.look.map && (
                <>
                    <Arcs
                        count={tokens.length}
                        row={question.value}
                        weights={rowOf(now.look)}
                        taps={taps}
                        tone="tone-keys"
                        label="What each token takes from those before it, and where the question looks"
                    />
                    <Line tokens={tokens} look={now.look} name="the model with your filter" />
                    <p class="verdict-line">
                        <Live>
                            {rightOf(tokens, now.look)} of {PAIRS}
                        </Live>{' '}
                        right here, <Live>{share(right)}</Live> over held-out lines.{' '}
                        {hand.value === null
                            ? isTrained('keys')
                                ? 'This is the filter that it learnt.'
                                : 'It is still learning.'
                            : (right ?? 1) > 0.9
                              ? 'It still works.'
                              : (right ?? 1) < 0.25
                                ? 'Recall is gone: it guesses, as attention does.'
                                : 'It works in part.'}
                    </p>
                </>
            )}
        </Beside>
    );
}

const STAGES = [
    [1, 'Remember'],
    [2, 'Match'],
    [3, 'Copy'],
] as const;

export function Answer({ children }: StepProps) {
    const tokens = line.value;
    const [stage, setStage] = useState<1 | 2 | 3>(3);
    const [guess, setGuess] = useState<'yes' | 'no' | null>(null);
    const ours = told.value.keys?.look;
    const theirs = told.value.attention?.look;
    const i = question.value;
    const [key, value] = [written(tokens[i]!), written(wanted(tokens, i))];
    const valueAt = tokens.indexOf(tokens[i]!) + 1;
    const row = ours?.map ? rowOf(ours) : null;
    const other = theirs?.map ? rowOf(theirs) : null;
    const most = other ? other.reduce((best, weight, j) => (weight > other[best]! ? j : best), 0) : 0;
    const sentence = hand.value
        ? 'The filter is in your hands: what follows is what yours does.'
        : {
              1: `Each token takes in the one before it. So ${value} now carries ${key} with it: it remembers what stood beside it.`,
              2: `The question ${key} looks for whatever carries ${key}: ${row ? percent(row[valueAt]!) : '–'} of its attention goes to ${value}.`,
              3: `What it looks at is copied: the answer is ${ours ? written(ours.sample.predicted![i]!) : '–'}.`,
          }[stage];
    return (
        <Beside
            words={
                <>
                    {children}
                    <p>
                        In attention every token shows a label, its <b>key</b>, and hands over a content, its{' '}
                        <b>value</b>. A question looks for a label, and copies the content. Pick a question in
                        the line, and follow its answer.
                    </p>
                    <Choices label="Stages of an answer" choices={STAGES} value={stage} set={setStage} />
                    <p class="stage-words" aria-live="polite">
                        {sentence}
                    </p>
                    {other && isTrained('attention') && (
                        <p>
                            Below the line, attention without a filter: of the same question most goes to{' '}
                            <Live>{written(tokens[most]!)}</Live>, <Live>{percent(other[most]!)}</Live>
                            {most === valueAt ? (
                                '. Here it happens to look at the right one: ask the others.'
                            ) : (
                                <>
                                    ; on {value} lie <Live>{percent(other[valueAt]!)}</Live>. Nothing in{' '}
                                    {value} says that {key} stood beside it.
                                </>
                            )}
                        </p>
                    )}
                </>
            }
        >
            {hand.value && (
                <p class="caption">
                    The filter is in your hands.{' '}
                    <button type="button" onClick={() => (hand.value = null)}>
                        Put it back
                    </button>
                </p>
            )}
            {row && (
                <Arcs
                    count={tokens.length}
                    row={i}
                    weights={row}
                    taps={hand.value ?? learnt.value}
                    stage={stage}
                    tone="tone-keys"
                    label={`With the filter: the question ${key} looks at ${value}`}
                />
            )}
            <Line tokens={tokens} look={ours ?? null} name="the block with its filter" />
            {other && (
                <Arcs
                    count={tokens.length}
                    row={i}
                    weights={other}
                    taps={null}
                    stage={2}
                    below
                    tone="tone-attention"
                    label={`Without it: the question ${key} looks at many places`}
                />
            )}
            <Predict guess={guess} setGuess={setGuess} pair={pairOf(tokens, i) + 1} />
        </Beside>
    );
}

/** The reader predicts what a filter on the values alone does, and it is tried. */
function Predict(props: {
    guess: 'yes' | 'no' | null;
    setGuess: (guess: 'yes' | 'no') => void;
    pair: number;
}) {
    const { guess, setGuess } = props;
    const result = accuracyOf('values');
    return (
        <div class="predict">
            <p>
                <b>Predict:</b> the same filter, but on what is copied, the values, and not on the labels that
                are looked for, the keys. Does it recall?
            </p>
            <Choices
                label="Your prediction"
                choices={[
                    ['yes', 'It recalls'],
                    ['no', 'It guesses'],
                ]}
                value={guess}
                set={(value) => {
                    setGuess(value);
                    learn('values');
                }}
            />
            {guess && (
                <>
                    <Climb kinds={['attention', 'keys', 'values']} />
                    <p>
                        {!isTrained('values')
                            ? 'It learns …'
                            : (result ?? 1) < 0.25
                              ? `${guess === 'no' ? 'Right' : 'No'}: ${share(result)}. What is copied is mixed, but the question still cannot find the place: no key knows its neighbour.`
                              : `It reaches ${share(result)}.`}
                    </p>
                </>
            )}
        </div>
    );
}

const LENGTHS = [32, 64, 128, 256, 512, 1024, 2048, 4096];
const LONG = 1 << 15; // tokens that one try reads
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 84, 12, 44];
const HEIGHT = 216;

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
                const count = Math.max(8, Math.min(64, LONG / length));
                const result = await tryAt(kind, count, `length=${length}`);
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
                        The models were trained on lines of {TRAINED_LENGTH} tokens. Put more between pairs
                        and questions, and ask again.
                    </p>
                    <label class="tap">
                        <span>length</span>
                        <output class="number">{length.toLocaleString('en')}</output>
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
                        <Live>{share(at2('attention'))}</Live>.{' '}
                        {length > TRAINED_LENGTH && (at2('keys') ?? 0) > 0.9
                            ? 'A neighbour is a neighbour at any length, so what was learnt holds.'
                            : ''}
                    </p>
                </>
            }
        >
            <Waiting kind="keys" name="The block with its filter" />
            <Drawing
                height={HEIGHT}
                class="climb"
                label="Share of right answers at each length that was tried"
            >
                {(width) => {
                    const x = (i: number) => LEFT + (i / (LENGTHS.length - 1)) * (width - LEFT - RIGHT);
                    const y = (value: number) => HEIGHT - BOTTOM - value * (HEIGHT - TOP - BOTTOM);
                    return (
                        <>
                            {[0, 0.5, 1].map((value) => (
                                <g key={value} class="axis-line">
                                    <line x1={LEFT} x2={width - RIGHT} y1={y(value)} y2={y(value)} />
                                    <text
                                        x={LEFT - 6}
                                        y={y(value)}
                                        text-anchor="end"
                                        dominant-baseline="central"
                                    >
                                        {100 * value} %
                                    </text>
                                </g>
                            ))}
                            <line
                                class="guess"
                                x1={LEFT}
                                x2={width - RIGHT}
                                y1={y(1 / PAIRS)}
                                y2={y(1 / PAIRS)}
                            />
                            <text class="guess-name" x={LEFT + 6} y={y(1 / PAIRS) - 7}>
                                guessing: 1 of {PAIRS}
                            </text>
                            <text x={(LEFT + width - RIGHT) / 2} y={HEIGHT - 6} text-anchor="middle">
                                tokens of the line
                            </text>
                            <line class="now" x1={x(at)} x2={x(at)} y1={TOP} y2={HEIGHT - BOTTOM} />
                            {LENGTHS.map((each, i) =>
                                width > 420 || i % 2 === 1 ? (
                                    <text key={each} x={x(i)} y={HEIGHT - 26} text-anchor="middle">
                                        {each}
                                    </text>
                                ) : null,
                            )}
                            {(['attention', 'keys'] as const).map((kind) => {
                                const points = LENGTHS.map(
                                    (each, i) => [i, found[`${kind} ${each}`]] as const,
                                ).filter(
                                    (point): point is readonly [number, number] => point[1] !== undefined,
                                );
                                const last = points[points.length - 1];
                                if (!last) return null;
                                return (
                                    <g key={kind} class={`of-${kind}`}>
                                        <polyline
                                            points={points.map(([i, v]) => `${x(i)},${y(v)}`).join(' ')}
                                        />
                                        {points.map(([i, v]) => (
                                            <circle key={i} cx={x(i)} cy={y(v)} r={4} />
                                        ))}
                                        <text
                                            x={x(last[0]) + 9}
                                            y={y(last[1]) + (kind === 'keys' ? 14 : -10)}
                                            dominant-baseline="central"
                                        >
                                            {kind === 'keys' ? 'filter' : 'attention'}
                                        </text>
                                    </g>
                                );
                            })}
                        </>
                    );
                }}
            </Drawing>
        </Beside>
    );
}
