// lesson.ts: what to look for: the lesson that the setup of now is, if it is one.
import { computed } from '@preact/signals';
import { lab, runs } from './page.ts';
import { runsOf, textOfAll } from './setup.ts';

/** The first visit: one block of each, on the task that tells them apart. */
export const LESSON = {
    config: 'mixer=cat&task=mqar~mixer=attention',
    sentence:
        'Watch the curves part: a filter of three taps lets one block of CAT look things up; one block of plain ' +
        'attention can only guess among the eight values it has seen.',
};
const ANY = 'Whose curve rises first, and whose not at all? Change one thing about one run and start again.';

/** The lesson that this setup is, and what to expect of it. */
export const lesson = computed(() => {
    const text = textOfAll(
        lab(),
        runs.value.map(({ values }) => values),
    );
    const known = [
        { ...LESSON, name: '', expect: '' },
        ...lab().config.presets.map(({ name, config, lesson: sentence, expect }) => ({
            name,
            config,
            sentence,
            expect,
        })),
    ];
    const found = known.find(({ config }) => textOfAll(lab(), runsOf(lab(), config)) === text);
    return found ?? { name: '', config: '', sentence: ANY, expect: '' };
});
