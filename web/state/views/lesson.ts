// lesson.ts: the lessons: which there are, on which shelf, where their results appear and what they need;
// which of them the setup of now is, and what it promised against what was seen.
import { computed } from '@preact/signals';
import promisedBy from 'virtual:lessons';
import { judge, measured, promised, promisedApart, type Metric, type Verdict } from '../../core/expect.ts';
import { duration } from '../../core/figures.ts';
import { membersOf, over, type Entry } from '../entry.ts';
import { means, metricOf } from '../history.ts';
import type { Evaluation } from '../../../wasm/loader/seqmix.ts';
import { lab, runs } from '../page.ts';
import { drawnInstead, MNIST_PART, mnistKey, partInstead, runsOf, textOfAll } from '../setup.ts';
import { VIEW } from '../url.ts';
import { nameOf } from '../wording.ts';

const FIRST = 'mixer=cat&task=mqar~mixer=attention';
/** The first visit: one block of each, on the task that tells them apart. From this seed the filter adds the
 * token before, as in the story; from most it takes it away, which is as good. */
export const LESSON = {
    config: FIRST.replace('~', '&seed=3~'),
    sentence:
        'Watch the curves part: a filter of three taps lets one block of CAT look things up; one block of plain ' +
        'attention can only guess among the eight values it has seen.',
    /** Its runs are the first two of this preset. */
    of: 'recall',
};
const ANY = 'Which curve rises first, and which not at all? Change one setting of one run and start again.';

/** In the place of what a lesson about MNIST says, where the digits are not MNIST's. */
const DRAWN =
    'Training and test images are both drawn by a generator: this says nothing about real handwriting.';

/** The same where only the part of MNIST that the page fetches is here. */
const PART = `Trained on the first ${MNIST_PART.train} of MNIST's 60,000 training images. The lesson's predictions are for all of them.`;

/** The lessons in the order in which they are best read; one that is on no shelf stands on the second. */
export const SHELVES = [
    {
        id: 'start',
        title: 'Start here',
        names: ['recall', 'filters', 'length', 'copy', 'rows', 'text', 'write'],
    },
    {
        id: 'compare',
        title: 'Side by side',
        names: ['mechanisms', 'inventions', 'count', 'mission', 'dictionary', 'sums', 'ablations', 'listops'],
    },
    {
        id: 'own',
        title: 'Your own data',
        names: [
            'table',
            'author',
            'smnist-fast',
            'digits',
            'pixels14',
            'pixels28',
            'pmnist',
            'mission-mnist',
        ],
    },
] as const;
export type Shelf = (typeof SHELVES)[number]['id'];
export const shelfOf = (name: string): Shelf =>
    SHELVES.find(({ names }) => (names as readonly string[]).includes(name))?.id ?? 'compare';

/** Where a lesson's result appears, if not among the curves. */
const ELSEWHERE: Record<string, string> = { length: 'length', write: 'write', author: 'write' };
const MOST_GENTLE = 600; // steps that are not waited for at 24 a second beyond this
const GENTLE = 24;

interface Known {
    /** Its runs as one text, with drawn digits in the place of MNIST, and with a part of it. */
    readonly text: string;
    readonly drawn: string;
    readonly part: string;
    /** Some run asks for MNIST. */
    readonly mnist: boolean;
}
const parsed = new Map<string, Known>();
/** What a lesson's config stands for. To parse them all takes a frame or two, so each is parsed once. */
function known(config: string): Known {
    let found = parsed.get(config);
    if (!found) {
        const wanted = runsOf(lab(), config);
        const drawn = wanted.map((values) => drawnInstead(lab(), values));
        const mnist = wanted.some((values) => mnistKey(values) !== null);
        const part = wanted.map((values) => partInstead(lab(), values));
        found = {
            text: textOfAll(lab(), wanted),
            drawn: textOfAll(lab(), drawn),
            part: textOfAll(lab(), part),
            mnist,
        };
        parsed.set(config, found);
    }
    return found;
}
const configOf = (name: string) => `preset=${name}`;
/** Parse the lessons one at a time, between what else the page does. */
export function prepareLessons(): void {
    const next = lab().config.presets.find(({ name }) => !parsed.has(configOf(name)));
    if (!next) return;
    known(configOf(next.name));
    setTimeout(prepareLessons, 20);
}

export interface Card {
    name: string;
    title: string;
    sentence: string;
    config: string;
    view: string;
    /** It is trained at full speed. */
    long: boolean;
    /** How long it takes, and what it needs. */
    takes: string;
}
const NOTHING_PROMISED = { steps: Infinity, seconds: Infinity, chromium: null };
export const cards = (shelf: Shelf): Card[] => {
    const { presets } = lab().config;
    const order = SHELVES.flatMap(({ names }) => names as readonly string[]);
    const at = (name: string) => (order.indexOf(name) + order.length) % order.length;
    return presets
        .filter(({ name }) => shelfOf(name) === shelf)
        .sort((a, b) => at(a.name) - at(b.name))
        .map(({ name, title, lesson: sentence }) => {
            // Nothing is promised of what asks for a text of the visitor's: it takes minutes.
            const { steps, seconds, chromium } = promisedBy[name] ?? NOTHING_PROMISED;
            const long = steps > MOST_GENTLE;
            // All runs, one after another, on the machine of docs/PERFORMANCE.md.
            const time = !long
                ? `about ${duration(steps / GENTLE)}`
                : chromium
                  ? `about ${duration(Math.max(1, chromium))} on one core`
                  : `${duration(Math.max(1, seconds))} in the native program, longer here`;
            const { mnist } = known(configOf(name));
            const needs = mnist ? 'MNIST (a part is one press away), or drawn digits' : 'no files needed';
            const view = ELSEWHERE[name] ?? VIEW.view;
            const config = configOf(name);
            const takes =
                steps < Infinity ? `${time} · ${needs}` : 'minutes · your own text, or a few pages of ours';
            return { name, title, sentence, config, view, long, takes };
        });
};
export const cardOf = (name: string): Card | undefined =>
    cards(shelfOf(name)).find((card) => card.name === name);
