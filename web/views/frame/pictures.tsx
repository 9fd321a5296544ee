// pictures.tsx: every chart, map and drawing of the open view, to be taken along as SVG or PNG.
import { signal } from '@preact/signals';
import { download } from '../../core/files.ts';
import { said } from '../../state/page.ts';
import { Dialog } from './dialog.tsx';

export const album = signal(false);

const HOSTS = 'main figure, main [data-picture], main .drawing:not(figure .drawing)';

/** What can be taken: each with its caption. */
function pictures(): { name: string; host: Element }[] {
    return [...document.querySelectorAll<HTMLElement>(HOSTS)]
        .filter((host) => host.checkVisibility())
        .map((host) => {
            const caption = (
                host.querySelector('figcaption :is(h2, h3)') ?? host.querySelector('figcaption')
            )?.cloneNode(true);
            if (caption instanceof Element) caption.querySelectorAll('.axes').forEach((one) => one.remove());
            const label = host.querySelector('svg')?.getAttribute('aria-label');
            const own = host.dataset['picture'] ?? caption?.textContent ?? label ?? '';
            const task = host.closest('.group.several')?.querySelector(':scope > h2')?.textContent;
            const name = task ? `${task}: ${own}` : own;
            return { name: name.replace(/\s+/g, ' ').trim() || 'picture', host };
        });
}

async function take(host: Element, name: string, kind: 'svg' | 'png'): Promise<void> {
    const [{ pictureOf }, { pngOf }] = await Promise.all([
        import('../../charts/picture.ts'),
        import('../../charts/svg.ts'),
    ]);
    const svg = pictureOf(host);
    const file = `seqmix-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.${kind}`;
    download(file, kind === 'svg' ? svg : await pngOf(svg), 'image/svg+xml');
    said.value = `${file} is in your downloads.`;
}

export function Pictures() {
    const all = album.value ? pictures() : [];
    return (
        <Dialog open={album} title="Pictures of this view">
            {album.value && all.length === 0 && <p class="say">This view has no picture at the moment.</p>}
            <ul class="album">
                {all.map(({ name, host }, i) => (
                    <li key={i}>
                        <span>{name}</span>
                        {(['svg', 'png'] as const).map((kind) => (
                            <button
                                key={kind}
                                type="button"
                                aria-label={`${name} as ${kind.toUpperCase()}`}
                                onClick={() => void take(host, name, kind)}
                            >
                                {kind.toUpperCase()}
                            </button>
                        ))}
                    </li>
                ))}
            </ul>
        </Dialog>
    );
}
