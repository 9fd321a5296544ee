// curves.tsx: accuracy and loss of all runs, one pair of charts for each task, and what they read where the pointer
// stands.
import { effect, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Curves, type Kind } from '../charts/curves.ts';
import { lossCurves, roundEnd, scoreCurves, stepAt, xOf, type Curve, type Track } from '../charts/series.ts';
import type { Entry } from '../state/entry.ts';
import { powerOfTen } from '../core/figures.ts';
import { lossAt } from '../state/history.ts';
import { SOLVED } from '../training/protocol.ts';
import { taskTitle } from '../state/setup.ts';
import { groups, lab, lossText, scoreText, setView, view } from '../state/state.ts';
import { painted } from '../core/theme.ts';
import { AXES, type Axis } from '../state/url.ts';
import { Export } from './export.tsx';
import { RunName } from './mark.tsx';

/** Where the pointer stands, on the axis of all charts. */
const hover = signal<number | null>(null);

export const AXIS_NAMES: Record<Axis, string> = {
    step: 'training steps',
    second: 'seconds of training',
    flop: 'products computed',
};
const LEAST: Record<Axis, number> = { step: 100, second: 0.1, flop: 1e6 };
const UNITS: readonly (readonly [number, string])[] = [
    [1e12, 'T'],
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
];
export function formatX(axis: Axis, value: number): string {
    if (axis !== 'flop') return String(Number(value.toPrecision(3)));
    const [unit, letter] = UNITS.find(([least]) => value >= least) ?? [1, ''];
    return `${Number((value / unit).toPrecision(3))}${letter ? ` ${letter}` : ''}`;
}

/** A loss on its axis. */
export const lossTick =
    (log: boolean) =>
    (value: number): string =>
        log && (value < 0.01 || value > 1000)
            ? powerOfTen(Math.round(Math.log10(value)))
            : String(Number(value.toPrecision(3)));

export const trackOf = (entry: Entry): Track => ({
    histories: entry.members.map(({ history }) => history),
    flops: entry.live.peek().flops,
});
/** The task asks for numbers: a share of variance explained stands for the accuracy. */
export const isRegression = (entries: readonly Entry[]): boolean =>
    entries.some(({ live, history }) => live.value.step >= 0 && history.points.some(({ r2 }) => r2 !== 0));

export const ofAccuracy = (entries: readonly Entry[]): Curve[] =>
    scoreCurves(entries.map(trackOf), view.peek().x);
export const ofLoss = (entries: readonly Entry[]): Curve[] =>
    lossCurves(entries.map(trackOf), view.peek().x, view.peek().smooth);
export function endOf(entries: readonly Entry[]): number {
    const { x } = view.peek();
    const ends = entries.flatMap((entry) => {
        const step = Math.max(...entry.members.map(({ live }) => live.peek().step));
        return xOf(trackOf(entry), x, step);
    });
    return roundEnd(Math.max(0, ...ends), LEAST[x]);
}

export function CurvesView() {
    return (
        <div class="curves">
            <Options />
            {groups.value.map((entries) => (
                <Group key={entries[0]!.values['task']} entries={entries} several={groups.value.length > 1} />
            ))}
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

function Group({ entries, several }: { entries: readonly Entry[]; several: boolean }) {
    const { x, log } = view.value;
    const regression = isRegression(entries);
    const task = taskTitle(lab(), entries[0]!.values);
    const Heading = several ? 'h3' : 'h2';
    const accuracy: Kind = {
        marked: true,
        log: false,
        range: [0, 1.04],
        line: { at: SOLVED, label: '99 %' },
        format: (value) => `${Math.round(100 * value)} %`,
        formatX: (value) => formatX(x, value),
    };
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
            <figure>
                <figcaption>
                    <Heading>
                        {regression ? 'R²' : 'Accuracy'}{' '}
                        {several ? 'held out' : 'on sequences never trained on'}
                    </Heading>
                </figcaption>
                <Legend of="accuracy" entries={entries} />
                <Chart kind={accuracy} curves={ofAccuracy} entries={entries} label="Held-out accuracy" />
                <p class="axis">{AXIS_NAMES[x]}</p>
            </figure>
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
            if (now < due) {
                frame = requestAnimationFrame(paint);
                return;
            }
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
