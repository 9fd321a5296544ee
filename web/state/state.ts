// state.ts: everything the page shows, as signals, and the actions that change them. The setup and the view
// are mirrored in the address. Views read the signals and call the actions; only pool.ts talks to workers.
import { batch, computed, effect, signal } from '@preact/signals';
import { SeqmixError, type Lab } from '../../wasm/loader/seqmix.ts';
import {
    entryOf,
    membersOf,
    over,
    ticketsOf,
    UNBORN,
    type Entry,
    type Member,
    type Status,
} from './entry.ts';
import { bitsAt, History, score, scoreAt } from './history.ts';
import { tenth } from '../core/figures.ts';
import { MARKS, type Mark } from '../core/marks.ts';
import { Pool } from '../training/pool.ts';
import { pauseHidden } from '../core/prefs.ts';
import type { Look, Opened, Problem, Report, Seen } from '../training/protocol.ts';
import {
    badges,
    changed,
    mixerTitle,
    runsOf,
    scopeOf,
    taskTitle,
    textOfAll,
    tooMany,
    type Values,
} from './setup.ts';
import { readAddress, VIEW, writeAddress, type Speed, type View } from './url.ts';

export type { Entry, Live, Member, Status } from './entry.ts';

/** The first visit: one block of each, on the task that tells them apart. */
const LESSON = {
    config: 'mixer=cat&task=mqar~mixer=attention',
    sentence:
        'Watch the curves part: a filter of three taps lets one block of CAT look things up; one block of plain ' +
        'attention can only guess among the eight values it has seen.',
};
const ANY = 'Whose curve rises first, and whose not at all? Change one thing about one run and start again.';
export const PACE: Record<Speed, number> = { slow: 4, gentle: 24, full: Infinity };

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
export const finished = computed(() => runs.value.length > 0 && membersOf(runs.value).every(over));
export const begun = computed(() => membersOf(runs.value).some(({ live }) => live.value.step > 0));
/** The runs of each task, in the order in which tasks appear. */
export const groups = computed(() => {
    const found = new Map<string, Entry[]>();
    for (const entry of runs.value) {
        const task = entry.values['task'] ?? '';
        found.set(task, [...(found.get(task) ?? []), entry]);
    }
    return [...found.values()];
});
/** Seconds that training will still take at the pace of now; null: not training, or not yet known. */
export const remaining = computed(() => {
    const left = membersOf(runs.value).flatMap(({ live: { value: live } }) =>
        live.status === 'going' && live.rate > 0 ? [(live.steps - live.step) / live.rate] : [],
    );
    return playing.value && left.length ? Math.max(...left) : null;
});
/** What Undo brings back: the runs as they were before the last reset. */
export const undoable = signal<readonly Entry[] | null>(null);
/** Counts what the visitor has set going; 0 while only the first lesson runs by itself. */
export const engaged = signal(0);

/** What to look for: the lesson that this setup is, if it is one, and what to expect of it. */
export const lesson = computed(() => {
    const text = textOfAll(
        engine,
        runs.value.map(({ values }) => values),
    );
    const known = [
        { ...LESSON, name: '', expect: '' },
        ...engine.config.presets.map(({ name, config, lesson: sentence, expect }) => ({
            name,
            config,
            sentence,
            expect,
        })),
    ];
    const found = known.find(({ config }) => textOfAll(engine, runsOf(engine, config)) === text);
    return found ?? { name: '', config: '', sentence: ANY, expect: '' };
});

let engine: Lab;
let pool: Pool;
let next = 1;
export const lab = (): Lab => engine;

/** Short name of a run: its mechanism, its task where there are several, and what was changed. */
export function nameOf(entry: Entry): string {
    const all = runs.value.map(({ values }) => values);
    const changes = badges(engine, all, entry.values).map((key) => `${key}=${entry.values[key]}`);
    const task = groups.value.length > 1 ? [taskTitle(engine, entry.values)] : [];
    return [mixerTitle(engine, entry.values), ...task, ...changes].join(' · ');
}

