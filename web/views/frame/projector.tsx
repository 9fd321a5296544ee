// projector.tsx: projector mode: large type, and the story or the chart alone. It stands in the address, so
// that a lecture's links open in it.
import { useLayoutEffect } from 'preact/hooks';
import { painted } from '../../core/theme.ts';
import { said, view } from '../../state/page.ts';
import { setView } from '../../state/viewing.ts';

// What the visitor looks at, and how far down the page that is. Its height on the screen stays where the
// letters change; where it is not shown in the other mode, the page is again where it was before, and a view
// that was opened meanwhile begins at its top.
let at: { one: Element | undefined; top: number; scrolled: number } | undefined;
let before = { view: '', scrolled: 0 };

export function turnProjector(): void {
    const top = (one: Element) => one.getBoundingClientRect().top;
    const off = (one: Element) => Math.abs(top(one) - innerHeight / 3);
    const seen = [...document.querySelectorAll('main :is(h2, h3, p)')].filter((one) => one.checkVisibility());
    const one = seen.sort((a, b) => off(a) - off(b))[0];
    at = { one, top: one ? top(one) : 0, scrolled: scrollY };
    setView({ projector: 1 - view.value.projector });
    said.value = view.value.projector
        ? 'Projector mode. Press f or Escape to leave it.'
        : 'Projector mode is off.';
}

const LEAVE = 'Leave projector mode (f or Escape)';

export function Projector() {
    const on = view.value.projector === 1;
    useLayoutEffect(() => {
        document.documentElement.toggleAttribute('data-projector', on);
        painted.value = painted.peek() + 1; // what is drawn on canvases has letters, too
        const was = at;
        at = undefined;
        const now = view.peek().view;
        if (on) before = { view: now, scrolled: was?.scrolled ?? 0 };
        // What stood above the chart is gone: the page begins with it, wherever it was before.
        if (on && now === 'experiment') scrollTo(0, 0);
        else if (was && now !== 'experiment' && was.one?.checkVisibility()) {
            const { one, top } = was;
            const hold = () => scrollBy({ top: one.getBoundingClientRect().top - top, behavior: 'instant' });
            hold();
            requestAnimationFrame(hold); // drawings above it are as large as they will be a frame later
        } else if (was && !on)
            scrollTo({ top: now === before.view ? before.scrolled : 0, behavior: 'instant' });
    }, [on]);
    if (!on) return null;
    return (
        <button
            type="button"
            class="quiet leave-projector"
            aria-label={LEAVE}
            title={LEAVE}
            onClick={turnProjector}
        >
            <span>{LEAVE}</span>
        </button>
    );
}
