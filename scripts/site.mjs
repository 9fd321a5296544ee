// site.mjs: the documents as a site: build/site/html, beside the page as dist/docs (`make site`). README.md,
// docs/*.md and what is generated, as they stand, by Sphinx: formulas become MathML here, links to files of
// the repository lead to copies of these, and every link of what comes of it is followed. Nothing of it is
// fetched from elsewhere, links are relative: it opens at any address, and from disk.
import { spawnSync } from 'node:child_process';
import {
    copyFileSync,
    existsSync,
    mkdirSync,
    readdirSync,
    readFileSync,
    rmSync,
    statSync,
    writeFileSync,
} from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mathml } from './page-data.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

// What stands in the site, in the order of its contents. Each document of docs/ is in one of these.
export const PARTS = {
    Guides: 'INSTALL GUIDE EQUATIONS ORACLE ADAPTERS EMBED PYTHON SCALE MPI IMPORT STATES',
    Reference: 'API OPERATIONS MECHANISMS TASKS PRESETS',
    'What was measured':
        'RANKING PERFORMANCE MEASUREMENTS STEPS OPTIMISATION MEMORY ACCURACY REPRODUCTION SCALING RECORDS',
    'What was proved': 'THEOREMS ERRATA CAUSALITY INVARIANCES MUTANTS',
    Versions: 'CHANGELOG VERSIONS BITS RELEASE',
    'For contributors': 'CONTRIBUTING ARCHITECTURE STYLE SECURITY',
};
const PAGE = '../index.html';
// (make builds them)
const GENERATED = ['build/docs/API.md', 'build/docs/OPERATIONS.md'];
const MOVED = { 'README.md': 'index', 'docs/records/README.md': 'RECORDS' };

/** Path in the repository of each document of the site -> its name there. */
function documents() {
    const files = ['README.md', 'docs/records/README.md', ...GENERATED];
    for (const folder of ['.', 'docs'])
        for (const file of readdirSync(join(root, folder)))
            if (file.endsWith('.md')) files.push(posix.join(folder, file));
    const names = new Map(files.map((file) => [file, MOVED[file] ?? basename(file, '.md')]));
    const listed = Object.values(PARTS).join(' ').split(' ');
    for (const [file, name] of names)
        if (name !== 'index' && listed.filter((one) => one === name).length !== 1)
            throw new Error(`${file} stands in none of PARTS of scripts/site.mjs, or in two of them`);
    for (const name of listed)
        if (![...names.values()].includes(name))
            throw new Error(`scripts/site.mjs names ${name}, and there is no such document`);
    return names;
}

/** One document as Sphinx takes it. `copy(path)`: a file of the repository goes along. */
export function prepared(text, file, names, ids, copy) {
    const linked = (prose) =>
        prose.replace(
            /(!?)\[((?:[^[\]`]|`[^`]*`|\\.)*)\]\(([^)\s]+)\)|`+[^`]*`+/g,
            (all, image, says, target) => {
                if (!target && GENERATED.includes(all.slice(1, -1)))
                    return `<a href="${basename(all.slice(1, -1), '.md')}.html">${all}</a>`;
                if (!target || /^\w+:/.test(target)) return all;
                const [path, hash] = target.split('#');
                const to = path ? posix.join(posix.dirname(file), path) : file;
                if (image) return `![${says}](${copy(to)})`;
                if (!names.has(to)) {
                    if (!existsSync(join(root, to)))
                        throw new Error(`${file} links to ${to}, which is not there`);
                    return statSync(join(root, to)).isDirectory()
                        ? says
                        : `<a href="${copy(to)}">${says}</a>`;
                }
                // (Sphinx knows headings; an anchor in HTML is none of its own)
                const name = names.get(to);
                if (hash && ids.get(to).has(hash)) return `<a href="${name}.html#${hash}">${says}</a>`;
                return `[${says}](${to === file ? '' : `${name}.md`}${hash ? `#${hash}` : ''})`;
            },
        );
    return text
        .split(/^(```[^]*?^```$)/m)
        .map((part, odd) => {
            if (odd % 2 === 0) return linked(part);
            const formula = /^```math\n([^]*)\n```$/.exec(part);
            // (Pygments has no jsx)
            return formula
                ? `<div class="math">${mathml(formula[1], true)}</div>\n`
                : part.replace(/^```jsx/, '```js');
        })
        .join('');
}

