// exercises.ts: the sheet of exercises in the address, and their answers, computed by training each again.
import { computed, signal } from '@preact/signals';
import {
    answerOf,
    EXERCISES,
    judged,
    QUESTIONS,
    readSheet,
    writeSheet,
    type Ask,
    type Exercise,
    type Trained,
} from '../../core/exercises.ts';
import { MARKS } from '../../core/marks.ts';
import { remember, remembered } from '../../core/prefs.ts';
import type { Entry } from '../entry.ts';
import { score } from '../history.ts';
import { lab, runs, view } from '../page.ts';
import { trainAll, type Trial } from '../queue.ts';
import { mixerTitle, runsOf, taskTitle, textOfAll } from '../setup.ts';
import { setView } from '../viewing.ts';
import { writeAddress } from '../url.ts';

export const sheet = computed(() => readSheet(view.value.detail));
/** The lecturer's one, of the page's first run, or the five. */
export const exercises = computed((): readonly Exercise[] => {
    const { own } = sheet.value;
    const first = runs.value[0];
    if (!own || !first) return EXERCISES;
    return [
        {
            title: 'Your exercise',
            text:
                `${mixerTitle(lab(), first.values)} on ${taskTitle(lab(), first.values)}, ${first.values['steps']} ` +
                'steps. Open the run in Experiment, train it to the end, and read the answer there.',
            config: textOfAll(lab(), [first.values]),
            ask: own,
        },
    ];
});
export const questionOf = ({ ask }: Exercise): string => QUESTIONS[ask];
export function give(i: number, answer: string): void {
    const { own, answers } = sheet.value;
    const given = Array.from({ length: exercises.value.length }, (_, j) =>
        j === i ? answer : (answers[j] ?? ''),
    );
    const detail = writeSheet({ own, answers: given });
    if (!own) remember('sheet', detail);
    setView({ detail });
}
/** The sheet as this browser had it, where the address brings none. */
export function takeUp(): void {
    const kept = remembered('sheet');
    if (!view.peek().detail && kept) setView({ detail: kept });
}
/** The address of an exercise about the page's first run. */
export const addressOfOwn = (ask: Ask): string => {
    const config = textOfAll(
        lab(),
        runs.value.slice(0, 1).map(({ values }) => values),
    );
    const detail = writeSheet({ own: ask, answers: [] });
    return writeAddress({
        config,
        view: { ...view.value, view: 'exercises', run: 0, sample: 0, ghost: '', go: 0, draft: '', detail },
    });
};

/** What became of a run that was trained again for its exercise. */
interface Again extends Trial {
    step: number;
    trained: Trained | null;
}
const again = signal<ReadonlyMap<string, Again>>(new Map());
export const news = signal(0);
const keyOf = (config: string): string => textOfAll(lab(), runsOf(lab(), config));
export const checked = ({ config }: Exercise): Again | undefined => again.value.get(keyOf(config));

/** Train the runs of these exercises, those that were not trained yet. */
export function correct(all: readonly Exercise[]): void {
    const fresh = new Map<string, Again>();
    for (const { config } of all) {
        const key = keyOf(config);
        const known = again.value.get(key);
        if ((known && known.status !== 'failed') || fresh.has(key)) continue;
        const values = runsOf(lab(), config)[0]!;
        fresh.set(key, {
            values,
            mark: MARKS[0]!,
            why: '',
            entry: null,
            saved: [],
            status: 'waiting',
            step: 0,
            trained: null,
        });
    }
    again.value = new Map([...again.value, ...fresh]);
    trainAll([...fresh.values()], {
        news: (trial, entry) => ((trial as Again).step = entry.live.value.step),
        ended: async (trial, entry) => void ((trial as Again).trained = trainedBy(entry)),
        changed: () => news.value++,
    });
}
function trainedBy({ history, live }: Entry): Trained {
    const { digest, params } = live.peek();
    const points = history.points.map((point) => ({ step: point.step, score: score(point) }));
    return { digest: digest ?? '', params, losses: history.losses.slice(), points };
}
/** Right, wrong, or null: nothing was given or it is not known yet. */
export function verdictOf(exercise: Exercise, given: string): boolean | null {
    const trained = checked(exercise)?.trained;
    return trained ? judged(exercise.ask, given, trained) : null;
}
export const rightAnswer = (exercise: Exercise): string | null => {
    const trained = checked(exercise)?.trained;
    return trained ? answerOf(exercise.ask, trained) : null;
};
