// las_maps.mjs: LaS's attention map of one head step by step, in double precision from its queries and keys:
// softmax alone, with the decay of its logits, and as it acts after pooling (MECHANISMS, LaS). What the
// engine's maps are compared with.

function decayOf(values, head, heads, size) {
    const kind = values['las_decay'];
    if (kind === 'none') return (logit) => logit;
    if (kind === 'exp') {
        const spaced = values['alphas'] === 'spaced';
        const last = heads - 1;
        const share = heads > 1 ? (last - head + head * Math.exp(-Number(values['decay_range']))) / last : 1;
        const alpha = spaced ? -Math.log(share) : Number(values['alphas'].split(',')[head]);
        return (logit, distance) => logit * Math.exp(-alpha * distance);
    }
    const slope = 2 ** ((-8 * (head + 1)) / heads) / (kind === 'alibi_scaled' ? Math.sqrt(size) : 1);
    return (logit, distance) => logit - slope * distance;
}
function headOf(x, { length, width, heads }, head, rotary) {
    const size = width / heads;
    const own = new Float64Array(length * size);
    for (let t = 0; t < length; t++) {
        const row = own.subarray(t * size, (t + 1) * size);
        row.set(x.subarray(t * width + head * size, t * width + (head + 1) * size));
        for (let c = 0; rotary && c < size; c += 2) {
            const angle = t * 1e4 ** (-c / size);
            const [a, b] = [row[c], row[c + 1]];
            row[c] = a * Math.cos(angle) - b * Math.sin(angle);
            row[c + 1] = a * Math.sin(angle) + b * Math.cos(angle);
        }
    }
    return own;
}
function softmax(row) {
    const most = row.reduce((a, b) => Math.max(a, b), -Infinity);
    const sum = row.reduce((total, logit, i) => total + (row[i] = Math.exp(logit - most)), 0);
    row.forEach((weight, i) => (row[i] = weight / sum));
}
function lasMaps(x, head, values) {
    const { length, heads, width } = x;
    const size = width / heads;
    const rotary = values['position'] === 'rope';
    const [q, k] = [headOf(x.q, x, head, rotary), headOf(x.k, x, head, rotary)];
    const decay = decayOf(values, head, heads, size);
    const chunk = Number(values['chunk']) || length;
    const plain = new Float64Array(length * length);
    const decayed = new Float64Array(length * length);
    const acting = new Float64Array(length * length);
    for (let i = 0; i < length; i++) {
        const first = i - (i % chunk);
        for (let j = first; j <= i; j++) {
            let dot = 0;
            for (let c = 0; c < size; c++) dot += q[i * size + c] * k[j * size + c];
            plain[i * length + j] = dot / Math.sqrt(size);
            decayed[i * length + j] = decay(plain[i * length + j], i - j);
        }
        const row = [i * length + first, i * length + i + 1];
        softmax(plain.subarray(...row));
        softmax(decayed.subarray(...row));
        const end = Math.min(first + chunk, length);
        pool(acting, decayed, i * length, first, i, end, values);
    }
    return { plain, decayed, acting };
}
function pool(acting, weights, at, first, row, end, values) {
    const kind = values['pool'];
    const window = kind === 'none' ? 1 : Number(values['window']);
    const ahead = kind === 'trailing' || kind === 'none' ? 0 : (window - 1) / 2;
    const last = kind === 'masked' ? row : end - 1;
    for (let j = first; j <= row; j++)
        for (let to = j + ahead - window + 1; to <= j + ahead; to++)
            if (to >= first && to <= last) acting[at + to] += weights[at + j] / window;
}
export { lasMaps };
