// mechanism.tsx: steps 4 and 5: the trained filter in the reader's hands, the way of one answer.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { mapRows } from '../../charts/grid.ts';
import { percent, signed } from '../../core/figures.ts';
import { still } from '../../core/prefs.ts';
import type { Look } from '../../training/protocol.ts';
import {
    accuracyOf,
    hand,
    isKey,
    isTrained,
    learnt,
    line,
    modelOf,
    PAIRS,
    question,
    rightOf,
    told,
    wanted,
    type Kind,
    type Told,
} from '../../state/views/story.ts';
import { FlowPart } from '../inside/flow_part.tsx';
import { ADDED, Arcs } from './arcs.tsx';
import { Beside, Live, Progress, share, two, type StepProps } from './frame.tsx';
import { Shape, Written, written } from './icons.tsx';
import { Line } from './line.tsx';
import { Predict } from './predict.tsx';

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

export function Waiting({ kind, name }: { kind: Kind; name: string }) {
    return isTrained(kind) ? null : <Progress kind={kind} name={name} />;
}

/** The weights of the filter, each a slider; settings to try, and the way back to what was learnt. */
function Taps({ taps, ready }: { taps: readonly number[] | null; ready: boolean }) {
    const set = (i: number, value: number) => (hand.value = taps!.map((tap, j) => (j === i ? value : tap)));
    return (
        <>
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
                    <button key={name} type="button" disabled={!ready} onClick={() => (hand.value = values)}>
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
    );
}

export function Hands({ children }: StepProps) {
    const now = told.value.keys;
    const tokens = now?.line ?? line.value;
    const taps = hand.value ?? learnt.value;
    const ready = isTrained('keys') && now && taps;
    const live = modelOf('keys')?.live.value;
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
                    <Taps taps={taps} ready={Boolean(ready)} />
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
                        Grey arrows: {ADDED} Blue: where the question looks. The thicker, the more.
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
        ? 'It looks at many tokens, and none of them stands out: it answers'
        : asIs
          ? 'The content that it finds is copied: the answer is'
          : 'The content that it finds is copied, but the model never learnt to read it: it answers';

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

/** Where the value of the question stands. */
const valueOf = (tokens: readonly number[]) => tokens.indexOf(tokens[question.value]!) + 1;
/** The three stages of the answer, each a sentence of what the model did. */
function Stages(props: {
    tokens: readonly number[];
    now: Told | undefined;
    stage: Stage;
    choose: (stage: Stage) => void;
}) {
    const { tokens, now, stage, choose } = props;
    const i = question.value;
    const [key, value] = [written(tokens[i]!), `the ${written(wanted(tokens, i))}`];
    const row = now?.look.map ? rowOf(now.look) : null;
    const found = row ? mostOf(row) : valueOf(tokens);
    const answer = now ? now.look.sample.predicted![i]! : null;
    const stages: readonly (readonly [Stage, string, ComponentChildren])[] = [
        [
            1,
            'Remember',
            now?.hand
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
        <ol class="stages">
            {stages.map(([at, name, sentence]) => (
                <li key={at} class={stage < at ? 'to-come' : ''}>
                    <button type="button" aria-pressed={stage === at} onClick={() => choose(at)}>
                        {name}
                    </button>
                    <span>{sentence}</span>
                </li>
            ))}
        </ol>
    );
}

/** What attention without a filter makes of the same question. */
function Unfiltered({
    tokens,
    look,
    weights,
}: {
    tokens: readonly number[];
    look: Look;
    weights: Float32Array;
}) {
    const i = question.value;
    const [key, value] = [written(tokens[i]!), `the ${written(wanted(tokens, i))}`];
    const valueAt = valueOf(tokens);
    const most = mostOf(weights);
    return (
        <p>
            Below the line, attention without a filter: the largest share of its attention for the same
            question goes to{' '}
            <Live>
                <Written token={tokens[most]!} />
            </Live>
            , <Live>{percent(weights[most]!)}</Live>
            {most === valueAt ? (
                '. Here it happens to look at the right one: ask the others.'
            ) : (
                <>
                    ; <Live>{percent(weights[valueAt]!)}</Live> goes to {value}, for the label of {value} does
                    not say that {key} stood before it. It copies a mixture of all that it looks at, and
                    answers{' '}
                    <Live>
                        <Written token={look.sample.predicted![i]!} />
                    </Live>
                    .
                </>
            )}
        </p>
    );
}

export function Answer({ children }: StepProps) {
    const { keys, attention } = told.value;
    const tokens = keys?.line ?? line.value;
    const host = useRef<HTMLDivElement>(null);
    const ours = keys?.look;
    const theirs = attention?.line === tokens ? attention.look : null;
    const { stage, play, choose } = useStages(host, isTrained('keys') && Boolean(ours?.map));
    const i = question.value;
    const key = written(tokens[i]!);
    const row = ours?.map ? rowOf(ours) : null;
    const other = theirs?.map ? rowOf(theirs) : null;
    return (
        <Beside
            words={
                <>
                    {children}
                    <p>Pick a question in the line, and follow its answer.</p>
                    <Waiting kind="keys" name="The block with its filter" />
                    {isTrained('keys') && <Stages tokens={tokens} now={keys} stage={stage} choose={choose} />}
                    <button
                        type="button"
                        class="quiet again"
                        onClick={() => play()}
                        disabled={!isTrained('keys')}
                    >
                        Play it again
                    </button>
                    {other && isTrained('attention') && (
                        <Unfiltered tokens={tokens} look={theirs!} weights={other} />
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
                        label={`With the filter: the question ${key} looks at ${written(tokens[mostOf(row)]!)}`}
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
            {ours?.map && isTrained('keys') && <Numbers look={ours} />}
            <Predict />
        </Beside>
    );
}

/** Every number on the way of the answer, drawn when it is asked for. */
function Numbers({ look }: { look: Look }) {
    const [open, setOpen] = useState(false);
    return (
        <details
            class="numbers-too"
            open={open}
            onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
        >
            <summary>Every step, in the model’s own numbers</summary>
            {open && (
                <FlowPart
                    look={look}
                    values={modelOf('keys')!.values}
                    row={question.value}
                    head={0}
                    setHead={() => {}}
                    write={(token) => (token ? written(token) : '·')}
                    pictureOf={(token) => !isKey(token) && <Shape token={token} x={0} y={0} />}
                />
            )}
        </details>
    );
}
