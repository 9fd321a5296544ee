// page_faults.test.mjs: what goes wrong around the page: a session half written, a worker that ends without a
// word, an address with a broken character, a small file that unpacks to gigabytes. Each is said, and nothing
// waits for ever.
import assert from 'node:assert/strict';
import { availableParallelism, loadavg } from 'node:os';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import {
    MOST,
    allReady,
    at,
    browser,
    goto,
    onPage,
    press,
    RACE,
    reload,
    runs,
    says,
    skip,
    until,
} from './testing.mjs';

/** Put a value where the page keeps its session, or its text; arrays of numbers come as such. */
const keep = (page, key, value) =>
    page.evaluate(
        (key, given) =>
            new Promise((done, failed) => {
                const opening = indexedDB.open('keyval-store');
                opening.onupgradeneeded = () => opening.result.createObjectStore('keyval');
                opening.onerror = () => failed(opening.error);
                opening.onsuccess = () => {
                    const store = opening.result.transaction('keyval', 'readwrite').objectStore('keyval');
                    const revive = (one) => ({
                        ...one,
                        bytes: one.bytes && new Uint8Array(one.bytes),
                        losses: one.losses && new Float32Array(one.losses),
                    });
                    const kept = { ...revive(given), runs: given.runs?.map((own) => own.map(revive)) };
                    const request = store.put(kept, key);
                    request.onsuccess = () => done(opening.result.close());
                    request.onerror = () => failed(request.error);
                };
            }),
        key,
        value,
    );
const CONFIG = 'mixer=cat&task=mqar';
const offered = '[aria-label="Your last visit"]';

onPage(
    'a session whose runs are broken: each says so, none stays opening',
    `#${CONFIG}!speed=full`,
    {},
    async (page) => {
        await allReady(page);
        const broken = [1, 2, 3].map((n) => ({
            bytes: Array(n * 20).fill(7),
            losses: [1, 2],
            points: [],
            seconds: 1,
        }));
        await keep(page, 'seqmix.session', {
            version: 2,
            when: Date.now(),
            config: `${CONFIG}~mixer=attention~mixer=las`,
            seeds: 1,
            runs: broken.map((one) => [one]),
        });
        await reload(page);
        await page.waitForSelector(offered);
        await press(page, 'Continue');
        await until(page, () => globalThis.seqmix.runs().length === 3);
        await until(page, () => globalThis.seqmix.runs().every(({ status }) => status !== 'opening'));
        for (const { status, problem } of await runs(page)) {
            assert.equal(status, 'failed');
            assert.ok(problem.message.length > 20, problem.message);
        }
    },
);
onPage('what is no session is not offered', `#${CONFIG}!speed=full`, {}, async (page) => {
    for (const runs of [[[{ seconds: 1 }]], [[]], [null], 'runs']) {
        await allReady(page);
        await keep(page, 'seqmix.session', {
            version: 2,
            when: 0,
            config: CONFIG,
            seeds: 1,
            ...(Array.isArray(runs[0]) ? { runs } : {}),
        });
        await reload(page);
        await allReady(page);
        await new Promise((done) => setTimeout(done, 500));
        assert.equal(await page.$(offered), null, JSON.stringify(runs));
    }
});

test('a worker that ends without an error event is noticed', { skip, timeout: MOST }, async () => {
    const { page, close } = await browser.lab.open(`${RACE}!speed=full`);
    try {
        await allReady(page);
        await press(page, 'Start');
        await until(page, () => globalThis.seqmix.runs().every(({ step }) => step > 3));
        for (const worker of page.workers()) await worker.evaluate(() => self.close()).catch(() => {});
        await until(page, () => globalThis.seqmix.runs().every(({ status }) => status === 'failed'));
        for (const { problem } of await runs(page))
            assert.match(problem.message, /its worker stopped: it ended/);
    } finally {
        await close();
    }
});

