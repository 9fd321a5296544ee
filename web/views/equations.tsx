// equations.tsx: the view Equations: a mixer's text, what is wrong with it, its graph, its check, and its way
// into the race.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import about from 'virtual:equations';
import type { EquationSteps } from '../../wasm/loader/verify.ts';
import { counted } from '../core/figures.ts';
import { still } from '../core/prefs.ts';
import { asking } from '../training/proofs.ts';
import type { Problem } from '../training/protocol.ts';
import {
    begin,
    config,
    draft,
    editing,
    replaced,
    residual,
    trainBeside,
    trained,
    write,
} from '../state/views/equations.ts';
import { begun, groups, lab, runs, selected } from '../state/page.ts';
import { taskTitle } from '../state/setup.ts';
import { openView, setView } from '../state/viewing.ts';
import { scoreText, titleOfText } from '../state/wording.ts';
import { CurvesView } from './experiment/curves.tsx';
import { Favours } from './experiment/favours.tsx';
import { Checked } from './equations/checked.tsx';
import type { Editor, Fault } from './equations/editor.ts';
import { Graph } from './equations/graph.tsx';
import { Help } from './equations/help.tsx';
import { Remembered } from './equations/remembered.tsx';
import { Transport } from './frame/transport.tsx';
import '../styles/views/equations.css';

const STARTS = [...about.builtIns, ...about.examples];
const FUNCTIONS: ReadonlySet<string> = new Set([...about.operations.map(({ name }) => name), 'start']);

/** What the engine says of a text, with its place. */
function faultOf(message: string): Fault {
    const found = /^eq, line (\d+), column (\d+): ([^]*)$/.exec(message);
    return found
        ? { line: Number(found[1]), column: Number(found[2]), sentence: found[3]! }
        : { line: 0, column: 0, sentence: message };
}

/** The steps of the text as it stands, the last that there were, and what is wrong. */
function useSteps(text: string) {
    const [known, setKnown] = useState<{
        of: string;
        steps: EquationSteps | null;
        /** The text that these steps are of. */
        valid: string;
        fault: Fault | null;
    }>({ of: '', steps: null, valid: '', fault: null });
    const state = useRef({ busy: false, next: '', gone: false });
    useEffect(() => {
        const mine = state.current;
        mine.gone = false;
        return () => void (mine.gone = true);
    }, []);
    useEffect(() => {
        const mine = state.current;
        mine.next = text;
        if (mine.busy) return;
        mine.busy = true;
        void (async () => {
            while (mine.next && !mine.gone) {
                const of = mine.next;
                mine.next = '';
                try {
                    const steps = await asking((v) => v.equationSteps(of));
                    if (!mine.gone) setKnown({ of, steps, valid: of, fault: null });
                } catch (error) {
                    const fault = faultOf((error as Error).message);
                    if (!mine.gone) setKnown((before) => ({ ...before, of, fault }));
                }
            }
            mine.busy = false;
        })();
    }, [text]);
    return { ...known, current: known.of === text };
}

const SETTLED = 2000; // milliseconds after which nothing above it grows any more
/** To the top of the screen, and kept there while what stands above still grows, unless the visitor moves. */
function bring(one: HTMLElement): void {
    const moves = ['wheel', 'touchstart', 'pointerdown', 'keydown'];
    let timer = 0;
    const end = () => {
        grown.disconnect();
        clearTimeout(timer);
        moves.forEach((move) => removeEventListener(move, end));
    };
    const grown = new ResizeObserver(() => {
        one.scrollIntoView({ block: 'start', behavior: still() ? 'auto' : 'smooth' });
        clearTimeout(timer);
        timer = window.setTimeout(end, SETTLED);
    });
    grown.observe(one.parentElement!); // (tells its size at once)
    moves.forEach((move) => addEventListener(move, end, { passive: true }));
}

export default function Equations() {
    useEffect(() => editing(STARTS[0]!), []);
    const asked = config.value;
    const { steps, valid, fault, current } = useSteps(draft.value ? asked : '');
    const [word, setWord] = useState('');
    const good = current && !fault;
    const empty = draft.value.trim() === '';
    // What was asked to train is brought into sight, once.
    const race = useRef<HTMLElement>(null);
    const shown = useRef(false);
    useEffect(() => {
        if (!shown.current || !race.current) return;
        shown.current = false;
        bring(race.current);
    });
    return (
        <div class="equations" data-state={!current ? 'asking' : fault ? 'wrong' : 'right'}>
            <div class="equations-write">
                <Start />
                <Text fault={fault} at={setWord} />
                <p class={fault && !empty ? 'why' : 'say'} role="status">
                    {empty
                        ? 'Write an equation: x is the input; the result is the line that assigns y, or else the last one.'
                        : fault
                          ? fault.line
                              ? `Line ${fault.line}, column ${fault.column}: ${fault.sentence}.`
                              : `${fault.sentence}.`
                          : steps
                            ? `${steps.steps.length} ${steps.steps.length === 1 ? 'operation' : 'operations'}, ${counted(countWeights(steps))} weights in the mixer.`
                            : 'Reading …'}
                </p>
                <Train ready={good} done={() => (shown.current = true)} />
                <Trained />
                <Alike />
                <p class="say">
                    The text uses the task and the model of the selected run
                    {selected.value && ` (${taskTitle(lab(), selected.value.values)}, width `}
                    {selected.value &&
                        `${selected.value.values['width']}, heads ${selected.value.values['heads']})`}
                    . It stays in the address: copy that to share it.
                </p>
                <Help word={word} steps={steps} text={draft.value} />
            </div>
            <div class="equations-seen">
                {empty ? (
                    <p class="say">
                        The graph of the text, and its check, appear here as you write. To take a built-in
                        mixer apart, choose it under “Begin with”.
                    </p>
                ) : (
                    <>
                        {steps && <Graph steps={steps} stale={!good} />}
                        {steps && <Remembered steps={steps} stale={!good} />}
                        <Checked config={asked} ready={good} text={draft.value} graphed={valid} />
                    </>
                )}
            </div>
            {begun.value && (
                <section class="equations-race" aria-label="Training" ref={race}>
                    <Transport />
                    <CurvesView />
                </section>
            )}
        </div>
    );
}

