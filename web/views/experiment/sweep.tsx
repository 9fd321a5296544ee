// sweep.tsx: one setting, several values, every run: small curves that fill in, the best value of each run
// marked, and the same grid as a command for a cluster. Fetched when it is first opened.
import { useState } from 'preact/hooks';
import { measured } from '../../core/expect.ts';
import { mixerTitle } from '../../state/setup.ts';
import { lab } from '../../state/page.ts';
import {
    best,
    isSweeping,
    keysToTry,
    news,
    planned,
    reached,
    startSweep,
    stopSweep,
    sweep,
    type Cell,
    type Row,
} from '../../state/views/sweep.ts';
import { MarkSign } from '../frame/mark.tsx';
import '../../styles/views/sweep.css';

const USUAL: Record<string, string> = { rate: '0.001, 0.003, 0.01, 0.03' };
const HEIGHT = 40;
const WIDTH = 72;

export default function SweepView() {
    const [key, setKey] = useState('rate');
    const [text, setText] = useState(USUAL['rate']!);
    const [why, refuse] = useState('');
    void news.value;
    const start = () => {
        const plan = planned(key, text);
        refuse('why' in plan ? plan.why : '');
        if ('values' in plan) startSweep(key, plan.values);
    };
    return (
        <>
            <p class="say">
                Each run with each of these values, to the end of its steps, at full speed, alongside the runs
                above. Which value suits which mechanism?
            </p>
            <form
                class="row"
                onSubmit={(event) => {
                    event.preventDefault();
                    start();
                }}
            >
                <label>
                    setting{' '}
                    <select
                        value={key}
                        onChange={({ currentTarget }) => {
                            setKey(currentTarget.value);
                            setText(USUAL[currentTarget.value] ?? '');
                        }}
                    >
                        {keysToTry.value.map((name) => (
                            <option key={name}>{name}</option>
                        ))}
                    </select>
                </label>
                <label>
                    values{' '}
                    <input
                        type="text"
                        value={text}
                        aria-invalid={why !== ''}
                        onInput={({ currentTarget }) => setText(currentTarget.value)}
                    />
                </label>
                <button type="submit">Train the grid</button>
                {isSweeping() && (
                    <button type="button" onClick={stopSweep}>
                        Stop
                    </button>
                )}
            </form>
            {why && (
                <p class="why" role="alert">
                    {why}.
                </p>
            )}
            {sweep.value && <Results />}
        </>
    );
}

function Results() {
    const { key, rows, command } = sweep.value!;
    return (
        <>
            <div class="scroll" role="region" aria-label="The grid" tabIndex={0}>
                <table class="sweep">
                    <caption class="unseen">Held-out score of each run at each value of {key}</caption>
                    <thead>
                        <tr>
                            <th scope="col">{key}</th>
                            {rows[0]!.cells.map(({ value }) => (
                                <th key={value} scope="col">
                                    {value}
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {rows.map((row) => (
                            <Line key={row.id} row={row} />
                        ))}
                    </tbody>
                </table>
            </div>
            <p class="say">The same grid on a cluster, or with more values and seeds (docs/SCALE.md):</p>
            <pre class="scroll" tabIndex={0} aria-label="The grid as a command">
                <code>{command}</code>
            </pre>
        </>
    );
}

// (A part is drawn anew when a signal that it reads changes.)
function Line({ row }: { row: Row }) {
    void news.value;
    const top = best(row);
    return (
        <tr>
            <th scope="row">
                <MarkSign mark={row.mark} /> {mixerTitle(lab(), row.values)}
            </th>
            {row.cells.map((cell) => (
                <Trial key={cell.value} row={row} cell={cell} isBest={top.includes(cell)} />
            ))}
        </tr>
    );
}

function Trial({ row, cell, isBest }: { row: Row; cell: Cell; isBest: boolean }) {
    void news.value;
    const { line, status, why } = cell;
    const now = reached(cell);
    const path = line.map(
        ({ x, y }) => `${(x * WIDTH).toFixed(1)},${((1 - Math.max(0, y)) * HEIGHT).toFixed(1)}`,
    );
    return (
        <td class={isBest ? 'best' : ''} data-status={status} title={why}>
            <svg
                viewBox={`-1 -2 ${WIDTH + 2} ${HEIGHT + 4}`}
                width={WIDTH}
                height={HEIGHT}
                aria-hidden="true"
            >
                <path class="frame" d={`M0 0V${HEIGHT}H${WIDTH}`} />
                {path.length > 0 && <polyline class={row.mark.colour.slice(2)} points={path.join(' ')} />}
            </svg>
            <span>
                {now === undefined
                    ? status === 'failed'
                        ? cell.values
                            ? 'stopped'
                            : 'cannot'
                        : '…'
                    : measured(cell.metric, now)}
                {isBest && <b> best</b>}
            </span>
        </td>
    );
}
