// lesson.ts: what to look for: the lesson that the setup of now is, if it is one.
import { computed } from '@preact/signals';
import type { Values } from '../core/config.ts';
import { lab, runs } from './page.ts';
import { drawnInstead, mnistKey, runsOf, textOfAll } from './setup.ts';

/** The first visit: one block of each, on the task that tells them apart. */
export const LESSON = {
    config: 'mixer=cat&task=mqar~mixer=attention',
    sentence:
        'Watch the curves part: a filter of three taps lets one block of CAT look things up; one block of plain ' +
        'attention can only guess among the eight values it has seen.',
};
const ANY = 'Whose curve rises first, and whose not at all? Change one thing about one run and start again.';

interface Lesson {
    name: string;
    sentence: string;
    expect: string;
    /** It is about MNIST, and drawn digits stand in for it. */
    drawn: boolean;
}

/** The lesson that this setup is, and what to expect of it. */
export const lesson = computed((): Lesson => {
    const text = textOfAll(
        lab(),
        runs.value.map(({ values }) => values),
    );
    const is = (wanted: readonly Values[]) => textOfAll(lab(), wanted) === text;
    if (is(runsOf(lab(), LESSON.config)))
        return { name: '', sentence: LESSON.sentence, expect: '', drawn: false };
    for (const { name, config, lesson: sentence, expect } of lab().config.presets) {
        const wanted = runsOf(lab(), config);
        if (is(wanted)) return { name, sentence, expect, drawn: false };
        if (wanted.some(mnistKey) && is(wanted.map((values) => drawnInstead(lab(), values))))
            return { name, sentence, expect: '', drawn: true };
    }
    return { name: '', sentence: ANY, expect: '', drawn: false };
});
