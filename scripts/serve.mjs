// Serves the built page (dist/) on a free port of this machine, and prints the address. Plain files only:
// no proxy, no live reload (`npx vite` does that for development). Node's own modules, no others.
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

const FIRST_PORT = 4173;
const PORTS_TRIED = 100;

// Keeps the page apart from other sites: its scripts may then share memory with workers; others may show it.
const ISOLATED = {
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Cross-Origin-Resource-Policy': 'cross-origin',
};
const TYPES = {
    '.css': 'text/css; charset=utf-8',
    '.csv': 'text/csv; charset=utf-8',
    '.gz': 'application/gzip',
    '.html': 'text/html; charset=utf-8',
    '.ico': 'image/x-icon',
    '.jpg': 'image/jpeg',
    '.js': 'text/javascript; charset=utf-8',
    '.json': 'application/json; charset=utf-8',
    '.map': 'application/json; charset=utf-8',
    '.mjs': 'text/javascript; charset=utf-8',
    '.md': 'text/markdown; charset=utf-8',
    '.png': 'image/png',
    '.svg': 'image/svg+xml',
    '.txt': 'text/plain; charset=utf-8',
    '.wasm': 'application/wasm',
    '.webmanifest': 'application/manifest+json',
    '.woff2': 'font/woff2',
};

function refuse(response, status, sentence) {
    response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${sentence}\n`);
}

/**
 * The file that a request path names: {file, size}, {folder} where a slash is missing, or {status, sentence}.
 */
async function locate(root, pathname) {
    let path;
    try {
        path = decodeURIComponent(pathname);
    } catch {
        return { status: 400, sentence: `The path ${pathname} is not valid percent-encoding.` };
    }
    const missing = { status: 404, sentence: `There is no file ${pathname} here.` };
    if (path.includes('\0')) return missing;
    try {
        let file = await realpath(join(root, path));
        // A path with .. in it or a symbolic link may lead out of the folder; what lies there is not served.
        if (file !== root && !file.startsWith(root + sep)) return missing;
        let info = await stat(file);
        if (info.isDirectory()) {
            if (!path.endsWith('/')) return { folder: true };
            file = await realpath(join(file, 'index.html'));
            if (!file.startsWith(root + sep)) return missing;
            info = await stat(file);
        }
        return info.isFile() ? { file, size: info.size } : missing;
    } catch {
        return missing;
    }
}

async function answer(root, headers, request, response) {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
        response.setHeader('Allow', 'GET, HEAD');
        return refuse(response, 405, `${request.method} is not answered here; GET and HEAD are.`);
    }
    const [pathname, query] = request.url.split(/\?(.*)/s);
    const found = await locate(root, pathname);
    if (found.folder) {
        // The leading slashes collapse to one: //host would send the browser to another machine.
        const location = `${pathname.replace(/^[/\\]+/, '/')}/${query ? `?${query}` : ''}`;
        return response.writeHead(301, { Location: location }).end();
    }
    if (found.status) return refuse(response, found.status, found.sentence);
    response.writeHead(200, {
        'Content-Type': TYPES[extname(found.file).toLowerCase()] ?? 'application/octet-stream',
        'Content-Length': found.size,
        'Cache-Control': 'no-cache',
        'X-Content-Type-Options': 'nosniff',
        ...headers,
    });
    if (request.method === 'HEAD') return response.end();
    const stream = createReadStream(found.file);
    stream.on('error', () => response.destroy());
    response.on('close', () => stream.destroy());
    stream.pipe(response);
}

function listen(handler, port, host) {
    return new Promise((done, failed) => {
        const server = createServer(handler);
        server.once('error', failed);
        server.listen(port, host, () => done(server));
    });
}

/**
 * Serves `folder` at the first free port from `firstPort` on; 0 lets the system choose.
 * Both loopback addresses are taken, since a browser may read "localhost" as either. `isolated`: with the
 * headers above.
 * @returns {Promise<{address: string, port: number, close: () => Promise<void>}>}
 */
export async function serve(folder, firstPort = FIRST_PORT, { isolated = false } = {}) {
    const root = await realpath(resolve(folder));
    const handler = (request, response) => {
        answer(root, isolated ? ISOLATED : {}, request, response).catch(() => response.destroy());
    };
    for (let port = firstPort, tried = 0; tried < PORTS_TRIED; port += firstPort ? 1 : 0, tried++) {
        const servers = [];
        try {
            servers.push(await listen(handler, port, '127.0.0.1'));
            const actual = servers[0].address().port;
            try {
                servers.push(await listen(handler, actual, '::1'));
            } catch (error) {
                if (error.code === 'EADDRINUSE') throw error; // anything else: no IPv6 on this machine
            }
            const close = () =>
                Promise.all(
                    servers.map(
                        (server) =>
                            new Promise((done) => {
                                server.close(done);
                                server.closeAllConnections();
                            }),
                    ),
                );
            return { address: `http://localhost:${actual}/`, port: actual, close };
        } catch (error) {
            for (const server of servers) server.close();
            if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error;
        }
    }
    throw new Error(`no port from ${firstPort} to ${firstPort + PORTS_TRIED - 1} is free on this machine`);
}

async function main(args) {
    const folder = args.find((arg) => !arg.startsWith('--')) ?? 'dist';
    const unknown = args.find((arg) => arg.startsWith('--') && !/^--(isolated|port=\d{1,5})$/.test(arg));
    if (unknown) throw new Error(`unknown argument '${unknown}'; allowed: [FOLDER] [--port=N] [--isolated]`);
    const port = args.find((arg) => arg.startsWith('--port='))?.slice('--port='.length);
    if (Number(port ?? 0) > 65535) throw new Error(`--port=${port}: a port is a number from 0 to 65535`);
    const page = await stat(join(folder, 'index.html')).catch(() => null);
    if (!page) throw new Error(`${join(folder, 'index.html')} does not exist; \`make site\` builds it`);
    const isolated = args.includes('--isolated');
    const server = await serve(folder, port === undefined ? FIRST_PORT : Number(port), { isolated });
    console.log(`seqmix is at ${server.address}`);
    if (process.stdout.isTTY) console.log('Press Ctrl-C to stop.');
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
        process.once(signal, () => server.close().then(() => process.exit(0)));
    }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
    main(process.argv.slice(2)).catch((error) => {
        console.error(`serve: ${error.message}`);
        process.exit(2);
    });
}
