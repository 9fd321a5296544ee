// documents.d.ts: what scripts/page-data.mjs makes of documents, results and proofs when the page is built.

// What scripts/page-data.mjs makes of the documents when the page is built.
declare module 'virtual:about' {
    interface Formula {
        says: string;
        equation: string;
        mathml: string;
    }
    interface Mechanism {
        formulas: Formula[];
        text: string; // of a mixer that is one, else ""
        files: { kernels: string[]; oracle: string[]; model: string[] };
    }
    const about: {
        mixers: Record<string, Mechanism>;
        errata: { number: number; title: string; source: string; html: string }[];
        version: string;
        licence: string;
        packages: { name: string; version: string; licence: string }[];
        sources: boolean;
    };
    export default about;
}

// What scripts/page-data.mjs makes of the presets' claims when the page is built.
declare module 'virtual:lessons' {
    interface Promised {
        /** Run, length (0: its own), metric, low, high, the run that is subtracted (0: none); on how many
         * seeds it holds of those that were measured. */
        claims: [number, number, 'accuracy' | 'r2' | 'bits', number, number, number, number, number][];
        /** Of the longest run. */
        steps: number;
        /** All runs one after another, by the native program on one core. */
        seconds: number;
        /** The same in Chromium, by one worker; null: some run was not timed there. */
        chromium: number | null;
    }
    const lessons: Record<string, Promised>;
    export default lessons;
}

// What scripts/truth.mjs knows of the claims when the page is built.
declare module 'virtual:truth' {
    export interface Claim {
        /** The program or Rocq file that it is named after. */
        name: string;
        claim: string;
        /** What a paper's claim supposes. */
        needs?: string;
        file: string;
        paper: boolean;
        /** Rocq files: what each supposes, states and does not cover; its theorems as Rocq prints them. */
        proved: { file: string; words: string; theorems: { name: string; statement: string }[] }[];
        /** Which paragraphs of docs/ERRATA.md these theorems speak of: "errata 9, 10", or nothing. */
        errata: string;
        /** Strongest first. */
        kinds: { kind: 'proved' | 'certified' | 'tested'; words: string }[];
        /** What was measured, its head first. */
        table?: string[][];
    }
    const claims: Claim[];
    export default claims;
}

// What scripts/reproduction.mjs makes of results/reproduction when the page is built.
declare module 'virtual:papers' {
    /** Of a row, over its seeds; shares in percent. */
    export interface Came {
        mean: number;
        least: number;
        most: number;
        rate: string;
        /** The rate is the least or the largest of those tried. */
        end: boolean;
        weights: number;
    }
    export interface Row {
        name: string;
        paper: number | null;
        ours: Came | null;
        /** What is said where `ours` is null: not run, how many of its trainings are, or that none ends. */
        without: string | null;
        /** Its training, and its easy form, as the address has them; null: no page has its task or text. */
        config: string | null;
        easy: string | null;
    }
    export type Verdict = 'holds' | 'does not hold' | 'cannot tell' | 'not run';
    export interface Table {
        name: string;
        source: string;
        title: string;
        setting: string;
        measure: string;
        /** What the paper's numbers are. */
        paperIn: string;
        /** What they are measured on, where that is another task than ours. */
        paperOn: string | null;
        seeds: number;
        /** Of one core: what it takes, and what it took (null: not run). */
        hours: number;
        spent: number | null;
        rows: Row[];
        claims: { says: string; verdict: Verdict }[];
    }
    const papers: {
        targets: { says: string; reached: boolean; came: string }[];
        tables: Table[];
    };
    export default papers;
}

// What scripts/page-data.mjs makes of the examples in docs/TASKS.md when the page is built.
declare module 'virtual:tasks' {
    /** A string of digits a row, how dark each pixel is. */
    export interface ImageExample {
        image: readonly string[];
    }
    /** Channels, and what is asked in each column (null: nothing), in percent of the largest. */
    export interface SequenceExample {
        rows: readonly (readonly number[])[];
        asked: readonly (number | null)[];
        /** Numbers on both sides of 0, not tokens. */
        signed: boolean;
    }
    const tasks: Readonly<Record<string, ImageExample | SequenceExample>>;
    export default tasks;
}

// What scripts/page-data.mjs makes of build/docs/OPERATIONS.md, docs/EQUATIONS.md and
// examples/equations.
declare module 'virtual:equations' {
    interface Operation {
        name: string;
        help: string;
        takes: string;
        gives: string;
        cost: string;
        mathml: string;
        example: string;
    }
    interface Start {
        title: string;
        text: string;
        /** 1: the block adds its input to what the text gives. */
        residual: number;
    }
    const equations: { operations: Operation[]; builtIns: Start[]; examples: Start[] };
    export default equations;
}
