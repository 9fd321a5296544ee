// inflated.ts: bytes of a module that lies in the package as text: gzip, base64.
export async function inflated(base64: string): Promise<ArrayBuffer> {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Response(stream).arrayBuffer();
}
