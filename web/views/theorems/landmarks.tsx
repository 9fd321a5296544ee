// landmarks.tsx: [CAT] Propositions 1 and 2: how wide must tokens be, so that a block's landmark betrays the
// copy in it? Trials are drawn by the construction while one looks; the line is the exact probability as an
// integral.
import { useEffect, useRef, useState } from 'preact/hooks';
import { asking } from '../../training/proofs.ts';
import { show } from '../../core/figures.ts';
import { Drawing } from '../frame/drawing.tsx';
import { Choice, Slider } from './controls.tsx';
import { Problem, Theorem, Verdict } from './parts.tsx';
import { choice, number } from './settings.ts';

const L = 128;
const BLOCKS = [2, 4, 8, 16, 32];
const TIMES = [1 / 8, 1 / 4, 1 / 2, 3 / 4, 1, 3 / 2, 2, 3, 4, 6];
const ENOUGH = 400;
const SEED = 7;

const exponent = number('block', 2, 0, BLOCKS.length - 1);
const sigma = number('sigma', 1, 0.5, 1.5);
const kind = choice('mark', 'box', ['box', 'rho'] as const);

/** Success of the box landmark: P(1 + s1 Z > max of n others), Simpson's rule over 6 deviations. */
export function exactSuccess(rows: number, block: number, spread: number, d: number): number {
    const own = spread * Math.sqrt((block - 1) / d);
    const other = spread * Math.sqrt(block / d);
    const n = Math.floor((rows - 1) / block) - 1;
    const steps = 400;
    let sum = 0;
    for (let i = 0; i <= steps; i++) {
        const z = -6 + (12 * i) / steps;
        const weight = i === 0 || i === steps ? 1 : i % 2 ? 4 : 2;
        sum += weight * Math.exp((-z * z) / 2) * normal((1 + own * z) / other) ** n;
    }
    return ((12 / steps / 3) * sum) / Math.sqrt(2 * Math.PI);
}
/** The normal distribution function to 1e-7 (Abramowitz & Stegun 7.1.26). */
function normal(z: number): number {
    const t = 1 / (1 + (0.3275911 * Math.abs(z)) / Math.SQRT2);
    const poly =
        t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
    const tail = (poly * Math.exp((-z * z) / 2)) / 2;
    return z >= 0 ? 1 - tail : tail;
}
/** Wilson's interval at 2 standard deviations. */
function interval(hits: number, n: number): [number, number] {
    const z = 2;
    const share = hits / n;
    const middle = (share + (z * z) / (2 * n)) / (1 + (z * z) / n);
    const half = (z / (1 + (z * z) / n)) * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n));
    return [middle - half, middle + half];
}

interface Point {
    times: number;
    d: number;
    hits: number;
    trials: number;
}

/** Trials so far, and what they are trials of. */
interface Found {
    points: readonly Point[];
    threshold: number;
    block: number;
    spread: number;
    rho: boolean;
}

/** Trials, a few of every width at a time, as long as the picture can be seen and until there are enough. */
function useTrials(block: number, spread: number, rho: boolean, seen: boolean) {
    const [found, setFound] = useState<Found | null>(null);
    const [problem, setProblem] = useState<string | null>(null);
    useEffect(() => {
        if (!seen) return undefined;
        let on = true;
        void (async () => {
            try {
                const threshold = await asking((v) => v.landmarkThreshold(L, block, spread));
                if (!on) return;
                const keep = (points: readonly Point[]) =>
                    setFound({ points, threshold, block, spread, rho });
                let all: Point[] = TIMES.map((times) => ({
                    times,
                    d: Math.max(1, Math.round(times * threshold)),
                    hits: 0,
                    trials: 0,
                }));
                keep(all);
                while (on && all.some(({ trials }) => trials < ENOUGH)) {
                    const more: Point[] = [];
                    for (const point of all) {
                        const batch = Math.min(20, ENOUGH - point.trials);
                        const given = { L, D: point.d, block, sigma: spread, rho };
                        const hits = on
                            ? await asking((v) => v.landmarkTrials(given, SEED, point.trials, batch))
                            : 0;
                        more.push({ ...point, hits: point.hits + hits, trials: point.trials + batch });
                    }
                    all = more;
                    if (on) keep(all);
                }
            } catch (error) {
                if (on) setProblem((error as Error).message);
            }
        })();
        return () => void (on = false);
    }, [block, spread, rho, seen]);
    return { found, problem };
}

