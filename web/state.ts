// state.ts: everything the page shows, as signals, and the actions that change them. The setup and the view
// are mirrored in the address. Views read the signals and call the actions; only pool.ts talks to workers.
import { batch, computed, effect, signal, type Signal } from '@preact/signals';
import { SeqmixError, type Lab } from '../wasm/seqmix.ts';
import { History, score } from './history.ts';
import { MARKS, type Mark } from './marks.ts';
import { Pool } from './pool.ts';
import type { Look, Problem, Report } from './protocol.ts';
import { badges, changed, isShared, MAX_RUNS, mixerTitle, runsOf, textOfAll, type Values } from './setup.ts';
import { readAddress, VIEW, writeAddress, type Speed, type View } from './url.ts';

/** The first visit: one block of each, on the task that tells them apart. */
const LESSON = {
    config: 'mixer=cat&task=mqar~mixer=attention',
    sentence:
        'Watch the curves part: a filter of three taps lets one block of CAT look things up; one block of plain ' +
        'attention can only guess among the eight values it has seen.',
};
const ANY = 'Whose curve rises first, and whose not at all? Change one thing about one run and start again.';
export const PACE: Record<Speed, number> = { slow: 4, gentle: 24, full: Infinity };

export type Status = 'opening' | 'ready' | 'going' | 'paused' | 'done' | 'failed';
export interface Live {
    status: Status;
    step: number;
    steps: number;
    params: number;
    /** Products of one training step. */
    flops: number;
    /** Own training time, seconds, and the steps of the last second by the clock on the wall. */
    seconds: number;
    rate: number;
    digest: string | null;
    problem: Problem | null;
}
const UNBORN: Live = {
    status: 'opening',
    step: 0,
    steps: 0,
    params: 0,
    flops: 0,
    seconds: 0,
    rate: 0,
    digest: null,
    problem: null,
};

/** One run of the page. `id` names it in the views, `ticket` in the pool (a new one whenever it starts over). */
export interface Entry {
    readonly id: number;
    readonly mark: Mark;
    readonly values: Values;
    readonly ticket: number;
    readonly history: History;
    readonly live: Signal<Live>;
}

export interface Trouble {
    /** Where the request came from. */
    from: 'address' | 'control' | 'worker';
    problem: Problem;
}

// ---- The data -----------------------------------------------------------------------------------------------------

export const runs = signal<readonly Entry[]>([]);
export const view = signal<View>(VIEW);
export const playing = signal(false);
export const trouble = signal<Trouble | null>(null);
export const look = signal<Look | null>(null);
/** Said to screen readers. */
export const said = signal('');

export const selected = computed(() => runs.value[Math.min(view.value.run, runs.value.length - 1)] ?? null);
export const finished = computed(
    () =>
        runs.value.length > 0 &&
        runs.value.every(({ live }) => ['done', 'failed'].includes(live.value.status)),
);
export const begun = computed(() => runs.value.some(({ live }) => live.value.step > 0));

/** What to look for: the lesson that this setup is, if it is one. */
export const lesson = computed(() => {
    const text = textOfAll(
        engine,
        runs.value.map(({ values }) => values),
    );
    const known = [
        LESSON,
        ...engine.config.presets.map(({ config, lesson: sentence }) => ({ config, sentence })),
    ];
    return known.find(({ config }) => textOfAll(engine, runsOf(engine, config)) === text)?.sentence ?? ANY;
});

let engine: Lab;
let pool: Pool;
let next = 1;
export const lab = (): Lab => engine;

/** Short name of a run: its mechanism and what was changed. */
export function nameOf(entry: Entry): string {
    const all = runs.value.map(({ values }) => values);
    const changes = badges(engine, all, entry.values).map((key) => `${key}=${entry.values[key]}`);
    return [mixerTitle(engine, entry.values), ...changes].join(' · ');
}

// ---- Runs ---------------------------------------------------------------------------------------------------------

const same = (a: Values, b: Values) =>
    Object.keys(a).length === Object.keys(b).length &&
    Object.entries(a).every(([key, value]) => b[key] === value);

function born(values: Values, mark: Mark, id = next++): Entry {
    const entry: Entry = { id, mark, values, ticket: next++, history: new History(), live: signal(UNBORN) };
    void pool.open(entry.ticket, textOfAll(engine, [values])).then((opened) => {
        const live = entry.live;
        if ('problem' in opened) {
            live.value = { ...live.value, status: 'failed', problem: opened.problem };
            said.value = `${nameOf(entry)} cannot be trained: ${opened.problem.message}`;
            return;
        }
        const { params, steps, flops } = opened;
        live.value = { ...live.value, status: 'ready', params, steps, flops };
        if (playing.value) pool.play();
        follow();
    });
    return entry;
}

