// story.ts: what the view Story is about: five small models of its own, apart from the laboratory's, the
// line that they are asked, the switch between the first two, and the filter that the reader has in hand.
import { computed, effect, signal } from '@preact/signals';
import { MARKS } from '../../core/marks.ts';
import { hidden, still } from '../../core/prefs.ts';
import { isProblem, type Edits, type Look } from '../../training/protocol.ts';
import type { Entry } from '../entry.ts';
import { createEntry } from '../members.ts';
import { guests, lab, pool } from '../page.ts';
import { runsOf } from '../setup.ts';

/** 25 keys, written as letters, and 26 values; one batch and rate for all, so that only the filter differs;
 * from this seed the tap that matters comes out above zero. */
const LINES = 'task=mqar&vocab=52&steps=120&batch=32&rate=0.01';
const TASK = `${LINES}&seed=9`;
export const FIRST_VALUE = 26;
export const PAIRS = 8;
export const TRAINED_LENGTH = 64;
const SHORTEST = 4 * PAIRS; // the least length of the task; the line is filled up to it with zeros
const PACE = 40; // steps a second: three seconds in all
const HELD_OUT = 64; // sequences that a change of the filter is judged on
const FILTER = 'block0.mixer.filter_k';

const CONFIGS = {
    attention: `mixer=attention&${TASK}`,
    keys: `mixer=cat&filters=k&${TASK}`,
    values: `mixer=cat&filters=v&${TASK}`,
    placed: `mixer=attention&position=learned&${TASK}`,
    focus: `mixer=focus&hyper=joint&theta=triangle&${LINES}&seed=2`,
};
export type Kind = keyof typeof CONFIGS;
export const KINDS = ['attention', 'keys', 'values', 'placed', 'focus'] as const;
/** What each is called beside the others. */
export const NAMES: Record<Kind, string> = {
    attention: 'attention',
    keys: 'with the filter',
    values: 'filter on contents',
    placed: 'with positions',
    focus: 'Focus',
};
/** Colours as in the first lesson: CAT's blue, attention's vermillion. */
const MARK = {
    attention: MARKS[1]!,
    keys: MARKS[0]!,
    values: MARKS[2]!,
    placed: MARKS[3]!,
    focus: MARKS[4]!,
};

const made = signal<Partial<Record<Kind, Entry>>>({});
export const modelOf = (kind: Kind): Entry | null => made.value[kind] ?? null;
const known = (kind: Kind) => {
    const points = modelOf(kind)?.history.points;
    return points?.[points.length - 1]?.accuracy;
};
/** Share of held-out answers that are right now; undefined: not yet tried. */
export function accuracyOf(kind: Kind): number | undefined {
    void modelOf(kind)?.live.value; // its reports bring the tries
    return known(kind);
}
export const isTrained = (kind: Kind): boolean => modelOf(kind)?.live.value.status === 'done';

// ---- The switch -------------------------------------------------------------------------------------------

/** Whether the model with the filter is shown, or attention alone. */
export const switchedOn = signal(false);
/** The reader has used the switch: from then on it is his alone. */
export const touched = signal(false);
/** What the reader predicts of a filter on the contents, in step 5. */
export const guessed = signal<'yes' | 'no' | null>(null);
/** What was seen of the filter's model while it learnt, each with the held-out share of that moment. */
const course: Told[] = [];
/** Of these, what is shown again now. */
export const replayed = signal<Told | null>(null);
let frame = 0;

/** On, the filter settles once more, as it was seen to, from where it beats a guess. */
export function turn(on: boolean): void {
    switchedOn.value = on;
    cancelAnimationFrame(frame);
    replayed.value = null;
    if (!on || still() || !isTrained('keys')) return;
    const frames = course.slice(course.findIndex(({ share }) => (share ?? 0) >= 1 / PAIRS));
    const stay = Math.max(1000 / 24, 1000 / frames.length); // ms a frame; a few frames take a second in all
    let began = 0;
    const draw = (now: number) => {
        began ||= now;
        replayed.value = frames[Math.floor((now - began) / stay)] ?? null;
        if (replayed.value) frame = requestAnimationFrame(draw);
    };
    frame = requestAnimationFrame(draw);
}
/** Both learn, and when they have, the switch goes on by itself, once, if nobody was faster. */
export function begin(): void {
    if (modelOf('keys')) return;
    learn('attention');
    learn('keys');
    const stop = effect(() => {
        const ready = isTrained('attention') && isTrained('keys') && told.value.keys;
        if (!ready && !touched.value) return;
        if (!touched.value) queueMicrotask(() => turn(true));
        queueMicrotask(() => stop());
    });
}

