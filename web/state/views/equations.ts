// equations.ts: the mixer's text that the visitor writes: kept in the address, asked about, trained as a run
// beside the others.
import { computed, effect, signal, untracked } from '@preact/signals';
import { format, type Values } from '../../core/config.ts';
import type { Tensor } from '../../../wasm/loader/seqmix.ts';
import {
    isProblem,
    type Look,
    type Problem,
    type ScanAsked,
    type ScanRead,
} from '../../training/protocol.ts';
import type { Entry } from '../entry.ts';
import { newId } from '../members.ts';
import { lab, pool, runs, said, selected, view } from '../page.ts';
import { addValues } from '../roster.ts';
import { changed, given } from '../setup.ts';
import { play } from '../transport.ts';
import { openView, setView } from '../viewing.ts';

const WRITTEN_AFTER = 300; // milliseconds without a key

const isText = (values: Values | undefined) => values?.['mixer'] === 'equations';
/** The text that is written; '': none yet. */
export const draft = signal('');
/** Counts the times that it came from elsewhere than the editor. */
export const replaced = signal(0);
function put(text: string): void {
    if (text === draft.peek()) return;
    draft.value = text;
    replaced.value = replaced.peek() + 1;
}
/** 1: the block adds its input to what the text gives. */
export const residual = computed(() => view.value.residual);

let waiting: ReturnType<typeof setTimeout> | undefined;
/** From the editor: into the address once the hands rest. An emptied text is a text, too. */
export function write(text: string): void {
    draft.value = text || '\n';
    clearTimeout(waiting);
    waiting = setTimeout(remember, WRITTEN_AFTER);
}
/** Into the address now. */
function remember(): void {
    clearTimeout(waiting);
    waiting = undefined;
    if (draft.value !== view.value.draft) setView({ draft: draft.value });
}
/** Another text altogether. */
export function begin(text: string, adds: number): void {
    put(text);
    clearTimeout(waiting);
    waiting = undefined;
    setView({ draft: text, residual: adds });
}
/** While the view is open: what the address says, or the text of the run that is looked into. Returns its
 * end. */
export function editing(first: { text: string; residual: number }): () => void {
    const stop = effect(() => {
        const { draft: told } = view.value;
        if (waiting !== undefined) return; // what is being typed comes first
        if (told) put(told);
        else if (untracked(() => !draft.value)) {
            const values = untracked(() => selected.value?.values);
            const own = isText(values);
            put(own ? values!['eq']! : first.text);
            if (own && values!['residual'] === '0') setView({ residual: 0 });
        }
    });
    return () => {
        if (waiting !== undefined) remember();
        stop();
    };
}
/** The view with the text of a run in it. */
export function openText(values: Values): void {
    begin(values['eq'] ?? '', values['residual'] === '0' ? 0 : 1);
    openView('equations');
}

/** What the text stands in: the task and the model of the run that is looked into. */
const around = computed((): Values => {
    const values = (selected.value ?? runs.value[0])?.values;
    if (!values) return {};
    const here = given(lab(), changed(lab(), values, 'mixer', 'equations'));
    const task = lab().config.tasks.find(({ name }) => name === values['task']);
    const known = new Set([...lab().config.keys, ...(task?.keys ?? [])].map(({ name }) => name));
    return Object.fromEntries(Object.entries(here).filter(([key]) => known.has(key) || key === 'mixer'));
});
/** The config of a run of the text, as it would be trained. */
export const config = computed(() =>
    format({ ...around.value, residual: String(residual.value), eq: draft.value }),
);
/** The run of this very text, where the page has one. */
export const trained = computed((): Entry | null => {
    const same = ({ values }: Entry) =>
        isText(values) && values['eq'] === draft.value && values['residual'] === String(residual.value);
    return runs.value.find(same) ?? null;
});

/** Add the text as a run, unless it is one already, and train; what is wrong, or null. */
export function trainBeside(): Problem | null {
    remember();
    if (!trained.value) {
        const problem = addValues(config.value, 'the new run');
        if (problem) return problem;
    }
    said.value = 'The text trains alongside the others.';
    play();
    return null;
}

/** What `ask` makes of the text's run as it is now, or else of one before training; a sentence where it
 * cannot. */
async function within<T extends object>(
    ask: (id: number) => Promise<T | { problem: Problem | string } | null>,
): Promise<T | string> {
    const entry = trained.value;
    const going = entry && !['opening', 'failed'].includes(entry.live.value.status);
    const id = going ? entry.ticket : newId();
    try {
        if (!going) {
            const opened = await pool().open(id, config.value);
            if (isProblem(opened)) return opened.problem.message;
        }
        const told = await ask(id);
        if (!told) return 'its run is not open';
        if (!isProblem<T>(told as T | { problem: Problem })) return told as T;
        const { problem } = told as { problem: Problem | string };
        return typeof problem === 'string' ? problem : problem.message;
    } finally {
        if (!going) pool().close(id);
    }
}
/** A tensor of the text on the sample that is looked at. */
export async function seen(name: string): Promise<{ tensor: Tensor; step: number } | string> {
    const index = view.value.sample;
    const asked = { index, tokens: null, edits: [], block: 0, at: null, detail: true };
    const looked = await within<Look>((id) => pool().ask({ id, ...asked }));
    if (typeof looked === 'string') return looked;
    const tensor = looked.tensors.find((one) => one.name === `block0.mixer.${name}`);
    return tensor ? { tensor, step: looked.step } : 'it cannot be looked at';
}
/** A scan of the text on that sample. */
export const seenScan = (asked: Omit<ScanAsked, 'id'>): Promise<ScanRead | string> =>
    within<ScanRead>((id) => pool().scan({ id, ...asked }));
