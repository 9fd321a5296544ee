// runs.tsx: the runs of the race: their mechanism, what each changes, adding and removing them.
import { useEffect, useRef, useState } from 'preact/hooks';
import { download, pick } from '../../core/files.ts';
import { MAX_ALL, mixerTitle, offeredTasks, ownKeys, sharedChanges, taskTitle } from '../../state/setup.ts';
import type { Entry } from '../../state/entry.ts';
import { groups, lab, runs } from '../../state/page.ts';
import { openText } from '../../state/views/equations.ts';
import { addRun, addSaved, removeRun, restart, setKey, setOwnTask } from '../../state/roster.ts';
import { checkpointOf } from '../../state/watching.ts';
import { changeText, nameOf } from '../../state/wording.ts';
import { AllSettings, Control, shownKeys } from './control.tsx';
import { Later } from '../frame/later.tsx';
import { behind, useLive } from '../frame/follow.ts';
import { Favours } from './favours.tsx';
import { Badge, MarkSign } from '../frame/mark.tsx';
import { Worded } from '../frame/worded.tsx';

const shown = behind(runs);
const shownGroups = behind(groups);
/** Where a run was that was removed: the focus, which its button had, goes to the next one there. */
let removed = -1;
const GROUP_NAMES: Record<string, string> = { mixer: 'Mechanism', model: 'Model', training: 'Training' };

export function RunsView() {
    const [refused, refuse] = useState<readonly string[]>([]);
    const list = useRef<HTMLUListElement>(null);
    const add = useRef<HTMLButtonElement>(null);
    useEffect(() => {
        if (removed < 0 || document.activeElement !== document.body) return;
        const others = list.current!.querySelectorAll<HTMLElement>('.remove');
        (others[Math.min(removed, others.length - 1)] ?? add.current)?.focus();
        removed = -1;
    }, [shown.value]);
    return (
        <section aria-labelledby="runs-title">
            <h2 id="runs-title">Runs</h2>
            <p class="say">
                Runs on a task get the same sequences in the same order. They differ only in the settings
                shown.
            </p>
            {shownGroups.value.map((entries) => (
                <Shared key={entries[0]!.id} entries={entries} />
            ))}
            {shownGroups.value.map((entries) => (
                <Favours key={entries[0]!.id} entries={entries} />
            ))}
            <ul class="runs" ref={list}>
                {shown.value.map((entry) => (
                    <RunCard key={entry.id} entry={entry} />
                ))}
            </ul>
            <div class="row">
                <button type="button" ref={add} onClick={addRun} disabled={runs.value.length >= MAX_ALL}>
                    Add a run
                </button>
                <button type="button" onClick={() => void loadRuns().then(refuse)}>
                    Load a run …
                </button>
            </div>
            {refused.map((problem) => (
                <p key={problem} class="why" role="alert">
                    {problem}.
                </p>
            ))}
        </section>
    );
}

/** Add the runs of files that the visitor picks; what is wrong with those that cannot be. */
async function loadRuns(): Promise<string[]> {
    const problems: string[] = [];
    for (const file of await pick('.safetensors', true)) {
        const problem = await addSaved(new Uint8Array(await file.arrayBuffer()), file.name);
        if (problem) problems.push(`${file.name}: ${problem}`);
    }
    return problems;
}
async function saveRun(entry: Entry): Promise<void> {
    const bytes = await checkpointOf(entry.members[0]!);
    const { mixers, mixer, task } = entry.values;
    if (bytes)
        download(
            `${mixers?.replaceAll(',', '+') ?? mixer}-${task}-step${entry.live.peek().step}.safetensors`,
            bytes as BlobPart,
        );
}

const FILTERED: Readonly<Record<string, string>> = { q: 'queries', k: 'keys', v: 'values' };
/** A mixer's help, with what this run filters where it names all that could be. */
function helpOf({ filters }: Entry['values'], help: string): string {
    const all = 'queries, keys and values';
    if (!filters || filters === 'qkv' || !help.includes(all)) return help;
    if (filters === 'none') return `Plain attention: in this run no ${all} pass a filter.`;
    return help.replace(all, [...filters].map((letter) => FILTERED[letter] ?? letter).join(' and '));
}

