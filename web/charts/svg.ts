// svg.ts: a chart as an SVG file, for papers and slides: axes with units, curves with their shapes, a legend.
// Made from the same curves as the chart on the page.
import { ticks } from './axes.ts';
import type { Curve } from './series.ts';

export interface Drawn {
    title: string;
    xLabel: string;
    xEnd: number;
    yRange: [number, number];
    log: boolean;
    formatX(value: number): string;
    formatY(value: number): string;
    /** Of the ground, the text and the lines behind the curves. */
    colours: { sheet: string; ink: string; rule: string };
    curves: readonly (Curve & { name: string; colour: string; path: string })[];
    /** What stands at the horizontal axis, from left to right; without: some round values. */
    xTicks?: readonly { at: number; label: string }[];
    width?: number;
    /** Every point has its shape, and says its values to a pointer that rests on it. */
    everyPoint?: boolean;
}

const [WIDTH, HEIGHT, CHARACTER] = [720, 400, 7]; // a character, on average
const [LEFT, RIGHT, TOP, BOTTOM] = [64, 24, 48, 56];

const escaped = (text: string) =>
    text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);
const round = (n: number) => Math.round(n * 100) / 100;

/** Powers of ten from 10^low to 10^high, with twos and fives, or any round values, where they are few. */
function powers(low: number, high: number): number[] {
    const all = (steps: readonly number[]) =>
        Array.from({ length: Math.floor(high) - Math.floor(low) + 1 }, (_, i) => Math.floor(low) + i)
            .flatMap((power) => steps.map((step) => Number(`${step}e${power}`)))
            .filter((value) => Math.log10(value) >= low - 1e-9 && Math.log10(value) <= high + 1e-9);
    const tens = all([1]);
    const some = tens.length > 2 ? tens : all([1, 2, 5]);
    return some.length > 1 ? some : ticks(10 ** low, 10 ** high);
}

export function svgOf(chart: Drawn): string {
    const { colours, curves, log, xEnd, yRange, width = WIDTH } = chart;
    const height = HEIGHT - TOP - BOTTOM;
    const full = TOP + height;
    const scale = (value: number) => (log ? Math.log10(value) : value);
    const [low, high] = yRange.map(scale) as [number, number];
    const x = (value: number) => round(LEFT + (value / xEnd) * (width - LEFT - RIGHT));
    const y = (value: number) => round(full - ((scale(value) - low) / (high - low || 1)) * height);
    const yTicks = log ? powers(low, high) : ticks(low, high);
    const parts: string[] = [];
    for (const tick of yTicks)
        parts.push(
            `<line x1="${LEFT}" x2="${width - RIGHT}" y1="${y(tick)}" y2="${y(tick)}" stroke="${colours.rule}"/>`,
            `<text x="${LEFT - 8}" y="${y(tick) + 4}" text-anchor="end">${escaped(chart.formatY(tick))}</text>`,
        );
    const xTicks = chart.xTicks ?? ticks(0, xEnd).map((at) => ({ at, label: chart.formatX(at) }));
    let free = 0; // of what is left of it
    for (const { at, label } of xTicks) {
        const half = (CHARACTER * label.length) / 2;
        if (chart.xTicks && x(at) - half < free) continue;
        free = x(at) + half + CHARACTER;
        parts.push(`<text x="${x(at)}" y="${full + 18}" text-anchor="middle">${escaped(label)}</text>`);
    }
    parts.push(
        `<text x="${width - RIGHT}" y="${full + 38}" text-anchor="end">${escaped(chart.xLabel)}</text>`,
    );
    const isInside = (value: number | null): value is number => value !== null && (!log || value > 0);
    const most = Math.floor((width - LEFT - 20 - RIGHT) / CHARACTER); // characters of a name
    const named = (text: string) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
    const lines: string[] = []; // over all bands
    let [left, below] = [LEFT, full + 64]; // of the legend: as many in a line as find a place
    for (const curve of curves) {
        const points = (values: readonly (number | null)[]) =>
            curve.xs.flatMap((at, j) => (isInside(values[j] ?? null) ? [`${x(at)},${y(values[j]!)}`] : []));
        const [lower, upper] = [points(curve.low), points(curve.high)];
        if (upper.length > 1)
            parts.push(
                `<polygon points="${[...upper, ...lower.reverse()].join(' ')}" fill="${curve.colour}" opacity="0.2"/>`,
            );
        const line = points(curve.line);
        lines.push(
            `<polyline points="${line.join(' ')}" fill="none" stroke="${curve.colour}" stroke-width="2"/>`,
        );
        const shape = (at: number, height: number, says = '') =>
            `<path d="${curve.path}" transform="translate(${at} ${height}) scale(0.75)" fill="${curve.colour}"` +
            (says ? `><title>${escaped(says)}</title></path>` : '/>');
        const there = curve.xs.flatMap((_, j) => (isInside(curve.line[j] ?? null) ? [j] : []));
        for (const j of chart.everyPoint ? there : there.slice(-1)) {
            const says = `${curve.name}: ${chart.formatX(curve.xs[j]!)}, ${chart.formatY(curve.line[j]!)}`;
            lines.push(shape(x(curve.xs[j]!), y(curve.line[j]!), chart.everyPoint ? says : ''));
        }
        const name = named(curve.name);
        const wide = 20 + CHARACTER * name.length;
        if (left > LEFT && left + wide > width - RIGHT) [left, below] = [LEFT, below + 20];
        parts.push(shape(left + 6, below - 4), `<text x="${left + 20}" y="${below}">${escaped(name)}</text>`);
        left += wide + 2 * CHARACTER;
    }
    const total = curves.length ? below + 20 : full + 64;
    return (
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${total}" width="${width}" height="${total}" ` +
        `font-family="system-ui, sans-serif" font-size="13" fill="${colours.ink}">` +
        `<rect width="${width}" height="${total}" fill="${colours.sheet}"/>` +
        `<text x="${LEFT + 10 * chart.title.length > width ? 8 : LEFT}" y="26" font-size="16" font-weight="600">${escaped(chart.title)}</text>${parts.join('')}${lines.join('')}</svg>`
    );
}

