// curves.ts: uPlot dressed for this page: curves with their run's colour and shape, and a band where a run
// has several seeds. Knows nothing of runs; takes points.
import '../core/locale.ts';
import uPlot from 'uplot';
import { colourOf } from '../core/colour.ts';
import type { Mark } from '../core/marks.ts';
import { decades, fromZero } from './axes.ts';
import type { Curve } from './series.ts';

const PARTS = 4; // columns of a run in uPlot's table: raw, low, high, line

export interface Kind {
    /** Marks stand on each point (with room between them), or only at the end. */
    marked: boolean;
    log: boolean;
    /** Fixed range, else that of the numbers. */
    range?: [number, number];
    /** A line drawn across with its label. */
    line?: { at: number; label: string };
    /** A vertical rule. */
    rule?: number;
    /** The horizontal axis by doubling, with these places marked. */
    doubling?: readonly number[];
    format(value: number): string;
    formatX(value: number): string;
}

const SPACE = 36; // pixels between two marks of a curve

/** The axes of x and y in these colours and letters; `rem`: pixels of one. */
function axesOf(kind: Kind, ink: string, font: string, rem: number): uPlot.Axis[] {
    const grid = { stroke: colourOf('--rule'), width: 1 };
    const ticks = { show: false };

    return [
        {
            stroke: ink,
            font,
            grid: { show: false },
            ticks,
            size: 1.75 * rem,
            gap: 6,
            space: 4 * rem,
            ...(kind.doubling && { splits: [...kind.doubling], filter: (_, splits) => splits }),
            values: (_, values) => values.map((value) => (value === null ? '' : kind.formatX(value))),
        },
        {
            stroke: ink,
            font,
            grid,
            ticks,
            size: 3 * rem,
            gap: 8,
            space: 2.5 * rem,
            ...(kind.log && {
                splits: (_, __, low, high) => decades(low, high),
                filter: (_, splits) => splits,
            }),
            values: (_, values) => values.map((value) => (value === null ? '' : kind.format(value))),
        },
    ];
}

/** One chart in `host`, of the host's width and height. */
export class Curves {
    readonly #host: HTMLElement;
    readonly #kind: Kind;
    readonly #marks: readonly Mark[];
    readonly #colours: readonly string[];
    readonly #paper: string;
    readonly #plot: uPlot;
    readonly #size: ResizeObserver;
    #range: [number, number] = [0, 100];

