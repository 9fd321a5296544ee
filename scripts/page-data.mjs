// page-data.mjs: what the page's views About, Theorems and Papers show of the project's documents, made when
// the page is built: formulas of scripts/definitions.json as MathML (Temml; no formula library at run time),
// the errata of docs/ERRATA.md, the licences of the packages that the page holds; the claims and what kind of
// truth each has (truth.mjs); what the lessons promise; the papers' tables beside what is stored of them
// (reproduction.mjs); the operations of build/docs/OPERATIONS.md and the texts of docs/EQUATIONS.md and
// examples/equations; the examples of docs/TASKS.md as numbers to draw. As a Vite plugin it answers
// `virtual:about`, `virtual:truth`, `virtual:lessons`, `virtual:papers`, `virtual:equations` and
// `virtual:tasks` and puts the source files that About names into the built folder.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import temml from 'temml';
import { papers, sources as storedTables } from './reproduction.mjs';
import { claims, sources as claimSources } from './truth.mjs';

const root = join(import.meta.dirname, '..');
const read = (path) => readFileSync(join(root, path), 'utf8');
/** What the built page contains of others. */
const PACKAGES = [
    ...['preact', '@preact/signals', '@preact/signals-core', 'comlink', 'uplot', 'idb-keyval'],
    ...['state', 'view', 'commands', 'language'].map((name) => `@codemirror/${name}`),
    ...['@lezer/common', '@lezer/highlight', '@marijn/find-cluster-break'],
    ...['crelt', 'style-mod', 'w3c-keyname', 'inter-ui'],
];

/** Inline styles would need a weaker Content-Security-Policy; the one that matters stands in about.css. */
export function mathml(tex, display) {
    return temml
        .renderToString(tex, { displayMode: display, throwOnError: true })
        .replace(/ style="[^"]*"/g, '');
}
const escape = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

