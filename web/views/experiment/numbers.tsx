// numbers.tsx: the race as a table: where each run stands, when it reached 99 %, and what proves its numbers.
import { computed } from '@preact/signals';
import { useState } from 'preact/hooks';
import { lossAt } from '../../state/history.ts';
import type { Entry } from '../../state/entry.ts';
import { groups, lab, runs } from '../../state/page.ts';
import { brief, counted, lossText } from '../../core/figures.ts';
import { nameOf, scoreText } from '../../state/wording.ts';
import { taskTitle, textOf } from '../../state/setup.ts';
import { Later } from '../frame/later.tsx';
import { RunName } from '../frame/mark.tsx';
import { Wrapped } from '../frame/wrapped.tsx';
import { isRegression, scoreAxis } from './plotted.ts';

const STATUS: Record<string, string> = {
    opening: 'opening',
    ready: 'ready',
    going: 'training',
    paused: 'paused',
    done: 'done',
    failed: 'failed',
};

/** Every task asks for numbers. */
const ofNumbers = computed(() => groups.value.every(isRegression));

export function Numbers() {
    const score = scoreAxis(ofNumbers.value);
    return (
        <div class="numbers">
            <div class="scroll" role="region" aria-label="Where each run stands" tabIndex={0}>
                <table>
                    <caption class="unseen">Where each run stands</caption>
                    <thead>
                        <tr>
                            <th scope="col">Run</th>
                            <th scope="col">Step</th>
                            <th scope="col">Loss</th>
                            <th scope="col">{score.name}</th>
                            <th scope="col">{score.solved} first at</th>
                            <th scope="col">Steps/s</th>
                            <th scope="col">Tokens/s</th>
                            <th scope="col">Weights</th>
                        </tr>
                    </thead>
                    {groups.value.map((entries) => (
                        <tbody key={entries[0]!.values['task']}>
                            {groups.value.length > 1 && (
                                <tr>
                                    <th scope="rowgroup" colSpan={8} class="of-task">
                                        {taskTitle(lab(), entries[0]!.values)}
                                    </th>
                                </tr>
                            )}
                            {entries.map((entry) => (
                                <Row key={entry.id} entry={entry} />
                            ))}
                        </tbody>
                    ))}
                </table>
            </div>
            <details class="proof">
                <summary>Reproduce or export these numbers</summary>
                <p class="say">
                    The digest is a hash of all weights. The native program prints the same one, and the same
                    loss at every step. The second snippet does the same in your own page.
                </p>
                {runs.value.map((entry) => (
                    <Later key={entry.id}>{() => <Proof entry={entry} />}</Later>
                ))}
            </details>
        </div>
    );
}

function Row({ entry }: { entry: Entry }) {
    const { steps, rate, seconds, params, status } = entry.live.value;
    const { values } = entry;
    // Of several seeds: as far as all of them have come.
    const step = Math.min(...entry.members.map(({ live }) => live.value.step));
    // Own speed where the clock on the wall has not been read yet.
    const speed = rate || (seconds > 0 && status !== 'going' ? step / seconds : 0);
    return (
        <tr>
            <th scope="row">
                <RunName entry={entry} brief />
            </th>
            <td>
                {step}
                <span class="of">/{steps}</span>
                <span class="unseen"> {STATUS[status]}</span>
            </td>
            <td>{lossText(lossAt(entry, step))}</td>
            <td>{scoreText(entry, step)}</td>
            <td>
                <Reached entry={entry} />
            </td>
            <td>{speed ? speed.toFixed(1) : '–'}</td>
            <td>{speed ? brief(speed * Number(values['batch']) * Number(values['length'])) : '–'}</td>
            <td>{params ? counted(params) : '–'}</td>
        </tr>
    );
}

/** When a run reached 99 %; of several seeds how many did, and the step by which they had. */
function Reached({ entry: { members, history, live } }: { entry: Entry }) {
    const solved = members.flatMap((one) => (one.live.value.step > 0 && one.history.solved) || []);
    if (members.length > 1)
        return (
            <>
                {solved.length} of {members.length}
                {solved.length > 0 && ` by ${Math.max(...solved.map(({ step }) => step))}`}
            </>
        );
    if (!history.solved) return <>{live.value.status === 'done' ? 'never' : '–'}</>;
    return (
        <>
            <span class="tick" aria-hidden="true">
                ✓
            </span>{' '}
            {history.solvedBefore ? `by ${history.solved.step}` : history.solved.step}
            {!history.solvedBefore && <span class="of"> {history.solved.seconds.toFixed(2)} s</span>}
        </>
    );
}

/** A text to copy. */
export function Copy({ text, label }: { text: string; label: string }) {
    const [copied, copy] = useState(false);
    return (
        <p class="command">
            <code>
                <Wrapped text={text} />
            </code>
            <button
                type="button"
                aria-label={label}
                onClick={() =>
                    void navigator.clipboard?.writeText(text).then(
                        () => copy(true),
                        () => copy(false),
                    )
                }
            >
                {copied ? 'Copied' : 'Copy'}
            </button>
        </p>
    );
}

function Proof({ entry }: { entry: Entry }) {
    const { digest, step, steps, bytes, flops } = entry.live.value;
    const stop = step > 0 && step < steps ? `&steps=${step}` : '';
    const command = `build/seqmix train '${textOf(lab(), entry.values)}' --json`;
    const snippet =
        "import { load } from './seqmix.js'; const lab = await load(); " +
        `const run = lab.open('${textOf(lab(), entry.values)}'); run.step(${step || 100});`;
    return (
        <div class="proof-run">
            <RunName entry={entry} />
            <p class="number">
                {digest ? (
                    <>
                        digest <strong>{digest}</strong> at step {step}
                    </>
                ) : (
                    'digest: shown once training stops'
                )}
            </p>
            <Copy text={command} label={`Copy the command of ${nameOf(entry)}`} />
            <Copy text={snippet} label={`Copy the snippet of ${nameOf(entry)}`} />
            <p class="say number">
                {bytes
                    ? `${(bytes / 1e6).toFixed(1)} MB held, ${(flops / 1e6).toFixed(1)} M FLOPs a step`
                    : ''}
            </p>
            {stop && (
                <p class="say">The command trains to step {steps}, where the digests can be compared.</p>
            )}
        </div>
    );
}
