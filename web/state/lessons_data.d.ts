// lessons_data.d.ts: what scripts/page-data.mjs makes of the presets' claims when the page is built.
declare module 'virtual:lessons' {
    interface Promised {
        /** Run, length (0: its own), metric, low, high, the run that is subtracted (0: none); on how many
         * seeds it holds of those that were measured. */
        claims: [number, number, 'accuracy' | 'r2' | 'bits', number, number, number, number, number][];
        /** Of the longest run. */
        steps: number;
        /** All runs one after another, by the native program on one core. */
        seconds: number;
    }
    const lessons: Record<string, Promised>;
    export default lessons;
}
