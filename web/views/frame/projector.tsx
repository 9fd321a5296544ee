// projector.tsx: projector mode: large type, and the story or the chart alone. It stands in the address, so
// that a lecture's links open in it.
import { useLayoutEffect } from 'preact/hooks';
import { painted } from '../../core/theme.ts';
import { said, view } from '../../state/page.ts';
import { setView } from '../../state/viewing.ts';

export function turnProjector(): void {
    setView({ projector: 1 - view.value.projector });
    said.value = view.value.projector
        ? 'Projector mode. Press f or Escape to leave it.'
        : 'Projector mode is off.';
}

export function Projector() {
    const on = view.value.projector === 1;
    useLayoutEffect(() => {
        document.documentElement.toggleAttribute('data-projector', on);
        painted.value = painted.peek() + 1; // what is drawn on canvases has letters, too
        // What stood above the chart is gone: the page begins with it, wherever it was before.
        if (on && view.peek().view === 'experiment') scrollTo(0, 0);
    }, [on]);
    if (!on) return null;
    return (
        <button type="button" class="quiet leave-projector" onClick={turnProjector}>
            Leave projector mode (f or Escape)
        </button>
    );
}
