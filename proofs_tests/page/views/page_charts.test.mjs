// page_charts.test.mjs: what the Inside view draws of a mechanism is what the engine computes with: LaS's
// maps step by step, the kernel that MEGA's moving averages are, Focus's filters. No browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from '../../../build/wasm/seqmix.js';
import { pageModule } from '../in_node.mjs';
import { lasMaps } from '../las_maps.mjs';

const L = 32;
const TASK = `task=mqar&length=${L}&pairs=4&heads=2`;
const CLOSE = 2e-6; // float32 sums of 32 products of order one

const { response, spectrum } = await pageModule('charts/signal');
const { averageKernel, impulse } = await pageModule('views/inside/impulse');
const lab = await load();

/** A run with 20 steps behind it that has looked at a sample; a tensor of its block by name. */
function looked(config) {
    const run = lab.open(`${config}&${TASK}`);
    run.step(20);
    run.look(0);
    const values = Object.fromEntries(run.config.split('&').map((pair) => pair.split('=')));
    // Copies: the module's memory may grow under a view.
    const copy = ({ data, ...tensor }) => ({ ...tensor, data: data.slice() });
    return {
        values,
        of: (name) => copy(run.tensor(`block0.mixer.${name}`)),
        input: copy(run.tensor('input')).data,
    };
}
// NaN is as far as can be.
const farthest = (a, b) =>
    a.reduce((most, x, i) => Math.max(most, Number.isNaN(x - b[i]) ? Infinity : Math.abs(x - b[i])), 0);

for (const mode of [
    'pool=none&las_decay=none&position=rope',
    'pool=trailing&window=4',
    'pool=trailing&chunk=10&alphas=0,3',
    'pool=centred&window=5&chunk=7&position=rope',
    'pool=masked&window=5',
    'pool=masked&las_decay=alibi&chunk=10',
    'pool=none&las_decay=alibi_scaled',
])
    test(`LaS's maps are those that act: ${mode}`, () => {
        const { values, of } = looked(`mixer=las&${mode}`);
        const [q, k, v, o] = ['q', 'k', 'v', 'o'].map(of);
        const staged = !(values.pool === 'none' && values.las_decay === 'none');
        const maps = ['plain', 'decayed', 'acting'].map((step) => of(staged ? `map_${step}` : 'map').data);
        const width = q.shape[2];
        const size = width / 2;
        for (const head of [0, 1]) {
            const projected = { q: q.data, k: k.data, length: L, width, heads: 2 };
            const wanted = lasMaps(projected, head, values);
            const [plain, decayed, acting] = maps.map((map) =>
                map.subarray(head * L * L, (head + 1) * L * L),
            );
            for (const [step, found] of Object.entries({ plain, decayed, acting }))
                assert.ok(
                    farthest(found, wanted[step]) < CLOSE,
                    `${step}, head ${head}: off by ${farthest(found, wanted[step])}`,
                );
            // The first head does not decay by exp, and none does without decay.
            const same = values.las_decay === 'none' || (values.las_decay === 'exp' && head === 0);
            assert.equal(farthest(plain, decayed) < CLOSE, same);
            const given = new Float32Array(L * size);
            for (let i = 0; i < L; i++)
                for (let c = 0; c < size; c++)
                    for (let j = 0; j < L; j++)
                        given[i * size + c] += acting[i * L + j] * v.data[j * width + head * size + c];
            const engineGives = given.map(
                (_, i) => o.data[Math.floor(i / size) * width + head * size + (i % size)],
            );
            assert.ok(farthest(given, engineGives) < CLOSE, `off by ${farthest(given, engineGives)}`);
        }
    });

/** Each channel's kernel [channels][L] over x [L][channels], causally. */
function convolved(kernel, x) {
    const channels = kernel.length / L;
    return x.map((_, at) => {
        const [t, c] = [Math.floor(at / channels), at % channels];
        let sum = 0;
        for (let s = 0; s <= t; s++) sum += kernel[c * L + t - s] * x[s * channels + c];
        return sum;
    });
}

test("MEGA's moving averages are the kernel that is drawn", () => {
    const { of, input } = looked('mixer=ema&norm=none');
    const weights = ['alpha', 'delta', 'beta', 'eta'].map((name) => [name, of(name).data]);
    const skip = of('ema_skip').data;
    const kernel = averageKernel(lab.kernels, { ...Object.fromEntries(weights), skip }, L);
    const given = convolved(kernel, input);
    assert.ok(farthest(given, of('average').data) < CLOSE, `off by ${farthest(given, of('average').data)}`);
    assert.ok(farthest(given, input) > 0.01, 'it does more than pass the input on');
});

test("Focus's impulse response is what its filter does, and its spectrum the frequency response", () => {
    const { of, input } = looked('mixer=focus_h&bins=1&norm=none');
    const theta = of('theta').data; // [1][1][channels][2]
    const channels = theta.length / 2;
    const kernel = new Float32Array(channels * L);
    for (let c = 0; c < channels; c++) {
        const [a, b] = [theta[2 * c], theta[2 * c + 1]];
        kernel.set(impulse(lab.kernels, a, b, L), c * L);
        if (c % 8) continue; // a transform by its definition takes 0.3 s
        const long = spectrum(impulse(lab.kernels, a, b, 4000));
        assert.ok(farthest(response(a, b), long) < 1e-3 * Math.max(...long), `channel ${c}`);
    }
    const given = convolved(kernel, input);
    assert.ok(farthest(given, of('x_f').data) < CLOSE, `off by ${farthest(given, of('x_f').data)}`);
});
