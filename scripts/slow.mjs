// slow.mjs: for tests: a page as on a machine under load. SLOW=MS in the environment brings late, by up to so
// many milliseconds, drawn from SEED (1 if not given), what a loaded machine brings late: messages to and
// from workers, frames, and what watches sizes and sight; Chromium's own work takes four times as long. A
// test that reads a moment before the page has drawn fails here, not once a week elsewhere. (Not in WebKit:
// its driver has no way in before the page's scripts.)
const { SLOW = '0', SEED = '1' } = process.env;
for (const [name, value] of Object.entries({ SLOW, SEED }))
    if (!/^\d+$/.test(value)) throw new Error(`${name}=${value}: a whole number, of milliseconds or a seed`);

/** What waits for this page waits so many times as long. */
export const patience = 1 + Number(SLOW) / 200;

/** Let this page be slow from its next document on, where the environment says so. */
export async function slowDown(page, throttles = true) {
    if (!Number(SLOW)) return;
    await page.evaluateOnNewDocument(delayAll, Number(SLOW), Number(SEED));
    if (throttles) await page.emulateCPUThrottling(4);
}

/** Runs in the page, before its scripts. */
function delayAll(most, seed) {
    const random = () => {
        seed = (seed + 0x6d2b79f5) | 0;
        let bits = Math.imul(seed ^ (seed >>> 15), 1 | seed);
        bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
        return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
    };
    /** A line: what is put into it is called later, in the order in which it came. */
    const line = () => {
        const waiting = [];
        let last = 0;
        return (call) => {
            const now = performance.now();
            last = Math.max(last, now + most * random());
            waiting.push(call);
            setTimeout(() => waiting.shift()(), last - now);
        };
    };

    // Frames and observers stand in one line: who waits two frames has had the news of sizes, as ever.
    const frames = line();
    const { requestAnimationFrame, cancelAnimationFrame } = window;
    const cancelled = new Set();
    window.requestAnimationFrame = (draw) => {
        const id = requestAnimationFrame((time) => frames(() => cancelled.has(id) || draw(time)));
        return id;
    };
    window.cancelAnimationFrame = (id) => (cancelled.add(id), cancelAnimationFrame(id));
    for (const name of ['ResizeObserver', 'IntersectionObserver'])
        window[name] = class extends window[name] {
            #watch = 0;
            constructor(told, options) {
                super((...news) => {
                    const watch = this.#watch;
                    frames(() => watch === this.#watch && told.apply(this, news));
                }, options);
            }
            disconnect() {
                this.#watch++;
                super.disconnect();
            }
        };

    // Order is kept at each port, which is what browsers promise: two ports of one worker may overtake.
    const { addEventListener } = EventTarget.prototype;
    const ended = new WeakSet();
    const hears = (end) => {
        const inbox = line();
        const receive = (event) => {
            if (!event.isTrusted) return; // this one was late already
            event.stopImmediatePropagation();
            const { data, origin, ports } = event;
            inbox(() => {
                if (!ended.has(end))
                    end.dispatchEvent(new MessageEvent('message', { data, origin, ports: [...ports] }));
            });
        };
        addEventListener.call(end, 'message', receive); // the first of its listeners
    };
    const outboxes = new WeakMap();
    const posts = (kind) => {
        const { postMessage } = kind.prototype;
        kind.prototype.postMessage = function (message, transfer = []) {
            if (!outboxes.has(this)) outboxes.set(this, line());
            const copy = structuredClone([message, transfer], { transfer }); // as it is now
            outboxes.get(this)(() => postMessage.apply(this, copy));
        };
    };
    posts(Worker);
    posts(MessagePort);
    window.Worker = class extends Worker {
        constructor(...given) {
            super(...given);
            hears(this);
        }
        terminate() {
            ended.add(this);
            super.terminate();
        }
    };
    const heard = new WeakSet();
    MessagePort.prototype.addEventListener = function (...given) {
        if (!heard.has(this)) hears(this);
        heard.add(this);
        addEventListener.apply(this, given);
    };
}
