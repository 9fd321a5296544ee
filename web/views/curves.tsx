// curves.tsx: accuracy and loss of all runs over steps, and what they read where the pointer stands.
import { computed, effect, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Curves, type Kind } from '../charts/curves.ts';
import { lossTable, roundEnd, scoreTable, type Table } from '../charts/series.ts';
import { score, type History } from '../history.ts';
import { SOLVED } from '../protocol.ts';
import { lossText, percent, runs, type Entry } from '../state.ts';
import { painted } from '../theme.ts';
import { RunName } from './mark.tsx';

const hover = signal<number | null>(null);
const logarithmic = signal(false);

/** The task asks for numbers: a share of variance explained stands for the accuracy. */
const regression = computed(() =>
    runs.value.some(({ live, history }) => live.value.step >= 0 && history.points.some(({ r2 }) => r2 !== 0)),
);

const ACCURACY: Kind = {
    perRun: 1,
    marked: true,
    log: false,
    range: [0, 1.04],
    line: { at: SOLVED, label: '99 %' },
    format: (value) => `${Math.round(100 * value)} %`,
};
const LOSS: Kind = {
    perRun: 2,
    marked: false,
    log: false,
    format: (value) => String(Number(value.toPrecision(3))),
};

export function CurvesView() {
    return (
        <div class="curves">
            <figure>
                <figcaption>
                    <h2>{regression.value ? 'R²' : 'Accuracy'} on sequences never trained on</h2>
                </figcaption>
                <Legend of="accuracy" />
                <Chart kind={ACCURACY} table={scoreTable} label="Held-out accuracy over training steps" />
            </figure>
            <figure>
                <figcaption>
                    <h2>Training loss, {regression.value ? 'squared error' : 'nats'}</h2>
                    <label class="check">
                        <input
                            type="checkbox"
                            checked={logarithmic.value}
                            onChange={({ currentTarget }) => (logarithmic.value = currentTarget.checked)}
                        />
                        logarithmic
                    </label>
                </figcaption>
                <Legend of="loss" />
                <Chart
                    kind={{ ...LOSS, log: logarithmic.value }}
                    table={lossTable}
                    label="Training loss over training steps"
                />
                <p class="axis">training steps</p>
            </figure>
        </div>
    );
}

function at(entry: Entry, of: 'accuracy' | 'loss'): string {
    const { history } = entry;
    const step = Math.min(hover.value ?? Infinity, entry.live.value.step);
    if (of === 'loss') {
        return lossText(history.losses[step - 1]);
    }
    const point = history.points.filter((tried) => tried.step <= step).at(-1);
    return point ? percent(score(point)) : '–';
}

function Legend({ of }: { of: 'accuracy' | 'loss' }) {
    return (
        <ul class="legend">
            {runs.value.map((entry) => (
                <li key={entry.id}>
                    <RunName entry={entry} /> <span class="number">{at(entry, of)}</span>
                </li>
            ))}
        </ul>
    );
}

interface ChartProps {
    kind: Kind;
    table: (histories: readonly History[]) => Table;
    label: string;
}

/** Painted at most once per frame, and no more often than it takes ten times over. */
function Chart({ kind, table, label }: ChartProps) {
    const host = useRef<HTMLDivElement>(null);
    useEffect(() => {
        const show = (step: number | null) => (hover.value = step);
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
            const histories = runs.peek().map(({ history }) => history);
            const longest = Math.max(0, ...runs.peek().map(({ live }) => live.peek().step));
            chart?.show(table(histories), roundEnd(longest));
            due = now + 10 * (performance.now() - start);
        };
        const shape = effect(() => {
            const marks = runs.value.map(({ mark }) => mark);
            void painted.value;
            chart?.close();
            chart = host.current && new Curves(host.current, kind, marks, show);
            due = 0;
            if (!frame) frame = requestAnimationFrame(paint);
        });
        const data = effect(() => {
            for (const { live } of runs.value) void live.value;
            if (!frame) frame = requestAnimationFrame(paint);
        });
        return () => {
            shape();
            data();
            cancelAnimationFrame(frame);
            chart?.close();
        };
    }, [kind.log]);
    return (
        <div class="chart" ref={host} role="img" aria-label={`${label}; the table below has the numbers.`} />
    );
}
