// looks.mjs: what can be said of the looks of any page in a browser.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

/** Pixels that the page sticks out to the right of the screen. */
export const sticksOut = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

/**
 * What is cut: a menu whose choice is wider than its room, letters beyond the edge of a drawing that hides
 * what sticks out. And what folds, if the lines of its heading would stand too far apart.
 */
export const cut = (page) =>
    page.evaluate(() => {
        const seen = (one) => one.checkVisibility() && one.getBoundingClientRect().width > 2;
        const all = (selector) => [...document.querySelectorAll(selector)].filter(seen);
        const pen = document.createElement('canvas').getContext('2d');
        const menus = all('select').filter((menu) => {
            const style = getComputedStyle(menu);
            pen.font = style.font;
            const arrow = 16 + parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
            return pen.measureText(menu.selectedOptions[0]?.text ?? '').width > menu.clientWidth - arrow;
        });
        const letters = all('svg text').filter((text) => {
            const drawing = text.ownerSVGElement;
            if (getComputedStyle(drawing).overflowX === 'visible') return false;
            const [inner, outer] = [text.getBoundingClientRect(), drawing.getBoundingClientRect()];
            return inner.left < outer.left - 1 || inner.right > outer.right + 1;
        });
        const folds = all('summary').filter((one) => {
            const { lineHeight, fontSize } = getComputedStyle(one);
            return parseFloat(lineHeight) > 1.7 * parseFloat(fontSize);
        });
        return [...menus, ...letters, ...folds].map(
            (one) => `${one.tagName} ${(one.selectedOptions?.[0] ?? one).textContent}`,
        );
    });

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
