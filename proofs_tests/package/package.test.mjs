// package.test.mjs: the npm package as its users have it: the packed tarball is installed into fresh
// copies of examples/embed, built by each bundler, and trains in a real browser to the digests that Node
// gets; docs/EMBED.md is run as it stands; the types pass tsc --strict; opening and closing leaves memory
// flat.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import puppeteer from 'puppeteer-core';
import { serve } from '../../scripts/serve.mjs';
import { findChromium, findProgram, FLAGS } from '../../scripts/browser.mjs';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const tarball = join(root, `build/seqmix-${version}.tgz`);
const chromium = findChromium();
// Deno, and a Node 18 beside the one that runs this: `npm install deno@2.9.6 node@18.20.8` in any folder has
// both.
const deno = findProgram('DENO', ['deno']);
const node18 = findProgram('NODE18', ['node18']);

let folder;
let browser;
before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'seqmix-package-'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await install(folder);
    if (chromium.path)
        browser = await puppeteer.launch({
            executablePath: chromium.path,
            args: FLAGS,
        });
});
after(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
});
/** The package has no dependencies, so this needs no network. */
const install = (cwd) =>
    run('npm', ['install', '--offline', '--omit=dev', '--no-audit', '--no-fund', '--no-save', tarball], {
        cwd,
    });

const builders = {
    plain: async () => {},
    vite: async (cwd) => {
        const input = ['index.html', 'inside.html'].map((name) => join(cwd, name));
        const { build } = await import('vite');
        await build({ root: cwd, base: './', logLevel: 'warn', build: { rollupOptions: { input } } });
    },
    webpack: async (cwd) => {
        const { default: webpack } = await import('webpack');
        const { default: config } = await import(pathToFileURL(join(cwd, 'webpack.config.js')));
        const stats = await promisify(webpack)({
            ...config,
            entry: { main: config.entry, inside: './inside.js' },
            context: cwd,
            output: { path: join(cwd, 'dist') },
        });
        assert.deepEqual(stats.toJson().errors.concat(stats.toJson().warnings), []);
    },
    esbuild: async (cwd) => {
        const { build } = await import('esbuild');
        const options = {
            bundle: true,
            format: 'esm',
            outfile: join(cwd, 'dist/main.js'),
            logLevel: 'silent',
        };
        const { warnings } = await build({ ...options, entryPoints: [join(cwd, 'main.js')] });
        assert.deepEqual(warnings, []);
    },
    rollup: async (cwd) => {
        const { rollup } = await import('@rollup/wasm-node');
        const seqmix = join(cwd, 'node_modules/seqmix/package/index.js');
        const bundle = await rollup({
            input: join(cwd, 'main.js'),
            plugins: [{ name: 'packages', resolveId: (id) => (id === 'seqmix' ? seqmix : null) }],
            onwarn: (warning) => assert.fail(warning.message),
        });
        await bundle.write({ dir: join(cwd, 'dist'), format: 'es' });
    },
};
/**
 * The example in a folder of its own, with the package; beside its page and script the same once more,
 * inside.html and inside.js, by the entry that has the module inside.
 */
