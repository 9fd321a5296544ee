// embed.tsx: one figure and its sentence, for a frame in somebody's article (`view=embed`).
import { addressOf } from '../../../state/address.ts';
import { lesson, outcome } from '../../../state/views/lesson.ts';
import { finished, groups, playing, refused, trouble } from '../../../state/page.ts';
import { pause, play } from '../../../state/transport.ts';
import { Accuracy } from '../../experiment/curves.tsx';
import '../../../styles/views/embed.css';

export default function Embed() {
    return (
        <main class="embed">
            <h1 class="unseen">seqmix</h1>
            {trouble.value && (
                <p class="why" role="alert">
                    {trouble.value.problem.message}.
                </p>
            )}
            {groups.value.map((entries) => (
                <Accuracy
                    key={entries[0]!.values['task']}
                    entries={entries}
                    several={groups.value.length > 1}
                    Heading="h2"
                />
            ))}
            <p>{outcome() || lesson.value.sentence}</p>
            <p class="embed-foot">
                <button type="button" disabled={refused.value} onClick={playing.value ? pause : play}>
                    {playing.value ? 'Pause' : finished.value ? 'Start again' : 'Start'}
                </button>
                <a href={addressOf({ view: 'experiment' })} target="_blank" rel="noopener">
                    Trained in this frame by seqmix: open it
                </a>
            </p>
        </main>
    );
}
