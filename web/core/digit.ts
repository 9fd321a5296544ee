// digit.ts: a drawing as MNIST's images were made (LeCun, Cortes & Burges): its ink scaled to 20 pixels in
// the larger direction, then moved so that its centre of mass stands in the middle of 28 x 28. Pure
// functions.

export const SIDE = 28;
const BOX = 20;

/** MNIST's mean and deviation, by which inputs are scaled. */
const [MEAN, DEVIATION] = [0.1307, 0.3081];
/** The grey values, ink bright, of an image as a model reads it. */
export const greys = (values: ArrayLike<number>): Uint8Array =>
    Uint8Array.from(values, (value) => Math.max(0, Math.min(255, 255 * (value * DEVIATION + MEAN))));

export interface Fitted {
    /** The ink scaled into its box, width x height, at most 20 each. */
    box: { pixels: Uint8Array; width: number; height: number };
    /** The image that the model reads: 28 x 28, ink bright. */
    image: Uint8Array;
    /** Where the centre of mass was moved from, in pixels right and down of where the box would stand in the
     * middle. */
    moved: [number, number];
}

/** `ink`: size x size, 0 to 255. Null where nothing is drawn. */
export function fitted(ink: ArrayLike<number>, size: number): Fitted | null {
    let [left, right, top, bottom] = [size, -1, size, -1];
    for (let y = 0; y < size; y++)
        for (let x = 0; x < size; x++)
            if (ink[y * size + x]! > 0) {
                left = Math.min(left, x);
                right = Math.max(right, x);
                top = Math.min(top, y);
                bottom = Math.max(bottom, y);
            }
    if (right < 0) return null;
    const scale = Math.max(right - left + 1, bottom - top + 1) / BOX;
    const width = Math.max(1, Math.round((right - left + 1) / scale));
    const height = Math.max(1, Math.round((bottom - top + 1) / scale));
    const pixels = new Uint8Array(width * height);
    for (let y = 0; y < height; y++)
        for (let x = 0; x < width; x++)
            pixels[y * width + x] = Math.round(
                mean(
                    ink,
                    size,
                    left + x * scale,
                    top + y * scale,
                    left + (x + 1) * scale,
                    top + (y + 1) * scale,
                ),
            );
    let [mass, across, down] = [0, 0, 0];
    for (let i = 0; i < pixels.length; i++) {
        mass += pixels[i]!;
        across += pixels[i]! * ((i % width) + 0.5);
        down += pixels[i]! * (Math.floor(i / width) + 0.5);
    }
    const x0 = Math.round(SIDE / 2 - across / Math.max(1, mass));
    const y0 = Math.round(SIDE / 2 - down / Math.max(1, mass));
    const image = new Uint8Array(SIDE * SIDE);
    for (let y = 0; y < height; y++)
        for (let x = 0; x < width; x++) {
            const [at, row] = [x0 + x, y0 + y];
            if (at >= 0 && at < SIDE && row >= 0 && row < SIDE)
                image[row * SIDE + at] = pixels[y * width + x]!;
        }
    const moved: [number, number] = [
        x0 - Math.round((SIDE - width) / 2),
        y0 - Math.round((SIDE - height) / 2),
    ];
    return { box: { pixels, width, height }, image, moved };
}

/** Mean ink of a rectangle, pixels at its edges by the share that lies inside. */
function mean(ink: ArrayLike<number>, size: number, x0: number, y0: number, x1: number, y1: number): number {
    let [sum, area] = [0, 0];
    for (let y = Math.floor(y0); y < y1; y++)
        for (let x = Math.floor(x0); x < x1; x++) {
            const share = (Math.min(x + 1, x1) - Math.max(x, x0)) * (Math.min(y + 1, y1) - Math.max(y, y0));
            const inside = x >= 0 && x < size && y >= 0 && y < size;
            sum += share * (inside ? ink[y * size + x]! : 0);
            area += share;
        }
    return area > 0 ? sum / area : 0;
}
