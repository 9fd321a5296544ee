// picture.ts: any part of the page as an SVG file that stands by itself: its canvases as images, its drawings
// with the colours that they have here, its words where they stand.

const PAINT = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'vector-effect'];
const WORDS = ['font-size', 'font-family', 'font-weight', 'font-style', 'text-anchor', 'dominant-baseline'];
const LEFT_OUT = '.unseen, .map .read, select, button, input, progress';
const MARGIN = 16;

const escaped = (text: string) =>
    text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);

/** A drawing with the style that the page gives it written into each of its parts. */
function styled(source: Element): Element {
    const copy = source.cloneNode(false) as Element;
    const style = getComputedStyle(source);
    copy.removeAttribute('class');
    for (const name of source.matches('text, tspan') ? [...PAINT, ...WORDS] : PAINT)
        copy.setAttribute(name, style.getPropertyValue(name));
    for (const child of source.childNodes)
        if (child instanceof Element) copy.append(styled(child));
        else copy.append(child.cloneNode());
    return copy;
}

/** The words of a text node, one run for each line that they take. */
function lines(node: Text): { text: string; left: number; right: number; baseline: number }[] {
    const found: { text: string; left: number; right: number; baseline: number; top: number }[] = [];
    const range = document.createRange();
    for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const box = range.getBoundingClientRect();
        const last = found.at(-1);
        if (!box.width) continue;
        if (last?.top === box.top) {
            last.text += ` ${word}`;
            last.right = box.right;
        } else
            found.push({
                text: word,
                left: box.left,
                right: box.right,
                top: box.top,
                baseline: box.bottom - 0.22 * box.height,
            });
    }
    return found;
}

export function pictureOf(host: Element): string {
    const { left, top, width, height } = host.getBoundingClientRect();
    const [full, tall] = [Math.ceil(width) + 2 * MARGIN, Math.ceil(height) + 2 * MARGIN];
    const x = (at: number) => (at - left + MARGIN).toFixed(1);
    const y = (at: number) => (at - top + MARGIN).toFixed(1);
    const parts: string[] = [];
    const place = (box: DOMRect) =>
        `x="${x(box.left)}" y="${y(box.top)}" width="${box.width.toFixed(1)}" height="${box.height.toFixed(1)}"`;
    const words = (node: Text, style: CSSStyleDeclaration) => {
        // (As wide as here, where the picture's reader lacks the page's font.)
        for (const { text, left, right, baseline } of lines(node))
            parts.push(
                `<text x="${x(left)}" y="${y(baseline)}" textLength="${(right - left).toFixed(1)}" ` +
                    `lengthAdjust="spacingAndGlyphs" fill="${style.color}" font-size="${style.fontSize}" ` +
                    `font-weight="${style.fontWeight}" font-family="${escaped(style.fontFamily)}">${escaped(text)}</text>`,
            );
    };
    const draw = (element: Element): void => {
        const box = element.getBoundingClientRect();
        if (element.matches(LEFT_OUT) || !box.width || !box.height) return;
        const style = getComputedStyle(element);
        if (!/^rgba\(.*, 0\)$|transparent/.test(style.backgroundColor))
            parts.push(`<rect ${place(box)} fill="${style.backgroundColor}"/>`);
        if (element instanceof HTMLMeterElement) {
            const filled = new DOMRect(
                box.left,
                box.top,
                box.width * (element.value / element.max),
                box.height,
            );
            parts.push(`<rect ${place(filled)} fill="${style.color}"/>`);
        } else if (element instanceof HTMLCanvasElement)
            parts.push(
                `<image ${place(box)} preserveAspectRatio="none" style="image-rendering:${style.imageRendering}" href="${element.toDataURL()}"/>`,
            );
        else if (element instanceof SVGSVGElement) {
            const copy = styled(element);
            const at = {
                x: x(box.left),
                y: y(box.top),
                width: String(box.width),
                height: String(box.height),
            };
            for (const [name, value] of Object.entries(at)) copy.setAttribute(name, value);
            parts.push(new XMLSerializer().serializeToString(copy));
        } else
            for (const child of element.childNodes)
                if (child instanceof Element) draw(child);
                else if (child instanceof Text) words(child, style);
    };
    draw(host);
    const paper = getComputedStyle(document.body).backgroundColor;
    return (
        `<svg xmlns="http://www.w3.org/2000/svg" width="${full}" height="${tall}" viewBox="0 0 ${full} ${tall}">` +
        `<rect width="${full}" height="${tall}" fill="${paper}"/>${parts.join('')}</svg>`
    );
}
