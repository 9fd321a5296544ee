// bits.test.mjs: docs/BITS.md has the program's figures, its text and the constants of the C.
// WRITE=1 node --test proofs_tests/tools/bits.test.mjs writes what the program gives into the page.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readNpy } from '../support/npy.mjs';
import { seqmix } from '../support/program.mjs';

const path = 'docs/BITS.md';
const page = readFileSync(path, 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'seqmix-bits-'));
after(() => rmSync(folder, { recursive: true }));

function ask(...args) {
    const { status, stdout, stderr } = seqmix(...args);
    assert.equal(status, 0, stderr);
    return stdout;
}

const hex = (x, digits) => x.toString(16).padStart(digits, '0');
function hashed(numbers) {
    let hash = 0xcbf29ce484222325n;
    for (const x of numbers) hash = BigInt.asUintN(64, (hash ^ BigInt(x)) * 0x100000001b3n);
    return hex(hash, 16);
}

// {name: [its shape, its first word, the hash of its words]} of a checkpoint's tensors
function tensors(file) {
    const bytes = readFileSync(file);
    const end = 8 + Number(bytes.readBigUInt64LE(0));
    const { __metadata__, ...header } = JSON.parse(bytes.subarray(8, end).toString());
    assert.ok(__metadata__.config);
    const at = bytes.byteOffset + end;
    return Object.fromEntries(
        Object.entries(header).map(([name, tensor]) => {
            const [from, to] = tensor.data_offsets;
            const words = new Uint32Array(bytes.buffer.slice(at + from, at + to));
            return [name, [tensor.shape.join(' x '), hex(words[0], 8), hashed(words)]];
        }),
    );
}

// What a run of a config is: its first sample, its weights at first, its losses and digests.
function figures(config) {
    const file = join(folder, 'run.safetensors');
    const train = (steps, changes = '') => {
        const text = config.replace(/&steps=\d+$/, `&steps=${steps}`) + changes;
        const lines = ask('train', text, '--json', '--save', file).trim().split('\n').map(JSON.parse);
        const { digest } = lines.at(-1);
        return { ...lines.at(-2), digest, tensors: tensors(file) };
    };
    ask('data', config, '--out', folder, '--count', '1');
    const [tokens, targets] = ['tokens', 'targets'].map((name) => readNpy(join(folder, `${name}.npy`)).data);
    const rows = (words, n) =>
        Array.from({ length: Math.ceil(words.length / n) }, (_, i) =>
            `    ${[...words.slice(i * n, i * n + n)].join(' ')}`.trimEnd(),
        ).join('\n');
    const start = train(1, '&rate=0');
    const first = train(1).tensors;
    const weights = Object.entries(start.tensors)
        .filter(([name]) => first[`adam.m:${name}`])
        .map(([name, at]) => `| \`${name}\` | ${[...at, ...first[`adam.m:${name}`].slice(1)].join(' | ')} |`);
    const steps = [1, 2, 3, 10, 50].map((n) => {
        const { loss, word, digest } = train(n);
        return `| ${n} | ${loss} | ${word} | ${digest} |`;
    });
    return `
Tokens of sample 0, then its targets:

${rows(tokens, 32)}

${rows(targets, 32)}

Of each weight the first word and the hash of all its words (section 12) before step 1, and those of its m after step 1:

| weight | shape | word | hash | m's word | m's hash |
|---|---|---|---|---|---|
${weights.join('\n')}

| step | loss | its word | digest after the step |
|---|---|---|---|
| 0 | | | ${start.digest} |
${steps.join('\n')}

`;
}

for (const name of ['recall', 'text'])
    test(`the figures of ${name}`, () => {
        const config = new RegExp(`<!-- config ${name} -->\\n {4}(\\S+)\\n`).exec(page)[1];
        const place = new RegExp(`(<!-- figures ${name} -->\\n)([^]*?)(<!-- end -->)`);
        const had = place.exec(page)[2];
        const has = figures(config);
        if (process.env.WRITE)
            writeFileSync(
                path,
                readFileSync(path, 'utf8').replace(place, (_, begin, __, end) => begin + has + end),
            );
        else
            assert.equal(
                had,
                has,
                `${path} is not what the program gives: WRITE=1 node --test ${process.argv[1]}`,
            );
    });

test('the text', () => {
    const literals = [...readFileSync('tasks/files/text_sample.h', 'utf8').matchAll(/^ {4}(".*")/gm)];
    const text = Buffer.from(literals.map(([, literal]) => JSON.parse(literal)).join(''));
    const said = /([\d,]+) bytes\s+whose\s+FNV-1a\s+hash\s+\(section\s+6\)\s+is\s+0x([0-9a-f]{16})/.exec(
        page,
    );
    assert.deepEqual([said[1].replace(',', ''), said[2]], [`${text.length}`, hashed(text)]);
});

// Constants with six digits or more, which nobody types without a slip.
test('the constants are those of the C', () => {
    const c = ['core/vmath.h', 'rows/activation.c', 'core/mathd.h', 'core/philox.h', 'core/hash.h']
        .map((file) => readFileSync(`kernels/${file}`, 'utf8'))
        .join('\n');
    const known = new Set();
    const value = (text) => {
        const [, whole, fraction, power] = /^0x([0-9a-f]+)\.([0-9a-f]*)p([+-]\d+)$/i.exec(text);
        return parseInt(whole + fraction, 16) * 2 ** (Number(power) - 4 * fraction.length);
    };
    for (const [x] of c.matchAll(/0x[0-9a-f]+\.[0-9a-f]*p[+-]\d+/gi)) known.add(`${value(x)}`);
    for (const [plain] of c.matchAll(/\b(?:0x[0-9a-f]{6,}|\d+\.\d{5,}(?:e-?\d+)?)/gi))
        known.add(plain.toLowerCase());
    const [, functions] = /## 3\.([^]*)## 7\./.exec(page);
    const said = [...functions.matchAll(/\b(?:0x[0-9a-f]{6,}|\d+\.\d{5,}(?:e-?\d+)?)/gi)].map(([x]) =>
        x.toLowerCase(),
    );
    assert.ok(said.length > 40, `${said.length} constants`);
    assert.deepEqual(
        said.filter((x) => !known.has(x)),
        [],
    );
});