/** The links of a folder of pages that lead nowhere: files, and places in pages. */
export function brokenLinks(folder) {
    const pages = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.html'));
    const read = new Map(pages.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
    const broken = [];
    let links = 0;
    for (const [file, html] of read)
        for (const [, target] of html.matchAll(/\s(?:href|src)="([^"]*)"/g)) {
            if (/^(https?|mailto|data):/.test(target) || target === PAGE) continue;
            links++;
            const [path, hash] = target.replaceAll('&amp;', '&').split('#');
            const to = path ? posix.join(posix.dirname(file), path.replace(/\?.*/, '')) : file;
            const there = read.get(to);
            if (
                !existsSync(join(folder, to)) ||
                (hash && there && !there.includes(` id="${decodeURIComponent(hash)}"`))
            )
                broken.push(`${file}: ${target}`);
        }
    return { broken, links, pages: pages.length };
}

/** Makes the site; throws where a link of it leads nowhere. */
export function makeSite() {
    const into = join(root, 'build/site');
    const out = join(into, 'html');
    for (const folder of ['source', 'html']) rmSync(join(into, folder), { recursive: true, force: true });
    const write = (name, text) => {
        mkdirSync(dirname(join(into, name)), { recursive: true });
        writeFileSync(join(into, name), text);
    };
    const names = documents();
    const texts = new Map();
    for (const file of names.keys()) texts.set(file, readFileSync(join(root, file), 'utf8'));
    const idsOf = (text) => new Set([...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id));
    const ids = new Map([...texts].map(([file, text]) => [file, idsOf(text)]));
    const copied = new Set();
    const copy = (path) => {
        copied.add(path);
        return `source/${path}`;
    };
    for (const [file, name] of names) {
        let text = prepared(texts.get(file), file, names, ids, copy);
        if (name === 'index')
            for (const [title, list] of Object.entries(PARTS))
                text += `\n\`\`\`{toctree}\n:hidden:\n:caption: ${title}\n${list.replaceAll(' ', '\n')}\n\`\`\`\n`;
        write(`source/${name}.md`, text);
    }
    for (const path of copied)
        for (const place of ['source', 'html']) {
            mkdirSync(dirname(join(into, place, 'source', path)), { recursive: true });
            copyFileSync(join(root, path), join(into, place, 'source', path));
        }
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const { status, error } = spawnSync(
        'sphinx-build',
        [
            '-q',
            '-W',
            '--keep-going',
            '-b',
            'html',
            '-c',
            'docs',
            '-d',
            join(into, 'doctrees'),
            join(into, 'source'),
            out,
        ],
        { cwd: root, stdio: 'inherit', env: { ...process.env, SEQMIX_VERSION: version, SEQMIX_PAGE: PAGE } },
    );
    if (status !== 0)
        throw new Error(
            `${error ? 'sphinx-build is not on PATH' : 'sphinx-build failed'}: the documents take Sphinx, myst-parser and furo ` +
                '(apt-get install python3-sphinx python3-myst-parser furo); make dist/index.html builds the page alone',
        );
    // Debian's furo takes one file from where Debian's web servers have it.
    const style = join(out, '_static/styles/furo.css');
    const css = readFileSync(style, 'utf8');
    const theirs = /@import url\((\/javascript\/[\w./]+)\);/.exec(css);
    if (theirs) writeFileSync(style, css.replace(theirs[0], readFileSync(`/usr/share${theirs[1]}`, 'utf8')));
    const { broken, links, pages } = brokenLinks(out);
    if (broken.length) throw new Error(`links that lead nowhere:\n${broken.join('\n')}`);
    console.log(`built build/site/html: ${pages} pages, ${links} links`);
    return { links, pages, names };
}

if (process.argv[1] === fileURLToPath(import.meta.url))
    try {
        makeSite();
    } catch (error) {
        console.error(`site: ${error.message}`);
        process.exitCode = 1;
    }
