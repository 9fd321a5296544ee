// tasks_data.d.ts: what scripts/page-data.mjs makes of the examples in docs/TASKS.md when the page is built.
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
