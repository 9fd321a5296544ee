// recall.tsx: [CAT] Theorem 1 and Corollary 1: what followed the last time? A sequence typed by the reader.
// Long because text, filter, attention and answer are one picture.
import type { Proofs } from '../../training/proofs.ts';
import { useAnswer } from './answer.ts';
import { fixed, show } from '../../core/figures.ts';
import { Drawing } from '../frame/drawing.tsx';
import { Choice, Slider, Switch, TextField } from './controls.tsx';
import { causal, Heat, Problem, Theorem, Verdict } from './parts.tsx';
import { choice, flag, number, text } from './settings.ts';

const LETTERS = 'abcdefgh';
const D = LETTERS.length;
const MOST = 24;
/** A filter of N taps for which the filtered N-grams of orthonormal letters stay apart. */
const FILTERS: readonly (readonly number[])[] = [[1], [1, 0.6], [1, 0.6, 0.35]];

const typed = text('text', 'ahcbdgabecfab', new RegExp(`^[${LETTERS}]{2,${MOST}}$`));
const grams = choice('n', '2', ['1', '2', '3'] as const);
const sharp = number('c', 60, 0, 300);
const filtered = flag('filter', true);
const delay = choice('delay', 'key', ['key', 'value'] as const);

/** Where the last N letters stood before; several: the claim says nothing. */
function copies(sequence: string, N: number): number[] {
    const query = sequence.slice(-N);
    const found = [];
    for (let end = N - 1; end < sequence.length - 1; end++)
        if (sequence.slice(end - N + 1, end + 1) === query) found.push(end);
    return sequence.length > N ? found : [];
}
/** How many such copies there are; of one alone: its place, and the letter after it. */
function successor(sequence: string, N: number) {
    const places = copies(sequence, N);
    const place = places.length === 1 ? places[0]! : null;
    return { places: places.length, place, wanted: place === null ? null : sequence[place + 1]! };
}
const embed = (sequence: string) => {
    const x = new Float64Array(sequence.length * D);
    [...sequence].forEach((letter, t) => (x[t * D + LETTERS.indexOf(letter)] = 1));
    return x;
};

async function answer(v: Proofs, sequence: string, N: number, c: number, how: 'off' | 'key' | 'value') {
    const x = embed(sequence);
    const L = sequence.length;
    if (how === 'off') {
        const q = x.map((value) => value * c * Math.sqrt(D));
        return v.attention(q, x, x, L, D, 'float32');
    }
    return v.recall({ x, L, D, filter: FILTERS[N - 1]!, c, delay: how, maskStarts: true }, 'float32');
}
/** Euclidean distance of the last row from the letter's embedding. */
function errorOf(y: Float64Array, L: number, letter: string): number {
    let sum = 0;
    for (let j = 0; j < D; j++) sum += (y[(L - 1) * D + j]! - (LETTERS[j] === letter ? 1 : 0)) ** 2;
    return Math.sqrt(sum);
}

interface Asked {
    sequence: string;
    N: number;
    how: string;
}
const same = (a: Asked, b: Asked) => a.sequence === b.sequence && a.N === b.N && a.how === b.how;

const GRID = Array.from({ length: 31 }, (_, i) => 10 * i);

/** What is asked, and of which block. */
function Controls() {
    return (
        <>
            <div class="theorem-controls">
                <TextField
                    label={`Letters a–h, 2 to ${MOST}`}
                    value={typed.value}
                    clean={(raw) =>
                        [...raw.toLowerCase()]
                            .filter((c) => LETTERS.includes(c))
                            .join('')
                            .slice(0, MOST)
                    }
                    good={(clean) => clean.length >= 2}
                    set={typed.set}
                />
                <Choice
                    label="The last N letters ask"
                    value={grams.value}
                    choices={[
                        ['1', 'N = 1'],
                        ['2', 'N = 2'],
                        ['3', 'N = 3'],
                    ]}
                    set={grams.set}
                />
                <Choice
                    label="What is delayed"
                    value={delay.value}
                    choices={[
                        ['key', 'keys (causal)'],
                        ['value', 'values (of the letter after)'],
                    ]}
                    set={delay.set}
                />
                <Switch label="filter on" on={filtered.value} set={filtered.set} />
            </div>
            <Slider
                label="c, how sharply it compares"
                value={sharp.value}
                min={0}
                max={300}
                step={1}
                set={sharp.set}
            />
        </>
    );
}

