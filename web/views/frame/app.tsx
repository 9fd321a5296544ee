// app.tsx: the page around its views.
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { said, view } from '../../state/page.ts';
import { Header } from './header.tsx';
import { Notice } from './notice.tsx';
import { Offer } from './offer.tsx';
import { album, Pictures } from './pictures.tsx';
import { Projector, turnProjector } from './projector.tsx';
import { share, SharePart } from './share/share_part.tsx';
import { Sheet } from './shortcuts.tsx';
import { OpenView, Tabs } from './switcher.tsx';
import { TermLine } from './worded.tsx';

const embed = signal<ComponentType | null>(null);

export function App() {
    if (view.value.view === 'embed') {
        const Embed = embed.value;
        if (Embed) return <Embed />;
        void import('./share/embed.tsx').then((loaded) => (embed.value = loaded.default));
        return <main />;
    }
    return (
        <>
            <a class="skip" href="#main" onClick={skip}>
                Skip to the content
            </a>
            <Header />
            <div class="below-header">
                <Tabs />
                <Offer />
            </div>
            <main id="main" tabIndex={-1}>
                <Notice />
                <OpenView />
            </main>
            <Footer />
            <Sheet />
            <Pictures />
            <TermLine />
            <SharePart />
            <Projector />
            <p class="unseen" role="status" aria-live="polite">
                {said.value}
            </p>
        </>
    );
}

/** (The address after '#' is the setup: it stays.) */
function skip(event: Event): void {
    event.preventDefault();
    document.getElementById('main')?.focus();
}

function Footer() {
    return (
        <footer>
            <p class="claim">Sequence mixers, trained side by side. Which of them can look things up?</p>
            <p>
                Everything is computed in this browser, in WebAssembly, to the same last bit as by the native
                program. The address holds the whole setup: copy it to share what you see.
            </p>
            <button type="button" onClick={() => void share()}>
                Share what you see …
            </button>
            <button type="button" onClick={() => (album.value = true)}>
                Save pictures of this view …
            </button>
            <button type="button" class="present-phone" onClick={turnProjector}>
                Projector mode
            </button>
        </footer>
    );
}
