// remembered.tsx: what a text's scan holds after each row of a sample: its states as pictures, row by row.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { EquationSteps, ScanState } from '../../../wasm/loader/verify.ts';
import type { Values } from '../../core/config.ts';
import { counted as grouped, show } from '../../core/figures.ts';
import { written } from '../../core/tokens.ts';
import { STATE_SIDE, type ScanRead } from '../../training/protocol.ts';
import { config, seenScan, trained } from '../../state/views/equations.ts';
import { selected, view } from '../../state/page.ts';
import { setView } from '../../state/viewing.ts';
import { Matrix } from '../inside/matrix.tsx';
import { counted, SampleNumber, Stepper } from '../frame/stepper.tsx';
import { OfBefore } from './graph.tsx';

const BESIDE = 6; // tokens that are written before and after the one that was read

/** Of the text: a scan, and the number that it has among those whose result has no name. */
interface Scan {
    name: string;
    nth: number;
    line: number;
    states: readonly ScanState[];
}
function scansOf({ steps }: EquationSteps): Scan[] {
    let nth = 0;
    return steps
        .filter(({ states }) => states.length > 0)
        .map(({ name, line, states }) => ({ name, line, states, nth: name ? 0 : nth++ }));
}
const titleOf = ({ states }: Scan) => states.map(({ name }) => name).join(', ');
const headsOf = ({ states }: Scan) =>
    states.some(({ shape }) => shape.length > 1) ? states[0]!.shape[0]! : 1;

/** What came, with what was asked. */
interface Known {
    what: string;
    step: number;
    scan: Scan;
    head: number;
    sample: number;
    answer: ScanRead | string;
}
/** Asked again whenever `what` or the step is another, one question at a time: for a new step alone a tenth
 * of the time. */
function useRead(scan: Scan, head: number, stale: boolean): Known | null {
    const [known, setKnown] = useState<Known | null>(null);
    const [turns, turn] = useState(0);
    const busy = useRef(false);
    const rested = useRef(0); // when a new step may be asked for
    const { block, sample } = view.value;
    const step = trained.value?.live.value.step ?? 0;
    const what = JSON.stringify([config.value, scan, sample, block, head]);
    useEffect(() => {
        if (busy.current || stale || (known?.what === what && known.step === step)) return;
        const start = performance.now();
        if (known?.what === what && start < rested.current) {
            const timer = setTimeout(() => turn((n) => n + 1), rested.current - start);
            return () => clearTimeout(timer);
        }
        busy.current = true;
        void seenScan({ index: sample, block, head, ...scan })
            .catch((error: Error) => error.message)
            .then((answer) => {
                busy.current = false;
                rested.current = performance.now() + 9 * (performance.now() - start);
                setKnown({ what, step, scan, head, sample, answer });
            });
        return undefined;
    }, [what, step, stale, known, turns]);
    return known;
}

export function Remembered({ steps, stale }: { steps: EquationSteps; stale: boolean }) {
    const [number, choose] = useState(0);
    const scans = scansOf(steps);
    const scan = scans[Math.min(number, scans.length - 1)];
    return scan ? <OfScan {...{ scans, scan, stale, choose }} /> : null;
}

interface OfScanProps {
    scans: readonly Scan[];
    scan: Scan;
    stale: boolean;
    choose: (number: number) => void;
}
function OfScan({ scans, scan, stale, choose }: OfScanProps) {
    const heads = headsOf(scan);
    const head = Math.min(view.value.head, heads - 1);
    const known = useRead(scan, head, stale);
    const read = known && typeof known.answer !== 'string' ? known.answer : null;
    return (
        <section class={`remembered${stale ? ' stale' : ''}`} aria-labelledby="remembered-title">
            <h3 id="remembered-title">What the state holds {stale && <OfBefore />}</h3>
            {read && known && (
                <p class="say">
                    What is kept of example {counted(known.sample)} after each position,{' '}
                    {read.step ? `after ${read.step} steps of training` : 'before training'}; colours mean the
                    same at every position.
                </p>
            )}
            <div class="remembered-choice">
                {scans.length > 1 && (
                    <Choice
                        name="scan"
                        titles={scans.map((one) => `${titleOf(one)} (line ${one.line})`)}
                        chosen={scans.indexOf(scan)}
                        choose={choose}
                    />
                )}
                {read && read.blocks > 1 && (
                    <Choice
                        name="block"
                        titles={Array.from({ length: read.blocks }, (_, i) => `${i + 1}`)}
                        chosen={read.block}
                        choose={(block) => setView({ block })}
                    />
                )}
                {heads > 1 && (
                    <Choice
                        name="head"
                        titles={Array.from({ length: heads }, (_, i) => `${i + 1}`)}
                        chosen={head}
                        choose={(head) => setView({ head })}
                    />
                )}
                <Stepper name="Example" one="example">
                    <span class="number">
                        Example <SampleNumber shown={known?.sample ?? null} />
                    </span>
                </Stepper>
            </div>
            {read && known ? (
                <Rows known={known} read={read} />
            ) : (
                <p class="say">
                    {known ? `The states cannot be shown: ${known.answer as string}.` : 'Reading …'}
                </p>
            )}
        </section>
    );
}

