// seqmix-run.js: an element for somebody's article:
//     <script src="https://HOST/seqmix-run.js"></script>
//     <seqmix-run config="mixer=cat&task=mqar~mixer=attention"></seqmix-run>
// trains the runs of `config` in a frame and shows their curves; `ghost`, from the page's Share, shows those
// of an earlier training behind them; `height` in pixels.
// (A plain script: a module from another host would need that host's leave.)
const home = new URL('./', document.currentScript.src);

customElements.define(
    'seqmix-run',
    class extends HTMLElement {
        static observedAttributes = ['config', 'ghost', 'height'];
        connectedCallback() {
            this.#show();
        }
        attributeChangedCallback() {
            if (this.isConnected) this.#show();
        }
        #show() {
            const frame = this.querySelector('iframe') ?? this.appendChild(document.createElement('iframe'));
            const ghost = this.getAttribute('ghost');
            const address = `#${this.getAttribute('config') ?? ''}!view=embed&go=1${ghost ? `&ghost=${ghost}` : ''}`;
            Object.assign(frame, { title: 'seqmix: runs that are trained here', loading: 'lazy' });
            frame.style.cssText = `display:block;width:100%;height:${Number(this.getAttribute('height')) || 460}px;border:0`;
            frame.src = new URL(address, home).href;
        }
    },
);
