// copying.tsx: [CAT] Theorem 3: signals copied in their order by one layer whose queries pass a decaying
// filter, one emitted token after another.
import { useAnswer } from './answer.ts';
import { fixed, show } from '../../core/figures.ts';
import { Drawing } from '../frame/drawing.tsx';
import { Slider, TextField } from './controls.tsx';
import { Problem, Theorem, Verdict } from './parts.tsx';
import { number, text } from './settings.ts';

const SIGNALS = 'abcdefgh';
const S = SIGNALS.length;
const D = S + 3;
const NOISE = S;
const MARKER = S + 1;
const EPSILON = 1e-2;

const body = text('copy', 'd..a...c.b..e', new RegExp(`^[${SIGNALS}.]{1,24}$`));
const step = number('step', 2, 0, 24);

const signalsOf = (given: string) => [...given].filter((c) => c !== '.');

export function Copying() {
    const given = body.value;
    const signals = signalsOf(given);
    const n = signals.length;
    const { value: found, problem } = useAnswer(
        async (v) => {
            const tokens = [...given].map((c) => (c === '.' ? NOISE : SIGNALS.indexOf(c)));
            tokens.push(MARKER);
            const L = tokens.length + n;
            const steps = [];
            for (let i = 0; i <= n; i++) {
                const { answer, query, map, y } = await v.copy(tokens, S, L, EPSILON, 'float32');
                const last = tokens.length - 1;
                steps.push({
                    query: query.slice(last * D, last * D + S),
                    weights: map.slice(last * tokens.length, (last + 1) * tokens.length),
                    answer: answer[last]!,
                    y: y.slice(last * D, last * D + S),
                });
                if (i < n) tokens.push(answer[last]!);
            }
            return { steps, given, L, tokens };
        },
        [given],
    );
    const now = Math.min(step.value, Math.max(0, n - 1));
    return (
        <Theorem
            id="copying"
            title="Copying in order"
            source={
                <>
                    CAT, Theorem 3. A query filter ρ<sup>i</sup> turns the past into ages: the signal not seen
                    for the longest time ranks lowest, is emitted, and becomes the youngest. Holds where no
                    signal occurs twice.
                </>
            }
        >
            <Controls n={n} now={now} />
            {found && found.steps[now] && (
                <>
                    <Strip
                        given={found.given}
                        tokens={found.tokens}
                        now={now}
                        weights={found.steps[now]!.weights}
                    />
                    <div class="theorem-grid">
                        <Ages found={found} now={now} />
                        <Table found={found} now={now} />
                    </div>
                    <Said found={found} />
                </>
            )}
            <Problem problem={problem} />
        </Theorem>
    );
}

/** The signals, and which of the `n` emitted tokens is looked at. */
function Controls({ n, now }: { n: number; now: number }) {
    return (
        <>
            <div class="theorem-controls">
                <TextField
                    label="Signals a–h among noise (.)"
                    value={body.value}
                    clean={(raw) =>
                        [...raw.toLowerCase()]
                            .filter((c) => SIGNALS.includes(c) || c === '.')
                            .join('')
                            .slice(0, 24)
                    }
                    good={(clean) => /[a-h]/.test(clean)}
                    set={(value) => {
                        body.set(value);
                        step.set(0);
                    }}
                />
                <div class="stepper" role="group" aria-label="Emitted token">
                    <button
                        type="button"
                        aria-label="One token back"
                        disabled={now === 0}
                        onClick={() => step.set(now - 1)}
                    >
                        ‹
                    </button>
                    <span class="number">
                        token {now + 1} of {n}
                    </span>
                    <button
                        type="button"
                        aria-label="One token on"
                        disabled={now >= n - 1}
                        onClick={() => step.set(now + 1)}
                    >
                        ›
                    </button>
                </div>
            </div>
            {n > 1 && (
                <Slider
                    label="emitted so far"
                    value={now}
                    min={0}
                    max={n - 1}
                    set={(value) => step.set(value)}
                />
            )}
        </>
    );
}

interface Found {
    given: string;
    L: number;
    tokens: number[];
    steps: { query: Float64Array; weights: Float64Array; answer: number; y: Float64Array }[];
}
const letterOf = (token: number) => (token < S ? SIGNALS[token]! : token === NOISE ? '·' : '⊥');

/** The sequence so far, with the weight on each row under it. */
function Strip({
    given,
    tokens,
    now,
    weights,
}: {
    given: string;
    tokens: number[];
    now: number;
    weights: Float64Array;
}) {
    const rows = given.length + 1 + now;
    const shown = tokens.slice(0, rows);
    return (
        <Drawing
            height={86}
            label={`After ${rows} rows the model looks at row ${weights.indexOf(Math.max(...weights))}.`}
        >
            {(width) => {
                const w = Math.min(34, width / (given.length + 2 + tokens.length - given.length));
                return (
                    <>
                        {shown.map((token, t) => (
                            <g key={t}>
                                {t > given.length && (
                                    <rect class="gram" x={t * w + 1} y={50} width={w - 2} height={24} />
                                )}
                                <rect
                                    class="weight"
                                    x={t * w + w * 0.25}
                                    width={w * 0.5}
                                    y={44 - 40 * weights[t]!}
                                    height={40 * weights[t]!}
                                />
                                <text
                                    class={`letter ${token === NOISE ? 'muted' : ''}`}
                                    x={t * w + w / 2}
                                    y={67}
                                    text-anchor="middle"
                                >
                                    {letterOf(token)}
                                </text>
                            </g>
                        ))}
                        <line class="zero" x1={0} x2={rows * w} y1={44.5} y2={44.5} />
                        <text class="letter answer" x={rows * w + w / 2 + 4} y={67} text-anchor="middle">
                            {letterOf(tokens[rows] ?? NOISE)}
                        </text>
                    </>
                );
            }}
        </Drawing>
    );
}