async function copied(example) {
    const cwd = await mkdtemp(join(folder, `in-${example}-`));
    await cp(join(root, 'examples/embed', example), cwd, { recursive: true });
    await writeFile(join(cwd, 'package.json'), '{ "type": "module" }');
    const script = example === 'plain' ? 'seqmix-run.js' : 'main.js';
    for (const file of ['index.html', script])
        if (existsSync(join(cwd, file))) {
            const text = await readFile(join(cwd, file), 'utf8');
            await writeFile(
                join(cwd, file.replace(/^\w+(-run)?/, 'inside')),
                text
                    .replaceAll('seqmix/url', 'seqmix')
                    .replace('package/url.js', 'package/index.js')
                    .replace(script, 'inside.js'),
            );
        }
    await install(cwd);
    return cwd;
}
async function project(example) {
    const cwd = await copied(example === 'rollup' ? 'esbuild' : example);
    await builders[example](cwd);
    return example === 'vite' ? join(cwd, 'dist') : cwd;
}
/** What the example's <output> ends with. */
async function result(at, page = '') {
    const server = await serve(at, 0);
    try {
        return await resultAt(new URL(page, server.address).href);
    } finally {
        await server.close();
    }
}
async function resultAt(address) {
    const page = await browser.newPage();
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    try {
        await page.goto(address);
        const text = await page.waitForFunction(
            () => {
                const host = document.querySelector('seqmix-run');
                const text = (host?.shadowRoot ?? document).querySelector('output')?.textContent ?? '';
                return text.includes('accuracy') && text;
            },
            { timeout: 600_000 },
        );
        return await text.jsonValue();
    } catch (error) {
        throw new Error(`${error.message}; the page said: ${complaints.join('; ')}`, { cause: error });
    } finally {
        await page.close();
    }
}
const trained = new Map();
function inNode(config, steps) {
    const train = async () => {
        const { load } = await import(pathToFileURL(join(folder, 'node_modules/seqmix/package/index.js')));
        const experiment = (await load()).open(config);
        experiment.step(steps);
        return `${experiment.digest()} accuracy ${experiment.evaluate({ count: 100 }).accuracy}`;
    };
    const key = `${config} ${steps}`;
    if (!trained.has(key)) trained.set(key, train());
    return trained.get(key);
}
for (const example of ['plain', 'vite', 'webpack']) {
    let built; // once, with both pages
    for (const page of ['index.html', 'inside.html'])
        test(
            `${example}: builds from the tarball${page === 'inside.html' ? ', the module inside,' : ''} and trains to the same bits in Chromium`,
            { skip: chromium.why },
            async () => {
                const steps = example === 'plain' ? '&steps=200' : '';
                assert.equal(
                    await result(await (built ??= project(example)), page),
                    await inNode(`mixer=cat&task=mqar&seed=1${steps}`, 200),
                );
            },
        );
}
test("vite: the development server's pages train, too", { skip: chromium.why }, async () => {
    const { createServer } = await import('vite');
    const server = await createServer({
        root: await copied('vite'),
        logLevel: 'silent',
        server: { port: 0 },
    });
    try {
        await server.listen();
        for (const page of ['index.html', 'inside.html'])
            assert.equal(
                await resultAt(new URL(page, server.resolvedUrls.local[0]).href),
                await inNode('mixer=cat&task=mqar&seed=1', 200),
            );
    } finally {
        await server.close();
    }
});
for (const example of ['esbuild', 'rollup'])
    test(
        `${example}: builds from the tarball and learns data of the page's own`,
        { skip: chromium.why },
        async () => {
            const [, accuracy] =
                /^[0-9a-f]{16} accuracy ([0-9.]+)$/.exec(await result(await project(example))) ?? [];
            assert.ok(Number(accuracy) > 0.9, accuracy);
        },
    );

for (const [name, { path, why }, args] of [
    ['Node', { path: process.execPath }, []],
    ['Node 18', node18, []],
    ['Deno, which grants nothing', deno, ['run', '--no-prompt', '--no-remote']],
])
    test(`the example without a page, installed from the tarball, in ${name}`, { skip: why }, async () => {
        const cwd = await copied('deno');
        const { stdout } = await run(path, [...args, 'main.js'], { cwd, timeout: 600_000 });
        const expected = await inNode('mixer=cat&task=mqar&seed=1', 200);
        assert.equal(stdout, `${expected}\n${expected}\n`);
        await writeFile(
            join(cwd, 'url.js'),
            `import { createWorker, load, SeqmixError } from 'seqmix/url';
            (await load()).open('mixer=cat').close();
            for (const options of [{}, { whole: true }]) {
                const worker = await createWorker(options);
                for (const mixer of ['cta', 'gla']) {
                    const refused = await worker.open('mixer=' + mixer).catch((error) => error);
                    console.log(refused instanceof SeqmixError && refused.key);
                }
                worker.close();
            }`,
        );
        const read = name.startsWith('Deno') ? ['--allow-read'] : []; // the module is a file here
        const url = await run(path, [...args, ...read, 'url.js'], { cwd, timeout: 600_000 });
        assert.equal(url.stdout, 'mixer\nmodule\nmixer\nfalse\n');
        if (!name.startsWith('Deno')) return;
        await assert.rejects(
            run(path, [...args, 'url.js'], { cwd }),
            /SeqmixError.*seqmix\.wasm.*read access/s,
        );
        await writeFile(
            join(cwd, 'use.ts'),
            `import { load, type Run } from 'seqmix';
            using one: Run = (await load()).open('mixer=cat');
            one.step(1);
            console.log(one.metrics.step);`,
        );
        assert.equal((await run(path, [...args, '--check', 'use.ts'], { cwd })).stdout, '1\n');
    });

