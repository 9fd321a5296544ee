// mnist.mjs: `make mnist`: MNIST into data/mnist, each file checked against its published SHA-256 before it
// gets its name.
//   node scripts/mnist.mjs [--from URL]... [--to FOLDER]
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const files = [
    {
        name: 'train-images-idx3-ubyte.gz',
        bytes: 9912422,
        sha256: '440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609',
    },
    {
        name: 'train-labels-idx1-ubyte.gz',
        bytes: 28881,
        sha256: '3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c',
    },
    {
        name: 't10k-images-idx3-ubyte.gz',
        bytes: 1648877,
        sha256: '8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6',
    },
    {
        name: 't10k-labels-idx1-ubyte.gz',
        bytes: 4542,
        sha256: 'f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6',
    },
];
// LeCun's own address has long refused downloads; these are the copies that PyTorch and TensorFlow fetch.
export const mirrors = [
    'https://ossci-datasets.s3.amazonaws.com/mnist/',
    'https://storage.googleapis.com/cvdf-datasets/mnist/',
];

const digest = (bytes) => createHash('sha256').update(bytes).digest('hex');

// The bytes of one file from one place, or an error that says in words what came instead.
async function get(url, { bytes, sha256 }, patience) {
    const stop = new AbortController();
    let timer = setTimeout(() => stop.abort(), patience);
    try {
        const response = await fetch(url, { signal: stop.signal });
        if (!response.ok) throw new Error(`the server answers ${response.status}`);
        const parts = [];
        let size = 0;
        for await (const part of response.body) {
            clearTimeout(timer);
            timer = setTimeout(() => stop.abort(), patience);
            parts.push(part);
            size += part.length;
            if (size > bytes) throw new Error(`more than the ${bytes} bytes that the file has`);
        }
        const whole = Buffer.concat(parts);
        if (size < bytes) throw new Error(`cut short: ${size} of ${bytes} bytes`);
        if (digest(whole) !== sha256)
            throw new Error('another file than the published one (its SHA-256 differs)');
        return whole;
    } catch (error) {
        if (stop.signal.aborted) throw new Error(`nothing came for ${patience / 1000} seconds`);
        const cause = error.cause?.code ?? error.cause?.message;
        throw cause === 'UND_ERR_SOCKET'
            ? new Error('the connection broke')
            : new Error(cause ?? error.message);
    } finally {
        clearTimeout(timer);
        stop.abort();
    }
}

// Fetches what is missing or damaged; throws one sentence when a file cannot be had from any place. What has
// its name in the folder is whole: a file is written under another name first.
export async function fetchFiles({
    folder,
    from = mirrors,
    list = files,
    patience = 30000,
    say = console.log,
}) {
    try {
        mkdirSync(folder, { recursive: true });
    } catch (error) {
        throw new Error(`the folder ${folder} cannot be made: ${error.message}`);
    }
    for (const file of list) {
        const path = join(folder, file.name);
        if (existsSync(path) && !statSync(path).isFile())
            throw new Error(`${path} is in the way: it is no file`);
        if (existsSync(path) && digest(readFileSync(path)) === file.sha256) {
            say(`${path}: there already`);
            continue;
        }
        const tried = [];
        let bytes;
        for (const place of from) {
            try {
                bytes = await get(
                    new URL(file.name, place.endsWith('/') ? place : `${place}/`),
                    file,
                    patience,
                );
                break;
            } catch (error) {
                tried.push(`${URL.canParse(place) ? new URL(place).host : place}: ${error.message}`);
            }
        }
        if (!bytes)
            throw new Error(
                `${file.name} cannot be fetched (${tried.join('; ')}); data=digits needs no files`,
            );
        const part = `${path}.part`;
        try {
            writeFileSync(part, bytes);
            renameSync(part, path);
        } catch (error) {
            rmSync(part, { force: true });
            throw new Error(`${path} cannot be written: ${error.message}`);
        }
        say(`${path}: ${bytes.length} bytes, as published`);
    }
}

if (import.meta.filename === process.argv[1]) {
    const options = { folder: 'data/mnist', from: [] };
    for (let i = 2; i < process.argv.length; i += 2) {
        const [name, value] = process.argv.slice(i, i + 2);
        if (name === '--to' && value) options.folder = value;
        else if (name === '--from' && URL.canParse(value)) options.from.push(value);
        else {
            console.error(
                `mnist: '${[name, value].join(' ').trim()}' is not understood: it takes --from URL and --to FOLDER`,
            );
            process.exit(2);
        }
    }
    if (!options.from.length) options.from = mirrors;
    await fetchFiles(options).catch((error) => {
        console.error(`mnist: ${error.message}`);
        process.exitCode = 1;
    });
}
