// behind.ts: what a part of a view follows a task later than the rest, so that all parts of it that are drawn
// anew (where another task is chosen) do not hold the page up together.
import { effect, signal, type ReadonlySignal } from '@preact/signals';
import { nextTask } from '../../core/free.ts';

/** The signal's value as of a task before; at first that of now. */
export function behind<T>(followed: ReadonlySignal<T>): ReadonlySignal<T> {
    const shown = signal(followed.peek());
    effect(() => {
        if (followed.value !== shown.peek()) void nextTask().then(() => (shown.value = followed.peek()));
    });
    return shown;
}
