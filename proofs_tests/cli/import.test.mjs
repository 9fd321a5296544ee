// import.test.mjs: seqmix import: each reference layer in plain PyTorch (imported.py), its weights saved
// under its names in four number formats: the imported model, exported as a module, gives the layer's
// logits to 1e-5 of the largest, and what goes back is what came. What does not fit is refused in a sentence.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { program, pythonWith, run, seqmix } from '../support/program.mjs';

const python = pythonWith('torch');
const needed = { skip: !python && 'needs python3 with torch (python3-torch)' };
const folder = mkdtempSync(join(tmpdir(), 'seqmix-import-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('every layer gives the logits of its PyTorch form, and its tensors come back', needed, () => {
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
    const done = run(python, ['proofs_tests/cli/imported.py', program, folder], { env });
    assert.equal(done.status, 0, done.stderr);
    const layers = done.stdout.trim().split('\n').map(JSON.parse);
    const known = [...readFileSync('docs/IMPORT.md', 'utf8').matchAll(/`--layer (\w+)`/g)].map(
        ([, name]) => name,
    );
    assert.deepEqual(layers.map(({ layer }) => layer).sort(), known.sort());
    assert.deepEqual(
        layers.filter(({ off, share, back }) => !(off <= 1e-5 && share > 1 && back)),
        [],
    );
});

test('docs/IMPORT.md has the table of names', () => {
    const { status, stdout } = seqmix('import', '--names');
    assert.equal(status, 0);
    const rows = (text) => text.replace(/ +/g, ' ').replace(/-+/g, '-');
    assert.ok(rows(readFileSync('docs/IMPORT.md', 'utf8')).includes(rows(stdout.trim())));
});

const CONFIG =
    'mixer=equations&eq=@examples/import/gpt2.eq&task=mqar&vocab=16&pairs=3&length=12&width=4&heads=2&blocks=1';
const RIGHT = {
    'h.0.attn.c_attn.weight': [4, 12],
    'h.0.attn.c_attn.bias': [12],
    'h.0.attn.c_proj.weight': [4, 4],
    'h.0.attn.c_proj.bias': [4],
};
/** A file of zeros of these shapes. */
function file(shapes, dtype = 'F32', value = 0) {
    const header = {};
    let at = 0;
    for (const [name, shape] of Object.entries(shapes)) {
        const bytes = 4 * shape.reduce((a, b) => a * b, 1);
        header[name] = { dtype, shape, data_offsets: [at, at + bytes] };
        at += bytes;
    }
    const text = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(text.length));
    const data = Buffer.from(new Float32Array(at / 4).fill(value).buffer);
    const path = join(folder, 'given.safetensors');
    writeFileSync(path, Buffer.concat([length, text, data]));
    return path;
}
const save = join(folder, 'made.run');
const given = (path, layer = 'gpt2', ...more) =>
    seqmix('import', path, '--layer', layer, '--config', CONFIG, '--save', save, ...more);

test('what does not fit is refused in a sentence, and no file is written', () => {
    const without = (name) => Object.fromEntries(Object.entries(RIGHT).filter(([key]) => key !== name));
    const cases = [
        [
            () => file(without('h.0.attn.c_proj.bias')),
            /tensor h\.0\.attn\.c_proj\.bias is not there; block0\.mixer\.b_o needs it/,
        ],
        [
            () => file({ ...RIGHT, 'h.0.attn.c_attn.weight': [12, 4] }),
            /is \[12\]\[4\]; it must be \[4\]\[12\]/,
        ],
        [
            () => file({ ...RIGHT, 'h.0.attn.c_attn.weight': [4, 12, 1] }),
            /is \[4\]\[12\]\[1\]; it must be \[4\]\[12\]/,
        ],
        [
            () => file({ ...RIGHT, 'h.0.attn.rotary': [4] }),
            /nothing in this config takes tensor h\.0\.attn\.rotary/,
        ],
        [() => file(RIGHT, 'I32'), /is I32; it must be F32, F64, F16 or BF16/],
        [() => file(RIGHT, 'F32', NaN), /finite/],
        [() => file(RIGHT), /tensor backbone\.layers\.0\.mixer\.out_proj\.weight is not there/, 'mamba'],
        [() => file(RIGHT), /--layer bert is not known; it must be one of gpt2, nanogpt, mamba,/, 'bert'],
        [() => 'docs/IMPORT.md', /is no safetensors file/],
        [() => file(RIGHT), /tensor a\.c_attn\.weight is not there/, 'gpt2', '--prefix', 'a.'],
    ];
    for (const [make, sentence, ...more] of cases) {
        const { status, stderr } = given(make(), ...more);
        assert.match(stderr, sentence);
        assert.equal(status, 2);
        assert.ok(!existsSync(save));
    }
});

test('masks are no weights, tensors of other parts are passed over, our own names are taken as they are', () => {
    const more = { 'h.0.attn.bias': [1, 1, 3, 3], 'h.0.mlp.c_fc.weight': [4, 16], embedding: [16, 4] };
    const { status, stdout, stderr } = given(file({ ...RIGHT, ...more }));
    assert.equal(status, 0, stderr);
    assert.match(stderr, /1 tensor of .* passed over: h\.0\.mlp\.c_fc\.weight/);
    assert.match(stdout, /^9 of \d+ weights/);
    // a value of their own in each head cannot go back where all heads share it
    const gla = 'mixer=equations&eq=@examples/import/gla.eq&task=mqar&width=16&heads=2';
    assert.equal(seqmix('train', `${gla}&steps=2&batch=2`, '--eval', '0', '--save', save).status, 0);
    const back = seqmix(
        'import',
        save,
        '--back',
        '--layer',
        'gla',
        '--save',
        join(folder, 'back.safetensors'),
    );
    assert.match(back.stderr, /block0\.mixer\.gain differs from head to head/);
    assert.equal(back.status, 2);
});
