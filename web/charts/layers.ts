// layers.ts: a graph of steps, each taking results of earlier ones, laid out from above: boxes in layers,
// edges that keep clear of the boxes. A pure function.

export interface Box {
    x: number;
    y: number;
    width: number;
    height: number;
}
export interface Layout {
    /** Of the input (first), then of each step. */
    boxes: Box[];
    /** An edge as points from above: from the foot of a box, through the layers between, to the head of
     * another. */
    edges: { from: number; to: number; points: { x: number; y: number }[] }[];
    width: number;
    height: number;
}
export const ROW = 46; // from layer to layer, besides the boxes
const GAP = 14; // between boxes of a layer
const LANE = 8; // of an edge that passes a layer
const SWEEPS = 4;

interface Place {
    layer: number;
    width: number;
    above: Place[];
    below: Place[];
    at: number; // its middle
    node: number; // -1: an edge passes
}

/** Put each layer in the order of its neighbours' middles, then apart. */
function order(layer: Place[], towards: 'above' | 'below'): void {
    const wish = new Map(
        layer.map((place) => {
            const near = place[towards];
            const sum = near.reduce((all, { at }) => all + at, 0);
            return [place, near.length ? sum / near.length : place.at];
        }),
    );
    layer.sort((a, b) => wish.get(a)! - wish.get(b)!);
    // As near to the wishes as the widths allow: from the left, then the whole by the mean that is off.
    let left = -Infinity;
    let off = 0;
    for (const place of layer) {
        place.at = Math.max(wish.get(place)!, left + place.width / 2);
        left = place.at + place.width / 2 + GAP;
        off += place.at - wish.get(place)!;
    }
    for (const place of layer) place.at -= off / layer.length;
}

/** `from[i]`: what step i takes, -1 the input; `widths` and `height` of the boxes, the input's first. */
export function layers(
    from: readonly (readonly number[])[],
    widths: readonly number[],
    height: number,
): Layout {
    const level = [0];
    from.forEach((list, i) => (level[i + 1] = 1 + Math.max(0, ...list.map((step) => level[step + 1]!))));
    const rows: Place[][] = Array.from({ length: Math.max(...level) + 1 }, () => []);
    const put = (layer: number, width: number, node: number): Place => {
        const row = rows[layer]!;
        const last = row[row.length - 1];
        const at = last ? last.at + last.width / 2 + GAP + width / 2 : width / 2;
        const place = { layer, width, above: [], below: [], at, node };
        row.push(place);
        return place;
    };
    const nodes = level.map((layer, node) => put(layer, widths[node]!, node));
    const join = (a: Place, b: Place) => (a.below.push(b), b.above.push(a));
    const ways = from.flatMap((list, i) =>
        [...new Set(list)].map((step) => {
            const way = [nodes[step + 1]!];
            for (let layer = level[step + 1]! + 1; layer < level[i + 1]!; layer++)
                way.push(put(layer, LANE, -1));
            way.push(nodes[i + 1]!);
            for (let k = 1; k < way.length; k++) join(way[k - 1]!, way[k]!);
            return { from: step + 1, to: i + 1, way };
        }),
    );
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
        for (const row of rows) order(row, 'above');
        for (const row of [...rows].reverse()) order(row, 'below');
    }
    const left = Math.min(...rows.flat().map(({ at, width }) => at - width / 2));
    const right = Math.max(...rows.flat().map(({ at, width }) => at + width / 2));
    const top = ({ layer }: Place) => layer * (height + ROW);
    return {
        boxes: nodes.map((place) => ({
            x: place.at - place.width / 2 - left,
            y: top(place),
            width: place.width,
            height,
        })),
        edges: ways.map(({ from: a, to: b, way }) => ({
            from: a,
            to: b,
            points: way.flatMap((place, k) => {
                const x = place.at - left;
                if (k === 0) return [{ x, y: top(place) + height }];
                if (k === way.length - 1) return [{ x, y: top(place) }];
                return [
                    { x, y: top(place) },
                    { x, y: top(place) + height },
                ];
            }),
        })),
        width: right - left,
        height: (rows.length - 1) * (height + ROW) + height,
    };
}

/** A smooth line through such points: upright at each. */
export function curve(points: readonly { x: number; y: number }[]): string {
    return points
        .map(({ x, y }, i) => {
            const before = points[i - 1];
            if (!before) return `M${x} ${y}`;
            const half = (y + before.y) / 2;
            return before.x === x ? `L${x} ${y}` : `C${before.x} ${half} ${x} ${half} ${x} ${y}`;
        })
        .join('');
}
