// setup.ts: what is to be trained, as data: the complete config of each run, and the shortest text that says
// it. Pure functions over the engine's own parser (`values`) and table; nothing here knows the page.
import type { ConfigKey, ConfigTable } from '../../wasm/loader/seqmix.ts';
import { format, sameValues, type Values } from '../core/config.ts';

export interface Engine {
    config: ConfigTable;
    values(config: string): Values[];
}

/** Runs on one task, and in all. */
export const MAX_RUNS = 6;
export const MAX_ALL = 9;
/**
 * Keys that all runs on a task share, so that they face the same sequences; and those that all runs share.
 */
const TASK_GROUP = 'task';
const RUN_GROUP = 'run';
const TRAINING_GROUP = 'training';
const MODEL_GROUP = 'model';
/** Keys that say nothing on this page. */
const HIDDEN = ['v', 'threads', 'fast', 'recompute'];

/** The complete runs that a config text (from the address, a preset …) stands for. Throws the engine's
 * error. */
export function runsOf(engine: Engine, text: string): Values[] {
    return engine.values(text);
}

const cache = new Map<string, Values>();
/** What says which mixers a run has: one, or a stack of them and how many blocks. */
function mechanism(values: Values): Values {
    const { mixers, blocks, mixer } = values;
    return mixers ? { mixers, blocks: blocks ?? '1' } : { mixer: mixer ?? '' };
}
function defaults(engine: Engine, values: Values): Values {
    const text = format({ task: values['task'] ?? '', ...mechanism(values) });
    let found = cache.get(text);
    if (!found) cache.set(text, (found = engine.values(text)[0]!));
    return found;
}

/** What a run changes from the defaults of its mixer and task; mixer and task first. */
export function given(engine: Engine, values: Values): Values {
    const start = defaults(engine, values);
    const changed = Object.entries(values).filter(([key, value]) => start[key] !== value);
    return { ...mechanism(values), task: values['task'] ?? '', ...Object.fromEntries(changed) };
}
export function isDefault(engine: Engine, values: Values, key: string): boolean {
    return defaults(engine, values)[key] === values[key];
}

/** The shortest config text of one run, as the command line takes it. */
export function textOf(engine: Engine, values: Values): string {
    return format(given(engine, values));
}

/** The shortest text of all runs: the first, then what each other changes in it. */
export function textOfAll(engine: Engine, runs: readonly Values[]): string {
    const [first, ...others] = runs;
    if (!first) return '';
    const base = given(engine, first);
    const deltas = others.map((values) => {
        const own = given(engine, values);
        const delta: Record<string, string> = {};
        for (const [key, value] of Object.entries(own)) if (base[key] !== value) delta[key] = value;
        // What the first run changes and this one does not has to be said too.
        for (const key of Object.keys(base)) if (!(key in own) && key in values) delta[key] = values[key]!;
        return format(delta);
    });
    return [format({ v: first['v'] ?? '1', ...base }), ...deltas].join('~');
}

/** Why no text says these runs together, so that no address and no visit to come could bring them back: a run
 * inherits the first one's mixer, and keys of its blocks, and cannot take them off. null: there is one. */
export function unsaid(engine: Engine, runs: readonly Values[]): string | null {
    try {
        const back = engine.values(textOfAll(engine, runs));
        if (runs.every((values, i) => sameValues(values, back[i]!))) return null;
    } catch {
        // a key of the first run that the engine refuses in another
    }
    return 'no address holds these runs side by side: where the first has a stack of mixers or keys of single blocks, the others need the same';
}

/** The run with keys changed (null: back to the default); another mixer or task brings its own defaults for
 * all that was not changed. */
export function changedAll(
    engine: Engine,
    values: Values,
    changes: Readonly<Record<string, string | null>>,
): Values {
    const next = { ...given(engine, values) };
    for (const [key, value] of Object.entries(changes))
        if (value === null) delete next[key];
        else next[key] = value;
    return engine.values(format(next))[0]!;
}
export const changed = (engine: Engine, values: Values, key: string, value: string | null): Values =>
    changedAll(engine, values, { [key]: value });

