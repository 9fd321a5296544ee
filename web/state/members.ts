// members.ts: making runs: each with one member for each seed, opened in a worker.
import { signal } from '@preact/signals';
import type { Values } from '../core/config.ts';
import type { Mark } from '../core/marks.ts';
import type { Opened, Problem } from '../training/protocol.ts';
import { entryOf, OPENING, type Entry, type Member, type RunFile, type Saved, type Status } from './entry.ts';
import { History } from './history.ts';
import { lab, playing, pool, runs, said, view } from './page.ts';
import { beyondPart, MNIST_FILES, MNIST_PART, mnistKey, textOfAll } from './setup.ts';
import { follow } from './watching.ts';
import { nameOf } from './wording.ts';

let last = 0;
/** A number that nothing else on the page has. */
export const newId = (): number => ++last;

/** Of MNIST, only the part that the page fetches is here. */
export const partOnly = signal(false);
/** A run that the engine would train on fewer images than its config says. */
function refused(values: Values): { problem: Problem } | null {
    if (!partOnly.peek() || !beyondPart(values)) return null;
    const [key, value] = ['images', values['images'] ?? ''];
    const allowed = `1 to ${MNIST_PART.train}`;
    const asked = value === '0' ? 'asks for all training images of MNIST' : 'asks for more';
    const message = `images=${value} ${asked}; here are the first ${MNIST_PART.train}: choose images=${MNIST_PART.train}, or add the four files in the view Digits`;
    return { problem: { message, key, value, allowed } };
}

function createMember(values: Values, saved?: Saved, queued = false): Member {
    const member: Member = { ticket: newId(), values, history: new History(), live: signal(OPENING) };
    const { ticket, live } = member;
    if (saved) member.history.add({ from: 0, losses: saved.losses, points: [...saved.points] });
    const refusal = refused(values);
    const opening = refusal
        ? Promise.resolve(refusal)
        : saved
          ? pool().load(ticket, saved.bytes, saved.seconds, queued)
          : pool().open(ticket, textOfAll(lab(), [values]), queued);
    void opening
        .catch((error: Error) => ({
            problem: { message: `it could not be opened: ${error.message}`, key: '', value: '', allowed: '' },
        }))
        .then((opened) => admit(member, opened));
    live.value = { ...OPENING, step: saved ? saved.losses.length : 0, seconds: saved?.seconds ?? 0 };
    return member;
}
function admit(member: Member, told: Opened | { problem: Problem }): void {
    const { live, ticket } = member;
    // (What an earlier visit kept may have come while the run was being opened.)
    const opened = refused(member.values) ?? told;
    if (opened !== told && !('problem' in told)) pool().close(ticket);
    if ('problem' in opened) {
        const problem = explained(member.values, opened.problem);
        live.value = { ...live.value, status: 'failed', problem };
        const entry = runs.value.find(({ members }) => members.includes(member));
        if (entry) said.value = `${nameOf(entry)} cannot be trained: ${problem.message}`;
        return;
    }
    const { params, steps, flops, bytes, warning, step } = opened;
    const status: Status = step >= steps ? 'done' : step > 0 ? 'paused' : 'ready';
    live.value = { ...live.value, status, params, steps, flops, bytes, warning, step };
    if (playing.value && runs.value.some(({ members }) => members.includes(member))) pool().play([ticket]);
    follow();
}

/** The engine names the file that is missing; here MNIST is handed over, and a key may ask for it that is not
 * `data`. */
function explained(values: Values, problem: Problem): Problem {
    const key = mnistKey(values);
    if (!key || problem.key !== 'data' || !(MNIST_FILES as readonly string[]).includes(problem.value))
        return problem;
    const instead = key === 'data' ? 'data=digits' : 'test=same';
    const message = `${key}=${values[key]} reads MNIST, whose files are not here: fetch a part of them or add them in the view Digits, or choose ${instead}`;
    return { ...problem, key, value: values[key] ?? '', message };
}

/** Whether such a run could be opened now; null: yes. */
export async function refusalOf(values: Values): Promise<Problem | null> {
    const refusal = refused(values);
    if (refusal) return refusal.problem;
    const ticket = newId();
    const opened = await pool().open(ticket, textOfAll(lab(), [values]));
    pool().close(ticket);
    return 'problem' in opened ? explained(values, opened.problem) : null;
}

/** The setups of a run's members: the run's own, then the same from the seeds that follow. */
function repeats(values: Values): Values[] {
    const seed = Number(values['seed']);
    return Array.from({ length: view.value.seeds }, (_, i) =>
        i === 0 ? values : { ...values, seed: String(seed + i) },
    );
}

interface Origin {
    /** The place in the page that it takes. */
    id?: number;
    /** Where its members go on from. */
    saved?: readonly Saved[];
    file?: RunFile | null;
    /** A queue trains it. */
    queued?: boolean;
}
export function createEntry(
    values: Values,
    mark: Mark,
    { id = newId(), saved, file = null, queued = false }: Origin = {},
): Entry {
    const from = saved ?? (file ? [file.saved] : []);
    const members = repeats(values).map((own, i) => createMember(own, from[i], queued));
    return entryOf(id, mark, values, members, file);
}
/** The same run from its start: its first step, or the file that it was loaded from. */
export const afresh = ({ values, mark, id, file }: Entry): Entry => createEntry(values, mark, { id, file });
/** The run with as many members as the view asks for; those that it has go on. */
export function withSeeds(entry: Entry): Entry {
    if (entry.members.length === view.value.seeds) return entry;
    const members = repeats(entry.values).map((own, i) => entry.members[i] ?? createMember(own));
    return entryOf(entry.id, entry.mark, entry.values, members, entry.file);
}
