// theme.ts: light, dark, or as the system says; remembered in this browser.
import { effect, signal } from '@preact/signals';

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

function remembered(): Theme {
    try {
        const found = localStorage.getItem('seqmix.theme');
        return THEMES.find((theme) => theme === found) ?? 'auto';
    } catch {
        return 'auto'; // storage may be switched off
    }
}

export const theme = signal<Theme>(remembered());
/** Counts changes of the colours that are drawn, for what is painted on canvases. */
export const painted = signal(0);

export function applyTheme(): void {
    effect(() => {
        document.documentElement.dataset['theme'] = theme.value;
        painted.value = painted.peek() + 1;
        try {
            localStorage.setItem('seqmix.theme', theme.value);
        } catch {
            // not remembered, then
        }
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener(
        'change',
        () => (painted.value = painted.peek() + 1),
    );
}
