// error.ts: the one kind of error that the module and its loader throw.

/**
 * What was wrong with a request: `message` is a sentence, the rest are its parts ('' where they do not
 * apply).
 */
export class SeqmixError extends Error {
    override readonly name = 'SeqmixError';
    readonly key: string;
    readonly value: string;
    readonly allowed: string;
    constructor(message: string, key = '', value = '', allowed = '') {
        super(message);
        this.key = key;
        this.value = value;
        this.allowed = allowed;
    }
    /**
     * What JSON.stringify writes: an Error's own message is no enumerable property, and would be left out.
     */
    toJSON(): { name: string; message: string; key: string; value: string; allowed: string } {
        const { name, message, key, value, allowed } = this;
        return { name, message, key, value, allowed };
    }
}

/** `what` was asked of seqmix.wasm and is in seqmix-whole.wasm; elsewhere.c says the same. */
export const notInSmall = (what: string) =>
    new SeqmixError(
        `${what}: not in seqmix.wasm, which is kept small; load seqmix-whole.wasm in its place, load({ whole: true })`,
        'module',
        'seqmix.wasm',
        'seqmix-whole.wasm',
    );
