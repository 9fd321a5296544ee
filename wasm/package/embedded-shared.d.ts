// embedded-shared.d.ts: seqmix-threads.wasm, gzipped, in base64; scripts/package.mjs writes the module.
declare const text: string;
export default text;
