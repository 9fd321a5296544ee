// experiment.tsx: the first view: the task and the runs, their curves, and a look inside one of them. The
// order is that of a phone; wide screens move the setup to the left.
import { signal } from '@preact/signals';
import { CurvesView } from './experiment/curves.tsx';
import { Inside } from './inside/inside.tsx';
import { LessonNow, LessonSeen } from './experiment/lesson_now.tsx';
import { Lessons } from './experiment/lessons.tsx';
import { Numbers } from './experiment/numbers.tsx';
import { RunsView } from './experiment/runs.tsx';
import { SweepOffer } from './experiment/sweep_offer.tsx';
import { TablePart } from './experiment/table_part.tsx';
import { TaskView } from './experiment/task.tsx';
import { Undone } from './experiment/undone.tsx';
import { Transport } from './frame/transport.tsx';

/** What stands beside what on this screen, in the order in which it is read: on wide ones (styles/layout.css)
 * lessons come first. */
const wide = signal(false);
const screen = matchMedia('(min-width: 1180px)');
const measure = () => (wide.value = screen.matches);
measure();
screen.addEventListener('change', measure);

export default function Experiment() {
    const race = (
        <section key="race" class="race" aria-label="Training">
            <Transport />
            <LessonNow />
            <TablePart />
            <CurvesView />
            <LessonSeen />
            <Numbers />
            <SweepOffer />
        </section>
    );
    const setup = (
        <section key="setup" class="setup" aria-label="Setup">
            <TaskView />
            <RunsView />
        </section>
    );
    const inside = (
        <section key="inside" class="inside" aria-labelledby="inside-title">
            <Inside />
        </section>
    );
    const lessons = <Lessons key="lessons" />;
    return (
        <>
            <div class="places">
                {wide.value ? [lessons, race, setup, inside] : [race, lessons, inside, setup]}
            </div>
            <Undone />
        </>
    );
}
