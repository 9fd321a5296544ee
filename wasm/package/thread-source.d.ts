// thread-source.d.ts: the script of a lab's further threads, loader/thread.ts; scripts/package.mjs writes the
// module.
declare const text: string;
export default text;
