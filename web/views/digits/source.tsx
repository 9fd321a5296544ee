// source.tsx: which digits are learnt from, whose they are, and how far the view's own models have come.
import type { Entry } from '../../state/entry.ts';
import { mnistKey } from '../../state/setup.ts';
import { openLesson } from '../../state/start.ts';
import { cardOf } from '../../state/views/lesson.ts';
import { nameOf } from '../../state/wording.ts';
import { Attribution } from './mnist_files.tsx';

/** How far the view's own models have come, in the place of the page's transport. */
export function OwnCourse({ readers }: { readers: readonly Entry[] }) {
    const step = Math.min(...readers.map(({ live }) => live.value.step));
    const steps = Math.max(...readers.map(({ live }) => live.value.steps));
    return (
        <div class="own-course">
            <p>
                {readers.map(nameOf).join(' and ')} are learning to read digits as you watch:{' '}
                <span class="number">
                    step {step} of {steps || '…'}
                </span>
                .
            </p>
            <button
                type="button"
                onClick={() => {
                    openLesson('preset=rows', { view: 'digits', speed: 'full' });
                }}
            >
                Train five mechanisms
            </button>{' '}
            <span class="say">{cardOf('rows')?.takes.split(' · ')[0]}, starts over</span>
        </div>
    );
}

/** What the digits are, whose they are, and how many of them judge. */
export function Source({ entry }: { entry: Entry }) {
    const { values, live, history } = entry;
    void live.value; // its reports bring the tries
    const judges = history.points.at(-1)?.sequences;
    const judged = `judged on its first ${judges ?? '…'} test images`;
    if (values['data'] !== 'mnist')
        return (
            <p class="say">
                Trained on procedural digits: drawn by a generator in this page, not MNIST
                {mnistKey(values) ? <>; {judged.replace('its', 'MNIST’s')}</> : null}.
                {mnistKey(values) && <Attribution />}
            </p>
        );
    const images = Number(values['images']);
    return (
        <p class="say">
            Trained on MNIST{images ? <>: its first {images} training images</> : null}, {judged}.
            <Attribution />
        </p>
    );
}
