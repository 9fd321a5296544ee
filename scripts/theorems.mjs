// theorems.mjs: writes docs/THEOREMS.md: for each claim of the papers the file that checks it, the command, and the figures
// that it prints. Made from the first comment of every proofs_tests/proofs/proof_*.c (Claim, Statement, Needs, Model, Check) and from
// the lines "figure: ..." of a run; the programs must have been built.
//   node scripts/theorems.mjs            write the page
//   node scripts/theorems.mjs --check    say whether the page holds every proof with its claim and each of its figures' names
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const page = join(root, 'docs/THEOREMS.md');
const order = [
    'las_b1',
    'las_smooth',
    'cat_thm1',
    'cat_cor1',
    'cat_thm2',
    'cat_thm3',
    'cat_prop12',
    'focus',
    'chela',
    'certificates',
];
const parts = ['Claim', 'Statement', 'Needs', 'Model', 'Check'];

// The fields of a proof's first comment; throws where one is missing.
function fields(name) {
    const lines = readFileSync(join(root, 'proofs_tests/proofs', `${name}.c`), 'utf8').split('\n');
    const found = {};
    let part;
    for (const line of lines.slice(1)) {
        if (!line.startsWith('//')) break;
        const start = line.match(/^\/\/ (\w+): (.*)$/);
        if (start && parts.includes(start[1])) found[(part = start[1])] = start[2];
        else if (part) found[part] += ` ${line.slice(2).trim()}`;
    }
    for (const p of parts)
        if (!found[p]) throw new Error(`proofs_tests/proofs/${name}.c: its first comment has no "${p}: ..."`);
    return found;
}
function rank(name) {
    const i = order.indexOf(name.replace('proof_', ''));
    return i < 0 ? order.length : i;
}
const proofs = readdirSync(join(root, 'proofs_tests/proofs'))
    .filter((n) => /^proof_.*\.c$/.test(n))
    .map((n) => n.replace(/\.c$/, ''))
    .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));

// [test, text, value, bound] of every figure.
function figures(name) {
    const r = spawnSync(join(root, 'build/tests', name), {
        encoding: 'utf8',
        env: { ...process.env, CMOCKA_MESSAGE_OUTPUT: 'STDOUT' },
    });
    if (r.status !== 0)
        throw new Error(`build/tests/${name} fails:\n${(r.stdout ?? '') + (r.stderr ?? r.error)}`);
    const found = [];
    let test = '';
    for (const line of r.stdout.split('\n')) {
        const run = line.match(/\[ RUN {6}\] (\S+)/);
        if (run) test = run[1];
        const f = line.match(/figure: (.*): (\S+) \((at most|at least) (.+)\)$/);
        if (f) found.push([test, f[1], f[2], `${f[3]} ${f[4]}`]);
    }
    if (!found.length) throw new Error(`build/tests/${name} prints no figure`);
    return found;
}

// What Rocq has proved, by the C program that a .v file's first comment names: { proof_las_b1: { LasB1: [[name, statement], ..] } }.
const rocq = join(root, 'proofs_tests/rocq');
const proved = {};
const inPart = new Set(); // programs whose file says "Not proved"
const errataProved = new Set();
for (const block of readFileSync(join(rocq, 'statements.txt'), 'utf8').split(/\n(?=\S)/)) {
    const [, file, name] = block.match(/^(\w+)\.(\S+)/);
    const comment = readFileSync(join(rocq, `${file}.v`), 'utf8').split('*)')[0];
    for (const c of new Set(comment.match(/\bproof_\w+(?=\.c\b)/g))) {
        ((proved[c] ??= {})[file] ??= []).push([name, block.slice(block.indexOf('\n') + 1).trimEnd()]);
        if (/\bNot proved\b/.test(comment)) inPart.add(c);
    }
    for (const [, n] of comment.matchAll(/\b[Ee]rratum\s+(\d+)/g)) errataProved.add(Number(n));
}
// What kind of truth a claim has. proof_certificates names the programs whose claims it certifies.
function kinds(name) {
    if (name === 'test_errata') {
        const found = [...errataProved].sort((a, b) => a - b);
        return `tested${found.length ? `; proved: ${found.join(', ')}` : ''}`;
    }
    const all = Object.values(proved[name] ?? {}).flat().length;
    const certifies = name === 'proof_certificates';
    const certified = certifies || fields('proof_certificates').Statement.includes(`${name}.c`);
    return [
        all && `[proved ${inPart.has(name) ? 'in part' : 'for all'}](#${name}), ${all} theorems`,
        certified && 'certified on instances',
        !certifies && 'tested',
    ]
        .filter(Boolean)
        .join('; ');
}
function proofsOf(name) {
    const files = Object.entries(proved[name] ?? {});
    return files
        .map(([file, theorems]) => {
            const text = theorems.map(([n, statement]) => `${n}:\n${statement}`).join('\n\n');
            return `*Proved* in Rocq: [proofs_tests/rocq/${file}.v](../proofs_tests/rocq/${file}.v)\n\n\`\`\`\n${text}\n\`\`\`\n\n`;
        })
        .join('');
}
const cell = (text) => text.replaceAll('|', '\\|');

