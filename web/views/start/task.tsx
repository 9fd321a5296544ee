// task.tsx: steps 1 to 3: the task, attention that fails at it, the filter that lets it learn.
import { useState } from 'preact/hooks';
import {
    accuracyOf,
    guessed,
    isTrained,
    learn,
    learnt,
    line,
    page,
    PAIRS,
    question,
    rightOf,
    switchedOn,
    told,
    wanted,
    written,
} from '../../state/story.ts';
import { Climb } from './climb.tsx';
import { Beside, Choices, Live, Progress, two, type StepProps } from './frame.tsx';
import { Line, Pairs } from './line.tsx';
import { Mix } from './mix.tsx';

export function Puzzle({ children }: StepProps) {
    const tokens = line.value;
    const [picked, pick] = useState<number | null>(null);
    const answer = wanted(tokens, question.value);
    const choices = tokens
        .slice(0, 2 * PAIRS)
        .filter((_, i) => i % 2 === 1)
        .sort((a, b) => a - b);
    return (
        <Beside
            words={
                <>
                    {children}
                    <p>
                        A line of letters and numbers: each letter is followed by its number. Then one of the
                        letters comes again. Which number goes with it?
                    </p>
                    <p aria-live="polite">
                        {picked === null
                            ? `Try it: which number goes with ${written(tokens[question.value]!)}?`
                            : picked === answer
                              ? `Right. You found ${written(tokens[question.value]!)}, then looked one place to the right: two skills.`
                              : `Not that one: ${written(tokens[question.value]!)} is followed by ${written(answer)}.`}
                    </p>
                </>
            }
        >
            <Pairs tokens={tokens} />
            <p class="asked">
                <span class={`pair pair-${picked === null ? 0 : Math.floor(tokens.indexOf(answer) / 2) + 1}`}>
                    <b>{written(tokens[question.value]!)}</b>
                    <span>{picked === answer ? written(answer) : '?'}</span>
                </span>
                <Choices
                    label={`Which number stood after ${written(tokens[question.value]!)}?`}
                    choices={choices.map((value) => [value, written(value)] as const)}
                    value={picked}
                    verdict={picked === null ? null : picked === answer ? 'right' : 'wrong'}
                    set={pick}
                />
            </p>
            <button
                type="button"
                class="quiet again"
                onClick={() => {
                    page.value++;
                    pick(null);
                }}
            >
                Another line
            </button>
        </Beside>
    );
}

export function Fail({ children }: StepProps) {
    const guess = guessed.value;
    const done = isTrained('attention');
    return (
        <Beside
            words={
                <>
                    {children}
                    <p>
                        Attention is made for finding. Every token of the line shows a label (its <b>key</b>)
                        and holds a content (its <b>value</b>); a question (the <b>query</b>) looks for the
                        label that fits best, and takes that token’s content. Give one block of attention,
                        without position information, 120 batches of 32 such lines to learn from. Will it
                        learn to answer?
                    </p>
                    <Choices
                        label="Your guess"
                        choices={[
                            ['can', 'It learns it'],
                            ['cannot', 'It does not'],
                        ]}
                        value={guess}
                        set={(value) => {
                            guessed.value = value;
                            learn('attention');
                        }}
                    />
                    <div class="live-words">
                        {guess ? (
                            <Progress kind="attention" name="Attention" />
                        ) : (
                            <p>Guess, and it is trained.</p>
                        )}
                        {guess && done && (
                            <p>
                                {(accuracyOf('attention') ?? 1) < 0.25
                                    ? `${guess === 'can' ? 'It does not. ' : 'You were right. '}The answer is a number, and the label of a number says nothing of the letter before it. So a question cannot tell which of the ${PAIRS} numbers is its own, and guesses. More batches do not help: in a training of 2,400, which we measured before, it stayed at 1 of ${PAIRS}.`
                                    : 'That is more than guessing gives.'}
                            </p>
                        )}
                    </div>
                </>
            }
        >
            <Climb kinds={guess ? ['attention'] : []} />
            <p class="caption">
                Dashed: a guess among the {PAIRS} numbers of the line. Before it is trained a model does not
                know even these, and answers any letter or number.
            </p>
        </Beside>
    );
}

export function SwitchOn({ children }: StepProps) {
    const on = switchedOn.value;
    const now = told.value.keys;
    const tokens = now?.line ?? line.value;
    const taps = learnt.value;
    const look = now?.look ?? null;
    return (
        <Beside
            words={
                <>
                    {children}
                    <p>
                        The same block with one thing more, a <b>filter</b>: three numbers mix into the label
                        of each token the labels of the two tokens before it, never of those after. They are
                        learnt with all the rest; lines, order and learning rate stay the same. (This is CAT,
                        a convolution-augmented transformer, in its smallest form.)
                    </p>
                    <button
                        type="button"
                        role="switch"
                        aria-checked={on}
                        class="switch"
                        onClick={() => {
                            switchedOn.value = !on;
                            learn('keys');
                        }}
                    >
                        <span class="knob" aria-hidden="true" />
                        filter {on ? 'on' : 'off'}
                    </button>
                    <div class="live-words">
                        {on && <Progress kind="keys" name="The block with its filter" />}
                        {on && taps && taps.length === 3 && (
                            <p>
                                Its three numbers are now <Live>{two(taps[0]!)}</Live> for the token itself,{' '}
                                <Live>{two(taps[1]!)}</Live> for the one before, <Live>{two(taps[2]!)}</Live>{' '}
                                for the one before that.
                            </p>
                        )}
                    </div>
                </>
            }
        >
            <Mix tokens={tokens} taps={on && taps?.length === 3 ? taps : null} />
            {on && (
                <>
                    <Climb kinds={['attention', 'keys']} />
                    <Line tokens={tokens} look={look} name="the block with its filter" />
                    <p class="caption">
                        {rightOf(tokens, look)} of {PAIRS} questions of this line are answered right.
                    </p>
                </>
            )}
        </Beside>
    );
}