    constructor(host: HTMLElement, kind: Kind, marks: readonly Mark[], hover: (x: number | null) => void) {
        this.#host = host;
        this.#kind = kind;
        this.#marks = marks;
        if (kind.doubling) this.#range = [8, 64]; // a logarithm has no zero
        const ink = colourOf('--ink-2');
        this.#paper = colourOf('--paper');
        this.#colours = marks.map((mark) => colourOf(mark.colour));
        const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
        // uPlot scales fonts of whole pixels only.
        const font = `${Math.round(0.75 * rem)}px ${getComputedStyle(document.body).fontFamily}`;
        const series: uPlot.Series[] = this.#colours.flatMap((stroke) => {
            const line: uPlot.Series = { stroke, width: 2, points: { show: false }, spanGaps: true };
            const edge = { ...line, width: 0 };
            return [{ ...line, width: 1, alpha: 0.3 }, edge, edge, line];
        });
        const bands = this.#colours.map((fill, i) => ({
            series: [PARTS * i + 3, PARTS * i + 2] as uPlot.Band.Bounds,
            fill: `color-mix(in srgb, ${fill} 20%, transparent)`,
        }));
        this.#plot = new uPlot(
            {
                width: Math.max(80, host.clientWidth),
                height: Math.max(80, host.clientHeight),
                legend: { show: false },
                // (Names stand right of what is drawn; where there is none its room stays: charts of the same
                // steps are as wide.)
                padding: [8, 2.75 * rem, 0, 0],
                cursor: {
                    y: false,
                    points: { show: false },
                    drag: { x: false, y: false },
                    sync: { key: 'steps', setSeries: false },
                },
                scales: {
                    x: { time: false, range: () => this.#range, distr: kind.doubling ? 3 : 1, log: 2 },
                    y: kind.range
                        ? { range: kind.range }
                        : {
                              distr: kind.log ? 3 : 1,
                              range: kind.log ? undefined : (_, low, high) => fromZero(low, high),
                          },
                },
                axes: axesOf(kind, ink, font, rem),
                series: [{}, ...series],
                bands,
                hooks: {
                    draw: [(plot) => this.#draw(plot, ink, font)],
                    setCursor: [
                        (plot) => {
                            const left = plot.cursor.left ?? -1;
                            hover(left < 0 ? null : plot.posToVal(left, 'x'));
                        },
                    ],
                },
            },
            [[], ...series.map(() => [])],
            host,
        );
        this.#size = new ResizeObserver(() => {
            const [width, height] = [host.clientWidth, host.clientHeight];
            if (width > 80 && height > 80 && (width !== this.#plot.width || height !== this.#plot.height))
                this.#plot.setSize({ width, height });
        });
        this.#size.observe(host);
    }

    /** Show these curves, over `from` to `end`. */
    show(curves: readonly Curve[], from: number, end: number): void {
        this.#range = [from, end];
        const tables = curves.map(({ xs, raw, low, high, line }) => [xs, raw, low, high, line]);
        const joined = tables.length ? uPlot.join(tables as uPlot.AlignedData[]) : [[]];
        // (Else it draws in a microtask of its own, and nobody knows how long that took.)
        this.#plot.batch(() => this.#plot.setData(joined as uPlot.AlignedData));
    }

    /** Lines across, then shapes on the curves, over them all. */
    #draw(plot: uPlot, ink: string, font: string): void {
        const { ctx } = plot;
        const ratio = devicePixelRatio;
        const { left, top, width, height } = plot.bbox;
        ctx.save();
        const { line } = this.#kind;
        if (line) {
            const y = plot.valToPos(line.at, 'y', true);
            dashed(ctx, ink, [left, y], [left + width, y]);
            ctx.font = font.replace(/^[\d.]+/, (size) => String(parseFloat(size) * ratio));
            ctx.textAlign = 'left';
            ctx.textBaseline = 'middle';
            ctx.fillText(line.label, left + width + 8 * ratio, y);
        }
        if (this.#kind.rule !== undefined) {
            const x = plot.valToPos(this.#kind.rule, 'x', true);
            dashed(ctx, ink, [x, top], [x, top + height]);
        }
        this.#drawMarks(plot);
        ctx.restore();
    }

    /** A mark on a curve wherever there is room, and a larger one at its end. */
    #drawMarks(plot: uPlot): void {
        const { ctx } = plot;
        const ratio = devicePixelRatio;
        const { left, top, width, height } = plot.bbox;
        this.#marks.forEach((mark, run) => {
            const curve = plot.data[(run + 1) * PARTS] as (number | null | undefined)[] | undefined;
            if (!curve) return;
            const shape = new Path2D(mark.path);
            let last = -1;
            curve.forEach((value, i) => (last = value == null ? last : i));
            let from = -Infinity;
            curve.forEach((value, i) => {
                if (value == null) return;
                const x = plot.valToPos(plot.data[0][i]!, 'x', true);
                if (i !== last && (!this.#kind.marked || x - from < SPACE * ratio)) return;
                const y = plot.valToPos(value, 'y', true);
                if (y < top - 1 || y > top + height + 1 || x > left + width + 1) return;
                from = x;
                const scale = (i === last ? 0.75 : 0.5) * ratio;
                ctx.setTransform(scale, 0, 0, scale, x, y);
                ctx.fillStyle = this.#colours[run]!;
                ctx.strokeStyle = this.#paper;
                ctx.lineWidth = 3;
                ctx.stroke(shape);
                ctx.fill(shape);
            });
        });
    }

    close(): void {
        this.#size.disconnect();
        this.#plot.destroy();
        this.#host.replaceChildren();
    }
}

function dashed(
    ctx: CanvasRenderingContext2D,
    ink: string,
    from: readonly [number, number],
    to: readonly [number, number],
): void {
    ctx.strokeStyle = ink;
    ctx.fillStyle = ink;
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([2 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(...from);
    ctx.lineTo(...to);
    ctx.stroke();
    ctx.setLineDash([]);
}
