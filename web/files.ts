// files.ts: files out of the page and into it.

/** Offer bytes or text as a download. */
export function download(name: string, content: BlobPart | Blob, type = 'application/octet-stream'): void {
    const blob = content instanceof Blob ? content : new Blob([content], { type });
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Ask for files; none when the visitor thinks better of it. */
export function pick(accept: string, multiple = false): Promise<File[]> {
    const input = document.createElement('input');
    input.type = 'file';
    input.accept = accept;
    input.multiple = multiple;
    return new Promise((done) => {
        input.onchange = () => done([...(input.files ?? [])]);
        input.oncancel = () => done([]);
        input.click();
    });
}

/** The bytes of a file, unpacked where it is gzip. */
export async function unpacked(file: Blob): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}
