// board.tsx: the view Board: four mechanisms on three tasks, twelve runs to the end, each a cell that says
// how far it came and whether that is what is claimed of it.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Sample } from '../../wasm/loader/seqmix.ts';
import type { Values } from '../core/config.ts';
import { counted, percent } from '../core/figures.ts';
import { promised } from '../core/expect.ts';
import { isKey, written } from '../core/tokens.ts';
import {
    atOnce,
    atRun,
    board,
    cellKey,
    insideOf,
    isRunning,
    lookInto,
    news,
    lookIntoNamed,
    openBoard,
    openCell,
    runBoard,
    seenInside,
    stopBoard,
    takeOver,
    tally,
    verdictOf,
    type Cell,
} from '../state/views/board.ts';
import { lab, view } from '../state/page.ts';
import { mixerTitle } from '../state/setup.ts';
import type { Look } from '../training/protocol.ts';
import { FlowPart } from './inside/flow_part.tsx';
import { Image } from './inside/inside.tsx';
import { MarkSign } from './frame/mark.tsx';
import { questionsOf } from './inside/sample.tsx';
import '../styles/views/board.css';

const [WIDTH, HEIGHT] = [96, 44];

export default function Board() {
    const named = view.value.view === 'board' ? view.value.detail : null;
    useEffect(() => {
        openBoard();
        if (named !== null) lookIntoNamed(named);
    }, [named]);
    return (
        <div class="board">
            <div class="board-head">
                <RunButton />
                <p role="status">
                    <Said />
                </p>
            </div>
            <div class="columns">
                {board.value?.map(({ name, asks, cells }) => (
                    <section key={name} aria-labelledby={`board-${name}`}>
                        <h3 id={`board-${name}`}>{name}</h3>
                        <p class="say">{asks}</p>
                        <ul>
                            {cells.map((cell) => (
                                <li key={cell.values['mixer']}>
                                    <CellView cell={cell} />
                                    <button
                                        type="button"
                                        class="quiet cell-inside"
                                        aria-pressed={insideOf.value === cell}
                                        aria-label={`How ${mixerTitle(lab(), cell.values)} answers: ${name}`}
                                        onClick={() => lookInto(insideOf.value === cell ? null : cell)}
                                    >
                                        How
                                    </button>
                                </li>
                            ))}
                        </ul>
                    </section>
                ))}
            </div>
            <p class="say">
                Each cell answers one example: the question → the model’s answer, ✓ right or ✗ wrong. This
                machine trains {atOnce()} at a time, one per core; the others wait for a core.
            </p>
            {insideOf.value && <CellFlow key={cellKey(insideOf.value)} cell={insideOf.value} />}
        </div>
    );
}

const HOLD = 1500; // milliseconds: a press that was aimed at what was read comes within them
/**
 * Starts the board, or stops it. A press does what the label said when it was aimed at: where training begins
 * or ends by itself, the label changes a moment later; where it begins by itself, only once pointer and focus
 * have left the button.
 */
function RunButton() {
    void news.value;
    const running = isRunning();
    const [stops, setStops] = useState(running);
    const held = running && atRun.value;
    useEffect(() => {
        if (running === stops || held) return;
        const timer = setTimeout(() => setStops(running), HOLD);
        return () => clearTimeout(timer);
    }, [running, stops, held]);
    const host = useRef<HTMLButtonElement>(null);
    const at = () => (atRun.value = !!host.current?.matches(':hover, :focus'));
    useEffect(() => {
        at();
        return () => void (atRun.value = false);
    }, []);
    const press = () => {
        if (stops) stopBoard();
        else if (running) takeOver();
        else runBoard(true);
        setStops(!stops);
    };
    return (
        <button
            type="button"
            class="primary"
            ref={host}
            onPointerEnter={at}
            onPointerLeave={at}
            onFocus={at}
            onBlur={at}
            onClick={press}
        >
            {stops ? 'Stop' : !running && tally().judged ? 'Run again' : 'Run'}
        </button>
    );
}

/** How a cell's run answers, as it is now. */
function CellFlow({ cell }: { cell: Cell }) {
    const [look, setLook] = useState<Look | null>(null);
    const [head, setHead] = useState(0);
    const host = useRef<HTMLElement>(null);
    // As often as it was tried.
    void news.value;
    const state = `${cell.status} ${cell.line.length}`;
    useEffect(() => {
        let gone = false;
        void seenInside(cell).then((seen) => {
            if (!gone && seen) setLook(seen);
        });
        return () => void (gone = true);
    }, [state]);
    useEffect(() => host.current!.scrollIntoView({ block: 'nearest' }), [look !== null]);
    return (
        <section class="cell-flow" ref={host} aria-labelledby="cell-flow-title">
            <h3 id="cell-flow-title">
                How {mixerTitle(lab(), cell.values)} answers{look && `, at step ${look.step}`}
            </h3>
            {look ? (
                <FlowPart look={look} values={cell.values} row={null} head={head} setHead={setHead} />
            ) : (
                <p class="say">Looking …</p>
            )}
        </section>
    );
}

