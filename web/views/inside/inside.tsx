// inside.tsx: one held-out sample through the eyes of one run. The sample is in sample.tsx, the map in
// map.tsx.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { mapRows } from '../../charts/grid.ts';
import { drawInk } from '../../charts/heat.ts';
import { greys } from '../../core/digit.ts';
import type { Look } from '../../training/protocol.ts';
import type { Entry } from '../../state/entry.ts';
import { lab, look, runs, selected, view } from '../../state/page.ts';
import { taskOf } from '../../state/setup.ts';
import { setView } from '../../state/viewing.ts';
import { nameOf } from '../../state/wording.ts';
import { AttentionMap } from './map.tsx';
import { InTurn } from '../frame/in_turn.tsx';
import { RunName } from '../frame/mark.tsx';
import { asked, Answer, questionsOf, Tokens } from './sample.tsx';
import { SampleNumber, Stepper } from '../frame/stepper.tsx';
import { Why } from './why.tsx';

export function Inside() {
    const entry = selected.value;
    if (!entry) return null;
    const now = look.value;
    return (
        <>
            <h2 id="inside-title">Inside</h2>
            <p class="say">
                One sequence that was never trained on.{' '}
                {now &&
                    !now.problem &&
                    questionsOf(now.sample).length > 0 &&
                    'Pick a question: the bars show where the model looks for the answer.'}
            </p>
            <Picker entry={entry} />
            {now?.problem ? (
                <p class="why" role="alert">
                    This example cannot be shown: {now.problem}
                </p>
            ) : now ? (
                <InTurn now={now} entry={entry}>
                    {(taken) => <Seen now={taken} entry={entry} />}
                </InTurn>
            ) : (
                <Nothing entry={entry} what="The example" />
            )}
        </>
    );
}

/** In place of what a run would show: why there is nothing. */
export function Nothing({ entry, what }: { entry: Entry; what: string }) {
    const { status, problem } = entry.live.value;
    return status === 'failed' && problem ? (
        <p class="why" role="alert">
            This run cannot be looked into: {problem.message}.
        </p>
    ) : (
        <p class="say">{what} appears when the run is open.</p>
    );
}

export function Picker({ entry }: { entry: Entry }) {
    return (
        <div class="picker">
            {runs.value.length > 4 ? (
                <label>
                    <span class="unseen">Run to look into</span>
                    <select
                        value={runs.value.indexOf(entry)}
                        onChange={({ currentTarget }) => setView({ run: Number(currentTarget.value) })}
                    >
                        {runs.value.map((other, i) => (
                            <option key={other.id} value={i}>
                                {nameOf(other)}
                            </option>
                        ))}
                    </select>
                </label>
            ) : (
                <RunTabs entry={entry} />
            )}
            <Stepper name="Example" one="example">
                <span class="number">
                    Example <SampleNumber shown={look.value?.index ?? null} />
                </span>
            </Stepper>
        </div>
    );
}

function RunTabs({ entry }: { entry: Entry }) {
    return (
        <fieldset class="tabs">
            <legend class="unseen">Run to look into</legend>
            {runs.value.map((other, i) => (
                <label key={other.id} class={other === entry ? 'picked' : ''}>
                    <input
                        type="radio"
                        name="inside"
                        aria-label={nameOf(other)}
                        checked={other === entry}
                        onChange={() => setView({ run: i })}
                    />
                    <RunName entry={other} />
                </label>
            ))}
        </fieldset>
    );
}

/** The image that a sequence of rows or pixels was. */
export function Image({ values }: { values: Float32Array | null }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const side = Math.round(Math.sqrt(values?.length ?? 0));
    useLayoutEffect(() => {
        if (canvas.current && side * side === values?.length)
            drawInk(canvas.current, greys(values), side, side);
    }, [values]);
    return <canvas ref={canvas} class="sample-image" role="img" aria-label="The image of the example" />;
}

export function Seen({ now, entry }: { now: Look; entry: Entry }) {
    const { sample, map, heads } = now;
    const size = sample.length;
    const questions = questionsOf(sample);
    const row =
        asked.value !== null && questions.includes(asked.value) ? asked.value : (questions[0] ?? null);
    const head = Math.min(view.value.head, Math.max(0, heads - 1));
    const weights = map && row !== null ? mapRows(map, size, head, row) : null;
    return (
        <>
            {sample.tokens ? (
                <Tokens sample={sample} row={row} weights={weights} task={entry.values} />
            ) : (
                <>
                    {taskOf(lab(), entry.values)?.images && <Image values={sample.values} />}
                    <p class="say">
                        The input of this task is real numbers, {sample.channels} a row
                        {taskOf(lab(), entry.values)?.images &&
                            ': an image, in the order in which it is read'}
                        .
                    </p>
                </>
            )}
            <Answer now={now} row={row} weights={weights} task={entry.values} />
            {map && now.step > 0 && taskOf(lab(), entry.values)?.recall && (
                <Why sample={sample} map={mapRows(map, size, head, 0, size)} />
            )}
            {map ? (
                <AttentionMap
                    now={now}
                    map={mapRows(map, size, head, 0, size)}
                    head={head}
                    row={row}
                    name={nameOf(entry)}
                />
            ) : (
                <p class="say">This mechanism has no attention map to show.</p>
            )}
        </>
    );
}
