// prefs.ts: choices of the visitor that belong to this browser and not to the address.
import { computed, effect, signal } from '@preact/signals';

function remembered(key: string): string | null {
    try {
        return localStorage.getItem(`seqmix.${key}`);
    } catch {
        return null; // storage may be switched off
    }
}
export function remember(key: string, value: string): void {
    try {
        localStorage.setItem(`seqmix.${key}`, value);
    } catch {
        // not remembered, then
    }
}

/** Training stands still while the page is in a hidden tab. */
export const pauseHidden = signal(remembered('pauseHidden') === '1');
effect(() => remember('pauseHidden', pauseHidden.value ? '1' : '0'));

/** This tab is hidden; and what the visitor set going rests for that. */
const tab = typeof document === 'undefined' ? undefined : document; // (Node has none: page_arithmetic)
export const hidden = signal(tab?.hidden ?? false);
tab?.addEventListener('visibilitychange', () => (hidden.value = tab.hidden));
export const resting = computed(() => hidden.value && pauseHidden.value);

/** The visitor wants no motion. */
export const still = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Every setting is shown, also those that can be left alone. */
export const allSettings = signal(remembered('allSettings') === '1');
effect(() => remember('allSettings', allSettings.value ? '1' : '0'));

export { remembered };
