// beyond.tsx: steps 7 and 8: four doubts about the filter, and where to go from here.
import EndCard from './card.tsx';
import { useEffect, useState } from 'preact/hooks';
import { mapRows } from '../../charts/grid.ts';
import { show } from '../../core/figures.ts';
import type { Look } from '../../training/protocol.ts';
import {
    accuracyOf,
    ask,
    isTrained,
    learn,
    line,
    modelOf,
    question,
    QUESTIONS,
    rightOf,
    torn,
    isKey,
    wanted,
} from '../../state/views/story.ts';
import { LESSON } from '../../state/views/lesson.ts';
import { begun, lab } from '../../state/page.ts';
import { openLesson } from '../../state/start.ts';
import { openView } from '../../state/viewing.ts';
import { useAnswer } from '../theorems/answer.ts';
import { Slider } from '../theorems/controls.tsx';
import { Stems } from '../theorems/stems.tsx';
import { Arcs } from './arcs.tsx';
import { Chosen } from './chosen.tsx';
import { Beside, Choices, Live, Progress, type StepProps } from './frame.tsx';
import { written } from './icons.tsx';
import { Line } from './line.tsx';
import { Pixels } from './pixels.tsx';

type Doubt = 'needed' | 'itself' | 'learnt' | 'same';
const DOUBTS: readonly (readonly [Doubt, string])[] = [
    ['needed', 'Is it needed?'],
    ['itself', 'Could attention do it?'],
    ['learnt', 'Must it be learnt?'],
    ['same', 'Must it stay the same?'],
];

/** Four doubts about the filter that was switched on, and what an experiment says to each. */
export function Doubts({ children }: StepProps) {
    const [shown, show] = useState<Doubt>('needed');
    return (
        <Beside
            words={
                <>
                    {children}
                    <p>
                        You gave attention a filter: three weights, learnt, the same for every token. You can
                        doubt each part of that, and test it.
                    </p>
                    <Choices label="What is asked" choices={DOUBTS} value={shown} set={show} />
                    {
                        {
                            needed: (
                                <>
                                    <p>
                                        <b>Something is needed.</b> For attention alone, a line is a bag of
                                        tokens. Tear all pairs apart, and its answers stay the same.
                                    </p>
                                    <Positions />
                                </>
                            ),
                            itself: (
                                <p>
                                    <b>It could</b>, once something tells it where a token stands: with the
                                    right weights, attention computes every filter whose weights are not
                                    negative. Try one. So the question is not what attention can express but
                                    what it learns easily.
                                </p>
                            ),
                            learnt: (
                                <p>
                                    <b>Not if you know in advance what matters.</b> In an image it is the
                                    nearby pixels. Another mechanism, LaS, builds that in with nothing to
                                    learn: decay makes nearby pixels count more, smoothing averages
                                    neighbouring weights.
                                </p>
                            ),
                            same: (
                                <p>
                                    <b>No.</b> In a third mechanism, Focus, a small network reads the line and
                                    chooses, for each token, how much of the preceding tokens to mix in.
                                </p>
                            ),
                        }[shown]
                    }
                    {shown === 'learnt' && (
                        <button type="button" class="again" onClick={() => openLesson('preset=ablations')}>
                            Train LaS in parts
                        </button>
                    )}
                    {shown === 'same' && (
                        <button type="button" class="again" onClick={() => openLesson('preset=mechanisms')}>
                            Train Focus alongside five others
                        </button>
                    )}
                </>
            }
        >
            {shown === 'needed' && <Torn />}
            {shown === 'itself' && <Same />}
            {shown === 'learnt' && <Pixels />}
            {shown === 'same' && <Chosen />}
        </Beside>
    );
}

/** Whether positions do what the filter does: tried when it is asked. */
function Positions() {
    const right = accuracyOf('placed');
    if (!modelOf('placed'))
        return (
            <button type="button" class="again" onClick={() => learn('placed')}>
                Would position numbers be enough?
            </button>
        );
    return (
        <>
            <Progress kind="placed" name="Attention with position numbers" />
            {isTrained('placed') && (
                <p>
                    {(right ?? 1) < 0.25
                        ? 'They are not: a label then says where its token stands, but still not which token stands before it.'
                        : 'That helps.'}
                </p>
            )}
        </>
    );
}

