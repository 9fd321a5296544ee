// mark.tsx: the sign of a run, and its name beside it.
import type { Entry } from '../../state/entry.ts';
import { groups } from '../../state/page.ts';
import { nameOf } from '../../state/wording.ts';
import type { Mark } from '../../core/marks.ts';

export function MarkSign({ mark }: { mark: Mark }) {
    return (
        <svg class={`mark ${mark.colour.slice(2)}`} viewBox="-8.5 -8.5 17 17" aria-hidden="true">
            <path d={mark.path} />
        </svg>
    );
}

/** `brief`: without the task, where it stands beside. */
export function RunName({ entry, brief = false }: { entry: Entry; brief?: boolean }) {
    const [mixer, ...all] = nameOf(entry).split(' · ');
    const changes = brief && groups.value.length > 1 ? all.slice(1) : all;
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

/** A changed key; breaks between words, and where it must behind a sign. */
export function Badge({ children }: { children: string }) {
    return (
        <span class="badge">
            {children
                .match(/[\w\s]*[^\w\s]|[\w\s]+/g)
                ?.map((part, i) => (i ? [<wbr key={i} />, part] : part))}
        </span>
    );
}
