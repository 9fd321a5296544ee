// undone.tsx: Undo of a removal, at hand for a while where its own button, above the curves, is out of sight.
import { useEffect, useRef, useState } from 'preact/hooks';
import { undo, undoable } from '../../state/undo.ts';

const STAYS = 10_000; // milliseconds
const REMOVAL = 'the removal';

export function Undone() {
    const last = undoable.value;
    const [shown, show] = useState(false);
    const host = useRef<HTMLDivElement>(null);
    useEffect(() => {
        const own = document.querySelector('.transport .undo');
        if (last?.what !== REMOVAL || !own) return show(false);
        // (Who is at it keeps it.)
        const go = () => host.current!.contains(document.activeElement) || show(false);
        const observer = new IntersectionObserver((seen) =>
            seen.at(-1)!.isIntersecting ? go() : show(true),
        );
        observer.observe(own);
        const timer = setInterval(() => {
            observer.disconnect();
            go();
        }, STAYS);
        return () => {
            observer.disconnect();
            clearInterval(timer);
        };
    }, [last]);
    return (
        <div class="undone" aria-live="polite" ref={host}>
            {shown && last && (
                <button type="button" onClick={undo}>
                    {last.redo ? 'Redo' : 'Undo'} {last.what}
                </button>
            )}
        </div>
    );
}