export function Recall() {
    const sequence = typed.value;
    const N = Number(grams.value);
    const how = filtered.value ? delay.value : 'off';
    const { value: found, problem } = useAnswer(
        async (v) => {
            const table = embed(LETTERS);
            const [now, rho] = await Promise.all([
                answer(v, sequence, N, sharp.value, how),
                v.wrongCosine(table, D, [...FILTERS[N - 1]!]),
            ]);
            return { ...now, rho, sequence, how, N, c: sharp.value };
        },
        [sequence, N, sharp.value, how],
    );
    const { value: swept } = useAnswer(
        async (v) => {
            const { wanted } = successor(sequence, N);
            if (wanted === null) return null;
            const errors = [];
            for (const c of GRID) {
                const { y } = await answer(v, sequence, N, c, how);
                errors.push(errorOf(y, sequence.length, wanted));
            }
            return { errors, sequence, N, how };
        },
        [sequence, N, how],
    );
    // What is shown is of what was asked, not of what is typed by now.
    const after = found && successor(found.sequence, found.N);
    return (
        <Theorem
            id="recall"
            title="CAT recalls"
            source={
                <>
                    CAT, Theorem 1 and Corollary 1. One block whose keys pass a short filter returns what
                    followed the earlier copy of the last N letters, with error below 4L e<sup>−c(1−ρ)</sup>,
                    where ρ is the best wrong cosine.
                </>
            }
        >
            <Controls />
            {found && after && (
                <>
                    <Arcs map={found.map} sequence={found.sequence} N={found.N} place={after.place} />
                    <div class="theorem-grid">
                        <Answers y={found.y} L={found.sequence.length} wanted={after.wanted} />
                        <Heat
                            title="Attention, all rows"
                            values={causal(found.map, found.sequence.length)}
                            rows={found.sequence.length}
                            columns={found.sequence.length}
                            top={1}
                            rest="The last row answers."
                            of={(i, j, value) =>
                                `${found.sequence[i]} (row ${i}) looks at ${found.sequence[j]} (row ${j}): ${show(value)}`
                            }
                        />
                        <Errors
                            errors={swept && same(swept, found) ? swept.errors : null}
                            c={sharp.value}
                            rho={found.rho}
                            L={found.sequence.length}
                            bounded={found.how !== 'off'}
                        />
                    </div>
                    <Said found={found} wanted={after.wanted} places={after.places} />
                </>
            )}
            <Problem problem={problem} />
        </Theorem>
    );
}

/** A letter under the arcs; `gram`: one of those that are compared; `answer`: the one after the copy. */
function Letter(props: {
    letter: string;
    x: number;
    base: number;
    step: number;
    gram: boolean;
    answer: boolean;
}) {
    const { letter, x, base, step, gram, answer } = props;
    return (
        <g>
            {gram && <rect class="gram" x={x - step / 2 + 1} y={base + 3} width={step - 2} height={22} />}
            <text class={`letter ${answer ? 'answer' : ''}`} x={x} y={base + 19} text-anchor="middle">
                {letter}
            </text>
            {answer && <line class="under" x1={x - 6} x2={x + 6} y1={base + 26} y2={base + 26} />}
        </g>
    );
}
/** Where the last letter looks, as arcs over the sequence. */
function Arcs({
    map,
    sequence,
    N,
    place,
}: {
    map: Float64Array;
    sequence: string;
    N: number;
    place: number | null;
}) {
    const L = sequence.length;
    const row = Array.from(map.slice((L - 1) * L));
    const best = row.indexOf(Math.max(...row));
    return (
        <Drawing
            class="arcs"
            height={(width) => Math.min(150, 50 + width * 0.12)}
            label={`The last letter looks at row ${best}, ${sequence[best]}, with weight ${show(row[best]!)}.`}
        >
            {(width, tall) => {
                const step = Math.min(40, width / L);
                const left = (width - step * L) / 2;
                const x = (t: number) => left + (t + 0.5) * step;
                const base = tall - 30;
                return (
                    <>
                        {row.map((weight, t) =>
                            weight > 0.004 && t < L - 1 ? (
                                <path
                                    key={t}
                                    class="arc"
                                    d={`M${x(L - 1)} ${base}C${x(L - 1)} ${base - arc(L - 1 - t, L, base)} ${x(t)} ${base - arc(L - 1 - t, L, base)} ${x(t)} ${base}`}
                                    stroke-width={0.5 + 7 * weight}
                                    opacity={0.25 + 0.75 * weight}
                                />
                            ) : null,
                        )}
                        {row[L - 1]! > 0.004 && (
                            <circle class="self" cx={x(L - 1)} cy={base - 9} r={1 + 7 * row[L - 1]!} />
                        )}
                        {[...sequence].map((letter, t) => {
                            const query = t >= L - N;
                            const copy = place !== null && t > place - N && t <= place;
                            return (
                                <Letter
                                    key={t}
                                    letter={letter}
                                    x={x(t)}
                                    base={base}
                                    step={step}
                                    gram={copy || query}
                                    answer={place !== null && t === place + 1}
                                />
                            );
                        })}
                    </>
                );
            }}
        </Drawing>
    );
}
const arc = (distance: number, L: number, base: number) =>
    (base - 8) * (0.3 + 1.03 * Math.sqrt(distance / L));

