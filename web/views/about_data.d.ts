// about_data.d.ts: what scripts/page-data.mjs makes of the documents when the page is built.
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
