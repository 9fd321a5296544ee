// verify.tsx: the self-check in this browser: every digest beside the committed one, the proofs and errata, every kernel's error
// beside its ceiling. All of it in a worker that ends with the view.
import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import committed from '../../proofs_tests/digests.txt?raw';
import type { Outcome, Ulp } from '../../wasm/loader/verify.ts';
import { openBench, type Bench } from '../training/proofs.ts';
import { lab, said } from '../state/state.ts';
import '../styles/verify.css';

/** What takes longer than a second each; run when asked for. */
const LONG = new Set([
    'cat_thm2 disturbed_constructions',
    'cat_thm2 trained_models',
    'cat_prop12 kernels_and_oracle_choose_the_same',
    'cat_thm3 long_sequences',
    'cat_prop12 box_landmarks',
    'cat_prop12 width_grows_with_the_block',
    'cat_prop12 decaying_landmarks',
]);
const GROUPS: Readonly<Record<string, string>> = {
    las_b1: 'LaS, Theorem B.1: a head of attention is a convolution',
    las_smooth: 'LaS, Eq. 4: pooling is a filter on the values',
    cat_thm1: 'CAT, Theorem 1: N-gram recall at every length',
    cat_cor1: 'CAT, Corollary 1: recall with a filter on the keys',
    cat_thm2: 'CAT, Theorem 2: what solves one length solves every length',
    cat_thm3: 'CAT, Theorem 3: copying in order',
    cat_prop12: 'CAT, Propositions 1 and 2: landmarks',
    focus: 'Focus: stability, and order 1 as a linear RNN',
    chela: 'CHELA: three forms of linear attention, fused kernels, FFT',
    errata: 'The fifteen errata',
};

interface Digest {
    name: string;
    expected: string;
    found: string | null;
}
interface Proof {
    i: number;
    group: string;
    name: string;
    long: boolean;
    outcome: Outcome | null;
    seconds: number;
}
interface Error3 extends Ulp {
    errors: (number | null)[];
}
type Phase = 'idle' | 'going' | 'done' | 'stopped' | 'failed';

const phase = signal<Phase>('idle');
const doing = signal('');
const why = signal('');
const seconds = signal(0);
const digests = signal<readonly Digest[]>([]);
const proofs = signal<readonly Proof[]>([]);
const errors = signal<readonly Error3[]>([]);
const kinds = signal<readonly string[]>([]);
let bench: Bench | null = null;
let turn = 0;

const digestsWrong = computed(
    () => digests.value.filter(({ found, expected }) => found !== null && found !== expected).length,
);
const digestsDone = computed(() => digests.value.filter(({ found }) => found !== null).length);
const proofsDone = computed(() => proofs.value.filter(({ outcome }) => outcome).length);
const proofsWrong = computed(() => proofs.value.filter(({ outcome }) => outcome && !outcome.passed).length);
const measured = computed(() =>
    errors.value.reduce((n, row) => n + row.errors.filter((e) => e !== null).length, 0),
);
const above = computed(() =>
    errors.value.reduce(
        (n, row) => n + row.errors.filter((e, k) => e !== null && !(e <= row.ceilings[k]!)).length,
        0,
    ),
);
const total = computed(
    () =>
        digests.value.length +
        proofs.value.filter(({ long, outcome }) => !long || outcome).length +
        errors.value.length * kinds.value.length,
);
const done = computed(() => digestsDone.value + proofsDone.value + measured.value);
const faults = computed(() => digestsWrong.value + proofsWrong.value + above.value);

function expectedDigests(): Map<string, string> {
    return new Map(
        committed
            .trim()
            .split('\n')
            .map((line) => [line.slice(18), line.slice(0, 16)] as const),
    );
}
const at = <T,>(list: readonly T[], i: number, change: Partial<T>): readonly T[] =>
    list.map((item, j) => (j === i ? { ...item, ...change } : item));

async function runProof(proof: Proof): Promise<void> {
    doing.value = `${GROUPS[proof.group] ?? proof.group}: ${words(proof.name)}`;
    const start = performance.now();
    const outcome = await Promise.race([bench!.proofs.run(proof.i), bench!.stopped]);
    const place = proofs.value.findIndex(({ i }) => i === proof.i);
    proofs.value = at(proofs.value, place, { outcome, seconds: (performance.now() - start) / 1000 });
}

