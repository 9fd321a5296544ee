// report.ts: the script of what `seqmix report` writes: tables that can be sorted, and charts whose axes and
// runs can be chosen, from the results that stand in the same file, drawn as the page draws its own.
// scripts/report.mjs bundles it with report.css into cli/commands/grid/report_page.inc.
import { pngOf, svgOf } from '../charts/svg.ts';
import { colourOf } from '../core/colour.ts';
import { download } from '../core/files.ts';
import { counted } from '../core/figures.ts';
import { grouped, report, runOf, runs, telling, type Keys, type Setting } from './data.ts';
import { element, sign, svgElement, table, type Cell, type Column, type Row } from './elements.ts';
import { choices, focusAgain, keep } from './kept.ts';
import { against, axesOf, SCALES, whileTraining, type Plot, type Scale } from './plots.ts';
import './report.css';

const host = document.getElementById('report')!;
const changed: (() => void)[] = []; // who looks again when another choice was made
function choose(): void {
    keep();
    for (const look of changed) look();
}

// ---- What is shown --------------------------------------------------------------------------------

/** Boxes for each name; what is not ticked is in the list of the hidden. */
function boxes(title: string, names: readonly string[], hidden: string[], signs = false): HTMLElement {
    const all = names.map((name) => {
        const box = element('input', { type: 'checkbox', id: `${title}: ${name}` });
        box.onchange = () => {
            const at = hidden.indexOf(name);
            if (box.checked && at >= 0) hidden.splice(at, 1);
            if (!box.checked && at < 0) hidden.push(name);
            choose();
        };
        changed.push(() => (box.checked = !hidden.includes(name)));
        return element('label', {}, box, ...(signs ? [sign(name)] : []), name);
    });
    const set = (text: string, to: readonly string[]) => {
        const button = element('button', { type: 'button', id: `${title}, ${text}` }, text);
        button.onclick = () => {
            hidden.splice(0, hidden.length, ...to);
            choose();
        };
        return button;
    };
    const count = element('span');
    changed.push(() => {
        const shown = names.filter((name) => !hidden.includes(name)).length;
        count.textContent = shown < names.length ? `${shown} of ${names.length}` : String(names.length);
    });
    const buttons = element('span', { class: 'row' }, set('all', []), set('none', names));
    return element(
        'details',
        { id: title },
        element('summary', { id: `${title}, shown` }, `${title}: `, count),
        element('fieldset', {}, element('legend', {}, `${title} that are shown`), buttons, ...all),
    );
}
function list(title: string, names: readonly string[]): HTMLElement {
    const select = element('select', { id: title }, ...names.map((name) => element('option', {}, name)));
    select.onchange = () => {
        choices.chosen[title] = select.value;
        choose();
    };
    select.value = chosen(title, names);
    return element('label', {}, title, select);
}
const chosen = <T extends string>(title: string, names: readonly T[]): T =>
    names.find((name) => name === choices.chosen[title]) ?? names[0]!;

// ---- Charts ---------------------------------------------------------------------------------------

const scaled = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

/** A chart that follows the choices and the width that it has, and can be taken away. */
function chart(name: string, plotOf: () => Plot | null): HTMLElement {
    const picture = element('div');
    let plot: Plot | null;
    const draw = () => {
        plot = plotOf();
        figure.hidden = !plot;
        if (!plot) return;
        const width = Math.round(Math.min(1000, Math.max(280, figure.clientWidth / scaled())));
        const ground = { sheet: 'var(--paper)', ink: 'var(--ink)', rule: 'var(--rule)' };
        const curves = plot.curves.map((curve) => ({ ...curve, colour: `var(${curve.colour})` }));
        const svg = svgElement(svgOf({ ...plot, curves, width, colours: ground }));
        svg.setAttribute('role', 'img');
        svg.setAttribute('aria-label', `${plot.title}: the figures are in the tables`);
        picture.replaceChildren(svg);
    };
    const take = async (kind: 'svg' | 'png') => {
        const light = (property: string) => colourOf(property, 'light'); // for paper
        const svg = svgOf({
            ...plot!,
            colours: { sheet: colourOf('--sheet'), ink: light('--ink'), rule: light('--rule') },
            curves: plot!.curves.map((curve) => ({ ...curve, colour: light(curve.colour) })),
        });
        const file = `${report.folder.replace(/^.*\/(?=.)/, '')}-${name}.${kind}`.replaceAll(
            /[^\w.-]+/g,
            '-',
        );
        download(file, kind === 'svg' ? svg : await pngOf(svg), 'image/svg+xml');
    };
    const buttons = (['svg', 'png'] as const).map((kind) => {
        const what = {
            type: 'button',
            id: `${name}, ${kind}`,
            'aria-label': `${name} as ${kind.toUpperCase()}`,
        };
        const button = element('button', what, kind.toUpperCase());
        button.onclick = () => void take(kind);
        return button;
    });
    const figure = element('figure', {}, picture, element('figcaption', { class: 'row' }, ...buttons));
    changed.push(draw);
    new ResizeObserver(draw).observe(figure);
    return figure;
}

// ---- Tables ---------------------------------------------------------------------------------------

const four = (x: number) => x.toFixed(4).replace('-', '−');
const three = (x: number) => String(Number(x.toPrecision(3)));
const numberOrText = (text: string | undefined): Cell =>
    text === undefined ? null : text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
