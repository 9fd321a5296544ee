// truth_data.d.ts: what scripts/truth.mjs knows of the claims when the page is built.
declare module 'virtual:truth' {
    export interface Claim {
        /** The program or Rocq file that it is named after. */
        name: string;
        claim: string;
        file: string;
        paper: boolean;
        /** Rocq files with their theorems, as Rocq prints them. */
        proved: { file: string; theorems: { name: string; statement: string }[] }[];
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
