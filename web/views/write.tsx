// write.tsx: the runs that read a text go on with what the visitor begins, side by side from the same seed,
// while they train; runs on copying and recall answer a sample row by row, out of their own answers.
import { computed, signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Entry } from '../state/entry.ts';
import { isProblem, type Recited, type Remembered, type Written } from '../training/protocol.ts';
import { finished as trained, runs, said } from '../state/page.ts';
import { openLesson } from '../state/start.ts';
import { recite, writeOn } from '../state/watching.ts';
import { nameOf } from '../state/wording.ts';
import { RunName } from './frame/mark.tsx';
import { isText, written } from '../core/tokens.ts';
import { counted } from './frame/stepper.tsx';
import { Transport } from './frame/transport.tsx';
import '../styles/views/write.css';

const MOST = 2; // side by side
const AT_ONCE = 4; // tokens of a call
const LENGTH = 600; // characters, after which it rests
const EVERY = 40; // milliseconds between two calls
const ROW = 60; // milliseconds a row of a sample
const LINE = 56; // characters of its words at a step
const FIRST = 16; // after the step before the first they come at this one, then at twice the last
const DEEPEST = 6; // bits of surprise at which the colour is deepest, and its share of the ground there
const SHARE = 45;

interface Text {
    /** The beginning and all that was written, as bytes; how many are the beginning. */
    read: readonly number[];
    given: number;
    bits: readonly number[];
    last: Written | null;
    problem: string;
}

const beginning = signal('First Citizen:\n');
const temperature = signal(0.8);
const seed = signal(1);
const writing = signal(false);
/** How far it writes now, and the texts by their runs' tickets. */
const until = signal(LENGTH);
const texts = signal<ReadonlyMap<number, Text>>(new Map());
const writers = computed(() => runs.value.filter(({ values }) => isText(values)).slice(0, MOST));

export default function Write() {
    useEffect(() => () => void (writing.value = false), []);
    if (writers.value.length) return <Texts />;
    const { length } = runs.value;
    return (
        <>
            <div class="write-none">
                <p>
                    {length ? 'No run here is trained on text. ' : ''}The lesson trains two mechanisms for a
                    minute on the opening of Coriolanus, byte by byte; you can use your own text instead.
                </p>
                <button
                    type="button"
                    class="primary"
                    onClick={() => openLesson('preset=write', { view: 'write', speed: 'full' })}
                >
                    Train on text
                </button>
            </div>
            {length > 0 && <Samples />}
        </>
    );
}

// ---- Texts

const bytesOf = (text: string): number[] => [...new TextEncoder().encode(text)];
function textOf({ ticket }: Entry): Text {
    const read = bytesOf(beginning.peek() || '\n');
    return texts.peek().get(ticket) ?? { read, given: read.length, bits: [], last: null, problem: '' };
}
const finished = (text: Text) => text.problem !== '' || text.bits.length >= until.peek();

async function goOn(entry: Entry): Promise<void> {
    const text = textOf(entry);
    if (finished(text)) return;
    const what = { read: text.read, count: AT_ONCE, temperature: temperature.peek(), seed: seed.peek() };
    const answer = await writeOn(entry, what);
    if (texts.peek().get(entry.ticket) !== text && texts.peek().has(entry.ticket)) return; // begun anew
    const next =
        !answer || isProblem(answer)
            ? { ...text, problem: answer?.problem.message ?? 'this run is not open' }
            : {
                  ...text,
                  read: [...text.read, ...answer.tokens],
                  bits: [...text.bits, ...answer.bits],
                  last: answer,
              };
    texts.value = new Map(texts.peek()).set(entry.ticket, next);
}
/** All of them, a few characters each in turn. One of these loops at a time. */
let looping = false;
async function write(): Promise<void> {
    writing.value = true;
    if (looping) return;
    looping = true;
    try {
        while (writing.peek() && !writers.peek().every((entry) => finished(textOf(entry)))) {
            await Promise.all(writers.peek().map(goOn));
            await new Promise((done) => setTimeout(done, EVERY));
        }
    } finally {
        looping = false;
    }
    if (writing.peek()) said.value = 'The text is written.';
    writing.value = false;
}
function begin(): void {
    const fresh = bytesOf(beginning.peek() || '\n');
    const text: Text = { read: fresh, given: fresh.length, bits: [], last: null, problem: '' };
    texts.value = new Map(writers.peek().map(({ ticket }) => [ticket, text]));
    until.value = LENGTH;
    void write();
}
function goOnOrStop(): void {
    if (writing.peek()) writing.value = false;
    else {
        if (writers.peek().every((entry) => finished(textOf(entry)))) until.value += LENGTH;
        void write();
    }
}

