// in_turn.tsx: a part of a view that takes news in a task of its own (core/turns.ts).
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { callOff, inTurn } from '../../core/turns.ts';
import type { Entry } from '../../state/entry.ts';
import type { Look } from '../../training/protocol.ts';

interface Props {
    now: Look;
    entry: Entry;
    /** Of signals it reads those alone that its components read themselves. */
    children: (now: Look) => ComponentChildren;
}

/** What is to be seen of a sample; of another sample, run or block at once. */
export function InTurn({ now, entry, children }: Props) {
    const [taken, take] = useState(now);
    const latest = useRef(now);
    latest.current = now;
    const call = useMemo(() => () => take(latest.current), []);
    const alike = taken.id === now.id && taken.index === now.index && taken.block === now.block;
    const shown = alike ? taken : now;
    useLayoutEffect(() => {
        if (taken !== now) inTurn(call);
    }, [now]);
    useLayoutEffect(() => () => callOff(call), []);
    return useMemo(() => <>{children(shown)}</>, [shown, entry]);
}
