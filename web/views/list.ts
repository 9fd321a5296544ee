// list.ts: the views of the page, in the order of their tabs. A view is one file that exports its component as
// default, and one entry here; it is fetched when it is first opened, so that the first view stays small.
import type { ComponentType } from 'preact';
import Experiment from './experiment.tsx';

export interface ViewEntry {
    /** In the address: `view=id`. */
    readonly id: string;
    readonly title: string;
    /** What to look for; stands above the view. Empty where the view says it itself. */
    readonly sentence: string;
    /** It shows the page's runs: the buttons that train them stand above it. */
    readonly runs: boolean;
    readonly load: () => Promise<{ default: ComponentType }>;
}

export const FIRST_VIEW = 'experiment';

export const VIEWS: readonly ViewEntry[] = [
    {
        id: FIRST_VIEW,
        title: 'Experiment',
        sentence: '',
        runs: true,
        load: () => Promise.resolve({ default: Experiment }), // at once
    },
];
