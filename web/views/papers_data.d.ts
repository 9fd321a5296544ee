// papers_data.d.ts: what scripts/reproduction.mjs makes of docs/reproduction when the page is built.
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