// ---- Runs ---------------------------------------------------------------------------------------------------------

const same = (a: Values, b: Values) =>
    Object.keys(a).length === Object.keys(b).length &&
    Object.entries(a).every(([key, value]) => b[key] === value);

/** A run that can be opened: by its config, or from a checkpoint with what it had lived through. */
export interface Saved {
    bytes: Uint8Array;
    losses: Float32Array<ArrayBuffer>;
    points: History['points'];
    seconds: number;
}

function conceive(values: Values, saved?: Saved): Member {
    const member: Member = { ticket: next++, values, history: new History(), live: signal(UNBORN) };
    const { ticket, live } = member;
    if (saved) member.history.add({ from: 0, losses: saved.losses, points: [...saved.points] });
    const opening = saved
        ? pool.load(ticket, saved.bytes, saved.seconds)
        : pool.open(ticket, textOfAll(engine, [values]));
    void opening.then((opened) => admitted(member, opened));
    live.value = { ...UNBORN, step: saved ? saved.losses.length : 0, seconds: saved?.seconds ?? 0 };
    return member;
}
function admitted(member: Member, opened: Opened | { problem: Problem }): void {
    const { live, ticket } = member;
    if ('problem' in opened) {
        live.value = { ...live.value, status: 'failed', problem: opened.problem };
        const entry = runs.value.find(({ members }) => members.includes(member));
        if (entry) said.value = `${nameOf(entry)} cannot be trained: ${opened.problem.message}`;
        return;
    }
    const { params, steps, flops, bytes, warning, step } = opened;
    const status: Status = step >= steps ? 'done' : step > 0 ? 'paused' : 'ready';
    live.value = { ...live.value, status, params, steps, flops, bytes, warning, step };
    if (playing.value) pool.play([ticket]);
    follow();
}

/** The setups of a run's members: the run's own, then the same from the seeds that follow. */
function repeats(values: Values): Values[] {
    const seed = Number(values['seed']);
    return Array.from({ length: view.value.seeds }, (_, i) =>
        i === 0 ? values : { ...values, seed: String(seed + i) },
    );
}
function born(values: Values, mark: Mark, id = next++, saved?: readonly Saved[]): Entry {
    const members = repeats(values).map((own, i) => conceive(own, saved?.[i]));
    return entryOf(id, mark, values, members);
}
/** The run with as many members as the view asks for; those that it has go on. */
function reseeded(entry: Entry): Entry {
    const wanted = repeats(entry.values);
    for (const { ticket } of entry.members.slice(wanted.length)) pool.close(ticket);
    const members = wanted.map((own, i) => entry.members[i] ?? conceive(own));
    return entryOf(entry.id, entry.mark, entry.values, members);
}
function dismissed(entries: readonly Entry[]): void {
    for (const ticket of ticketsOf(entries)) pool.close(ticket);
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
    // Runs on one task differ in their marks. What is left of the old lends its mark to the new run in its place, so that
    // an edited run keeps its colour.
    const used = new Map<string, Set<Mark>>();
    const marksOf = (values: Values) => {
        const task = values['task'] ?? '';
        if (!used.has(task)) used.set(task, new Set());
        return used.get(task)!;
    };
    for (const entry of kept) if (entry) marksOf(entry.values).add(entry.mark);
    const entries = wanted.map((values, i) => {
        const entry = kept[i];
        if (entry) return entry;
        const marks = marksOf(values);
        const place = runs.value[i];
        const inherits = place && old[i] === place && !marks.has(place.mark);
        const mark = inherits ? place.mark : MARKS.find((free) => !marks.has(free))!;
        marks.add(mark);
        return born(values, mark, inherits ? place.id : undefined);
    });
    const gone: Entry[] = [];
    for (const entry of old) if (entry) gone.push(entry);
    dismissed(gone);
    if (gone.length || entries.length !== kept.filter(Boolean).length) forgetUndo();
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
        const refusal = tooMany(wanted);
        if (refusal) throw new SeqmixError(refusal);
        batch(() => {
            become(wanted);
            trouble.value = null;
        });
        return null;
    } catch (error) {
        return problemOf(error);
    }
}

