// verify.tsx: the self-check in this browser: every digest beside the committed one, the proofs and errata,
// rows beside what is proved of their floats, every kernel's error beside its ceiling.
import { useEffect } from 'preact/hooks';
import { lab } from '../state/page.ts';
import {
    GROUPS,
    type Proof,
    phase,
    doing,
    why,
    seconds,
    digests,
    proofs,
    bounds,
    errors,
    kinds,
    digestsWrong,
    digestsDone,
    proofsDone,
    proofsWrong,
    boundsDone,
    boundsWrong,
    measured,
    above,
    total,
    done,
    faults,
    run,
    runLong,
    stop,
    words,
} from './self_check.ts';
import '../styles/views/verify.css';

export default function VerifyView() {
    useEffect(() => {
        if (phase.value !== 'done') void run();
        return stop;
    }, []);
    const going = phase.value === 'going';
    const waiting = proofs.value.some(({ long, outcome }) => long && !outcome);
    const verdict = (
        <b class={faults.value ? 'wrong' : 'right'}>
            {faults.value ? `${faults.value} of ${done.value} checks fail` : `All ${done.value} checks hold`}
        </b>
    );
    return (
        <div class="verify" data-phase={phase.value} data-faults={faults.value}>
            <div class="verify-bar">
                <progress max={Math.max(1, total.value)} value={done.value} aria-label="Checks done" />
                <p class="verify-now" role="status">
                    {phase.value === 'done' && (
                        <>
                            {verdict} in this browser (
                            {lab().isa === 'wasm' ? 'WebAssembly SIMD' : 'WebAssembly without SIMD'}), after{' '}
                            {seconds.value.toFixed(1)} s.
                        </>
                    )}
                    {going && (
                        <>
                            {done.value} of {total.value}: {doing.value}
                        </>
                    )}
                    {phase.value === 'stopped' && (
                        <>
                            Stopped after {done.value} of {total.value}. {faults.value > 0 && <>{verdict}.</>}
                        </>
                    )}
                    {phase.value === 'failed' && (
                        <span class="wrong">The self-check cannot go on: {why.value}.</span>
                    )}
                </p>
                <div class="verify-buttons">
                    {going ? (
                        <button type="button" onClick={stop}>
                            Stop
                        </button>
                    ) : (
                        <button type="button" onClick={() => void run()}>
                            Run again
                        </button>
                    )}
                    {waiting && phase.value === 'done' && (
                        <button type="button" onClick={() => void runLong()}>
                            Run the long proofs (a minute)
                        </button>
                    )}
                </div>
            </div>
            <Digests />
            <ProofList />
            <ProvedRows />
            <Errors />
        </div>
    );
}

