// wording.ts: how a run and its numbers are called on the page.
import { computed } from '@preact/signals';
import { measured } from '../core/expect.ts';
import { percent } from '../core/figures.ts';
import type { Entry } from './entry.ts';
import { bitsAt, scoreAt } from './history.ts';
import { groups, lab, runs } from './page.ts';
import { badges, mixerTitle, taskTitle } from './setup.ts';

const SHORT = 32; // letters of a text in a run's name
/** A text of equations in few words: its comment, else what it ends with. */
export function titleOfText(text: string): string {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    const words = (/^\s*#\s*(.*)$/.exec(lines[0] ?? '')?.[1] ?? lines[lines.length - 1] ?? '').trim();
    return words.length > SHORT ? `${words.slice(0, SHORT - 1)}…` : words;
}
/** A key that was changed, in a run's name. */
export const changeText = (key: string, value = ''): string =>
    key === 'eq' ? titleOfText(value) : `${key}=${value}`;

/** The names of the page's runs; of those that would be called alike the second is (2). */
const names = computed(() => {
    const found = new Map<Entry, string>();
    const called = new Map<string, number>();
    for (const entry of runs.value) {
        const name = plainName(entry);
        const times = (called.get(name) ?? 0) + 1;
        called.set(name, times);
        found.set(entry, times > 1 ? `${name} (${times})` : name);
    }
    return found;
});
export const nameOf = (entry: Entry): string => names.value.get(entry) ?? plainName(entry);
/** Short name of a run: its mechanism, its task where there are several, what was changed, the file that it
 * came from. */
function plainName(entry: Entry): string {
    const all = runs.value.map(({ values }) => values);
    const changes = badges(lab(), all, entry.values).map((key) => changeText(key, entry.values[key]));
    const task = groups.value.length > 1 ? [taskTitle(lab(), entry.values)] : [];
    const file = entry.file ? [entry.file.name] : [];
    return [mixerTitle(lab(), entry.values), ...task, ...changes, ...file].join(' · ');
}

/** How good a run was when it was last tried by a step; a text is judged in bits per character, too, numbers
 * by the share of their variance that is explained. */
export function scoreText(entry: Entry, step: number): string {
    const share = scoreAt(entry, step);
    if (share === undefined) return '–';
    if (entry.history.points.some(({ regression }) => regression)) return measured('r2', share);
    const bits = bitsAt(entry, step);
    return bits === undefined ? percent(share) : `${percent(share)}, ${bits.toFixed(2)} bits`;
}
