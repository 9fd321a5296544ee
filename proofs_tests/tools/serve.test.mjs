// The static server: types, what it refuses, and the choice of a port; which browser tests find. Run with
// node --test.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { findProgram } from '../../scripts/browser.mjs';
import { serve } from '../../scripts/serve.mjs';

const SCRIPT = new URL('../../scripts/serve.mjs', import.meta.url).pathname;
let folder, server;

before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'seqmix-serve-'));
    await mkdir(join(folder, 'dist', 'assets'), { recursive: true });
    await mkdir(join(folder, 'dist-other'));
    await writeFile(join(folder, 'secret.txt'), 'secret');
    await writeFile(join(folder, 'dist-other', 'secret.txt'), 'secret');
    await writeFile(join(folder, 'dist', 'index.html'), '<!doctype html><title>page</title>');
    await writeFile(join(folder, 'dist', 'assets', 'kernels.wasm'), new Uint8Array([0, 97, 115, 109]));
    await writeFile(join(folder, 'dist', 'assets', 'a b.js'), 'export {};');
    await writeFile(join(folder, 'dist', 'assets', 'unknown.xyz'), 'x');
    await symlink(join(folder, 'secret.txt'), join(folder, 'dist', 'link.txt'));
    server = await serve(join(folder, 'dist'), 0);
});

after(async () => {
    await server?.close();
    await rm(folder, { recursive: true });
});

/** The path as written: fetch() would resolve the dots before sending them. */
async function ask(path, method = 'GET', host = 'localhost') {
    const sent = request({ host, port: server.port, method, path, agent: false }).end();
    const [response] = await once(sent, 'response');
    let body = '';
    for await (const part of response.setEncoding('latin1')) body += part;
    return {
        status: response.statusCode,
        type: response.headers['content-type'],
        headers: response.headers,
        body,
    };
}

test('the page and its files have the types that browsers insist on', async () => {
    const types = {
        '/': 'text/html; charset=utf-8',
        '/index.html?x=1': 'text/html; charset=utf-8',
        '/assets/kernels.wasm': 'application/wasm',
        '/assets/a%20b.js': 'text/javascript; charset=utf-8',
        '/assets/unknown.xyz': 'application/octet-stream',
    };
    for (const [path, type] of Object.entries(types)) {
        const { status, type: got } = await ask(path);
        assert.deepEqual([path, status, got], [path, 200, type]);
    }
    assert.equal((await ask('/assets/kernels.wasm')).body, '\0asm');
});

test('both loopback addresses answer, where the machine has both', async (t) => {
    assert.equal((await ask('/', 'GET', '127.0.0.1')).status, 200);
    try {
        assert.equal((await ask('/', 'GET', '::1')).status, 200);
    } catch (error) {
        if (!['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'ENETUNREACH'].includes(error.code)) throw error;
        t.diagnostic('no IPv6 on this machine');
    }
});

test('isolated: with the headers that share memory, and other sites may show it; else without', async () => {
    const names = ['opener-policy', 'embedder-policy', 'resource-policy'].map(
        (name) => `cross-origin-${name}`,
    );
    const { headers } = await ask('/assets/kernels.wasm');
    assert.deepEqual(
        names.map((name) => headers[name]),
        [undefined, undefined, undefined],
    );
    const apart = await serve(join(folder, 'dist'), 0, { isolated: true });
    const response = await fetch(apart.address);
    assert.deepEqual(
        names.map((name) => response.headers.get(name)),
        ['same-origin', 'require-corp', 'cross-origin'],
    );
    await apart.close();
});

test('nothing outside the folder is served', async () => {
    const paths = [
        '/../secret.txt',
        '/%2e%2e/secret.txt',
        '/..%2fsecret.txt',
        '/assets/../../secret.txt',
        '/../dist-other/secret.txt',
        '//../secret.txt',
        '/link.txt',
        '/%00',
        '/assets/',
        '/absent.js',
    ];
    for (const path of paths) {
        const { status, body } = await ask(path);
        assert.deepEqual([path, status, body.includes('secret\n') || body === 'secret'], [path, 404, false]);
    }
    assert.equal((await ask('/%zz')).status, 400);
});

test('methods: HEAD has no body, POST is refused', async () => {
    const head = await ask('/', 'HEAD');
    assert.deepEqual([head.status, head.body, head.headers['content-length']], [200, '', '34']);
    const post = await ask('/', 'POST');
    assert.deepEqual([post.status, post.headers.allow], [405, 'GET, HEAD']);
});

test('a folder without its slash is redirected, and never to another machine', async () => {
    const redirect = await ask('//assets?x=1');
    assert.deepEqual([redirect.status, redirect.headers.location], [301, '/assets/?x=1']);
});

test('a port that is taken is passed over', async () => {
    const second = await serve(join(folder, 'dist'), server.port);
    try {
        assert.ok(second.port > server.port, `${second.port} > ${server.port}`);
        assert.equal((await fetch(second.address)).status, 200);
    } finally {
        await second.close();
    }
});

test('the program prints the address and ends when it is told to', async () => {
    const program = spawn(process.execPath, [SCRIPT, join(folder, 'dist'), '--port=0']);
    const ended = once(program, 'exit');
    try {
        const [line] = await once(program.stdout.setEncoding('utf8'), 'data');
        assert.match(line, /^seqmix is at http:\/\/localhost:\d+\/\n$/);
        assert.equal((await fetch(line.split(' at ')[1].trim())).status, 200);
    } finally {
        program.kill('SIGINT');
    }
    assert.deepEqual(await ended, [0, null]);
});

test('what it cannot do, it says in one sentence', async () => {
    const cases = {
        absent: /absent.index\.html does not exist/,
        '--port=x': /unknown argument/,
        '--port=70000': /65535/,
    };
    for (const [argument, sentence] of Object.entries(cases)) {
        const program = spawn(process.execPath, [SCRIPT, argument], { cwd: folder });
        let said = '';
        program.stderr.setEncoding('utf8').on('data', (text) => (said += text));
        const [code] = await once(program, 'close');
        assert.equal(code, 2);
        assert.match(said, sentence);
        assert.equal(said.trim().split('\n').length, 1);
    }
});

test('a browser that is a snap is not used, and said so; another one beside it is', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'seqmix-snap-'));
    const { PATH } = process.env;
    try {
        for (const name of ['snapped', 'real']) await mkdir(join(folder, name));
        await writeFile(join(folder, 'snapped/firefox'), '#!/bin/sh\nexec /snap/bin/firefox "$@"\n');
        await symlink('/usr/bin/env', join(folder, 'real/firefox'));
        const find = (...folders) => {
            process.env.PATH = folders.map((one) => join(folder, one)).join(delimiter);
            return findProgram('NO_SUCH_VARIABLE', ['firefox']);
        };
        assert.match(find('snapped').why, /firefox is a snap, which sees no folder of a test's$/);
        assert.equal(find('snapped', 'real').path, join(folder, 'real/firefox'));
        assert.match(find().why, /^none of firefox is on PATH/);
    } finally {
        process.env.PATH = PATH;
        await rm(folder, { recursive: true, force: true });
    }
});
