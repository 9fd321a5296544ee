// leaderboard.mjs: docs/records: who does a task with the fewest weights, or best in so many steps. An entry
// is an address of the page and a digest; here it is trained again, and accepted or refused.
//   node scripts/leaderboard.mjs check               every entry
//   node scripts/leaderboard.mjs check --since REF   those that records.json of that commit does not have
//   node scripts/leaderboard.mjs measure CONFIG      what an entry of this config would say
//   node scripts/leaderboard.mjs write               docs/records/README.md from records.json
// Another file: --records FILE. Exit status 1 where an entry is refused.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const program = process.env.SEQMIX ?? join(root, 'build/seqmix');
/** A training may take so long, in seconds, and is judged on so many held-out sequences. */
const LIMIT = Number(process.env.RECORDS_SECONDS ?? 120);
const SEQUENCES = 500;

const pairs = (config) =>
    Object.fromEntries(
        config.split('&').map((pair) => {
            const at = pair.indexOf('=');
            return [pair.slice(0, at), pair.slice(at + 1)];
        }),
    );
function run(args, timeout) {
    const { status, stdout, stderr, error, signal } = spawnSync(program, args, {
        encoding: 'utf8',
        timeout: timeout && 1000 * timeout,
        maxBuffer: 1 << 28,
    });
    if (error?.code === 'ETIMEDOUT' || signal)
        return { why: `it took longer than the ${LIMIT} s that an entry may take` };
    if (error) throw error;
    if (status) return { why: stderr.trim().replace(/^seqmix: /, '') };
    return { lines: stdout.trim().split('\n') };
}

