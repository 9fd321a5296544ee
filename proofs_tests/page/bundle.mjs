// bundle.mjs: files of the page for tests without a browser.
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
