// flow_part.tsx: the way to flow.tsx, fetched when a flow is first shown.
import { signal } from '@preact/signals';
import type { ComponentProps, FunctionComponent } from 'preact';
import type { Flow } from './flow.tsx';

type Props = ComponentProps<typeof Flow>;
const part = signal<FunctionComponent<Props> | null>(null);
let fetching = false;

export function FlowPart(props: Props) {
    const View = part.value;
    if (View) return <View {...props} />;
    if (!fetching) {
        fetching = true;
        setTimeout(() =>
            import('./flow.tsx').then(
                (loaded) => (part.value = loaded.Flow),
                () => (fetching = false), // the next drawing tries again
            ),
        );
    }
    return <p class="say">Loading the picture …</p>;
}
