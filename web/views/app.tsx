// app.tsx: the page around its views.
import { said } from '../state/page.ts';
import { Header } from './header.tsx';
import { Notice } from './notice.tsx';
import { Offer } from './offer.tsx';
import { album, Pictures } from './pictures.tsx';
import { Sheet } from './shortcuts.tsx';
import { OpenView, Tabs } from './switcher.tsx';
import { TermLine } from './worded.tsx';

export function App() {
    return (
        <>
            <Header />
            <Tabs />
            <main>
                <Notice />
                <Offer />
                <OpenView />
            </main>
            <Footer />
            <Sheet />
            <Pictures />
            <TermLine />
            <p class="unseen" role="status" aria-live="polite">
                {said.value}
            </p>
        </>
    );
}

function Footer() {
    return (
        <footer>
            <p>
                Everything is computed in this browser, in WebAssembly, to the same last bit as by the native
                program. The address holds the whole setup: copy it to share what you see.
            </p>
            <button type="button" onClick={() => (album.value = true)}>
                Save pictures of this view …
            </button>
        </footer>
    );
}
