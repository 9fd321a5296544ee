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
    input.hidden = true;
    document.body.append(input); // held by nothing, it might be collected before its answer is here
    return new Promise<File[]>((done) => {
        input.onchange = () => done([...(input.files ?? [])]);
        input.oncancel = () => done([]);
        input.click();
    }).finally(() => input.remove());
}

const MOST = 2 ** 28; // bytes of a data file, unpacked: what the engine reads (tasks/files/data.h)
// What is unpacked at a time. A browser unpacks all of what it is given before it says how much came of it:
// at most a thousand times as much.
const SLICE = 2 ** 12;

/** The bytes of a file, unpacked where it is gzip. Throws where they are no gzip or too many: a few kilobytes
 * unpack to any size. */
export async function unpacked(file: Blob): Promise<Uint8Array<ArrayBuffer>> {
    if (file.size > MOST) throw new Error(`it has ${file.size} bytes; at most ${MOST} are read`);
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
    const { readable, writable } = new DecompressionStream('gzip');
    const reader = readable.getReader();
    const feed = async () => {
        const writer = writable.getWriter();
        for (let at = 0; at < bytes.length; at += SLICE) await writer.write(bytes.slice(at, at + SLICE));
        await writer.close();
    };
    feed().catch(() => {}); // the reader hears of it
    const parts: Uint8Array<ArrayBuffer>[] = [];
    for (let size = 0; ;) {
        const { done, value } = await reader.read();
        if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
        parts.push(value);
        if ((size += value.length) <= MOST) continue;
        void reader.cancel();
        throw new Error(`it has more than ${MOST} bytes when unpacked`);
    }
}