/** The button that trains the text beside the other runs, and why that was refused. */
function Train({ ready, done }: { ready: boolean; done: () => void }) {
    const [refused, refuse] = useState<Problem | null>(null);
    useEffect(() => refuse(null), [config.value]);
    return (
        <>
            <div class="row">
                <button
                    type="button"
                    class="primary"
                    disabled={!ready}
                    onClick={() => {
                        const problem = trainBeside();
                        refuse(problem);
                        if (!problem) done();
                    }}
                >
                    Train this
                </button>
                <label class="equations-adds">
                    <input
                        type="checkbox"
                        checked={residual.value === 1}
                        onChange={({ currentTarget }) => setView({ residual: currentTarget.checked ? 1 : 0 })}
                    />
                    residual connection
                </label>
            </div>
            {refused && (
                <p class="why" role="alert">
                    {refused.message}.
                </p>
            )}
        </>
    );
}

function countWeights({ steps }: EquationSteps): number {
    const sizes = new Map(
        steps.flatMap(({ weights }) =>
            weights.map(({ name, shape }) => [name, shape.reduce((a, b) => a * b, 1)] as const),
        ),
    );
    return [...sizes.values()].reduce((a, b) => a + b, 0);
}

/** The list of texts to begin with. */
function Start() {
    const choose = (value: string) => {
        const chosen = STARTS[Number(value)];
        if (value === 'none') begin('\n', 1);
        else if (chosen) begin(chosen.text, chosen.residual);
    };
    const group = (list: typeof STARTS, first: number) =>
        list.map(({ title }, i) => (
            <option key={title} value={first + i}>
                {title}
            </option>
        ));
    return (
        <label class="equations-start">
            Begin with
            <select
                value=""
                onChange={({ currentTarget }) => (choose(currentTarget.value), (currentTarget.value = ''))}
            >
                <option value="">choose a text …</option>
                <option value="none">an empty page</option>
                <optgroup label="Built in">{group(about.builtIns, 0)}</optgroup>
                <optgroup label="In no paper">{group(about.examples, about.builtIns.length)}</optgroup>
            </select>
        </label>
    );
}

/** An emptied text is kept as an empty line; the editor shows its placeholder then. */
const inEditor = () => (draft.peek() === '\n' ? '' : draft.peek());
/** The editor, which is fetched; until then the text alone. */
function Text({ fault, at }: { fault: Fault | null; at: (word: string) => void }) {
    const host = useRef<HTMLDivElement>(null);
    const [editor, setEditor] = useState<Editor | null>(null);
    const [problem, setProblem] = useState('');
    const text = draft.value;
    const hears = useMemo(() => ({ changed: write, at }), []);
    useEffect(() => {
        let gone = false;
        let opened: Editor | null = null;
        void import('./equations/editor.ts').then(
            ({ openEditor }) => {
                if (gone || !host.current) return;
                opened = openEditor(host.current, 'Equations of the mixer', inEditor(), FUNCTIONS, hears);
                setEditor(opened);
            },
            (error: Error) => setProblem(error.message),
        );
        return () => {
            gone = true;
            opened?.close();
        };
    }, []);
    useEffect(() => editor?.setText(inEditor()), [editor, replaced.value]);
    useEffect(() => editor?.setFault(fault?.line ? fault : null), [editor, fault]);
    return (
        <>
            <div ref={host} class="editor" data-editor />
            {problem && (
                <>
                    <p class="why" role="alert">
                        The editor could not be loaded ({problem}); plain text works, too.
                    </p>
                    <textarea
                        rows={12}
                        spellcheck={false}
                        aria-label="Equations of the mixer"
                        value={text}
                        onInput={({ currentTarget }) => write(currentTarget.value)}
                    />
                </>
            )}
        </>
    );
}

/** How the run of this very text stands. */
function Trained() {
    const entry = trained.value;
    if (!entry) return null;
    const { status, step, steps, problem } = entry.live.value;
    return (
        <p class={status === 'failed' ? 'why' : 'say'}>
            {status === 'failed'
                ? `It cannot be trained: ${problem?.message}.`
                : `It trains as run ${runs.value.indexOf(entry) + 1} of ${runs.value.length} (${titleOfText(draft.value)}): step ${step} of ${steps}, accuracy ${scoreText(entry, step)}.`}{' '}
            <button type="button" class="link" onClick={() => openView('experiment')}>
                Go to the experiment
            </button>
        </p>
    );
}

/** Settings of training in which this text's run and its rivals differ. */
function Alike() {
    const entry = trained.value;
    const rivals = entry && groups.value.find((entries) => entries.includes(entry));
    return rivals ? <Favours entries={rivals} /> : null;
}
