// stepper.tsx: through the held-out samples, one by one: examples 1, 2, … to visitors. What is shown of one
// comes from a worker, a moment after it was asked for: the number is that of the one that is shown, and
// beside it the one that comes.
import { batch } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { view } from '../../state/page.ts';
import { setView } from '../../state/viewing.ts';

/** So many samples on, from the one that was asked for last: it may not be drawn yet. */
const step = (by: number) => setView({ sample: Math.max(0, view.value.sample + by) });

interface StepperProps {
    name: string;
    /** What one of them is called. */
    one: string;
    /** What else a press does, before. */
    pressed?: () => void;
    children: ComponentChildren;
}
export function Stepper({ name, one, pressed, children }: StepperProps) {
    const press = (by: number) => () =>
        batch(() => {
            pressed?.();
            step(by);
        });
    return (
        <div class="stepper" role="group" aria-label={name}>
            <button
                type="button"
                aria-label={`Previous ${one}`}
                disabled={view.value.sample === 0}
                onClick={press(-1)}
            >
                ‹
            </button>
            {children}
            <button type="button" aria-label={`Next ${one}`} onClick={press(1)}>
                ›
            </button>
        </div>
    );
}

/** A sample's number, as visitors count. */
export const counted = (sample: number): number => sample + 1;
/** The one that is shown (null: none is), and the one that comes. */
export function SampleNumber({ shown }: { shown: number | null }) {
    const { sample } = view.value;
    return (
        <>
            {counted(shown ?? sample)}
            {shown !== null && shown !== sample && <span class="coming"> → {counted(sample)}</span>}
        </>
    );
}
