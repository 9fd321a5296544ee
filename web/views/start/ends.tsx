// ends.tsx: what the curves of a chart are called, right of it, where nothing is drawn through a name.
import { apart } from '../../charts/axes.ts';

export interface End {
    name: string;
    /** Height at which its curve ends. */
    y: number;
    /** Of its colour; without one it is the dashed line of guessing. */
    tone?: string;
}
const LINE = 15; // from name to name, where the page's text has 16 pixels
/** How much larger the page's text is than 16 pixels: what stands around text grows with it. */
export const enlarged = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

export function Ends({ ends, x, low, high }: { ends: readonly End[]; x: number; low: number; high: number }) {
    const large = enlarged();
    const ys = apart(
        ends.map(({ y }) => y),
        LINE * large,
        low,
        high,
    );
    return (
        <>
            {ends.map(({ name, tone }, i) => (
                <g key={name} class={tone ?? 'of-guess'}>
                    {tone ? (
                        <circle cx={x + 6 * large} cy={ys[i]} r={4} />
                    ) : (
                        <line class="guess" x1={x} x2={x + 12 * large} y1={ys[i]} y2={ys[i]} />
                    )}
                    <text x={x + 17 * large} y={ys[i]} dominant-baseline="central">
                        {name}
                    </text>
                </g>
            ))}
        </>
    );
}
