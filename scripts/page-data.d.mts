import type { Plugin } from 'vite';
export function documentsPlugin(options?: { sources?: boolean }): Plugin;
