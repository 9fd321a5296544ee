// experiment.tsx: the first view: the task and the runs, their curves, and a look inside one of them. The
// order is that of a phone; wide screens move the setup to the left.
import { CurvesView } from './curves.tsx';
import { Inside } from './inside.tsx';
import { LessonNow, LessonSeen } from './lesson_now.tsx';
import { Lessons } from './lessons.tsx';
import { Numbers } from './numbers.tsx';
import { RunsView } from './runs.tsx';
import { SweepOffer } from './sweep_offer.tsx';
import { TablePart } from './table_part.tsx';
import { TaskView } from './task.tsx';
import { Transport } from './transport.tsx';

export default function Experiment() {
    return (
        <div class="places">
            <section class="race" aria-label="Training">
                <Transport />
                <LessonNow />
                <TablePart />
                <CurvesView />
                <LessonSeen />
                <Numbers />
                <SweepOffer />
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
