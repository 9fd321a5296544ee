// onnx.mjs: the node tests of `seqmix vectors --onnx` run by onnxruntime-node (--web: onnxruntime-web),
// results as node tests again, which `seqmix judge` reads:
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
const wanted = flag('--web') ? 'onnxruntime-web' : 'onnxruntime-node';
const at = args.indexOf('--runtime');
const runtime = resolve(at >= 0 ? args.splice(at, 2)[1] : '.');
if (args.length !== 2) {
    console.error('node bench/peers/onnx.mjs SET RESULTS [--runtime FOLDER] [--contrib] [--web]');
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
console.log(`${wanted} ${ort.env.versions.web ?? ort.env.versions.node}`);
let ran = 0;
const refused = {};
for (const name of readdirSync(set).filter((name) => name.startsWith('test_'))) {
    const folder = join(set, name);
    if (!existsSync(join(folder, 'model.onnx'))) continue;
    const model = readModel(join(folder, 'model.onnx'));
    try {
        const path = join(folder, 'model.onnx');
        const elsewhere = contrib && model.opsets.some(({ version }) => version >= 27);
        const session = await ort.InferenceSession.create(
            elsewhere ? inDomain(path, 'com.microsoft', 1) : readFileSync(path),
            { logSeverityLevel: 4, intraOpNumThreads: 1 },
        );
        const feeds = {};
        for (let k = 0; k < model.inputs.length; k++) {
            const x = readTensor(join(folder, 'test_data_set_0', `input_${k}.pb`));
            feeds[x.name] = new ort.Tensor('float32', x.data, x.dims);
        }
        const given = await session.run(feeds);
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
console.log(`${ran} cases ran; ${Object.values(refused).flat().length} did not`);
for (const [why, names] of Object.entries(refused)) console.log(`${names.join(', ')}:\n    ${why}`);
