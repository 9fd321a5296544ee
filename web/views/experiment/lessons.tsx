// lessons.tsx: the lessons as cards on shelves: what each teaches, how long it takes, and one press to see
// it.
import { useEffect, useState } from 'preact/hooks';
import { cards, lesson, prepareLessons, SHELVES, shelfOf, type Shelf } from '../../state/views/lesson.ts';
import { openCard } from '../../state/start.ts';

export function Lessons() {
    const now = lesson.value.name;
    useEffect(prepareLessons, []);
    const [chosen, choose] = useState<{ shelf: Shelf; lesson: string } | null>(null);
    // The lesson's own shelf, until another one is looked at.
    const open = chosen?.lesson === now ? chosen.shelf : shelfOf(now || 'recall');
    return (
        <section class="lessons" aria-labelledby="lessons-title">
            <div class="shelf-head">
                <h2 id="lessons-title">Lessons</h2>
                <fieldset class="tabs shelves">
                    <legend class="unseen">Shelf</legend>
                    {SHELVES.map(({ id, title }) => (
                        <label key={id} class={id === open ? 'picked' : ''}>
                            <input
                                type="radio"
                                name="shelf"
                                checked={id === open}
                                onChange={() => choose({ shelf: id, lesson: now })}
                            />
                            {title}
                        </label>
                    ))}
                </fieldset>
            </div>
            <ul>
                {cards(open).map((card) => (
                    <li key={card.name}>
                        <button
                            type="button"
                            class="card"
                            aria-pressed={card.name === now}
                            title={`${card.sentence} (${card.takes})`}
                            onClick={() => openCard(card)}
                        >
                            <strong>{card.title}</strong>
                            <span>{card.sentence}</span>
                            <small>{card.takes}</small>
                        </button>
                    </li>
                ))}
            </ul>
        </section>
    );
}