/** Keys of a run that are not their default and that a reader has to know to tell it from its rivals on
 * the task: what all of those share is said once (sharedChanges). A run without rivals says all that is
 * its own. */
export function badges(engine: Engine, runs: readonly Values[], values: Values): string[] {
    const own = given(engine, values);
    const rivals = runs.filter((other) => other['task'] === values['task']);
    const alike = (key: string) => rivals.every((other) => other[key] === values[key]);
    return changeable(values).filter(
        (key) => key in own && !(alike(key) && (rivals.length > 1 || isShared(engine, key))),
    );
}
/** Keys of single runs that all rivals on a task set alike, away from their defaults. */
export function sharedChanges(engine: Engine, rivals: readonly Values[]): string[] {
    const [first, ...others] = rivals;
    if (!first || !others.length) return [];
    return changeable(first).filter(
        (key) =>
            !isShared(engine, key) &&
            others.every((other) => other[key] === first[key]) &&
            rivals.some((values) => key in given(engine, values)),
    );
}
/** Settings of training in which rivals on a task differ: what favours one of them. */
export const unlike = (engine: Engine, rivals: readonly Values[]): string[] =>
    differing(engine, rivals, TRAINING_GROUP);
/** The same of their models, but for the mechanism. */
export const unlikeModels = (engine: Engine, rivals: readonly Values[]): string[] =>
    differing(engine, rivals, MODEL_GROUP).filter((key) => !['mixer', 'mixers'].includes(key));
function differing({ config }: Engine, rivals: readonly Values[], of: string): string[] {
    const [first, ...others] = rivals;
    if (!first) return [];
    return config.keys
        .filter(({ group, name }) => group === of && name in first)
        .map(({ name }) => name)
        .filter((key) => others.some((other) => other[key] !== first[key]));
}
const changeable = (values: Values): string[] =>
    Object.keys(values).filter((key) => key !== 'mixer' && key !== 'task' && !HIDDEN.includes(key));

/** The task of a run, as the engine describes it. */
export const taskOf = (engine: Engine, values: Values) =>
    engine.config.tasks.find(({ name }) => name === values['task']);
/** The keys that mean something to a run: the common ones, its task's and its mixer's. */
function keysOf(engine: Engine, values: Values): ConfigKey[] {
    const { config } = engine;
    const task = taskOf(engine, values);
    const mixer = config.mixers.find(({ name }) => name === values['mixer']);
    const keys = new Map<string, ConfigKey>();
    for (const key of [...config.keys, ...(task?.keys ?? []), ...(mixer?.keys ?? [])])
        if (!keys.has(key.name) && !HIDDEN.includes(key.name)) keys.set(key.name, key);
    return [...keys.values()];
}
type Scope = 'run' | 'task' | 'all';
const scopes = new WeakMap<ConfigTable, Map<string, Scope>>(); // asked for each key of each run
/** What has a key in common: one run, the runs on its task, or all. */
export function scopeOf({ config }: Engine, name: string): Scope {
    let known = scopes.get(config);
    if (!known) {
        scopes.set(config, (known = new Map()));
        for (const key of [...config.keys, ...config.tasks.flatMap(({ keys }) => keys)]) {
            const before = known.get(key.name) ?? 'run';
            if (key.group === RUN_GROUP) known.set(key.name, 'all');
            else if (key.group === TASK_GROUP && before !== 'all') known.set(key.name, 'task');
        }
    }
    return known.get(name) ?? 'run';
}
const isShared = (engine: Engine, name: string) => scopeOf(engine, name) !== 'run';

/** Whether a task is one of tokens, whose number is then a setting: its own defaults say how many (`own`
 * leaves it open). */
