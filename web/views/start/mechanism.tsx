// mechanism.tsx: steps 4 to 6: the trained filter in the reader's hands, the way of one answer, longer lines.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { mapRows } from '../../charts/grid.ts';
import { counted, percent, signed } from '../../core/figures.ts';
import { still } from '../../core/prefs.ts';
import type { Look } from '../../training/protocol.ts';
import {
    accuracyOf,
    hand,
    isKey,
    isTrained,
    learn,
    learnt,
    line,
    modelOf,
    NAMES,
    PAIRS,
    question,
    rightOf,
    told,
    TRAINED_LENGTH,
    tryAt,
    wanted,
    type Kind,
} from '../../state/story.ts';
import { Drawing } from '../drawing.tsx';
import { FlowPart } from '../flow_part.tsx';
import { Arcs } from './arcs.tsx';
import { Climb } from './climb.tsx';
import { Ends, enlarged, type End } from './ends.tsx';
import { Beside, Choices, Live, Progress, share, two, type StepProps } from './frame.tsx';
import { Written, written } from './icons.tsx';
import { Line } from './line.tsx';

const rowOf = (look: Look): Float32Array => mapRows(look.map!, look.sample.length, 0, question.value);
/** What stands at a place, for a sentence: a letter may come twice. */
const whither = (tokens: readonly number[], at: number): string =>
    at === question.value
        ? 'at itself'
        : `at ${at >= 2 * PAIRS ? 'the question ' : isKey(tokens[at]!) ? 'the letter ' : 'the '}${written(tokens[at]!)}`;
/** The place that is looked at most. */
const mostOf = (row: Float32Array) => row.reduce((top, weight, j) => (weight > row[top]! ? j : top), 0);
const TAPS = ['the token itself', 'the token before', 'two tokens back'];
const MOST_TAP = 1.5;
const POSES: readonly (readonly [string, readonly number[]])[] = [
    ['Only itself', [1, 0, 0]],
    ['Two back', [0, 0, 1]],
];

function Waiting({ kind, name }: { kind: Kind; name: string }) {
    return isTrained(kind) ? null : <Progress kind={kind} name={name} />;
}

