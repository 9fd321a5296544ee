// share.tsx: what is seen, for others: a link that shows these curves and trains again, one picture of curves
// and map, and a live figure for somebody's article.
import { signal } from '@preact/signals';
import { pictureOf } from '../../../charts/picture.ts';
import { composed, pngOf, svgOf } from '../../../charts/svg.ts';
import { colourOf } from '../../../core/colour.ts';
import { download } from '../../../core/files.ts';
import { writeGhosts } from '../../../core/ghosts.ts';
import { addressOf } from '../../../state/address.ts';
import { score } from '../../../state/history.ts';
import { lesson, outcome } from '../../../state/views/lesson.ts';
import { groups, runs, said } from '../../../state/page.ts';
import { drawn } from '../../experiment/drawn.ts';
import { Dialog } from '../dialog.tsx';
import { Copy } from '../../experiment/numbers.tsx';
import '../../../styles/views/share.css';

export const sharing = signal(false);

const ghostsOf = (): string =>
    writeGhosts(
        runs.value.map(({ history }) =>
            history.points.map((point) => ({ step: point.step, score: score(point) })),
        ),
    );
/** The page is a file on this computer: an address of it opens nowhere else. */
const isFile = location.protocol === 'file:';
/** What is shown, for a caption: of a file only what follows its name. */
const captionOf = (address: string) => (isFile ? address : new URL(address, location.href).href);
const linkOf = (view: string): string =>
    new URL(addressOf({ view, ghost: ghostsOf(), go: 1, run: 0, sample: 0, detail: '' }), location.href).href;
const quoted = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** Curves of every task and the map that is open, over a caption. */
async function picture(kind: 'svg' | 'png'): Promise<void> {
    const map = document.querySelector('main figure.map');
    const caption = [
        outcome() || lesson.value.sentence,
        captionOf(addressOf({ run: 0, detail: '', ghost: '' })),
    ];
    const parts = groups.value.map((entries) => svgOf(drawn(entries, 'accuracy')));
    if (map?.checkVisibility()) parts.push(pictureOf(map));
    const svg = composed(parts, caption, {
        sheet: colourOf('--sheet'),
        ink: colourOf('--ink', 'light'),
    });
    download(`seqmix.${kind}`, kind === 'svg' ? svg : await pngOf(svg), 'image/svg+xml');
    said.value = 'The picture is in your downloads.';
}

export default function Share() {
    const embed = linkOf('embed');
    const home = new URL('seqmix-run.js', document.baseURI).href;
    const config = addressOf().slice(1).split('!')[0]!;
    const ghost = ghostsOf();
    return (
        <Dialog open={sharing} title="Share what you see">
            {sharing.value && (
                <div class="share">
                    {isFile ? (
                        <>
                            <p class="say">
                                This page is a file on your computer, so a link to it opens nowhere else. Send
                                the file, and the part of the address that follows its name:
                            </p>
                            <Copy text={new URL(linkOf('experiment')).hash} label="Copy the setup" />
                        </>
                    ) : (
                        <>
                            <p class="say">
                                A link that shows these curves faintly and trains the runs again by itself.
                            </p>
                            <Copy text={linkOf('experiment')} label="Copy the link" />
                        </>
                    )}
                    <p class="say">One picture of the curves, the attention map and the result.</p>
                    <p class="row">
                        {(['svg', 'png'] as const).map((kind) => (
                            <button key={kind} type="button" onClick={() => void picture(kind)}>
                                The picture as {kind.toUpperCase()}
                            </button>
                        ))}
                    </p>
                    {!isFile && (
                        <>
                            <p class="say">
                                A live figure for an article: as a frame, or as an element of your own page.
                            </p>
                            <Copy
                                text={`<iframe src="${quoted(embed)}" title="seqmix" width="720" height="460" loading="lazy"></iframe>`}
                                label="Copy the frame"
                            />
                            <Copy
                                text={`<script src="${quoted(home)}"></script> <seqmix-run config="${quoted(config)}"${ghost ? ` ghost="${ghost}"` : ''}></seqmix-run>`}
                                label="Copy the element"
                            />
                        </>
                    )}
                </div>
            )}
        </Dialog>
    );
}
