// words.ts: words of the field in plain ones: what keys of the config language are called, and a line of help
// for each term. Pure functions.

/** What a key is called, where its name does not say it. */
export const NAMES: Readonly<Record<string, string>> = {
    length: 'sequence length',
    vocab: 'different tokens',
    filler: 'what fills the gaps',
    nomatch: 'questions without a pair',
    signals: 'tokens to copy',
    noise: 'kinds of noise',
    images: 'training images',
    split: 'held out',
    width: 'numbers per token',
    norm: 'normalisation',
    mlp: 'hidden layer, × width',
    position: 'position encoding',
    pooling: 'what the answer is read from',
    batch: 'sequences per step',
    rate: 'learning rate',
    schedule: 'learning-rate schedule',
    warmup: 'steps of warm-up',
    decay: 'weight decay',
    clip: 'gradient clipping',
    filter: 'filter length',
    filters: 'what is filtered',
    pool: 'pooling',
    window: 'columns pooled',
    sliding: 'sliding window, in tokens',
    las_decay: 'kind of decay',
    decay_range: 'strongest decay',
    block: 'rows per landmark',
    landmark: 'how a landmark is made',
};

/** Terms of the field, as they are written in sentences, each with its line; some also with an s. */
const TERMS: Readonly<Record<string, string>> = {
    'softmax attention':
        'Attention: each token takes a weighted mean of earlier values, the weights from how its query matches their keys.',
    attention:
        'Each token takes a weighted mean of earlier values; the weights say how well its query matches their keys.',
    filter: 'A weighted sum of a token and the few before it; its weights, the taps, are learnt.',
    taps: 'The weights of a filter: one for the token itself, one for the token before, and so on.',
    block: 'One round of mixing along the sequence; models are one or more of them in a row.',
    heads: 'Several attentions side by side, each on a part of the numbers of a token.',
    keys: 'Of recall: what is asked for. Of attention: what a token is found by.',
    values: 'Of recall: what is answered. Of attention: what is copied from a token.',
    query: 'What a token looks for among the keys.',
    positions:
        'Numbers that tell a token where it stands: learned ones are added, rotary ones (RoPE) turn queries and keys.',
    RoPE: 'Rotary positions: queries and keys are turned by an angle that grows with the position.',
    ALiBi: 'A bias against distant tokens that grows linearly with the distance.',
    decay: 'Weights that shrink with distance, so that distant tokens count less.',
    pooling: 'Averaging neighbouring columns of the attention map.',
    landmarks:
        'Rows that stand for a whole stretch of the sequence, so that not every token has to be looked at.',
    recurrence: 'What carries a state from token to token: the previous state, faded, plus what is new.',
    convolution: 'The same weighted sum at every place of a sequence; a long one spans all of it.',
    'R²': 'The share of the variance of the right numbers that is explained: 1 is exact, 0 no better than their mean.',
    nats: 'How surprised the model is by the right answer: −ln of the probability it gave it. 0 is certain.',
    bits: 'Surprise in yes-or-no questions: −log₂ of the probability that the right character was given.',
    seeds: 'Where the random numbers start: another seed gives other initial weights and other data.',
    tokens: 'What a sequence is made of: numbers that stand for words, characters or symbols.',
    recall: 'Pairs of key and value are read; then a key is asked for, and its value is the answer.',
};
const lines = new Map(Object.entries(TERMS).map(([term, line]) => [term.toLowerCase(), line]));
const pattern = new RegExp(
    `(?<![\\w-])(${Object.keys(TERMS)
        .sort((a, b) => b.length - a.length)
        .join('|')}|(?:decay|recurrence|convolution)s)(?![\\w-])`,
    'gi',
);
export const lineOf = (term: string): string =>
    lines.get(term.toLowerCase()) ?? lines.get(term.toLowerCase().slice(0, -1)) ?? '';

/** A text in pieces, each term that is explained by its first mention a piece of its own. */
export function pieces(text: string): { text: string; term: boolean }[] {
    const found: { text: string; term: boolean }[] = [];
    const known = new Set<string>();
    let at = 0;
    for (const match of text.matchAll(pattern)) {
        const line = lineOf(match[0]);
        if (known.has(line)) continue;
        known.add(line);
        if (match.index > at) found.push({ text: text.slice(at, match.index), term: false });
        found.push({ text: match[0], term: true });
        at = match.index + match[0].length;
    }
    if (at < text.length) found.push({ text: text.slice(at), term: false });
    return found;
}
