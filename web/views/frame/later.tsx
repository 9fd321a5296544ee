// later.tsx: what is folded away is drawn a moment after the rest, one part in a task of its own: many of
// them would hold the page up together.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const waiting = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;
function next(): void {
    timer = undefined;
    const [first] = waiting;
    if (!first) return;
    waiting.delete(first);
    if (waiting.size) timer = setTimeout(next);
    first();
}

export function Later({ children }: { children: () => ComponentChildren }) {
    const [due, draw] = useState(false);
    useEffect(() => {
        const mine = () => draw(true);
        waiting.add(mine);
        timer ??= setTimeout(next);
        return () => void waiting.delete(mine);
    }, []);
    return due ? <>{children()}</> : null;
}
