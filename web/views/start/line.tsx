// line.tsx: the line of pairs and questions: each pair in its colour, a question in that of its key, under it
// the answer with its tick.
import type { Look } from '../../training/protocol.ts';
import { isKey, PAIRS, pairOf, question, wanted, written } from '../../state/story.ts';

/** How wide each token stands: a question has its answer below it, a number up to two digits. */
export const shares = (tokens: readonly number[]): number[] =>
    tokens.map((token, i) => (i >= 2 * PAIRS ? 5 : isKey(token) ? 3 : 4));
/** Where the middle of each token is in a line of this width. */
export function middles(tokens: readonly number[], width: number): number[] {
    const parts = shares(tokens);
    const unit = width / parts.reduce((sum, part) => sum + part, 0);
    let left = 0;
    return parts.map((part) => (left += part) && (left - part / 2) * unit);
}

/** Every pair as a box, for reading. */
export function Pairs({ tokens }: { tokens: readonly number[] }) {
    return (
        <ol class="pairs" aria-label="The line: eight letters, each with its number">
            {Array.from({ length: PAIRS }, (_, i) => (
                <li key={i} class={`pair pair-${i + 1}`}>
                    <b>{written(tokens[2 * i]!)}</b>
                    <span>{written(tokens[2 * i + 1]!)}</span>
                </li>
            ))}
        </ol>
    );
}

interface Props {
    tokens: readonly number[];
    /** Whose answers stand below; null: nobody's yet. */
    look: Look | null;
    name: string;
    /** `tokens` without its order changed: whose pairs give the colours. */
    asked?: readonly number[];
    /** The order that says the right answers. */
    judged?: readonly number[];
}

/** The whole line on one row, as wide as its place; questions can be picked. */
export function Line({ tokens, look, name, asked = tokens, judged = asked }: Props) {
    const columns = shares(tokens).map((part) => `minmax(0, ${part}fr)`);
    return (
        <ol
            class="line"
            aria-label={`The line, and the answers of ${name}`}
            style={{ gridTemplateColumns: columns.join(' ') }}
        >
            {tokens.map((token, i) => {
                if (i < 2 * PAIRS)
                    return (
                        <li key={i} class={`cell pair-${pairOf(asked, asked.indexOf(token)) + 1}`}>
                            {isKey(token) ? <b>{written(token)}</b> : written(token)}
                        </li>
                    );
                const answer = look?.sample.predicted?.[i];
                const right = answer === wanted(judged, i);
                return (
                    <li key={i} class={`cell asks pair-${pairOf(asked, i) + 1}`}>
                        <button
                            type="button"
                            aria-pressed={i === question.value}
                            onClick={() => (question.value = i)}
                        >
                            <b>
                                <span class="unseen">Question </span>
                                {written(token)}
                            </b>
                            {answer !== undefined && (
                                <span class={right ? 'right' : 'wrong'}>
                                    <span class="unseen">
                                        , answered{' '}
                                        {right ? 'right' : `wrong, wanted ${written(wanted(judged, i))}`}
                                        :{' '}
                                    </span>
                                    <span aria-hidden="true">{right ? '✓' : '✗'}</span>
                                    {written(answer)}
                                </span>
                            )}
                        </button>
                    </li>
                );
            })}
        </ol>
    );
}