/** Pictures beside one another over a caption, as one. */
export function composed(
    pictures: readonly string[],
    caption: readonly string[],
    { sheet, ink }: { sheet: string; ink: string },
): string {
    const GAP = 16;
    const size = (svg: string) =>
        (/ width="([\d.]+)" height="([\d.]+)"/.exec(svg) ?? []).slice(1).map(Number);
    let [left, tall] = [GAP, 0];
    const placed = pictures.map((svg) => {
        const [width = 0, height = 0] = size(svg);
        const at = left;
        left += width + GAP;
        tall = Math.max(tall, height);
        return svg.replace('<svg ', `<svg x="${at}" y="${GAP}" `);
    });
    const most = Math.max(20, Math.floor((left - 2 * GAP) / 7.5)); // characters of a line at this size
    const lines = caption.flatMap((text) =>
        text.split(' ').reduce<string[]>((done, word) => {
            const last = done.at(-1);
            if (last !== undefined && last.length + word.length < most)
                done[done.length - 1] = `${last} ${word}`;
            else for (let i = 0; i < word.length; i += most) done.push(word.slice(i, i + most));
            return done;
        }, []),
    );
    const total = GAP + tall + 24 + 20 * lines.length + GAP;
    const words = lines.map(
        (line, i) => `<text x="${GAP}" y="${GAP + tall + 24 + 20 * i}">${escaped(line)}</text>`,
    );
    return (
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left} ${total}" width="${left}" height="${total}" ` +
        `font-family="system-ui, sans-serif" font-size="13" fill="${ink}">` +
        `<rect width="${left}" height="${total}" fill="${sheet}"/>${placed.join('')}${words.join('')}</svg>`
    );
}

/** The same as a PNG at twice the size. */
export async function pngOf(svg: string): Promise<Blob> {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = 2 * image.width;
    canvas.height = 2 * image.height;
    canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done, fail) =>
        canvas.toBlob(
            (blob) => (blob ? done(blob) : fail(new Error('this browser cannot make a PNG'))),
            'image/png',
        ),
    );
}
