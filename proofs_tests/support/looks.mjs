// looks.mjs: what can be said of the looks of any page in a browser.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

/** Pixels that the page sticks out to the right of the screen. */
export const sticksOut = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

/** What axe-core finds wrong with the page as it stands, by all its rules or by these, one line each. */
export async function violations(page, rules) {
    const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    await page.evaluate(source); // past the page's own policy, which would not let a script in
    return page.evaluate(async (rules) => {
        const { violations } = await globalThis.axe.run(document, rules ? { runOnly: rules } : {});
        return violations.map(
            ({ id, help, nodes }) =>
                `${id}: ${help}: ${nodes
                    .map(({ html }) => html)
                    .slice(0, 3)
                    .join(' | ')}`,
        );
    }, rules);
}