test('the examples stay short', async () => {
    for (const example of await readdir(join(root, 'examples/embed'), { withFileTypes: true })) {
        if (!example.isDirectory()) continue;
        for (const file of await readdir(join(root, 'examples/embed', example.name))) {
            const lines = (await readFile(join(root, 'examples/embed', example.name, file), 'utf8')).split(
                '\n',
            ).length;
            assert.ok(lines < 60, `${example.name}/${file}: ${lines} lines`);
        }
    }
});

test('docs/EMBED.md runs as it stands', async () => {
    const page = await readFile(join(root, 'docs/EMBED.md'), 'utf8');
    const blocks = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);
    assert.ok(blocks.length >= 6);
    const script = join(folder, 'embed.mjs');
    await writeFile(script, ["import assert from 'node:assert/strict';", ...blocks].join('\n'));
    await run(process.execPath, [script], { cwd: folder });
});

test(
    'the React hook of docs/EMBED.md trains, tells of it, and starts anew with another config',
    { skip: chromium.why },
    async () => {
        const page = await readFile(join(root, 'docs/EMBED.md'), 'utf8');
        const [[, hook], ...others] = [...page.matchAll(/```jsx\n(.*?)```/gs)];
        assert.equal(others.length, 0);
        assert.ok(hook.split('\n').length <= 32, 'some 30 lines');
        const cwd = await mkdtemp(join(folder, 'in-react-'));
        await writeFile(join(cwd, 'package.json'), '{ "type": "module" }');
        await install(cwd);
        await writeFile(join(cwd, 'hook.jsx'), hook);
        await writeFile(
            join(cwd, 'main.jsx'),
            `import { render } from 'preact';
        import { useState } from 'react';
        import { useRun } from './hook.jsx';
        function App() {
            const [seed, next] = useState(1);
            const { step, digest, accuracy, error } = useRun('mixer=cat&task=mqar&seed=' + seed, 30);
            return <main><button onClick={() => next(2)}>2</button><p>{step}</p>
                <output>{error ?? (digest ? seed + ' ' + digest + ' accuracy ' + accuracy : '')}</output></main>;
        }
        render(<App />, document.body);`,
        );
        const { build } = await import('esbuild');
        await build({
            entryPoints: [join(cwd, 'main.jsx')],
            bundle: true,
            format: 'esm',
            outfile: join(cwd, 'main.js'),
            jsx: 'automatic',
            jsxImportSource: 'preact',
            alias: { react: 'preact/compat' },
            nodePaths: [join(root, 'node_modules')],
            logLevel: 'silent',
        });
        await writeFile(
            join(cwd, 'index.html'),
            '<!doctype html><meta charset="utf-8"><body><script type="module" src="main.js"></script>',
        );
        const server = await serve(cwd, 0);
        const tab = await browser.newPage();
        try {
            await tab.goto(server.address);
            const said = async (seed) => {
                const text = await tab.waitForFunction(
                    (seed) => {
                        const { textContent } = document.querySelector('output');
                        return textContent.startsWith(`${seed} `) && textContent;
                    },
                    { timeout: 600_000 },
                    seed,
                );
                return text.jsonValue();
            };
            assert.equal(await said(1), `1 ${await inNode('mixer=cat&task=mqar&seed=1', 30)}`);
            assert.equal(await tab.$eval('p', (p) => p.textContent), '30');
            await tab.click('button');
            assert.equal(await said(2), `2 ${await inNode('mixer=cat&task=mqar&seed=2', 30)}`);
        } finally {
            await tab.close();
            await server.close();
        }
    },
);

test('what is not asked for is not bundled: seqmix/lean', async () => {
    const cwd = await mkdtemp(join(folder, 'in-lean-'));
    await writeFile(join(cwd, 'package.json'), '{ "type": "module" }');
    await install(cwd);
    const bundled = async (imports, options) => {
        await writeFile(
            join(cwd, 'main.js'),
            `import { load } from 'seqmix/lean'; ${imports}
            const lab = await load(${options});
            for (const mixer of ['cat', 'gla'])
                try { lab.open({ mixer }).close(); console.log(mixer); } catch (error) { console.log(error.key); }
            await load({ whole: true }).catch((error) => console.log(error.key, error.name));`,
        );
        const { build } = await import('esbuild');
        const outfile = join(cwd, 'out.mjs');
        await build({
            entryPoints: [join(cwd, 'main.js')],
            bundle: true,
            format: 'esm',
            outfile,
            logLevel: 'silent',
        });
        return {
            said: (await run(process.execPath, [outfile])).stdout,
            text: await readFile(outfile, 'utf8'),
        };
    };
    const inside = async (name) =>
        (await readFile(join(cwd, `node_modules/seqmix/package/${name}.js`), 'utf8')).slice(1000, 2000);
    const [small, ...others] = await Promise.all(
        ['embedded', 'embedded-whole', 'embedded-scalar', 'embedded-shared'].map(inside),
    );
    const [whole, scalar] = others;
    const lean = await bundled('', '');
    assert.equal(lean.said, 'cat\nmodule\nwhole SeqmixError\n');
    assert.deepEqual(
        [small, ...others].map((part) => lean.text.includes(part)),
        [true, false, false, false],
    );
    const more = await bundled("import whole from 'seqmix/whole';", '{ whole }');
    assert.equal(more.said, 'cat\ngla\nwhole SeqmixError\n');
    assert.deepEqual(
        [small, whole, scalar].map((part) => more.text.includes(part)),
        [true, true, false],
    );
});

