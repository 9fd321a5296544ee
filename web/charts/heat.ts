// heat.ts: a matrix as a heat map on a canvas, one canvas pixel per entry; the style sheet sets its size on
// the page.
import { HEAT } from './scale.ts';

export type Pixel = readonly [red: number, green: number, blue: number, opacity: number];

/** One canvas pixel for each of rows x columns entries, the first row on top. */
export function drawPixels(
    canvas: HTMLCanvasElement,
    rows: number,
    columns: number,
    colour: (i: number) => Pixel,
): void {
    if (canvas.width !== columns || canvas.height !== rows) {
        canvas.width = columns;
        canvas.height = rows;
    }
    const context = canvas.getContext('2d');
    if (!context || !rows || !columns) return;
    const image = context.createImageData(columns, rows);
    image.data.set(pixelsOf(rows * columns, colour));
    context.putImageData(image, 0, 0);
}
/** Their bytes, row by row from the top. */
export function pixelsOf(count: number, colour: (i: number) => Pixel): Uint8ClampedArray {
    const bytes = new Uint8ClampedArray(4 * count);
    for (let i = 0; i < count; i++) {
        const pixel = colour(i);
        for (let part = 0; part < 4; part++) bytes[4 * i + part] = pixel[part]!;
    }
    return bytes;
}

const CLEAR: Pixel = [0, 0, 0, 0];
const SOLID: readonly Pixel[] = HEAT.map(([red, green, blue]) => [red, green, blue, 255]);

/** The colour of a value from 0 (dark) to `top` (bright); NaN is clear. */
export function heatColour(value: number, top: number): Pixel {
    if (Number.isNaN(value)) return CLEAR;
    const step = top > 0 ? Math.round((255 * value) / top) : 0;
    return SOLID[Math.max(0, Math.min(255, step))]!;
}

/** Draw rows x columns values, from 0 to `top`. */
export function drawHeat(
    canvas: HTMLCanvasElement,
    values: ArrayLike<number>,
    rows: number,
    columns: number,
    top: number,
): void {
    drawPixels(canvas, rows, columns, (i) => heatColour(values[i]!, top));
}

/** Grey from paper (0) to ink (255), whatever the theme. */
export function drawInk(
    canvas: HTMLCanvasElement,
    pixels: ArrayLike<number>,
    rows: number,
    columns: number,
): void {
    drawPixels(canvas, rows, columns, (i) => [255 - pixels[i]!, 255 - pixels[i]!, 255 - pixels[i]!, 255]);
}

/** The scale itself, from left (0) to right (top). */
export function drawLegend(canvas: HTMLCanvasElement): void {
    drawHeat(
        canvas,
        Float32Array.from({ length: 256 }, (_, i) => i / 255),
        1,
        256,
        1,
    );
}