/** The filter rho^i over the past, and where each signal's last occurrence stands on it. */
function Ages({ found, now }: { found: Found; now: number }) {
    const { L, given, tokens } = found;
    const rows = given.length + 1 + now;
    const rho = 1 - 1 / L;
    const { query, answer } = found.steps[now]!;
    const present = [...new Set(tokens.slice(0, rows).filter((token) => token < S))];
    const low = Math.min(rho ** rows, ...present.map((s) => query[s]!));
    const high = Math.max(1, ...present.map((s) => query[s]!));
    return (
        <figure>
            <figcaption>The filtered query: ρ to the power of each signal’s age</figcaption>
            <Drawing height={212} label="The decaying query filter, with each signal at its age">
                {(width, tall) => {
                    const x = (age: number) => 56 + (age / Math.max(1, rows - 1)) * (width - 72);
                    const y = (value: number) => 24 + ((high - value) / (high - low || 1)) * (tall - 60);
                    const curve = Array.from(
                        { length: rows },
                        (_, age) => `${age ? 'L' : 'M'}${x(age)} ${y(rho ** age)}`,
                    );
                    return (
                        <>
                            {[low, high].map((value) => (
                                <text
                                    key={value}
                                    class="foot"
                                    x={34}
                                    y={y(value)}
                                    text-anchor="end"
                                    dominant-baseline="central"
                                >
                                    {fixed(value, 2)}
                                </text>
                            ))}
                            <path class="line bound" d={curve.join('')} />
                            {present.map((s) => {
                                const age = rows - 1 - tokens.slice(0, rows).lastIndexOf(s);
                                return (
                                    <g key={s} class={s === answer ? 'tone-two' : 'tone-one'}>
                                        <circle class="disc" cx={x(age)} cy={y(query[s]!)} r={4} />
                                        <text
                                            class={`letter ${s === answer ? 'answer' : ''}`}
                                            x={x(age)}
                                            y={y(query[s]!) - 9}
                                            text-anchor="middle"
                                        >
                                            {SIGNALS[s]}
                                        </text>
                                    </g>
                                );
                            })}
                            <text class="foot" x={x(0)} y={tall - 6} text-anchor="middle">
                                now
                            </text>
                            <text class="foot" x={x(rows - 1)} y={tall - 6} text-anchor="end">
                                {rows - 1} rows ago
                            </text>
                        </>
                    );
                }}
            </Drawing>
            <p class="read">ρ = 1 − 1/{L}. The lowest is emitted next.</p>
        </figure>
    );
}

function Table({ found, now }: { found: Found; now: number }) {
    const present = [...new Set(signalsOf(found.given))].map((c) => SIGNALS.indexOf(c));
    return (
        <figure class="scroll" tabIndex={0} aria-label="Queries, token by token">
            <figcaption>Token by token</figcaption>
            <table class="copy-table">
                <thead>
                    <tr>
                        <th scope="col">token</th>
                        {present.map((s) => (
                            <th key={s} scope="col">
                                {SIGNALS[s]}
                            </th>
                        ))}
                        <th scope="col">out</th>
                    </tr>
                </thead>
                <tbody>
                    {found.steps.slice(0, -1).map(({ query, answer }, i) => (
                        <tr key={i} class={i === now ? 'now' : i > now ? 'later' : ''}>
                            <th scope="row">{i + 1}</th>
                            {present.map((s) => (
                                <td key={s} class={s === answer ? 'least' : ''}>
                                    {fixed(query[s]!, 2)}
                                </td>
                            ))}
                            <td class="answer">{SIGNALS[answer]}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </figure>
    );
}

function Said({ found }: { found: Found }) {
    const signals = signalsOf(found.given);
    const repeated = new Set(signals).size < signals.length;
    const emitted = found.steps.slice(0, -1).map(({ answer }) => SIGNALS[answer]!);
    const right = emitted.join() === signals.join();
    let error = 0;
    for (const [i, { y }] of found.steps.slice(0, -1).entries())
        error = Math.max(
            error,
            y.reduce((sum, value, s) => sum + Math.abs(value - (SIGNALS[s] === signals[i] ? 1 : 0)), 0),
        );
    if (repeated)
        return (
            <Verdict holds={null}>
                {signals.join(' ')} comes out as {emitted.join(' ')}
                {right ? ': by luck' : ''}. A signal that occurs twice counts twice and looks young; the
                theorem requires distinct signals.
            </Verdict>
        );
    return (
        <Verdict holds={right && error <= EPSILON}>
            {right ? 'Every signal in its order' : `${signals.join(' ')} came out as ${emitted.join(' ')}`};
            largest distance of an output from its signal <b class="number">{show(error)}</b>, bound ε ={' '}
            <span class="number">{show(EPSILON)}</span>.
        </Verdict>
    );
}
