// why.tsx: why a run answers a line of recall as it does, from where its questions look.
import type { Sample } from '../../../wasm/loader/seqmix.ts';
import { percent } from '../../core/figures.ts';
import { sharesOf } from '../../core/recall.ts';

/** How much more than an even share a place must get to be found. */
const CLEARLY = 2;

/** `map`: of one head, [length][length]. */
export function Why({ sample, map }: { sample: Sample; map: Float32Array }) {
    const { tokens, targets, predicted } = sample;
    const shares =
        tokens && targets && predicted && targets.length === tokens.length
            ? sharesOf(tokens, targets, map)
            : null;
    if (!shares) return null;
    const asked = [...targets!.keys()].filter((i) => targets![i]! >= 0);
    const right = asked.filter((i) => predicted![i] === targets![i]).length / asked.length;
    const { answers, keys, even, again, evenAgain } = shares;
    return (
        <p class="why-so">
            {right >= 0.9 ? 'Why it works' : right < 0.5 ? 'Why it fails' : 'How far it is'}: on average its
            questions give <b class="number">{percent(answers)}</b> of their attention to the values that they
            ask for (spread evenly it would be {percent(even)}) and <b class="number">{percent(keys)}</b> to
            their own keys.{' '}
            {right >= 0.9
                ? answers > 0.5
                    ? 'It finds the value by the key that stood before it.'
                    : 'What it needs does not come through this map.'
                : answers > 0.5
                  ? 'It looks in the right places; what it takes from there is not yet the answer.'
                  : again > answers && again > CLEARLY * evenAgain
                    ? 'It finds where the key stood before, but the answer stands one place to the right of it.'
                    : 'It finds neither: most of its attention lies on tokens that do not help.'}
        </p>
    );
}
