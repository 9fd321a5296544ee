// app.tsx: where things stand on the page. The order is that of a phone; wide screens move the setup to the
// left.
import { lesson, said } from '../state.ts';
import { CurvesView } from './curves.tsx';
import { Header } from './header.tsx';
import { Inside } from './inside.tsx';
import { Notice } from './notice.tsx';
import { Numbers } from './numbers.tsx';
import { RunsView } from './runs.tsx';
import { TaskView } from './task.tsx';
import { Transport } from './transport.tsx';

export function App() {
    return (
        <>
            <Header />
            <main>
                <Notice />
                <div class="places">
                    <section class="race" aria-label="Training">
                        <Transport />
                        <p class="lesson">{lesson.value}</p>
                        <CurvesView />
                        <Numbers />
                    </section>
                    <section class="setup" aria-label="Setup">
                        <TaskView />
                        <RunsView />
                    </section>
                    <section class="inside" aria-labelledby="inside-title">
                        <Inside />
                    </section>
                </div>
            </main>
            <Footer />
            <p class="unseen" role="status" aria-live="polite">
                {said.value}
            </p>
        </>
    );
}

function Footer() {
    return (
        <footer>
            <p>
                Everything is computed in this browser, in WebAssembly, to the same last bit as by the native
                program. The address holds the whole setup: copy it to share what you see.
            </p>
        </footer>
    );
}