test('a config as an object is the text of its keys', async () => {
    const { load, SeqmixError } = await import(
        pathToFileURL(join(folder, 'node_modules/seqmix/package/index.js'))
    );
    const lab = await load();
    const text = 'mixer=cat&task=mqar&length=32&rate=0.01&pairs=4&seed=3';
    const object = { mixer: 'cat', task: 'mqar', length: 32, rate: 0.01, pairs: 4, seed: 3 };
    const [one, other] = [lab.open(text), lab.open(object)];
    assert.equal(one.config, other.config);
    assert.deepEqual(
        one.evaluate({ count: 2, changes: { pairs: 2 } }),
        other.evaluate({ count: 2, changes: 'pairs=2' }),
    );
    assert.equal(lab.load(one.save(), { changes: { steps: 77 } }).value('steps'), '77');
    assert.equal(lab.complete(object), lab.complete(text));
    const eq = 'k = conv(x @ w_k, filter_k)\ny = attention(x @ w_q, k, x @ w_v) @ w_o # a & b = 100% ~';
    assert.equal(lab.open({ mixer: 'equations', task: 'mqar', eq }).value('eq'), eq);
    assert.equal(
        lab.values({ mixers: ['cat', 'attention'], blocks: 4, causal: true })[0].mixers,
        'cat,attention',
    );
    for (const value of [undefined, null, NaN, {}, () => 1])
        assert.throws(
            () => lab.open({ mixer: value }),
            (error) => error instanceof SeqmixError && error.key === 'mixer',
        );
    assert.equal(lab.open(new URLSearchParams(object)).config, one.config); // what was text stays so
});

test('forgotten runs, states and runs of a worker are freed; what is still used is not', async () => {
    await writeFile(
        join(folder, 'forgotten.mjs'),
        `import { createWorker, load } from 'seqmix';
        const config = { mixer: 'cat', task: 'mqar', vocab: 16, length: 16, pairs: 2, width: 16, batch: 1 };
        const collect = async () => {
            for (let i = 0; i < 4; i++) { gc(); await new Promise((done) => setTimeout(done, 5)); }
        };
        const flat = async (bytes, forget) => {
            await forget(20);
            await collect();
            const before = await bytes();
            for (let i = 0; i < 4; i++) { await forget(20); await collect(); }
            console.log(await bytes() === before);
        };
        const lab = await load();
        await flat(() => lab.bytes, (n) => { for (let i = 0; i < n; i++) lab.open(config).step(); });
        const run = lab.open(config);
        await flat(() => lab.bytes, (n) => { for (let i = 0; i < n; i++) run.state({ sequences: 8, most: 4096 }).push(new Int32Array(8)); });
        const worker = await createWorker();
        await flat(() => worker.bytes, async (n) => { for (let i = 0; i < n; i++) await (await worker.open(config)).step(); });
        // A view, a state and a text keep the run that is forgotten.
        const weight = lab.open(config).tensor('embedding').data;
        const sum = weight.reduce((a, b) => a + b);
        const state = lab.open(config).state({ most: 8 });
        const far = await (await worker.open(config)).state({ most: 8 });
        const text = (await worker.open({ task: 'charlm', mixer: 'cat', length: 16, width: 16 })).generate({ prompt: 'A', tokens: 5 });
        await text.next();
        await collect();
        for (let i = 0; i < 20; i++) lab.open(config).step();
        console.log(weight.reduce((a, b) => a + b) === sum, state.push([1]).length > 0, (await far.push([1])).length > 0);
        for await (const piece of text) await collect();
        console.log('done');
        worker.close();`,
    );
    const { stdout } = await run(process.execPath, ['--expose-gc', 'forgotten.mjs'], {
        cwd: folder,
        timeout: 600_000,
    });
    assert.equal(stdout, 'true\ntrue\ntrue\ntrue true true\ndone\n');
});

