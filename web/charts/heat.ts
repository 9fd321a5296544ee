// heat.ts: a matrix as a heat map on a canvas, one canvas pixel per entry; the style sheet sets its size on
// the page.
import { HEAT } from './scale.ts';

/** Draw rows x columns values, from 0 (dark) to `top` (bright); NaN stays clear. */
export function drawHeat(
    canvas: HTMLCanvasElement,
    values: Float32Array,
    rows: number,
    columns: number,
    top: number,
): void {
    if (canvas.width !== columns || canvas.height !== rows) {
        canvas.width = columns;
        canvas.height = rows;
    }
    const context = canvas.getContext('2d');
    if (!context || !rows || !columns) return;
    const image = context.createImageData(columns, rows);
    const scale = top > 0 ? 255 / top : 0;
    for (let i = 0; i < rows * columns; i++) {
        const value = values[i]!;
        if (Number.isNaN(value)) continue;
        const [red, green, blue] = HEAT[Math.max(0, Math.min(255, Math.round(value * scale)))]!;
        image.data.set([red, green, blue, 255], 4 * i);
    }
    context.putImageData(image, 0, 0);
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
