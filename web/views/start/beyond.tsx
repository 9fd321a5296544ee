// beyond.tsx: steps 7 and 8: what attention can and cannot express, and where to go from here.
import { useEffect, useState } from 'preact/hooks';
import { mapRows } from '../../charts/grid.ts';
import { show } from '../../core/figures.ts';
import type { Look } from '../../training/protocol.ts';
import { ask, isTrained, line, question, QUESTIONS, rightOf, torn, written } from '../../state/story.ts';
import { lab } from '../../state/page.ts';
import { openLesson } from '../../state/start.ts';
import { openView } from '../../state/viewing.ts';
import { useAnswer } from '../theorems/answer.ts';
import { Slider } from '../theorems/parts.tsx';
import { Stems } from '../theorems/stems.tsx';
import { Arcs } from './arcs.tsx';
import { Beside, Choices, Live, Progress, type StepProps } from './frame.tsx';
import { Line } from './line.tsx';
import { Pixels } from './pixels.tsx';

type Limit = 'order' | 'filters' | 'pixels' | 'chosen';
const LIMITS: readonly (readonly [Limit, string])[] = [
    ['order', 'Order'],
    ['filters', 'Any filter'],
    ['pixels', 'Pixels'],
    ['chosen', 'Filters that choose'],
];

/** Four short answers, one at a time. */
export function Limits({ children }: StepProps) {
    const [shown, show] = useState<Limit>('order');
    return (
        <Beside
            words={
                <>
                    {children}
                    <Choices label="What is asked" choices={LIMITS} value={shown} set={show} />
                    {
                        {
                            order: (
                                <p>
                                    <b>It cannot tell order.</b> To a block of attention without positions a
                                    line is a bag of tokens. Tear all pairs apart, and it answers as before.
                                </p>
                            ),
                            filters: (
                                <p>
                                    <b>It can be any filter</b>, once something tells it where a token stands:
                                    with the right weights attention computes every filter whose numbers are
                                    not negative. Try one. So the question is not what it can express but what
                                    it learns easily.
                                </p>
                            ),
                            pixels: (
                                <p>
                                    <b>A picture has neighbours, too.</b> Another mechanism, LaS, is attention
                                    with decay, which lets near pixels count more, and smoothing, which
                                    averages what is looked at. Neither has a number to learn.
                                </p>
                            ),
                            chosen: (
                                <p>
                                    <b>A filter need not stay the same.</b> In a third mechanism, Focus, a
                                    small network reads the input and chooses the filter of each stretch. Its
                                    lesson trains it beside five others.
                                </p>
                            ),
                        }[shown]
                    }
                    {shown === 'pixels' && (
                        <button type="button" class="again" onClick={() => openLesson('preset=ablations')}>
                            Train LaS in parts
                        </button>
                    )}
                </>
            }
        >
            {shown === 'order' && <Torn />}
            {shown === 'filters' && <Same />}
            {shown === 'pixels' && <Pixels />}
            {shown === 'chosen' && (
                <div class="row">
                    <button type="button" onClick={() => openLesson('preset=mechanisms')}>
                        One task, six mechanisms
                    </button>
                </div>
            )}
        </Beside>
    );
}

/** The same tokens in another order, through both models. */
function Torn() {
    const tokens = line.value;
    const other = torn(tokens);
    const [apart, setApart] = useState(false);
    const [seen, setSeen] = useState<{ before: Look; after: Look; keys: Look } | null>(null);
    const ready = isTrained('attention') && isTrained('keys');
    useEffect(() => {
        if (!ready) return;
        let gone = false;
        void Promise.all([ask('attention', tokens), ask('attention', other), ask('keys', other)]).then(
            ([before, after, keys]) => {
                if (!gone && before && after && keys) setSeen({ before, after, keys });
            },
        );
        return () => {
            gone = true;
        };
    }, [ready, tokens]);
    if (!ready || !seen)
        return (
            <>
                <Progress kind="attention" name="Attention" />
                <Progress kind="keys" name="The block with its filter" />
            </>
        );
    const { before, after, keys } = seen;
    const same = QUESTIONS.filter((i) => before.sample.predicted![i] === after.sample.predicted![i]).length;
    const moved = Math.max(
        ...QUESTIONS.map((i) => Math.abs(before.sample.confidence![i]! - after.sample.confidence![i]!)),
    );
    const look = apart ? after : before;
    return (
        <>
            <p class="caption">Attention, and where it looks:</p>
            <div class="answer">
                <Line tokens={apart ? other : tokens} asked={tokens} look={look} name="attention" />
                <Arcs
                    tokens={apart ? other : tokens}
                    row={question.value}
                    weights={mapRows(look.map!, look.sample.length, 0, question.value)}
                    taps={null}
                    stage={2}
                    below
                    tone="tone-attention"
                    label={`Where attention looks from the question ${written(tokens[question.value]!)}`}
                />
            </div>
            {apart && (
                <>
                    <p class="caption">The block with its filter:</p>
                    <Line
                        tokens={other}
                        asked={tokens}
                        judged={other}
                        look={keys}
                        name="the block with its filter"
                    />
                </>
            )}
            <div class="row">
                <button type="button" aria-pressed={apart} onClick={() => setApart(!apart)}>
                    {apart ? 'Put the pairs together' : 'Tear the pairs apart'}
                </button>
            </div>
            {apart && (
                <p class="verdict-line">
                    Of attention’s answers <Live>{same} of 8</Live> stayed the same; none is surer or less
                    sure by more than <Live>{show(moved)}</Live>: it did not notice. The block with its filter
                    reads the line as it stands now: <Live>{rightOf(other, keys)} of 8</Live> of its answers
                    are what now stands after the letter, <Live>{rightOf(tokens, keys)}</Live> what stood
                    there before.
                </p>
            )}
        </>
    );
}

