// mnist-subset.mjs: writes web/mnist, the part of MNIST that the page fetches: the first images of each set
// as IDX files, so that `images=` draws the same from them as from the whole files. What is there already and
// has the same content stays as it is.
//   node scripts/mnist-subset.mjs [FOLDER of the four files: data/mnist]
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, gunzipSync, gzipSync } from 'node:zlib';
import { files } from './mnist.mjs';

export const folder = fileURLToPath(new URL('../web/mnist', import.meta.url));
/** How many images of each set. web/state/setup.ts has them, too. */
export const COUNTS = { train: 6000, t10k: 2000 };

/** The first `count` items of an IDX file. */
export function firstOf(idx, count) {
    const images = idx.readUInt32BE(0) === 0x803;
    const [head, size] = images ? [16, 784] : [8, 1];
    if (idx.readUInt32BE(4) < count)
        throw new Error(`${idx.readUInt32BE(4)} items, of which ${count} are asked`);
    const part = Buffer.from(idx.subarray(0, head + count * size));
    part.writeUInt32BE(count, 4);
    return part;
}

if (import.meta.filename === process.argv[1]) {
    const from = process.argv[2] ?? 'data/mnist';
    mkdirSync(folder, { recursive: true });
    for (const { name } of files) {
        const source = join(from, name);
        if (!existsSync(source)) {
            console.error(`mnist-subset: ${source} is not here; \`make mnist\` fetches it`);
            process.exit(1);
        }
        const part = firstOf(gunzipSync(readFileSync(source)), COUNTS[/^[a-z0-9]+/.exec(name)[0]]);
        const target = join(folder, name);
        if (existsSync(target) && gunzipSync(readFileSync(target)).equals(part)) {
            console.log(`${name}: there already`);
            continue;
        }
        const packed = gzipSync(part, { level: 9, memLevel: 9, strategy: constants.Z_DEFAULT_STRATEGY });
        writeFileSync(target, packed);
        console.log(`${name}: ${packed.length} bytes`);
    }
}
