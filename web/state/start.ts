// start.ts: the page begins: what its address asks for, or the first lesson, and what follows from one signal
// to another.
import { computed, effect } from '@preact/signals';
import type { Lab } from '../../wasm/loader/seqmix.ts';
import { remembered, resting } from '../core/prefs.ts';
import { Pool } from '../training/pool.ts';
import { remember } from './address.ts';
import { ticketsOf } from './entry.ts';
import { score } from './history.ts';
import { LESSON, type Card } from './views/lesson.ts';
import {
    begun,
    connect,
    guests,
    lab,
    look,
    opened,
    playing,
    pool,
    runs,
    said,
    selected,
    trouble,
    view,
} from './page.ts';
import { countAnew, listener } from './reports.ts';
import { attempt } from './roster.ts';
import { withHeld } from './views/mnist.ts';
import { runsOf, textOfAll } from './setup.ts';
import { go, pause, play } from './transport.ts';
import { readAddress, VIEW, type Speed, type View } from './url.ts';
import { follow, measuring } from './watching.ts';
import { nameOf } from './wording.ts';

const PACE: Record<Speed, number> = { slow: 4, gentle: 24, full: Infinity }; // steps a second

/** Do what the address says. A wrong one is reported, and what was there stays. */
function takeAddress(): void {
    const address = readAddress(location.hash);
    const text = address.config || LESSON.config;
    const { seeds, view: before } = view.value;
    view.value = { ...view.value, seeds: address.view.seeds };
    const problem = attempt(() => runsOf(lab(), text), 'the change', { seeds, back: true });
    if (problem) {
        view.value = { ...view.value, seeds };
        trouble.value = { from: 'address', problem };
        said.value = problem.message;
        return;
    }
    view.value = { ...address.view, go: 0, run: Math.min(address.view.run, runs.value.length - 1) };
    if (address.view.go) {
        if (view.value.view !== before) opened.value++; // a link that starts runs: they are seen from the top
        go();
    } else if (playing.value) pool().play(ticketsOf(runs.value)); // with what came back
}
/** Open a lesson and start it; one about MNIST with what is here of it, or with drawn digits. */
export function openLesson(config: string, change: Partial<View> = {}): void {
    const wanted = () => runsOf(lab(), config).map(withHeld);
    const problem = attempt(wanted, 'the lesson', { fresh: true });
    if (problem) trouble.value = { from: 'control', problem };
    else {
        const first = { view: VIEW.view, run: 0, sample: 0, block: 0, head: 0 };
        const before = view.value.view;
        view.value = { ...view.value, ...first, ...change };
        if (view.value.view !== before) opened.value++;
        remember('push'); // one entry of the browser's history for all of it
        play();
    }
}
/** The same from its card: where its result appears, at a speed that it can be waited for. */
export function openCard({ config, view: where, long }: Card): void {
    openLesson(config, { view: where, ...(long && view.value.speed !== 'full' ? { speed: 'full' } : {}) });
}
export function dismiss(): void {
    trouble.value = null;
    remember('replace');
}

/** The view that the page will open with: the address's, on a first visit the story. */
export const viewAsked = (): string =>
    location.hash.length > 1 || remembered('front') === VIEW.view
        ? readAddress(location.hash).view.view
        : 'start';
/** Begin: the address's setup, or on a first visit the lesson, which starts by itself. */
export function start(loaded: Lab): void {
    connect(loaded, new Pool(loaded, listener));
    const first = location.hash.length <= 1;
    if (!first) takeAddress();
    if (runs.value.length === 0) {
        const bad = trouble.value; // of the address; the lesson stands in for it and does not hide it
        attempt(() => runsOf(lab(), LESSON.config), 'the change');
        trouble.value = bad;
    }
    const speed = computed(() => view.value.speed);
    effect(() => {
        pool().pace(PACE[speed.value]);
        countAnew();
    });
    effect(() => {
        if (look.peek()?.id !== selected.value?.ticket) look.value = null;
        follow();
    });
    effect(() => pool().tryLengths(measuring.value));
    addEventListener('hashchange', takeAddress);
    let waiting = false; // for the tab to be seen again
    effect(() => {
        if (resting.value) {
            waiting = playing.peek();
            if (waiting) pause();
        } else if (waiting) {
            waiting = false;
            go();
        }
    });
    if (first) {
        view.value = { ...view.value, view: viewAsked() };
        remember('replace');
        // The lesson starts by itself, once it is to be seen.
        const stop = effect(() => {
            if (view.value.view !== VIEW.view) return;
            if (!begun.peek()) go();
            queueMicrotask(() => stop());
        });
    } else if (!trouble.value) remember('replace');
}

/** For the console and the tests: what the page knows, and the loss words that the native program prints
 * too. */
export const inspect = {
    runs: () =>
        runs.value.map((entry) => ({
            name: nameOf(entry),
            config: textOfAll(lab(), [entry.values]),
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
                tried: history.points.map(({ step, accuracy }) => ({ step, accuracy })),
            })),
        })),
    /** The steps of what views train for themselves. */
    guests: () => guests.value.map(({ live }) => live.value.step),
    words: (run: number) => runs.value[run]?.history.words() ?? [],
    crash: (run: number) => runs.value[run] && pool().crash(runs.value[run].ticket),
};
