// shortcuts.tsx: the keyboard: what each key does, and the sheet that says so.
import { signal } from '@preact/signals';
import { playing, runs, view } from '../../state/page.ts';
import { pause, play, reset, stepOnce } from '../../state/transport.ts';
import { undo } from '../../state/undo.ts';
import { openView, setView } from '../../state/viewing.ts';
import { Dialog } from './dialog.tsx';
import { VIEWS } from '../list.ts';
import { album } from './pictures.tsx';
import { turnProjector } from './projector.tsx';

export const sheet = signal(false);

const turn = (by: number) => setView({ run: (view.value.run + by + runs.value.length) % runs.value.length });
interface Shortcut {
    keys: string;
    says: string;
    does: () => void;
}
export const SHORTCUTS: readonly Shortcut[] = [
    { keys: 'k', says: 'start or pause', does: () => (playing.value ? pause() : play()) },
    { keys: '.', says: 'one step', does: stepOnce },
    { keys: 'r', says: 'reset', does: reset },
    { keys: 'u', says: 'undo or redo the last change to the runs', does: undo },
    { keys: 'n', says: 'look into the next run', does: () => turn(1) },
    { keys: 'p', says: 'look into the previous run', does: () => turn(-1) },
    { keys: 's', says: 'the next example', does: () => setView({ sample: view.value.sample + 1 }) },
    { keys: 'e', says: 'save pictures of the view', does: () => (album.value = true) },
    { keys: 'f', says: 'projector mode: large type, the story or the chart alone', does: turnProjector },
    { keys: 'l', says: 'logarithmic loss', does: () => setView({ log: 1 - view.value.log }) },
    // (Ten digits: a view beyond the tenth is opened by its tab alone.)
    ...VIEWS.slice(0, 10).map(({ id, title }, i) => ({
        keys: String(i),
        says: `open ${title}`,
        does: () => openView(id),
    })),
    { keys: '?', says: 'this sheet', does: () => (sheet.value = !sheet.value) },
];

/** Keys act on the page unless something is being filled in. */
export function listen(): void {
    window.addEventListener('keydown', (event) => {
        const target = event.target as HTMLElement;
        if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
        if (
            target.closest(
                'input:not([type=radio], [type=checkbox]), select, textarea, dialog[open], [data-editor]',
            )
        )
            return;
        const found = SHORTCUTS.find(({ keys }) => keys === event.key);
        if (!found) {
            if (event.key === 'Escape' && view.value.projector) turnProjector();
            return;
        }
        event.preventDefault();
        found.does();
    });
}

export function Sheet() {
    return (
        <Dialog open={sheet} title="Keyboard">
            <dl class="keys">
                {SHORTCUTS.map(({ keys, says }) => (
                    <div key={keys}>
                        <dt>
                            <kbd>{keys}</kbd>
                        </dt>
                        <dd>{says}</dd>
                    </div>
                ))}
                <div>
                    <dt>
                        <kbd>←</kbd> <kbd>→</kbd>
                    </dt>
                    <dd>in Story, the step before and the next</dd>
                </div>
            </dl>
        </Dialog>
    );
}