/** Set a key of one run, or of all that have it in common; null: back to the default. */
export function setKey(entry: Entry, key: string, value: string | null): Problem | null {
    const scope = scopeOf(engine, key);
    const along = (other: Entry) =>
        other === entry ||
        scope === 'all' ||
        (scope === 'task' && other.values['task'] === entry.values['task']);
    const problem = attempt(() =>
        runs.value.map((other) => (along(other) ? changed(engine, other.values, key, value) : other.values)),
    );
    if (!problem) remember('push');
    return problem;
}
/** Give one run a task of its own. */
export function setOwnTask(entry: Entry, task: string): Problem | null {
    const problem = attempt(() =>
        runs.value.map((other) =>
            other === entry ? changed(engine, other.values, 'task', task) : other.values,
        ),
    );
    if (problem) trouble.value = { from: 'control', problem };
    else remember('push');
    return problem;
}
export function addRun(): void {
    const last = runs.value[runs.value.length - 1];
    if (!last) return;
    // The next mechanism that is not yet in the race, else the last run again.
    const used = new Set(runs.value.map(({ values }) => values['mixer']));
    const fresh = engine.config.mixers.find(({ name }) => !used.has(name));
    const values = runs.value.map((entry) => entry.values);
    const problem = attempt(() => [
        ...values,
        fresh ? changed(engine, last.values, 'mixer', fresh.name) : { ...last.values },
    ]);
    if (problem) trouble.value = { from: 'control', problem };
    else remember('push');
}
export function removeRun(entry: Entry): void {
    if (runs.value.length <= 1) return;
    dismissed([entry]);
    forgetUndo();
    runs.value = runs.value.filter((other) => other !== entry);
    const run = Math.min(view.value.run, runs.value.length - 1);
    view.value = { ...view.value, run };
    remember('push');
}
const adopting = new Map<number, Report[]>();
/** Add a run from a checkpoint file. */
export async function addSaved(bytes: Uint8Array, name: string): Promise<void> {
    const ticket = next++;
    const early: Report[] = []; // told before the run has its place
    adopting.set(ticket, early);
    const opened = await pool.load(ticket, bytes, 0);
    adopting.delete(ticket);
    const refuse = (message: string) => {
        pool.close(ticket);
        const problem = 'problem' in opened ? opened.problem : { message, key: '', value: '', allowed: '' };
        trouble.value = { from: 'control', problem: { ...problem, message: `${name}: ${message}` } };
        said.value = trouble.value.problem.message;
    };
    if ('problem' in opened) return refuse(opened.problem.message);
    const values = runsOf(engine, opened.config)[0]!;
    const refusal = tooMany([...runs.value.map((entry) => entry.values), values]);
    if (refusal) return refuse(refusal);
    const member: Member = { ticket, values, history: new History(), live: signal(UNBORN) };
    const marks = new Set(
        runs.value.filter((o) => o.values['task'] === values['task']).map(({ mark }) => mark),
    );
    const entry = entryOf(
        next++,
        MARKS.find((free) => !marks.has(free))!,
        values,
        [member],
    );
    batch(() => {
        runs.value = [...runs.value, entry];
        admitted(member, opened);
        early.forEach(take);
        setView({ run: runs.value.length - 1 });
    });
    said.value = `${name} was loaded at step ${opened.step}.`;
}

// ---- Time ---------------------------------------------------------------------------------------------------------

