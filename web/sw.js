// sw.js: the service worker: keeps the page's files, so that it opens without a network after the first
// visit. The build writes VERSION and FILES above this text.
//
// A new version waits until no tab has the old one open, and what the old one keeps goes only then: an open
// tab finds the parts of its own version, which the host no longer has. (The page itself comes from the
// network.)
/* global VERSION, FILES */

// One host may have several sites; each has its own caches.
const SITE = `seqmix ${new URL('./', location.href).pathname} `;
const CACHE = SITE + VERSION;
const ours = async () => (await caches.keys()).filter((name) => name.startsWith(SITE));

self.addEventListener('install', (event) => {
    // Past the browser's own cache: a file of the last version there would not fit the others.
    const fresh = FILES.map((file) => new Request(file, { cache: 'reload' }));
    event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(fresh)));
});
self.addEventListener('activate', (event) => {
    const tidy = async () => {
        for (const name of await ours()) if (name !== CACHE) await caches.delete(name);
        await self.clients.claim();
    };
    event.waitUntil(tidy());
});

/** What is kept of a request: of this version, else of another one that a tab may have open. */
async function kept(request) {
    for (const name of [CACHE, ...(await ours())]) {
        const found = await (await caches.open(name)).match(request, { ignoreSearch: true });
        if (found) return found;
    }
    return undefined;
}
self.addEventListener('fetch', (event) => {
    const { request } = event;
    if (request.method !== 'GET' || new URL(request.url).origin !== location.origin) return;
    // The page itself from the network where there is one, so that a new version is seen; its files have
    // names that change.
    const answer =
        request.mode === 'navigate'
            ? fetch(request).catch(async () => (await kept(request)) ?? Response.error())
            : kept(request).then((found) => found ?? fetch(request));
    event.respondWith(answer);
});
