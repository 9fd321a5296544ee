// lessons.tsx: the engine's presets as cards: what each teaches, and one press to see it.
import { lesson } from '../state/lesson.ts';
import { lab } from '../state/page.ts';
import { openLesson } from '../state/start.ts';

export function Lessons() {
    const now = lesson.value.name;
    // What all others build on, then the whole grid.
    const first = (name: string) => ['mission', 'recall'].indexOf(name);
    const presets = [...lab().config.presets].sort((a, b) => first(b.name) - first(a.name));
    return (
        <section class="lessons" aria-labelledby="lessons-title">
            <h2 id="lessons-title">Lessons</h2>
            <ul>
                {presets.map(({ name, title, lesson: sentence }) => (
                    <li key={name}>
                        <button
                            type="button"
                            class="card"
                            aria-pressed={name === now}
                            title={sentence}
                            onClick={() => openLesson(`preset=${name}`)}
                        >
                            <strong>{title}</strong>
                            <span>{sentence}</span>
                        </button>
                    </li>
                ))}
            </ul>
        </section>
    );
}
