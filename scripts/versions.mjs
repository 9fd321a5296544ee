// versions.mjs: what a release promises, written down, and held against what is there now (docs/VERSIONS.md).
//
//     node scripts/versions.mjs --record     proofs_tests/versions/VERSION: once, when VERSION is released
//
// A folder there is never written again once its version is out; the test `versions` reads all of them.
import { execFileSync } from 'node:child_process';
import {
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    rmSync,
    writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
export const kept = 'proofs_tests/versions';
const HEADERS = ['smx', 'run', 'state', 'data', 'error', 'parallel', 'ref', 'ref_cores', 'ref_layers'];
const scratch = () => mkdtempSync(join(tmpdir(), 'seqmix-versions-'));
export const version = /SMX_VERSION "(.*)"/.exec(readFileSync('include/seqmix/smx.h', 'utf8'))[1];

// ---- C: what a program that was compiled against the headers relies on -----------------------------------

/** The declarations of the public headers, as the compiler reads them. */
function statements() {
    const text = execFileSync('gcc', ['-Iinclude', '-E', '-x', 'c', '-'], {
        input: HEADERS.map((name) => `#include <seqmix/${name}.h>\n`).join(''),
        encoding: 'utf8',
    });
    let ours = false;
    const lines = text.split('\n').filter((line) => {
        if (line.startsWith('#')) ours = /"include\/seqmix\//.test(line);
        return ours && !line.startsWith('#');
    });
    const all = [];
    let [depth, one] = [0, ''];
    for (const letter of lines.join(' ')) {
        depth += { '{': 1, '}': -1 }[letter] ?? 0;
        if (letter !== ';' || depth) one += letter;
        else {
            all.push(one.replace(/\s+/g, ' ').trim());
            one = '';
        }
    }
    return all.filter(Boolean);
}
/** `const float *x` → `const float *`: names of arguments promise nothing. */
const typeOf = (argument) =>
    /\(\*/.test(argument) || !/[\s*]\w+(\[.*\])?$/.test(argument)
        ? argument
        : argument.replace(/\w+(\[.*\])?$/, (_, array) => (array ? '*' : '')).trim();
/** At commas that no bracket holds. */
function split(text) {
    const parts = [''];
    let depth = 0;
    for (const letter of text) {
        depth += { '(': 1, ')': -1 }[letter] ?? 0;
        if (letter === ',' && !depth) parts.push('');
        else parts[parts.length - 1] += letter;
    }
    return parts.map((part) => part.trim());
}

/** {functions: {name: type}, structs: {name: {size, fields}}, numbers: {enumerator or macro: value}} */
export function abi() {
    const [functions, structs, numbers] = [{}, {}, {}];
    const enumerators = [];
    for (const text of statements()) {
        const body = /^(?:typedef )?(struct|enum)(?: \w+)? \{(.*)\} ?(\w*)$/.exec(text);
        if (body?.[1] === 'struct')
            structs[body[3] || /struct (\w+)/.exec(text)[1]] = { fields: body[2].trim() };
        else if (body) enumerators.push(...split(body[2]).map((one) => one.replace(/ ?=.*/, '')));
        const called = /^(?!typedef)(.*?[\s*])((?:smx|ref)_\w+)\((.*)\)(?: __attribute__.*)?$/.exec(text);
        if (called) functions[called[2]] = `${called[1].trim()} (${split(called[3]).map(typeOf).join(', ')})`;
    }
    const macros = execFileSync('gcc', ['-Iinclude', '-dM', '-E', '-x', 'c', '-'], {
        input: HEADERS.map((name) => `#include <seqmix/${name}.h>\n`).join(''),
        encoding: 'utf8',
    });
    for (const [, name] of macros.matchAll(/^#define ((?:SMX|REF)_\w+) \(?-?\d\w*\)?$/gm))
        enumerators.push(name);
    const folder = scratch();
    writeFileSync(
        join(folder, 'sizes.c'),
        `#include <stdio.h>\n${HEADERS.map((name) => `#include <seqmix/${name}.h>\n`).join('')}int main(void) {
${Object.keys(structs)
    .map((name) => `printf("${name} %zu\\n", sizeof(${name}));`)
    .join('\n')}
puts("");
${enumerators
    .filter(Boolean)
    .map((name) => `printf("${name} %lld\\n", (long long)${name});`)
    .join('\n')}
}`,
    );
    execFileSync('gcc', ['-Iinclude', join(folder, 'sizes.c'), '-o', join(folder, 'sizes')]);
    const [sizes, values] = execFileSync(join(folder, 'sizes'), { encoding: 'utf8' }).split('\n\n');
    rmSync(folder, { recursive: true });
    const pairs = (lines) =>
        lines
            .trim()
            .split('\n')
            .map((line) => line.split(' '));
    for (const [name, size] of pairs(sizes)) structs[name].size = Number(size);
    for (const [name, value] of pairs(values)) numbers[name] = Number(value);
    const soname = `.so.${version.split('.')[0]}`; // (package/install.test.mjs holds the libraries to it)
    return { soname, functions, structs, numbers };
}

// ---- JavaScript, the program, Python: names that callers write -------------------------------------------

const modules = async (whole = true) => {
    const at = (name) => pathToFileURL(`build/wasm/${name}`).href;
    const { load, ...others } = await import(at('seqmix.js'));
    const wasm = readFileSync(`build/wasm/seqmix${whole ? '-whole' : ''}.wasm`);
    return { lab: await load({ wasm }), names: ['load', ...Object.keys(others)] };
};
const members = (object) =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(object))
        .filter((name) => name !== 'constructor')
        .sort();
/** Names of the module's exports, of its objects' members, and of its kernels. */
export async function javascript() {
    const { lab, names } = await modules();
    const run = lab.open('mixer=gla&task=mqar&length=16&vocab=16&pairs=2&width=8&batch=2');
    const state = run.state({ sequences: 1 });
    const { exports } = JSON.parse(readFileSync('wasm/package/package.json', 'utf8'));
    return {
        entries: Object.keys(exports),
        exports: names.sort(),
        Lab: [...new Set([...members(lab), ...Object.keys(lab)])].sort(),
        Run: members(run),
        State: members(state),
        kernels: Object.keys(lab.kernels).sort(),
        metrics: Object.keys(run.metrics),
        evaluation: Object.keys(run.evaluate({ count: 1 })),
    };
}
/** Commands and their options; keys of the config language and what each allows. */
export async function program(seqmix) {
    const help = JSON.parse(
        execFileSync(seqmix, ['help', '--json'], { encoding: 'utf8', maxBuffer: 1 << 26 }),
    );
    const { lab } = await modules();
    const commands = Object.fromEntries(
        help.commands.map(({ name, options }) => [
            name,
            options.map((option) => option.name ?? option).sort(),
        ]),
    );
    const keys = {};
    for (const { name, choices } of lab.config.keys) keys[name] = choices ?? null;
    const { mixers, tasks } = lab.config;
    for (const part of [...mixers, ...tasks])
        for (const { name, choices } of part.keys) keys[`${part.name}.${name}`] = choices ?? null;
    return { commands, keys, mixers: mixers.map(({ name }) => name), tasks: tasks.map(({ name }) => name) };
}
const PYTHON = `
import inspect, json, seqmix, seqmix.ref, seqmix.testing
from seqmix.run import Run
def signature(f):
    try: parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError): return None
    return [[p.name, p.kind.name, p.default is not p.empty] for p in parameters]
def public(of):
    return {n: signature(getattr(of, n)) for n in sorted(dir(of)) if not n.startswith("_") and not inspect.ismodule(getattr(of, n))}
print(json.dumps({"seqmix": sorted(seqmix.__all__), "Run": {"__init__": signature(Run.__init__), **public(Run)},
    "testing": {n: signature(getattr(seqmix.testing, n)) for n in sorted(seqmix.testing.__all__)}, "ref": sorted(seqmix.ref.names())}))
`;
/** Names and arguments of the Python package that is installed in `environment`; null without one. */
export function python(environment = 'build/python/venv') {
    if (!existsSync(`${environment}/bin/python`)) return null;
    return JSON.parse(execFileSync(`${environment}/bin/python`, ['-c', PYTHON], { encoding: 'utf8' }));
}

// ---- Files and addresses ---------------------------------------------------------------------------------

const ADDRESSES = [
    '#mixer=cat&task=mqar&seed=1',
    '#v=1&mixer=cat~mixer=attention&task=mqar&length=64&vocab=64&pairs=8&width=32&seed=1!seeds=3&speed=full',
    '#mixer=las&task=cumsum&length=16&batch=2!view=inside&sample=7&block=0&head=1',
    '#mixer=focus&task=mqar!view=length&run=0&log=1&smooth=12',
    '#mixers=cat,gated_deltanet,attention&blocks=6&block0.filter=5&task=mqar',
    '#mixer=equations&task=mqar&eq=k%20%3D%20conv(x%20%40%20w_k%2C%20filter_k)%0Ay%20%3D%20attention(x%20%40%20w_q%2C%20k%2C%20x%20%40%20w_v)%20%40%20w_o',
    '#mixer=gla&task=charlm&norm=rms&mlp=2&position=learned!view=write&projector=1',
];
/** The page's own reader of addresses. */
export async function reader() {
    const { outputFiles } = await build({
        entryPoints: ['web/state/url.ts'],
        bundle: true,
        write: false,
        format: 'esm',
    });
    const { readAddress } = await import(
        `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
    );
    const { lab } = await modules();
    return (address) => {
        const { config, view } = readAddress(address);
        return { runs: lab.values(config), view };
    };
}

const CONFIG = 'mixer=gla&task=mqar&length=16&vocab=16&pairs=2&width=8&batch=2&seed=1&steps=10';
const READ = [3, 9, 4, 12, 7];
export const words = (floats) => Buffer.from(floats.buffer.slice(0)).toString('hex');
/** A run that goes on from the kept checkpoint, and a state that goes on from the kept one. */
export async function goOn(folder) {
    const { lab } = await modules();
    const run = lab.load(readFileSync(join(folder, 'checkpoint.safetensors')));
    const found = { digest: run.digest(), config: run.config, losses: words(run.losses()) };
    const state = run.loadState(readFileSync(join(folder, 'state.smxstate')));
    const answers = words(state.push(READ.toReversed()));
    run.step(5);
    return { ...found, answers, after: run.digest() };
}
/** FNV-1a of the text, as the results of jobs carry it. */
function checksum(text) {
    let h = 0xcbf29ce484222325n;
    for (const byte of Buffer.from(text)) h = BigInt.asUintN(64, (h ^ BigInt(byte)) * 0x100000001b3n);
    return h.toString(16).padStart(16, '0');
}
export function sealed(body) {
    return `${body},"checksum":"${checksum(body)}"}\n`;
}

/** JSON with a record a line. */
function spread(value, margin = '', name = '') {
    const line = name + JSON.stringify(value);
    if (typeof value !== 'object' || line.length < 600) return `${margin}${line}`;
    const list = Array.isArray(value);
    const parts = Object.entries(value).map(([key, part]) =>
        spread(part, `${margin} `, list ? '' : `${JSON.stringify(key)}: `),
    );
    return `${margin}${name}${'{['[+list]}\n${parts.join(',\n')}\n${margin}${'}]'[+list]}`;
}
const json = (value) => `${spread(value)}\n`;
async function record() {
    const folder = join(kept, version);
    const seqmix = 'build/seqmix';
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const keep = (name, bytes) => writeFileSync(join(folder, name), bytes);
    for (const name of ['digests.txt', 'digests_configs.txt'])
        keep(name, readFileSync(`proofs_tests/${name}`));
    keep('abi.json', json(abi()));
    keep('javascript.json', json(await javascript()));
    keep('program.json', json(await program(seqmix)));
    const names = python();
    if (!names) throw new Error('the Python package is not built: make build/python/venv.made');
    keep('python.json', JSON.stringify(names).replaceAll('],"', '],\n"') + '\n');
    const { lab } = await modules();
    const run = lab.open(CONFIG);
    run.step(5);
    keep('checkpoint.safetensors', run.save());
    const state = run.state({ sequences: 1 });
    state.push(READ);
    keep('state.smxstate', state.save());
    keep('goes_on.json', json(await goOn(folder)));
    const read = await reader();
    keep('addresses.json', json(ADDRESSES.map((address) => ({ address, ...read(address) }))));
    // A result of a job, without the machine that computed it.
    const results = scratch();
    execFileSync(seqmix, ['job', CONFIG, '--eval', '20', '--out', results], { stdio: 'ignore' });
    const [name] = readdirSync(results, { recursive: true }).filter((path) =>
        /\/[0-9a-f]{16}\.json$/.test(path),
    );
    const text = readFileSync(join(results, name), 'utf8').replace(/,"checksum".*/s, '');
    const body = text.replace(/"host":"[^"]*"/, '"host":"node1"').replace(/,"build":"[^"]*"/, '');
    keep(`result-${name.split('/').at(-1)}`, sealed(body));
    rmSync(results, { recursive: true });
    console.log(`wrote ${folder}`);
}
if (process.argv[2] === '--record') await record();
