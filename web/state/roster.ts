// roster.ts: which runs the page has: changed by a key, added, removed, loaded, taken up from an earlier
// visit.
import { batch } from '@preact/signals';
import { SeqmixError } from '../../wasm/loader/seqmix.ts';
import { sameValues, type Values } from '../core/config.ts';
import { MARKS, OWNERS, type Mark } from '../core/marks.ts';
import type { Problem } from '../training/protocol.ts';
import { remember } from './address.ts';
import type { Entry, Saved } from './entry.ts';
import { afresh, createEntry, newId, withSeeds } from './members.ts';
import { engaged, lab, playing, pool, runs, said, trouble, view } from './page.ts';
import { changed, changedAll, runsOf, scopeOf, tooMany, unlike, unsaid } from './setup.ts';
import { replaceRuns, restingWith } from './undo.ts';

/** The mark of a mechanism on every panel, view and lesson, as long as no other run on its task has it. */
function ownMark({ mixer = '' }: Values): Mark {
    const known = OWNERS.indexOf(mixer);
    const at = known < 0 ? lab().config.mixers.findIndex(({ name }) => name === mixer) : known;
    return MARKS[Math.max(0, at) % MARKS.length]!;
}
/** A mark for a run that none of `used` has: its mechanism's own, the one that its mechanism has elsewhere,
 * or any; those that mechanisms to come would have for their own (`spared`) last. */
function freeMark(
    values: Values,
    used: ReadonlySet<Mark>,
    others: readonly Entry[],
    spared: ReadonlySet<Mark> = new Set(),
): Mark {
    const own = ownMark(values);
    if (!used.has(own)) return own;
    const alike = others.find((entry) => entry.values['mixer'] === values['mixer'] && !used.has(entry.mark));
    const free = MARKS.filter((mark) => !used.has(mark));
    return alike?.mark ?? free.find((mark) => !spared.has(mark)) ?? free[0]!;
}

/** The entries for these setups. Runs that are there already go on, unless all are to be `fresh`; `back`: so
 * does what was removed last. */
function entriesFor(wanted: readonly Values[], fresh: boolean, back: boolean): Entry[] {
    const old: (Entry | undefined)[] = fresh ? [] : [...runs.value];
    const kept = wanted.map((values, i) => {
        const here = old[i] && sameValues(old[i].values, values);
        const at = here ? i : old.findIndex((entry) => entry && sameValues(entry.values, values));
        const entry = at < 0 ? undefined : old[at];
        if (entry) old[at] = undefined;
        return entry;
    });
    for (const [i, values] of back ? wanted.entries() : []) {
        const rests = kept[i] ? undefined : restingWith(values);
        const meets = (entry: Entry | undefined) =>
            entry === rests || (entry?.mark === rests?.mark && entry?.values['task'] === values['task']);
        if (rests && !kept.some(meets)) kept[i] = rests;
    }
    // Runs on one task differ in their marks. What is left of the old lends its mark to the new run in its
    // place, so that an edited run keeps its colour.
    const used = new Map<string, Set<Mark>>();
    const marksOf = ({ task = '' }: Values) => {
        if (!used.has(task)) used.set(task, new Set());
        return used.get(task)!;
    };
    for (const entry of kept) if (entry) marksOf(entry.values).add(entry.mark);
    const made: Entry[] = [];
    for (const [i, values] of wanted.entries()) {
        const marks = marksOf(values);
        const place = old[i];
        const same = place?.values['mixer'] === values['mixer'];
        const inherits = place && !marks.has(place.mark) && (same || marks.has(ownMark(values)));
        const others = [...kept.filter((entry) => entry !== undefined), ...made];
        const spared = new Set(wanted.slice(i + 1).map(ownMark));
        const mark = kept[i]?.mark ?? (inherits ? place.mark : freeMark(values, marks, others, spared));
        marks.add(mark);
        const going = kept[i] && withSeeds(kept[i]);
        made.push(going ?? createEntry(values, mark, place ? { id: place.id } : {}));
    }
    return made;
}

function problemOf(error: unknown): Problem {
    if (error instanceof SeqmixError) {
        const { message, key, value, allowed } = error;
        return { message, key, value, allowed };
    }
    return { message: (error as Error).message, key: '', value: '', allowed: '' };
}

/** Make the page train these runs; returns what is wrong with them, or null. Where something is wrong nothing
 * changes. `seeds`: those that the runs had until now. */
export function attempt(
    make: () => readonly Values[],
    what: string,
    { fresh = false, back = false, seeds = view.value.seeds } = {},
): Problem | null {
    try {
        const wanted = make();
        const refusal = tooMany(wanted) ?? unsaid(lab(), wanted);
        if (refusal) throw new SeqmixError(refusal);
        batch(() => {
            const next = entriesFor(wanted, fresh, back);
            if (next.length !== runs.value.length || next.some((entry, i) => entry !== runs.value[i]))
                replaceRuns(next, what, seeds);
            trouble.value = null;
        });
        return null;
    } catch (error) {
        return problemOf(error);
    }
}
/** The same for what was asked for by a control: into the address, or said above the page. */
function attemptFromControl(make: () => readonly Values[], what: string): Problem | null {
    const problem = attempt(make, what);
    if (problem) trouble.value = { from: 'control', problem };
    else remember('push');
    return problem;
}

