// data.d.ts: what scripts/page-data.mjs makes of build/docs/OPERATIONS.md, docs/EQUATIONS.md and
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
