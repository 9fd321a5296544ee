// The page's build: index.html and web/ into dist/, a folder for any static host, at any path; with
// `--mode single` into build/single/, one .html with everything inside that also opens from disk.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build as esbuild } from 'esbuild';
import { defineConfig, type Plugin } from 'vite';
import { documentsPlugin } from './scripts/page-data.mjs';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// What the page may do: run its own files and WebAssembly, nothing inline, nothing from elsewhere. In the
// built page only: the development server injects its own.
const POLICY = [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
];
// In one file everything is inline; still nothing comes from elsewhere.
const POLICY_SINGLE = [
    "default-src 'none'",
    "script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:",
    "style-src 'unsafe-inline'",
    'img-src data: blob:',
    'font-src data:',
    'connect-src data: blob:',
    'worker-src blob: data:',
    "base-uri 'none'",
    "form-action 'none'",
];

const policy = (parts: readonly string[]): Plugin => ({
    name: 'content-security-policy',
    apply: 'build',
    transformIndexHtml: () => [
        {
            tag: 'meta',
            attrs: { 'http-equiv': 'Content-Security-Policy', content: parts.join('; ') },
            injectTo: 'head-prepend',
        },
    ],
});

/** What a link to the page shows: its picture, and where SEQMIX_SITE says where the page will stand, whole
 * addresses, which some readers of links ask for. */
