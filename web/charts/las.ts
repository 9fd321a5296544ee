// las.ts: LaS's attention map of one head step by step, worked out again from its queries and keys: softmax
// alone, with the decay of its logits, and as it acts after pooling (model/mixers/las.c). What is drawn; none
// of it goes back into a model.
import type { Values } from '../core/config.ts';

export interface Projected {
    /** [length][width], before rotary positions. */
    q: Float32Array;
    k: Float32Array;
    length: number;
    width: number;
    heads: number;
}
/** Each [length][length], row i over the columns it weighs. */
export interface LasMaps {
    plain: Float32Array;
    decayed: Float32Array;
    acting: Float32Array;
}

type Logit = (logit: number, distance: number) => number;

/** exp(-alpha_h distance) as a factor, or ALiBi's bias. */
function decayOf(values: Values, head: number, heads: number, size: number): Logit {
    const kind = values['las_decay'];
    if (kind === 'none') return (logit) => logit;
    if (kind === 'exp') {
        const spaced = values['alphas'] === 'spaced';
        const last = heads - 1;
        const share = heads > 1 ? (last - head + head * Math.exp(-Number(values['decay_range']))) / last : 1;
        const alpha = spaced ? -Math.log(share) : Number(values['alphas']!.split(',')[head]);
        return (logit, distance) => logit * Math.exp(-alpha * distance);
    }
    const slope = 2 ** ((-8 * (head + 1)) / heads) / (kind === 'alibi_scaled' ? Math.sqrt(size) : 1);
    return (logit, distance) => logit - slope * distance;
}

/** One head's columns of x, turned by the position where positions are rotary. */
function headOf(x: Float32Array, { length, width, heads }: Projected, head: number, rotary: boolean) {
    const size = width / heads;
    const own = new Float32Array(length * size);
    for (let t = 0; t < length; t++) {
        const row = own.subarray(t * size, (t + 1) * size);
        row.set(x.subarray(t * width + head * size, t * width + (head + 1) * size));
        for (let c = 0; rotary && c < size; c += 2) {
            const angle = t * 10000 ** (-c / size);
            const [a, b] = [row[c]!, row[c + 1]!];
            row[c] = a * Math.cos(angle) - b * Math.sin(angle);
            row[c + 1] = a * Math.sin(angle) + b * Math.cos(angle);
        }
    }
    return own;
}

function softmax(row: Float32Array): void {
    const most = row.reduce((a, b) => Math.max(a, b), -Infinity);
    const sum = row.reduce((total, logit, i) => total + (row[i] = Math.exp(logit - most)), 0);
    row.forEach((weight, i) => (row[i] = weight / sum));
}

export function lasMaps(x: Projected, head: number, values: Values): LasMaps {
    const { length, heads, width } = x;
    const size = width / heads;
    const rotary = values['position'] === 'rope';
    const [q, k] = [headOf(x.q, x, head, rotary), headOf(x.k, x, head, rotary)];
    const decay = decayOf(values, head, heads, size);
    const chunk = Number(values['chunk']) || length;
    const plain = new Float32Array(length * length);
    const decayed = new Float32Array(length * length);
    const acting = new Float32Array(length * length);
    for (let i = 0; i < length; i++) {
        const first = i - (i % chunk);
        for (let j = first; j <= i; j++) {
            let dot = 0;
            for (let c = 0; c < size; c++) dot += q[i * size + c]! * k[j * size + c]!;
            plain[i * length + j] = dot / Math.sqrt(size);
            decayed[i * length + j] = decay(plain[i * length + j]!, i - j);
        }
        const row = [i * length + first, i * length + i + 1] as const;
        softmax(plain.subarray(...row));
        softmax(decayed.subarray(...row));
        const end = Math.min(first + chunk, length);
        pool(acting, decayed, i * length, first, i, end, values);
    }
    return { plain, decayed, acting };
}

/** One row: the weight on column j is spread over the window around it, or over the columns up to it. */
function pool(
    acting: Float32Array,
    weights: Float32Array,
    at: number,
    first: number,
    row: number,
    end: number,
    values: Values,
): void {
    const kind = values['pool'];
    const window = kind === 'none' ? 1 : Number(values['window']);
    const ahead = kind === 'trailing' || kind === 'none' ? 0 : (window - 1) / 2;
    const last = kind === 'masked' ? row : end - 1;
    for (let j = first; j <= row; j++)
        for (let to = j + ahead - window + 1; to <= j + ahead; to++)
            if (to >= first && to <= last) acting[at + to]! += weights[at + j]! / window;
}
