// icons.tsx: how the story's tokens are written: keys as letters, as on every view (core/tokens.ts), values
// as icons, which nobody takes for numbers to be added: thirteen shapes, each filled and hollow.
import { lettersOf } from '../../core/tokens.ts';
import { FIRST_VALUE, isKey } from '../../state/views/story.ts';

/** Names, and paths in a square of 16. */
const SHAPES: readonly (readonly [string, string])[] = [
    ['circle', 'M8 1a7 7 0 1 0 .1 0z'],
    ['house', 'M8 1l7 6h-2v8H3V7H1z'],
    ['star', 'M8 1l2.2 4.6 5 .6-3.7 3.5 1 5L8 12.2l-4.5 2.5 1-5L.8 6.2l5-.6z'],
    ['moon', 'M10.5 1a7.2 7.2 0 1 0 4.5 10A6.5 6.5 0 0 1 10.5 1z'],
    ['flag', 'M3 1h11l-3 4 3 4H5v6H3z'],
    ['drop', 'M8 1c3 4 5 6 5 9a5 5 0 0 1-10 0C3 7 5 5 8 1z'],
    ['heart', 'M8 14.5L1.5 8A3.9 3.9 0 0 1 8 3.5 3.9 3.9 0 0 1 14.5 8z'],
    ['square', 'M2 2h12v12H2z'],
    ['leaf', 'M1.5 14.5C1.5 6 6 1.5 14.5 1.5c0 8.5-4.5 13-13 13z'],
    ['cross', 'M6 1h4v5h5v4h-5v5H6v-5H1V6h5z'],
    ['triangle', 'M8 1.5l7 13H1z'],
    ['bolt', 'M10 1L3 9h4l-2 6 8-9H8.5z'],
    ['diamond', 'M8 .5L15 8l-7 7.5L1 8z'],
];
const shapeOf = (token: number) => SHAPES[(token - FIRST_VALUE) % SHAPES.length]!;
const isHollow = (token: number) => token - FIRST_VALUE >= SHAPES.length;

/** In words. */
export const written = (token: number): string =>
    isKey(token) ? lettersOf(token) : `${isHollow(token) ? 'hollow ' : ''}${shapeOf(token)[0]}`;

/** As part of a drawing, around its middle. */
export const Shape = ({ token, x = 8, y = 8 }: { token: number; x?: number; y?: number }) => (
    <path
        class={isHollow(token) ? 'icon-shape hollow' : 'icon-shape'}
        d={shapeOf(token)[1]}
        transform={`translate(${x - 8} ${y - 8})`}
    />
);
/** In a line of text, where its name is read. */
export const Written = ({ token }: { token: number }) =>
    isKey(token) ? (
        <b>{written(token)}</b>
    ) : (
        <>
            <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
                <Shape token={token} />
            </svg>
            <span class="unseen">{written(token)}</span>
        </>
    );
