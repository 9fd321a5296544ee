// mnist_files.tsx: handing over the MNIST files: dropped or chosen, kept in this browser.
import { useState } from 'preact/hooks';
import type { Entry } from '../../state/entry.ts';
import { pick } from '../../core/files.ts';
import { complete, FILES, forgetFiles, held, take } from '../../state/views/mnist.ts';
import { setKey } from '../../state/roster.ts';
import { openView } from '../../state/viewing.ts';

export function MnistFiles({ readers }: { readers: readonly Entry[] }) {
    const [problems, tell] = useState<string[]>([]);
    const [over, hover] = useState(false);
    const accept = async (files: File[]) => tell(files.length ? await take(files) : []);
    const first = readers[0];
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
            <p class="say">
                Drop its four files here, as they are or as .gz. They stay in this browser: nothing is sent
                anywhere.
            </p>
            <ul class="files">
                {FILES.map((name) => (
                    <li key={name}>
                        <span aria-hidden="true">{held.value.has(name) ? '✓' : '·'}</span>{' '}
                        <span class="number">{name}</span>
                        <span class="unseen">{held.value.has(name) ? ' is here' : ' is missing'}</span>
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
                {complete() && first && first.values['data'] !== 'mnist' && (
                    <button
                        type="button"
                        class="primary"
                        onClick={() => {
                            setKey(first, 'data', 'mnist');
                            openView('digits');
                        }}
                    >
                        Train these runs on MNIST
                    </button>
                )}
                {held.value.size > 0 && (
                    <button type="button" onClick={forgetFiles}>
                        Forget them
                    </button>
                )}
            </div>
        </section>
    );
}
