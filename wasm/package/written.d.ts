// written.d.ts: modules that scripts/package.mjs writes, each a text: WebAssembly, gzipped, in base64; the
// script of a lab's further threads, loader/thread.ts; the script that worker.ts becomes.
declare module '*/embedded.js' {
    const text: string;
    export default text;
}
declare module '*/embedded-whole.js' {
    const text: string;
    export default text;
}
declare module '*/embedded-scalar.js' {
    const text: string;
    export default text;
}
declare module '*/embedded-shared.js' {
    const text: string;
    export default text;
}
declare module '*/embedded-checks.js' {
    const text: string;
    export default text;
}
declare module '*/thread-source.js' {
    const text: string;
    export default text;
}
declare module '*/worker-source.js' {
    const text: string;
    export default text;
}
