// task.tsx: what is to be learnt: each task of the page's runs, and the keys that they share there.
import { offeredTasks, sharedKeys, taskTitle } from '../../state/setup.ts';
import type { Entry } from '../../state/entry.ts';
import { groups, lab } from '../../state/page.ts';
import { setKey } from '../../state/roster.ts';
import { AllSettings, Control, shownKeys } from './control.tsx';
import { OwnText } from './own_text.tsx';
import { behind, useLive } from '../frame/follow.ts';
import { TaskPicture } from './task_picture.tsx';
import { Worded } from '../frame/worded.tsx';
import '../../styles/views/task.css';

const shown = behind(groups);

export function TaskView() {
    return (
        <>
            {shown.value.map((entries) => (
                <Task key={entries[0]!.id} first={entries[0]!} several={shown.value.length > 1} />
            ))}
        </>
    );
}

function Task({ first, several }: { first: Entry; several: boolean }) {
    const name = first.values['task'] ?? '';
    const task = lab().config.tasks.find((other) => other.name === name);
    const keys = sharedKeys(lab(), first.values);
    const problem = useLive(first, 'problem');
    const id = `task-${first.id}`;
    const offered = offeredTasks(lab(), first.values);
    const controls = (
        <div class="controls">
            {shownKeys(keys, first.values, problem?.key).map((key) => (
                <Control
                    key={key.name}
                    config={key}
                    values={first.values}
                    set={(value) => setKey(first, key.name, value)}
                    problem={problem?.key === key.name ? problem.message : undefined}
                />
            ))}
            <AllSettings />
        </div>
    );
    return (
        <section aria-labelledby={id}>
            <h2 id={id}>{several ? taskTitle(lab(), first.values) : 'Task'}</h2>
            {!several && (
                <label class="wide">
                    <span class="unseen">Task</span>
                    <select
                        value={name}
                        onChange={({ currentTarget }) => setKey(first, 'task', currentTarget.value)}
                    >
                        {offered.map((other) => (
                            <option key={other.name} value={other.name}>
                                {other.title}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            <TaskPicture name={name} />
            <p class="say">
                <Worded>{task?.help ?? ''}</Worded>
            </p>
            {!several && (
                <details class="all-tasks">
                    <summary>All tasks as pictures</summary>
                    <p class="say">What is read, and below it, in another colour, what is asked.</p>
                    <ul class="task-cards">
                        {offered.map((other) => (
                            <li key={other.name}>
                                <button
                                    type="button"
                                    aria-pressed={other.name === name}
                                    onClick={() => setKey(first, 'task', other.name)}
                                >
                                    <TaskPicture name={other.name} />
                                    {other.title}
                                </button>
                            </li>
                        ))}
                    </ul>
                </details>
            )}
            {first.values['data'] === 'digits' && (
                <p class="say">The images are procedural digits: drawn by a generator, not MNIST.</p>
            )}
            {'text' in first.values && <OwnText first={first} />}
            {several ? (
                <details>
                    <summary>Settings of this task</summary>
                    {controls}
                </details>
            ) : (
                controls
            )}
        </section>
    );
}
