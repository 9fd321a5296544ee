// lesson_now.tsx: the lesson of now: what to look for; what it promised, ticked as the runs train; what was
// seen in the end, with the way to the next one.
import { cardOf, expectations, lesson, nextAfter, outcome } from '../../state/views/lesson.ts';
import { whole } from '../../state/views/mnist.ts';
import { openCard, openLesson } from '../../state/start.ts';
import { openView } from '../../state/viewing.ts';
import { MarkSign } from '../frame/mark.tsx';
import { Worded } from '../frame/worded.tsx';

const SIGNS = { open: ['·', 'still open'], held: ['✓', 'held'], broken: ['✗', 'not held'] } as const;

export function LessonNow() {
    return (
        <>
            <p class="lesson">
                <Worded>{lesson.value.sentence}</Worded>
            </p>
            {lesson.value.drawn && <DrawnInstead />}
        </>
    );
}

/** Below the chart of accuracy, which it is about. */
export function Expected() {
    const all = expectations();
    if (all.length === 0)
        return lesson.value.expect ? <p class="say">To expect: {lesson.value.expect}</p> : null;
    return (
        <ul class="expected" aria-label="What is expected">
            {all.map(({ entry, says, rate, seen, verdict: { state } }) => (
                <li key={says} class={state}>
                    <span class="sign" aria-hidden="true">
                        {SIGNS[state][0]}
                    </span>
                    <MarkSign mark={entry.mark} />
                    <span>
                        {says}
                        <span class="unseen">: {SIGNS[state][1]}</span>{' '}
                        <span
                            class="rate number"
                            title="On how many of the seeds that were measured it holds"
                        >
                            ({rate})
                        </span>{' '}
                        <span class="of number">{state === 'open' && seen ? `now ${seen}` : seen}</span>
                    </span>
                </li>
            ))}
        </ul>
    );
}

/** Its place is kept from the start, so that nothing moves when it is filled. */
export function LessonSeen() {
    const { promises, drawn, name } = lesson.value;
    if (!promises && !drawn) return null;
    const seen = outcome();
    const next = nextAfter(promises || name);
    return (
        <div class="lesson-seen" aria-live="polite">
            <p>{seen || (promises && 'The result appears here when the runs are done.')}</p>
            {next && (
                <button type="button" class={seen ? 'primary' : ''} onClick={() => openCard(next)}>
                    Next: {next.title} →
                </button>
            )}
        </div>
    );
}

/** A lesson about MNIST, on drawn digits or a part of it: where the real ones come from. */
function DrawnInstead() {
    const { name } = lesson.value;
    const card = cardOf(name);
    return (
        <p class="say">
            This lesson is about MNIST.{' '}
            {whole.value
                ? 'This run used other digits.'
                : 'Some of its files are missing, so no claim is judged.'}{' '}
            {whole.value ? (
                <button type="button" onClick={() => (card ? openCard(card) : openLesson(`preset=${name}`))}>
                    Train on MNIST
                </button>
            ) : (
                <button type="button" onClick={() => openView('digits')}>
                    Real digits …
                </button>
            )}
        </p>
    );
}
