// main.tsx: loads the engine, starts the state, puts the page up.
import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './styles/font.css';
import './styles/palette.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/controls.css';
import './styles/runs.css';
import './styles/race.css';
import './styles/numbers.css';
import './styles/inside.css';
import './styles/inside_edit.css';
import './styles/class.css';
import wasm from '../build/wasm/seqmix.wasm?url';
import scalar from '../build/wasm/seqmix-scalar.wasm?url';
import { load } from '../wasm/loader/seqmix.ts';
import { restoreFiles } from './state/views/mnist.ts';
import { watchSession } from './state/session.ts';
import { inspect, start, viewAsked } from './state/start.ts';
import { restoreText } from './state/views/own_text.ts';
import { view } from './state/page.ts';
import { startEarly } from './training/pool.ts';
import { applyTheme } from './core/theme.ts';
import { App } from './views/frame/app.tsx';
import { FIRST_VIEW } from './views/list.ts';
import { Broken } from './views/frame/notice.tsx';
import { listen } from './views/frame/shortcuts.tsx';
import { fetchAhead } from './views/frame/switcher.tsx';
import { listenForTables } from './views/experiment/table_part.tsx';

/** Keep the page's files, so that it opens without a network next time; later, when the first view has its
 * numbers. (Not where it is isolated: Firefox then loads no further part of a page with a service worker.) */
function keepOffline(): void {
    if (!import.meta.env.PROD || import.meta.env.MODE === 'single' || !('serviceWorker' in navigator)) return;
    if (crossOriginIsolated) return;
    setTimeout(() => {
        navigator.serviceWorker.register(new URL('sw.js', document.baseURI)).catch(() => {
            // it may be switched off: then the page needs its host
        });
    }, 3000);
}

applyTheme();
const root = document.getElementById('app')!;
try {
    const base = document.baseURI;
    const engine = load({ wasm: new URL(wasm, base), scalar: new URL(scalar, base) });
    startEarly(); // beside the engine, as the view is fetched
    void fetchAhead(viewAsked());
    start(await engine);
    if (view.value.view === FIRST_VIEW) await fetchAhead(FIRST_VIEW);
    Object.assign(globalThis, { seqmix: inspect });
    render(<App />, root);
    listen();
    listenForTables();
    void watchSession();
    void restoreFiles();
    void restoreText();
    keepOffline();
} catch (error) {
    render(<Broken message={(error as Error).message} />, root);
}