async function run(): Promise<void> {
    const mine = ++turn;
    const mineStill = () => mine === turn;
    bench?.close();
    bench = null;
    phase.value = 'going';
    why.value = '';
    doing.value = 'loading verify.wasm';
    digests.value = [];
    proofs.value = [];
    errors.value = [];
    const start = performance.now();
    try {
        const opened = await openBench();
        if (!mineStill()) return opened.close();
        bench = opened;
        const v = opened.proofs;
        const checks = await opened.checks(lab().module);
        const expected = expectedDigests();
        const names = await checks.names;
        const listed = await v.checks;
        kinds.value = await v.ulpKinds;
        digests.value = names.map((name) => ({
            name,
            expected: expected.get(name) ?? 'not in the list',
            found: null,
        }));
        proofs.value = listed.map(({ group, name }, i) => ({
            i,
            group,
            name,
            long: LONG.has(`${group} ${name}`),
            outcome: null,
            seconds: 0,
        }));
        errors.value = (await v.ulps).map((row) => ({ ...row, errors: kinds.value.map(() => null) }));
        for (const [i, name] of names.entries()) {
            doing.value = name;
            const found = await Promise.race([checks.digest(i), opened.stopped]);
            if (!mineStill()) return;
            digests.value = at(digests.value, i, { found });
            seconds.value = (performance.now() - start) / 1000;
        }
        for (const proof of proofs.value) {
            if (proof.long) continue;
            await runProof(proof);
            if (!mineStill()) return;
            seconds.value = (performance.now() - start) / 1000;
        }
        for (let i = 0; i < errors.value.length; i++) {
            doing.value = `${errors.value[i]!.name}: errors in units of the last place`;
            for (let kind = 0; kind < kinds.value.length; kind++) {
                const error = await Promise.race([v.ulp(i, kind), opened.stopped]);
                if (!mineStill()) return;
                const all = errors.value[i]!.errors.map((old, k) => (k === kind ? error : old));
                errors.value = at(errors.value, i, { errors: all });
            }
            seconds.value = (performance.now() - start) / 1000;
        }
        phase.value = 'done';
        said.value = faults.value ? `${faults.value} checks fail.` : 'Every check holds.';
    } catch (error) {
        if (!mineStill()) return;
        phase.value = 'failed';
        why.value = (error as Error).message;
    }
}
async function runLong(): Promise<void> {
    const mine = turn;
    phase.value = 'going';
    try {
        for (const proof of proofs.value) {
            if (!proof.long || proof.outcome) continue;
            await runProof(proof);
            if (mine !== turn) return;
        }
        phase.value = 'done';
    } catch (error) {
        phase.value = 'failed';
        why.value = (error as Error).message;
    }
}
function stop(): void {
    turn++;
    bench?.close();
    bench = null;
    if (phase.value === 'going') phase.value = 'stopped';
}
const words = (name: string) => name.replaceAll('_', ' ');

export default function VerifyView() {
    useEffect(() => {
        if (phase.value !== 'done') void run();
        return stop;
    }, []);
    const going = phase.value === 'going';
    const waiting = proofs.value.some(({ long, outcome }) => long && !outcome);
    return (
        <div class="verify" data-phase={phase.value} data-faults={faults.value}>
            <div class="verify-bar">
                <progress max={Math.max(1, total.value)} value={done.value} aria-label="Checks done" />
                <p class="verify-now" role="status">
                    {phase.value === 'done' && (
                        <>
                            <b class={faults.value ? 'wrong' : 'right'}>
                                {faults.value
                                    ? `${faults.value} of ${done.value} checks fail`
                                    : `All ${done.value} checks hold`}
                            </b>{' '}
                            in this browser (
                            {lab().isa === 'wasm' ? 'WebAssembly SIMD' : 'WebAssembly without SIMD'}), after{' '}
                            {seconds.value.toFixed(1)} s.
                        </>
                    )}
                    {going && (
                        <>
                            {done.value} of {total.value}: {doing.value}
                        </>
                    )}
                    {phase.value === 'stopped' && `Stopped after ${done.value} of ${total.value}.`}
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
                The native tests themselves, compiled to WebAssembly. Each figure stands beside its bound;
                open one to read them.
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
function Errors() {
    return (
        <section aria-labelledby="verify-errors">
            <h3 id="verify-errors">
                Errors beside their ceilings{' '}
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
