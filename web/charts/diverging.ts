// diverging.ts: signed values as colours: blue below zero, vermillion above, the ground at zero.
import { drawPixels } from './heat.ts';

const BELOW = [0, 90, 160] as const;
const ABOVE = [200, 70, 0] as const;

/** Draw rows x columns values from -top to top; zero is clear. */
export function drawSigned(
    canvas: HTMLCanvasElement,
    values: ArrayLike<number>,
    rows: number,
    columns: number,
    top: number,
): void {
    drawPixels(canvas, rows, columns, (i) => {
        const value = values[i]!;
        if (Number.isNaN(value)) return [0, 0, 0, 0];
        const share = Math.max(-1, Math.min(1, top > 0 ? value / top : 0));
        const [red, green, blue] = share < 0 ? BELOW : ABOVE;
        return [red, green, blue, Math.round(255 * Math.abs(share))];
    });
}

export function drawSignedLegend(canvas: HTMLCanvasElement): void {
    drawSigned(
        canvas,
        Float32Array.from({ length: 255 }, (_, i) => i / 127 - 1),
        1,
        255,
        1,
    );
}