function go(): void {
    if (finished.value) reset();
    forgetUndo();
    playing.value = true;
    pool.play(ticketsOf(runs.value));
    said.value = 'Training.';
}
export function play(): void {
    engaged.value++;
    go();
}
export function pause(): void {
    playing.value = false;
    pool.pause();
    said.value = 'Paused.';
}
export function stepOnce(): void {
    engaged.value++;
    playing.value = false;
    forgetUndo();
    pool.play(ticketsOf(runs.value), 1);
}
/** Every run from its first step again; what was there can be brought back until training starts. */
export function reset(): void {
    playing.value = false;
    pool.pause();
    forgetUndo();
    undoable.value = runs.value;
    runs.value = runs.value.map((entry) => born(entry.values, entry.mark, entry.id));
    said.value = 'Every run is back at its start.';
}
export function undo(): void {
    const before = undoable.value;
    if (!before) return;
    dismissed(runs.value);
    batch(() => {
        undoable.value = null;
        runs.value = before;
    });
    said.value = 'The runs are back where they were.';
}
function forgetUndo(): void {
    const gone = undoable.value;
    undoable.value = null;
    if (gone) dismissed(gone);
}
/** One run from its start, for one that failed. */
export function restart(entry: Entry): void {
    dismissed([entry]);
    runs.value = runs.value.map((other) =>
        other === entry ? born(entry.values, entry.mark, entry.id) : other,
    );
}
/** Put saved runs in the place of all: `saved` has the members of each run of the config. */
export function resume(config: string, seeds: number, saved: readonly (readonly Saved[])[]): Problem | null {
    try {
        const wanted = runsOf(engine, config);
        const old = runs.value;
        batch(() => {
            forgetUndo();
            playing.value = false;
            view.value = { ...view.value, seeds, run: 0 };
            const counts = new Map<string, number>();
            runs.value = wanted.map((values, i) => {
                const task = values['task'] ?? '';
                const at = counts.get(task) ?? 0;
                counts.set(task, at + 1);
                return born(values, MARKS[at]!, undefined, saved[i]);
            });
            dismissed(old);
            engaged.value++;
        });
        remember('push');
        said.value = 'The runs are back where they were.';
        return null;
    } catch (error) {
        return problemOf(error);
    }
}
export function setView(change: Partial<View>): void {
    const { seeds } = view.value;
    batch(() => {
        view.value = { ...view.value, ...change };
        if (view.value.seeds !== seeds) runs.value = runs.value.map(reseeded);
    });
    remember('replace');
}
/** Open another view of the page; Back leads to the one before. */
export function openView(id: string): void {
    if (id === view.value.view) return;
    view.value = { ...view.value, view: id, detail: '' };
    remember('push');
}
/** Something besides the first view looks inside: every tensor is wanted, and perhaps an earlier step. */
export const inspecting = signal<{ at: number | null } | null>(null);
function follow(): void {
    const entry = selected.value;
    const { sample: index, block } = view.value;
    const detail = inspecting.value;
    if (entry)
        pool.watch({ id: entry.ticket, index, block, at: detail?.at ?? null, detail: detail !== null });
}
/** Whether a view shows other lengths, so that they are tried. */
export const measuring = signal(false);

// Questions to the pool that views ask by themselves.
export const seeImage = (
    entry: Entry,
    what: Uint8Array | number,
): Promise<Seen | { problem: Problem } | null> => pool.see(entry.ticket, what);
export const confusionOf = (entry: Entry, count: number) => pool.confusion(entry.ticket, count);
export const checkpointOf = (member: Member): Promise<Uint8Array | null> => pool.save(member.ticket);
const provided = new Map<string, ReadonlyMap<string, Uint8Array>>();
/** Data files for the runs that are opened from now on; `of` tells apart what one part of the page replaces as a whole. */
export function provideFiles(of: 'mnist' | 'text', files: ReadonlyMap<string, Uint8Array>): void {
    provided.set(of, files);
    pool.files(new Map([...provided.values()].flatMap((some) => [...some])));
}
/** Open anew what could not be opened. */
export function retryFailed(): void {
    for (const entry of runs.value)
        if (entry.members.some(({ live }) => live.value.status === 'failed')) restart(entry);
}

