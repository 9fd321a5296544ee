// inside.tsx: one held-out sample through the eyes of one run: its tokens, the answers right and wrong, and
// where the model looked for them.
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { drawHeat, drawLegend } from '../charts/heat.ts';
import type { Look } from '../protocol.ts';
import { look, nameOf, runs, selected, setView, view, type Entry } from '../state.ts';
import { RunName } from './mark.tsx';

/** The row whose answer is looked at; null: the first question. */
const asked = signal<number | null>(null);
const pointed = signal<{ row: number; column: number } | null>(null);
const MOST_TOKENS = 256;

export function Inside() {
    const entry = selected.value;
    if (!entry) return null;
    const now = look.value;
    return (
        <>
            <h2 id="inside-title">Inside</h2>
            <p class="say">
                One sequence that was never trained on. Pick a question: the bars show where the model looks
                for the answer.
            </p>
            <Picker entry={entry} />
            {now?.problem ? (
                <p class="why" role="alert">
                    This sample cannot be shown: {now.problem}
                </p>
            ) : now ? (
                <Seen now={now} entry={entry} />
            ) : (
                <p class="say">The sample appears when the run is open.</p>
            )}
        </>
    );
}

function Picker({ entry }: { entry: Entry }) {
    const { sample } = view.value;
    return (
        <div class="picker">
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
            <div class="stepper" role="group" aria-label="Sample">
                <button
                    type="button"
                    aria-label="Previous sample"
                    disabled={sample === 0}
                    onClick={() => setView({ sample: sample - 1 })}
                >
                    ‹
                </button>
                <span class="number">sample {sample}</span>
                <button
                    type="button"
                    aria-label="Next sample"
                    onClick={() => setView({ sample: sample + 1 })}
                >
                    ›
                </button>
            </div>
        </div>
    );
}

function Seen({ now, entry }: { now: Look; entry: Entry }) {
    const { sample, map, heads } = now;
    const perRow = sample.targets !== null && sample.targets.length === sample.length;
    const questions =
        perRow && sample.classes > 0
            ? [...sample.targets!.keys()].filter((i) => sample.targets![i]! >= 0)
            : [];
    const row =
        asked.value !== null && questions.includes(asked.value) ? asked.value : (questions[0] ?? null);
    const head = Math.min(view.value.head, Math.max(0, heads - 1));
    const size = sample.length;
    const weights =
        map && row !== null ? map.subarray((head * size + row) * size, (head * size + row + 1) * size) : null;
    const right = questions.filter((i) => sample.predicted![i] === sample.targets![i]).length;
    return (
        <>
            {sample.tokens ? (
                <Tokens now={now} row={row} weights={weights} />
            ) : (
                <p class="say">The input of this task is real numbers, {sample.channels} a row.</p>
            )}
            {sample.classes === 0 ? (
                <p class="say">
                    The answer of this task is a number at each row; the accuracy above is R², the share of
                    variance explained.
                </p>
            ) : perRow ? (
                <p class="score">
                    <strong class="number">
                        {right} of {questions.length}
                    </strong>{' '}
                    right at step <span class="number">{now.step}</span>.{' '}
                    {row !== null && <Sentence now={now} row={row} weights={weights} />}
                </p>
            ) : (
                <Verdict now={now} />
            )}
            {map ? (
                <AttentionMap now={now} head={head} row={row} entry={entry} />
            ) : (
                <p class="say">This mechanism has no attention map to show.</p>
            )}
        </>
    );
}

function strongest(weights: Float32Array): number {
    return weights.reduce((best, weight, i) => (weight > weights[best]! ? i : best), 0);
}

function Sentence({ now, row, weights }: { now: Look; row: number; weights: Float32Array | null }) {
    const { tokens, targets, predicted, confidence } = now.sample;
    const wanted = targets![row];
    const answer = predicted![row];
    const most = weights ? strongest(weights) : 0;
    return (
        <>
            At position {row} token <b class="number">{tokens?.[row]}</b> asks; the model answers{' '}
            <b class="number">{answer}</b>
            {answer === wanted ? (
                ', which is right'
            ) : (
                <>
                    , but <b class="number">{wanted}</b> is right
                </>
            )}{' '}
            (it was {Math.round(100 * (confidence?.[row] ?? 0))} % sure).
            {weights && (
                <>
                    {' '}
                    It looks most at position {most}, token <b class="number">{tokens?.[most]}</b> (
                    {Math.round(100 * weights[most]!)} %).
                </>
            )}
        </>
    );
}

function Verdict({ now }: { now: Look }) {
    const { targets, predicted, confidence } = now.sample;
    const right = predicted?.[0] === targets?.[0];
    return (
        <p class="score">
            The model answers <b class="number">{predicted?.[0] ?? '–'}</b>{' '}
            {right ? '✓ right' : `✗ wrong, it is ${targets?.[0]}`} at step{' '}
            <span class="number">{now.step}</span>, {Math.round(100 * (confidence?.[0] ?? 0))} % sure.
        </p>
    );
}

