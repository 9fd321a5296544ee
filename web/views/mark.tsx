// mark.tsx: the sign of a run, and its name beside it.
import { nameOf, type Entry } from '../state.ts';
import type { Mark } from '../marks.ts';

export function MarkSign({ mark }: { mark: Mark }) {
    return (
        <svg class={`mark ${mark.colour.slice(2)}`} viewBox="-8.5 -8.5 17 17" aria-hidden="true">
            <path d={mark.path} />
        </svg>
    );
}

export function RunName({ entry }: { entry: Entry }) {
    const [mixer, ...changes] = nameOf(entry).split(' · ');
    return (
        <span class="run-name">
            <MarkSign mark={entry.mark} />
            <span>
                {mixer}
                {changes.map((change) => [' ', <Badge key={change}>{change}</Badge>])}
            </span>
        </span>
    );
}

/** A changed key; breaks between words, not inside. */
export function Badge({ children }: { children: string }) {
    return <span class="badge">{children}</span>;
}
