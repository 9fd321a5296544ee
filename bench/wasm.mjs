// wasm.mjs: the rows of `seqmix bench` in WebAssembly: node bench/wasm.mjs [--chromium] [--relaxed] [--json]
// [--quick] [--seconds S] [NAME...]
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { bench, open } from './measure.mjs';

const root = new URL('..', import.meta.url);
const args = process.argv.slice(2);
const flag = (name) => args.includes(name) && !!args.splice(args.indexOf(name), 1);
const [json, quick, inBrowser] = [flag('--json'), flag('--quick'), flag('--chromium')];
// Fast mode's rows in the module with relaxed SIMD (make relaxed), beside their own ceiling.
const relaxed = flag('--relaxed');
const file = `build/wasm/bench${relaxed ? '-relaxed' : ''}.wasm`;
const at = args.indexOf('--seconds');
const given = at >= 0 ? (args.splice(at, 2)[1] ?? '') : '1';
const seconds = at >= 0 ? Number(given) : undefined;
function refuse(sentence) {
    console.error(`bench/wasm.mjs: ${sentence}`);
    process.exit(2);
}
if (!(Number(given) >= 0.01 && Number(given) <= 3600))
    refuse(`--seconds is '${given}'; it must be the time for each row, 0.01 to 3600`);
const odd = args.find((arg) => arg.startsWith('-'));
if (odd)
    refuse(`it takes --chromium, --relaxed, --json, --quick, --seconds S and names of rows, not '${odd}'`);
const none = (unknown) =>
    unknown !== undefined &&
    refuse(
        `no row is called '${unknown}' in WebAssembly; a name, or a part of one, as seqmix bench prints them`,
    );
const names = relaxed && !args.length ? ['fast=1', 'ceiling/'] : args;
const options = { names, quick, ...(seconds && { seconds }) };

const cell = (value, digits, unit = '') => (value ? value.toFixed(digits) + unit : '');
let first = true;
function print(row) {
    if (relaxed) row.engine += ', relaxed';
    if (relaxed && !row.target?.includes('relaxed')) row.target = ''; // another's: native fast mode's
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

if (relaxed && !existsSync(new URL(file, root))) {
    const why = `${file} is not built (make relaxed, needs clang 16)`;
    console.log(json ? JSON.stringify({ engine: 'relaxed', skipped: why }) : `relaxed: skipped: ${why}`);
} else if (!inBrowser) {
    if (relaxed) setFlagsFromString('--experimental-wasm-relaxed-simd'); // before Node 21
    const cpu = async () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1000;
    };
    const lab = await open(readFileSync(new URL(file, root)));
    none(await bench(lab, 'node', cpu, print, options));
} else {
    const { findChromium, launchPlain } = await import('./browser/chromium.mjs');
    const { why } = findChromium();
    if (why) {
        console.log(
            json ? JSON.stringify({ engine: 'chromium', skipped: why }) : `chromium: skipped: ${why}`,
        );
    } else {
        const browser = await launchPlain(fileURLToPath(root));
        await browser.page.exposeFunction('out', (row) => print(JSON.parse(row)));
        const unknown = await browser.page.evaluate(
            async (o, module) => {
                const { bench, open } = await import('/bench/measure.mjs');
                const lab = await open(await (await fetch(`/${module}`)).arrayBuffer());
                return bench(
                    lab,
                    'chromium',
                    globalThis.cpu,
                    (row) => globalThis.out(JSON.stringify(row)),
                    o,
                );
            },
            options,
            file,
        );
        await browser.close();
        none(unknown);
    }
}