// (A red test costs seconds, where the machine is not so loaded that asking alone keeps the browser at work.)
test('what is waited for in vain ends once the browser is quiet', { skip, timeout: MOST }, async () => {
    const { page, close } = await browser.lab.open(`${RACE}!speed=full`);
    try {
        await allReady(page);
        const began = Date.now();
        await Promise.all([
            assert.rejects(until(page, () => globalThis.seqmix.runs()[0].step > 0)),
            assert.rejects(page.waitForSelector('.nothing-is-called-so')),
        ]);
        const seconds = (Date.now() - began) / 1000;
        const crowded = loadavg()[0] > 3 * availableParallelism();
        assert.ok(seconds > 10 && (crowded || seconds < 45), `${seconds} s`);
        // While it trains, nobody gives up: what comes late is still seen.
        await press(page, 'Start');
        await until(page, () => globalThis.seqmix.runs().every(({ status }) => status === 'done'));
    } finally {
        await close();
    }
});

// What the worker says of the run's opening is on its way while the text comes out of the storage.
const lateText = () => {
    const asked = new Promise((done) => {
        const post = Worker.prototype.postMessage;
        Worker.prototype.postMessage = function (message, ...rest) {
            if (message?.path?.[0] === 'open') done();
            return post.call(this, message, ...rest);
        };
    });
    const after = (ms, call) => asked.then(() => setTimeout(call, ms));
    const open = IDBFactory.prototype.open;
    IDBFactory.prototype.open = function (...given) {
        const request = open.apply(this, given);
        Object.defineProperty(request, 'onsuccess', {
            set: (call) => request.addEventListener('success', (event) => after(500, () => call(event))),
        });
        return request;
    };
    const hears = Worker.prototype.addEventListener;
    Worker.prototype.addEventListener = function (kind, call, ...rest) {
        let opening = false;
        void asked.then(() => (opening = true));
        const late = (event) => (opening ? setTimeout(() => call(event), 1000) : call(event));
        return hears.call(this, kind, kind === 'message' ? late : call, ...rest);
    };
};
test(
    'a text of the last visit that comes while its run is being opened',
    { skip, timeout: MOST },
    async () => {
        const { page, complaints, close } = await browser.lab.open(`#${CONFIG}!speed=full`);
        try {
            await allReady(page);
            await keep(page, 'seqmix.text', { name: 'mine.txt', bytes: Array(2000).fill(97) });
            await page.evaluateOnNewDocument(lateText);
            await goto(page, `${browser.lab.address}#mixer=cat&task=charlm&width=8&batch=2&text=mine.txt`);
            await until(page, () => globalThis.seqmix.runs().every(({ status }) => status === 'ready'));
            assert.ok((await runs(page))[0].params > 0);
            assert.deepEqual(complaints, []);
        } finally {
            await close();
        }
    },
);

onPage('an address with a broken character is a sentence', '#mixer=%FF&task=mqar', {}, async (page) => {
    await until(page, () => document.querySelector('.notice'));
    await says(page, '.notice', /mixer must be one of/);
    await allReady(page);
    for (const broken of ['%FF', '%', 'text=%FF%FE!detail=%FF', '!%FF=%FF']) {
        await page.evaluate((hash) => (location.hash = hash), `#${broken}`);
        await new Promise((done) => setTimeout(done, 100));
        assert.ok((await runs(page)).length > 0, broken);
    }
});

test('a gzip file is unpacked slice by slice, and refused before it fills memory', async () => {
    const { outputFiles } = await build({
        entryPoints: [at('web/core/files.ts')],
        bundle: true,
        write: false,
        format: 'esm',
    });
    const Native = globalThis.DecompressionStream;
    const given = [];
    globalThis.DecompressionStream = class {
        constructor(format) {
            const { readable, writable } = new Native(format);
            const writer = writable.getWriter();
            this.readable = readable;
            this.writable = new WritableStream({
                write: (chunk) => (given.push(chunk.length), writer.write(chunk)),
                close: () => writer.close(),
                abort: (why) => writer.abort(why),
            });
        }
    };
    try {
        const { unpacked } = await import(
            `data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`
        );
        const plain = Uint8Array.from({ length: 300_000 }, (_, i) => (i * i) % 251);
        assert.deepEqual(await unpacked(new Blob([gzipSync(plain)])), plain);
        assert.deepEqual(await unpacked(new Blob([plain])), plain);
        const bomb = gzipSync(new Uint8Array(2 ** 28 + 2 ** 26), { level: 9 });
        given.length = 0;
        await assert.rejects(unpacked(new Blob([bomb])), /more than 268435456 bytes when unpacked/);
        assert.ok(Math.max(...given) <= 4096, `${Math.max(...given)} bytes at once`);
    } finally {
        globalThis.DecompressionStream = Native;
    }
});
