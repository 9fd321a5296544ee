// notice.tsx: what went wrong, in words, above everything else; and the page that stands in for one that
// cannot start.
import { trouble } from '../../state/page.ts';
import { dismiss } from '../../state/start.ts';

export function Notice() {
    const now = trouble.value;
    if (!now) return null;
    const { message } = now.problem;
    return (
        <div class="notice" role="alert">
            <p>
                {now.from === 'address' ? 'This link isn’t valid: ' : ''}
                <strong>{message}</strong>
                {/[.!?]$/.test(message) ? '' : '.'}{' '}
                {now.from === 'address' && 'The setup below is unchanged.'}
            </p>
            <button type="button" onClick={dismiss}>
                Keep the setup below
            </button>
        </div>
    );
}

export function Broken({ message }: { message: string }) {
    return (
        <main class="broken" role="alert">
            <h1>seqmix</h1>
            <p>This page could not start: {message}.</p>
            <p>
                It needs a browser with WebAssembly and module workers: Chromium or Edge 80, Firefox 114,
                Safari 16.4 or newer.
            </p>
        </main>
    );
}
