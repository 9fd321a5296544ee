// The page's build: index.html and web/ into dist/, a folder for any static host, at any path.
import { defineConfig } from 'vite';

// What the page may do: run its own files and WebAssembly, nothing inline, nothing from elsewhere. In the built page
// only: the development server injects its own.
const policy = [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
].join('; ');

export default defineConfig({
    base: './',
    publicDir: false,
    worker: { format: 'es' },
    build: {
        target: 'es2022',
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        chunkSizeWarningLimit: 200,
    },
    plugins: [
        {
            name: 'content-security-policy',
            apply: 'build',
            transformIndexHtml: () => [
                {
                    tag: 'meta',
                    attrs: { 'http-equiv': 'Content-Security-Policy', content: policy },
                    injectTo: 'head-prepend',
                },
            ],
        },
    ],
});
