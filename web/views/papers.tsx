// papers.tsx: the view Papers: the papers' tables, trained again. A row is a dot with its range beside the
// paper's number; a dot is a link that opens its training and starts it. All numbers are read from
// results/reproduction when the page is built.
import papers, { type Row, type Table, type Verdict } from 'virtual:papers';
import { ticks } from '../charts/axes.ts';
import { counted, fixed } from '../core/figures.ts';
import { Errata } from './frame/errata.tsx';
import '../styles/views/papers.css';

const SIGNS: Record<Verdict, readonly [string, string]> = {
    'does not hold': ['✗', 'against'],
    holds: ['✓', 'agrees'],
    'cannot tell': ['?', 'open'],
    'not run': ['·', 'open'],
};
const tables: Shown[] = papers.tables.map((table) => ({
    ...table,
    run: table.rows.some(({ ours }) => ours !== null),
}));
const done = tables.filter(({ run }) => run);
const left = tables.filter(({ run }) => !run);
const claims = tables.flatMap(({ claims }) => claims);
const count = (wanted: Verdict) => claims.filter(({ verdict }) => verdict === wanted).length;

export default function Papers() {
    return (
        <div class="papers-again">
            <ul class="verdicts" aria-label="How the papers’ statements fared">
                {Object.entries(SIGNS).map(([verdict, [sign, tone]]) => (
                    <li key={verdict}>
                        <b class={`number ${tone}`}>{count(verdict as Verdict)}</b>{' '}
                        <span>
                            <span aria-hidden="true">{sign}</span> {verdict}
                        </span>
                    </li>
                ))}
            </ul>
            <p class="say">
                Of {claims.length} statements. A dot is the mean over our seeds, its line their range, a
                diamond the paper’s number. A statement holds where every seed of the row that should be ahead
                is above every seed of the other; it does not hold where every seed is below. Sizes are what
                two cores can train, so compare the order, not the values. The small version of a row trains
                here: a smaller task, one seed, under a minute.
            </p>
            <nav class="contradicted" aria-labelledby="papers-contradicted">
                <h3 id="papers-contradicted">What does not hold</h3>
                <ul>
                    {done.flatMap(({ name, source, title, claims }) =>
                        claims
                            .filter(({ verdict }) => verdict === 'does not hold')
                            .map(({ says }) => (
                                <li key={name + says}>
                                    <button type="button" class="quiet" onClick={() => show(name)}>
                                        {source}: {title}: {says}
                                    </button>
                                </li>
                            )),
                    )}
                </ul>
            </nav>
            <div class="reruns">
                {done.map((table) => (
                    <Rerun key={table.name} table={table} />
                ))}
            </div>
            <section aria-labelledby="papers-left">
                <h3 id="papers-left">
                    Not run yet <span class="of">{left.length} tables</span>
                </h3>
                <p class="say">They were not trained here, so nothing is claimed.</p>
                {left.map((table) => (
                    <details key={table.name}>
                        <summary>
                            {table.source}: {table.title} <span class="of">needs {hours(table.hours)}</span>
                        </summary>
                        <Rerun table={table} />
                    </details>
                ))}
            </section>
            <section aria-labelledby="papers-targets">
                <h3 id="papers-targets">What was to be reached</h3>
                <ul class="targets">
                    {papers.targets.map(({ says, reached, came }) => (
                        <li key={says}>
                            <b class={reached ? 'agrees' : 'against'}>
                                {reached ? 'reached' : 'not reached'}
                            </b>{' '}
                            {says}. <span class="of">Best here: {came}.</span>
                        </li>
                    ))}
                </ul>
            </section>
        </div>
    );
}

function show(name: string): void {
    const title = document.getElementById(`rerun-${name}`)!;
    title.scrollIntoView({ block: 'start' });
    title.focus({ preventScroll: true });
}
const hours = (x: number) => `${Number(x.toPrecision(2))} h of one core`;
const places = ({ measure }: Table) => (measure === 'accuracy' ? 1 : 3);
const unit = ({ measure }: Table) => (measure === 'accuracy' ? ' %' : '');

function Rerun({ table }: { table: Shown }) {
    const { name, source, title, rows, run, seeds } = table;
    const scales = scalesOf(table);
    return (
        <section class="rerun" aria-labelledby={run ? `rerun-${name}` : undefined}>
            {run && (
                <h3 id={`rerun-${name}`} tabIndex={-1}>
                    {source}: {title}
                </h3>
            )}
            <ul class="rerun-rows" aria-label={run ? undefined : title}>
                {rows.map((row) => (
                    <RowView key={row.name} table={table} row={row} scales={scales} />
                ))}
            </ul>
            {scales && <Axes table={table} {...scales} />}
            {run && table.claims.length > 0 && (
                <ul class="rerun-claims">
                    {table.claims.map(({ says, verdict }) => (
                        <li key={says}>
                            <b class={SIGNS[verdict][1]}>
                                <span aria-hidden="true">{SIGNS[verdict][0]}</span> {verdict}
                            </b>{' '}
                            {says}
                        </li>
                    ))}
                </ul>
            )}
            <p class="say">
                <Errata>{table.setting}</Errata> {run && <>{seeds} seeds each. </>}
                {table.paperIn !== table.measure && <>The paper’s numbers are {table.paperIn}. </>}
                To run it again natively: <code>seqmix reproduce {name}</code>
            </p>
        </section>
    );
}

