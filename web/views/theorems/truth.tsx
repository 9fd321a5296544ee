// truth.tsx: beside a claim, what kind of truth it has, and on demand its theorems as Rocq prints them.
// Nothing of it is written here: scripts/truth.mjs reads it from the proofs when the page is built.
import claims, { type Claim } from 'virtual:truth';
import { Errata } from '../frame/errata.tsx';
import { VERDICTS } from './verdicts.ts';

/** The claims of these names, each with its kinds of truth. */
export function Truth({ of }: { of: readonly string[] }) {
    return (
        <ul class="truth" aria-label="How far this is established">
            {of.map((name) => (
                <Row key={name} {...claims.find((claim) => claim.name === name)!} />
            ))}
        </ul>
    );
}

function Row({ name, claim, needs, proved, errata, kinds, table }: Claim) {
    const count = proved.reduce((sum, { theorems }) => sum + theorems.length, 0);
    return (
        <li data-claim={name}>
            {VERDICTS[name] && (
                <p class="in-short">
                    <Errata>{VERDICTS[name]}</Errata>
                </p>
            )}
            <p class="kinds">
                {kinds.map(({ kind, words }) => (
                    <span key={kind} class={`kind ${kind}`}>
                        {words}
                    </span>
                ))}
            </p>
            <p class="hint">{claim}</p>
            {needs && (
                <p class="hint">
                    <b>Needs:</b> <Errata>{needs}</Errata>
                </p>
            )}
            {count > 0 && (
                <details>
                    <summary>
                        {count} theorems: in words, with what they do not cover, and as Rocq states them
                    </summary>
                    {errata && (
                        <p class="hint">
                            See <Errata>{errata.replace(/, (?=\d+$)/, ' and ')}</Errata>.
                        </p>
                    )}
                    {proved.map(({ file, words, theorems }) => (
                        <div key={file}>
                            <pre class="in-words">
                                <Errata>{words}</Errata>
                            </pre>
                            <dl>
                                {theorems.map((theorem) => (
                                    <div key={theorem.name}>
                                        <dt>
                                            <code>
                                                {file}.<wbr />
                                                {theorem.name}
                                            </code>
                                        </dt>
                                        <dd>
                                            <Statement text={theorem.statement} />
                                        </dd>
                                    </div>
                                ))}
                            </dl>
                        </div>
                    ))}
                </details>
            )}
            {table && <Table rows={table} />}
        </li>
    );
}

function Table({ rows: [head, ...rows] }: { rows: string[][] }) {
    return (
        <details>
            <summary>Of each mixer</summary>
            <div class="scroll" role="region" aria-label="What makes no difference" tabIndex={0}>
                <table>
                    <thead>
                        <tr>
                            {head!.map((cell) => (
                                <th key={cell} scope="col">
                                    {cell}
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {rows.map(([name, ...cells]) => (
                            <tr key={name}>
                                <th scope="row">{name}</th>
                                {cells.map((cell, i) => (
                                    <td key={i}>{cell}</td>
                                ))}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </details>
    );
}

/** As Rocq prints it; a line that is too long breaks, but in no arrow. */
function Statement({ text }: { text: string }) {
    return (
        <pre>{text.split('->').flatMap((part, i) => (i ? [<span key={i}>-&gt;</span>, part] : [part]))}</pre>
    );
}

const LEGEND = [
    [
        'proved',
        'proved',
        'by machine, in Rocq: for all lengths, or for every float of a range, as the tag says',
    ],
    ['proved', 'proved in part', 'by machine, except for what its description names as not proved'],
    ['certified', 'certified on instances', 'computed with guaranteed error bounds, at some sizes'],
    ['tested', 'tested', 'with the kernels’ own floats: no counterexample was found'],
] as const;
/** What the tags say that stand beside each claim. */
export function Legend() {
    return (
        <dl class="kinds-legend" aria-label="What the tags say">
            {LEGEND.map(([kind, words, says]) => (
                <div key={words}>
                    <dt>
                        <span class={`kind ${kind}`}>{words}</span>
                    </dt>
                    <dd>{says}</dd>
                </div>
            ))}
        </dl>
    );
}

/** The claims that no picture shows. */
export function Unpictured({ pictured }: { pictured: readonly string[] }) {
    const rest = claims.filter(({ name }) => !pictured.includes(name));
    return (
        <section class="theorem" id="theorem-rest" aria-labelledby="theorem-rest-title">
            <h3 id="theorem-rest-title">Without a picture</h3>
            <p class="source">The papers’ other claims, and those that the kernels themselves rest on.</p>
            <Truth of={rest.map(({ name }) => name)} />
        </section>
    );
}
