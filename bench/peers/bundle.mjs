// bundle.mjs: the browser's peers and bench/measure.mjs's module in one file, build/bench/peers/bundle.js.
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { folder } from './data.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const from = `${here}node_modules/@tensorflow/tfjs-backend-wasm/dist/`;
for (const file of [
    'tfjs-backend-wasm.wasm',
    'tfjs-backend-wasm-simd.wasm',
    'tfjs-backend-wasm-threaded-simd.wasm',
])
    cpSync(from + file, folder + file);
await build({
    entryPoints: [`${here}browser.mjs`],
    bundle: true,
    format: 'esm',
    outfile: `${folder}bundle.js`,
    logLevel: 'error',
    target: 'chrome120',
});
