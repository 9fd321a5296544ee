// pad.tsx: where a digit is drawn, by mouse, finger or keys, and how the drawing becomes an image like
// MNIST's.
import { useEffect, useRef } from 'preact/hooks';
import { drawInk } from '../../charts/heat.ts';
import { colourOf } from '../../core/colour.ts';
import { fitted, SIDE, type Fitted } from '../../core/digit.ts';

const SIZE = 200; // pixels of the pad's own canvas
const PEN = 15;

export function Pad({ drawn }: { drawn: (fit: Fitted | null) => void }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const last = useRef<[number, number] | null>(null);
    const pen = useRef<[number, number]>([SIZE / 2, SIZE / 4]);
    const context = () => canvas.current!.getContext('2d', { willReadFrequently: true })!;
    const clear = () => {
        const ground = context();
        ground.fillStyle = colourOf('--sheet');
        ground.fillRect(0, 0, SIZE, SIZE);
        last.current = null;
        drawn(null);
    };
    useEffect(clear, []);
    const read = () => {
        const { data } = context().getImageData(0, 0, SIZE, SIZE);
        drawn(
            fitted(
                Uint8Array.from({ length: SIZE * SIZE }, (_, i) => 255 - data[4 * i]!),
                SIZE,
            ),
        );
    };
    const line = (from: [number, number], to: [number, number]) => {
        const brush = context();
        brush.strokeStyle = colourOf('--pen');
        brush.lineWidth = PEN;
        brush.lineCap = brush.lineJoin = 'round';
        brush.beginPath();
        brush.moveTo(...from);
        brush.lineTo(to[0] + 0.01, to[1]);
        brush.stroke();
        read();
    };
    const place = ({ clientX, clientY }: PointerEvent): [number, number] => {
        const box = canvas.current!.getBoundingClientRect();
        return [((clientX - box.left) / box.width) * SIZE, ((clientY - box.top) / box.height) * SIZE];
    };
    const keys = (event: KeyboardEvent) => {
        const by = { ArrowLeft: [-10, 0], ArrowRight: [10, 0], ArrowUp: [0, -10], ArrowDown: [0, 10] }[
            event.key
        ];
        if (!by) return;
        event.preventDefault();
        const [x, y] = pen.current;
        const inside = (v: number) => Math.max(10, Math.min(SIZE - 10, v));
        pen.current = [inside(x + by[0]!), inside(y + by[1]!)];
        if (!event.shiftKey) line([x, y], pen.current);
    };
    return (
        <div class="pad">
            <canvas
                ref={canvas}
                width={SIZE}
                height={SIZE}
                tabIndex={0}
                role="application"
                aria-label="Draw a digit: with the mouse or a finger, or with the arrow keys (with Shift the pen is lifted)"
                onPointerDown={(event) => {
                    canvas.current!.setPointerCapture(event.pointerId);
                    last.current = place(event);
                    line(last.current, last.current);
                }}
                onPointerMove={(event) => {
                    if (!last.current) return;
                    const now = place(event);
                    line(last.current, now);
                    last.current = now;
                }}
                onPointerUp={() => (last.current = null)}
                onPointerCancel={() => (last.current = null)}
                onKeyDown={keys}
            />
            <button type="button" onClick={clear}>
                Clear the drawing
            </button>
        </div>
    );
}

/** The two steps from the drawing to what the model reads. */
export function Steps({ fit }: { fit: Fitted }) {
    const box = useRef<HTMLCanvasElement>(null);
    const image = useRef<HTMLCanvasElement>(null);
    useEffect(() => {
        const { pixels, width, height } = fit.box;
        if (box.current) drawInk(box.current, pixels, height, width);
        if (image.current) drawInk(image.current, fit.image, SIDE, SIDE);
    }, [fit]);
    const [right, down] = fit.moved;
    const direction = (n: number, plus: string, minus: string) =>
        n === 0 ? '' : `${Math.abs(n)} ${Math.abs(n) === 1 ? 'pixel' : 'pixels'} ${n > 0 ? plus : minus}`;
    const moves = [direction(right, 'right', 'left'), direction(down, 'down', 'up')]
        .filter(Boolean)
        .join(' and ');
    return (
        <ol class="fit">
            <li>
                <canvas
                    ref={box}
                    aria-hidden="true"
                    style={{ aspectRatio: `${fit.box.width} / ${fit.box.height}` }}
                />
                <span>
                    Scaled to {fit.box.width} × {fit.box.height}: the larger side takes 20 pixels, as in
                    MNIST.
                </span>
            </li>
            <li>
                <canvas ref={image} aria-hidden="true" style={{ aspectRatio: '1' }} />
                <span>In 28 × 28, its centre of mass in the middle: moved {moves || 'not at all'}.</span>
            </li>
        </ol>
    );
}
