// card.mjs: pictures of the built page, drawn by itself: web/card.png, what a link to the page shows (the
// card at the story's end), and docs/training.webp, README.md's moving picture: a lesson from its first step
// to its last. `make card` writes both again; frames become one file by img2webp (package webp).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch } from './browser.mjs';

const root = join(import.meta.dirname, '..');
const lab = await launch(join(root, 'dist'));

async function card() {
    const { page, close } = await lab.open('#!view=start&detail=8');
    await page.waitForFunction(() => document.querySelector('.end img')?.complete, { timeout: 300_000 });
    const source = await page.$eval('.end img', (image) =>
        decodeURIComponent(image.src.replace(/^[^,]*,/, '')).replace(/ (localhost|127\.0\.0\.1)[^<]*/, ''),
    );
    await page.setViewport({ width: 1200, height: 630 });
    await page.evaluate((svg) => {
        document.body.replaceChildren(new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement);
    }, source);
    writeFileSync(
        join(root, 'web/card.png'),
        await page.screenshot({ clip: { x: 0, y: 0, width: 1200, height: 630 } }),
    );
    await close();
}

async function training() {
    const every = 40; // steps of all runs a frame
    const most = 500_000; // bytes
    const file = join(root, 'docs/training.webp');
    const { page, close } = await lab.open(
        '#mixer=cat&task=mqar~mixer=attention~mixer=attention&blocks=2&position=learned',
        { width: 1280, height: 800, ratio: 0.75 },
    );
    const runs = () => page.evaluate(() => globalThis.seqmix.runs());
    await page.waitForFunction(() => globalThis.seqmix.runs().every(({ status }) => status === 'ready'), {
        timeout: 120_000,
    });
    await page.mouse.move(5, 790);
    const folder = mkdtempSync(join(tmpdir(), 'seqmix-card-'));
    const frames = [];
    const take = async () => {
        frames.push(join(folder, `${frames.length}.png`));
        await page.screenshot({ path: frames.at(-1) });
    };
    await take();
    await page.$$eval('button', (all) => all.find((one) => one.textContent.trim() === 'Start').click());
    for (let next = every, done = false; !done;) {
        const now = await runs();
        const steps = now.reduce((sum, { step }) => sum + step, 0);
        done = now.every(({ status }) => status === 'done');
        if (steps >= next) {
            await take();
            next = steps + every;
        } else await new Promise((then) => setTimeout(then, 50));
    }
    await new Promise((then) => setTimeout(then, 1000)); // what the end says
    await take();
    const shown = frames.flatMap((frame, at) => ['-d', at === frames.length - 1 ? '3000' : '120', frame]);
    execFileSync('img2webp', ['-loop', '0', '-lossy', '-q', '55', '-m', '6', ...shown, '-o', file], {
        stdio: 'pipe',
    });
    rmSync(folder, { recursive: true });
    await close();
    const bytes = statSync(file).size;
    console.log(`docs/training.webp: ${frames.length} frames, ${bytes} bytes`);
    if (bytes > most) throw new Error(`docs/training.webp weighs ${bytes} bytes; allowed: ${most}`);
}

await card();
await training();
await lab.close();