/** [{number, title, source, html}] from the paragraphs of docs/ERRATA.md. */
export function errata(text = read('docs/ERRATA.md')) {
    return text
        .split(/\n\n+/)
        .map((paragraph) => /^\*\*(\d+)\. ([^]*?)\*\* \(([^]*?)\)\. ([^]*)$/.exec(paragraph.trim()))
        .filter(Boolean)
        .map(([, number, title, source, body]) => ({
            number: Number(number),
            title: title.replace(/\s+/g, ' '),
            source: source.replace(/\s+/g, ' '),
            html: escape(body.replace(/\s+/g, ' '))
                .replace(/`([^`]*)`/g, '<code>$1</code>')
                .replace(/\*([^*]+)\*/g, '<i>$1</i>'),
        }));
}

export function about() {
    const { mixers } = JSON.parse(read('scripts/definitions.json'));
    for (const file of readdirSync(join(root, 'model/mixers')).filter((file) => file.endsWith('.eq'))) {
        const one = (mixers[file.replace('.eq', '')] ??= { formulas: [], kernels: [], oracle: [] });
        one.mixer = [`model/mixers/${file}`];
        // (what stands above the equations, the engine says)
        one.text = read(one.mixer[0])
            .replace(/^(#.*\n)+/, '')
            .trimEnd();
    }
    return {
        mixers: Object.fromEntries(
            Object.entries(mixers).map(([name, { formulas, kernels, oracle, mixer, text = '' }]) => [
                name,
                {
                    formulas: formulas.map(({ says, tex, equation }) => ({
                        says,
                        equation: equation ?? '',
                        mathml: mathml(tex, true),
                    })),
                    text,
                    files: { kernels, oracle, model: mixer ?? [`model/mixers/${name}.c`] },
                },
            ]),
        ),
        errata: errata(),
        version: JSON.parse(read('package.json')).version,
        licence: read('LICENSE').trim(),
        packages: PACKAGES.map((name) => {
            const { version, license } = JSON.parse(read(`node_modules/${name}/package.json`));
            return { name, version, licence: license };
        }),
    };
}

/** What the language of equations has: its operations, and texts to start from. */
export function equations() {
    const code = (text) => escape(text).replace(/`([^`]*)`/g, '<code>$1</code>');
    const operations = read('build/docs/OPERATIONS.md')
        .split(/^<a id="\w+"><\/a>\n/m)
        .slice(1)
        .map((section) => {
            const [, name, help] = /## (\w+)\n\n([^]*?)\.\n\n```math/.exec(section);
            const field = (called) => new RegExp(`- \\*\\*${called}\\*\\*: (.*)`).exec(section)[1];
            return {
                name,
                help: code(help),
                takes: code(field('Arguments')),
                gives: code(field('Gives')),
                cost: escape(field('Cost')),
                mathml: mathml(/```math\n([^]*?)\n```/.exec(section)[1], true),
                example: /```text\n([^]*?)\n```/.exec(section)[1],
            };
        });
    const [, builtIns] = read('docs/EQUATIONS.md').split('## The built-in mixers as texts');
    const texts = ['examples/equations', 'model/mixers'].flatMap((folder) =>
        readdirSync(join(root, folder)).map((file) => `${folder}/${file}`),
    );
    return {
        operations,
        builtIns: [...builtIns.matchAll(/^### (.*)\n\n(With `residual=0`.*\n\n)?```\n([^]*?)\n```/gm)].map(
            ([, title, itself, text]) => ({ title, text, residual: itself ? 0 : 1 }),
        ),
        examples: texts
            .filter((file) => file.endsWith('.eq'))
            .map((file) => ({
                title: file.replace(/.*\/|\.eq$/g, '').replaceAll('_', ' '),
                text: read(file).trimEnd(),
                residual: 1,
            }))
            .sort((a, b) => (a.title < b.title ? -1 : 1)),
    };
}

/**
 * What the lessons promise, from the claims in model/run/language/presets.c, and how long they take
 * natively, from results/presets.json, and in Chromium, from a step of results/performance: {name: {claims:
 * [[run, length (0: its own), metric, low, high, minus (0: none), seeds on which it holds, seeds]], steps,
 * seconds, chromium (null: a run was not timed there)}}. What only a program can measure (answers that are
 * fed back) is left out.
 */
export function lessons(
    source = read('model/run/language/presets.c'),
    { measured, rates } = JSON.parse(read('results/presets.json')),
    timed = read('results/performance/chromium.jsonl').trim().split('\n').map(JSON.parse),
) {
    const stepTime = new Map(timed.map(({ name, median }) => [name.split(' ')[0], median])); // milliseconds
    const row = /\{"([\w-]+)", (\d+), "([^"]*)", "(\w+)", ([-\d.]+), ([-\d.]+), [01], (\d+)\}/g;
    const made = {};
    for (const [, name, run, changes, metric, low, high, minus] of source.matchAll(row)) {
        const lesson = (made[name] ??= { claims: [], steps: 0, seconds: 0, chromium: 0 });
        if (metric === 'free') continue;
        const length = Number(/length=(\d+)/.exec(changes)?.[1] ?? 0);
        const isOf = (one) =>
            one.preset === name &&
            one.run === Number(run) &&
            one.metric === metric &&
            one.changes === changes &&
            one.minus === Number(minus);
        const values = rates.find(isOf)?.values ?? measured.filter(isOf).map(({ value }) => value);
        const held = values.filter((value) => value >= Number(low) && value <= Number(high)).length;
        lesson.claims.push([
            ...[Number(run), length, metric, Number(low), Number(high), Number(minus)],
            ...[held, values.length],
        ]);
    }
    const own = new Map(measured.map((one) => [`${one.preset} ${one.run}`, one]));
    for (const { preset, run, steps, seconds } of own.values()) {
        const lesson = made[preset];
        const step = stepTime.get(`preset/${preset}/${run + 1}`);
        lesson.steps = Math.max(lesson.steps, steps);
        lesson.seconds = Math.round(10 * (lesson.seconds + seconds)) / 10;
        lesson.chromium = step && lesson.chromium !== null ? lesson.chromium + (steps * step) / 1000 : null;
    }
    return made;
}

const MOST_COLUMNS = 24;
/**
 * The example of each task in docs/TASKS.md, which its own generator drew. An image: a string of digits a
 * row, how dark. A sequence: `rows` (a channel each) and `asked` (null: nothing is asked), in percent of the
 * largest; `signed` where these are numbers and not tokens.
 */
export function tasks(source = read('docs/TASKS.md')) {
    const made = {};
    const section = /^## .*\(`task=(\w+)`\)$([^]*?)(?=^## |$(?![^]))/gm;
    for (const [, name, text] of source.matchAll(section)) {
        const example = /```text\n([^]*?)\n```/.exec(text)?.[1].split('\n');
        if (!example) continue;
        const lines = new Map(); // 'token', 'value 0', 'target', ...: its columns
        for (const line of example) {
            const [, label, rest] = /^(token|target|value(?: \d+)?) +(.*)$/.exec(line) ?? [];
            if (label) lines.set(label, [...(lines.get(label) ?? []), ...rest.trim().split(/ +/)]);
        }
        made[name] = lines.size ? sequence(lines) : image(example);
    }
    return made;
}
const image = (example) => ({
    // (at its end a blank line and the answer)
    image: example.slice(0, -2).map((line) => line.replace(/(.)./g, (_, one) => ' .:-=+*#%@'.indexOf(one))),
});
function sequence(lines) {
    const asked = lines.get('target') ?? [];
    const rows = [...lines].filter(([label]) => label !== 'target').map(([, row]) => row);
    const signed = !lines.has('token');
    // Tokens by their order; those that are words, too.
    const known = [...new Set([...rows, asked].flat())].filter((one) => signed || one !== '.');
    if (known.every((one) => Number.isFinite(Number(one)))) known.sort((a, b) => a - b);
    const value = (one) => (signed ? Number(one) : known.indexOf(one) + 1);
    const largest = Math.max(...known.filter((one) => one !== '.').map((one) => Math.abs(value(one))));
    const share = (one) => Math.round((100 * value(one)) / largest);
    // What only fills up the end is left out.
    let end = Math.min(rows[0].length, MOST_COLUMNS);
    const fills = (i) => (asked[i] ?? '.') === '.' && rows.every((row) => row[i] === row[i - 1]);
    while (end > 2 && fills(end - 1)) end--;
    return {
        signed,
        rows: rows.map((row) => row.slice(0, end).map(share)),
        asked: asked.slice(0, end).map((one) => (one === '.' ? null : share(one))),
    };
}

/**
 * `sources`: whether the files are put beside the page, so that it can link to them; without them (the page
 * in one file) the rest is packed, too.
 */
export function documentsPlugin({ sources = true } = {}) {
    const made = {
        '\0virtual:about': {
            from: ['scripts/definitions.json', 'docs/ERRATA.md', 'LICENSE'],
            make: () => ({ ...about(), sources }),
        },
        '\0virtual:lessons': {
            from: ['model/run/language/presets.c', 'results/presets.json'],
            make: lessons,
        },
        '\0virtual:truth': { from: claimSources(), make: claims },
        '\0virtual:papers': { from: storedTables(), make: papers },
        '\0virtual:tasks': { from: ['docs/TASKS.md'], make: tasks },
        '\0virtual:equations': { from: ['build/docs/OPERATIONS.md', 'docs/EQUATIONS.md'], make: equations },
    };
    return {
        name: 'documents',
        resolveId: (wanted) => (made[`\0${wanted}`] ? `\0${wanted}` : null),
        load(wanted) {
            if (!made[wanted]) return null;
            for (const file of made[wanted].from) this.addWatchFile(join(root, file));
            const json = JSON.stringify(made[wanted].make());
            // (The lessons belong to the first view and are few, and so are the tasks.)
            if (sources || /(lessons|tasks)$/.test(wanted)) return `export default ${json};`;
            const packed = gzipSync(json, { level: 9 }).toString('base64');
            return `const packed = Uint8Array.from(atob('${packed}'), (c) => c.charCodeAt(0));
const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
export default await new Response(stream).json();`;
        },
        generateBundle() {
            if (!sources) return;
            const files = Object.values(about().mixers).flatMap(({ files: each }) =>
                Object.values(each).flat(),
            );
            for (const file of new Set(files))
                this.emitFile({ type: 'asset', fileName: `source/${file}.txt`, source: read(file) });
        },
    };
}