// What tells runs apart first, then a figure, then what the best was chosen of and what only follows: a
// narrow screen has place for the first.
const [first, others] = [
    report.columns.filter((key) => key === 'task' || telling.includes(key)),
    report.columns.filter((key) => key !== 'task' && !telling.includes(key)),
];
const columnOf = (name: string): Column =>
    report.settings.every(({ keys }) => typeof numberOrText(keys[name]) !== 'string')
        ? { name, show: String }
        : { name };
const columnsWith = (figure: Column, figures: readonly Column[]): Column[] => [
    ...first.map(columnOf),
    figure,
    ...others.map(columnOf),
    ...figures,
];
const rowOf = (keys: Keys, figure: Cell, figures: readonly Cell[]): Row => ({
    run: runOf(keys),
    cells: [
        ...first.map((key) => numberOrText(keys[key])),
        figure,
        ...others.map((key) => numberOrText(keys[key])),
        ...figures,
    ],
});
const shown = (made: { host: HTMLElement; hide: () => void }): HTMLElement => {
    changed.push(made.hide);
    return made.host;
};

const SETTING = columnsWith({ name: 'mean', show: four }, [
    { name: 'deviation', show: four },
    { name: 'lowest', show: four },
    { name: 'highest', show: four },
    { name: 'metric' },
    { name: 'seeds', show: String },
    { name: 'weights', show: counted },
    { name: 'seconds', show: three },
    { name: 'note', long: true },
]);
const noteOf = ({ note, seeds, stopped }: Setting) =>
    [stopped ? `${stopped} of ${seeds} stopped` : '', note].filter(Boolean).join('; ');
function settingsTable(title: string, settings: readonly Setting[]): HTMLElement {
    const rows = settings.map((s) =>
        rowOf(s.keys, s.mean, [
            s.deviation,
            s.low,
            s.high,
            s.metric,
            s.seeds,
            s.weights,
            s.seconds,
            noteOf(s),
        ]),
    );
    return shown(table(title, SETTING, rows));
}
const PAIR = columnsWith({ name: 'difference', show: four }, [
    { name: 'from', show: four },
    { name: 'to', show: four },
    { name: 'pairs', show: String },
    { name: 'better', show: String },
    { name: 'p', show: three },
    { name: 'p (Holm)', show: three },
]);
function pairsTable(title: string): HTMLElement {
    const rows = report.pairs.map((one) =>
        rowOf(one.setting, one.difference, [one.low, one.high, one.pairs, one.better, one.p, one.holm]),
    );
    return shown(table(title, PAIR, rows));
}

// ---- The page -------------------------------------------------------------------------------------

const section = (title: string, note: string, ...children: Node[]) =>
    host.append(
        element(
            'section',
            {},
            element('h2', {}, title),
            ...(note ? [element('p', {}, note)] : []),
            ...children,
        ),
    );
const best = report.settings.filter((setting) => setting.best);
const visible = (settings: readonly Setting[]) =>
    settings.filter(({ keys }) => !choices.hidden.includes(runOf(keys)));

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`;
host.append(
    element('h1', {}, report.folder),
    element(
        'p',
        {},
        `${count(report.results, 'result')}, ${count(report.settings.length, 'setting')}; seqmix ${report.version}`,
    ),
);
if (report.begun)
    host.append(element('p', { class: 'warning' }, `${report.begun} begun: NOT FINAL, the best may change`));

const CURVES = [
    'loss',
    ...(best.some((s) => s.held_out?.some(({ length }) => length)) ? ['held-out' as const] : []),
] as const;
const OVER = ['training steps', 'seconds'] as const;
const AXES = axesOf(report.settings);
const titles = [...new Set([...SETTING, ...PAIR].map(({ name }) => name))];
host.append(
    element(
        'form',
        {},
        ...(runs.length > 1 ? [boxes('Runs', runs, choices.hidden, true)] : []),
        boxes('Columns', titles, choices.without),
        ...(CURVES.length > 1 ? [list('Curves of', CURVES)] : []),
        list('Curves over', OVER),
        ...(AXES.length > 1 ? [list('Best against', AXES)] : []),
        list('Scale', SCALES),
    ),
);
section(
    'The best of each',
    `Chosen by the mean over seeds, of ${report.over.join(', ')}; the figures are of other sequences, which had no part in the choice.`,
    settingsTable('The best of each', best),
);
if (report.baseline)
    section(
        `Against ${report.baseline}`,
        `Seed by seed: Wilcoxon's signed-rank test, exact and two-sided; Holm's correction for ${report.pairs.length}; Student's 95 % interval of the mean difference.`,
        ...(report.pairs.length ? [pairsTable('Against the baseline')] : []),
        ...report.remarks.map((remark) => element('p', {}, remark)),
    );
for (const [task, settings] of grouped(report.settings, ({ keys }) => keys['task'] ?? '')) {
    const scale = (): Scale => chosen('Scale', SCALES);
    const training = () =>
        whileTraining(
            visible(settings.filter((setting) => setting.best)),
            chosen('Curves of', CURVES),
            chosen('Curves over', OVER) === 'seconds' ? 'second' : 'step',
            scale(),
        );
    section(
        task,
        'The line is the mean over seeds, the band their range.',
        element(
            'div',
            { class: 'charts' },
            chart(`${task}-training`, training),
            chart(`${task}-values`, () =>
                AXES.length ? against(chosen('Best against', AXES), visible(settings), scale()) : null,
            ),
        ),
    );
}
section('Every setting', '', settingsTable('Every setting', report.settings));
choose();
focusAgain();