/** What a config reaches, trained here; or why not. */
export function measure(config) {
    const folder = mkdtempSync(join(tmpdir(), 'seqmix-record-'));
    try {
        const file = join(folder, 'run.safetensors');
        const trained = run(['train', config, '--json', '--save', file], LIMIT);
        if (trained.why) return trained;
        const { digest } = JSON.parse(trained.lines.at(-1));
        const judged = run(['eval', file, '--count', String(SEQUENCES), '--json']);
        if (judged.why) return judged;
        const { accuracy } = JSON.parse(judged.lines.at(-1));
        const [first] = trained.lines.map((line) => JSON.parse(line));
        return { config: first.config, weights: first.params, accuracy, digest };
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
}

const better = { weights: (a, b) => a.weights - b.weights, accuracy: (a, b) => b.accuracy - a.accuracy };
/** Why an entry is no entry, before anything is trained; '': it may be. */
function formOf(entry, boards) {
    const board = boards.find(({ id }) => id === entry.board);
    if (!board) return `board '${entry.board}': there are ${boards.map(({ id }) => id).join(', ')}`;
    for (const key of ['by', 'address', 'digest'])
        if (typeof entry[key] !== 'string' || !entry[key]) return `${key} is missing`;
    if (!/^[\w .,'()-]{1,60}$/.test(entry.by))
        return `by '${entry.by}': at most 60 letters, digits and . , ' ( ) -`;
    if (!/^#[^!~\s]{1,600}$/.test(entry.address))
        return `address '${entry.address}': '#' and the config of one run, without what follows '!'`;
    if (!/^[0-9a-f]{16}$/.test(entry.digest)) return `digest '${entry.digest}': 16 hexadecimal digits`;
    return '';
}
/** Why a complete config does not belong on a board; '': it does. */
function ruleOf(config, { fixed, most }) {
    const values = pairs(config);
    for (const [key, value] of Object.entries(pairs(fixed)))
        if (values[key] !== value) return `${key}=${values[key] ?? ''}: this board has ${key}=${value}`;
    for (const [key, limit] of Object.entries(most))
        if (!(Number(values[key]) <= limit)) return `${key}=${values[key]}: at most ${limit} on this board`;
    if (values.fast === '1') return 'fast=1: records are in exact mode';
    return '';
}
/** Why the entry is refused; '': it stands. */
export function refusal(entry, boards) {
    const form = formOf(entry, boards);
    if (form) return form;
    const board = boards.find(({ id }) => id === entry.board);
    const found = measure(entry.address.slice(1));
    if (found.why) return found.why;
    const rule = ruleOf(found.config, board);
    if (rule) return rule;
    if (found.digest !== entry.digest) return `digest ${entry.digest}: trained again it is ${found.digest}`;
    if (found.weights !== entry.weights) return `weights ${entry.weights}: there are ${found.weights}`;
    if (found.accuracy.toFixed(4) !== Number(entry.accuracy).toFixed(4))
        return `accuracy ${entry.accuracy}: it is ${found.accuracy.toFixed(4)}`;
    if (found.weights > (board.mostWeights ?? Infinity))
        return `weights ${found.weights}: at most ${board.mostWeights} on this board`;
    if (found.accuracy < board.least)
        return `accuracy ${found.accuracy.toFixed(4)}: at least ${board.least} on this board`;
    return '';
}

/** The page that shows them, best first. */
export function pageOf({ boards, entries }) {
    const parts = boards.map(({ id, title, rule, by }) => {
        const own = entries.filter(({ board }) => board === id).sort(better[by]);
        const rows = own.map(
            ({ by, weights, accuracy, address, digest }, i) =>
                `| ${i + 1} | ${by} | ${weights.toLocaleString('en')} | ${(100 * accuracy).toFixed(1)} % | \`${address}\` | \`${digest}\` |`,
        );
        return `## ${title}\n\n${rule}\n\n| | by | weights | held out | address | digest |\n|---|---|---|---|---|---|\n${rows.join('\n')}\n`;
    });
    return `# Records

Who does it best. An entry is the end of an address of the page, from \`#\` on, and the digest of its weights after training: put the
end behind any copy of the page, and the run is yours to look into and to improve. Nothing here is believed: \`make records\` trains every
entry again, and continuous integration those that a pull request changes, in at most ${LIMIT} s each, on ${SEQUENCES} held-out sequences.

${parts.join('\n')}
## To enter

1. Set up one run in the page, or as a config, and train it. Every setting but the board's own is free: mechanism, equations, sizes, seed.
2. \`node scripts/leaderboard.mjs measure 'CONFIG'\` prints the entry: put it into [records.json](records.json), with your name as \`by\`.
3. \`node scripts/leaderboard.mjs write\` writes this page; \`node scripts/leaderboard.mjs check --since origin/main\` says what a pull request
   will be told.
`;
}

if (import.meta.filename === process.argv[1]) {
    const args = process.argv.slice(2);
    const option = (name) => {
        const at = args.indexOf(name);
        return at < 0 ? null : args.splice(at, 2)[1];
    };
    const file = option('--records') ?? join(root, 'docs/records/records.json');
    const since = option('--since');
    const [command, config] = args;
    const records = () => JSON.parse(readFileSync(file, 'utf8'));
    if (command === 'measure' && config) {
        const found = measure(config);
        if (found.why) console.error(`leaderboard: ${found.why}`);
        else {
            const { weights, accuracy, digest } = found;
            const entry = { board: '', by: '', address: `#${config}`, digest, weights };
            console.log(JSON.stringify({ ...entry, accuracy: Number(accuracy.toFixed(4)) }));
        }
        process.exit(found.why ? 1 : 0);
    } else if (command === 'write') writeFileSync(join(file, '../README.md'), pageOf(records()));
    else if (command === 'check') {
        const { boards, entries } = records();
        let known = new Set();
        if (since) {
            const { status, stdout } = spawnSync('git', ['show', `${since}:docs/records/records.json`], {
                cwd: root,
                encoding: 'utf8',
            });
            // (Where the commit has no records, all are new.)
            if (!status) known = new Set(JSON.parse(stdout).entries.map((entry) => JSON.stringify(entry)));
        }
        let refused = 0;
        for (const entry of entries.filter((entry) => !known.has(JSON.stringify(entry)))) {
            const why = refusal(entry, boards);
            console.log(
                `${why ? 'REFUSED ' : 'accepted'} ${entry.board}, ${entry.by}: ${why || entry.digest}`,
            );
            refused += why ? 1 : 0;
        }
        process.exit(refused ? 1 : 0);
    } else {
        console.error(
            'usage: node scripts/leaderboard.mjs check [--since REF] | measure CONFIG | write  [--records FILE]',
        );
        process.exit(2);
    }
}
