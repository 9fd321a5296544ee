// sweep_offer.tsx: the place of the grid below the runs; what is in it is fetched when it is opened.
import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';

export function SweepOffer() {
    const [View, set] = useState<ComponentType | null>(null);
    return (
        <details
            class="sweep-offer"
            onToggle={() => void import('./sweep.tsx').then(({ default: view }) => set(() => view))}
        >
            <summary>Grid: several values of one setting</summary>
            {View && <View />}
        </details>
    );
}