test('the JavaScript of README.md and docs/GUIDE.md runs beside the modules, as it stands', async () => {
    const beside = pathToFileURL(join(root, 'build/wasm/seqmix.js')).href;
    for (const [name, said] of [
        ['README.md', /^(0\.9|1)\d* [0-9a-f]{16}\n$/],
        ['docs/GUIDE.md', /^First./],
    ]) {
        const page = await readFile(join(root, name), 'utf8');
        const blocks = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);
        assert.equal(blocks.length, 1, name);
        const script = join(folder, 'shown.mjs');
        await writeFile(script, blocks[0].replace("'./seqmix.js'", `'${beside}'`));
        const { stdout } = await run(process.execPath, [script], { cwd: folder });
        assert.match(stdout, said, name);
    }
});

test('every script of the package has its source map, with the source in it', async () => {
    const at = join(folder, 'node_modules/seqmix');
    const scripts = (await readdir(at, { recursive: true })).filter((name) => name.endsWith('.js'));
    // Data, and the scripts of a worker and of a thread.
    const bare = scripts.filter((name) => /embedded|worker|thread(-source)?\.js$/.test(name));
    assert.equal(bare.length, 9);
    for (const name of scripts.filter((name) => !bare.includes(name))) {
        const script = await readFile(join(at, name), 'utf8');
        const [, link] = /\n\/\/# sourceMappingURL=(.*)\s*$/.exec(script) ?? [];
        const { sources, sourcesContent, mappings } = JSON.parse(
            await readFile(join(dirname(join(at, name)), link), 'utf8'),
        );
        assert.equal(sources.length, 1);
        assert.equal(basename(sources[0], '.ts'), basename(name, '.js'));
        const source = join(root, 'wasm', name.replace(/\.js$/, '.ts'));
        assert.equal(sourcesContent[0], await readFile(source, 'utf8'));
        if (!/^export {};$/m.test(script)) assert.ok(mappings.length > 100); // types alone leave no code
    }
    const typed = scripts.filter((name) => !/(worker|thread)\.js$/.test(name));
    for (const name of [...typed.map((script) => script.replace(/js$/, 'd.ts')), 'README.md', 'LICENSE'])
        assert.ok(existsSync(join(at, name)), name);
    for (const name of ['seqmix.wasm', 'seqmix-whole.wasm', 'seqmix-scalar.wasm', 'seqmix-threads.wasm'])
        assert.ok(WebAssembly.validate(await readFile(join(at, 'package', name))));
});

test('the self-check of the package: the committed digests, and no others', async () => {
    const inPackage = (name) => import(pathToFileURL(join(folder, 'node_modules/seqmix/package', name)));
    const [{ load, SeqmixError }, { loadChecks }] = [
        await inPackage('index.js'),
        await inPackage('checks.js'),
    ];
    const checks = await loadChecks(await load({ whole: true }));
    const found = checks.digests().map(({ name, digest }) => `${digest}  ${name}`);
    assert.deepEqual(
        found,
        (await readFile(join(root, 'proofs_tests/digests.txt'), 'utf8')).trim().split('\n'),
    );
    for (const i of [-1, 0.5, found.length])
        assert.throws(
            () => checks.digest(i),
            (error) => error instanceof SeqmixError && error.value === String(i),
        );
});

