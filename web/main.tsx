// main.tsx: loads the engine, starts the state, puts the page up.
import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './style.css';
import wasm from '../build/wasm/seqmix.wasm?url';
import scalar from '../build/wasm/seqmix-scalar.wasm?url';
import { load } from '../wasm/seqmix.ts';
import { restoreFiles } from './mnist.ts';
import { watchSession } from './session.ts';
import { inspect, start } from './state.ts';
import { applyTheme } from './theme.ts';
import { App } from './views/app.tsx';
import { Broken } from './views/notice.tsx';
import { listen } from './views/shortcuts.tsx';

applyTheme();
const root = document.getElementById('app')!;
try {
    const base = document.baseURI;
    start(await load({ wasm: new URL(wasm, base), scalar: new URL(scalar, base) }));
    Object.assign(globalThis, { seqmix: inspect });
    render(<App />, root);
    listen();
    void watchSession();
    void restoreFiles();
} catch (error) {
    render(<Broken message={(error as Error).message} />, root);
}
