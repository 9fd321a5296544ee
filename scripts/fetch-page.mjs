// Fetches a served page and every local file that its HTML names, and fails unless all of them arrive.
// For checking a running server where there is neither curl nor a browser; it runs no script of the page.
const address = process.argv[2];
if (!address) {
    console.error('usage: node scripts/fetch-page.mjs http://localhost:PORT/');
    process.exit(2);
}

async function get(url) {
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    const body = new Uint8Array(await response.arrayBuffer());
    const type = response.headers.get('content-type') ?? 'no type';
    console.log(`${response.status} ${type.padEnd(32)} ${String(body.length).padStart(8)} bytes  ${url}`);
    if (!response.ok || body.length === 0)
        throw new Error(`${url} answered ${response.status}, ${body.length} bytes`);
    return new TextDecoder().decode(body);
}

try {
    const html = await get(address);
    if (!/<html|<!doctype html/i.test(html)) throw new Error(`${address} is not an HTML page`);
    const named = [...html.matchAll(/\b(?:src|href)="([^"#]+)"/g)].map((match) => new URL(match[1], address));
    for (const url of named) if (url.origin === new URL(address).origin) await get(url.href);
} catch (error) {
    console.error(`fetch-page: ${error.cause?.message ?? error.message}`);
    process.exit(1);
}
