// judge_text.test.mjs: seqmix judge --text: texts of model/mixers and examples/equations against the oracle's
// cores, by names bound to their arrays; wrong texts and bindings are named.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readNpy, writeNpy } from '../../support/npy.mjs';
import { seqmix } from '../../support/program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'seqmix-judge-text-'));
after(() => rmSync(folder, { recursive: true }));
const manifests = new Map();
function manifestOf(mechanism) {
    if (!manifests.has(mechanism)) {
        const to = join(folder, mechanism);
        assert.equal(seqmix('vectors', '--only', mechanism, '--out', to).status, 0);
        manifests.set(mechanism, join(to, 'manifest.json'));
    }
    return manifests.get(mechanism);
}
function judge(mechanism, text, bind, ...more) {
    const example = `examples/equations/${text}.eq`;
    const eq = text.includes(' = ') ? encodeURIComponent(text) : `@${example}`;
    const config = text.includes(' = ') || existsSync(example) ? `mixer=equations&eq=${eq}` : `mixer=${text}`;
    const names = bind ? ['--bind', bind] : [];
    return seqmix('judge', '--manifest', manifestOf(mechanism), '--text', config, ...names, ...more);
}
const DELTA =
    'scan S[k][v] over q, k, v, g, b\n R = diag(exp(g)) @ S\n S = R + outer(k, b * (v - k @ R))\n o = q @ S';

test('texts agree with the oracle, y and every gradient, one sequence and several', () => {
    const texts = [
        ['gdn2_core', 'gated_delta2', 'e=b,S=s0,o=y', 16],
        ['rwkv7_core', 'rwkv7', 'w=g,u=k,c=kk,S=s0,o * root_dv=y', 16],
        ['kda_core', DELTA, 'b=beta,S=s0,o / root_dk=y', 7, '--only', 'kda_core_batched'],
        [
            'fox_core',
            'fox',
            'f=g,attention(q, k, v, bias=f, kv_heads=Hkv)=y',
            5,
            '--only',
            'fox_core_grouped',
        ],
        ['mingru_core', 'mingru', 'z=sigmoid(z),h=h0,h=y', 0, '--only', 'mingru_core_plain'],
        ['dplr_core', 'dplr', 'e=b,S=s0,o / root_dk=y', 8, '--only', 'dplr_core_batched'],
        [
            'attn_core',
            'sinks',
            'sink=sinks,attention(q, k, v, sink=sink, kv_heads=Hkv)=y',
            5,
            '--only',
            'attn_core_sinks',
        ],
    ];
    for (const [mechanism, text, bind, arrays, ...more] of texts) {
        const { status, stdout, stderr } = judge(mechanism, text, bind, ...more);
        assert.equal(status, 0, `${mechanism}: ${stdout}${stderr}`);
        const [, judged, past] = /^judge: (\d+) arrays of \d+ cases, (\d+) past/m.exec(stdout);
        assert.ok(Number(judged) >= Math.max(arrays, 3) && past === '0', stdout);
    }
});

test('a wrong text is told from a right one, and its fault is named', () => {
    const unscaled = judge('kda_core', DELTA, 'b=beta,S=s0,o=y', '--only', 'kda_core_batched');
    assert.equal(unscaled.status, 1);
    assert.match(unscaled.stdout, /sqrt\(dk\)/);
    const plain = DELTA.replace('v - k @ R', 'v');
    assert.equal(
        judge('kda_core', plain, 'b=beta,S=s0,o / root_dk=y', '--only', 'kda_core_batched').status,
        1,
    );
});

test('what cannot be bound is a sentence', () => {
    const said = (status, words, ...of) => {
        const result = judge('gdn2_core', ...of);
        assert.equal(result.status, status);
        assert.match(result.stderr, words);
    };
    said(2, /--bind NAME=s0: nothing in the text is s0/, 'gated_delta2', 'e=b,o=y');
    said(2, /the case has no input nothing/, 'gated_delta2', 'e=nothing,o=y');
    said(2, /it must be NAME=ARRAY/, 'gated_delta2', 'e,o=y');
    said(2, /the case does not give x, which the text's line/, 'gated_delta2', 'S=s0,y=y');
    said(2, /there is no function relux/, 'o = relux(q)', 'o=y');
    const folders = seqmix('judge', '--manifest', manifestOf('gdn2_core'), folder, '--bind', 'e=b');
    assert.equal(folders.status, 2);
    assert.match(folders.stderr, /--bind names what stands in a text/);
});

test('a manifest that does not fit together is a sentence: heads, batches, lines of the text', () => {
    const from = join(manifestOf('kda_core'), '..'),
        to = join(folder, 'spoilt');
    cpSync(from, to, { recursive: true });
    assert.match(
        seqmix('judge', '--manifest', to, to).stderr,
        /spoilt: is a folder; a manifest is a file in JSON, usually .*spoilt\/manifest\.json/,
    );
    const name = 'kda_core_batched';
    const whole = JSON.parse(readFileSync(join(from, 'manifest.json'), 'utf8'));
    const judged = (change, text = DELTA) => {
        const m = structuredClone(whole);
        m.cases = m.cases.filter((one) => one.name === name);
        change(m.cases[0]);
        writeFileSync(join(to, 'manifest.json'), JSON.stringify(m));
        const config = `mixer=equations&eq=${encodeURIComponent(text)}`;
        const bind = 'b=beta,S=s0,o / root_dk=y';
        return seqmix('judge', '--manifest', join(to, 'manifest.json'), '--text', config, '--bind', bind);
    };
    assert.equal(judged(() => {}).status, 0);
    const refused = (words, ...of) => {
        const { status, stderr } = judged(...of);
        assert.equal(status, 2, stderr);
        assert.match(stderr, words);
    };
    refused(/it has 1e\+18 heads of .* columns/, (one) => (one.params.H = one.params.HV = 1e18));
    refused(/line 201, column 1: more than 200 equations/, () => {}, `${'a = q\n'.repeat(201)}${DELTA}`);
    refused(/input q has another batch than its y/, (one) => {
        const q = one.inputs.q,
            { data } = readNpy(join(from, q.file));
        q.shape = [2 * q.shape[0], ...q.shape.slice(1)];
        writeNpy(join(to, q.file), q.shape, [...data, ...data]);
    });
});