// ---- The line ---------------------------------------------------------------------------------------------

/** Which held-out line is shown; at first one whose questions are answered wrong, and none right by chance,
 * when the filter's second number is taken to 0. */
export const page = signal(1);

/** A line as the task makes it: 8 pairs, then the 8 keys again, with empty tokens (0) between those. */
const whole = computed((): readonly number[] => {
    const run = lab().open(`${CONFIGS.attention}&batch=1`);
    const tokens = [...run.look(page.value).tokens!];
    run.close();
    return tokens;
});
/** The same without what is empty. */
export const line = computed((): readonly number[] => whole.value.filter((token) => token > 0));
/** The value that stands after the key that place `i` asks for. */
export const wanted = (tokens: readonly number[], i: number): number =>
    tokens[tokens.indexOf(tokens[i]!) + 1]!;
/** Pair of a token's place, counted from 0: a question has its key's. */
export const pairOf = (tokens: readonly number[], i: number): number =>
    Math.floor((i < 2 * PAIRS ? i : tokens.indexOf(tokens[i]!)) / 2);
export const isKey = (token: number): boolean => token < FIRST_VALUE;
export const QUESTIONS = Array.from({ length: PAIRS }, (_, i) => 2 * PAIRS + i);
/** The question whose answer is followed. */
export const question = signal(2 * PAIRS);
/** On a phone's width the line has no room for all its questions. */
const phone = matchMedia('(max-width: 559px)');
export const narrow = signal(phone.matches);
phone.addEventListener('change', () => (narrow.value = phone.matches));

/** The pairs' tokens in another order, always the same; the questions stay. */
export const torn = (tokens: readonly number[]): number[] => [
    ...Array.from({ length: 2 * PAIRS }, (_, i) => tokens[(5 * i + 3) % (2 * PAIRS)]!),
    ...tokens.slice(2 * PAIRS),
];
/** How many of the line's questions a model answers right. */
export const rightOf = (tokens: readonly number[], look: Look | null | undefined): number =>
    look ? QUESTIONS.filter((i) => look.sample.predicted?.[i] === wanted(tokens, i)).length : 0;
const filled = (tokens: readonly number[]): number[] =>
    Array.from({ length: SHORTEST }, (_, i) => tokens[i] ?? 0);

// ---- The filter in hand -----------------------------------------------------------------------------------

/** The taps as they are; null: as they were learnt. */
export const hand = signal<readonly number[] | null>(null);
export const learnt = signal<readonly number[] | null>(null);

// ---- Asking -----------------------------------------------------------------------------------------------

export interface Told {
    /** The line that was asked, and how the model saw it, with its attention map. */
    line: readonly number[];
    look: Look;
    /** The taps that were in hand, of which `look` and `share` tell; null: as they were learnt. */
    hand: readonly number[] | null;
    /** Held-out share of right answers with these; of learnt ones, when it was last tried. */
    share: number | undefined;
}
export const told = signal<Partial<Record<Kind, Told>>>({});

export const ask = (kind: Kind, tokens: readonly number[], edits: Edits = []): Promise<Look | null> =>
    askWhole(kind, filled(tokens), edits);
function askWhole(kind: Kind, tokens: readonly number[], edits: Edits): Promise<Look | null> {
    const entry = modelOf(kind);
    if (!entry) return Promise.resolve(null);
    const watch = {
        id: entry.ticket,
        index: 0,
        tokens,
        edits,
        block: 0,
        at: null,
        detail: true,
    };
    return pool()
        .ask(watch)
        .then((look) => (look && !isProblem(look) ? look : null));
}
export async function tryAt(kind: Kind, count: number, changes: string, edits: Edits = []) {
    const entry = modelOf(kind);
    const found = entry && (await pool().try(entry.ticket, count, changes, edits));
    return found && !isProblem(found) ? found : null;
}

// ---- Focus ------------------------------------------------------------------------------------------------

