// <seqmix-run config="…">: trains in a worker as soon as it stands in a page, and draws the loss as it falls.
import { createWorker } from 'seqmix/url';

const lab = createWorker();

class SeqmixRun extends HTMLElement {
    #on = false;

    async connectedCallback() {
        const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
        root.innerHTML = `<style>path { fill: none; stroke: currentColor; vector-effect: non-scaling-stroke }</style>
            <svg width="320" height="120" preserveAspectRatio="none" role="img" aria-label="loss"><path /></svg>
            <output>…</output>`;
        const [svg, path, output] = ['svg', 'path', 'output'].map((name) => root.querySelector(name));
        this.#on = true;
        let run;
        try {
            run = await (await lab).open(this.getAttribute('config'));
            let now = await run.metrics;
            while (this.#on && now.step < now.steps) {
                await run.step(Math.min(10, now.steps - now.step));
                now = await run.metrics;
                const losses = await run.losses();
                svg.setAttribute('viewBox', `0 0 ${now.steps} ${losses[0]}`);
                const at = (loss, step) => `${step ? 'L' : 'M'}${step} ${losses[0] - loss}`;
                path.setAttribute('d', Array.from(losses, at).join(''));
                output.textContent = `step ${now.step}, loss ${now.loss.toFixed(3)}`;
            }
            const { accuracy } = await run.evaluate({ count: 100 });
            output.textContent = `${await run.digest()} accuracy ${accuracy}`;
        } catch (error) {
            output.textContent = error.message; // a sentence: what, the value, what is allowed
        }
        await run?.close();
    }
    disconnectedCallback() {
        this.#on = false;
    }
}
customElements.define('seqmix-run', SeqmixRun);