test('the types pass tsc --strict', async () => {
    const use = `import { load, createWorker, SeqmixError } from 'seqmix';
        import type { Run, Tensor, WorkerRun } from 'seqmix';
        import { load as loadUrl } from 'seqmix/url';
        const lab = await load();
        const run: Run = lab.open('mixer=cat', { batch: (step: number) => ({ tokens: [step], targets: [0] }) });
        const tensor: Tensor = run.tensor('embedding');
        const first: number = tensor.data[0]! + run.metrics.loss;
        const remote: WorkerRun = await (await createWorker()).open('mixer=cat');
        const loss: number = (await remote.metrics).loss;
        { using one = lab.open('mixer=cat'); one.step(); await using other = remote; await other.step(); }
        const { y }: { y: Float32Array } = lab.kernels.gelu({ x: new Float32Array(3) });
        // @ts-expect-error x is missing
        lab.kernels.gelu({});
        // @ts-expect-error these are no floats
        lab.kernels.gelu({ x: [1, 2] });
        // @ts-expect-error no such argument
        lab.kernels.gelu({ x: y, z: 3 });
        // @ts-expect-error no such word
        lab.kernels.linearAttention({ q: y, k: y, v: y, D: 3, norm: 'some' });
        // @ts-expect-error a config is text
        lab.open(3);
        // @ts-expect-error a promise is no number
        const wrong: number = remote.metrics;
        export { first, loss, wrong, loadUrl, SeqmixError };`;
    await writeFile(join(folder, 'use.ts'), use);
    const options = [
        '--strict',
        '--noEmit',
        '--target',
        'es2022',
        '--module',
        'nodenext',
        '--lib',
        'es2022,dom',
    ];
    await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, 'use.ts'], {
        cwd: folder,
    }).catch(({ stdout }) => assert.fail(stdout));
});

test('without SIMD the scalar module runs, says so, and computes the same', async () => {
    const script = `
        const validate = WebAssembly.validate;
        WebAssembly.validate = () => false;
        const { load } = await import('seqmix');
        const lab = await load();
        WebAssembly.validate = validate;
        const [run, same] = [lab, await load()].map((one) => one.open('mixer=cat&task=mqar&seed=1'));
        run.step(5), same.step(5);
        console.log(JSON.stringify([lab.isa, lab.notice, run.digest() === same.digest()]));`;
    await writeFile(join(folder, 'scalar.mjs'), script);
    const { stdout } = await run(process.execPath, ['scalar.mjs'], { cwd: folder });
    const [isa, notice, same] = JSON.parse(stdout);
    assert.equal(isa, 'scalar');
    assert.match(notice, /no WebAssembly SIMD/);
    assert.ok(same);
});

test('without Blob streams and Response, as jsdom leaves a page, the module is unpacked', async () => {
    const script = `
        delete Blob.prototype.stream, delete Blob.prototype.arrayBuffer, delete globalThis.Response;
        const { load } = await import('seqmix');
        const { loadChecks } = await import('seqmix/checks');
        const lab = await load({ whole: true });
        console.log((await load()).isa, lab.isa, (await loadChecks(lab)).names.length > 50);`;
    await writeFile(join(folder, 'bare.mjs'), script);
    const { stdout } = await run(process.execPath, ['bare.mjs'], { cwd: folder });
    assert.equal(stdout, 'wasm wasm true\n');
});

test('steps in a worker: told of one by one, and ended by a signal', async () => {
    const { createWorker, load, SeqmixError } = await import(
        pathToFileURL(join(folder, 'node_modules/seqmix/package/index.js'))
    );
    const config = 'mixer=cat&task=mqar&vocab=16&length=16&pairs=2&width=16&batch=1&steps=1000000';
    const worker = await createWorker();
    const there = await worker.open(config);
    const here = (await load()).open(config);
    const told = [];
    await there.step(7, { onStep: ({ step, loss }) => told.push([step, loss]) });
    here.step(7);
    assert.deepEqual(
        told,
        [...here.losses()].map((loss, i) => [i + 1, loss]),
    );
    assert.equal(await there.digest(), here.digest());

    const stop = new AbortController();
    const steps = there.step(4e9, { signal: stop.signal });
    const { loss } = await there.metrics; // answered meanwhile
    assert.ok(loss > 0);
    const ended = assert.rejects(steps, /enough/);
    while ((await there.metrics).step === 7); // until it has taken one
    stop.abort(new Error('enough'));
    await ended;
    const { step } = await there.metrics;
    assert.ok(step > 7 && step < 1e6, `${step}`);
    here.step(step - 7);
    assert.equal(await there.digest(), here.digest(), 'whole steps were taken');
    await assert.rejects(there.step(1, { signal: AbortSignal.abort() }), { name: 'AbortError' });
    assert.equal((await there.metrics).step, step);
    const refused = (error) => error instanceof SeqmixError && error.value === '-1';
    await assert.rejects(there.step(-1, { onStep() {} }), refused);
    await assert.rejects(there.step(-1), refused);
    worker.close();
});

