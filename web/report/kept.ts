// kept.ts: what the reader chose, for as long as the tab is open: a report that follows a grid loads itself
// again every few seconds.
import { report, telling } from './data.ts';

export interface Choices {
    hidden: string[]; // runs
    without: string[]; // columns
    sorted: Record<string, { column: string; down: boolean }>; // tables, by their titles
    chosen: Record<string, string>; // of the lists over the charts
    focus: string; // the element that has the keyboard, by its id
}

const KEY = `seqmix-report ${report.folder}`;
const KNOWN = ['task', ...telling, ...report.over];
const NONE: Choices = {
    hidden: [],
    without: report.columns.filter((key) => !KNOWN.includes(key)), // they only follow mixer or task
    sorted: {},
    chosen: {},
    focus: '',
};

function found(): Choices {
    try {
        return { ...NONE, ...(JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as Partial<Choices>) };
    } catch {
        return NONE; // storage may be switched off
    }
}
export const choices: Choices = found();
export function keep(): void {
    try {
        sessionStorage.setItem(KEY, JSON.stringify(choices));
    } catch {
        // not kept, then
    }
}
addEventListener('focusin', ({ target }) => {
    choices.focus = (target as Element).id;
    keep();
});
export const focusAgain = (): void => document.getElementById(choices.focus)?.focus();