function Tokens({ now, row, weights }: { now: Look; row: number | null; weights: Float32Array | null }) {
    const { tokens, targets, predicted } = now.sample;
    const shown = Math.min(tokens!.length, MOST_TOKENS);
    const perRow = now.sample.classes > 0 && targets !== null && targets.length === tokens!.length;
    return (
        <div class="sample">
            <ol class={`tokens${now.sample.classes > 100 ? ' long' : ''}`} aria-label="Tokens of the sample">
                {Array.from({ length: shown }, (_, i) => {
                    const token = tokens![i]!;
                    const wanted = perRow ? targets![i]! : -1;
                    const weight = weights?.[i] ?? 0;
                    const bar = (
                        <svg class="bar" viewBox="0 0 10 20" preserveAspectRatio="none" aria-hidden="true">
                            <rect x="0" width="10" y={20 - 20 * weight} height={20 * weight} />
                        </svg>
                    );
                    if (wanted < 0)
                        return (
                            <li key={i} class={token === 0 ? 'filler' : ''}>
                                {bar}
                                <span class="token">{token === 0 ? '·' : token}</span>
                            </li>
                        );
                    const answer = predicted![i]!;
                    const right = answer === wanted;
                    return (
                        <li key={i} class="question">
                            {bar}
                            <button type="button" aria-pressed={i === row} onClick={() => (asked.value = i)}>
                                <span class="token">
                                    <Unseen>Question at {i}: token </Unseen>
                                    {token}
                                </span>
                                <span class={right ? 'right' : 'wrong'}>
                                    <Unseen>
                                        , answered {right ? 'right' : `wrong, wanted ${wanted}`}:{' '}
                                    </Unseen>
                                    <span aria-hidden="true">{right ? '✓' : '✗'}</span>
                                    {answer}
                                </span>
                            </button>
                        </li>
                    );
                })}
            </ol>
            {shown < tokens!.length && (
                <p class="say">
                    The first {shown} of {tokens!.length} tokens.
                </p>
            )}
        </div>
    );
}

function Unseen({ children }: { children: ComponentChildren }) {
    return <span class="unseen">{children}</span>;
}

function AttentionMap({
    now,
    head,
    row,
    entry,
}: {
    now: Look;
    head: number;
    row: number | null;
    entry: Entry;
}) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const legend = useRef<HTMLCanvasElement>(null);
    const size = now.sample.length;
    const map = now.map!.subarray(head * size * size, (head + 1) * size * size);
    useEffect(() => {
        // What may not be looked at is left clear.
        const causal = map.every((weight, i) => i % size <= Math.floor(i / size) || weight === 0);
        const seen = causal ? map.map((weight, i) => (i % size > Math.floor(i / size) ? NaN : weight)) : map;
        if (canvas.current) drawHeat(canvas.current, seen, size, size, 1);
    }, [now, head]);
    useEffect(() => {
        if (legend.current) drawLegend(legend.current);
    }, []);
    const at = pointed.value;
    const { tokens } = now.sample;
    const read = at && at.row < size && at.column < size ? at : null;
    const name = (i: number) => (tokens ? `${i} (token ${tokens[i]})` : `${i}`);
    return (
        <figure class="map">
            <figcaption>
                <h3>Attention map</h3>
                {now.blocks.length > 1 && (
                    <Choice
                        label="block"
                        value={now.block}
                        choices={now.blocks}
                        set={(block) => setView({ block })}
                    />
                )}
                {now.heads > 1 && (
                    <Choice
                        label="head"
                        value={head}
                        choices={[...Array(now.heads).keys()]}
                        set={(value) => setView({ head: value })}
                    />
                )}
            </figcaption>
            <div class="map-frame">
                <canvas
                    ref={canvas}
                    role="img"
                    aria-label={`Attention map of ${nameOf(entry)}: each row is a position that asks, each column one that is looked at.`}
                    onPointerMove={(event) => {
                        const box = event.currentTarget.getBoundingClientRect();
                        pointed.value = {
                            row: Math.floor(((event.clientY - box.top) / box.height) * size),
                            column: Math.floor(((event.clientX - box.left) / box.width) * size),
                        };
                    }}
                    onPointerLeave={() => (pointed.value = null)}
                />
                {row !== null && (
                    <svg
                        class="row-mark"
                        viewBox={`0 0 ${size} ${size}`}
                        preserveAspectRatio="none"
                        aria-hidden="true"
                    >
                        <rect x="0" y={row} width={size} height="1" />
                    </svg>
                )}
            </div>
            <div class="map-legend">
                <span>rows ask, columns are looked at</span>
                <span class="scale">
                    <span class="number">0</span>
                    <canvas ref={legend} aria-hidden="true" />
                    <span class="number">1</span>
                </span>
            </div>
            <p class="read number">
                {read
                    ? `${name(read.row)} looks at ${name(read.column)}: ${map[read.row * size + read.column]!.toFixed(4)}`
                    : 'Point at the map to read a weight.'}
            </p>
        </figure>
    );
}

interface ChoiceProps {
    label: string;
    value: number;
    choices: readonly number[];
    set: (value: number) => void;
}
function Choice({ label, value, choices, set }: ChoiceProps) {
    return (
        <label>
            <span>{label}</span>
            <select value={value} onChange={({ currentTarget }) => set(Number(currentTarget.value))}>
                {choices.map((choice) => (
                    <option key={choice} value={choice}>
                        {choice + 1}
                    </option>
                ))}
            </select>
        </label>
    );
}
