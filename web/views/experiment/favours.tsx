// favours.tsx: what favours a run: settings of training and of the model in which the runs on a task differ.
import type { Entry } from '../../state/entry.ts';
import { counted } from '../../core/figures.ts';
import { groups, lab } from '../../state/page.ts';
import { trainAlike } from '../../state/roster.ts';
import { taskTitle, unlike, unlikeModels } from '../../state/setup.ts';
import { MarkSign } from '../frame/mark.tsx';

/** Settings in which runs on a task differ, and the way to train them alike. */
export function Favours({ entries }: { entries: readonly Entry[] }) {
    const all = entries.map((entry) => entry.values);
    const training = unlike(lab(), all);
    const model = unlikeModels(lab(), all);
    if (!training.length && !model.length) return null;
    const task = groups.value.length > 1 ? `${taskTitle(lab(), all[0]!)}: ` : '';
    const row = (name: string, value: (entry: Entry) => string | undefined) => (
        <li key={name}>
            {name}{' '}
            {entries.map((entry) => (
                <span key={entry.id} class="number">
                    <MarkSign mark={entry.mark} /> {value(entry)}{' '}
                </span>
            ))}
        </li>
    );
    const weights = entries.map(({ live }) => live.value.params);
    return (
        <div class="favours">
            {training.length > 0 && (
                <>
                    <p class="say">
                        {task}
                        {task ? 'training' : 'Training'} settings differ. Each mechanism has those that were
                        measured to suit it:
                    </p>
                    <ul>{training.map((key) => row(key, ({ values }) => values[key]))}</ul>
                    <button type="button" onClick={() => trainAlike(entries)}>
                        Use the same training settings
                    </button>
                </>
            )}
            {model.length > 0 && (
                <>
                    <p class="say">
                        {task}
                        {task ? 'models' : 'Models'} differ{training.length ? ', too' : ''}:
                    </p>
                    <ul>
                        {model.map((key) => row(key, ({ values }) => values[key]))}
                        {weights.every((count) => count > 0) &&
                            row('weights', ({ live }) => counted(live.value.params))}
                    </ul>
                </>
            )}
        </div>
    );
}
