// triangle.tsx: [Focus] the second-order filter 1/(1 + a1 z^-1 + a2 z^-2), its coefficients dragged over the
// triangle of stable ones: poles, impulse response by the kernel, frequency response, and the square that a
// sigmoid can reach.
import { useRef } from 'preact/hooks';
import { useAnswer } from './answer.ts';
import { show } from '../../core/figures.ts';
import { Drawing } from '../frame/drawing.tsx';
import { Catch, Slider } from './controls.tsx';
import { Problem, Theorem, Verdict } from './parts.tsx';
import { number } from './settings.ts';
import { Stems } from './stems.tsx';

const ROWS = 48;
const impulse = Array.from({ length: ROWS }, (_, t) => (t === 0 ? 1 : 0));
const first = number('a1', 0.5, -2, 2);
const second = number('a2', 0.81, -1, 1.1);
const places: readonly (readonly [string, number, number])[] = [
    ['a ringing filter of Focus', 0.5, 0.81],
    ['σ’s corner', 0.999, 0.999],
    ['moving average, out of reach', -0.85, 0],
    ['slow wave, out of reach', -1.6, 0.85],
    ['unstable', 0.6, 1.05],
];
const set = (a1: number, a2: number) => {
    first.set(Number(Math.max(-2, Math.min(2, a1)).toFixed(3)));
    second.set(Number(Math.max(-1, Math.min(1.1, a2)).toFixed(3)));
};
const reached = (a1: number, a2: number) => a1 > 0 && a1 < 1 && a2 > 0 && a2 < 1;
const gain = (a1: number, a2: number, w: number) =>
    1 / Math.hypot(1 + a1 * Math.cos(w) + a2 * Math.cos(2 * w), a1 * Math.sin(w) + a2 * Math.sin(2 * w));

function Controls({ a1, a2 }: { a1: number; a2: number }) {
    return (
        <div class="theorem-controls">
            <Slider label="a₁" value={a1} min={-2} max={2} step={0.01} set={(value) => set(value, a2)} />
            <Slider label="a₂" value={a2} min={-1} max={1.1} step={0.01} set={(value) => set(a1, value)} />
            <fieldset class="choice">
                <legend>Places</legend>
                {places.map(([name, x, y]) => (
                    <button
                        key={name}
                        type="button"
                        aria-pressed={a1 === x && a2 === y}
                        onClick={() => set(x, y)}
                    >
                        {name}
                    </button>
                ))}
            </fieldset>
        </div>
    );
}

export function Triangle() {
    const [a1, a2] = [first.value, second.value];
    const { value: found, problem } = useAnswer(
        async (v) => ({
            y: await v.focus(impulse, [a1, a2], 1, 1, false, 'float32'),
            radius: await v.poleRadius(a1, a2),
            a1,
            a2,
        }),
        [a1, a2],
    );
    return (
        <Theorem
            id="triangle"
            title="The stability triangle"
            source={
                <>
                    Focus, Eqs. 5–8. A filter y<sub>t</sub> = x<sub>t</sub> − a₁ y<sub>t−1</sub> − a₂ y
                    <sub>t−2</sub> is stable exactly inside the triangle |a₂| &lt; 1, |a₁| &lt; 1 + a₂. Focus
                    takes both through a sigmoid σ: only the small square is reached.
                </>
            }
        >
            <div class="theorem-grid wide-first">
                <div>
                    <Plane a1={a1} a2={a2} />
                    <Controls a1={a1} a2={a2} />
                </div>
                <Poles a1={a1} a2={a2} />
                <div>
                    {found && (
                        <>
                            <h4>Impulse response, by the kernel</h4>
                            <Stems
                                label="Impulse response"
                                series={[{ values: found.y, tone: 'one', shape: 'disc' }]}
                                low={-Math.min(1e6, Math.max(1, ...found.y.map(Math.abs)))}
                                high={Math.min(1e6, Math.max(1, ...found.y.map(Math.abs)))}
                                height={140}
                                foot={(i) => (i % 12 === 0 ? i : '')}
                            />
                        </>
                    )}
                    <h4>Frequency response |H(ω)|</h4>
                    <Response a1={a1} a2={a2} />
                </div>
            </div>
            {found && (
                <Verdict holds={found.radius < 1}>
                    Largest pole radius <b class="number">{found.radius.toFixed(4)}</b>:{' '}
                    {found.radius < 1 ? 'stable' : 'its response grows'}.{' '}
                    {reached(found.a1, found.a2)
                        ? 'Within σ’s reach, where both poles have a negative real part: fast waves always pass better than slow ones.'
                        : found.radius < 1
                          ? 'Stable, but no pair of sigmoids gives it; theta=triangle does (a₂ = tanh u, a₁ = (1 + a₂) tanh v).'
                          : 'Neither a sigmoid nor the triangle gives it.'}{' '}
                    Gain at ω = 0 <span class="number">{show(gain(found.a1, found.a2, 0))}</span>, at ω = π{' '}
                    <span class="number">{show(gain(found.a1, found.a2, Math.PI))}</span>.
                </Verdict>
            )}
            <Problem problem={problem} />
        </Theorem>
    );
}