/** Make the page train these runs; those that are there already go on. */
function become(wanted: readonly Values[]): void {
    const old = [...runs.value];
    const kept = wanted.map((values, i) => {
        const at =
            old[i] && same(old[i].values, values)
                ? i
                : old.findIndex((entry) => entry && same(entry.values, values));
        const entry = at < 0 ? undefined : old[at];
        if (entry) delete old[at];
        return entry;
    });
    // What is left of the old lends its mark to the new run in its place, so that an edited run keeps its colour.
    const marks = new Set(kept.flatMap((entry) => (entry ? [entry.mark] : [])));
    const entries = wanted.map((values, i) => {
        const entry = kept[i];
        if (entry) return entry;
        const place = runs.value[i];
        const inherits = place && old[i] === place && !marks.has(place.mark);
        const mark = inherits ? place.mark : MARKS.find((free) => !marks.has(free))!;
        marks.add(mark);
        return born(values, mark, inherits ? place.id : undefined);
    });
    for (const entry of old) if (entry) pool.close(entry.ticket);
    runs.value = entries;
    if (view.value.run >= entries.length)
        view.value = { ...view.value, run: Math.max(0, entries.length - 1) };
}

function problemOf(error: unknown): Problem {
    if (error instanceof SeqmixError) {
        const { message, key, value, allowed } = error;
        return { message, key, value, allowed };
    }
    return { message: (error as Error).message, key: '', value: '', allowed: '' };
}

/** Change the setup; returns what is wrong with it, or null. The setup stays as it is where something is wrong. */
function attempt(make: () => readonly Values[]): Problem | null {
    try {
        const wanted = make();
        if (wanted.length > MAX_RUNS)
            throw new SeqmixError(
                `${wanted.length} runs were asked for; this page trains up to ${MAX_RUNS} at once`,
            );
        batch(() => {
            become(wanted);
            trouble.value = null;
        });
        return null;
    } catch (error) {
        return problemOf(error);
    }
}

/** Set a key of one run, or of all where all share it; null: back to the default. */
export function setKey(entry: Entry, key: string, value: string | null): Problem | null {
    const problem = attempt(() =>
        runs.value.map((other) =>
            other === entry || isShared(engine, key)
                ? changed(engine, other.values, key, value)
                : other.values,
        ),
    );
    if (!problem) remember('push');
    return problem;
}
export function addRun(): void {
    const last = runs.value[runs.value.length - 1];
    if (!last || runs.value.length >= MAX_RUNS) return;
    // The next mechanism that is not yet in the race, else the last run again.
    const used = new Set(runs.value.map(({ values }) => values['mixer']));
    const fresh = engine.config.mixers.find(({ name }) => !used.has(name));
    const values = runs.value.map((entry) => entry.values);
    attempt(() => [
        ...values,
        fresh ? changed(engine, runs.value[0]!.values, 'mixer', fresh.name) : { ...last.values },
    ]);
    remember('push');
}
export function removeRun(entry: Entry): void {
    if (runs.value.length <= 1) return;
    pool.close(entry.ticket);
    runs.value = runs.value.filter((other) => other !== entry);
    const run = Math.min(view.value.run, runs.value.length - 1);
    view.value = { ...view.value, run };
    remember('push');
}

// ---- Time ---------------------------------------------------------------------------------------------------------

export function play(): void {
    if (finished.value) reset();
    playing.value = true;
    pool.play();
    said.value = 'Training.';
}
export function pause(): void {
    playing.value = false;
    pool.pause();
    said.value = 'Paused.';
}
export function stepOnce(): void {
    playing.value = false;
    pool.play(1);
}
/** Every run from its first step again. */
export function reset(): void {
    playing.value = false;
    for (const { ticket } of runs.value) pool.close(ticket);
    runs.value = runs.value.map((entry) => born(entry.values, entry.mark, entry.id));
    said.value = 'Every run is back at its start.';
}
/** One run from its start, for one that failed. */
export function restart(entry: Entry): void {
    pool.close(entry.ticket);
    runs.value = runs.value.map((other) =>
        other === entry ? born(entry.values, entry.mark, entry.id) : other,
    );
}
export function setView(change: Partial<View>): void {
    view.value = { ...view.value, ...change };
    remember('replace');
}
/** Open another view of the page; Back leads to the one before. */
export function openView(id: string): void {
    if (id === view.value.view) return;
    view.value = { ...view.value, view: id };
    remember('push');
}
function follow(): void {
    const entry = selected.value;
    if (entry) pool.watch(entry.ticket, view.value.sample, view.value.block);
}

// ---- What the workers tell ----------------------------------------------------------------------------------------

const pulse = new Map<number, { time: number; step: number }>();

