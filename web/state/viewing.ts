// viewing.ts: changes of what is looked at.
import { batch } from '@preact/signals';
import { remember as remembering } from '../core/prefs.ts';
import { remember } from './address.ts';
import { withSeeds } from './members.ts';
import { opened, runs, view } from './page.ts';
import { replaceRuns } from './undo.ts';
import type { View } from './url.ts';

export function setView(change: Partial<View>): void {
    const { seeds } = view.value;
    batch(() => {
        view.value = { ...view.value, ...change };
        if (view.value.seeds !== seeds) replaceRuns(runs.value.map(withSeeds), 'the change of seeds', seeds);
    });
    remember(view.value.seeds === seeds ? 'replace' : 'push');
}
/** Open another view of the page, at a `detail` of it; Back leads to the one before. The open one begins
 * at its top again. */
export function openView(id: string, detail = ''): void {
    if (id === view.value.view) {
        opened.value++;
        return;
    }
    if (id === 'start' || id === 'experiment') remembering('front', id);
    view.value = { ...view.value, view: id, detail };
    remember('push');
    opened.value++;
}