function Plane({ a1, a2 }: { a1: number; a2: number }) {
    const host = useRef<SVGGElement>(null);
    return (
        <Drawing
            class="plane"
            height={(width) => Math.min(330, width * 0.62)}
            label={`Coefficients a1 = ${a1}, a2 = ${a2} in the plane, with the stability triangle`}
        >
            {(width, tall) => {
                const x = (v: number) => 30 + ((v + 2.1) / 4.2) * (width - 40);
                const y = (v: number) => 10 + ((1.15 - v) / 2.25) * (tall - 34);
                const parabola = Array.from({ length: 41 }, (_, i) => -2 + i / 10)
                    .map((v, i) => `${i ? 'L' : 'M'}${x(v)} ${y((v * v) / 4)}`)
                    .join('');
                const drag = (event: PointerEvent) => {
                    const box = host.current!.ownerSVGElement!.getBoundingClientRect();
                    set(
                        ((event.clientX - box.left - 30) / (width - 40)) * 4.2 - 2.1,
                        1.15 - ((event.clientY - box.top - 10) / (tall - 34)) * 2.25,
                    );
                };
                return (
                    <g ref={host}>
                        <path class="triangle" d={`M${x(-2)} ${y(1)}L${x(2)} ${y(1)}L${x(0)} ${y(-1)}Z`} />
                        <rect class="square" x={x(0)} y={y(1)} width={x(1) - x(0)} height={y(0) - y(1)} />
                        <path class="line bound" d={parabola} />
                        <g class="axis-line">
                            <line class="zero" x1={x(-2.1)} x2={x(2.1)} y1={y(0)} y2={y(0)} />
                            <line class="zero" x1={x(0)} x2={x(0)} y1={y(1.15)} y2={y(-1.1)} />
                            {[-2, -1, 1, 2].map((v) => (
                                <text key={v} x={x(v)} y={tall - 8} text-anchor="middle">
                                    {show(v)}
                                </text>
                            ))}
                            {[-1, 1].map((v) => (
                                <text key={v} x={24} y={y(v)} text-anchor="end" dominant-baseline="central">
                                    {show(v)}
                                </text>
                            ))}
                        </g>
                        <text class="foot strong" x={x(0.5)} y={y(0.45)} text-anchor="middle">
                            σ
                        </text>
                        <text class="foot" x={x(-0.72)} y={y(0.62)} text-anchor="middle">
                            waves
                        </text>
                        <text class="foot" x={x(0)} y={y(-0.55)} text-anchor="middle">
                            real poles
                        </text>
                        <text class="foot" x={width - 10} y={y(0) - 6} text-anchor="end">
                            a₁
                        </text>
                        <text class="foot" x={x(0) + 6} y={14}>
                            a₂
                        </text>
                        <Catch class="catch free" x={0} y={0} width={width} height={tall} draw={drag} />
                        <circle class="grip" cx={x(a1)} cy={y(a2)} r={7} />
                    </g>
                );
            }}
        </Drawing>
    );
}

function Poles({ a1, a2 }: { a1: number; a2: number }) {
    const disc = (a1 * a1) / 4 - a2;
    const poles: (readonly [number, number])[] =
        disc < 0
            ? [
                  [-a1 / 2, Math.sqrt(-disc)],
                  [-a1 / 2, -Math.sqrt(-disc)],
              ]
            : [
                  [-a1 / 2 + Math.sqrt(disc), 0],
                  [-a1 / 2 - Math.sqrt(disc), 0],
              ];
    return (
        <figure>
            <figcaption>Poles in the unit circle</figcaption>
            <Drawing
                height={(width) => Math.min(width, 230)}
                label={`Poles at ${poles.map(([re, im]) => `${show(re)} + ${show(im)} i`).join(' and ')}`}
            >
                {(width, tall) => {
                    const r = Math.min(width, tall) / 2 / 1.25;
                    const [cx, cy] = [width / 2, tall / 2];
                    return (
                        <>
                            <circle class="unit" cx={cx} cy={cy} r={r} />
                            <g class="axis-line">
                                <line x1={cx - r * 1.2} x2={cx + r * 1.2} y1={cy} y2={cy} />
                                <line x1={cx} x2={cx} y1={cy - r * 1.2} y2={cy + r * 1.2} />
                            </g>
                            <text class="foot" x={cx + r + 4} y={cy + 14}>
                                1
                            </text>
                            {poles.map(([re, im], i) => (
                                <path
                                    key={i}
                                    class={`pole ${Math.hypot(re, im) >= 1 ? 'outside' : ''}`}
                                    d={`M${cx + r * re - 5} ${cy - r * im - 5}l10 10m-10 0l10 -10`}
                                />
                            ))}
                        </>
                    );
                }}
            </Drawing>
        </figure>
    );
}

function Response({ a1, a2 }: { a1: number; a2: number }) {
    const n = 120;
    const values = Array.from({ length: n + 1 }, (_, i) => gain(a1, a2, (i / n) * Math.PI));
    const [low, high] = [-1.5, 3];
    const log = (value: number) => Math.max(low, Math.min(high, Math.log10(value)));
    return (
        <Drawing height={140} label="Gain over frequency, from slow to fast waves">
            {(width, tall) => {
                const x = (i: number) => 42 + (i / n) * (width - 58);
                const y = (value: number) => 8 + ((high - log(value)) / (high - low)) * (tall - 34);
                return (
                    <>
                        {[0.1, 1, 10, 100].map((value) => (
                            <g key={value} class="axis-line">
                                <line
                                    x1={42}
                                    x2={width - 16}
                                    y1={y(value)}
                                    y2={y(value)}
                                    class={value === 1 ? 'zero' : ''}
                                />
                                <text x={36} y={y(value)} text-anchor="end" dominant-baseline="central">
                                    {value}
                                </text>
                            </g>
                        ))}
                        <path
                            class="line one"
                            d={values
                                .map(
                                    (value, i) => `${i ? 'L' : 'M'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`,
                                )
                                .join('')}
                        />
                        <text class="foot" x={x(0)} y={tall - 6}>
                            0, slow
                        </text>
                        <text class="foot" x={x(n)} y={tall - 6} text-anchor="end">
                            fast, ω = π
                        </text>
                    </>
                );
            }}
        </Drawing>
    );
}
