// card.tsx: the end of the story: what was seen, as a picture and a link to send on.
import { colourOf } from '../../core/colour.ts';
import { CARD_HEIGHT, CARD_WIDTH, cardOf } from '../../charts/card.ts';
import { pngOf } from '../../charts/svg.ts';
import { percent } from '../../core/figures.ts';
import { download } from '../../core/files.ts';
import { said } from '../../state/page.ts';
import { accuracyOf, isTrained, learnt } from '../../state/views/story.ts';
import { Copy } from '../experiment/numbers.tsx';

const isFile = location.protocol === 'file:';
const home = () => location.href.replace(/[?#].*/, '');

export default function EndCard() {
    const [without, right] = [accuracyOf('attention'), accuracyOf('keys')];
    const taps = learnt.value;
    if (
        !isTrained('attention') ||
        !isTrained('keys') ||
        without === undefined ||
        right === undefined ||
        !taps
    )
        return null;
    const svg = cardOf({
        without,
        with: right,
        taps,
        address: isFile
            ? ''
            : home()
                  .replace(/^https?:\/\//, '')
                  .replace(/\/$/, ''),
        colours: {
            paper: colourOf('--paper', 'light'),
            tint: colourOf('--tint', 'light'),
            ink: colourOf('--ink', 'light'),
            grey: colourOf('--ink-2', 'light'),
            without: colourOf('--run-2', 'light'),
            with: colourOf('--run-1', 'light'),
        },
    });
    return (
        <section class="end" aria-labelledby="end-title">
            <div class="words">
                <h4 id="end-title">Send it on</h4>
                <div class="row">
                    <button
                        type="button"
                        onClick={() =>
                            void pngOf(svg).then((png) => {
                                download('seqmix-card.png', png, 'image/png');
                                said.value = 'The picture is in your downloads.';
                            })
                        }
                    >
                        Save the picture
                    </button>
                </div>
                {!isFile && <Copy text={home()} label="Copy the link" />}
            </div>
            <img
                src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`}
                width={CARD_WIDTH}
                height={CARD_HEIGHT}
                alt={`Attention can’t remember who stood next to whom. Three weights fix that: ${percent(without)} of the answers right without them, ${percent(right)} with them.`}
            />
        </section>
    );
}