if (process.argv.includes('--check')) {
    const text = readFileSync(page, 'utf8');
    const missing = proofs.filter(
        (n) => !text.includes(`proofs_tests/proofs/${n}.c`) || !text.includes(cell(fields(n).Claim)),
    );
    if (!text.includes('proofs_tests/proofs/test_errata.c')) missing.push('test_errata');
    for (const files of Object.values(proved))
        for (const [n, statement] of Object.values(files).flat())
            if (!text.includes(`${n}:\n${statement}`)) missing.push(n);
    for (const n of [...proofs, 'test_errata']) if (!text.includes(` | ${kinds(n)} | `)) missing.push(n);
    for (const n of missing)
        console.error(
            `docs/THEOREMS.md: ${n} is missing or its claim has changed; make theorems writes the page`,
        );
    process.exit(missing.length ? 1 : 0);
}

let out = `# The papers' claims and their checks

Generated by \`make theorems\`: the text from the first comment of each file, the figures from a run. Each program builds and runs
by itself with \`make build/tests/NAME && build/tests/NAME\`; \`make test\` runs all of them. The constructions are in
proofs_tests/constructions/constructions.h, made from the public kernels (float32) and from the oracle (double). The page's Theorems view lets
one change their inputs by hand; its Verify view runs these very tests in the browser (proofs_tests/proofs/wasm).

What kind of truth a claim has: proved for all lengths, inputs and weights, over the real numbers, by a machine
([proofs_tests/rocq](../proofs_tests/rocq/README.md)); certified on exact instances, in ball arithmetic; tested, the kernels' own
floats against a bound.

Sources: [LaS] Zimerman & Wolf, ICML 2024; [CAT] Li, Zhang, Huang & Oymak, AAAI 2025; [Focus] Lutati, Zimerman & Wolf, EMNLP 2023;
[CHELA] Liu et al., ICML 2024.

| claim | file | truth | figures |
|---|---|---|---|
`;
let body = '';
for (const name of proofs) {
    const f = fields(name),
        all = figures(name);
    out += `| ${cell(f.Claim)} | [proofs_tests/proofs/${name}.c](../proofs_tests/proofs/${name}.c) | ${kinds(name)} | [${all.length}](#${name}) |\n`;
    body += `\n## ${name}\n\n**${cell(f.Claim)}**\n\n`;
    for (const p of parts.slice(1))
        body += `*${p}.* ${f[p].replaceAll('*', '\\*').replaceAll('_', '\\_')}\n\n`;
    body += proofsOf(name);
    body += `\`make build/tests/${name} && build/tests/${name}\`\n\n| check | figure | value | bound |\n|---|---|---|---|\n`;
    for (const [test, text, value, bound] of all)
        body += `| ${test} | ${cell(text)} | ${value} | ${bound} |\n`;
}
const errata = figures('test_errata');
const count = readFileSync(join(root, 'docs/ERRATA.md'), 'utf8').match(/^\*\*\d+\. /gm).length;
out += `| what is wrong or unsaid in the sources, [${count} errata](ERRATA.md) | [proofs_tests/proofs/test_errata.c](../proofs_tests/proofs/test_errata.c) | ${kinds('test_errata')} | [${errata.length}](#test_errata) |\n`;
body += `\n## test_errata\n\n\`make build/tests/test_errata && build/tests/test_errata\`\n\n| erratum | figure | value | bound |\n|---|---|---|---|\n`;
for (const [test, text, value, bound] of errata)
    body += `| ${test} | ${cell(text)} | ${value} | ${bound} |\n`;
writeFileSync(page, out + body);
console.log(`wrote docs/THEOREMS.md: ${proofs.length} proofs`);
