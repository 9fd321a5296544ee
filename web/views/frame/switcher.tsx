// switcher.tsx: the four places, the tabs of the open one, and the view that is open. They are links, so that
// they can be opened elsewhere; which view is open stands in the address.
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { addressOf } from '../../state/address.ts';
import { opened, said, view } from '../../state/page.ts';
import { openView } from '../../state/viewing.ts';
import { FIRST_VIEW, PLACES, VIEWS, type ViewEntry } from '../list.ts';

const loaded = signal<ReadonlyMap<string, ComponentType>>(new Map());
const failed = signal<{ id: string; message: string } | null>(null);

function current(): ViewEntry {
    const called = (name: string) => VIEWS.find(({ id }) => id === name);
    return called(view.value.view) ?? called(FIRST_VIEW)!;
}

async function fetchView({ id, title, load }: ViewEntry): Promise<void> {
    failed.value = null;
    try {
        const { default: component } = await load();
        loaded.value = new Map(loaded.value).set(id, component);
    } catch (error) {
        failed.value = { id, message: (error as Error).message };
        said.value = `${title} could not be loaded.`;
    }
}

/** A view that will be open, to be there when the page is drawn. */
export const fetchAhead = async (asked: string): Promise<void> => {
    const entry = VIEWS.find(({ id }) => id === asked);
    if (entry) await fetchView(entry);
};

/** A link to a view. */
function ViewLink({ id, name, current }: { id: string; name: string; current: 'page' | 'true' | undefined }) {
    return (
        <a
            href={addressOf({ view: id, detail: '' })}
            aria-current={current}
            onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
                event.preventDefault();
                openView(id);
            }}
        >
            {name}
        </a>
    );
}

/** The four places. */
export function Places() {
    const open = current();
    return (
        <nav class="where" aria-label="Places">
            <ul>
                {PLACES.map(({ place, front }) => (
                    <li key={place}>
                        <ViewLink
                            id={front}
                            name={place}
                            current={place === open.place ? 'true' : undefined}
                        />
                    </li>
                ))}
            </ul>
        </nav>
    );
}

/** The views of the open place, where it has several; the others' are there for who looks for them. */
export function Tabs() {
    const open = current();
    return (
        <nav class="views" aria-label="Views">
            {PLACES.map(({ place }) => {
                const own = VIEWS.filter((one) => one.place === place);
                return (
                    <ul key={place} hidden={place !== open.place || own.length === 1}>
                        {own.map(({ id, title }) => (
                            <li key={id}>
                                <ViewLink
                                    id={id}
                                    name={title}
                                    current={id === open.id ? 'page' : undefined}
                                />
                            </li>
                        ))}
                    </ul>
                );
            })}
        </nav>
    );
}

/** A view that was opened by hand begins at its top, and is read from its heading on. */
function useTop(there: boolean): void {
    const shown = useRef(opened.peek());
    const count = opened.value;
    useLayoutEffect(() => {
        if (!there || shown.current === count) return;
        shown.current = count;
        scrollTo({ top: 0, behavior: 'instant' });
        const heading = document.querySelector<HTMLElement>('main :is(h2, h3)');
        heading?.setAttribute('tabindex', '-1');
        heading?.focus({ preventScroll: true });
    }, [there, count]);
}

export function OpenView() {
    const entry = current();
    const View = loaded.value.get(entry.id);
    useTop(!!View);
    if (View)
        return (
            <div class="view" key={entry.id}>
                {entry.sentence && (
                    <div class="view-head">
                        <h2>{entry.title}</h2>
                        <p class="view-sentence">{entry.sentence}</p>
                    </div>
                )}
                <View />
            </div>
        );
    if (failed.value?.id === entry.id)
        return (
            <p class="why" role="alert">
                {entry.title} could not be loaded ({failed.value.message}).{' '}
                <button type="button" onClick={() => void fetchView(entry)}>
                    Try again
                </button>
            </p>
        );
    void fetchView(entry);
    return <p class="say">Loading {entry.title} …</p>;
}
