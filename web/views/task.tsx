// task.tsx: what is to be learnt: the task and the keys that all runs share.
import { sharedKeys } from '../setup.ts';
import { lab, runs, setKey } from '../state.ts';
import { Control } from './control.tsx';

export function TaskView() {
    const first = runs.value[0];
    if (!first) return null;
    const { tasks } = lab().config;
    const name = first.values['task'] ?? '';
    const task = tasks.find((other) => other.name === name);
    const keys = sharedKeys(lab(), first.values);
    const problem = first.live.value.problem;
    return (
        <section aria-labelledby="task-title">
            <h2 id="task-title">Task</h2>
            <label class="wide">
                <span class="unseen">Task</span>
                <select
                    value={name}
                    onChange={({ currentTarget }) => setKey(first, 'task', currentTarget.value)}
                >
                    {tasks.map((other) => (
                        <option key={other.name} value={other.name}>
                            {other.title}
                        </option>
                    ))}
                </select>
            </label>
            <p class="say">{task?.help}</p>
            <div class="controls">
                {keys.map((key) => (
                    <Control
                        key={key.name}
                        config={key}
                        values={first.values}
                        set={(value) => setKey(first, key.name, value)}
                        problem={problem?.key === key.name ? problem.message : undefined}
                    />
                ))}
            </div>
        </section>
    );
}
