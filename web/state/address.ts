// address.ts: the setup and the view of now as the page's address.
import { lab, runs, view } from './page.ts';
import { textOfAll } from './setup.ts';
import { writeAddress, type View } from './url.ts';

/** The address of what is shown now, with these changes to the view. */
export function addressOf(change: Partial<View> = {}): string {
    const config = textOfAll(
        lab(),
        runs.value.map(({ values }) => values),
    );
    return writeAddress({ config, view: { ...view.value, ...change } });
}
/** Write setup and view into the address; 'push' makes the browser's Back undo the change. */
export function remember(how: 'push' | 'replace'): void {
    const address = addressOf();
    if (address === location.hash) return;
    if (how === 'push') history.pushState(null, '', address);
    else history.replaceState(null, '', address);
}
