// quiet.mjs: for tests: what waits in vain for a page ends when the browser has nothing left to do, long
// before the limit that a loaded machine needs. A browser works while one of its threads runs or waits for a
// processor (/proc; elsewhere it is taken to work always), so a machine under load makes nobody impatient.
// What asks a page every 50 ms keeps it at work a few percent of the time: quiet is at most a quarter of the
// looks.
import { readFileSync, readdirSync } from 'node:fs';
import { patience } from './slow.mjs';

const EVERY = 250; // ms between two looks
const LOOKS = Math.ceil(60 * patience); // in 15 s; the page itself waits 10 at most (state/session.ts)

const read = (path) => {
    try {
        return readFileSync(path, 'utf8');
    } catch {
        return ''; // ended meanwhile
    }
};
const threads = (pid) => {
    try {
        return readdirSync(`/proc/${pid}/task`);
    } catch {
        return [];
    }
};
/** Whether the process or one that it started runs, or would if there were a processor for it. */
function works(pid) {
    const tasks = threads(pid).map((task) => `/proc/${pid}/task/${task}/`);
    return (
        tasks.some((task) => /^[RD] /.test(read(`${task}stat`).split(') ').at(-1))) ||
        tasks.some((task) => read(`${task}children`).split(' ').filter(Boolean).some(works))
    );
}

const watched = new Set();
let timer;
/** Calls back when the process of this browser has been quiet from now on; gives what takes it back. */
function ask(pid, call) {
    const wait = { pid, call, looks: [] };
    watched.add(wait);
    timer ??= setInterval(look, EVERY);
    return () => {
        watched.delete(wait);
        if (!watched.size) timer = clearInterval(timer);
    };
}
function look() {
    const found = new Map();
    for (const wait of [...watched]) {
        if (!found.has(wait.pid)) found.set(wait.pid, works(wait.pid));
        wait.looks.push(found.get(wait.pid));
        if (wait.looks.length < LOOKS) continue;
        if (wait.looks.filter(Boolean).length <= LOOKS / 4) wait.call();
        wait.looks.shift();
    }
}

const browsers = new Set();
/** Watches the browser of this process until what it gives is called. */
export function watch(pid) {
    if (process.platform === 'linux' && pid) browsers.add(pid);
    return () => browsers.delete(pid);
}
/** Runs what waits for a page, with a signal that ends it once every browser watched has been quiet since. */
export async function whileAnythingHappens(wait) {
    const control = new AbortController();
    const busy = new Set(browsers);
    const ends = [...busy].map((pid) =>
        ask(pid, () => {
            busy.delete(pid);
            if (!busy.size)
                control.abort(new Error(`the browser has done nothing for ${(LOOKS * EVERY) / 1000} s`));
        }),
    );
    try {
        return await wait(control.signal);
    } finally {
        for (const end of ends) end();
    }
}
/** The page's own waits end so as well. */
export function impatient(page) {
    for (const name of ['waitForFunction', 'waitForSelector']) {
        const wait = page[name].bind(page);
        page[name] = (what, options, ...values) =>
            whileAnythingHappens((signal) => wait(what, { ...options, signal }, ...values));
    }
    return page;
}
