// help.tsx: what the word at the cursor means: an operation, or a name of the text.
import about from 'virtual:equations';
import type { EquationSteps } from '../../../wasm/loader/verify.ts';

const OPERATIONS = new Map(about.operations.map((one) => [one.name, one]));
const shapeOf = (shape: readonly number[]) => shape.join(' × ');

export function Help({ word, steps, text }: { word: string; steps: EquationSteps | null; text: string }) {
    const operation = OPERATIONS.get(word);
    return (
        <section class="equations-help" aria-labelledby="help-title">
            <h3 id="help-title">{operation ? <code>{word}</code> : 'At the cursor'}</h3>
            {operation ? (
                <>
                    <p dangerouslySetInnerHTML={{ __html: operation.help }} />
                    <div
                        class="scroll"
                        tabIndex={0}
                        role="group"
                        aria-label="Formula"
                        dangerouslySetInnerHTML={{ __html: operation.mathml }}
                    />
                    <dl>
                        <dt>Takes</dt>
                        <dd dangerouslySetInnerHTML={{ __html: operation.takes }} />
                        <dt>Gives</dt>
                        <dd dangerouslySetInnerHTML={{ __html: operation.gives }} />
                        <dt>Costs</dt>
                        <dd dangerouslySetInnerHTML={{ __html: operation.cost }} />
                    </dl>
                    <pre class="scroll" tabIndex={0} aria-label="Example">
                        {operation.example}
                    </pre>
                </>
            ) : (
                <p class="say">{named(word, steps, text)}</p>
            )}
            <details>
                <summary>All {about.operations.length} operations</summary>
                <dl class="equations-list">
                    {about.operations.map(({ name, help, takes }) => (
                        <div key={name}>
                            <dt>
                                <code>{name}</code>{' '}
                                <span class="takes" dangerouslySetInnerHTML={{ __html: takes }} />
                            </dt>
                            <dd dangerouslySetInnerHTML={{ __html: help }} />
                        </div>
                    ))}
                </dl>
            </details>
        </section>
    );
}

function named(word: string, steps: EquationSteps | null, text: string): string {
    if (word === 'x') return 'x is the input, [rows][width].';
    const step = steps?.steps.find(({ name }) => name === word);
    if (step && word)
        return `${word} is a tensor, ${shapeOf(step.shape)}: line ${step.line}, ${text.split('\n')[step.line - 1]?.trim()}`;
    const weight = steps?.steps.flatMap(({ weights }) => weights).find(({ name }) => name === word);
    if (weight && word)
        return `${word} is a weight, ${shapeOf(weight.shape)}: it is learnt. A number in brackets, as in ${word}[5], sets its free size: the taps of a filter, the columns of a matrix.`;
    if (word === 'start') return 'start(w, uniform, 0.1) says how a weight starts.';
    return 'Put the cursor on an operation or a name, and it is explained here. A name without an assignment is a weight, where one is allowed: to the right of @, or as a filter, gain or bias.';
}
