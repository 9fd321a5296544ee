// self_check.ts: the self-check of the Verify view as it goes: every digest, every proof, every error, in a
// worker that ends with the view.
import { computed, signal } from '@preact/signals';
import committed from '../../proofs_tests/digests.txt?raw';
import type { Nearest, Outcome, Proved, Ulp } from '../../wasm/loader/verify.ts';
import { lab, said } from '../state/page.ts';
import { openBench, type Bench } from '../training/proofs.ts';
import { wholeFor } from '../training/whole.ts';

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
export const GROUPS: Readonly<Record<string, string>> = {
    las_b1: 'LaS, Theorem B.1: a head of attention is a convolution',
    las_smooth: 'LaS, Eq. 4: pooling is a filter on the values',
    cat_thm1: 'CAT, Theorem 1: N-gram recall at every length',
    cat_cor1: 'CAT, Corollary 1: recall with a filter on the keys',
    cat_thm2: 'CAT, Theorem 2: what solves one length solves every length',
    cat_thm3: 'CAT, Theorem 3: copying in order',
    cat_prop12: 'CAT, Propositions 1 and 2: landmarks',
    focus: 'Focus: stability, and order 1 as a linear RNN',
    chela: 'CHELA: three forms of linear attention, fused kernels, FFT',
    errata: 'The errata',
};

interface Digest {
    name: string;
    expected: string;
    found: string | null;
}
export interface Proof {
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
interface ProvedRow extends Proved {
    nearest: Nearest | null;
}
type Phase = 'idle' | 'going' | 'done' | 'stopped' | 'failed';

export const phase = signal<Phase>('idle');
export const doing = signal('');
export const why = signal('');
export const seconds = signal(0);
export const digests = signal<readonly Digest[]>([]);
export const proofs = signal<readonly Proof[]>([]);
export const errors = signal<readonly Error3[]>([]);
export const bounds = signal<readonly ProvedRow[]>([]);
export const kinds = signal<readonly string[]>([]);
let bench: Bench | null = null;
let turn = 0;

export const digestsWrong = computed(
    () => digests.value.filter(({ found, expected }) => found !== null && found !== expected).length,
);
export const digestsDone = computed(() => digests.value.filter(({ found }) => found !== null).length);
export const proofsDone = computed(() => proofs.value.filter(({ outcome }) => outcome).length);
export const proofsWrong = computed(
    () => proofs.value.filter(({ outcome }) => outcome && !outcome.passed).length,
);
export const measured = computed(() =>
    errors.value.reduce((n, row) => n + row.errors.filter((e) => e !== null).length, 0),
);
export const above = computed(() =>
    errors.value.reduce(
        (n, row) => n + row.errors.filter((e, k) => e !== null && !(e <= row.ceilings[k]!)).length,
        0,
    ),
);
export const boundsDone = computed(() => bounds.value.filter(({ nearest }) => nearest).length);
export const boundsWrong = computed(
    () => bounds.value.filter(({ nearest }) => nearest && !(nearest.error <= nearest.bound)).length,
);
export const total = computed(
    () =>
        digests.value.length +
        proofs.value.filter(({ long, outcome }) => !long || outcome).length +
        bounds.value.length +
        errors.value.length * kinds.value.length,
);
export const done = computed(() => digestsDone.value + proofsDone.value + boundsDone.value + measured.value);
export const faults = computed(
    () => digestsWrong.value + proofsWrong.value + boundsWrong.value + above.value,
);

function expectedDigests(): Map<string, string> {
    return new Map(
        committed
            .trim()
            .split('\n')
            .map((line) => [line.slice(18), line.slice(0, 16)] as const),
    );
}
const at = <T>(list: readonly T[], i: number, change: Partial<T>): readonly T[] =>
    list.map((item, j) => (j === i ? { ...item, ...change } : item));

async function runProof(proof: Proof): Promise<void> {
    doing.value = `${GROUPS[proof.group] ?? proof.group}: ${words(proof.name)}`;
    const start = performance.now();
    const outcome = await Promise.race([bench!.proofs.run(proof.i), bench!.stopped]);
    const place = proofs.value.findIndex(({ i }) => i === proof.i);
    proofs.value = at(proofs.value, place, { outcome, seconds: (performance.now() - start) / 1000 });
}

export async function run(): Promise<void> {
    const mine = ++turn;
    const mineStill = () => mine === turn;
    bench?.close();
    bench = null;
    phase.value = 'going';
    why.value = '';
    doing.value = 'loading verify.wasm';
    digests.value = [];
    proofs.value = [];
    bounds.value = [];
    errors.value = [];
    const start = performance.now();
    try {
        const opened = await openBench();
        if (!mineStill()) return opened.close();
        bench = opened;
        const v = opened.proofs;
        const checks = await opened.checks(await wholeFor(lab()));
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
        bounds.value = (await v.proved).map((row) => ({ ...row, nearest: null }));
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
        for (const [i, { what }] of bounds.value.entries()) {
            doing.value = `${what}: beside what is proved`;
            const nearest = await Promise.race([v.nearest(i), opened.stopped]);
            if (!mineStill()) return;
            bounds.value = at(bounds.value, i, { nearest });
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
export async function runLong(): Promise<void> {
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
export function stop(): void {
    turn++;
    bench?.close();
    bench = null;
    if (phase.value === 'going') phase.value = 'stopped';
}
export const words = (name: string) => name.replaceAll('_', ' ');
