// curves.ts: uPlot dressed for this page: curves over steps, each with its run's colour and shape. Knows
// nothing of runs; takes tables of numbers.
import uPlot from 'uplot';
import type { Mark } from '../marks.ts';
import type { Table } from './series.ts';

export interface Kind {
    /** Curves per run; of two the first is the faint one. */
    perRun: 1 | 2;
    /** Marks stand on each point (with room between them), or only at the end. */
    marked: boolean;
    log: boolean;
    /** Fixed range, else that of the numbers. */
    range?: [number, number];
    /** A line drawn across with its label. */
    line?: { at: number; label: string };
    format(value: number): string;
}

const SPACE = 36; // pixels between two marks of a curve

function colour(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** One chart in `host`, of the host's width and height. */
export class Curves {
    readonly #host: HTMLElement;
    readonly #kind: Kind;
    readonly #marks: readonly Mark[];
    readonly #plot: uPlot;
    readonly #size: ResizeObserver;
    #end = 100;

    constructor(host: HTMLElement, kind: Kind, marks: readonly Mark[], hover: (step: number | null) => void) {
        this.#host = host;
        this.#kind = kind;
        this.#marks = marks;
        const ink = colour('--ink-2');
        const rule = colour('--rule');
        const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
        const font = `${0.75 * rem}px ${colour('--sans')}`;
        const grid = { stroke: rule, width: 1 };
        const ticks = { show: false };
        const series: uPlot.Series[] = marks.flatMap((mark) => {
            const stroke = colour(mark.colour);
            const line: uPlot.Series = { stroke, width: 2, points: { show: false }, spanGaps: true };
            return kind.perRun === 1 ? [line] : [{ ...line, width: 1, alpha: 0.3 }, line];
        });
        this.#plot = new uPlot(
            {
                width: Math.max(80, host.clientWidth),
                height: Math.max(80, host.clientHeight),
                legend: { show: false },
                padding: [8, 20, 0, 0],
                cursor: {
                    y: false,
                    points: { show: false },
                    drag: { x: false, y: false },
                    sync: { key: 'steps', setSeries: false },
                },
                scales: {
                    x: { time: false, range: () => [0, this.#end] },
                    y: kind.range
                        ? { range: kind.range }
                        : { distr: kind.log ? 3 : 1, range: kind.log ? undefined : fromZero },
                },
                axes: [
                    {
                        stroke: ink,
                        font,
                        grid: { show: false },
                        ticks,
                        size: 1.75 * rem,
                        gap: 6,
                        space: 4 * rem,
                    },
                    {
                        stroke: ink,
                        font,
                        grid,
                        ticks,
                        size: 3 * rem,
                        gap: 8,
                        space: 2.5 * rem,
                        values: (_, values) =>
                            values.map((value) => (value === null ? '' : kind.format(value))),
                    },
                ],
                series: [{}, ...series],
                hooks: {
                    draw: [(plot) => this.#draw(plot, ink, font)],
                    setCursor: [
                        (plot) => {
                            const left = plot.cursor.left ?? -1;
                            hover(left < 0 ? null : Math.round(plot.posToVal(left, 'x')));
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

    /** Show these curves, over steps 0 to `end`. */
    show(table: Table, end: number): void {
        this.#end = end;
        this.#plot.setData([table.steps, ...table.curves] as uPlot.AlignedData);
    }

    /** Shapes on the curves, over them all. */
    #draw(plot: uPlot, ink: string, font: string): void {
        const { ctx } = plot;
        const ratio = devicePixelRatio;
        const { left, top, width, height } = plot.bbox;
        ctx.save();
        if (this.#kind.line) {
            const y = plot.valToPos(this.#kind.line.at, 'y', true);
            ctx.strokeStyle = ink;
            ctx.fillStyle = ink;
            ctx.lineWidth = ratio;
            ctx.setLineDash([2 * ratio, 4 * ratio]);
            ctx.beginPath();
            ctx.moveTo(left, y);
            ctx.lineTo(left + width, y);
            ctx.stroke();
            ctx.font = font.replace(/^[\d.]+/, (size) => String(parseFloat(size) * ratio));
            ctx.textAlign = 'right';
            ctx.textBaseline = 'top';
            ctx.fillText(this.#kind.line.label, left + width, y + 3 * ratio);
            ctx.setLineDash([]);
        }
        const paper = colour('--paper');
        this.#marks.forEach((mark, run) => {
            const curve = plot.data[(run + 1) * this.#kind.perRun] as (number | null)[] | undefined;
            if (!curve) return;
            const shape = new Path2D(mark.path);
            let last = -1;
            curve.forEach((value, i) => (last = value === null ? last : i));
            let from = -Infinity;
            curve.forEach((value, i) => {
                if (value === null) return;
                const x = plot.valToPos(plot.data[0][i]!, 'x', true);
                if (i !== last && (!this.#kind.marked || x - from < SPACE * ratio)) return;
                const y = plot.valToPos(value, 'y', true);
                if (y < top - 1 || y > top + height + 1 || x > left + width + 1) return;
                from = x;
                const scale = (i === last ? 0.75 : 0.5) * ratio;
                ctx.setTransform(scale, 0, 0, scale, x, y);
                ctx.fillStyle = colour(mark.colour);
                ctx.strokeStyle = paper;
                ctx.lineWidth = 3;
                ctx.stroke(shape);
                ctx.fill(shape);
            });
        });
        ctx.restore();
    }

    close(): void {
        this.#size.disconnect();
        this.#plot.destroy();
        this.#host.replaceChildren();
    }
}

function fromZero(_: uPlot, low: number | null, high: number | null): [number, number] {
    if (low === null || high === null || !Number.isFinite(high)) return [0, 1];
    return [Math.min(0, low), high > 0 ? high * 1.05 : 1];
}
