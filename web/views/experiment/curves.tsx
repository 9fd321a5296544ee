// curves.tsx: accuracy and loss of all runs, one pair of charts for each task, and what they read where the
// pointer stands.
import { computed, signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Curves, type Kind } from '../../charts/curves.ts';
import { AXIS_NAMES, formatX, lossTick } from '../../charts/axes.ts';
import { AXES, stepAt, type Axis, type Curve } from '../../charts/series.ts';
import type { Entry } from '../../state/entry.ts';
import { lossAt } from '../../state/history.ts';
import { SOLVED } from '../../training/protocol.ts';
import { taskTitle } from '../../state/setup.ts';
import { begun, groups, lab, playing, refused, view } from '../../state/page.ts';
import { setView } from '../../state/viewing.ts';
import { lossText } from '../../core/figures.ts';
import { scoreText } from '../../state/wording.ts';
import { Export } from './export.tsx';
import { Expected } from './lesson_now.tsx';
import { play } from '../../state/transport.ts';
import { keepDrawn } from '../frame/drawn_again.ts';
import { RunName } from '../frame/mark.tsx';
import { endOf, isRegression, ofAccuracy, ofLoss, scoreAxis, trackOf } from './plotted.ts';

/** Where the pointer stands, on the axis of all charts. */
const hover = signal<number | null>(null);

export function CurvesView() {
    return (
        <div class="curves">
            {groups.value.map((entries) => (
                <Group key={entries[0]!.values['task']} entries={entries} several={groups.value.length > 1} />
            ))}
            {groups.value.length > 1 && <Expected />}
            <Options />
        </div>
    );
}

function Options() {
    const { x, log, smooth, seeds } = view.value;
    return (
        <div class="options" role="group" aria-label="Curves">
            <label>
                over
                <select
                    value={x}
                    onChange={({ currentTarget }) => setView({ x: currentTarget.value as Axis })}
                >
                    {AXES.map((axis) => (
                        <option key={axis} value={axis}>
                            {AXIS_NAMES[axis]}
                        </option>
                    ))}
                </select>
            </label>
            <label>
                smoothing
                <select
                    value={smooth}
                    onChange={({ currentTarget }) => setView({ smooth: Number(currentTarget.value) })}
                >
                    {[...new Set([1, 6, 20, 60, smooth])].map((span) => (
                        <option key={span} value={span}>
                            {span > 1 ? `${span} steps` : 'none'}
                        </option>
                    ))}
                </select>
            </label>
            <label>
                <input
                    type="checkbox"
                    checked={log === 1}
                    onChange={({ currentTarget }) => setView({ log: currentTarget.checked ? 1 : 0 })}
                />
                logarithmic loss
            </label>
            <label title="Train every run from three seeds: the line is their mean, the band their range.">
                <input
                    type="checkbox"
                    checked={seeds === 3}
                    onChange={({ currentTarget }) => setView({ seeds: currentTarget.checked ? 3 : 1 })}
                />
                3 seeds each
            </label>
            <Export />
        </div>
    );
}

/** (Asked anew at every report, drawn anew when the answer changes.) */
const useRegression = (entries: readonly Entry[]): boolean =>
    useMemo(() => computed(() => isRegression(entries)), [entries]).value;

interface FigureProps {
    entries: readonly Entry[];
    several: boolean;
    Heading: 'h2' | 'h3';
}
export function Accuracy({ entries, several, Heading }: FigureProps) {
    const { x } = view.value;
    const regression = useRegression(entries);
    const score = scoreAxis(regression);
    const accuracy: Kind = {
        marked: true,
        log: false,
        range: [0, 1.04],
        line: { at: SOLVED, label: score.solved },
        format: score.format,
        formatX: (value) => formatX(x, value),
    };
    return (
        <figure>
            <figcaption>
                <Heading>
                    {score.name} {several ? 'held out' : 'on sequences never trained on'}
                </Heading>
            </figcaption>
            <div class="chart-place">
                <Chart
                    key={String(regression)}
                    kind={accuracy}
                    curves={ofAccuracy}
                    entries={entries}
                    label="Held-out accuracy"
                />
                {!begun.value && !playing.value && (
                    <p class="chart-note">
                        {refused.value ? (
                            'Cannot be trained: see the settings for the reason.'
                        ) : (
                            <>
                                <span>Nothing has been trained yet.</span>
                                <button type="button" onClick={play}>
                                    Start these runs
                                </button>
                            </>
                        )}
                    </p>
                )}
            </div>
            <p class="axis">{AXIS_NAMES[x]}</p>
            <Legend of="accuracy" entries={entries} />
        </figure>
    );
}

function Group({ entries, several }: { entries: readonly Entry[]; several: boolean }) {
    const { x, log } = view.value;
    const regression = useRegression(entries);
    const task = taskTitle(lab(), entries[0]!.values);
    const Heading = several ? 'h3' : 'h2';
    const loss: Kind = {
        marked: false,
        log: log === 1,
        format: lossTick(log === 1),
        formatX: (value) => formatX(x, value),
    };
    return (
        <section
            class={several ? 'group several' : 'group'}
            aria-label={several ? `Curves: ${task}` : undefined}
        >
            {several && <h2>{task}</h2>}
            <Accuracy entries={entries} several={several} Heading={Heading} />
            {!several && <Expected />}
            <figure>
                <figcaption>
                    <Heading>Training loss, {regression ? 'squared error' : 'nats'}</Heading>
                </figcaption>
                <Chart kind={loss} curves={ofLoss} entries={entries} label="Training loss" />
                <p class="axis">{AXIS_NAMES[x]}</p>
                <Legend of="loss" entries={entries} />
            </figure>
        </section>
    );
}

/** What a run's curve reads where the pointer stands, or at its end: the mean of its seeds. */
function at(entry: Entry, of: 'accuracy' | 'loss'): string {
    const steps = entry.members.map(({ live }) => live.value.step);
    const far = hover.value === null ? null : stepAt(trackOf(entry), view.value.x, hover.value);
    const step = Math.min(...steps, far ?? Infinity);
    return of === 'loss' ? lossText(lossAt(entry, step)) : scoreText(entry, step);
}

function Legend({ of, entries }: { of: 'accuracy' | 'loss'; entries: readonly Entry[] }) {
    return (
        <ul class="legend">
            {entries.map((entry) => (
                <li key={entry.id}>
                    <RunName entry={entry} brief /> <span class="number">{at(entry, of)}</span>
                </li>
            ))}
        </ul>
    );
}

interface ChartProps {
    kind: Kind;
    curves: (entries: readonly Entry[]) => Curve[];
    entries: readonly Entry[];
    label: string;
}

function Chart({ kind, curves, entries, label }: ChartProps) {
    const host = useRef<HTMLDivElement>(null);
    const { x, log, smooth } = view.value;
    useEffect(() => {
        const point = (value: number | null) => (hover.value = value);
        const marks = entries.map(({ mark }) => mark);
        return keepDrawn(
            () => host.current && new Curves(host.current, kind, marks, point),
            (chart) => chart.show(curves(entries), 0, endOf(entries)),
            () => entries.forEach(({ members }) => members.forEach(({ live }) => void live.value)),
        );
    }, [entries, x, log, smooth]);
    return (
        <div class="chart" ref={host} role="img" aria-label={`${label}; the table below has the numbers.`} />
    );
}
