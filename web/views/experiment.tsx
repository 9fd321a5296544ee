// experiment.tsx: the first view: the task and the runs, their curves, and a look inside one of them. The
// order is that of a phone; wide screens move the setup to the left.
import { lesson } from '../state/lesson.ts';
import { complete } from '../state/mnist.ts';
import { openLesson } from '../state/start.ts';
import { openView } from '../state/viewing.ts';
import { CurvesView } from './curves.tsx';
import { Inside } from './inside.tsx';
import { Lessons } from './lessons.tsx';
import { Numbers } from './numbers.tsx';
import { RunsView } from './runs.tsx';
import { TaskView } from './task.tsx';
import { Transport } from './transport.tsx';

export default function Experiment() {
    return (
        <div class="places">
            <section class="race" aria-label="Training">
                <Transport />
                <p class="lesson">{lesson.value.sentence}</p>
                {lesson.value.expect && <p class="say">To expect: {lesson.value.expect}</p>}
                {lesson.value.drawn && <DrawnInstead />}
                <CurvesView />
                <Numbers />
            </section>
            <Lessons />
            <section class="setup" aria-label="Setup">
                <TaskView />
                <RunsView />
            </section>
            <section class="inside" aria-labelledby="inside-title">
                <Inside />
            </section>
        </div>
    );
}

/** A lesson about MNIST, on drawn digits: where the real ones come from. */
function DrawnInstead() {
    const { name } = lesson.value;
    return (
        <p class="say">
            This lesson is about MNIST. {complete() ? 'It ran' : 'Its files are not here, so it runs'} on
            digits drawn by a generator.{' '}
            {complete() ? (
                <button type="button" onClick={() => openLesson(`preset=${name}`)}>
                    Train on MNIST
                </button>
            ) : (
                <button type="button" onClick={() => openView('digits')}>
                    Bring the MNIST files …
                </button>
            )}
        </p>
    );
}
