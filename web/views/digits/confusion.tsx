// confusion.tsx: how often each digit was taken for which, as a table with the counts in it.

interface Props {
    counts: number[][] | null;
    step: number | null;
    count: () => Promise<void>;
}

export function Confusion({ counts, step, count }: Props) {
    const button = (
        <button type="button" onClick={() => void count()}>
            {counts ? 'Count again' : 'Count'}
        </button>
    );
    const digits = [...Array(10).keys()];
    const rows = counts ?? digits.map(() => digits.map(() => 0)); // a frame without counts at first
    const total = rows.flat().reduce((a, b) => a + b, 0);
    const right = rows.reduce((sum, row, i) => sum + (row[i] ?? 0), 0);
    return (
        <>
            <p class="say">
                {counts ? (
                    <>
                        At step {step}: <b class="number">{right}</b> of {total} held-out images right. Rows:
                        the digit shown; columns: the run’s answer.
                    </>
                ) : (
                    '1,024 held-out images. Rows: the digit shown; columns: the run’s answer.'
                )}
            </p>
            <div class="scroll" role="region" aria-label="Digits shown and answered" tabIndex={0}>
                <table class={`confusion${counts ? '' : ' empty'}`}>
                    <caption class="unseen">How often each digit was read as which</caption>
                    <thead>
                        <tr>
                            <td />
                            {rows.map((_, digit) => (
                                <th key={digit} scope="col">
                                    {digit}
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {rows.map((row, digit) => {
                            const sum = row.reduce((a, b) => a + b, 0);
                            return (
                                <tr key={digit}>
                                    <th scope="row">{digit}</th>
                                    {row.map((n, answer) => (
                                        <td key={answer} class={answer === digit ? 'hit' : 'miss'}>
                                            <svg
                                                viewBox="0 0 1 1"
                                                preserveAspectRatio="none"
                                                aria-hidden="true"
                                            >
                                                <rect
                                                    width="1"
                                                    height="1"
                                                    opacity={sum ? (0.45 * n) / sum : 0}
                                                />
                                            </svg>
                                            <span>{n || ''}</span>
                                        </td>
                                    ))}
                                </tr>
                            );
                        })}
                    </tbody>
                </table>
            </div>
            {button}
        </>
    );
}
