// card.mjs: what a link to the page shows: web/card.png, the card at the story's end as the built page
// draws it (make site). `make card` writes it again.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from './browser.mjs';

const root = join(import.meta.dirname, '..');
const lab = await launch(join(root, 'dist'));
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
await lab.close();