/** A stretch of the plot, in percent of its width, and the values at its ends. */
interface Scale {
    from: number;
    to: number;
    ends: readonly [number, number];
}
interface Scales {
    ours: Scale;
    /** The paper's numbers: the same scale, or, of another task, one beside it. */
    theirs: Scale;
}
/** All of these values, and a little beside. */
function scaleOf(values: readonly number[], from: number, to: number): Scale {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const beside = 0.08 * (high - low) || 1;
    return { from, to, ends: [low - beside, high + beside] };
}
/** What a table's values stand on; null: there are none. */
function scalesOf(table: Table): Scales | null {
    const ours = table.rows.flatMap(({ ours }) => (ours ? [ours.least, ours.most] : []));
    const theirs = table.rows.flatMap(({ paper }) => (paper !== null && comparable(table) ? [paper] : []));
    if (!ours.length && !theirs.length) return null;
    if (table.paperOn && ours.length && theirs.length)
        return { ours: scaleOf(ours, 0, 54), theirs: scaleOf(theirs, 62, 100) };
    const both = scaleOf([...ours, ...theirs], 0, 100);
    return { ours: both, theirs: both };
}
const marksOf = ({ ends }: Scale) => ticks(...ends);

function Axes({ table, ours, theirs }: Scales & { table: Table }) {
    const two = ours !== theirs;
    return (
        <div class="rerun-row rerun-axis" aria-hidden="true">
            <span />
            <svg class={`rerun-plot${two ? ' two' : ''}`}>
                {(two ? [ours, theirs] : [ours]).map((scale) => (
                    <g key={scale.from}>
                        {marksOf(scale).map((at) => (
                            <text key={at} x={`${across(at, scale)}%`} y="12" text-anchor="middle">
                                {Number(at.toPrecision(8))}
                            </text>
                        ))}
                        {two && (
                            <text
                                x={`${scale === ours ? scale.from : scale.to}%`}
                                y="30"
                                text-anchor={scale === ours ? 'start' : 'end'}
                            >
                                {scale === ours
                                    ? table.title.split(': ').at(-1)
                                    : `the paper: ${table.paperOn}`}
                            </text>
                        )}
                    </g>
                ))}
            </svg>
            <span>
                {table.measure}
                {two && `: here and in the paper on different tasks, so compare the order alone`}
            </span>
        </div>
    );
}
const comparable = ({ paperIn, measure }: Table) => paperIn === measure;
const across = (value: number, { from, to, ends: [low, high] }: Scale) =>
    Number((from + ((to - from) * (value - low)) / (high - low)).toFixed(2));
const address = (config: string | null) =>
    config === null ? undefined : `#${config.replaceAll('~', '%7E').replaceAll('!', '%21')}!go=1&speed=full`;

type Shown = Table & { run: boolean };
interface RowOf {
    table: Shown;
    row: Row;
    scales: Scales | null;
}
function RowView({ table, row, scales }: RowOf) {
    const { name, ours, paper, config, easy } = row;
    const [digits, of] = [places(table), unit(table)];
    const range = ours && `${fixed(ours.least, digits)}–${fixed(ours.most, digits)}`;
    const said = ours ? `${fixed(ours.mean, digits)}${of} (${range})` : row.without;
    const opens = address(config ?? easy);
    const title = ours
        ? `rate ${ours.rate}${ours.end ? ', an end of those tried' : ''}, ${counted(ours.weights)} weights`
        : undefined;
    const theirs =
        paper === null ? '' : `, the paper ${paper}${table.paperOn ? ` on its ${table.paperOn}` : ''}`;
    const easily = `train small version of ${name}: ${table.source}, ${table.title}`;
    return (
        <li class="rerun-row">
            <span>{name}</span>
            {scales && (
                <a
                    class="rerun-plot"
                    href={opens}
                    role={opens ? undefined : 'img'}
                    title={title}
                    aria-label={`${name}: ${said}${theirs}.${opens ? ` Train ${config ? 'it' : 'its small version'} here` : ''}`}
                >
                    <svg aria-hidden="true">
                        {[...new Set([scales.ours, scales.theirs])].map((scale) =>
                            marksOf(scale).map((at) => (
                                <line
                                    key={at}
                                    class="grid"
                                    x1={`${across(at, scale)}%`}
                                    x2={`${across(at, scale)}%`}
                                    y2="100%"
                                />
                            )),
                        )}
                        {paper !== null && comparable(table) && (
                            <svg
                                class="theirs"
                                x={`${across(paper, scales.theirs)}%`}
                                y="50%"
                                overflow="visible"
                            >
                                <path d="M-6 0L0-6L6 0L0 6Z" />
                            </svg>
                        )}
                        {ours && (
                            <g class="ours">
                                <line
                                    x1={`${across(ours.least, scales.ours)}%`}
                                    x2={`${across(ours.most, scales.ours)}%`}
                                    y1="50%"
                                    y2="50%"
                                />
                                <circle cx={`${across(ours.mean, scales.ours)}%`} cy="50%" r="5" />
                            </g>
                        )}
                    </svg>
                </a>
            )}
            <span class="rerun-said">
                {table.run && <span class={ours ? 'number' : 'of'}>{said}</span>}{' '}
                {easy ? (
                    <a href={address(easy)} aria-label={easily} title={easily}>
                        train small version
                    </a>
                ) : (
                    <span class="of">the program’s alone</span>
                )}
            </span>
        </li>
    );
}
