// webkit.mjs: for tests: WebKit (WebKitGTK's own browser) through its WebDriver, and as much of a page as
// they ask for. On a machine without a screen the driver runs under xvfb-run.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './browser.mjs';
import { watch, whileAnythingHappens } from './quiet.mjs';

/** The driver's path, or why there is none. */
export function findWebkit() {
    const driver = findProgram('WEBKIT_DRIVER', ['WebKitWebDriver']);
    if (driver.why || process.env.DISPLAY || process.env.WAYLAND_DISPLAY) return driver;
    const screen = findProgram('XVFB_RUN', ['xvfb-run']);
    return screen.why ? screen : { ...driver, screen: screen.path };
}

const freePort = () =>
    new Promise((done, failed) => {
        const server = createServer().on('error', failed);
        server.listen(0, '127.0.0.1', () => {
            const { port } = server.address();
            server.close(() => done(port));
        });
    });
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Start the browser; `close` ends it and the driver. */
export async function launchWebkit() {
    const { path, screen } = findWebkit();
    const port = await freePort();
    const home = await mkdtemp(join(tmpdir(), 'seqmix-webkit-'));
    const command = [...(screen ? [screen, '-a'] : []), path, `--port=${port}`];
    // WebKitGTK 2.50.6 on x86-64 gave wrong bits, traps or a dead page in one load of a module in ten, and
    // in none of 160 while its compilers did not run beside the code (docs/INVARIANCES.md).
    // In a group of its own, so that the driver, its browser and the screen end together.
    const driver = spawn(command[0], command.slice(1), {
        detached: true,
        stdio: 'ignore',
        env: {
            ...process.env,
            HOME: home,
            XDG_RUNTIME_DIR: home,
            LIBGL_ALWAYS_SOFTWARE: '1',
            JSC_useConcurrentJIT: '0',
            JSC_useSharedArrayBuffer: '1', // as Safari has it, in pages that are isolated
        },
    });
    const ended = new Promise((done) => driver.on('exit', done));
    let gone = false;
    ended.then(() => (gone = true));

    async function ask(method, way, body) {
        const answer = await fetch(`http://127.0.0.1:${port}${way}`, {
            method,
            body: body && JSON.stringify(body),
        });
        const { value } = await answer.json();
        if (!answer.ok) throw new Error(`${value.error}: ${value.message}`);
        return value;
    }
    const unwatch = watch(driver.pid);
    async function close() {
        unwatch();
        if (!gone) process.kill(-driver.pid, 'SIGTERM');
        await ended;
        await rm(home, { recursive: true, force: true, maxRetries: 5 });
    }
    try {
        while (!(await ask('GET', '/status').catch(() => false))) {
            if (gone) throw new Error(`${command.join(' ')} ended before it could be asked`);
            await pause(50);
        }
        const { sessionId, capabilities } = await ask('POST', '/session', { capabilities: {} });
        const session = `/session/${sessionId}`;
        /** What the function returns, called in the page with these values, which JSON can hold. */
        const evaluate = (body, ...args) =>
            ask('POST', `${session}/execute/sync`, {
                script: `return (${body}).apply(null, arguments)`,
                args,
            });
        /** Wait for something true, and give it. */
        const until = (body, ...args) =>
            whileAnythingHappens(async (signal) => {
                for (const end = Date.now() + 120_000; ;) {
                    const found = await evaluate(body, ...args);
                    if (found) return found;
                    if (Date.now() > end || signal.aborted) throw new Error(`never true: ${body}`);
                    await pause(100);
                }
            });
        return {
            version: `WebKitGTK ${capabilities.browserVersion}`,
            evaluate,
            until,
            visit: (url) => ask('POST', `${session}/url`, { url }),
            async close() {
                await ask('DELETE', session).catch(() => {});
                await close();
            },
        };
    } catch (error) {
        await close();
        throw error;
    }
}
