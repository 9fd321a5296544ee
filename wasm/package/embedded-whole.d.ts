// embedded-whole.d.ts: seqmix-whole.wasm, gzipped, in base64; scripts/package.mjs writes the module.
declare const text: string;
export default text;
