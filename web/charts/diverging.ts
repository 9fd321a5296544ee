// diverging.ts: signed values as colours: teal below zero, brown above, the ground at zero; lighter on a
// dark ground.
import { isDark } from '../core/theme.ts';
import { drawPixels } from './heat.ts';

export type Ground = 'page' | 'white';
// (the palette's --less and --more)
const LIGHT = { below: [0, 122, 120], above: [150, 86, 10] } as const;
const DARK = { below: [70, 200, 190], above: [224, 168, 80] } as const;
/** The colour of a value from -top to top; zero and NaN are clear. */
export function signedColour(
    value: number,
    top: number,
    dark: boolean,
): readonly [number, number, number, number] {
    if (Number.isNaN(value)) return [0, 0, 0, 0];
    const share = Math.max(-1, Math.min(1, top > 0 ? value / top : 0));
    const { below, above } = dark ? DARK : LIGHT;
    const [red, green, blue] = share < 0 ? below : above;
    return [red, green, blue, Math.round(255 * Math.abs(share))];
}

/** Draw rows x columns values from -top to top; zero is clear. */
export function drawSigned(
    canvas: HTMLCanvasElement,
    values: ArrayLike<number>,
    rows: number,
    columns: number,
    top: number,
    ground: Ground = 'page',
): void {
    const dark = ground === 'page' && isDark();
    drawPixels(canvas, rows, columns, (i) => signedColour(values[i]!, top, dark));
}

export function drawSignedLegend(canvas: HTMLCanvasElement, ground: Ground = 'page'): void {
    drawSigned(
        canvas,
        Float32Array.from({ length: 255 }, (_, i) => i / 127 - 1),
        1,
        255,
        1,
        ground,
    );
}