const card: Plugin = {
    name: 'card',
    apply: 'build',
    generateBundle() {
        this.emitFile({ type: 'asset', fileName: 'card.png', source: readFileSync(at('web/card.png')) });
    },
    transformIndexHtml: (html) => {
        const site = process.env['SEQMIX_SITE']?.replace(/\/*$/, '/');
        if (!site) return html;
        return {
            html: html.replace('content="./card.png"', `content="${new URL('card.png', site).href}"`),
            tags: [
                { tag: 'meta', attrs: { property: 'og:url', content: new URL(site).href }, injectTo: 'head' },
            ],
        };
    },
};

/** The part of MNIST that the view Digits fetches, under names that stay, with its licence. */
const mnist: Plugin = {
    name: 'mnist',
    apply: 'build',
    generateBundle() {
        for (const name of readdirSync(at('web/mnist')))
            this.emitFile({
                type: 'asset',
                fileName: `mnist/${name}`,
                source: readFileSync(at(`web/mnist/${name}`)),
            });
    },
};

/** The font's licence beside it. */
const fontLicence: Plugin = {
    name: 'font-licence',
    apply: 'build',
    generateBundle() {
        const source = readFileSync(at('web/fonts/LICENSE.txt'), 'utf8');
        this.emitFile({ type: 'asset', fileName: 'assets/inter-LICENSE.txt', source });
    },
};

/** sw.js, told which files there are; its version is a hash of them all. */
const offline: Plugin = {
    name: 'service-worker',
    apply: 'build',
    enforce: 'post',
    generateBundle: {
        order: 'post',
        handler(_, bundle) {
            // What other sites name, under a name that stays.
            this.emitFile({
                type: 'asset',
                fileName: 'seqmix-run.js',
                source: readFileSync(at('web/seqmix-run.js'), 'utf8'),
            });
            // (The module for threads is for those who may share memory; it and MNIST are fetched when they
            // are wanted.)
            const files = Object.keys(bundle).filter(
                (file) => !/^(sw\.js|card\.png|mnist\/.*|.*seqmix-threads.*\.wasm)$/.test(file),
            );
            const hash = createHash('sha256');
            for (const file of files.sort()) {
                const part = bundle[file]!;
                hash.update(file).update(part.type === 'chunk' ? part.code : part.source);
            }
            const list = ['./', ...files.map((file) => `./${file}`)];
            const head = `const VERSION = '${hash.digest('hex').slice(0, 12)}';\nconst FILES = ${JSON.stringify(list)};\n`;
            this.emitFile({
                type: 'asset',
                fileName: 'sw.js',
                source: head + readFileSync(at('web/sw.js'), 'utf8'),
            });
        },
    },
};

/** WebAssembly inside the script: gzip and base64, unpacked into a blob when the page starts. */
const packedWasm: Plugin = {
    name: 'packed-wasm',
    enforce: 'pre',
    load(id) {
        if (!/\.wasm\?url$/.test(id)) return null;
        const packed = gzipSync(readFileSync(id.replace(/\?url$/, '')), { level: 9 }).toString('base64');
        return `const packed = Uint8Array.from(atob('${packed}'), (c) => c.charCodeAt(0));
const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
const bytes = await new Response(stream).arrayBuffer();
export default URL.createObjectURL(new Blob([bytes], { type: 'application/wasm' }));`;
    },
};

/** The editor inside the page: gzip and base64, unpacked into a module when its view is opened (285 KB as
 * text). */
const packedEditor: Plugin = {
    name: 'packed-editor',
    enforce: 'pre',
    async load(id) {
        if (!id.endsWith('/equations/editor.ts')) return null;
        const { outputFiles } = await esbuild({
            entryPoints: [id],
            bundle: true,
            minify: true,
            format: 'esm',
            target: 'es2022',
            write: false,
        });
        const packed = gzipSync(outputFiles[0]!.contents, { level: 9 }).toString('base64');
        return `const packed = Uint8Array.from(atob('${packed}'), (c) => c.charCodeAt(0));
const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
const code = await new Response(stream).text();
const module = await import(/* @vite-ignore */ URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
export const { openEditor } = module;`;
    },
};

/** Scripts and styles into the page itself. */
const oneFile: Plugin = {
    name: 'one-file',
    enforce: 'post',
    // The font is in the styles alone, the engine in the script.
    transformIndexHtml: { order: 'pre', handler: (html) => html.replace(/<link\s+rel="preload"[^>]*>/g, '') },
    generateBundle: {
        order: 'post',
        handler(_, bundle) {
            const page = bundle['index.html'];
            if (page?.type !== 'asset') return;
            let html = String(page.source);
            for (const [file, part] of Object.entries(bundle)) {
                if (part.type === 'chunk') {
                    const code = part.code.replaceAll('</script', '<\\/script');
                    html = html.replace(new RegExp(`<script[^>]*src="[^"]*${file}"[^>]*></script>`), '');
                    html = html.replace('</body>', () => `<script type="module">${code}</script></body>`);
                } else if (file.endsWith('.css')) {
                    html = html.replace(
                        new RegExp(`<link[^>]*href="[^"]*${file}"[^>]*>`),
                        () => `<style>${String(part.source)}</style>`,
                    );
                } else if (file.endsWith('.svg')) {
                    const icon = `data:image/svg+xml,${encodeURIComponent(String(part.source))}`;
                    html = html.replace(new RegExp(`href="[^"]*${file}"`), () => `href="${icon}"`);
                } else continue;
                delete bundle[file];
            }
            page.source = html;
            page.fileName = 'seqmix.html';
        },
    },
};

export default defineConfig(({ mode }) => ({
    base: './',
    publicDir: false,
    worker: { format: mode === 'single' ? 'iife' : 'es' },
    resolve: {
        alias: [
            ...(mode === 'single'
                ? [
                      { find: /^.*\/spawn\.ts$/, replacement: at('web/training/spawn_inline.ts') },
                      { find: /^.*\/shared\.ts$/, replacement: at('web/training/shared_none.ts') },
                      // One module for all: the whole one is not to be there beside a part of it.
                      {
                          find: /^.*\/seqmix\.wasm\?url$/,
                          replacement: `${at('build/wasm/seqmix-whole.wasm')}?url`,
                      },
                  ]
                : []),
        ],
    },
    build: {
        target: 'es2022',
        // Container queries, which the layout cannot do without.
        cssTarget: ['chrome105', 'firefox110', 'safari16'],
        outDir: mode === 'single' ? 'build/single' : 'dist',
        assetsInlineLimit: mode === 'single' ? 1 << 20 : 0,
        cssCodeSplit: mode !== 'single',
        modulePreload: { polyfill: false },
        chunkSizeWarningLimit: mode === 'single' ? 1400 : 300,
        rolldownOptions: {
            ...(mode === 'single' ? { output: { codeSplitting: false } } : {}),
            checks: { pluginTimings: false }, // a slow machine is no warning
        },
    },
    plugins:
        mode === 'single'
            ? [policy(POLICY_SINGLE), packedWasm, packedEditor, documentsPlugin({ sources: false }), oneFile]
            : [policy(POLICY), documentsPlugin(), card, mnist, fontLicence, offline],
}));