function RunCard({ entry }: { entry: Entry }) {
    const { mixers } = lab().config;
    const mixer = mixers.find(({ name }) => name === entry.values['mixer']);
    const status = useLive(entry, 'status');
    const problem = useLive(entry, 'problem');
    const warning = useLive(entry, 'warning');
    const name = nameOf(entry);
    return (
        <li class="run" aria-label={name}>
            <div class="run-head">
                <MarkSign mark={entry.mark} />
                <select
                    aria-label={`Mechanism of ${name}`}
                    value={entry.values['mixers'] ?? entry.values['mixer']}
                    disabled={!!entry.values['mixers']}
                    onChange={({ currentTarget }) => setKey(entry, 'mixer', currentTarget.value)}
                >
                    {entry.values['mixers'] && (
                        <option value={entry.values['mixers']}>{mixerTitle(lab(), entry.values)}</option>
                    )}
                    {mixers.map((other) => (
                        <option key={other.name} value={other.name}>
                            {other.title}
                        </option>
                    ))}
                </select>
                {shown.value.length > 1 && (
                    <button
                        type="button"
                        class="quiet remove"
                        aria-label={`Remove ${name}`}
                        title="remove"
                        onClick={() => {
                            removed = shown.value.indexOf(entry);
                            removeRun(entry);
                        }}
                    >
                        ×
                    </button>
                )}
            </div>
            {shown.value.length <= 4 && (
                <p class="say">
                    <Worded>{helpOf(entry.values, mixer?.help ?? '')}</Worded>
                </p>
            )}
            {entry.values['mixer'] === 'equations' && (
                <button type="button" onClick={() => openText(entry.values)}>
                    Open its equations
                </button>
            )}
            {warning && <p class="warning">{warning}.</p>}
            {status === 'failed' && problem && (
                <div class="why" role="alert">
                    <p>
                        {problem.key ? 'Cannot be trained' : 'Stopped'}: {problem.message}.
                    </p>
                    {!problem.key && (
                        <button type="button" onClick={() => restart([entry])}>
                            Start it again
                        </button>
                    )}
                </div>
            )}
            <details>
                <summary>
                    Settings <span class="unseen">of {name}</span>
                    <Changes entry={entry} />
                </summary>
                <Later>{() => <Settings entry={entry} />}</Later>
            </details>
        </li>
    );
}

/** What can be set of a run, and what is done with it. */
function Settings({ entry }: { entry: Entry }) {
    const status = useLive(entry, 'status');
    const problem = useLive(entry, 'problem');
    const own = ownKeys(lab(), entry.values);
    return (
        <>
            <AllSettings />
            {own.map(({ group, keys }) => (
                <fieldset key={group} hidden={!shownKeys(keys, entry.values, problem?.key).length}>
                    <legend>{GROUP_NAMES[group] ?? group}</legend>
                    <div class="controls">
                        {shownKeys(keys, entry.values, problem?.key).map((key) => (
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
            <fieldset>
                <legend>This run</legend>
                <label class="own-task">
                    task
                    <select
                        value={entry.values['task']}
                        onChange={({ currentTarget }) => setOwnTask(entry, currentTarget.value)}
                    >
                        {offeredTasks(lab(), entry.values).map((task) => (
                            <option key={task.name} value={task.name}>
                                {task.title}
                            </option>
                        ))}
                    </select>
                </label>
                <button
                    type="button"
                    onClick={() => void saveRun(entry)}
                    disabled={status === 'opening' || status === 'failed'}
                >
                    Save its weights
                </button>
            </fieldset>
        </>
    );
}

/** What all runs on a task set alike. */
function Shared({ entries }: { entries: readonly Entry[] }) {
    const { values } = entries[0]!;
    const changes = sharedChanges(
        lab(),
        entries.map((entry) => entry.values),
    );
    if (!changes.length) return null;
    return (
        <p class="say">
            {shownGroups.value.length > 1 ? `${taskTitle(lab(), values)}, all runs: ` : 'All runs: '}
            {changes.map((key) => [<Badge key={key}>{changeText(key, values[key])}</Badge>, ' '])}
        </p>
    );
}

function Changes({ entry }: { entry: Entry }) {
    const changes = nameOf(entry).split(' · ').slice(1);
    if (!changes.length) return null;
    return (
        <span class="changes">{changes.map((change) => [<Badge key={change}>{change}</Badge>, ' '])}</span>
    );
}
