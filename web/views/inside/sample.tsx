// sample.tsx: the tokens of a sample with the model's answers, right or wrong, and one answer in a sentence.
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { mostLookedAt } from '../../charts/grid.ts';
import type { Sample } from '../../../wasm/loader/seqmix.ts';
import type { Look } from '../../training/protocol.ts';
import type { Values } from '../../core/config.ts';
import { isKey, isText, written } from '../../core/tokens.ts';

/** The row whose answer is looked at; null: the first question. */
export const asked = signal<number | null>(null);

const MOST_TOKENS = 256;
const RULED = 8; // every so many tokens their position stands above

/** Rows that have an answer; none where the sequence has one answer, or the answers are numbers. */
export function questionsOf({ classes, length, targets }: Sample): number[] {
    if (classes === 0 || targets === null || targets.length !== length) return [];
    return [...targets.keys()].filter((i) => targets[i]! >= 0);
}

/** What a token is to its task, for its look: '' where that is not known. */
export function kindOf(token: number | undefined, task: Values): string {
    if (written(token, task) === '·') return 'filler';
    if (isKey(token, task)) return 'key-token';
    if (!/^sc(_unique)?$/.test(task['task'] ?? '') || token === undefined) return '';
    const noise = +(task['noise'] ?? 0); // noise below it, the marker, signals above
    return token < noise ? 'filler' : token === noise ? 'marker-token' : 'key-token';
}

interface TokensProps {
    sample: Sample;
    row: number | null;
    /** Where the model looks from that row. */
    weights: Float32Array | null;
    task: Values;
}

export function Tokens({ sample, row, weights, task }: TokensProps) {
    const { tokens, targets, predicted } = sample;
    const questions = new Set(questionsOf(sample));
    const shown = Math.min(tokens!.length, MOST_TOKENS);
    const widest = Math.max(...Array.from(tokens!.subarray(0, shown), (one) => written(one, task).length));
    const long = widest > 2 || (sample.classes > 100 && !isText(task));
    return (
        <div class="sample">
            <ol class={`tokens${long ? ' long' : ''}`} aria-label="Tokens of the example">
                {Array.from({ length: shown }, (_, i) => {
                    const token = written(tokens![i], task);
                    if (!questions.has(i))
                        return (
                            <li key={i} class={kindOf(tokens![i], task)} data-at={i % RULED ? undefined : i}>
                                <Bar weight={weights?.[i] ?? 0} />
                                <span class="token">{token}</span>
                            </li>
                        );
                    const right = predicted![i] === targets![i];
                    const verdict = right ? 'right' : `wrong, wanted ${written(targets![i], task)}`;
                    return (
                        <li
                            key={i}
                            class={`question ${kindOf(tokens![i], task)}`}
                            data-at={i % RULED ? undefined : i}
                        >
                            <Bar weight={weights?.[i] ?? 0} />
                            <button type="button" aria-pressed={i === row} onClick={() => (asked.value = i)}>
                                <span class="token">
                                    <Unseen>Question at {i}: token </Unseen>
                                    {token}
                                </span>
                                <span class={right ? 'right' : 'wrong'}>
                                    <Unseen>, answered {verdict}: </Unseen>
                                    <span aria-hidden="true">{right ? '✓' : '✗'}</span>
                                    {written(predicted![i], task)}
                                </span>
                            </button>
                        </li>
                    );
                })}
            </ol>
            {shown < tokens!.length && (
                <p class="say">
                    The first {shown} of {tokens!.length} tokens.
                </p>
            )}
        </div>
    );
}

function Bar({ weight }: { weight: number }) {
    return (
        <svg class="bar" viewBox="0 0 10 20" preserveAspectRatio="none" aria-hidden="true">
            <rect x="0" width="10" y={20 - 20 * weight} height={20 * weight} />
        </svg>
    );
}

interface AnswerProps {
    now: Look;
    row: number | null;
    weights: Float32Array | null;
    task: Values;
}

export function Answer({ now, row, weights, task }: AnswerProps) {
    const { sample, step } = now;
    const questions = questionsOf(sample);
    if (sample.classes === 0)
        return <p class="score">The answer to this task is a number at each row, judged by R² above.</p>;
    if (questions.length === 0) return <Single now={now} />;
    const right = questions.filter((i) => sample.predicted![i] === sample.targets![i]).length;
    return (
        <p class="score">
            <Number>
                {right} of {questions.length}
            </Number>{' '}
            right at step {step}.{' '}
            {row !== null && <Sentence sample={sample} row={row} weights={weights} task={task} />}
        </p>
    );
}

function Sentence({ sample, row, weights, task }: Omit<TokensProps, 'row'> & { row: number }) {
    const { tokens, targets, predicted, confidence } = sample;
    const token = (i: number) => <Number>{written(tokens?.[i], task)}</Number>;
    const most = weights ? mostLookedAt(weights) : 0;
    return (
        <>
            At position {row} token {token(row)} asks; the model answers{' '}
            <Number>{written(predicted![row], task)}</Number>
            {predicted![row] === targets![row] ? (
                ', which is right'
            ) : (
                <>
                    , but <Number>{written(targets![row], task)}</Number> is right
                </>
            )}{' '}
            (it was {percent(confidence?.[row])} sure).
            {weights && (
                <>
                    {' '}
                    It looks most at position {most}, token {token(most)} ({percent(weights[most])}).
                </>
            )}
        </>
    );
}

/** A task with one answer for the whole sequence. */
function Single({ now }: { now: Look }) {
    const { targets, predicted, confidence } = now.sample;
    const right = predicted?.[0] === targets?.[0];
    return (
        <p class="score">
            At step {now.step} the model answers <Number>{predicted?.[0] ?? '–'}</Number>{' '}
            <span class={right ? 'right' : 'wrong'}>
                {right ? '✓ right' : `✗ wrong, it is ${targets?.[0]}`}
            </span>
            , and was {percent(confidence?.[0])} sure.
        </p>
    );
}

function percent(share: number | undefined): string {
    return `${Math.round(100 * (share ?? 0))}\u00a0%`; // never on two lines
}
function Number({ children }: { children: ComponentChildren }) {
    return <b class="number">{children}</b>;
}
function Unseen({ children }: { children: ComponentChildren }) {
    return <span class="unseen">{children}</span>;
}