test('a checkpoint goes on with the batches of its owner, here and in a worker', async () => {
    const { createWorker, load, SeqmixError } = await import(
        pathToFileURL(join(folder, 'node_modules/seqmix/package/index.js'))
    );
    const config = 'mixer=cat&task=own&channels=0&vocab=16&classes=16&length=16&batch=2&width=16';
    const batch = (step) => ({
        tokens: Array.from({ length: 32 }, (_, i) => (i * step + i) % 16),
        targets: Array.from({ length: 32 }, (_, i) => (i * step + i + 1) % 16),
    });
    const lab = await load();
    const worker = await createWorker();
    const whole = lab.open(config, { batch });
    whole.step(6);
    const half = lab.open(config, { batch });
    half.step(3);
    const bytes = half.save();
    const here = lab.load(bytes, { batch, changes: 'steps=900' });
    const there = await worker.load(bytes, { batch });
    here.step(3);
    await there.step(3);
    assert.equal(here.metrics.steps, 900);
    assert.equal(here.digest(), whole.digest());
    assert.equal(await there.digest(), whole.digest());
    assert.throws(() => lab.load(bytes, { batch: 2 }), /^SeqmixError: batch is 2: it must be a function/);
    worker.close();
});

test(
    "under worker-src 'self' a worker starts from its own file, and without it says what to do",
    {
        skip: chromium.why,
    },
    async () => {
        const cwd = await mkdtemp(join(folder, 'in-policy-'));
        await writeFile(join(cwd, 'package.json'), '{ "type": "module" }');
        await install(cwd);
        const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'";
        await writeFile(
            join(cwd, 'index.html'),
            `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}"><script type="module" src="main.js"></script><output></output>`,
        );
        await writeFile(
            join(cwd, 'main.js'),
            `import { createWorker } from './node_modules/seqmix/package/url.js';
        const refused = await createWorker().catch(({ message }) => message);
        const worker = await createWorker({ worker: 'node_modules/seqmix/package/worker.js' });
        const one = await worker.open('mixer=cat&task=mqar&seed=1');
        await one.step(20);
        const { accuracy } = await one.evaluate({ count: 100 });
        document.querySelector('output').textContent = (await one.digest()) + ' accuracy ' + accuracy + ' ' + refused;`,
        );
        const text = await result(cwd);
        assert.ok(text.startsWith(await inNode('mixer=cat&task=mqar&seed=1', 20)), text);
        assert.match(text, /the worker did not start: .* worker-src blob: gives `worker`/);
    },
);

test('a worker of Node, its errors and its end', async () => {
    const { createWorker, SeqmixError } = await import(
        pathToFileURL(join(folder, 'node_modules/seqmix/package/url.js'))
    );
    const lab = await createWorker();
    await assert.rejects(
        lab.open('mixer=cat&width=x'),
        (error) => error instanceof SeqmixError && error.key === 'width',
    );
    const one = await lab.open('mixer=cat&task=mqar');
    const x = Float32Array.of(-1, 0, 2);
    assert.deepEqual((await lab.kernels.elu1({ x })).y.slice(1), Float32Array.of(1, 3));
    await assert.rejects(lab.kernels.elu1({}), (error) => error instanceof SeqmixError && error.key === 'x');
    await one.step(2);
    const weight = await one.tensor('embedding');
    assert.equal(weight.data.buffer.byteLength, 4 * weight.data.length, 'the weight alone, not all memory');
    assert.equal(weight.data.length, weight.shape[0] * weight.shape[1]);
    const other = await lab.load(await one.save());
    assert.equal(await other.digest(), await one.digest());
    await one.close();
    await one.close();
    await assert.rejects(one.step(1), /closed/);
    const disposed = await lab.open('mixer=cat');
    await disposed[Symbol.asyncDispose ?? 'close']();
    await assert.rejects(disposed.step(1), /closed/);
    const waiting = other.step(1e6);
    lab.close();
    await assert.rejects(waiting, /closed/);
    await assert.rejects(lab.open('mixer=cat'), /closed/);
});

test('what cannot be handed to a worker is refused, and the program ends after it', async () => {
    await writeFile(
        join(folder, 'uncloneable.js'),
        `import { createWorker, SeqmixError } from 'seqmix';
        const worker = await createWorker();
        const config = 'mixer=cat&task=own&channels=0&vocab=16&classes=16&length=8&batch=2';
        const later = await worker.open(config, { batch: async () => ({}) });
        for (const call of [() => worker.open(() => 1), () => later.step(), () => worker.open(config, { batch: 5 })]) {
            const error = await call().catch((error) => error);
            console.log(error instanceof SeqmixError, error.key);
        }
        console.log((await later.metrics).step);`,
    );
    const { stdout } = await run(process.execPath, ['uncloneable.js'], { cwd: folder, timeout: 600_000 });
    assert.equal(stdout, 'true open\ntrue stepOn\ntrue batch\n0\n');
});

