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
}

const [WIDTH, HEIGHT] = [720, 400];
const [LEFT, RIGHT, TOP, BOTTOM] = [64, 24, 48, 56];

const escaped = (text: string) =>
    text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);
const round = (n: number) => Math.round(n * 100) / 100;

export function svgOf(chart: Drawn): string {
    const { colours, curves, log, xEnd, yRange } = chart;
    const height = HEIGHT - TOP - BOTTOM;
    const full = TOP + height;
    const scale = (value: number) => (log ? Math.log10(value) : value);
    const [low, high] = yRange.map(scale) as [number, number];
    const x = (value: number) => round(LEFT + (value / xEnd) * (WIDTH - LEFT - RIGHT));
    const y = (value: number) => round(full - ((scale(value) - low) / (high - low || 1)) * height);
    const yTicks = log
        ? Array.from(
              { length: Math.max(1, Math.floor(high) - Math.ceil(low) + 1) },
              (_, i) => 10 ** (Math.ceil(low) + i),
          )
        : ticks(low, high);
    const parts: string[] = [];
    for (const tick of yTicks)
        parts.push(
            `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(tick)}" y2="${y(tick)}" stroke="${colours.rule}"/>`,
            `<text x="${LEFT - 8}" y="${y(tick) + 4}" text-anchor="end">${escaped(chart.formatY(tick))}</text>`,
        );
    for (const tick of ticks(0, xEnd))
        parts.push(
            `<text x="${x(tick)}" y="${full + 18}" text-anchor="middle">${escaped(chart.formatX(tick))}</text>`,
        );
    parts.push(
        `<text x="${WIDTH - RIGHT}" y="${full + 38}" text-anchor="end">${escaped(chart.xLabel)}</text>`,
    );
    const inside = (value: number | null): value is number => value !== null && (!log || value > 0);
    curves.forEach((curve, i) => {
        const points = (values: readonly (number | null)[]) =>
            curve.xs.flatMap((at, j) => (inside(values[j] ?? null) ? [`${x(at)},${y(values[j]!)}`] : []));
        const [lower, upper] = [points(curve.low), points(curve.high)];
        if (upper.length > 1)
            parts.push(
                `<polygon points="${[...upper, ...lower.reverse()].join(' ')}" fill="${curve.colour}" opacity="0.2"/>`,
            );
        const line = points(curve.line);
        parts.push(
            `<polyline points="${line.join(' ')}" fill="none" stroke="${curve.colour}" stroke-width="2"/>`,
        );
        const end = line[line.length - 1]?.split(',');
        const shape = (left: string | number, at: string | number) =>
            `<path d="${curve.path}" transform="translate(${left} ${at}) scale(0.75)" fill="${curve.colour}"/>`;
        if (end) parts.push(shape(end[0]!, end[1]!));
        const below = full + 64 + 20 * i;
        parts.push(
            shape(LEFT + 6, below - 4),
            `<text x="${LEFT + 20}" y="${below}">${escaped(curve.name)}</text>`,
        );
    });
    const total = full + 64 + 20 * curves.length;
    return (
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${total}" width="${WIDTH}" height="${total}" ` +
        `font-family="system-ui, sans-serif" font-size="13" fill="${colours.ink}">` +
        `<rect width="${WIDTH}" height="${total}" fill="${colours.sheet}"/>` +
        `<text x="${LEFT}" y="26" font-size="16" font-weight="600">${escaped(chart.title)}</text>${parts.join('')}</svg>`
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
            (blob) => (blob ? done(blob) : fail(new Error('this browser gives no PNG'))),
            'image/png',
        ),
    );
}
