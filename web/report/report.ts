// report.ts: the script of what `seqmix report` writes: tables and charts from the results that stand in the
// same file, drawn by the page's own chart. scripts/report.mjs bundles it into cli/commands/report_page.inc.
import { svgOf, type Drawn } from '../charts/svg.ts';
import { endOfAxis, formatX, fromZero, lossTick } from '../charts/axes.ts';
import { lossCurves, type Curve } from '../charts/series.ts';

/** One setting over its seeds; curves (training loss, a point for `stride` steps) of the best only. */
interface Setting {
    keys: Record<string, string | undefined>;
    metric: string;
    seeds: number;
    stopped: number;
    mean: number | null;
    low: number | null;
    high: number | null;
    best: boolean;
    note: string; // "the largest rate tried: ...", ""
    stride?: number;
    curves?: number[][];
}
interface Pair {
    setting: Record<string, string | undefined>;
    baseline: Record<string, string | undefined>;
    pairs: number;
    better: number;
    difference: number | null;
    p: number;
    holm: number;
}
interface Report {
    folder: string;
    version: string;
    results: number;
    begun: number;
    columns: string[];
    over: string[];
    baseline: string | null;
    settings: Setting[];
    pairs: Pair[];
}

const MOST = 6; // curves of a chart: as many as there are colours
const GROUND = { sheet: '#ffffff', ink: '#1b1b19', rule: '#e3e1db' };
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#b9659a', '#c48200', '#3d9ad4'];
const SHAPES = [
    'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0',
    'M-5-5h10v10h-10z',
    'M0-6l6 10h-12z',
    'M0-6l6 6l-6 6l-6-6z',
    'M0 6l6-10h-12z',
    'M-5-2h3v-3h4v3h3v4h-3v3h-4v-3h-3z',
];

const report = JSON.parse(document.getElementById('results')!.textContent!) as Report;
const host = document.getElementById('report')!;

function element(name: string, text = '', ...children: Node[]): HTMLElement {
    const made = document.createElement(name);
    made.textContent = text;
    made.append(...children);
    return made;
}
function table(head: readonly string[], rows: readonly (readonly string[])[]): HTMLElement {
    const row = (cells: readonly string[], kind: string) =>
        element('tr', '', ...cells.map((text) => element(kind, text)));
    const made = element('table', '', element('thead', '', row(head, 'th')));
    made.append(element('tbody', '', ...rows.map((cells) => row(cells, 'td'))));
    return element('div', '', made);
}
const section = (title: string, note: string, ...children: Node[]) =>
    host.append(element('section', '', element('h2', title), element('p', note), ...children));
const figure = (x: number | null) => (x === null ? 'stopped' : x.toFixed(4));

/** Settings that differ in what `names` does not name are told apart. */
const groups = (settings: readonly Setting[], names: readonly string[]) => {
    const found = new Map<string, Setting[]>();
    for (const setting of settings) {
        const name = names
            .map((key) => [key, setting.keys[key]])
            .filter(([, value]) => value !== undefined)
            .map(([key, value]) => (key === 'mixer' || key === 'task' ? value : `${key} ${value}`))
            .join(', ');
        found.set(name, [...(found.get(name) ?? []), setting]);
    }
    return found;
};

function chart(
    chart: Omit<Drawn, 'curves' | 'colours'>,
    curves: readonly (Curve & { name: string })[],
): Node[] {
    const charts: Node[] = [];
    for (let at = 0; at < curves.length; at += MOST) {
        const some = curves
            .slice(at, at + MOST)
            .map((curve, i) => ({ ...curve, colour: COLOURS[i]!, path: SHAPES[i]! }));
        const drawn = new DOMParser().parseFromString(
            svgOf({ colours: GROUND, ...chart, curves: some }),
            'image/svg+xml',
        );
        charts.push(element('figure', '', document.importNode(drawn.documentElement, true)));
    }
    return charts;
}
const values = (curves: readonly Curve[]) =>
    curves
        .flatMap(({ line, low, high }) => [...line, ...low, ...high])
        .filter((value) => value !== null && Number.isFinite(value)) as number[];
const rangeOf = (curves: readonly Curve[]): [number, number] => {
    const all = values(curves);
    return fromZero(all.length ? Math.min(...all) : null, all.length ? Math.max(...all) : null);
};

