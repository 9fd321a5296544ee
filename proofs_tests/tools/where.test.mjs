// where.test.mjs: what bench/where.mjs finds where the answer is known: rows of one kernel.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { hindrance, sampleRows, shares } from '../../bench/where.mjs';

const known = {
    'sgemm 512x512x512': { matrices: 0.9 },
    'layernorm fwd 3136x64': { rows: 0.9 },
    'gelu fwd 3136x128': { functions: 0.9 },
    'adamw 65536': { optimiser: 0.9 },
    'rfft 64x4096': { convolutions: 0.9 },
    'attention fwd B32 L64 D64 H1': { tiles: 0.4, softmax: 0.01, scores: 0.1 },
};

test('rows of one kernel are sampled as that kind of work', { skip: hindrance() || false }, () => {
    const names = Object.keys(known);
    sampleRows(names, { seconds: '0.6' }).forEach(([places], i) => {
        const by = shares(places);
        const found =
            names[i] + ': ' + [...by].map(([kind, share]) => `${kind} ${share.toFixed(3)}`).join(', ');
        for (const [kind, least] of Object.entries(known[names[i]])) assert.ok(by.get(kind) > least, found);
        assert.ok((by.get('else') ?? 0) < 0.1, found);
    });
});
