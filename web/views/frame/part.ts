// part.ts: one part of a run's life, so that a view is drawn again only when that part changes and not at
// every report.
import { computed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Entry, Live } from '../../state/entry.ts';

export function useLive<Key extends keyof Live>(entry: Entry, key: Key): Live[Key] {
    return useMemo(() => computed(() => entry.live.value[key]), [entry, key]).value;
}
