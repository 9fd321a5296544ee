// runs.tsx: the runs of the race: their mechanism, what each changes, adding and removing them.
import { MAX_RUNS, ownKeys } from '../setup.ts';
import { addRun, lab, nameOf, removeRun, restart, runs, setKey, type Entry } from '../state.ts';
import { Control } from './control.tsx';
import { Badge, MarkSign } from './mark.tsx';

const GROUP_NAMES: Record<string, string> = { mixer: 'Mechanism', model: 'Model', training: 'Training' };

export function RunsView() {
    return (
        <section aria-labelledby="runs-title">
            <h2 id="runs-title">Runs</h2>
            <p class="say">All runs get the same task and the same draws; each changes what it is made of.</p>
            <ul class="runs">
                {runs.value.map((entry) => (
                    <RunCard key={entry.id} entry={entry} />
                ))}
            </ul>
            <button type="button" onClick={addRun} disabled={runs.value.length >= MAX_RUNS}>
                Add a run
            </button>
        </section>
    );
}

function RunCard({ entry }: { entry: Entry }) {
    const { mixers } = lab().config;
    const mixer = mixers.find(({ name }) => name === entry.values['mixer']);
    const { status, problem } = entry.live.value;
    const groups = ownKeys(lab(), entry.values);
    const name = nameOf(entry);
    return (
        <li class="run" aria-label={name}>
            <div class="run-head">
                <MarkSign mark={entry.mark} />
                <select
                    aria-label={`Mechanism of ${name}`}
                    value={entry.values['mixer']}
                    onChange={({ currentTarget }) => setKey(entry, 'mixer', currentTarget.value)}
                >
                    {mixers.map((other) => (
                        <option key={other.name} value={other.name}>
                            {other.title}
                        </option>
                    ))}
                </select>
                {runs.value.length > 1 && (
                    <button
                        type="button"
                        class="quiet"
                        aria-label={`Remove ${name}`}
                        title="remove"
                        onClick={() => removeRun(entry)}
                    >
                        ×
                    </button>
                )}
            </div>
            <p class="say">{mixer?.help}</p>
            {status === 'failed' && problem && (
                <p class="why" role="alert">
                    {problem.message}{' '}
                    <button type="button" onClick={() => restart(entry)}>
                        Start it again
                    </button>
                </p>
            )}
            <details>
                <summary>
                    Settings <span class="unseen">of {name}</span>
                    <Changes entry={entry} />
                </summary>
                {groups.map(({ group, keys }) => (
                    <fieldset key={group}>
                        <legend>{GROUP_NAMES[group] ?? group}</legend>
                        <div class="controls">
                            {keys.map((key) => (
                                <Control
                                    key={key.name}
                                    config={key}
                                    values={entry.values}
                                    set={(value) => setKey(entry, key.name, value)}
                                    problem={problem?.key === key.name ? problem.message : undefined}
                                />
                            ))}
                        </div>
                    </fieldset>
                ))}
            </details>
        </li>
    );
}

function Changes({ entry }: { entry: Entry }) {
    const changes = nameOf(entry).split(' · ').slice(1);
    return <>{changes.map((change) => [' ', <Badge key={change}>{change}</Badge>])}</>;
}
