// follow.ts: what a part of a view follows of a run or of the page, so that it is drawn again only when that
// changes, or a task later than the rest.
import { computed, effect, signal, type ReadonlySignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { nextTask } from '../../core/free.ts';
import type { Entry, Live } from '../../state/entry.ts';

/** One part of a run's life: it changes at some reports, the whole at every one. */
export function useLive<Key extends keyof Live>(entry: Entry, key: Key): Live[Key] {
    return useMemo(() => computed(() => entry.live.value[key]), [entry, key]).value;
}

/**
 * The signal's value as of a task before; at first that of now. So all parts that are drawn anew where
 * another task is chosen do not hold the page up together.
 */
export function behind<T>(followed: ReadonlySignal<T>): ReadonlySignal<T> {
    const shown = signal(followed.peek());
    effect(() => {
        if (followed.value !== shown.peek()) void nextTask().then(() => (shown.value = followed.peek()));
    });
    return shown;
}
