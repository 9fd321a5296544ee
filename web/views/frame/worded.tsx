// worded.tsx: a sentence whose terms can be asked what they mean; the answer stands in a place of its own, so
// that nothing moves.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { lineOf, pieces } from '../../core/words.ts';

/** The term that is asked for. */
const term = signal<string | null>(null);

export function Worded({ children }: { children: string }) {
    return (
        <>
            {pieces(children).map(({ text, term: known }, i) =>
                known ? <Term key={`${i} ${text}`} text={text} /> : text,
            )}
        </>
    );
}

function Term({ text }: { text: string }) {
    const asks = useRef(false);
    const ask = () => {
        asks.current = true;
        term.value = text;
    };
    const leave = () => {
        asks.current = false;
        term.value = null;
    };
    // (What goes from under the pointer hears nothing of it.)
    useEffect(() => () => void (asks.current && leave()), []);
    return (
        <button
            type="button"
            class="term"
            aria-describedby="term-line"
            onPointerEnter={ask}
            onPointerLeave={leave}
            onFocus={ask}
            onClick={ask}
            onBlur={leave}
            onKeyDown={({ key }) => key === 'Escape' && leave()}
        >
            {text}
        </button>
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
