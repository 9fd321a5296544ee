// plots.ts: from settings to curves: what the charts of the report show. Pure functions but for the marks.
import { AXIS_NAMES, formatX, fromZero, lossTick } from '../charts/axes.ts';
import { scoreCurves, type Curve } from '../charts/series.ts';
import type { Drawn } from '../charts/svg.ts';
import { grouped, markOf, nameBy, numbersOnly, report, runOf, telling, type Setting } from './data.ts';

/** A chart but for its ground and its width; colours are properties of the palette. */
export type Plot = Omit<Drawn, 'colours' | 'width'>;
export const SCALES = ['from zero', 'fitted', 'logarithmic'] as const;
export type Scale = (typeof SCALES)[number];

const signed = (curve: Curve, name: string, of: Setting) => ({ ...curve, name, ...markOf(runOf(of.keys)) });

/** What all curves have in common, from the values that they have. */
function upright(curves: readonly Curve[], scale: Scale): Pick<Plot, 'yRange' | 'log' | 'formatY'> {
    const log = scale === 'logarithmic';
    const all = curves
        .flatMap(({ line, low, high }) => [...line, ...low, ...high])
        .filter((value): value is number => value !== null && (!log || value > 0));
    const [least, most] = all.length ? [Math.min(...all), Math.max(...all)] : [0.1, 1];
    const room = (most - least || Math.abs(most) || 1) / 20;
    const yRange: [number, number] = log
        ? [least, most === least ? 2 * most : most]
        : scale === 'fitted'
          ? [least - room, most + room]
          : fromZero(least, most);
    return { yRange, log, formatY: lossTick(log) };
}

/** While training: the loss, or the measure on held-out sequences; over steps, or seconds of a processor. */
export function whileTraining(
    best: readonly Setting[],
    of: 'loss' | 'held-out',
    axis: 'step' | 'second',
    scale: Scale,
): Plot | null {
    const shown = best.filter((s) => (of === 'loss' ? s.curves : s.held_out)?.some(({ length }) => length));
    const tracks = shown.map((setting) => {
        const { steps, seconds, curves, held_out: heldOut } = setting;
        const [lines, stride] = of === 'loss' ? [curves!, setting.stride!] : [heldOut!, setting.every!];
        const histories = lines.map((line) => ({
            losses: new Float32Array(),
            points: line.flatMap((value, i) =>
                value === null ? [] : [{ step: Math.min(steps, (i + 1) * stride), value }],
            ),
            secondsAt: (step: number) => (step * (seconds ?? 0)) / Math.max(1, steps),
        }));
        return { histories, flops: 0 };
    });
    const curves = scoreCurves(tracks, axis, ({ value }) => value).map((curve, i) =>
        signed(curve, runOf(shown[i]!.keys), shown[i]!),
    );
    if (!curves.length) return null;
    return {
        title: of === 'loss' ? 'Training loss' : `Held-out ${shown[0]!.metric} while training`,
        xLabel: axis === 'second' ? 'seconds of a processor' : AXIS_NAMES[axis],
        xEnd: Math.max(...curves.flatMap(({ xs }) => xs)) || 1,
        formatX: (value) => formatX(axis, value),
        ...upright(curves, scale),
        curves,
    };
}

/** What the values of a key, of weights or of seconds are, and where they stand. */
function placesOf(key: string, settings: readonly Setting[]) {
    const textOf = ({ keys, weights, seconds }: Setting): string | undefined =>
        key === 'weights' ? String(weights) : key === 'seconds' ? seconds?.toPrecision(3) : keys[key];
    const texts = [
        ...new Set(settings.map(textOf).filter((text): text is string => text !== undefined)),
    ].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    if (!numbersOnly(texts)) {
        const label = (at: number) => texts[at] ?? '';
        return { textOf, texts, label, at: (text: string) => texts.indexOf(text) };
    }
    texts.sort((a, b) => Number(a) - Number(b));
    const [first, last] = [Number(texts[0]), Number(texts.at(-1))];
    const scale = first > 0 && last >= 20 * first ? Math.log10 : (x: number) => x;
    const at = (text: string) => scale(Number(text)) - scale(first);
    const label = (x: number) => {
        const text = texts.find((one) => at(one) === x) ?? '';
        return text && String(Number(Number(text).toPrecision(3)));
    };
    return { textOf, texts, label, at };
}

/** What each reached at each value of a key: all, where the best was chosen of it; else the bests. */
export function against(key: string, settings: readonly Setting[], scale: Scale): Plot | null {
    const all = report.over.includes(key);
    const list = all ? settings : settings.filter(({ best }) => best);
    const { textOf, texts, label, at } = placesOf(key, list);
    if (texts.length < 2) return null;
    const sizes = key === 'weights' || key === 'seconds';
    const names = [...telling, ...(all ? report.over : [])].filter(
        (name) => name !== key && !(sizes && numbersOnly(list.map(({ keys }) => keys[name]))),
    );
    const curves = [...grouped(list, ({ keys }) => nameBy(keys, names))].map(([name, those]) => {
        const placed = those
            .flatMap((setting) => {
                const text = textOf(setting);
                return text === undefined ? [] : [{ setting, x: at(text) }];
            })
            .sort((a, b) => a.x - b.x);
        const read = (of: (s: Setting) => number | null) => placed.map(({ setting }) => of(setting));
        const curve = {
            xs: placed.map(({ x }) => x),
            raw: placed.map(() => null),
            line: read((s) => s.mean),
            low: read((s) => s.low),
            high: read((s) => s.high),
        };
        return signed(curve, name, those[0]!);
    });
    return {
        title: `Held-out ${list[0]!.metric} against ${key}`,
        xLabel: key === 'seconds' ? 'seconds of a processor' : key,
        xEnd: at(texts.at(-1)!),
        xTicks: texts.map((text) => ({ at: at(text), label: label(at(text)) })),
        everyPoint: true,
        formatX: label,
        ...upright(curves, scale),
        curves,
    };
}

/** Over what `against` can stand: what the best was chosen of, other columns with several values, sizes. */
export const axesOf = (settings: readonly Setting[]): string[] =>
    [...report.over, ...telling, 'weights', 'seconds'].filter(
        (key) => placesOf(key, settings).texts.length > 1,
    );