const L = 12;
const X = [0, 1, 0.6, -0.4, 0, 0, 0.8, 0.8, 0.8, -0.6, 0.2, 0];
/** Attention's output beside the convolution's, for a kernel of two sliders. */
function Same() {
    const [fade, setFade] = useState(0.7);
    const [echo, setEcho] = useState(0.4);
    const kernel = Array.from({ length: L }, (_, t) => Math.min(1, fade ** t + (t === 5 ? echo : 0)));
    const { value: found, problem } = useAnswer(
        async (v) => v.convolution(kernel, X, false, 'float32'),
        [fade, echo],
    );
    if (problem) return <p class="why">This cannot be computed here: {problem}</p>;
    if (!found) return <p class="caption">Loading the construction of the proof …</p>;
    const difference = Math.max(...Array.from(found.y, (y, t) => Math.abs(y - found.direct[t]!)));
    return (
        <>
            <p class="caption">
                Twelve places of a sequence: ○ what attention gives out, ✕ what the filter gives out.
            </p>
            <Stems
                label="What attention gives, and what the convolution gives"
                series={[
                    { values: found.y, tone: 'one', shape: 'ring' },
                    { values: found.direct, tone: 'two', shape: 'cross', stems: false },
                ]}
                low={-2}
                high={3}
                foot={(i) => i}
            />
            <div class="theorem-controls">
                <Slider
                    label="how slowly the filter fades"
                    value={fade}
                    min={0}
                    max={0.95}
                    step={0.05}
                    set={setFade}
                />
                <Slider
                    label="an echo after five places"
                    value={echo}
                    min={0}
                    max={0.9}
                    step={0.05}
                    set={setEcho}
                />
            </div>
            <p class="verdict-line">
                They differ by at most <Live>{show(difference)}</Live>, which is rounding: a theorem of the
                LaS paper (B.1), computed here.{' '}
                <button type="button" class="link" onClick={() => openView('theorems')}>
                    All theorems
                </button>
            </p>
        </>
    );
}

const NEXT: readonly (readonly [string, string, () => void])[] = [
    [
        'Which filter matters',
        'Queries, keys, values: train all of them side by side.',
        () => openLesson('preset=filters'),
    ],
    [
        'Look inside',
        'Every weight and every step of a model, over its whole training.',
        () => openView('inside'),
    ],
    [
        'Draw a digit',
        'An image is a sequence, too: draw one, and watch it being read.',
        () => openView('digits'),
    ],
    [
        'Write your own equation',
        'A mixer as text: checked while you type, trained beside the others.',
        () => openView('equations'),
    ],
    [
        'Bring a table or a text',
        'Train on a file of your own, which stays in this browser.',
        () => openLesson('preset=table'),
    ],
    ['Trust nothing', 'Proofs and checks, run again in this browser.', () => openView('verify')],
    ['The laboratory', '', () => openView('experiment')],
];

export function Bring({ children }: StepProps) {
    return (
        <Beside
            words={
                <>
                    {children}
                    <p>
                        You know now what three numbers do for attention, and why. The laboratory has the same
                        models with every setting, on tasks that you choose or bring.
                    </p>
                </>
            }
        >
            <ul class="next">
                {NEXT.map(([title, sentence, open]) => (
                    <li key={title}>
                        <button type="button" class="card" onClick={open}>
                            <strong>{title}</strong>
                            <span>
                                {sentence ||
                                    `${lab().config.mixers.length} mechanisms, every setting, lessons.`}
                            </span>
                        </button>
                    </li>
                ))}
            </ul>
        </Beside>
    );
}