function Said() {
    void news.value;
    const { all, judged, held } = tally();
    if (judged === all && all)
        return (
            <>
                {held} of {all} as expected.
            </>
        );
    if (isRunning())
        return (
            <>
                {held} of {all} as expected so far, {judged} trained to the end.
            </>
        );
    return <>Twelve models, trained here in a minute or two.</>;
}

/** What came of a cell: the sign says whether it learnt, its tone whether that is what is claimed. */
function said(cell: Cell): { sign: string; tone: string; words: string } {
    const able = cell.promise.high >= 1;
    const { state } = verdictOf(cell);
    const claim = promised(cell.promise);
    if (state === 'open') return { sign: '', tone: '', words: `expected ${claim}` };
    if (state === 'broken') return { sign: able ? '✗' : '✓', tone: 'broken', words: `not ${claim}` };
    return able
        ? { sign: '✓', tone: 'able', words: `${claim}, as expected` }
        : { sign: '✗', tone: 'unable', words: 'guesses, as expected' };
}

// (A part is drawn anew when a signal that it reads changes.)
function CellView({ cell }: { cell: Cell }) {
    void news.value;
    const { line, values, status, step, params, mark } = cell;
    const steps = Number(values['steps']);
    const now = line[line.length - 1]?.value;
    const { sign, tone, words } = said(cell);
    const x = (at: number) => ((at / steps) * WIDTH).toFixed(1);
    const y = (share: number) => ((1 - share) * HEIGHT).toFixed(1);
    const bound = cell.promise.high >= 1 ? cell.promise.low : cell.promise.high;
    const blocks = Number(values['blocks']);
    return (
        <button
            type="button"
            class={`cell ${tone}`}
            data-status={status}
            data-mixer={values['mixer']}
            data-step={step}
            data-digest={cell.digest}
            title="Open this run"
            onClick={() => void openCell(cell)}
        >
            <span class="cell-name">
                <MarkSign mark={mark} /> {mixerTitle(lab(), values)}
            </span>
            <span class="cell-score number">
                {now === undefined ? '–' : percent(now)}
                {sign && <span class="sign"> {sign}</span>}
            </span>
            <span class="cell-example number">
                {cell.example && <Example sample={cell.example} task={values} />}
            </span>
            <svg
                viewBox={`-1 -2 ${WIDTH + 2} ${HEIGHT + 4}`}
                preserveAspectRatio="none"
                class={mark.colour.slice(2)}
                aria-hidden="true"
            >
                <path class="frame" d={`M0 0V${HEIGHT}H${WIDTH}`} />
                <path class="bound" d={`M0 ${y(bound)}H${WIDTH}`} />
                {line.length > 0 && (
                    <polyline points={line.map((point) => `${x(point.step)},${y(point.value)}`).join(' ')} />
                )}
            </svg>
            <span class="cell-foot">
                {words} ·{' '}
                {status === 'going'
                    ? `step ${step} of ${steps}`
                    : status === 'waiting' && isRunning()
                      ? 'waits for a core'
                      : `${blocks === 1 ? '1 block' : `${blocks} blocks`}${params ? ` · ${counted(params)} weights` : ''}`}
                {status === 'failed' && ' · stopped'}
            </span>
        </button>
    );
}

const MOST = 4; // answers that a cell has room for

/** A held-out sequence: what is asked, the answer, and whether it is right. */
function Example({ sample, task }: { sample: Sample; task: Values }) {
    const { tokens, values, targets, predicted } = sample;
    const asked = questionsOf(sample).slice(0, MOST);
    if (!asked.length) asked.push(0); // one answer for the whole sequence
    return (
        <>
            {values && <Image values={values} />}
            {asked.map((i) => {
                const right = predicted![i] === targets![i];
                return (
                    <span key={i} class={right ? 'right' : 'wrong'}>
                        {isKey(tokens?.[i], task) && `${written(tokens![i], task)} → `}
                        {written(predicted![i], task)} {right ? '✓' : '✗'}
                    </span>
                );
            })}
        </>
    );
}