/** What attention makes of the line, and both models of the same tokens in another order; null: not yet. */
function useTorn() {
    const asked = line.value;
    const [seen, setSeen] = useState<{
        tokens: readonly number[];
        before: Look;
        after: Look;
        keys: Look;
    } | null>(null);
    const ready = isTrained('attention') && isTrained('keys');
    useEffect(() => {
        if (!ready) return;
        let gone = false;
        const other = torn(asked);
        void Promise.all([ask('attention', asked), ask('attention', other), ask('keys', other)]).then(
            ([before, after, keys]) => {
                if (!gone && before && after && keys) setSeen({ tokens: asked, before, after, keys });
            },
        );
        return () => {
            gone = true;
        };
    }, [ready, asked]);
    return ready ? seen : null;
}

/** The same tokens in another order, through both models. */
function Torn() {
    const [apart, setApart] = useState(false);
    const seen = useTorn();
    if (!seen)
        return (
            <>
                <Progress kind="attention" name="Attention" />
                <Progress kind="keys" name="The block with its filter" />
            </>
        );
    const { tokens, before, after, keys } = seen;
    const other = torn(tokens);
    const same = QUESTIONS.filter((i) => before.sample.predicted![i] === after.sample.predicted![i]).length;
    const moved = Math.max(
        ...QUESTIONS.map((i) => Math.abs(before.sample.confidence![i]! - after.sample.confidence![i]!)),
    );
    const look = apart ? after : before;
    const askable = QUESTIONS.filter((i) => !isKey(wanted(other, i)));
    return (
        <>
            <p class="caption">Attention, and where it looks:</p>
            <div class="answer">
                <Line
                    tokens={apart ? other : tokens}
                    asked={tokens}
                    judged={apart ? other : tokens}
                    look={look}
                    name="attention"
                >
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
                </Line>
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
                    Of attention’s answers <Live>{same} of 8</Live> stayed the same; the probability of none
                    of them moved by more than <Live>{show(moved)}</Live>: it did not notice. The block with
                    its filter reads the line in its new order. Of the {askable.length} letters that an icon
                    still follows, it answers <Live>{rightOf(other, keys)}</Live> with that icon,{' '}
                    <Live>{rightOf(tokens, keys)}</Live> with the icon that stood there before.
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
            <p class="caption">Twelve tokens of a sequence: ○ attention’s output, ✕ the filter’s output.</p>
            <Stems
                label="Attention’s output, and the convolution’s"
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

/** What the step promises first, what leads further after it, the laboratory for all of it last. */
const NEXT: readonly (readonly [string, string, () => void])[] = [
    [
        'The board',
        'LaS, CAT, Focus and attention on recall, copying and digits, on one screen.',
        () => openView('board'),
    ],
    [
        'Write your own equation',
        'A mixer as text: checked while you type, trained alongside the others.',
        () => openView('equations'),
    ],
    [
        'Bring a table or a text',
        'Train on a file of your own, which stays in this browser.',
        () => openLesson('preset=table'),
    ],
    [
        'Which filter matters',
        'Queries, keys, values: train all of them side by side.',
        () => openLesson('preset=filters'),
    ],
    [
        'Look inside',
        'Every weight and every step of a model, over its whole training.',
        () => (begun.peek() ? openView('inside') : openLesson(LESSON.config, { view: 'inside' })),
    ],
    [
        'Draw a digit',
        'An image is a sequence, too: draw one, and watch it being read.',
        () => openLesson('mixer=chela&task=smnist', { view: 'digits', speed: 'full' }),
    ],
    ['Trust nothing', 'Proofs and checks, run again in this browser.', () => openView('verify')],
    ['The laboratory', '', () => openView('experiment')],
];

export function Bring({ children }: StepProps) {
    return (
        <>
            <Beside
                words={
                    <>
                        {children}
                        <p>
                            You now know what three weights do for attention, and why. The laboratory has the
                            same models with every setting, on tasks that you choose and on your own data.
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
            <EndCard />
        </>
    );
}
