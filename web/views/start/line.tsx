// line.tsx: the line of pairs and questions: each pair in its colour, a question in that of its key, under it
// the answer with its tick. On a phone the line ends on the question that is followed; all stand below it.
import type { ComponentChildren } from 'preact';
import type { Look } from '../../training/protocol.ts';
import { isKey, narrow, PAIRS, pairOf, question, QUESTIONS, wanted } from '../../state/views/story.ts';
import { Written, written } from './icons.tsx';

/** How wide each token stands: a question has its answer below it. */
export const shares = (tokens: readonly number[]): number[] =>
    tokens.map((_, i) => (i < 2 * PAIRS ? 3 : !narrow.value ? 5 : i === question.value ? 7 : 0));
/** Where the middle of each token is in a line of this width. */
export function middles(tokens: readonly number[], width: number): number[] {
    const parts = shares(tokens);
    const unit = width / parts.reduce((sum, part) => sum + part, 0);
    let left = 0;
    return parts.map((part) => (left += part) && (left - part / 2) * unit);
}

/** The colour of a pair, counted from 0. */
export const toneOf = (pair: number) => `--tone: var(--pair-${pair + 1})`;

interface Props {
    tokens: readonly number[];
    /** Whose answers stand below; null: nobody's yet. */
    look: Look | null;
    name: string;
    /** `tokens` without its order changed: whose pairs give the colours. */
    asked?: readonly number[];
    /** The order that says the right answers. */
    judged?: readonly number[];
    /** What hangs below the line. */
    children?: ComponentChildren;
}

/** The whole line on one row, as wide as its place; questions can be picked. */
export function Line({ tokens, look, name, asked = tokens, judged = asked, children }: Props) {
    const columns = shares(tokens).flatMap((part) => (part ? [`minmax(0, ${part}fr)`] : []));
    const asking = (i: number) => {
        const answer = look?.sample.predicted?.[i];
        const due = wanted(judged, i);
        const right = answer === due;
        const nothing = isKey(due); // (a line torn apart: no icon stands after the letter)
        return (
            <li key={i} class="cell asks" style={toneOf(pairOf(asked, i))}>
                <button
                    type="button"
                    aria-pressed={i === question.value}
                    onClick={() => (question.value = i)}
                >
                    <b>
                        <span class="unseen">Question </span>
                        {written(tokens[i]!)}
                    </b>
                    {answer !== undefined && (
                        <span class={nothing ? 'of' : right ? 'right' : 'wrong'}>
                            <span class="unseen">
                                , answered{' '}
                                {nothing
                                    ? 'though no icon stands after it'
                                    : right
                                      ? 'right'
                                      : `wrong, wanted ${written(due)}`}
                                :{' '}
                            </span>
                            <span aria-hidden="true">{nothing ? '' : right ? '✓' : '✗'}</span>
                            <Written token={answer} />
                        </span>
                    )}
                </button>
            </li>
        );
    };
    return (
        <>
            <ol
                class="line"
                aria-label={`The line, and the answers of ${name}`}
                style={{ gridTemplateColumns: columns.join(' ') }}
            >
                {tokens.map((token, i) =>
                    i < 2 * PAIRS ? (
                        <li key={i} class="cell" style={toneOf(pairOf(asked, asked.indexOf(token)))}>
                            <Written token={token} />
                        </li>
                    ) : !narrow.value ? (
                        asking(i)
                    ) : i === question.value ? (
                        <li key={i} class="cell asks" style={toneOf(pairOf(asked, i))}>
                            <Written token={token} />?
                        </li>
                    ) : null,
                )}
            </ol>
            {children}
            {narrow.value && (
                <ol class="line all" aria-label="Questions">
                    {QUESTIONS.map(asking)}
                </ol>
            )}
        </>
    );
}