function Answers({ y, L, wanted }: { y: Float64Array; L: number; wanted: string | null }) {
    return (
        <figure class="answers">
            <figcaption>The last row’s output, letter by letter</figcaption>
            <ul>
                {[...LETTERS].map((letter, j) => {
                    const value = y[(L - 1) * D + j]!;
                    return (
                        <li key={letter} class={letter === wanted ? 'wanted' : ''}>
                            <span class="token">{letter}</span>
                            <meter
                                min={0}
                                max={1}
                                value={Math.max(0, Math.min(1, value))}
                                aria-label={`${letter}: ${show(value)}`}
                            />
                            <span class="number">{fixed(value, 3)}</span>
                        </li>
                    );
                })}
            </ul>
        </figure>
    );
}

/** Error over c on a logarithmic scale, with the bound. */
function Errors({
    errors,
    c,
    rho,
    L,
    bounded,
}: {
    errors: number[] | null;
    c: number;
    rho: number;
    L: number;
    bounded: boolean;
}) {
    const low = -8;
    const bound = (at: number) => Math.log10(4 * L) - at * (1 - rho) * Math.LOG10E;
    return (
        <figure>
            <figcaption>Error over c, powers of ten</figcaption>
            <Drawing height={196} label="Error of the answer over c, measured and bounded">
                {(width, tall) => {
                    const x = (at: number) => 36 + (at / 300) * (width - 48);
                    const y = (power: number) =>
                        8 + ((1 - Math.max(low, Math.min(1, power))) / (1 - low)) * (tall - 32);
                    const line = (power: (at: number) => number) =>
                        GRID.map(
                            (at, i) => `${i ? 'L' : 'M'}${x(at).toFixed(1)} ${y(power(at)).toFixed(1)}`,
                        ).join('');
                    return (
                        <>
                            {[0, -2, -4, -6, -8].map((power) => (
                                <g key={power} class="axis-line">
                                    <line x1={36} x2={width - 12} y1={y(power)} y2={y(power)} />
                                    <text x={30} y={y(power)} text-anchor="end" dominant-baseline="central">
                                        {power ? `10${'⁻'}${'⁰¹²³⁴⁵⁶⁷⁸'[-power]}` : '1'}
                                    </text>
                                </g>
                            ))}
                            {[0, 100, 200, 300].map((at) => (
                                <text key={at} class="foot" x={x(at)} y={tall - 6} text-anchor="middle">
                                    {at}
                                </text>
                            ))}
                            {bounded && <path class="line bound" d={line(bound)} />}
                            {errors && (
                                <path
                                    class="line one"
                                    d={line((at) => Math.log10(Math.max(1e-9, errors[Math.round(at / 10)]!)))}
                                />
                            )}
                            <line class="now" x1={x(c)} x2={x(c)} y1={8} y2={tall - 24} />
                        </>
                    );
                }}
            </Drawing>
            <p class="read">
                <span class="key one">— measured</span>
                {bounded && <span class="key muted"> ┄ bound</span>}; below 6·10⁻⁸ float32 has no more digits.
            </p>
        </figure>
    );
}

function Said(props: {
    found: Asked & { y: Float64Array; rho: number; c: number };
    wanted: string | null;
    places: number;
}) {
    const { found, wanted, places } = props;
    const { sequence, N, c, rho, how } = found;
    const L = sequence.length;
    const query = sequence.slice(-N);
    if (wanted === null)
        return (
            <Verdict holds={null}>
                {places
                    ? `${query} occurred ${places} times before: the theorem assumes exactly one earlier copy.`
                    : `${query} did not occur before, so nothing can be recalled. Type it once more.`}
            </Verdict>
        );
    const error = errorOf(found.y, L, wanted);
    if (how === 'off')
        return (
            <Verdict holds={error < 0.1}>
                Without the filter every letter matches itself best and returns itself: error{' '}
                <b class="number">{show(error)}</b>, at every c.
            </Verdict>
        );
    const bound = 4 * L * Math.exp(-c * (1 - rho)) + 8 * c * 2 ** -24;
    return (
        <Verdict holds={error <= bound}>
            {query} was followed by {wanted}. Error <b class="number">{show(error)}</b>, bound{' '}
            <span class="number">{show(bound)}</span> (ρ = {show(rho)}; c·2⁻²¹ of it is float32’s rounding)
            {bound > 1
                ? '; it says something from c ≈ ' + Math.ceil(Math.log(4 * L) / (1 - rho)) + ' on'
                : ''}
            .
        </Verdict>
    );
}
