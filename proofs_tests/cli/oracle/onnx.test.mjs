// onnx.test.mjs: seqmix vectors --onnx: node tests read back by a reader that knows nothing of the writer,
// their operators computed from the text of ONNX's standard, and what seqmix judge says of results in that
// form.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readModel, readTensor, tensorBytes } from '../../../bench/peers/onnx_files.mjs';
import { readNpy } from '../../support/npy.mjs';
import { seqmix } from '../../support/program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-onnx-'));
after(() => rmSync(folder, { recursive: true }));
const at = (...names) => join(folder, ...names);
const set = at('set');
let cases;
before(() => {
    const made = seqmix('vectors', '--onnx', '--out', set);
    assert.equal(made.status, 0, made.stderr);
    cases = JSON.parse(readFileSync(join(set, 'manifest.json'), 'utf8')).cases;
});

const nodeTest = (name) => {
    const own = join(set, `test_${name}`);
    const model = readModel(join(own, 'model.onnx'));
    const data = (part, k) => readTensor(join(own, 'test_data_set_0', `${part}_${k}.pb`));
    return {
        ...model,
        given: model.inputs.map((_, k) => data('input', k)),
        wanted: model.outputs.map((_, k) => data('output', k)),
    };
};
const close = (got, wanted, what) => {
    assert.equal(got.length, wanted.length, what);
    const scale = wanted.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    got.forEach((x, i) =>
        assert.ok(Math.abs(x - wanted[i]) <= 1e-5 * scale, `${what}: [${i}] ${x}, not ${wanted[i]}`),
    );
};

// The operators, from their definitions in the standard: tensors as {dims, data}.
function causalConv({ input, weight, bias, past_state: past }, { activation }) {
    const [B, C, L] = input.dims;
    const k = weight.dims[2];
    const y = [];
    const state = [];
    for (let b = 0; b < B; b++)
        for (let c = 0; c < C; c++) {
            const before = past
                ? past.data.slice((b * C + c) * (k - 1), (b * C + c + 1) * (k - 1))
                : Array(k - 1).fill(0);
            const row = [...before, ...input.data.slice((b * C + c) * L, (b * C + c + 1) * L)];
            for (let t = 0; t < L; t++) {
                let z = bias ? bias.data[c] : 0;
                for (let j = 0; j < k; j++) z += weight.data[c * k + j] * row[t + j];
                y.push(activation === 'silu' ? z / (1 + Math.exp(-z)) : z);
            }
            state.push(...row.slice(L));
        }
    return [y, state];
}

function linearAttention({ query, key, value, past_state: past, decay, beta }, attributes) {
    const [B, T, width] = query.dims;
    const { q_num_heads: Hq, kv_num_heads: H, update_rule: rule } = attributes;
    const dk = width / Hq;
    const dv = value.dims[2] / H;
    const keys = key.dims[2] / dk; // H in the standard
    const scale = attributes.scale || 1 / Math.sqrt(dk);
    const out = Math.max(Hq, H);
    const y = new Float64Array(B * T * out * dv);
    const state = past ? Float64Array.from(past.data) : new Float64Array(B * H * dk * dv);
    const perChannel = decay && decay.dims[2] === H * dk;
    for (let b = 0; b < B; b++)
        for (let t = 0; t < T; t++)
            for (let h = 0; h < H; h++) {
                const S = state.subarray((b * H + h) * dk * dv, (b * H + h + 1) * dk * dv);
                const row = b * T + t;
                const k = (i) => key.data[(row * keys + Math.floor(h / (H / keys))) * dk + i];
                for (let i = 0; i < dk && decay; i++) {
                    const g = perChannel ? decay.data[(row * H + h) * dk + i] : decay.data[row * H + h];
                    for (let j = 0; j < dv; j++) S[i * dv + j] *= Math.exp(g);
                }
                for (let j = 0; j < dv; j++) {
                    let write = value.data[(row * H + h) * dv + j];
                    if (rule.endsWith('delta')) {
                        for (let i = 0; i < dk; i++) write -= S[i * dv + j] * k(i);
                        write *= beta.dims[2] === 1 ? beta.data[row] : beta.data[row * H + h];
                    }
                    for (let i = 0; i < dk; i++) S[i * dv + j] += k(i) * write;
                }
                for (let o = 0; o < out; o++) {
                    if ((Hq >= H ? Math.floor(o / (Hq / H)) : o) !== h) continue;
                    const q = Hq >= H ? o : Math.floor(o / (H / Hq));
                    for (let j = 0; j < dv; j++) {
                        let sum = 0;
                        for (let i = 0; i < dk; i++)
                            sum += query.data[(row * Hq + q) * dk + i] * S[i * dv + j];
                        y[(row * out + o) * dv + j] = scale * sum;
                    }
                }
            }
    return [y, state];
}