interface ChoiceProps {
    name: string;
    titles: readonly string[];
    chosen: number;
    choose: (number: number) => void;
}
const Choice = ({ name, titles, chosen, choose }: ChoiceProps) => (
    <label>
        {name}{' '}
        <select value={chosen} onChange={({ currentTarget }) => choose(Number(currentTarget.value))}>
            {titles.map((title, i) => (
                <option key={i} value={i}>
                    {title}
                </option>
            ))}
        </select>
    </label>
);

/** The row that is chosen, and the states after it. */
function Rows({ known, read }: { known: Known; read: ScanRead }) {
    const [wanted, setWanted] = useState(Infinity);
    const { tokens, length, rows } = read;
    const at = Math.min(wanted, rows - 1);
    const task = (trained.value ?? selected.value)?.values ?? {};
    const place = `position ${at}${tokens ? `, token ${written(tokens[at], task)}` : ''}`;
    return (
        <>
            <div class="timeline">
                <label>
                    <span>after</span>
                    <input
                        type="range"
                        min={0}
                        max={rows - 1}
                        step={1}
                        value={at}
                        aria-valuetext={place}
                        onInput={({ currentTarget }) => setWanted(Number(currentTarget.value))}
                    />
                    <output class="number">{place}</output>
                </label>
            </div>
            {tokens && <Around tokens={tokens.slice(0, rows)} at={at} task={task} />}
            {rows < length && (
                <p class="say">
                    The first {grouped(rows)} of {grouped(length)} positions.
                </p>
            )}
            <div class="plots">
                {known.scan.states.map((state, i) => (
                    <Picture
                        key={state.name}
                        state={state}
                        {...{ known, read, at, place }}
                        part={read.states[i]!}
                    />
                ))}
            </div>
        </>
    );
}

/** The tokens around the one that was read last. */
function Around({ tokens, at, task }: { tokens: readonly number[]; at: number; task: Values }) {
    const first = Math.max(0, Math.min(at - BESIDE, tokens.length - 1 - 2 * BESIDE));
    return (
        <ol class="remembered-tokens number" aria-hidden="true">
            {tokens.slice(first, first + 2 * BESIDE + 1).map((token, i) => (
                <li key={first + i} class={first + i === at ? 'now' : first + i > at ? 'later' : ''}>
                    {written(token, task)}
                </li>
            ))}
        </ol>
    );
}

interface PictureProps {
    state: ScanState;
    part: ScanRead['states'][number];
    known: Known;
    read: ScanRead;
    at: number;
    place: string;
}
/** A matrix after that row, or what a vector or the scalars of all heads were after each row. */
function Picture({
    state: { name, shape },
    part: { down, across, data },
    known,
    read,
    at,
    place,
}: PictureProps) {
    const most = useMemo(
        () => data.reduce((top, v) => (Math.abs(v) < Infinity ? Math.max(top, Math.abs(v)) : top), 0),
        [data],
    );
    const matrix = shape.length === 3;
    const size = down * across;
    const now = data.subarray(at * size, (at + 1) * size);
    const before = data.subarray((at - 1) * size, at * size);
    const first = Math.max(0, Math.min(at - STATE_SIDE / 2, read.rows - STATE_SIDE));
    const count = Math.min(STATE_SIDE, read.rows);
    const window = count < read.rows ? `positions ${first} to ${first + count - 1}` : 'each position';
    const whole = matrix ? shape.slice(1) : shape.slice(-1);
    const cut = whole.some((n) => n > STATE_SIDE);
    const of = shape.length > 1 && shape[0]! > 1 ? ` of head ${known.head + 1}` : '';
    return (
        <div class="remembered-state">
            {matrix ? (
                <Matrix
                    label={`${name}${of} after ${place}`}
                    values={now}
                    rows={down}
                    columns={across}
                    top={most}
                    signed
                    square={down <= 2 * across && across <= 2 * down}
                />
            ) : (
                <Matrix
                    label={`${name}${of} after ${window}`}
                    values={data.subarray(first * size, (first + count) * size)}
                    rows={count}
                    columns={across}
                    top={most}
                    signed
                    row="position"
                    column={shape.length === 1 ? 'head' : 'column'}
                    from={first}
                    mark={at}
                />
            )}
            <p class="say">
                Norm of {name}: {show(norm(now))}
                {at > 0 &&
                    `; of its change at this position: ${show(norm(now.map((v, i) => v - before[i]!)))}`}
                .
                {cut &&
                    ` Shown and counted: the first ${matrix ? `${down} × ${across}` : across} of ${whole.join(' × ')} numbers.`}
            </p>
        </div>
    );
}
const norm = (values: Float32Array) => Math.hypot(...values);
