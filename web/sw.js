// sw.js: the service worker: keeps the page's files, so that it opens without a network after the first
// visit. The build writes VERSION and FILES above this text.
//
// A new version waits until no tab has the old one open: an open tab finds the parts of its own version,
// which the host no longer has. (The page itself comes from the network.) What the old one keeps goes with
// the next visit, not when the new one is activated: that happens as tabs close, and a browser that ends the
// worker just then counts it as activated and never tells it again.
/* global VERSION, FILES */

// One host may have several sites; each has its own caches.
const SITE = `seqmix ${new URL('./', location.href).pathname} `;
const CACHE = SITE + VERSION;
const PAUSE = 20; // milliseconds
const ours = async () => (await caches.keys()).filter((name) => name.startsWith(SITE));

/** One after the other, with pauses: all at once take the processor that the page trains and draws with. */
async function keep(requests) {
    const cache = await caches.open(CACHE);
    for (const request of requests) {
        if (await cache.match(request)) continue; // a visit that was too short has kept it
        await cache.add(request);
        await new Promise((done) => setTimeout(done, PAUSE));
    }
}
self.addEventListener('install', (event) => {
    // Past the browser's own cache: a file of the last version there would not fit the others.
    const fresh = FILES.map((file) => new Request(file, { cache: 'reload' }));
    event.waitUntil(keep(fresh));
});
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

/** What earlier versions kept goes, unless another is on its way: that one's must stay. */
async function tidy() {
    const names = await ours();
    if (self.registration.installing || self.registration.waiting) return;
    for (const name of names) if (name !== CACHE) await caches.delete(name);
}

/** What is kept of a request: of this version, else of another one that a tab may have open. */
async function kept(request) {
    for (const cacheName of [CACHE, ...(await ours())]) {
        // (caches.open would make anew one that has just gone)
        const found = await caches.match(request, { cacheName, ignoreSearch: true });
        if (found) return found;
    }
    return undefined;
}
self.addEventListener('fetch', (event) => {
    const { request } = event;
    if (request.method !== 'GET' || new URL(request.url).origin !== location.origin) return;
    if (request.mode === 'navigate') event.waitUntil(tidy());
    // The page itself from the network where there is one, so that a new version is seen; its files have
    // names that change.
    const answer =
        request.mode === 'navigate'
            ? fetch(request).catch(async () => (await kept(request)) ?? Response.error())
            : kept(request).then((found) => found ?? fetch(request));
    event.respondWith(answer);
});
