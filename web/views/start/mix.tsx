// mix.tsx: what the label of one token is made of: its own, and through the filter those of the two before.
import { isKey } from '../../state/views/story.ts';
import { Drawing } from '../frame/drawing.tsx';
import { enlarged } from './ends.tsx';
import { two } from './frame.tsx';
import { Shape, written } from './icons.tsx';
import { toneOf } from './line.tsx';

const AT = 3; // the token whose label is made: the second value
const SHOWN = 5; // it, those before it, and one after it
const HEIGHT = 132;
const BOX = 30;
const [NEAR, DIGIT, FREE] = [12, 5, 3]; // a number: down from the boxes, half its height, off its line

type Place = readonly [x: number, y: number];

/** Token `i` of the line, around `x`. */
function Token({ token, i, x }: { token: number; i: number; x: number }) {
    const large = enlarged();
    const box = BOX * large;
    return (
        <g class={i > AT ? 'token after' : 'token'} style={toneOf(Math.floor(i / 2))}>
            <rect x={x - 20 * large} y={1} width={40 * large} height={box} />
            {isKey(token) ? (
                <text class="letter" x={x} y={1 + box / 2} text-anchor="middle" dominant-baseline="central">
                    {written(token)}
                </text>
            ) : (
                <Shape token={token} x={x} y={1 + box / 2} />
            )}
        </g>
    );
}

/**
 * From a token to the label that it goes into: the wider the line, the larger the weight, which stands beside
 * it where they are nearest, at the number's upper edge.
 */
function Tap({ tap, known, from, to }: { tap: number; known: boolean; from: Place; to: Place }) {
    const large = enlarged();
    const wide = Math.max(0.75, 7 * Math.min(1, Math.abs(tap)));
    const [across, down] = [to[0] - from[0], to[1] - from[1]];
    const off = (wide / 2) * Math.hypot(1, across / down) + FREE * large;
    const on = from[0] + (across * (NEAR - DIGIT) * large) / down;
    return (
        <g>
            <line x1={from[0]} y1={from[1]} x2={to[0]} y2={to[1]} style={{ strokeWidth: wide }} />
            {known && (
                <text
                    class="tap"
                    x={across ? on - off : on + off}
                    y={from[1] + NEAR * large}
                    text-anchor={across ? 'end' : 'start'}
                    dominant-baseline="central"
                >
                    {two(tap)}
                </text>
            )}
        </g>
    );
}

export function Mix({ tokens, taps }: { tokens: readonly number[]; taps: readonly number[] | null }) {
    const own = written(tokens[AT]!);
    const parts = taps ?? [1];
    const sum = parts.map((tap, back) => `${two(tap)} · ${written(tokens[AT - back]!)}`).join(' + ');
    const made = taps ? sum.replaceAll('+ −', '− ') : own;
    return (
        <figure class="mix">
            <Drawing height={() => HEIGHT * enlarged()} label={`The label of ${own} is made of ${made}`}>
                {(width, height) => {
                    const large = enlarged();
                    const box = BOX * large;
                    const gap = Math.min(96 * large, width / SHOWN);
                    const x = (i: number) => (i + 0.5) * gap;
                    const bottom = height - box - 1;
                    return (
                        <>
                            {parts.map((tap, back) => (
                                <Tap
                                    key={back}
                                    tap={tap}
                                    known={taps !== null}
                                    from={[x(AT - back), box + 2]}
                                    to={[x(AT), bottom]}
                                />
                            ))}
                            {tokens.slice(0, SHOWN).map((token, i) => (
                                <Token key={i} token={token} i={i} x={x(i)} />
                            ))}
                            <rect
                                class="label"
                                x={x(AT) - 72 * large}
                                y={bottom}
                                width={144 * large}
                                height={box}
                                rx={4}
                            />
                            <text
                                x={x(AT)}
                                y={bottom + box / 2}
                                text-anchor="middle"
                                dominant-baseline="central"
                            >
                                label of {own}
                            </text>
                        </>
                    );
                }}
            </Drawing>
            <figcaption class="caption">
                {taps ? (
                    <>
                        The label of {own} is <span class="number">{made}</span>; the tokens to its right add
                        nothing.
                    </>
                ) : (
                    <>Without the filter the label of {own} is its own alone.</>
                )}
            </figcaption>
        </figure>
    );
}
