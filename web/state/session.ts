// session.ts: what was trained survives a reload: checkpoints and curves in the browser's IndexedDB, offered
// when the page is opened again. Nothing is taken up without being asked for.
import { effect, signal } from '@preact/signals';
import { del, get, set } from 'idb-keyval';
import { membersOf, type Saved } from './entry.ts';
import { begun, engaged, lab, playing, runs, trouble, view } from './page.ts';
import { resume } from './roster.ts';
import { textOfAll } from './setup.ts';
import { savedOf } from './watching.ts';

const KEY = 'seqmix.session';
const EVERY = 10_000; // milliseconds between two savings
const MOST = 64 << 20; // bytes of checkpoints that are kept

interface Stored {
    /** 1: tries do not say yet whether they were of numbers or of a text. */
    version: 1 | 2;
    when: number;
    config: string;
    seeds: number;
    runs: Saved[][];
}

/** What the last visit left: when, and how far it had come. */
export const offer = signal<{ when: number; steps: number; runs: number } | null>(null);
let stored: Stored | null = null;
let saved = '';
let saving = false;

const progress = () =>
    membersOf(runs.value)
        .map(({ ticket, live }) => `${ticket}:${live.peek().step}`)
        .join();

async function save(): Promise<void> {
    const now = progress();
    if (saving || offer.value || engaged.value === 0 || !begun.value || now === saved) return;
    saving = true;
    try {
        const entries = runs.value;
        let total = 0;
        const all: Stored['runs'] = [];
        for (const { members } of entries) {
            const own: Stored['runs'][number] = [];
            for (const member of members) {
                const kept = await savedOf(member);
                if (!kept) return;
                total += kept.bytes.length;
                if (total > MOST) return;
                own.push(kept);
            }
            all.push(own);
        }
        const config = textOfAll(
            lab(),
            entries.map(({ values }) => values),
        );
        const kept: Stored = { version: 2, when: Date.now(), config, seeds: view.value.seeds, runs: all };
        await set(KEY, kept);
        saved = now;
    } catch {
        // storage is switched off or full: the visit is not remembered
    } finally {
        saving = false;
    }
}

/**
 * Whether what lies in the browser's storage is what `save` put there: it may be half written, or another's.
 */
function sound(found: Stored | undefined): found is Stored {
    if (!found || ![1, 2].includes(found.version) || !Array.isArray(found.runs)) return false;
    const whole = (one: Saved) =>
        one?.bytes instanceof Uint8Array && one.losses instanceof Float32Array && Array.isArray(one.points);
    return (
        typeof found.config === 'string' &&
        found.runs.length > 0 &&
        found.runs.every((own) => Array.isArray(own) && own.length > 0 && own.every(whole))
    );
}

export function takeUp(): void {
    const old = stored;
    forget();
    if (!old) return;
    const problem = resume(old.config, old.seeds, old.runs);
    if (problem) trouble.value = { from: 'control', problem };
}
export function forget(): void {
    stored = null;
    offer.value = null;
    void del(KEY).catch(() => {});
}

/** Look for what the last visit left, and keep what this one does. */
export async function watchSession(): Promise<void> {
    try {
        const found = await get<Stored>(KEY);
        if (sound(found)) {
            if (found.version === 1) for (const own of found.runs.flat()) own.points = [];
            stored = found;
            const steps = Math.max(...found.runs.flat().map(({ losses }) => losses.length));
            offer.value = { when: found.when, steps, runs: found.runs.length };
        }
    } catch {
        return; // no storage here
    }
    // Whoever trains something of their own has declined.
    effect(() => {
        if (engaged.value > 0 && offer.peek()) {
            offer.value = null;
            stored = null;
        }
    });
    effect(() => {
        if (!playing.value) setTimeout(() => void save(), 500);
    });
    setInterval(() => void save(), EVERY);
    document.addEventListener('visibilitychange', () => {
        if (document.hidden) void save();
    });
}
