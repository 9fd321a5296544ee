// in_node.mjs: files of the page for tests without a browser, and a worker's host by a clock of the test's
// own.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Everything that these files of web/ export, as one module. */
export async function pageModule(...files) {
    const stdin = {
        contents: files.map((file) => `export * from './${file}.ts';`).join(''),
        resolveDir: fileURLToPath(new URL('../../web', import.meta.url)),
    };
    const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', write: false });
    return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

/** A host, what it has told, and a clock in which each look takes `tick` ms. */
export const hosting =
    (Host, module) =>
    async ({ tick = 0.25, hears } = {}) => {
        const clock = {
            t: 1000,
            now: () => (clock.t += tick),
            turn: () => new Promise(setImmediate),
            sleep: (ms) => ((clock.t += ms), new Promise(setImmediate)),
        };
        const host = new Host(clock);
        const told = [];
        await host.init(
            module,
            () => Promise.reject(new Error('no other')),
            (news) => void (told.push(news), hears?.(news)),
            '',
        );
        const of = (id) => told.flatMap(({ reports }) => reports).filter((report) => report.id === id);
        const until = async (what) => {
            for (let i = 0; !what(); i++) {
                assert.ok(i < 50_000, 'the worker never came there');
                await new Promise(setImmediate);
            }
        };
        const last = (id) => of(id).at(-1);
        return { host, clock, told, of, last, until, done: (id) => until(() => last(id)?.state === 'done') };
    };
