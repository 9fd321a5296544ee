// numbers.tsx: the race as a table: where each run stands, when it reached 99 %, and what proves its numbers.
import { useState } from 'preact/hooks';
import { score } from '../history.ts';
import { lab, lossText, percent, runs, type Entry } from '../state.ts';
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
                <summary>Check these numbers</summary>
                <p class="say">
                    The digest is a hash of all weights. The native program prints the same one, and the same
                    loss at every step.
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
    const { losses, points, solved } = entry.history;
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
                {solved ? (
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
            <td>{params ? params.toLocaleString('en') : '–'}</td>
        </tr>
    );
}

function Proof({ entry }: { entry: Entry }) {
    const { digest, step, steps } = entry.live.value;
    const [copied, copy] = useState(false);
    const stop = step > 0 && step < steps ? `&steps=${step}` : '';
    const command = `build/seqmix train '${textOf(lab(), entry.values)}' --json`;
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
            <p class="command">
                <code>{command}</code>
                <button
                    type="button"
                    onClick={() =>
                        void navigator.clipboard?.writeText(command).then(
                            () => copy(true),
                            () => copy(false),
                        )
                    }
                >
                    {copied ? 'Copied' : 'Copy'}
                </button>
            </p>
            {stop && (
                <p class="say">The command trains to step {steps}, where the digests can be compared.</p>
            )}
        </div>
    );
}