function attention({ Q, K, V }, attributes) {
    const four = Q.dims.length === 4;
    const B = Q.dims[0];
    const L = Q.dims[four ? 2 : 1];
    const H = four ? Q.dims[1] : attributes.q_num_heads;
    const few = four ? K.dims[1] : attributes.kv_num_heads;
    const d = four ? Q.dims[3] : Q.dims[2] / H;
    const at = (heads, b, h, t) => (four ? (b * heads + h) * L + t : (b * L + t) * heads + h) * d;
    const {
        is_causal: causal,
        softcap = 0,
        left_window_size: left = L,
        scale = 1 / Math.sqrt(d),
    } = attributes;
    const y = new Float64Array(B * H * L * d);
    for (let b = 0; b < B; b++)
        for (let h = 0; h < H; h++)
            for (let i = 0; i < L; i++) {
                const head = Math.floor(h / (H / few));
                const logits = Array.from({ length: L }, (_, j) => {
                    if ((causal && j > i) || i - j > left) return -Infinity;
                    let s = 0;
                    for (let c = 0; c < d; c++)
                        s += Q.data[at(H, b, h, i) + c] * K.data[at(few, b, head, j) + c];
                    return softcap ? softcap * Math.tanh((scale * s) / softcap) : scale * s;
                });
                const most = Math.max(...logits);
                const weights = logits.map((s) => Math.exp(s - most));
                const sum = weights.reduce((a, b) => a + b);
                for (let c = 0; c < d; c++)
                    y[at(H, b, h, i) + c] =
                        weights.reduce((a, w, j) => a + w * V.data[at(few, b, head, j) + c], 0) / sum;
            }
    return [y];
}
const FORMAL = {
    CausalConvWithState: [causalConv, ['input', 'weight', 'bias', 'past_state']],
    LinearAttention: [linearAttention, ['query', 'key', 'value', 'past_state', 'decay', 'beta']],
    Attention: [attention, ['Q', 'K', 'V']],
};

test('node tests of ONNX are models of one node whose outputs are those of the operator by its definition', () => {
    const seen = {};
    for (const { name } of cases) {
        const one = nodeTest(name);
        const { node } = one;
        const [computed, formal] = FORMAL[node.op];
        const given = one.given.filter(({ name: of }) => node.inputs.includes(of));
        assert.equal(given.length, one.given.length);
        const by = {};
        node.inputs.forEach((of, i) => {
            if (of) by[formal[i]] = given.find(({ name: input }) => input === of);
        });
        assert.notEqual(node.inputs.at(-1), '', `${name}: no empty names at the end`);
        [...one.inputs, ...one.outputs].forEach(({ name: of, type, dims }) => {
            const data = [...one.given, ...one.wanted].find(({ name: other }) => other === of);
            assert.deepEqual([type, dims], [1, data.dims], `${name}: ${of}`);
            assert.equal(
                data.data.length,
                dims.reduce((a, b) => a * b, 1),
            );
        });
        const results = computed(by, node.attributes);
        one.wanted.forEach(({ data }, k) => close(results[k], data, `${name}, output ${k}`));
        const version = one.opsets.find(({ domain }) => domain === node.domain).version;
        (seen[`${node.op} ${node.domain || 'standard'} ${version}`] ??= []).push(name);
        assert.equal(one.ir, 10);
    }
    // what there is: every rule, states given and not, long and short, each layout
    assert.deepEqual(Object.keys(seen).sort(), [
        'Attention standard 23',
        'Attention standard 25',
        'CausalConvWithState standard 27',
        'LinearAttention com.microsoft 1',
        'LinearAttention standard 27',
    ]);
    const rules = seen['LinearAttention standard 27'].map((name) => nodeTest(name).node);
    for (const rule of ['linear', 'gated', 'delta', 'gated_delta'])
        for (const state of [true, false])
            assert.ok(
                rules.some(
                    ({ attributes, inputs }) =>
                        attributes.update_rule === rule && (inputs[3] === 's0') === state,
                ),
                `${rule}, ${state ? 'with' : 'without'} a state`,
            );
    assert.ok(seen['Attention standard 23'].some((name) => nodeTest(name).given[0].dims.length === 4));
});

const judge = (results, ...more) =>
    seqmix('judge', '--manifest', join(set, 'manifest.json'), results, '--f32', ...more);

