// sw.js: the service worker: keeps the page's files, so that it opens without a network after the first
// visit. The build writes VERSION and FILES above this text.
/* global VERSION, FILES */

const CACHE = `seqmix ${VERSION}`;

self.addEventListener('install', (event) => {
    event.waitUntil(
        caches
            .open(CACHE)
            .then((cache) => cache.addAll(FILES))
            .then(() => self.skipWaiting()),
    );
});
self.addEventListener('activate', (event) => {
    const old = (name) => name.startsWith('seqmix ') && name !== CACHE;
    event.waitUntil(
        caches
            .keys()
            .then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name))))
            .then(() => self.clients.claim()),
    );
});
self.addEventListener('fetch', (event) => {
    const { request } = event;
    if (request.method !== 'GET' || new URL(request.url).origin !== location.origin) return;
    const kept = () => caches.match(request, { ignoreSearch: true });
    // The page itself from the network where there is one, so that a new version is seen; its files have
    // names that change.
    const answer =
        request.mode === 'navigate'
            ? fetch(request).catch(async () => (await kept()) ?? Response.error())
            : kept().then((found) => found ?? fetch(request));
    event.respondWith(answer);
});
