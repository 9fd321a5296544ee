// line.tsx: the line of pairs and questions: each pair in its colour, a question in that of its key, under it
// the answer with its tick.
import type { Look } from '../../training/protocol.ts';
import { isKey, PAIRS, pairOf, question, wanted, written } from '../../state/story.ts';

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
    /** `tokens` without its order changed, which says the right answers. */
    asked?: readonly number[];
}

/** The whole line on one row, as wide as its place; questions can be picked. */
export function Line({ tokens, look, name, asked = tokens }: Props) {
    return (
        <ol class="line" aria-label={`The line, and the answers of ${name}`}>
            {tokens.map((token, i) => {
                if (i < 2 * PAIRS)
                    return (
                        <li key={i} class={`cell pair-${pairOf(asked, asked.indexOf(token)) + 1}`}>
                            {isKey(token) ? <b>{written(token)}</b> : written(token)}
                        </li>
                    );
                const answer = look?.sample.predicted?.[i];
                const right = answer === wanted(asked, i);
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
                                        {right ? 'right' : `wrong, wanted ${written(wanted(asked, i))}`}:{' '}
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