const THETA = 'block0.mixer.theta';
const CHOOSER = ['block0.mixer.hyper_w2', 'block0.mixer.hyper_b2'] as const; // the last layer of its network

/** The line through Focus, its gaps left as they are: it was trained with them, and filters them too. */
export interface Choice {
    line: readonly number[];
    /** As for the line without gaps. */
    look: Look;
    /** The two coefficients of each token's filter, [token][channel][2]. */
    theta: readonly Float32Array[];
    /** Weights with which its network gives every token one filter: the mean of those that it chose here. */
    still: Edits;
}
export async function choice(edits: Edits = []): Promise<Choice | null> {
    const tokens = whole.value;
    const asked = line.value;
    const seen = await askWhole('focus', tokens, edits);
    const found = seen?.tensors.find(({ name }) => name === THETA);
    const last = seen?.tensors.find(({ name }) => name === CHOOSER[0]);
    if (!seen || !found || !last) return null;
    const places = tokens.flatMap((token, i) => (token > 0 ? [i] : []));
    const size = found.data.length / tokens.length;
    const theta = places.map((i) => found.data.subarray(i * size, (i + 1) * size));
    const mean = Array.from({ length: size }, (_, n) =>
        theta.reduce((sum, one, i) => sum + (i ? one[n]! / (theta.length - 1) : 0), 0),
    );
    // theta=triangle: b = tanh(u), a = (1 + b) tanh(v), in the order a, b.
    const bias = mean.map((value, n) => Math.atanh(n % 2 ? value : value / (1 + mean[n + 1]!)));
    const predicted = Int32Array.from(places, (i) => seen.sample.predicted![i]!);
    return {
        line: asked,
        look: { ...seen, sample: { ...seen.sample, predicted } },
        theta,
        still: [
            { name: CHOOSER[0], at: 0, data: Array.from(last.data, () => 0) },
            { name: CHOOSER[1], at: 0, data: bias },
        ],
    };
}
/** Share of held-out answers with these weights. */
export const sharedBy = async (edits: Edits): Promise<number | undefined> =>
    (await tryAt('focus', HELD_OUT, '', edits))?.accuracy;

/** Calls `body` again when it was called meanwhile: the last question wins. */
function latest(body: () => Promise<void>): () => void {
    let busy = false;
    let again = false;
    return () => {
        again = true;
        if (busy) return;
        busy = true;
        void (async () => {
            while (again) {
                again = false;
                await body().catch(() => {}); // its worker went: the run says so
            }
            busy = false;
        })();
    };
}
/** The filter that it had when it was looked at. */
export const tapsOf = (look: Look): number[] => [
    ...(look.tensors.find(({ name }) => name === FILTER)?.data ?? []),
];
async function follow(kind: Kind): Promise<void> {
    const held = kind === 'keys' ? hand.value : null;
    const edits: Edits = held ? [{ name: FILTER, at: 0, data: held }] : [];
    const asked = line.value;
    const look = await ask(kind, asked, edits);
    if (!look) return;
    const share = held ? (await tryAt(kind, HELD_OUT, '', edits))?.accuracy : known(kind);
    const now = { line: asked, look, hand: held, share };
    told.value = { ...told.value, [kind]: now };
    if (kind !== 'keys' || held) return;
    learnt.value = tapsOf(look);
    if (course[0]?.line !== asked) course.length = 0;
    if (course.at(-1)?.look.step !== look.step) course.push(now);
}

/** Let a model learn, from its first call on. */
export function learn(kind: Kind): void {
    if (made.peek()[kind]) return;
    const entry = createEntry(runsOf(lab(), CONFIGS[kind])[0]!, MARK[kind]);
    guests.value = [...guests.peek(), entry];
    made.value = { ...made.peek(), [kind]: entry };
    const status = computed(() => entry.live.value.status);
    const step = computed(() => entry.live.value.step);
    // Nobody asked for it: in a hidden tab it rests.
    effect(() => {
        if (hidden.value) pool().pause([entry.ticket]);
        else if (status.value === 'ready' || status.value === 'paused')
            pool().play([entry.ticket], undefined, PACE);
    });
    const again = latest(() => follow(kind));
    effect(() => {
        if (status.value === 'opening' || status.value === 'failed') return;
        void [step.value, line.value, kind === 'keys' && hand.value];
        again();
    });
}