function hasTokens({ config }: Engine, values: Values): boolean {
    const task = config.tasks.find(({ name }) => name === values['task']);
    return task?.own || /(^|&)vocab=/.test(task?.defaults ?? '');
}
/** The keys of a run that are set for all runs together, the task itself left out. */
export function sharedKeys(engine: Engine, values: Values): ConfigKey[] {
    return keysOf(engine, values).filter(
        ({ name }) =>
            name in values &&
            name !== 'task' &&
            isShared(engine, name) &&
            (name !== 'vocab' || hasTokens(engine, values)),
    );
}
/** The other keys of a run by group, the mixer's own first, the mixer itself left out. */
export function ownKeys(engine: Engine, values: Values): { group: string; keys: ConfigKey[] }[] {
    const groups = new Map<string, ConfigKey[]>([['mixer', []]]);
    for (const key of keysOf(engine, values)) {
        if (!(key.name in values) || key.name === 'mixer' || isShared(engine, key.name)) continue;
        groups.set(key.group, [...(groups.get(key.group) ?? []), key]);
    }
    return [...groups].filter(([, keys]) => keys.length).map(([group, keys]) => ({ group, keys }));
}

/** Refuses more runs than the page trains. */
export function tooMany(runs: readonly Values[]): string | null {
    const most = Math.max(0, ...[...byTask(runs).values()].map((group) => group.length));
    if (runs.length <= MAX_ALL && most <= MAX_RUNS) return null;
    const asked = most > MAX_RUNS ? `${most} runs on one task` : `${runs.length} runs`;
    return `${asked} were asked for; this page trains up to ${MAX_RUNS} on a task and ${MAX_ALL} in all`;
}
function byTask(runs: readonly Values[]): Map<string, Values[]> {
    const groups = new Map<string, Values[]>();
    for (const values of runs) {
        const task = values['task'] ?? '';
        groups.set(task, [...(groups.get(task) ?? []), values]);
    }
    return groups;
}

/** The tasks to choose from. One without samples of its own is the form of data that a program hands over:
 * noise here, so only a run of it has it. */
export function offeredTasks(engine: Engine, values: Values) {
    return engine.config.tasks.filter(({ name, own }) => !own || values['task'] === name);
}

/** The files of MNIST, which tasks of digits may ask for. */
export const MNIST_FILES = [
    'train-images-idx3-ubyte',
    'train-labels-idx1-ubyte',
    't10k-images-idx3-ubyte',
    't10k-labels-idx1-ubyte',
] as const;
/** The part of it that the page can fetch: the first images of each set (scripts/mnist-subset.mjs). */
export const MNIST_PART = { train: 6000, test: 2000 } as const;
/** Whether a run trains on images that are not in that part. */
export const beyondPart = ({ data, images }: Values): boolean =>
    data === 'mnist' && !(Number(images) >= 1 && Number(images) <= MNIST_PART.train);
/** The run with the training images of that part where it asks for others. */
export const partInstead = (engine: Engine, values: Values): Values =>
    beyondPart(values) ? changed(engine, values, 'images', String(MNIST_PART.train)) : values;
/** The key by which a run asks for MNIST, or null. */
export const mnistKey = (values: Values): 'data' | 'test' | null =>
    values['data'] === 'mnist' ? 'data' : values['test']?.startsWith('mnist') ? 'test' : null;
/** The run with drawn digits where it asks for MNIST. */
export const drawnInstead = (engine: Engine, values: Values): Values =>
    mnistKey(values) ? changed(engine, changed(engine, values, 'data', 'digits'), 'test', 'same') : values;

export function taskTitle(engine: Engine, values: Values): string {
    return taskOf(engine, values)?.title ?? values['task'] ?? '';
}
export function mixerTitle(engine: Engine, values: Values): string {
    const title = (of: string) => engine.config.mixers.find(({ name }) => name === of)?.title ?? of;
    return (values['mixers'] ?? values['mixer'] ?? '').split(',').map(title).join(' + ');
}
