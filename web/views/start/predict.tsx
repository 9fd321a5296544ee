// predict.tsx: the reader says what a filter on the contents alone does, and it is tried (step 5).
import { accuracyOf, guessed, isTrained, learn } from '../../state/views/story.ts';
import { Climb } from './climb.tsx';
import { share, Choices } from './frame.tsx';

/** The reader predicts what a filter on the contents alone does, and it is tried. */
export function Predict() {
    const guess = guessed.value;
    const result = accuracyOf('values');
    return (
        <div class="predict">
            <h4>Now predict</h4>
            <p>
                Put the same filter on the contents (the values) alone: three weights mix the contents of the
                two tokens before it into the content of each token, never those of the tokens after it. The
                labels (keys) stay as they are. Does this model recall?
            </p>
            <Choices
                label="Your prediction"
                choices={[
                    ['yes', 'It recalls'],
                    ['no', 'It guesses'],
                ]}
                value={guess}
                set={(value) => {
                    guessed.value = value;
                    learn('values');
                }}
            />
            {guess && (
                <>
                    <Climb kinds={['attention', 'keys', 'values']} />
                    <p>
                        {!isTrained('values')
                            ? 'It learns …'
                            : (result ?? 1) < 0.25
                              ? `${guess === 'no' ? 'As you said: it guesses' : 'No: it guesses'}, ${share(result)} right. No label says what stood before it, so the question cannot find its icon. It could find the letter itself, but the content there comes from the tokens before the letter, not from the icon after it.`
                              : `It reaches ${share(result)}.`}
                    </p>
                </>
            )}
        </div>
    );
}
