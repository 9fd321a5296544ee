// package.mjs: puts the npm package together in build/package and packs it as build/seqmix-VERSION.tgz,
// from the built modules and the sources in wasm/. REPOSITORY in the environment: the address of the sources
// on the web, which the registry holds provenance against. Nothing is published.
import { execFileSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

process.umask(0o022); // whoever builds it: the files are for everybody
const at = (path) => new URL(`../${path}`, import.meta.url);
const path = (relative) => fileURLToPath(at(relative));
const out = 'build/package/';
const compiled = 'build/obj/package/';

await rm(at(out), { recursive: true, force: true });
await rm(at(compiled), { recursive: true, force: true });
execFileSync(
    process.execPath,
    [path('node_modules/typescript/bin/tsc'), '--project', path('wasm/package/tsconfig.json')],
    { stdio: 'inherit' },
);
for (const folder of ['loader', 'package']) await mkdir(at(`${out}${folder}`), { recursive: true });
// worker.ts and thread.ts become texts, below; verify*.ts are the page's.
const scripts = [];
for (const folder of ['loader', 'package'])
    for (const file of await readdir(at(`wasm/${folder}`)))
        if (/(?<!\.d)\.ts$/.test(file) && !/^(worker|thread|verify(_types)?)\.ts$/.test(file))
            scripts.push(`${folder}/${file.slice(0, -3)}`);
for (const name of scripts)
    for (const kind of ['js', 'js.map', 'd.ts'])
        await cp(at(`${compiled}${name}.${kind}`), at(`${out}${name}.${kind}`));

async function textModule(name, text) {
    await writeFile(at(`${out}package/${name}.js`), `export default ${JSON.stringify(text)};\n`);
    await writeFile(at(`${out}package/${name}.d.ts`), 'declare const text: string;\nexport default text;\n');
}
for (const [wasm, name] of [
    ['seqmix.wasm', 'embedded'],
    ['seqmix-whole.wasm', 'embedded-whole'],
    ['seqmix-scalar.wasm', 'embedded-scalar'],
    ['seqmix-threads.wasm', 'embedded-shared'],
    ['checks.wasm', 'embedded-checks'],
]) {
    const bytes = await readFile(at(`build/wasm/${wasm}`));
    // checks.wasm has no entry as a file.
    if (wasm !== 'checks.wasm') await writeFile(at(`${out}package/${wasm}`), bytes);
    await textModule(name, gzipSync(bytes, { level: 9 }).toString('base64'));
}
const worker = await build({
    entryPoints: [path(`${compiled}package/worker.js`)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    logOverride: { 'empty-import-meta': 'silent' }, // it is handed a compiled module
});
await textModule('worker-source', worker.outputFiles[0].text);
// The same as a file, for sites whose policy lets workers come from files of their own only.
await writeFile(at(`${out}package/worker.js`), `const seqmixPort = self;\n${worker.outputFiles[0].text}`);
// What each further thread of a lab runs: the same two ways.
const thread = (await readFile(at(`${compiled}loader/thread.js`), 'utf8')).replace(
    /\/\/# sourceMappingURL.*\n?$/,
    '',
);
await textModule('thread-source', thread);
await writeFile(at(`${out}package/thread.js`), thread);

const { version } = JSON.parse(await readFile(at('package.json'), 'utf8'));
const description = JSON.parse(await readFile(at('wasm/package/package.json'), 'utf8'));
const address = process.env.REPOSITORY?.replace(/\/$/, '');
const links = address && {
    repository: { type: 'git', url: `git+${address}.git` },
    homepage: `${address}#readme`,
    bugs: `${address}/issues`,
};
await writeFile(
    at(`${out}package.json`),
    `${JSON.stringify({ ...description, version, ...links }, null, 2)}\n`,
);
await cp(at('wasm/package/README.md'), at(`${out}README.md`));
await cp(at('LICENSE'), at(`${out}LICENSE`));
execFileSync('npm', ['pack', path(out), '--silent', '--pack-destination', path('build')], {
    stdio: 'ignore',
});
console.log(`built build/seqmix-${version}.tgz`);
