// shared_none.ts: in the page of one file, which opens from disk, no memory is shared.
export const sharedFor = (): null => null;
