// worker-source.d.ts: the script that worker.ts becomes; scripts/package.mjs writes the module.
declare const text: string;
export default text;