test('a batch of your own is checked', async () => {
    const { load, SeqmixError } = await import(
        pathToFileURL(join(folder, 'node_modules/seqmix/package/index.js'))
    );
    const lab = await load();
    const own = lab.open('mixer=cat&task=mqar&vocab=16&length=16&pairs=2&batch=2');
    const tokens = new Int32Array(32);
    const targets = new Int32Array(32).fill(-1);
    const refuses = (batch, what) =>
        assert.throws(
            () => own.stepOn(batch),
            (error) => error instanceof SeqmixError && what.test(error.message),
        );
    const before = own.digest();
    refuses({ tokens: [1], targets }, /there are 1 tokens; allowed: 32/);
    refuses({ tokens: tokens.with(9, 16), targets }, /token 9 is 16/);
    refuses({ tokens, targets: targets.with(3, -2) }, /target 3 is -2/);
    refuses({ tokens, targets: targets.with(31, 99) }, /target 31 is 99/);
    refuses({ tokens, targets: new Int32Array(32).fill(1) }, /one of 16 in sequence 0; allowed: at most 2/);
    refuses({ targets }, /no tokens; allowed: 32 whole numbers/);
    refuses({ values: new Float32Array(32), targets }, /no tokens/);
    refuses({ tokens: [...tokens].with(5, 0.5), targets }, /number 5 of the tokens is 0.5; allowed: whole/);
    const pixels = lab.open('mixer=cat&task=smnist&data=digits&blocks=1&batch=1');
    assert.throws(() => pixels.stepOn({ tokens: new Int32Array(784), targets: [1] }), /no values/);
    assert.throws(() => pixels.predict(new Float32Array(29)), /29 values; allowed: whole rows of 28/);
    assert.equal(own.digest(), before);
    own.stepOn({ tokens, targets: targets.with(30, 5) });
    assert.notEqual(own.digest(), before);
});

test('batches of the task’s own samples train and are judged to its bits, here and across a worker', async () => {
    const { load, createWorker } = await import(
        pathToFileURL(join(folder, 'node_modules/seqmix/package/index.js'))
    );
    const lab = await load();
    const worker = await createWorker();
    for (const config of [
        'mixer=cat&task=mqar&vocab=16&length=16&pairs=2&batch=2',
        'mixer=las&task=cumsum&length=16&batch=2',
        'mixer=cat&task=smnist&data=digits&blocks=1&batch=2',
    ]) {
        const [its, source] = [lab.open(config), lab.open(config)];
        const { sequences, channels, classes } = source.batch;
        const samples = (first, stream) => {
            const all = Array.from({ length: sequences }, (_, b) => source.data(first + b, { stream }));
            const join = (key) => all.flatMap((sample) => [...sample[key]]);
            const targets = join(classes ? 'targets' : 'targetValues');
            return channels ? { values: join('values'), targets } : { tokens: join('tokens'), targets };
        };
        const batch = (step) => samples(step * sequences, 'train');
        const here = lab.open(config, { batch });
        const there = await worker.open(config, { batch });
        its.step(3);
        here.step(3);
        await there.step(3);
        assert.equal(here.digest(), its.digest(), config);
        assert.equal(await there.digest(), its.digest(), config);
        const held = samples(0, 'eval');
        const wanted = its.evaluate({ count: sequences });
        assert.deepEqual(here.evaluateOn(held), wanted);
        assert.deepEqual(await there.evaluateOn(held), wanted);
        const { confidence } = here.data(0);
        const input = (held.values ?? held.tokens).slice(0, (held.values ?? held.tokens).length / sequences);
        assert.equal(here.predict(input).confidence.at(-1), confidence.at(-1));
        for (const one of [its, source, here]) one.close();
    }
    worker.close();
});

test('10,000 times open, step, close: memory stays flat', async () => {
    const { load } = await import(pathToFileURL(join(folder, 'node_modules/seqmix/package/index.js')));
    const lab = await load();
    const cycle = () => {
        const one = lab.open('mixer=cat&task=mqar&vocab=16&length=16&pairs=2&width=16&batch=1');
        one.step();
        one.close();
    };
    for (let i = 0; i < 100; i++) cycle();
    const bytes = lab.bytes;
    for (let i = 0; i < 9900; i++) cycle();
    assert.equal(lab.bytes, bytes);
});
