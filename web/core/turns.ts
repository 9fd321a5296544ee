// turns.ts: what is drawn again and again takes turns: one part between two frames, in a task of its own. The
// frame lays out and paints what has changed: done in the same task, the two would block the page as one.
const waiting = new Set<() => void>();
let frame = 0;

function one(): void {
    const [first] = waiting;
    if (first) waiting.delete(first);
    if (waiting.size) next();
    else frame = 0;
    first?.();
}
function next(): void {
    frame = requestAnimationFrame(() => setTimeout(one));
}
/** Do it after the next frame, and after those who wait already. Once, however often it is asked for. */
export function inTurn(part: () => void): void {
    waiting.add(part);
    if (!frame) next();
}
export const callOff = (part: () => void): void => void waiting.delete(part);
