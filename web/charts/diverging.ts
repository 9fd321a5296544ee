// diverging.ts: signed values as colours: teal below zero, brown above, the ground at zero; lighter on a
// dark ground.
import { isDark } from '../core/theme.ts';
import { drawPixels, type Pixel } from './heat.ts';

export type Ground = 'page' | 'white';
// (the palette's --less and --more)
const shades = (red: number, green: number, blue: number): Pixel[] =>
    Array.from({ length: 256 }, (_, opacity) => [red, green, blue, opacity]);
const LIGHT = { below: shades(0, 122, 120), above: shades(150, 86, 10) };
const DARK = { below: shades(70, 200, 190), above: shades(224, 168, 80) };
const CLEAR: Pixel = [0, 0, 0, 0];
/** The colour of a value from -top to top; zero and NaN are clear. (Asked of every pixel: it makes
 * nothing.) */
export function signedColour(value: number, top: number, dark: boolean): Pixel {
    if (Number.isNaN(value)) return CLEAR;
    const share = Math.max(-1, Math.min(1, top > 0 ? value / top : 0));
    const { below, above } = dark ? DARK : LIGHT;
    return (share < 0 ? below : above)[Math.round(255 * Math.abs(share))]!;
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