/** Training loss of the best of each, mean and range over seeds. */
function losses(best: readonly Setting[], names: readonly string[]): Node[] {
    const named = [...groups(best, names)].map(([name, [setting]]) => ({ name, setting: setting! }));
    const shown = named.filter(({ setting }) => setting.curves?.length);
    const curves = shown.map(({ name, setting }) => {
        const histories = setting.curves!.map((points) => ({
            losses: Float32Array.from(points),
            points: [],
            secondsAt: () => 0,
        }));
        const curve = lossCurves([{ histories, flops: 0 }], 'step', 1)[0]!;
        return { ...curve, name, xs: curve.xs.map((x) => x * setting.stride!) };
    });
    const farthest = Math.max(0, ...curves.flatMap(({ xs }) => xs));
    return chart(
        {
            title: 'Training loss',
            xLabel: 'training steps',
            xEnd: endOfAxis('step', farthest),
            yRange: rangeOf(curves),
            log: false,
            formatX: (value) => formatX('step', value),
            formatY: lossTick(false),
        },
        curves,
    );
}

/** What each reached at each value of the key that the best was chosen of. */
function over(key: string, settings: readonly Setting[], names: readonly string[]): Node[] {
    const places = [...new Set(settings.map(({ keys }) => keys[key] ?? ''))].sort(
        (a, b) => Number(a) - Number(b),
    );
    if (places.length < 2) return [];
    const curves = [...groups(settings, names)].map(([name, list]) => {
        const at = (read: (setting: Setting) => number | null) =>
            places.map((place) => {
                const setting = list.find(({ keys }) => keys[key] === place);
                return setting ? read(setting) : null;
            });
        const none = places.map(() => null);
        return {
            name,
            xs: places.map((_, i) => i),
            raw: none,
            line: at((s) => s.mean),
            low: at((s) => s.low),
            high: at((s) => s.high),
        };
    });
    const metric = settings[0]!.metric;
    return chart(
        {
            title: `Held-out ${metric} at each ${key}`,
            xLabel: key,
            xEnd: places.length - 1,
            yRange: rangeOf(curves),
            log: false,
            formatX: (value) => places[value] ?? '',
            formatY: lossTick(false),
        },
        curves,
    );
}

const { columns, settings, over: chosen } = report;
const rest = columns.filter((key) => !chosen.includes(key));
const best = settings.filter((setting) => setting.best);
const cells = (setting: Setting) => [
    ...columns.map((key) => setting.keys[key] ?? '–'),
    setting.metric,
    String(setting.seeds),
    ...[setting.mean, setting.low, setting.high].map(figure),
];
const head = [...columns, 'metric', 'seeds', 'mean', 'lowest', 'highest'];

host.append(
    element('h1', report.folder),
    element(
        'p',
        `${report.results} results, ${settings.length} settings${report.begun ? `, ${report.begun} begun: NOT FINAL, the best may change` : ''}; seqmix ${report.version}`,
    ),
);
section(
    'The best of each',
    `Chosen by the mean over seeds, of ${chosen.join(', ')}, on the sequences that judge it.`,
    table(
        [...head, ''],
        best.map((setting) => [...cells(setting), setting.note]),
    ),
);
if (report.baseline)
    section(
        `Against ${report.baseline}`,
        `Seed by seed: Wilcoxon's signed-rank test, exact and two-sided, and after Holm's correction for ${report.pairs.length}.`,
        table(
            [...columns, 'pairs', 'better', 'difference', 'p', 'p (Holm)'],
            report.pairs.map((pair) => [
                ...columns.map((key) => pair.setting[key] ?? '–'),
                String(pair.pairs),
                String(pair.better),
                figure(pair.difference),
                ...[pair.p, pair.holm].map((p) => String(Number(p.toPrecision(3)))),
            ]),
        ),
    );
for (const [task, list] of groups(settings, ['task'])) {
    const names = rest.filter((key) => key !== 'task');
    const those = list.filter((setting) => setting.best);
    section(
        task,
        'The line is the mean over seeds, the band their range.',
        ...losses(those, names),
        ...chosen.flatMap((key) => over(key, list, [...names, ...chosen.filter((other) => other !== key)])),
    );
}
section('Every setting', '', table(head, settings.map(cells)));
