// own_table.tsx: the table that the runs read: handing one over, its first rows, which columns are read and
// which is predicted, and what is missing in it.
import { useEffect } from 'preact/hooks';
import { counted } from '../../core/figures.ts';
import { pick } from '../../core/files.ts';
import { chosen, columnKey, type TableSummary } from '../../core/tables.ts';
import type { Entry } from '../../state/entry.ts';
import {
    chooseInTable,
    forgetTable,
    heldTable,
    restoreTable,
    takeTable,
} from '../../state/views/own_table.ts';
import '../../styles/views/table.css';

const TREATED: Record<string, string> = {
    refuse: 'nothing can be trained until “missing” says what is done with them',
    drop: 'their rows are left out',
    last: 'each takes the value of the row before',
    mean: 'each takes the mean of its column',
};

export default function OwnTable({ entry: { values } }: { entry: Entry }) {
    useEffect(() => void restoreTable(), []);
    const held = heldTable.value;
    const own = held && held.name === values['file'] ? held : null;
    return (
        <section class="own-table" aria-labelledby="table-title">
            <h2 id="table-title">{own ? own.name : 'The table'}</h2>
            {own ? (
                <Chosen table={own.summary} values={values} />
            ) : (
                <p class="say">
                    {values['file'] === 'sample'
                        ? 'An embedded table of 1,200 hours. Drop one of your own on this page, CSV or TSV, plain or .gz, with column names in its first line: it stays in this browser.'
                        : `${values['file']} is not here: drop it on this page, or choose it.`}
                </p>
            )}
            <div class="row">
                <button type="button" onClick={() => void pick('').then(([file]) => file && takeTable(file))}>
                    Choose a table …
                </button>
                {values['file'] !== 'sample' && (
                    <button type="button" onClick={forgetTable}>
                        Back to the embedded one
                    </button>
                )}
            </div>
        </section>
    );
}

function Chosen({ table, values }: { table: TableSummary; values: Entry['values'] }) {
    const { inputs, target } = chosen(table, values);
    const { columns, rows, preview } = table;
    const read = (at: number, on: boolean) => {
        const next = columns.map((_, i) => i).filter((i) => (i === at ? on : inputs.includes(i)));
        chooseInTable({ inputs: next.map((i) => columnKey(table, i)).join(',') });
    };
    const predict = (at: number) => {
        const next = inputs.filter((i) => i !== at || values['ahead'] !== '0');
        chooseInTable({
            target: columnKey(table, at),
            inputs: next.map((i) => columnKey(table, i)).join(','),
        });
    };
    return (
        <>
            <p class="say">
                {counted(rows)} rows; the first {preview.length}:
            </p>
            <div class="scroll" role="region" aria-label="First rows of the table" tabIndex={0}>
                <table>
                    <thead>
                        <tr>
                            {columns.map(({ name, words, numbers }, i) => (
                                <th key={i} scope="col">
                                    {name || `column ${i + 1}`}
                                    <label>
                                        <input
                                            type="checkbox"
                                            checked={inputs.includes(i)}
                                            disabled={
                                                words > 0 ||
                                                numbers === 0 ||
                                                (i === target && values['ahead'] === '0') ||
                                                (inputs.length === 1 && inputs[0] === i)
                                            }
                                            onChange={({ currentTarget }) => read(i, currentTarget.checked)}
                                        />
                                        read<span class="unseen"> {name}</span>
                                    </label>
                                    <label>
                                        <input
                                            type="radio"
                                            name="predicted"
                                            checked={i === target}
                                            disabled={inputs.length === 1 && inputs[0] === i}
                                            onChange={() => predict(i)}
                                        />
                                        predict<span class="unseen"> {name}</span>
                                    </label>
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {preview.map((cells, r) => (
                            <tr key={r}>
                                {cells.map((cell, i) => (
                                    <td key={i}>{cell || '–'}</td>
                                ))}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
            <Mixed columns={columns} />
            <Missing
                from={[...inputs, target].map((i) => columns[i])}
                treated={TREATED[values['missing'] ?? 'refuse']}
            />
        </>
    );
}

/** Which columns hold numbers but for a word or a few: they cannot be read until the file is mended. */
function Mixed({ columns }: { columns: TableSummary['columns'] }) {
    const mixed = columns.filter(({ words, numbers }) => words > 0 && numbers > words);
    if (!mixed.length) return null;
    return (
        <p class="warning">
            No number:{' '}
            {mixed
                .map(
                    ({ name, words, word, wordLine }) =>
                        `${counted(words)} of ${name} (the first in line ${wordLine}: ${word})`,
                )
                .join(', ')}
            ; such a column cannot be read. Correct the cells or leave them empty, and choose the table again.
        </p>
    );
}

/** Which of these columns have gaps, and what is done with those. */
function Missing({
    from,
    treated,
}: {
    from: readonly (TableSummary['columns'][number] | undefined)[];
    treated: string | undefined;
}) {
    const gaps = [...new Set(from)].flatMap((column) => (column?.missing ? [column] : []));
    if (!gaps.length) return null;
    return (
        <p class="warning">
            Missing:{' '}
            {gaps
                .map(
                    ({ name, missing, line }) => `${counted(missing)} of ${name} (the first in line ${line})`,
                )
                .join(', ')}
            ; {treated}.
        </p>
    );
}
