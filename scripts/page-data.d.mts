import type { Plugin } from 'vite';
export function aboutPlugin(options?: { sources?: boolean }): Plugin;
