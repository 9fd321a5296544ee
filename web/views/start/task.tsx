// task.tsx: steps 1 to 3: two models on one task, told apart by a switch; why the one fails, what the other's
// filter adds.
import type { ComponentChildren } from 'preact';
import { mapRows } from '../../charts/grid.ts';
import { percent } from '../../core/figures.ts';
import {
    accuracyOf,
    isTrained,
    line,
    modelOf,
    page,
    PAIRS,
    question,
    replayed,
    switchedOn,
    tapsOf,
    told,
    touched,
    turn,
    wanted,
} from '../../state/views/story.ts';
import { ADDED, Arcs } from './arcs.tsx';
import { Climb } from './climb.tsx';
import { Beside, Live, Progress, two, type StepProps } from './frame.tsx';
import { Written, written } from './icons.tsx';
import { Line } from './line.tsx';
import { Mix } from './mix.tsx';

const NOTHING = new Float32Array(3 * PAIRS); // before the first look

/** The first screen: pairs, a question, where the model shown looks, how often it is right. */
export function Both({ children, why }: StepProps & { why: ComponentChildren }) {
    const on = switchedOn.value;
    const kind = on ? 'keys' : 'attention';
    const again = on ? replayed.value : null;
    const now = again ?? told.value[kind];
    const held = !again && now?.hand ? now.share : undefined; // a filter set by the reader, in step 4
    const tokens = now?.line ?? line.value;
    const i = question.value;
    const answer = now?.look.sample.predicted?.[i];
    const taps = on && now ? (now.hand ?? tapsOf(now.look)) : null;
    const right = again?.share ?? held ?? accuracyOf(kind) ?? 0;
    const live = modelOf(kind)?.live.value;
    return (
        <Beside
            words={
                <>
                    {children}
                    <div class="row">
                        <button
                            type="button"
                            role="switch"
                            aria-checked={on}
                            class="switch"
                            onClick={() => {
                                touched.value = true;
                                turn(!on);
                            }}
                        >
                            <span class="knob" aria-hidden="true" />
                            Filter {on ? 'on' : 'off'}
                        </button>
                        {why}
                    </div>
                    {live?.status === 'failed' ? (
                        <Progress kind={kind} name="This model" />
                    ) : (
                        <p class="caption">
                            Two small models, trained in this browser on the same data: batch{' '}
                            <Live>{live?.step ?? 0}</Live> of {live?.steps || 120}. One has a filter of three
                            weights on its keys:
                        </p>
                    )}
                    <ol class="weights">
                        {['the token', '1 before', '2 before'].map((of, back) => (
                            <li key={of}>
                                <b class="number">{taps?.length ? two(taps[back]!) : '–'}</b> {of}
                            </li>
                        ))}
                    </ol>
                </>
            }
        >
            <Asked tokens={tokens} answer={answer} on={on} />
            <div class="answer">
                <Arcs
                    tokens={tokens}
                    row={i}
                    weights={now?.look.map ? mapRows(now.look.map, now.look.sample.length, 0, i) : NOTHING}
                    taps={taps}
                    tone={on ? 'tone-keys' : 'tone-attention'}
                    label={`Where the question ${written(tokens[i]!)} looks`}
                />
                <Line
                    tokens={tokens}
                    look={now?.look ?? null}
                    name={on ? 'the model with the filter' : 'attention'}
                />
            </div>
            <p class="caption">
                {on ? 'Blue' : 'Orange'}: where the question looks. {on && `Grey: ${ADDED}`}
            </p>
            <Score kind={kind} right={right} />
        </Beside>
    );
}

/** How often the model shown is right. */
const Score = ({ kind, right }: { kind: 'keys' | 'attention'; right: number }) => (
    <div class="score">
        <b class="number">{percent(right)}</b>
        <span class={`bar tone-${kind}`} aria-hidden="true">
            <span style={{ width: percent(right).replace(' ', '') }} />
            <i style={{ left: `${100 / PAIRS}%` }} />
        </span>
        <p class="caption">of new questions answered right. Line: guessing, 1 of {PAIRS}.</p>
    </div>
);

/** The question, and what the model shown answers. */
function Asked({
    tokens,
    answer,
    on,
}: {
    tokens: readonly number[];
    answer: number | undefined;
    on: boolean;
}) {
    const i = question.value;
    return (
        <p class="asked">
            <span>
                Which icon came after <b>{written(tokens[i]!)}</b>?
            </span>
            {answer !== undefined && (
                <span class={answer === wanted(tokens, i) ? 'right' : 'wrong'}>
                    {on ? 'With the filter: ' : 'Attention: '}
                    <Written token={answer} /> {answer === wanted(tokens, i) ? '✓' : '✗'}
                </span>
            )}
            <button type="button" class="quiet again" onClick={() => page.value++}>
                Other pairs
            </button>
        </p>
    );
}

export function Fail({ children }: StepProps) {
    const right = accuracyOf('attention');
    return (
        <Beside
            words={
                <>
                    {children}
                    <p>
                        Attention is made for finding. Every token of the line has a label (its <b>key</b>)
                        and a content (its <b>value</b>); a question (the <b>query</b>) looks for the label
                        that fits best, and takes that token’s content. Here one block of attention, without
                        position information, is trained on 120 batches of 32 such lines.
                    </p>
                    <div class="live-words">
                        <Progress kind="attention" name="Attention" />
                        {isTrained('attention') && (
                            <p>
                                {(right ?? 1) < 0.25
                                    ? `The answer is an icon, and the label of an icon says nothing about the letter before it. So a question cannot tell which of the ${PAIRS} icons is its own, and guesses. More batches do not help: in an earlier run of 2,400 batches it stayed at 1 of\u00a0${PAIRS}.`
                                    : 'That is more than guessing gives.'}
                            </p>
                        )}
                    </div>
                </>
            }
        >
            <Climb kinds={['attention']} />
            <p class="caption">
                Dashed: guessing among the {PAIRS} icons of the line. An untrained model does not know even
                these: it answers with any letter or icon.
            </p>
        </Beside>
    );
}

export function Filter({ children }: StepProps) {
    const now = told.value.keys;
    return (
        <Beside
            words={
                <>
                    {children}
                    <p>
                        The same block with one addition, a <b>filter</b>: three weights mix the labels of the
                        two tokens before it into the label of each token, never those of the tokens after it.
                        They are learnt with all other weights; lines, order and learning rate stay the same.
                        (This is CAT, a convolution-augmented transformer, in its smallest form.)
                    </p>
                    <div class="live-words">
                        <Progress kind="keys" name="The block with its filter" />
                    </div>
                </>
            }
        >
            <Mix tokens={now?.line ?? line.value} taps={now ? tapsOf(now.look) : null} />
            <Climb kinds={['attention', 'keys']} />
        </Beside>
    );
}
