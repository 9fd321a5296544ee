// digits.tsx: images read as sequences: draw a digit or take a held-out one, see the answer form while it is
// read, which pixels it hangs on, which digits are taken for which, and hand over the real MNIST.
import { effect, signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { drawSigned, drawSignedLegend } from '../charts/diverging.ts';
import { pointedCell, turned } from '../charts/grid.ts';
import { drawHeat, drawInk, drawLegend } from '../charts/heat.ts';
import { greys, type Fitted } from '../core/digit.ts';
import type { Entry } from '../state/entry.ts';
import type { Confusion as Counted, Problem, Seen } from '../training/protocol.ts';
import { lab, said, view } from '../state/page.ts';
import { taskOf } from '../state/setup.ts';
import { areOwn, readers, trainReaders } from '../state/views/digits.ts';
import { confusionOf, seeImage } from '../state/watching.ts';
import { fixed, percent } from '../core/figures.ts';
import { nameOf } from '../state/wording.ts';
import { Confusion } from './digits/confusion.tsx';
import { RunName } from './frame/mark.tsx';
import { MnistFiles } from './digits/mnist_files.tsx';
import { Pad, Steps } from './digits/pad.tsx';
import { OwnCourse, Source } from './digits/source.tsx';
import { counted, SampleNumber, Stepper } from './frame/stepper.tsx';
import { Transport } from './frame/transport.tsx';
import '../styles/views/digits.css';

const EVERY = 250; // milliseconds between two looks
const SOON = 20; // steps after which the confusion matrix is counted first

const chosen = signal(0);
const fit = signal<Fitted | null>(null);
/** What the model is shown: the drawing, or a held-out image. */
const source = signal<'held-out' | 'drawn'>('held-out');
/** A drawing, or the number of a held-out image. */
type What = Uint8Array | number;
const asked = (): What | undefined => (source.value === 'drawn' ? fit.value?.image : view.value.sample);
/** What a run was shown, and what it made of it, or why it could not. */
interface Told {
    ticket: number;
    what: What;
    answer: Seen | { problem: Problem };
}
const told = signal<Told | null>(null);

export default function Digits() {
    useEffect(trainReaders, []);
    const all = readers.value;
    const entry = all[Math.min(chosen.value, all.length - 1)];
    return entry ? <Reader entry={entry} readers={all} /> : null;
}

/** Keep looking at the image through the run while it trains. */
function useSeen(entry: Entry): void {
    const { ticket } = entry;
    useEffect(() => {
        let [open, asking, due, again] = [true, false, 0, false];
        const ask = async () => {
            if (asking) {
                again = true;
                return;
            }
            asking = true;
            await new Promise((done) => setTimeout(done, Math.max(0, due - performance.now())));
            again = false;
            const what = asked();
            const answer = what === undefined ? null : await seeImage(entry, what);
            due = performance.now() + EVERY;
            asking = false;
            if (!open) return;
            if (what !== undefined && answer) told.value = { ticket, what, answer };
            if (again) void ask();
        };
        const stop = effect(() => {
            void [asked(), entry.live.value.step, entry.live.value.status];
            if (entry.live.value.status !== 'opening' && entry.live.value.status !== 'failed') void ask();
        });
        return () => {
            open = false;
            stop();
        };
    }, [ticket]);
}

/** The run that reads, one of those that can. */
function Readers({ entry, readers }: { entry: Entry; readers: readonly Entry[] }) {
    return (
        <fieldset class="tabs digits-runs">
            <legend class="unseen">Run that reads</legend>
            {readers.map((other, i) => (
                <label key={other.id} class={other === entry ? 'picked' : ''}>
                    <input
                        type="radio"
                        name="reader"
                        aria-label={nameOf(other)}
                        checked={other === entry}
                        onChange={() => (chosen.value = i)}
                    />
                    <RunName entry={other} brief />
                </label>
            ))}
        </fieldset>
    );
}

function Reader({ entry, readers }: { entry: Entry; readers: readonly Entry[] }) {
    const { ticket } = entry;
    useSeen(entry);
    const [counted, tabulate] = useState<(Counted & { of: Entry }) | null>(null);
    const table = counted?.of === entry ? counted : null;
    const count = async () => {
        const found = await confusionOf(entry, 1024);
        if (found) tabulate({ ...found, of: entry });
    };
    // The view's own models are counted by themselves, each time that they have learnt twice as long.
    useEffect(() => {
        let [counting, due] = [false, SOON];
        return effect(() => {
            const { step, status } = entry.live.value;
            const done = status === 'done';
            if (!areOwn.value || counting || !due || !(done || step >= due)) return;
            counting = true;
            due = done ? 0 : 2 * step;
            void count().finally(() => (counting = false));
        });
    }, [ticket]);
    const { values, live } = entry;
    const shown = told.value?.ticket === entry.ticket ? told.value : null;
    const now = shown && !('problem' in shown.answer) ? shown.answer : null;
    const problem = shown && 'problem' in shown.answer ? shown.answer.problem : null;
    return (
        <>
            {areOwn.value ? <OwnCourse readers={readers} /> : <Transport />}
            <Readers entry={entry} readers={readers} />
            <Source entry={entry} />
            <div class="digits">
                <section aria-labelledby="draw-title">
                    <h3 id="draw-title">Draw a digit</h3>
                    <Pad
                        drawn={(next) => {
                            fit.value = next;
                            source.value = next ? 'drawn' : 'held-out';
                        }}
                    />
                    {fit.value && <Steps fit={fit.value} />}
                    <Held shown={shown?.what ?? null} />
                </section>
                <section aria-labelledby="reading-title" data-picture="The answer while it is read">
                    <h3 id="reading-title">The answer while it is read</h3>
                    {live.value.status === 'failed' ? (
                        <p class="why" role="alert">
                            This run could not be opened: {live.value.problem?.message}.
                        </p>
                    ) : problem ? (
                        <p class="why" role="alert">
                            This image cannot be read: {problem.message}.
                        </p>
                    ) : now ? (
                        <Reading now={now} />
                    ) : (
                        <p class="say">The answer appears when the run is open.</p>
                    )}
                    {readers.length > 1 && <Answers readers={readers} shown={shown} />}
                </section>
                <section aria-labelledby="pixels-title" data-picture="Which pixels matter">
                    <h3 id="pixels-title">Which pixels matter</h3>
                    {now && <Saliency now={now} permuted={taskOf(lab(), values)?.permuted ?? false} />}
                </section>
                <section aria-labelledby="confusion-title" data-picture="Confusion matrix">
                    <h3 id="confusion-title">Confusion matrix</h3>
                    <Confusion
                        counts={table?.counts ?? null}
                        step={table?.step ?? null}
                        count={async () => {
                            await count();
                            said.value = 'The confusion matrix is ready.';
                        }}
                    />
                </section>
                <MnistFiles readers={readers} />
            </div>
        </>
    );
}

/** What every run makes of the same image; the one that is `shown` above, what is said of it there. */
function Answers({ readers, shown }: { readers: readonly Entry[]; shown: Told | null }) {
    const [found, keep] = useState<{ what: What; by: ReadonlyMap<number, Seen> } | null>(null);
    useEffect(() => {
        let [open, asking, again] = [true, false, false];
        const ask = async () => {
            again = asking;
            if (asking) return;
            asking = true;
            const what = asked();
            const next = new Map<number, Seen>();
            for (const other of readers) {
                const answer = what === undefined || !open ? null : await seeImage(other, what);
                if (answer && !('problem' in answer)) next.set(other.ticket, answer);
            }
            if (open && what !== undefined) keep({ what, by: next });
            await new Promise((done) => setTimeout(done, 4 * EVERY));
            asking = false;
            if (again && open) void ask();
        };
        const stop = effect(() => {
            void asked();
            for (const { live } of readers) void [live.value.step, live.value.status];
            void ask();
        });
        return () => {
            open = false;
            stop();
        };
    }, [readers.map(({ ticket }) => ticket).join()]);
    return (
        <table class="answers-of">
            <caption>
                What every run answers
                {found &&
                    (typeof found.what === 'number'
                        ? ` to held-out image ${counted(found.what)}`
                        : ' to the drawing')}
            </caption>
            <thead>
                <tr>
                    <th scope="col">Run</th>
                    <th scope="col">Answer</th>
                    <th scope="col">Sure</th>
                    <th scope="col">At step</th>
                </tr>
            </thead>
            <tbody>
                {readers.map((other) => {
                    const above =
                        shown?.ticket === other.ticket && shown.what === found?.what ? shown.answer : null;
                    const seen = above && !('problem' in above) ? above : found?.by.get(other.ticket);
                    const sample = seen?.sample;
                    const target = sample?.targets?.[0] ?? -1;
                    const right = sample?.predicted?.[0] === target;
                    return (
                        <tr key={other.id}>
                            <th scope="row">
                                <RunName entry={other} brief />
                            </th>
                            <td class={`number ${target < 0 ? '' : right ? 'right' : 'wrong'}`}>
                                {sample ? sample.predicted?.[0] : '–'}
                                {sample && target >= 0 && (right ? ' ✓' : ' ✗')}
                            </td>
                            <td class="number">{sample ? percent(sample.confidence?.[0] ?? 0) : ''}</td>
                            <td class="number">{seen?.step}</td>
                        </tr>
                    );
                })}
            </tbody>
        </table>
    );
}

/** Held-out images; `shown`: what is shown now. */
function Held({ shown }: { shown: What | null }) {
    const hold = () => (source.value = 'held-out');
    const drawing = shown !== null && typeof shown !== 'number';
    return (
        <Stepper name="Held-out image" one="image" pressed={hold}>
            <button
                type="button"
                aria-pressed={shown === null ? source.value === 'held-out' : !drawing}
                onClick={hold}
            >
                held-out image <SampleNumber shown={drawing ? null : shown} />
                {drawing && source.value === 'held-out' && <span class="coming"> …</span>}
            </button>
        </Stepper>
    );
}

function Reading({ now }: { now: Seen }) {
    const { sample, reading } = now;
    const { length, classes } = sample;
    const canvas = useRef<HTMLCanvasElement>(null);
    const legend = useRef<HTMLCanvasElement>(null);
    const [row, point] = useState<number | null>(null);
    useLayoutEffect(() => {
        if (canvas.current) drawHeat(canvas.current, turned(reading, length, classes), classes, length, 1);
        if (legend.current) drawLegend(legend.current);
    }, [now]);
    const read = Math.min(row ?? length - 1, length - 1);
    const shares = [...reading.subarray(read * classes, (read + 1) * classes)];
    const answer = sample.predicted?.[0];
    const target = sample.targets?.[0] ?? -1;
    return (
        <>
            <div class="answer-line">
                <svg
                    class={`answer-large ${target < 0 ? '' : answer === target ? 'right' : 'wrong'}`}
                    viewBox="-11 0 88 100"
                    aria-hidden="true"
                >
                    <text x="33" y="98" font-size="134" font-weight="650" text-anchor="middle">
                        {answer}
                    </text>
                </svg>
                <p class="score answer">
                    At step {now.step} it answers <b class="number">{answer}</b>
                    {target >= 0 &&
                        (answer === target ? (
                            <span class="right"> ✓ right</span>
                        ) : (
                            <span class="wrong"> ✗ it is {target}</span>
                        ))}
                    , and is <span class="figure">{percent(sample.confidence?.[0] ?? 0)}</span> sure.
                </p>
            </div>
            <div class="reading">
                <ol class="classes" aria-label={`Class probabilities after ${read + 1} of ${length}`}>
                    {shares.map((share, digit) => (
                        <li key={digit}>
                            <span class="number">{digit}</span>
                        </li>
                    ))}
                </ol>
                <canvas
                    ref={canvas}
                    role="img"
                    aria-label="Class probabilities (rows) after each row of the sequence (columns)"
                    onPointerMove={(event) => point(pointedCell(event, classes, length)?.column ?? null)}
                    onPointerLeave={() => point(null)}
                />
                <ol class="shares" aria-hidden="true">
                    {shares.map((share, digit) => (
                        <li key={digit}>
                            <svg class="share" viewBox="0 0 100 10" preserveAspectRatio="none">
                                <rect width={100 * share} height="10" />
                            </svg>
                            <span class="number">{(100 * share).toFixed(0)}</span>
                        </li>
                    ))}
                </ol>
            </div>
            <div class="map-legend">
                <span>
                    read so far: {read + 1} of {length}; bars in percent
                </span>
                <span class="scale">
                    <span class="number">0</span>
                    <canvas ref={legend} aria-hidden="true" />
                    <span class="number">1</span>
                </span>
            </div>
        </>
    );
}

/** The image that a sequence of rows or pixels was, as grey values. */
function pixelsOf({ sample }: Seen): { pixels: Uint8Array; side: number } {
    const values = sample.values ?? new Float32Array();
    const pixels = greys(values);
    return { pixels, side: Math.round(Math.sqrt(values.length)) };
}

function Saliency({ now, permuted }: { now: Seen; permuted: boolean }) {
    const image = useRef<HTMLCanvasElement>(null);
    const over = useRef<HTMLCanvasElement>(null);
    const legend = useRef<HTMLCanvasElement>(null);
    const [pointed, point] = useState<number | null>(null);
    const { pixels, side } = pixelsOf(now);
    const top = now.saliency.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    useLayoutEffect(() => {
        if (image.current) drawInk(image.current, pixels, side, side);
        if (over.current) drawSigned(over.current, now.saliency, side, side, top, 'white');
        if (legend.current) drawSignedLegend(legend.current, 'white');
    }, [now]);
    const round = (value: number) => Number(value.toPrecision(2));
    return (
        <>
            <p class="say">
                Brown: more ink there makes the answer more certain; teal: less certain (gradient of its log
                probability).
                {permuted && ' Shown in the order in which the pixels are read.'}
            </p>
            <div class="saliency">
                <canvas ref={image} role="img" aria-label="The image" />
                <canvas
                    ref={over}
                    role="img"
                    aria-label="Gradient of the answer by each pixel"
                    onPointerMove={(event) => {
                        const cell = pointedCell(event, side, side);
                        point(cell && cell.row * side + cell.column);
                    }}
                    onPointerLeave={() => point(null)}
                />
            </div>
            <div class="map-legend">
                <span class="number">
                    {pointed !== null && now.saliency[pointed] !== undefined
                        ? `row ${Math.floor(pointed / side)}, column ${pointed % side}: ${fixed(now.saliency[pointed], 4)}`
                        : 'Point at it to read a value.'}
                </span>
                <span class="scale">
                    <span class="number">−{round(top)}</span>
                    <canvas ref={legend} aria-hidden="true" />
                    <span class="number">{round(top)}</span>
                </span>
            </div>
        </>
    );
}
