// reproduction.mjs: the papers' tables, run again: what is asked for (results/reproduction/tables.jsonl, as
// `seqmix reproduce --json` says) beside what is stored of it (NAME.jsonl, as `seqmix reproduce` wrote), for
// docs/REPRODUCTION.md and for the page's view Papers.
//   node scripts/reproduction.mjs [DIR]   first adds what DIR, a folder of `seqmix reproduce`, holds: also of
//                                         a table that is not whole, which `--from` goes on with
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { QUOTES } from './quotes.mjs';

const root = join(import.meta.dirname, '..');
const stored = join(root, 'results/reproduction');

function seqmix(...args) {
    const { status, stdout, stderr } = spawnSync(join(root, 'build/seqmix'), ['reproduce', ...args], {
        cwd: root,
        encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr);
    return stdout;
}
const parsed = (text) => text.trim().split('\n').filter(Boolean).map(JSON.parse);
const file = (name) => parsed(readFileSync(join(stored, name), 'utf8'));

/** What the program asks for, a JSON object a line. */
export const asked = () => seqmix('--json');
/** The same as it was written down, for who has no program: name, source, title, hours, rows, claims … */
export const known = () => file('tables.jsonl').map(({ table, ...rest }) => ({ name: table, ...rest }));
/** The files that all this is made of. */
export const sources = () => readdirSync(stored).map((name) => `results/reproduction/${name}`);

/** A stored table: its head, rows and claims; undefined where nothing of it was run. */
export function read(name) {
    if (!existsSync(join(stored, `${name}.jsonl`))) return undefined;
    const [head, ...rest] = file(`${name}.jsonl`);
    return {
        head,
        rows: rest.filter((line) => 'row' in line),
        claims: rest.filter((line) => 'claim' in line),
    };
}

/** What is stored of a row: null: nothing, or not all; in percent where it is a share. */
function ours(row, measure) {
    if (!row || row.missing) return null;
    const { rate, rates, weights, seconds } = row;
    const tried = Object.keys(rates);
    const trainings = tried.reduce((sum, one) => sum + rates[one].values.length, 0);
    const run = { weights, seconds: Math.round(seconds / trainings) };
    if (!rate) return { ...run, rate };
    const chosen = (of) => rates[of].choices.reduce((sum, x) => sum + (x ?? NaN), 0);
    const asGood = (of) => chosen(of) === chosen(rate);
    const values = rates[rate].values.map((value) => (measure === 'accuracy' ? 100 * value : value));
    return {
        ...run,
        rate,
        // A best rate at an end of those tried may not be the best there is, but where another is as good.
        end:
            tried.length > 1 &&
            (rate === tried[0] || rate === tried.at(-1)) &&
            !tried.some((one) => one !== rate && asGood(one)),
        mean: values.reduce((sum, x) => sum + x, 0) / values.length,
        least: Math.min(...values),
        most: Math.max(...values),
    };
}

/** What is said of a row without a value: it did not end with one, or is not (all) run. */
const without = ({ ours: is, done }, { rates, seeds }) =>
    is
        ? 'no rate ends with a finite loss'
        : done
          ? `${done} of ${rates.split(',').length * seeds} trainings`
          : 'not run';

/** How many trainings of a row are stored, over its rates and seeds. */
const trained = (row) =>
    Object.values(row?.rates ?? {}).reduce((sum, { digests }) => sum + digests.filter(Boolean).length, 0);

/** Every table: what is asked for, in its rows and claims what came of it; `left`: hours that it needs. */
export function tables() {
    const digests = JSON.parse(readFileSync(join(stored, 'quick.json'), 'utf8'));
    return known().map((table) => {
        const found = read(table.name);
        const asked = table.rows.length * table.rates.split(',').length * table.seeds;
        const left = found ? found.rows.reduce((sum, { missing }) => sum + missing, 0) : asked;
        const of = (name) => found?.rows.find(({ row }) => row === name);
        return {
            ...table,
            left: (table.hours * left) / asked,
            spent: found ? found.rows.reduce((sum, { seconds }) => sum + seconds, 0) / 3600 : null,
            rows: table.rows.map(({ row, config, paper }) => ({
                name: row,
                config,
                paper,
                ours: ours(of(row), table.measure),
                done: trained(of(row)),
                digest: digests[table.name]?.[row] ?? '',
            })),
            claims: table.claims.map(({ claim, better, worse }) => ({
                says: claim,
                better,
                worse,
                verdict: found?.claims.find((one) => one.claim === claim)?.verdict ?? 'not run',
            })),
        };
    });
}

/** The first seed of a row, or its easy form, as one line of the language. (No page has fast mode.) */
function configOf({ common, quick, quick_rate, rates }, { config, ours: is }, easy) {
    const rate = easy ? quick_rate : is?.rate || rates.split(',').at(-1);
    const parts = [common, config, easy ? quick : '', `rate=${rate}&seed=1`].join('&').split('&');
    const keys = new Map(parts.filter(Boolean).map((part) => [part.slice(0, part.indexOf('=')), part]));
    keys.delete('fast');
    return [...keys.values()].join('&');
}

/** A text that is a file, and a task that the program alone draws. */
const NO_PAGE_HAS = /(^|&)(text=(?!sample(&|$))|task=pathfinder(&|$))/;

/**
 * For the page's view Papers: of each table what stands beside a dot, and of each row the training of its
 * best rate and its easy form, as an address has them (null: none, or not for a page).
 */
export function papers(all = tables()) {
    return {
        targets: targets(all),
        tables: all.map((table) => ({
            ...{ name: table.name, source: table.source, title: table.title, setting: table.setting },
            ...{ measure: table.measure, paperIn: table.paper_in },
            ...{ paperOn: table.paper_on, seeds: table.seeds },
            ...{ hours: table.hours, spent: table.spent },
            rows: table.rows.map((row) => {
                const own = row.ours?.rate ? configOf(table, row, false) : null;
                const { mean, least, most, rate, end, weights } = row.ours ?? {};
                return {
                    ...{ name: row.name, paper: row.paper },
                    ours: own && { mean, least, most, rate, end, weights },
                    without: own ? null : without(row, table),
                    config: own && NO_PAGE_HAS.test(own) ? null : own,
                    easy: NO_PAGE_HAS.test(configOf(table, row, true)) ? null : configOf(table, row, true),
                };
            }),
            claims: table.claims.map(({ says, verdict }) => ({ says, verdict })),
        })),
    };
}

// ---- What is to be reached here, whatever a paper says of it
const SYNTHETIC = /^(cat-figure-5|focus-table-1|las-table-7)/;
const TARGETS = [
    { says: 'Digits pixel by pixel: some mixer at 99.2 % or more', tables: /-(smnist|digits)$/, least: 99.2 },
    {
        says: 'The same in one random order: some mixer at 97.5 % or more, in 2 hours of one core or less',
        tables: /-pmnist$/,
        least: 97.5,
        hours: 2,
    },
    { says: 'Pathfinder: some mixer at 85 % or more', tables: /-pathfinder$/, least: 85 },
    { says: 'ListOps of 2,048 tokens: some mixer at 45 % or more', tables: /-listops$/, least: 45 },
];

/** Of each target what came of it: {says, reached, came}; what counts is the mean over a row's seeds. */
export function targets(all = tables()) {
    const single = TARGETS.map(({ says, tables: of, least, hours = Infinity }) => {
        const named = all.filter(({ name }) => of.test(name));
        const found = named.flatMap(({ rows, source, seeds }) =>
            rows
                .filter(({ ours: is }) => is?.rate)
                .map(({ name, ours: is }) => ({ name, source, seeds, ...is })),
        );
        if (!found.length) {
            const needs = named.reduce((sum, { hours, left = hours }) => sum + left, 0);
            return { says, reached: false, came: `not run (needs ${hoursText(needs)})` };
        }
        const inTime = found.filter(({ seconds }) => seconds <= 3600 * hours);
        const [best] = (inTime.length ? inTime : found).sort((a, b) => b.mean - a.mean);
        const reached = inTime.length > 0 && best.mean >= least;
        const took = hours < Infinity ? `, ${(best.seconds / 3600).toPrecision(2)} h a training` : '';
        return {
            says,
            reached,
            came: `${best.name} (${best.source}), ${range(best, 'accuracy', 2)}, ${best.seeds} seeds${took}`,
        };
    });
    const synthetic = all.filter(({ name }) => SYNTHETIC.test(name));
    const whole = synthetic.filter(({ rows }) => rows.every(({ ours: is }) => is));
    const came = `${whole.length} of ${synthetic.length}`;
    const says = 'Every table of recall, sums and lists is run whole';
    return [...single, { says, reached: whole.length === synthetic.length, came }];
}

const number = (x, measure, places = 1) => x.toFixed(measure === 'accuracy' ? places : 3);
const unit = (measure) => (measure === 'accuracy' ? ' %' : '');
const range = ({ mean, least, most }, measure, places) => {
    const [a, b, c] = [mean, least, most].map((x) => number(x, measure, places));
    return `${a}${unit(measure)} (${b}–${c})`;
};
const hoursText = (x) => `${Number(x.toPrecision(3))} h of one core`;

function row(of, table) {
    const { name, config, paper, ours: is } = of;
    const first = `| ${name} | ${paper ?? ''} | `;
    if (!is?.rate) return `${first}${without(of, table)} | | | \`${config}\` |`;
    const rate = `${is.rate}${is.end ? ' (an end of those tried)' : ''}`;
    return `${first}${range(is, table.measure)} | ${rate} | ${is.weights.toLocaleString('en')} | \`${config}\` |`;
}

function section(table) {
    const { name, source, title, measure, common, setting, seeds, rows, claims, left, spent } = table;
    const top = [`## ${source}: ${title}`, ''];
    const again = `\`seqmix reproduce ${name}\``;
    if (spent === null) return [...top, `Not run (needs about ${hoursText(table.hours)}): ${again}`, ''];
    return [
        ...top,
        `| | paper${table.paper_in === measure ? '' : `, ${table.paper_in}`} | here, ${measure} | rate | weights | config |`,
        '|---|---|---|---|---|---|',
        ...rows.map((one) => row(one, table)),
        '',
        ...claims.map(({ says, verdict }) => `- **${verdict}**: ${says}`),
        ...(claims.length ? [''] : []),
        setting,
        '',
        `Every row: \`${common}\`, ${seeds} seeds, judged on ${table.eval} held-out sequences; ${hoursText(spent)}${left ? `, and ${hoursText(left)} for what is not run` : ''}.`,
        `${left ? `Goes on with what is stored: \`seqmix reproduce ${name} --from results/reproduction/${name}.jsonl\`; all again` : 'Again'}: ${again}. Every value, choice and digest: [${name}.jsonl](../results/reproduction/${name}.jsonl).`,
        '',
    ];
}

/** A statement that was tried, as a reader may quote it: what both rows came to, the paper beside it. */
function sentence({ source, title, measure, seeds, rows, paper_in }, { says, better, worse }) {
    const of = [better, worse].filter(Boolean).map((name) => rows.find((one) => one.name === name));
    const here = of.map(({ ours: is }) => (is.rate ? range(is, measure) : 'no finite loss'));
    const ends = of.filter(({ ours: is }) => is.end).length;
    const theirs = of.map(({ paper }) => paper);
    const at = of.length === 1 ? 'its rate is' : ends === 2 ? 'both rates are' : 'one rate is';
    return (
        `- ${says[0].toUpperCase()}${says.slice(1)} (${source}, ${title}): ${here.join(' against ')}, ${seeds} seeds${of.length > 1 ? ' each' : ''}` +
        (theirs.includes(null)
            ? ''
            : `; the paper${paper_in === measure ? '' : `, ${paper_in}`}: ${theirs.join(' against ')}`) +
        (ends ? `; ${at} at an end of those tried.` : '.')
    );
}

/** What a table came to, its best row first. */
function summed({ source, title, measure, seeds, rows, claims }) {
    const sign = measure === 'bits' ? 1 : -1;
    const best = rows.filter(({ ours: is }) => is?.rate).sort((a, b) => sign * (a.ours.mean - b.ours.mean));
    const came = best.map(({ name, ours: is }) => `${name} ${number(is.mean, measure)}${unit(measure)}`);
    const count = (verdict) => claims.filter((claim) => claim.verdict === verdict).length;
    const [holds, not, open] = ['holds', 'does not hold', 'cannot tell'].map(count);
    const outcome = [
        holds && `${holds} ${holds > 1 ? 'hold' : 'holds'}`,
        not && `${not} ${not > 1 ? 'do' : 'does'} not hold`,
        open && `for ${open} these runs cannot tell`,
    ].filter(Boolean);
    const of = claims.length ? ` Of ${claims.length} statements ${outcome.join(', ')}.` : '';
    return `- ${title} (${source}; means of ${seeds} seeds): ${came.join('; ')}.${of}`;
}

/** A sentence of quotes.mjs with its table's numbers; throws where it is not what came of them. */
function quoted(all, { table: name, says, holds, claims = {} }) {
    const table = all.find((one) => one.name === name);
    const row = (of) => table.rows.find((one) => one.name === of).ours;
    const text = says((of) => `${number(row(of).mean, table.measure)}${unit(table.measure)}`);
    const held = Object.entries(claims).every(([of, said]) =>
        all.find((one) => one.name === of).claims.some((one) => one.says === said && one.verdict === 'holds'),
    );
    if (!held || !holds(row))
        throw new Error(`scripts/quotes.mjs: what is stored of ${name} says no longer: ${text}`);
    return `- ${text} (${table.seeds} seeds; \`seqmix reproduce ${name}\`)`;
}

const PAPERS = ['LaS', 'CAT', 'Focus', 'CHELA'];
/** What a reader will quote, then all of it: nothing but what is stored. */
function opening(all) {
    const claims = all.flatMap((table) => table.claims.map((claim) => ({ ...claim, table })));
    const unfinished = all.filter(({ left }) => left > 0);
    const counted = (list) => {
        const count = (verdict) => list.filter((claim) => claim.verdict === verdict).length;
        const tried = list.length - count('not run');
        const [held, not] = [count('holds'), count('does not hold')];
        const outcome = `${held} ${held === 1 ? 'holds' : 'hold'}, ${not} ${not === 1 ? 'does' : 'do'} not, and for ${count('cannot tell')} these runs cannot tell`;
        return tried
            ? `${tried} of ${list.length} statements were tried: ${outcome}.`
            : `none of ${list.length} statements was tried.`;
    };
    const part = (heading, verdict, none) => {
        const list = claims.filter((claim) => claim.verdict === verdict);
        return [
            `**${heading}**`,
            '',
            ...(list.length ? list.map((claim) => sentence(claim.table, claim)) : [none]),
            '',
        ];
    };
    const hours = hoursText(unfinished.reduce((sum, { left }) => sum + left, 0));
    return [
        ...QUOTES.map((quote) => quoted(all, quote)),
        '',
        'Each number is the mean over the seeds; "ahead" means that every seed is.',
        '',
        '**Table by table**',
        '',
        `- In all, ${counted(claims)}${unfinished.length ? ` ${unfinished.length} of ${all.length} tables have not been run to the end, which would take ${hours}: nothing is said here of what was not run.` : ''}`,
        ...all.filter(({ rows }) => rows.some(({ ours: is }) => is)).map(summed),
        '',
        ...PAPERS.map(
            (paper) =>
                `- [${paper}]: ${counted(claims.filter(({ table }) => table.source.includes(`[${paper}]`)))}`,
        ),
        '',
        'A table of two papers counts for each.',
        '',
        ...part('Does not hold here', 'does not hold', 'Nothing of what was tried.'),
        ...part('Holds here', 'holds', 'Nothing of what was tried.'),
        ...part('These runs cannot tell', 'cannot tell', 'Nothing of what was tried.'),
    ];
}

export function page(all = tables()) {
    return [
        "# The papers' tables, run again",
        '',
        ...opening(all),
        '## How to read this',
        '',
        'Generated by `node scripts/reproduction.mjs` from what `seqmix reproduce` stored in [results/reproduction](../results/reproduction). The sizes are those that two',
        "cores can handle, so our numbers are not meant to equal the paper's: the question is which row is ahead. The learning rate of each",
        'row is chosen by its mean over all seeds on held-out sequences that no result is judged on; a value is the mean over the seeds, then the least',
        'and the largest.',
        '',
        '- **holds**: every seed of the row that should be ahead is above every seed of the other.',
        '- **does not hold**: every seed is below.',
        '- **cannot tell**: their ranges overlap, or all are equal.',
        '',
        "For a single row (*recalls all*): every seed reaches the paper's number, to within a point; none does; some do.",
        '',
        'With `fast=1` in a config, digests depend on the instruction set that trained it; all others are the same everywhere.',
        'The easy forms of `--quick` have `fast=0`: [quick.json](../results/reproduction/quick.json) has their final digests, the same everywhere.',
        'The page shows all this as pictures: Proofs, Papers.',
        'Not from a paper, but measured the same way: loss against weights and steps, recall against bytes of state, [SCALING.md](SCALING.md).',
        '',
        '## What was to be reached',
        '',
        '| target | | best here |',
        '|---|---|---|',
        ...targets(all).map(
            ({ says, reached, came }) => `| ${says} | **${reached ? 'reached' : 'not reached'}** | ${came} |`,
        ),
        '',
        ...all.flatMap(section),
    ].join('\n');
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
    const [folder] = process.argv.slice(2);
    mkdirSync(stored, { recursive: true });
    writeFileSync(join(stored, 'tables.jsonl'), asked());
    for (const { name } of folder ? known() : []) {
        const held = join(stored, `${name}.jsonl`);
        const from = existsSync(held) ? ['--from', held] : [];
        seqmix(name, '--collect', '--out', folder, ...from);
        const rows = parsed(readFileSync(join(folder, `${name}.jsonl`), 'utf8'));
        if (rows.some(trained)) copyFileSync(join(folder, `${name}.jsonl`), held);
    }
    writeFileSync(join(root, 'docs/REPRODUCTION.md'), page());
}
