// page_webkit.test.mjs: the page in WebKit, the engine of Safari: it trains, gives the native program's loss
// words, and Start's models learn and answer.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { serve } from '../../scripts/serve.mjs';
import { findWebkit, launchWebkit } from '../../scripts/webkit.mjs';
import { at } from './testing.mjs';

const skip = findWebkit().why ? `no browser: ${findWebkit().why}` : false;
let server, lab;
before(async () => {
    if (skip) return;
    server = await serve(at('dist'), 0);
    lab = await launchWebkit();
});
after(async () => {
    await lab?.close();
    await server?.close();
});

/** The page at `hash`, loaded anew; what it complains of from then on is kept for `complaints`. */
async function open(hash) {
    await lab.visit('about:blank');
    await lab.visit(server.address + hash);
    await lab.evaluate(() => {
        globalThis.complaints = [];
        const keep = (...all) => globalThis.complaints.push(all.map(String).join(' '));
        console.error = console.warn = keep;
        addEventListener('error', (event) => keep(event.message));
        addEventListener('unhandledrejection', (event) => keep(event.reason));
    });
    await lab.until(() => {
        const broken = document.querySelector('.broken');
        if (broken) throw new Error(broken.textContent);
        return Boolean(globalThis.seqmix);
    });
}
const complaints = () => lab.evaluate(() => globalThis.complaints);
/** Press the button that is called so, once it can be pressed. */
const press = (name) =>
    lab.until((wanted) => {
        const called = (one) => one.getAttribute('aria-label') ?? one.textContent.replace(/\s+/g, ' ').trim();
        const button = [...document.querySelectorAll('button')].find((one) => called(one) === wanted);
        if (!button || button.disabled) return false;
        button.click();
        return true;
    }, name);

test(
    'WebKit: losses and weights are the native program’s, word for word',
    { skip, timeout: 180_000 },
    async () => {
        const config = 'mixer=cat&task=mqar&seed=5&steps=60';
        const { stdout } = await promisify(execFile)(at('build/seqmix'), ['train', config, '--json'], {
            maxBuffer: 1 << 26,
        });
        const lines = stdout
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line));
        await open(`#${config}!speed=full`);
        await lab.until(() => globalThis.seqmix.runs().every(({ status }) => status !== 'opening'));
        await press('Start');
        await lab.until(() => globalThis.seqmix.runs().every(({ status }) => status === 'done'));
        assert.deepEqual(
            await lab.evaluate(() => [...globalThis.seqmix.words(0)]),
            lines.flatMap(({ word }) => word ?? []),
        );
        const [run] = await lab.evaluate(() => globalThis.seqmix.runs());
        assert.equal(run.digest, lines.at(-1).digest);
        assert.deepEqual(await complaints(), []);
    },
);

test(
    'WebKit: Story is the first view, its models learn, its switch goes on',
    { skip, timeout: 180_000 },
    async () => {
        await open('');
        await lab.until(() => document.querySelector('.switch')?.textContent === 'Filter on');
        await lab.until(() => document.querySelectorAll('#step-1 .cell .right').length === 8);
        await lab.until(() =>
            /answers (99|100)\.\d % right/.test(document.querySelector('#step-3').textContent),
        );
        assert.deepEqual(await complaints(), []);
    },
);