// ---- What the workers tell ----------------------------------------------------------------------------------------

const pulse = new Map<number, { time: number; step: number }>();

function take(report: Report): void {
    const entry = runs.value.find(({ members }) => members.some(({ ticket }) => ticket === report.id));
    const member = entry?.members.find(({ ticket }) => ticket === report.id);
    if (!entry || !member) {
        adopting.get(report.id)?.push(report);
        return;
    }
    const before = member.live.value;
    const unsolved = !member.history.solved;
    member.history.add(report);
    const { solved } = member.history;

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
    member.live.value = {
        ...before,
        status,
        rate: status === 'going' ? rate : 0,
        step: report.step,
        seconds: report.seconds,
        digest: report.digest,
        problem: report.problem,
    };
    if (unsolved && solved && member === entry.members[0])
        said.value = `${nameOf(entry)} reached ${percent(score(solved))} at step ${solved.step}.`;
    if (status === 'failed') said.value = `${nameOf(entry)} stopped: ${report.problem?.message}`;
}
export function percent(share: number): string {
    return `${(100 * share).toFixed(1)} %`;
}
/** How good a run was when it was last tried by a step; a text is judged in bits per character. */
export function scoreText(entry: Entry, step: number): string {
    const share = scoreAt(entry, step);
    if (share === undefined) return '–';
    const bits = entry.values['task'] === 'charlm' ? bitsAt(entry, step) : undefined;
    return bits === undefined ? percent(share) : `${percent(share)}, ${bits.toFixed(2)} bits`;
}
/** A loss to four figures after the point, or what is left of it below that. */
export function lossText(loss: number | undefined): string {
    if (loss === undefined) return '–';
    return loss !== 0 && Math.abs(loss) < 0.001 ? tenth(loss) : loss.toFixed(4);
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
            for (const entry of runs.value)
                for (const { ticket, live } of entry.members) {
                    if (!ids.includes(ticket)) continue;
                    const problem = {
                        message: `its worker stopped: ${message}`,
                        key: '',
                        value: '',
                        allowed: '',
                    };
                    live.value = { ...live.value, status: 'failed', rate: 0, problem };
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
    const { seeds } = view.value;
    view.value = { ...view.value, seeds: address.view.seeds };
    const problem = attempt(() => runsOf(engine, text));
    if (problem) view.value = { ...view.value, seeds };
    if (problem) {
        trouble.value = { from: 'address', problem };
        said.value = problem.message;
        return;
    }
    if (seeds !== view.value.seeds) runs.value = runs.value.map(reseeded);
    view.value = { ...address.view, run: Math.min(address.view.run, runs.value.length - 1) };
}
export function openLesson(config: string): void {
    const problem = attempt(() => runsOf(engine, config));
    if (problem) trouble.value = { from: 'control', problem };
    else {
        setView({ view: VIEW.view, run: 0, sample: 0, block: 0, head: 0 });
        remember('push');
        play();
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
    effect(() => pool.tryLengths(measuring.value));
    addEventListener('hashchange', obey);
    let waiting = false; // for the tab to be seen again
    document.addEventListener('visibilitychange', () => {
        if (document.hidden && playing.value && pauseHidden.value) {
            waiting = true;
            pause();
        } else if (!document.hidden && waiting) {
            waiting = false;
            go();
        }
    });
    if (first) {
        remember('replace');
        go();
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
            lengths: [...entry.history.lengths.values()],
            members: entry.members.map(({ values, live, history }) => ({
                seed: values['seed'],
                ...live.value,
                solved: history.solved,
            })),
        })),
    words: (run: number) => runs.value[run]?.history.words() ?? [],
    crash: (run: number) => runs.value[run] && pool.crash(runs.value[run].ticket),
};
