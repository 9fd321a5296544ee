// free.ts: room for the page between two parts of long work.

/** The next task: what the page has to do meanwhile (keys, drawing) comes first. */
export const nextTask = (): Promise<void> => new Promise((done) => setTimeout(done));
