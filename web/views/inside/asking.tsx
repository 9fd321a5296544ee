// asking.tsx: a sequence of the visitor's own: typed or edited, followed through the run that is looked into,
// and answered by every run on the task.
import { useEffect, useState } from 'preact/hooks';
import { fixed } from '../../core/figures.ts';
import type { Values } from '../../core/config.ts';
import type { Entry } from '../../state/entry.ts';
import { runs } from '../../state/page.ts';
import { answersOf, typed } from '../../state/watching.ts';
import type { Look } from '../../training/protocol.ts';
import { RunName } from '../frame/mark.tsx';
import { isKey, isText, tokenOf, written } from '../../core/tokens.ts';

const MOST = 4096; // tokens

/** The text that says these tokens, and back; null: it has something else in it. */
function textOf(tokens: ArrayLike<number>, task: Values): string {
    if (isText(task)) return new TextDecoder().decode(Uint8Array.from(tokens));
    return Array.from(tokens, (token) => (isKey(token, task) ? written(token, task) : token)).join(' ');
}
function tokensOf(input: string, task: Values): number[] | null {
    if (isText(task)) return [...new TextEncoder().encode(input)].slice(0, MOST);
    const tokens = input
        .split(/[\s,]+/)
        .filter(Boolean)
        .map((word) => tokenOf(word, task));
    return tokens.every((token) => token !== null) ? tokens.slice(0, MOST) : null;
}

/** What was asked, and what each run made of it. */
interface Answers {
    tokens: readonly number[];
    by: readonly (readonly [Entry, Look | string])[];
}

export function Asking({ now, entry }: { now: Look; entry: Entry }) {
    const { values } = entry;
    const text = isText(values);
    const keys = isKey(1, values);
    const [input, setInput] = useState<string | null>(null);
    const [answers, setAnswers] = useState<Answers | null>(null);
    const tokens = input === null ? null : tokensOf(input, values);
    const rivals = runs.value.filter((other) => other.values['task'] === values['task']);
    const step = entry.live.value.step;
    useEffect(() => () => void (typed.value = null), [values['task']]);
    useEffect(() => {
        if (!tokens?.length) {
            typed.value = null;
            return setAnswers(null);
        }
        let gone = false;
        void Promise.all(rivals.map((other) => answersOf(other, tokens))).then((told) => {
            if (gone) return;
            // What this run refuses is said in the table; what is shown stays.
            typed.value = 'sample' in told[rivals.indexOf(entry)]! ? tokens : null;
            const by = told.map((one, i) => [rivals[i]!, 'sample' in one ? one : one.message] as const);
            setAnswers({ tokens, by });
        });
        return () => {
            gone = true;
        };
    }, [input, rivals.length, Math.floor(step / 10)]);
    if (!now.sample.tokens && input === null) return null;
    return (
        <details class="asking">
            <summary>
                <h3>Ask your own sequence</h3>
            </summary>
            <label class="asking-input">
                {text
                    ? 'characters'
                    : keys
                      ? 'tokens with spaces between: keys as letters, or all as numbers'
                      : 'tokens, as numbers with spaces between'}
                <textarea
                    rows={3}
                    spellcheck={false}
                    value={input ?? textOf(now.sample.tokens ?? [], values)}
                    onInput={({ currentTarget }) => setInput(currentTarget.value)}
                />
            </label>
            <div class="row">
                <button type="button" disabled={input === null} onClick={() => setInput(null)}>
                    Back to the example
                </button>
            </div>
            {input !== null && !tokens && (
                <p class="why" role="alert">
                    Tokens are {keys ? 'letters or' : 'whole'} numbers with spaces between.
                </p>
            )}
            {tokens && answers && <AnswersTable answers={answers} values={values} />}
        </details>
    );
}

function AnswersTable({ answers, values }: { answers: Answers; values: Entry['values'] }) {
    return (
        <div class="scroll" tabIndex={0} role="region" aria-label="Answers of every run">
            <table class="asked-table">
                <tbody>
                    <tr>
                        <th scope="row">tokens</th>
                        {answers.tokens.map((token, i) => (
                            <td key={i}>{written(token, values)}</td>
                        ))}
                    </tr>
                    {answers.by.map(([other, told]) => (
                        <tr key={other.id}>
                            <th scope="row">
                                <RunName entry={other} brief />
                            </th>
                            {typeof told === 'string' ? (
                                <td class="why" colSpan={answers.tokens.length}>
                                    {told}
                                </td>
                            ) : (
                                Array.from(
                                    told.sample.predicted ?? told.sample.confidence ?? [],
                                    (one, i) => (
                                        <td key={i}>
                                            {told.sample.classes ? written(one, values) : fixed(one, 2)}
                                        </td>
                                    ),
                                )
                            )}
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}