export function Hands({ children }: StepProps) {
    const now = told.value.keys;
    const tokens = now?.line ?? line.value;
    const taps = hand.value ?? learnt.value;
    const ready = isTrained('keys') && now && taps;
    const live = modelOf('keys')?.live.value;
    const set = (i: number, value: number) => (hand.value = taps!.map((tap, j) => (j === i ? value : tap)));
    const right = now?.hand ? now.share : accuracyOf('keys');
    return (
        <Beside
            words={
                <>
                    {children}
                    <p>
                        Move the three weights of the trained model, and it answers with yours. Take the
                        second down to 0: what is left?
                    </p>
                    <div class="taps">
                        {TAPS.map((name, i) => (
                            <label key={name} class="tap signed">
                                <span>{name}</span>
                                <output class="number">{taps ? two(taps[i]!) : '–'}</output>
                                <input
                                    type="range"
                                    min={-MOST_TAP}
                                    max={MOST_TAP}
                                    step={0.05}
                                    value={taps?.[i] ?? 0}
                                    disabled={!ready}
                                    aria-valuetext={taps ? two(taps[i]!) : 'not yet learnt'}
                                    onInput={({ currentTarget }) => set(i, Number(currentTarget.value))}
                                />
                                <span class="ends" aria-hidden="true">
                                    {[-MOST_TAP, 0, MOST_TAP].map((end) => (
                                        <span key={end}>{signed(String(end))}</span>
                                    ))}
                                </span>
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
                        tokens={tokens}
                        row={question.value}
                        weights={rowOf(now.look)}
                        taps={taps}
                        tone="tone-keys"
                        label="What each token takes from those before it, and where the question looks"
                    />
                    <Line tokens={tokens} look={now.look} name="the model with your filter" />
                    <p class="caption">
                        Grey arrows: what the filter adds to a label from the tokens before it. Blue: where
                        the question looks. The thicker, the more.
                    </p>
                    <p class="verdict-line">
                        <Live>
                            {rightOf(tokens, now.look)} of {PAIRS}
                        </Live>{' '}
                        right here, <Live>{share(right)}</Live> over held-out lines.{' '}
                        {now.hand === null
                            ? isTrained('keys') && now.look.step === live?.steps
                                ? 'This is the filter that it learnt.'
                                : 'It is still learning.'
                            : (right ?? 1) > 0.9
                              ? 'It still works.'
                              : (right ?? 1) < 0.1
                                ? `Recall is gone, it does worse than a guess: the question ${written(tokens[question.value]!)} looks ${whither(tokens, mostOf(rowOf(now.look)))} now, and its icon stands elsewhere.`
                                : (right ?? 1) < 0.25
                                  ? 'Recall is gone: no better than guessing.'
                                  : 'It works in part.'}
                    </p>
                </>
            )}
        </Beside>
    );
}

/** What becomes of the content that is found: whole, or mixed with others; read as what it says, or not. */
const copied = (share: number, asIs: boolean): string =>
    share < 0.5
        ? 'What it looks at is mixed, and nothing of it stands out: it answers'
        : asIs
          ? 'The content that it finds is copied: the answer is'
          : 'The content that it finds is copied, but it never learnt to read that one: it says';

type Stage = 1 | 2 | 3;
const STAGE_TIME = 1800; // milliseconds that each stage stands while the answer is played

/** The stage shown, and a way to play all three, which happens by itself when `host` is first seen. */
function useStages(host: { current: HTMLElement | null }, ready: boolean) {
    const [stage, setStage] = useState<Stage>(3);
    const timer = useRef<ReturnType<typeof setTimeout>>();
    const play = (from: Stage = 1) => {
        clearTimeout(timer.current);
        setStage(from);
        if (from < 3) timer.current = setTimeout(() => play((from + 1) as Stage), STAGE_TIME);
    };
    useEffect(() => {
        if (!ready || still()) return;
        const observer = new IntersectionObserver(
            (seen) => {
                if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
                observer.disconnect();
                play();
            },
            { threshold: 0.6 },
        );
        observer.observe(host.current!);
        return () => {
            observer.disconnect();
            clearTimeout(timer.current);
        };
    }, [ready]);
    return {
        stage,
        play,
        choose: (wanted: Stage) => {
            clearTimeout(timer.current);
            setStage(wanted);
        },
    };
}

export function Answer({ children }: StepProps) {
    const { keys, attention } = told.value;
    const tokens = keys?.line ?? line.value;
    const host = useRef<HTMLDivElement>(null);
    const [open, setOpen] = useState(false);
    const ours = keys?.look;
    const theirs = attention?.line === tokens ? attention.look : null;
    const { stage, play, choose } = useStages(host, isTrained('keys') && Boolean(ours?.map));
    const i = question.value;
    const [key, value] = [written(tokens[i]!), `the ${written(wanted(tokens, i))}`];
    const valueAt = tokens.indexOf(tokens[i]!) + 1;
    const row = ours?.map ? rowOf(ours) : null;
    const other = theirs?.map ? rowOf(theirs) : null;
    const found = row ? mostOf(row) : valueAt;
    const most = other ? mostOf(other) : 0;
    const answer = ours ? ours.sample.predicted![i]! : null;
    const stages: readonly (readonly [Stage, string, ComponentChildren])[] = [
        [
            1,
            'Remember',
            keys?.hand
                ? 'You have set what each label takes in.'
                : `Each label takes in the one before it: the label of ${value} now says ${key}.`,
        ],
        [
            2,
            'Match',
            <>
                The question {key} looks for the label that says {key}:{' '}
                <Live>{row ? percent(row[found]!) : '–'}</Live> of its attention{' '}
                {found === i ? 'stays with itself' : `goes ${whither(tokens, found).replace(/^at /, 'to ')}`}.
            </>,
        ],
        [
            3,
            'Copy',
            <>
                {copied(row ? row[found]! : 1, answer === null || answer === tokens[found])}{' '}
                <Live>{answer === null ? '–' : <Written token={answer} />}</Live>.
            </>,
        ],
    ];
    return (
        <Beside
            words={
                <>
                    {children}
                    <p>Pick a question in the line, and follow its answer.</p>
                    <Waiting kind="keys" name="The block with its filter" />
                    {isTrained('keys') && (
                        <ol class="stages">
                            {stages.map(([at, name, sentence]) => (
                                <li key={at} class={stage < at ? 'to-come' : ''}>
                                    <button
                                        type="button"
                                        aria-pressed={stage === at}
                                        onClick={() => choose(at)}
                                    >
                                        {name}
                                    </button>
                                    <span>{sentence}</span>
                                </li>
                            ))}
                        </ol>
                    )}
                    <button
                        type="button"
                        class="quiet again"
                        onClick={() => play()}
                        disabled={!isTrained('keys')}
                    >
                        Play it again
                    </button>
                    {other && isTrained('attention') && (
                        <p>
                            Below the line, attention without a filter: of the same question most goes to{' '}
                            <Live>
                                <Written token={tokens[most]!} />
                            </Live>
                            , <Live>{percent(other[most]!)}</Live>
                            {most === valueAt ? (
                                '. Here it happens to look at the right one: ask the others.'
                            ) : (
                                <>
                                    ; on {value} lie <Live>{percent(other[valueAt]!)}</Live>, for the label of{' '}
                                    {value} does not say that {key} stood before it. It copies a mixture of
                                    all that it looks at, and answers{' '}
                                    <Live>
                                        <Written token={theirs!.sample.predicted![i]!} />
                                    </Live>
                                    .
                                </>
                            )}
                        </p>
                    )}
                </>
            }
        >
            {hand.value && (
                <p class="caption">
                    You have set the filter yourself.{' '}
                    <button type="button" onClick={() => (hand.value = null)}>
                        Put it back
                    </button>
                </p>
            )}
            <div class="answer" ref={host}>
                {row && (
                    <Arcs
                        tokens={tokens}
                        row={i}
                        weights={row}
                        taps={hand.value ?? learnt.value}
                        stage={stage}
                        tone="tone-keys"
                        label={`With the filter: the question ${key} looks at ${written(tokens[found]!)}`}
                    />
                )}
                <Line tokens={tokens} look={ours ?? null} name="the block with its filter">
                    {other && (
                        <Arcs
                            tokens={tokens}
                            row={i}
                            weights={other}
                            taps={null}
                            stage={2}
                            below
                            tone="tone-attention"
                            label={`Without it: the question ${key} looks at many places`}
                        />
                    )}
                </Line>
            </div>
            {ours?.map && isTrained('keys') && (
                <details
                    class="numbers-too"
                    open={open}
                    onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
                >
                    <summary>The whole way, in the model’s own numbers</summary>
                    {open && (
                        <FlowPart
                            look={ours}
                            values={modelOf('keys')!.values}
                            row={i}
                            head={0}
                            setHead={() => {}}
                            write={(token) => (token ? written(token) : '·')}
                        />
                    )}
                </details>
            )}
            <Predict />
        </Beside>
    );
}

/** The reader predicts what a filter on the contents alone does, and it is tried. */
function Predict() {
    const [guess, setGuess] = useState<'yes' | 'no' | null>(null);
    const result = accuracyOf('values');
    return (
        <div class="predict">
            <h4>Now predict</h4>
            <p>
                Put the same filter on the contents (the values) alone: three weights mix into each content
                the contents of the two tokens before it, never of those after, and every label (key) stays
                its own. Does that recall?
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
                              ? `${guess === 'no' ? 'As you said: it guesses' : 'No: it guesses'}, ${share(result)} right. No label says what stood before it, so the question cannot find its icon. The letter itself it could find; but mixed into the content there is what stood before the letter, not the icon after it.`
                              : `It reaches ${share(result)}.`}
                    </p>
                </>
            )}
        </div>
    );
}

