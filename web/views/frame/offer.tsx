// offer.tsx: the last visit's runs, offered.
import { forget, offer, takeUp } from '../../state/session.ts';

function ago(when: number): string {
    const minutes = Math.round((Date.now() - when) / 60_000);
    if (minutes < 2) return 'just now';
    if (minutes < 120) return `${minutes} minutes ago`;
    const hours = Math.round(minutes / 60);
    return hours < 48 ? `${hours} hours ago` : `${Math.round(hours / 24)} days ago`;
}

export function Offer() {
    const now = offer.value;
    if (!now) return null;
    return (
        <div class="offer" role="region" aria-label="Your last visit">
            <p>
                Last visit ({ago(now.when)}): {now.runs === 1 ? 'a run' : `${now.runs} runs`}, to step{' '}
                {now.steps}.
            </p>
            <button type="button" class="primary" onClick={takeUp}>
                Continue
            </button>
            <button type="button" onClick={forget}>
                Discard
            </button>
        </div>
    );
}