function Texts() {
    const learnt = writers.value.every(({ live }) => live.value.status === 'done');
    useEffect(() => {
        if (learnt && !texts.peek().size) begin(); // somebody waited for this
    }, [learnt]);
    return (
        <>
            <Transport />
            <form
                class="write-begin"
                onSubmit={(event) => {
                    event.preventDefault();
                    begin();
                }}
            >
                <label>
                    Beginning
                    <textarea
                        rows={2}
                        spellcheck={false}
                        value={beginning.value}
                        onInput={({ currentTarget }) => (beginning.value = currentTarget.value)}
                    />
                </label>
                <label>
                    Randomness (temperature): {temperature.value.toFixed(2)}
                    <input
                        type="range"
                        min="0"
                        max="2"
                        step="0.05"
                        value={temperature.value}
                        onInput={({ currentTarget }) => (temperature.value = Number(currentTarget.value))}
                    />
                </label>
                <label>
                    Seed
                    <input
                        type="number"
                        min="0"
                        max="999999"
                        value={seed.value}
                        onInput={({ currentTarget }) =>
                            (seed.value = Math.max(0, Math.floor(Number(currentTarget.value) || 0)))
                        }
                    />
                </label>
                <div class="write-go">
                    <button type="submit" class={trained.value ? 'primary' : ''}>
                        Write
                    </button>
                    <button type="button" disabled={!texts.value.size} onClick={goOnOrStop}>
                        {writing.value ? 'Stop' : 'Write more'}
                    </button>
                    <button
                        type="button"
                        onClick={() => {
                            seed.value++;
                            begin();
                        }}
                    >
                        Another seed
                    </button>
                </div>
            </form>
            <div class="write">
                {writers.value.map((entry) => (
                    <Writer key={entry.ticket} entry={entry} />
                ))}
            </div>
            <p class="say">
                The same seed and weights write the same text, here and with <code>seqmix generate</code>.
                While a run trains, its text is written with the current weights. Below each text: lines that
                it wrote as training went on.
            </p>
        </>
    );
}

/** Bytes as characters, each with the surprise of its bytes. */
function characters({ read, given, bits }: Text): { text: string; bits: number }[] {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const all: { text: string; bits: number }[] = [];
    let sum = 0;
    for (let i = given; i < read.length; i++) {
        sum += bits[i - given]!;
        const text = decoder.decode(Uint8Array.of(read[i]!), { stream: true });
        if (!text) continue;
        all.push({ text, bits: sum });
        sum = 0;
    }
    return all;
}