const LENGTHS = [32, 64, 128, 256, 512, 1024, 2048, 4096];
const LONG = 1 << 15; // tokens that one try reads
const linesAt = (length: number) => Math.max(8, Math.min(64, LONG / length));
/** Percentage points by which a guess among the pairs strays, nineteen times of twenty. */
const luck = (questions: number) => Math.round(200 * Math.sqrt(((1 / PAIRS) * (1 - 1 / PAIRS)) / questions));
const MARGINS = [40, 128, 12, 44];
const HEIGHT = 216;
type Four = [number, number, number, number];

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
    const pointsOf = (kind: Kind) =>
        LENGTHS.map((each, i) => [i, found[`${kind} ${each}`]] as const).filter(
            (point): point is readonly [number, number] => point[1] !== undefined,
        );
    return (
        <Beside
            words={
                <>
                    {children}
                    <p>
                        The models were trained on lines of {TRAINED_LENGTH} tokens: the {3 * PAIRS} that you
                        saw, and empty ones between the questions. Put more of those there, and ask again.
                        Each length is tried on new lines.
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
                        so few that luck alone moves a guess by up to {luck(PAIRS * linesAt(length))} points.{' '}
                        {length > TRAINED_LENGTH && (at2('keys') ?? 0) > 0.9
                            ? 'A neighbour is a neighbour at any length, so what was learnt holds.'
                            : ''}
                    </p>
                </>
            }
        >
            <Waiting kind="keys" name="The block with its filter" />
            <Drawing
                height={() => HEIGHT * enlarged()}
                class="climb"
                label="Share of right answers at each length that was tried"
            >
                {(width, height) => {
                    const [left, right, top, bottom] = MARGINS.map((pixels) => pixels * enlarged()) as Four;
                    const x = (i: number) => left + (i / (LENGTHS.length - 1)) * (width - left - right);
                    const y = (value: number) => height - bottom - value * (height - top - bottom);
                    const ends: End[] = [{ name: `guessing: 1 of ${PAIRS}`, y: y(1 / PAIRS) }];
                    for (const kind of ['attention', 'keys'] as const) {
                        const last = pointsOf(kind).at(-1);
                        if (last) ends.push({ name: NAMES[kind], y: y(last[1]), tone: `of-${kind}` });
                    }
                    return (
                        <>
                            {[0, 0.5, 1].map((value) => (
                                <g key={value} class="axis-line">
                                    <line x1={left} x2={width - right} y1={y(value)} y2={y(value)} />
                                    <text
                                        x={left - 6}
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
                                x1={left}
                                x2={width - right}
                                y1={y(1 / PAIRS)}
                                y2={y(1 / PAIRS)}
                            />
                            <text
                                x={(left + width - right) / 2}
                                y={height - 6 * enlarged()}
                                text-anchor="middle"
                            >
                                tokens of the line
                            </text>
                            <line class="now" x1={x(at)} x2={x(at)} y1={top} y2={height - bottom} />
                            {LENGTHS.map((each, i) =>
                                width > 420 || i % 2 === 1 ? (
                                    <text
                                        key={each}
                                        x={x(i)}
                                        y={height - 26 * enlarged()}
                                        text-anchor="middle"
                                    >
                                        {each}
                                    </text>
                                ) : null,
                            )}
                            {(['attention', 'keys'] as const).map((kind) => {
                                const points = pointsOf(kind);
                                return (
                                    <g key={kind} class={`of-${kind}`}>
                                        <polyline
                                            points={points.map(([i, v]) => `${x(i)},${y(v)}`).join(' ')}
                                        />
                                        {points.map(([i, v]) => (
                                            <circle key={i} cx={x(i)} cy={y(v)} r={4} />
                                        ))}
                                    </g>
                                );
                            })}
                            <Ends ends={ends} x={width - right + 10} low={top} high={height - bottom} />
                        </>
                    );
                }}
            </Drawing>
        </Beside>
    );
}
