// list.ts: the views of the page, in the order of their tabs, and the four places where they stand. A view is
// one file that exports its component as default, and one entry here; it is fetched when it is first opened,
// so that the first view stays small.
import type { ComponentType } from 'preact';

/** The four places of the page, and the view that each opens with. */
export const PLACES = [
    { place: 'Story', front: 'start' },
    { place: 'Compare', front: 'experiment' },
    { place: 'Build', front: 'equations' },
    { place: 'Proofs', front: 'theorems' },
] as const;

export interface ViewEntry {
    /** In the address: `view=id`. */
    readonly id: string;
    /** Where it stands; views of a place follow one another. */
    readonly place: (typeof PLACES)[number]['place'];
    readonly title: string;
    /** What to look for; stands above the view. Empty where the view says it itself. */
    readonly sentence: string;
    readonly load: () => Promise<{ default: ComponentType }>;
}

/** Where an address that names no view leads. */
export const FIRST_VIEW = 'experiment';

export const VIEWS: readonly ViewEntry[] = [
    {
        id: 'start',
        place: 'Story',
        title: 'Story',
        sentence: '',
        load: () => import('./start.tsx'),
    },
    {
        id: 'board',
        place: 'Compare',
        title: 'Board',
        sentence: 'Which mechanism learns which task? Press a cell to open its run.',
        load: () => import('./board.tsx'),
    },
    {
        id: FIRST_VIEW,
        place: 'Compare',
        title: 'Experiment',
        sentence: '',
        load: () => import('./experiment.tsx'),
    },
    {
        id: 'inside',
        place: 'Compare',
        title: 'Inside',
        sentence:
            'What has it learnt, and how does it use it? One example, one block, every part. Drag the training history to watch it form.',
        load: () => import('./within.tsx'),
    },
    {
        id: 'length',
        place: 'Compare',
        title: 'Length',
        sentence:
            'Does it still work on longer input than it was trained on? Watch which curves stay high to the right of the dotted line.',
        load: () => import('./length.tsx'),
    },
    {
        id: 'digits',
        place: 'Compare',
        title: 'Digits',
        sentence:
            'An image is a sequence, too. Draw one, and watch the answer form while it is read, row by row.',
        load: () => import('./digits.tsx'),
    },
    {
        id: 'write',
        place: 'Compare',
        title: 'Write',
        sentence:
            'Type a beginning and let a model continue it. The stronger the colour, the more a letter surprised the model.',
        load: () => import('./write.tsx'),
    },
    {
        id: 'equations',
        place: 'Build',
        title: 'Equations',
        sentence:
            'Write a mechanism that nobody has built: its equations, one per line. They are checked as you type, and ' +
            'trained alongside the others at the press of a button.',
        load: () => import('./equations.tsx'),
    },
    {
        id: 'exercises',
        place: 'Build',
        title: 'Exercises',
        sentence:
            'Train, look, answer. The page corrects a sheet by training every model again, to the same bits.',
        load: () => import('./exercises.tsx'),
    },
    {
        id: 'theorems',
        place: 'Proofs',
        title: 'Theorems',
        sentence:
            'Claims of the papers to try by hand, and a list of the others: change something, and see whether the number ' +
            'under the picture stays below its bound.',
        load: () => import('./theorems.tsx'),
    },
    {
        id: 'verify',
        place: 'Proofs',
        title: 'Verify',
        sentence:
            'Every row gets a tick or a cross: this browser recomputes what the native program computed, ' +
            'and every bit must match.',
        load: () => import('./verify.tsx'),
    },
    {
        id: 'papers',
        place: 'Proofs',
        title: 'Papers',
        sentence:
            'The papers’ tables, trained again: do the rows rank as in the paper? Press a dot to train a small version of its row here.',
        load: () => import('./papers.tsx'),
    },
    {
        id: 'about',
        place: 'Proofs',
        title: 'About',
        sentence:
            'What each mechanism is: see how its formula differs from the one before, and follow it into the code.',
        load: () => import('./about.tsx'),
    },
];