/** Set keys of one run, or of all that have them in common; null: back to the default. */
export function setKeys(entry: Entry, changes: Readonly<Record<string, string | null>>): Problem | null {
    const along = (other: Entry, key: string) => {
        const scope = scopeOf(lab(), key);
        const shared = scope === 'all' || (scope === 'task' && other.values['task'] === entry.values['task']);
        return other === entry || shared;
    };
    const make = () =>
        runs.value.map((other) => {
            const own = Object.entries(changes).filter(([key]) => along(other, key));
            return own.length ? changedAll(lab(), other.values, Object.fromEntries(own)) : other.values;
        });
    const problem = attempt(make, 'the change');
    if (!problem) remember('push');
    return problem;
}
export const setKey = (entry: Entry, key: string, value: string | null): Problem | null =>
    setKeys(entry, { [key]: value });
/** Give the runs on a task the same training settings: those that the first of them has. */
export function trainAlike(entries: readonly Entry[]): void {
    const first = entries[0]!.values;
    const alike = (values: Values) =>
        unlike(
            lab(),
            entries.map((entry) => entry.values),
        ).reduce((next, key) => changed(lab(), next, key, first[key]!), values);
    attemptFromControl(
        () => runs.value.map((entry) => (entries.includes(entry) ? alike(entry.values) : entry.values)),
        'the equal settings',
    );
}
/** Give one run a task of its own. */
export function setOwnTask(entry: Entry, task: string): Problem | null {
    const own = (other: Entry) =>
        other === entry ? changed(lab(), other.values, 'task', task) : other.values;
    return attemptFromControl(() => runs.value.map(own), 'the change');
}
export function addRun(): void {
    const last = runs.value[runs.value.length - 1];
    if (!last) return;
    // The next mechanism that is not yet in the race, else the last run again.
    const used = new Set(runs.value.map(({ values }) => values['mixer']));
    const fresh = lab().config.mixers.find(({ name }) => !used.has(name));
    const values = runs.value.map((entry) => entry.values);
    attemptFromControl(
        () => [...values, fresh ? changed(lab(), last.values, 'mixer', fresh.name) : { ...last.values }],
        'the new run',
    );
}
/** Add what a config says as one more run; what is wrong with it, or null. */
export function addValues(config: string, what: string): Problem | null {
    const problem = attempt(
        () => [...runs.value.map(({ values }) => values), ...runsOf(lab(), config)],
        what,
    );
    if (!problem) remember('push');
    return problem;
}
export function removeRun(entry: Entry): void {
    if (runs.value.length <= 1) return;
    replaceRuns(
        runs.value.filter((other) => other !== entry),
        'the removal',
    );
    remember('push');
}
/** Runs from their start, for those that failed. */
export function restart(these: readonly Entry[]): void {
    if (these.length)
        replaceRuns(
            runs.value.map((entry) => (these.includes(entry) ? afresh(entry) : entry)),
            null,
        );
}
/** Add a run from a checkpoint file; returns why it cannot be, or null. */
export async function addSaved(bytes: Uint8Array, name: string): Promise<string | null> {
    const ticket = newId();
    const opened = await pool().load(ticket, bytes, 0); // what is in it, and whether it can be trained
    pool().close(ticket);
    if ('problem' in opened) return opened.problem.message;
    const values = runsOf(lab(), opened.config)[0]!;
    const wanted = [...runs.value.map((entry) => entry.values), values];
    const refusal = tooMany(wanted) ?? unsaid(lab(), wanted);
    if (refusal) return refusal;
    const rivals = runs.value.filter((other) => other.values['task'] === values['task']);
    const mark = freeMark(values, new Set(rivals.map((other) => other.mark)), []);
    const file = { name, saved: { bytes, losses: new Float32Array(0), points: [], seconds: 0 } };
    batch(() => {
        replaceRuns([...runs.value, createEntry(values, mark, { file })], 'the loading');
        view.value = { ...view.value, run: runs.value.length - 1 };
    });
    remember('push');
    said.value = `${name} was loaded at step ${opened.step}.`;
    return null;
}
/** Put saved runs in the place of all: `saved` has the members of each run of the config. */
export function resume(config: string, seeds: number, saved: readonly (readonly Saved[])[]): Problem | null {
    try {
        const wanted = runsOf(lab(), config);
        batch(() => {
            playing.value = false;
            const before = view.value.seeds;
            view.value = { ...view.value, seeds, run: 0 };
            const made: Entry[] = [];
            for (const [i, values] of wanted.entries()) {
                const rivals = made.filter((other) => other.values['task'] === values['task']);
                const marks = new Set(rivals.map((other) => other.mark));
                const mark = freeMark(values, marks, made, new Set(wanted.slice(i + 1).map(ownMark)));
                made.push(createEntry(values, mark, { ...(saved[i] && { saved: saved[i] }) }));
            }
            replaceRuns(made, 'opening these runs', before);
            engaged.value++;
        });
        remember('push');
        said.value = 'The runs are back where they were.';
        return null;
    } catch (error) {
        return problemOf(error);
    }
}
