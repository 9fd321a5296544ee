// curves.tsx: accuracy and loss of all runs, one pair of charts for each task, and what they read where the
// pointer stands.
import { effect, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Curves, type Kind } from '../../charts/curves.ts';
import { AXIS_NAMES, formatX, lossTick, shareTick } from '../../charts/axes.ts';
import { AXES, stepAt, type Axis, type Curve } from '../../charts/series.ts';
import type { Entry } from '../../state/entry.ts';
import { lossAt } from '../../state/history.ts';
import { SOLVED } from '../../training/protocol.ts';
import { taskTitle } from '../../state/setup.ts';
import { begun, groups, lab, playing, refused, view } from '../../state/page.ts';
import { setView } from '../../state/viewing.ts';
import { lossText } from '../../core/figures.ts';
import { scoreText } from '../../state/wording.ts';
import { painted } from '../../core/theme.ts';
import { Export } from './export.tsx';
import { Expected } from './lesson_now.tsx';
import { play } from '../../state/transport.ts';
import { RunName } from '../frame/mark.tsx';
import { endOf, isRegression, ofAccuracy, ofLoss, trackOf } from './plotted.ts';

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

interface FigureProps {
    entries: readonly Entry[];
    several: boolean;
    Heading: 'h2' | 'h3';
}
export function Accuracy({ entries, several, Heading }: FigureProps) {
    const { x } = view.value;
    const accuracy: Kind = {
        marked: true,
        log: false,
        range: [0, 1.04],
        line: { at: SOLVED, label: '99 %' },
        format: shareTick,
        formatX: (value) => formatX(x, value),
    };
    return (
        <figure>
            <figcaption>
                <Heading>
                    {isRegression(entries) ? 'R²' : 'Accuracy'}{' '}
                    {several ? 'held out' : 'on sequences never trained on'}
                </Heading>
            </figcaption>
            <Legend of="accuracy" entries={entries} />
            <div class="chart-place">
                <Chart kind={accuracy} curves={ofAccuracy} entries={entries} label="Held-out accuracy" />
                {!begun.value && !playing.value && (
                    <p class="chart-note">
                        {refused.value ? (
                            'Cannot be trained: the settings say why.'
                        ) : (
                            <>
                                Nothing has been trained yet.{' '}
                                <button type="button" onClick={play}>
                                    Train these runs
                                </button>
                            </>
                        )}
                    </p>
                )}
            </div>
            <p class="axis">{AXIS_NAMES[x]}</p>
        </figure>
    );
}

function Group({ entries, several }: { entries: readonly Entry[]; several: boolean }) {
    const { x, log } = view.value;
    const regression = isRegression(entries);
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
                <Legend of="loss" entries={entries} />
                <Chart kind={loss} curves={ofLoss} entries={entries} label="Training loss" />
                <p class="axis">{AXIS_NAMES[x]}</p>
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

let lastPaint = -1; // the frame in which a chart was painted: one a frame, so that none is a long one

/** Painted at most once per frame, and no more often than it takes ten times over. */
function Chart({ kind, curves, entries, label }: ChartProps) {
    const host = useRef<HTMLDivElement>(null);
    const { x, log, smooth } = view.value;
    useEffect(() => {
        const show = (value: number | null) => (hover.value = value);
        let chart: Curves | null = null;
        let frame = 0;
        let due = 0;
        const paint = (now: number) => {
            frame = 0;
            if (now < due || now === lastPaint) {
                frame = requestAnimationFrame(paint);
                return;
            }
            lastPaint = now;
            const start = performance.now();
            chart?.show(curves(entries), 0, endOf(entries));
            due = now + 10 * (performance.now() - start);
        };
        const shape = effect(() => {
            void painted.value;
            chart?.close();
            chart =
                host.current &&
                new Curves(
                    host.current,
                    kind,
                    entries.map(({ mark }) => mark),
                    show,
                );
            due = 0;
            if (!frame) frame = requestAnimationFrame(paint);
        });
        const data = effect(() => {
            for (const { members } of entries) for (const { live } of members) void live.value;
            if (!frame) frame = requestAnimationFrame(paint);
        });
        return () => {
            shape();
            data();
            cancelAnimationFrame(frame);
            chart?.close();
        };
    }, [entries, x, log, smooth]);
    return (
        <div class="chart" ref={host} role="img" aria-label={`${label}; the table below has the numbers.`} />
    );
}