/** The lesson that comes after this one; undefined: it was the last. */
export function nextAfter(name: string): Card | undefined {
    const all = SHELVES.flatMap(({ id }) => cards(id));
    return all[all.findIndex((card) => card.name === name) + 1];
}

interface Lesson {
    /** Of the preset; '' where the setup is none. */
    name: string;
    sentence: string;
    expect: string;
    /** The preset whose claims are about the runs; ''. */
    promises: string;
    /** It is about MNIST, and drawn digits or a part of it stand in for it. */
    drawn: boolean;
}

/** The lesson that this setup is, and what to expect of it. */
export const lesson = computed((): Lesson => {
    // (A lesson on another seed is that lesson.)
    const text = textOfAll(
        lab(),
        runs.value.map(({ values }) => ({ ...values, seed: '1' })),
    );
    if (known(FIRST).text === text)
        return { name: '', sentence: LESSON.sentence, expect: '', promises: LESSON.of, drawn: false };
    for (const { name, lesson: sentence, expect } of lab().config.presets) {
        const { text: own, drawn, part } = known(configOf(name));
        if (own === text) return { name, sentence, expect, promises: name, drawn: false };
        if (part === text) return { name, sentence: PART, expect: '', promises: '', drawn: true };
        if (drawn === text) return { name, sentence: DRAWN, expect: '', promises: '', drawn: true };
    }
    return { name: '', sentence: ANY, expect: '', promises: '', drawn: false };
});

/** One thing that a lesson promised, and what has become of it. */
export interface Expectation {
    /** The run that it is about. */
    entry: Entry;
    /** 'CAT ≥ 99 %'. */
    says: string;
    /** On how many of the seeds that were measured it holds: '15 of 16 seeds'. */
    rate: string;
    /** What was seen so far: 'from step 90 on', '12.4 %'. (A single try may have been as good before.) */
    seen: string;
    verdict: Verdict;
}

const valueOf = (metric: Metric, tried: Evaluation): number =>
    metric === 'bits' ? tried.loss / Math.LN2 : metric === 'r2' ? tried.r2 : tried.accuracy;

/** What this lesson promised of the runs that are there, judged by what they have shown. */
export function expectations(): Expectation[] {
    const entries = runs.value;
    for (const { members } of entries) for (const { live } of members) void live.value; // read anew
    return (promisedBy[lesson.value.promises]?.claims ?? []).flatMap(
        ([run, length, metric, low, high, minus, held, of]) => {
            const entry = entries[run];
            if (!entry) return [];
            const other = entries[minus - 1];
            const wanted = { metric, low, high };
            const ended = ({ members }: Entry) => members.every(over);
            const done = ended(entry) && (!other || ended(other));
            const series = (of: Entry) => means(of, (point) => valueOf(metric, point));
            let tries = series(entry);
            if (minus && other) {
                const [mine, its] = [tries.at(-1), series(other).at(-1)];
                tries = done && mine && its ? [{ step: mine.step, value: mine.value - its.value }] : [];
            } else if (length) {
                const tried = entry.history.lengths.get(length);
                tries = tried?.result ? [{ step: tried.step, value: valueOf(metric, tried.result) }] : [];
            }
            const verdict = judge(wanted, tries, done && !failed(entry));
            const says = other
                ? `${nameOf(entry)}: ${promisedApart(wanted)} ${nameOf(other)}`
                : `${nameOf(entry)}${length ? ` at length ${length}` : ''} ${promised(wanted)}`;
            const seen =
                verdict.state === 'held' && verdict.step !== null && !length
                    ? `from step ${verdict.step} on`
                    : verdict.value === null
                      ? ''
                      : measured(metric, verdict.value);
            return [{ entry, says, rate: `${held} of ${of} seeds`, seen, verdict }];
        },
    );
}

const failed = ({ members }: Entry) => members.some(({ live }) => live.value.status === 'failed');

/** What was seen, of several seeds their mean, in a sentence; '' before the runs are done. */
export function outcome(): string {
    const entries = runs.value;
    if (!membersOf(entries).every(over) || !lesson.value.promises) return '';
    const all = expectations();
    const parts = entries.map((entry) => {
        const { history, members } = entry;
        const last = history.points.at(-1);
        if (!last || failed(entry)) return `${nameOf(entry)} stopped`;
        const metric: Metric = last.text ? 'bits' : metricOf(last);
        const value = means(entry, (point) => valueOf(metric, point)).at(-1)!.value;
        const there = members.filter((one) => one.history.solved).length;
        const when =
            !there || last.text
                ? ''
                : members.length > 1
                  ? ` (99 % on ${there} of ${members.length} seeds)`
                  : ` (99 % first at step ${history.solved!.step})`;
        return `${nameOf(entry)} ${measured(metric, value)}${when}`;
    });
    const broken = all.filter(({ verdict }) => verdict.state === 'broken').length;
    const untold = all.filter(({ verdict }) => verdict.state === 'open').length;
    const ending = broken
        ? `${broken} of ${all.length} predictions did not hold this time.`
        : untold
          ? 'All that was tested is as predicted.'
          : 'All as predicted.';
    return `Result: ${parts.join(', ')}. ${ending}`;
}
