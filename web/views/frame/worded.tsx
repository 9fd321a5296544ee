// worded.tsx: a sentence whose terms can be asked what they mean; the answer stands in a place of its own, so
// that nothing moves.
import { signal } from '@preact/signals';
import { lineOf, pieces } from '../../core/words.ts';

/** The term that is asked for. */
const term = signal<string | null>(null);

export function Worded({ children }: { children: string }) {
    return (
        <>
            {pieces(children).map(({ text, term: known }, i) =>
                known ? (
                    <button
                        key={i}
                        type="button"
                        class="term"
                        aria-describedby="term-line"
                        onPointerEnter={() => (term.value = text)}
                        onPointerLeave={() => (term.value = null)}
                        onFocus={() => (term.value = text)}
                        onClick={() => (term.value = text)}
                        onBlur={() => (term.value = null)}
                        onKeyDown={({ key }) => key === 'Escape' && (term.value = null)}
                    >
                        {text}
                    </button>
                ) : (
                    text
                ),
            )}
        </>
    );
}

export function TermLine() {
    const asked = term.value;
    return (
        <p id="term-line" class="term-line" role="tooltip" hidden={!asked}>
            {asked && (
                <>
                    <b>{asked}</b> {lineOf(asked)}
                </>
            )}
        </p>
    );
}
