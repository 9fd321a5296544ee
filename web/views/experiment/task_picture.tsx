// task_picture.tsx: a task as a small picture of its example in docs/TASKS.md: what is read as bars, and
// below each what is asked there; of an image its pixels.
import tasks, { type ImageExample, type SequenceExample } from 'virtual:tasks';

const [COLUMN, HEIGHT] = [10, 48];

export function TaskPicture({ name }: { name: string }) {
    const example = tasks[name];
    if (!example) return null;
    return 'image' in example ? <Pixels {...example} /> : <Bars {...example} />;
}

function Pixels({ image }: ImageExample) {
    const side = image.length;
    return (
        <svg class="task-picture" viewBox={`0 0 ${side} ${side}`} aria-hidden="true">
            {image.flatMap((row, y) =>
                Array.from(row, Number).map(
                    (dark, x) => dark > 0 && <rect x={x} y={y} width="1" height="1" opacity={dark / 9} />,
                ),
            )}
        </svg>
    );
}

function Bars({ rows, asked, signed }: SequenceExample) {
    const bands = asked.length ? [...rows, asked] : rows;
    const tall = HEIGHT / bands.length;
    const unit = (0.9 * tall) / (signed ? 200 : 100);
    return (
        <svg
            class="task-picture"
            viewBox={`0 0 ${COLUMN * rows[0]!.length} ${HEIGHT}`}
            preserveAspectRatio="none"
            aria-hidden="true"
        >
            {bands.flatMap((band, b) =>
                band.map(
                    (value, i) =>
                        value !== null && (
                            <rect
                                class={band === asked ? 'asked' : ''}
                                x={COLUMN * i + 1}
                                width={COLUMN - 2}
                                y={tall * (b + (signed ? 0.5 : 1)) - unit * Math.max(0, value)}
                                height={unit * Math.abs(value)}
                            />
                        ),
                ),
            )}
        </svg>
    );
}