test('judge reads the outputs of node tests, puts heads and channels in their places, and says what is wrong with them', () => {
    const results = at('results');
    for (const name of readdirSync(set).filter((of) => of.startsWith('test_')))
        cpSync(join(set, name), join(results, name), { recursive: true });
    const right = judge(results);
    assert.equal(right.status, 0, right.stdout + right.stderr);
    const arrays = cases.reduce((n, { outputs }) => n + Object.keys(outputs).length, 0);
    assert.match(right.stdout, new RegExp(`^judge: ${arrays} arrays of ${cases.length} cases, 0 past`, 'm'));
    // wrong: one number of a case that is stored otherwise than it is judged, and a case scaled
    const change = (name, k, how) => {
        const path = join(results, `test_${name}`, 'test_data_set_0', `output_${k}.pb`);
        const { name: of, dims, data } = readTensor(path);
        writeFileSync(path, tensorBytes(of, dims, how(data, dims)));
    };
    change('causal_conv_core_silu', 0, (data, [, C, L]) => {
        for (let t = 128; t < L; t++) data[(1 * C + 2) * L + t] = 3; // second sequence, column 2, late rows
        return data;
    });
    change('attn_core_grouped_4d', 0, (data, [, , L, d]) => {
        for (let t = 0; t < L; t++) data.fill(0, (3 * L + t) * d, (3 * L + t + 1) * d); // a head
        return data;
    });
    change('linear_attention_core_delta', 1, (data) => data.map((x) => x / 2));
    const wrong = judge(results);
    assert.equal(wrong.status, 1, wrong.stdout + wrong.stderr);
    assert.match(wrong.stdout, /, 3 past what is allowed in 3 cases/);
    assert.match(wrong.stdout, /^causal_conv_core_silu: y is off .*row 128/m);
    assert.match(wrong.stdout, /^attn_core_grouped_4d: y is off .*head 3/m);
    assert.match(wrong.stdout, /^linear_attention_core_delta: state is off .*times 0\.5/m);
    // an .npy beside it comes first
    const { file } = cases.find(({ name }) => name === 'linear_attention_core_delta').outputs.state;
    cpSync(join(set, file), join(results, file));
    assert.match(judge(results).stdout, /, 2 past what is allowed in 2 cases/);
});

test('an output of another shape, type or place is refused with its reason', () => {
    const name = 'causal_conv_core_plain';
    const { dims, data } = nodeTest(name).wanted[0];
    const path = at('bad', `test_${name}`, 'test_data_set_0', 'output_0.pb');
    mkdirSync(at('bad', `test_${name}`, 'test_data_set_0'), { recursive: true });
    const bytes = tensorBytes('y', dims, data);
    const said = (written, pattern) => {
        writeFileSync(path, written);
        const { status, stderr } = judge(at('bad'), '--only', name, '--partial');
        assert.equal(status, 2, stderr);
        assert.match(stderr, pattern);
    };
    said(
        tensorBytes('y', [dims[0], dims[2], dims[1]], data),
        /output_0\.pb: has the shape \[2\]\[17\]\[6\]; \[2\]\[6\]\[17\] is wanted/,
    );
    said(tensorBytes('y', dims, data, 7), /numbers of ONNX's type 7; 1 \(float\)/);
    said(tensorBytes('y', dims, data.slice(1)), /holds 812 bytes of numbers; 816 are wanted/);
    said(bytes.subarray(0, 100), /is no TensorProto/);
    said(Buffer.concat([bytes, Buffer.from([14 << 3, 1])]), /its numbers are in another file/);
    said(Buffer.from([0xff, 0xff]), /is no TensorProto/);
    // the same numbers in double and bfloat16 are read
    const double = tensorBytes('y', dims, Float64Array.from(data), 11);
    writeFileSync(path, double);
    assert.equal(judge(at('bad'), '--only', name, '--partial').status, 0);
    const bfloat16 = Uint16Array.from(new Uint32Array(Float32Array.from(data).buffer), (x) => x >>> 16);
    writeFileSync(path, tensorBytes('y', dims, bfloat16, 16));
    // and in float16; its shape's sizes packed, as float_data
    const float16 = Uint16Array.from(new Uint32Array(Float32Array.from(data).buffer), (x) => {
        const exponent = ((x >>> 23) & 255) - 112;
        return ((x >>> 16) & 0x8000) | (exponent > 0 ? (exponent << 10) | ((x >>> 13) & 1023) : 0);
    });
    const passes = (written, ...more) => {
        writeFileSync(path, written);
        const args = ['--manifest', join(set, 'manifest.json'), at('bad'), '--only', name, '--partial'];
        const { status, stdout, stderr } = seqmix('judge', ...args, ...more);
        assert.equal(status, 0, stdout + stderr);
    };
    passes(tensorBytes('y', dims, float16, 10), '--f16');
    const numbers = Buffer.from(Float32Array.from(data).buffer);
    const sized = (number) => [
        Buffer.from([(number << 3) | 2, (numbers.length % 128) | 128, numbers.length >> 7]),
        numbers,
    ];
    const packed = [(1 << 3) | 2, dims.length, ...dims];
    for (const number of [4, 9])
        // float_data, raw_data
        passes(Buffer.concat([Buffer.from([...packed, 2 << 3, 1]), ...sized(number)]), '--f32');
    writeFileSync(path, tensorBytes('y', dims, bfloat16, 16));
    const cut = seqmix(
        'judge',
        '--manifest',
        join(set, 'manifest.json'),
        at('bad'),
        '--bf16',
        '--only',
        name,
        '--partial',
    );
    assert.equal(cut.status, 0, cut.stdout + cut.stderr);
    const both = seqmix('vectors', '--onnx', '--hard', '--out', at('no'));
    assert.deepEqual(
        [both.status, both.stderr],
        [
            2,
            'seqmix: vectors: --hard is a set with sizes of its own: without --length, --width, --batch, --onnx and --budget\n',
        ],
    );
});
