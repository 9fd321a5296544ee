// wasm.mjs: the rows of `seqmix bench` in WebAssembly: node bench/wasm.mjs [--chromium] [--json] [--quick] [--seconds S] [NAME...]
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bench, open } from './measure.mjs';

const root = new URL('..', import.meta.url);
const args = process.argv.slice(2);
const flag = (name) => args.includes(name) && !!args.splice(args.indexOf(name), 1);
const [json, quick, inBrowser] = [flag('--json'), flag('--quick'), flag('--chromium')];
const at = args.indexOf('--seconds');
const seconds = at >= 0 ? Number(args.splice(at, 2)[1]) : undefined;
const options = { names: args, quick, ...(seconds && { seconds }) };

const cell = (value, digits, unit = '') => (value ? value.toFixed(digits) + unit : '');
let first = true;
function print(row) {
    if (json) return console.log(JSON.stringify(row));
    if (first)
        console.log(
            `${row.engine}, one thread; processor time of the median run\n${' '.repeat(32)}         ms   spread  GFLOP/s ceiling    GB/s       MB  target`,
        );
    first = false;
    if (row.skipped) return console.log(`${row.name.padEnd(32)} skipped: ${row.skipped}`);
    console.log(
        [
            row.name.padEnd(32),
            row.median.toFixed(4).padStart(10),
            cell(100 * row.spread, 0, ' %').padStart(8),
            cell(row.gflops, 1).padStart(8),
            cell(100 * row.share, 0, ' %').padStart(7),
            cell(row.gbytes, 1).padStart(7),
            cell(row.bytes * 1e-6, 2).padStart(8),
            '',
            row.target,
        ].join(' '),
    );
}

if (!inBrowser) {
    const cpu = async () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1000;
    };
    const lab = await open(readFileSync(new URL('build/wasm/bench.wasm', root)));
    await bench(lab, 'node', cpu, print, options);
} else {
    const { findChromium, launchPlain } = await import('./chromium.mjs');
    const { why } = findChromium();
    if (why) {
        console.log(
            json ? JSON.stringify({ engine: 'chromium', skipped: why }) : `chromium: skipped: ${why}`,
        );
    } else {
        const browser = await launchPlain(fileURLToPath(root));
        await browser.page.exposeFunction('out', (row) => print(JSON.parse(row)));
        await browser.page.evaluate(async (o) => {
            const { bench, open } = await import('/bench/measure.mjs');
            const lab = await open(await (await fetch('/build/wasm/bench.wasm')).arrayBuffer());
            await bench(lab, 'chromium', globalThis.cpu, (row) => globalThis.out(JSON.stringify(row)), o);
        }, options);
        await browser.close();
    }
}
