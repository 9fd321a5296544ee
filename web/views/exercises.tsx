// exercises.tsx: the view Exercises: questions that are answered by training something; the page corrects
// them by training it again. A sheet with its answers is an address, and so is a lecturer's own exercise.
import { useEffect, useState } from 'preact/hooks';
import { ASKS, QUESTIONS, type Ask, type Exercise } from '../core/exercises.ts';
import {
    addressOfOwn,
    checked,
    correct,
    exercises,
    give,
    news,
    questionOf,
    rightAnswer,
    sheet,
    takeUp,
    verdictOf,
} from '../state/views/exercises.ts';
import { runs } from '../state/page.ts';
import { openLesson } from '../state/start.ts';
import { openView } from '../state/viewing.ts';
import { nameOf } from '../state/wording.ts';
import { Copy } from './experiment/numbers.tsx';
import '../styles/views/exercises.css';

export default function Exercises() {
    useEffect(takeUp, []);
    void news.value;
    const all = exercises.value;
    const { own, answers } = sheet.value;
    const [typed, type] = useState<Typed>(null);
    const commit = () => {
        if (typed) give(typed.i, typed.text);
        type(null);
    };
    const given = all.filter((_, i) => answers[i]).length;
    const right = all.filter((one, i) => verdictOf(one, answers[i] ?? '') === true).length;
    const corrected = all.filter((one) => checked(one)?.trained).length;
    return (
        <div class="exercises">
            <ol>
                {all.map((one, i) => (
                    <Question
                        key={`${own} ${i}`}
                        one={one}
                        i={i}
                        answer={answers[i] ?? ''}
                        typed={typed?.i === i ? typed.text : null}
                        type={(text) => type({ i, text })}
                        commit={commit}
                    />
                ))}
            </ol>
            <div class="row">
                <button
                    type="button"
                    class="primary"
                    disabled={!given && !typed?.text}
                    onClick={() => {
                        commit();
                        correct(all);
                    }}
                >
                    Correct the sheet
                </button>
                <p role="status">
                    {corrected && !typed
                        ? `${right} of ${all.length} right.`
                        : `${given} of ${all.length} answered.`}
                </p>
            </div>
            <section aria-labelledby="hand-in">
                <h3 id="hand-in">Hand it in</h3>
                <p class="say">
                    The address holds your answers. Whoever opens it presses “Correct the sheet”: their
                    browser trains the same models to the same bits, with or without a network.
                </p>
                <Copy text={location.href} label="Copy the sheet’s address" />
            </section>
            <Make />
        </div>
    );
}

/** The answer that is being typed, and to which question. */
type Typed = { i: number; text: string } | null;

interface QuestionOf {
    one: Exercise;
    i: number;
    answer: string;
    /** What stands in its field while it is typed: the verdict on the answer before is no longer its own. */
    typed: string | null;
    type: (text: string) => void;
    /** It becomes the answer. */
    commit: () => void;
}
function Question({ one, i, answer, typed, type, commit }: QuestionOf) {
    void news.value;
    const state = checked(one);
    const verdict = verdictOf(one, answer);
    const id = `exercise-${i}`;
    return (
        <li aria-labelledby={`${id}-title`}>
            <h3 id={`${id}-title`}>
                {i + 1}. {one.title}
            </h3>
            <p>{one.text}</p>
            <div class="row">
                <label for={id}>{questionOf(one)}</label>
                <input
                    id={id}
                    type="text"
                    autocomplete="off"
                    maxLength={24}
                    value={typed ?? answer}
                    onInput={({ currentTarget }) => type(currentTarget.value)}
                    onChange={commit}
                    onBlur={commit}
                />
                <button
                    type="button"
                    onClick={() => {
                        if (sheet.value.own) openView('experiment');
                        else openLesson(one.config, { view: 'experiment', detail: '' });
                    }}
                >
                    Open the run
                </button>
            </div>
            <p class="verdict" role="status">
                {state?.status === 'going' && `Training it again: step ${state.step} …`}
                {state?.status === 'waiting' && 'Waiting to be trained again.'}
                {state?.status === 'failed' &&
                    `It could not be trained here: ${state.why || 'it was stopped'}.`}
                {state?.trained &&
                    typed === null &&
                    (verdict === true ? (
                        <span class="right">✓ Right: {rightAnswer(one)}.</span>
                    ) : verdict === false ? (
                        <span class="wrong">✗ Not right. Train the run to the end, unchanged.</span>
                    ) : (
                        'No answer yet.'
                    ))}
            </p>
        </li>
    );
}

/** A lecturer's own. */
function Make() {
    const [ask, setAsk] = useState<Ask>('digest');
    const first = runs.value[0];
    if (!first) return null;
    return (
        <section aria-labelledby="make-title">
            <h3 id="make-title">Make your own</h3>
            <p class="say">
                An exercise is a setup and a question. The setup is your first run in Experiment, now{' '}
                {nameOf(first)}; choose the question and send the address.
            </p>
            <fieldset class="ask">
                <legend class="unseen">Question</legend>
                {ASKS.map((one) => (
                    <label key={one}>
                        <input type="radio" name="ask" checked={one === ask} onChange={() => setAsk(one)} />
                        {QUESTIONS[one]}
                    </label>
                ))}
            </fieldset>
            <Copy text={new URL(addressOfOwn(ask), location.href).href} label="Copy the exercise’s address" />
        </section>
    );
}