function Digests() {
    const list = digests.value;
    return (
        <section aria-labelledby="verify-digests">
            <h3 id="verify-digests">
                The same bits <Count good={digestsDone.value - digestsWrong.value} of={list.length} />
            </h3>
            <p class="say">
                Each kernel on fixed inputs, and twelve training steps of each mixer, hashed to 64 bits. The
                second word is the native program’s, the same on scalar, SSE2, AVX2, AVX-512 and NEON, by gcc
                and clang, with any number of threads.
            </p>
            <ul class="digests">
                {list.map(({ name, expected, found }) => (
                    <li key={name} class={found === null ? 'waiting' : found === expected ? '' : 'fault'}>
                        <span class="what">{name}</span>
                        <code>{found ?? '················'}</code>
                        <code class="native">{expected}</code>
                        <Mark good={found === null ? null : found === expected} />
                    </li>
                ))}
            </ul>
        </section>
    );
}
function ProofList() {
    const groups = [...new Set(proofs.value.map(({ group }) => group))];
    return (
        <section aria-labelledby="verify-proofs">
            <h3 id="verify-proofs">
                Theorems and errata{' '}
                <Count good={proofsDone.value - proofsWrong.value} of={proofs.value.length} />
            </h3>
            <p class="say">
                The native tests themselves, compiled to WebAssembly. Each figure is shown with its bound;
                open a row to read them.
            </p>
            <div class="proof-groups">
                {groups.map((group) => (
                    <section key={group} aria-labelledby={`verify-${group}`}>
                        <h4 id={`verify-${group}`}>{GROUPS[group] ?? group}</h4>
                        {proofs.value
                            .filter((proof) => proof.group === group)
                            .map((proof) => (
                                <ProofRow key={proof.name} proof={proof} />
                            ))}
                    </section>
                ))}
            </div>
        </section>
    );
}
function ProofRow({ proof }: { proof: Proof }) {
    const { outcome, name, long, seconds: took } = proof;
    if (!outcome)
        return (
            <p class="proof-row waiting">
                <Mark good={null} /> {words(name)} {long && <span class="of">takes long</span>}
            </p>
        );
    return (
        <details class={`proof-row ${outcome.passed ? '' : 'fault'}`}>
            <summary>
                <Mark good={outcome.passed} /> {words(name)}{' '}
                <span class="of">
                    {outcome.figures.length} figures, {took < 0.095 ? '< 0.1' : took.toFixed(1)} s
                </span>
            </summary>
            {!outcome.passed && <p class="why">{outcome.lines.at(-1)}</p>}
            <ul>
                {outcome.figures.map(({ text, value, most, bound }, i) => (
                    <li key={i}>
                        <span>{text}</span>
                        <span class="number">
                            {value} {most ? '≤' : '≥'} {bound}
                        </span>
                    </li>
                ))}
            </ul>
        </details>
    );
}
function ProvedRows() {
    return (
        <section aria-labelledby="verify-bounds">
            <h3 id="verify-bounds">
                Measured beside proved{' '}
                <Count good={boundsDone.value - boundsWrong.value} of={bounds.value.length} />
            </h3>
            <p class="say">
                How far a float32 row may be from the exact one is a theorem for every length and all inputs
                whose sums stay finite, in norms of rows that are not too flat (Rocq, from IEEE 754 up). Rows
                of 16 to 1,000 numbers in this browser’s kernels: for each kind, the number that comes closest
                to its bound. The program’s <code>compare</code> judges by the same bounds.
            </p>
            <div class="scroll" tabIndex={0} role="region" aria-label="Rows and their proved bounds">
                <table class="ulps bounds">
                    <thead>
                        <tr>
                            <th scope="col">row</th>
                            <th scope="col">theorem</th>
                            <th scope="col">numbers</th>
                            <th scope="col">measured</th>
                            <th scope="col">proved</th>
                            <th scope="col">share</th>
                        </tr>
                    </thead>
                    <tbody>
                        {bounds.value.map(({ what, kernel, theorem, nearest }) => {
                            const share = nearest && nearest.error / nearest.bound;
                            const wrong = nearest && !(nearest.error <= nearest.bound);
                            return (
                                <tr key={kernel} data-kernel={kernel} class={wrong ? 'fault' : ''}>
                                    <th scope="row">
                                        {what} <code>{kernel}</code>
                                    </th>
                                    <td class="scale-name">{theorem.replace(' ', '.v, ')}</td>
                                    <td>{nearest ? nearest.numbers.toLocaleString('en') : '·'}</td>
                                    <td>{nearest ? nearest.error.toExponential(2) : '·'}</td>
                                    <td>{nearest ? `≤ ${nearest.bound.toExponential(2)}` : '·'}</td>
                                    <td>
                                        {share === null ? '·' : share.toFixed(2)}
                                        <meter
                                            min={0}
                                            max={1}
                                            value={share === null ? 0 : Math.min(1, share || 0)}
                                            aria-label={`${what}: share of the proved bound`}
                                        />
                                    </td>
                                </tr>
                            );
                        })}
                    </tbody>
                </table>
            </div>
        </section>
    );
}
function Errors() {
    return (
        <section aria-labelledby="verify-errors">
            <h3 id="verify-errors">
                Errors and their ceilings{' '}
                <Count good={measured.value - above.value} of={errors.value.length * kinds.value.length} />
            </h3>
            <p class="say">
                Largest distance from the double-precision oracle in units of the last place (ULP) of the
                scale named, two draws each; the bar is the share of the ceiling.
            </p>
            <div class="scroll" tabIndex={0} role="region" aria-label="Errors of every kernel">
                <table class="ulps">
                    <thead>
                        <tr>
                            <th scope="col">kernel</th>
                            <th scope="col">ULP of</th>
                            {kinds.value.map((kind) => (
                                <th key={kind} scope="col">
                                    {kind}
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {errors.value.map(({ name, scale, ceilings, errors: found }) => (
                            <tr key={name}>
                                <th scope="row">
                                    <code>{name}</code>
                                </th>
                                <td class="scale-name">{scale}</td>
                                {found.map((error, kind) => (
                                    <td
                                        key={kind}
                                        class={error !== null && !(error <= ceilings[kind]!) ? 'fault' : ''}
                                    >
                                        {error === null ? '·' : Number(error.toPrecision(3))}
                                        <span class="of"> / {ceilings[kind]}</span>
                                        <meter
                                            min={0}
                                            max={1}
                                            value={error === null ? 0 : Math.min(1, error / ceilings[kind]!)}
                                            aria-label={`${name}, ${kinds.value[kind]}: share of the ceiling`}
                                        />
                                    </td>
                                ))}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </section>
    );
}
function Count({ good, of }: { good: number; of: number }) {
    return of ? (
        <span class="of">
            {good} of {of}
        </span>
    ) : null;
}
function Mark({ good }: { good: boolean | null }) {
    return (
        <span class={`sign ${good === null ? '' : good ? 'right' : 'wrong'}`}>
            {good === null ? '·' : good ? '✓' : '✗'}
            <span class="unseen">{good === null ? 'not yet' : good ? 'agrees' : 'differs'}</span>
        </span>
    );
}
