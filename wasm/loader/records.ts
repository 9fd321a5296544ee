// records.ts: written by `node scripts/records.mjs` from wasm/records.def; change that. Fields in the
// order in which the module hands them out: a number, a flag (0 or 1) or an address (0: none).
export const EVALUATION = {
    loss: 'number',
    accuracy: 'number',
    sequenceAccuracy: 'number',
    r2: 'number',
    targets: 'number',
    sequences: 'number',
    freeAccuracy: 'number',
    freeSequenceAccuracy: 'number',
    regression: 'flag',
    text: 'flag',
    freeRunning: 'flag',
} as const;
export const METRICS = {
    step: 'number',
    loss: 'number',
    accuracy: 'number',
    rate: 'number',
    gradientNorm: 'number',
    params: 'number',
    steps: 'number',
    bytes: 'number',
    flops: 'number',
} as const;
export const STATE_FORM = {
    sequences: 'number',
    most: 'number',
    rows: 'number',
    vocab: 'number',
    channels: 'number',
    answers: 'number',
    bytes: 'number',
    text: 'flag',
} as const;
export const BATCH_FORM = {
    sequences: 'number',
    length: 'number',
    targets: 'number',
    most: 'number',
    vocab: 'number',
    channels: 'number',
    classes: 'number',
} as const;
export const TENSOR = {
    name: 'address',
    data: 'address',
    rank: 'number',
    'shape[0]': 'number',
    'shape[1]': 'number',
    'shape[2]': 'number',
    'shape[3]': 'number',
    isWeight: 'flag',
} as const;
export const SAMPLE = {
    length: 'number',
    classes: 'number',
    channels: 'number',
    targetCount: 'number',
    tokens: 'address',
    values: 'address',
    targets: 'address',
    predicted: 'address',
    confidence: 'address',
    targetValues: 'address',
} as const;
