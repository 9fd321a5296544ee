// marks.ts: the sign of each run: a colour (Okabe & Ito's, in palette.css) and a shape that follow it through
// every view.

export interface Mark {
    /** The custom property that holds the colour. */
    colour: string;
    name: string;
    /** SVG path in a square from -8 to 8. */
    path: string;
}

export const MARKS: readonly Mark[] = [
    { colour: '--run-1', name: 'blue circle', path: 'M-6.5 0a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0 -13 0Z' },
    { colour: '--run-2', name: 'vermillion square', path: 'M-5.75 -5.75H5.75V5.75H-5.75Z' },
    { colour: '--run-3', name: 'green triangle', path: 'M0 -7L7 5.5H-7Z' },
    { colour: '--run-4', name: 'purple diamond', path: 'M0 -7.75L7.75 0L0 7.75L-7.75 0Z' },
    { colour: '--run-5', name: 'orange cross', path: 'M-2.5 -7H2.5V-2.5H7V2.5H2.5V7H-2.5V2.5H-7V-2.5H-2.5Z' },
    { colour: '--run-6', name: 'sky-blue down triangle', path: 'M0 7L7 -5.5H-7Z' },
];

/** Mechanisms whose mark is theirs on every panel, view and lesson, in the order of MARKS; others share. */
export const OWNERS = ['cat', 'attention', 'las', 'focus', 'chela', 'lincat'];
