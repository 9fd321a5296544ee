// onnx.mjs: the node tests of `seqmix vectors --onnx` run by onnxruntime-node (--web: onnxruntime-web,
// --chromium: that in Chromium), results as node tests again, which `seqmix judge` reads:
//     npm install --prefix FOLDER --ignore-scripts onnxruntime-node
//     node bench/peers/onnx.mjs SET RESULTS --runtime FOLDER
//     seqmix judge --manifest SET/manifest.json RESULTS --f32 --partial
// A case that the runtime does not take is told with its own words. --contrib: operators of opset 27 as
// com.microsoft's of the same names, which a runtime may have before the standard's. Neither package is
// among the project's own: onnxruntime-node takes 290 MB.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { inDomain, readModel, readTensor, tensorBytes } from './onnx_files.mjs';

const args = process.argv.slice(2);
const flag = (name) => args.includes(name) && args.splice(args.indexOf(name), 1).length > 0;
const contrib = flag('--contrib');
const chromium = flag('--chromium');
const wanted = flag('--web') || chromium ? 'onnxruntime-web' : 'onnxruntime-node';
const at = args.indexOf('--runtime');
const runtime = resolve(at >= 0 ? args.splice(at, 2)[1] : '.');
if (args.length !== 2) {
    console.error(
        'node bench/peers/onnx.mjs SET RESULTS [--runtime FOLDER] [--contrib] [--web | --chromium]',
    );
    process.exit(2);
}
const [set, results] = args;
const require = createRequire(join(runtime, 'from.js'));
let ort;
try {
    ort = require(wanted);
} catch (error) {
    console.log(`skipped: ${wanted} is not in ${runtime}: ${error.message.split('\n')[0]}`);
    process.exit(0);
}
console.log(`${wanted} ${ort.env.versions.web ?? ort.env.versions.node}${chromium ? ', in Chromium' : ''}`);

const options = { logSeverityLevel: 4, intraOpNumThreads: 1 };
async function here(model, feeds) {
    const session = await ort.InferenceSession.create(model, options);
    for (const name in feeds) feeds[name] = new ort.Tensor('float32', feeds[name].data, feeds[name].dims);
    return session.run(feeds);
}

/**
 * The same in a page of Chromium, by the bundle that a page would import; WebAssembly, one thread. Numbers go
 * as words, since JSON has no -Infinity.
 */
async function inChromium() {
    const { launchPlain } = await import('../browser/chromium.mjs');
    const browser = await launchPlain(join(runtime, 'node_modules/onnxruntime-web/dist'));
    const run = async (model, feeds) => {
        const plain = Object.values(feeds).map(({ name, dims, data }) => ({
            name,
            dims,
            data: Array.from(data, String),
        }));
        const given = await browser.page.evaluate(
            async (bytes, inputs, settings) => {
                const runtime = await import('/ort.wasm.bundle.min.mjs');
                runtime.env.wasm.numThreads = 1;
                const session = await runtime.InferenceSession.create(Uint8Array.from(bytes), settings);
                const tensors = inputs.map(({ name, dims, data }) => [
                    name,
                    new runtime.Tensor('float32', Float32Array.from(data, Number), dims),
                ]);
                const found = await session.run(Object.fromEntries(tensors));
                return Object.entries(found).map(([name, { dims, data }]) => [
                    name,
                    { dims: [...dims], data: Array.from(data, String) },
                ]);
            },
            [...model],
            plain,
            options,
        );
        return Object.fromEntries(
            given.map(([name, { dims, data }]) => [name, { dims, data: Float32Array.from(data, Number) }]),
        );
    };
    return { run, close: browser.close };
}
const { run, close } = chromium ? await inChromium() : { run: here, close() {} };
let ran = 0;
const refused = {};
for (const name of readdirSync(set).filter((name) => name.startsWith('test_'))) {
    const folder = join(set, name);
    if (!existsSync(join(folder, 'model.onnx'))) continue;
    const model = readModel(join(folder, 'model.onnx'));
    try {
        const path = join(folder, 'model.onnx');
        const elsewhere = contrib && model.opsets.some(({ version }) => version >= 27);
        const feeds = {};
        for (let k = 0; k < model.inputs.length; k++) {
            const x = readTensor(join(folder, 'test_data_set_0', `input_${k}.pb`));
            feeds[x.name] = x;
        }
        const given = await run(elsewhere ? inDomain(path, 'com.microsoft', 1) : readFileSync(path), feeds);
        const to = join(results, name, 'test_data_set_0');
        mkdirSync(to, { recursive: true });
        model.node.outputs.forEach((output, k) => {
            const { dims, data } = given[output];
            writeFileSync(join(to, `output_${k}.pb`), tensorBytes(output, dims, data));
        });
        ran++;
    } catch (error) {
        const why = error.message
            .replaceAll(/\s+/g, ' ')
            .replaceAll(folder, 'FOLDER')
            .replaceAll(name, 'NAME');
        (refused[why.slice(0, 240)] ??= []).push(name);
    }
}
await close();
console.log(`${ran} cases ran; ${Object.values(refused).flat().length} did not`);
for (const [why, names] of Object.entries(refused)) console.log(`${names.join(', ')}:\n    ${why}`);
