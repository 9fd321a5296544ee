// favours.tsx: what of training favours a run: settings in which the runs on a task differ.
import type { Entry } from '../../state/entry.ts';
import { groups, lab } from '../../state/page.ts';
import { trainAlike } from '../../state/roster.ts';
import { taskTitle, unlike } from '../../state/setup.ts';
import { MarkSign } from '../frame/mark.tsx';

/** Settings of training in which runs on a task differ, and the way to have them alike. */
export function Favours({ entries }: { entries: readonly Entry[] }) {
    const keys = unlike(
        lab(),
        entries.map((entry) => entry.values),
    );
    if (!keys.length) return null;
    const { values } = entries[0]!;
    return (
        <div class="favours">
            <p class="say">
                {groups.value.length > 1 ? `${taskTitle(lab(), values)}: training` : 'Training'} settings
                differ. Each mechanism has those that were measured to suit it:
            </p>
            <ul>
                {keys.map((key) => (
                    <li key={key}>
                        {key}{' '}
                        {entries.map((entry) => (
                            <span key={entry.id} class="number">
                                <MarkSign mark={entry.mark} /> {entry.values[key]}{' '}
                            </span>
                        ))}
                    </li>
                ))}
            </ul>
            <button type="button" onClick={() => trainAlike(entries)}>
                Equal settings
            </button>
        </div>
    );
}
