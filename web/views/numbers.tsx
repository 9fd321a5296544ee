// numbers.tsx: the race as a table: where each run stands, when it reached 99 %, and what proves its numbers.
import { useState } from 'preact/hooks';
import { score } from '../history.ts';
import { lab, lossText, nameOf, percent, runs, type Entry } from '../state.ts';
import { textOf } from '../setup.ts';
import { RunName } from './mark.tsx';

const STATUS: Record<string, string> = {
    opening: 'opening',
    ready: 'ready',
    going: 'training',
    paused: 'paused',
    done: 'done',
    failed: 'failed',
};

export function Numbers() {
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
                            <th scope="col">Accuracy</th>
                            <th scope="col">99 % at</th>
                            <th scope="col">Steps/s</th>
                            <th scope="col">Tokens/s</th>
                            <th scope="col">Weights</th>
                        </tr>
                    </thead>
                    <tbody>
                        {runs.value.map((entry) => (
                            <Row key={entry.id} entry={entry} />
                        ))}
                    </tbody>
                </table>
            </div>
            <details class="proof">
                <summary>Check these numbers, or take them with you</summary>
                <p class="say">
                    The digest is a hash of all weights. The native program prints the same one, and the same
                    loss at every step. The second line does it in a page of your own.
                </p>
                {runs.value.map((entry) => (
                    <Proof key={entry.id} entry={entry} />
                ))}
            </details>
        </div>
    );
}

function Row({ entry }: { entry: Entry }) {
    const { step, steps, rate, seconds, params, status } = entry.live.value;
    const { values } = entry;
    const { losses, points, solved } = entry.history;
    const reached = entry.members.filter(({ live, history }) => live.value.step > 0 && history.solved).length;
    const point = points[points.length - 1];
    const loss = losses[step - 1];
    // Own speed where the clock on the wall has not been read yet.
    const speed = rate || (seconds > 0 && status !== 'going' ? step / seconds : 0);
    return (
        <tr>
            <th scope="row">
                <RunName entry={entry} />
            </th>
            <td>
                {step}
                <span class="of">/{steps}</span>
                <span class="unseen"> {STATUS[status]}</span>
            </td>
            <td>{lossText(loss)}</td>
            <td>{point ? percent(score(point)) : '–'}</td>
            <td>
                {entry.members.length > 1 ? (
                    <>
                        {reached} of {entry.members.length} seeds
                    </>
                ) : solved ? (
                    <>
                        <span class="tick" aria-hidden="true">
                            ✓
                        </span>{' '}
                        {solved.step}
                        <span class="of"> {solved.seconds.toFixed(2)} s</span>
                    </>
                ) : status === 'done' ? (
                    'never'
                ) : (
                    '–'
                )}
            </td>
            <td>{speed ? speed.toFixed(speed < 100 ? 1 : 0) : '–'}</td>
            <td>{speed ? short(speed * Number(values['batch']) * Number(values['length'])) : '–'}</td>
            <td>{params ? params.toLocaleString('en') : '–'}</td>
        </tr>
    );
}

function short(n: number): string {
    return n >= 1e6 ? `${(n / 1e6).toFixed(1)} M` : n >= 1e4 ? `${Math.round(n / 1e3)} k` : n.toFixed(0);
}

/** A text to copy. */
function Copy({ text, label }: { text: string; label: string }) {
    const [copied, copy] = useState(false);
    return (
        <p class="command">
            <code>{text}</code>
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
                    'digest: when it stands still'
                )}
            </p>
            <Copy text={command} label={`Copy the command of ${nameOf(entry)}`} />
            <Copy text={snippet} label={`Copy the snippet of ${nameOf(entry)}`} />
            <p class="say number">
                {bytes
                    ? `${(bytes / 1e6).toFixed(1)} MB held, ${(flops / 1e6).toFixed(1)} M products a step`
                    : ''}
            </p>
            {stop && (
                <p class="say">The command trains to step {steps}, where the digests can be compared.</p>
            )}
        </div>
    );
}
