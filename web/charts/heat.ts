// heat.ts: a matrix as a heat map on a canvas, one canvas pixel per entry; the style sheet sets its size on
// the page.
import { HEAT } from './scale.ts';

/** One canvas pixel for each of rows x columns entries: red, green, blue, opacity. */
export function drawPixels(
    canvas: HTMLCanvasElement,
    rows: number,
    columns: number,
    colour: (i: number) => readonly [number, number, number, number],
): void {
    if (canvas.width !== columns || canvas.height !== rows) {
        canvas.width = columns;
        canvas.height = rows;
    }
    const context = canvas.getContext('2d');
    if (!context || !rows || !columns) return;
    const image = context.createImageData(columns, rows);
    for (let i = 0; i < rows * columns; i++) {
        const [red, green, blue, opacity] = colour(i);
        image.data[4 * i] = red;
        image.data[4 * i + 1] = green;
        image.data[4 * i + 2] = blue;
        image.data[4 * i + 3] = opacity;
    }
    context.putImageData(image, 0, 0);
}

const CLEAR = [0, 0, 0, 0] as const;
const SOLID = HEAT.map(([red, green, blue]) => [red, green, blue, 255] as const);

/** Draw rows x columns values, from 0 (dark) to `top` (bright); NaN stays clear. */
export function drawHeat(
    canvas: HTMLCanvasElement,
    values: ArrayLike<number>,
    rows: number,
    columns: number,
    top: number,
): void {
    const scale = top > 0 ? 255 / top : 0;
    drawPixels(canvas, rows, columns, (i) => {
        const value = values[i]!;
        return Number.isNaN(value) ? CLEAR : SOLID[Math.max(0, Math.min(255, Math.round(value * scale)))]!;
    });
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
