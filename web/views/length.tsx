// length.tsx: does a run still work on longer input than it was trained on? Accuracy against length, tried
// again and again while the runs train.
import { useEffect, useRef } from 'preact/hooks';
import { Curves, type Kind } from '../charts/curves.ts';
import type { Curve } from '../charts/series.ts';
import type { Entry } from '../state/entry.ts';
import { metricOf, score } from '../state/history.ts';
import { trials } from '../training/lengths.ts';
import { SOLVED } from '../training/protocol.ts';
import { taskTitle } from '../state/setup.ts';
import { cardOf, lesson } from '../state/views/lesson.ts';
import { groups, lab } from '../state/page.ts';
import { openCard } from '../state/start.ts';
import { measuring } from '../state/watching.ts';
import { measured } from '../core/expect.ts';
import { nameOf } from '../state/wording.ts';
import { Expected, LessonNow, LessonSeen } from './experiment/lesson_now.tsx';
import { isRegression, scoreAxis } from './experiment/plotted.ts';
import { keepDrawn } from './frame/drawn_again.ts';
import { RunName } from './frame/mark.tsx';
import { Transport } from './frame/transport.tsx';

export default function Length() {
    useEffect(() => {
        measuring.value = true;
        return () => {
            measuring.value = false;
        };
    }, []);
    return (
        <>
            <p class="say length-note">
                Where the task has pairs, their number grows with the length, as long as the vocabulary has
                enough keys, so guessing gets harder, too. (In Story it stays at eight.)
            </p>
            <Transport />
            {lesson.value.name && (
                <div class="lesson-here">
                    <LessonNow />
                    <Expected />
                    <LessonSeen />
                </div>
            )}
            {groups.value.map((entries) => (
                <Group key={entries[0]!.id} entries={entries} several={groups.value.length > 1} />
            ))}
            <p class="say view-note">
                Each point is measured on at least 128 held-out answers.{' '}
                <button
                    type="button"
                    onClick={() => {
                        openCard(cardOf('length')!);
                    }}
                >
                    Show the lesson on length
                </button>
            </p>
        </>
    );
}

const lengthsOf = (entries: readonly Entry[]): number[] =>
    [...new Set(entries.flatMap(({ values }) => trials(values).map(({ length }) => length)))].sort(
        (a, b) => a - b,
    );

function curveOf({ history }: Entry): Curve {
    const points = [...history.lengths.values()]
        .filter(({ result }) => result)
        .sort((a, b) => a.length - b.length);
    const none = points.map(() => null);
    return {
        xs: points.map(({ length }) => length),
        raw: none,
        low: none,
        high: none,
        line: points.map(({ result }) => score(result!)),
    };
}

function Group({ entries, several }: { entries: readonly Entry[]; several: boolean }) {
    const { values } = entries[0]!;
    const lengths = lengthsOf(entries);
    const trained = Number(values['length']);
    for (const { live } of entries) void live.value; // read the histories anew
    const fixed = entries.every(({ history }) =>
        [...history.lengths.values()].every(({ length, result }) => length === trained || !result),
    );
    const tried = entries.some(({ history }) => history.lengths.size > 1);
    const title = taskTitle(lab(), values);
    const axis = scoreAxis(isRegression(entries));
    const heading = `${axis.name} against length`;
    if (tried && fixed)
        return (
            <section class="length" aria-label={`${heading}: ${title}`}>
                <h3>{title}</h3>
                <p class="say">
                    This task has one length, {trained}: there is nothing longer to test. Recall and copying
                    can be tested at any length.
                </p>
            </section>
        );
    return (
        <section class="length" aria-label={`${heading}: ${title}`} data-picture={`${heading}: ${title}`}>
            <h3>{several ? title : heading}</h3>
            <ul class="legend">
                {entries.map((entry) => (
                    <li key={entry.id}>
                        <RunName entry={entry} brief />
                    </li>
                ))}
            </ul>
            <Chart key={axis.name} entries={entries} trained={trained} lengths={lengths} axis={axis} />
            <p class="axis">length of the sequence (each mark doubles)</p>
            <div class="scroll" role="region" aria-label={`${axis.name} at each length`} tabIndex={0}>
                <table class="at-lengths" style={{ '--rows': lengths.length + 1 }}>
                    <caption class="unseen">{axis.name} at each length</caption>
                    <thead>
                        <tr>
                            <th scope="col">
                                <span class="wide">Run</span>
                                <span class="narrow">Length</span>
                            </th>
                            {lengths.map((length) => (
                                <th key={length} scope="col">
                                    {length}
                                    {length === trained && <span class="of"> trained</span>}
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {entries.map((entry) => (
                            <tr key={entry.id}>
                                <th scope="row">
                                    <RunName entry={entry} brief />
                                </th>
                                {lengths.map((length) => (
                                    <Cell key={length} entry={entry} length={length} />
                                ))}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
            <Refusals entries={entries} />
        </section>
    );
}

function Cell({ entry, length }: { entry: Entry; length: number }) {
    const point = entry.history.lengths.get(length);
    if (!point) return <td>–</td>;
    if (!point.result) return <td title={point.problem ?? ''}>cannot</td>;
    return <td title={`at step ${point.step}`}>{measured(metricOf(point.result), score(point.result))}</td>;
}

/** Why some lengths cannot be tried, once for each run. */
function Refusals({ entries }: { entries: readonly Entry[] }) {
    const all = entries.flatMap((entry) => {
        const refused = [...entry.history.lengths.values()].find(({ problem }) => problem);
        return refused ? [{ entry, message: refused.problem! }] : [];
    });
    return (
        <>
            {all.map(({ entry, message }) => (
                <p key={entry.id} class="say">
                    {nameOf(entry)} cannot be tested at every length: {message}.
                </p>
            ))}
        </>
    );
}

function Chart({
    entries,
    trained,
    lengths,
    axis,
}: {
    entries: readonly Entry[];
    trained: number;
    lengths: number[];
    axis: ReturnType<typeof scoreAxis>;
}) {
    const host = useRef<HTMLDivElement>(null);
    const key = lengths.join();
    useEffect(() => {
        const kind: Kind = {
            marked: true,
            log: false,
            doubling: lengths,
            range: [0, 1.04],
            line: { at: SOLVED, label: axis.solved },
            rule: trained,
            format: axis.format,
            formatX: (length) => (length === trained ? `${length} trained` : String(length)),
        };
        const marks = entries.map(({ mark }) => mark);
        return keepDrawn(
            () => host.current && new Curves(host.current, kind, marks, () => {}),
            (chart) => chart.show(entries.map(curveOf), lengths[0] ?? 8, lengths[lengths.length - 1] ?? 64),
            () => entries.forEach(({ live }) => void live.value),
        );
    }, [entries, trained, key]);
    return (
        <div
            class="chart tall"
            ref={host}
            role="img"
            aria-label={`${axis.name} against length; the table has the numbers.`}
        />
    );
}
