// locale.ts: imported before uPlot, which asks Intl for the browser's language as it loads. WebKit on a
// system without one (LANG=C) says "C", which Intl refuses: the page would stay empty.
try {
    new Intl.NumberFormat(navigator.language);
} catch {
    Object.defineProperty(navigator, 'language', { value: 'en' });
}
