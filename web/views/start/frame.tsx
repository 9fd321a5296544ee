// frame.tsx: what the steps share: words beside a figure, a choice, a live number, what a model that stopped
// says.
import type { ComponentChildren } from 'preact';
import { fixed, percent } from '../../core/figures.ts';
import { accuracyOf, modelOf, type Kind } from '../../state/views/story.ts';

export interface StepProps {
    /** The step's heading. */
    children: ComponentChildren;
}
export function Beside({ words, children }: { words: ComponentChildren; children: ComponentChildren }) {
    return (
        <>
            <div class="words">{words}</div>
            <div class="figure">{children}</div>
        </>
    );
}

export function Choices<T extends string | number>(props: {
    label: string;
    choices: readonly (readonly [T, string])[];
    value: T | null;
    /** Of what was chosen. */
    verdict?: 'right' | 'wrong' | null;
    set: (value: T) => void;
}) {
    return (
        <div class="choices" role="group" aria-label={props.label}>
            {props.choices.map(([value, name]) => (
                <button
                    key={value}
                    type="button"
                    aria-pressed={value === props.value}
                    onClick={() => props.set(value)}
                >
                    {props.verdict && value === props.value && (
                        <span aria-hidden="true">{props.verdict === 'right' ? '✓' : '✗'}</span>
                    )}
                    {name}
                </button>
            ))}
        </div>
    );
}
export const Live = ({ children }: { children: ComponentChildren }) => <b class="number">{children}</b>;
/** A tap to two places. */
export const two = (value: number) => fixed(value, 2);
export const share = (value: number | undefined) => (value === undefined ? '–' : percent(value));

/** How far a model is, in a sentence. */
export function Progress({ kind, name }: { kind: Kind; name: string }) {
    const entry = modelOf(kind);
    if (!entry) return null;
    const { status, step, steps, problem } = entry.live.value;
    if (status === 'failed')
        return (
            <p class="why" role="alert">
                {name} stopped: {problem?.message}.
            </p>
        );
    if (status === 'opening') return <p>{name} is being made ready …</p>;
    return (
        <p>
            {name} has seen <Live>{step}</Live> of {steps} batches and answers{' '}
            <Live>{share(accuracyOf(kind))}</Live> right, in lines it was never trained on.
        </p>
    );
}
