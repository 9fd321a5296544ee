// chromium.mjs: a headless Chromium on one empty page of this project,
// with the processor time of its renderer.
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer from 'puppeteer-core';
import { serve } from '../../scripts/serve.mjs';
import { findChromium } from '../../scripts/browser.mjs';

export { findChromium };

const FLAGS = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-dev-shm-usage',
];
const QUIET = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** Processes that descend from this one and render a page, by /proc. */
function renderers() {
    const parent = new Map();
    for (const name of readdirSync('/proc')) {
        if (!/^\d+$/.test(name)) continue;
        try {
            const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
            parent.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
        } catch {
            // ended meanwhile
        }
    }
    const family = new Set([process.pid]);
    for (let grew = true; grew;) {
        grew = false;
        for (const [child, of] of parent)
            if (family.has(of) && !family.has(child)) {
                family.add(child);
                grew = true;
            }
    }
    return [...family].filter((pid) => {
        try {
            return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('--type=renderer');
        } catch {
            return false;
        }
    });
}
/** Milliseconds of processor time that all threads of these processes have used. */
function used(pids) {
    let ns = 0;
    for (const pid of pids)
        for (const thread of readdirSync(`/proc/${pid}/task`))
            try {
                ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
            } catch {
                // ended meanwhile
            }
    return ns / 1e6;
}

/** Serve `folder`, open its bench/browser/empty.html; the page’s global `cpu()` is its processor time. */
export async function launchPlain(folder) {
    const server = await serve(folder, 0);
    const profile = await mkdtemp(join(tmpdir(), 'seqmix-bench-'));
    const browser = await puppeteer.launch({
        executablePath: findChromium().path,
        args: [...FLAGS, ...QUIET],
        userDataDir: profile,
        protocolTimeout: 3_600_000,
    });
    const page = await browser.newPage();
    page.on('pageerror', (error) => console.error(`page: ${error.message}`));
    await page.goto(`${server.address}bench/browser/empty.html`);
    const pids = renderers();
    await page.exposeFunction('cpu', () => used(pids));
    return {
        page,
        version: await browser.version(),
        async close() {
            await browser.close();
            await server.close();
            await rm(profile, { recursive: true, force: true });
        },
    };
}