function Writer({ entry }: { entry: Entry }) {
    const text = texts.value.get(entry.ticket);
    const last = text?.last;
    const mean = text?.bits.length ? text.bits.reduce((a, b) => a + b, 0) / text.bits.length : 0;
    return (
        <section class="written">
            <h3>
                <RunName entry={entry} brief />
            </h3>
            {text?.problem && <p class="why">{text.problem}</p>}
            <div class="write-text" tabIndex={0} role="region" aria-label={`What ${nameOf(entry)} writes`}>
                <span class="given">
                    {text
                        ? new TextDecoder().decode(Uint8Array.from(text.read.slice(0, text.given)))
                        : beginning.value}
                </span>
                {text &&
                    characters(text).map(({ text, bits }, i) => (
                        <span
                            key={i}
                            title={`${bits.toFixed(1)} bits`}
                            style={{
                                '--surprise': `${Math.round(SHARE * Math.min(1, bits / DEEPEST))}%`,
                            }}
                        >
                            {text}
                        </span>
                    ))}
            </div>
            {last && (
                <>
                    <table class="likeliest">
                        <caption>What may come next</caption>
                        <tbody>
                            {last.likeliest.map(({ token, odds }) => (
                                <tr key={token}>
                                    <th scope="row">{written(token, entry.values)}</th>
                                    <td>
                                        <span class="bar" style={{ width: `${(100 * odds).toFixed(1)}%` }} />
                                    </td>
                                    <td class="odds">{(100 * odds).toFixed(1)} %</td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                    <p class="say">
                        {mean.toFixed(2)} bits of surprise per letter. <Memory of={last} />
                    </p>
                </>
            )}
            <Words entry={entry} />
        </section>
    );
}

/** What a run wrote as it learnt: a line after steps ever further apart, always of the same seed. */
interface Line {
    readonly step: number;
    readonly text: string;
}
const lines = signal<ReadonlyMap<number, readonly Line[]>>(new Map());
const START = bytesOf('\n');
async function addLine(entry: Entry): Promise<void> {
    const answer = await writeOn(entry, { read: START, count: LINE, temperature: 0.6, seed: 1 });
    if (!answer || isProblem(answer)) return;
    const text = new TextDecoder().decode(Uint8Array.from(answer.tokens)).replace(/\s+/g, ' ').trim();
    const before = lines.peek().get(entry.ticket) ?? [];
    if (before.at(-1)?.step === answer.step) return;
    lines.value = new Map(lines.peek()).set(entry.ticket, [...before, { step: answer.step, text }]);
}
function Words({ entry }: { entry: Entry }) {
    const { status, step } = entry.live.value;
    const all = lines.value.get(entry.ticket) ?? [];
    const last = all.at(-1)?.step ?? -1;
    const due = last < 0 || step >= Math.max(FIRST, 2 * last) || (status === 'done' && step > last);
    const asking = useRef(false);
    useEffect(() => {
        if (!due || asking.current || status === 'opening' || status === 'failed') return;
        asking.current = true;
        void addLine(entry).finally(() => (asking.current = false));
    }, [due, step, status]);
    return (
        <ol class="wrote" aria-label={`What ${nameOf(entry)} wrote as it learnt`}>
            {all.map(({ step, text }) => (
                <li key={step}>
                    <span class="at">step {step}</span> {text}
                </li>
            ))}
        </ol>
    );
}

const inBytes = (n: number): string =>
    n < 1e6 ? `${(n / 1e3).toFixed(1)} KB` : `${(n / 1e6).toFixed(1)} MB`;
function Memory({ of: { bytes, most, rows } }: { of: Remembered }) {
    return (
        <>
            {most === null
                ? `Its memory of ${rows} tokens: ${inBytes(bytes)}, however long the text.`
                : `It keeps all ${rows} tokens${most > rows ? `, in room for ${most}` : ''}: ${inBytes(bytes)}, and this grows with every token, since it looks back at all of them.`}
        </>
    );
}

// ---- Samples

const sample = signal(0);

function Samples() {
    return (
        <>
            <Transport second />
            <p class="row write-sample">
                <button type="button" onClick={() => sample.value++}>
                    Another example
                </button>
                <span class="say">
                    Example {counted(sample.value)}, read token by token; the answer stands below the token
                    that asks.
                </span>
            </p>
            <div class="write">
                {runs.value.slice(0, MOST).map((entry) => (
                    <Reciter key={`${entry.ticket} ${sample.value}`} entry={entry} />
                ))}
            </div>
        </>
    );
}

function Reciter({ entry }: { entry: Entry }) {
    const [answer, show] = useState<Recited | string | null>(null);
    const [rows, reach] = useState(0);
    useEffect(() => {
        let open = true;
        let timer = 0;
        const again = async () => {
            const told = await recite(entry, sample.peek());
            if (!open) return;
            show(!told ? 'this run is not open' : isProblem(told) ? told.problem.message : told);
            timer = window.setTimeout(() => void again(), 1000); // it may train
        };
        void again();
        return () => {
            open = false;
            clearTimeout(timer);
        };
    }, [entry.ticket]);
    const length = answer && typeof answer === 'object' ? answer.read.length : 0;
    const seen = answer && typeof answer === 'object' ? answer.targets.slice(0, rows) : [];
    useEffect(() => {
        if (rows >= length) return;
        const timer = setTimeout(() => reach(rows + 1), ROW);
        return () => clearTimeout(timer);
    }, [rows, length]);
    return (
        <section class="written">
            <h3>
                <RunName entry={entry} brief />
            </h3>
            {typeof answer === 'string' && <p class="why">{answer}</p>}
            {answer && typeof answer === 'object' && (
                <>
                    <ol class="recited" aria-label={`Rows that ${nameOf(entry)} reads`}>
                        {answer.read.slice(0, rows).map((token, i) => (
                            <li key={i}>
                                <span class={answer.own[i] ? 'own' : ''}>{written(token, entry.values)}</span>
                                {answer.targets[i]! >= 0 && (
                                    <span class={answer.answers[i] === answer.targets[i] ? 'right' : 'wrong'}>
                                        {answer.answers[i] === answer.targets[i] ? '✓' : '✗'}
                                        {written(answer.answers[i], entry.values)}
                                    </span>
                                )}
                            </li>
                        ))}
                    </ol>
                    <p class="say">
                        {seen.filter((wanted, i) => wanted >= 0 && wanted === answer.answers[i]).length} of{' '}
                        {seen.filter((wanted) => wanted >= 0).length} right at step {answer.step}.{' '}
                        {answer.own.some(Boolean) &&
                            'Underlined: its own earlier answer, not part of the input. '}
                        <Memory of={answer} />
                    </p>
                </>
            )}
        </section>
    );
}
