// soak.mjs: does memory stay flat? The page is started, reset and changed over and over for SOAK_MINUTES
// (10): `make soak`. The heap of the page (after a collection) and the memory of its workers' modules must
// not grow.
import { fileURLToPath } from 'node:url';
import { findChromium, launch } from '../../scripts/browser.mjs';

const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
// From a third of the time to the end: code still being compiled, the browser's own records of the visit.
const GROWTH = 1.15;

const { why } = findChromium();
if (why) {
    console.log(`soak: skipped, no browser: ${why}`);
    process.exit(0);
}
const lab = await launch(fileURLToPath(new URL('../../dist', import.meta.url)));
const { page, complaints } = await lab.open(
    '#mixer=cat&task=mqar~mixer=attention~mixer=las~mixer=focus!speed=full',
);
const client = await page.createCDPSession();
async function memory() {
    await client.send('HeapProfiler.collectGarbage');
    const { usedSize } = await client.send('Runtime.getHeapUsage');
    const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
    const workers = await Promise.all(
        page.workers().map((worker) => worker.evaluate(() => globalThis.seqmixBytes?.() ?? 0)),
    );
    return { heap: usedSize, nodes, modules: workers.reduce((a, b) => a + b, 0), workers: workers.length };
}

const start = performance.now();
let rounds = 0;
let before = null;
let now;
while (performance.now() - start < MINUTES * 60_000) {
    // Inside the page, since each script sent from outside would itself stay in memory.
    await page.evaluate(async (first) => {
        const wait = (ms) => new Promise((done) => setTimeout(done, ms));
        const button = (place) => document.querySelector(`.transport button:nth-of-type(${place})`).click();
        const press = (key) =>
            document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
        for (let round = first; round < first + 10; round++) {
            // The first button starts, goes on or pauses; the third resets.
            button(1);
            await wait(1500);
            button(1);
            await wait(100);
            button(3);
            // Another setup and other views now and then, and back.
            if (round % 3 === 0) location.hash = '#mixer=cat&task=smnist~mixer=chela!speed=full';
            if (round % 3 === 1) history.back();
            await wait(200);
            press(String(1 + (round % 4)));
            await wait(300);
            press('1');
            await wait(100);
        }
    }, rounds);
    rounds += 10;
    now = await memory();
    const minutes = (performance.now() - start) / 60_000;
    console.log(
        `${minutes.toFixed(1)} min, ${rounds} rounds: heap ${(now.heap / 1e6).toFixed(1)} MB, ${now.nodes} nodes, ` +
            `${now.workers} workers, modules ${(now.modules / 1e6).toFixed(1)} MB`,
    );
    if (!before && minutes >= MINUTES / 3) before = now;
}
now = await memory();
const grown = ['heap', 'nodes', 'modules', 'workers'].filter(
    (what) => before && now[what] > GROWTH * before[what],
);
if (complaints.length) console.log(complaints);
const failed = !before || grown.length > 0 || complaints.length > 0;
console.log(failed ? `memory grew: ${grown.join(', ') || 'too few rounds'}` : `flat over ${MINUTES} minutes`);
await lab.close();
process.exit(failed ? 1 : 0);
