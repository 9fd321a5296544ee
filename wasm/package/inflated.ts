// inflated.ts: bytes of a module that lies in the package as text: gzip, base64. Without Blob and Response,
// which test environments for pages (jsdom) have in part only.
export async function inflated(base64: string): Promise<Uint8Array<ArrayBuffer>> {
    const packed = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const { readable, writable } = new DecompressionStream('gzip');
    const writer = writable.getWriter();
    // What goes wrong here goes wrong for the reader, too.
    void writer.write(packed).catch(() => {});
    void writer.close().catch(() => {});
    const parts: Uint8Array[] = [];
    const reader = readable.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    for (let next = await reader.read(); !next.done; next = await reader.read()) parts.push(next.value);
    const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
        bytes.set(part, at);
        at += part.length;
    }
    return bytes;
}
