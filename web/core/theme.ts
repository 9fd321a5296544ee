// theme.ts: light, dark, or as the system says; remembered in this browser.
import { effect, signal } from '@preact/signals';
import { remember, remembered } from './prefs.ts';

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const found = remembered('theme');
export const theme = signal<Theme>(THEMES.find((name) => name === found) ?? 'auto');
/** Counts changes of the colours that are drawn, for what is painted on canvases. */
export const painted = signal(0);

let query: MediaQueryList | undefined;
const system = () => (query ??= matchMedia('(prefers-color-scheme: dark)'));
/** The ground is dark now. */
export const isDark = (): boolean => (theme.value === 'auto' ? system().matches : theme.value === 'dark');

export function applyTheme(): void {
    effect(() => {
        document.documentElement.dataset['theme'] = theme.value;
        painted.value = painted.peek() + 1;
        remember('theme', theme.value);
    });
    // (Paper is light: canvases stay as they were painted, and styles/class.css turns them.)
    const again = () => {
        if (!matchMedia('print').matches) painted.value = painted.peek() + 1;
    };
    system().addEventListener('change', again);
    document.fonts.addEventListener('loadingdone', again); // (canvases painted before the font came)
    effect(() => {
        void painted.value;
        document.documentElement.toggleAttribute('data-dark', isDark());
    });
}