export function Landmarks() {
    const host = useRef<HTMLDivElement>(null);
    const [seen, setSeen] = useState(false);
    useEffect(() => {
        const observer = new IntersectionObserver((entries) => {
            if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
        });
        observer.observe(host.current!);
        return () => observer.disconnect();
    }, []);
    const block = BLOCKS[exponent.value]!;
    const { found, problem } = useTrials(block, sigma.value, kind.value === 'rho', seen);
    const at = (times: number) => found?.points.find((point) => point.times === times);
    const one = at(1);
    return (
        <Theorem
            id="landmarks"
            title="Landmarks"
            source="CAT, Propositions 1 and 2. The sum of a block’s rows points at the block that holds the query’s copy once the width d exceeds the order of 2σ²B ln(L/B)."
        >
            <div ref={host} class="theorem-controls">
                <Slider
                    label="block B"
                    value={exponent.value}
                    min={0}
                    max={BLOCKS.length - 1}
                    format={(i) => `${BLOCKS[i]} rows`}
                    set={exponent.set}
                />
                <Slider label="noise σ" value={sigma.value} min={0.5} max={1.5} step={0.05} set={sigma.set} />
                <Choice
                    label="Landmark"
                    value={kind.value}
                    choices={[
                        ['box', 'sum of the block'],
                        ['rho', 'fading sum'],
                    ]}
                    set={kind.set}
                />
            </div>
            {found ? <Measured found={found} /> : !problem && <p class="say">Measuring …</p>}
            {found && one && one.trials > 0 && (
                <Verdict holds={found.rho ? null : agrees(found)}>
                    At the predicted width{' '}
                    <b class="number">{((100 * one.hits) / one.trials).toFixed(0)} %</b> of {one.trials}{' '}
                    trials succeed
                    {at(4) && at(4)!.trials > 0 && (
                        <>
                            , at four times that{' '}
                            <b class="number">{((100 * at(4)!.hits) / at(4)!.trials).toFixed(1)} %</b>
                        </>
                    )}
                    {found.rho
                        ? '. The fading landmark lets in other blocks’ rows and needs about three times the width.'
                        : `. At this size the threshold is a slope, not a step; the exact probability at d = ${one.d} is ${show(100 * exactSuccess(L, found.block, found.spread, one.d))} %.`}
                </Verdict>
            )}
            <Problem problem={problem} />
        </Theorem>
    );
}
const LABELLED = [1 / 8, 1 / 4, 1 / 2, 1, 2, 4]; // widths with room for their number

/** Success over the width: measured shares with their intervals, the exact curve, the predicted width. */
function Measured({ found: { points, threshold, block, spread, rho } }: { found: Found }) {
    const done = points.reduce((sum, { trials }) => sum + trials, 0);
    const exact = (times: number) => exactSuccess(L, block, spread, times * threshold);
    const curve = Array.from({ length: 61 }, (_, i) => 2 ** (-3.3 + (i / 60) * 6.3));
    return (
        <figure>
            <figcaption>
                Share of trials in which the chosen block holds the copy, over the width d; L = {L} rows
            </figcaption>
            <Drawing
                height={(width) => Math.min(340, 180 + width * 0.12)}
                label="Measured success over width, with the predicted threshold"
            >
                {(width, tall) => {
                    const x = (times: number) => 48 + ((Math.log2(times) + 3.4) / 6.6) * (width - 64);
                    const y = (share: number) => 12 + (1 - share) * (tall - 56);
                    const place = (times: number) => `${x(times).toFixed(1)} ${y(exact(times)).toFixed(1)}`;
                    return (
                        <>
                            <Shares left={48} right={width - 16} y={y} />
                            <line class="now" x1={x(1)} x2={x(1)} y1={8} y2={tall - 40} />
                            <text class="foot strong" x={x(1)} y={tall - 26} text-anchor="middle">
                                predicted: d = {Math.round(threshold)}
                            </text>
                            {!rho && <path class="line bound" d={`M${curve.map(place).join('L')}`} />}
                            {points.map((point) => (
                                <Trials key={point.times} point={point} x={x} y={y} foot={tall - 8} />
                            ))}
                        </>
                    );
                }}
            </Drawing>
            <p class="read">
                <span class="key one">● measured, with its interval</span>
                {!rho && <span class="key muted"> ┄ exact probability</span>} · {done} of{' '}
                {ENOUGH * TIMES.length} trials
            </p>
        </figure>
    );
}
/** Lines across at 0 to 100 %. */
function Shares({ left, right, y }: { left: number; right: number; y: (share: number) => number }) {
    return (
        <>
            {[0, 0.25, 0.5, 0.75, 1].map((share) => (
                <g key={share} class="axis-line">
                    <line x1={left} x2={right} y1={y(share)} y2={y(share)} />
                    <text x={left - 6} y={y(share)} text-anchor="end" dominant-baseline="central">
                        {100 * share} %
                    </text>
                </g>
            ))}
        </>
    );
}
interface TrialsProps {
    point: Point;
    x: (times: number) => number;
    y: (share: number) => number;
    foot: number;
}
/** One width: its share and interval, and its number under the axis. */
function Trials({ point: { times, d, hits, trials }, x, y, foot }: TrialsProps) {
    if (!trials) return null;
    const [low, high] = interval(hits, trials);
    return (
        <g class="tone-one">
            <line x1={x(times)} x2={x(times)} y1={y(low)} y2={y(high)} />
            <circle class="disc" cx={x(times)} cy={y(hits / trials)} r={4} />
            {LABELLED.includes(times) && (
                <text class="foot" x={x(times)} y={foot} text-anchor="middle">
                    {d}
                </text>
            )}
        </g>
    );
}

/** Every measured share within 4 standard deviations of the exact one. */
function agrees({ points, block, spread }: Found): boolean {
    return points.every(({ d, hits, trials }) => {
        if (!trials) return true;
        const p = exactSuccess(L, block, spread, d);
        return Math.abs(hits - p * trials) <= 4 * Math.sqrt(p * (1 - p) * trials) + 1;
    });
}
