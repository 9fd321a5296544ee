// lessons.tsx: the engine's presets as cards: what each teaches, and one press to see it.
import { lab, lesson, openLesson } from '../state.ts';

export function Lessons() {
    const now = lesson.value.name;
    return (
        <section class="lessons" aria-labelledby="lessons-title">
            <h2 id="lessons-title">Lessons</h2>
            <ul>
                {lab().config.presets.map(({ name, title, lesson: sentence }) => (
                    <li key={name}>
                        <button
                            type="button"
                            class="card"
                            aria-pressed={name === now}
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