function take(report: Report): void {
    const entry = runs.value.find(({ ticket }) => ticket === report.id);
    if (!entry) return;
    const before = entry.live.value;
    const unsolved = !entry.history.solved;
    entry.history.add(report);
    const { solved } = entry.history;

    const now = performance.now();
    const last = pulse.get(report.id);
    let { rate } = before;
    if (!last || report.step < last.step) pulse.set(report.id, { time: now, step: report.step });
    else if (now - last.time > 500) {
        rate = ((report.step - last.step) * 1000) / (now - last.time);
        pulse.set(report.id, { time: now, step: report.step });
    }
    const status: Status = (
        {
            going: 'going',
            done: 'done',
            failed: 'failed',
            still: report.step > 0 ? 'paused' : 'ready',
        } as const
    )[report.state];
    entry.live.value = {
        ...before,
        status,
        rate: status === 'going' ? rate : 0,
        step: report.step,
        seconds: report.seconds,
        digest: report.digest,
        problem: report.problem,
    };
    if (unsolved && solved)
        said.value = `${nameOf(entry)} reached ${percent(score(solved))} at step ${solved.step}.`;
    if (status === 'failed') said.value = `${nameOf(entry)} stopped: ${report.problem?.message}`;
}
export function percent(share: number): string {
    return `${(100 * share).toFixed(1)} %`;
}
/** A loss to four figures after the point, or what is left of it below that. */
export function lossText(loss: number | undefined): string {
    if (loss === undefined) return '–';
    return loss !== 0 && Math.abs(loss) < 0.001 ? loss.toExponential(1) : loss.toFixed(4);
}

const listener = {
    reports(reports: Report[]) {
        batch(() => {
            reports.forEach(take);
            if (playing.value && finished.value) {
                playing.value = false;
                said.value = 'All runs are done.';
            }
        });
    },
    look(news: Look) {
        if (news.id === selected.value?.ticket) look.value = news;
    },
    lost(ids: number[], message: string) {
        batch(() => {
            for (const entry of runs.value) {
                if (!ids.includes(entry.ticket)) continue;
                const problem = {
                    message: `its worker stopped: ${message}`,
                    key: '',
                    value: '',
                    allowed: '',
                };
                entry.live.value = { ...entry.live.value, status: 'failed', rate: 0, problem };
                said.value = `${nameOf(entry)} stopped: ${problem.message}`;
            }
        });
    },
};

// ---- The address --------------------------------------------------------------------------------------------------

/** The address of what is shown now, with these changes to the view. */
export function addressOf(change: Partial<View> = {}): string {
    const config = textOfAll(
        engine,
        runs.value.map(({ values }) => values),
    );
    return writeAddress({ config, view: { ...view.value, ...change } });
}
/** Write setup and view into the address; 'push' makes the browser's Back undo the change. */
function remember(how: 'push' | 'replace'): void {
    const address = addressOf();
    if (address === location.hash) return;
    if (how === 'push') history.pushState(null, '', address);
    else history.replaceState(null, '', address);
}

/** Do what the address says. A wrong one is reported, and what was there stays. */
function obey(): void {
    const address = readAddress(location.hash);
    const text = address.config || LESSON.config;
    const problem = attempt(() => runsOf(engine, text));
    if (problem) {
        trouble.value = { from: 'address', problem };
        said.value = problem.message;
        return;
    }
    view.value = { ...address.view, run: Math.min(address.view.run, runs.value.length - 1) };
}
export function openLesson(config: string): void {
    const problem = attempt(() => runsOf(engine, config));
    if (problem) trouble.value = { from: 'control', problem };
    else {
        view.value = { ...VIEW, speed: view.value.speed };
        remember('push');
    }
}
export function dismiss(): void {
    trouble.value = null;
    remember('replace');
}

/** Begin: the address's setup, or on a first visit the lesson, which starts by itself. */
export function start(loaded: Lab): void {
    engine = loaded;
    pool = new Pool(loaded.module, listener);
    const first = location.hash.length <= 1;
    if (!first) obey();
    if (runs.value.length === 0) {
        const bad = trouble.value; // of the address; the lesson stands in for it and does not hide it
        attempt(() => runsOf(engine, LESSON.config));
        trouble.value = bad;
    }
    effect(() => pool.pace(PACE[view.value.speed]));
    effect(() => {
        if (look.peek()?.id !== selected.value?.ticket) look.value = null;
        follow();
    });
    addEventListener('hashchange', obey);
    if (first) {
        remember('replace');
        play();
    } else if (!trouble.value) remember('replace');
}

/** For the console and the tests: what the page knows, and the loss words that the native program prints too. */
export const inspect = {
    runs: () =>
        runs.value.map((entry) => ({
            name: nameOf(entry),
            config: textOfAll(engine, [entry.values]),
            ...entry.live.value,
            accuracy: entry.history.points.length
                ? score(entry.history.points[entry.history.points.length - 1]!)
                : 0,
            solved: entry.history.solved,
        })),
    words: (run: number) => runs.value[run]?.history.words() ?? [],
    crash: (run: number) => runs.value[run] && pool.crash(runs.value[run].ticket),
};
