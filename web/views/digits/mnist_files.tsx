// mnist_files.tsx: the real MNIST: a part of it in one press, all of it from files that are dropped or
// chosen. Either is kept in this browser.
import { useState } from 'preact/hooks';
import type { Entry } from '../../state/entry.ts';
import { pick } from '../../core/files.ts';
import { areOwn, OWN } from '../../state/views/digits.ts';
import {
    complete,
    fetches,
    fetchPart,
    FILES,
    forgetFiles,
    held,
    licence,
    take,
    whole,
} from '../../state/views/mnist.ts';
import { setKeys } from '../../state/roster.ts';
import { MNIST_PART } from '../../state/setup.ts';
import { openLesson } from '../../state/start.ts';
import { play } from '../../state/transport.ts';

const COUNT = MNIST_PART.train.toLocaleString('en');
const PART = `The first ${COUNT} training and ${MNIST_PART.test.toLocaleString('en')} test images`;
const SIZE = '1.3 MB';
const MIRROR = 'https://storage.googleapis.com/cvdf-datasets/mnist/';

/** Whose MNIST is. */
export function Attribution() {
    return (
        <>
            {' '}
            MNIST: copyright Yann LeCun and Corinna Cortes, derived from NIST’s data sets, under{' '}
            <a href="https://creativecommons.org/licenses/by-sa/3.0/">CC BY-SA 3.0</a>.
        </>
    );
}

const here = (name: (typeof FILES)[number]): boolean => held.value.has(name) && !(complete() && !whole.value);

/** Train these runs on what is here of MNIST. */
function train(readers: readonly Entry[]): void {
    const data = { data: 'mnist', test: 'same', images: whole.value ? '0' : String(MNIST_PART.train) };
    if (areOwn.value) {
        openLesson(OWN.replace('~', `&data=mnist&images=${data.images}~`), { view: 'digits', speed: 'full' });
        return;
    }
    if (!setKeys(readers[0]!, data)) play();
}

/** Train on a part that is fetched first, or on what is here already. */
function OnePress({ readers, tell }: { readers: readonly Entry[]; tell: (problems: string[]) => void }) {
    const [fetching, wait] = useState(false);
    const images = readers[0]?.values['data'] === 'mnist' ? Number(readers[0].values['images']) : -1;
    const onThese = whole.value ? images >= 0 : images > 0 && images <= MNIST_PART.train;
    const fetchAndTrain = async () => {
        wait(true);
        const problem = complete() ? null : await fetchPart();
        wait(false);
        tell(problem ? [problem] : []);
        if (!problem) train(readers);
    };
    return (
        <>
            {!complete() && (
                <p class="say">
                    {fetches
                        ? `One press fetches ${PART.toLowerCase()} from this site.`
                        : 'This single-file page contains no MNIST images; on the website one press fetches some of them.'}
                    <Attribution />
                    {fetches && (
                        <>
                            {' '}
                            <a href={licence()}>What was changed</a>
                        </>
                    )}
                </p>
            )}
            {(complete() ? !onThese : fetches) && (
                <button
                    type="button"
                    class="primary"
                    disabled={fetching}
                    onClick={() => void fetchAndTrain()}
                >
                    {fetching
                        ? 'Fetching …'
                        : whole.value
                          ? 'Train these runs on MNIST'
                          : complete()
                            ? `Train on ${COUNT} real digits`
                            : `Train on ${COUNT} real digits (${SIZE})`}
                </button>
            )}
        </>
    );
}

export function MnistFiles({ readers }: { readers: readonly Entry[] }) {
    const [problems, tell] = useState<string[]>([]);
    const [over, hover] = useState(false);
    const accept = async (files: File[]) => tell(files.length ? await take(files) : []);
    return (
        <section
            class={`drop${over ? ' over' : ''}`}
            aria-labelledby="mnist-title"
            onDragOver={(event) => {
                event.preventDefault();
                hover(true);
            }}
            onDragLeave={() => hover(false)}
            onDrop={(event) => {
                event.preventDefault();
                hover(false);
                void accept([...(event.dataTransfer?.files ?? [])]);
            }}
        >
            <h3 id="mnist-title">The real MNIST</h3>
            <OnePress readers={readers} tell={tell} />
            <p class="say">
                {whole.value
                    ? 'All four files are here.'
                    : `${complete() ? `${PART} are here. ` : ''}For all 60,000, drop the four files here, as they are or as .gz.`}{' '}
                They stay in this browser: nothing is sent anywhere.
            </p>
            <ul class="files">
                {FILES.map((name) => (
                    <li key={name}>
                        <span aria-hidden="true">{here(name) ? '✓' : '·'}</span>{' '}
                        <a class="number" href={`${MIRROR}${name}.gz`}>
                            {name}
                        </a>
                        <span class="unseen">{here(name) ? ' is here' : ' is missing'}</span>
                    </li>
                ))}
            </ul>
            {problems.map((text) => (
                <p key={text} class="why" role="alert">
                    {text}.
                </p>
            ))}
            <div class="row">
                <button type="button" onClick={() => void pick('', true).then(accept)}>
                    Choose files …
                </button>
                {held.value.size > 0 && (
                    <button type="button" onClick={forgetFiles}>
                        Forget them
                    </button>
                )}
            </div>
        </section>
    );
}
