// pixels.tsx: what the two halves of LaS do to a picture that is read pixel by pixel: a head of the engine's
// own kernel, to which all pixels match alike, so that decay and smoothing are all that is left.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { drawInk } from '../../charts/heat.ts';
import { greys, SIDE } from '../../core/digit.ts';
import { percent } from '../../core/figures.ts';
import { lab } from '../../state/page.ts';
import { Slider } from '../theorems/controls.tsx';
import { Live } from './frame.tsx';

const PIXELS = SIDE * SIDE;
const MATCH = 8; // how well every pixel fits every other
const ASKED = 14 * SIDE + 14; // the pixel whose attention is counted: in the middle of the picture

const Picture = ({ pixels, name }: { pixels: ArrayLike<number>; name: string }) => {
    const canvas = useRef<HTMLCanvasElement>(null);
    useEffect(() => drawInk(canvas.current!, pixels, SIDE, SIDE), [pixels]);
    return (
        <figure>
            <canvas ref={canvas} role="img" aria-label={name} />
            <figcaption class="caption">{name}</figcaption>
        </figure>
    );
};

/** What a head of LaS makes of these values, one a pixel. */
function through(values: Float32Array, decay: number, window: number): Float32Array {
    const { o } = lab().kernels.lasAttention({
        q: new Float32Array(PIXELS).fill(MATCH),
        k: new Float32Array(PIXELS).fill(1),
        v: values,
        L: PIXELS,
        D: 1,
        H: 1,
        scale: 1,
        alphas: Float32Array.of(decay),
        window,
    });
    return o;
}

export function Pixels() {
    const [decay, setDecay] = useState(0.2);
    const [window, setWindow] = useState(3);
    const image = useMemo(() => {
        const run = lab().open('task=smnist&data=digits&mixer=attention&width=8&batch=1');
        const pixels = greys(run.look(3).values!);
        run.close();
        return pixels;
    }, []);
    const made = useMemo(
        () =>
            Uint8Array.from(
                through(
                    Float32Array.from(image, (grey) => grey / 255),
                    decay,
                    window,
                ),
                (value) => 255 * value,
            ),
        [image, decay, window],
    );
    const near = useMemo(() => {
        const row = Float32Array.from({ length: PIXELS }, (_, j) => Number(j <= ASKED && j > ASKED - SIDE));
        return through(row, decay, window)[ASKED]!;
    }, [decay, window]);
    return (
        <>
            <div class="pixels">
                <Picture pixels={image} name="what is read, row by row" />
                <Picture pixels={made} name="attention’s output" />
            </div>
            <div class="theorem-controls">
                <Slider label="decay" value={decay} min={0} max={0.5} step={0.02} set={setDecay} />
                <Slider label="smoothing, pixels" value={window} min={1} max={15} set={setWindow} />
            </div>
            <p class="verdict-line">
                Of what the pixel in the middle looks at, <Live>{percent(near)}</Live> lies within one row of
                the picture.
            </p>
        </>
    );
}
