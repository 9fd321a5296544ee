// elements.ts: short words for the page's elements, and tables that their heads sort.
import { markOf } from './data.ts';
import { choices, keep } from './kept.ts';

export function element<K extends keyof HTMLElementTagNameMap>(
    name: K,
    attributes: Record<string, string> = {},
    ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
}
export const svgElement = (svg: string): Element =>
    document.importNode(new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement, true);

/** The colour and shape of a run, before its name. */
export function sign(run: string): Element {
    const { colour, path } = markOf(run);
    return svgElement(
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -8 16 16" width="0.75em" height="0.75em" aria-hidden="true"><path d="${path}" fill="var(${colour})"/></svg>`,
    );
}

export interface Column {
    name: string;
    /** A number as it is written; without: the cells are text. */
    show?: (value: number) => string;
    /** Sentences. */
    long?: boolean;
}
export type Cell = string | number | null;
export interface Row {
    run: string;
    cells: Cell[];
}

const compare = (a: Cell, b: Cell, down: boolean): number => {
    if (a === null || b === null) return Number(a === null) - Number(b === null); // last, either way
    const order =
        typeof a === 'number' && typeof b === 'number'
            ? a - b
            : String(a).localeCompare(String(b), 'en', { numeric: true });
    return down ? -order : order;
};

/** A table whose heads sort it; `hide` leaves out rows of runs and columns. */
export function table(title: string, columns: readonly Column[], rows: readonly Row[]) {
    const body = element('tbody');
    const lines = rows.map(({ run, cells }) => {
        const line = element('tr');
        cells.forEach((value, i) => {
            const { show, long } = columns[i]!;
            const text =
                value === null ? '–' : typeof value === 'number' && show ? show(value) : String(value);
            const cell = element('td', { class: show ? 'number' : long ? 'long' : '' }, text);
            if (columns[i]!.name === 'mixer') cell.prepend(sign(run));
            line.append(cell);
        });
        return { run, cells, line };
    });
    const heads = columns.map(({ name, show }) => {
        const button = element('button', { type: 'button', id: `${title}: ${name}` }, name);
        button.disabled = !name;
        const head = element('th', { scope: 'col', ...(show && { class: 'number' }) }, button);
        button.onclick = () => {
            const last = choices.sorted[title];
            // First the largest of numbers, the first of names.
            const down = last?.column === name ? !last.down : Boolean(show);
            choices.sorted[title] = { column: name, down };
            keep();
            order();
        };
        return head;
    });
    function order(): void {
        const by = choices.sorted[title];
        const at = columns.findIndex(({ name }) => name === by?.column);
        heads.forEach((head, i) => {
            if (i === at) head.ariaSort = by!.down ? 'descending' : 'ascending';
            else head.removeAttribute('aria-sort');
        });
        const sorted = lines.slice();
        if (at >= 0) sorted.sort((a, b) => compare(a.cells[at]!, b.cells[at]!, by!.down));
        body.append(...sorted.map(({ line }) => line));
    }
    order();
    const made = element('table', {}, element('thead', {}, element('tr', {}, ...heads)), body);
    const hide = () => {
        for (const { run, line } of lines) line.hidden = choices.hidden.includes(run);
        columns.forEach(({ name }, i) => {
            const hidden = choices.without.includes(name);
            heads[i]!.hidden = hidden;
            for (const { line } of lines) line.cells[i]!.hidden = hidden;
        });
    };
    const around = { class: 'wide', role: 'region', 'aria-label': title, tabindex: '0' };
    return { host: element('div', around, made), hide };
}
